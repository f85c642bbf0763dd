"""Reuse of a basis (Baraff 1992, 13.3): one linear solve while an earlier index set holds.

For an LCP with index set L: z_L = -M_LL^-1 q_L, zero elsewhere, valid exactly if z_L >= 0 and
w >= 0 off L. For planar friction the index set says which contacts are open, stick or slip.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.problems import FrictionProblem, MixedLCP
from drystone.solvers.pivoting import MixedArrays, basic_point
from drystone.types import Floats, Ints

IndexSets = dict[str, Ints]


def reuse_lcp(problem: MixedLCP, basis: Any, tol: float = 1e-10) -> Floats | None:
    """z of the basis (bool mask of basic z), or None if it is no longer a solution.

    tol: how negative z and w may be, relative to the largest z and to the largest q.
    """
    mask = np.asarray(basis)
    if mask.shape != (problem.size,) or mask.dtype != np.bool_:
        return None
    found = reuse_arrays(problem.dense, problem.q, problem.free, mask, tol)
    return None if found is None else found[0]


def reuse_arrays(
    M: Floats, q: Floats, free: Any, mask: Any, tol: float = 1e-10
) -> tuple[Floats, Floats, float] | None:
    """(z, w, |min(z, w)|) of the basis if it holds, for w = M z + q with free rows."""
    used = mask | free
    z, w, error = basic_point(MixedArrays(M, q, free, q), used, used)
    scale = tol * float(np.abs(q).max(initial=0.0))
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
    problem: FrictionProblem, index_sets: IndexSets, value: Floats | None = None
) -> Floats | None:
    """Impulses of a planar problem whose contacts keep their states, or None if they do not.

    index_sets: contacts under "open", "stick" and "slip"; where "slip+" and "slip-" (u_t > 0,
    u_t < 0) are absent the direction is taken from the tangential impulses of `value`, or from
    the free velocity. Sliding contacts and contacts without friction count as open or not.
    """
    if problem.dim != 2 or problem.law == "convex":
        return None
    system = _system(problem, index_sets, value)
    if system is None:
        return None
    G, rows = system
    W, q = problem.dense, problem.q
    B = W[rows] @ G
    try:
        f = np.linalg.solve(B, -q[rows])
        f -= np.linalg.solve(B, B @ f + q[rows])
    except np.linalg.LinAlgError:
        return None
    r = np.asarray(G @ f)
    if not np.isfinite(r).all():
        return None
    scaled, unit = problem.residuals(r)
    return r if max(scaled, unit) <= 1e-10 else None


def _system(
    problem: FrictionProblem, index_sets: IndexSets, value: Floats | None
) -> tuple[Floats, Ints] | None:
    """(G, rows): impulses r = G f, and the rows of u that vanish."""
    nc, m = problem.nc, problem.size
    closed = np.ones(nc, bool)
    opened = np.asarray(index_sets.get("open", ()), dtype=np.int64)
    if opened.size and (opened.min() < 0 or opened.max() >= nc):
        return None
    closed[opened] = False
    side = _sides(problem, index_sets, value)
    sticky = closed & (side == 0) & ~problem.sliding & (problem.mu > 0)
    normal = 2 * np.flatnonzero(closed)
    tangent = 2 * np.flatnonzero(sticky) + 1
    bilateral = np.arange(2 * nc, m)
    rows = np.concatenate([normal, tangent, bilateral])
    G = np.zeros((m, rows.size))
    G[rows, np.arange(rows.size)] = 1.0
    friction = -problem.mu * side
    if problem.slip is not None:
        friction = np.where(problem.sliding, -problem.mu * problem.slip[:, 0], friction)
    friction = np.where(sticky, 0.0, friction)
    G[normal + 1, np.arange(normal.size)] = friction[closed]
    return G, rows


def _sides(problem: FrictionProblem, index_sets: IndexSets, value: Floats | None) -> Ints:
    """(nc,) sign of u_t at slipping contacts, 0 elsewhere."""
    side = np.zeros(problem.nc, np.int64)
    if "slip+" in index_sets or "slip-" in index_sets:
        side[np.asarray(index_sets.get("slip+", ()), dtype=np.int64)] = 1
        side[np.asarray(index_sets.get("slip-", ()), dtype=np.int64)] = -1
        return side
    slipping = np.asarray(index_sets.get("slip", ()), dtype=np.int64)
    along = problem.q if value is None else -value
    side[slipping] = np.where(along[2 * slipping + 1] >= 0, 1, -1)
    return side


def contact_states(problem: FrictionProblem, r: Floats, u: Floats) -> IndexSets:
    """Contacts of a planar solution by state; sliding contacts in touch count as slipping.

    On the edge of the cone a contact slips, whatever its speed; "slip+" has u_t >= 0.
    """
    n, t = r[0 : 2 * problem.nc : 2], r[1 : 2 * problem.nc : 2]
    top = float(np.abs(r).max(initial=0.0))
    opened = n <= 1e-12 * top
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
