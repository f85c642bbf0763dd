"""Convex solids that a user gives by a support function h(d) = max of d.p over their points p."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from drystone.errors import ShapeError
from drystone.geometry.mass_properties import MassProperties, of_mesh
from drystone.geometry.shapes.black_box import BlackBox
from drystone.geometry.shapes.surface import (
    FormulaSurface,
    Program,
    check_own,
    directions,
    hull_mesh,
)
from drystone.geometry.shapes.trace import Tape, results, trace
from drystone.kernels.surfaces import layout
from drystone.types import Floats, Ints

MASS_DIRECTIONS = 50  # of ``directions``: those whose support points stand for the solid's mass
# of the size: how well h(d) = d.p and the bounds of other directions must hold
SUPPORT_FUNCTION_TOL = 1e-9


class SupportShape(FormulaSurface):
    """Base of convex solids of your own: a frozen dataclass of its parameters, with a method
    ``support_function(self, x, y, z)`` that gives h(d) = max of d.p over the solid's points p [m].

    h need not be smooth: ``np.maximum`` makes faces, edges and corners. Its gradient is the point
    farthest along d. Of h = h_A + h_B the solid is the sum of A and B; of maximum(h_A, h_B) the
    hull of both. Override ``mass_properties`` where a closed form is known: by default it is that
    of the hull of 5,006 support points, to about 1e-3.
    """

    @abstractmethod
    def support_function(self, x: Any, y: Any, z: Any) -> Any:
        """h(d) of the direction d = (x, y, z), of any length: h(s d) = s h(d)."""

    def __post_init__(self) -> None:
        check_own(self)
        box = self._program.box
        if box is not None:
            box.prepare(directions(4)[6:], 1.0)
        _ = self._table

    def _traced(self) -> Program:
        name, tape, what = type(self).__name__, Tape(), "support_function"
        value = trace(name, what, self.support_function, 3, tape)
        return Program(tape, [results(name, what, value, 1, tape)[0]] * 3, layout.SUPPORT)

    def _called(self) -> tuple[BlackBox, int]:
        box = BlackBox(type(self).__name__, "support_function", self.support_function, 3, 1)
        box.value(0.6, 0.0, 0.8)
        return box, layout.SUPPORT

    def _sampled(self, n: int) -> tuple[Floats, Floats, Floats]:
        d = directions(n)
        return self._support(d)[0], d, np.zeros((len(d), 2))

    def _support(self, d: Floats) -> tuple[Floats, Floats]:
        """Support points (k, 3) along unit directions d (k, 3), and h (k,)."""
        from drystone.kernels.surfaces.sample import sample_support

        out = np.empty((len(d), 4))
        numbers = self._numbers(np.empty((0, layout.COLUMNS)), 1.0, 1.0)
        with np.errstate(all="ignore"):
            sample_support(numbers, np.ascontiguousarray(d), out)
        return out[:, :3].copy(), out[:, 3].copy()

    def _check_convex(self, points: Floats, normals: Floats, parameters: Floats) -> None:
        name, (p, h) = type(self).__name__, self._support(normals)
        good = np.isfinite(p).all(axis=1) & np.isfinite(h)
        if not good.all():
            at = normals[int(np.argmin(good))].round(6).tolist()
            raise ShapeError(f"{name}: support_function has no gradient at {at}")
        size = float(np.linalg.norm(np.ptp(p, axis=0)))
        along = np.einsum("ij,ij->i", normals, p)
        off = np.abs(along - h)
        if off.max() > SUPPORT_FUNCTION_TOL * size + 1e-8 * np.abs(h).max():
            at = normals[int(np.argmax(off))].round(6).tolist()
            raise ShapeError(
                f"{name}: support_function must grow with the direction, h(s d) = s h(d), but "
                f"is not its own derivative along {at}"
            )
        beyond = normals @ p.T - h[:, None]
        if beyond.max() > 2.0 * (SUPPORT_FUNCTION_TOL * size + 1e-8 * np.abs(h).max()):
            i, j = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            raise ShapeError(
                f"{name}: support_function must be convex, but the farthest point along "
                f"{normals[j].round(6).tolist()} lies {beyond[i, j]:.3g} m beyond h of "
                f"{normals[i].round(6).tolist()}"
            )
        if np.linalg.matrix_rank(p - p.mean(axis=0), tol=SUPPORT_FUNCTION_TOL * size) < 3:
            raise ShapeError(f"{name}: support_function is that of something flat")

    def _cones(self, n: int) -> tuple[Floats, Floats]:
        raise NotImplementedError  # its mass is that of a hull

    def _mass_properties(self, density: float) -> MassProperties:
        return of_mesh(*self._hull(MASS_DIRECTIONS), density)

    def mesh(self, n: int = 24) -> tuple[Floats, Ints]:
        return self._hull(max(n, 4))

    def _hull(self, n: int) -> tuple[Floats, Ints]:
        """Of its support points, each once: a corner is that of many directions."""
        points = self._sampled(n)[0]
        size = float(np.abs(points).max())
        _, one = np.unique(np.round(points / size, 10), axis=0, return_index=True)
        return hull_mesh(points[np.sort(one)])
