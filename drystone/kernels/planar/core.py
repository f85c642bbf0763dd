"""Cores in the plane: the vertices of a polygon, or the two ends of a capsule's segment.

Both cores of a pair are seen from the centre of A in world axes: rows 0 ... na - 1 of V are the
vertices of A, the nb rows after them those of B. w is 0 for A and 1 for B.

With m the outer normal of an edge of one body (the reference), t = (-m_y, m_x) its tangent, v_0
its start and q_i the vertex of the other body that is lowest along m,
    g = m.(q_i - v_0),  s = t.(q_i - v_0),  L = length of the edge.
g is a lower bound of the distance, and the distance itself if q_i is above the edge and g > 0.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.cycle import wrap


class TwoCores(NamedTuple):
    """V, the numbers of vertices na and nb, and the radii ra and rb about the cores."""

    V: Any
    na: Any
    nb: Any
    ra: Any
    rb: Any


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
