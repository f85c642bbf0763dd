"""Full search for the witness of two cores, in time linear in their edges.

The edges of one body are gone through in order; the lowest vertex of the other follows them
round (rotating calipers). The greatest separation g over all edges of both bodies is the depth
if it is negative. If it is positive, it is the distance, or two vertices are nearest: between the
normals of their edges the separation is a cosine, so the best edge is one beside them.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import edge_vertex
from drystone.kernels.planar.core_witness import (
    BEYOND,
    CONTACT,
    EDGE_A,
    VERTICES,
    between_vertices,
)
from drystone.kernels.planar.cycle import wrap


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
