"""``python -m benchmarks pictures``: drawn again from the figures that are kept."""

from __future__ import annotations

import math
from typing import Any

from benchmarks import dantzig, growth, solvers
from benchmarks.scenes import picture
from benchmarks.scenes.run import Row
from benchmarks.tables import RESULTS, read_csv
from drystone.cli import bench
from drystone.cli.bench import Run

TOL = 1e-8  # of the table of solvers


def pictures() -> None:
    """Draw the pictures of benchmarks/results again; nothing is measured."""
    picture.save_comparison(scene_rows(), RESULTS / "scenes.png")
    grown = growth_rows()
    if grown:
        growth.save_growth(grown, RESULTS / "growth.png")
    dantzig.plot(dantzig_rows(), RESULTS / "dantzig_cost.png")
    bench.save_profiles(solvers.read_runs(RESULTS / "solvers.csv"), TOL, RESULTS / "solvers.png")
    theirs = bench.times_by_solver(solvers.read_runs(RESULTS / "siconos.csv"), TOL, "Siconos ")
    bench.save_profiles(beside(), TOL, RESULTS / "solvers_vs_siconos.png", theirs)


def _number(text: str) -> float:
    return float(text) if text else math.nan


def scene_rows() -> list[Row]:
    return [
        Row(
            r["case"], r["engine"], r["world"], int(r["bodies"]), float(r["dt"]),
            float(r["wall_per_s"]) if r["wall_per_s"] else None, _number(r["figure"]), r["label"],
            r["unit"], error=_number(r["error"]),
        )
        for r in read_csv(RESULTS / "scenes.csv")
    ]  # fmt: skip


def growth_rows() -> list[growth.Growth]:
    return [
        growth.Growth(
            int(r["spheres"]), float(r["step_s"]), int(r["contacts"]), {}, float(r["iterations"]),
            int(r["before_bytes"]), int(r["peak_bytes"]), bool(int(r["deep"])), int(r["threads"]),
            float(r["shared_s"]),
        )
        for r in read_csv(RESULTS / "growth.csv")
    ]  # fmt: skip


def dantzig_rows() -> list[dict[str, Any]]:
    times = ("dantzig_us", "elimination_us", "qp_us")
    return [
        {**r, "contacts": int(r["contacts"])} | {name: float(r[name]) for name in times}
        for r in read_csv(RESULTS / "dantzig_cost.csv")
    ]


def beside() -> list[Run]:
    """Ours in the run beside Siconos."""
    return [
        Run(
            r["problem"], r["kind"], int(r["size"]), "auto", "", _number(r["ours"]),
            _number(r["residual"]), _number(r["residual_unit"]), 0,
        )
        for r in read_csv(RESULTS / "solvers_vs_siconos.csv")
    ]  # fmt: skip
