"""The backward error of impulses: the least change of the free velocities q, among those that
motions of the bodies make, with which they are an exact solution.

Residual, primal error and gap bound what each contact does. Where the friction cones of several
contacts nearly share a line (a groove that just jams), velocities that satisfy every contact to
1e-9 may be far from all that satisfy them exactly. With r moved onto its cones, a solution's
velocities satisfy linear equations B u = 0: all of u where a contact sticks, and where it slips the
normal row, with r turned against the slip. With U a basis of the range of W, the nearest velocities
u + U z that satisfy them have z = -(B U)^+ B u, and |z| is the error. Slip that turns by z turns
friction with it: that changes u by as much as W makes of it. Where a contact creeps this is more
than it moves; then r stays, and u has to oppose it (d - 1 rows), or is zero, as if it stuck. Each
choice bounds the error; the least counts.

Rounding of u = W r + q may be as large as NOISE (|r| + |q|) in each row; what it makes of z in the
worst case is added, except where contacts are held at rest: there B u is u.

For the convex law velocities are the projection of the free ones on a convex cone, which is never
longer than the change of what is projected: the error of the velocities is at most twice
the backward error, in the norm of kinetic energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from drystone.kernels.blocks import SUM_ROUNDING
from drystone.problems.residual import EPS, project_cone
from drystone.types import Floats

if TYPE_CHECKING:
    from drystone.problems.friction import FrictionProblem

JUDGED_ROWS = 300  # of problems that are judged: singular values of more take longer than a solve
RANGE_CUT = 1e-11  # singular values of W below it, relative to the largest, count as zero
UNRESOLVED = 1e-9  # velocities that a unit of r makes: less is left to singular values
# of |q|: speeds of slip below which u opposes r, or (True) contacts are at rest; tried in order
CREEPS = ((1e-3, True), (0.0, False), (1e-3, False), (np.inf, False))
ROUNDING = 64.0 * EPS  # of U, times the ratio of the singular values of W: rows of B U that follow
# from others have singular values up to it


def backward_error(problem: FrictionProblem, r: Floats, u: Floats, enough: float) -> float:
    """|z| / |q|, unit-free, of r, u (nb, d), or a bound of it below `enough`."""
    form = problem.form
    root, d = form.unit[:, None], problem.d
    scale = 1.0 / np.repeat(form.unit, d)
    W = scale[:, None] * form.W.scipy.toarray() * scale
    r, u, q = r * root, u / root, form.q / root
    size = float(np.linalg.norm(q))
    size = size if size >= EPS else 1.0
    noise = SUM_ROUNDING * (np.linalg.norm(r, axis=1) + np.linalg.norm(q, axis=1))
    least = np.inf
    for creep, rests in CREEPS:
        held = _Held(r, u, W, form.mu, problem.law, creep * size, rests)
        least = min(least, held.error(W, noise, enough * size) / size)
        if least <= enough:
            break
    return least


def _regular(W: Floats, B: Floats, error: Floats, rounding: Floats) -> tuple[float, Floats]:
    """(a bound of |z|, U z) by a Cholesky factor of B W B', where directions that the factor does
    not resolve may hide all that is left."""
    G = B @ W @ B.T
    damping = 1e-12 * max(1.0, float(np.trace(G)))
    try:
        factor = scipy.linalg.cho_factor(G + damping * np.eye(G.shape[0]), check_finite=False)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros(W.shape[0])
    y = scipy.linalg.cho_solve(factor, error, check_finite=False)
    left = damping * float(np.linalg.norm(y)) + float(np.linalg.norm(rounding))
    shift = -(W @ (B.T @ y))
    return float(np.linalg.norm(shift)) + left / UNRESOLVED, shift


class _Held:
    """Impulses moved onto their cones, the velocities `u` (nb, d) that they make, and what an exact
    solution with them satisfies. creep: speed of a slip below which u opposes r, and not r u, or
    is zero if `rests`."""

    def __init__(
        self, r: Floats, u: Floats, W: Floats, mu: Floats, law: str, creep: float, rests: bool
    ) -> None:
        nb, d = r.shape
        speed = np.linalg.norm(u[:, 1:], axis=1)
        z = r - u
        z[:, 0] -= mu * speed if law == "coulomb" else 0.0
        side = np.linalg.norm(z[:, 1:], axis=1)
        joint = mu < 0
        self.open = ~joint & (np.maximum(mu, 0.0) * side <= -z[:, 0])
        self.stick = joint | (~self.open & (side <= mu * z[:, 0]))
        if rests:
            self.stick |= ~self.open & (mu > 0) & (speed <= creep)
        self.slip = ~self.open & ~self.stick
        self.fast = self.slip & (speed > creep)
        way = np.where(self.fast[:, None], -u[:, 1:], z[:, 1:])
        length = np.linalg.norm(way, axis=1, keepdims=True)
        self.along = np.divide(way, length, out=np.zeros((nb, d - 1)), where=length > 0)
        held = np.where(joint[:, None], r, project_cone(r, np.maximum(mu, 0.0)))
        held[self.open] = 0.0
        held[self.slip, 1:] = (mu * held[:, 0])[self.slip, None] * self.along[self.slip]
        # differences of impulses, not impulses, are multiplied: u keeps its digits
        self.u = u + (W @ (held - r).ravel()).reshape(nb, d)
        ahead = np.einsum("ij,ij->i", self.u[:, 1:], self.along)
        self.stick |= self.slip & (mu > 0) & (ahead > 0)  # friction does not drive
        self.slip &= ~self.stick
        self.fast &= self.slip
        self.mu, self.law = mu, law
        self.violated = np.zeros((nb, d))  # rows of open contacts, zero where they are satisfied
        for i in np.flatnonzero(self.open):
            self.violated[i] = _opening(self.u[i], mu[i], law, 0.0)
        self.turns = np.zeros(nb)  # of friction, for a change of the velocity of the slip
        self.turns[self.fast] = (mu * held[:, 0])[self.fast] / speed[self.fast]

    def rows(self, noise: Floats, at: Floats) -> tuple[Floats, Floats]:
        """(B, rows of unit length; rounding of B u), with rows of the open contacts that velocities
        `at` (nb, d), or those before, violate."""
        nb, d = self.u.shape
        rows, rounding = [], []
        for i in range(nb):
            loose = noise[i]
            if self.stick[i]:
                block, loose = np.eye(d), 0.0
            elif self.slip[i]:
                block = _slipping(self.along[i], self.mu[i], self.law)
                block = block[:1] if self.fast[i] else block
            else:
                if not self.violated[i].any():
                    self.violated[i] = _opening(at[i], self.mu[i], self.law, noise[i])
                block = self.violated[i : i + 1] if self.violated[i].any() else self.violated[:0]
            for row in block:
                full = np.zeros(nb * d)
                full[d * i : d * i + d] = row
                rows.append(full)
                rounding.append(loose)
        return np.array(rows).reshape(len(rows), nb * d), np.array(rounding)

    def error(self, W: Floats, noise: Floats, enough: float) -> float:
        """|z|, or a bound of it below `enough`. Where u + U z violates contacts that u satisfies,
        it is no solution's: their rows join B."""
        at = self.u
        for _ in range(len(noise) + 1):
            B, rounding = self.rows(noise, at)
            if not B.shape[0]:
                return 0.0
            bound, shift = self._bound(W, B, rounding, enough)
            at = self.u + shift.reshape(self.u.shape)
            if self.rows(noise, at)[0].shape[0] == B.shape[0]:
                return bound
        return np.inf

    def _bound(self, W: Floats, B: Floats, rounding: Floats, enough: float) -> tuple[float, Floats]:
        """(|z|, or a bound of it below `enough`; U z)."""
        error = B @ self.u.ravel()
        most = float(self.turns.max(initial=0.0))
        bound, shift = _regular(W, B, error, rounding)
        if bound * (1.0 + most * np.abs(W).sum(axis=1).max()) <= enough:
            return bound, shift
        U, response, _ = scipy.linalg.svd(W)
        U = U[:, response > RANGE_CUT * response[0]]
        left, s, right = scipy.linalg.svd(B @ U, full_matrices=False)
        kept = s > ROUNDING * response[0] / response[U.shape[1] - 1]
        inverse = right[kept].T @ (left[:, kept] / s[kept]).T
        least = inverse @ error
        z = np.copysign(np.abs(least) + np.abs(inverse) @ rounding, least)
        turned = (self.turns[:, None] * (U @ z).reshape(self.u.shape)).ravel()
        return float(np.linalg.norm(z)) + float(np.linalg.norm(W @ turned)), -(U @ least)


def _slipping(along: Floats, mu: float, law: str) -> Floats:
    """Rows that vanish for velocities of a slip against friction along a unit vector (d - 1,)."""
    d = along.size + 1
    normal = np.zeros((1, d))
    normal[0, 0] = 1.0
    if mu == 0.0:
        return normal
    if law == "convex":
        normal[0, 1:] = mu * along
        normal /= np.hypot(1.0, mu)
    if d == 2:
        return normal
    across = np.array([[-along[1], along[0]]])
    if d > 3:
        across = scipy.linalg.null_space(along[None]).T
    return np.vstack([normal, np.hstack([np.zeros((d - 2, 1)), across])])


def _opening(u: Floats, mu: float, law: str, noise: float) -> Floats:
    """(d,) the row of an open contact's condition that u (d,) violates by more than `noise`, or
    zeros."""
    speed = float(np.linalg.norm(u[1:]))
    row = np.zeros(u.size)
    row[0] = 1.0
    if law == "convex" and speed > 0.0:
        row[1:] = -mu * u[1:] / speed
        row /= np.hypot(1.0, mu)
    return row if float(row @ u) < -noise else np.zeros(u.size)
