"""Signed distance, direction and witness point of pairs of convex bodies given by support maps.

For each pair: the direction of the last step first (still far apart, or a start for Newton's
method); else a search, by GJK where the bodies are clearly apart and by an expanding polytope
where they are not; then caps and Newton's method, which hold the last digits and a certificate.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk import APART, DEEP, distance
from drystone.kernels.spatial.gjk_cap import cap_normal, cap_overlaps
from drystone.kernels.spatial.gjk_penetration import CORNERS, penetration
from drystone.kernels.spatial.gjk_polish import polish
from drystone.kernels.spatial.support import both, extent, round_radius, support
from drystone.kernels.spatial.support_feature import ROOM

WIDTH = 13  # of the cache: set, n (3), atoms, labels (8)
GROW = 1e-2  # thickness given to C, in sizes of the smaller body


@kernel
def set_pair(a, b, x, R, first, first_int, spec, frame):
    """Poses of A and B with the origin of A as origin: digits are kept far from the world's."""
    for s in range(2):
        g = a if s == 0 else b
        spec[s, 1], spec[s, 2], spec[s, 3] = first[g], first_int[g], -1
        for c in range(3):
            frame[s, 9 + c] = x[g, c] - x[a, c]
            for k in range(3):
                frame[s, 3 * c + k] = R[g, c, k]


@kernel
def first_guess(row, frame, n, labels):
    """Direction and atoms of the last step, or the line of centres; the number of atoms."""
    if row[0] != 0.0:
        for c in range(3):
            n[c] = row[1 + c]
        for i in range(4):
            labels[i, 0], labels[i, 1] = int(row[5 + 2 * i]), int(row[6 + 2 * i])
        return int(row[4])
    length = np.sqrt(frame[1, 9] ** 2 + frame[1, 10] ** 2 + frame[1, 11] ** 2)
    n[0], n[1], n[2] = 0.0, 0.0, 1.0
    if length > 0.0:
        for c in range(3):
            n[c] = -frame[1, 9 + c] / length
    return 0


@kernel
def remember(row, n, m, labels):
    row[0], row[4] = 1.0, m
    for c in range(3):
        row[1 + c] = n[c]
    for i in range(4):
        row[5 + 2 * i], row[6 + 2 * i] = labels[i, 0], labels[i, 1]


@kernel
def weigh(m, lam, labels, spec, frame, numbers, ints, n, shift, ab, mid):
    """Point halfway between the surfaces: the atoms' points by their weights."""
    for c in range(3):
        mid[c] = shift * n[c]
    for i in range(m):
        support(0, labels[i, 0], spec, frame, numbers, ints, n[0], n[1], n[2], ab)
        support(1, labels[i, 1], spec, frame, numbers, ints, n[0], n[1], n[2], ab)
        for c in range(3):
            mid[c] += 0.5 * lam[i] * (ab[0, c] + ab[1, c])


@kernel
def settle(
    m, n, labels, lam, spec, frame, numbers, ints, ra, rb, size, P, ids, across, ab, mid, stats
):
    """The last digits from a good guess: caps, then Newton. -> certified, atoms, g(n) of cores."""
    ns, trial, label = np.empty(3), np.empty(3), np.zeros(2, np.int64)
    best, which = -np.inf, -1
    for s in range(2):
        if cap_normal(s, spec, frame, n, ns):
            g = both(spec, frame, numbers, ints, ns[0], ns[1], ns[2], ab, label)
            gap = g - ra - rb
            if cap_overlaps(s, spec, frame, numbers, ints, ns, gap, P, ids, across, ab, mid):
                for c in range(3):
                    n[c] = ns[c]
                return True, 0, g
            if g > best:
                best, which = g, s
                for c in range(3):
                    trial[c] = mid[c]
    good, m, g = polish(spec, frame, numbers, ints, size, m, n, labels, lam, ab, stats)
    if g >= best:
        weigh(m, lam, labels, spec, frame, numbers, ints, n, 0.5 * (rb - ra), ab, mid)
        return good, m, g
    cap_normal(which, spec, frame, n, ns)
    for c in range(3):
        n[c], mid[c] = ns[c], trial[c]
    return False, 0, best


@kernel
def search(
    attempt, far, grow, n, labels, lam, spec, frame, numbers, ints, V, VL, F, N, E, ab, stats
):
    """A direction near the answer, and its atoms: -> whether apart, atoms."""
    simplex, work = np.zeros((4, 3)), np.zeros((2, 4))
    stats[1] += 1
    tol = 1e-6 if attempt == 1 else 1e-13
    state, m = distance(
        spec, frame, numbers, ints, far, 0.5 * grow, tol, n, simplex, labels, lam, work, ab, stats
    )
    if state == DEEP:
        penetration(
            spec, frame, numbers, ints, grow, 0.02 * grow, n, labels, V, VL, F, N, E, ab, stats
        )
        m = 3
    return state == APART, m


@kernel
def closest(
    kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, cache, normal, gap, mid,
    stats,
):  # fmt: skip
    """normal (np, 3), gap (np,), mid (np, 3) of every pair; gap inf where it is over the margin."""
    spec, frame = np.zeros((2, 4), np.int64), np.zeros((2, 12))
    n, labels, lam, ab = np.empty(3), np.zeros((4, 2), np.int64), np.zeros(4), np.zeros((2, 3))
    V, VL, label = np.empty((CORNERS, 3)), np.empty((CORNERS, 2), np.int64), np.zeros(2, np.int64)
    F, N = np.empty((2 * CORNERS, 3), np.int64), np.empty((2 * CORNERS, 4))
    E = np.empty((4 * CORNERS, 2), np.int64)
    P, ids, across = np.empty((ROOM, 3)), np.empty(ROOM, np.int64), np.empty(ROOM)
    spec[0, 0], spec[1, 0] = kind_a, kind_b
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        set_pair(a, b, x, R, first, first_int, spec, frame)
        ra = round_radius(kind_a, numbers, first[a])
        rb = round_radius(kind_b, numbers, first[b])
        far = margin[i] + ra + rb
        size = extent(kind_a, numbers, first[a], ints, first_int[a])
        scale = extent(kind_b, numbers, first[b], ints, first_int[b])
        size, grow = size + scale, GROW * min(size, scale)
        m = first_guess(cache[i], frame, n, labels)
        begin = 1 if cache[i, 0] == 0.0 else 0
        gap[i], apart, done, g = np.inf, False, False, 0.0
        for attempt in range(begin, 3):
            if attempt > 0:
                apart, m = search(
                    attempt, far, grow, n, labels, lam, spec, frame, numbers, ints, V, VL, F, N, E,
                    ab, stats,
                )  # fmt: skip
            else:
                apart = both(spec, frame, numbers, ints, n[0], n[1], n[2], ab, label) > far
            if apart:
                break
            done, m, g = settle(
                m, n, labels, lam, spec, frame, numbers, ints, ra, rb, size, P, ids, across, ab,
                mid[i], stats,
            )  # fmt: skip
            # deep inside, the least depth may be elsewhere than the last step's
            done = done and (attempt > 0 or g > -grow)
            if done:
                break
        stats[0] += attempt == 0
        remember(cache[i], n, 0 if apart else m, labels)
        if apart:
            continue
        stats[5] += not done
        gap[i] = g - ra - rb
        for c in range(3):
            normal[i, c] = n[c]
            mid[i, c] += x[a, c]
