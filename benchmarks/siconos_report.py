"""Our automatic choice beside Siconos, problem by problem: ratios, means and a page of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks import tables
from benchmarks.peers.siconos import SOLVERS
from drystone.cli.bench import Run
from drystone.cli.console import duration

CONTACTS, UNKNOWNS = 30, 90  # below these a problem is called tiny


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


def page(rows: list[Versus], tol: float, time_limit: float) -> list[str]:
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
    return lines


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


HEADS = (
    "problem", "kind", "size", "auto", "methods", "residual", "unit-free", "best Siconos", "ratio",
    "default Siconos", "ratio", "its solvers that get there",
)  # fmt: skip


def _rows(rows: list[Versus]) -> list[str]:
    return tables.lines(HEADS, map(_cells, rows))


def _cells(row: Versus) -> tuple[object, ...]:
    default = duration(row.default) if row.default else "fails"
    return (
        row.problem,
        row.kind,
        row.size,
        duration(row.ours) if row.ours else "fails",
        row.methods,
        f"{row.residual:.0e}",
        f"{row.residual_unit:.0e}",
        f"{row.siconos_solver} {duration(row.siconos)}" if row.siconos else "none",
        _ratio(row.siconos, row.ours),
        default if SOLVERS.get(row.kind) else "-",
        _ratio(row.default, row.ours),
        row.accepted,
    )


def _ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.3g}" if theirs and ours else "-"
