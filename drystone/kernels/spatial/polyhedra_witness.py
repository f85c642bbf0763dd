"""Witnesses: a plane between two polyhedra rebuilt from its defining features and judged.

A witness of kind FACE_A or FACE_B is a face, EDGES an edge of each body, POINTS a vertex of each
or a vertex and an edge (two vertices). The bodies' separation s along the plane's normal n is a
lower bound of their signed distance. Points on both bodies that face each other across a gap g
give an upper bound. If g = s the distance is proved when the bodies are apart. When they overlap,
s = -depth of one facet of the Minkowski difference C = B - A; it is the least depth if C holds a
disc of radius rho about the foot of the origin in that facet and a point deep enough behind it,
because every other direction then has a support of at least that depth.
"""

import math

from drystone.kernels._jit import stage
from drystone.kernels.spatial.polyhedra_region import (
    AX,
    BX,
    EDGES_CROSS,
    IDS,
    SPOT,
    VERTEX_A,
    VERTEX_B,
    facing,
    feature,
    region,
)
from drystone.kernels.spatial.polyhedra_shape import (
    COUNT_A,
    EDGE,
    EDGES,
    ENDS,
    EXTENT,
    FACE_A,
    FACE_B,
    FAR_A,
    FIRST,
    KIND,
    MADE,
    MARGIN,
    NEAR_A,
    NEAR_B,
    PA,
    PB,
    PLANE,
    POINTS,
    RHO,
    SAME_LENGTH,
    SECOND,
    SHIFT,
    SIDE,
    THIRD,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    climb,
    cross,
    cross_units,
    dot,
    edge_vector,
    height,
    set_normal,
    turned,
)

BROKEN, DOUBTFUL, PROVED, BEYOND_MARGIN = -1, 0, 1, 2  # verdicts
# Sine of the angle between edges below which they define no plane. Then a face beside one of them
# separates as well but for this times the size of the bodies: along the edges' common arc on the
# Gauss map the depth is greatest at an end.
PARALLEL_EDGES = 1e-12
BEYOND_END = 1e-12  # of the smaller body: a foot this far beyond the end of an edge is still on it
SUPPORT_LEVEL = 1e-10  # of the smaller body: vertices this far from the plane belong to its support


@stage
def rebuild(numbers, ints, at, w):
    """Normal of the witness's plane into w (points too, unless a face defines it); validity."""
    kind = int(w[KIND])
    if kind == POINTS:
        return between_points(numbers, at, w)
    if kind == EDGES:
        return between_edges(numbers, ints, at, w)
    k = kind - FACE_A
    turned(numbers, w, k, at[SIDE * k + PLANE] + 4 * int(w[FIRST]), 0.0, V1)
    set_normal(w, V1, 2.0 * k - 1.0)
    return True


@stage
def between_edges(numbers, ints, at, w):
    """The product of two edges as normal, the points PA, PB where they pass, their gap G along it,
    and RHO, if they pass beyond an end minus how far beside each other the nearest points then
    are; whether they have a product at all."""
    la = lb = 0.0
    for k in range(2):
        i = at[SIDE * k + EDGE] + 4 * int(w[FIRST + k])
        la, lb = lb, edge_vector(numbers, at, w, k, ints[i], ints[i + 1], ENDS + 3 * k)
        turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * ints[i], 1.0, PA + 3 * k)
    square = cross_units(w, ENDS, w, ENDS + 3, w, V1)
    sine = math.sqrt(square)
    if sine <= PARALLEL_EDGES:
        return False
    for c in range(3):
        w[V2 + c] = w[PA + c] - w[PB + c]
    # the edge supports A if n points away from the faces beside it
    side, f = 0.0, at[EDGE] + 4 * int(w[FIRST])
    for i in range(2, 4):
        side += dot(w, V1, numbers, at[PLANE] + 4 * ints[f + i])
    # PA + s e - PB - t f is along the product m: s = -(V2 x f).m / m.m, t with e for f
    cross(w, V2, w, ENDS + 3, w, N)
    s = -dot(w, N, w, V1) / square
    cross(w, V2, w, ENDS, w, N)
    t = -dot(w, N, w, V1) / square
    set_normal(w, V1, (-1.0 if side > 0.0 else 1.0) / sine)
    w[G] = dot(w, N, w, V2)
    w[RHO] = sine * min(min(s, la - s), min(t, lb - t))
    if w[RHO] < 0.0:  # the nearest points of the two, of all but parallel ones far from there
        along = dot(w, ENDS, w, ENDS + 3)
        s = min(max(s, 0.0), la)
        t = min(max(dot(w, V2, w, ENDS + 3) + s * along, 0.0), lb)
        s = min(max(t * along - dot(w, V2, w, ENDS), 0.0), la)
    for c in range(3):
        w[PA + c] += s * w[ENDS + c]
        w[PB + c] += t * w[ENDS + 3 + c]
        w[V2 + c] = w[PA + c] - w[PB + c] - w[G] * w[N + c]
    if w[RHO] < 0.0:
        w[RHO] = -math.sqrt(dot(w, V2, w, V2))
    return True


