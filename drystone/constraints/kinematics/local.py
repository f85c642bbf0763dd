"""The local shape of both bodies at every contact: all that C'' asks of a surface.

E (m' - omega x m) = D s ties the turning of the outer normal m to the slide s of the point along
the surface: E = 1 and D = curvature on smooth surfaces, D = 0 on faces, E = 0 at vertices, both
singular on edges. So no curvature is ever infinite, and all contacts share one formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drystone.errors import UnsupportedPairError
from drystone.geometry import kinds
from drystone.kernels.kinematics import codes
from drystone.model import Contacts, Geoms
from drystone.types import Floats, Ints


@dataclass(slots=True)
class LocalShapes:
    """feature, bits, piece (nc, 2): codes of ``kernels.kinematics.codes``; E, D (nc, 2, k): the
    tensors (xx, xy, yy) along the tangents (k = 3), one number in the plane (k = 1)."""

    feature: Ints
    bits: Ints
    piece: Ints
    E: Floats
    D: Floats

    @classmethod
    def empty(cls, nc: int, dim: int) -> LocalShapes:
        """Of nc contacts, all zeros."""
        feature, bits, piece = (np.zeros((nc, 2), np.int64) for _ in range(3))
        E, D = (np.zeros((nc, 2, 2 * dim - 3)) for _ in range(2))
        return cls(feature, bits, piece, E, D)

    def clear(self) -> None:
        """Zeros again."""
        for array in (self.feature, self.bits, self.piece, self.E, self.D):
            array[...] = 0


Fill = Callable[[Floats, Floats, Floats, Floats, LocalShapes], None]


def local_shapes(
    x: Floats, R: Floats, contacts: Contacts, frame: Floats, fill: Fill
) -> LocalShapes:
    """Shapes of both sides of the contacts in their frames (nc, dim, dim)."""
    nc, dim = contacts.point.shape
    half = 0.5 * contacts.gap[:, None] * contacts.normal
    p = np.empty((nc, 2, dim))
    np.add(contacts.point, half, out=p[:, 0])
    np.subtract(contacts.point, half, out=p[:, 1])
    out = LocalShapes.empty(nc, dim)
    fill(x, R, p, frame, out)
    return out


@dataclass(slots=True)
class Sides:
    """What stays of contacts wherever they are: geom, body (nc, 2); size (nc,) of the smaller geom
    [m]; what fills their shapes."""

    geom: Ints
    body: Ints
    size: Floats
    fill: Fill

    @classmethod
    def of(cls, geoms: Geoms, contacts: Contacts) -> Sides:
        geom = np.stack([contacts.geom_a, contacts.geom_b], axis=1)
        size = geoms.radius[geom].min(axis=1)
        return cls(geom, geoms.body[geom], size, shapes_of(geoms, geom))


def shapes_of(geoms: Geoms, geom: Ints) -> Fill:
    """What fills the shapes of contacts between geoms (nc, 2), from poses x, R, surface points
    p (nc, 2, dim) and frames (nc, dim, dim), wherever these contacts are."""
    if geoms.dim == 2:
        from drystone.kernels.kinematics.features_planar import features_planar

        def planar(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
            features_planar(
                geoms.kind, geom, x, R, geoms.first, geoms.numbers, geoms.radius, p, frame,
                out.E, out.D, out.feature, out.bits, out.piece,
            )  # fmt: skip

        return planar
    kind = geoms.kind[geom]
    groups = [(k, np.argwhere(kind == k)) for k in sorted(set(kind.ravel().tolist()))]

    def spatial(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
        for k, which in groups:
            _fill(k, which, geoms, x, R, geom, p, frame, out)

    return spatial


def _fill(
    kind: int,
    which: Ints,
    geoms: Geoms,
    x: Floats,
    R: Floats,
    geom: Ints,
    p: Floats,
    frame: Floats,
    out: LocalShapes,
) -> None:
    """Sides `which` (m, 2) of one kind; kernels are loaded when first used."""
    where = (which, geom, x, R, geoms.first, geoms.numbers)
    marks = (out.feature, out.bits, out.piece)
    if kind == kinds.HALF_SPACE:
        side = which[:, 0], which[:, 1]
        out.feature[side], out.bits[side] = codes.FACE, codes.ON_FACE
        out.E[side] = 1.0, 0.0, 1.0
    elif kind in (kinds.SPHERE, kinds.ELLIPSOID, kinds.SUPERQUADRIC, kinds.BOWL):
        from drystone.kernels.kinematics.features_smooth import features_smooth

        features_smooth(*where, p, frame, out.E, out.D)
        if kind == kinds.BOWL:  # the same wall seen from the other side
            out.D[which[:, 0], which[:, 1]] *= -1.0
    elif kind == kinds.SURFACE:
        from drystone.kernels.kinematics.features_surface import features_surface

        features_surface(*where, p, frame, out.E, out.D, out.bits)
    elif kind in (kinds.CAPSULE, kinds.CYLINDER, kinds.CONE):
        from drystone.kernels.kinematics.features_round import features_round

        features_round(which, geoms.kind, *where[1:], p, frame, out.E, out.D, *marks)
    elif kind == kinds.POLYHEDRON:
        from drystone.kernels.kinematics.features_polyhedron import features_polyhedron

        features_polyhedron(
            *where, geoms.first_int, geoms.ints, geoms.radius, p, frame, out.E, out.D, *marks
        )
    else:
        raise UnsupportedPairError(f"no contact kinematics for {kinds.NAMES[kind]}")
