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
    CROSSING,
    VERTEX_A,
    VERTEX_B,
    clearance,
    feature,
    region,
)
from drystone.kernels.spatial.polyhedra_shape import (
    EDGE,
    EDGES,
    FACE_A,
    FACE_B,
    FACE_START,
    FAR_A,
    FAR_B,
    FIRST,
    FOURTH,
    KIND,
    NB,
    NEAR_A,
    NEAR_B,
    PA,
    PB,
    PLANE,
    POINTS,
    RHO,
    SECOND,
    SIZE,
    THIRD,
    TOL,
    G,
    N,
    S,
    climb,
    facing,
    height,
    place,
    plane_normal,
    set_normal,
)

BROKEN, DOUBTFUL, PROVED, FAR = -1, 0, 1, 2  # verdicts
PARALLEL = 1e-8  # sine of the angle between edges below which they define no plane
ON = 1e-8  # of the smaller body: how well vertices of a face lie on its plane


@kernel
def rebuild(numbers, ints, lay, pose, row, geo):
    """Normal of the witness's plane into geo (points too, unless a face defines it); validity."""
    kind = int(row[KIND])
    i, j = int(row[FIRST]), int(row[SECOND])
    if kind == FACE_A:
        p = lay[0, PLANE] + 4 * i
        set_normal(geo, pose, -numbers[p], -numbers[p + 1], -numbers[p + 2])
        return True
    if kind == FACE_B:
        nx, ny, nz = plane_normal(numbers, lay, pose, 1, i)
        set_normal(geo, pose, nx, ny, nz)
        return True
    if kind == EDGES:
        e, f = lay[0, EDGE] + 4 * i, lay[1, EDGE] + 4 * j
        a0, a1, b0, b1 = ints[e], ints[e + 1], ints[f], ints[f + 1]
    else:
        a0, a1, b0, b1 = i, j, int(row[THIRD]), int(row[FOURTH])
    p0, p1, p2 = place(numbers, lay, pose, 0, a0)
    q0, q1, q2 = place(numbers, lay, pose, 0, a1)
    u0, u1, u2 = place(numbers, lay, pose, 1, b0)
    w0, w1, w2 = place(numbers, lay, pose, 1, b1)
    s, t, sine = nearest(
        p0 - u0,
        p1 - u1,
        p2 - u2,
        q0 - p0,
        q1 - p1,
        q2 - p2,
        w0 - u0,
        w1 - u1,
        w2 - u2,
        kind == EDGES,
    )
    geo[PA], geo[PA + 1], geo[PA + 2] = p0 + s * (q0 - p0), p1 + s * (q1 - p1), p2 + s * (q2 - p2)
    geo[PB], geo[PB + 1], geo[PB + 2] = u0 + t * (w0 - u0), u1 + t * (w1 - u1), u2 + t * (w2 - u2)
    dx, dy, dz = geo[PA] - geo[PB], geo[PA + 1] - geo[PB + 1], geo[PA + 2] - geo[PB + 2]
    if kind == POINTS:
        d = math.sqrt(dx * dx + dy * dy + dz * dz)
        set_normal(geo, pose, dx / d, dy / d, dz / d)
        geo[G] = d
        return d > row[TOL]
    if sine < PARALLEL:
        return False
    la = math.sqrt((q0 - p0) ** 2 + (q1 - p1) ** 2 + (q2 - p2) ** 2)
    lb = math.sqrt((w0 - u0) ** 2 + (w1 - u1) ** 2 + (w2 - u2) ** 2)
    geo[RHO] = sine * min(la * min(s, 1.0 - s), lb * min(t, 1.0 - t))
    edge_normal(
        numbers,
        ints,
        lay,
        pose,
        geo,
        e,
        (q1 - p1) * (w2 - u2) - (q2 - p2) * (w1 - u1),
        (q2 - p2) * (w0 - u0) - (q0 - p0) * (w2 - u2),
        (q0 - p0) * (w1 - u1) - (q1 - p1) * (w0 - u0),
    )
    geo[G] = geo[N] * dx + geo[N + 1] * dy + geo[N + 2] * dz
    return geo[RHO] > -row[TOL]


