"""Cores in the plane: the vertices of a polygon, or the two ends of a capsule's segment.

Both bodies of a pair are seen from the centre of A in world axes, through two small tables:
core[w] = (first float, number of vertices) and pose[w] = (R00, R01, R10, R11, x, y, size), where
size is a length that bounds rounding errors; w is 0 for A and 1 for B. Vertices are transformed
when asked for, so a witness that holds is checked without a look at the whole body (G3).

With m the outer normal of an edge of one body (the reference), t = (-m_y, m_x) its tangent, v_0
its start and q_i the vertex of the other body that is lowest along m,
    g = m.(q_i - v_0),  s = t.(q_i - v_0),  L = length of the edge.
g is a lower bound of the distance, and the distance itself if q_i is above the edge and g > 0.
"""

import numpy as np

from drystone.kernels._jit import kernel

SLACK = 1e-14  # of the size: differences of heights below it are rounding


@kernel
def load(numbers, first, x, R, a, b, core, pose):
    """Fill the tables of a pair; the sum of the two radii' parts: (radius of A, radius of B)."""
    radius_a = _load_one(numbers, first, R, a, 0, core, pose)
    radius_b = _load_one(numbers, first, R, b, 1, core, pose)
    dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
    pose[0, 4], pose[0, 5], pose[1, 4], pose[1, 5] = 0.0, 0.0, dx, dy
    px, py = vertex(numbers, core, pose, 0, 0)
    qx, qy = vertex(numbers, core, pose, 1, 0)
    size = abs(dx) + abs(dy) + abs(px) + abs(py) + abs(qx) + abs(qy)
    pose[0, 6], pose[1, 6] = size, size
    return radius_a, radius_b


@kernel
def _load_one(numbers, first, R, g, w, core, pose):
    start, floats = first[g], first[g + 1] - first[g]
    core[w, 0] = start
    pose[w, 0], pose[w, 1], pose[w, 2], pose[w, 3] = R[g, 0, 0], R[g, 0, 1], R[g, 1, 0], R[g, 1, 1]
    if floats == 2:
        core[w, 1] = 2
        return numbers[start + 1]
    core[w, 1] = floats // 2
    return 0.0


@kernel
def vertex(numbers, core, pose, w, i):
    """Vertex i of body w."""
    start = core[w, 0]
    if core[w, 1] == 2:
        lx, ly = numbers[start] * (2 * i - 1), 0.0
    else:
        lx, ly = numbers[start + 2 * i], numbers[start + 2 * i + 1]
    return (
        pose[w, 4] + (pose[w, 0] * lx + pose[w, 1] * ly),
        pose[w, 5] + (pose[w, 2] * lx + pose[w, 3] * ly),
    )


@kernel
def lowest(numbers, core, pose, w, i, mx, my):
    """Vertex of body w that is lowest along m, by climbing down from vertex i, and its height.

    A neighbour that is lower by rounding only does not count: parallel edges keep their vertex.
    """
    nv, slack = core[w, 1], SLACK * pose[w, 6]
    vx, vy = vertex(numbers, core, pose, w, i)
    h = mx * vx + my * vy
    for step in (1, nv - 1):
        for _ in range(nv):
            j = (i + step) % nv
            vx, vy = vertex(numbers, core, pose, w, j)
            lower = mx * vx + my * vy
            if not lower < h - slack:
                break
            i, h = j, lower
    return i, h


@kernel
def edge(numbers, core, pose, w, j):
    """Start, tangent and length of edge j of body w; its outer normal is (t_y, -t_x)."""
    i = j + 1
    if i == core[w, 1]:
        i = 0
    px, py = vertex(numbers, core, pose, w, j)
    qx, qy = vertex(numbers, core, pose, w, i)
    ex, ey = qx - px, qy - py
    L = np.sqrt(ex * ex + ey * ey)
    return px, py, ex / L, ey / L, L


@kernel
def edge_vertex(numbers, core, pose, w, j, i):
    """(g, s, L, i) of edge j of body w and the lowest vertex i of the other, climbed to from i."""
    px, py, tx, ty, L = edge(numbers, core, pose, w, j)
    i, h = lowest(numbers, core, pose, 1 - w, i, ty, -tx)
    qx, qy = vertex(numbers, core, pose, 1 - w, i)
    return h - (ty * px - tx * py), tx * (qx - px) + ty * (qy - py), L, i
