"""Search for the plane of greatest separation: faces of both bodies, then pairs of edges.

Only edge pairs whose arcs cross on the Gauss map span a face of the Minkowski difference, so only
those are axes. The same routines serve the look at adjacent features (G3): then the faces and
edges are those at the vertices nearest to the old plane.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    EDGE,
    EDGES,
    FACE_A,
    FACE_START,
    FIRST,
    KIND,
    LOOP,
    NB,
    NE,
    NEAR_A,
    NEAR_B,
    NF,
    PLANE,
    SECOND,
    SIZE,
    TOL,
    VERTEX,
    N,
    S,
    climb,
    height,
    place,
    plane_normal,
    set_normal,
)
from drystone.kernels.spatial.polyhedra_witness import ON, PARALLEL, rebuild, separate


@kernel
def best_face(numbers, ints, lay, pose, row, geo, margin, near):
    """The face of A or B with the greatest separation, into row and geo (001:5.1).

    If `near`, only faces through the nearest vertices. Equal faces: A's, then the first one.
    Stops at the first plane that proves a gap beyond the margin.
    """
    best, kind, face = -math.inf, 0, 0
    va, vb = int(row[NEAR_A]), int(row[NEAR_B])
    from_a, from_b, on = va, vb, ON * row[SIZE]
    for k in range(2):
        P, v = lay[k, PLANE], lay[k, VERTEX] + 3 * (from_a if k == 0 else from_b)
        bar = best + row[TOL] if k == 1 else best
        for f in range(lay[k, NF]):
            p = P + 4 * f
            if near:
                d = numbers[p] * numbers[v] + numbers[p + 1] * numbers[v + 1]
                if d + numbers[p + 2] * numbers[v + 2] < numbers[p + 3] - on:
                    continue
            row[KIND], row[FIRST] = FACE_A + k, f
            rebuild(numbers, ints, lay, pose, row, geo)
            separate(numbers, ints, lay, pose, row, geo)
            if geo[S] > bar:
                best, bar, kind, face = geo[S], geo[S], FACE_A + k, f
                va, vb = int(row[NEAR_A]), int(row[NEAR_B])
                if best > margin:
                    return
    row[KIND], row[FIRST], row[NEAR_A], row[NEAR_B] = kind, face, va, vb
    if kind == 0:
        return
    rebuild(numbers, ints, lay, pose, row, geo)
    separate(numbers, ints, lay, pose, row, geo)


@kernel
def nearest_corner(numbers, ints, lay, pose, k, f, v):
    """Vertex of face f of body k that is nearest to vertex v of the other body."""
    x, y, z = place(numbers, lay, pose, 1 - k, v)
    best, least = 0, math.inf
    start = lay[k, FACE_START] + f
    for e in range(lay[k, LOOP] + ints[start], lay[k, LOOP] + ints[start + 1]):
        p, q, s = place(numbers, lay, pose, k, ints[e])
        d = (p - x) ** 2 + (q - y) ** 2 + (s - z) ** 2
        if d < least:
            best, least = ints[e], d
    return best


@kernel
def list_edges(numbers, ints, lay, pose, geo, k, vertex, reach, chosen, data):
    """Edges of body k worth asking: those at `vertex` (-1: any) that come within reach.

    With n a face's normal and a depth e, the points of edges that do better are at most e apart,
    so an edge must come that near to the other body's plane (reach: height). data (., 12): start,
    vector, left and right normals in the frame of A. Returns how many.
    """
    sign = 1.0 if k == 0 else -1.0
    count = 0
    for i in range(lay[k, NE]):
        e = lay[k, EDGE] + 4 * i
        v, w = ints[e], ints[e + 1]
        if vertex >= 0 and v != vertex and w != vertex:
            continue
        h = min(
            sign * height(numbers, lay, pose, geo, k, v),
            sign * height(numbers, lay, pose, geo, k, w),
        )
        if h > reach:
            continue
        p, q, s = place(numbers, lay, pose, k, v)
        x, y, z = place(numbers, lay, pose, k, w)
        chosen[k, count] = i
        d = data[k, count]
        d[0], d[1], d[2], d[3], d[4], d[5] = p, q, s, x - p, y - q, z - s
        d[6], d[7], d[8] = plane_normal(numbers, lay, pose, k, ints[e + 2])
        d[9], d[10], d[11] = plane_normal(numbers, lay, pose, k, ints[e + 3])
        count += 1
    return count


@kernel
def best_edges(data, na, nb, bar, out):
    """Pair of listed edges with the greatest separation above `bar`: out = (s, i, j).

    Arcs cross if each edge's vector parts the other's normals, on the right side.
    """
    out[0], out[1], out[2] = bar, -1.0, -1.0
    for i in range(na):
        a = data[0, i]
        ex, ey, ez = a[3], a[4], a[5]
        la = ex * ex + ey * ey + ez * ez
        for j in range(nb):
            b = data[1, j]
            ml = b[6] * ex + b[7] * ey + b[8] * ez
            if ml * (b[9] * ex + b[10] * ey + b[11] * ez) >= 0.0:
                continue
            fx, fy, fz = b[3], b[4], b[5]
            nr = a[9] * fx + a[10] * fy + a[11] * fz
            if ml * nr >= 0.0 or nr * (a[6] * fx + a[7] * fy + a[8] * fz) >= 0.0:
                continue
            x, y, z = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            d = x * x + y * y + z * z
            if d < PARALLEL * PARALLEL * la * (fx * fx + fy * fy + fz * fz):
                continue
            s = x * (a[0] - b[0]) + y * (a[1] - b[1]) + z * (a[2] - b[2])
            side = x * (a[6] + a[9]) + y * (a[7] + a[10]) + z * (a[8] + a[11])
            s = (-s if side > 0.0 else s) / math.sqrt(d)
            if s > out[0]:
                out[0], out[1], out[2] = s, i, j


@kernel
def try_edges(numbers, ints, lay, pose, row, geo, near, reach, bar, chosen, data, out):
    """Best edge pair above `bar` into row, as the kind EDGES; whether there is one."""
    va = int(row[NEAR_A]) if near else -1
    vb = int(row[NEAR_B]) if near else -1
    high = height(
        numbers,
        lay,
        pose,
        geo,
        1,
        climb(numbers, ints, lay, 1, geo[NB], geo[NB + 1], geo[NB + 2], int(row[NEAR_B])),
    )
    low = height(
        numbers,
        lay,
        pose,
        geo,
        0,
        climb(numbers, ints, lay, 0, -geo[N], -geo[N + 1], -geo[N + 2], int(row[NEAR_A])),
    )
    na = list_edges(numbers, ints, lay, pose, geo, 0, va, high + reach, chosen, data)
    nb = list_edges(numbers, ints, lay, pose, geo, 1, vb, reach - low, chosen, data)
    best_edges(data, na, nb, bar, out)
    if out[1] < 0.0:
        return False
    row[KIND] = EDGES
    row[FIRST], row[SECOND] = chosen[0, int(out[1])], chosen[1, int(out[2])]
    return True


@kernel
def mean_normal(numbers, ints, lay, pose, row, geo, tie):
    """Mean of the normals of all faces within `tie` of touching, into geo (G6)."""
    x = y = z = 0.0
    for k in range(2):
        for f in range(lay[k, NF]):
            row[KIND], row[FIRST] = FACE_A + k, f
            rebuild(numbers, ints, lay, pose, row, geo)
            separate(numbers, ints, lay, pose, row, geo)
            if abs(geo[S]) <= tie:
                x, y, z = x + geo[N], y + geo[N + 1], z + geo[N + 2]
    d = math.sqrt(x * x + y * y + z * z)
    if d <= 0.1:
        return False
    set_normal(geo, pose, x / d, y / d, z / d)
    return True
