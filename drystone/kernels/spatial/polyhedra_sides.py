"""Sides of polyhedra: faces that are nearly parallel, which carry together.

A flat side of a mesh in single precision, of a scan or of a quadrilateral that is not quite plane
is several faces. The side of a body is the face that the witness is on, with all faces that lean
less than LEAN from it or from the plane of contact, and all that lie within FLAT of that plane. If
the vertices of a side are within FLAT of one plane, its outline is clipped as one face would be,
and of what is inside only the nearest points are kept; otherwise the region is that of all pairs
of faces.
"""

import math

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_region import (
    AX,
    CROSSING,
    IDS,
    INSIDE,
    MERGE,
    PX,
    PY,
    QX,
    ROWS,
    SPOT,
    VERTEX_A,
    VERTEX_B,
    clip,
    feature,
    project,
)
from drystone.kernels.spatial.polyhedra_shape import (
    BARE,
    COUNT_A,
    FACE_OF_A,
    FACE_START,
    FACES_A,
    FLAT,
    LEAN,
    LOOP,
    MADE,
    NARROW,
    NF,
    OUTLINE_A,
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
    add_area,
    dot,
    turned,
)
from drystone.kernels.spatial.polyhedra_witness import facing

STAND = 5e-10  # of the smaller body: what counts as the same gap as that of the normal
BESIDE = 1e-7  # of the smaller body: how far beside a body a contact may be
FACING = 1e-6  # cosine: faces that lean more from the normal are not seen along it

# further rows of poly: outlines of both sides (x, y, height); of label: vertices of both polygons,
# of both outlines, faces of both sides, marks of vertices
RIM = ROWS
CORNERS, RIMS, FACES, MARK = 3, 5, 7, 9
NUMBERS, NAMES = ROWS + 6, 10  # how many rows poly and label have


@kernel
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
        if near and (h > FACING or f == f0):
            label[FACES + k, count] = f
            count += 1
    at[FACES_A + k] = count


@kernel
def level(numbers, ints, at, w, k, f):
    """Whether face f of body k lies within FLAT of the highest vertex of the face in `at`."""
    o, n, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    V, loop, start = at[o + VERTEX], at[o + LOOP], at[o + FACE_START]
    low = -math.inf
    for e in range(
        loop + ints[start + at[FACE_OF_A + k]], loop + ints[start + at[FACE_OF_A + k] + 1]
    ):
        low = max(low, sign * dot(numbers, V + 3 * ints[e], w, n))
    low -= FLAT * w[SIZE]
    for e in range(loop + ints[start + f], loop + ints[start + f + 1]):
        if sign * dot(numbers, V + 3 * ints[e], w, n) < low:
            return False
    return True


@kernel
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
    if high - low > FLAT * w[SIZE]:
        return False
    for j in range(count):
        turned(numbers, w, k, V + 3 * label[1, j], 1.0, V1)
        poly[PX, j], poly[PY, j] = dot(w, TANGENT, w, V1), dot(w, TANGENT + 3, w, V1)
        poly[QX, j] = dot(w, N, w, V1)
    sort_points(poly, label, count)
    hull_of_points(poly, label, count, at, k)
    return True


@kernel
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


@kernel
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


@kernel
def surface(numbers, at, w, label, k, c, poly):
    """Height of body k's side over or under contact c: of its faces' planes, the innermost one."""
    o, d, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    for i in range(3):  # the contact in the frame of A, then in the body's own
        w[V1 + i] = poly[SPOT + i, c] - k * w[SHIFT + i]
    for i in range(3):
        w[V2 + i] = w[V1 + i]
        if k == 1:
            w[V2 + i] = w[POSE + i] * w[V1] + w[POSE + 3 + i] * w[V1 + 1]
            w[V2 + i] += w[POSE + 6 + i] * w[V1 + 2]
    h = math.inf
    for j in range(at[FACES_A + k]):
        p = at[o + PLANE] + 4 * label[FACES + k, j]
        steep = sign * dot(numbers, p, w, d)
        h = min(h, (numbers[p + 3] - dot(numbers, p, w, V2)) / steep)
    return sign * h


