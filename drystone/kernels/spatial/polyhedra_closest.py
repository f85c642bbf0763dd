"""Nearest vertices of two polyhedra that are apart: a vertex and a vertex, or a vertex and an edge.

Called only where faces and pairs of edges fall short of the distance. All vertices and edges that
can be nearest are asked, and what is found is believed by its supports alone: from the difference
of two near points comes a direction with noise, but one of the candidates has it right. If the
noise takes the line between two vertices over the rim of a vertex's normals, then the normal that
is wanted is so near to the rim that the edge there, or at a corner the face or pair of edges,
has as good a one, and theirs are normal to the edges to rounding.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    BEST_N,
    CLOSE,
    EDGE,
    FIRST,
    KIND,
    NE,
    NEAR_A,
    NV,
    POINTS,
    SIDE,
    SIZE,
    TOL,
    UPPER,
    V1,
    V2,
    VERTEX,
    G,
    climb,
    edge_vector,
    height,
    set_normal,
    support_gap,
    turned,
)
from drystone.kernels.spatial.polyhedra_witness import END, between_points

WIDE = 5  # numbers kept of a vertex: point in the frame of A, height over the plane, number


@kernel
def list_vertices(numbers, at, w, k, reach, points):
    """Vertices of body k up to `reach` behind its support plane, into its half of `points`."""
    sign, d, count = 1.0 - 2.0 * k, k * (points.size // 2), 0
    low = height(numbers, at, w, k, int(w[NEAR_A + k]))
    for v in range(at[SIDE * k + NV]):
        h = sign * (height(numbers, at, w, k, v) - low)
        if h <= reach:
            turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0, V1)
            for c in range(3):
                points[d + c] = w[V1 + c]
            points[d + 3], points[d + 4] = h, v
            d += WIDE
            count += 1
    return count


@kernel
def believe(numbers, ints, at, w, a0, a1, b0, b1):
    """If the bodies are as far apart along the line between the features as these are, and that is
    the most so far, they go to w[CLOSE:]."""
    w[KIND] = POINTS
    w[FIRST], w[FIRST + 1], w[FIRST + 2], w[FIRST + 3] = a0, a1, b0, b1
    if between_points(numbers, at, w):
        s = support_gap(numbers, ints, at, w, a0, b0)
        if s > w[CLOSE] and s >= w[G] - w[TOL]:
            w[CLOSE] = s
            for c in range(4):
                w[CLOSE + 1 + c] = w[FIRST + c]


@kernel
def nearest_vertices(numbers, ints, at, w, bar, points):
    """Vertices, or a vertex and an edge, with the greatest separation above `bar`: w[CLOSE:] = s,
    two of A, two of B (equal: one vertex); w[CLOSE + 1] = -1 if there are none.

    With n the best face's normal, the nearest points lie behind the supporting planes by no more,
    together, than any known distance exceeds the separation s along n.
    """
    w[CLOSE], w[CLOSE + 1] = bar, -1.0
    set_normal(w, BEST_N, 1.0)
    s, upper, tol = 0.0, w[UPPER], w[TOL]
    for k in range(2):
        v = climb(numbers, ints, at, w, k, 2.0 * k - 1.0, int(w[NEAR_A + k]))
        w[NEAR_A + k] = v
        s -= (2.0 * k - 1.0) * height(numbers, at, w, k, v)
    na = nb = 0
    for k in range(2):
        na, nb = nb, list_vertices(numbers, at, w, k, upper - s + tol, points)
    half = points.size // 2
    for i in range(na):
        p = WIDE * i
        for j in range(nb):
            q = half + WIDE * j
            if points[p + 3] + points[q + 3] > upper - s + tol:
                continue
            x, y, z = (
                points[p] - points[q],
                points[p + 1] - points[q + 1],
                points[p + 2] - points[q + 2],
            )
            d = math.sqrt(x * x + y * y + z * z)
            if d <= upper + tol:
                upper = min(upper, d)
                a, b = int(points[p + 4]), int(points[q + 4])
                believe(numbers, ints, at, w, a, a, b, b)
    for k in range(2):
        o, other, count = SIDE * k, half * (1 - k), nb if k == 0 else na
        for i in range(at[o + NE]):
            e = at[o + EDGE] + 4 * i
            v, u = ints[e], ints[e + 1]
            length = edge_vector(numbers, at, w, k, v, u, V1)
            turned(numbers, w, k, at[o + VERTEX] + 3 * v, 1.0, V2)
            for j in range(count):
                q = other + WIDE * j
                if points[q + 3] > upper - s + tol:
                    continue
                x, y, z = points[q] - w[V2], points[q + 1] - w[V2 + 1], points[q + 2] - w[V2 + 2]
                t = x * w[V1] + y * w[V1 + 1] + z * w[V1 + 2]
                if t < -END * w[SIZE] or t > length + END * w[SIZE]:
                    continue
                x, y, z = x - t * w[V1], y - t * w[V1 + 1], z - t * w[V1 + 2]
                d = math.sqrt(x * x + y * y + z * z)
                if d <= upper + tol:
                    upper = min(upper, d)
                    b = int(points[q + 4])
                    if k == 0:
                        believe(numbers, ints, at, w, v, u, b, b)
                    else:
                        believe(numbers, ints, at, w, b, b, v, u)
                    edge_vector(numbers, at, w, k, v, u, V1)
                    turned(numbers, w, k, at[o + VERTEX] + 3 * v, 1.0, V2)
