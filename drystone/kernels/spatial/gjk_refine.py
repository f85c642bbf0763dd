"""The last digits of the direction between two convex bodies, and what they are worth.

From a direction that is nearly right (of the last step, or of a search) Newton's method finds the
signed distance and says whether it is certain; what it cannot do, bisection does. Flat caps of
cylinders and cones are tried first: next to the axis their rim is a piece of unbounded curvature,
on which Newton's method would stall.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import Pairs, PosedGeoms
from drystone.kernels.profiles import is_revolved, profile_of
from drystone.kernels.spatial.gjk_bisect import bisect
from drystone.kernels.spatial.gjk_polish import polish
from drystone.kernels.spatial.support import ORIGIN, Cores, both, cores_of, set_pair

# states of a pair's direction; CAP: certain if the faces of the two bodies overlap along it
UNKNOWN, GUESS, SURE, UNSURE, FAR, CAP = 0, 1, 2, 3, 4, 5


class Directions(NamedTuple):
    """What is known about pairs: state (np,), see above; normal (np, 3); the atoms that make it,
    their count (np,) and labels (np, 4, 2); gap (np,) and the point halfway, mid (np, 3)."""

    state: Any
    normal: Any
    atoms: Any
    labels: Any
    gap: Any
    mid: Any


@kernel
def cap_normal(cores: Cores, s, n, out):
    """Whether body s turns a flat end roughly to the other; the direction n it would give."""
    spec, F = cores.spec, cores.frame[s]
    if not is_revolved(spec[s, 0]):
        return False
    along = F[2] * n[0] + F[5] * n[1] + F[8] * n[2]
    p = profile_of(spec[s, 0], cores.numbers, spec[s, 1])
    upper = (along > 0.0) == (s == 1)
    if abs(along) < 0.9 or (p.wide_high if upper else p.wide_low) == 0.0:
        return False
    for c in range(3):
        out[c] = np.copysign(1.0, along) * F[3 * c + 2]
    return True


@kernel
def try_caps(cores: Cores, n, cap, mid):
    """The better cap direction -> state, g; cap (3,), mid (3,) halfway between the surfaces.

    SURE if the other body's furthest point is over the disc, CAP if it is not (a face may be),
    UNKNOWN if there is no cap.
    """
    best, state = -np.inf, UNKNOWN
    frame, size, ab, trial = cores.frame, cores.size, cores.ab, np.empty(3)
    for s in range(2):
        if not cap_normal(cores, s, n, trial):
            continue
        g = both(cores, trial[0], trial[1], trial[2])
        if g <= best:
            continue
        best, o = g, 1 - s
        # from the axis of s to the other's point, across the axis
        along = square = 0.0
        for c in range(3):
            along += (ab[o, c] - frame[s, ORIGIN + c]) * trial[c]
        half = 0.5 * (g - size[2] - size[3]) + size[2 + o]
        for c in range(3):
            square += (ab[o, c] - frame[s, ORIGIN + c] - along * trial[c]) ** 2
            cap[c] = trial[c]
            mid[c] = ab[o, c] + (half if s == 0 else -half) * trial[c]
        state = SURE if square <= cores.numbers[cores.spec[s, 1] + 1] ** 2 else CAP
    return state, best


@kernel
def settle(cores: Cores, trust, m, n, low, labels, mid, stats):
    """-> state, atoms, g(n) of the cores; n (3,), with g(n) = low, and mid (3,), halfway between
    the surfaces, become the answer's."""
    other, point, size = np.empty(3), np.empty(3), cores.size
    state, best = try_caps(cores, n, other, point)
    total, shift = size[0] + size[1], 0.5 * (size[3] - size[2])
    # a cap that is worse than n is not where the least depth is
    if best >= low - 1e-12 * total and (state == SURE or (state == CAP and trust)):
        for c in range(3):
            n[c], mid[c] = other[c], point[c]
        return state, 0, best
    good, m, g = polish(cores, m, n, labels, mid, stats)
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
        good, best = bisect(cores, other, point)
        if good and best >= g - 1e-13 * total:
            for c in range(3):
                n[c], mid[c] = other[c], point[c] + shift * other[c]
            return SURE, m, best
    return UNSURE, m, g


@kernel
def refine(pairs: Pairs, geoms: PosedGeoms, known: Directions, depth, trust):
    """Pairs in state GUESS become SURE, UNSURE, CAP or FAR (over the margin).

    depth: cores deeper in each other than this, in sizes of the smaller body, are UNSURE, because
    the least depth may be elsewhere than it was. trust: take a cap without trying the rest.
    """
    geom, margin, x, cores = pairs.geom, pairs.margin, geoms.x, cores_of(geoms)
    state, normal, atoms, labels, gap, mid = known
    size = cores.size
    for i in range(margin.size):
        if state[i] != GUESS:
            continue
        a, n = geom[i, 0], normal[i]
        set_pair(cores, geoms, a, geom[i, 1])
        around = size[2] + size[3]
        low = both(cores, n[0], n[1], n[2])
        if low - around > margin[i]:
            state[i], atoms[i] = FAR, 0
            continue
        state[i], atoms[i], g = settle(
            cores, trust, atoms[i], n, low, labels[i], mid[i], pairs.stats
        )
        gap[i] = g - around
        if g < -depth * min(size[0], size[1]):
            state[i] = UNSURE
        for c in range(3):
            mid[i, c] += x[a, c]
    return 0
