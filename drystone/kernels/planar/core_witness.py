"""Witnesses of two cores: an edge of one and a vertex of the other, or a vertex of each.

A witness is a triple (code, j, i): code 1 = edge j of A and vertex i of B, 2 = edge j of B and
vertex i of A, 3 = vertex j of A and vertex i of B. `prove` says whether a witness gives the
signed distance by itself; `search` finds one with a look at everything.

Apart, a local maximum of the separation is the only one, so the foot inside the edge is proof.
Overlapping (depth d = -g >= 0) another edge could be less deep. But the pairs of points of A and
B known at the witness bound the separation in every direction n that makes the angle alpha with
m: -d cos alpha - l sin alpha, with l the distance of the foot from the nearer end of the edge.
That is at most -d unless tan(alpha/2) > l/d; and in the small cone about -m that is left, two
points at the far sides of the bodies are in each other's way.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import edge_vertex
from drystone.kernels.planar.cycle import wrap

NO, CONTACT, BEYOND = 0, 1, 2
EDGE_A, EDGE_B, VERTICES = 1, 2, 3
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
