"""Contacts of any two bounded kinds by their support maps: the contract's signature for each pair.

These are plain Python around the same two compiled kernels, so a new pair of kinds costs no
compiling.
"""

from functools import partial

import numpy as np

from drystone.kernels.spatial.gjk_refine import GUESS, UNKNOWN, UNSURE, refine
from drystone.kernels.spatial.gjk_search import GROW, search
from drystone.kernels.spatial.support import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    POLYHEDRON,
    SPHERE,
    SUPERQUADRIC,
)
from drystone.kernels.spatial.support_manifold import DOUBT, manifold

WIDTH = 13  # of the cache: set, direction (3), atoms, their labels (8)


class _Pairs:
    """Directions of a batch of pairs, and the steps that make them certain."""

    def __init__(self, bodies, cache, stats):
        self.bodies, self.cache, self.stats = bodies, cache, stats
        n = len(cache)
        self.state = np.where(cache[:, 0] != 0.0, GUESS, UNKNOWN)
        self.normal, self.atoms = cache[:, 1:4].copy(), cache[:, 4].astype(np.int64)
        self.labels = cache[:, 5:].astype(np.int64).reshape(n, 4, 2)
        self.gap, self.mid = np.full(n, np.inf), np.empty((n, 3))

    def refine(self, depth, trust):
        refine(
            *self.bodies, depth, trust, self.state, self.normal, self.atoms, self.labels,
            self.gap, self.mid, self.stats,
        )  # fmt: skip

    def search(self):
        """The long way for those in doubt."""
        if ((self.state == UNKNOWN) | (self.state == UNSURE)).any():
            search(*self.bodies, self.state, self.normal, self.atoms, self.labels, self.stats)
            self.refine(np.inf, False)

    def remember(self):
        self.cache[:, 0], self.cache[:, 1:4], self.cache[:, 4] = 1.0, self.normal, self.atoms
        self.cache[:, 5:] = self.labels.reshape(len(self.cache), 8)


def contact_support_support(
    kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Contacts of pairs whose geoms are of kind_a and kind_b; otherwise as the contract says."""
    bodies = (kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints)
    out = (which, point, normal, gap, feature)
    these = _Pairs(bodies, cache, stats)
    these.refine(GROW, True)
    searched = stats[1]
    these.search()
    count = manifold(*bodies, these.state, these.normal, these.gap, these.mid, *out)
    if count == DOUBT:  # a cap that is not over the other body after all
        these.search()
        count = manifold(*bodies, these.state, these.normal, these.gap, these.mid, *out)
    stats[0] += len(pairs) - (stats[1] - searched)
    stats[5] += np.count_nonzero(these.state == UNSURE)
    these.remember()
    return count


contact_sphere_sphere = partial(contact_support_support, SPHERE, SPHERE)
contact_sphere_ellipsoid = partial(contact_support_support, SPHERE, ELLIPSOID)
contact_sphere_superquadric = partial(contact_support_support, SPHERE, SUPERQUADRIC)
contact_sphere_capsule = partial(contact_support_support, SPHERE, CAPSULE)
contact_sphere_cylinder = partial(contact_support_support, SPHERE, CYLINDER)
contact_sphere_cone = partial(contact_support_support, SPHERE, CONE)
contact_sphere_polyhedron = partial(contact_support_support, SPHERE, POLYHEDRON)
contact_ellipsoid_ellipsoid = partial(contact_support_support, ELLIPSOID, ELLIPSOID)
contact_ellipsoid_superquadric = partial(contact_support_support, ELLIPSOID, SUPERQUADRIC)
contact_ellipsoid_capsule = partial(contact_support_support, ELLIPSOID, CAPSULE)
contact_ellipsoid_cylinder = partial(contact_support_support, ELLIPSOID, CYLINDER)
contact_ellipsoid_cone = partial(contact_support_support, ELLIPSOID, CONE)
contact_ellipsoid_polyhedron = partial(contact_support_support, ELLIPSOID, POLYHEDRON)
contact_superquadric_superquadric = partial(contact_support_support, SUPERQUADRIC, SUPERQUADRIC)
contact_superquadric_capsule = partial(contact_support_support, SUPERQUADRIC, CAPSULE)
contact_superquadric_cylinder = partial(contact_support_support, SUPERQUADRIC, CYLINDER)
contact_superquadric_cone = partial(contact_support_support, SUPERQUADRIC, CONE)
contact_superquadric_polyhedron = partial(contact_support_support, SUPERQUADRIC, POLYHEDRON)
contact_capsule_capsule = partial(contact_support_support, CAPSULE, CAPSULE)
contact_capsule_cylinder = partial(contact_support_support, CAPSULE, CYLINDER)
contact_capsule_cone = partial(contact_support_support, CAPSULE, CONE)
contact_capsule_polyhedron = partial(contact_support_support, CAPSULE, POLYHEDRON)
contact_cylinder_cylinder = partial(contact_support_support, CYLINDER, CYLINDER)
contact_cylinder_cone = partial(contact_support_support, CYLINDER, CONE)
contact_cylinder_polyhedron = partial(contact_support_support, CYLINDER, POLYHEDRON)
contact_cone_cone = partial(contact_support_support, CONE, CONE)
contact_cone_polyhedron = partial(contact_support_support, CONE, POLYHEDRON)
contact_polyhedron_polyhedron = partial(contact_support_support, POLYHEDRON, POLYHEDRON)
