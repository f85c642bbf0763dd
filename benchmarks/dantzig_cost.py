"""Cost of Dantzig's method against one Gaussian elimination and against a QP package (F8).

Frictionless contact problems of n rows: "dense" (random, positive definite, about half of the
contacts hold), "stack" (rank deficient: more contacts than freedoms, b in the range of A) and
"static" (planar static friction, n / 2 contacts). Writes results/dantzig_cost.csv.

    python benchmarks/dantzig_cost.py [--sizes 10 20 50 100 200 400] [--repeat 5]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from time import perf_counter

import clarabel
import numpy as np
import scipy.sparse as sp

import drystone as ds

RESULTS = Path(__file__).parent / "results" / "dantzig_cost.csv"


def dense(n: int) -> ds.LCP:
    rng = np.random.default_rng(n)
    J = rng.normal(size=(n, n))
    return ds.LCP(J @ J.T + 0.1 * np.eye(n), rng.normal(size=n))


def stack(n: int) -> ds.LCP:
    rng = np.random.default_rng(n)
    freedoms = max(1, n // 2)
    J = rng.normal(size=(n, freedoms))
    return ds.LCP(J @ J.T, J @ rng.normal(size=freedoms))


def static(n: int) -> ds.FrictionProblem:
    rng = np.random.default_rng(n)
    J = rng.normal(size=(n, n))
    return ds.FrictionProblem(J @ J.T / n, rng.normal(size=n), 0.3, dim=2)


def seconds(run, repeat: int) -> float:
    """Least of several runs: the others measured the machine's other guests."""
    run()
    times = []
    for _ in range(repeat):
        begin = perf_counter()
        run()
        times.append(perf_counter() - begin)
    return min(times)


def quadratic_program(problem: ds.LCP):
    """min 1/2 f'Af + q'f, f >= 0 in Clarabel (QDLDL, its default)."""
    n = problem.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sp.triu(sp.csc_matrix(problem.dense), format="csc")
    cone = [clarabel.NonnegativeConeT(n)]
    bounds = -sp.eye(n, format="csc")
    return clarabel.DefaultSolver(P, problem.q, bounds, np.zeros(n), cone, settings).solve()


def measure(kind: str, n: int, repeat: int) -> dict[str, object]:
    problem = {"dense": dense, "stack": stack, "static": static}[kind](n)
    solution = ds.solve(problem, "dantzig")
    own = seconds(lambda: ds.solve(problem, "dantzig"), repeat)
    A = problem.dense + 1e-9 * np.eye(n)
    elimination = seconds(lambda: np.linalg.solve(A, problem.q), repeat)
    qp = float("nan")
    if isinstance(problem, ds.LCP):
        qp = seconds(lambda: quadratic_program(problem), max(1, repeat // 2))
    return {
        "kind": kind,
        "n": n,
        "status": solution.status.name,
        "residual": f"{solution.residual:.1e}",
        "drives": solution.info["drives"],
        "pivots": solution.info["pivots"],
        "dantzig_us": round(own * 1e6, 1),
        "elimination_us": round(elimination * 1e6, 1),
        "qp_us": round(qp * 1e6, 1),
        "per_elimination": round(own / elimination, 2),
        "qp_per_dantzig": round(qp / own, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100, 200, 400])
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    rows = [
        measure(kind, n, options.repeat)
        for kind in ("dense", "stack", "static")
        for n in options.sizes
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for row in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        print("  ".join(f"{value!s:>15}" for value in row.values()))


if __name__ == "__main__":
    main()
