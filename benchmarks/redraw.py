"""Draw the pictures of results/ again from the figures kept beside them; nothing is measured.

python benchmarks/redraw.py
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from dantzig_cost import plot as plot_dantzig

from drystone.cli import bench_report
from drystone.cli.bench_run import Run
from drystone.cli.bench_scenes_growth import Growth
from drystone.cli.bench_scenes_run import OURS, Row
from drystone.plots import engine_comparison
from drystone.plots.performance_profile import plot_profiles

RESULTS = Path(__file__).parent / "results"
TOL = 1e-8  # of the table of solvers


def table(name: str) -> list[dict[str, str]]:
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    return float(text) if text else math.nan


def scenes() -> list[Row]:
    return [
        Row(
            r["case"], r["engine"], r["world"], int(r["bodies"]), float(r["dt"]),
            float(r["wall_per_s"]) if r["wall_per_s"] else None, number(r["figure"]), r["label"],
            r["unit"], error=number(r["error"]),
        )
        for r in table("scenes")
    ]  # fmt: skip


def growth() -> list[Growth]:
    return [
        Growth(
            int(r["spheres"]), float(r["step_s"]), int(r["contacts"]), {}, float(r["iterations"]),
            int(r["before_bytes"]), int(r["peak_bytes"]), bool(int(r["deep"])), int(r["threads"]),
            float(r["shared_s"]),
        )
        for r in table("growth")
    ]  # fmt: skip


def dantzig() -> list[dict[str, Any]]:
    times = ("dantzig_us", "elimination_us", "qp_us")
    rows: list[dict[str, Any]] = [dict(row) for row in table("dantzig_cost")]
    for row in rows:
        row |= {"contacts": int(row["contacts"])} | {name: float(row[name]) for name in times}
    return rows


def solvers() -> None:
    ours = bench_report.read_runs(RESULTS / "solvers.csv")
    times = bench_report.times_by_solver(ours, TOL)
    plot_profiles(bench_report.panels(ours, times), RESULTS / "solvers.png", title=f"to {TOL:g}")
    theirs = bench_report.read_runs(RESULTS / "siconos.csv")
    beside = [
        Run(
            r["problem"], r["kind"], int(r["size"]), "auto", "", float(r["ours"] or "nan"),
            number(r["residual"]), number(r["residual_unit"]), 0,
        )
        for r in table("solvers_vs_siconos")
    ]  # fmt: skip
    times = bench_report.times_by_solver(beside, TOL)
    both = times | bench_report.times_by_solver(theirs, TOL, "Siconos ")
    place = RESULTS / "solvers_vs_siconos.png"
    plot_profiles(bench_report.panels(beside, both), place, title=f"to {TOL:g}, both forms")


def main() -> None:
    engine_comparison.save_comparison(scenes(), RESULTS / "scenes.png", ours=OURS)
    grown = growth()
    if grown:
        engine_comparison.save_growth(grown, RESULTS / "growth.png")
    plot_dantzig(dantzig(), RESULTS / "dantzig_cost.png")
    solvers()


if __name__ == "__main__":
    main()
