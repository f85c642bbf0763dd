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
from drystone.geometry.shapes import KINDS
from drystone.kernels.kinematics.codes import GeomNumbers, LocalShapes
from drystone.model import Contacts, Geoms
from drystone.types import Floats, Ints

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
    table = GeomNumbers(
        geoms.kind, geoms.radius, geoms.first, geoms.numbers, geoms.first_int, geoms.ints
    )
    if geoms.dim == 2:
        from drystone.kernels.kinematics.features_planar import features_planar

        def planar(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
            features_planar(table, geom, x, R, p, frame, out)

        return planar
    kind = geoms.kind[geom]
    groups = []
    for k in sorted(set(kind.ravel().tolist())):
        fill = KINDS[k].local
        if fill is None:
            raise UnsupportedPairError(f"no contact kinematics for {KINDS[k].name}")
        groups.append((fill, np.argwhere(kind == k)))

    def spatial(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
        for fill, which in groups:
            fill(which, table, geom, x, R, p, frame, out)

    return spatial
