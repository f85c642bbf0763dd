"""Reporting: CSV files, tables and means of what ``bench_run`` measured."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from drystone.cli.bench_run import CONTACTS, UNKNOWNS, Run
from drystone.cli.words import duration
from drystone.errors import OptionError
from drystone.interop.siconos_peer import SOLVERS
from drystone.plots.performance_profile import Times

GROUPS = {
    "LCP": ("lcp", "mlcp"),
    "friction 2D": ("fc2d", "gfc2d"),
    "friction 3D": ("fc3d", "gfc3d"),
}


def write_runs(runs: Iterable[Run], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Run)], lineterminator="\n")
        writer.writeheader()
        for run in runs:
            row = asdict(run)
            for name in ("seconds", "residual", "residual_unit"):
                value = row[name]
                bad = value is None or not math.isfinite(value)
                row[name] = "" if bad else f"{value:.4g}"
            writer.writerow(row)


def read_runs(path: Path) -> list[Run]:
    """Runs of an earlier benchmark."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_run(row) for row in csv.DictReader(file)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path}: not a file of benchmark runs: {error}") from None


def _run(row: dict[str, str]) -> Run:
    seconds = float(row["seconds"]) if row["seconds"] else None
    residual, unit = (float(row[k]) if row[k] else math.inf for k in ("residual", "residual_unit"))
    return Run(
        row["problem"],
        row["kind"],
        int(row["size"]),
        row["solver"],
        row["status"],
        seconds,
        residual,
        unit,
        int(row["iterations"]),
        row["methods"],
    )


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


@dataclass(frozen=True)
class Versus:
    """One problem: our automatic choice against Siconos; seconds, None where it fails.

    siconos: fastest of all its solvers, chosen in hindsight, by both forms of the residual;
    scaled: the same by the scaled form alone; default: Siconos' default solver for the kind.
    """

    problem: str
    kind: str
    size: int
    ours: float | None
    methods: str
    residual: float
    residual_unit: float
    siconos: float | None
    siconos_solver: str
    scaled: float | None
    default: float | None
    accepted: str

    @property
    def tiny(self) -> bool:
        return self.size < (CONTACTS if self.kind.endswith(("2d", "3d")) else UNKNOWNS)


def versus(ours: list[Run], peers: list[Run], tol: float) -> list[Versus]:
    """Our `auto` beside the peers, problem by problem."""
    out = []
    for run in ours:
        if run.solver != "auto":
            continue
        same = [peer for peer in peers if peer.problem == run.problem]
        default = SOLVERS.get(run.kind, ())[:1]
        best = _fastest(same, tol)
        scaled = _fastest(same, tol, scaled_only=True)
        usual = _fastest([peer for peer in same if peer.solver in default], tol)
        names = {peer.solver for peer in same}
        good = {peer.solver for peer in same if peer.solved(tol)}
        out.append(
            Versus(
                run.problem,
                run.kind,
                run.size,
                run.seconds if run.solved(tol) else None,
                run.methods,
                run.residual,
                run.residual_unit,
                best.seconds if best else None,
                best.solver if best else "",
                scaled.seconds if scaled else None,
                usual.seconds if usual else None,
                f"{len(good)}/{len(names)}",
            )
        )
    return out


def _fastest(runs: list[Run], tol: float, *, scaled_only: bool = False) -> Run | None:
    good = [run for run in runs if run.solved(tol, scaled_only=scaled_only)]
    return min(good, key=lambda run: run.seconds or 0.0, default=None)


def mean_ratio(pairs: Iterable[tuple[float | None, float | None]]) -> tuple[float, int]:
    """Geometric mean of theirs / ours where both are known, and over how many problems."""
    logs = [math.log(theirs / own) for theirs, own in pairs if theirs and own]
    return (math.exp(sum(logs) / len(logs)) if logs else math.nan), len(logs)


def write_versus(rows: list[Versus], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Versus)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = asdict(row)
            for name, value in cells.items():
                if value is None:
                    cells[name] = ""
                elif isinstance(value, float):
                    cells[name] = f"{value:.4g}"
            writer.writerow(cells)


def versus_text(rows: list[Versus], tol: float, time_limit: float) -> str:
    """The comparison as a Markdown page."""
    lines = [
        "# Drystone's `auto` beside Siconos 4.4",
        "",
        f"Residual at most {tol:g} in both forms, judged here for everybody. One thread each, time",
        "of the solve alone, kernels warm, fastest of several runs. *Best Siconos* is the fastest",
        "of all its solvers on that problem, chosen in hindsight over two matrix storages and",
        f"three tolerances; time limit {time_limit:g} s. `@reduced` is the same global problem in",
        "local form. Times of small problems include the Python call on both sides.",
        "",
        *_summary(rows, time_limit),
    ]
    for title, tiny in (("Larger problems", False), ("Tiny problems", True)):
        lines += ["", f"## {title}", "", *_rows([row for row in rows if row.tiny is tiny])]
    return "\n".join(lines) + "\n"


def _summary(rows: list[Versus], time_limit: float) -> list[str]:
    large = [row for row in rows if not row.tiny]
    tiny = [row for row in rows if row.tiny]
    solved = sum(row.ours is not None for row in rows)
    best, count = mean_ratio((row.siconos, row.ours) for row in large)
    scaled, scaled_count = mean_ratio((row.scaled, row.ours) for row in large)
    usual, usual_count = mean_ratio((row.default, row.ours) for row in large)
    stopped = [(row.default or time_limit, row.ours) for row in large if SOLVERS.get(row.kind)]
    bound, bound_count = mean_ratio(stopped)
    slow = {
        whole: max(
            (row.ours or 0.0 for row in tiny if row.kind.startswith("g") is whole), default=0
        )
        for whole in (False, True)
    }
    return [
        f"- `auto` solves {solved} of {len(rows)} problems.",
        f"- At least {CONTACTS} contacts or {UNKNOWNS} unknowns, geometric mean of (best Siconos) "
        f"/ (ours): **{best:.2f}** over {count} problems "
        f"({scaled:.2f} over {scaled_count} if Siconos need only meet the scaled form).",
        f"- The same against Siconos' default: **{usual:.1f}** over the {usual_count} it solves, "
        f"at least {bound:.1f} over {bound_count} with its failures counted at the time limit.",
        f"- Tiny problems: `ds.solve` takes at most {duration(slow[False])}; in global form, with "
        f"the reduction to local form, {duration(slow[True])}.",
    ]


def _rows(rows: list[Versus]) -> list[str]:
    out = [
        "| problem | kind | size | auto | methods | residual | unit-free | best Siconos | ratio "
        "| default Siconos | ratio | its solvers that get there |",
        "|---|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        best = f"{row.siconos_solver} {duration(row.siconos)}" if row.siconos else "none"
        usual = (
            "-" if not SOLVERS.get(row.kind) else duration(row.default) if row.default else "fails"
        )
        out.append(
            f"| {row.problem} | {row.kind} | {row.size} "
            f"| {duration(row.ours) if row.ours else 'fails'} | {row.methods} "
            f"| {row.residual:.0e} | {row.residual_unit:.0e} "
            f"| {best} | {_ratio(row.siconos, row.ours)} "
            f"| {usual} | {_ratio(row.default, row.ours)} | {row.accepted} |"
        )
    return out


def _ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.3g}" if theirs and ours else "-"
