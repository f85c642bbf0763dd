"""Reporting what ``run`` measured: tables, CSV and a Markdown page."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rich.table import Table

from benchmarks import tables
from benchmarks.scenes import verdict as verdicts
from benchmarks.scenes.profile import Profile
from benchmarks.scenes.profile import markdown as profile_lines
from benchmarks.scenes.run import OURS, Row
from drystone.cli.console import duration

HEADS = (
    "case", "engine", "world", "dt", "bodies", "wall / s", "figure", "also", "contacts", "residual",
    "depth", "note",
)  # fmt: skip
RIGHT = ("dt", "bodies", "wall / s", "contacts", "residual", "depth")


@dataclass
class Results:
    """All that a run of the benchmark measured. shorter: factor on all durations."""

    rows: list[Row] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    shorter: float = 1.0


def stages(rows: list[Row]) -> tuple[str, ...]:
    """Names of the stages of a step, in their order."""
    return tuple(dict.fromkeys(name for row in rows for name in row.stages))


def figure(row: Row) -> str:
    """creep 1.2e-07 mm."""
    return "-" if row.wall is None else _words(row.label, row.figure, row.unit)


def _words(label: str, value: float, unit: str) -> str:
    text = f"{number(value)} {unit}".rstrip()
    if not math.isfinite(value):
        text = "falls" if math.isinf(value) else "-"
    return f"{label} {text}"


def number(value: float | None) -> str:
    """Three digits; an exponent for what is tiny or huge."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0.0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}"
    return f"{value:.1e}"


def cells(row: Row) -> tuple[str, ...]:
    residual = "" if row.residual is None else f"{row.residual:.0e}"
    if row.unsolved:
        residual += f" ({row.unsolved} unsolved)"
    return (
        row.case,
        row.engine,
        row.world,
        f"1/{1 / row.dt:.0f}" if row.dt < 1 else f"{row.dt:g}",
        str(row.bodies),
        "-" if row.wall is None else number(row.wall),
        figure(row),
        ", ".join(_words(*one) for one in row.more),
        "" if row.contacts is None else str(row.contacts),
        residual,
        "" if math.isnan(row.depth) else f"{number(1e3 * row.depth)} mm",
        row.note,
    )


def table(rows: list[Row]) -> Table:
    out = Table(box=None, header_style="bold", pad_edge=False)
    for name in HEADS:
        wraps = name in ("note", "also")
        out.add_column(name, justify="right" if name in RIGHT else "left", no_wrap=not wraps)
    last = None
    for row in rows:
        shown = list(cells(row))
        if row.case == last:
            shown[0] = ""
        last = row.case
        out.add_row(*shown, style="bold" if row.engine == OURS else "dim")
    return out


def verdict_words(rows: list[Row]) -> list[str]:
    """What the comparison comes to; nothing without peers."""
    found = verdicts.judge(rows)
    return ["", *verdicts.words(found)] if found else []


def shortened(shorter: float) -> str:
    """What a quick look is not."""
    return f"Durations times {shorter:g}: a quick look, whose figures and verdicts mean little."


def profile_table(rows: list[Row]) -> Table:
    """Share of each stage in the time of a step of ours."""
    heads = ("case", "a step", *stages(rows))
    shares = _stage_cells(_default(rows))
    return tables.table(heads, shares, title="share of each stage", right=heads[1:])


def _stage_cells(rows: list[Row]) -> list[tuple[str, ...]]:
    out = []
    for row in rows:
        total = sum(row.stages.values())
        if row.engine == OURS and total > 0:
            shares = (f"{row.stages.get(name, 0.0) / total:.0%}" for name in stages(rows))
            name = f"{row.case} ({row.world})"
            out.append((name, duration(total / max(row.steps, 1)), *shares))
    return out


def line(row: Row) -> str:
    """A row as it is told while the benchmark goes on."""
    what = row.note or "no result"
    if row.wall is not None:
        what = f"{number(row.wall)} s for a simulated one, {figure(row)}"
        what += f" ({row.note})" if row.note else ""
    return f"{row.case} ({row.world}), {row.engine}, dt 1/{1 / row.dt:.0f}: {what}"


