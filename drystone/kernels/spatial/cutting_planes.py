"""The direction of greatest separation of two convex bodies in any pose: cutting planes, branching.

F(v) = min of v . c over the points c of A - B is concave, and its value at a unit n is the
separation s(n). With c the support point at n, F(v) <= v . c everywhere, so a direction can be
better than the best one so far, s, only where

    v . (c - s n) >= 0             if s >= 0 (apart),
    v . (c - s n) >= s e           if s < 0, over a region where |v| <= n . v + e.

Directions are points of six squares, the faces of a cube about the origin. A polygon of a square is
cut through its centroid by the first plane: that leaves at most 1 - 1/e of it, whatever kinks and
curvatures the bodies have, and what is left at last holds the answer. In penetration there may be
many maxima, and the second plane may leave the centroid: a polygon that it does not shrink is
split. Nothing that could be better by more than a tolerance is lost.

At a kink, or on a flat, the support points at the answer do not face each other, but a mixture of
those that were met next to it does: the dual of the planes' linear program.
"""

from functools import cache

import numpy as np

from drystone.kernels._calls import address
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import PosedGeoms
from drystone.kernels.spatial.frames import tangents
from drystone.kernels.spatial.support import Cores, both, cores_of, set_pair

CORNERS = 40  # of a polygon; each cut adds at most one
POLYGONS_KEPT = 64  # polygons
EVALUATIONS = 4000  # of the separation, at most; a pair that is apart takes about 80
SHRUNK = 0.8  # of its area: a polygon that a cut leaves larger is split
NO_AREA = 1e-32  # of directions [rad^2]: below rounding
SEARCH_WINDOW = 0.05  # half width of the last search in penetration [rad]
MIXTURE_POINTS = 12  # support points that are kept for the mixture
ADDED = 12  # support points beside the answer, at most, each time that it turns
ROUNDS = 3  # directions, at most
BUNDLE = MIXTURE_POINTS + ROUNDS * (ADDED + 1)
SAME_SEPARATION = 1e-15  # of both bodies: rounding
SMALL_TURN = 1e-6  # to a mixture [rad]: what rounding of the separation hides
TURNS_BESIDE = (1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5)  # as far from it, in turn [rad]
NEXT_TO = 1e3  # of the tolerance: support points of more height along the answer are not mixed
SIDEWAYS = 1e-3  # of what a pair of points is worse by: less of it is not aside
FACING_SHARE = 1e-2  # of the tolerance: points that face each other as well as this will do
SAME_DEPTH = 1e-10  # of the smaller body: of maxima this close any is as good


@kernel
def centroid(z, k):
    """Area and centroid of the convex polygon z[:k], summed from its first corner."""
    area, cx, cy = 0.0, 0.0, 0.0
    for j in range(1, k - 1):
        ux, uy = z[j, 0] - z[0, 0], z[j, 1] - z[0, 1]
        vx, vy = z[j + 1, 0] - z[0, 0], z[j + 1, 1] - z[0, 1]
        part = 0.5 * (ux * vy - uy * vx)
        area += part
        cx += part * (ux + vx) / 3.0
        cy += part * (uy + vy) / 3.0
    if area > 0.0:
        cx, cy = cx / area, cy / area
    return area, z[0, 0] + cx, z[0, 1] + cy


@kernel
def cut(z, k, cx, cy, h, gx, gy, kept):
    """Write the part of z[:k] with h + g.(z - c) >= 0 to `kept`; -> its corners, 0 if there is no
    room for them: a polygon below rounding is not convex, and may have many."""
    m, i = 0, k - 1
    r = h + gx * (z[i, 0] - cx) + gy * (z[i, 1] - cy)
    for j in range(k):
        s = h + gx * (z[j, 0] - cx) + gy * (z[j, 1] - cy)
        if m + 2 > kept.shape[0]:
            return 0
        if (s < 0.0) != (r < 0.0):
            f = s / (s - r)
            kept[m, 0] = z[j, 0] + f * (z[i, 0] - z[j, 0])
            kept[m, 1] = z[j, 1] + f * (z[i, 1] - z[j, 1])
            m += 1
        if s >= 0.0:
            kept[m, 0], kept[m, 1] = z[j, 0], z[j, 1]
            m += 1
        i, r = j, s
    return m


