"""Growth of the matrix-free methods with the number of contacts: time and memory.

Beds of spheres (``generated.sphere_pile``, four layers, wider and wider) from 10^3 to 10^5
contacts. For each method and law: seconds for one iteration, seconds to the residuals 1e-3, 1e-4
and 1e-6 (empty where the limit came first), and the peak of memory besides the problem itself.
Each case runs in a process of its own, so that one's memory is not another's.

    python benchmarks/scaling.py [--limit SECONDS] [--largest CONTACTS]

writes results/scaling.csv and results/scaling.png beside this file.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import perf_counter

import numpy as np

METHODS = ("apgd", "admm", "nsgs")
LAWS = ("convex", "coulomb")
TARGETS = (1e-3, 1e-4, 1e-6)
BASES = (9, 14, 20, 29, 43, 58, 71)  # edge of the bottom layer: 1000 to 100 000 contacts
LAYERS = 4
RESULTS = Path(__file__).parent / "results"
FIELDS = (
    "method", "law", "contacts", "bodies", "iterations", "seconds_per_iteration",
    "seconds_to_1e-3", "seconds_to_1e-4", "seconds_to_1e-6", "residual", "peak_mib",
)  # fmt: skip


def one_case(method: str, law: str, base: int, limit: float) -> dict[str, object]:
    """Solve one bed to each target from the start, so that the times are those a user waits."""
    import drystone as ds
    from drystone.problems.generated import sphere_pile

    ds.solve(sphere_pile(2, law=law).problem, method, time_limit=60.0)  # compile
    pile = sphere_pile(LAYERS, base=base, law=law)
    row: dict[str, object] = {
        "method": method, "law": law, "contacts": pile.problem.nc, "bodies": len(pile.centres),
    }  # fmt: skip
    for target in TARGETS:
        begin = perf_counter()
        solution = ds.solve(pile.problem, method, tol=target, time_limit=limit)
        seconds = perf_counter() - begin
        row["iterations"] = solution.iterations
        row["seconds_per_iteration"] = seconds / max(solution.iterations, 1)
        row["residual"] = max(solution.residual, solution.residual_unit)
        row[f"seconds_to_{target:.0e}".replace("e-0", "e-")] = seconds if solution.ok else ""
        if not solution.ok:
            break
    row["peak_mib"] = peak_memory(method, law, base)
    return row


def peak_memory(method: str, law: str, base: int) -> float:
    """Most memory that a solve holds besides the problem, in a short run of its own [MiB]."""
    import drystone as ds
    from drystone.problems.generated import sphere_pile

    problem = sphere_pile(LAYERS, base=base, law=law).problem
    tracemalloc.start()
    ds.solve(problem, method, tol=1e-6, time_limit=2.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def exponent(rows: list[dict[str, str]], field: str) -> float:
    """Slope of log(field) over log(contacts) by least squares, from 3000 contacts on."""
    points = [(float(r["contacts"]), float(r[field])) for r in rows if r.get(field)]
    points = [p for p in points if p[0] >= 3000 and p[1] > 0]
    if len(points) < 2:
        return float("nan")
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def contacts(base: int) -> int:
    """Contacts of a bed: floor, neighbours in a layer, four below each sphere."""
    edges = base - np.arange(LAYERS)
    return int(base**2 + (2 * edges * (edges - 1)).sum() + (4 * edges[1:] ** 2).sum())


def measure(limit: float, largest: int) -> list[dict[str, str]]:
    rows = []
    for method in METHODS:
        for law in LAWS:
            for base in BASES:
                if contacts(base) > 1.1 * largest:
                    continue
                arguments = [__file__, "--case", method, law, str(base), "--limit", str(limit)]
                done = subprocess.run(
                    [sys.executable, *arguments], capture_output=True, text=True, check=False
                )
                if done.returncode:
                    print(f"{method} {law} {base}: {done.stderr.strip().splitlines()[-1]}")
                    continue
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                print(" ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    return rows


def write(rows: list[dict[str, str]]) -> None:
    with (RESULTS / "scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(
            {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def plot(rows: list[dict[str, str]]) -> None:
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
                slope = exponent(some, field)
                label = f"{method}, {law}: {slope:.2f}" if slope == slope else f"{method}, {law}"
                axis.loglog(x, y, style, color=f"C{k}", marker="o", markersize=3, label=label)
        axis.set(title=title, xlabel="contacts")
        axis.legend(fontsize=7, title="exponent from 3000 contacts on", title_fontsize=7)
        axis.grid(alpha=0.3)
    figure.savefig(RESULTS / "scaling.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solve")
    parser.add_argument("--largest", type=int, default=100_000, help="contacts")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        method, law, base = options.case
        print(json.dumps(one_case(method, law, int(base), options.limit)))
        return
    rows = measure(options.limit, options.largest)
    write(rows)
    plot(rows)
    for method in METHODS:
        some = [r for r in rows if r["method"] == method]
        slopes = {f: exponent(some, f) for f in ("seconds_per_iteration", "peak_mib")}
        print(method, " ".join(f"{k}: {v:.2f}" for k, v in slopes.items()))


if __name__ == "__main__":
    main()
