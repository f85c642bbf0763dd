"""``ds.solve``: one entry for every problem and every method."""

from __future__ import annotations

from dataclasses import replace

from drystone.errors import OptionError, SolverError
from drystone.problems import Problem
from drystone.solvers.base import Solver
from drystone.solvers.registry import by_name
from drystone.types import Solution, VectorLike
from drystone.values import among, text


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    guess: VectorLike | Solution | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    on_failure: str = "report",
) -> Solution:
    """Solve a complementarity or friction problem.

    solver: a method's name, or an object of options such as ``ds.Lemke(max_pivots=100)``.
    guess: a starting value, or the Solution of a similar problem (its basis is tried first).
    tol, time_limit [s]: override the solver's own.
    on_failure: "report" returns whatever happened as a status; "raise" raises SolverError.
    """
    if not among(on_failure, ("report", "raise")):
        raise OptionError(f"on_failure = {text(on_failure)}: expected 'report' or 'raise'")
    method = by_name(solver) if isinstance(solver, str) else solver
    if not isinstance(method, Solver):
        raise OptionError(f"solver = {text(solver)}: expected a name or a solver object")
    if tol is not None and tol is not method.tol:
        method = replace(method, tol=tol)
    if time_limit is not None and time_limit is not method.time_limit:
        method = replace(method, time_limit=time_limit)
    solution = method.solve(problem, guess)
    if on_failure == "raise" and not solution.ok:
        raise SolverError(f"{method.name}: {solution.status.value} ({solution!r})", solution)
    return solution
