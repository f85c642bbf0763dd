"""What a kind of geom looks like near a contact point: ways to fill ``Kind.local``.

All take the sides `which` (m, 2) of contacts (contact, 0 or 1), the numbers of geoms, geom (nc, 2),
poses x, R of geoms, surface points p (nc, 2, 3), frames (nc, 3, 3), and write into `out`. Kernels
are loaded when first used.
"""

from __future__ import annotations

from drystone.kernels.kinematics import codes
from drystone.kernels.kinematics.codes import GeomNumbers, LocalShapes
from drystone.types import Floats, Ints


def flat(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """A plane."""
    side = which[:, 0], which[:, 1]
    out.feature[side], out.bits[side] = codes.FACE, codes.ON_FACE
    out.E[side] = 1.0, 0.0, 1.0


def smooth(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """Spheres, ellipsoids, superquadrics: by semi-axes and exponents."""
    from drystone.kernels.kinematics.features_smooth import features_smooth

    features_smooth(which, geoms, geom, x, R, p, frame, out)


def hollow(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """The same wall seen from the other side."""
    smooth(which, geoms, geom, x, R, p, frame, out)
    out.D[which[:, 0], which[:, 1]] *= -1.0


def revolved(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """Capsules, cylinders and cones: sides, rims, ends."""
    from drystone.kernels.kinematics.features_round import features_round

    features_round(which, geoms, geom, x, R, p, frame, out)


def polyhedral(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """Faces, edges and vertices."""
    from drystone.kernels.kinematics.features_polyhedron import features_polyhedron

    features_polyhedron(which, geoms, geom, x, R, p, frame, out)


def formula(
    which: Ints, geoms: GeomNumbers, geom: Ints, x: Floats, R: Floats, p: Floats, frame: Floats,
    out: LocalShapes,
) -> None:  # fmt: skip
    """Surfaces of formulas."""
    from drystone.kernels.kinematics.features_surface import features_surface

    features_surface(which, geoms, geom, x, R, p, frame, out)
