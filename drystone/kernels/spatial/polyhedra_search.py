"""Search for the plane of greatest separation: faces of both bodies, then pairs of edges.

Only edge pairs whose arcs cross on the Gauss map span a face of the Minkowski difference, so only
those are axes. The same routines serve the look at adjacent features: then the faces and
edges are those at the vertices nearest to the old plane.
"""

import math

from drystone.kernels._jit import stage
from drystone.kernels.pairs import LEAN
from drystone.kernels.spatial.polyhedra_region import ON
from drystone.kernels.spatial.polyhedra_shape import (
    BEST,
    BEST_EDGES,
    BEST_N,
    BEST_VERTICES,
    EDGE,
    EXTENT,
    FACE_A,
    FACE_START,
    FIRST,
    KIND,
    LOOP,
    MARGIN,
    NARROW,
    NE,
    NEAR_A,
    NEAR_B,
    NEARBY,
    NF,
    NV,
    PLANE,
    POINTS,
    SAME_LENGTH,
    SHIFT,
    SIDE,
    SIDED,
    THIN_SIDE,
    UPPER,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    add_area,
    climb,
    cross_units,
    dot,
    edge_vector,
    height,
    set_normal,
    support_gap,
    turned,
)
from drystone.kernels.spatial.polyhedra_witness import BEYOND_END, PARALLEL_EDGES, between_points

EDGE_NUMBERS = 13  # numbers kept of an edge


@stage
def best_face(numbers, ints, at, w, tie):
    """The face of A or B with the greatest separation, into the witness and w[BEST:BEST + 6].

    If at[NEARBY], only faces through the nearest vertices. Equal faces: A's, then the first one.
    Stops at the first plane that proves a gap beyond the margin. If tie > 0, takes the mean
    normal of all faces within `tie` of touching instead, for a corner on a corner.
    """
    best, on, ties = -math.inf, ON * w[EXTENT], 0
    for c in range(3):
        w[V2 + c] = 0.0
    for k in range(2):
        o, sign = SIDE * k, 2.0 * k - 1.0
        v, u = at[o + VERTEX] + 3 * int(w[NEAR_A + k]), int(w[NEAR_B - k])
        bar = best + w[SAME_LENGTH] * k
        for f in range(at[o + NF]):
            p = at[o + PLANE] + 4 * f
            if best > w[MARGIN]:
                break
            if at[NEARBY] == 1 and dot(numbers, p, numbers, v) < numbers[p + 3] - on:
                continue
            turned(numbers, w, k, p, 0.0, V1)
            set_normal(w, V1, sign)
            u = climb(numbers, ints, at, w, 1 - k, -sign, u)
            s = sign * height(numbers, at, w, 1 - k, u) - numbers[p + 3] - k * dot(w, N, w, SHIFT)
            if tie > 0.0:
                ties += abs(s) <= tie
                for c in range(3):
                    w[V2 + c] += w[N + c] if abs(s) <= tie else 0.0
            elif s > bar:
                best, bar = s, s
                w[BEST], w[BEST + 1], w[BEST + 2] = FACE_A + k, f, s
                for c in range(3):
                    w[BEST_N + c] = w[N + c]
    if tie > 0.0:
        d = dot(w, V2, w, V2)
        if ties > 1 and d > 0.01:  # else they cancel, as around a thin plate: what was stays
            w[KIND] = 0.0
            set_normal(w, V2, 1.0 / math.sqrt(d))
    else:
        w[KIND], w[FIRST], w[S] = w[BEST], w[BEST + 1], best
        set_normal(w, BEST_N, 1.0)


@stage
def nearest_corner(numbers, ints, at, w):
    """Of the old witness's face, take the vertex nearest to the other body's as the near one."""
    k = int(w[KIND]) - FACE_A
    if k > 1:
        return
    o, other = SIDE * k, 1 - k
    v = at[SIDE * other + VERTEX] + 3 * int(w[NEAR_A + other])
    turned(numbers, w, other, v, 1.0, V1)
    start, least = at[o + FACE_START] + int(w[FIRST]), math.inf
    for e in range(ints[start], ints[start + 1]):
        v = ints[at[o + LOOP] + e]
        turned(numbers, w, k, at[o + VERTEX] + 3 * v, 1.0, V2)
        for c in range(3):
            w[V2 + c] -= w[V1 + c]
        d = dot(w, V2, w, V2)
        if d < least:
            w[NEAR_A + k] = v
            least = d


@stage
def near_distance(numbers, at, w):
    """Distance of the near vertices: the bodies are no further apart."""
    for k in range(2):
        turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * int(w[NEAR_A + k]), 1.0, V1 + 3 * k)
    for c in range(3):
        w[V1 + c] -= w[V2 + c]
    return math.sqrt(dot(w, V1, w, V1))


