"""Measures calls for ``python_calls``, one name a line, in a process of its own.

It is run as a file, and imports nothing of this folder: the package beside it may be another
version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

DT, LEAST = 1.0 / 240.0, 0.004  # [s]: of a step; of CPU time that a measurement takes
SCENES: dict[str, tuple[str, dict[str, Any], float]] = {
    "three-balls": ("billiard-three", {"targets": 3, "speed": 2.0}, 0.2),
    "slope-hold": ("incline", {}, 2.0),
    "mass-ratio": ("mass-ratio", {}, 1.0),
    "spinner": ("gyroscope", {"kind": "spinner", "tumble": 5.0, "wobble": 0.01}, 4.0),
    "arch": ("arch", {}, 0.5),
}  # name, settings, seconds


def _one(ds: Any, kind: str) -> Any:
    planar = kind == "disk"
    world = ds.World(planar=planar)
    world.add_ground()
    shape = {"sphere": ds.Sphere(1.0), "box": ds.Box(2.0, 2.0, 2.0), "disk": ds.Disk(1.0)}[kind]
    above = (0.0, 1.0) if planar else (0.0, 0.0, 1.0)
    world.add_body(shape, name="b", position=above, velocity=(0.3,) + (0.0,) * (1 + (not planar)))
    return world


def _stack(ds: Any) -> Any:
    world = ds.World()
    world.add_ground()
    for k in range(6):
        world.add_body(ds.Box(1.0, 1.0, 1.0), name=f"b{k}", position=(0.0, 0.0, 0.5 + k))
    return world


def _pendulum(ds: Any) -> Any:
    world = ds.World()
    for k in range(2):
        world.add_body(ds.Sphere(0.1), name=f"b{k}", position=(0.5 + k, 0.0, 0.0), layer=())
        anchor, other = (float(k), 0.0, 0.0), f"b{k - 1}" if k else "world"
        world.add_joint(ds.Hinge(f"b{k}", other, anchor=anchor, axis=(0.0, 1.0, 0.0)))
    return world


def _pushed(ds: Any) -> Any:
    import numpy as np

    world = _one(ds, "sphere")
    push = np.array([[0.0] * 6, [0.1, 0.0, 0.0, 0.0, 0.0, 0.0]])
    world.add_force(ds.Callback(lambda model, state: push))
    return world


def cases(ds: Any) -> dict[str, Callable[[], tuple[Callable[[], Any], int]]]:
    """By name: makes what is to be called, and how many steps (or readings) a call is."""

    def started(world: Any, method: Any = None) -> Any:
        sim = ds.Simulation(world, method or ds.TimeStepping(dt=DT))
        for _ in range(20):
            sim.step()
        return sim

    def reading(world: Any, name: str) -> Any:
        sim = started(world)
        body = sim.body("b" if "b" in sim.bodies else "b1")
        return (lambda: getattr(body, name)), 1

    def of(world: Any, name: str) -> Any:
        sim = started(world)
        return (lambda: getattr(sim, name)), 1

    def stepping(world: Any) -> Any:
        return started(world).step, 1

    def read_and_step(world: Any) -> Any:
        sim = started(world)
        body = sim.body("b")

        def once() -> None:
            _ = body.position, body.velocity, sim.contacts
            sim.step()

        return once, 1

    def run(world: Any, steps: int) -> Any:
        sim = started(world)
        return (lambda: sim.run(steps * DT)), steps

    def snapshot(world: Any) -> Any:
        return started(world).snapshot, 1

    def restore(world: Any) -> Any:
        sim = started(world)
        known = sim.snapshot()
        return (lambda: sim.restore(known)), 1

    def ahead(world: Any) -> Any:
        sim = started(world)
        known = sim.snapshot()

        def once() -> None:
            sim.step()
            sim.restore(known)

        return once, 1

    def scene(name: str) -> Any:
        made, settings, seconds = SCENES[name]
        chosen = ds.scene(made, **settings)
        sims = [chosen.simulation() for _ in range(60)]
        dt = sims[0].method.dt
        return (lambda: sims.pop().run(seconds)), max(1, round(seconds / dt))

    out: dict[str, Any] = {}
    for kind in ("sphere", "box", "disk"):
        world = _one(ds, kind)
        out[f"{kind}: sim.step()"] = lambda w=world: stepping(w)
        out[f"{kind}: one step of sim.run(10 s)"] = lambda w=world: run(w, 2400)
        out[f"{kind}: sim.run(dt)"] = lambda w=world: run(w, 1)
        for name in ("position", "velocity", "orientation", "angular_velocity"):
            out[f"{kind}: body.{name}"] = lambda w=world, n=name: reading(w, n)
        out[f"{kind}: sim.contacts"] = lambda w=world: of(w, "contacts")
        out[f"{kind}: sim.energy"] = lambda w=world: of(w, "energy")
        out[f"{kind}: step, position, velocity, contacts"] = lambda w=world: read_and_step(w)
        out[f"{kind}: sim.snapshot()"] = lambda w=world: snapshot(w)
        out[f"{kind}: sim.restore(snapshot)"] = lambda w=world: restore(w)
        out[f"{kind}: step and restore"] = lambda w=world: ahead(w)
    out["sphere with a Callback: sim.step()"] = lambda: stepping(_pushed(ds))
    out["sphere with a Callback: one step of sim.run(1 s)"] = lambda: run(_pushed(ds), 240)
    out["two hinges: sim.step()"] = lambda: stepping(_pendulum(ds))
    out["two hinges: one step of sim.run(10 s)"] = lambda: run(_pendulum(ds), 2400)
    out["two hinges: sim.joints"] = lambda: of(_pendulum(ds), "joints")
    out["two hinges: sim.snapshot()"] = lambda: snapshot(_pendulum(ds))
    out["two hinges: sim.restore(snapshot)"] = lambda: restore(_pendulum(ds))
    out["six boxes: sim.step()"] = lambda: stepping(_stack(ds))
    out["six boxes: sim.contacts"] = lambda: of(_stack(ds), "contacts")
    out["six boxes: sim.snapshot()"] = lambda: snapshot(_stack(ds))
    out["six boxes: sim.restore(snapshot)"] = lambda: restore(_stack(ds))
    for name in SCENES:
        out[f"{name}: a step of a run"] = lambda n=name: scene(n)
    return out


def serve() -> None:
    """Measure what the other process asks for: one name a line."""
    import drystone as ds

    known = cases(ds)
    made: dict[str, Any] = {}
    for line in sys.stdin:
        name = json.loads(line)
        try:
            if name not in made:
                call, steps = known[name]()
                count = 1
                if "run" not in name.split(": ", 1)[1]:
                    call()
                    while _seconds(call, count) < LEAST:
                        count *= 2
                else:
                    _seconds(call, 1)
                    if "run(dt)" in name:
                        count = 64
                made[name] = call, steps, count
            call, steps, count = made[name]
            found: float | None = _seconds(call, count) / (count * steps) * 1e6
        except (AttributeError, ds.DrystoneError):
            found = None  # what an older version does not have
        print(json.dumps(found), flush=True)


def _seconds(call: Callable[[], Any], count: int) -> float:
    began = process_time()
    for _ in range(count):
        call()
    return process_time() - began


if __name__ == "__main__":
    serve()
