"""Search for the plane of greatest separation: faces of both bodies, then pairs of edges.

Only edge pairs whose arcs cross on the Gauss map span a face of the Minkowski difference, so only
those are axes. The same routines serve the look at adjacent features (G3): then the faces and
edges are those at the vertices nearest to the old plane.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    BEST,
    EDGE,
    FACE_A,
    FACE_START,
    FIRST,
    FOUND,
    KIND,
    LOOP,
    MARGIN,
    NE,
    NEAR_A,
    NEAR_B,
    NEARBY,
    NF,
    NV,
    PLANE,
    POSE,
    SIDE,
    SIZE,
    TOL,
    VERTEX,
    N,
    S,
    climb,
    height,
    set_normal,
    turned,
)
from drystone.kernels.spatial.polyhedra_witness import ON, PARALLEL


@kernel
def best_face(numbers, ints, at, w, tie):
    """The face of A or B with the greatest separation, into the witness and w[BEST:BEST + 6].

    If at[NEARBY], only faces through the nearest vertices. Equal faces: A's, then the first one.
    Stops at the first plane that proves a gap beyond the margin. If tie > 0, sums the normals of
    all faces within `tie` of touching instead, for a corner on a corner (G6).
    """
    best, bar, on = -math.inf, -math.inf, ON * w[SIZE]
    x = y = z = 0.0
    for k in range(2):
        o = SIDE * k
        v = at[o + VERTEX] + 3 * int(w[NEAR_A + k])
        bar = best + w[TOL] * k
        sign, u = 2.0 * k - 1.0, int(w[NEAR_B - k])
        for f in range(at[o + NF]):
            p = at[o + PLANE] + 4 * f
            if at[NEARBY] == 1:
                d = numbers[p] * numbers[v] + numbers[p + 1] * numbers[v + 1]
                if d + numbers[p + 2] * numbers[v + 2] < numbers[p + 3] - on:
                    continue
            a, b, c = turned(numbers, w, k, p, 0.0)
            set_normal(w, sign * a, sign * b, sign * c)
            h = numbers[p + 3] + k * (a * w[POSE + 9] + b * w[POSE + 10] + c * w[POSE + 11])
            u = climb(numbers, ints, at, w, 1 - k, -sign, u)
            s = sign * height(numbers, at, w, 1 - k, u) - h
            if tie > 0.0:
                if abs(s) <= tie:
                    x, y, z = x + w[N], y + w[N + 1], z + w[N + 2]
            elif s > bar:
                best, bar = s, s
                w[BEST], w[BEST + 1], w[BEST + 2] = FACE_A + k, f, s
                w[BEST + 3], w[BEST + 4], w[BEST + 5] = w[N], w[N + 1], w[N + 2]
                if s > w[MARGIN]:
                    break
        if best > w[MARGIN]:
            break
    w[KIND], w[FIRST], w[S] = w[BEST], w[BEST + 1], best
    if tie > 0.0:
        d = 1.0 / math.sqrt(x * x + y * y + z * z)
        w[KIND] = 0.0
        set_normal(w, x * d, y * d, z * d)


@kernel
def nearest_corner(numbers, ints, at, w):
    """Of the old witness's face, take the vertex nearest to the other body's as the near one."""
    k = int(w[KIND]) - FACE_A
    if k > 1:
        return
    other = 1 - k
    x, y, z = turned(numbers, w, other, at[SIDE * other + VERTEX] + 3 * int(w[NEAR_A + other]), 1.0)
    start, least = at[SIDE * k + FACE_START] + int(w[FIRST]), math.inf
    for e in range(ints[start], ints[start + 1]):
        v = ints[at[SIDE * k + LOOP] + e]
        p, q, s = turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0)
        d = (p - x) ** 2 + (q - y) ** 2 + (s - z) ** 2
        if d < least:
            w[NEAR_A + k] = v
            least = d


@kernel
def extents(numbers, at, w):
    """Lengths of the pair: the smaller body's extent, and what counts as equal."""
    small, large = math.inf, 0.0
    for k in range(2):
        V, size = at[SIDE * k + VERTEX], 0.0
        for c in range(3):
            low, high = math.inf, -math.inf
            for v in range(at[SIDE * k + NV]):
                h = numbers[V + 3 * v + c]
                low, high = min(low, h), max(high, h)
            size = max(size, high - low)
        small, large = min(small, size), max(large, size)
    w[SIZE], w[TOL] = small, 1e-10 * small + 1e-14 * large


