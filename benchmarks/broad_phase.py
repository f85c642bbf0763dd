"""``python -m benchmarks broad-phase``: broad phases against each other."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import options, tables
from benchmarks.clock import timed
from drystone.cli.console import NUMBER
from drystone.geometry.broad_phase import METHODS

CASES = ("uniform", 2), ("uniform", 3), ("floor", 3), ("mixed", 3), ("pile", 3)
MOTIONS = 0.0, 1e-4, 1e-3, 1e-2
CHOICES = "sorted-lists", "grid", "auto"
JUDGED = 1000  # boxes up to which all pairs are compared


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


def measure(
    kind: str, n: int, dim: int, motion: float, method: str, seconds: float
) -> dict[str, Any]:
    """Steps of moving boxes, a few hundred with several rebuilds, or as many as the time allows."""
    x, half = boxes(kind, n, dim)
    rng = np.random.default_rng(1)
    step = rng.normal(size=x.shape) * motion * 2 * half.mean()
    if kind == "pile":
        step[rng.random(n) > 0.1] = 0.0
    broad = METHODS[method]()
    cold = timed(partial(broad.keys, x - half, x + half)).seconds
    times: list[float] = []
    swaps, changes = [], []
    while len(times) < 3 or (sum(times) < seconds and len(times) < 300):
        x += step
        times.append(timed(partial(broad.keys, x - half, x + half)).seconds)
        swaps.append(broad.stats().get("swaps", 0))
        changes.append(broad.stats().get("changes", 0))
    found = broad.keys(x - half, x + half)
    wrong = None
    if n <= JUDGED:
        wrong = np.setxor1d(found, METHODS["all-pairs"]().keys(x - half, x + half)).size
    return {
        "kind": kind, "dim": dim, "n": n, "motion": motion, "method": method, "used": broad.name,
        "us_per_step": 1e6 * float(np.mean(times)), "us_cold": 1e6 * cold, "steps": len(times),
        "overlaps": found.size, "wrong": wrong, "swaps": float(np.mean(swaps)),
        "changes": float(np.mean(changes)),
    }  # fmt: skip


def broad_phase(
    sizes: options.Sizes = "10,100,1000,10000,100000",
    seconds: Annotated[float, typer.Option(**NUMBER, help="Time for each row.")] = 1.0,
    output: options.Output = None,
) -> None:
    """Broad phases against each other: time of a step, swaps and changes (Baraff 1992, 5.3).

    Unit boxes at random in a square or cube with one box per unit of volume ("uniform"), the same
    with one floor as wide as all ("floor"), boxes of widths spread over 10^3 ("mixed"), and a
    column of layers at rest with a tenth of the boxes trembling ("pile"). Every box moves by a
    random vector of `motion` mean widths per step, in a direction that it keeps. "wrong" counts
    the overlaps in which a row differs from all pairs compared, up to a thousand boxes.
    """
    folder, numbers = options.folder(output), options.numbers(sizes)
    rows = []
    for kind, dim in CASES:
        for method in CHOICES:
            measure(kind, 3000, dim, 1e-3, method, 0.01)  # compiles
    for (kind, dim), n, motion, method in itertools.product(CASES, numbers, MOTIONS, CHOICES):
        rows.append(measure(kind, n, dim, motion, method, seconds))
        tables.show(tables.row_text(rows[-1]))
    if folder is not None:
        tables.write_csv(folder / "broad_phase.csv", rows)
