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
    LEAN,
    LOOP,
    MADE,
    NF,
    OUTLINE_A,
    PLANE,
    POSE,
    SHIFT,
    SIDE,
    SIZE,
    STAR,
    STAR_START,
    TANGENT,
    TOL,
    V1,
    V2,
    VERTEX,
    G,
    N,
    S,
    dot,
    turned,
)
from drystone.kernels.spatial.polyhedra_witness import facing

STAND = 5e-10  # of the smaller body: what counts as the same gap as that of the normal
FLAT = 1e-5  # of the smaller body: a side this thick is as good as one face
BESIDE = 1e-7  # of the smaller body: how far beside a body a contact may be
FACING = 1e-6  # cosine: faces that lean more from the normal are not seen along it

# rows of `rim`: outlines of both sides (x, y, height); of `names`, after the three of `label`:
# vertices of both polygons, of both outlines, faces of both sides, marks of vertices
CORNERS, RIMS, FACES, MARK = 3, 5, 7, 9
NAMES = 10


@kernel
def may_have_sides(numbers, ints, at, w):
    """Whether either face in `at` can have others beside it that belong to its side.

    If it has, an edge leaves it that leans as little: on the Gauss map the way from one normal to
    the other stays near both, and the first region it leaves is a vertex of the face.
    """
    flat = FLAT * w[SIZE]
    for k in range(2):
        o, f, n = SIDE * k, at[FACE_OF_A + k], N + 3 * k
        V, first, star = at[o + VERTEX], at[o + STAR_START], at[o + STAR]
        m, start = at[o + PLANE] + 4 * f, at[o + FACE_START] + f
        loop, end = at[o + LOOP] + ints[start], at[o + LOOP] + ints[start + 1]
        before = ints[end - 1]
        for j in range(loop, end):
            v = ints[j]
            i, after = V + 3 * v, ints[j + 1] if j + 1 < end else ints[loop]
            for e in range(star + ints[first + v], star + ints[first + v + 1]):
                u = ints[e]
                if u in (before, after):
                    continue
                q = V + 3 * u
                x, y = numbers[q] - numbers[i], numbers[q + 1] - numbers[i + 1]
                z = numbers[q + 2] - numbers[i + 2]
                h = x * numbers[m] + y * numbers[m + 1] + z * numbers[m + 2]
                steep = LEAN * LEAN * (x * x + y * y + z * z)
                if h * h <= steep:
                    return True
                rise = abs(x * w[n] + y * w[n + 1] + z * w[n + 2])
                if rise <= flat or rise * rise <= steep:
                    return True
            before = v
    return False


@kernel
def list_faces(numbers, ints, at, w, label, k):
    """Faces of the side of body k into label: that in `at`, and those that go with it."""
    o, n, sign, f0 = SIDE * k, N + 3 * k, 2.0 * k - 1.0, at[FACE_OF_A + k]
    V, m = at[o + VERTEX], at[o + PLANE] + 4 * f0
    start = at[o + FACE_START] + f0
    top = -math.inf
    for e in range(at[o + LOOP] + ints[start], at[o + LOOP] + ints[start + 1]):
        top = max(top, sign * dot(numbers, V + 3 * ints[e], w, n))
    count, low = 0, top - FLAT * w[SIZE]
    for f in range(at[o + NF]):
        p, start = at[o + PLANE] + 4 * f, at[o + FACE_START] + f
        if f != f0:
            if sign * dot(numbers, p, w, n) <= FACING:
                continue
            # the chords between the normals; they differ from the angles in third order
            a = b = 0.0
            for c in range(3):
                a += (numbers[p + c] - numbers[m + c]) ** 2
                b += (numbers[p + c] - sign * w[n + c]) ** 2
            if min(a, b) > LEAN * LEAN:
                level = True
                for e in range(at[o + LOOP] + ints[start], at[o + LOOP] + ints[start + 1]):
                    level = level and sign * dot(numbers, V + 3 * ints[e], w, n) >= low
                if not level:
                    continue
        label[FACES + k, count] = f
        count += 1
    at[FACES_A + k] = count


@kernel
def outline(numbers, ints, at, w, poly, rim, label, k):
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
    hull_of_points(poly, rim, label, count, at, k)
    return True


