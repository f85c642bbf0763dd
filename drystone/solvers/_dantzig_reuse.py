"""Index sets as a basis, and solving again with them, in the plane and in space.

A basis says of every contact: open, stick or slip (with its direction). While it still holds,
the forces of a changed problem cost one linear solve, and they change continuously with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.kernels import dantzig_sets as sets
from drystone.kernels import dantzig_setup as setup
from drystone.problems import FrictionProblem
from drystone.solvers.base import Answer, Start
from drystone.solvers.reuse import reuse_arrays
from drystone.types import Bools, Floats, Ints, Status

GROUPS = ("open", "stick", "slip", "dynamic")
COUNTS = {"drives": 0, "pivots": 0, "zero_steps": 0, "drops": 0, "refactorisations": 1}


def basis_of(problem: Any, table: Ints, value: Floats) -> tuple[dict[str, Ints], Any]:
    """(index_sets, basis) of a finished run.

    LCP: basis is the mask of basic rows. Friction: basis is the index sets with "direction",
    (nc, d - 1), the unit direction of friction of each slipping contact.
    """
    if not isinstance(problem, FrictionProblem):
        basic = table[sets.STATE] == sets.C
        bounded = ~problem.free
        return {
            "contact": np.flatnonzero(basic & bounded),
            "open": np.flatnonzero(~basic & bounded),
        }, basic
    d, nc = problem.d, problem.nc
    group, direction = np.empty(nc, np.int64), np.empty((nc, d - 1))
    setup.classify(table, value, d, nc, group, direction)
    groups = {name: np.flatnonzero(group == code) for code, name in enumerate(GROUPS)}
    if d == 2:  # by the sign of u_t, which friction opposes
        groups["slip+"] = np.flatnonzero(direction[:, 0] < 0)
        groups["slip-"] = np.flatnonzero(direction[:, 0] > 0)
    return groups, groups | {"direction": direction}


def _directions(value: Floats, d: int, nc: int, slip: Bools) -> Floats:
    friction = value[: d * nc].reshape(nc, d)[:, 1:]
    size = np.linalg.norm(friction, axis=1, keepdims=True)
    return np.divide(friction, size, out=np.zeros((nc, d - 1)), where=slip[:, None] & (size > 0))


def reuse(problem: Any, start: Start, tol: float) -> Answer | None:
    """The solution with the basis of an earlier one, or None when it no longer holds."""
    basis = start.basis
    if isinstance(problem, FrictionProblem):
        value = _friction_value(problem, basis, start.value) if isinstance(basis, dict) else None
    else:
        mask = basis if isinstance(basis, np.ndarray) else None
        if mask is None or mask.shape != (problem.size,) or mask.dtype != np.bool_:
            return None
        found = reuse_arrays(problem.dense, problem.q, problem.free, mask)
        value = None if found is None else found[0]
    if value is None or not np.isfinite(value).all():
        return None
    dual = problem.dual(value)
    residuals = problem.residuals(value, dual)
    if max(residuals) > min(tol, 1e-10):
        return None
    extras: dict[str, Any] = {"basis": basis, "info": COUNTS | {"restarts": 0, "reused": True}}
    if isinstance(basis, dict):
        extras["index_sets"] = {key: rows for key, rows in basis.items() if key != "direction"}
    return Answer(value, Status.SOLVED, dual=dual, residuals=residuals, extras=extras)


def _friction_value(
    problem: FrictionProblem, basis: dict[str, Any], value: Floats | None
) -> Floats | None:
    """Impulses whose contacts keep their states; None if the equations are singular."""
    states = _states(problem, basis, value)
    if states is None:
        return None
    closed, stick, direction = states
    d, nc, n = problem.d, problem.nc, problem.size
    span = np.arange(1, d)
    heads = d * np.flatnonzero(closed)
    tangents = (d * np.flatnonzero(stick)[:, None] + span).ravel()
    rows = np.concatenate([heads, tangents, np.arange(d * nc, n)])
    E = np.zeros((n, rows.size))  # r = E x, and u vanishes on the rows
    E[rows, np.arange(rows.size)] = 1.0
    tied = closed & ~stick
    column = np.searchsorted(heads, d * np.flatnonzero(tied))
    E[d * np.flatnonzero(tied)[:, None] + span, column[:, None]] = direction[tied]
    W = problem.dense
    G = W[rows] @ E
    try:
        x = np.linalg.solve(G, -problem.q[rows])
        x -= np.linalg.solve(G, G @ x + problem.q[rows])
    except np.linalg.LinAlgError:
        return None
    return np.asarray(E @ x)


def _states(
    problem: FrictionProblem, basis: dict[str, Any], value: Floats | None
) -> tuple[Bools, Bools, Floats] | None:
    """(closed, stick, r_t / r_n of tied friction); None if the basis does not fit."""
    d, nc = problem.d, problem.nc
    masks = {}
    for key in ("open", "stick", "slip+", "slip-"):
        rows = np.asarray(basis.get(key, ()), dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= nc):
            return None
        masks[key] = np.zeros(nc, bool)
        masks[key][rows] = True
    dynamic = problem.sliding | (problem.mu == 0)
    closed, stick = ~masks["open"], masks["stick"] & ~dynamic & ~masks["open"]
    unit = basis.get("direction")
    if unit is None and d == 2 and "slip+" in basis:
        unit = (masks["slip-"].astype(float) - masks["slip+"])[:, None]
    if unit is None and value is not None:
        unit = _directions(value, d, nc, closed & ~stick)
    if unit is None or unit.shape != (nc, d - 1):
        return None
    coefficient = problem.mu[:, None] * unit
    if problem.slip is not None:
        slides = problem.sliding
        coefficient[slides] = -problem.mu[slides, None] * problem.slip[slides]
    return closed, stick, coefficient