@kernel
def mixture(bundle, first, m, n, low, T, best, c):
    """Of the support points bundle[:m] (m, 6), of A and of B, a mixture c (6,) whose difference is
    along n, of the least loss of height: mixtures with one from `first` on, if they beat `best`.
    -> the loss, with what its difference is off n."""
    q = np.empty((m, 3))
    for i in range(m):
        q[i, 0] = q[i, 1] = 0.0
        q[i, 2] = -low
        for k in range(3):
            d = bundle[i, k] - bundle[i, 3 + k]
            q[i, 0] += T[0, k] * d
            q[i, 1] += T[1, k] * d
            q[i, 2] += n[k] * d
        q[i, 2] = max(q[i, 2], 0.0)
    for i in range(first, m):
        for j in range(i + 1):
            for o in range(j + 1):
                a = q[i, 0] * q[j, 1] - q[i, 1] * q[j, 0]  # weight of o, and in turn
                b = q[j, 0] * q[o, 1] - q[j, 1] * q[o, 0]  # of i
                d = q[o, 0] * q[i, 1] - q[o, 1] * q[i, 0]  # of j
                if o == j:  # the point of a line nearest to the origin; of a point, itself
                    ex, ey = q[i, 0] - q[j, 0], q[i, 1] - q[j, 1]
                    ee = ex * ex + ey * ey
                    b = 1.0
                    if ee > 0.0:
                        b = min(max(-(q[j, 0] * ex + q[j, 1] * ey) / ee, 0.0), 1.0)
                    a, d = 0.0, 1.0 - b
                total = a + b + d
                if total < 0.0:
                    a, b, d, total = -a, -b, -d, -total
                if not (a >= 0.0 and b >= 0.0 and d >= 0.0 and total > 0.0):
                    continue
                a, b, d = a / total, b / total, d / total
                x = a * q[o, 0] + b * q[i, 0] + d * q[j, 0]
                y = a * q[o, 1] + b * q[i, 1] + d * q[j, 1]
                loss = a * q[o, 2] + b * q[i, 2] + d * q[j, 2] + np.sqrt(x * x + y * y)
                if loss < best:
                    best = loss
                    for k in range(6):
                        c[k] = b * bundle[i, k] + d * bundle[j, k] + a * bundle[o, k]
    return best


