"""Nonsmooth Gauss-Seidel: contact by contact, each one-contact Coulomb problem solved exactly.

Robust and cheap to a few digits; linear convergence at best, and none is promised for exact
Coulomb friction (it may cycle). Matrix-free if W is given as an operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from drystone.errors import OptionError
from drystone.kernels.cones import nsgs as kernels
from drystone.kernels.cones.problem import BodyRows
from drystone.kernels.contact.residual import contact_residuals
from drystone.problems import FrictionProblem, Problem
from drystone.solvers._blocks import BlockProblem, smooth_cones_only
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.types import STATUS_OF_CODE, Floats, Status

BURST_BLOCKS = 1_000_000  # block products between two readings of the clock, about 10 ms


@dataclass(frozen=True, kw_only=True)
class NSGS(Solver):
    """Projected Gauss-Seidel by contact blocks.

    max_sweeps: passes over all contacts; relaxation: omega in (0, 2), 1 for Gauss-Seidel;
    every: sweeps between two judgings; patience: sweeps without a better residual (by 1 %)
    after which the method calls itself stalled.
    """

    max_sweeps: int = 20_000
    relaxation: float = 1.0
    every: int = 10
    patience: int = 2000

    name: ClassVar[str] = "nsgs"
    _least: ClassVar[dict[str, int]] = {"max_sweeps": 1, "every": 1, "patience": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.relaxation < 2:
            raise OptionError(f"nsgs: relaxation = {self.relaxation}: expected 0 < omega < 2")

    def refuses(self, problem: Problem) -> str | None:
        return smooth_cones_only(problem)

    def run(self, problem: FrictionProblem, start: Start, limits: Limits) -> Answer:
        contacts = BlockProblem(problem)
        r = contacts.start(start.value)
        sweeper: FormedSweeps | FreeSweeps
        if problem.matrix_free:
            sweeper = FreeSweeps(problem, contacts, self.relaxation)
        else:
            sweeper = FormedSweeps(contacts, self.relaxation)
        best, least, since = r.copy(), np.inf, 0
        done, history = 0, []
        status = Status.MAX_ITERATIONS
        while done < self.max_sweeps:
            chunk = min(self.max_sweeps - done, sweeper.chunk)
            code, done, both = sweeper.sweep(r, done, chunk, limits.tol, self.every)
            residual = max(both)
            history.append(sweeper.history[np.isfinite(sweeper.history)])
            if residual < 0.99 * least:
                since = done
            if residual < least or not np.isfinite(least):
                least, best = residual, r.copy()
            if code != kernels.status.RUNNING:
                status = STATUS_OF_CODE[code]
                break
            if done - since > self.patience:
                status = Status.STALLED
                break
            if limits.expired():
                status = Status.TIME_LIMIT
                break
        return Answer(
            contacts.value(best),
            status,
            done,
            extras={"history": np.concatenate(history) if history else None},
        )


class FormedSweeps:
    """Sweeps on the blocks of W; u (nb, d): velocities where the residual was evaluated last."""

    def __init__(self, contacts: BlockProblem, omega: float) -> None:
        self.contacts, self.W, self.omega = contacts, contacts.W, omega
        self.lam, self.u = np.zeros(contacts.nb), np.empty_like(contacts.q)
        self.chunk = max(1, BURST_BLOCKS // max(1, self.W.indices.size))
        self.history: Floats = np.empty(0)

    def sweep(
        self, r: Floats, done: int, chunk: int, tol: float, every: int
    ) -> tuple[int, int, tuple[float, float]]:
        """(status code, sweeps in all, both residuals) after up to `chunk` more; r in place."""
        c, how = self.contacts, kernels.Sweeps(self.omega, tol, every)
        self.history, iterate = np.full(chunk, np.nan), kernels.Iterate(r, self.lam, self.u)
        code, done, plain, scaled = kernels.nsgs_solve(
            c.key, c.blocks, self.W.diagonal, how, done, chunk, iterate, self.history
        )
        return code, done, (float(plain), float(scaled))


class FreeSweeps:
    """Sweeps on the rows of J and J M^-1; W is never formed, its diagonal blocks are."""

    def __init__(self, problem: FrictionProblem, contacts: BlockProblem, omega: float) -> None:
        self.contacts, self.omega, self.operator = contacts, omega, problem.W
        self.J = J = problem.form.J
        J.sort_indices()
        self.P = P = sp.csr_array(J @ problem.W.inverse_mass)
        P.sort_indices()
        D, given = diagonal_blocks(J, P, len(contacts.key)), (contacts.q, contacts.mu, contacts.law)
        self.rows = BodyRows(J.indptr, J.indices, J.data, P.indptr, P.indices, P.data, D, *given)
        self.lam = np.zeros(contacts.nb)
        self.chunk = max(1, BURST_BLOCKS // max(1, 4 * contacts.nb))
        self.history: Floats = np.empty(0)

    def sweep(
        self, r: Floats, done: int, chunk: int, tol: float, every: int
    ) -> tuple[int, int, tuple[float, float]]:
        c = self.contacts
        v = np.asarray(self.P.T @ r.reshape(-1))
        chunk = min(chunk, max(1, min(every, done // 2)))
        kernels.nsgs_free_sweeps(c.key, self.rows, self.omega, chunk, r, self.lam, v)
        u = np.asarray(self.J @ v).reshape(c.q.shape) + c.q
        plain, scaled = contact_residuals(c.key, r, u, c.q, c.mu, c.unit, c.law)
        self.history = np.array([max(plain, scaled)])
        code = kernels.status.SOLVED if max(plain, scaled) <= tol else kernels.status.RUNNING
        return code, done + chunk, (float(plain), float(scaled))


def diagonal_blocks(J: Any, P: Any, d: int) -> Floats:
    """(nb, d, d) diagonal blocks of P J', by products of rows within each block."""
    nb = J.shape[0] // d
    D = np.empty((nb, d, d))
    for a in range(d):
        for b in range(d):
            D[:, a, b] = np.asarray(P[a::d].multiply(J[b::d]).sum(axis=1)).ravel()
    # rows that pad the bilateral blocks are empty: let them decouple
    diagonal = np.einsum("iaa->ia", D)
    diagonal[diagonal == 0.0] = 1.0
    return D
