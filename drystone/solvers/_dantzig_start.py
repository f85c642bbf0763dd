"""An answer to sparse contact problems by guessing all contacts at once, before Dantzig's method.

The guess costs a few sparse factorisations. Where it holds it is an answer like any other, exact
to rounding; where it does not, Dantzig's method starts from nothing as ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from drystone.kernels import dantzig_sets as sets
from drystone.kernels.dantzig_start import guess
from drystone.kernels.envelope import entries, extent
from drystone.problems import FrictionProblem, MixedLCP
from drystone.types import Bools, Floats, Ints

ROWS = 64  # fewer are driven one by one in less time than a guess takes
FULL = 0.1  # of all entries: a matrix with more of them is dense
WIDE = 0.2  # of all entries: a factor with more of them is dense

SKEW = 1e-13  # of the largest diagonal: a matrix that is less symmetric is that of sliding


@dataclass(slots=True)
class Guess:
    """closed (nc,): contacts that press, and stick if they have friction; their forces (n,)."""

    closed: Bools
    value: Floats
    rounds: int

    def table(self, problem: Any) -> Ints:
        """Index sets as those of a run of Dantzig's method."""
        d = problem.d if isinstance(problem, FrictionProblem) else 1
        out = np.zeros((sets.T_ROWS, problem.size), np.int64)
        head = d * np.arange(self.closed.size)
        out[sets.KIND, head] = sets.NORMAL
        out[sets.STATE, head] = np.where(self.closed, sets.C, sets.NC)
        for t in range(1, d):
            rough = problem.mu > 0.0
            out[sets.KIND, head + t] = np.where(rough, sets.TANGENT, sets.FIXED)
            state = np.where(self.closed, sets.C, sets.OUT)
            out[sets.STATE, head + t] = np.where(rough, state, sets.TIED)
        return out


def guessed(problem: Any) -> Guess | None:
    """A guess that holds, of a sparse problem without bilateral rows or known slip; else None."""
    n = problem.size
    if n < ROWS or not _takes(problem):
        return None
    friction = isinstance(problem, FrictionProblem)
    d, mu = (problem.d, problem.mu) if friction else (1, np.zeros(n))
    W = np.ascontiguousarray(problem.dense)
    diagonal, room = W.diagonal(), int(FULL * n * n)
    start, index, value = np.empty(n + 1, np.int64), np.empty(room, np.int64), np.empty(room)
    if not (diagonal > 0.0).all():
        return None
    count = int(entries(W, SKEW * float(diagonal.max()), start, index, value))
    if count < 0:
        return None
    order = _order(start, index[:count], value[:count], d)
    ints, rows = np.empty((4, n + 1), np.int64), (d * order[:, None] + np.arange(d)).ravel()
    size = int(extent(start, index, rows, np.int64(n), ints[1, :n], ints[2], ints[3]))
    if size > WIDE * n * n:
        return None
    unit = np.sqrt(diagonal.reshape(-1, d).mean(axis=1))
    closed, f, a = np.empty(n // d, np.bool_), np.empty(n), np.empty(n)
    rounds, wrong = guess(
        start, index, value, problem.q, mu, unit, np.int64(d), order, closed, f, a, ints,
        np.empty((3, n)), np.empty(size),
    )  # fmt: skip
    return Guess(closed, f, int(rounds)) if wrong == 0 and np.isfinite(f).all() else None


def _takes(problem: Any) -> bool:
    if isinstance(problem, FrictionProblem):
        return problem.size == problem.d * problem.nc and not problem.sliding.any()
    return isinstance(problem, MixedLCP) and not problem.free.any()


def _order(start: Ints, index: Ints, value: Floats, d: int) -> Ints:
    """Contacts in an order that keeps those of one body near each other."""
    n = start.size - 1
    graph = sp.csr_matrix((value, index, start), shape=(n, n))
    place = np.empty(n, np.int64)
    place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(n)
    return np.argsort(place.reshape(-1, d).min(axis=1), kind="stable")