@stage
def between_points(numbers, at, w):
    """The line between two vertices, or a vertex and an edge: normal, PA, PB and their distance G.

    An edge whose end is nearest becomes that vertex. Nearer than TOL they define no normal.
    """
    edge, slack = -1, BEYOND_END * w[EXTENT]
    for k in range(2):
        v, u = int(w[FIRST + 2 * k]), int(w[FIRST + 2 * k + 1])
        turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0, PA + 3 * k)
        if v != u:
            edge = k
    for c in range(3):
        w[V2 + c] = w[PA + c] - w[PB + c]
    if edge >= 0:
        i, p = FIRST + 2 * edge, PA + 3 * edge
        length = edge_vector(numbers, at, w, edge, int(w[i]), int(w[i + 1]), ENDS)
        t = (2.0 * edge - 1.0) * dot(w, V2, w, ENDS)
        if t < -slack:
            w[i + 1] = w[i]
        elif t > length + slack:
            w[i] = w[i + 1]
            turned(numbers, w, edge, at[SIDE * edge + VERTEX] + 3 * int(w[i]), 1.0, p)
            for c in range(3):
                w[V2 + c] = w[PA + c] - w[PB + c]
        else:
            for c in range(3):
                w[p + c] += t * w[ENDS + c]
                w[V2 + c] = w[PA + c] - w[PB + c]
            # near points differ by noise, but a normal must be one of the edge's
            t = dot(w, V2, w, ENDS)
            for c in range(3):
                w[V2 + c] -= t * w[ENDS + c]
    w[G] = math.sqrt(dot(w, V2, w, V2))
    if w[G] <= w[SAME_LENGTH]:
        return False
    set_normal(w, V2, 1.0 / w[G])
    return True


@stage
def separate(numbers, ints, at, w):
    """Separation along n into w[S]: the nearest vertices are found by climbing."""
    s = 0.0
    for k in range(2):
        sign = 2.0 * k - 1.0
        if w[KIND] == FACE_A + k:
            h = sign * numbers[at[SIDE * k + PLANE] + 4 * int(w[FIRST]) + 3]
            h += k * dot(w, N, w, SHIFT)
        else:
            v = climb(numbers, ints, at, w, k, sign, int(w[NEAR_A + k]))
            w[NEAR_A + k] = v
            h = height(numbers, at, w, k, v)
        s -= sign * h
    w[S] = s


@stage
def single(numbers, ints, at, w, poly, label):
    """The contact where the witness's features are nearest, as the last one, in the place of any
    with its name; the gap of a face is s."""
    kind = int(w[KIND])
    a0 = a1 = int(w[NEAR_A])
    b0 = b1 = int(w[NEAR_B])
    form = EDGES_CROSS
    if kind == EDGES:
        i, j = at[EDGE] + 4 * int(w[FIRST]), at[SIDE + EDGE] + 4 * int(w[SECOND])
        a0, a1, b0, b1 = ints[i], ints[i + 1], ints[j], ints[j + 1]
    elif kind == POINTS:
        a0, a1, b0, b1 = int(w[FIRST]), int(w[SECOND]), int(w[THIRD]), int(w[THIRD + 1])
        if a0 == a1 or b0 == b1:
            form = VERTEX_A if a0 == a1 else VERTEX_B
    else:
        # the nearest vertex of the other body, and the point of the plane beside it
        k = 0 if kind == FACE_B else 1
        form = VERTEX_A + k
        w[G] = w[S]
        turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * int(w[NEAR_A + k]), 1.0, PA)
        for c in range(3):
            w[PB + c] = w[PA + c] + (2.0 * k - 1.0) * w[S] * w[N + c]
    name, made = feature(form, a0, a1, b0, b1), 0
    for i in range(at[MADE]):
        if label[IDS, i] != name:
            label[IDS, made] = label[IDS, i]
            for c in range(4):
                poly[SPOT + c, made] = poly[SPOT + c, i]
            made += 1
    for c in range(3):
        poly[SPOT + c, made] = 0.5 * (w[PA + c] + w[PB + c])
    poly[SPOT + 3, made] = w[G]
    label[IDS, made] = name
    at[MADE] = made + 1
    return made + 1


