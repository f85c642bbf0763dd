"""Contact region of two polyhedra along a normal: one face of each, clipped in the plane.

Both faces are projected along n, B's polygon is clipped by A's, and every vertex of the overlap
becomes a contact whose gap is measured along n between the two faces. A's polygon always clips
and B's is always clipped, whichever of them defines n, so the features of the points do not
change when the defining face does.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    COUNT_A,
    FACE_OF_A,
    FACE_START,
    HEIGHTS,
    LOOP,
    PLANE,
    POSE,
    SHIFT,
    SIDE,
    SIZE,
    TANGENT,
    TOL,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    cross,
    dot,
)

# rows of poly: projected polygons of A and B (x, y, height), two buffers (x, y), then the
# contacts: midpoint in the frame of A, gap; rows of label: two for edges, one for features
AX, AY, AH, BX, BY, BH, PX, PY, QX, QY, SPOT = range(11)
ROWS = 14
IDS = 2

INSIDE = 5e-10  # of the smaller body: a vertex this far outside an edge still counts as inside
# cosine between a side and the next at a tip so sharp (0.01 rad) that INSIDE reaches far beyond it
SHARP = -1.0 + 5e-5
MERGE = 1e-7  # of the smaller body: points closer than this are one if their gaps agree
VERTEX_A, VERTEX_B, CROSSING = 1, 2, 3  # kinds of points


@kernel
def feature(kind, a0, a1, b0, b1):
    """Number that names a point: a vertex of A, one of B, or an edge of A over an edge of B."""
    if kind == VERTEX_A:
        b0 = b1 = 0
    if kind == VERTEX_B:
        a0 = a1 = 0
    m = 32767  # 15 bits each
    a = (min(a0, a1) & m) << 15 | (max(a0, a1) & m)
    b = (min(b0, b1) & m) << 15 | (max(b0, b1) & m)
    return kind << 60 | a << 30 | b


@kernel
def project(numbers, ints, at, w, poly):
    """Both faces seen along n: their loops into poly, and their heights c + a x + b y into w."""
    low = 0
    for c in range(1, 3):
        if abs(w[N + c]) < abs(w[N + low]):
            low = c
    for c in range(3):
        w[V1 + c] = 1.0 if c == low else 0.0
    cross(w, N, w, V1, w, V2)
    d = 1.0 / math.sqrt(dot(w, V2, w, V2))
    for c in range(3):
        w[TANGENT + c] = d * w[V2 + c]
    cross(w, N, w, TANGENT, w, TANGENT + 3)
    for k in range(2):
        V, f = at[SIDE * k + VERTEX], at[FACE_OF_A + k]
        start = at[SIDE * k + FACE_START] + f
        loop, count = at[SIDE * k + LOOP] + ints[start], ints[start + 1] - ints[start]
        at[COUNT_A + k] = count
        plane, heights = at[SIDE * k + PLANE] + 4 * f, HEIGHTS + 3 * k
        steep = 1.0
        for c in range(2, -1, -1):  # n, then both tangents, turned into the body's own frame
            d = N if c == 2 else TANGENT + 3 * c
            h = k * dot(w, d, w, SHIFT)
            for i in range(3):
                w[V1 + i] = w[d + i]
                if k == 1:
                    w[V1 + i] = (
                        w[POSE + i] * w[d] + w[POSE + 3 + i] * w[d + 1] + w[POSE + 6 + i] * w[d + 2]
                    )
            for j in range(count):
                poly[3 * k + c, j] = h + dot(numbers, V + 3 * ints[loop + j], w, V1)
            g = dot(numbers, plane, w, V1)
            if c == 2:
                steep = g
                w[heights] = h + numbers[plane + 3] / g
            else:
                w[heights + 1 + c] = -g / steep
                w[heights] += h * g / steep


@kernel
def clip(poly, label, na, nb, tol):
    """B's polygon cut by the sides of A's: vertices in rows PX, PY of poly; returns their number.

    label[0, k] names the edge that leaves vertex k: j for B's edge j, -1 - i for A's side i.
    A runs clockwise about n, B counter-clockwise.
    """
    count = nb
    for j in range(nb):
        poly[PX, j] = poly[BX, j]
        poly[PY, j] = poly[BY, j]
        label[0, j] = j
    fx = fy = 0.0  # of the last side that has a direction
    i = na
    while fx == 0.0 and fy == 0.0 and i > 0:
        i -= 1
        fx, fy = direction(poly, na, i, tol)
    for i in range(na):
        ex, ey = direction(poly, na, i, tol)
        if ex == 0.0 and ey == 0.0:
            continue
        if fx * ex + fy * ey < SHARP:
            count = cut(poly, label, count, i, fy - ey, ex - fx, 2.0 * tol)
        count = cut(poly, label, count, i, ex, ey, tol)
        fx, fy = ex, ey
    return count


@kernel
def direction(poly, na, i, tol):
    """Unit vector along side i of A's polygon; zero if the side is shorter than `tol`."""
    i1 = i + 1 if i + 1 < na else 0
    ex, ey = poly[AX, i1] - poly[AX, i], poly[AY, i1] - poly[AY, i]
    e = math.sqrt(ex * ex + ey * ey)
    if e <= tol:
        return 0.0, 0.0
    return ex / e, ey / e


