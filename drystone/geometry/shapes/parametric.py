"""A convex solid inside a surface S(u, v) that a user gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.poses import vector
from drystone.geometry.shapes.base import number
from drystone.geometry.shapes.black_box import BlackBox
from drystone.geometry.shapes.surface import NODES, FormulaSurface, Program
from drystone.geometry.shapes.trace import Tape, check_functions, results, trace
from drystone.kernels.surfaces import layout
from drystone.types import Floats, VectorLike


@dataclass(frozen=True, eq=False)
class ParametricSurface(FormulaSurface):
    """The solid inside the closed convex surface S(u, v) = (x, y, z) [m].

    u, v: ranges that cover the surface once (poles and seams are fine); S must be defined and
    smooth a little beyond them too, as sines and cosines are. It is called once, with symbols, if
    it uses arithmetic and NumPy functions alone, else with numbers whenever it is needed. first:
    gives S_u and S_v, second: S_uu, S_uv and S_vv, three numbers each; needed if S uses `math`,
    and compared with the derivatives of S if those are known.
    """

    S: Callable[..., Any]
    u: tuple[float, float] = (0.0, 2.0 * math.pi)
    v: tuple[float, float] = (-0.5 * math.pi, 0.5 * math.pi)
    first: Callable[..., Any] | None = None
    second: Callable[..., Any] | None = None

    if TYPE_CHECKING:  # arrays are made of what is given

        def __init__(
            self,
            S: Callable[..., Any],
            u: VectorLike = (0.0, 2.0 * math.pi),
            v: VectorLike = (-0.5 * math.pi, 0.5 * math.pi),
            first: Callable[..., Any] | None = None,
            second: Callable[..., Any] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if (self.first is None) != (self.second is None):
            raise ShapeError("ParametricSurface: give both first and second, or neither")
        check_functions("ParametricSurface", S=self.S)
        if self.first is not None:
            check_functions("ParametricSurface", first=self.first, second=self.second)
        for name in ("u", "v"):
            low, high = vector("ParametricSurface", name, getattr(self, name), 2).tolist()
            if not low < high:
                raise ShapeError(f"ParametricSurface: {name} must ascend, got ({low}, {high})")
            object.__setattr__(self, name, (number("", name, low), number("", name, high)))
        self._check_derivatives()
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

    def _check_derivatives(self) -> None:
        box = self._program.box
        if box is None and self.first is None:
            return
        (u0, u1), (v0, v1) = self.u, self.v
        t = (np.arange(12) + 0.5) / 12
        u, v = u0 + (u1 - u0) * t, v0 + (v1 - v0) * (5 * t % 1.0)  # spread over both ranges
        points = np.column_stack([u, v, np.zeros_like(u)])
        if box is not None:
            box.prepare(points, min(u1 - u0, v1 - v0))
        else:
            self._box().compare(points, self._jets(points)[0])

    def _box(self) -> BlackBox:
        given = None
        if self.first is not None and self.second is not None:
            given = self.first, self.second
        return BlackBox(type(self).__name__, "S", self.S, 2, 3, given, ("first", "second"))

    def _traced(self) -> Program:
        name, tape = type(self).__name__, Tape()
        value = trace(name, "S", self.S, 2, tape)
        return Program(tape, results(name, "S", value, 3, tape), layout.PARAMETRIC)

    def _called(self) -> tuple[BlackBox, int]:
        box = self._box()
        box.value(0.5 * sum(self.u), 0.5 * sum(self.v))
        return box, layout.PARAMETRIC

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
