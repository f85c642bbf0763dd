"""Convex solids that a user gives by a formula: F(x, y, z) <= 0, or a surface S(u, v)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import isabstract
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from drystone.errors import ArgumentError, ShapeError
from drystone.functions import check_importable
from drystone.geometry.kinds import Kind, PairKernel
from drystone.geometry.mass_properties import MassProperties, inertia_matrix
from drystone.geometry.poses import vector
from drystone.geometry.shapes.base import (
    AXES,
    NO_INTS,
    ORIGIN,
    Piece,
    SpatialShape,
    check_parameters,
    query,
)
from drystone.geometry.shapes.black_box import BlackBox, distances
from drystone.geometry.shapes.bowl import IN_BOWL_ROUND
from drystone.geometry.shapes.trace import Tape, check_derivatives, check_functions, results, trace
from drystone.kernels import kinds
from drystone.kernels.surfaces import layout
from drystone.registry import unfit
from drystone.types import Bools, Floats, Ints, MatrixLike, VectorLike
from drystone.values import text

LONGEST_RAY = 1e9  # [m] at which a ray that has not left the solid shows that it is not closed
SLACK = 1.05  # of the bounding radius over that of the sampled points
BENT = 1e-7  # curvature times size below which a surface counts as concave
GOOD, POOR = 1e-10, 1e-5  # relative difference of two rules for a volume: enough, too much
NODES = 48  # of a rule of Gauss in each direction, for volumes


def _fits(a: Floats, ints: Ints) -> bool:
    if ints.size or a.size < layout.TABLE or not a[layout.TABLE_ROWS] > 3.0:
        return False
    return bool(layout.TABLE + a[layout.TABLE_ROWS] * layout.COLUMNS + a[layout.LENGTH] <= a.size)


KIND = Kind(
    code=kinds.SURFACE,
    name="surface",
    dim=3,
    numbers="those of ``kernels.surfaces.layout``: a formula, and points to start from",
    fits=_fits,
    picture=lambda a, ints, n: table_mesh(np.array(a)),
    half_width=lambda a, ints: 0.1 * float(a[layout.RADIUS]),
    local="formula",
    pairs={
        "half-space": PairKernel("drystone.kernels.spatial.halfspace", "contact_surface_halfspace"),
        "bowl": IN_BOWL_ROUND,
    },
)


def check_own(shape: Any) -> None:
    """Raise ShapeError unless the parameters of a user's shape are what their types say, and can
    be compared: worlds keep one table for all bodies of equal shape."""
    check_parameters(shape)
    try:
        hash(shape)
    except TypeError:
        wrong = next(field.name for field in fields(shape) if not _hashable(shape, field.name))
        raise ShapeError(
            f"{type(shape).__name__}: {wrong} = {text(getattr(shape, wrong))}: a parameter must "
            "not change: give a tuple, or an array with @dataclass(frozen=True, eq=False)"
        ) from None


def _hashable(shape: Any, field: str) -> bool:
    value = getattr(shape, field)
    if isinstance(value, np.ndarray):
        return type(shape).__hash__ is SpatialShape.__hash__  # that of a dataclass takes no arrays
    try:
        hash(value)
    except TypeError:
        return False
    return True


class Program(NamedTuple):
    """A tape, the registers of its results and the form; or the function that is called."""

    tape: Tape
    registers: list[int]
    form: int
    box: BlackBox | None = None


class FormulaSurface(SpatialShape):
    """A closed convex surface known by points, normals and curvatures of a formula."""

    geom: ClassVar[Kind] = KIND

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        """Bases of users' shapes are no shapes themselves."""
        if isabstract(cls):
            lacking = ", ".join(sorted(cls.__abstractmethods__))
            given = ", ".join(fields)
            raise ArgumentError(
                f"{cls.__name__}({given}) is a base: derive a frozen dataclass from it, with a "
                f"method {lacking}"
            )
        wrong = unfit(cls)
        if wrong is not None:
            raise ArgumentError(f"{cls.__name__} {wrong}")
        return super().__new__(cls)

    @abstractmethod
    def _traced(self) -> Program:
        """The formula noted down; ShapeError if it cannot be."""

    @abstractmethod
    def _called(self) -> tuple[BlackBox, int]:
        """The function to be called instead, tried once with plain numbers, and the form."""

    @cached_property
    def _program(self) -> Program:
        try:
            return self._traced()
        except ShapeError:
            from drystone.kernels._calls import answer, enter

            box, form = self._called()
            box.size, box.complex = vars(self).get("_way", (box.size, box.complex))
            return Program(Tape(), [id(answer), enter(box)], form, box)

    def __getstate__(self) -> dict[str, Any]:
        """What the user gave, and how it is differentiated: the rest holds addresses that are
        this process's alone. DescriptionError if a function cannot be found by its name."""
        state = self._given()
        called = {name: value for name, value in state.items() if callable(value)}
        check_importable(type(self).__name__, **called)
        box = self._program.box
        return state if box is None else state | {"_way": (box.size, box.complex)}

    def _given(self) -> dict[str, Any]:
        this: Any = self
        return {f.name: getattr(this, f.name) for f in fields(this)}

    @abstractmethod
    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        """About 2 n^2 points of the surface and outer unit normals (k, 3), parameters (k, 2)."""

    @abstractmethod
    def _cones(self, n: int) -> tuple[Floats, Floats]:
        """Points x (k, 3) and weights (k,): integrals of x.N over the surface by n nodes a side."""

    def _numbers(self, table: Floats, radius: float, sign: float) -> Floats:
        tape, registers, form, _ = self._program
        head = np.zeros(layout.TABLE)
        head[layout.RADIUS], head[layout.FORM], head[layout.SIGN] = radius, form, sign
        head[layout.TABLE_ROWS], head[layout.LENGTH] = len(table), len(tape.rows)
        head[layout.RESULT : layout.RESULT + len(registers)] = registers
        return np.concatenate([head, table.ravel(), np.ravel(tape.rows).astype(float)])

    def _jets(self, points: Floats, sign: float = 1.0) -> tuple[Floats, Floats]:
        """Jets (k, 3, 10) at points (k, 3) of the formula's variables, and the bare numbers."""
        from drystone.kernels.surfaces.sample import sample_jets

        numbers = self._numbers(np.empty((0, layout.COLUMNS)), 1.0, sign)
        out = np.empty((len(points), 3, 10))
        with np.errstate(all="ignore"):  # what is not finite is refused by name
            sample_jets(numbers, np.ascontiguousarray(points), out)
        return out, numbers

    @cached_property
    def _table(self) -> Floats:
        """(k, 5) points and parameters to start from; checked to be those of a convex surface."""
        points, normals, parameters = self._sampled(14)
        self._check_convex(points, normals, parameters)
        return np.hstack([points, parameters])

    def _check_convex(self, points: Floats, normals: Floats, parameters: Floats) -> None:
        from drystone.kernels.surfaces.sample import sample_curvature

        name, size = type(self).__name__, float(np.linalg.norm(np.ptp(points, axis=0)))
        implicit = self._program.form != layout.PARAMETRIC
        where = points if implicit else np.column_stack([parameters, np.zeros(len(points))])
        jets, numbers = self._jets(where, self._outwards)
        if not np.isfinite(jets[:, : 1 if implicit else 3]).all():
            bad = int(np.argmin(np.isfinite(jets[:, : 1 if implicit else 3]).all(axis=(1, 2))))
            raise ShapeError(
                f"{name}: no second derivatives at {points[bad].tolist()}: "
                "the formula must be twice differentiable on the surface"
            )
        least = np.empty(len(points))
        sample_curvature(numbers, np.ascontiguousarray(normals), jets, least)
        worst = int(np.nanargmin(least))
        if least[worst] * size < -BENT:
            raise ShapeError(
                f"{name}: the surface must be convex, but bends inwards at "
                f"{points[worst].tolist()}: curvature {least[worst]:.3g} 1/m{self._doubt}"
            )
        beyond = normals @ points.T - np.einsum("ij,ij->i", normals, points)[:, None]
        if beyond.max() > 1e-9 * size:
            i, j = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            raise ShapeError(
                f"{name}: the surface must be convex, but {points[j].tolist()} lies "
                f"{beyond[i, j]:.3g} m beyond the tangent plane at {points[i].tolist()}"
                f"{self._doubt}"
            )

    @property
    def _doubt(self) -> str:
        """What else may be wrong with a surface that seems not to be convex."""
        return ""

    @property
    def _outwards(self) -> float:
        return 1.0

    @property
    def bounding_radius(self) -> float:
        """Of a ball about the origin that holds the solid, from sampled points [m]."""
        return SLACK * float(np.linalg.norm(self._table[:, :3], axis=1).max())

    @cached_property
    def _piece(self) -> Piece:
        from drystone.kernels._calls import address
        from drystone.kernels.surfaces.support import support_point

        radius = self.bounding_radius
        floats = self._numbers(self._table, radius, self._outwards)
        at = address(support_point, floats, 0, 0.0, 0.0, 0.0, np.empty(3))
        floats[layout.ADDRESS] = at
        return Piece(KIND.code, floats, NO_INTS, ORIGIN[3], AXES[3], radius)

    def pieces(self) -> list[Piece]:
        return [self._piece]

    def _mass_properties(self, density: float) -> MassProperties:
        fine, error = self._moments(NODES), 1.0
        for n in (2 * NODES, 4 * NODES):
            rough, fine = fine, self._moments(n)
            error = abs(rough[0] - fine[0]) / fine[0]
            if error <= GOOD:
                break
        if error > POOR:
            raise ShapeError(
                f"{type(self).__name__}: its volume could not be computed, two rules differ by "
                f"{error:.1e}; give mass and inertia instead of a density"
            )
        volume, centre, second = fine
        second = second - volume * np.outer(centre, centre)
        return MassProperties(density * volume, centre, density * inertia_matrix(second))

    def _moments(self, n: int) -> tuple[float, Floats, Floats]:
        """Volume, centre, second moments about the origin: the cones from the origin to pieces
        of the surface have a third, a quarter and a fifth of their weight in them."""
        x, w = self._cones(n)
        volume = float(w.sum()) / 3.0
        centre = w @ x / (4.0 * volume)
        size = float(np.abs(x).max())
        centre = np.where(np.abs(centre) < 1e-13 * size, 0.0, centre)
        return volume, centre, np.einsum("k,ki,kj->ij", w, x, x) / 5.0

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        from drystone.kernels.surfaces.sample import inside

        p = query(points, 3)
        flat = np.ascontiguousarray(p.reshape(-1, 3))
        out = np.empty(len(flat), np.bool_)
        inside(self._piece.floats, flat, out)
        return out.reshape(p.shape[:-1])

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return hull_mesh(self._sampled(max(n // 2, 4))[0])


class _Implicit(FormulaSurface):
    """What solids F(x, y, z) <= 0 share."""

    gradient: Callable[..., Any] | None
    hessian: Callable[..., Any] | None
    inside: Any

    if TYPE_CHECKING:  # a field, or a method of a class derived from it

        def F(self, x: Any, y: Any, z: Any) -> Any: ...

    def __post_init__(self) -> None:
        name = type(self).__name__
        if (self.gradient is None) != (self.hessian is None):
            raise ShapeError(f"{name}: give both gradient and hessian, or neither")
        inside = vector(name, "inside", self.inside, 3)
        inside.setflags(write=False)
        object.__setattr__(self, "inside", inside)
        check_functions(name, F=self.F)
        if self.gradient is not None:
            check_functions(name, gradient=self.gradient, hessian=self.hessian)
        value = float(self._values(inside[None])[0])
        if not value < 0.0:
            raise ShapeError(
                f"{name}: F must be negative inside, but F{tuple(inside.tolist())} "
                f"= {value:.6g}; give a point inside=(x, y, z)"
            )
        self._check_derivatives()
        _ = self._table

    def _check_derivatives(self) -> None:
        box = self._program.box
        if box is not None:
            x = self._rays(directions(4)[6:])  # off the axes, where functions like to branch
            box.prepare(x, float(np.linalg.norm(x - self.inside, axis=1).max()))
        elif self.gradient is not None:
            x, bare = self._rays(directions(4)), object.__new__(type(self))
            vars(bare).update(self._given() | {"gradient": None})
            jets = [shape._jets(x)[0][:, 0] for shape in (self, bare)]
            check_derivatives(type(self).__name__, "F", ("gradient", "hessian"), x, *jets)

    def _traced(self) -> Program:
        name, tape = type(self).__name__, Tape()
        registers = results(name, "F", trace(name, "F", self.F, 3, tape), 1, tape)
        if self.gradient is None or self.hessian is None:
            return Program(tape, [registers[0]] * 3, layout.IMPLICIT)
        given = trace(name, "gradient", self.gradient, 3, tape)
        registers += results(name, "gradient", given, 3, tape)
        given = trace(name, "hessian", self.hessian, 3, tape)
        H = results(name, "hessian", given, 9, tape)
        registers += [H[k] for k in (0, 1, 2, 4, 5, 8)]
        return Program(tape, registers, layout.DERIVED)

    def _called(self) -> tuple[BlackBox, int]:
        given = None
        if self.gradient is not None and self.hessian is not None:
            given = self.gradient, self.hessian
        box = BlackBox(type(self).__name__, "F", self.F, 3, 1, given)
        box.value(*self.inside.tolist())
        return box, layout.IMPLICIT

    def _values(self, points: Floats) -> Floats:
        box = self._program.box
        with np.errstate(all="ignore"):
            if box is not None:
                found = [box.value(*point)[0] for point in points.reshape(-1, 3).tolist()]
                return np.reshape(found, points.shape[:-1])
            value = self.F(points[..., 0], points[..., 1], points[..., 2])
        return np.broadcast_to(np.asarray(value, float), points.shape[:-1])

    def _rays(self, directions: Floats) -> Floats:
        """(k, 3) where rays from `inside` along unit directions (k, 3) leave the solid."""
        far = np.ones(len(directions))
        while True:
            still = ~(self._values(self.inside + far[:, None] * directions) > 0.0)
            if not still.any():
                break
            far[still] *= 2.0
            if far.max() > LONGEST_RAY:
                at = directions[int(np.argmax(far))]
                raise ShapeError(
                    f"{type(self).__name__}: the surface must be closed, but F stays negative "
                    f"along {at.round(6).tolist()} from inside"
                )
        if self._program.box is not None:
            with np.errstate(all="ignore"):
                far = distances(self._program.box, self.inside, directions, far)
            return self.inside + far[:, None] * directions
        near = np.zeros(len(directions))
        for _ in range(1100):
            middle = 0.5 * (near + far)
            if ((middle <= near) | (middle >= far)).all():
                break
            out = self._values(self.inside + middle[:, None] * directions) > 0.0
            far, near = np.where(out, middle, far), np.where(out, near, middle)
        return self.inside + far[:, None] * directions

    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        points = self._rays(directions(n))
        gradient = self._jets(points)[0][:, 0, 1:4]
        length = np.linalg.norm(gradient, axis=1)
        if not (length > 0.0).all():
            bad = points[int(np.argmin(length))]
            raise ShapeError(
                f"{type(self).__name__}: the gradient of F vanishes on the surface, at "
                f"{bad.tolist()}"
            )
        return points, gradient / length[:, None], np.zeros((len(points), 2))

    def _cones(self, n: int) -> tuple[Floats, Floats]:
        z, w = np.polynomial.legendre.leggauss(n)
        angle = math.pi * (np.arange(2 * n) + 0.5) / n
        rho = np.sqrt(1.0 - z * z)
        d = np.stack([
            np.outer(rho, np.cos(angle)),
            np.outer(rho, np.sin(angle)),
            np.outer(z, np.ones_like(angle)),
        ], axis=-1).reshape(-1, 3)  # fmt: skip
        x = self._rays(d) - self.inside
        weight = np.repeat(w, 2 * n) * math.pi / n
        return x, weight * np.linalg.norm(x, axis=1) ** 3

    def _moments(self, n: int) -> tuple[float, Floats, Floats]:
        volume, centre, second = super()._moments(n)  # about `inside`
        p = self.inside
        cross = volume * np.outer(centre, p)
        second = second + cross + cross.T + volume * np.outer(p, p)
        return volume, centre + p, second

    def contains(self, points: MatrixLike | VectorLike) -> Bools:
        return self._values(query(points, 3)) <= 0.0


@dataclass(frozen=True, eq=False)
class ImplicitSurface(_Implicit):
    """The solid F(x, y, z) <= 0, closed and convex, F twice differentiable on its surface [m].

    F is called once, with symbols, if it uses arithmetic and NumPy functions alone; kernels take
    it from there. Else, as for branches or tables, it is called with numbers whenever it is needed.
    Derivatives are computed exactly, or `gradient`, which gives 3 numbers, and `hessian`, 3 x 3,
    are taken if both are given, as they must be if F uses `math`. inside: a point with F < 0.
    """

    F: Callable[..., Any]
    gradient: Callable[..., Any] | None = None
    hessian: Callable[..., Any] | None = None
    inside: Any = (0.0, 0.0, 0.0)

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(
            self,
            F: Callable[..., Any],
            gradient: Callable[..., Any] | None = None,
            hessian: Callable[..., Any] | None = None,
            inside: VectorLike = (0.0, 0.0, 0.0),
        ) -> None: ...


class ImplicitShape(_Implicit):
    """Base of convex solids of your own: a frozen dataclass of its parameters, with a method
    ``F(self, x, y, z)`` that is negative inside, as that of ``ds.ImplicitSurface``.

    `inside`, a point with F < 0, is the origin unless the class says otherwise.
    """

    inside = (0.0, 0.0, 0.0)
    gradient = None
    hessian = None

    @abstractmethod
    def F(self, x: Any, y: Any, z: Any) -> Any:
        """Negative inside, zero on the surface."""

    def __post_init__(self) -> None:
        check_own(self)
        super().__post_init__()


def table_mesh(numbers: Floats) -> tuple[Floats, Ints]:
    """Mesh of a SURFACE geom from its numbers alone: the hull of its table."""
    rows = int(numbers[layout.TABLE_ROWS])
    table = numbers[layout.TABLE : layout.TABLE + rows * layout.COLUMNS]
    return hull_mesh(table.reshape(rows, layout.COLUMNS)[:, :3])


def hull_mesh(points: Floats) -> tuple[Floats, Ints]:
    """Vertices and triangles of the hull of points (k, 3)."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    triangles = hull.simplices.copy()
    a, b, c = (hull.points[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ti,ti->t", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inwards, 1:] = triangles[inwards, :0:-1]
    used, at = np.unique(triangles, return_inverse=True)
    return hull.points[used], at.reshape(triangles.shape).astype(np.int64)


def directions(n: int) -> Floats:
    """(k, 3) unit vectors: the axes both ways, and 2 n^2 spread evenly along a spiral."""
    k = np.arange(2 * n * n) + 0.5
    z = 1.0 - 2.0 * k / (2 * n * n)
    angle = math.pi * (1.0 + math.sqrt(5.0)) * k
    rho = np.sqrt(1.0 - z * z)
    spiral = np.column_stack([rho * np.cos(angle), rho * np.sin(angle), z])
    return np.vstack([np.eye(3), -np.eye(3), spiral])
