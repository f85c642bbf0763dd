"""``drystone bench``: all solvers over a folder of problems. Other benchmarks are in a checkout."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.console import (
    NUMBER,
    busy,
    command,
    complain,
    duration,
    kind_of,
    make_console,
    make_folder,
    mistakes,
    size_of,
    stem_of,
)
from drystone.errors import DrystoneError, MissingExtraError, OptionError
from drystone.escaping import for_cell

if TYPE_CHECKING:
    from rich.table import Table

    from drystone.plots.performance_profile import Times
    from drystone.problems import Problem
    from drystone.solvers.base import Solver

app = typer.Typer(help="Compare all solvers on a folder of problems.", no_args_is_help=True)
TAUS = (1.0, 2.0, 5.0, 10.0, 100.0)  # times over the fastest at which the profile is printed
MAX_REPEATS, REPEAT_SECONDS = 20, 0.5  # the fastest of as many runs as fit
GROUPS = {
    "LCP": ("lcp", "mlcp", "boxed-lcp"),
    "friction 2D": ("fc2d", "gfc2d"),
    "friction 3D": ("fc3d", "gfc3d"),
}
MOVED = ("scenes", "forces", "compile")  # to `python -m benchmarks`


@app.callback()
def _group() -> None:
    """Compare all solvers on a folder of problems."""


Folder = Annotated[
    Path | None,
    typer.Argument(
        help="Folder of problem files. Default: shared/problems, here or in a parent folder."
    ),
]
Solvers = Annotated[
    list[str] | None,
    typer.Option("--solver", "-s", help="Only this method; may be given several times."),
]
Tol = Annotated[float, typer.Option(**NUMBER, help="Largest residual, in both forms.")]
TimeLimit = Annotated[float, typer.Option(**NUMBER, help="Seconds for one solve.")]


@app.command()
@command
def solvers(
    folder: Folder = None,
    solver: Solvers = None,
    tol: Tol = 1e-8,
    time_limit: TimeLimit = 30.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for solvers.csv and .png.")
    ] = None,
) -> None:
    """Run all methods over a folder of problems and print a performance profile.

    Every answer is judged by the problem's own residual. Times are of the solve alone, kernels
    warm, on one thread, the fastest of several runs.
    """
    methods, chosen = chosen_methods(solver, tol, time_limit), cases(folder)
    if output is not None:
        make_folder("--output", output)
    runs: list[Run] = []
    with one_thread():
        with busy("compiling kernels"):
            warm(chosen, solver)
        for case in chosen:
            with busy(case.name):
                runs += measured(case, methods)
            if output is not None:  # after every problem: a run takes long
                write_runs(runs, output / "solvers.csv")
    make_console().print(*profiles(runs, tol), sep="\n\n")
    if output is not None:
        save_profiles(runs, tol, output / "solvers.png")


def _moved(name: str) -> None:
    sentence = (
        f"`drystone bench {name}` is now `python -m benchmarks {name}`, in a checkout of the "
        "repository: benchmarks are no longer part of the installed package"
    )

    @app.command(
        name, hidden=True, help=sentence, context_settings={"ignore_unknown_options": True}
    )
    def moved(words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        with mistakes(False):
            raise OptionError(sentence)


for _name in MOVED:
    _moved(_name)


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


@dataclass(frozen=True)
class Run:
    """One solver on one problem; seconds of the solve alone, None if it was stopped."""

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


def cases(folder: Path | None) -> list[Case]:
    """The problems of a folder, by name; files that are not problems are named and left out."""
    from drystone.problems import GlobalFrictionProblem
    from drystone.problems.files import WRITERS, read_problem

    place = _usual_folder() if folder is None else folder
    if not place.is_dir():
        raise OptionError(f"{place}: not a folder")
    out = []
    for path in sorted(place.iterdir()):
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
        raise OptionError(f"{place}: holds no problem files ({', '.join(WRITERS)})")
    return out


def _usual_folder() -> Path:
    here = Path.cwd()
    for parent in (here, *here.parents):
        if (parent / "shared" / "problems").is_dir():
            return parent / "shared" / "problems"
    raise OptionError("no folder given, and no shared/problems here or in a parent folder")


def chosen_methods(names: list[str] | None, tol: float, time_limit: float) -> list[Solver]:
    """The named methods, or all; one that cannot be loaded is said and left out."""
    from drystone.solvers.registry import SOLVERS, by_name

    out = []
    for name in names or SOLVERS:
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
    for method in chosen_methods(wanted, 1e-8, time_limit):
        for case in smallest.values():
            if method.refuses(case.problem) is None:
                method.solve(fresh(case.problem))


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        complain("threadpoolctl is not installed: linear algebra on as many threads as it likes")
        yield
        return
    with threadpool_limits(limits=1):
        yield


def fresh(problem: Problem) -> Problem:
    """The same statement without anything that an earlier solve has left on it."""
    from drystone.problems import LCP, BoxedLCP, FrictionProblem, GlobalFrictionProblem, MixedLCP

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


def measured(case: Case, methods: list[Solver]) -> list[Run]:
    """Each method that takes the problem, the fastest of several solves of a fresh statement."""
    return [_run(case, solver) for solver in methods if solver.refuses(case.problem) is None]


def _run(case: Case, solver: Solver) -> Run:
    """The first solve may still load kernels, so there is a second, unless the first ran out of
    time."""
    solution, seconds = _timed(solver, case.problem)
    spent = 0.0
    for k in range(MAX_REPEATS):
        hopeless = not solution.ok and solution.seconds >= solver.time_limit
        if hopeless or (k and max(seconds, spent) > REPEAT_SECONDS):
            break
        solution, again = _timed(solver, case.problem)
        seconds, spent = min(seconds, again), spent + again
    return Run(
        case.name,
        case.kind,
        case.size,
        solver.name,
        solution.status.name.lower(),
        seconds + _factorisation(case.problem),
        solution.residual,
        solution.residual_unit,
        solution.iterations,
        "+".join(solution.methods),
    )


def _timed(solver: Solver, problem: Problem) -> tuple[Any, float]:
    """Solve a fresh statement: the smaller of wall and CPU time.

    On one thread both are the same, but CPU time leaves out what other processes took meanwhile.
    """
    statement = fresh(problem)
    begin = process_time()
    solution = solver.solve(statement)
    return solution, min(solution.seconds, process_time() - begin)


def _factorisation(problem: Problem) -> float:
    """Seconds to factorise M of a global problem, which our statement does when it is made.

    Others do it in the solve, so it is counted for us as well.
    """
    from drystone.problems.mass import MassMatrix

    if not hasattr(problem, "M") or not hasattr(problem, "H"):
        return 0.0
    best = math.inf
    for _ in range(3):
        begin = perf_counter()
        MassMatrix(problem.M)
        best = min(best, perf_counter() - begin)
    return best


def write_runs(runs: Iterable[Run], path: Path) -> None:
    """A line for each run; what is not known or not finite is left empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Run)], lineterminator="\n")
        writer.writeheader()
        for run in runs:
            row = asdict(run)
            for name in ("seconds", "residual", "residual_unit"):
                value = row[name]
                bad = value is None or not math.isfinite(value)
                row[name] = "" if bad else f"{value:.4g}"
            writer.writerow({name: for_cell(value) for name, value in row.items()})


