"""Contact region of two polyhedra along a normal: one face of each, clipped in the plane.

Both faces are projected along n, B's polygon is clipped by A's, and every vertex of the overlap
becomes a contact whose gap is measured along n between the two faces. A's polygon always clips
and B's is always clipped, whichever of them defines n, so the features of the points do not
change when the defining face does.
"""

import math

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.pairs import LEAN
from drystone.kernels.spatial.polyhedra_shape import (
    BARE,
    COUNT_A,
    EDGE,
    EDGES,
    EXTENT,
    FACE_A,
    FACE_OF_A,
    FACE_START,
    FACES_A,
    FIRST,
    HEIGHTS,
    KIND,
    LOOP,
    MADE,
    NARROW,
    NEAR_A,
    NF,
    OUTLINE_A,
    PLANE,
    POINTS,
    POSE,
    SAME_LENGTH,
    SHIFT,
    SIDE,
    SPLIT,
    STAR,
    STAR_START,
    TANGENT,
    THIN_SIDE,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    add_area,
    cross,
    dot,
    turned,
)

# rows of poly: projected polygons of A and B (x, y, height), two buffers (x, y), then the
# contacts: midpoint in the frame of A, gap; rows of label: two for edges, one for features
AX, AY, AH, BX, BY, BH, PX, PY, QX, QY, SPOT = range(11)
REGION_ROWS = 14  # of poly
IDS = 2  # rows of label that name edges

ON = 1e-8  # of the smaller body: how well vertices of a face lie on its plane
ALIGNED = 1.0 - 1e-6  # cosine of the angle within which a face is level, and all its edges
CLIP_SLACK = 5e-10  # of the smaller body: a vertex this far outside an edge still counts as inside
# cosine between a side and the next at a tip so sharp (0.01 rad) that CLIP_SLACK reaches far
# beyond it
SHARP_TIP = -1.0 + 5e-5
SAME_SPOT = 1e-7  # of the smaller body: points closer than this are one if their gaps agree
VERTEX_A, VERTEX_B, EDGES_CROSS = 1, 2, 3  # kinds of points


@stage
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


@stage
def level_end(numbers, ints, at, w, k, v):
    """The other end of the edge at vertex v of body k that is most level along n."""
    V, first, star = at[SIDE * k + VERTEX], at[SIDE * k + STAR_START], at[SIDE * k + STAR]
    i, n, end = V + 3 * v, N + 3 * k, v
    rise, run = 1.0, 0.0  # of the best edge: squares of its height and its length
    for e in range(star + ints[first + v], star + ints[first + v + 1]):
        j = V + 3 * ints[e]
        x, y, z = (
            numbers[j] - numbers[i],
            numbers[j + 1] - numbers[i + 1],
            numbers[j + 2] - numbers[i + 2],
        )
        h, d = x * w[n] + y * w[n + 1] + z * w[n + 2], x * x + y * y + z * z
        if h * h * run < rise * d:
            end, rise, run = ints[e], h * h, d
    return end


