"""Reuse of a basis (Baraff 1992, 13.3): one linear solve while an earlier index set holds.

For an LCP with index set L: z_L = -M_LL^-1 q_L, zero elsewhere, valid exactly if z_L >= 0 and
w >= 0 off L. For friction the index sets say which contacts are open, stick or slip, and where to;
forces then change continuously with the problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.problems import FrictionProblem
from drystone.solvers.pivoting import MixedArrays, basic_point
from drystone.types import Bools, Floats, Ints

IndexSets = dict[str, Ints]
SIGN_TOLERANCE = 1e-10  # of the largest |q|: how negative w may be
EXACT_RESIDUAL = 1e-10  # residual of impulses whose contacts keep their states


def is_mask(basis: Any, n: int) -> bool:
    """Whether a basis is that of an LCP of n rows: (n,) bool, true where z is basic."""
    return isinstance(basis, np.ndarray) and basis.shape == (n,) and basis.dtype == np.bool_


def reuse_lcp(M: Floats, q: Floats, free: Bools, basis: Any) -> tuple[Floats, Floats, float] | None:
    """(z, w, |min(z, w)|) of a basis, for w = M z + q with free rows; None if it is no longer a
    solution, or the basis of something else."""
    if not is_mask(basis, q.size):
        return None
    used = basis | free
    z, w, error = basic_point(MixedArrays(M, q, free, q), used, used)
    scale = SIGN_TOLERANCE * float(np.abs(q).max(initial=0.0))
    bounded = ~free
    if (
        np.isfinite(error)
        and bool((z[bounded] >= 0.0).all())
        and bool((w[bounded] >= -scale).all())
        and bool((np.abs(w[used]) <= scale).all())
    ):
        return z, w, error
    return None


def reuse_friction(
    problem: FrictionProblem, basis: Any, value: Floats | None = None
) -> tuple[Floats, Floats, tuple[float, float]] | None:
    """(r, u, residuals) of contacts that keep their states, or None if they do not.

    basis: contacts under "open", "stick" and "slip"; "direction" (nc, d - 1): unit direction of
    friction of those that slip, in the plane also "slip+" and "slip-" (u_t > 0, u_t < 0); where
    both are absent it is that of the tangential impulses of `value`, or opposes the free velocity.
    Sliding contacts and contacts without friction count as open or not.
    """
    if not isinstance(basis, dict) or problem.law == "convex":
        return None
    states = _states(problem, basis, value)
    if states is None:
        return None
    closed, stick, tied = states
    d, nc, n = problem.d, problem.nc, problem.size
    span = np.arange(1, d)
    heads, slips = d * np.flatnonzero(closed), np.flatnonzero(closed & ~stick)
    tangents = (d * np.flatnonzero(stick)[:, None] + span).ravel()
    rows = np.concatenate([heads, tangents, np.arange(d * nc, n)])
    E = np.zeros((n, rows.size))  # r = E f, and u vanishes on the rows
    E[rows, np.arange(rows.size)] = 1.0
    E[d * slips[:, None] + span, np.searchsorted(heads, d * slips)[:, None]] = tied[slips]
    B, q = problem.dense[rows] @ E, problem.q[rows]
    try:
        f = np.linalg.solve(B, -q)
        f -= np.linalg.solve(B, B @ f + q)
    except np.linalg.LinAlgError:
        return None
    r = np.asarray(E @ f)
    if not np.isfinite(r).all():
        return None
    u = problem.dual(r)
    residuals = problem.residuals(r, u)
    return (r, u, residuals) if max(residuals) <= EXACT_RESIDUAL else None


def _states(
    problem: FrictionProblem, basis: dict[str, Any], value: Floats | None
) -> tuple[Bools, Bools, Floats] | None:
    """(closed, stick, r_t / r_n (nc, d - 1) of contacts that slip); None if it does not fit."""
    d, nc = problem.d, problem.nc
    masks = {}
    for key in ("open", "slip", "slip+", "slip-"):
        rows = np.asarray(basis.get(key, ()), dtype=np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= nc):
            return None
        masks[key] = np.zeros(nc, bool)
        masks[key][rows] = True
    closed = ~masks["open"]
    slip = masks["slip"] | masks["slip+"] | masks["slip-"] | problem.sliding | (problem.mu == 0)
    direction = basis.get("direction")
    if direction is None and d == 2 and ("slip+" in basis or "slip-" in basis):
        direction = (masks["slip-"].astype(float) - masks["slip+"])[:, None]
    if direction is None:
        friction = (-problem.q if value is None else value)[: d * nc].reshape(nc, d)[:, 1:]
        size = np.linalg.norm(friction, axis=1, keepdims=True)
        direction = np.divide(friction, size, out=np.zeros((nc, d - 1)), where=size > 0)
    if direction.shape != (nc, d - 1):
        return None
    tied = problem.mu[:, None] * direction
    if problem.slip is not None:
        slides = problem.sliding
        tied[slides] = -problem.mu[slides, None] * problem.slip[slides]
    return closed, closed & ~slip, tied


def contact_states(problem: FrictionProblem, r: Floats) -> IndexSets:
    """Contacts of a planar solution by state; sliding contacts in touch count as slipping.

    On the edge of the cone a contact slips, whatever its speed; "slip+" has u_t >= 0.
    """
    n, t = r[0 : 2 * problem.nc : 2], r[1 : 2 * problem.nc : 2]
    top = float(np.abs(r).max(initial=0.0))
    opened = np.maximum(n, np.abs(t)) <= 1e-12 * top  # large friction holds with hardly any normal
    edge = ~opened & (np.abs(t) >= problem.mu * n * (1.0 - 1e-9))
    if problem.slip is not None:
        edge |= ~opened & problem.sliding
    forward = edge & (t <= 0)
    return {
        "open": np.flatnonzero(opened),
        "stick": np.flatnonzero(~opened & ~edge),
        "slip": np.flatnonzero(edge),
        "slip+": np.flatnonzero(forward),
        "slip-": np.flatnonzero(edge & ~forward),
    }
