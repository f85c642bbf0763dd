"""Pairs of smooth bodies in space, spheres with everything, and what rests on a half-space."""

from __future__ import annotations

from drystone.geometry.kinds import (
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    POLYHEDRON,
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
_NEAREST = PairKernel(
    _AT + "sphere_smooth", "contact_sphere_smooth", width=7, counters=_EXTREMAL.counters
)
_FEATURES = PairKernel(
    _AT + "smooth_polyhedron",
    "contact_smooth_polyhedron",
    width=7,
    counters=(*_EXTREMAL.counters, "visits", "kept"),
)
_PLANE = PairKernel(_AT + "halfspace_smooth", "contact_smooth_halfspace")

ENTRIES: dict[tuple[int, int], PairKernel] = {
    (SPHERE, SPHERE): PairKernel(_AT + "sphere", "contact_sphere_sphere"),
    (SPHERE, CAPSULE): PairKernel(_AT + "sphere", "contact_sphere_capsule"),
    (SPHERE, HALF_SPACE): PairKernel(_AT + "sphere", "contact_sphere_halfspace"),
    (SPHERE, CYLINDER): PairKernel(_AT + "sphere_round", "contact_sphere_cylinder"),
    (SPHERE, CONE): PairKernel(_AT + "sphere_round", "contact_sphere_cone"),
    (SPHERE, ELLIPSOID): _NEAREST,
    (SPHERE, SUPERQUADRIC): _NEAREST,
    (ELLIPSOID, ELLIPSOID): _EXTREMAL,
    (ELLIPSOID, SUPERQUADRIC): _EXTREMAL,
    (SUPERQUADRIC, SUPERQUADRIC): _EXTREMAL,
    (SPHERE, POLYHEDRON): PairKernel(
        _AT + "sphere_polyhedron",
        "contact_sphere_polyhedron",
        width=1,
        counters=("kept", "pairs"),
    ),
    (ELLIPSOID, POLYHEDRON): _FEATURES,
    (SUPERQUADRIC, POLYHEDRON): _FEATURES,
    (CAPSULE, CAPSULE): PairKernel(_AT + "capsule_capsule", "contact_capsule_capsule", points=3),
    (CAPSULE, POLYHEDRON): PairKernel(
        _AT + "capsule_polyhedron",
        "contact_capsule_polyhedron",
        points=3,
        width=1,
        counters=("culled", "deep"),
    ),
    (ELLIPSOID, HALF_SPACE): _PLANE,
    (SUPERQUADRIC, HALF_SPACE): _PLANE,
    (CAPSULE, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_capsule_halfspace", points=2),
    (CYLINDER, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_cylinder_halfspace", points=10),
    (CONE, HALF_SPACE): PairKernel(_AT + "halfspace", "contact_cone_halfspace", points=10),
}
