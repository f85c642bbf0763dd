"""Contact region of two polyhedra along a normal: one face of each, clipped in the plane (G4).

Both faces are projected along n, B's polygon is clipped by A's, and every vertex of the overlap
becomes a contact whose gap is measured along n between the two faces. A's polygon always clips
and B's is always clipped, whichever of them defines n, so the features of the points do not
change when the defining face does.
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.polyhedra_shape import (
    FACE_START,
    LOOP,
    NB,
    PLANE,
    SIZE,
    TOL,
    VERTEX,
    G,
    N,
    S,
)

# rows of poly: projected polygons of A and B (x, y, height), and two buffers (x, y)
AX, AY, AH, BX, BY, BH, PX, PY, QX, QY = range(10)
ROWS = 10

INSIDE = 5e-10  # of the smaller body: a vertex this far outside an edge still counts as inside
MERGE = 1e-7  # of the smaller body: points closer than this are one if their gaps agree
VERTEX_A, VERTEX_B, CROSSING = 1, 2, 3  # kinds of points
LEVEL = 1e-10  # of the smaller body: vertices this far from the plane belong to its support


@kernel
def feature(kind, a0, a1, b0, b1):
    """Number that names a point: a vertex of A, one of B, or an edge of A over an edge of B."""
    if a1 < a0:
        a0, a1 = a1, a0
    if b1 < b0:
        b0, b1 = b1, b0
    m = 32767  # 15 bits each
    return (kind << 60) | ((a0 & m) << 45) | ((a1 & m) << 30) | ((b0 & m) << 15) | (b1 & m)


@kernel
def basis(nx, ny, nz):
    """First of two tangents, the second is n x t."""
    if abs(nx) <= abs(ny) and abs(nx) <= abs(nz):
        tx, ty, tz = 0.0, nz, -ny
    elif abs(ny) <= abs(nz):
        tx, ty, tz = -nz, 0.0, nx
    else:
        tx, ty, tz = ny, -nx, 0.0
    d = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz)
    return tx * d, ty * d, tz * d


@kernel
def project(numbers, ints, lay, pose, geo, k, f, t, poly):
    """Loop of face f of body k along n: x, y, height into poly; returns its length.

    The tangents t (6) and n are first turned into the body's own frame.
    """
    V, start = lay[k, VERTEX], lay[k, FACE_START] + f
    nx, ny, nz = geo[N], geo[N + 1], geo[N + 2]
    ax, ay, az, bx, by, bz = t[0], t[1], t[2], t[3], t[4], t[5]
    x0, y0, h0 = 0.0, 0.0, 0.0
    row = AX
    if k == 1:
        row = BX
        r, s, u = pose[9], pose[10], pose[11]
        x0, y0, h0 = ax * r + ay * s + az * u, bx * r + by * s + bz * u, nx * r + ny * s + nz * u
        nx, ny, nz = geo[NB], geo[NB + 1], geo[NB + 2]
        ax, ay, az = (
            pose[0] * ax + pose[3] * ay + pose[6] * az,
            pose[1] * ax + pose[4] * ay + pose[7] * az,
            pose[2] * ax + pose[5] * ay + pose[8] * az,
        )
        bx, by, bz = (
            pose[0] * bx + pose[3] * by + pose[6] * bz,
            pose[1] * bx + pose[4] * by + pose[7] * bz,
            pose[2] * bx + pose[5] * by + pose[8] * bz,
        )
    count = ints[start + 1] - ints[start]
    loop = lay[k, LOOP] + ints[start]
    for j in range(count):
        i = V + 3 * ints[loop + j]
        p, q, s = numbers[i], numbers[i + 1], numbers[i + 2]
        poly[row, j] = x0 + ax * p + ay * q + az * s
        poly[row + 1, j] = y0 + bx * p + by * q + bz * s
        poly[row + 2, j] = h0 + nx * p + ny * q + nz * s
    return count


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
    for i in range(na):
        x0, y0 = poly[AX, i], poly[AY, i]
        i1 = i + 1 if i + 1 < na else 0
        ex, ey = poly[AX, i1] - x0, poly[AY, i1] - y0
        e = math.sqrt(ex * ex + ey * ey)
        if count == 0:
            break
        if e <= tol:
            continue
        ex, ey = ex / e, ey / e
        d = ey * (poly[PX, 0] - x0) - ex * (poly[PY, 0] - y0)
        first, made, cut = d, 0, False
        for k in range(count):
            last = k + 1 == count
            k1 = 0 if last else k + 1
            d1 = first if last else ey * (poly[PX, k1] - x0) - ex * (poly[PY, k1] - y0)
            inside, inside1 = d >= -tol, d1 >= -tol
            if inside:
                poly[QX, made], poly[QY, made] = poly[PX, k], poly[PY, k]
                label[1, made] = label[0, k]
                made += 1
            else:
                cut = True
            if inside != inside1:
                t = min(max(d / (d - d1), 0.0), 1.0)
                poly[QX, made] = poly[PX, k] + t * (poly[PX, k1] - poly[PX, k])
                poly[QY, made] = poly[PY, k] + t * (poly[PY, k1] - poly[PY, k])
                label[1, made] = -1 - i if inside else label[0, k]
                made += 1
            d = d1
        if cut:
            count = made
            for k in range(count):
                poly[PX, k], poly[PY, k] = poly[QX, k], poly[QY, k]
                label[0, k] = label[1, k]
    return count


@kernel
def region(numbers, ints, lay, pose, row, geo, fa, fb, t, poly, label, spot, ids):
    """Contacts between face fa of A and face fb of B along geo's n; returns how many.

    spot (., 4): midpoint in the frame of A and gap; ids: features. geo[G] becomes the least gap.
    """
    geo[G] = math.inf
    nx, ny, nz = geo[N], geo[N + 1], geo[N + 2]
    t[0], t[1], t[2] = basis(nx, ny, nz)
    t[3], t[4], t[5] = ny * t[2] - nz * t[1], nz * t[0] - nx * t[2], nx * t[1] - ny * t[0]
    na = project(numbers, ints, lay, pose, geo, 0, fa, t, poly)
    nb = project(numbers, ints, lay, pose, geo, 1, fb, t, poly)
    slopes(numbers, lay, geo, pose, fa, fb, t)
    size = row[SIZE]
    count = clip(poly, label, na, nb, INSIDE * size)
    loop_a = lay[0, LOOP] + ints[lay[0, FACE_START] + fa]
    loop_b = lay[1, LOOP] + ints[lay[1, FACE_START] + fb]
    made = 0
    for k in range(count):
        x, y = poly[PX, k], poly[PY, k]
        ha = t[6] + t[7] * x + t[8] * y
        hb = t[9] + t[10] * x + t[11] * y
        before, after = label[0, k - 1 if k > 0 else count - 1], label[0, k]
        if before >= 0 and after >= 0:
            hb = poly[BH, after]
            v = ints[loop_b + after]
            name = feature(VERTEX_B, 0, 0, v, v)
        elif before < 0 and after < 0:
            i = -1 - before
            ha = poly[AH, i]
            v = ints[loop_a + i]
            name = feature(VERTEX_A, v, v, 0, 0)
        else:
            i, j = -1 - min(before, after), max(before, after)
            i1 = i + 1 if i + 1 < na else 0
            j1 = j + 1 if j + 1 < nb else 0
            name = feature(
                CROSSING, ints[loop_a + i], ints[loop_a + i1], ints[loop_b + j], ints[loop_b + j1]
            )
        gap = max(ha - hb, geo[S])
        geo[G] = min(geo[G], gap)
        h = 0.5 * (ha + hb)
        spot[made, 0] = x * t[0] + y * t[3] + h * nx
        spot[made, 1] = x * t[1] + y * t[4] + h * ny
        spot[made, 2] = x * t[2] + y * t[5] + h * nz
        spot[made, 3] = gap
        ids[made] = name
        made = merge(spot, ids, made, 0, MERGE * size, row[TOL])
    if made > 1 and same(spot, made - 1, 0, MERGE * size, row[TOL]):
        made -= 1
        if ids[made] >> 60 < ids[0] >> 60:
            copy(spot, ids, made, 0)
    return made


@kernel
def slopes(numbers, lay, geo, pose, fa, fb, t):
    """Heights of the two faces over the plane: t[6:9] and t[9:12] hold h = c + a x + b y."""
    for k in range(2):
        p = lay[k, PLANE] + 4 * (fa if k == 0 else fb)
        a, b, c, o = numbers[p], numbers[p + 1], numbers[p + 2], numbers[p + 3]
        if k == 1:
            a, b, c = (
                pose[0] * a + pose[1] * b + pose[2] * c,
                pose[3] * a + pose[4] * b + pose[5] * c,
                pose[6] * a + pose[7] * b + pose[8] * c,
            )
            o += a * pose[9] + b * pose[10] + c * pose[11]
        g = a * geo[N] + b * geo[N + 1] + c * geo[N + 2]
        t[6 + 3 * k] = o / g
        t[7 + 3 * k] = -(a * t[0] + b * t[1] + c * t[2]) / g
        t[8 + 3 * k] = -(a * t[3] + b * t[4] + c * t[5]) / g


@kernel
def same(spot, i, j, near, tol):
    """Whether two contacts are one: together, and with gaps that agree."""
    dx, dy, dz = spot[i, 0] - spot[j, 0], spot[i, 1] - spot[j, 1], spot[i, 2] - spot[j, 2]
    return dx * dx + dy * dy + dz * dz <= near * near and abs(spot[i, 3] - spot[j, 3]) <= tol


@kernel
def copy(spot, ids, i, j):
    """Contact i in place of contact j."""
    for c in range(4):
        spot[j, c] = spot[i, c]
    ids[j] = ids[i]


@kernel
def merge(spot, ids, i, first, near, tol):
    """Accept contact i, or let it be one with the contact before; returns the new count.

    A vertex's name stays before that of a crossing of edges, which comes and goes.
    """
    if i > first and same(spot, i, i - 1, near, tol):
        if ids[i] >> 60 < ids[i - 1] >> 60:
            copy(spot, ids, i, i - 1)
        return i
    return i + 1


@kernel
def clearance(poly, na, nb, face_is_a, size):
    """How far the support of one body lies inside the face of the other, in the plane.

    The facet of B - A over this plane is the face of one body with the other's support (its
    vertices at the plane's height); this is the distance of the origin from that facet's rim.
    """
    if face_is_a:
        fx, nf, sx, ns, turn = AX, na, BX, nb, 1.0
        top = poly[BH, 0]
        for j in range(1, nb):
            top = max(top, poly[BH, j])
    else:
        fx, nf, sx, ns, turn = BX, nb, AX, na, -1.0
        top = poly[AH, 0]
        for j in range(1, na):
            top = min(top, poly[AH, j])
    level = LEVEL * size
    rho, held = math.inf, 0
    for i in range(nf):
        i1 = i + 1 if i + 1 < nf else 0
        ex, ey = poly[fx, i1] - poly[fx, i], poly[fx + 1, i1] - poly[fx + 1, i]
        e = turn / math.sqrt(ex * ex + ey * ey)
        deep = -math.inf
        for j in range(ns):
            if abs(poly[sx + 2, j] - top) <= level:
                d = ey * (poly[sx, j] - poly[fx, i]) - ex * (poly[sx + 1, j] - poly[fx + 1, i])
                deep = max(deep, d * e)
        rho = min(rho, deep)
    for j in range(ns):
        if abs(poly[sx + 2, j] - top) <= level:
            held += 1
    if held < 2:
        return rho
    if 2 < held < ns:  # part of a face: its hull is not followed here, so nothing is promised
        return 0.0
    for j in range(ns):
        j1 = j + 1 if j + 1 < ns else 0
        if abs(poly[sx + 2, j] - top) > level or abs(poly[sx + 2, j1] - top) > level:
            continue
        ex, ey = poly[sx, j1] - poly[sx, j], poly[sx + 1, j1] - poly[sx + 1, j]
        e = -turn / math.sqrt(ex * ex + ey * ey)
        deep, back = -math.inf, -math.inf
        for i in range(nf):
            d = ey * (poly[fx, i] - poly[sx, j]) - ex * (poly[fx + 1, i] - poly[sx + 1, j])
            deep, back = max(deep, d * e), max(back, -d * e)
        rho = min(rho, deep)
        if held == 2:
            rho = min(rho, back)
    return rho
