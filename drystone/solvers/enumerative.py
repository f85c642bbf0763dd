"""All solutions of a small problem: what shows indeterminacy and inconsistency (Baraff 1992,
chapters 10 to 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from drystone.errors import OptionError
from drystone.kernels.pivoting import enumerate as kernels
from drystone.kernels.pivoting.enumerate import Pieces
from drystone.problems import FrictionProblem, MixedLCP, Problem
from drystone.problems.convert import BoxReduction, fold, to_lcp
from drystone.problems.residual import EPS
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.reuse import contact_states
from drystone.types import Bools, Floats, Ints, Status

ACCURATE = 1e-9  # largest measure of a point that is listed
NEARLY = 1e-5  # one with less may be a solution that rounding keeps from being accurate
# of the largest singular value: less is rounding, as in ``kernels.pivoting.enumerate``
DEPENDENT_VALUE = 1e-11
VERTEX_TOLERANCE = 1e-11  # of the terms of a row: what rounding leaves of a vertex
# coefficients of friction beyond: in sums with friction what presses is lost by rounding
RESOLVED_FRICTION = VERTEX_TOLERANCE / EPS
SOLUTION_ROOM = 512  # solutions that one call of the kernel may write


@dataclass(frozen=True, kw_only=True)
class Enumerative(Solver):
    """Tries every combination of index sets (LCP) or contact states (planar friction).

    Every point that is listed has been judged by the problem itself: its residual, that no force
    pulls or leaves its cone, velocities and energy. Returns all isolated solutions, and of solution
    sets that are not points (dependent rows) their vertices;
    ``info["segments"]`` lists the pairs (i, j) of solutions joined by solutions, and
    ``info["rays"]`` directions along which a solution extends without bound. No solution at all
    is a proof: status INFEASIBLE.

    max_size: refuse problems with more than 2^max_size combinations (a planar contact counts 2).
    max_solutions: stop after so many; ``info["complete"]`` says whether all were found: False also
        where rounding leaves open whether some combination has a solution (``info["doubtful"]``
        counts them), and with coefficients of friction above 4e4.
    """

    max_size: int = 16
    max_solutions: int = 10_000

    name: ClassVar[str] = "enumerative"
    _least: ClassVar[dict[str, int]] = {"max_solutions": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.max_size <= 40:
            raise OptionError(f"enumerative: max_size = {self.max_size}: expected 1 to 40")

    def refuses(self, problem: Problem) -> str | None:
        problem = problem.local
        if isinstance(problem, FrictionProblem):
            rough = ~problem.sliding & (problem.mu > 0)
            if problem.cone.stretch(problem.dim) is not None:
                return f"{problem.cone} is smooth: its solutions cannot be enumerated"
            if problem.dim == 3 and rough.any() and problem.k == 0:
                return "circular cones in space have no finite set of contact states"
            per = 2 if problem.k == 0 or problem.dim == 2 else problem.k + 2
            size = int(per * rough.sum() + (~rough).sum())
        elif isinstance(problem, MixedLCP):
            size = problem.size - int(problem.free.sum())
        else:
            both = np.isfinite(problem.lower) & np.isfinite(problem.upper)
            size = problem.size - int(problem.free.sum()) + int(both.sum())
        if size > self.max_size:
            return f"2^{size} combinations; max_size={self.max_size} allows 2^{self.max_size}"
        return None

    def _answer(self, problem: Any, start: Start, limits: Limits) -> Answer:
        """Also that of a problem without unknowns: its one solution is listed."""
        if problem.size == 0:
            return self.run(problem, start, limits)
        return super()._answer(problem, start, limits)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        pieces, back = _statement(problem)

        def error(y: Floats) -> float:
            return _error(problem, np.asarray(back(y)))

        found = Search(pieces, self.max_solutions, limits, error)
        if isinstance(problem, FrictionProblem) and (problem.mu > RESOLVED_FRICTION).any():
            found.complete = False
        points = [np.asarray(back(y)) for y in found.values]
        info: dict[str, Any] = {
            "count": len(points),
            "combinations": found.tried,
            "singular": found.singular,
            "complete": found.complete,
            "doubtful": found.doubtful,
            "segments": (),
            "rays": (),
        }
        extras: dict[str, Any] = {"info": info, "solutions": tuple(points)}
        if not points:
            status = Status.INFEASIBLE if found.complete else Status.STALLED
            status = Status.TIME_LIMIT if limits.expired() else status
            return Answer(np.zeros(problem.size), status, found.tried, extras=extras)
        info["segments"] = _segments(problem, points)
        if found.singular:
            info["rays"] = _rays(problem, pieces, back, points, self.max_solutions, limits)
        info["isolated"] = not info["segments"] and not info["rays"]
        extras |= _states(problem, points, info)
        return Answer(points[0], Status.SOLVED, found.tried, extras=extras)


def combinations(pieces: Pieces) -> int:
    """How many choices of modes there are."""
    return int(np.prod(pieces.count, dtype=object)) if pieces.count.size else 1


def member(pieces: Pieces, modes: Ints) -> Floats | None:
    """A vertex of the piece of these modes by the simplex method, or None if it is empty."""
    p, g = pieces.A.shape
    role = np.full(p, kernels.ROLE_FREE)
    role[pieces.always_rows] = kernels.ROLE_ZERO
    allowed = np.zeros(g, bool)
    for e, mode in enumerate(modes):
        rows, columns = pieces.rows[e], pieces.columns[e, mode]
        role[rows[rows >= 0]] = pieces.roles[e, mode][rows >= 0]
        allowed[columns[columns >= 0]] = True
    bounds = np.where(allowed, np.inf, 0.0)
    low = np.zeros(g)
    low[pieces.always_columns], bounds[pieces.always_columns] = -np.inf, np.inf
    scaled, scale = _balanced(pieces)
    zero, sign = role == kernels.ROLE_ZERO, np.where(role == kernels.ROLE_BELOW, 1.0, -1.0)
    one_sided = (role == kernels.ROLE_ABOVE) | (role == kernels.ROLE_BELOW)
    size = max(float(np.abs(scaled.b).max(initial=0.0)), 1e-300)
    found = linprog(
        np.ones(g) * (low == 0.0),
        A_eq=scaled.A[zero] if zero.any() else None,
        b_eq=-scaled.b[zero] / size if zero.any() else None,
        A_ub=(sign[:, None] * scaled.A)[one_sided] if one_sided.any() else None,
        b_ub=(-sign * scaled.b)[one_sided] / size if one_sided.any() else None,
        bounds=np.column_stack([low, bounds]),
        method="highs-ds",
    )
    return None if found.x is None else np.asarray(scale * found.x * size)


def homogeneous(pieces: Pieces) -> Pieces:
    """Directions of unbounded pieces: b = 0, and the positive columns sum to one."""
    p, g = pieces.A.shape
    total = np.ones(g)
    total[pieces.always_columns] = 0.0
    return pieces._replace(
        A=np.vstack([pieces.A, total]),
        b=np.append(np.zeros(p), -1.0),
        always_rows=np.append(pieces.always_rows, p),
    )


class Search:
    """Runs the kernel in chunks. values: distinct solutions y, in order of their modes.

    error: measures a point y; those that the kernel takes for vertices and that are beyond
    ACCURATE are replaced by a point of the same piece that is within, or left out.
    """

    def __init__(
        self, given: Pieces, most: int, limits: Limits, error: Callable[[Floats], float]
    ) -> None:
        pieces, scale = _balanced(given)
        self._given, self._error = given, error
        self.doubtful = 0
        p, g = pieces.A.shape
        ne = pieces.count.size
        total = combinations(pieces)
        state = np.zeros(5, np.int64)
        modes, values = np.zeros((SOLUTION_ROOM, ne), np.int64), np.zeros((SOLUTION_ROOM, g))
        lists, picks = np.zeros((2, p + g), np.int64), np.zeros((4, p + g), np.int64)
        B, y, role = np.zeros((2, p + 1, g + 1)), np.zeros(g), np.zeros(p, np.int64)
        room = kernels.Search(state, modes, values, B[0], B[1], lists, role, y, picks)
        chunk = max(16, 2_000_000 // (1 + g * g * max(g, 1)))
        self.values: list[Floats] = []
        self._by_support: dict[bytes, list[Floats]] = {}
        while (
            state[kernels.NEXT_COMBINATION] < total
            and len(self.values) < most
            and not limits.expired()
        ):
            stop = min(total, int(state[kernels.NEXT_COMBINATION]) + chunk)
            kernels.search(pieces, room, VERTEX_TOLERANCE, stop)
            for k in range(int(state[kernels.SOLUTIONS])):
                vertex = self._vertex(values[k], scale)
                vertex = None if vertex is None else self._judged(vertex, modes[k])
                if vertex is not None and not self._is_listed(vertex):
                    self._by_support.setdefault((vertex != 0.0).tobytes(), []).append(vertex)
                    self.values.append(vertex)
            state[kernels.SOLUTIONS] = 0
        self.tried = int(state[kernels.NEXT_COMBINATION])
        self.singular = int(state[kernels.SINGULAR_COMBINATIONS])
        self.doubtful += int(state[kernels.DOUBTFUL_COMBINATIONS])
        self.complete = self.tried == total and not (
            state[kernels.SKIPPED_COMBINATIONS] or self.doubtful
        )

    def _vertex(self, y: Floats, scale: Floats) -> Floats | None:
        """What the kernel takes for a vertex, y in balanced units, without parts as small as
        rounding where it solves without them; None if that is listed."""
        small = np.abs(y) <= VERTEX_TOLERANCE * np.abs(y).max(initial=0.0)
        small[self._given.always_columns] = False
        without = scale * np.where(small, 0.0, y)
        if self._is_listed(without):
            return None
        whole = scale * np.where(small, np.maximum(y, 0.0), y)
        changed = (whole[small] != 0.0).any()
        return whole if changed and self._error(without) > ACCURATE else without

    def _judged(self, y: Floats, modes: Ints) -> Floats | None:
        """The most accurate of a vertex, the vertex polished, and a point of its piece by linear
        programming; None if all of them fail."""
        best, least = y, self._error(y)
        polished = _polished(self._given, y)
        error = self._error(polished)
        if error <= least:
            best, least = polished, error
        if least > ACCURATE:
            found = member(self._given, modes)
            if found is None and least > NEARLY:
                return None  # rounding made the vertex: its piece is empty
            for other in () if found is None else (_polished(self._given, found), found):
                error = self._error(other)
                if error < least:
                    best, least = other, error
        if least > ACCURATE:
            self.doubtful += 1
            return None
        return best

    def _is_listed(self, y: Floats) -> bool:
        """Several choices of rows may lead to one vertex; other supports cannot."""
        alike = self._by_support.get((y != 0.0).tobytes(), ())
        top = float(np.abs(y).max(initial=0.0))
        return any(np.abs(y - other).max(initial=0.0) <= 1e-9 * top for other in alike)


def _balanced(pieces: Pieces) -> tuple[Pieces, Floats]:
    """The same with rows and columns scaled to entries near one, and the scale of y."""
    A = pieces.A
    rows: Floats = np.ones(A.shape[0])
    columns: Floats = np.ones(A.shape[1])
    for _ in range(3):
        size = np.abs(rows[:, None] * A * columns)
        down, across = size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)
        rows /= np.sqrt(np.where(down > 0, down, 1.0))
        columns /= np.sqrt(np.where(across > 0, across, 1.0))
    rows = np.exp2(np.round(np.log2(rows)))
    columns = np.exp2(np.round(np.log2(columns)))
    return pieces._replace(A=rows[:, None] * A * columns, b=rows * pieces.b), columns


def _polished(pieces: Pieces, y: Floats) -> Floats:
    """Least squares on the rows that vanish, support kept: the rounding of elimination goes."""
    support = y != 0.0
    support[pieces.always_columns] = True
    u = pieces.A @ y + pieces.b
    size = np.abs(pieces.A) @ np.abs(y) + np.abs(pieces.b)
    tight = np.abs(u) <= 1e-9 * size
    out = np.zeros_like(y)
    block = pieces.A[np.ix_(tight, support)]
    out[support] = np.linalg.lstsq(block, -pieces.b[tight], rcond=DEPENDENT_VALUE)[0]
    better = np.abs(pieces.A @ out + pieces.b)[tight].max(initial=0.0)
    return out if better <= np.abs(u)[tight].max(initial=0.0) else y.copy()


def _statement(problem: Any) -> tuple[Pieces, Any]:
    """Pieces of the problem, and the map from y to its value."""
    if isinstance(problem, FrictionProblem):
        if problem.dim == 2 and problem.law != "convex":
            return _planar(problem)
        if problem.dim == 3 and not problem.k:
            folded = fold(problem)
            return _pairs(folded.A, folded.b, folded.bilateral), folded.value
        pyramid = to_lcp(problem)
        return _pairs(pyramid.lcp.dense, pyramid.lcp.q, pyramid.lcp.free), pyramid.value
    if isinstance(problem, MixedLCP):
        return _pairs(problem.dense, problem.q, problem.free), np.array
    boxes = BoxReduction(problem)
    return _pairs(boxes.lcp.dense, boxes.lcp.q, boxes.lcp.free), boxes.value


def _pairs(A: Floats, b: Floats, free: Bools) -> Pieces:
    """Complementary pairs: 0 <= y_i _|_ u_i >= 0, and free rows u_i = 0."""
    bounded = np.flatnonzero(~free)
    ne = bounded.size
    columns, rows = np.full((ne, 2, 2), -1), np.full((ne, 2), -1)
    roles = np.full((ne, 2, 2), kernels.ROLE_FREE)
    columns[:, 1, 0] = rows[:, 0] = bounded
    roles[:, 0, 0], roles[:, 1, 0] = kernels.ROLE_ABOVE, kernels.ROLE_ZERO
    return Pieces(
        A, b, columns, rows, roles, np.full(ne, 2), np.flatnonzero(free), _independent(A, free)
    )


def _independent(A: Floats, free: Bools) -> Ints:
    """Free columns without those that others span, so that no piece holds a line."""
    index = np.flatnonzero(free)
    if index.size == 0:
        return index
    R, order = scipy.linalg.qr(A[:, index], mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(index[order[: int((size > 1e-12 * size[0]).sum())]])


def _planar(problem: FrictionProblem) -> tuple[Pieces, Any]:
    """Each contact open, stick or slip; its impulse is a (1, mu) + b (1, -mu), a and b >= 0."""
    folded = fold(problem)
    nc, nf = problem.nc, folded.b.size
    sticky = folded.tangent >= 0
    first = np.concatenate([[0], np.cumsum(np.where(sticky, 2, 1))]).astype(np.int64)
    g = int(first[-1]) + problem.bilateral
    G = np.zeros((nf, g))
    G[folded.normal, first[:-1]] = 1.0
    s, a = np.flatnonzero(sticky), first[:-1][sticky]
    G[folded.normal[s], a + 1] = 1.0
    G[folded.tangent[s], a], G[folded.tangent[s], a + 1] = problem.mu[s], -problem.mu[s]
    bilateral = np.flatnonzero(folded.bilateral)
    G[bilateral, np.arange(int(first[-1]), g)] = 1.0
    columns, rows = np.full((nc, 4, 2), -1), np.full((nc, 2), -1)
    roles = np.full((nc, 4, 2), kernels.ROLE_FREE)
    rows[:, 0] = folded.normal
    rows[s, 1] = folded.tangent[s]
    roles[:, 0, 0], roles[:, 1:, 0] = kernels.ROLE_ABOVE, kernels.ROLE_ZERO
    columns[:, 1, 0] = first[:-1]
    # modes of a rough contact: open, stick, friction up (u_t <= 0), friction down (u_t >= 0)
    columns[s, 1, 1], columns[s, 2, 0], columns[s, 3, 0] = a + 1, a, a + 1
    roles[s, 1, 1], roles[s, 2, 1], roles[s, 3, 1] = (
        kernels.ROLE_ZERO,
        kernels.ROLE_BELOW,
        kernels.ROLE_ABOVE,
    )
    always = np.zeros(g, bool)
    always[int(first[-1]) :] = True
    A = folded.A @ G
    pieces = Pieces(
        A,
        folded.b,
        columns,
        rows,
        roles,
        np.where(sticky, 4, 2),
        bilateral,
        _independent(A, always),
    )
    return pieces, lambda y: folded.value(G @ y)


def _error(problem: Any, point: Floats) -> float:
    """The worst measure of a point: residuals, and for friction velocities and energy."""
    dual = problem.dual(point)
    error = max(problem.residuals(point, dual))
    if isinstance(problem, FrictionProblem):
        error = max(error, *problem.optimality(point, dual))
    return error


def _solves(problem: Any, point: Floats) -> bool:
    return _error(problem, point) <= ACCURATE


def _segments(problem: Any, points: list[Floats]) -> tuple[tuple[int, int], ...]:
    """Pairs of solutions whose connecting segment consists of solutions."""
    if len(points) > 64:
        return ()
    out = []
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            inside = (points[i] + (points[j] - points[i]) * t for t in (0.5, 0.3))
            if all(_solves(problem, point) for point in inside):
                out.append((i, j))
    return tuple(out)


def _rays(
    problem: Any, pieces: Pieces, back: Any, points: list[Floats], most: int, limits: Limits
) -> tuple[Floats, ...]:
    """Directions along which some solution extends without bound."""
    origin = np.asarray(back(np.zeros(pieces.A.shape[1])))
    out = []
    for y in Search(homogeneous(pieces), most, limits, lambda y: 0.0).values:
        direction = np.asarray(back(y)) - origin
        ends = (point + t * direction for point in points[:64] for t in (1.0, 30.0))
        if direction.any() and any(_solves(problem, end) for end in ends):
            out.append(direction)
    return tuple(out)


def _states(problem: Any, points: list[Floats], info: dict[str, Any]) -> dict[str, Any]:
    """Index sets of the first solution, and of all in info["states"]."""
    if isinstance(problem, FrictionProblem):
        if problem.dim != 2:
            return {}
        states = [contact_states(problem, r) for r in points]
        info["states"] = tuple(states)
        return {"index_sets": states[0], "basis": states[0]}
    masks = [z > problem.lower for z in points]
    info["states"] = tuple({"positive": np.flatnonzero(mask)} for mask in masks)
    out: dict[str, Any] = {"index_sets": info["states"][0]}
    if isinstance(problem, MixedLCP):
        out["basis"] = masks[0] & ~problem.free
    return out
