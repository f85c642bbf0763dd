"""``python -m benchmarks structures``: dry-stone structures at rest, how far they move and at what
cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from time import process_time
from typing import Annotated, Any

import numpy as np
import typer
from scipy.spatial import Voronoi

import drystone as ds
from benchmarks import options, tables
from benchmarks.clock import one_thread
from benchmarks.processes import alone
from drystone.cli.console import COUNT, NUMBER
from drystone.kernels._jit import compile_seconds

HEAD = (
    "structure", "bodies", "contacts", "simulated [s]", "first step [s]", "then [s/s]",
    "moved [m]", "turned [rad]", "fastest at the end [m/s]", "greatest residual",
    "steps not solved", "steps with a solve",
)  # fmt: skip
DEPTH = 0.3  # of walls of stones [m]


def tower(n: int) -> ds.World:
    """n cubes of 1 m on each other."""
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(n):
        world.add_body(ds.Box(1, 1, 1), mass=1.0, friction=0.5, position=(0, 0, k + 0.5))
    return world


def dome(courses: int, sectors: int, ratio: float = 0.12, eye: float = 10.0) -> ds.World:
    """A hemisphere of blocks between meridians and cones, open at the top up to `eye` degrees.

    ratio: thickness over the mean radius, 1 m; a hemisphere stands from 0.042 on (Heyman).
    """
    world = ds.World()
    world.add_ground(friction=0.7)
    edges = np.linspace(math.radians(eye), 0.5 * math.pi, courses + 1)
    half = math.pi / sectors
    for i in range(courses):
        corners = [
            r * np.array([math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)])
            for r in (1 - ratio / 2, 1 + ratio / 2)
            for a in edges[i : i + 2]
            for b in (-half, half)
        ]
        shape = ds.ConvexPolyhedron(corners)
        for j in range(sectors):
            place = (math.cos(j * half), 0, 0, math.sin(j * half))
            world.add_body(shape, density=2400, friction=0.7, orientation=place)
    return world


def vault(n: int, bays: int, ratio: float = 0.15) -> ds.World:
    """A barrel vault: arches of n voussoirs behind each other, of which every other begins with
    half a one."""
    world = ds.World()
    world.add_ground(friction=0.7)
    whole = math.pi / n
    for bay in range(bays):
        angles = [k * whole for k in range(n + 1)]
        if bay % 2:
            angles = [0.0, *((k + 0.5) * whole for k in range(n)), math.pi]
        for a, b in pairwise(angles):
            corners = [
                (r * math.cos(t), y, r * math.sin(t))
                for r in (1 - ratio / 2, 1 + ratio / 2)
                for t in (a, b)
                for y in (0.25 * bay, 0.25 * (bay + 1))
            ]
            world.add_body(ds.ConvexPolyhedron(corners), density=2400, friction=0.7)
    return world


def stones(courses: int, columns: int, seed: int = 1, jitter: float = 0.2) -> ds.World:
    """A wall of random polyhedra that fit: Voronoi cells about the jittered middles of bricks."""
    rng = np.random.default_rng(seed)
    wide, high = 0.3 * columns, 0.2 * courses
    seeds = np.array(
        [
            ((i + 0.5 + 0.5 * (k % 2)) * 0.3, (k + 0.5) * 0.2)
            for k in range(courses)
            for i in range(columns - k % 2)
        ]
    )
    seeds += jitter * rng.uniform(-0.5, 0.5, seeds.shape) * (0.3, 0.2)
    mirrors = [
        seeds * (-1, 1), seeds * (-1, 1) + (2 * wide, 0),
        seeds * (1, -1), seeds * (1, -1) + (0, 2 * high),
    ]  # fmt: skip
    cells = Voronoi(np.concatenate([seeds, *mirrors]))
    world = ds.World()
    world.add_ground(friction=0.7)
    for k in range(len(seeds)):
        outline = cells.vertices[cells.regions[cells.point_region[k]]]
        outline[np.abs(outline) < 1e-12] = 0.0
        corners = [(x, y, z) for x, z in outline for y in (0.0, DEPTH)]
        world.add_body(ds.ConvexPolyhedron(corners), density=2400, friction=0.7)
    return world


def _scene(name: str, **settings: Any) -> Callable[[], ds.World]:
    return lambda: ds.scene(name, **settings).world


STRUCTURES: dict[str, Callable[[], ds.World]] = {
    **{f"pyramid of {n} layers": _scene("pyramid", rows=n) for n in (21, 22, 40, 60)},
    **{
        f"wall of {a} x {b} bricks": _scene("wall", courses=a, columns=b)
        for a, b in ((15, 10), (20, 10), (30, 40))
    },
    **{f"tower of {n} cubes": lambda n=n: tower(n) for n in (40, 100, 1000)},  # type: ignore[misc]
    **{f"arch of {n} voussoirs": _scene("arch", n=n) for n in (61, 201)},
    "dome of 12 x 24 blocks": lambda: dome(12, 24),
    "dome of 25 x 40 blocks": lambda: dome(25, 40),
    "vault of 21 x 10 voussoirs": lambda: vault(21, 10),
    "vault of 41 x 25 voussoirs": lambda: vault(41, 25),
    "wall of 8 x 8 random stones": lambda: stones(8, 8),
    "wall of 20 x 20 random stones": lambda: stones(20, 20),
    "card house of 6 storeys": _scene("card-house", storeys=6),
}


def run(name: str, duration: float, limit: float) -> dict[str, Any]:
    """A structure for so long, or until `limit` seconds of processor time are over."""
    with one_thread():
        while True:  # until its kernels are there
            sim, known = ds.Simulation(STRUCTURES[name](), ds.TimeStepping()), compile_seconds()
            start = sim.state.copy()
            begin = process_time()
            report = sim.step()
            first = spent = process_time() - begin
            if compile_seconds() == known:
                break
        steps, bad, worst = 1, int(not report.ok), report.residual
        solves = int(any(method != "nsgs" for method in report.methods))
        begin = process_time()
        while sim.time < duration - 1e-9 and spent < limit:
            report = sim.step()
            steps += 1
            bad += not report.ok
            solves += any(method != "nsgs" for method in report.methods)
            worst = max(worst, report.residual)
            spent = process_time() - begin
        end = sim.state
        along = np.clip(np.abs(np.einsum("ij,ij->i", start.orientation, end.orientation)), 0, 1)
        sines = np.linalg.norm(_turn(start.orientation, end.orientation), axis=1)
        return {
            "bodies": len(sim.world.bodies), "contacts": report.contacts,
            "time": sim.time, "first": first,
            "then": spent / (sim.time * (steps - 1) / steps) if steps > 1 else math.nan,
            "moved": float(np.abs(end.position - start.position).max()),
            "turned": float(2 * np.arctan2(sines, along).max()),
            "speed": float(np.abs(end.velocity).max()), "residual": worst,
            "bad": bad, "solves": solves, "steps": steps,
        }  # fmt: skip


def _turn(a: Any, b: Any) -> Any:
    """Vector parts of the turns from unit quaternions a to b."""
    return a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - np.cross(a[:, 1:], b[:, 1:])


def cells(name: str, row: dict[str, Any]) -> tuple[object, ...]:
    return (
        name, row["bodies"], row["contacts"], f"{row['time']:.3g}", f"{row['first']:.2f}",
        f"{row['then']:.2f}", f"{row['moved']:.1e}", f"{row['turned']:.1e}", f"{row['speed']:.1e}",
        f"{row['residual']:.1e}", row["bad"], f"{row['solves']} of {row['steps']}",
    )  # fmt: skip


PAGE = """# Structures at rest

`python -m benchmarks structures --output benchmarks/results`: dry-stone structures at default
options (steps of 1/240 s), one process each, on one thread; times are those of the processor,
without compiling. All can rest. The first step knows nothing; a step with a solve is one that
sweeps alone did not end. Stopped after {limit} s of processor time.
"""


def structures(
    names: Annotated[
        list[str] | None, typer.Argument(help="Parts of names of structures. Default: all.")
    ] = None,
    duration: Annotated[float, typer.Option(**NUMBER, help="Simulated seconds.")] = 10.0,
    limit: Annotated[int, typer.Option(**COUNT, help="Seconds after which one is stopped.")] = 60,
    output: options.Output = None,
) -> None:
    """Pyramids, walls, towers, arches, domes, vaults at rest: motion, residual, time."""
    folder = options.folder(output)
    rows = []
    for name in STRUCTURES:
        if names and not any(part in name for part in names):
            continue
        rows.append(cells(name, alone(run, name, duration, limit)))
        tables.tell(" | ".join(map(str, rows[-1])))
    table = tables.lines(HEAD, rows)
    tables.show("\n".join(table))
    if folder is not None:
        tables.write_page(folder / "structures.md", [PAGE.format(limit=limit), *table])
