"""Full search for the witness of two cores, in time linear in their edges.

The edges of one body are gone through in order; the lowest vertex of the other follows them
round (rotating calipers). The greatest separation g over all edges of both bodies is the depth
if it is negative; if it is positive, its edge touches the closest pair of features.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import SLACK, edge, edge_vertex, vertex
from drystone.kernels.planar.core_witness import BEYOND, CONTACT, EDGE_A, EDGE_B, TOUCH, VERTICES


@kernel
def search(numbers, core, pose, reach):
    """(CONTACT or BEYOND, code, j, i): the witness of the signed distance."""
    best, code, at, low = -np.inf, EDGE_A, 0, 0
    slack = SLACK * pose[0, 6]
    for w in range(2):
        i = 0
        for j in range(core[w, 1]):
            g, _, _, i = edge_vertex(numbers, core, pose, w, j, i)
            # parallel edges of both bodies tie: A's wins, whatever the rounding
            if g > best + slack:
                best, code, at, low = g, w + 1, j, i
                if g > reach:
                    return BEYOND, code, at, low
    if best > -slack:  # segments in one line are apart, though no edge says so
        code, at, low, d2 = _closest(numbers, core, pose, code - 1, at, low)
        if d2 > reach * reach:
            return BEYOND, code, at, low
    return CONTACT, code, at, low


@kernel
def _closest(numbers, core, pose, w, j, i):
    """Closest features among edge j of body w and the edges at vertex i of the other: a witness
    and the distance squared."""
    o, nw, no = 1 - w, core[w, 1], core[1 - w, 1]
    best, first = np.inf, True
    code, at, low = w + 1, j, i
    for c in range(5):
        if c == 0:
            u, e, k = w, j, i
        elif c < 3:
            u, e, k = w, j, (i + (1 if c == 1 else no - 1)) % no
        else:
            u, e, k = o, (i if c == 3 else (i + no - 1) % no), j
        for end in range(2 if c >= 3 else 1):
            k = (k + end) % nw if c >= 3 else k
            d2, inside, near = _edge_point(numbers, core, pose, u, e, k)
            if d2 < best or (d2 <= best and inside and not first):
                best, first = d2, inside
                code, at, low = _name(core, u, e, k, inside, near)
    return code, at, low, best


@kernel
def _name(core, u, e, k, inside, near):
    """Witness of vertex k of the other body and edge e of body u, or its end number `near`."""
    if inside:
        return (EDGE_A if u == 0 else EDGE_B), e, k
    end = (e + near) % core[u, 1]
    return (VERTICES, end, k) if u == 0 else (VERTICES, k, end)


@kernel
def _edge_point(numbers, core, pose, u, e, k):
    """Distance squared of vertex k to edge e of body u; whether its foot is inside; nearer end.

    Feet within TOUCH of an end that almost coincides with the vertex count as inside: two such
    points have no direction between them.
    """
    px, py, tx, ty, L = edge(numbers, core, pose, u, e)
    qx, qy = vertex(numbers, core, pose, 1 - u, k)
    g, s = ty * (qx - px) - tx * (qy - py), tx * (qx - px) + ty * (qy - py)
    out = -s if s < 0.0 else (s - L if s > L else 0.0)
    d2 = g * g + out * out
    inside = out == 0.0 or d2 <= TOUCH * TOUCH * L * L
    return d2, inside, 0 if s < 0.0 else 1
