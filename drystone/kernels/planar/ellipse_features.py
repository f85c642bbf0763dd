"""Faces and vertices of a core that can be extremal to an ellipse, in the axes of the ellipse.

Names and signs as in ``ellipse_core``. best (3,): out, (g, n) of the feature found. Features:
face j is j + 1, vertex j is -(j + 1), 0 is none. frame (10,) as in ``ellipse_core``; pair (10,)
as in ``ellipse.separation``, with the ellipse at the origin and a point as B.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.cycle import wrap
from drystone.kernels.planar.ellipse import (
    everywhere,
    in_cone,
    least_radius,
    line_of_centres,
    newton,
    separation,
    support,
)

INSIDE, LEFT, RIGHT, UNPROVEN = 0, 1, 2, 3


@kernel
def walk(numbers, start, nv, frame, old, guess, reach, pair, best, stats):
    """The feature `old` or one near it, along rising g, if it is proven to be the maximum."""
    found = old
    for _ in range(4):
        j = abs(found) - 1
        after = wrap(j + 1, nv)
        if found > 0:
            g, s, L, mx, my = _face(numbers, start, nv, frame, j)
            if g > reach or (0.0 <= s <= L and g > -least_radius(frame[0], frame[1])):
                best[0], best[1], best[2] = g, mx, my
                return found
            found = -(j + 1) if s < 0.0 else -(after + 1)
        else:
            where = _vertex_maximum(numbers, start, nv, frame, j, guess, pair, best, stats)
            if where == INSIDE:
                return found
            if where == UNPROVEN:
                return 0
            found = j + 1 if where == RIGHT else (j if j > 0 else nv)
    return 0


@kernel
def search(numbers, start, nv, frame, guess, reach, pair, best, stats):
    """The greatest g over all faces and vertices. Any direction bounds it from below, so faces
    count without a look at their slopes."""
    found, top, tx, ty = 0, -np.inf, 0.0, 0.0
    for j in range(nv):
        g, _, _, mx, my = _face(numbers, start, nv, frame, j)
        if g > top:
            found, top, tx, ty = j + 1, g, mx, my
    proof = -least_radius(frame[0], frame[1])
    for deep in range(2):  # the deep need a search on every vertex
        if top > reach or (deep == 1 and top > proof):
            break
        for j in range(nv):
            if deep == 0:
                where = _vertex_maximum(numbers, start, nv, frame, j, guess, pair, best, stats)
            else:
                where = _vertex_search(numbers, start, nv, frame, j, pair, best, stats)
            if where == INSIDE and best[0] > top:
                found, top, tx, ty = -(j + 1), best[0], best[1], best[2]
    best[0], best[1], best[2] = top, tx, ty
    return found


@kernel
def _vertex(numbers, start, nv, frame, j):
    if nv == 2:
        x, y = numbers[start] * (2 * j - 1), 0.0
    else:
        x, y = numbers[start + 2 * j], numbers[start + 2 * j + 1]
    return (
        frame[6] + (frame[2] * x + frame[3] * y),
        frame[7] + (frame[4] * x + frame[5] * y),
    )


@kernel
def _face(numbers, start, nv, frame, j):
    """(g, s, L, m) of face j: separation, slope just before it, length, outer normal."""
    px, py = _vertex(numbers, start, nv, frame, j)
    qx, qy = _vertex(numbers, start, nv, frame, wrap(j + 1, nv))
    ex, ey = qx - px, qy - py
    L = np.sqrt(ex * ex + ey * ey)
    tx, ty = ex / L, ey / L
    h, dh, _ = support(frame[0], frame[1], ty, -tx)
    return -(ty * px - tx * py) - h, -(tx * px + ty * py) - dh, L, ty, -tx


@kernel
def _vertex_maximum(numbers, start, nv, frame, i, guess, pair, best, stats):
    """Maximum of g for vertex i alone, by Newton from the guess.

    -> INSIDE its normal cone; nearer to the face on its LEFT (before it) or RIGHT; or UNPROVEN.
    """
    _, _, _, lx, ly = _face(numbers, start, nv, frame, wrap(i + nv - 1, nv))
    _, _, _, rx, ry = _face(numbers, start, nv, frame, i)
    vx, vy = _vertex(numbers, start, nv, frame, i)
    pair[0], pair[1] = -vx, -vy
    nx, ny = guess[0], guess[1]
    predicted = guess[2] != 0.0 and in_cone(lx, ly, nx, ny, rx, ry)
    if not predicted:
        nx, ny = line_of_centres(pair)
    arrived, nx, ny, n = newton(pair, nx, ny)
    stats[3] += n
    g, _, _ = separation(pair, nx, ny)
    if not (arrived and g > -least_radius(frame[0], frame[1])):
        return UNPROVEN
    if not in_cone(lx, ly, nx, ny, rx, ry):
        return LEFT if nx * lx + ny * ly > nx * rx + ny * ry else RIGHT
    stats[4] += 1 if predicted else 0
    best[0], best[1], best[2] = g, nx, ny
    return INSIDE


@kernel
def _vertex_search(numbers, start, nv, frame, i, pair, best, stats):
    """The same where the ellipse is deep: by a search in the cone of normals."""
    _, _, _, lx, ly = _face(numbers, start, nv, frame, wrap(i + nv - 1, nv))
    _, _, _, rx, ry = _face(numbers, start, nv, frame, i)
    vx, vy = _vertex(numbers, start, nv, frame, i)
    pair[0], pair[1] = -vx, -vy
    stats[5] += 1
    found, nx, ny = everywhere(pair, lx, ly, rx, ry)
    g, _, _ = separation(pair, nx, ny)
    best[0], best[1], best[2] = g, nx, ny
    return INSIDE if found else UNPROVEN
