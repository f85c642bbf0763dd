"""Witnesses: a plane between two polyhedra rebuilt from its defining features and judged (G3).

A witness of kind FACE_A or FACE_B is a face, EDGES an edge of each body, POINTS a vertex or an
edge (two vertices) of each. The bodies' separation s along the plane's normal n is a lower bound
of their signed distance. Points on both bodies that face each other across a gap g give an upper
bound. If g = s the distance is proved when the bodies are apart. When they overlap, s = -depth
of one facet of the Minkowski difference C = B - A; it is the least depth if C holds a disc of
radius rho about the foot of the origin in that facet and a point deep enough behind it, because
every other direction then has a support of at least that depth.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_region import (
    AX,
    BX,
    CROSSING,
    IDS,
    SPOT,
    VERTEX_A,
    VERTEX_B,
    feature,
    region,
)
from drystone.kernels.spatial.polyhedra_shape import (
    COUNT_A,
    EDGE,
    EDGES,
    ENDS,
    FACE_A,
    FACE_B,
    FACE_OF_A,
    FAR_A,
    FIRST,
    KIND,
    MADE,
    MARGIN,
    NEAR_A,
    NEAR_B,
    NF,
    PA,
    PB,
    PLANE,
    POINTS,
    RHO,
    SECOND,
    SHIFT,
    SIDE,
    SIZE,
    THIRD,
    TOL,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    climb,
    cross,
    dot,
    height,
    set_normal,
    turned,
)

BROKEN, DOUBTFUL, PROVED, FAR = -1, 0, 1, 2  # verdicts
PARALLEL = 1e-8  # sine of the angle between edges below which they define no plane
ON = 1e-8  # of the smaller body: how well vertices of a face lie on its plane
LEVEL = 1e-10  # of the smaller body: vertices this far from the plane belong to its support


@kernel
def rebuild(numbers, ints, at, w):
    """Normal of the witness's plane into w (points too, unless a face defines it); validity."""
    kind = int(w[KIND])
    if kind <= FACE_B:
        k = kind - FACE_A
        turned(numbers, w, k, at[SIDE * k + PLANE] + 4 * int(w[FIRST]), 0.0, V1)
        set_normal(w, V1, 2.0 * k - 1.0)
        return True
    sine = cross_lines(numbers, ints, at, w, kind == EDGES)
    for c in range(3):
        w[V2 + c] = w[PA + c] - w[PB + c]
    w[G] = math.sqrt(dot(w, V2, w, V2))
    side = -dot(w, V1, w, V2)
    if kind == EDGES:  # the edge supports A if n points away from the faces beside it
        side = 0.0
        for i in range(2, 4):
            f = ints[at[EDGE] + 4 * int(w[FIRST]) + i]
            side += dot(w, V1, numbers, at[PLANE] + 4 * f)
    elif w[G] <= w[TOL] or sine < 1e-4 or w[RHO] <= 0.0:
        set_normal(w, V2, 1.0 / w[G])
        return w[G] > w[TOL]
    # of edges that cross, the product has less noise than the difference of near points
    set_normal(w, V1, -1.0 if side > 0.0 else 1.0)
    w[G] = dot(w, N, w, V2)
    return sine > PARALLEL and w[RHO] > -w[TOL]


@kernel
def cross_lines(numbers, ints, at, w, lines):
    """Nearest points PA, PB of two edges (or vertices), unit product V1, RHO; returns the sine.

    If `lines` the edges are EDGES' and their whole lines count, else POINTS' segments.
    """
    for k in range(2):
        i = at[SIDE * k + EDGE] + 4 * int(w[FIRST + k])
        for c in range(2):
            v = ints[i + c] if lines else int(w[FIRST + 2 * k + c])
            o = (ENDS if c == 1 else PA) + 3 * k
            turned(numbers, w, k, at[SIDE * k + VERTEX] + 3 * v, 1.0, o)
        for c in range(3):
            w[ENDS + 3 * k + c] -= w[PA + 3 * k + c]
    for c in range(3):
        w[V2 + c] = w[PA + c] - w[PB + c]
    e, f = ENDS, ENDS + 3
    a, b, c = dot(w, e, w, e), dot(w, e, w, f), dot(w, f, w, f)
    p, q = dot(w, e, w, V2), dot(w, f, w, V2)
    cross(w, e, w, f, w, V1)
    det = dot(w, V1, w, V1)
    sine = math.sqrt(det / (a * c)) if a > 0.0 and c > 0.0 else 0.0
    s, t = 0.0, 0.0
    if sine > PARALLEL:
        s, t = (b * q - c * p) / det, (a * q - b * p) / det
        for i in range(3):
            w[V1 + i] /= math.sqrt(det)
    w[RHO] = sine * min(math.sqrt(a) * min(s, 1.0 - s), math.sqrt(c) * min(t, 1.0 - t))
    if not lines:
        s = min(max(s, 0.0), 1.0)
        t = min(max((b * s + q) / c, 0.0), 1.0) if c > 0.0 else 0.0
        s = min(max((b * t - p) / a, 0.0), 1.0) if a > 0.0 else 0.0
        for k in range(2):  # an edge whose end is nearest is that vertex
            v = t if k == 1 else s
            i = FIRST + 2 * k
            if v <= 0.0 or v >= 1.0:
                w[i] = w[i + 1] = w[i] if v <= 0.0 else w[i + 1]
    for i in range(3):
        w[PA + i] += s * w[ENDS + i]
        w[PB + i] += t * w[ENDS + 3 + i]
    return sine