@stage
def facing(numbers, ints, at, w):
    """The faces of A and of B that the contact region lies on, into `at`; whether there are.

    Only faces through the nearest feature are asked: the best aligned face of all need not hold
    it. Of a vertex, its most level edge is held too, so that an edge that lies on a face does so
    with both ends; if that is not of the best aligned face and this one leans less than LEAN,
    both carry (at[SPLIT]). Membership is read off the planes, which spares a table of faces
    around vertices.
    """
    kind = int(w[KIND])
    at[SPLIT] = 0
    for k in range(2):
        v = u = int(w[NEAR_A + k])
        if kind == FACE_A + k:
            at[FACE_OF_A + k] = int(w[FIRST])
            continue
        if kind == EDGES:
            e = at[SIDE * k + EDGE] + 4 * int(w[FIRST + k])
            v, u = ints[e], ints[e + 1]
        elif kind == POINTS:
            v, u = int(w[FIRST + 2 * k]), int(w[FIRST + 2 * k + 1])
        V, P, d, sign = at[SIDE * k + VERTEX], at[SIDE * k + PLANE], N + 3 * k, 2.0 * k - 1.0
        i, on = V + 3 * v, ON * w[EXTENT]
        for again in range(2):
            best, j = 1e-6, V + 3 * u
            at[FACE_OF_A + k] = -1
            for f in range(at[SIDE * k + NF]):
                p = P + 4 * f
                h, o = sign * dot(numbers, p, w, d), numbers[p + 3] - on
                if (
                    h > best
                    and dot(numbers, p, numbers, i) >= o
                    and dot(numbers, p, numbers, j) >= o
                ):
                    best = h
                    at[FACE_OF_A + k] = f
            if again == 1 or v != u or best > ALIGNED or at[FACE_OF_A + k] < 0:
                break
            u = level_end(numbers, ints, at, w, k, v)
            p = P + 4 * at[FACE_OF_A + k]
            if dot(numbers, p, numbers, V + 3 * u) >= numbers[p + 3] - on:
                break
            if best > 1.0 - 0.5 * LEAN * LEAN:
                at[SPLIT] = 1
    return at[FACE_OF_A] >= 0 and at[FACE_OF_A + 1] >= 0


@stage
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


@stage
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
        if fx * ex + fy * ey < SHARP_TIP:
            count = cut(poly, label, count, i, fy - ey, ex - fx, 2.0 * tol)
        count = cut(poly, label, count, i, ex, ey, tol)
        fx, fy = ex, ey
    return count


@stage
def direction(poly, na, i, tol):
    """Unit vector along side i of A's polygon; zero if the side is shorter than `tol`."""
    i1 = i + 1 if i + 1 < na else 0
    ex, ey = poly[AX, i1] - poly[AX, i], poly[AY, i1] - poly[AY, i]
    e = math.sqrt(ex * ex + ey * ey)
    if e <= tol:
        return 0.0, 0.0
    return ex / e, ey / e


@stage
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


@stage
def made_by(label, k, count, na, nb):
    """What makes vertex k of the overlap: its kind, the ends of A's side and those of B's edge; of
    a vertex, itself twice."""
    before, after = label[0, k - 1 if k > 0 else count - 1], label[0, k]
    if before >= 0 and after >= 0:
        return VERTEX_B, 0, 0, after, after
    if before < 0 and after < 0:
        return VERTEX_A, -1 - before, -1 - before, 0, 0
    i, j = -1 - min(before, after), max(before, after)
    return EDGES_CROSS, i, i + 1 if i + 1 < na else 0, j, j + 1 if j + 1 < nb else 0


@stage
def region(numbers, ints, at, w, poly, label):
    """Contacts between the two faces in `at`, into poly and label; returns how many.

    w[G] becomes the least gap.
    """
    w[G] = math.inf
    project(numbers, ints, at, w, poly)
    na, nb = at[COUNT_A], at[COUNT_A + 1]
    count = clip(poly, label, na, nb, CLIP_SLACK * w[EXTENT])
    loop_a = at[LOOP] + ints[at[FACE_START] + at[FACE_OF_A]]
    loop_b = at[SIDE + LOOP] + ints[at[SIDE + FACE_START] + at[FACE_OF_A + 1]]
    made = 0
    for k in range(count):
        x, y = poly[PX, k], poly[PY, k]
        ha = w[HEIGHTS] + w[HEIGHTS + 1] * x + w[HEIGHTS + 2] * y
        hb = w[HEIGHTS + 3] + w[HEIGHTS + 4] * x + w[HEIGHTS + 5] * y
        kind, i, i1, j, j1 = made_by(label, k, count, na, nb)
        if kind == VERTEX_A:
            ha = poly[AH, i]
        elif kind == VERTEX_B:
            hb = poly[BH, j]
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


@stage
def move(poly, label, i, j):
    """Put contact i at place j."""
    label[IDS, j] = label[IDS, i]
    for c in range(4):
        poly[SPOT + c, j] = poly[SPOT + c, i]


