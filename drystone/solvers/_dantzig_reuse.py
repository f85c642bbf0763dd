"""Index sets as a basis, and solving again with them (F6).

A basis says of every contact: open, stick or slip (with its direction). While it still holds,
the forces of a changed problem cost one linear solve, and they change continuously with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.kernels import dantzig_sets as sets
from drystone.problems import FrictionProblem
from drystone.solvers.base import Answer, Start
from drystone.types import Floats, Ints, Status


def basis_of(problem: Any, table: Ints, V: Floats, value: Floats) -> tuple[dict[str, Ints], Any]:
    """(index_sets, basis) of a finished run.

    LCP: basis is the mask of basic rows. Friction: basis is the index sets with "direction",
    (nc, d - 1), the unit direction of friction of each slipping contact.
    """
    state = table[sets.STATE]
    if not isinstance(problem, FrictionProblem):
        basic = state == sets.C
        groups = {"contact": np.flatnonzero(basic & ~problem.free)}
        groups["open"] = np.flatnonzero(~basic & ~problem.free)
        return groups, basic
    d, nc = problem.d, problem.nc
    rows = state[: d * nc].reshape(nc, d)
    kind = table[sets.KIND, : d * nc].reshape(nc, d)
    closed = rows[:, 0] == sets.C
    static = kind[:, 1] == sets.TANGENT
    slip = closed & static & (rows[:, 1] == sets.TIED)
    groups = {
        "open": np.flatnonzero(~closed),
        "stick": np.flatnonzero(closed & static & ~slip),
        "slip": np.flatnonzero(slip),
        "dynamic": np.flatnonzero(closed & ~static),
    }
    return groups, groups | {"direction": _directions(value, d, nc, slip)}


def _directions(value: Floats, d: int, nc: int, slip: Any) -> Floats:
    friction = value[: d * nc].reshape(nc, d)[:, 1:]
    size = np.linalg.norm(friction, axis=1, keepdims=True)
    return np.divide(friction, size, out=np.zeros((nc, d - 1)), where=slip[:, None] & (size > 0))


def reuse(problem: Any, start: Start, tol: float) -> Answer | None:
    """The solution with the basis of an earlier one, or None when it no longer holds."""
    ties = _ties(problem, start.basis, start.value)
    if ties is None:
        return None
    E, rows = ties  # forces f = E x, equations (A f + b)[rows] = 0
    if problem.matrix_free if isinstance(problem, FrictionProblem) else False:
        return None
    W = problem.dense
    try:
        G = (W @ E)[rows]
        x = np.linalg.solve(G, -problem.q[rows]) if rows.size else np.zeros(0)
        value = E @ x
        if rows.size:
            value = value - E @ np.linalg.solve(G, (W @ value + problem.q)[rows])
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(value).all():
        return None
    dual = problem.dual(value)
    residuals = problem.residuals(value, dual)
    if max(residuals) > min(tol, 1e-10):
        return None
    extras = {
        "basis": start.basis,
        "index_sets": None if isinstance(start.basis, np.ndarray) else _named(start.basis),
        "info": {"reused": True, "drives": 0, "pivots": 0, "zero_steps": 0, "drops": 0}
        | {"refactorisations": 1},
    }
    return Answer(value, Status.SOLVED, dual=dual, residuals=residuals, extras=extras)


def _named(basis: dict[str, Any]) -> dict[str, Ints]:
    return {key: rows for key, rows in basis.items() if key != "direction"}


def _ties(problem: Any, basis: Any, value: Floats | None) -> tuple[Floats, Ints] | None:
    """(E, rows) of a basis: forces that vary, with slipping friction tied to its normal force."""
    n = problem.size
    if not isinstance(problem, FrictionProblem):
        mask = np.asarray(basis) if isinstance(basis, np.ndarray) else None
        if mask is None or mask.shape != (n,) or mask.dtype != np.bool_:
            return None
        rows = np.flatnonzero(mask | problem.free)
        return np.eye(n)[:, rows], rows
    if not isinstance(basis, dict) or "stick" not in basis or "slip" not in basis:
        return None
    d, nc = problem.d, problem.nc
    direction = basis.get("direction")
    slip, stick = np.asarray(basis["slip"], int), np.asarray(basis["stick"], int)
    dynamic = np.asarray(basis.get("dynamic", []), int)
    if direction is None:
        if value is None:
            return None
        chosen = np.isin(np.arange(nc), slip)
        direction = _directions(value, d, nc, chosen)
    touched = np.concatenate([slip, stick, dynamic])
    if direction.shape != (nc, d - 1) or (touched.size and touched.max() >= nc):
        return None
    bilateral = np.arange(d * nc, n)
    tangents = (d * stick[:, None] + np.arange(1, d)).ravel()
    rows = np.sort(np.concatenate([d * touched, tangents, bilateral]))
    E = np.eye(n)
    span = np.arange(1, d)
    E[d * slip[:, None] + span, d * slip[:, None]] = problem.mu[slip, None] * direction[slip]
    if problem.slip is not None:
        E[d * dynamic[:, None] + span, d * dynamic[:, None]] = (
            -problem.mu[dynamic, None] * problem.slip[dynamic]
        )
    return E[:, rows], rows