@stage
def extents(numbers, ints, at, w):
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
    w[EXTENT], w[SAME_LENGTH] = small, 1e-10 * small + 1e-14 * large


@stage
def parallel_faces(numbers, ints, at, w):
    """Whether a body has faces that are all but parallel (at[SIDED]), and if so whether one has
    faces that are narrow (at[NARROW]). Asked once, when the pair has its first contact."""
    at[SIDED] = 1 if parallel(numbers, at, 0) or parallel(numbers, at, 1) else 0
    for k in range(2 * at[SIDED]):
        for f in range(at[SIDE * k + NF]):
            if narrow(numbers, ints, at, w, k, f):
                at[NARROW] = 1


@stage
def parallel(numbers, at, k):
    """Whether body k has faces that are all but parallel. They need not be adjacent: two may meet
    in a corner only, between faces that are steep."""
    first = at[SIDE * k + PLANE]
    end = first + 4 * at[SIDE * k + NF]
    for p in range(first, end, 4):
        x, y, z = numbers[p], numbers[p + 1], numbers[p + 2]
        for q in range(p + 4, end, 4):
            if abs(numbers[q] - x) <= 2.0 * LEAN and (
                x * numbers[q] + y * numbers[q + 1] + z * numbers[q + 2] >= 1.0 - 2.0 * LEAN * LEAN
            ):
                return True
    return False


@stage
def narrow(numbers, ints, at, w, k, f):
    """Whether face f of body k can be level though it leans more than LEAN: by its width, which is
    at least its area by its diameter."""
    V, start = at[SIDE * k + VERTEX], at[SIDE * k + FACE_START] + f
    loop, end = at[SIDE * k + LOOP] + ints[start], at[SIDE * k + LOOP] + ints[start + 1]
    around = 0.0
    for c in range(3):
        w[V2 + c] = 0.0
    add_area(numbers, ints, V, loop, end, w)
    v = V + 3 * ints[end - 1]
    for e in range(loop, end):
        u = V + 3 * ints[e]
        x, y = numbers[u] - numbers[v], numbers[u + 1] - numbers[v + 1]
        z = numbers[u + 2] - numbers[v + 2]
        around += math.sqrt(x * x + y * y + z * z)
        v = u
    return math.sqrt(dot(w, V2, w, V2)) * LEAN <= 1.1 * THIN_SIDE * w[EXTENT] * around


