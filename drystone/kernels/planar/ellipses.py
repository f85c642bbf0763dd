"""Ellipses with each other, and with disks, capsules and polygons, by extremal points."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.planar.cores import wrap

# ---- The ellipse as a support function, and extremal points of two ellipses.
#
# A strictly convex body touches its tangent with the outer normal n in one point. So the extremal
# points of A and B are known once the normal n (from B to A) is: p_a is where A's outer normal is
# -n, p_b where B's is n, and E1 to E3 of (5-2) hold by construction. What remains of E4 is one
# equation in the angle of n: with t = (-n_y, n_x) and the separation g = n.(p_a - p_b),
#     g' = t.(p_a - p_b) = 0,    g'' = -(g + rho_a + rho_b),
# rho the radii of curvature. The signed extreme distance is the greatest g of all directions: the
# spurious roots (the global maximum of the distance among them) have g'' > 0 or a lesser g.
# An ellipse is a smaller convex body fattened by its least radius of curvature; so while
# g > -(least rho_a + least rho_b) the smaller bodies are apart and a local maximum is the only one.

NEWTON_STEPS = 12  # of Newton, which takes 1 to 5; the bracket takes over after them
LAST_STEP = 1e-8  # [rad]: Newton's error after such a step is its square
LONGEST_STEP = 0.5  # [rad]: longer steps leave the basin of the root
BRACKET_STEPS = 80  # halvings that leave nothing but rounding


@kernel
def support(a, b, u, v):
    """Of an ellipse and the direction (u, v) in its axes: h = greatest n.p, h' and rho.

    A point is an ellipse of no size.
    """
    h = np.sqrt(a * a * u * u + b * b * v * v)
    if h == 0.0:
        return 0.0, 0.0, 0.0
    return h, (b * b - a * a) * u * v / h, (a * b / h) * (a * b / h) / h


@kernel
def least_radius(a, b):
    """Of curvature."""
    return b * b / a if a > b else (a * a / b if b > 0.0 else 0.0)


@kernel
def turned(nx, ny, angle):
    """Unit vector turned by a small angle (by 2 atan(angle / 2), which is as good for Newton)."""
    q = 0.25 * angle * angle
    c, s = (1.0 - q) / (1.0 + q), angle / (1.0 + q)
    x, y = c * nx - s * ny, s * nx + c * ny
    f = 1.5 - 0.5 * (x * x + y * y)  # one step to norm 1, which is only rounding away
    return f * x, f * y


@kernel
def separation(pair, nx, ny):
    """(g, g', rho_a + rho_b) in the direction n. pair (10,): distance of centres A - B (2), then
    a, b and the first axis (2) of each."""
    ha, da, ra = support(pair[2], pair[3], nx * pair[4] + ny * pair[5], ny * pair[4] - nx * pair[5])
    hb, db, rb = support(pair[6], pair[7], nx * pair[8] + ny * pair[9], ny * pair[8] - nx * pair[9])
    g = nx * pair[0] + ny * pair[1] - ha - hb
    return g, nx * pair[1] - ny * pair[0] - da - db, ra + rb


@kernel
def newton(pair, nx, ny):
    """Newton from n: (whether it arrived at a local maximum of g, n, evaluations)."""
    for k in range(NEWTON_STEPS):
        g, slope, rho = separation(pair, nx, ny)
        if not g + rho > 0.0:
            return False, nx, ny, k + 1
        step = slope / (g + rho)
        if abs(step) > LONGEST_STEP:
            step = LONGEST_STEP if step > 0.0 else -LONGEST_STEP
        nx, ny = turned(nx, ny, step)
        if abs(step) < LAST_STEP:
            return True, nx, ny, k + 1
    return False, nx, ny, NEWTON_STEPS


@kernel
def line_of_centres(pair):
    """First guess: mean of the two normals where the line of centres leaves the ellipses."""
    nx, ny = 0.0, 0.0
    for at in (2, 6):
        a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
        if a == 0.0:
            continue
        u, v = (c * pair[0] + s * pair[1]) / (a * a), (c * pair[1] - s * pair[0]) / (b * b)
        d = np.sqrt(u * u + v * v)
        if d > 0.0:
            nx += (c * u - s * v) / d
            ny += (s * u + c * v) / d
    d = np.sqrt(nx * nx + ny * ny)
    if d > 0.0:
        return nx / d, ny / d
    return 0.0, 1.0


@kernel
def in_cone(lx, ly, nx, ny, rx, ry):
    """Whether n lies between l and r, which is at most half a turn counter-clockwise of l.

    With l = r = 0: always.
    """
    return lx * ny - ly * nx >= 0.0 and nx * ry - ny * rx >= 0.0


@kernel
def everywhere(pair, lx, ly, rx, ry):
    """The greatest maximum of g in the cone from l to r (all directions, if both are zero).

    The normals at 16 points of each ellipse divide the directions as finely as they need; where
    g' changes sign from one to the next there is a maximum. -> (whether there is one, n)
    """
    best, nx, ny = -np.inf, 0.0, 1.0
    for at in (2, 6):
        a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
        px, py = c, s
        for k in range(1, 17 if a > 0.0 else 1):
            u, v = np.cos(0.125 * np.pi * k) / a, np.sin(0.125 * np.pi * k) / b
            d = np.sqrt(u * u + v * v)
            qx, qy = (c * u - s * v) / d, (s * u + c * v) / d
            found, x, y = _maximum(pair, lx, ly, rx, ry, px, py, qx, qy)
            if found:
                g, _, _ = separation(pair, x, y)
                if g > best:
                    best, nx, ny = g, x, y
            px, py = qx, qy
    return best > -np.inf, nx, ny


@kernel
def _maximum(pair, lx, ly, rx, ry, px, py, qx, qy):
    """A maximum of g between the directions p and q and inside the cone from l to r."""
    if not in_cone(lx, ly, px, py, rx, ry):
        if not in_cone(px, py, lx, ly, qx, qy):
            return False, px, py
        px, py = lx, ly
    if not in_cone(lx, ly, qx, qy, rx, ry):
        if not in_cone(px, py, rx, ry, qx, qy):
            return False, px, py
        qx, qy = rx, ry
    _, slope, _ = separation(pair, px, py)
    _, after, _ = separation(pair, qx, qy)
    if not slope > 0.0 or after > 0.0:
        return False, px, py
    x, y = between(pair, px, py, qx, qy)
    return True, x, y


@kernel
def between(pair, lx, ly, rx, ry):
    """A maximum of g between the directions l and r: g' > 0 at l, <= 0 at r."""
    nx, ny = _middle(lx, ly, rx, ry)
    for _ in range(BRACKET_STEPS):
        g, slope, rho = separation(pair, nx, ny)
        if slope > 0.0:
            lx, ly = nx, ny
        else:
            rx, ry = nx, ny
        if g + rho > 0.0 and abs(slope) < LONGEST_STEP * (g + rho):
            step = slope / (g + rho)
            x, y = turned(nx, ny, step)
            if in_cone(lx, ly, x, y, rx, ry):
                nx, ny = x, y
                if abs(step) < LAST_STEP:
                    break
                continue
        nx, ny = _middle(lx, ly, rx, ry)
        if abs(lx * ry - ly * rx) < 1e-16 and lx * rx + ly * ry > 0.0:
            break
    return nx, ny


@kernel
def _middle(lx, ly, rx, ry):
    """Direction halfway from l to r, which is at most half a turn counter-clockwise of l."""
    x, y = lx + rx, ly + ry
    d = np.sqrt(x * x + y * y)
    if d > 1e-6:
        return x / d, y / d
    return -ly, lx


# ---- Ellipses with ellipses and with disks, by extremal points.
#
# The cached normal, turned on by as much as it turned last time (the predictor of (5-3): points
# follow from the normal), starts Newton. One look at it rejects pairs that are further apart than
# the margin: any direction bounds the distance from below.


@kernel
def contact_ellipse_ellipse(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """A: a disk (one float) or an ellipse (two).

    cache: 0 = set, the normal (2), its turn since the time before as cosine and sine (2).
    stats: iterations, predicted, fallbacks, separated.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    which, point, normal, gap, feature = contacts
    if which.shape[0] < margin.size:
        return -1  # at once, while the cache is untouched
    pair = np.empty(10)
    count = 0
    for k in range(margin.size):
        a, b = geom[k, 0], geom[k, 1]
        _load_pair(numbers, first, x, R, a, b, pair)
        warm = cache[k, 0] != 0.0
        if warm:
            nx, ny = _turned_on(cache, k)
        else:
            nx, ny = line_of_centres(pair)
        g, _, _ = separation(pair, nx, ny)
        if g > margin[k]:
            stats[3] += 1
        else:
            arrived, mx, my, n = newton(pair, nx, ny)
            stats[0] += n
            g, _, _ = separation(pair, mx, my)
            least = least_radius(pair[2], pair[3]) + least_radius(pair[6], pair[7])
            if arrived and g > -least:
                stats[1] += 1 if warm else 0
                nx, ny = mx, my
            else:
                stats[2] += 1
                _, nx, ny = everywhere(pair, 0.0, 0.0, 0.0, 0.0)
                g, _, _ = separation(pair, nx, ny)
        _remember(cache, k, 1, nx, ny)
        if g > margin[k]:
            continue
        ax, ay = _extremal(pair, 2, -nx, -ny)
        which[count], feature[count], gap[count] = k, 0, g
        normal[count, 0], normal[count, 1] = nx, ny
        point[count, 0], point[count, 1] = x[a, 0] + ax - 0.5 * g * nx, x[a, 1] + ay - 0.5 * g * ny
        count += 1
    return count


@kernel
def _turned_on(cache, k):
    """The cached normal, turned by as much again as in the last step."""
    return (
        cache[k, 1] * cache[k, 3] - cache[k, 2] * cache[k, 4],
        cache[k, 1] * cache[k, 4] + cache[k, 2] * cache[k, 3],
    )


@kernel
def _load_pair(numbers, first, x, R, a, b, pair):
    pair[0], pair[1] = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1]
    pair[2] = numbers[first[a]]
    pair[3] = numbers[first[a + 1] - 1]  # a disk has both semi-axes in one float
    pair[4], pair[5] = R[a, 0, 0], R[a, 1, 0]
    pair[6], pair[7] = numbers[first[b]], numbers[first[b] + 1]
    pair[8], pair[9] = R[b, 0, 0], R[b, 1, 0]


@kernel
def _extremal(pair, at, nx, ny):
    """Point with the outer normal n, from the centre of the ellipse that starts at pair[at]."""
    a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
    u, v = nx * c + ny * s, ny * c - nx * s
    h, _, _ = support(a, b, u, v)
    px, py = a * a * u / h, b * b * v / h
    return c * px - s * py, s * px + c * py


# ---- Ellipses with capsules and polygons: faces, then vertices, the cached feature first.
#
# In the axes of the ellipse, with the separation g(n) and its slope g' = t.(p_a - p_b) as above:
# g' jumps down by the length L_j of an edge at its normal m_j, and between two such normals the
# support of the core is one vertex. With s_j = g' just before m_j, a local maximum is
#     on face j    if 0 <= s_j <= L_j,
#     on vertex j  if the maximum for that vertex alone lies between m_(j-1) and m_j.
# It is the only one while g > -(least radius of curvature), see above.
#
# Features: face j is j + 1, vertex j is -(j + 1), 0 is none. best (3,): out, (g, n) of the feature
# found. frame (10,): see ``_load_frame``; pair (10,): as in ``separation``, with the ellipse at the
# origin and a point as B.

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
    """B: a capsule (two floats) or a polygon (more).

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
        _load_frame(numbers, first, x, R, a, b, frame)
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
def _load_frame(numbers, first, x, R, a, b, frame):
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
    x, y = _turned_on(cache, k)
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
