"""Lemke's complementary pivoting (Baraff 1992, 13.2 and appendix B): a solution, or a ray."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from drystone.errors import OptionError
from drystone.kernels.pivoting import pyramid as kernels
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.problems.convert import BoxReduction, to_lcp
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.certificates import (
    infeasibility_certificate,
    prove_infeasible,
    ray_certificate,
)
from drystone.solvers.pivoting import MixedArrays, Outcome, Settings, lemke
from drystone.solvers.reuse import contact_states, is_mask, reuse_friction, reuse_lcp
from drystone.types import Bools, Floats, Status
from drystone.values import reals

CYCLE = 20  # pivots for each row of a friction LCP that are no longer a path but a cycle


@dataclass(frozen=True, kw_only=True)
class Lemke(Solver):
    """Complementary pivoting with an exact lexicographic rule: ends for every LCP.

    Solves an LCP with a copositive-plus (so every positive semidefinite) matrix or proves it
    infeasible, and always solves the LCP of a time step with friction (Anitescu et al. 1998, (7)),
    of a P-matrix, of a strictly copositive matrix and of a bimatrix game. For other matrices it
    ends in a solution or in a ray z: z >= 0, z_i > 0 => (M z)_i <= 0, the impulse of (13-1).

    max_pivots: pivots before giving up.
    covering: positive number or (n,) vector d of the auxiliary column (entries of free rows are
        not used); it chooses the path, and among several solutions the one that is found.
        None: ones after rows and columns are balanced, so that units do not matter; a bimatrix
        game M = [[0, A], [B', 0]], q < 0 starts as Lemke and Howson (1964) do.
    pivot_tol: entries of the pivot column below this times its largest are taken for zero [1].
    max_size: rows of the LCP above which the method refuses: its matrices are dense.
    """

    max_pivots: int = 100_000
    max_size: int = 4_000
    covering: Any = None
    pivot_tol: float = 1e-13

    name: ClassVar[str] = "lemke"
    _least: ClassVar[dict[str, int]] = {"max_pivots": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.pivot_tol < 1e-3:
            raise OptionError(f"lemke: pivot_tol = {self.pivot_tol}: expected 0 < tol < 1e-3")
        if self.covering is not None and not _positive(self.covering):
            raise OptionError("lemke: covering must be a positive number or vector")

    def refuses(self, problem: Problem) -> str | None:
        problem = problem.local
        rows = problem.size
        if isinstance(problem, FrictionProblem):
            rows += 2 * problem.nc if problem.d == 2 else max(problem.k - 1, 0) * problem.nc
        if rows > self.max_size:
            return f"has dense matrices: an LCP of {rows} rows is over max_size = {self.max_size}"
        if isinstance(problem, FrictionProblem):
            reason = _no_lcp(problem)
            if reason is None and np.ndim(self.covering) == 1:
                return "a covering vector is for LCPs: give a number"
            return reason
        if np.ndim(self.covering) == 1 and np.size(self.covering) != problem.size:
            return f"covering has {np.size(self.covering)} entries, the problem {problem.size} rows"
        return None

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        if isinstance(problem, FrictionProblem):
            return self._friction(problem, start, limits)
        if isinstance(problem, MixedLCP):
            return self._mixed(problem.dense, problem.q, problem.free, start.basis, limits)[0]
        return self._boxed(problem, start, limits)

    def _mixed(
        self, M: Floats, q: Floats, free: Bools, basis: Any, limits: Limits
    ) -> tuple[Answer, Outcome]:
        held = reuse_lcp(M, q, free, basis)
        if held is not None:
            z, w, error = held
            out = Outcome(z, w, Status.SOLVED, basis, 0, error)
            return _answer(out, {"reused": True, "pivots": 0}), out
        mask = basis if is_mask(basis, q.size) else None
        cover = None if self.covering is None else np.full(q.size, self.covering, np.float64)
        settings = Settings(self.max_pivots, self.pivot_tol)
        out = lemke(MixedArrays(M, q, free, cover), mask, settings, limits)
        info: dict[str, Any] = {"pivots": out.pivots, "reused": False}
        if out.status is not Status.SOLVED:
            _certify(M, q, free, out, info)
        return _answer(out, info), out

    def _boxed(self, problem: BoxedLCP, start: Start, limits: Limits) -> Answer:
        boxes = BoxReduction(problem)
        lcp = boxes.lcp
        padded = self
        if np.ndim(self.covering) == 1:
            extra = np.ones(lcp.size - problem.size)
            padded = replace(self, covering=np.concatenate([self.covering, extra]))
        answer, out = padded._mixed(lcp.dense, lcp.q, lcp.free, start.basis, limits)
        answer.value, answer.dual = boxes.value(out.z), None
        if out.ray is not None:
            answer.extras["ray"] = boxes.direction(out.ray)
        return answer

    def _friction(self, problem: FrictionProblem, start: Start, limits: Limits) -> Answer:
        basis = start.basis
        if isinstance(basis, dict):
            held = reuse_friction(problem, basis, start.value)
            if held is not None:
                r, dual, residuals = held
                extras = {"info": {"reused": True, "pivots": 0}, "basis": basis}
                extras["index_sets"] = basis
                return Answer(r, Status.SOLVED, dual=dual, residuals=residuals, extras=extras)
            basis = None
        pyramid = PlanarPyramid(problem) if problem.dim == 2 else SpatialPyramid(problem)
        answer, out = self._pyramid(problem, pyramid, basis, limits)
        answer.value, answer.dual = pyramid.value(out.z), None
        ray = None if out.ray is None else pyramid.value(out.ray)
        if ray is not None and not ray.any():  # multipliers alone: no impulse, and no answer
            answer.extras.pop("ray")
            answer.status = Status.STALLED
        elif ray is not None:
            answer.extras["ray"] = ray
            answer.extras["info"]["lcp_ray"] = out.ray
            # at force level a ray is the other valid answer: an impulse (Baraff 1992, 13.1)
            if problem.sliding.any() and answer.status is Status.INFEASIBLE:
                answer.status = Status.RAY
        elif problem.dim == 2 and problem.law != "convex":
            states = contact_states(problem, answer.value)
            answer.extras["index_sets"] = answer.extras["basis"] = states
        return answer

    def _pyramid(
        self, problem: FrictionProblem, pyramid: Any, basis: Any, limits: Limits
    ) -> tuple[Answer, Outcome]:
        """Pivoting on the LCP; without known slip a ray or a cycle is rounding, not an answer.

        Such an LCP always has a solution (Anitescu et al. 1998, (7)), but a body on more points
        than it needs makes it
        degenerate: then larger pivots are asked for, before the search may take long.
        """
        given = pyramid.M, pyramid.q, pyramid.free
        if problem.sliding.any():
            return self._mixed(*given, basis, limits)
        few = min(self.max_pivots, CYCLE * pyramid.q.size)
        for factor in (1.0, 1e2, 1e4):
            tol = min(self.pivot_tol * factor, 1e-4)
            tuned = replace(self, max_pivots=few, pivot_tol=tol)
            answer, out = tuned._mixed(*given, basis, limits)
            good = out.status is Status.SOLVED
            if (good and max(problem.residuals(pyramid.value(out.z))) <= self.tol) or (
                limits.expired()
            ):
                return answer, out
        return self._mixed(*given, basis, limits)


def _positive(values: Any) -> bool:
    cover = reals(values)
    if cover is None:
        return False
    return cover.ndim <= 1 and bool(np.isfinite(cover).all() and (cover > 0).all())


def _no_lcp(problem: FrictionProblem) -> str | None:
    """Why the friction problem is not exactly an LCP, or None."""
    if problem.cone.stretch(problem.dim) is not None:
        return f"{problem.cone} is smooth: an LCP needs the plane or a polyhedral cone"
    rough = ~problem.sliding & (problem.mu > 0)
    if problem.dim == 2 or problem.k or not rough.any():
        return None
    return (
        "a circular cone in space has no exact LCP; state the problem with cone=8 (any even "
        "number of directions)"
    )


def _certify(M: Floats, q: Floats, free: Bools, out: Outcome, info: dict[str, Any]) -> None:
    """Keep the ray if it is one; where it is also a proof that nothing is feasible, say so."""
    if out.ray is not None:
        if not ray_certificate(M, out.ray, 1e-9, free):
            out.ray, out.status = None, Status.STALLED
        elif infeasibility_certificate(M, q, out.ray, 1e-9, free):
            out.status = Status.INFEASIBLE
            info["certificate"] = out.ray
    elif out.status is Status.INFEASIBLE:
        y = prove_infeasible(M, q, free)
        if y is None:
            out.status = Status.SINGULAR
        else:
            info["certificate"] = y


def _answer(out: Outcome, info: dict[str, Any]) -> Answer:
    extras: dict[str, Any] = {"basis": out.basis, "info": info}
    if out.ray is not None:
        extras["ray"] = out.ray
    return Answer(out.z, out.status, out.pivots, dual=out.w, extras=extras)


# Friction problems as arrays of an LCP, for pivoting; r = value(z) translates back.


class PlanarPyramid:
    """The LCP of a step in the plane, where two directions are exact; built by one kernel."""

    def __init__(self, problem: FrictionProblem) -> None:
        slip = np.zeros(problem.nc) if problem.slip is None else problem.slip[:, 0].copy()
        n = kernels.planar_size(problem.mu, slip, problem.bilateral)
        self._size = problem.size
        self._row, self._side, self._along = np.empty(n, np.int64), np.empty(n), np.empty(n)
        self.M, self.q = np.empty((n, n)), np.empty(n)
        kernels.planar_pyramid(
            problem.dense,
            problem.q,
            problem.mu,
            slip,
            problem.law == "convex",
            self._row,
            self._side,
            self._along,
            self.M,
            self.q,
        )
        self.free = self._row >= 2 * problem.nc

    def value(self, z: Floats) -> Floats:
        r = np.empty(self._size)
        kernels.planar_value(z, self._row, self._side, self._along, r)
        return r


class SpatialPyramid:
    """Polyhedral cones in space, and contacts whose friction is known."""

    def __init__(self, problem: FrictionProblem) -> None:
        self._pyramid = to_lcp(problem, problem.k or 4)  # k matters only where friction is unknown
        lcp = self._pyramid.lcp
        self.M, self.q, self.free = lcp.dense, lcp.q, lcp.free

    def value(self, z: Floats) -> Floats:
        return self._pyramid.value(z)
