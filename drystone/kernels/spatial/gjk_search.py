"""A first direction for pairs of convex bodies: GJK where they are clearly apart, an expanding
polytope where they are not."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk import APART, DEEP, distance
from drystone.kernels.spatial.gjk_penetration import CORNERS, penetration
from drystone.kernels.spatial.gjk_refine import FAR, GUESS, UNKNOWN, UNSURE
from drystone.kernels.spatial.support import set_pair

GROW = 1e-2  # thickness given to A - B, in sizes of the smaller body
CLOSE = 1e-6  # relative gap between the bounds on the distance that ends the search
COARSE = 2e-4  # how well the depth is found before it is polished, in the same


@kernel
def search(
    kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints,
    state, normal, atoms, labels, stats,
):  # fmt: skip
    """Directions normal (np, 3) and atoms of the pairs that are UNKNOWN or UNSURE; state (np,)
    becomes GUESS or FAR."""
    spec, frame, size = np.zeros((2, 4), np.int64), np.zeros((2, 12)), np.zeros(4)
    ab, P, lam, work = np.zeros((2, 3)), np.zeros((4, 3)), np.zeros(4), np.zeros((2, 4))
    V, VL = np.empty((CORNERS, 3)), np.empty((CORNERS, 2), np.int64)
    F, N = np.empty((2 * CORNERS, 3), np.int64), np.empty((2 * CORNERS, 4))
    E, T = np.empty((4 * CORNERS, 2), np.int64), np.eye(3)[:2]
    spec[0, 0], spec[1, 0] = kind_a, kind_b
    for i in range(pairs.shape[0]):
        if state[i] != UNKNOWN and state[i] != UNSURE:
            continue
        stats[1] += 1
        set_pair(pairs[i, 0], pairs[i, 1], x, R, first, numbers, first_int, ints, spec, frame, size)
        n, scale = normal[i], min(size[0], size[1])
        if state[i] == UNKNOWN:  # the line of centres
            length = np.sqrt(frame[1, 9] ** 2 + frame[1, 10] ** 2 + frame[1, 11] ** 2)
            n[0] = n[1] = 0.0
            n[2] = 1.0
            if length > 0.0:
                for c in range(3):
                    n[c] = -frame[1, 9 + c] / length
        far = margin[i] + size[2] + size[3]
        found, atoms[i] = distance(
            spec, frame, numbers, ints, far, 0.5 * GROW * scale, CLOSE, n, P, labels[i], lam, work,
            ab, stats,
        )  # fmt: skip
        if found == DEEP:
            penetration(
                spec, frame, numbers, ints, GROW * scale, COARSE * scale, n, T, labels[i],
                V, VL, F, N, E, ab, stats,
            )  # fmt: skip
            atoms[i] = 3
        state[i] = FAR if found == APART else GUESS
        if found == APART:
            atoms[i] = 0
    return 0
