"""``python -m benchmarks scaling``: matrix-free methods and the number of contacts."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

import drystone as ds
from benchmarks import options, tables
from benchmarks.clock import exponent
from benchmarks.processes import alone
from drystone.cli.console import COUNT, NUMBER
from drystone.errors import SimulationError
from drystone.problems.generated import sphere_pile

METHODS = ("apgd", "admm", "nsgs")
Law = Literal["convex", "coulomb"]
LAWS: tuple[Law, ...] = ("convex", "coulomb")
TARGETS = (1e-3, 1e-4, 1e-6)
BASES = (9, 14, 20, 29, 43, 58, 71)  # edge of the bottom layer: 1000 to 100 000 contacts
LAYERS = 4


def one_case(method: str, law: Law, base: int, limit: float) -> dict[str, Any]:
    """Solve one bed to each target from the start, so that the times are those a user waits."""
    ds.solve(sphere_pile(2, law=law).problem, method, time_limit=60.0)  # compile
    pile = sphere_pile(LAYERS, base=base, law=law)
    row: dict[str, Any] = {
        "method": method, "law": law, "contacts": pile.problem.nc, "bodies": len(pile.centres),
    }  # fmt: skip
    for target in TARGETS:
        solution = ds.solve(pile.problem, method, tol=target, time_limit=limit)
        seconds = solution.seconds
        row["iterations"] = solution.iterations
        row["seconds_per_iteration"] = seconds / max(solution.iterations, 1)
        row["residual"] = max(solution.residual, solution.residual_unit)
        row[f"seconds_to_{target:.0e}".replace("e-0", "e-")] = seconds if solution.ok else None
        if not solution.ok:
            break
    row["peak_mib"] = peak_memory(method, law, base)
    return row


def peak_memory(method: str, law: Law, base: int) -> float:
    """Most memory that a solve holds besides the problem, in a short run of its own [MiB]."""
    problem = sphere_pile(LAYERS, base=base, law=law).problem
    tracemalloc.start()
    ds.solve(problem, method, tol=1e-6, time_limit=2.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def scaling(
    limit: Annotated[float, typer.Option(**NUMBER, help="Seconds for each solve.")] = 60.0,
    largest: Annotated[int, typer.Option(**COUNT, help="Contacts at most.")] = 100_000,
    output: options.Output = None,
) -> None:
    """Growth of the matrix-free methods with the number of contacts: time and memory.

    Beds of spheres, four layers, wider and wider, from 10^3 to 10^5 contacts. For each method and
    law: seconds for one iteration, seconds to the residuals 1e-3, 1e-4 and 1e-6 (empty where the
    limit came first), and the peak of memory besides the problem itself. Each case runs in a
    process of its own, so that one's memory is not another's.
    """
    folder = options.folder(output)
    rows: list[dict[str, Any]] = []
    for method in METHODS:
        for law in LAWS:
            for base in BASES:
                if contacts(base) > 1.1 * largest:
                    continue
                try:
                    rows.append(alone(one_case, method, law, base, limit))
                except SimulationError as error:
                    tables.tell(str(error))
                    continue
                tables.show(tables.row_text(rows[-1]))
        some = [row for row in rows if row["method"] == method]
        slopes = {name: power(some, name) for name in ("seconds_per_iteration", "peak_mib")}
        tables.show(f"{method}, exponents from 3000 contacts on: {tables.row_text(slopes)}")
    if folder is not None and rows:
        tables.write_csv(folder / "scaling.csv", rows)
        plot(rows, folder / "scaling.png")


def power(rows: list[dict[str, Any]], name: str) -> float:
    """Exponent of a column over the contacts, from 3000 of them on."""
    large = [row for row in rows if float(row["contacts"]) >= 3000 and row.get(name)]
    return exponent((float(row["contacts"]), float(row[name])) for row in large)


def contacts(base: int) -> int:
    """Contacts of a bed: floor, neighbours in a layer, four below each sphere."""
    edges = base - np.arange(LAYERS)
    return int(base**2 + (2 * edges * (edges - 1)).sum() + (4 * edges[1:] ** 2).sum())


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    titles = {
        "seconds_per_iteration": "one iteration [s]",
        "seconds_to_1e-4": "to residual 1e-4 [s]",
        "peak_mib": "memory above the problem [MiB]",
    }
    for axis, (field, title) in zip(axes, titles.items(), strict=True):
        for k, method in enumerate(METHODS):
            for law in LAWS:
                some = [r for r in rows if r["method"] == method and r["law"] == law]
                some = [r for r in some if r.get(field) and float(r[field]) > 0]
                if not some:
                    continue
                x, y = [float(r["contacts"]) for r in some], [float(r[field]) for r in some]
                style = "-" if law == "convex" else "--"
                slope = power(some, field)
                label = f"{method}, {law}: {slope:.2f}" if slope == slope else f"{method}, {law}"
                axis.loglog(x, y, style, color=f"C{k}", marker="o", markersize=3, label=label)
        axis.set(title=title, xlabel="contacts")
        axis.legend(fontsize=7, title="exponent from 3000 contacts on", title_fontsize=7)
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
