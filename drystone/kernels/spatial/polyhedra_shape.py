"""What the kernels for polyhedra share: the working arrays, poses, and hill climbing.

A pair is treated in the frame of A, so A's vertices and planes are read as they are stored. All
that is known about a pair lies in two small arrays, `at` (integers) and `w` (floats): functions
with few arguments compile fast.
"""

from drystone.kernels._jit import kernel

# `at`: for A, and SIDE further for B, offsets of vertices and planes in numbers; counts; offsets
# in ints of the faces' starts and loops, of the edges, of the stars' starts and of the stars
VERTEX, PLANE, NV, NF, NE, FACE_START, LOOP, EDGE, STAR_START, STAR = range(10)
SIDE = 10
STAGE, MADE, FACE_OF_A, FACE_OF_B, COUNT_A, COUNT_B, NEARBY = 20, 21, 22, 23, 24, 25, 26
PAIRS = 28  # vertices of A and B that make up the simplex (4, 2)
AT = 36

# `w`: first the pair's witness, which is what the cache keeps
KIND = 0
FIRST, SECOND, THIRD, FOURTH = 1, 2, 3, 4  # the defining features
NEAR_A, NEAR_B = 5, 6  # vertices nearest to the plane
FAR_A, FAR_B = 7, 8  # vertices farthest from it
TOL, SIZE = 9, 10  # lengths: what counts as equal, and the smaller body's extent
WIDTH = 11
POSE = 11  # rotation Q by rows and shift r: point y of B's frame is r + Q y in A's
MARGIN = 23
N, NB = 24, 27  # the plane's normal, from B to A, in the frames of A and of B
S = 30  # separation of the bodies along n: a lower bound of the signed distance
G = 31  # gap between points found on both: an upper bound
PA, PB = 32, 35  # points on A and on B, when edges or vertices define the plane
RHO = 38  # how far the bodies can shift along the plane before the region is lost
TANGENT = 40  # two tangents, then the heights of both faces over the plane (2, 3)
BEST = 52  # the best face of a search: kind, number, separation, normal (3)
OLD = 58  # a witness set aside: kind, features, separation
ENDS = 64  # vectors of the two edges under study
FOUND = 72  # best pair of edges: separation, edge of A, edge of B
SIMPLEX = 76  # points (4, 3), weights (4), best weights (4), nearest point (3)
WORK = 100

FACE_A, FACE_B, EDGES, POINTS = 1, 2, 3, 4  # kinds of witnesses; 0: a normal without features


@kernel
def load(pair, x, R, first, first_int, ints, row, at, w):
    """Where both bodies' numbers lie, their relative pose, and the cached witness."""
    for k in range(2):
        g, o = pair[k], SIDE * k
        i = first_int[g]
        nv, nf, ne = ints[i], ints[i + 1], ints[i + 2]
        edge = i + 4 + nf + ints[i + 3 + nf]
        at[o + VERTEX], at[o + PLANE] = first[g], first[g] + 3 * nv
        at[o + NV], at[o + NF], at[o + NE] = nv, nf, ne
        at[o + FACE_START], at[o + LOOP], at[o + EDGE] = i + 3, i + 4 + nf, edge
        at[o + STAR_START], at[o + STAR] = edge + 4 * ne, edge + 4 * ne + nv + 1
    a, b = pair[0], pair[1]
    for i in range(3):
        for j in range(3):
            w[POSE + 3 * i + j] = (
                R[a, 0, i] * R[b, 0, j] + R[a, 1, i] * R[b, 1, j] + R[a, 2, i] * R[b, 2, j]
            )
        w[POSE + 9 + i] = (
            R[a, 0, i] * (x[b, 0] - x[a, 0])
            + R[a, 1, i] * (x[b, 1] - x[a, 1])
            + R[a, 2, i] * (x[b, 2] - x[a, 2])
        )
    for i in range(WIDTH):
        w[i] = row[i]


@kernel
def climb(numbers, ints, at, w, k, sign, start):
    """Vertex of body k farthest along sign * n, uphill from `start`.

    Convexity makes a vertex that no neighbour beats the farthest of all (001:5.1).
    """
    V, first, star = at[SIDE * k + VERTEX], at[SIDE * k + STAR_START], at[SIDE * k + STAR]
    d = NB if k == 1 else N
    x, y, z = sign * w[d], sign * w[d + 1], sign * w[d + 2]
    v = start
    i = V + 3 * v
    best = x * numbers[i] + y * numbers[i + 1] + z * numbers[i + 2]
    for _ in range(at[SIDE * k + NV]):
        here = v
        for e in range(star + ints[first + here], star + ints[first + here + 1]):
            i = V + 3 * ints[e]
            h = x * numbers[i] + y * numbers[i + 1] + z * numbers[i + 2]
            if h > best:
                best = h
                v = ints[e]
        if v == here:
            break
    return v


@kernel
def height(numbers, at, w, k, v):
    """Height n.p of a vertex of body k."""
    if k == 0:
        i = at[VERTEX] + 3 * v
        return w[N] * numbers[i] + w[N + 1] * numbers[i + 1] + w[N + 2] * numbers[i + 2]
    i = at[SIDE + VERTEX] + 3 * v
    h = w[NB] * numbers[i] + w[NB + 1] * numbers[i + 1] + w[NB + 2] * numbers[i + 2]
    return h + w[N] * w[POSE + 9] + w[N + 1] * w[POSE + 10] + w[N + 2] * w[POSE + 11]


@kernel
def turned(numbers, w, k, i, shift):
    """Vector numbers[i:i + 3] of body k in the frame of A; shift = 1 for a point."""
    p, q, s = numbers[i], numbers[i + 1], numbers[i + 2]
    if k == 0:
        return p, q, s
    return (
        shift * w[POSE + 9] + w[POSE] * p + w[POSE + 1] * q + w[POSE + 2] * s,
        shift * w[POSE + 10] + w[POSE + 3] * p + w[POSE + 4] * q + w[POSE + 5] * s,
        shift * w[POSE + 11] + w[POSE + 6] * p + w[POSE + 7] * q + w[POSE + 8] * s,
    )


@kernel
def set_normal(w, x, y, z):
    """Store a direction in both frames."""
    w[N], w[N + 1], w[N + 2] = x, y, z
    for j in range(3):
        w[NB + j] = w[POSE + j] * x + w[POSE + 3 + j] * y + w[POSE + 6 + j] * z
