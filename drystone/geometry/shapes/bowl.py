"""A hollow in the ground: the inside of an ellipsoid, for bodies to roll in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.shapes.base import (
    SIGNED,
    FixedOnly,
    Piece,
    SpatialShape,
    corners,
    query,
    simple,
)
from drystone.kernels import kinds
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike

AT = "drystone.kernels.spatial.bowl"
# kernels of bodies in a bowl: of those that are curved, and of those that touch with corners only
IN_BOWL_ROUND = PairKernel(AT, "contact_bowl_round", points=2)
IN_BOWL_CORNERS = PairKernel(AT, "contact_bowl_corners", points=8)

KIND = Kind(
    code=kinds.BOWL,
    name="bowl",
    dim=3,
    numbers="a, b, c, 1, 1, rim: outside the ellipsoid of these semi-axes, where z <= rim",
    fits=6,
    picture=lambda a, ints, n: Bowl(*(float(a[i]) for i in (0, 1, 2, 5))).mesh(n),
    half_width=lambda a, ints: math.inf,
    local="hollow",
    hollow=True,
)


@dataclass(frozen=True, eq=False)
class Bowl(FixedOnly, SpatialShape):
    """The points below z = `rim` [m] that lie outside the ellipsoid of semi-axes a, b, c [m].

    Only its wall is there to collide with: neither the flat top nor the edge of the rim. Bodies
    may touch it at several places at once. rim: from -c to c, the middle by default.
    """

    a: float
    b: float
    c: float
    rim: float = field(default=0.0, metadata=SIGNED)
    kind: ClassVar[str] = "bowl"
    geom: ClassVar[Kind] = KIND

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -self.c < self.rim <= self.c:
            raise ShapeError(
                f"Bowl: rim must be above -c and at most c = {self.c}, got {self.rim!r}"
            )

    def pieces(self) -> list[Piece]:
        floats = [self.a, self.b, self.c, 1.0, 1.0, self.rim]
        return simple(KIND, floats, max(self.a, self.b, self.c))

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, 3)
        outside = np.linalg.norm(p / (self.a, self.b, self.c), axis=-1) >= 1.0
        inside: Bools = outside & (p[..., 2] <= self.rim)
        return inside

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        """The wall, seen from inside."""
        n = corners(n)
        rings = max(n // 2, 3)
        last = math.acos(-self.rim / self.c)
        angle = last * np.arange(1, rings + 1) / rings
        turn = 2.0 * math.pi * np.arange(n) / n
        wall = np.empty((rings, n, 3))
        wall[..., 0] = self.a * np.outer(np.sin(angle), np.cos(turn))
        wall[..., 1] = self.b * np.outer(np.sin(angle), np.sin(turn))
        wall[..., 2] = -self.c * np.cos(angle)[:, None]
        vertices = np.vstack([[(0.0, 0.0, -self.c)], wall.reshape(-1, 3)])
        i = np.arange(n)
        j = (i + 1) % n
        faces = [np.column_stack([np.zeros(n, np.int64), 1 + i, 1 + j])]
        for k in range(rings - 1):
            low, high = 1 + k * n, 1 + (k + 1) * n
            faces.append(np.column_stack([low + i, high + j, low + j]))
            faces.append(np.column_stack([low + i, high + i, high + j]))
        return vertices, np.vstack(faces).astype(np.int64)