@stage
def together(w, poly, i, j):
    """Whether contacts i and j are at one spot, with the same gap."""
    d = 0.0
    for c in range(3):
        d += abs(poly[SPOT + c, i] - poly[SPOT + c, j])
    same = abs(poly[SPOT + 3, i] - poly[SPOT + 3, j]) <= w[SAME_LENGTH]
    return same and d <= SAME_SPOT * w[EXTENT]


@stage
def merged(w, poly, label, i, last):
    """Whether contact i is one with the one before (the last: or the first), so that it can go.

    They are if they are together and their gaps agree. The name of a vertex stays rather than
    that of a crossing of edges, which comes and goes.
    """
    for k in range(2 if last else 1):
        j = (i - 1) * (1 - k)
        if together(w, poly, i, j):
            if label[IDS, i] >> 60 < label[IDS, j] >> 60:
                move(poly, label, i, j)
            return True
    return False


# ---- Sides of polyhedra: faces that are nearly parallel, which carry together.
#
# A flat side of a mesh in single precision, of a scan or of a quadrilateral that is not quite
# plane is several faces. The side of a body is the face that the witness is on, with all faces
# that lean less than LEAN from it or from the plane of contact, and all that lie within
# THIN_SIDE of that plane. If the vertices of a side are within THIN_SIDE of one plane, its outline
# is clipped as one face would be, and of what is inside only the nearest points are kept; otherwise
# the region is that of all pairs of faces.

STAND = 5e-10  # of the smaller body: what counts as the same gap as that of the normal
OFF_BODY = 1e-7  # of the smaller body: how far beside a body a contact may be
SEEN_ALONG = 1e-6  # cosine: faces that lean more from the normal are not seen along it

# further rows of poly: outlines of both sides (x, y, height); of label: vertices of both polygons,
# of both outlines, faces of both sides, marks of vertices
RIM = REGION_ROWS
CORNER_NAMES, RIMS, FACES, MARK = 3, 5, 7, 9  # rows of label
NUMBERS, NAMES = REGION_ROWS + 6, 10  # how many rows poly and label have


@stage
def list_faces(numbers, ints, at, w, label, k):
    """Faces of the side of body k into label: that in `at`, and those that go with it."""
    o, n, sign, f0 = SIDE * k, N + 3 * k, 2.0 * k - 1.0, at[FACE_OF_A + k]
    p, m = at[o + PLANE], at[o + PLANE] + 4 * f0
    nx, ny, nz = sign * w[n], sign * w[n + 1], sign * w[n + 2]
    mx, my, mz = numbers[m], numbers[m + 1], numbers[m + 2]
    count, along = 0, 1.0 - 0.5 * LEAN * LEAN
    for f in range(at[o + NF]):
        x, y, z = numbers[p], numbers[p + 1], numbers[p + 2]
        p += 4
        h = x * nx + y * ny + z * nz
        near = max(h, x * mx + y * my + z * mz) >= along
        near = near or (at[NARROW] == 1 and level(numbers, ints, at, w, k, f))
        if near and (h > SEEN_ALONG or f == f0):
            label[FACES + k, count] = f
            count += 1
    at[FACES_A + k] = count


@stage
def level(numbers, ints, at, w, k, f):
    """Whether face f of body k lies within THIN_SIDE of the highest vertex of the face in `at`."""
    o, n, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    V, loop, start = at[o + VERTEX], at[o + LOOP], at[o + FACE_START]
    low = -math.inf
    for e in range(
        loop + ints[start + at[FACE_OF_A + k]], loop + ints[start + at[FACE_OF_A + k] + 1]
    ):
        low = max(low, sign * dot(numbers, V + 3 * ints[e], w, n))
    low -= THIN_SIDE * w[EXTENT]
    for e in range(loop + ints[start + f], loop + ints[start + f + 1]):
        if sign * dot(numbers, V + 3 * ints[e], w, n) < low:
            return False
    return True


