"""What the kernels for polyhedra share: the working arrays, vectors in them, and hill climbing.

A pair is treated in the frame of A, so A's vertices and planes are read as they are stored. All
that is known about a pair lies in two small arrays, `at` (integers) and `w` (floats), and vectors
are named by their place in an array: functions with few arguments and statements compile fast.
"""

import math

import numpy as np

from drystone.kernels._jit import stage

# `at`: for A, and SIDE further for B, offsets of vertices and planes in numbers; counts; offsets
# in ints of the faces' starts and loops, of the edges, of the stars' starts and of the stars
VERTEX, PLANE, NV, NF, NE, FACE_START, LOOP, EDGE, STAR_START, STAR = range(10)
SIDE = 10  # as many
# of a search: its stage, contacts made; faces of both sides, how many, whether they are near
STAGE, MADE, FACE_OF_A, FACE_OF_B, COUNT_A, COUNT_B, NEARBY = 20, 21, 22, 23, 24, 25, 26
BARE = 27  # 1 if the last contact stands in for a region without the nearest points, 2 for none
# 1 if a body has faces that are all but parallel, which may carry together; -1: not asked yet
SIDED = 28
FACES_A, FACES_B = 29, 30  # how many faces the sides have
OUTLINE_A, OUTLINE_B = 31, 32  # how many vertices the outline has that is taken for a side
NARROW = 33  # 1 if one of its faces is so narrow that it may be level though it leans more
SPLIT = 34  # 1 if a body faces the other with a level edge and a face beside it, which carry both
AT_PLACES = 35  # as many

# `w`: first the pair's witness, which is what the cache keeps
KIND = 0
FIRST, SECOND, THIRD, FOURTH = 1, 2, 3, 4  # the defining features
NEAR_A, NEAR_B = 5, 6  # vertices nearest to the plane
FAR_A, FAR_B = 7, 8  # vertices farthest from it
# lengths: what counts as equal, and the smaller body's extent; `store` keeps SIDED and NARROW as
# their signs
SAME_LENGTH, EXTENT = 9, 10
WIDTH = 11  # of the cache
POSE = 11  # rotation Q of B in the frame of A, by rows
MARGIN = 23  # [m] beyond which there is no contact
S = 30  # separation of the bodies along n: a lower bound of the signed distance
G = 31  # gap between points found on both: an upper bound
RHO = 38  # how far the bodies can shift along the plane before the region is lost
HEIGHTS = 46  # of both faces over the plane (2, 3)
BEST = 52  # the best face of a search: kind, number, separation
OLD, OLD_FEATURES = 58, 84  # a witness set aside: kind, and separation 4 further; features
BEST_EDGES = 76  # best pair of edges: separation, edge of A, edge of B
BEST_VERTICES = 79  # best vertices: separation, one or two of A, one or two of B
UPPER = 88  # distance of two vertices: an upper bound of the bodies'
W_PLACES = 89  # as many

# vectors in `w`. NumPy integers, because a Python constant as an argument makes Numba compile the
# function once more for every value
SHIFT = np.int64(20)  # r: point y of B's frame is r + Q y in A's
N, NB = np.int64(24), np.int64(27)  # normal, from B to A, in the frames of A and of B
PA, PB = np.int64(32), np.int64(35)  # points on A and on B, when edges or vertices define n
TANGENT = np.int64(40)  # and another behind it
BEST_N = np.int64(55)  # normal of the best face
ENDS = np.int64(64)  # unit vectors of the two edges under study
V1, V2 = np.int64(70), np.int64(73)  # for a moment

HITS = 0  # first of the stats: witnesses of the step before that still hold
THIN_SIDE = 1e-5  # of the smaller body: a side this thick is as good as one face

FACE_A, FACE_B, EDGES, POINTS = 1, 2, 3, 4  # kinds of witnesses; 0: a normal without features


@stage
def dot(u, i, v, j):
    """Product of the vectors at u[i] and v[j]."""
    return u[i] * v[j] + u[i + 1] * v[j + 1] + u[i + 2] * v[j + 2]


@stage
def cross(u, i, v, j, w, o):
    """Vector product of those at u[i] and v[j], to w[o]."""
    w[o] = u[i + 1] * v[j + 2] - u[i + 2] * v[j + 1]
    w[o + 1] = u[i + 2] * v[j] - u[i] * v[j + 2]
    w[o + 2] = u[i] * v[j + 1] - u[i + 1] * v[j]


@stage
def cross_units(u, i, v, j, w, o):
    """Vector product of two unit vectors, to w[o]; returns the square of their sine.

    Of all but parallel vectors it is taken from their difference, which has no rounding of its
    own: the product is then normal to both to rounding, however small it is.
    """
    d = -1.0 if dot(u, i, v, j) > 0.0 else 1.0
    x, y, z = v[j] + d * u[i], v[j + 1] + d * u[i + 1], v[j + 2] + d * u[i + 2]
    w[o] = u[i + 1] * z - u[i + 2] * y
    w[o + 1] = u[i + 2] * x - u[i] * z
    w[o + 2] = u[i] * y - u[i + 1] * x
    return dot(w, o, w, o)


