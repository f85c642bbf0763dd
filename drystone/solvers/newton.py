"""Semismooth Newton on the friction problem (T5), made global by the proximal point method.

A few Gauss-Seidel sweeps give a start; then Newton steps on the Alart-Curnier function with a
sparse block factorisation. If they do not converge, the islands of contacts that are left are
treated one by one: proximal regularisation first, and a homotopy in the friction coefficient,
from frictionless (a convex problem) to the full one, as the last resort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from drystone.errors import OptionError
from drystone.kernels import newton as kernels
from drystone.kernels import status as code
from drystone.kernels.blocks import LINEAR, floored_residuals
from drystone.kernels.islands import extract, label_islands
from drystone.kernels.nsgs import nsgs_sweeps
from drystone.problems import BoxedLCP, FrictionProblem, MixedLCP, Problem
from drystone.solvers._contacts import Contacts, smooth_cones_only
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import STATUS_OF_CODE, Floats, Ints, Status

ROOM = 2_000_000  # most blocks in the factors: 0.6 GB for d = 3
LARGEST = 30_000  # blocks; the elimination graph takes one bit per pair


@dataclass(frozen=True, kw_only=True)
class Newton(Solver):
    """Semismooth Newton.

    max_steps: Newton steps per island; sweeps: Gauss-Seidel sweeps before the first step;
    alpha: first regularisation, relative to each contact's mean diagonal of W;
    homotopy: number of friction levels of the fallback, 0 for none.
    """

    max_steps: int = 500
    sweeps: int = 20
    alpha: float = 1e-6
    homotopy: int = 8

    name: ClassVar[str] = "newton"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_steps < 1 or self.sweeps < 0 or self.homotopy < 0:
            raise OptionError("newton: max_steps must be >= 1, sweeps and homotopy >= 0")
        if not 0 < self.alpha < 1e3:
            raise OptionError(f"newton: alpha = {self.alpha}: expected 0 < alpha < 1000")

    def refuses(self, problem: Problem) -> str | None:
        if isinstance(problem, BoxedLCP):
            if not isinstance(problem, MixedLCP):
                return "takes no upper bounds: an LCP or a mixed LCP, not a boxed one"
            return None
        return smooth_cones_only(problem)

    def run(self, problem: FrictionProblem | MixedLCP, start: Start, limits: Limits) -> Answer:
        contacts = Contacts(problem)
        r = contacts.start(start.value)
        if contacts.nb > LARGEST:
            return Answer(contacts.value(r), Status.STALLED, 0)
        self._sweep(contacts, r)
        run = _Run(self, contacts, limits)
        status = run.whole(r)
        if status is not Status.SOLVED:
            status = run.by_islands(r)
        history = np.concatenate(run.history) if run.history else None
        return Answer(contacts.value(r), status, run.steps, extras={"history": history})

    def _sweep(self, c: Contacts, r: Floats) -> None:
        W = c.W
        if self.sweeps and c.law != LINEAR and (W.blocks[W.diagonal, 0, 0] > 0).all():
            lam = np.zeros(c.nb)
            nsgs_sweeps(
                c.key, W.indptr, W.indices, W.blocks, W.diagonal, c.q, c.mu, c.law, 1.0,
                self.sweeps, r, lam,
            )  # fmt: skip


class _Run:
    """One run: the whole problem first, then what is left of it by islands."""

    def __init__(self, options: Newton, contacts: Contacts, limits: Limits) -> None:
        self.options, self.contacts, self.limits = options, contacts, limits
        self.steps = 0
        self.history: list[Floats] = []

    def whole(self, r: Floats) -> Status:
        """Plain steps, then one or two proximal rounds, on everything at once."""
        c = self.contacts
        part = _Part(c.W.indptr, c.W.indices, c.W.blocks, c.q, c.mu, c.unit)
        return self._solve(part, r, 0.0, 0.0, self.limits.tol, c.mu, plain=True, most=40)

    def by_islands(self, r: Floats) -> Status:
        c, W = self.contacts, self.contacts.W
        label = np.empty(c.nb, dtype=np.int64)
        count = label_islands(W.indptr, W.indices, label)
        order = np.argsort(label, kind="stable")
        bounds = np.searchsorted(label[order], np.arange(count + 1))
        status = Status.SOLVED
        tol = self.limits.tol
        for _ in range(3):
            floor, unit_floor = self._scales(r)
            status = Status.SOLVED
            for j in range(count):
                members = order[bounds[j] : bounds[j + 1]]
                ended = self._island(members, r, floor, unit_floor, 0.5 * tol)
                status = status if ended is Status.SOLVED else ended
                if self.limits.expired():
                    return Status.TIME_LIMIT
            u = W.product(r, c.q)
            both = floored_residuals(c.key, r, u, c.q, c.mu, c.unit, c.law, 0.0, 0.0)
            if max(both) <= self.limits.tol or status is not Status.SOLVED:
                return status
            tol *= 0.1  # many islands, each just within its share
        return Status.STALLED

    def _scales(self, r: Floats) -> tuple[float, float]:
        """The denominators of the two residuals of the whole problem, a little reduced."""
        c = self.contacts
        u, s = c.W.product(r, c.q), c.unit[:, None]
        norm = np.linalg.norm
        if c.law == LINEAR:
            return 0.9 * float(norm(c.q)), 0.9 * float(norm(c.q / s))
        plain = max(norm(c.q), norm(r), norm(u))
        return 0.9 * float(plain), 0.9 * float(max(norm(c.q / s), norm(r * s), norm(u / s)))

    def _island(
        self, members: Ints, r: Floats, floor: float, unit_floor: float, tol: float
    ) -> Status:
        c, W = self.contacts, self.contacts.W
        place = np.empty(c.nb, dtype=np.int64)
        indptr, indices, blocks = extract(W.indptr, W.indices, W.blocks, members, place)
        part = _Part(indptr, indices, blocks, c.q[members], c.mu[members], c.unit[members])
        x = r[members]
        most = self.options.max_steps
        status = self._solve(part, x, floor, unit_floor, tol, part.mu, plain=False, most=most)
        if status is not Status.SOLVED and self.options.homotopy and (part.mu > 0).any():
            y = np.zeros_like(x)
            for t in np.linspace(0.0, 1.0, self.options.homotopy + 1):
                mu = np.where(part.mu > 0, t * part.mu, part.mu)
                ended = self._solve(part, y, floor, unit_floor, tol, mu, plain=False, most=most)
            if ended is Status.SOLVED:
                x, status = y, ended
        r[members] = x
        return status

    def _solve(
        self, part: _Part, r: Floats, floor: float, unit_floor: float, tol: float, mu: Floats,
        *, plain: bool, most: int,
    ) -> Status:  # fmt: skip
        alpha, spent = self.options.alpha, 0
        if not plain:
            alpha *= 100.0
        chunk = max(4, min(most, 400_000 // max(1, mu.size)))
        while spent < most:
            history = np.empty(min(chunk, most - spent))
            ended, steps, alpha = kernels.prox_newton(
                self.contacts.key, part.indptr, part.indices, part.blocks, part.q, mu, part.unit,
                self.contacts.law, floor, unit_floor, tol, alpha, plain, history.size, ROOM,
                r, history,
            )  # fmt: skip
            plain = False
            spent += steps
            self.steps += steps
            self.history.append(history[:steps])
            if ended != code.RUNNING:
                return STATUS_OF_CODE[ended]
            if self.limits.expired():
                return Status.TIME_LIMIT
        return Status.MAX_ITERATIONS


@dataclass(slots=True)
class _Part:
    """Block rows of the whole problem, or of one island."""

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    blocks: Floats
    q: Floats
    mu: Floats
    unit: Floats