@kernel
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
def hull_of_points(poly, rim, label, count, at, k):
    """Convex hull of the sorted points, as the outline of body k (Andrew's monotone chain).

    B's runs counter-clockwise about n, A's clockwise.
    """
    turn, made = 2.0 * k - 1.0, 0
    x, y, h, ids = 3 * k, 3 * k + 1, 3 * k + 2, RIMS + k
    for part in range(2):
        base = made
        for i in range(count):
            c = i if part == 0 else count - 1 - i
            while made >= base + 2:
                ex, ey = rim[x, made - 1] - rim[x, made - 2], rim[y, made - 1] - rim[y, made - 2]
                fx, fy = poly[PX, c] - rim[x, made - 2], poly[PY, c] - rim[y, made - 2]
                if turn * (ex * fy - ey * fx) > 0.0:
                    break
                made -= 1
            rim[x, made], rim[y, made], rim[h, made] = poly[PX, c], poly[PY, c], poly[QX, c]
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
def overlap(numbers, ints, at, w, poly, rim, label, base):
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
                poly[AX + 3 * k + c, j] = rim[3 * k + c, j]
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
    """The contacts of a pair of which a body has faces that are all but parallel."""
    if at[MADE] > 0:
        spread(numbers, ints, at, w, poly, label)
        drop_strays(numbers, at, w, poly, label)


@kernel
def drop_strays(numbers, at, w, poly, label):
    """Leave out contacts that are not on both bodies, if one that is as near is.

    Two sides of a sliver are all but parallel, so that what is put up with beside each of them
    reaches far beyond its tip.
    """
    least, held = math.inf, math.inf
    made = 0
    for c in range(at[MADE]):
        least = min(least, poly[SPOT + 3, c])
        if on_both(numbers, at, w, poly, c):
            held = min(held, poly[SPOT + 3, c])
    if held > least + w[TOL]:
        return
    for c in range(at[MADE]):
        if on_both(numbers, at, w, poly, c):
            move(poly, label, c, made)
            made += 1
    at[MADE] = made


@kernel
def on_both(numbers, at, w, poly, c):
    """Whether the two points of contact c lie on their bodies."""
    for k in range(2):
        o, up = SIDE * k, (0.5 - k) * poly[SPOT + 3, c]
        for i in range(3):
            w[V1 + i] = poly[SPOT + i, c] + up * w[N + i] - k * w[SHIFT + i]
        for i in range(3):
            w[V2 + i] = w[V1 + i]
            if k == 1:
                w[V2 + i] = w[POSE + i] * w[V1] + w[POSE + 3 + i] * w[V1 + 1]
                w[V2 + i] += w[POSE + 6 + i] * w[V1 + 2]
        for f in range(at[o + NF]):
            p = at[o + PLANE] + 4 * f
            if dot(numbers, p, w, V2) > numbers[p + 3] + BESIDE * w[SIZE]:
                return False
    return True


@kernel
def spread(numbers, ints, at, w, poly, label):
    """Put the contacts of whole sides in the place of those of the two faces in `at`.

    What was nearest stays; the contact that stands in (at[BARE]) only if the sides hold no points
    that are as near.
    """
    if at[BARE] == 2:  # there may have been no look at the faces
        facing(numbers, ints, at, w)
    if min(at[FACE_OF_A], at[FACE_OF_A + 1]) < 0:
        return
    if not may_have_sides(numbers, ints, at, w):
        return
    room = poly.shape[1]
    names = np.empty((NAMES, room), np.int64)
    for k in range(2):
        list_faces(numbers, ints, at, w, names, k)
    if at[FACES_A] == 1 and at[FACES_A + 1] == 1:
        return
    rim = np.empty((6, room))
    made, bare = np.int64(0), min(at[BARE], 1)
    near = math.inf if bare == 1 else w[G] + w[TOL]
    for c in range(at[MADE] - 1 if bare == 1 else 0, at[MADE]):
        if poly[SPOT + 3, c] <= near:
            move(poly, label, c, made)
            names[IDS, made] = label[IDS, made]
            made += 1
    project(numbers, ints, at, w, poly)  # for the frame that n is seen in
    for k in range(2):
        at[OUTLINE_A + k] = 0
        if at[FACES_A + k] > 1:
            outline(numbers, ints, at, w, poly, rim, names, k)
    na = 1 if at[OUTLINE_A] > 0 else at[FACES_A]
    nb = 1 if at[OUTLINE_A + 1] > 0 else at[FACES_A + 1]
    for i in range(na):
        at[FACE_OF_A] = names[FACES, i]
        for j in range(nb):
            at[FACE_OF_A + 1] = names[FACES + 1, j]
            if made + 2 * (room // 8) <= room:
                end = overlap(numbers, ints, at, w, poly, rim, names, made)
                made = unique(w, poly, names, bare, made, end)
    if bare == 1:
        for c in range(1, made):
            if poly[SPOT + 3, c] <= w[S] + STAND * w[SIZE]:
                made -= 1
                move(poly, names, made, np.int64(0))
                break
    for c in range(made):
        label[IDS, c] = names[IDS, c]
    at[MADE] = made


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