@kernel
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
            label[CORNERS + k, j] = ints[loop + j]
        for j in range(at[OUTLINE_A + k]):
            label[CORNERS + k, j] = label[RIMS + k, j]
            for c in range(3):
                poly[AX + 3 * k + c, j] = poly[RIM + 3 * k + c, j]
        if at[OUTLINE_A + k] > 0:
            at[COUNT_A + k] = at[OUTLINE_A + k]
    na, nb = at[COUNT_A], at[COUNT_A + 1]
    count = clip(poly, label, na, nb, INSIDE * w[SIZE])
    for k in range(count):
        before, after = label[0, k - 1 if k > 0 else count - 1], label[0, k]
        i, j, kind = -1 - min(before, after), max(before, after), CROSSING
        if before >= 0 and after >= 0:
            i, j, kind = 0, after, VERTEX_B
        elif before < 0 and after < 0:
            i, j, kind = -1 - before, 0, VERTEX_A
        i1, j1 = i, j
        if kind == CROSSING:
            i1 = i + 1 if i + 1 < na else 0
            j1 = j + 1 if j + 1 < nb else 0
        c = base + k
        label[IDS, c] = feature(
            kind,
            label[CORNERS, i],
            label[CORNERS, i1],
            label[CORNERS + 1, j],
            label[CORNERS + 1, j1],
        )
        for i in range(3):
            poly[SPOT + i, c] = poly[PX, k] * w[TANGENT + i] + poly[PY, k] * w[TANGENT + 3 + i]
        high = surface(numbers, at, w, label, np.int64(0), c, poly)
        low = surface(numbers, at, w, label, np.int64(1), c, poly)
        poly[SPOT + 3, c] = max(high - low, w[S])
        for i in range(3):
            poly[SPOT + i, c] += 0.5 * (high + low) * w[N + i]
    return base + count


@kernel
def carry(numbers, ints, at, w, poly, label):
    """The contacts of a pair of which a body may have more than one face that carries."""
    spreads = at[MADE] > 0 and spread(numbers, ints, at, w, poly, label)
    if spreads and max(at[OUTLINE_A], at[OUTLINE_A + 1]) > 0:
        settle(numbers, at, w, poly, label)


@kernel
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
    if held > least + w[TOL]:
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


@kernel
def behind(numbers, at, w, poly, k, c):
    """How far along n behind contact c the surface of body k is; inf if it is not on the body."""
    o, d, sign = SIDE * k, N + 3 * k, 2.0 * k - 1.0
    most, up = 0.0, (0.5 - k) * poly[SPOT + 3, c]
    for i in range(3):
        w[V1 + i] = poly[SPOT + i, c] + up * w[N + i] - k * w[SHIFT + i]
    for i in range(3):
        w[V2 + i] = w[V1 + i]
        if k == 1:
            w[V2 + i] = w[POSE + i] * w[V1] + w[POSE + 3 + i] * w[V1 + 1]
            w[V2 + i] += w[POSE + 6 + i] * w[V1 + 2]
    for f in range(at[o + NF]):
        p = at[o + PLANE] + 4 * f
        out = dot(numbers, p, w, V2) - numbers[p + 3] - BESIDE * w[SIZE]
        if out > 0.0:
            steep = sign * dot(numbers, p, w, d)
            if steep <= FACING or out > FLAT * w[SIZE] * steep:
                return math.inf
            most = max(most, out / steep)
    return most


@kernel
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
    near = math.inf if bare == 1 else w[G] + w[TOL]
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
            if poly[SPOT + 3, c] <= w[S] + STAND * w[SIZE]:
                made -= 1
                move(poly, label, made, np.int64(0))
                break
    at[MADE] = made
    return True


@kernel
def nearest(numbers, ints, at, w, poly, label):
    """Put the nearest contact of any two faces of the sides at place 0, if it is as near as the
    bodies are; whether there is one.

    Of faces that are parallel to rounding none is known to hold the nearest points.
    """
    least, found = w[S] + STAND * w[SIZE], False
    for i in range(at[FACES_A]):
        for j in range(at[FACES_A + 1]):
            at[FACE_OF_A], at[FACE_OF_A + 1] = label[FACES, i], label[FACES + 1, j]
            for c in range(1, overlap(numbers, ints, at, w, poly, label, np.int64(1))):
                if poly[SPOT + 3, c] <= least:
                    least, found = poly[SPOT + 3, c], True
                    move(poly, label, c, np.int64(0))
    return found


@kernel
def move(poly, label, i, j):
    """Put contact i at place j."""
    label[IDS, j] = label[IDS, i]
    for c in range(4):
        poly[SPOT + c, j] = poly[SPOT + c, i]


@kernel
def unique(w, poly, label, first, made, end):
    """Of contacts from `made` to `end` keep those that are not among `first` to `made`.

    Contacts are one if they have one name, or are together with the same gap. The name of a
    vertex stays rather than that of a crossing of edges, which comes and goes.
    """
    known = made
    for c in range(made, end):
        new = True
        for j in range(first, known):
            d = 0.0
            for i in range(3):
                d += abs(poly[SPOT + i, c] - poly[SPOT + i, j])
            near = d <= MERGE * w[SIZE] and abs(poly[SPOT + 3, c] - poly[SPOT + 3, j]) <= w[TOL]
            if near and label[IDS, c] >> 60 < label[IDS, j] >> 60:
                move(poly, label, c, j)
            if near or label[IDS, c] == label[IDS, j]:
                new = False
                break
        if new:
            move(poly, label, c, known)
            known += 1
    return known
