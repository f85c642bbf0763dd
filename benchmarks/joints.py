"""Growth of a step with the number of joints: chains, trees, a chain on the ground.

Ball joints, n = 10 to 1000 bodies: a chain and a binary tree that fall from where they hang, a
chain that lies on the ground and one that slides over it, each link another way (friction all
along it decides how it moves: the hardest of the four). For each: the least CPU time of a step
among the last ones of a short run (other work on the machine does not count), the same of one
solve of the step's problem by Newton's method from nothing, and how many steps that took.

    python benchmarks/joints.py [--largest BODIES]

writes results/joints.csv beside this file and prints the exponents from 100 bodies on.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from time import process_time

import numpy as np

import drystone as ds
from drystone.solvers.newton import Newton

SIZES = (10, 30, 100, 300, 1000)
STEPS, KEPT = 12, 8
RESULTS = Path(__file__).parent / "results"
FIELDS = (
    "case", "bodies", "contacts", "ms_per_step", "us_per_step_and_body", "ms_per_solve",
    "newton_steps", "joint_error", "redundant_rows",
)  # fmt: skip


def hanging(n: int, forks: int) -> ds.World:
    """A tree: body k hangs from body (k - 1) // forks; a chain if forks is 1."""
    world = ds.World()
    centres: list[np.ndarray] = []
    ball = ds.Sphere(0.05)
    for k in range(n):
        above = (k - 1) // forks if k else -1
        angle = 0.5 + 0.3 * np.sin(k) + (k % forks)
        arm = 0.1 * np.array([np.sin(angle), 0.2 * np.cos(3.0 * k), -np.cos(angle)])
        anchor = centres[above] + arm if k else np.zeros(3)
        centres.append(anchor + arm)
        world.add_body(ball, name=f"b{k}", mass=1.0, position=centres[k], layer=())
        world.add_joint(ds.Ball(f"b{k}", f"b{above}" if k else "world", anchor=anchor))
    return world


def lying(n: int, speed: float) -> ds.World:
    """A chain of capsules on the ground; each link starts across it in its own way."""
    world = ds.World()
    world.add_ground(friction=0.5)
    link, level = ds.Capsule(0.14, 0.03), (0.5**0.5, 0, 0.5**0.5, 0)
    for k in range(n):
        place = {"position": (0.2 * (k + 0.5), 0, 0.03), "orientation": level}
        world.add_body(link, name=f"l{k}", velocity=(0, speed * np.sin(k), 0), **place)
        if k:
            world.add_joint(ds.Ball(f"l{k}", f"l{k - 1}", anchor=(0.2 * k, 0, 0.03)))
    return world


CASES = {
    "chain": lambda n: hanging(n, 1),
    "tree": lambda n: hanging(n, 2),
    "chain on the ground": lambda n: lying(n, 0.0),
    "chain that slides": lambda n: lying(n, 1.0),
}


def least(run, count: int) -> float:
    """Least CPU time [s] of `count` calls."""
    times = []
    for _ in range(count):
        begin = process_time()
        run()
        times.append(process_time() - begin)
    return min(times)


def measure(case: str, n: int) -> dict[str, object]:
    sim = ds.Simulation(CASES[case](n))
    for _ in range(STEPS - KEPT):
        sim.step()
    step = least(sim.step, KEPT)
    newton = Newton(tol=1e-10, homotopy=0, sweeps=0, max_steps=100, time_limit=60.0)
    problem = sim.problem()
    found = newton.solve(problem)
    solve = least(lambda: newton.solve(problem), 3)
    report = sim.report
    return {
        "case": case,
        "bodies": n,
        "contacts": report.contacts,
        "ms_per_step": 1e3 * step,
        "us_per_step_and_body": 1e6 * step / n,
        "ms_per_solve": 1e3 * solve,
        "newton_steps": found.iterations if found.ok else "",
        "joint_error": report.joint_error,
        "redundant_rows": report.redundant,
    }


def exponent(rows: list[dict[str, object]], field: str) -> float:
    """Slope of log(field) over log(bodies) from 100 bodies on."""
    points = [(float(r["bodies"]), float(r[field])) for r in rows if r["bodies"] >= 100]
    if len(points) < 2:
        return float("nan")
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1000, help="bodies")
    largest = parser.parse_args().largest
    rows = []
    for case in CASES:
        mine = []
        measure(case, SIZES[0])  # compile
        for n in SIZES:
            if n <= largest:
                mine.append(measure(case, n))
                print(" ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}"
                               for k, v in mine[-1].items()), flush=True)  # fmt: skip
        for field in ("ms_per_step", "ms_per_solve"):
            print(f"{case}: {field} grows as n^{exponent(mine, field):.2f}")
        rows += mine
    with (RESULTS / "joints.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(
            {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


if __name__ == "__main__":
    main()