@stage
def clearance(at, w, poly):
    """How far the support of one body lies inside the face of the other, in the plane.

    The facet of B - A over this plane is the face of one body with the other's support (its
    vertices at the plane's height); this is the distance of the origin from that facet's rim.
    """
    k = int(w[KIND]) - FACE_A
    turn = 1.0 - 2.0 * k
    F, nf = (BX, at[COUNT_A + 1]) if k == 1 else (AX, at[COUNT_A])
    T, nt = (AX, at[COUNT_A]) if k == 1 else (BX, at[COUNT_A + 1])
    top = poly[T + 2, 0]
    for j in range(1, nt):
        top = min(top, poly[T + 2, j]) if k == 1 else max(top, poly[T + 2, j])
    held, level, rho = 0, SUPPORT_LEVEL * w[EXTENT], math.inf
    for j in range(nt):
        held += abs(poly[T + 2, j] - top) <= level
    if 2 < held < nt:  # part of a face: its hull is not followed here, so nothing is promised
        return 0.0
    for i in range(nf + (nt if held > 1 else 0)):
        # sides of the face, then of the support; P: the polygon of the side, Q: the other
        own = i < nf
        P, Q, size, other = (F, T, nf, nt) if own else (T, F, nt, nf)
        v = i if own else i - nf
        u = v + 1 if v + 1 < size else 0
        if not own and max(abs(poly[T + 2, v] - top), abs(poly[T + 2, u] - top)) > level:
            continue
        ex, ey = poly[P, u] - poly[P, v], poly[P + 1, u] - poly[P + 1, v]
        e = (turn if own else -turn) / math.sqrt(ex * ex + ey * ey)
        deep, back = -math.inf, -math.inf
        for j in range(other):
            if not own or abs(poly[T + 2, j] - top) <= level:
                d = ey * (poly[Q, j] - poly[P, v]) - ex * (poly[Q + 1, j] - poly[P + 1, v])
                deep, back = max(deep, d * e), max(back, -d * e)
        rho = min(rho, deep)
        if not own and held == 2:
            rho = min(rho, back)
    return rho


@stage
def least_depth(numbers, ints, at, w, rho):
    """Whether no other direction can have a smaller depth than -s (see the module).

    At an angle a from n the disc gives a support of e cos a + rho sin a, with e = -s. That is
    at least e up to a = pi - 2 atan(e / rho) if rho >= e; from there a point of C that is D
    behind the plane and `beside` the foot must serve.
    """
    e = -w[S]
    if rho < e:
        return False
    for k in range(2):
        v = climb(numbers, ints, at, w, k, 1.0 - 2.0 * k, int(w[FAR_A + k]))
        w[FAR_A + k] = v
        turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0, V1 + 3 * k)
    for c in range(3):
        w[V1 + c] -= w[V2 + c]
    D = dot(w, V1, w, N)
    beside = math.sqrt(max(dot(w, V1, w, V1) - D * D, 0.0))
    q = e / rho
    return D * (1.0 - q * q) - 2.0 * beside * q >= e * (1.0 + q * q)


@stage
def assess(numbers, ints, at, w, poly, label):
    """Judge the witness in w; if it is near, at[MADE] contacts are left in poly and label."""
    at[MADE] = 0
    kind = int(w[KIND])
    if kind > 0 and not rebuild(numbers, ints, at, w):
        return BROKEN
    upper = w[G]
    separate(numbers, ints, at, w)
    s, tol = w[S], w[SAME_LENGTH]
    if s > w[MARGIN]:
        return BEYOND_MARGIN
    if kind > FACE_B and upper > s + tol:  # other features support the plane now
        return DOUBTFUL
    beyond = kind == EDGES and w[RHO] <= -tol
    made = 0
    if facing(numbers, ints, at, w):
        made = region(numbers, ints, at, w, poly, label)
    at[MADE] = made
    if kind > FACE_B and (made == 0 or w[G] > upper + tol):
        # the features themselves: of all but parallel edges, what is put up with in clipping
        # takes the crossing away from where they are nearest
        w[G] = upper
        made = 0 if beyond else single(numbers, ints, at, w, poly, label)
        at[MADE] = made
    if made == 0 or w[G] - s > tol:
        return BROKEN if beyond else DOUBTFUL
    if s > tol:
        return PROVED
    if s >= -tol:  # touching: a corner or an edge of a face needs a normal of its own
        return DOUBTFUL if kind <= FACE_B and made < 3 else PROVED
    rho = clearance(at, w, poly) if kind <= FACE_B else w[RHO]
    return PROVED if least_depth(numbers, ints, at, w, rho) else DOUBTFUL
