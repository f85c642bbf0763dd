"""Full search for the witness of two cores, in time linear in their edges.

The edges of one body are gone through in order; the lowest vertex of the other follows them
round (rotating calipers). The greatest separation g over all edges of both bodies is the depth
if it is negative; if it is positive, its edge touches the closest pair of features.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import edge, edge_vertex
from drystone.kernels.planar.core_witness import BEYOND, CONTACT, EDGE_A, TOUCH, VERTICES
from drystone.kernels.planar.cycle import wrap

TIE = 1e-14  # of a distance squared


@kernel
def search(V, na, nb, reach, slack):
    """(CONTACT or BEYOND, code, j, i): the witness of the signed distance."""
    zero = np.int64(0)  # not a literal: the kernels called would be compiled for it alone
    best, code, at, low = -np.inf, zero + EDGE_A, zero, zero
    for w in range(2):
        i = zero
        for j in range(na if w == 0 else nb):
            g, _, _, i = edge_vertex(V, na, nb, w, j, i, slack)
            # parallel edges of both bodies tie: A's wins, whatever the rounding
            if g > best + slack:
                best, code, at, low = g, w + 1, j, i
                if g > reach:
                    return BEYOND, code, at, low
    if best > -slack:  # segments in one line are apart, though no edge says so
        code, at, low, d2 = _closest(V, na, nb, code - 1, at, low)
        if d2 > reach * reach:
            return BEYOND, code, at, low
    return CONTACT, code, at, low


@kernel
def _closest(V, na, nb, w, j, i):
    """Closest features among edge j of body w and the edges at vertex i of the other: a witness
    and the distance squared.

    A foot inside an edge wins a tie with its end; where vertices touch, edge j itself separates.
    """
    n, nv = (na, nb) if w == 0 else (nb, na)
    inside, ends = np.inf, np.inf
    code, at, low, va, vb = w + 1, j, i, j, i
    for c in range(7):
        if c < 3:  # vertices i, i + 1, i - 1 and the edge
            u, e, k = w, j, (i if c == 0 else wrap(i + (1 if c == 1 else nv - 1), nv))
        else:  # the ends of the edge and the edges at i
            u, e = 1 - w, (i if c < 5 else wrap(i + nv - 1, nv))
            k = wrap(j + (c - 3) % 2, n)
        d2, end, touch = _edge_point(V, na, nb, u, e, k)
        if touch and c < 3:
            return w + 1, j, k, d2
        if end < 0 and d2 < inside:
            inside, code, at, low = d2, u + 1, e, k
        elif end >= 0 and d2 < ends:
            ends = d2
            va, vb = (end, k) if u == 0 else (k, end)
    if ends < inside * (1.0 - TIE):
        return VERTICES, va, vb, ends
    return code, at, low, inside


@kernel
def _edge_point(V, na, nb, u, e, k):
    """Of vertex k of the other body and edge e of body u: the distance squared; the vertex that
    is the nearer end of the edge, or -1 if the foot is inside; whether they touch."""
    row, n, at = (0, na, na + k) if u == 0 else (na, nb, k)
    px, py, tx, ty, L = edge(V, row, n, e)
    dx, dy = V[at, 0] - px, V[at, 1] - py
    g, s = ty * dx - tx * dy, tx * dx + ty * dy
    out = -s if s < 0.0 else (s - L if s > L else 0.0)
    d2 = g * g + out * out
    end = -1 if out == 0.0 else (e if s < 0.0 else wrap(e + 1, n))
    return d2, end, d2 <= TOUCH * TOUCH * L * L