@kernel
def cut(poly, label, count, i, ex, ey, tol):
    """Cut the polygon in rows PX, PY of poly by the line along e through vertex i of A."""
    if count == 0:
        return 0
    x0, y0 = poly[AX, i], poly[AY, i]
    d = ey * (poly[PX, 0] - x0) - ex * (poly[PY, 0] - y0)
    first, made, some = d, 0, False
    for k in range(count):
        k1 = k + 1 if k + 1 < count else 0
        d1 = first if k1 == 0 else ey * (poly[PX, k1] - x0) - ex * (poly[PY, k1] - y0)
        inside = d >= -tol
        if inside:
            poly[QX, made], poly[QY, made] = poly[PX, k], poly[PY, k]
            label[1, made] = label[0, k]
            made += 1
        some = some or not inside
        if inside != (d1 >= -tol):
            t = min(max(d / (d - d1), 0.0), 1.0)
            poly[QX, made] = poly[PX, k] + t * (poly[PX, k1] - poly[PX, k])
            poly[QY, made] = poly[PY, k] + t * (poly[PY, k1] - poly[PY, k])
            label[1, made] = -1 - i if inside else label[0, k]
            made += 1
        d = d1
    if not some:
        return count
    for k in range(made):
        poly[PX, k], poly[PY, k] = poly[QX, k], poly[QY, k]
        label[0, k] = label[1, k]
    return made


@kernel
def region(numbers, ints, at, w, poly, label):
    """Contacts between the two faces in `at`, into poly and label; returns how many.

    w[G] becomes the least gap.
    """
    w[G] = math.inf
    project(numbers, ints, at, w, poly)
    na, nb = at[COUNT_A], at[COUNT_A + 1]
    count = clip(poly, label, na, nb, INSIDE * w[SIZE])
    loop_a = at[LOOP] + ints[at[FACE_START] + at[FACE_OF_A]]
    loop_b = at[SIDE + LOOP] + ints[at[SIDE + FACE_START] + at[FACE_OF_A + 1]]
    made = 0
    for k in range(count):
        x, y = poly[PX, k], poly[PY, k]
        ha = w[HEIGHTS] + w[HEIGHTS + 1] * x + w[HEIGHTS + 2] * y
        hb = w[HEIGHTS + 3] + w[HEIGHTS + 4] * x + w[HEIGHTS + 5] * y
        before, after = label[0, k - 1 if k > 0 else count - 1], label[0, k]
        i, j, kind = -1 - min(before, after), max(before, after), CROSSING
        if before >= 0 and after >= 0:
            i, j, kind = 0, after, VERTEX_B
            hb = poly[BH, j]
        elif before < 0 and after < 0:
            i, j, kind = -1 - before, 0, VERTEX_A
            ha = poly[AH, i]
        i1, j1 = i, j
        if kind == CROSSING:
            i1 = i + 1 if i + 1 < na else 0
            j1 = j + 1 if j + 1 < nb else 0
        gap, h = max(ha - hb, w[S]), 0.5 * (ha + hb)
        w[G] = min(w[G], gap)
        for c in range(3):
            poly[SPOT + c, made] = x * w[TANGENT + c] + y * w[TANGENT + 3 + c] + h * w[N + c]
        poly[SPOT + 3, made] = gap
        label[IDS, made] = feature(
            kind, ints[loop_a + i], ints[loop_a + i1], ints[loop_b + j], ints[loop_b + j1]
        )
        made += 1
        while made > 1 and merged(w, poly, label, made - 1, k + 1 == count):
            made -= 1
    return made


@kernel
def merged(w, poly, label, i, last):
    """Whether contact i is one with the one before (the last: or the first), so that it can go.

    They are if they are together and their gaps agree. The name of a vertex stays rather than
    that of a crossing of edges, which comes and goes.
    """
    for k in range(2 if last else 1):
        j = (i - 1) * (1 - k)
        d = 0.0
        for c in range(3):
            d += abs(poly[SPOT + c, i] - poly[SPOT + c, j])
        if d <= MERGE * w[SIZE] and abs(poly[SPOT + 3, i] - poly[SPOT + 3, j]) <= w[TOL]:
            if label[IDS, i] >> 60 < label[IDS, j] >> 60:
                label[IDS, j] = label[IDS, i]
                for c in range(4):
                    poly[SPOT + c, j] = poly[SPOT + c, i]
            return True
    return False
