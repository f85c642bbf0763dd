"""Small replays for tests of pages and exports, without a simulation."""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import drystone as ds


def world_of_shapes() -> ds.World:
    """One body of each kind that spatial worlds know, and a floor."""
    world = ds.World()
    world.add_ground(friction=0.5)
    shapes = {
        "ball": ds.Sphere(0.3),
        "small ball": ds.Sphere(0.2),
        "box": ds.Box(0.5, 0.4, 0.3),
        "second box": ds.Box(0.5, 0.4, 0.3),
        "capsule": ds.Capsule(0.4, 0.15),
        "cylinder": ds.Cylinder(0.4, 0.2),
        "cone": ds.Cone(0.5, 0.25),
        "ellipsoid": ds.Ellipsoid(0.3, 0.2, 0.15),
        "superquadric": ds.Superquadric(0.25, 0.2, 0.2, 0.5, 0.5),
    }
    for k, (name, shape) in enumerate(shapes.items()):
        angle = 0.7 * k
        world.add_body(
            shape, name=name, position=(k - 4.0, 0.2 * k, 1.0), density=1000,
            orientation=(math.cos(angle / 2), 0, math.sin(angle / 2), 0),
        )  # fmt: skip
    return world


def moved(world: ds.World, n: int = 40, seconds: float = 1.5, **more: Any) -> Any:
    """A replay in which every free body flies and turns by formulas."""
    model, state = world.build()
    time = np.linspace(0.0, seconds, n)
    free = (model.inverse_mass > 0)[None, :]
    position = np.repeat(state.position[None], n, axis=0)
    position[:, :, -1] += np.where(free, 0.8 * np.sin(2 * time)[:, None], 0.0)
    position[:, :, 0] += np.where(free, 0.3 * time[:, None], 0.0)
    if model.dim == 2:
        orientation = state.orientation[None] + np.where(free, 9.0 * time[:, None], 0.0)
    else:
        half = np.where(free, 2.5 * time[:, None], 0.0)
        turn = np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=2)
        orientation = _times(turn, np.repeat(state.orientation[None], n, axis=0))
    return SimpleNamespace(
        model=model, time=time, position=position, orientation=orientation, **more
    )


def _times(p: Any, q: Any) -> Any:
    """Products of quaternions (w, x, y, z)."""
    a, b = p[..., 1:], q[..., 1:]
    w = p[..., 0] * q[..., 0] - (a * b).sum(axis=-1)
    v = p[..., :1] * b + q[..., :1] * a + np.cross(a, b)
    return np.concatenate([w[..., None], v], axis=-1)


@cache
def pile(planar: bool, seconds: float = 0.5) -> Any:
    """A real run with contacts: a few bodies that fall on each other."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.6)
    if planar:
        for k in range(3):
            world.add_body(ds.Disk(0.2), name=f"disk {k}", position=(0.05 * k, 0.2 + 0.42 * k))
        world.add_body(ds.Rectangle(0.5, 0.3), name="slab", position=(1.0, 0.16))
    else:
        for k in range(3):
            world.add_body(
                ds.Box(0.4, 0.3, 0.2), name=f"brick {k}", position=(0, 0, 0.1 + 0.201 * k)
            )
        world.add_body(ds.Sphere(0.2), name="ball", position=(0.8, 0, 0.3))
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 120))
    return sim.run(seconds, record=True, contacts=True)
