"""Reporting what ``bench_scenes_run`` measured: tables, CSV and a Markdown page."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from rich.table import Table

from drystone.cli.bench_scenes_run import OURS, Growth, Row, exponent
from drystone.cli.words import duration

STAGES = ("forces", "contacts", "rows", "impacts", "solve", "drift", "report")
COLUMNS = (
    "case", "engine", "bodies", "dt", "wall_per_s", "label", "figure", "unit", "contacts",
    "residual", "unsolved", "steps", "depth_m", *(f"{name}_s" for name in STAGES), "note",
)  # fmt: skip
HEADS = ("case", "engine", "bodies", "wall / s", "figure", "contacts", "residual", "depth", "note")


def figure(row: Row) -> str:
    """creep 1.2e-07 mm."""
    if row.wall is None:
        return "-"
    value = f"{number(row.figure)} {row.unit}".rstrip()
    if not math.isfinite(row.figure):
        value = "falls" if math.isinf(row.figure) else "-"
    return f"{row.label} {value}"


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
        str(row.bodies),
        "-" if row.wall is None else number(row.wall),
        figure(row),
        "" if row.contacts is None else str(row.contacts),
        residual,
        "" if math.isnan(row.depth) else f"{number(1e3 * row.depth)} mm",
        row.note,
    )


def table(rows: list[Row]) -> Table:
    out = Table(box=None, header_style="bold", pad_edge=False)
    for name in HEADS:
        right = name in ("bodies", "wall / s", "contacts", "residual", "depth")
        out.add_column(name, justify="right" if right else "left", no_wrap=name != "note")
    last = None
    for row in rows:
        shown = list(cells(row))
        if row.case == last:
            shown[0] = ""
        last = row.case
        out.add_row(*shown, style="bold" if row.engine == OURS else "dim")
    return out


def profile_table(rows: list[Row]) -> Table:
    """Share of each stage in the time of a step of ours."""
    out = Table(title="share of each stage", box=None, header_style="bold", title_justify="left")
    out.add_column("case")
    out.add_column("a step", justify="right")
    for name in STAGES:
        out.add_column(name, justify="right")
    for row in rows:
        total = sum(row.stages.values())
        if row.engine == OURS and total > 0:
            shares = (f"{row.stages.get(name, 0.0) / total:.0%}" for name in STAGES)
            out.add_row(row.case, duration(total / max(row.steps, 1)), *shares)
    return out


def growth_words(grown: list[Growth]) -> str:
    lines = ["settled spheres: time of a step, and of a step for each body"]
    for one in grown:
        lines.append(
            f"  {one.n:>7} spheres, {one.contacts:>7} contacts: {duration(one.step):>8}, "
            f"{duration(one.per_body):>8}"
        )
    if len(grown) > 1:
        lines.append(f"  grows as n^{exponent(grown):.2f} ({almost(grown):.2f} for n log n)")
    return "\n".join(lines)


def almost(grown: list[Growth]) -> float:
    """The exponent that the same fit finds for n log n."""
    return exponent([Growth(g.n, g.n * math.log(g.n), 0, {}) for g in grown if g.n > 1])


def write_csv(rows: list[Row], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            numbers = [row.wall, row.label, row.figure, row.unit, row.contacts, row.residual]
            numbers += [row.unsolved, row.steps, row.depth]
            numbers += [row.stages.get(name) for name in STAGES]
            known = (row.case, row.engine, row.bodies, row.dt)
            writer.writerow([_cell(value) for value in (*known, *numbers, row.note)])


def _cell(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def markdown(rows: list[Row], grown: list[Growth]) -> str:
    """The page kept beside the CSV."""
    lines = [
        "# Scenes",
        "",
        "Wall seconds for a simulated one (kernels warm, one thread, fastest of several runs),",
        "and the figure that a scene is for: an error against a closed form, a displacement or a",
        "depth, measured for all engines by the same judge. Residual and depth: the worst of any",
        "step of ours, depth of peers at the end. Peers: dt 1/240 s, their defaults, same bodies.",
        "",
        *_lines(HEADS, [cells(row) for row in rows]),
        "",
        "## Where a step spends its time",
        "",
        *_profile_lines(rows),
    ]
    if grown:
        lines += ["", "## Growth", "", "```text", growth_words(grown), "```"]
    return "\n".join(lines) + "\n"


def _profile_lines(rows: list[Row]) -> list[str]:
    shown = []
    for row in rows:
        total = sum(row.stages.values())
        if row.engine == OURS and total > 0:
            shares = (f"{row.stages.get(name, 0.0) / total:.0%}" for name in STAGES)
            shown.append((row.case, duration(total / max(row.steps, 1)), *shares))
    return _lines(("case", "a step", *STAGES), shown)


def _lines(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