@stage
def outline(numbers, ints, at, w, poly, label, k):
    """The outline of body k's side seen along n into poly and label, if the side is flat.

    The plane that it is measured by has the sum of the faces' areas, so slivers do not tilt it.
    """
    o = SIDE * k
    V = at[o + VERTEX]
    for c in range(3):
        w[V2 + c] = 0.0
    for again in range(2):
        count = 0
        for j in range(at[FACES_A + k]):
            start = at[o + FACE_START] + label[FACES + k, j]
            loop, end = at[o + LOOP] + ints[start], at[o + LOOP] + ints[start + 1]
            for e in range(loop, end):
                v = ints[e]
                if again == 0:
                    label[MARK, v] = -1
                elif label[MARK, v] < 0:
                    label[MARK, v] = 1
                    label[1, count] = v
                    count += 1
            if again == 0:
                add_area(numbers, ints, V, loop, end, w)
    d = 1.0 / math.sqrt(dot(w, V2, w, V2))
    low, high = math.inf, -math.inf
    for j in range(count):
        h = d * dot(numbers, V + 3 * label[1, j], w, V2)
        low, high = min(low, h), max(high, h)
    if high - low > THIN_SIDE * w[EXTENT]:
        return False
    for j in range(count):
        turned(numbers, w, k, V + 3 * label[1, j], 1.0, V1)
        poly[PX, j], poly[PY, j] = dot(w, TANGENT, w, V1), dot(w, TANGENT + 3, w, V1)
        poly[QX, j] = dot(w, N, w, V1)
    sort_points(poly, label, count)
    hull_of_points(poly, label, count, at, k)
    return True


@stage
def sort_points(poly, label, count):
    """Points in rows PX, PY of poly, with QX and row 1 of label, by x and then y (Shell's sort)."""
    step = 1
    while step < count // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(step, count):
            x, y, h, v = poly[PX, i], poly[PY, i], poly[QX, i], label[1, i]
            j = i - step
            while j >= 0 and (poly[PX, j] > x or (poly[PX, j] == x and poly[PY, j] > y)):
                for row in (PX, PY, QX):
                    poly[row, j + step] = poly[row, j]
                label[1, j + step] = label[1, j]
                j -= step
            poly[PX, j + step], poly[PY, j + step], poly[QX, j + step] = x, y, h
            label[1, j + step] = v
        step //= 3


@stage
def hull_of_points(poly, label, count, at, k):
    """Convex hull of the sorted points, as the outline of body k (Andrew's monotone chain).

    B's runs counter-clockwise about n, A's clockwise.
    """
    turn, made = 2.0 * k - 1.0, 0
    x, ids = RIM + 3 * k, RIMS + k
    y, h = x + 1, x + 2
    for part in range(2):
        base = made
        for i in range(count):
            c = i if part == 0 else count - 1 - i
            while made >= base + 2:
                x0, y0 = poly[x, made - 2], poly[y, made - 2]
                ex, ey = poly[x, made - 1] - x0, poly[y, made - 1] - y0
                fx, fy = poly[PX, c] - x0, poly[PY, c] - y0
                if turn * (ex * fy - ey * fx) > 0.0:
                    break
                made -= 1
            poly[x, made], poly[y, made], poly[h, made] = poly[PX, c], poly[PY, c], poly[QX, c]
            label[ids, made] = label[1, c]
            made += 1
        made -= 1  # the last point begins the other part
    at[OUTLINE_A + k] = made


@stage
def in_own_frame(w, k):
    """The vector at w[V1], of the frame of A, turned into that of body k: at w[V2]."""
    for i in range(3):
        w[V2 + i] = w[V1 + i]
        if k == 1:
            w[V2 + i] = w[POSE + i] * w[V1] + w[POSE + 3 + i] * w[V1 + 1]
            w[V2 + i] += w[POSE + 6 + i] * w[V1 + 2]


@stage
def surface(numbers, at, w, label, k, c, poly):
    """Height of body k's side over or under contact c: of its faces' planes, the innermost one."""
    o, d, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    for i in range(3):  # the contact in the frame of A, then in the body's own
        w[V1 + i] = poly[SPOT + i, c] - k * w[SHIFT + i]
    in_own_frame(w, k)
    h = math.inf
    for j in range(at[FACES_A + k]):
        p = at[o + PLANE] + 4 * label[FACES + k, j]
        steep = sign * dot(numbers, p, w, d)
        h = min(h, (numbers[p + 3] - dot(numbers, p, w, V2)) / steep)
    return sign * h