@kernel
def list_edges(numbers, ints, at, w, k, reach, edges):
    """Edges of body k worth asking into edges[k]; returns how many.

    Those at the nearest vertex if at[NEARBY]. With n the best face's normal and its depth e, the
    points of two edges that do better are at most e apart, so an edge must come that near to the
    other body's plane (reach: height). Columns: start, vector, left and right normals in the
    frame of A, number.
    """
    sign = 1.0 - 2.0 * k
    vertex = int(w[NEAR_A + k])
    count = 0
    for i in range(at[SIDE * k + NE]):
        e = at[SIDE * k + EDGE] + 4 * i
        v, u = ints[e], ints[e + 1]
        if at[NEARBY] == 1 and v != vertex and u != vertex:
            continue
        h = min(sign * height(numbers, at, w, k, v), sign * height(numbers, at, w, k, u))
        if h > reach:
            continue
        for c in range(4):
            if c < 2:
                p = at[SIDE * k + VERTEX] + 3 * ints[e + c]
            else:
                p = at[SIDE * k + PLANE] + 4 * ints[e + c]
            x, y, z = turned(numbers, w, k, p, 1.0 if c < 2 else 0.0)
            if c == 1:
                x, y, z = x - edges[k, count, 0], y - edges[k, count, 1], z - edges[k, count, 2]
            edges[k, count, 3 * c] = x
            edges[k, count, 3 * c + 1] = y
            edges[k, count, 3 * c + 2] = z
        edges[k, count, 12] = i
        count += 1
    return count


@kernel
def best_edges(numbers, ints, at, w, reach, bar, edges):
    """Pair of edges with the greatest separation above `bar`: w[FOUND:] = s, edge of A, edge of B.

    The arcs of an edge pair cross if each edge's vector parts the other's normals, and those of
    A and the opposite of B are on the same side.
    """
    na = nb = 0
    for k in range(2):
        sign = 2.0 * k - 1.0
        v = climb(numbers, ints, at, w, 1 - k, -sign, int(w[NEAR_B - k]))
        level = reach - sign * height(numbers, at, w, 1 - k, v)
        na = nb
        nb = list_edges(numbers, ints, at, w, k, level, edges)
    w[FOUND], w[FOUND + 1], w[FOUND + 2] = bar, -1.0, -1.0
    for i in range(na):
        ax, ay, az = edges[0, i, 0], edges[0, i, 1], edges[0, i, 2]
        ex, ey, ez = edges[0, i, 3], edges[0, i, 4], edges[0, i, 5]
        lx, ly, lz = edges[0, i, 6], edges[0, i, 7], edges[0, i, 8]
        rx, ry, rz = edges[0, i, 9], edges[0, i, 10], edges[0, i, 11]
        flat = PARALLEL * PARALLEL * (ex * ex + ey * ey + ez * ez)
        for j in range(nb):
            left = edges[1, j, 6] * ex + edges[1, j, 7] * ey + edges[1, j, 8] * ez
            if left * (edges[1, j, 9] * ex + edges[1, j, 10] * ey + edges[1, j, 11] * ez) >= 0.0:
                continue
            fx, fy, fz = edges[1, j, 3], edges[1, j, 4], edges[1, j, 5]
            right = rx * fx + ry * fy + rz * fz
            if left * right >= 0.0 or right * (lx * fx + ly * fy + lz * fz) >= 0.0:
                continue
            x, y, z = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            d = x * x + y * y + z * z
            if d < flat * (fx * fx + fy * fy + fz * fz):
                continue
            s = x * (ax - edges[1, j, 0]) + y * (ay - edges[1, j, 1]) + z * (az - edges[1, j, 2])
            if x * (lx + rx) + y * (ly + ry) + z * (lz + rz) > 0.0:
                s = -s
            s /= math.sqrt(d)
            if s > w[FOUND]:
                w[FOUND], w[FOUND + 1], w[FOUND + 2] = s, edges[0, i, 12], edges[1, j, 12]