@kernel
def edge_normal(numbers, ints, lay, pose, geo, e, nx, ny, nz):
    """Unit cross product of two edges, turned so that A's edge (at e in ints) supports A."""
    d = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz)
    p, q = lay[0, PLANE] + 4 * ints[e + 2], lay[0, PLANE] + 4 * ints[e + 3]
    side = (
        nx * (numbers[p] + numbers[q])
        + ny * (numbers[p + 1] + numbers[q + 1])
        + nz * (numbers[p + 2] + numbers[q + 2])
    )
    if side > 0.0:
        d = -d
    set_normal(geo, pose, nx * d, ny * d, nz * d)


@kernel
def nearest(dx, dy, dz, ex, ey, ez, fx, fy, fz, lines):
    """Parameters s, t of the points of two segments p + s e, u + t f that are nearest, d = p - u.

    Also the sine of their angle. If `lines`, the segments' lines are taken: s, t are free.
    """
    a, b, c = ex * ex + ey * ey + ez * ez, ex * fx + ey * fy + ez * fz, fx * fx + fy * fy + fz * fz
    d, e = ex * dx + ey * dy + ez * dz, fx * dx + fy * dy + fz * dz
    gx, gy, gz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    det = gx * gx + gy * gy + gz * gz
    sine = math.sqrt(det / (a * c)) if a > 0.0 and c > 0.0 else 0.0
    if lines:
        return (b * e - c * d) / det, (a * e - b * d) / det, sine
    s = 0.0
    if sine > PARALLEL:
        s = min(max((b * e - c * d) / det, 0.0), 1.0)
    t = min(max((b * s + e) / c, 0.0), 1.0) if c > 0.0 else 0.0
    s = min(max((b * t - d) / a, 0.0), 1.0) if a > 0.0 else 0.0
    return s, t, sine


@kernel
def separate(numbers, ints, lay, pose, row, geo):
    """Separation along geo's normal into geo[S], from nearest vertices found by climbing."""
    kind = int(row[KIND])
    if kind == FACE_A:
        low = -numbers[lay[0, PLANE] + 4 * int(row[FIRST]) + 3]
    else:
        v = climb(numbers, ints, lay, 0, -geo[N], -geo[N + 1], -geo[N + 2], int(row[NEAR_A]))
        row[NEAR_A] = v
        low = height(numbers, lay, pose, geo, 0, v)
    if kind == FACE_B:
        high = numbers[lay[1, PLANE] + 4 * int(row[FIRST]) + 3]
        high += geo[N] * pose[9] + geo[N + 1] * pose[10] + geo[N + 2] * pose[11]
    else:
        v = climb(numbers, ints, lay, 1, geo[NB], geo[NB + 1], geo[NB + 2], int(row[NEAR_B]))
        row[NEAR_B] = v
        high = height(numbers, lay, pose, geo, 1, v)
    geo[S] = low - high


@kernel
def faces_of(numbers, ints, lay, row, geo):
    """The face of each body that the contact region lies on; -1 where there is none."""
    kind = int(row[KIND])
    a0 = a1 = int(row[NEAR_A])
    b0 = b1 = int(row[NEAR_B])
    if kind == EDGES:
        e, f = lay[0, EDGE] + 4 * int(row[FIRST]), lay[1, EDGE] + 4 * int(row[SECOND])
        a0, a1, b0, b1 = ints[e], ints[e + 1], ints[f], ints[f + 1]
    elif kind == POINTS:
        a0, a1, b0, b1 = int(row[FIRST]), int(row[SECOND]), int(row[THIRD]), int(row[FOURTH])
    tol = ON * row[SIZE]
    fa = int(row[FIRST]) if kind == FACE_A else facing(numbers, lay, geo, 0, a0, a1, tol)
    fb = int(row[FIRST]) if kind == FACE_B else facing(numbers, lay, geo, 1, b0, b1, tol)
    return fa, fb


