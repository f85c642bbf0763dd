"""Several shapes made one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from drystone.errors import ModelError, ShapeError
from drystone.geometry.mass_properties import MassProperties, combined
from drystone.geometry.poses import rotation, vector
from drystone.geometry.shapes.base import Piece, PlanarShape, Shape, SpatialShape, query
from drystone.types import Bools, Floats, Ints, MatrixLike, Real, VectorLike
from drystone.values import reals

# a shape, (shape, position) or (shape, position, orientation)
PartLike = Shape | tuple[Shape, VectorLike] | tuple[Shape, VectorLike, Real | VectorLike]


class Part(NamedTuple):
    """A shape, where its frame stands [m], and its orientation: angle [rad] or quaternion."""

    shape: Shape
    position: tuple[float, ...]
    orientation: float | tuple[float, ...]

    def frame(self) -> tuple[Floats, Floats]:
        """Position (dim,) and axes (dim, dim) in the compound's frame."""
        return np.array(self.position), rotation("Compound", self.orientation, self.shape.dim)


@dataclass(frozen=True, eq=False)
class Compound(Shape):
    """The union of `parts`: (shape, position, orientation), (shape, position) or just a shape.

    Parts may themselves be compounds. Mass counts twice where parts overlap: cut them so that
    they touch, or give the body its mass and inertia.
    """

    parts: tuple[Part, ...]

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(self, parts: Sequence[PartLike] | list[object]) -> None: ...

    def __post_init__(self) -> None:
        try:
            given = None if isinstance(self.parts, Shape) else list(self.parts)
        except TypeError:
            given = None
        if given is None:
            raise ShapeError(f"Compound: parts must be a list of shapes, got {self.parts!r}")
        parts = tuple(_part(i, part) for i, part in enumerate(given))
        if not parts:
            raise ShapeError("Compound: parts must not be empty")
        for i, part in enumerate(parts):
            if part.shape.dim != parts[0].shape.dim:
                raise ShapeError(
                    f"Compound: part {i}, {part.shape!r}, is {_world(part.shape.dim)}, but part 0 "
                    f"is {_world(parts[0].shape.dim)}"
                )
        object.__setattr__(self, "parts", parts)

    @property
    def dim(self) -> int:
        """2 or 3, as its parts."""
        return int(self.parts[0].shape.dim)

    @cached_property
    def _frames(self) -> list[tuple[Floats, Floats]]:
        return [part.frame() for part in self.parts]

    def pieces(self) -> list[Piece]:
        return [
            piece.moved(x, R)
            for part, (x, R) in zip(self.parts, self._frames, strict=True)
            for piece in part.shape.pieces()
        ]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        p = query(points, self.dim)
        inside = np.zeros(p.shape[:-1], dtype=np.bool_)
        for part, (x, R) in zip(self.parts, self._frames, strict=True):
            inside |= part.shape.contains((p - x) @ R)
        return inside

    def _mass_properties(self, density: float) -> MassProperties:
        return combined(
            part.shape.mass_properties(density).moved(x, R)
            for part, (x, R) in zip(self.parts, self._frames, strict=True)
        )

    def outlines(self, n: int = 64) -> list[Floats]:
        """The outline of each planar part."""
        out = []
        for part, (x, R) in zip(self.parts, self._frames, strict=True):
            if not isinstance(part.shape, PlanarShape | Compound):
                raise ShapeError(f"Compound: {part.shape!r} is spatial and has no outline")
            out += [x + outline @ R.T for outline in part.shape.outlines(n)]
        return out

    def outline(self, n: int = 64) -> Floats:
        """(k, 2) outlines of the parts, with a row of nan between two: lines break there."""
        rows: list[Floats] = []
        for outline in self.outlines(n):
            rows += [outline, np.full((1, 2), np.nan)]
        return np.vstack(rows[:-1])

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        """(vertices (nv, 3), triangles (nt, 3)) of all parts; inner surfaces stay."""
        vertices, faces, count = [], [], 0
        for part, (x, R) in zip(self.parts, self._frames, strict=True):
            if not isinstance(part.shape, SpatialShape | Compound):
                raise ShapeError(f"Compound: {part.shape!r} is planar and has no mesh")
            v, f = part.shape.mesh(n)
            vertices.append(x + v @ R.T)
            faces.append(f + count)
            count += len(v)
        return np.vstack(vertices), np.vstack(faces)

    def __repr__(self) -> str:
        return f"Compound({len(self.parts)} parts)"


def _world(dim: int) -> str:
    return "planar" if dim == 2 else "spatial"


def _part(i: int, part: Any) -> Part:
    shape, *rest = (part,) if isinstance(part, Shape) else _items(i, part)
    if not isinstance(shape, Shape):
        raise ShapeError(f"Compound: part {i} must begin with a shape, got {shape!r}")
    if len(rest) > 2:
        raise ShapeError(
            f"Compound: part {i} must be (shape, position, orientation), got {len(rest) + 1} items"
        )
    dim = shape.dim
    owner = f"Compound: part {i}"
    try:
        position = vector(owner, "position", rest[0] if rest else [0.0] * dim, dim)
        if len(rest) < 2:
            return Part(shape, tuple(position.tolist()), 0.0 if dim == 2 else (1.0, 0.0, 0.0, 0.0))
        rotation(owner, rest[1], dim)
    except ShapeError:
        raise
    except ModelError as error:
        raise ShapeError(str(error)) from None
    orientation = np.asarray(reals(rest[1])).ravel().tolist()
    return Part(shape, tuple(position.tolist()), orientation[0] if dim == 2 else tuple(orientation))


def _items(i: int, part: Any) -> tuple[Any, ...]:
    if not isinstance(part, tuple | list) or not part:
        raise ShapeError(f"Compound: part {i} must be a shape or a tuple, got {part!r}")
    return tuple(part)
