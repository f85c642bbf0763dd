"""What the kernels for polyhedra share: where a body's numbers lie, relative poses, hill climbing.

A pair is treated in the frame of A, so A's vertices and planes are read as they are stored. All
geometry stays in the flat arrays of the model; `lay` holds, for A (row 0) and B (row 1), where.
"""

import math

from drystone.kernels._jit import kernel

# columns of lay: offsets of vertices and planes in numbers; counts; offsets in ints
VERTEX, PLANE, NV, NF, NE, FACE_START, LOOP, EDGE, STAR_START, STAR = range(10)

# columns of a pair's cache row (its witness)
KIND = 0
FIRST, SECOND, THIRD, FOURTH = 1, 2, 3, 4  # the defining features
NEAR_A, NEAR_B = 5, 6  # vertices nearest to the plane
FAR_A, FAR_B = 7, 8  # vertices farthest from it
TOL, SIZE = 9, 10  # lengths: what counts as equal, and the smaller body's extent
WIDTH = 11

FACE_A, FACE_B, EDGES, POINTS = 1, 2, 3, 4  # kinds of witnesses

# entries of geo: everything about the plane under study, in the frame of A
N = 0  # normal, from B to A
NB = 3  # the same in the frame of B
S = 6  # separation of the bodies along n: a lower bound of the distance
G = 7  # least gap between points found on both: an upper bound of it
PA, PB = 8, 11  # points on A and on B, when edges or vertices define the plane
RHO = 14  # how far the bodies can shift along the plane before the contact region is lost
GEO = 15


@kernel
def layout(g, k, first, first_int, ints, lay):
    """Fill row k of lay for polyhedron g."""
    i = first_int[g]
    nv, nf, ne = ints[i], ints[i + 1], ints[i + 2]
    lay[k, VERTEX] = first[g]
    lay[k, PLANE] = first[g] + 3 * nv
    lay[k, NV] = nv
    lay[k, NF] = nf
    lay[k, NE] = ne
    lay[k, FACE_START] = i + 3
    lay[k, LOOP] = i + 4 + nf
    edge = i + 4 + nf + ints[i + 3 + nf]
    lay[k, EDGE] = edge
    lay[k, STAR_START] = edge + 4 * ne
    lay[k, STAR] = edge + 4 * ne + nv + 1


@kernel
def relative_pose(x, R, a, b, pose):
    """pose = Q (9, by rows), r (3): point of B's frame y is r + Q y in A's."""
    for i in range(3):
        for j in range(3):
            pose[3 * i + j] = (
                R[a, 0, i] * R[b, 0, j] + R[a, 1, i] * R[b, 1, j] + R[a, 2, i] * R[b, 2, j]
            )
        pose[9 + i] = (
            R[a, 0, i] * (x[b, 0] - x[a, 0])
            + R[a, 1, i] * (x[b, 1] - x[a, 1])
            + R[a, 2, i] * (x[b, 2] - x[a, 2])
        )


@kernel
def climb(numbers, ints, lay, k, dx, dy, dz, start):
    """Vertex of body k farthest along d (in its frame), uphill from `start`.

    Convexity makes a vertex that no neighbour beats the farthest of all (001:5.1).
    """
    V, first, star = lay[k, VERTEX], lay[k, STAR_START], lay[k, STAR]
    v = start
    i = V + 3 * v
    best = dx * numbers[i] + dy * numbers[i + 1] + dz * numbers[i + 2]
    for _ in range(lay[k, NV]):
        here = v
        for e in range(star + ints[first + here], star + ints[first + here + 1]):
            i = V + 3 * ints[e]
            d = dx * numbers[i] + dy * numbers[i + 1] + dz * numbers[i + 2]
            if d > best:
                best = d
                v = ints[e]
        if v == here:
            break
    return v


@kernel
def height(numbers, lay, pose, geo, k, v):
    """Height n.p of a vertex of body k."""
    i = lay[k, VERTEX] + 3 * v
    if k == 0:
        return geo[N] * numbers[i] + geo[N + 1] * numbers[i + 1] + geo[N + 2] * numbers[i + 2]
    base = geo[N] * pose[9] + geo[N + 1] * pose[10] + geo[N + 2] * pose[11]
    return base + geo[NB] * numbers[i] + geo[NB + 1] * numbers[i + 1] + geo[NB + 2] * numbers[i + 2]


@kernel
def place(numbers, lay, pose, k, v):
    """Vertex v of body k in the frame of A."""
    i = lay[k, VERTEX] + 3 * v
    p, q, s = numbers[i], numbers[i + 1], numbers[i + 2]
    if k == 0:
        return p, q, s
    return (
        pose[9] + pose[0] * p + pose[1] * q + pose[2] * s,
        pose[10] + pose[3] * p + pose[4] * q + pose[5] * s,
        pose[11] + pose[6] * p + pose[7] * q + pose[8] * s,
    )


@kernel
def plane_normal(numbers, lay, pose, k, f):
    """Outer normal of face f of body k in the frame of A."""
    i = lay[k, PLANE] + 4 * f
    p, q, s = numbers[i], numbers[i + 1], numbers[i + 2]
    if k == 0:
        return p, q, s
    return (
        pose[0] * p + pose[1] * q + pose[2] * s,
        pose[3] * p + pose[4] * q + pose[5] * s,
        pose[6] * p + pose[7] * q + pose[8] * s,
    )


@kernel
def set_normal(geo, pose, nx, ny, nz):
    """Store a direction in both frames."""
    geo[N], geo[N + 1], geo[N + 2] = nx, ny, nz
    geo[NB] = pose[0] * nx + pose[3] * ny + pose[6] * nz
    geo[NB + 1] = pose[1] * nx + pose[4] * ny + pose[7] * nz
    geo[NB + 2] = pose[2] * nx + pose[5] * ny + pose[8] * nz


@kernel
def extent(numbers, lay, k):
    """Largest side of the body's box in its own frame."""
    V, size = lay[k, VERTEX], 0.0
    for c in range(3):
        low, high = math.inf, -math.inf
        for v in range(lay[k, NV]):
            low = min(low, numbers[V + 3 * v + c])
            high = max(high, numbers[V + 3 * v + c])
        size = max(size, high - low)
    return size


@kernel
def facing(numbers, lay, geo, k, v, w, tol):
    """Face of body k through vertices v and w that faces the other body most; -1 if none does.

    Only faces through the nearest feature are asked: the best aligned face of all need not
    hold it. Membership is read off the planes, which spares a table of faces around vertices.
    """
    V, P = lay[k, VERTEX], lay[k, PLANE]
    if k == 0:
        dx, dy, dz = -geo[N], -geo[N + 1], -geo[N + 2]
    else:
        dx, dy, dz = geo[NB], geo[NB + 1], geo[NB + 2]
    best, found = 1e-6, -1
    i, j = V + 3 * v, V + 3 * w
    for f in range(lay[k, NF]):
        p = P + 4 * f
        a, b, c = numbers[p], numbers[p + 1], numbers[p + 2]
        d = a * dx + b * dy + c * dz
        if d > best:
            o = numbers[p + 3] - tol
            if a * numbers[i] + b * numbers[i + 1] + c * numbers[i + 2] < o:
                continue
            if a * numbers[j] + b * numbers[j + 1] + c * numbers[j + 2] < o:
                continue
            best, found = d, f
    return found
