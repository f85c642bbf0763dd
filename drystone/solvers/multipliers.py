"""The convex friction problem of an island, on the velocities of its bodies.

If nothing slides in its solution, that is a solution of Coulomb's law, too; and rest is its
solution wherever rest is one at all, since its velocities are unique. So it decides whether an
island can rest (static admissibility), where Coulomb's law may have other solutions beside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drystone.kernels.cones import multipliers as kernels
from drystone.kernels.contact.residual import floored_residuals
from drystone.solvers._system import BlockOrder
from drystone.types import Floats, Ints

MULTIPLIERS = "multipliers"  # its name in reports
# yielding of contacts relative to unit^2: the first, its part where the error does not fall to
# SLOW_DECREASE of itself, the least
FIRST_YIELDING, STIFFER, SLOW_DECREASE, LEAST_ALPHA = 1e-6, 0.1, 0.1, 1e-9
# the same once the law is met, when only velocities remain: slender columns bend under forces that
# contacts hardly feel
MUCH_STIFFER, STIFFEST_ALPHA = 0.01, 1e-14
OUTER_ROUNDS = 25  # of the method of multipliers
NEWTON_STEPS_A_ROUND = 100  # of Newton's method in a round
ROUND_ACCURACY = 1e-2  # of a round's change: how closely the next is solved
GRADIENT_FLOOR = 1e-14  # of the impulses: what Newton's method does not fall below
STEADY = 1e-13  # of all that contacts change: velocities that no longer do
RESIDUAL_DECREASE = 0.5  # of the residual: a round that does not bring it below has not helped
LEAST_DIVISOR = 1e-300  # where there may be nothing to divide by
STUCK_ROUNDS = 2  # such rounds in turn after which no more are made


class Contacts(NamedTuple):
    """n contacts of an island: J (n, d, 2, dof), body (n, 2); bias (n, d), which is added to J v; q
    (n, d): velocities without impulses, with it; mu, unit (n,)."""

    J: Floats
    body: Ints
    bias: Floats
    q: Floats
    mu: Floats
    unit: Floats


class Bodies(NamedTuple):
    """All bodies: inverse_mass (nb,), zero of those that do not move; inverse (nb,) or (nb, 3, 3)
    inverse inertia in world axes; free (nb, dof): velocities without impulses."""

    inverse_mass: Floats
    inverse: Floats
    free: Floats


class Answer(NamedTuple):
    """r, u (n, d); the two residuals of the law; Newton steps."""

    r: Floats
    u: Floats
    residual: tuple[float, float]
    steps: int


def solve(
    contacts: Contacts, bodies: Bodies, law: int, tol: float, guess: Floats, room: int
) -> Answer | None:
    """The convex problem's answer from impulses `guess` (n, d), judged by the law; None if its
    factors need more than `room` blocks. tol: residual from which on velocities alone are made more
    exact. No body that does not move may have a velocity."""
    problem = _Problem(contacts, bodies, room)
    return None if problem.factors is None else problem.run(law, tol, guess)


class _Problem:
    """Rows, masses and the pattern of the matrix, with room for the steps."""

    def __init__(self, given: Contacts, bodies: Bodies, room: int) -> None:
        self.given, (n, d, _, dof) = given, given.J.shape
        mine = np.unique(given.body)
        mine = mine[bodies.inverse_mass[mine] > 0.0]
        number = np.full(bodies.inverse_mass.size, -1)
        number[mine] = np.arange(mine.size)
        side = number[given.body]
        indptr, indices, spot = _pattern(side, mine.size)
        self.root = given.unit[:, None]
        self.contacts = kernels.Contacts(
            given.J / self.root[:, :, None, None], side, spot, given.bias / self.root, given.mu
        )
        inverse = np.zeros((mine.size, dof, dof))
        k = np.arange(2 if dof == 3 else 3)
        inverse[:, k, k] = bodies.inverse_mass[mine, None]
        turn = bodies.inverse[mine].reshape(mine.size, dof - k.size, dof - k.size)
        inverse[:, k.size :, k.size :] = turn
        mass = np.linalg.solve(inverse, np.broadcast_to(np.eye(dof), inverse.shape))
        self.bodies = kernels.Bodies(mass, inverse, bodies.free[mine], indptr, indices)
        self.shape, self.wide = (0,) * d, (0,) * dof
        self.factors = _factors(dof, indptr, indices, room)
        m = mine.size
        self._now, self._other = _point(m, n, d, dof), _point(m, n, d, dof)
        self._step = np.zeros((m, dof))

    def run(self, law: int, tol: float, guess: Floats) -> Answer:
        """Rounds of the method of multipliers, from impulses `guess` (n, d)."""
        root, now = self.root, self._now
        x = guess * root
        now.v[:] = 0.0  # at rest all contacts carry: from free fall on, loads reach one body a step
        alpha, change, steps, idle, before, least = FIRST_YIELDING, 1.0, 0, 0, np.inf, np.inf
        if guess.any():  # as close as it is
            change = max(self._judge(x, law))
        best, both = x, (np.inf, np.inf)
        for _ in range(OUTER_ROUNDS):
            old = now.v.copy()
            enough = max(GRADIENT_FLOOR, ROUND_ACCURACY * alpha * min(change, 1.0))
            steps += kernels.minimise(
                self.shape, self.wide, self.contacts, self.bodies, self.factors, alpha, x,
                now, self._other, self._step, enough, NEWTON_STEPS_A_ROUND,
            )  # fmt: skip
            new = now.x.copy()
            size = max(float(np.linalg.norm(new)), LEAST_DIVISOR)
            change = float(np.linalg.norm(new - x)) / size
            x = new
            changed = self._energy(now.v - self.bodies.free)
            moved = np.sqrt(self._energy(now.v - old) / max(changed, LEAST_DIVISOR))
            judged = self._judge(x, law)
            helped = max(judged) <= max(tol, RESIDUAL_DECREASE * least)
            idle = 0 if helped else idle + 1
            if max(judged) < least:
                least, best, both = max(judged), x, judged
            if least <= tol and moved <= STEADY:
                break
            if idle == STUCK_ROUNDS:  # Coulomb's law is not met by the convex one: something slides
                break
            if moved > SLOW_DECREASE * before:
                part, end = (
                    (STIFFER, LEAST_ALPHA) if least > tol else (MUCH_STIFFER, STIFFEST_ALPHA)
                )
                alpha = max(part * alpha, end)
            before = moved
        return Answer(best / root, self._velocities(best) * root, both, steps)

    def _judge(self, x: Floats, law: int) -> tuple[float, float]:
        """Both residuals of the law."""
        given = x / self.root, self._velocities(x) * self.root
        one, other = floored_residuals(
            self.shape, *given, self.given.q, self.given.mu, self.given.unit, law, 0.0, 0.0
        )
        return float(one), float(other)

    def _velocities(self, x: Floats) -> Floats:
        """u of impulses x."""
        shape, other = (self.shape, self.wide, self.contacts), self._other
        kernels.push(*shape, self.bodies, x, self._step, other.v)
        kernels.velocities(*shape, other.v, other.u)
        return other.u

    def _energy(self, w: Floats) -> float:
        return float(np.einsum("ja,jab,jb", w, self.bodies.M, w))


def _point(m: int, n: int, d: int, dof: int) -> kernels.Point:
    v, g, u, x = np.zeros((m, dof)), np.zeros((m, dof)), np.zeros((n, d)), np.zeros((n, d))
    return kernels.Point(v, g, u, x, np.zeros((n, d, d)))


def _pattern(side: Ints, m: int) -> tuple[Ints, Ints, Ints]:
    """indptr, indices of the blocks of m bodies that touch, with the diagonal; spot (n, 2, 2)."""
    a, b = side[(side >= 0).all(axis=1)].T
    code = np.unique(np.concatenate([np.arange(m) * (m + 1), a * m + b, b * m + a]))
    indptr: Ints = np.searchsorted(code, np.arange(m + 1) * m)
    wanted = side[:, :, None] * m + side[:, None, :]
    spot: Ints = np.searchsorted(code, wanted)
    spot[(side[:, :, None] < 0) | (side[:, None, :] < 0)] = -1
    return indptr, code % m, spot


def _factors(dof: int, indptr: Ints, indices: Ints, room: int) -> kernels.Factors | None:
    """Room for the matrix and its factors."""
    order = BlockOrder.of(dof, indptr, indices, room)
    if order is None:
        return None
    blocks = np.empty((indices.size, dof, dof))
    return kernels.Factors(blocks, *order[:4], np.empty(order.size))
