"""The last digits of the direction between two convex bodies, and what they are worth.

From a direction that is nearly right (of the last step, or of a search) Newton's method finds the
signed distance and says whether it is certain; what it cannot do, bisection does. Flat caps of
cylinders and cones are tried first: next to the axis their rim is a piece of unbounded curvature,
on which Newton's method would stall.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk_bisect import bisect
from drystone.kernels.spatial.gjk_polish import polish
from drystone.kernels.spatial.support import CONE, CYLINDER, both, set_pair

# states of a pair's direction; CAP: certain if the faces of the two bodies overlap along it
UNKNOWN, GUESS, SURE, UNSURE, FAR, CAP = 0, 1, 2, 3, 4, 5


@kernel
def cap_normal(s, spec, frame, n, out):
    """Whether body s turns a cap roughly to the other; the direction n it would give."""
    kind, F = spec[s, 0], frame[s]
    if kind != CYLINDER and kind != CONE:
        return False
    along = F[2] * n[0] + F[5] * n[1] + F[8] * n[2]
    if abs(along) < 0.9 or (kind == CONE and (along > 0.0) == (s == 1)):
        return False
    for c in range(3):
        out[c] = np.copysign(1.0, along) * F[3 * c + 2]
    return True


@kernel
def try_caps(n, spec, frame, numbers, ints, size, ab, cap, mid):
    """The better cap direction -> state, g; cap (3,), mid (3,) halfway between the surfaces.

    SURE if the other body's furthest point is over the disc, CAP if it is not (a face may be),
    UNKNOWN if there is no cap.
    """
    best, state = -np.inf, UNKNOWN
    trial, label = np.empty(3), np.zeros(2, np.int64)
    for s in range(2):
        if not cap_normal(s, spec, frame, n, trial):
            continue
        g = both(spec, frame, numbers, ints, trial[0], trial[1], trial[2], ab, label)
        if g <= best:
            continue
        best, o = g, 1 - s
        # from the axis of s to the other's point, across the axis
        along = square = 0.0
        for c in range(3):
            along += (ab[o, c] - frame[s, 9 + c]) * trial[c]
        half = 0.5 * (g - size[2] - size[3]) + size[2 + o]
        for c in range(3):
            square += (ab[o, c] - frame[s, 9 + c] - along * trial[c]) ** 2
            cap[c] = trial[c]
            mid[c] = ab[o, c] + (half if s == 0 else -half) * trial[c]
        state = SURE if square <= numbers[spec[s, 1] + 1] ** 2 else CAP
    return state, best


@kernel
def settle(trust, m, n, low, labels, spec, frame, numbers, ints, size, ab, mid, stats):
    """-> state, atoms, g(n) of the cores; n (3,), with g(n) = low, and mid (3,), halfway between
    the surfaces, become the answer's."""
    other, point = np.empty(3), np.empty(3)
    state, best = try_caps(n, spec, frame, numbers, ints, size, ab, other, point)
    total, shift = size[0] + size[1], 0.5 * (size[3] - size[2])
    # a cap that is worse than n is not where the least depth is
    if best >= low - 1e-12 * total and (state == SURE or (state == CAP and trust)):
        for c in range(3):
            n[c], mid[c] = other[c], point[c]
        return state, 0, best
    good, m, g = polish(spec, frame, numbers, ints, total, m, n, labels, ab, mid, stats)
    for c in range(3):
        mid[c] += shift * n[c]
    if good and g >= best:
        return SURE, m, g
    if best > g:
        g, m = best, 0
        for c in range(3):
            n[c], mid[c] = other[c], point[c]
    if not trust:
        stats[6] += 1
        for c in range(3):
            other[c] = n[c]
        good, best = bisect(spec, frame, numbers, ints, other, ab, point)
        if good and best >= g - 1e-13 * total:
            for c in range(3):
                n[c], mid[c] = other[c], point[c] + shift * other[c]
            return SURE, m, best
    return UNSURE, m, g


@kernel
def refine(
    kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, depth, trust,
    state, normal, atoms, labels, gap, mid, stats,
):  # fmt: skip
    """Pairs in state GUESS become SURE, UNSURE, CAP or FAR (over the margin).

    normal (np, 3), gap (np,), mid (np, 3): signed distance, its direction, the point halfway.
    depth: cores deeper in each other than this, in sizes of the smaller body, are UNSURE, because
    the least depth may be elsewhere than it was. trust: take a cap without trying the rest.
    """
    spec, frame, size = np.zeros((2, 4), np.int64), np.zeros((2, 12)), np.zeros(4)
    ab, label = np.zeros((2, 3)), np.zeros(2, np.int64)
    spec[0, 0], spec[1, 0] = kind_a, kind_b
    for i in range(pairs.shape[0]):
        if state[i] != GUESS:
            continue
        a, n = pairs[i, 0], normal[i]
        set_pair(a, pairs[i, 1], x, R, first, numbers, first_int, ints, spec, frame, size)
        around = size[2] + size[3]
        low = both(spec, frame, numbers, ints, n[0], n[1], n[2], ab, label)
        if low - around > margin[i]:
            state[i], atoms[i] = FAR, 0
            continue
        state[i], atoms[i], g = settle(
            trust, atoms[i], n, low, labels[i], spec, frame, numbers, ints, size, ab, mid[i], stats
        )
        gap[i] = g - around
        if g < -depth * min(size[0], size[1]):
            state[i] = UNSURE
        for c in range(3):
            mid[i, c] += x[a, c]
    return 0
