"""Faces and vertices of a core that can be extremal to an ellipse, in the axes of the ellipse.

Names and signs as in ``ellipse_core``. best (3,): out, (g, n) of the feature found. Features:
face j is j + 1, vertex j is -(j + 1), 0 is none. frame (10,) as in ``ellipse_core``.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.ellipse import CLOSE, WIDEST, least_radius, support, turned

STEPS = 80  # Newton takes 2 to 5; bisection alone about 55


@kernel
def walk(numbers, start, nv, frame, j, guess, reach, best, stats):
    """From face j along rising g to a local maximum, if it is proven to be the only one."""
    came = 0  # -1: from the next face, whose s < 0; 1: from the one before, whose s > L
    for _ in range(nv + 1):
        g, s, L, mx, my = _face(numbers, start, nv, frame, j)
        if g > reach or 0.0 <= s <= L:
            best[0], best[1], best[2] = g, mx, my
            return j + 1 if g > -least_radius(frame[0], frame[1]) else 0
        go = -1 if s < 0.0 else 1
        if came * go < 0:  # the slope changes sign between the two faces
            i = j if go < 0 else (j + 1 if j + 1 < nv else 0)
            _root(numbers, start, nv, frame, i, guess, best, stats)
            return -(i + 1) if best[0] > -least_radius(frame[0], frame[1]) else 0
        came = go
        j += go
        j = j - nv if j >= nv else (j + nv if j < 0 else j)
    return 0


@kernel
def search(numbers, start, nv, frame, guess, reach, best, stats):
    """The local maximum of g that is greatest of all, over all faces and vertices."""
    found, top, tx, ty = 0, -np.inf, 0.0, 0.0
    _, s, L, _, _ = _face(numbers, start, nv, frame, nv - 1)
    rises = s > L
    for j in range(nv):
        g, s, L, mx, my = _face(numbers, start, nv, frame, j)
        if g > reach:
            best[0], best[1], best[2] = g, mx, my
            return j + 1
        if g > top:  # any face bounds g from below, so a maximum on a vertex must be greater
            found, top, tx, ty = j + 1, g, mx, my
        if rises and s < 0.0:
            _root(numbers, start, nv, frame, j, guess, best, stats)
            if best[0] > top:
                found, top, tx, ty = -(j + 1), best[0], best[1], best[2]
        rises = s > L
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
    qx, qy = _vertex(numbers, start, nv, frame, j + 1 if j + 1 < nv else 0)
    ex, ey = qx - px, qy - py
    L = np.sqrt(ex * ex + ey * ey)
    tx, ty = ex / L, ey / L
    h, dh, _ = support(frame[0], frame[1], ty, -tx)
    return -(ty * px - tx * py) - h, -(tx * px + ty * py) - dh, L, ty, -tx


@kernel
def _root(numbers, start, nv, frame, i, guess, best, stats):
    """Maximum of g on vertex i: Newton from the guess inside the bracket of the two normals."""
    _, _, _, lx, ly = _face(numbers, start, nv, frame, i - 1 if i > 0 else nv - 1)
    _, _, _, rx, ry = _face(numbers, start, nv, frame, i)
    vx, vy = _vertex(numbers, start, nv, frame, i)
    nx, ny = guess[0], guess[1]
    predicted = guess[2] != 0.0 and lx * ny - ly * nx > 0.0 and nx * ry - ny * rx > 0.0
    if not predicted:
        nx, ny = _middle(lx, ly, rx, ry)
    halved = False
    for _ in range(STEPS):
        h, dh, rho = support(frame[0], frame[1], nx, ny)
        g, slope = -(nx * vx + ny * vy) - h, ny * vx - nx * vy - dh
        stats[3] += 1
        if slope > 0.0:
            lx, ly = nx, ny
        else:
            rx, ry = nx, ny
        if g + rho > 0.0 and abs(slope) < WIDEST * (g + rho):
            step = slope / (g + rho)
            x, y = turned(nx, ny, step)
            if lx * y - ly * x >= 0.0 and x * ry - y * rx >= 0.0:
                nx, ny = x, y
                if abs(step) < CLOSE:
                    break
                continue
        halved = True
        nx, ny = _middle(lx, ly, rx, ry)
        if lx * ry - ly * rx < 1e-16 and lx * rx + ly * ry > 0.0:
            break
    stats[4] += 1 if predicted and not halved else 0
    stats[5] += 1 if halved else 0
    h, _, _ = support(frame[0], frame[1], nx, ny)
    best[0], best[1], best[2] = -(nx * vx + ny * vy) - h, nx, ny


@kernel
def _middle(lx, ly, rx, ry):
    """Direction halfway from l to r, which is up to half a turn counter-clockwise of l."""
    x, y = lx + rx, ly + ry
    d = np.sqrt(x * x + y * y)
    if d > 1e-6:
        return x / d, y / d
    return -ly, lx