def csv_row(row: Row) -> dict[str, object]:
    """A row as it is kept, with the seconds of each stage."""
    return {
        "case": row.case, "engine": row.engine, "world": row.world, "bodies": row.bodies,
        "dt": row.dt, "wall_per_s": row.wall, "label": row.label, "figure": row.figure,
        "unit": row.unit, "error": row.error, "contacts": row.contacts, "residual": row.residual,
        "unsolved": row.unsolved, "steps": row.steps, "depth_m": row.depth,
        "more": "; ".join(_words(*one) for one in row.more), "note": row.note,
    } | {f"{name}_s": seconds for name, seconds in row.stages.items()}  # fmt: skip


def markdown(found: Results, plot: str | None = None) -> list[str]:
    """The page kept beside the CSV. plot: name of the picture, if there is one."""
    rows = found.rows
    lines = [
        "# Scenes",
        "",
        "Wall seconds for a simulated one (kernels warm, one thread, fastest of several runs),",
        "and the figure that a scene is for: an error against a closed form, a displacement or a",
        "depth, computed for all engines from the poses of their bodies, by one judge. Residual:",
        "the worst of any step of ours. Depth: at the end; at any time for scenes judged by it.",
        "Peers: dt 1/240 s, their defaults, the same bodies, damping and sleeping off.",
    ]
    if found.shorter < 1.0:
        lines += ["", f"**{shortened(found.shorter)}**"]
    if plot is not None:
        lines += ["", f"![Wall time against error, scene by scene]({plot})"]
    judged = verdicts.judge(rows)
    if judged:
        lines += ["", "## Beside the others", "", *EQUAL, "", *_beside(judged)]
        lines += ["", *(f"- {line}" for line in verdicts.words(judged))]
    lines += ["", "## Every scene", "", *_told([cells(row) for row in _default(rows)])]
    lines += ["", "## Where a step spends its time", "", *_stage_lines(rows)]
    if found.profiles:
        lines += ["", "Time in a kernel's own code, without what it calls:"]
        lines += profile_lines(found.profiles)
    return lines


def _told(rows: list[tuple[str, ...]]) -> list[str]:
    """All rows as a table, without columns that have nothing to say."""
    kept = [k for k in range(len(HEADS)) if HEADS[k] == "case" or any(row[k] for row in rows)]
    chosen = [tuple(row[k] for k in kept) for row in rows]
    return tables.lines(tuple(HEADS[k] for k in kept), chosen)


def _stage_lines(rows: list[Row]) -> list[str]:
    return tables.lines(("case", "a step", *stages(rows)), _stage_cells(_default(rows)))


def _default(rows: list[Row]) -> list[Row]:
    """Without ours at other steps than the default, which is measured first."""
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.engine == OURS:
            first.setdefault((row.case, row.world), row)
    return [row for row in rows if row.engine != OURS or first[row.case, row.world] is row]


EQUAL = (
    "Wall seconds and error of ours at its default step, of the best peer, and of ours at the",
    "step with which it gets to that error fastest. Errors within 10 % are equal, and so are all",
    "below 1e-9 of the figure's unit. Planar engines stand beside ours in the plane.",
)
BESIDE = ("scene", "our default", "faster and more accurate", "best peer", "ours to that error", "")


def _beside(found: list[verdicts.Verdict]) -> list[str]:
    rows = []
    for v in found:
        best, reached = v.best, v.reached
        there = "not reached" if reached is None else f"{_pair(reached)}, dt 1/{1 / reached.dt:.0f}"
        rows.append(
            (
                verdicts.title(v),
                _pair(v.ours),
                ", ".join(row.engine for row in v.ahead) or "nobody",
                "all fall or fail" if best is None else f"{best.engine}: {_pair(best)}",
                "" if best is None else there,
                "holds" if v.default_holds and v.free_holds else "**does not hold**",
            )
        )
    return tables.lines(BESIDE, rows)


def _pair(row: Row) -> str:
    if row.wall is None:
        return "failed"
    off = "falls" if math.isinf(row.error) else f"{number(row.error)} {row.unit}".rstrip()
    return f"{number(row.wall)} s, {off}"