@kernel
def facing_points(cores: Cores, bundle, known, tol, n, mid):
    """mid (3,): halfway between points of the cores that face each other along n. Support points
    next to n, which jump on flats, are added to those of bundle[:known] that are not much higher
    than the answer, until a mixture's do. Apart, n turns to the mixture: large bodies have the same
    separation, but for rounding, along directions whose points do not face. tol: as of
    ``greatest_separation``.
    -> the separation along n, what this pair of points is worse by
    """
    height, tol = NEXT_TO * tol, FACING_SHARE * tol
    T, c, m, ab, h = np.empty((2, 3)), np.empty(6), np.empty(3), cores.ab, 0.0
    low, loss, x, y, size = 0.0, np.inf, 0.0, 0.0, cores.size
    same = SAME_SEPARATION * (size[0] + size[1])
    for turn in range(ROUNDS):
        if turn > 0:
            for k in range(3):
                m[k] = low * n[k] + x * T[0, k] + y * T[1, k]
            r = np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
            if both(cores, m[0] / r, m[1] / r, m[2] / r) < low - same:
                break
            for k in range(3):
                n[k] = m[k] / r
        tangents(n, T)
        low, count, known = both(cores, n[0], n[1], n[2]), known, 0
        for k in range(3):
            bundle[count, k], bundle[count, 3 + k] = ab[0, k], ab[1, k]
        for j in range(count + 1):
            lost = -low
            for k in range(3):
                lost += n[k] * (bundle[j, k] - bundle[j, 3 + k])
            if lost <= height:
                for k in range(6):
                    bundle[known, k] = bundle[j, k]
                known += 1
        loss = mixture(bundle, 0, known, n, low, T, np.inf, c)
        for j in range(ADDED):
            x, y = 0.0, 0.0
            for k in range(3):
                x += T[0, k] * (c[k] - c[3 + k])
                y += T[1, k] * (c[k] - c[3 + k])
            r = np.sqrt(x * x + y * y)
            if loss <= tol or r <= SIDEWAYS * loss:  # there what is lost is height
                break
            far = TURNS_BESIDE[j % len(TURNS_BESIDE)]
            for k in range(3):
                m[k] = n[k] + far * (x / r * T[0, k] + y / r * T[1, k])
            both(cores, m[0], m[1], m[2])
            for k in range(3):
                bundle[known, k], bundle[known, 3 + k] = ab[0, k], ab[1, k]
            known += 1
            loss = mixture(bundle, known - 1, known, n, low, T, loss, c)
        if not (loss > tol and SIDEWAYS * loss < r < SMALL_TURN * low):
            break
    both(cores, n[0], n[1], n[2])
    for k in range(3):
        mid[k] = 0.5 * (c[k] + c[3 + k])
        h += n[k] * (0.5 * (ab[0, k] + ab[1, k]) - mid[k])
    for k in range(3):
        mid[k] += h * n[k]  # a mixture lies a little inside: the surfaces are as high as at n
    return low, loss


@kernel
def spare(p, corners, cx, cy):
    """The least e with |v| <= n . v + e over the polygon p[:corners], n at its centroid."""
    norm, most = np.sqrt(1.0 + cx * cx + cy * cy), 0.0
    for j in range(corners):
        dx, dy = p[j, 0] - cx, p[j, 1] - cy
        across = (cx * dy - cy * dx) ** 2 + dx * dx + dy * dy
        along = 1.0 + cx * p[j, 0] + cy * p[j, 1]
        length = np.sqrt(1.0 + p[j, 0] ** 2 + p[j, 1] ** 2)
        most = max(most, across / norm / (norm * length + along))
    return most


@kernel
def split(p, corners, cx, cy, one, other):
    """Halve a polygon through its centroid, across the direction of its farthest corner."""
    far, gx, gy = -1.0, 0.0, 0.0
    for j in range(corners):
        dx, dy = p[j, 0] - cx, p[j, 1] - cy
        if dx * dx + dy * dy > far:
            far, gx, gy = dx * dx + dy * dy, dx, dy
    return (
        cut(p, corners, cx, cy, 0.0, gx, gy, one),
        cut(p, corners, cx, cy, 0.0, -gx, -gy, other),
    )


