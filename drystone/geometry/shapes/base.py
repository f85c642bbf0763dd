"""What every shape can do, and the checks that their constructors share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from drystone.errors import ModelError, ShapeError
from drystone.geometry.kinds import Kind
from drystone.geometry.mass_properties import FARTHEST, MassProperties
from drystone.geometry.poses import vector
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike
from drystone.values import real, reals, text, whole

LARGEST, SMALLEST = 1e50, 1e-50  # [m]: fifth powers of lengths, as in inertias, stay numbers
MOST_CORNERS = 10_000  # of a picture of a curve: finer than any screen
SIGNED = {"unit": "m", "signed": True}  # of a parameter that may be zero or negative
NO_INTS: Ints = np.empty(0, dtype=np.int64)
NO_FLOATS: Floats = np.empty(0)
ORIGIN: dict[int, Floats] = {2: np.zeros(2), 3: np.zeros(3)}
AXES: dict[int, Floats] = {2: np.eye(2), 3: np.eye(3)}
for _array in (NO_INTS, NO_FLOATS, *ORIGIN.values(), *AXES.values()):
    _array.setflags(write=False)


class Piece(NamedTuple):
    """One convex geom of a shape, as ``geometry.kinds`` lays it out.

    kind: code; floats, ints: its numbers; offset (dim,), turn (dim, dim): its frame in the
    shape's (columns of turn are its axes); radius: of the least ball about its frame's origin
    that holds it, inf if it is unbounded; bend (3,): of a mesh's triangle, see ``Geoms``.
    """

    kind: int
    floats: Floats
    ints: Ints
    offset: Floats
    turn: Floats
    radius: float
    bend: Floats | None = None

    def moved(self, position: Floats, turn: Floats) -> Piece:
        """The piece in a frame in which the present one stands at `position` with axes `turn`."""
        return self._replace(offset=position + turn @ self.offset, turn=turn @ self.turn)


class Shape(ABC):
    """A solid, in a frame of its own; immutable, equal to another of the same kind and numbers.

    Every shape is a frozen dataclass, whose fields are its parameters: those of type float are
    positive lengths [m] unless their metadata says otherwise (`unit`; `signed`; `range`, both ends
    included). kind: what scene files call it, "" if no file can hold it; geom: the kind of its
    pieces; takes_sizes: it is made of lengths along its axes, which may also be given as one
    sequence.
    """

    kind: ClassVar[str] = ""
    geom: ClassVar[Kind | None] = None
    takes_sizes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def dim(self) -> int:
        """2 or 3."""

    @abstractmethod
    def pieces(self) -> list[Piece]:
        """The convex geoms that the shape is the union of."""

    @abstractmethod
    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        """Which of the points (..., dim) lie in the shape, its surface included."""

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre and inertia at a density [kg/m^3], in the plane [kg/m^2]; exact."""
        name, number = type(self).__name__, real(density)
        if number is None or not 0 < number < math.inf:
            raise ModelError(f"{name}: density must be positive and finite, got {text(density)}")
        try:
            with np.errstate(all="ignore"):
                out = self._mass_properties(number)
        except (OverflowError, ZeroDivisionError):
            out = None
        if out is None or not 0.0 < out.mass < math.inf or not _heavy(out.inertia):
            raise ModelError(
                f"{self!r} with density {text(density)}: its mass leaves the range of floats"
            )
        return out

    @abstractmethod
    def _mass_properties(self, density: float) -> MassProperties: ...

    @property
    def bounding_radius(self) -> float:
        """Radius of a ball about the origin of the shape's frame that holds it all [m]."""
        return max(
            piece.radius + float(np.linalg.norm(piece.offset))
            if piece.radius < math.inf
            else math.inf
            for piece in self.pieces()
        )

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (
            type(self),
            *(_hashable(getattr(self, field.name)) for field in fields(cast(Any, self))),
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing changes it

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class PlanarShape(Shape):
    """A shape of planar worlds."""

    dim = 2

    @abstractmethod
    def outline(self, n: int = 64) -> Floats:
        """(k, 2) points round the boundary, counter-clockwise, for pictures; curves get about n."""

    def outlines(self, n: int = 64) -> list[Floats]:
        """The outline of each part."""
        return [self.outline(n)]


class SpatialShape(Shape):
    """A shape of spatial worlds."""

    dim = 3

    @abstractmethod
    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        """(vertices (nv, 3), triangles (nt, 3)), counter-clockwise seen from outside; circles
        get n corners."""


class FixedOnly(Shape):
    """A shape without a mass of its own: only for bodies that do not move."""

    def _mass_properties(self, density: float) -> MassProperties:
        raise ModelError(
            f"{type(self).__name__} has no mass: fixed bodies only (fixed=True, or motion=...)"
        )


class Ground(FixedOnly):
    """The points p with normal . p <= offset, without end; in the plane and in space."""

    geom: ClassVar[Kind]
    normal: Floats
    offset: float

    def __post_init__(self) -> None:
        kind = type(self).__name__
        normal = unit(kind, "normal", self.normal, self.dim)
        # made a unit vector twice, it may change in a bit: written down as it was said
        self.__dict__["said"] = tuple(np.asarray(self.normal, float).tolist())
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", number(kind, "offset", self.offset))

    @abstractmethod
    def _frame(self) -> tuple[Floats, Floats]:
        """A point of the surface (dim,), and axes (dim, dim) of which the last is the normal."""

    def pieces(self) -> list[Piece]:
        return [Piece(self.geom.code, NO_FLOATS, NO_INTS, *self._frame(), math.inf)]

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        out: Bools = query(points, self.dim) @ self.normal <= self.offset
        return out


def _heavy(inertia: Any) -> bool:
    """Whether moments of inertia are positive numbers."""
    moments = np.diagonal(inertia) if np.ndim(inertia) else np.array([inertia])
    return bool(np.all(np.isfinite(inertia)) and np.all(moments > 0.0))


def size(shape: Shape, *names: str) -> None:
    """Make the named fields floats; raise ShapeError unless they are positive and finite."""
    kind = type(shape).__name__
    for name in names:
        given = getattr(shape, name)
        value = real(given)
        if value is None:
            raise ShapeError(f"{kind}: {name} must be a number, got {text(given)}")
        if not (math.isfinite(value) and value > 0):
            raise ShapeError(f"{kind}: {name} must be positive and finite, got {text(given)}")
        if not SMALLEST <= value <= LARGEST:
            raise ShapeError(
                f"{kind}: {name} must be from {SMALLEST:g} to {LARGEST:g}, got {text(given)}"
            )
        object.__setattr__(shape, name, value)


@cache
def parameters(cls: type[Shape]) -> dict[str, Mapping[str, Any]]:
    """Metadata of the fields that are plain numbers."""
    own = fields(cast(Any, cls))
    return {f.name: f.metadata for f in own if f.init and f.type in ("float", float)}


def check_parameters(shape: Shape) -> None:
    """Make all parameters floats; raise ShapeError unless they are what their metadata says."""
    kind = type(shape).__name__
    for name, about in parameters(type(shape)).items():
        if about.get("signed"):
            object.__setattr__(shape, name, number(kind, name, getattr(shape, name)))
        else:
            size(shape, name)
        low, high = about.get("range", (-math.inf, math.inf))
        value = getattr(shape, name)
        if not low <= value <= high:
            raise ShapeError(f"{kind}: {name} must be from {low:g} to {high:g}, got {value!r}")


def number(kind: str, name: str, value: Any) -> float:
    """`value` as a finite float."""
    out = real(value)
    if out is None or not math.isfinite(out):
        raise ShapeError(f"{kind}: {name} must be a finite number, got {text(value)}")
    if abs(out) > LARGEST:
        raise ShapeError(f"{kind}: {name} must be at most {LARGEST:g}, got {out:g}")
    return out


def corners(n: Any, least: int = 3) -> int:
    """A number of corners for a picture."""
    out = whole(n)
    if out is None or not least <= out <= MOST_CORNERS:
        expected = f"a whole number from {least} to {MOST_CORNERS}"
        raise ShapeError(f"n = {text(n)}: expected {expected}")
    return out


def points_of(kind: str, name: str, values: Any, dim: int, least: int) -> Floats:
    """`values` as a read-only (k, dim) array of k >= least finite points."""
    out = reals(values)
    if out is None:
        raise ShapeError(f"{kind}: {name} must be an array of numbers")
    if out.ndim != 2 or out.shape[1] != dim:
        raise ShapeError(f"{kind}: {name} must have shape (k, {dim}), got {out.shape}")
    if out.shape[0] < least:
        raise ShapeError(f"{kind}: {name} must be at least {least} points, got {out.shape[0]}")
    bad = ~np.isfinite(out).all(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise ShapeError(f"{kind}: {name}[{i}] must be finite, got {out[i].tolist()}")
    far = (np.abs(out) > LARGEST).any(axis=1)
    if far.any():
        i = int(np.argmax(far))
        raise ShapeError(f"{kind}: {name}[{i}] must be within {LARGEST:g} m, got {out[i].tolist()}")
    extent = float(np.ptp(out, axis=0).max())
    if 0.0 < extent < SMALLEST:
        raise ShapeError(f"{kind}: {name} must be {SMALLEST:g} m apart or more, got {extent:g} m")
    out.setflags(write=False)
    return out


def unit(kind: str, name: str, value: Any, dim: int) -> Floats:
    """`value` as a unit vector (dim,), whatever its length was."""
    try:
        out = vector(kind, name, value, dim)
    except ModelError as error:
        raise ShapeError(str(error)) from None
    length = math.hypot(*out)
    if not 1e-150 < length < 1e150:
        raise ShapeError(f"{kind}: {name} must not be zero, got {out.tolist()}")
    out = out / length
    out.setflags(write=False)
    return out


def query(points: Any, dim: int) -> Floats:
    """Points (..., dim) to ask about."""
    out = reals(points)
    if out is None:
        raise ShapeError(f"points must be numbers, got {text(points)}")
    if out.ndim == 0 or out.shape[-1] != dim:
        raise ShapeError(f"points must have shape (..., {dim}), got {out.shape}")
    return np.clip(out, -FARTHEST, FARTHEST)  # farther is as far; nan stays nan


def circle(n: int) -> Floats:
    """(n, 2) points of the unit circle."""
    angle = np.linspace(0.0, 2.0 * math.pi, corners(n), endpoint=False)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def simple(kind: Kind, floats: Sequence[float], radius: float) -> list[Piece]:
    """The one piece of a shape whose frame is its geom's."""
    x, R = ORIGIN[kind.dim], AXES[kind.dim]
    return [Piece(kind.code, np.array(floats, dtype=np.float64), NO_INTS, x, R, radius)]


def half_width(corners: Floats, normals: Floats) -> float:
    """Half of the least extent of a polytope along the normals of its faces."""
    along = corners @ normals.T
    return 0.5 * float((along.max(axis=0) - along.min(axis=0)).min())


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    return value
