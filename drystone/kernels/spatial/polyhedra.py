"""Contacts of two polyhedra by cached witnesses (Baraff 1992, 5.1).

Each pair keeps the features that define its separating plane. A step rebuilds the plane, finds
the nearest vertices by climbing from the old ones and asks whether the witness still proves the
distance; if not, it looks at adjacent features, then at all. No axis is believed for the features
it comes from: its separation is always that of the bodies' supports along it, a lower bound of
the signed distance, so a false axis can never win.
"""

import math

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.pairs import LEAN, FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.polyhedra_region import (
    AX,
    BX,
    EDGES_CROSS,
    IDS,
    NAMES,
    NUMBERS,
    ON,
    SPOT,
    STAND,
    VERTEX_A,
    VERTEX_B,
    carry,
    facing,
    feature,
    move,
    region,
)
from drystone.kernels.spatial.polyhedra_shape import (
    AT_PLACES,
    BARE,
    BEST,
    BEST_EDGES,
    BEST_N,
    BEST_VERTICES,
    COUNT_A,
    EDGE,
    EDGES,
    ENDS,
    EXTENT,
    FACE_A,
    FACE_B,
    FACE_START,
    FAR_A,
    FIRST,
    HITS,
    KIND,
    LOOP,
    MADE,
    MARGIN,
    NARROW,
    NE,
    NEAR_A,
    NEAR_B,
    NEARBY,
    NF,
    NV,
    OLD,
    OLD_FEATURES,
    PA,
    PB,
    PLANE,
    POINTS,
    RHO,
    SAME_LENGTH,
    SECOND,
    SHIFT,
    SIDE,
    SIDED,
    SPLIT,
    STAGE,
    THIN_SIDE,
    THIRD,
    UPPER,
    V1,
    V2,
    VERTEX,
    W_PLACES,
    G,
    N,
    S,
    add_area,
    climb,
    cross,
    cross_units,
    dot,
    edge_vector,
    height,
    load,
    set_normal,
    store,
    support_gap,
    turned,
)

# ---- Witnesses: a plane between two polyhedra rebuilt from its defining features and judged.
#
# A witness of kind FACE_A or FACE_B is a face, EDGES an edge of each body, POINTS a vertex of each
# or a vertex and an edge (two vertices). The bodies' separation s along the plane's normal n is a
# lower bound of their signed distance. Points on both bodies that face each other across a gap g
# give an upper bound. If g = s the distance is proved when the bodies are apart. When they overlap,
# s = -depth of one facet of the Minkowski difference C = B - A; it is the least depth if C holds a
# disc of radius rho about the foot of the origin in that facet and a point deep enough behind it,
# because every other direction then has a support of at least that depth.

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

    An edge whose end is nearest becomes that vertex. Nearer than SAME_LENGTH they define no normal.
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
            move(poly, label, i, made)
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