@kernel
def greatest_separation(cores: Cores, tol, n, bundle):
    """The direction n (3,) of greatest separation of the cores, n in: a guess; bundle (BUNDLE, 6):
    support points of both next to it. -> separation, how many points, evaluations.

    tol [m]: in penetration, another maximum may be better by this. There the best one is searched
    once more in a window about it, with planes through the centroid.
    """
    z, count = np.empty((POLYGONS_KEPT, CORNERS, 2)), np.empty(POLYGONS_KEPT, np.int64)
    face, half = np.empty(POLYGONS_KEPT, np.int64), np.empty((CORNERS, 2))
    e, m, kept = np.empty((3, 3)), np.empty(3), 0
    ab, T, spent = cores.ab, np.empty((2, 3)), np.int64(1)
    best = both(cores, n[0], n[1], n[2])
    for again in range(2):
        if again == 1 and best >= 0.0:
            break
        tangents(n, T)
        for k in range(3):
            e[0, k], e[1, k], e[2, k] = n[k], T[0, k], T[1, k]
        top, side = (1, SEARCH_WINDOW) if again == 1 else (6, 1.0)
        for j in range(top):
            p = z[j]
            p[0, 0], p[0, 1], p[1, 0], p[1, 1] = -side, -side, side, -side
            p[2, 0], p[2, 1], p[3, 0], p[3, 1] = side, side, -side, side
            count[j], face[j] = 4, top - 1 - j  # the guess's face is the first to be taken
        end = spent + EVALUATIONS
        while top > 0 and spent < end:
            top -= 1
            p, corners, u = z[top], count[top], face[top] // 2
            sign, v, w = 1.0 - 2.0 * (face[top] % 2), (u + 1) % 3, (u + 2) % 3
            area, cx, cy = centroid(p, corners)
            norm = np.sqrt(1.0 + cx * cx + cy * cy)
            for k in range(3):
                m[k] = (sign * e[u, k] + cx * e[v, k] + cy * e[w, k]) / norm
            s = both(cores, m[0], m[1], m[2])
            spent += 1
            if s > best:
                best = s
                for k in range(3):
                    n[k] = m[k]
            # the plane, as h + g . (z - c) on the square
            level = best if again == 1 or best >= 0.0 else best + tol
            gx, gy, h = -level * cx / norm, -level * cy / norm, (s - level) * norm
            if level < 0.0 and again == 0:
                h -= level * spare(p, corners, cx, cy)
            lost = -best
            for k in range(3):
                bundle[kept % MIXTURE_POINTS, k], bundle[kept % MIXTURE_POINTS, 3 + k] = (
                    ab[0, k],
                    ab[1, k],
                )
                lost += n[k] * (ab[0, k] - ab[1, k])
                gx += (ab[0, k] - ab[1, k]) * e[v, k]
                gy += (ab[0, k] - ab[1, k]) * e[w, k]
            kept += 1 if lost <= NEXT_TO * tol else 0
            corners = cut(p, corners, cx, cy, h, gx, gy, half)
            if corners < 3:
                continue
            rest, cx, cy = centroid(half, corners)
            if not rest > NO_AREA:
                continue
            if (rest > SHRUNK * area or corners == CORNERS - 1) and top + 2 <= POLYGONS_KEPT:
                face[top + 1] = face[top]
                count[top], count[top + 1] = split(half, corners, cx, cy, p, z[top + 1])
                top += 2
            else:
                p[:corners] = half[:corners]
                count[top] = corners
                top += 1
    return best, min(kept, MIXTURE_POINTS), spent


@kernel
def greatest_separation_of_pair(geoms: PosedGeoms, a, b, n, P, gap):
    """The same for geoms a and b: P (2, 3) their points, gap (1,). -> evaluations."""
    cores, x, mid = cores_of(geoms), geoms.x, np.empty(3)
    set_pair(cores, geoms, a, b)
    size = cores.size
    square = 0.0
    for k in range(3):
        n[k] = x[a, k] - x[b, k]
        square += n[k] * n[k]
    for k in range(3):
        n[k] = n[k] / np.sqrt(square) if square > 0.0 else 1.0 * (k == 2)
    tol, bundle = SAME_DEPTH * min(size[0], size[1]), np.empty((BUNDLE, 6))
    _, kept, spent = greatest_separation(cores, tol, n, bundle)
    s, _ = facing_points(cores, bundle, kept, tol, n, mid)
    for k in range(3):
        P[0, k] = x[a, k] + mid[k] + (0.5 * s - size[2]) * n[k]
        P[1, k] = x[a, k] + mid[k] - (0.5 * s - size[3]) * n[k]
    gap[0] = s - size[2] - size[3]
    return spent


@cache
def calls():
    """Addresses (3,): that of ``greatest_separation_of_pair``."""
    ints, floats = np.empty(1, np.int64), np.empty(1)
    x, R, one = np.empty((1, 3)), np.empty((1, 3, 3)), np.int64(0)
    geoms = PosedGeoms(x, R, ints, ints, floats, ints, ints)
    at = address(greatest_separation_of_pair, geoms, one, one, floats, x, floats)
    return np.array([at, 0, 0])
