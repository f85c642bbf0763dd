"""Capsules and polygons with each other: cores with radii.

The witness of last time is proven first, then its neighbours, then all edges are searched;
a pair whose witness shows more than the margin between the bodies costs one proof.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import LEAN, FoundContacts, Pairs, PosedGeoms

# ---- Cores in the plane: the vertices of a polygon, or the two ends of a capsule's segment.
#
# Both cores of a pair are seen from the centre of A in world axes: rows 0 ... na - 1 of V are the
# vertices of A, the nb rows after them those of B. w is 0 for A and 1 for B.
#
# With m the outer normal of an edge of one body (the reference), t = (-m_y, m_x) its tangent, v_0
# its start and q_i the vertex of the other body that is lowest along m,
#     g = m.(q_i - v_0),  s = t.(q_i - v_0),  L = length of the edge.
# g is a lower bound of the distance, and the distance itself if q_i is above the edge and g > 0.


class TwoCores(NamedTuple):
    """V, the numbers of vertices na and nb, and the radii ra and rb about the cores."""

    V: Any
    na: Any
    nb: Any
    ra: Any
    rb: Any


@kernel
def wrap(i, nv):
    """i modulo nv, for 0 <= i < 2 nv; an integer division would cost more than all the rest."""
    return i - nv if i >= nv else i


@kernel
def most_vertices(geom, first):
    """Rows that V needs."""
    most = 4
    for k in range(geom.shape[0]):
        a, b = geom[k, 0], geom[k, 1]
        most = max(most, (first[a + 1] - first[a] + first[b + 1] - first[b]) // 2 + 2)
    return most


@kernel
def load(numbers, start, end, ox, oy, c, s, row, V):
    """Vertices of a geom at (ox, oy) with the first axis (c, s) into V from `row`: their number
    and the radius about the core."""
    n, radius = (end - start) // 2, 0.0
    if n == 1:
        n, radius, h = 2, numbers[start + 1], numbers[start]
        V[row, 0], V[row, 1] = ox - c * h, oy - s * h
        V[row + 1, 0], V[row + 1, 1] = ox + c * h, oy + s * h
    else:
        for i in range(n):
            x, y = numbers[start + 2 * i], numbers[start + 2 * i + 1]
            V[row + i, 0], V[row + i, 1] = ox + (c * x - s * y), oy + (s * x + c * y)
    return n, radius


@kernel
def edge(V, row, n, j):
    """Start, tangent and length of edge j of the n vertices from `row`; m = (t_y, -t_x)."""
    px, py, i = V[row + j, 0], V[row + j, 1], row + wrap(j + 1, n)
    ex, ey = V[i, 0] - px, V[i, 1] - py
    L = np.sqrt(ex * ex + ey * ey)
    return px, py, ex / L, ey / L, L


@kernel
def edge_vertex(V, na, nb, w, j, i, slack):
    """(g, s, L, i) of edge j of body w and the lowest vertex i of the other, climbed to from i.

    A neighbour that is lower by rounding only (slack) does not count: parallel edges keep their
    vertex.
    """
    row, n, other, nv = (0, na, na, nb) if w == 0 else (na, nb, 0, na)
    px, py, tx, ty, L = edge(V, row, n, j)
    h = ty * (V[other + i, 0] - px) - tx * (V[other + i, 1] - py)
    for step in (1, nv - 1):
        for _ in range(nv):
            k = wrap(i + step, nv)
            lower = ty * (V[other + k, 0] - px) - tx * (V[other + k, 1] - py)
            if not lower < h - slack:
                break
            i, h = k, lower
    return h, tx * (V[other + i, 0] - px) + ty * (V[other + i, 1] - py), L, i


# ---- Witnesses of two cores: an edge of one and a vertex of the other, or a vertex of each.
#
# A witness is a triple (code, j, i): code 1 = edge j of A and vertex i of B, 2 = edge j of B and
# vertex i of A, 3 = vertex j of A and vertex i of B. `prove` says whether a witness gives the
# signed distance by itself; `search` finds one with a look at everything.
#
# Apart, a local maximum of the separation is the only one, so the foot inside the edge is proof.
# Overlapping (depth d = -g >= 0) another edge could be less deep. But the pairs of points of A and
# B known at the witness bound the separation in every direction n that makes the angle alpha with
# m: -d cos alpha - l sin alpha, with l the distance of the foot from the nearer end of the edge.
# That is at most -d unless tan(alpha/2) > l/d; and in the small cone about -m that is left, two
# points at the far sides of the bodies are in each other's way.

NO, CONTACT, BEYOND = 0, 1, 2  # what a witness proves: nothing, a contact, one beyond reach
EDGE_A, EDGE_B, VERTICES = 1, 2, 3  # kinds of witnesses
TOUCH = 1e-10  # of an edge: vertices closer than this have no direction between them


@kernel
def prove(V, na, nb, code, j, i, reach, slack):
    """(NO, CONTACT or BEYOND the reach; i brought up to date) of a witness."""
    if code == VERTICES:
        d, s = between_vertices(V, na, nb, j, i)
        if s < d - slack:
            return NO, i
        return BEYOND if s > reach else CONTACT, i
    g, s, L, i = edge_vertex(V, na, nb, code - 1, j, i, slack)
    if g > reach:
        return BEYOND, i
    if g > 0.0:
        return CONTACT if -slack <= s <= L + slack else NO, i
    if _least_depth(V, na, nb, code - 1, j, i, g, s, L, slack):
        return CONTACT, i
    return NO, i


@kernel
def between_vertices(V, na, nb, j, i):
    """Distance of vertex j of A and i of B, and that of their neighbours along the line between
    them: if it is the same, it is the bodies' separation.

    It is asked of the line as it was computed, because of near vertices its direction is noise.
    Closer than TOUCH they have none.
    """
    nx, ny = V[j, 0] - V[na + i, 0], V[j, 1] - V[na + i, 1]
    least, low = np.inf, 0.0
    for w in range(2):
        row, nv, at, sign = (0, na, j, 1.0) if w == 0 else (na, nb, i, -1.0)
        under = 0.0
        for step in (1, nv - 1):
            k = row + wrap(at + step, nv)
            ex, ey = V[k, 0] - V[row + at, 0], V[k, 1] - V[row + at, 1]
            under = min(under, sign * (nx * ex + ny * ey))
            least = min(least, ex * ex + ey * ey)
        low += under
    d2 = nx * nx + ny * ny
    d = np.sqrt(d2)
    if d2 <= TOUCH * TOUCH * least:
        return d, -np.inf
    return d, d + low / d


@kernel
def _least_depth(V, na, nb, w, j, i, g, s, L, slack):
    """Whether no direction separates better than edge j, in which vertex i is -g >= 0 deep."""
    row, n, other, nv = (0, na, na, nb) if w == 0 else (na, nb, 0, na)
    d, px, py, end = -g, V[row + j, 0], V[row + j, 1], row + wrap(j + 1, n)
    tx, ty = (V[end, 0] - px) / L, (V[end, 1] - py) / L
    after, before = L - s, s  # room towards the end and the start of the edge
    for side in range(2):
        # the neighbour of i on the other side leaves more room if it is as deep but for rounding;
        # if i lies beyond the end, turning towards the neighbour gains out * rise / room
        k = other + wrap(i + 1 if side == 0 else i + nv - 1, nv)
        along = tx * (V[k, 0] - px) + ty * (V[k, 1] - py)
        rise = max(ty * (V[k, 0] - px) - tx * (V[k, 1] - py) - g, 0.0)
        room = L - along if side == 0 else along
        out = max(-after if side == 0 else -before, 0.0)
        deep = d * rise * rise <= 1e-15 * L * room * room and out * rise <= slack * room
        if room > 0.0 and deep:
            if side == 0:
                after = max(after, 0.5 * room)
            else:
                before = max(before, 0.5 * room)
    room = min(after, before)
    if not room > 4.0 * d:
        return d == 0.0 and room >= 0.0
    beta = 2.0 * d / room
    k, end = other + wrap(i + nv // 2, nv), row + wrap(j + n // 2 + 1, n)
    dx, dy = V[k, 0] - V[end, 0], V[k, 1] - V[end, 1]
    up, across = ty * dx - tx * dy, abs(tx * dx + ty * dy)
    return up * (1.0 - 0.5 * beta * beta) - across * beta >= d


@kernel
def neighbour(na, nb, code, j, i, c):
    """Witness number c = 0 ... 5 next to (code, j, i); with code 0 there is none."""
    if code == VERTICES:
        if c < 2:
            return EDGE_A, wrap(j + na - c, na), i
        if c < 4:
            return EDGE_B, wrap(i + nb - (c - 2), nb), j
        return 0, 0, 0
    own, other = (na, nb) if code == EDGE_A else (nb, na)
    if c < 2:
        return code, wrap(j + (1 if c == 0 else own - 1), own), i
    if c < 4:
        return 3 - code, wrap(i + other - (c - 2), other), j
    end = wrap(j + c - 4, own)
    return (VERTICES, end, i) if code == EDGE_A else (VERTICES, i, end)


# ---- Full search for the witness of two cores, in time linear in their edges.
#
# The edges of one body are gone through in order; the lowest vertex of the other follows them
# round (rotating calipers). The greatest separation g over all edges of both bodies is the depth
# if it is negative. If it is positive, it is the distance, or two vertices are nearest: between
# the normals of their edges the separation is a cosine, so the best edge is one beside them.


@kernel
def search(V, na, nb, reach, slack):
    """(CONTACT or BEYOND, code, j, i): the witness of the signed distance."""
    zero = np.int64(0)  # not a literal: the kernels called would be compiled for it alone
    best, code, at, low, over = -np.inf, zero + EDGE_A, zero, zero, True
    for w in range(2):
        i = zero
        for j in range(na if w == 0 else nb):
            g, s, L, i = edge_vertex(V, na, nb, w, j, i, slack)
            # parallel edges of both bodies tie: A's wins, whatever the rounding
            if g > best + slack:
                best, code, at, low = g, w + 1, j, i
                over = -slack <= s <= L + slack
                if g > reach:
                    return BEYOND, code, at, low
    if best > -slack:  # segments in one line are apart, though no edge says so
        w, e, k = code - 1, at, low
        n, nv = (na, nb) if w == 0 else (nb, na)
        bar = best + slack if over else best - slack  # beside the edge, vertices win a tie
        for c in range(6):
            own, other = wrap(e + c // 3, n), wrap(k + (nv - 1, zero, 1)[c % 3], nv)
            va, vb = (own, other) if w == 0 else (other, own)
            d, s = between_vertices(V, na, nb, va, vb)
            if s > bar and s >= d - slack:
                bar, code, at, low = s, zero + VERTICES, va, vb
        if code == VERTICES and bar > reach:
            return BEYOND, code, at, low
    return CONTACT, code, at, low


# ---- The contact region of two cores with radii, from a witness: one or two contact points.
#
# Edge against vertex: of the two edges at the vertex the one that lies most against the reference
# edge is cut to the width of that edge, and the ends of what is left are the contacts. An end is
# named by the vertex that makes it, its body and the edge of the other body: the name stays while
# the bodies slide, and when A's edge and B's edge swap roles. Vertex against vertex (Baraff 1989,
# 4.1): along the line between them.

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


# ---- Sides of several edges that are nearly parallel carry as one edge would.
#
# A side of a body is the most level edge at its nearest vertex with all edges that follow it,
# either way, and lean less than LEAN from that edge or from the line of contact. If either body
# has a side of several, the ends of what the two sides have in common are contacts too.

SAME_POINT = 1e-8  # of the region: an end this close to another contact is that contact
MOST_POINTS = 4  # contacts a pair can have: two of the nearest edges, two ends of the sides


@kernel
def spread(cores: TwoCores, j, i, nx, ny, limit, count, ends, names):
    """Add the ends of whole sides to the `count` contacts of two edges.

    j, i: vertices of A and of B on their sides; n: from B to A; ends
    (MOST_POINTS, 3), names (MOST_POINTS,).
    -> number of contacts, ordered along the side of A.
    """
    V, na, nb, ra, rb = cores
    slope_a, slope_b = _slope(V, 0, na, j, -1, nx, ny), _slope(V, na, nb, i, 1, nx, ny)
    a0, na0 = _walk(V, 0, na, j, -1, -1, slope_a, nx, ny)
    a1, na1 = _walk(V, 0, na, j, -1, 1, slope_a, nx, ny)
    b0, nb0 = _walk(V, na, nb, i, 1, -1, slope_b, nx, ny)
    b1, nb1 = _walk(V, na, nb, i, 1, 1, slope_b, nx, ny)
    if max(na0 + na1, nb0 + nb1) < 2:
        return count
    low_a, high_a, low_b, high_b = (
        _along(V, a0, nx, ny), _along(V, a1, nx, ny),
        _along(V, na + b0, nx, ny), _along(V, na + b1, nx, ny),
    )  # fmt: skip
    low, high = max(low_a, low_b), min(high_a, high_b)
    width = high - low
    # the nearest edges may not be those that the nearest points lie on, if others are parallel to
    # them but for rounding: then these are over the next edges of the side
    for c in range(count):
        s = nx * ends[c, 1] - ny * ends[c, 0]
        if low <= high and not low <= s <= high:
            s = min(max(s, low), high)
            ha, _ = _height(V, 0, na, j, -1, s, nx, ny)
            hb, _ = _height(V, na, nb, i, 1, s, nx, ny)
            mid = 0.5 * (ha + hb + rb - ra)
            ends[c, 0], ends[c, 1] = mid * nx - s * ny, mid * ny + s * nx
            ends[c, 2] = ha - hb - ra - rb
    if not width > POINT * max(high_a - low_a, high_b - low_b):
        return count
    least, kept = np.inf, count
    for c in range(count):
        least = min(least, ends[c, 2])
    for way in (-1, 1):
        va, vb = (a0, b0) if way < 0 else (a1, b1)
        sa, sb = (low_a, low_b) if way < 0 else (high_a, high_b)
        s = low if way < 0 else high
        mine = abs(sa - sb) <= SAME_END * width or way * (sb - sa) > 0.0
        ha, edge_a = _height(V, 0, na, j, -1, s, nx, ny)
        hb, edge_b = _height(V, na, nb, i, 1, s, nx, ny)
        while ha - hb - ra - rb > limit:  # back to the last vertex that is within it
            va = _before(V, 0, na, a1 if way < 0 else a0, -1, way, s, nx, ny)
            vb = _before(V, na, nb, b1 if way < 0 else b0, 1, way, s, nx, ny)
            sa, sb = _along(V, va, nx, ny), _along(V, na + vb, nx, ny)
            mine = way * (sa - sb) >= 0.0
            if not way * (s - (sa if mine else sb)) > 0.0:
                break
            s = sa if mine else sb
            ha, edge_a = _height(V, 0, na, j, -1, s, nx, ny)
            hb, edge_b = _height(V, na, nb, i, 1, s, nx, ny)
        gap = max(ha - hb - ra - rb, least)
        new = gap <= limit and low <= s <= high
        for c in range(kept):
            new = new and abs(s - nx * ends[c, 1] + ny * ends[c, 0]) > SAME_POINT * width
        if not new:
            continue
        place = kept
        if way > 0:  # A's side runs against u
            place = 0
            for c in range(kept, 0, -1):
                for q in range(3):
                    ends[c, q] = ends[c - 1, q]
                names[c] = names[c - 1]
        mid = 0.5 * (ha + hb + rb - ra)
        ends[place, 0], ends[place, 1] = mid * nx - s * ny, mid * ny + s * nx
        ends[place, 2] = gap
        names[place] = va * BASE + edge_b if mine else (BASE + vb) * BASE + edge_a
        kept += 1
    return kept


@kernel
def _along(V, k, nx, ny):
    """Place of vertex k along u = (-n_y, n_x), in which B's edges run and A's run against it."""
    return nx * V[k, 1] - ny * V[k, 0]


@kernel
def _slope(V, row, n, k, turn, nx, ny):
    """Slope along u of the most level edge at vertex k; turn = 1 if edges run along u, or -1."""
    best = np.inf
    for way in (-1, 1):
        q = row + wrap(k + (1 if turn * way > 0 else n - 1), n)
        ex, ey = V[q, 0] - V[row + k, 0], V[q, 1] - V[row + k, 1]
        run = nx * ey - ny * ex
        if way * run > 0.0:
            slope = (nx * ex + ny * ey) / run
            if abs(slope) < abs(best):
                best = slope
    return best


@kernel
def _walk(V, row, n, k, turn, way, slope, nx, ny):
    """The vertex at which the side of vertex k ends, `way` along u, and how many edges lie before
    it."""
    for steps in range(n - 1):
        q = wrap(k + (1 if turn * way > 0 else n - 1), n)
        ex, ey = V[row + q, 0] - V[row + k, 0], V[row + q, 1] - V[row + k, 1]
        run, rise = nx * ey - ny * ex, nx * ex + ny * ey
        if not way * run > 0.0:
            return k, steps
        if min(abs(rise), abs(rise - slope * run)) > LEAN * abs(run):
            return k, steps
        k = q
    return k, n - 1


@kernel
def _before(V, row, n, k, turn, way, s, nx, ny):
    """The last vertex after k that lies before s, `way` along u; k if none does."""
    for _ in range(n):
        q = wrap(k + (1 if turn * way > 0 else n - 1), n)
        if not way * (s - _along(V, row + q, nx, ny)) > 0.0:
            break
        if not way * (_along(V, row + q, nx, ny) - _along(V, row + k, nx, ny)) > 0.0:
            break
        k = q
    return k


@kernel
def _height(V, row, n, k, turn, s, nx, ny):
    """Height along n of the side through vertex k at the place s along u, and the edge there."""
    at = _along(V, row + k, nx, ny)
    way = 1 if s >= at else -1
    step = 1 if turn * way > 0 else n - 1
    for _ in range(n):
        q = wrap(k + step, n)
        end = _along(V, row + q, nx, ny)
        if way * (end - s) >= 0.0 or not way * (end - at) > 0.0:
            break
        k, at = q, end
    q = wrap(k + step, n)
    end = _along(V, row + q, nx, ny)
    h = nx * V[row + k, 0] + ny * V[row + k, 1]
    if way * (end - at) > 0.0:
        rise = nx * V[row + q, 0] + ny * V[row + q, 1] - h
        h += rise * min((s - at) / (end - at), 1.0)
    return h, k if step == 1 else q


NEIGHBOUR_WITNESSES = 6  # witnesses next to one: see `neighbour`
HEIGHT_ROUNDING = 1e-14  # of the bodies' size: differences of heights below it are rounding


@kernel
def contact_core_core(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Capsules (two floats) and polygons (more).

    cache: the witness (code, j, i). stats: hits, neighbours, searches.
    features: the vertex that ends the region, its body, and the edge of the other body.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < 2 * margin.size:
        return -1  # at once, while the cache is untouched
    V = np.empty((most_vertices(geom, first), 2))
    ends, names = np.empty((MOST_POINTS, 3)), np.empty(MOST_POINTS, np.int64)
    count, zero = 0, np.int64(0)  # a literal would have `load` compiled for it alone
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
        na, ra = load(numbers, first[a], first[a + 1], 0.0, 0.0, R[a, 0, 0], R[a, 1, 0], zero, V)
        nb, rb = load(numbers, first[b], first[b + 1], dx, dy, R[b, 0, 0], R[b, 1, 0], na, V)
        slack = HEIGHT_ROUNDING * (abs(V[0, 0]) + abs(V[0, 1]) + abs(V[na, 0]) + abs(V[na, 1]))
        found, code, j, i = _witness(V, na, nb, margin[k] + ra + rb, slack, cache, k, stats)
        cache[k, 0], cache[k, 1], cache[k, 2] = code, j, i
        if found == BEYOND:
            continue
        if code == VERTICES:
            n, nx, ny = between(V, na, nb, j, i, ra, rb, margin[k], ends, names)
        else:
            n, nx, ny = region(V, na, nb, code - 1, j, i, ra, rb, margin[k], ends, names)
        va, vb = (i, j) if code == EDGE_B else (j, i)
        n = spread(TwoCores(V, na, nb, ra, rb), va, vb, nx, ny, margin[k], n, ends, names)
        if count + n > which.shape[0]:
            return -1
        for e in range(n):
            which[count], feature[count], gap[count] = k, names[e], ends[e, 2]
            normal[count, 0], normal[count, 1] = nx, ny
            point[count, 0], point[count, 1] = x[a, 0] + ends[e, 0], x[a, 1] + ends[e, 1]
            count += 1
    return count


@kernel
def _witness(V, na, nb, reach, slack, cache, k, stats):
    """The cached witness, one next to it, or one searched for: (CONTACT or BEYOND, code, j, i)."""
    old, oj, oi = int(cache[k, 0]), int(cache[k, 1]), int(cache[k, 2])
    for c in range(-1, NEIGHBOUR_WITNESSES if old != 0 else -1):
        code, j, i = old, oj, oi
        if c >= 0:
            code, j, i = neighbour(na, nb, old, oj, oi, c)
        if code == 0:
            break
        found, i = prove(V, na, nb, code, j, i, reach, slack)
        if found != NO:
            stats[0 if c < 0 else 1] += 1
            return found, code, j, i
    stats[2] += 1
    return search(V, na, nb, reach, slack)
