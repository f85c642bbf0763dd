"""Convex solids that a user gives by a formula: F(x, y, z) <= 0, or a surface S(u, v) (G10)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry import kinds
from drystone.geometry.frames import vector
from drystone.geometry.mass_properties import MassProperties, inertia_matrix
from drystone.geometry.shapes.base import AXES, NO_INTS, ORIGIN, Piece, SpatialShape, number, query
from drystone.geometry.shapes.trace import Tape, check_derivatives, results, trace
from drystone.kernels.surfaces import layout
from drystone.types import Bools, Floats, Ints

FARTHEST = 1e9  # [m] at which a ray that has not left the solid shows that it is not closed
SLACK = 1.05  # of the bounding radius over that of the sampled points
BENT = 1e-7  # curvature times size below which a surface counts as concave
GOOD, POOR = 1e-10, 1e-5  # relative difference of two rules for a volume: enough, too much
NODES = 48  # of a rule of Gauss in each direction, for volumes


class FormulaSurface(SpatialShape):
    """A closed convex surface known by points, normals and curvatures of a formula."""

    @abstractmethod
    def _program(self) -> tuple[Tape, list[int], int]:
        """Tape, registers of the results, form."""

    @abstractmethod
    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        """About 2 n^2 points of the surface and outer unit normals (k, 3), parameters (k, 2)."""

    @abstractmethod
    def _cones(self, n: int) -> tuple[Floats, Floats]:
        """Points x (k, 3) and weights (k,): integrals of x.N over the surface by n nodes a side."""

    def _numbers(self, table: Floats, radius: float, sign: float) -> Floats:
        tape, registers, form = self._program()
        head = np.zeros(layout.TABLE)
        head[layout.RADIUS], head[layout.FORM], head[layout.SIGN] = radius, form, sign
        head[layout.ROWS], head[layout.LENGTH] = len(table), len(tape.rows)
        head[layout.RESULT : layout.RESULT + len(registers)] = registers
        return np.concatenate([head, table.ravel(), np.ravel(tape.rows)])

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
        implicit = self._program()[2] != layout.PARAMETRIC
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
        return Piece(kinds.SURFACE, floats, NO_INTS, ORIGIN[3], AXES[3], radius)

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

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return hull_mesh(self._sampled(max(n // 2, 4))[0])


@dataclass(frozen=True, eq=False)
class ImplicitSurface(FormulaSurface):
    """The solid F(x, y, z) <= 0, closed and convex, F twice differentiable on its surface [m].

    F is called once, with symbols: it may use arithmetic and NumPy functions, no branches. Its
    derivatives are computed exactly, or `gradient`, which gives 3 numbers, and `hessian`, 3 x 3,
    are taken if both are given. inside: a point with F < 0.
    """

    F: Callable[..., Any]
    gradient: Callable[..., Any] | None = None
    hessian: Callable[..., Any] | None = None
    inside: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if (self.gradient is None) != (self.hessian is None):
            raise ShapeError("ImplicitSurface: give both gradient and hessian, or neither")
        inside = vector("ImplicitSurface", "inside", self.inside, 3)
        inside.setflags(write=False)
        object.__setattr__(self, "inside", inside)
        self._program()
        value = float(self._values(inside[None])[0])
        if not value < 0.0:
            raise ShapeError(
                f"ImplicitSurface: F must be negative inside, but F{tuple(inside.tolist())} "
                f"= {value:.6g}; give a point inside=(x, y, z)"
            )
        if self.gradient is not None:
            x, bare = self._rays(_directions(4)), copy(self)
            object.__setattr__(bare, "gradient", None)
            check_derivatives(x, self._jets(x)[0][:, 0], bare._jets(x)[0][:, 0])
        _ = self._table

    def _program(self) -> tuple[Tape, list[int], int]:
        name, tape = type(self).__name__, Tape()
        registers = results(name, "F", trace(name, "F", self.F, 3, tape), 1, tape)
        if self.gradient is None or self.hessian is None:
            return tape, [registers[0]] * 3, layout.IMPLICIT
        given = trace(name, "gradient", self.gradient, 3, tape)
        registers += results(name, "gradient", given, 3, tape)
        given = trace(name, "hessian", self.hessian, 3, tape)
        H = results(name, "hessian", given, 9, tape)
        registers += [H[k] for k in (0, 1, 2, 4, 5, 8)]
        return tape, registers, layout.DERIVED

    def _values(self, points: Floats) -> Floats:
        with np.errstate(all="ignore"):
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
            if far.max() > FARTHEST:
                at = directions[int(np.argmax(far))]
                raise ShapeError(
                    f"ImplicitSurface: the surface must be closed, but F stays negative along "
                    f"{at.round(6).tolist()} from inside"
                )
        near = np.zeros(len(directions))
        for _ in range(1100):
            middle = 0.5 * (near + far)
            if ((middle <= near) | (middle >= far)).all():
                break
            out = self._values(self.inside + middle[:, None] * directions) > 0.0
            far, near = np.where(out, middle, far), np.where(out, near, middle)
        return self.inside + far[:, None] * directions

    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        points = self._rays(_directions(n))
        gradient = self._jets(points)[0][:, 0, 1:4]
        length = np.linalg.norm(gradient, axis=1)
        if not (length > 0.0).all():
            bad = points[int(np.argmin(length))]
            raise ShapeError(
                f"ImplicitSurface: the gradient of F vanishes on the surface, at {bad.tolist()}"
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

    def contains(self, points: Any) -> Bools:
        return self._values(query(points, 3)) <= 0.0


@dataclass(frozen=True, eq=False)
class ParametricSurface(FormulaSurface):
    """The solid inside the closed convex surface S(u, v) = (x, y, z) [m].

    u, v: ranges that cover the surface once (poles and seams are fine). S is called once, with
    symbols: it may use arithmetic and NumPy functions, no branches; it must be defined and smooth
    a little beyond the ranges too, as sines and cosines are.
    """

    S: Callable[..., Any]
    u: Any = (0.0, 2.0 * math.pi)
    v: Any = (-0.5 * math.pi, 0.5 * math.pi)

    def __post_init__(self) -> None:
        for name in ("u", "v"):
            low, high = vector("ParametricSurface", name, getattr(self, name), 2).tolist()
            if not low < high:
                raise ShapeError(f"ParametricSurface: {name} must ascend, got ({low}, {high})")
            object.__setattr__(self, name, (number("", name, low), number("", name, high)))
        self._program()
        _, N, w = self._rule(NODES)
        area = float((w * np.linalg.norm(N, axis=1)).sum())
        if not np.isfinite(area):
            raise ShapeError("ParametricSurface: S is not finite on the ranges of u and v")
        left = float(np.linalg.norm(w @ N))
        if left > 1e-9 * area:  # not closed, or the rule too coarse for a surface like |x|^2.5
            _, N, w = self._rule(2 * NODES)
            rough, left = left, float(np.linalg.norm(w @ N))
            left = 0.0 if left < 0.3 * rough else left
        if left > 1e-9 * area:
            raise ShapeError(
                "ParametricSurface: the surface must be closed, but its normals add up to "
                f"{left:.3g} m^2 of {area:.3g}; do u and v cover it once?"
            )
        _ = self._table

    def _program(self) -> tuple[Tape, list[int], int]:
        name, tape = type(self).__name__, Tape()
        value = trace(name, "S", self.S, 2, tape)
        return tape, results(name, "S", value, 3, tape), layout.PARAMETRIC

    def _at(self, u: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Points and S_u x S_v (k, 3)."""
        jets = self._jets(np.column_stack([u, v, np.zeros_like(u)]))[0]
        return jets[:, :, 0].copy(), np.cross(jets[:, :, 1], jets[:, :, 2])

    def _rule(self, n: int) -> tuple[Floats, Floats, Floats]:
        """Points, normals S_u x S_v (k, 3) and weights (k,) of a rule of Gauss."""
        t, w = np.polynomial.legendre.leggauss(n)
        (u0, u1), (v0, v1) = self.u, self.v
        u = np.repeat(0.5 * (u0 + u1) + 0.5 * (u1 - u0) * t, n)
        v = np.tile(0.5 * (v0 + v1) + 0.5 * (v1 - v0) * t, n)
        weight = np.outer(w, w).ravel() * 0.25 * (u1 - u0) * (v1 - v0)
        return *self._at(u, v), weight

    @cached_property
    def _outward_sign(self) -> float:
        x, N, w = self._rule(NODES)
        return 1.0 if float(w @ np.einsum("ij,ij->i", x, N)) > 0.0 else -1.0

    @property
    def _outwards(self) -> float:
        return self._outward_sign

    @property
    def _doubt(self) -> str:
        (u0, u1), (v0, v1) = self.u, self.v
        ranges = f"u from {u0:.4g} to {u1:.4g} and v from {v0:.4g} to {v1:.4g}"
        return f"; do {ranges} cover it once?"

    def _cones(self, n: int) -> tuple[Floats, Floats]:
        x, N, w = self._rule(n)
        return x, self._outwards * w * np.einsum("ij,ij->i", x, N)

    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        (u0, u1), (v0, v1) = self.u, self.v
        u = np.repeat(u0 + (u1 - u0) * (np.arange(2 * n) + 0.5) / (2 * n), n)
        v = np.tile(v0 + (v1 - v0) * (np.arange(n) + 0.5) / n, 2 * n)
        x, N = self._at(u, v)
        length = np.linalg.norm(N, axis=1)
        if not (length > 0.0).all():
            bad = int(np.argmin(length))
            raise ShapeError(
                f"ParametricSurface: S_u x S_v vanishes at u = {u[bad]:.6g}, v = {v[bad]:.6g}"
            )
        return x, self._outwards * N / length[:, None], np.column_stack([u, v])

    def contains(self, points: Any) -> Bools:
        p = query(points, 3)
        piece, flat = self._piece, p.reshape(-1, 3)
        from drystone.kernels.surfaces.inside import inside

        out = np.empty(len(flat), np.bool_)
        inside(piece.floats, np.ascontiguousarray(flat), out)
        return out.reshape(p.shape[:-1])


def table_mesh(numbers: Floats) -> tuple[Floats, Ints]:
    """Mesh of a SURFACE geom from its numbers alone: the hull of its table."""
    rows = int(numbers[layout.ROWS])
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


def _directions(n: int) -> Floats:
    """(k, 3) unit vectors: the axes both ways, and 2 n^2 spread evenly along a spiral."""
    k = np.arange(2 * n * n) + 0.5
    z = 1.0 - 2.0 * k / (2 * n * n)
    angle = math.pi * (1.0 + math.sqrt(5.0)) * k
    rho = np.sqrt(1.0 - z * z)
    spiral = np.column_stack([rho * np.cos(angle), rho * np.sin(angle), z])
    return np.vstack([np.eye(3), -np.eye(3), spiral])
