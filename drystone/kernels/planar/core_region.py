"""The contact region of two cores with radii, from a witness: one or two contact points.

Edge against vertex: of the two edges at the vertex the one that lies most against the reference
edge is cut to the width of that edge, and the ends of what is left are the contacts. An end
is named by the vertex that makes it, its body and the edge of the other body: the name stays
while the bodies slide, and when A's edge and B's edge swap roles.
Vertex against vertex (Baraff 1989, 4.1): along the line between them.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import edge
from drystone.kernels.planar.cycle import wrap

# of the edge: where vertices of both bodies end the region this close together, it is named after
# A's, so that rocking and rounding do not rename the contacts of equal blocks in a stack
SAME_END = 1e-3
POINT = 1e-9  # of the edge: a shorter region is one point
BASE = 1 << 20  # more than the vertices of a polygon


@kernel
def region(V, na, nb, w, j, i, ra, rb, limit, ends, names):
    """Contacts of edge j of body w and vertex i of the other.

    ends (2, 3): out, (point x, y, gap) of each, seen from the centre of A; names (2,): features.
    -> number of contacts with gap <= limit, ordered along the edge of A, and the normal.
    """
    row, n, other, nv = (0, na, na, nb) if w == 0 else (na, nb, 0, na)
    px, py, tx, ty, L = edge(V, row, n, j)
    e, s0, h0, s1, h1 = _against(V, other, nv, i, px, py, tx, ty)
    low, high = max(min(s0, s1), 0.0), min(max(s0, s1), L)
    sign = -1.0 if w == 0 else 1.0
    wide = high - low > POINT * L
    count = 0
    for side in range(2):
        last = (side == 1) == (w == 0)  # A's edge and B's run against each other
        s = high if last else low
        if wide:
            h = h0 + (h1 - h0) * ((s - s0) / (s1 - s0))
            name = _end_name(n, nv, w, j, e, s0 if (s0 > s1) == last else s1, last, L)
        elif side == 0:
            s, h = min(max(s0, 0.0), L), h0
            name = ((1 - w) * BASE + i) * BASE + j
        else:
            break
        if h - ra - rb <= limit:
            up = 0.5 * (h + sign * (rb - ra))
            ends[count, 0], ends[count, 1] = px + s * tx + up * ty, py + s * ty - up * tx
            ends[count, 2], names[count] = h - ra - rb, name
            count += 1
    return count, sign * ty, -sign * tx


@kernel
def _against(V, row, nv, i, px, py, tx, ty):
    """The edge at vertex i of the nv from `row` that lies most against the edge (p, t).

    -> its number; place along t and height of vertex i, and of the edge's other end. If neither
    edge has any width, the other end is vertex i too.
    """
    dx, dy = V[row + i, 0] - px, V[row + i, 1] - py
    s0, h0 = tx * dx + ty * dy, ty * dx - tx * dy
    e, s1, h1, least = i, s0, h0, np.inf
    for side in range(2):
        k = wrap(i + 1 if side == 0 else i + nv - 1, nv)
        dx, dy = V[row + k, 0] - px, V[row + k, 1] - py
        s, h = tx * dx + ty * dy, ty * dx - tx * dy
        # edges that face each other run against each other: vertex i + 1 lies towards -t
        width = (s0 - s) if side == 0 else (s - s0)
        if width > 0.0 and h - h0 < least * width:
            e, s1, h1, least = (i if side == 0 else k), s, h, (h - h0) / width
    return e, s0, h0, s1, h1


@kernel
def _end_name(n, nv, w, j, e, s, last, L):
    """Name of an end of the region: `s` is where edge e of the other body ends on that side.

    Edge e runs against t: its far side along t (`last`) is its start.
    """
    own = wrap(j + 1, n) if last else j
    other = e if last else wrap(e + 1, nv)
    out = s - L if last else -s  # how far the other edge reaches over the end of this one
    mine = w == 0 if abs(out) <= SAME_END * L else out > 0.0
    return (w * BASE + own) * BASE + e if mine else ((1 - w) * BASE + other) * BASE + j


@kernel
def between(V, na, nb, j, i, ra, rb, limit, ends, names):
    """Contacts of vertex j of A and vertex i of B, and the normal; returns as ``region``.

    Where edges of both run the same way from there, as two that are all but parallel do, the end
    of the shorter one is a contact too.
    """
    bx, by = V[na + i, 0], V[na + i, 1]
    nx, ny = V[j, 0] - bx, V[j, 1] - by
    d = np.sqrt(nx * nx + ny * ny)
    nx, ny = nx / d, ny / d
    up = 0.5 * (d + rb - ra)
    ends[0, 0], ends[0, 1], ends[0, 2] = bx + up * nx, by + up * ny, d - ra - rb
    names[0] = (2 * BASE + j) * BASE + i
    gap, away, fall, name = np.inf, 0.0, 0.0, names[0]
    for step in range(2):  # A's edge that leaves the vertex runs against B's that ends in it
        p, q = (
            wrap(j + (1 if step == 0 else na - 1), na),
            wrap(i + (nb - 1 if step == 0 else 1), nb),
        )
        px, py = V[p, 0] - V[j, 0], V[p, 1] - V[j, 1]
        qx, qy = V[na + q, 0] - bx, V[na + q, 1] - by
        t = -1.0 if step == 0 else 1.0  # which way along (-ny, nx) they run
        a, b = t * (nx * py - ny * px), t * (nx * qy - ny * qx)
        if not (a > 0.0 and b > 0.0):
            continue
        rise, drop, width = (nx * px + ny * py) / a, (nx * qx + ny * qy) / b, min(a, b)
        h = d + (rise - drop) * width - ra - rb
        if h < gap:
            gap, away, fall = h, t * width, drop * width
            # the vertex that ends the region, its body, and the edge of the other body
            edge_a, edge_b = j if step == 0 else p, q if step == 0 else i
            mine = abs(a - b) <= SAME_END * width or a < b
            name = p * BASE + edge_b if mine else (BASE + q) * BASE + edge_a
    if away == 0.0 or gap > limit:
        return 1, nx, ny
    up = fall + 0.5 * (gap + ra + rb + rb - ra)
    ends[1, 0], ends[1, 1] = bx + up * nx - away * ny, by + up * ny + away * nx
    ends[1, 2], names[1] = gap, name
    return 2, nx, ny
