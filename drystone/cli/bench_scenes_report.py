"""Reporting what ``bench_scenes_run`` measured: tables, CSV and a Markdown page."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from drystone.cli import bench_scenes_verdict as verdicts
from drystone.cli.bench_scenes_growth import Growth, exponent
from drystone.cli.bench_scenes_profile import Profile
from drystone.cli.bench_scenes_profile import markdown as profile_lines
from drystone.cli.bench_scenes_run import OURS, Row
from drystone.cli.words import duration

COLUMNS = (
    "case", "engine", "world", "bodies", "dt", "wall_per_s", "label", "figure", "unit", "error",
    "contacts", "residual", "unsolved", "steps", "depth_m",
)  # fmt: skip
HEADS = (
    "case", "engine", "world", "dt", "bodies", "wall / s", "figure", "also", "contacts", "residual",
    "depth", "note",
)  # fmt: skip
RIGHT = ("dt", "bodies", "wall / s", "contacts", "residual", "depth")


@dataclass
class Results:
    """All that a run of the benchmark measured. shorter: factor on all durations."""

    rows: list[Row] = field(default_factory=list)
    grown: list[Growth] = field(default_factory=list)
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
    out = Table(title="share of each stage", box=None, header_style="bold", title_justify="left")
    out.add_column("case")
    out.add_column("a step", justify="right")
    for name in stages(rows):
        out.add_column(name, justify="right")
    for cells in _stage_cells(_default(rows)):
        out.add_row(*cells)
    return out


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


def growth_line(one: Growth, grown: list[Growth]) -> str:
    """One number of spheres, beside the smallest or that of 1000."""
    base = next((other for other in grown if other.n == 1000), grown[0])
    kind = " deep" if one.deep else ""
    return (
        f"{one.n:>7} spheres{kind}, {one.contacts:>7} contacts: {duration(one.step):>8}, "
        f"{duration(one.per_body):>8} ({one.per_body / base.per_body:.2f} of {base.n}), "
        f"{_shared(one, base)} on {one.threads} threads, "
        f"{one.iterations:.0f} iterations; {one.peak / 2**20:.0f} MiB"
    )


def _shared(one: Growth, base: Growth) -> str:
    """A step on all threads, and for each sphere beside that of the base."""
    if math.isnan(one.shared):
        return "?"
    return f"{duration(one.shared)} ({one.shared / one.n / (base.shared / base.n):.2f})"


def growth_words(grown: list[Growth]) -> str:
    lines = [
        "settled spheres in ten layers (deep: as high as wide): time of a step, of a step for each "
        "body, and memory so far",
        *(f"  {growth_line(one, grown)}" for one in grown),
    ]
    wide = [one for one in grown if not one.deep]
    if len(wide) > 1:
        lines.append(f"  grows as n^{exponent(wide):.2f} ({almost(wide):.2f} for n log n)")
    return "\n".join(lines)


GROWTH_HEADS = (
    "spheres", "heap", "contacts", "a step", "for each sphere", "of the first", "all threads",
    "iterations", "memory so far",
)  # fmt: skip


def growth_markdown(grown: list[Growth], plot: str | None = None) -> str:
    """The page of --growth. plot: name of the picture, if there is one."""
    base = next((one for one in grown if one.n == 1000), grown[0])
    rows = [
        (
            f"{one.n:,}", "as high as wide" if one.deep else "ten layers", f"{one.contacts:,}",
            duration(one.step), duration(one.per_body), f"{one.per_body / base.per_body:.2f}",
            _shared(one, base), f"{one.iterations:.0f}", f"{one.peak / 2**20:,.0f} MiB",
        )
        for one in grown
    ]  # fmt: skip
    heads = tuple(f"of {base.n:,}" if head == "of the first" else head for head in GROWTH_HEADS)
    lines = [
        "# Growth",
        "",
        "Spheres that have come to rest in a box: the median time of a step (kernels warm, one",
        "thread), the same for each sphere and beside the first; a step on all threads that are",
        f"used by default (here {base.threads}), in brackets for each sphere beside the first;",
        "iterations of the solver in a step, and the greatest memory of the process until then.",
        "",
        *_lines(heads, rows),
    ]
    wide = [one for one in grown if not one.deep]
    if len(wide) > 1:
        fit = f"n^{exponent(wide):.2f}; n log n would be n^{almost(wide):.2f}"
        lines += ["", f"In ten layers a step grows as {fit}."]
    if plot is not None:
        lines += ["", f"![Time of a step for each sphere, and memory]({plot})"]
    return "\n".join(lines) + "\n"


def almost(grown: list[Growth]) -> float:
    """The exponent that the same fit finds for n log n."""
    return exponent([Growth(g.n, g.n * math.log(g.n), 0, {}) for g in grown if g.n > 1])


def write_csv(rows: list[Row], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        parts = stages(rows)
        writer.writerow((*COLUMNS, *(f"{name}_s" for name in parts), "more", "note"))
        for row in rows:
            values: list[object] = [row.case, row.engine, row.world, row.bodies, row.dt, row.wall]
            values += [row.label, row.figure, row.unit, row.error, row.contacts, row.residual]
            values += [row.unsolved, row.steps, row.depth]
            values += [row.stages.get(name) for name in parts]
            values += ["; ".join(_words(*one) for one in row.more), row.note]
            writer.writerow([_cell(value) for value in values])


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def markdown(found: Results, plot: str | None = None) -> str:
    """The page kept beside the CSV. plot: name of the picture, if there is one."""
    rows, grown = found.rows, found.grown
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
    if grown:
        lines += ["", "## Growth", "", "```text", growth_words(grown), "```"]
    return "\n".join(lines) + "\n"


def _told(rows: list[tuple[str, ...]]) -> list[str]:
    """All rows as a table, without columns that have nothing to say."""
    kept = [k for k in range(len(HEADS)) if HEADS[k] == "case" or any(row[k] for row in rows)]
    chosen = [tuple(row[k] for k in kept) for row in rows]
    return _lines(tuple(HEADS[k] for k in kept), chosen)


def _stage_lines(rows: list[Row]) -> list[str]:
    return _lines(("case", "a step", *stages(rows)), _stage_cells(_default(rows)))


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
    return _lines(BESIDE, rows)


def _pair(row: Row) -> str:
    if row.wall is None:
        return "failed"
    off = "falls" if math.isinf(row.error) else f"{number(row.error)} {row.unit}".rstrip()
    return f"{number(row.wall)} s, {off}"


def _lines(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