@kernel
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


@kernel
def facing(numbers, ints, at, w):
    """The faces of A and of B that the contact region lies on, into `at`; whether there are.

    Only faces through the nearest feature are asked: the best aligned face of all need not hold
    it. Membership is read off the planes, which spares a table of faces around vertices.
    """
    kind = int(w[KIND])
    on = ON * w[SIZE]
    for k in range(2):
        V, P = at[SIDE * k + VERTEX], at[SIDE * k + PLANE]
        v = u = int(w[NEAR_A + k])
        if kind == FACE_A + k:
            at[FACE_OF_A + k] = int(w[FIRST])
            continue
        if kind == EDGES:
            e = at[SIDE * k + EDGE] + 4 * int(w[FIRST + k])
            v, u = ints[e], ints[e + 1]
        elif kind == POINTS:
            v, u = int(w[FIRST + 2 * k]), int(w[FIRST + 2 * k + 1])
        best, i, j, d = 1e-6, V + 3 * v, V + 3 * u, N + 3 * k
        sign = 2.0 * k - 1.0
        at[FACE_OF_A + k] = -1
        for f in range(at[SIDE * k + NF]):
            p = P + 4 * f
            h, o = sign * dot(numbers, p, w, d), numbers[p + 3] - on
            if h > best and dot(numbers, p, numbers, i) >= o and dot(numbers, p, numbers, j) >= o:
                best = h
                at[FACE_OF_A + k] = f
    return at[FACE_OF_A] >= 0 and at[FACE_OF_A + 1] >= 0


@kernel
def single(numbers, ints, at, w, poly, label):
    """One contact where the witness's features are nearest; the gap of a face is s."""
    kind = int(w[KIND])
    a0 = a1 = int(w[NEAR_A])
    b0 = b1 = int(w[NEAR_B])
    form = CROSSING
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
    for c in range(3):
        poly[SPOT + c, 0] = 0.5 * (w[PA + c] + w[PB + c])
    poly[SPOT + 3, 0] = w[G]
    label[IDS, 0] = feature(form, a0, a1, b0, b1)
    return 1


@kernel
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
    held, level, rho = 0, LEVEL * w[SIZE], math.inf
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


@kernel
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


@kernel
def assess(numbers, ints, at, w, poly, label):
    """Judge the witness in w; if it is near, at[MADE] contacts are left in poly and label."""
    at[MADE] = 0
    kind = int(w[KIND])
    if kind > 0 and not rebuild(numbers, ints, at, w):
        return BROKEN
    upper = w[G]
    separate(numbers, ints, at, w)
    s, tol = w[S], w[TOL]
    if s > w[MARGIN]:
        return FAR
    made = 0
    if facing(numbers, ints, at, w):
        made = region(numbers, ints, at, w, poly, label)
    if kind > FACE_B and (made == 0 or w[G] > upper + tol):
        w[G] = upper
        made = single(numbers, ints, at, w, poly, label)
    at[MADE] = made
    if made == 0 or w[G] - s > tol:
        return DOUBTFUL
    if s > tol:
        return PROVED
    if s >= -tol:  # touching: a corner or an edge of a face needs a normal of its own (G6)
        return DOUBTFUL if kind <= FACE_B and made < 3 else PROVED
    rho = clearance(at, w, poly) if kind <= FACE_B else w[RHO]
    return PROVED if least_depth(numbers, ints, at, w, rho) else DOUBTFUL
