"""Contacts of any two bounded kinds by their support maps: the contract's signature for each pair.

These are plain Python around the same two compiled kernels, so a new pair of kinds costs no
compiling.
"""

from functools import partial

import numpy as np

from drystone.kernels.spatial.gjk_closest import closest
from drystone.kernels.spatial.support import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    POLYHEDRON,
    SPHERE,
    SUPERQUADRIC,
)  # fmt: skip
from drystone.kernels.spatial.support_manifold import manifold


def contact_support_support(
    kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Contacts of pairs whose geoms are of kind_a and kind_b; otherwise as the contract says."""
    n, g, mid = np.empty((len(pairs), 3)), np.empty(len(pairs)), np.empty((len(pairs), 3))
    closest(
        kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, cache, n, g, mid,
        stats,
    )  # fmt: skip
    return manifold(
        kind_a, kind_b, pairs, margin, x, R, first, numbers, first_int, ints, n, g, mid,
        which, point, normal, gap, feature,
    )  # fmt: skip


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