@stage
def overlap(numbers, ints, at, w, poly, label, base):
    """Contacts between the two faces in `at`, or the outlines in their place, into poly and label
    from place `base` on; returns the place behind them.

    Gaps are measured between the sides.
    """
    project(numbers, ints, at, w, poly)
    for k in range(2):
        start = at[SIDE * k + FACE_START] + at[FACE_OF_A + k]
        loop = at[SIDE * k + LOOP] + ints[start]
        for j in range(at[COUNT_A + k] if at[OUTLINE_A + k] == 0 else 0):
            label[CORNER_NAMES + k, j] = ints[loop + j]
        for j in range(at[OUTLINE_A + k]):
            label[CORNER_NAMES + k, j] = label[RIMS + k, j]
            for c in range(3):
                poly[AX + 3 * k + c, j] = poly[RIM + 3 * k + c, j]
        if at[OUTLINE_A + k] > 0:
            at[COUNT_A + k] = at[OUTLINE_A + k]
    na, nb = at[COUNT_A], at[COUNT_A + 1]
    count = clip(poly, label, na, nb, CLIP_SLACK * w[EXTENT])
    for k in range(count):
        kind, i, i1, j, j1 = made_by(label, k, count, na, nb)
        c = base + k
        label[IDS, c] = feature(
            kind,
            label[CORNER_NAMES, i],
            label[CORNER_NAMES, i1],
            label[CORNER_NAMES + 1, j],
            label[CORNER_NAMES + 1, j1],
        )
        for i in range(3):
            poly[SPOT + i, c] = poly[PX, k] * w[TANGENT + i] + poly[PY, k] * w[TANGENT + 3 + i]
        high = surface(numbers, at, w, label, np.int64(0), c, poly)
        low = surface(numbers, at, w, label, np.int64(1), c, poly)
        poly[SPOT + 3, c] = max(high - low, w[S])
        for i in range(3):
            poly[SPOT + i, c] += 0.5 * (high + low) * w[N + i]
    return base + count


@stage
def carry(numbers, ints, at, w, poly, label):
    """The contacts of a pair of which a body may have more than one face that carries."""
    spreads = at[MADE] > 0 and spread(numbers, ints, at, w, poly, label)
    if spreads and max(at[OUTLINE_A], at[OUTLINE_A + 1]) > 0:
        settle(numbers, at, w, poly, label)


@stage
def settle(numbers, at, w, poly, label):
    """Measure gaps down to faces beside the sides, where those cut something off the outlines.

    What lies so far behind them that it is not on both bodies is left out, if a contact that is as
    near as the nearest stays.
    """
    least, held, made = math.inf, math.inf, 0
    for c in range(at[MADE]):
        gap = poly[SPOT + 3, c]
        for k in range(2):
            poly[PX + k, c] = behind(numbers, at, w, poly, k, c)
        least = min(least, gap)
        held = min(held, gap + poly[PX, c] + poly[PY, c])
    if held > least + w[SAME_LENGTH]:
        return
    for c in range(at[MADE]):
        up, down = poly[PX, c], poly[PY, c]
        if max(up, down) < math.inf:
            move(poly, label, c, made)
            poly[SPOT + 3, made] += up + down
            for i in range(3):
                poly[SPOT + i, made] += 0.5 * (up - down) * w[N + i]
            made += 1
    at[MADE] = made