def times_by_solver(
    runs: Iterable[Run], tol: float, prefix: str = ""
) -> dict[str, dict[str, float]]:
    """Best accepted time of each solver on each problem."""
    out: dict[str, dict[str, float]] = {}
    for run in runs:
        row = out.setdefault(prefix + run.solver, {})
        if run.solved(tol) and run.seconds is not None:
            row[run.problem] = min(run.seconds, row.get(run.problem, math.inf))
    return out


def panels(runs: list[Run], times: Times) -> dict[str, tuple[Times, list[str]]]:
    """Times and problems for each group of kinds that occurs."""
    kinds = {run.problem: run.kind for run in runs}
    out: dict[str, tuple[Times, list[str]]] = {}
    for group, members in GROUPS.items():
        problems = [name for name, kind in kinds.items() if kind in members]
        chosen = set(problems)
        own = {s: row for s, row in times.items() if chosen & set(row)}
        if problems:
            out[group] = (own, problems)
    return out


def profiles(runs: list[Run], tol: float) -> list[Table]:
    """A performance profile as a table for each group of problems."""
    import numpy as np
    from rich.table import Table

    from drystone.plots.performance_profile import fractions

    out = []
    for group, (times, problems) in panels(runs, times_by_solver(runs, tol)).items():
        table = Table(title=f"{group}: {len(problems)} problems", box=None, title_justify="left")
        table.add_column("solver")
        for name in ("solved", *(f"within {tau:g}x" for tau in TAUS), "median time"):
            table.add_column(name, justify="right")
        shares = fractions(times, problems, np.array(TAUS))
        for solver in sorted(
            times, key=lambda s: (-len(times[s].keys() & set(problems)), -shares[s].sum(), s)
        ):
            taken = [times[solver][p] for p in problems if p in times[solver]]
            table.add_row(
                solver,
                f"{len(taken)}/{len(problems)}",
                *(f"{share:.0%}" for share in shares[solver]),
                duration(float(np.median(taken)) if taken else None),
            )
        out.append(table)
    return out


def save_profiles(
    runs: list[Run], tol: float, path: Path, others: dict[str, dict[str, float]] | None = None
) -> None:
    """The same as a picture, with times of other solvers beside ours."""
    from drystone.plots.performance_profile import plot_profiles

    times = times_by_solver(runs, tol) | (others or {})
    try:
        plot_profiles(panels(runs, times), path, title=f"to {tol:g}")
    except MissingExtraError as error:
        complain(f"no plots: {error}")
