"""A first direction for pairs of convex bodies: GJK where they are clearly apart, an expanding
polytope where they are not."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import Pairs, PosedGeoms
from drystone.kernels.spatial.gjk import APART, DEEP, distance
from drystone.kernels.spatial.gjk_penetration import empty_polytope, penetration
from drystone.kernels.spatial.gjk_refine import FAR, GUESS, UNKNOWN, UNSURE, Directions
from drystone.kernels.spatial.support import ORIGIN, cores_of, set_pair

GROW = 1e-2  # thickness given to A - B, in sizes of the smaller body
CLOSE = 1e-6  # relative gap between the bounds on the distance that ends the search
COARSE = 2e-4  # how well the depth is found before it is polished, in the same


@kernel
def search(pairs: Pairs, geoms: PosedGeoms, known: Directions):
    """Directions and atoms of the pairs that are UNKNOWN or UNSURE: they become GUESS or FAR."""
    geom, margin, stats, cores = pairs.geom, pairs.margin, pairs.stats, cores_of(geoms)
    state, normal, atoms, labels = known.state, known.normal, known.atoms, known.labels
    P, lam, work, T = np.zeros((4, 3)), np.zeros(4), np.zeros((2, 4)), np.eye(3)[:2]
    frame, size, hull = cores.frame, cores.size, empty_polytope()
    for i in range(margin.size):
        if state[i] != UNKNOWN and state[i] != UNSURE:
            continue
        stats[1] += 1
        set_pair(cores, geoms, geom[i, 0], geom[i, 1])
        n, scale = normal[i], min(size[0], size[1])
        if state[i] == UNKNOWN:  # the line of centres
            o0, o1, o2 = frame[1, ORIGIN], frame[1, ORIGIN + 1], frame[1, ORIGIN + 2]
            length = np.sqrt(o0**2 + o1**2 + o2**2)
            n[0] = n[1] = 0.0
            n[2] = 1.0
            if length > 0.0:
                n[0], n[1], n[2] = -o0 / length, -o1 / length, -o2 / length
        far = margin[i] + size[2] + size[3]
        found, atoms[i] = distance(
            cores, far, 0.5 * GROW * scale, CLOSE, n, P, labels[i], lam, work, stats
        )
        if found == DEEP:
            penetration(cores, GROW * scale, COARSE * scale, n, T, labels[i], hull, stats)
            atoms[i] = 3
        state[i] = FAR if found == APART else GUESS
        if found == APART:
            atoms[i] = 0
    return 0
