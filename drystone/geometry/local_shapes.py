"""What a kind of geom looks like near a contact point: ways to fill ``Kind.local``.

All take the sides `which` (m, 2) of contacts (contact, 0 or 1), the geoms and their poses x, R,
geom (nc, 2), surface points p (nc, 2, 3), frames (nc, 3, 3), and write into `out`, a
``constraints.kinematics.local.LocalShapes``. Kernels are loaded when first used.
"""

from __future__ import annotations

from typing import Any

from drystone.kernels.kinematics import codes
from drystone.model import Geoms
from drystone.types import Floats, Ints


def flat(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """A plane."""
    side = which[:, 0], which[:, 1]
    out.feature[side], out.bits[side] = codes.FACE, codes.ON_FACE
    out.E[side] = 1.0, 0.0, 1.0


def smooth(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """Spheres, ellipsoids, superquadrics: by semi-axes and exponents."""
    from drystone.kernels.kinematics.features_smooth import features_smooth

    features_smooth(which, geom, x, R, geoms.first, geoms.numbers, p, frame, out.E, out.D)


def hollow(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """The same wall seen from the other side."""
    smooth(which, geoms, x, R, geom, p, frame, out)
    out.D[which[:, 0], which[:, 1]] *= -1.0


def revolved(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """Capsules, cylinders and cones: sides, rims, ends."""
    from drystone.kernels.kinematics.features_round import features_round

    features_round(
        which, geoms.kind, geom, x, R, geoms.first, geoms.numbers, p, frame, out.E, out.D,
        out.feature, out.bits, out.piece,
    )  # fmt: skip


def polyhedral(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """Faces, edges and vertices."""
    from drystone.kernels.kinematics.features_polyhedron import features_polyhedron

    features_polyhedron(
        which, geom, x, R, geoms.first, geoms.numbers, geoms.first_int, geoms.ints, geoms.radius,
        p, frame, out.E, out.D, out.feature, out.bits, out.piece,
    )  # fmt: skip


def formula(
    which: Ints, geoms: Geoms, x: Floats, R: Floats, geom: Ints, p: Floats, frame: Floats, out: Any
) -> None:
    """Surfaces of formulas."""
    from drystone.kernels.kinematics.features_surface import features_surface

    features_surface(
        which, geom, x, R, geoms.first, geoms.numbers, p, frame, out.E, out.D, out.bits
    )
