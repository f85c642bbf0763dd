"""Witnesses of two cores: an edge of one and a vertex of the other, or a vertex of each (G3).

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
from drystone.kernels.planar.core import edge, edge_vertex, vertex

NO, CONTACT, BEYOND = 0, 1, 2
EDGE_A, EDGE_B, VERTICES = 1, 2, 3
TOUCH = 1e-10  # of an edge: vertices closer than this have no direction between them


@kernel
def prove(numbers, core, pose, code, j, i, reach):
    """(NO, CONTACT or BEYOND the reach; i brought up to date) of a witness."""
    if code == VERTICES:
        return _prove_vertices(numbers, core, pose, j, i, reach), i
    w = code - 1
    g, s, L, i = edge_vertex(numbers, core, pose, w, j, i)
    if g > reach:
        return BEYOND, i
    if g > 0.0:
        return CONTACT if 0.0 <= s <= L else NO, i
    if _least_depth(numbers, core, pose, w, j, i, g, s, L):
        return CONTACT, i
    return NO, i


@kernel
def _prove_vertices(numbers, core, pose, j, i, reach):
    """Whether the line between the vertices lies in the normal cones of both."""
    ax, ay = vertex(numbers, core, pose, 0, j)
    bx, by = vertex(numbers, core, pose, 1, i)
    nx, ny = ax - bx, ay - by
    least = np.inf
    for w in range(2):
        nv, at = core[w, 1], j if w == 0 else i
        ox, oy, sign = (ax, ay, 1.0) if w == 0 else (bx, by, -1.0)
        for step in (1, nv - 1):
            px, py = vertex(numbers, core, pose, w, (at + step) % nv)
            ex, ey = px - ox, py - oy
            if sign * (nx * ex + ny * ey) < 0.0:
                return NO
            least = min(least, ex * ex + ey * ey)
    d2 = nx * nx + ny * ny
    if d2 <= TOUCH * TOUCH * least:
        return NO
    return BEYOND if d2 > reach * reach else CONTACT


@kernel
def _least_depth(numbers, core, pose, w, j, i, g, s, L):
    """Whether no direction separates better than edge j, in which vertex i is -g >= 0 deep."""
    d, o = -g, 1 - w
    px, py, tx, ty, L = edge(numbers, core, pose, w, j)
    nv = core[o, 1]
    after, before = L - s, s  # room towards the end and the start of the edge
    for side in range(2):
        # the neighbour of i on the other side leaves more room if it is as deep but for rounding
        qx, qy = vertex(numbers, core, pose, o, (i + 1) % nv if side == 0 else (i + nv - 1) % nv)
        along = tx * (qx - px) + ty * (qy - py)
        rise = max(ty * (qx - px) - tx * (qy - py) - g, 0.0)
        room = L - along if side == 0 else along
        if room > 0.0 and d * rise * rise <= 1e-15 * L * room * room:
            if side == 0:
                after = max(after, 0.5 * room)
            else:
                before = max(before, 0.5 * room)
    room = min(after, before)
    if not room > 4.0 * d:
        return d == 0.0 and room >= 0.0
    beta = 2.0 * d / room
    px, py = vertex(numbers, core, pose, w, (j + core[w, 1] // 2 + 1) % core[w, 1])
    qx, qy = vertex(numbers, core, pose, o, (i + nv // 2) % nv)
    up, across = ty * (qx - px) - tx * (qy - py), abs(tx * (qx - px) + ty * (qy - py))
    return up * (1.0 - 0.5 * beta * beta) - across * beta >= d


@kernel
def neighbour(core, code, j, i, c):
    """Witness number c = 0 ... 5 next to (code, j, i); with code 0 there is none."""
    na, nb = core[0, 1], core[1, 1]
    if code == VERTICES:
        if c < 2:
            return EDGE_A, (j + na - c) % na, i
        if c < 4:
            return EDGE_B, (i + nb - (c - 2)) % nb, j
        return 0, 0, 0
    own, other = (na, nb) if code == EDGE_A else (nb, na)
    if c < 2:
        return code, (j + (1 if c == 0 else own - 1)) % own, i
    if c < 4:
        return 3 - code, (i + other - (c - 2)) % other, j
    end = (j + c - 4) % own
    return (VERTICES, end, i) if code == EDGE_A else (VERTICES, i, end)
