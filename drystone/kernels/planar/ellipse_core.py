"""Ellipses with capsules and polygons: faces, then vertices, the cached feature first.

In the axes of the ellipse, with the separation g(n) and its slope g' = t.(p_a - p_b) as in
``ellipse``: g' jumps down by the length L_j of an edge at its normal m_j, and between two such
normals the support of the core is one vertex. With s_j = g' just before m_j, a local maximum is
    on face j    if 0 <= s_j <= L_j,
    on vertex j  if the maximum for that vertex alone lies between m_(j-1) and m_j.
It is the only one while g > -(least radius of curvature), see ``ellipse``.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
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

# ---- Faces and vertices of a core that can be extremal to an ellipse, in the axes of the ellipse.
#
# Names and signs as in ``ellipse_core``. best (3,): out, (g, n) of the feature found. Features:
# face j is j + 1, vertex j is -(j + 1), 0 is none. frame (10,) as in ``ellipse_core``; pair (10,)
# as in ``ellipse.separation``, with the ellipse at the origin and a point as B.

INSIDE, LEFT, RIGHT, UNPROVEN = 0, 1, 2, 3  # where the extremal point of an edge's line lies


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


@kernel
def contact_ellipse_core(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Contract in ``drystone.geometry.narrow``; B: a capsule (two floats) or a polygon (more).

    cache: 0 = face j as j + 1, vertex j as -(j + 1); the normal in world axes (2); its turn since
    the time before (2). stats: hits, neighbours, searches, iterations, predicted, fallbacks,
    separated.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < margin.size:
        return -1  # at once, while the cache is untouched
    frame, guess, best, pair = np.empty(10), np.empty(3), np.empty(3), np.zeros(10)
    pair[4], pair[8] = 1.0, 1.0
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        start, nv, rb = first[b], (first[b + 1] - first[b]) // 2, 0.0
        if nv == 1:
            nv, rb = 2, numbers[start + 1]
        _load(numbers, first, x, R, a, b, frame)
        pair[2], pair[3] = frame[0], frame[1]
        _predict(cache, k, frame, guess)
        reach = margin[k] + rb
        old, found = int(cache[k, 0]), 0
        if old != 0:
            found = walk(numbers, start, nv, frame, old, guess, reach, pair, best, stats)
            if found != 0:
                stats[0 if found == old else 1] += 1
        if found == 0:
            stats[2] += 1
            found = search(numbers, start, nv, frame, guess, reach, pair, best, stats)
        g, nx, ny = best[0], best[1], best[2]
        c, s = frame[8], frame[9]
        _remember(cache, k, found, c * nx - s * ny, s * nx + c * ny)
        if g > reach:
            stats[6] += 1
            continue
        h = np.sqrt(frame[0] * frame[0] * nx * nx + frame[1] * frame[1] * ny * ny)
        half = 0.5 * (g - rb)
        px, py = -(frame[0] * frame[0] / h + half) * nx, -(frame[1] * frame[1] / h + half) * ny
        which[count], feature[count], gap[count] = k, 0, g - rb
        normal[count, 0], normal[count, 1] = c * nx - s * ny, s * nx + c * ny
        point[count, 0], point[count, 1] = x[a, 0] + c * px - s * py, x[a, 1] + s * px + c * py
        count += 1
    return count


@kernel
def _load(numbers, first, x, R, a, b, frame):
    """frame (10,): semi-axes of A; B's axes (4, by rows) and origin (2) in those of A; A's own
    first axis (2)."""
    c, s = R[a, 0, 0], R[a, 1, 0]
    dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
    frame[0], frame[1] = numbers[first[a]], numbers[first[a] + 1]
    for i in range(2):
        frame[2 + i] = c * R[b, 0, i] + s * R[b, 1, i]
        frame[4 + i] = c * R[b, 1, i] - s * R[b, 0, i]
    frame[6], frame[7] = c * dx + s * dy, c * dy - s * dx
    frame[8], frame[9] = c, s


@kernel
def _predict(cache, k, frame, guess):
    """guess (3,): the cached normal turned on, in the axes of A; whether there is one."""
    x = cache[k, 1] * cache[k, 3] - cache[k, 2] * cache[k, 4]
    y = cache[k, 1] * cache[k, 4] + cache[k, 2] * cache[k, 3]
    guess[0], guess[1] = frame[8] * x + frame[9] * y, frame[8] * y - frame[9] * x
    guess[2] = 1.0 if cache[k, 0] != 0.0 else 0.0


@kernel
def _remember(cache, k, found, nx, ny):
    """Keep feature, normal and its turn; a turn of more than a right angle is a new start."""
    c, s = 1.0, 0.0
    if cache[k, 0] != 0.0:
        c, s = cache[k, 1] * nx + cache[k, 2] * ny, cache[k, 1] * ny - cache[k, 2] * nx
        if c < 0.0:
            c, s = 1.0, 0.0
    cache[k, 0], cache[k, 1], cache[k, 2], cache[k, 3], cache[k, 4] = found, nx, ny, c, s
