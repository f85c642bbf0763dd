"""``python -m benchmarks joints``: growth of a step with the number of joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import drystone as ds
from benchmarks import options, tables
from benchmarks.clock import exponent, fastest
from drystone.solvers.newton import Newton

STEPS, KEPT = 12, 8


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
        world.add_body(
            link, name=f"l{k}", velocity=(0, speed * np.sin(k), 0),
            position=(0.2 * (k + 0.5), 0, 0.03), orientation=level,
        )  # fmt: skip
        if k:
            world.add_joint(ds.Ball(f"l{k}", f"l{k - 1}", anchor=(0.2 * k, 0, 0.03)))
    return world


CASES: dict[str, Callable[[int], ds.World]] = {
    "chain": lambda n: hanging(n, 1),
    "tree": lambda n: hanging(n, 2),
    "chain on the ground": lambda n: lying(n, 0.0),
    "chain that slides": lambda n: lying(n, 1.0),
}


def measure(case: str, n: int) -> dict[str, Any]:
    sim = ds.Simulation(CASES[case](n))
    for _ in range(STEPS - KEPT):
        sim.step()
    step = fastest(sim.step, repeats=KEPT)
    newton = Newton(tol=1e-10, homotopy=0, sweeps=0, max_steps=100, time_limit=60.0)
    problem = sim.problem()
    assert problem is not None
    found = newton.solve(problem)
    solve = fastest(lambda: newton.solve(problem), repeats=3)
    report = sim.step()
    return {
        "case": case, "bodies": n, "contacts": report.contacts, "ms_per_step": 1e3 * step,
        "us_per_step_and_body": 1e6 * step / n, "ms_per_solve": 1e3 * solve,
        "newton_steps": found.iterations if found.ok else None, "residual": found.residual,
        "joint_error": report.joint_error, "redundant_rows": report.redundant,
    }  # fmt: skip


def joints(sizes: options.Sizes = "10,30,100,300,1000", output: options.Output = None) -> None:
    """Growth of a step with the number of joints: chains, trees, chains on the ground.

    Ball joints: a chain and a binary tree that fall from where they hang, a chain that lies on the
    ground and one that slides over it, each link another way (friction all along it decides how it
    moves: the hardest of the four). For each: the fastest step among the last ones of a short run,
    the same of one solve of the step's problem by Newton's method from nothing, and how many steps
    that took.
    """
    folder, numbers = options.folder(output), options.numbers(sizes)
    rows: list[dict[str, Any]] = []
    for case in CASES:
        measure(case, numbers[0])  # compile
        for n in numbers:
            rows.append(measure(case, n))
            tables.show(tables.row_text(rows[-1]))
        large = [row for row in rows if row["case"] == case and row["bodies"] >= 100]
        for name in ("ms_per_step", "ms_per_solve"):
            power = exponent((row["bodies"], row[name]) for row in large)
            tables.show(f"{case}: {name} grows as n^{power:.2f} from 100 bodies on")
    if folder is not None:
        tables.write_csv(folder / "joints.csv", rows)
