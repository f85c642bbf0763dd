"""Semismooth Newton on the friction problem, made global by the proximal point method.

A few Gauss-Seidel sweeps give a start; then Newton steps on the Alart-Curnier function with a
sparse block factorisation. If they do not converge, the islands of contacts that are left are
treated one by one: proximal regularisation first, and a homotopy in the friction coefficient,
from frictionless (a convex problem) to the full one, as the last resort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drystone.errors import OptionError
from drystone.kernels import status as code
from drystone.kernels.blocks import COULOMB, LINEAR
from drystone.kernels.cones import newton as kernels
from drystone.kernels.cones.newton import PLAIN, REGULARISATION
from drystone.kernels.cones.nsgs import nsgs_sweeps
from drystone.kernels.cones.problem import FrictionBlocks
from drystone.kernels.contact.residual import floored_residuals
from drystone.kernels.islands import extract, label_islands
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.problems.delassus import BlockMatrix
from drystone.problems.residual import contact_errors
from drystone.solvers._blocks import BlockProblem, smooth_cones_only
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import STATUS_OF_CODE, Floats, Ints, Status

FACTOR_ROOM = 2_000_000  # most blocks in the factors: 0.6 GB for d = 3
NEWTON_BLOCKS = 300_000  # blocks
INNER_STEPS = 15  # steps on one regularised problem before it counts as failed
QUICK = 6  # an inner solve this short lets alpha fall by 10, a longer one by 2
# regularisation of proximal steps: the first, its factor after a failure, its bounds
FIRST_ALPHA, ALPHA_RAISE, ALPHA_MIN, ALPHA_MAX = 1e-3, 30.0, 1e-13, 1e5


@dataclass(frozen=True, kw_only=True)
class Newton(Solver):
    """Semismooth Newton.

    max_steps: Newton steps per island; sweeps: Gauss-Seidel sweeps before the first step;
    alpha: regularisation of the plain steps, relative to each contact's mean diagonal of W;
    homotopy: number of friction levels of the fallback, 0 for none;
    room: most blocks in the factors: beyond, the problem is given up at once.
    """

    max_steps: int = 500
    sweeps: int = 20
    alpha: float = REGULARISATION
    homotopy: int = 8
    room: int = FACTOR_ROOM

    name: ClassVar[str] = "newton"
    _least: ClassVar[dict[str, int]] = {"max_steps": 1, "sweeps": 0, "homotopy": 0}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1e3:
            raise OptionError(f"newton: alpha = {self.alpha}: expected 0 < alpha < 1000")

    def refuses(self, problem: Problem) -> str | None:
        if isinstance(problem, BoxedLCP):
            if not isinstance(problem, MixedLCP):
                return "takes no upper bounds: an LCP or a mixed LCP, not a boxed one"
            return None
        return smooth_cones_only(problem)

    def run(self, problem: FrictionProblem | MixedLCP, start: Start, limits: Limits) -> Answer:
        contacts = BlockProblem(problem)
        r = contacts.start(start.value)
        if contacts.nb > NEWTON_BLOCKS:
            return Answer(contacts.value(r), Status.STALLED, 0)
        self._sweep(contacts, r)
        run = _Run(self, contacts, limits)
        status = run.plain(r)
        if status is not Status.SOLVED:
            status = run.by_islands(r)
        history = np.concatenate(run.history) if run.history else None
        return Answer(contacts.value(r), status, run.steps, extras={"history": history})

    def _sweep(self, c: BlockProblem, r: Floats) -> None:
        W = c.W
        if self.sweeps and c.law != LINEAR and (W.blocks[W.diagonal, 0, 0] > 0).all():
            nsgs_sweeps(c.key, c.blocks, W.diagonal, 1.0, self.sweeps, r, np.zeros(c.nb))


def plain_newton(
    W: BlockMatrix,
    q: Floats,
    mu: Floats,
    unit: Floats,
    law: int,
    tol: float,
    fine: float,
    extra: int,
    most: int,
    room: int,
    r: Floats,
) -> tuple[Status, int, tuple[float, float]]:
    """Newton steps alone, without a problem around them: what most steps of a simulation need.

    W in blocks, q and r (nb, d), mu (nb,) with -1 for bilateral blocks, which come last; fine,
    extra: once within tol, a residual that so many steps more may try to reach; r becomes the best
    point met. Returns status (SINGULAR: no room), steps, both residuals.
    """
    best, history = np.empty_like(r), np.empty(most + extra)
    key = (0,) * r.shape[1]
    problem = FrictionBlocks(W.indptr, W.indices, W.blocks, q, mu, unit, law)
    goal = kernels.Goal(tol, fine, extra, most, 0.0, 0.0, REGULARISATION, True, room)
    ended, steps = newton_steps(key, problem, goal, r, best, history)
    r[:] = best
    both = floored_residuals(key, r, W.product(r, q), q, mu, unit, law, 0.0, 0.0)
    return STATUS_OF_CODE[ended], steps, both


def newton_steps(
    key: tuple[int, ...],
    problem: FrictionBlocks,
    goal: kernels.Goal,
    r: Floats,
    best: Floats,
    history: Floats,
) -> tuple[int, int]:
    """(code, steps): as the kernel of this name; each kind of factors is compiled at its first
    need. Friction couples all rows of a block."""
    large = r.shape[1] * np.count_nonzero(problem.mu > 0.0) > kernels.FEW_COUPLED_ROWS
    found = (
        (kernels.TOO_LARGE, 0)
        if large
        else kernels.newton_dense(key, problem, goal, r, best, history)
    )
    if found[0] == kernels.TOO_LARGE:
        found = kernels.newton_sparse(key, problem, goal, r, best, history)
    return int(found[0]), int(found[1])


class _Run:
    """One run: plain steps on the whole problem, then what is left of it by islands."""

    def __init__(self, options: Newton, contacts: BlockProblem, limits: Limits) -> None:
        self.options, self.contacts, self.limits = options, contacts, limits
        self.steps = 0
        self.history: list[Floats] = []

    def plain(self, r: Floats) -> Status:
        c = self.contacts
        part = _Part(c.blocks, 0.0, 0.0)
        most = min(PLAIN, self.options.max_steps)
        ended, _ = self._steps(part, c.mu, r, self.options.alpha, self.limits.tol, most, plain=True)
        return STATUS_OF_CODE[ended]

    def by_islands(self, r: Floats) -> Status:
        """Every island that is not yet within its share of the tolerance, on its own."""
        c, W = self.contacts, self.contacts.W
        label = np.empty(c.nb, dtype=np.int64)
        count = label_islands(W.indptr, W.indices, label)
        order = np.argsort(label, kind="stable")
        bounds = np.searchsorted(label[order], np.arange(count + 1))
        for tol in (0.5 * self.limits.tol, 0.05 * self.limits.tol):
            floors = self._scales(r)
            statuses = [
                self._island(order[bounds[j] : bounds[j + 1]], r, floors, tol)
                for j in self._unsolved(r, label, count, floors, tol)
            ]
            both = floored_residuals(
                c.key, r, W.product(r, c.q), c.q, c.mu, c.unit, c.law, 0.0, 0.0
            )
            if max(both) <= self.limits.tol:
                return Status.SOLVED
            failed = [status for status in statuses if status is not Status.SOLVED]
            if failed:
                return failed[0]
        return Status.STALLED

    def _unsolved(
        self, r: Floats, label: Ints, count: int, floors: tuple[float, float], tol: float
    ) -> Ints:
        """Islands whose own error is more than a small part of what the whole may have."""
        c = self.contacts
        u = c.W.product(r, c.q)
        law = "convex" if c.law != COULOMB else "coulomb"
        worst = np.zeros(count)
        for scale, root in zip(floors, (np.ones((c.nb, 1)), c.unit[:, None]), strict=True):
            error = (contact_errors(r * root, u / root, c.mu, law) ** 2).sum(axis=1)
            share = np.sqrt(np.bincount(label, error, minlength=count))
            worst = np.maximum(worst, share / scale if scale > 0 else share)
        return np.flatnonzero(worst > tol / np.sqrt(count))

    def _scales(self, r: Floats) -> tuple[float, float]:
        """The denominators of the two residuals of the whole problem, a little reduced."""
        c = self.contacts
        u, s = c.W.product(r, c.q), c.unit[:, None]
        norm = np.linalg.norm
        if c.law == LINEAR:
            return 0.9 * float(norm(c.q)), 0.9 * float(norm(c.q / s))
        plain = max(norm(c.q), norm(r), norm(u))
        return 0.9 * float(plain), 0.9 * float(max(norm(c.q / s), norm(r * s), norm(u / s)))

    def _island(self, members: Ints, r: Floats, floors: tuple[float, float], tol: float) -> Status:
        if self.limits.expired():
            return Status.TIME_LIMIT
        c, W = self.contacts, self.contacts.W
        place = np.empty(c.nb, dtype=np.int64)
        indptr, indices, blocks = extract(W.indptr, W.indices, W.blocks, members, place)
        given = (c.q[members], c.mu[members], c.unit[members], c.law)
        part = _Part(FrictionBlocks(indptr, indices, blocks, *given), *floors)
        x = r[members]
        status = self._proximal(part, part.problem.mu, x, tol)
        if status is not Status.SOLVED and self.options.homotopy and (part.problem.mu > 0).any():
            status = self._homotopy(part, x, tol)
        r[members] = x
        return status

    def _homotopy(self, part: _Part, r: Floats, tol: float) -> Status:
        """Friction raised in steps from none; overwrites r only if it arrives."""
        x, mu = np.zeros_like(r), part.problem.mu
        status = Status.STALLED
        for t in np.linspace(0.0, 1.0, self.options.homotopy + 1):
            status = self._proximal(part, np.where(mu > 0, t * mu, mu), x, tol)
            if self.limits.expired():
                return Status.TIME_LIMIT
        if status is Status.SOLVED:
            r[:] = x
        return status

    def _proximal(self, part: _Part, mu: Floats, r: Floats, tol: float) -> Status:
        """Regularised problems around the last accepted point, alpha adapted to success."""
        alpha, failed, spent = FIRST_ALPHA, 0.0, 0
        while spent < self.options.max_steps:
            if self.limits.expired():
                return Status.TIME_LIMIT
            before = self.steps
            ended, inner = self._steps(part, mu, r, alpha, tol, INNER_STEPS, plain=False)
            spent += self.steps - before
            if ended == code.SOLVED:
                return Status.SOLVED
            if ended == code.SINGULAR:
                return Status.STALLED
            if ended == code.RUNNING:
                fall = alpha * (0.1 if inner < QUICK else 0.5)
                if fall <= failed:  # it failed there: approach more slowly, and forget in time
                    fall = 0.7 * alpha if 0.7 * alpha > failed else alpha
                    failed *= 0.5
                alpha = max(fall, ALPHA_MIN)
            else:
                failed, alpha = alpha, ALPHA_RAISE * alpha
                if alpha > ALPHA_MAX:
                    return Status.STALLED
        return Status.MAX_ITERATIONS

    def _steps(
        self,
        part: _Part,
        mu: Floats,
        r: Floats,
        alpha: float,
        tol: float,
        most: int,
        *,
        plain: bool,
    ) -> tuple[int, int]:
        """Newton steps from r; r becomes the accepted point, or the best met. (status, steps)."""
        x, best, history = r.copy(), np.empty_like(r), np.empty(most)
        goal = kernels.Goal(
            tol, tol, 0, most, part.floor, part.unit_floor, alpha, plain, self.options.room
        )
        problem = part.problem if mu is part.problem.mu else part.problem._replace(mu=mu)
        ended, steps = newton_steps(self.contacts.key, problem, goal, x, best, history)
        self.steps += steps
        self.history.append(history[:steps])
        r[:] = x if ended == code.RUNNING else best
        return ended, steps


@dataclass(slots=True)
class _Part:
    """Block rows of the whole problem or of one island; least scales of its two residuals."""

    problem: FrictionBlocks
    floor: float
    unit_floor: float
