"""Measuring: every method on every problem of a folder, and Siconos beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from drystone.cli.words import complain, kind_of, size_of, stem_of
from drystone.errors import DrystoneError, OptionError
from drystone.interop.siconos_peer import SOLVERS, PeerRun, Siconos
from drystone.problems import (
    LCP,
    BoxedLCP,
    FrictionProblem,
    GlobalFrictionProblem,
    MixedLCP,
    Problem,
)
from drystone.problems.files import WRITERS, read_problem
from drystone.problems.mass import MassMatrix
from drystone.solvers.base import Solver
from drystone.solvers.registry import METHODS, by_name
from drystone.types import Solution

REPEATS, REPEAT_SECONDS = 20, 0.5  # the fastest of as many runs as fit
CONTACTS, UNKNOWNS = 30, 90  # below these a problem is called tiny
CUT_FACTOR, CUT_SECONDS = 20.0, 2.0  # a peer slower than both beside the best is not waited for


@dataclass(frozen=True)
class Case:
    """A problem of the folder; a global one appears a second time, reduced to local form."""

    name: str
    path: Path
    problem: Problem

    @property
    def kind(self) -> str:
        return kind_of(self.problem)

    @property
    def size(self) -> int:
        return size_of(self.problem)

    @property
    def tiny(self) -> bool:
        return self.size < (CONTACTS if self.kind.endswith(("2d", "3d")) else UNKNOWNS)


@dataclass(frozen=True)
class Run:
    """One solver on one problem, ours or a peer's; seconds of the solve alone, None if stopped."""

    problem: str
    kind: str
    size: int
    solver: str
    status: str
    seconds: float | None
    residual: float
    residual_unit: float
    iterations: int
    methods: str = ""

    def solved(self, tol: float, *, scaled_only: bool = False) -> bool:
        worst = self.residual if scaled_only else max(self.residual, self.residual_unit)
        return self.seconds is not None and worst <= tol


def cases(folder: Path) -> list[Case]:
    """The problems of a folder, by name; files that are not problems are named and left out."""
    out = []
    for path in sorted(folder.iterdir()):
        if path.suffix not in WRITERS or not path.is_file():
            continue
        try:
            problem = read_problem(path)
        except DrystoneError as error:
            complain(str(error))
            continue
        name = stem_of(path)
        out.append(Case(name, path, problem))
        if isinstance(problem, GlobalFrictionProblem):
            out.append(Case(f"{name}@reduced", path, problem.local))
    if not out:
        raise OptionError(f"{folder}: holds no problem files ({', '.join(WRITERS)})")
    return out


def methods(names: list[str] | None, tol: float, time_limit: float) -> list[Solver]:
    """The named methods, or all; one that cannot be loaded is said and left out."""
    out = []
    for name in names or METHODS:
        try:
            out.append(replace(by_name(name), tol=tol, time_limit=time_limit))
        except ImportError as error:
            if names:
                raise
            complain(f"{name} is left out: {error}")
    return out


def warm(cases: list[Case], names: list[str] | None, time_limit: float = 5.0) -> None:
    """Compile or load the kernels of the methods, on the smallest problem of each kind.

    All methods if `auto` is among them, because it calls the others; failures do not matter.
    """
    smallest: dict[str, Case] = {}
    for case in sorted(cases, key=lambda one: one.size, reverse=True):
        smallest[case.kind] = case
    wanted = None if names is None or "auto" in names else names
    for method in methods(wanted, 1e-8, time_limit):
        for case in smallest.values():
            if method.refuses(case.problem) is None:
                method.solve(fresh(case.problem))


def run_ours(case: Case, solver: Solver) -> Run | None:
    """The fastest of several solves, each of a fresh statement; None if the method refuses.

    The first solve may still load kernels, so there is a second, unless the first ran out of time.
    """
    if solver.refuses(case.problem) is not None:
        return None
    best, seconds = _timed(solver, case.problem)
    spent = 0.0
    for k in range(REPEATS):
        hopeless = not best.ok and best.seconds >= solver.time_limit
        if hopeless or (k and max(seconds, spent) > REPEAT_SECONDS):
            break
        best, again = _timed(solver, case.problem)
        seconds, spent = min(seconds, again), spent + again
    seconds += _factorisation(case.problem)
    return Run(
        case.name,
        case.kind,
        case.size,
        solver.name,
        best.status.name.lower(),
        seconds,
        best.residual,
        best.residual_unit,
        best.iterations,
        "+".join(best.methods),
    )


def _timed(solver: Solver, problem: Problem) -> tuple[Solution, float]:
    """Solve a fresh statement: the smaller of wall and CPU time.

    On one thread both are the same, but CPU time leaves out what other processes took meanwhile.
    """
    statement = fresh(problem)
    begin = process_time()
    solution = solver.solve(statement)
    return solution, min(solution.seconds, process_time() - begin)


def _factorisation(problem: Problem) -> float:
    """Seconds to factorise M of a global problem, which our statement does when it is made.

    Siconos does it in the solve, so it is counted for us as well.
    """
    if not isinstance(problem, GlobalFrictionProblem):
        return 0.0
    best = np.inf
    for _ in range(3):
        begin = perf_counter()
        MassMatrix(problem.M)
        best = min(best, perf_counter() - begin)
    return float(best)


def fresh(problem: Problem) -> Problem:
    """The same statement without anything that an earlier solve has left on it."""
    if isinstance(problem, FrictionProblem | GlobalFrictionProblem):
        names = ("dim", "bilateral", "law", "cone", "slip")
        statement = {name: getattr(problem, name) for name in names}
        if isinstance(problem, FrictionProblem):
            return FrictionProblem(problem.W, problem.q, problem.mu, **statement)
        parts = (problem.M, problem.H, problem.q, problem.b, problem.mu)
        return GlobalFrictionProblem(*parts, **statement)
    if isinstance(problem, LCP):
        return LCP(problem.M, problem.q)
    if isinstance(problem, MixedLCP):
        return MixedLCP(problem.M, problem.q, problem.free)
    return BoxedLCP(problem.M, problem.q, problem.lower, problem.upper)


def run_peers(case: Case, siconos: Siconos, tol: float, time_limit: float) -> Iterator[Run]:
    """All of Siconos' solvers for the problem; the default one has the whole time limit.

    The others stop once they are hopelessly behind the best one so far: they cannot become the
    fastest, and waiting for them would take hours.
    """
    best = np.inf
    for k, name in enumerate(SOLVERS.get(case.kind, ())):
        limit = time_limit if k == 0 else min(time_limit, max(CUT_SECONDS, CUT_FACTOR * best))
        source = case.path if case.problem.kind == "mixed-lcp" else None
        runs = siconos.run(case.problem, case.kind, name, tol=tol, time_limit=limit, source=source)
        for run in runs:
            if run.solved(tol) and run.seconds is not None:
                best = min(best, run.seconds)
            yield _peer_row(case, run, tol)


def _peer_row(case: Case, run: PeerRun, tol: float) -> Run:
    if run.seconds is None:
        status = " ".join(run.note.split())[:60]
    else:
        status = "solved" if run.solved(tol) else "inaccurate"
    residuals = (run.residual, run.residual_unit)
    return Run(
        case.name,
        case.kind,
        case.size,
        run.solver,
        status,
        run.seconds,
        *residuals,
        run.iterations,
        f"tol={run.tol:.0e}",
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: the peers get one as well."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        sys.stderr.write("drystone: threadpoolctl is not installed: BLAS threads as they are\n")
        yield
        return
    with threadpool_limits(limits=1):
        yield