# ---- Search for the plane of greatest separation: faces of both bodies, then pairs of edges.
#
# Only edge pairs whose arcs cross on the Gauss map span a face of the Minkowski difference, so only
# those are axes. The same routines serve the look at adjacent features: then the faces and
# edges are those at the vertices nearest to the old plane.

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
    """Pair of edges with the greatest separation above `bar`, into w[BEST_EDGES:]: s, edge of A,
    edge of B.

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
    the most so far, they go to w[BEST_VERTICES:]."""
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
    """Vertices, or a vertex and an edge, with the greatest separation above `bar`, into
    w[BEST_VERTICES:]: s, two of A, two of B (equal: one vertex); -1 behind s if there are none.

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


# ---- From one witness to the next.

NEIGHBOURS, SEARCHES, DISTANCES = 1, 2, 3  # stats, after HITS
# 1 - cos of the angle (1e-6) within which a face is asked to stand for a normal
NEARLY_A_FACE = 5e-13

# what the witness under judgement is, and so where to go on if it fails
CACHED, FACE, EDGE_PAIR, NEAREST, FLAT, RESTORED, SETTLED, MEAN = range(8)


@kernel
def contact_polyhedron_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contact polygons of pairs of polyhedra."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    which, point, normal, gap, feature = contacts
    nv, ne = 0, 0
    for p in range(margin.size):
        for k in range(2):
            i = first_int[geom[p, k]]
            nv, ne = max(nv, ints[i]), max(ne, ints[i + 2])
    at, w = np.zeros(AT_PLACES, np.int64), np.zeros(W_PLACES)
    # two faces have at most 2 nv points in common; the rest is room for sides of several
    room = 8 * nv + 32
    poly, label = np.empty((NUMBERS, room)), np.empty((NAMES, room), np.int64)
    edges = np.zeros(2 * EDGE_NUMBERS * ne)
    made = 0
    for p in range(margin.size):
        a = geom[p, 0]
        load(geom[p], x, R, first, first_int, ints, cache[p], at, w)
        w[MARGIN] = margin[p]
        at[STAGE], at[NEARBY], at[MADE] = CACHED, 1, 0
        at[BARE] = at[SPLIT] = 0
        verdict = BROKEN
        if w[KIND] != 0.0:
            verdict = assess(numbers, ints, at, w, poly, label)
        while advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
            verdict = assess(numbers, ints, at, w, poly, label)
        if at[MADE] > 0:
            if at[SIDED] < 0:
                parallel_faces(numbers, ints, at, w)
            if at[SIDED] == 1 or at[SPLIT] == 1:
                carry(numbers, ints, at, w, poly, label)
        store(at, w, cache[p])
        for c in range(at[MADE]):
            if poly[SPOT + 3, c] > margin[p]:
                continue
            if made == gap.size:
                return -1
            which[made], gap[made], feature[made] = p, poly[SPOT + 3, c], label[IDS, c]
            for i in range(3):
                normal[made, i] = R[a, i, 0] * w[N] + R[a, i, 1] * w[N + 1] + R[a, i, 2] * w[N + 2]
                point[made, i] = x[a, i] + (
                    R[a, i, 0] * poly[SPOT, c]
                    + R[a, i, 1] * poly[SPOT + 1, c]
                    + R[a, i, 2] * poly[SPOT + 2, c]
                )
            made += 1
    return made


@stage
def advance(numbers, ints, at, w, poly, label, edges, verdict, stats):
    """After a verdict: the next witness to judge goes into w (True), or the pair is done (False).

    Proved witnesses end it, unless a face has all but the same normal: then the face is asked to
    stand for it, because noise has no place in a normal.
    """
    stage = at[STAGE]
    done = verdict == BEYOND_MARGIN or stage == RESTORED
    if verdict == BEYOND_MARGIN:
        at[MADE] = 0
    elif stage in (FLAT, MEAN):
        stand = STAND * w[EXTENT] if stage == FLAT else w[SAME_LENGTH]
        done = w[S] >= w[OLD + 4] - stand
        if stage == FLAT:
            done = done and at[MADE] > 0 and abs(w[G] - w[OLD + 4]) <= stand
        if not done:
            w[KIND] = w[OLD]
            for i in range(4):
                w[FIRST + i] = w[OLD_FEATURES + i]
            at[STAGE] = RESTORED
    elif stage == SETTLED:
        done = w[KIND] == EDGES or abs(w[S]) > w[SAME_LENGTH] or at[MADE] > 2
        if not done:
            set_aside(w)
            best_face(numbers, ints, at, w, w[SAME_LENGTH])
            at[STAGE] = MEAN
    elif verdict == PROVED and not done:
        done = stage in (CACHED, FACE) or dot(w, N, w, BEST_N) < 1.0 - NEARLY_A_FACE
        if done and along_a_line(at, w, poly):
            set_aside(w)
            best_face(numbers, ints, at, w, w[SAME_LENGTH])
            at[STAGE], done = MEAN, False
        elif not done:
            set_aside(w)
            w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = FLAT
    elif not done:
        done = not propose(numbers, ints, at, w, edges, verdict, stats)
        if done:
            at[MADE] = 0
    if not done:
        return True
    if verdict != BEYOND_MARGIN and stage in (RESTORED, SETTLED, MEAN):
        # the nearest points may lie over neither face, beyond a rim
        bare = at[MADE] == 0 or w[G] > w[S] + STAND * w[EXTENT]
        if bare and w[S] <= w[MARGIN]:
            at[BARE] = 2 if at[MADE] == 0 else 1
            single(numbers, ints, at, w, poly, label)
    if stage == CACHED and verdict >= PROVED:
        stats[HITS] += 1
    else:
        stats[NEIGHBOURS if at[NEARBY] == 1 else SEARCHES] += 1
    return False


@stage
def set_aside(w):
    """Keep the witness and its separation, in case what is tried next falls short of it."""
    w[OLD], w[OLD + 4] = w[KIND], w[S]
    for i in range(4):
        w[OLD_FEATURES + i] = w[FIRST + i]


@stage
def along_a_line(at, w, poly):
    """Whether two faces meet in an edge and open like a wedge: the normal is not one's."""
    if w[KIND] > FACE_B or w[KIND] == 0.0 or abs(w[S]) > w[SAME_LENGTH]:
        return False
    near = 0
    for c in range(at[MADE]):
        if poly[SPOT + 3, c] <= w[SAME_LENGTH]:
            near += 1
    return near < 3