@stage
def list_edges(numbers, ints, at, w, k, reach, edges):
    """Edges of body k worth asking, into its half of `edges`; returns how many.

    Those at the nearest vertex if at[NEARBY]. With n the best face's normal and its depth e, the
    points of two edges that do better are at most e apart, so an edge must come that near to the
    other body's plane (reach: height). Each takes EDGE_NUMBERS places: start, unit vector, left
    and right normals in the frame of A, and its number.
    """
    sign, vertex, o = 1.0 - 2.0 * k, int(w[NEAR_A + k]), SIDE * k
    d = k * (edges.size // 2)
    count = 0
    for i in range(at[o + NE]):
        e = at[o + EDGE] + 4 * i
        v, u = ints[e], ints[e + 1]
        if at[NEARBY] == 1 and v != vertex and u != vertex:
            continue
        h = min(sign * height(numbers, at, w, k, v), sign * height(numbers, at, w, k, u))
        if h > reach:
            continue
        for c in range(4):
            if c == 1:
                edge_vector(numbers, at, w, k, v, u, V1)
            elif c == 0:
                turned(numbers, w, k, at[o + VERTEX] + 3 * v, 1.0, V1)
            else:
                turned(numbers, w, k, at[o + PLANE] + 4 * ints[e + c], 0.0, V1)
            for j in range(3):
                edges[d + 3 * c + j] = w[V1 + j]
        edges[d + 12] = i
        d += EDGE_NUMBERS
        count += 1
    return count


@stage
def best_edges(numbers, ints, at, w, reach, bar, edges):
    """Pair of edges with the greatest separation above `bar`: w[FOUND:] = s, edge of A, edge of B.

    The arcs of an edge pair cross if each edge's vector parts the other's normals, and those of
    A and the opposite of B are on the same side. An edge whose arc ends on the other's but for
    rounding may go unseen: the face at that end separates as well.
    """
    na = nb = 0
    for k in range(2):
        sign = 2.0 * k - 1.0
        v = climb(numbers, ints, at, w, 1 - k, -sign, int(w[NEAR_B - k]))
        level = reach - sign * height(numbers, at, w, 1 - k, v)
        na = nb
        nb = list_edges(numbers, ints, at, w, k, level, edges)
    w[BEST_EDGES], w[BEST_EDGES + 1], w[BEST_EDGES + 2] = bar, -1.0, -1.0
    for i in range(na):
        a = EDGE_NUMBERS * i
        for j in range(nb):
            b = edges.size // 2 + EDGE_NUMBERS * j
            left = dot(edges, b + 6, edges, a + 3)
            if left * dot(edges, b + 9, edges, a + 3) >= 0.0:
                continue
            right = dot(edges, a + 9, edges, b + 3)
            if left * right >= 0.0 or right * dot(edges, a + 6, edges, b + 3) >= 0.0:
                continue
            d = cross_units(edges, a + 3, edges, b + 3, w, V1)
            if d <= PARALLEL_EDGES * PARALLEL_EDGES:
                continue
            d = 1.0 / math.sqrt(d)
            s = (dot(w, V1, edges, a) - dot(w, V1, edges, b)) * d
            if dot(w, V1, edges, a + 6) + dot(w, V1, edges, a + 9) > 0.0:
                s, d = -s, -d
            if s <= w[BEST_EDGES]:
                continue
            # rounding lets arcs cross that do not: two edges are no proof, the supports are
            set_normal(w, V1, d)
            e, f = at[EDGE] + 4 * int(edges[a + 12]), at[SIDE + EDGE] + 4 * int(edges[b + 12])
            bar = max(w[BEST_EDGES], s - w[SAME_LENGTH])
            s = support_gap(numbers, ints, at, w, ints[e], ints[f])
            if s > bar:
                w[BEST_EDGES], w[BEST_EDGES + 1], w[BEST_EDGES + 2] = (
                    s,
                    edges[a + 12],
                    edges[b + 12],
                )


# ---- Nearest vertices of two polyhedra that are apart: a vertex and a vertex, or a vertex and an
# edge.
#
# Called only where faces and pairs of edges fall short of the distance. All vertices and edges
# that can be nearest are asked, and what is found is believed by its supports alone: from the
# difference of two near points comes a direction with noise, but one of the candidates has it
# right. If the noise takes the line between two vertices over the rim of a vertex's normals, then
# the normal that is wanted is so near to the rim that the edge there, or at a corner the face or
# pair of edges, has as good a one, and theirs are normal to the edges to rounding.

VERTEX_NUMBERS = (
    5  # numbers kept of a vertex: point in the frame of A, height over the plane, number
)


@stage
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
            d += VERTEX_NUMBERS
            count += 1
    return count


@stage
def believe(numbers, ints, at, w, a0, a1, b0, b1):
    """If the bodies are as far apart along the line between the features as these are, and that is
    the most so far, they go to w[CLOSE:]."""
    w[KIND] = POINTS
    w[FIRST], w[FIRST + 1], w[FIRST + 2], w[FIRST + 3] = a0, a1, b0, b1
    if between_points(numbers, at, w):
        s = support_gap(numbers, ints, at, w, a0, b0)
        if s > w[BEST_VERTICES] and s >= w[G] - w[SAME_LENGTH]:
            w[BEST_VERTICES] = s
            for c in range(4):
                w[BEST_VERTICES + 1 + c] = w[FIRST + c]


@stage
def nearest_vertices(numbers, ints, at, w, bar, points):
    """Vertices, or a vertex and an edge, with the greatest separation above `bar`: w[CLOSE:] = s,
    two of A, two of B (equal: one vertex); w[CLOSE + 1] = -1 if there are none.

    With n the best face's normal, the nearest points lie behind the supporting planes by no more,
    together, than any known distance exceeds the separation s along n.
    """
    w[BEST_VERTICES], w[BEST_VERTICES + 1] = bar, -1.0
    set_normal(w, BEST_N, 1.0)
    s, upper, tol = 0.0, w[UPPER], w[SAME_LENGTH]
    for k in range(2):
        v = climb(numbers, ints, at, w, k, 2.0 * k - 1.0, int(w[NEAR_A + k]))
        w[NEAR_A + k] = v
        s -= (2.0 * k - 1.0) * height(numbers, at, w, k, v)
    na = nb = 0
    for k in range(2):
        na, nb = nb, list_vertices(numbers, at, w, k, upper - s + tol, points)
    half = points.size // 2
    for i in range(na):
        p = VERTEX_NUMBERS * i
        for j in range(nb):
            q = half + VERTEX_NUMBERS * j
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
                q = other + VERTEX_NUMBERS * j
                if points[q + 3] > upper - s + tol:
                    continue
                x, y, z = points[q] - w[V2], points[q + 1] - w[V2 + 1], points[q + 2] - w[V2 + 2]
                t = x * w[V1] + y * w[V1 + 1] + z * w[V1 + 2]
                if t < -BEYOND_END * w[EXTENT] or t > length + BEYOND_END * w[EXTENT]:
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
