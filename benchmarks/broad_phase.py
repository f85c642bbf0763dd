"""Broad phases against each other: CPU time of a step, swaps and changes (Baraff 1992, 5.3).

Unit boxes at random in a square or cube with one box per unit of volume ("uniform"), the same
with one floor as wide as all ("floor"), boxes of widths spread over 10^3 ("mixed"), and a column
of layers at rest with a tenth of the boxes trembling ("pile"). Every box moves by a random vector
of `motion` mean widths per step, in a direction that it keeps. Writes results/broad_phase.csv.

    python benchmarks/broad_phase.py [--sizes 10 100 1000 10000 100000] [--seconds 1.0]
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path
from time import process_time

import numpy as np

from drystone.geometry.broad import METHODS

RESULTS = Path(__file__).parent / "results" / "broad_phase.csv"
CASES = ("uniform", 2), ("uniform", 3), ("floor", 3), ("mixed", 3), ("pile", 3)
MOTIONS = 0.0, 1e-4, 1e-3, 1e-2
CHOICES = "sorted-lists", "grid", "auto"


def boxes(kind: str, n: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Middles and half widths."""
    rng = np.random.default_rng(n)
    side = n ** (1 / dim)
    x = rng.uniform(0, side, (n, dim))
    half = np.full((n, dim), 0.5)
    if kind == "floor":
        x[0], half[0] = side / 2, side / 2
        x[0, -1], half[0, -1] = 0.0, 0.5
    elif kind == "mixed":
        half[:] = 0.5 * np.exp(rng.uniform(np.log(1e-3), 0.0, n))[:, None]
        x *= np.prod(2 * half, axis=1).sum() ** (1 / dim) / side
    elif kind == "pile":
        x = np.floor(x) + 0.02 * rng.uniform(size=(n, dim))
    return x, half


def measure(kind: str, n: int, dim: int, motion: float, method: str, seconds: float) -> dict:
    x, half = boxes(kind, n, dim)
    rng = np.random.default_rng(1)
    step = rng.normal(size=x.shape) * motion * 2 * half.mean()
    if kind == "pile":
        step[rng.random(n) > 0.1] = 0.0
    broad = METHODS[method]()
    began = process_time()
    broad.keys(x - half, x + half)
    cold = process_time() - began
    times, swaps, changes, keys = [], [], [], np.empty(0)
    # a few hundred steps and several rebuilds, or as many as the time allows
    while len(times) < 3 or (sum(times) < seconds and len(times) < 300):
        x += step
        lower, upper = x - half, x + half
        began = process_time()
        keys = broad.keys(lower, upper)
        times.append(process_time() - began)
        swaps.append(broad.stats().get("swaps", 0))
        changes.append(broad.stats().get("changes", 0))
    return {
        "kind": kind,
        "dim": dim,
        "n": n,
        "motion": motion,
        "method": method,
        "used": broad.name,
        "us_per_step": f"{1e6 * np.mean(times):.4g}",
        "us_cold": f"{1e6 * cold:.4g}",
        "steps": len(times),
        "overlaps": keys.size,
        "swaps": f"{np.mean(swaps):.4g}",
        "changes": f"{np.mean(changes):.4g}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000, 10_000, 100_000])
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args()
    rows = []
    for kind, dim in CASES:
        for method in CHOICES:
            measure(kind, 3000, dim, 1e-3, method, 0.01)  # compiles
    for kind, dim in CASES:
        for n, motion, method in itertools.product(chosen.sizes, MOTIONS, CHOICES):
            rows.append(measure(kind, n, dim, motion, method, chosen.seconds))
            print(" ".join(str(value) for value in rows[-1].values()), flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    print(f"written: {RESULTS}")


if __name__ == "__main__":
    main()
