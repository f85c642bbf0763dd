"""Pairs of smooth bodies in space, spheres with everything, and what rests on a half-space."""

from __future__ import annotations

from drystone.geometry.kinds import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    SPHERE,
    SUPERQUADRIC,
)
from drystone.geometry.narrow import PairKernel

_AT = "drystone.kernels.spatial."
_EXTREMAL = PairKernel(
    _AT + "smooth_smooth",
    "contact_smooth_smooth",
    width=13,
    counters=("iterations", "predicted", "fallbacks", "solves", "culled"),
)
_PLANE = PairKernel(_AT + "halfspace_smooth", "contact_smooth_halfspace")

ENTRIES: dict[tuple[int, int], PairKernel] = {
    (SPHERE, SPHERE): PairKernel(_AT + "sphere", "contact_sphere_sphere"),
    (SPHERE, CAPSULE): PairKernel(_AT + "sphere", "contact_sphere_capsule"),
    (SPHERE, HALF_SPACE): PairKernel(_AT + "sphere", "contact_sphere_halfspace"),
    (SPHERE, CYLINDER): PairKernel(_AT + "sphere_round", "contact_sphere_cylinder"),
    (SPHERE, CONE): PairKernel(_AT + "sphere_round", "contact_sphere_cone"),
    (SPHERE, ELLIPSOID): _EXTREMAL,
    (SPHERE, SUPERQUADRIC): _EXTREMAL,
    (ELLIPSOID, ELLIPSOID): _EXTREMAL,
    (ELLIPSOID, SUPERQUADRIC): _EXTREMAL,
    (SUPERQUADRIC, SUPERQUADRIC): _EXTREMAL,
    (ELLIPSOID, HALF_SPACE): _PLANE,
    (SUPERQUADRIC, HALF_SPACE): _PLANE,
    (CAPSULE, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_capsule_halfspace", points=2),
    (CYLINDER, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_cylinder_halfspace", points=10),
    (CONE, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_cone_halfspace", points=10),
}