@kernel
def single(numbers, ints, lay, pose, row, geo, spot, ids):
    """One contact where the witness's features are nearest; its gap is s for a face."""
    kind = int(row[KIND])
    a0 = a1 = int(row[NEAR_A])
    b0 = b1 = int(row[NEAR_B])
    gap, form = geo[S], CROSSING
    if kind == EDGES:
        e, f = lay[0, EDGE] + 4 * int(row[FIRST]), lay[1, EDGE] + 4 * int(row[SECOND])
        a0, a1, b0, b1 = ints[e], ints[e + 1], ints[f], ints[f + 1]
        gap = geo[G]
    elif kind == POINTS:
        a0, a1, b0, b1 = int(row[FIRST]), int(row[SECOND]), int(row[THIRD]), int(row[FOURTH])
        form = VERTEX_A if a0 == a1 else (VERTEX_B if b0 == b1 else CROSSING)
        gap = geo[G]
    elif kind == FACE_B:
        form = VERTEX_A
    else:
        form = VERTEX_B
    if kind in (EDGES, POINTS):
        for c in range(3):
            spot[0, c] = 0.5 * (geo[PA + c] + geo[PB + c])
    else:
        # the nearest vertex of the other body, and the point of the plane beside it
        k, h = (0, -0.5 * gap) if kind == FACE_B else (1, 0.5 * gap)
        p, q, s = place(numbers, lay, pose, k, b0 if k == 1 else a0)
        spot[0, 0], spot[0, 1], spot[0, 2] = (
            p + h * geo[N],
            q + h * geo[N + 1],
            s + h * geo[N + 2],
        )
    spot[0, 3] = gap
    if form == VERTEX_A:
        b0 = b1 = 0
    elif form == VERTEX_B:
        a0 = a1 = 0
    ids[0] = feature(form, a0, a1, b0, b1)
    return 1


@kernel
def deep_enough(numbers, ints, lay, pose, row, geo, rho):
    """Whether no other direction can have a smaller depth than geo[S] (see the module).

    With depth e: e cos + rho sin >= e up to 90 degrees if rho >= e. Beyond, the disc serves while
    sin >= 2 e / rho, and from there a point D behind the plane and l beside the foot does.
    """
    e = -geo[S]
    if 4.0 * e > rho:
        return False
    va = climb(numbers, ints, lay, 0, geo[N], geo[N + 1], geo[N + 2], int(row[FAR_A]))
    vb = climb(numbers, ints, lay, 1, -geo[NB], -geo[NB + 1], -geo[NB + 2], int(row[FAR_B]))
    row[FAR_A], row[FAR_B] = va, vb
    p, q, s = place(numbers, lay, pose, 0, va)
    u, v, w = place(numbers, lay, pose, 1, vb)
    p, q, s = p - u, q - v, s - w
    D = p * geo[N] + q * geo[N + 1] + s * geo[N + 2]
    beside = math.sqrt(max(p * p + q * q + s * s - D * D, 0.0))
    return e * (1.0 + 2.0 * beside / rho) <= 0.86 * D


@kernel
def assess(numbers, ints, lay, pose, row, margin, geo, t, poly, label, spot, ids, count):
    """Judge the witness in `row`; if it is near, its contacts are in spot, count[0] of them."""
    count[0] = 0
    if not rebuild(numbers, ints, lay, pose, row, geo):
        return BROKEN
    kind, upper = int(row[KIND]), geo[G]
    separate(numbers, ints, lay, pose, row, geo)
    s, tol = geo[S], row[TOL]
    if s > margin:
        return FAR
    fa, fb = faces_of(numbers, ints, lay, row, geo)
    made = 0
    if fa >= 0 and fb >= 0:
        made = region(numbers, ints, lay, pose, row, geo, fa, fb, t, poly, label, spot, ids)
    by_face = kind in (FACE_A, FACE_B)
    if not by_face and (made == 0 or geo[G] > upper + tol):
        geo[G] = upper
        made = single(numbers, ints, lay, pose, row, geo, spot, ids)
    count[0] = made
    if made == 0 or geo[G] - s > tol:
        return DOUBTFUL
    if s > tol:
        return PROVED
    if s >= -tol:
        return DOUBTFUL if by_face and made < 3 else PROVED
    rho = geo[RHO]
    if by_face:
        start = FACE_START
        na = ints[lay[0, start] + fa + 1] - ints[lay[0, start] + fa]
        nb = ints[lay[1, start] + fb + 1] - ints[lay[1, start] + fb]
        rho = clearance(poly, na, nb, kind == FACE_A, row[SIZE])
    return PROVED if deep_enough(numbers, ints, lay, pose, row, geo, rho) else DOUBTFUL