@stage
def behind(numbers, at, w, poly, k, c):
    """How far along n behind contact c the surface of body k is; inf if it is not on the body."""
    o, d, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    most, up = 0.0, (0.5 - k) * poly[SPOT + 3, c]
    for i in range(3):
        w[V1 + i] = poly[SPOT + i, c] + up * w[N + i] - k * w[SHIFT + i]
    in_own_frame(w, k)
    for f in range(at[o + NF]):
        p = at[o + PLANE] + 4 * f
        out = dot(numbers, p, w, V2) - numbers[p + 3] - OFF_BODY * w[EXTENT]
        if out > 0.0:
            steep = sign * dot(numbers, p, w, d)
            if steep <= SEEN_ALONG or out > THIN_SIDE * w[EXTENT] * steep:
                return math.inf
            most = max(most, out / steep)
    return most


@stage
def spread(numbers, ints, at, w, poly, label):
    """Put the contacts of whole sides in the place of those of the two faces in `at`; whether
    either has a side of several.

    What was nearest stays; the contact that stands in (at[BARE]) only if the sides hold no points
    that are as near.
    """
    if at[BARE] == 2:  # there may have been no look at the faces
        facing(numbers, ints, at, w)
    if min(at[FACE_OF_A], at[FACE_OF_A + 1]) < 0:
        return False
    room = poly.shape[1]
    for k in range(2):
        list_faces(numbers, ints, at, w, label, k)
    if at[FACES_A] == 1 and at[FACES_A + 1] == 1:
        return False
    made, bare = np.int64(0), min(at[BARE], 1)
    near = math.inf if bare == 1 else w[G] + w[SAME_LENGTH]
    for c in range(at[MADE] - 1 if bare == 1 else 0, at[MADE]):
        if poly[SPOT + 3, c] <= near:
            move(poly, label, c, made)
            made += 1
    project(numbers, ints, at, w, poly)  # for the frame that n is seen in
    at[OUTLINE_A] = at[OUTLINE_A + 1] = 0
    if bare == 1 and nearest(numbers, ints, at, w, poly, label):
        bare = 0
    for k in range(2):
        if at[FACES_A + k] > 1:
            outline(numbers, ints, at, w, poly, label, k)
    na = 1 if at[OUTLINE_A] > 0 else at[FACES_A]
    nb = 1 if at[OUTLINE_A + 1] > 0 else at[FACES_A + 1]
    for i in range(na):
        at[FACE_OF_A] = label[FACES, i]
        for j in range(nb):
            at[FACE_OF_A + 1] = label[FACES + 1, j]
            if made + 2 * (room // 8) <= room:
                end = overlap(numbers, ints, at, w, poly, label, made)
                made = unique(w, poly, label, bare, made, end)
    if bare == 1:
        for c in range(1, made):
            if poly[SPOT + 3, c] <= w[S] + STAND * w[EXTENT]:
                made -= 1
                move(poly, label, made, np.int64(0))
                break
    at[MADE] = made
    return True


@stage
def nearest(numbers, ints, at, w, poly, label):
    """Put the nearest contact of any two faces of the sides at place 0, if it is as near as the
    bodies are; whether there is one.

    Of faces that are parallel to rounding none is known to hold the nearest points.
    """
    least, found = w[S] + STAND * w[EXTENT], False
    for i in range(at[FACES_A]):
        for j in range(at[FACES_A + 1]):
            at[FACE_OF_A], at[FACE_OF_A + 1] = label[FACES, i], label[FACES + 1, j]
            for c in range(1, overlap(numbers, ints, at, w, poly, label, np.int64(1))):
                if poly[SPOT + 3, c] <= least:
                    least, found = poly[SPOT + 3, c], True
                    move(poly, label, c, np.int64(0))
    return found


@stage
def unique(w, poly, label, first, made, end):
    """Of contacts from `made` to `end` keep those that are not among `first` to `made`.

    Contacts are one if they have one name, or are together with the same gap. The name of a
    vertex stays rather than that of a crossing of edges, which comes and goes.
    """
    known = made
    for c in range(made, end):
        new = True
        for j in range(first, known):
            near = together(w, poly, c, j)
            if near and label[IDS, c] >> 60 < label[IDS, j] >> 60:
                move(poly, label, c, j)
            if near or label[IDS, c] == label[IDS, j]:
                new = False
                break
        if new:
            move(poly, label, c, known)
            known += 1
    return known