@stage
def turned(numbers, w, k, i, shift, o):
    """Vector at numbers[i] of body k in the frame of A, to w[o]; shift = 1 for a point."""
    for c in range(3):
        if k == 0:
            w[o + c] = numbers[i + c]
        else:
            w[o + c] = shift * w[SHIFT + c] + dot(w, POSE + 3 * c, numbers, i)


@stage
def edge_vector(numbers, at, w, k, v, u, o):
    """Unit vector from vertex v to u of body k in the frame of A, to w[o]; their distance.

    The difference is turned, not the points: it has an error of its own length's rounding.
    """
    i, j = at[SIDE * k + VERTEX] + 3 * v, at[SIDE * k + VERTEX] + 3 * u
    x, y = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
    z = numbers[j + 2] - numbers[i + 2]
    length = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    if k == 0:
        w[o], w[o + 1], w[o + 2] = x, y, z
    else:
        for c in range(3):
            p = POSE + 3 * c
            w[o + c] = w[p] * x + w[p + 1] * y + w[p + 2] * z
    return length


@stage
def set_normal(w, i, factor):
    """Make factor times the vector at w[i] the normal, in both frames."""
    for c in range(3):
        w[N + c] = factor * w[i + c]
    for c in range(3):
        w[NB + c] = w[POSE + c] * w[N] + w[POSE + 3 + c] * w[N + 1] + w[POSE + 6 + c] * w[N + 2]


@stage
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
        w[SHIFT + i] = 0.0
        for j in range(3):
            h = 0.0
            for c in range(3):
                h += R[a, c, i] * R[b, c, j]
            w[POSE + 3 * i + j] = h
            w[SHIFT + i] += R[a, j, i] * (x[b, j] - x[a, j])
    for i in range(WIDTH):
        w[i] = row[i]
    at[SIDED] = at[NARROW] = 0
    if w[EXTENT] < 0.0:
        at[SIDED], w[EXTENT] = 1, -w[EXTENT]
    if w[SAME_LENGTH] <= 0.0:
        w[SAME_LENGTH] = -w[SAME_LENGTH]
        if at[SIDED] == 1:
            at[NARROW] = 1
        else:
            at[SIDED] = -1


@stage
def store(at, w, row):
    """Keep the witness. Of EXTENT and SAME_LENGTH, neither is negative if no faces are parallel,
    EXTENT if some are, both if some are narrow too, SAME_LENGTH if that was not asked yet."""
    for i in range(WIDTH):
        row[i] = w[i]
    if at[SIDED] == 1:
        row[EXTENT] = -w[EXTENT]
    if at[SIDED] < 0 or at[NARROW] == 1:
        row[SAME_LENGTH] = -w[SAME_LENGTH]


@stage
def climb(numbers, ints, at, w, k, sign, start):
    """Vertex of body k farthest along sign * n, uphill from `start`.

    Convexity makes a vertex that no neighbour beats the farthest of all (Baraff 1992, 5.1).
    """
    V, first, star = at[SIDE * k + VERTEX], at[SIDE * k + STAR_START], at[SIDE * k + STAR]
    n = N + 3 * k
    v = start
    best = sign * dot(numbers, V + 3 * v, w, n)
    for _ in range(at[SIDE * k + NV]):
        here = v
        for e in range(star + ints[first + here], star + ints[first + here + 1]):
            h = sign * dot(numbers, V + 3 * ints[e], w, n)
            if h > best:
                best = h
                v = ints[e]
        if v == here:
            break
    return v


@stage
def height(numbers, at, w, k, v):
    """Height n.p of a vertex of body k."""
    h = dot(numbers, at[SIDE * k + VERTEX] + 3 * v, w, N + 3 * k)
    if k == 1:
        h += dot(w, N, w, SHIFT)
    return h


@stage
def support_gap(numbers, ints, at, w, v, u):
    """Separation of the bodies along n, by climbing from vertex v of A and u of B."""
    s = 0.0
    for k in range(2):
        sign, start = 2.0 * k - 1.0, v if k == 0 else u
        s -= sign * height(numbers, at, w, k, climb(numbers, ints, at, w, k, sign, start))
    return s


@stage
def add_area(numbers, ints, V, loop, end, w):
    """Add twice the area of a face, as a vector, to w[V2]."""
    i = V + 3 * ints[loop]
    for e in range(loop + 1, end - 1):
        p, q = V + 3 * ints[e], V + 3 * ints[e + 1]
        x, y, z = (
            numbers[p] - numbers[i],
            numbers[p + 1] - numbers[i + 1],
            numbers[p + 2] - numbers[i + 2],
        )
        a, b, c = (
            numbers[q] - numbers[i],
            numbers[q + 1] - numbers[i + 1],
            numbers[q + 2] - numbers[i + 2],
        )
        w[V2] += y * c - z * b
        w[V2 + 1] += z * a - x * c
        w[V2 + 2] += x * b - y * a