@stage
def propose(numbers, ints, at, w, edges, verdict, stats):
    """The witness to judge after one that failed; False if a gap beyond the margin is proved.

    Faces, then pairs of edges: what fails near the old features is sought among all. If these do
    not prove a distance, vertices and edges are nearest. Every separation is that of the bodies'
    supports, so the greatest is the answer in the end, proved or not.
    """
    if w[SAME_LENGTH] == 0.0:
        extents(numbers, at, w)
    while True:
        near, stage = at[NEARBY] == 1, at[STAGE]
        if stage == CACHED:
            if near and verdict == BROKEN:
                at[NEARBY] = 0
            elif near:
                nearest_corner(numbers, ints, at, w)
            best_face(numbers, ints, at, w, 0.0)
            if w[S] > -math.inf:
                at[STAGE] = FACE
                return w[S] <= w[MARGIN]
            at[NEARBY] = 0  # no face holds the near vertices to the tolerance: ask all
            continue
        s, stand = w[BEST + 2], STAND * w[EXTENT]
        if stage == FACE:
            # a face over which the nearest points do not lie stands for nothing
            bar = s + stand if at[MADE] > 0 and w[G] - w[S] <= stand else s
            # points that do better are no further apart than the bodies are deep, or if they are
            # apart than any two points are; of adjacent features there are few
            nearest_corner(numbers, ints, at, w)
            w[UPPER] = near_distance(numbers, at, w)
            reach = math.inf if near else max(w[UPPER], -s) + w[SAME_LENGTH]
            best_edges(numbers, ints, at, w, reach, bar, edges)
            at[STAGE] = EDGE_PAIR
            if w[BEST_EDGES + 1] >= 0.0:
                w[KIND], w[FIRST], w[SECOND] = EDGES, w[BEST_EDGES + 1], w[BEST_EDGES + 2]
                return w[BEST_EDGES] <= w[MARGIN]
        elif near:
            at[NEARBY], at[STAGE], at[MADE] = 0, CACHED, 0
        elif stage == EDGE_PAIR and w[BEST_EDGES] > 0.0:
            stats[DISTANCES] += 1
            # they prove themselves, so they win where separations are equal but for rounding
            nearest_vertices(numbers, ints, at, w, w[BEST_EDGES] - w[SAME_LENGTH], edges)
            at[STAGE] = NEAREST
            if w[BEST_VERTICES + 1] >= 0.0:
                w[KIND] = POINTS
                for i in range(4):
                    w[FIRST + i] = w[BEST_VERTICES + 1 + i]
                return w[BEST_VERTICES] <= w[MARGIN]
        else:
            if stage != NEAREST or w[BEST_VERTICES + 1] < 0.0:
                w[KIND], w[FIRST], w[SECOND] = EDGES, w[BEST_EDGES + 1], w[BEST_EDGES + 2]
                if w[BEST_EDGES + 1] < 0.0:
                    w[KIND], w[FIRST] = w[BEST], w[BEST + 1]
            at[STAGE] = SETTLED
            return True
