"""Impulses without collision: rays of the force problem, and how far they go."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from drystone.problems import FrictionProblem
from drystone.problems.convert import fold
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats

RAY_CONTACTS = 12  # contacts up to which rays are searched for
TOGETHER = 3  # contacts in one ray that are searched for


def stopping_scale(system: System, r: Floats) -> tuple[float, int]:
    """(alpha, contact of the state): the impulse alpha r stops the sliding of that contact first.

    The speed that counts is the one along the slip before the impulse, which is exact in the
    plane; infinite and -1 if no contact with dynamic friction slows down.
    """
    state, chosen = system.state, system.contacts
    change = (system.W @ r)[: chosen.size * state.d].reshape(chosen.size, state.d)
    slip = state.slip_directions[chosen]
    speed = np.maximum(np.einsum("ij,ij->i", slip, state.u[chosen, 1:]), 0.0)
    loss = -np.einsum("ij,ij->i", slip, change[:, 1:])
    slows = (loss > 0) & (state.mu[chosen, 1] > 0)
    if not slows.any():
        return np.inf, -1
    scale = np.divide(speed, loss, out=np.full(speed.size, np.inf), where=slows)
    first = int(np.argmin(scale))
    return float(scale[first]), int(chosen[first])


def impulse_rays(problem: FrictionProblem) -> list[Floats]:
    """Rays r of small problems without static friction, least sets of contacts first.

    With A the matrix of normal forces (friction folded in, joints eliminated): z >= 0,
    z_i > 0 => (A z)_i <= 0, and z_i > 0 at a sliding contact with friction (13-1). Of each set of
    at most three contacts one ray; sets that contain a smaller one are left out.
    """
    folded = fold(problem)
    if (folded.tangent >= 0).any() or problem.nc > RAY_CONTACTS:
        return []
    free, normal = folded.bilateral, folded.normal
    A_nn, A_nj = folded.A[np.ix_(normal, normal)], folded.A[np.ix_(normal, free)]
    hold = np.zeros((int(free.sum()), problem.nc))
    if free.any():
        hold = -np.linalg.pinv(folded.A[np.ix_(free, free)]) @ folded.A[np.ix_(free, normal)]
    A = A_nn + A_nj @ hold
    drags = folded.sliding & (folded.mu > 0)
    found: list[tuple[int, ...]] = []
    out: list[Floats] = []
    for size in range(1, TOGETHER + 1):
        for chosen in combinations(range(problem.nc), size):
            if not drags[list(chosen)].any() or any(set(s) <= set(chosen) for s in found):
                continue
            z = _ray_on(A[np.ix_(chosen, chosen)])
            if z is None:
                continue
            found.append(chosen)
            f = np.zeros(folded.b.size)
            f[normal[list(chosen)]] = z
            f[free] = hold[:, list(chosen)] @ z
            out.append(folded.value(f))
    return out


def _ray_on(A: Floats) -> Floats | None:
    """z >= 0 of sum one with A z <= 0, or None."""
    n = A.shape[0]
    if n == 1:
        return np.ones(1) if A[0, 0] <= 0.0 else None
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    result = linprog(
        np.zeros(n), A_ub=A / scale, b_ub=np.zeros(n), A_eq=np.ones((1, n)), b_eq=np.ones(1)
    )
    return np.asarray(result.x) if result.status == 0 else None
