"""Bodies in a bowl: all kinds that can move, each at its local extremal points."""

from __future__ import annotations

from drystone.geometry.kinds import (
    BOWL,
    CAPSULE,
    CONE,
    CYLINDER,
    ELLIPSOID,
    NAMES,
    POLYHEDRON,
    SPHERE,
    SUPERQUADRIC,
    SURFACE,
)
from drystone.geometry.narrow import PairKernel

_AT = "drystone.kernels.bowl."

ENTRIES: dict[tuple[int, int], PairKernel] = {
    (BOWL, kind): PairKernel(_AT + module, f"contact_bowl_{NAMES[kind]}", points=points)
    for module, points, chosen in (
        ("round", 2, (SURFACE, SPHERE, ELLIPSOID, SUPERQUADRIC, CAPSULE)),
        ("points", 8, (CYLINDER, CONE, POLYHEDRON)),
    )
    for kind in chosen
}
