"""Stacks of blocks: statics that must stay statics, and dominoes that must not."""

from __future__ import annotations

from typing import Any

from drystone.geometry.shapes import Box, Rectangle
from drystone.scenes.base import Plan, at_least, not_negative, positive
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import GRAVITY
from drystone.world import World


def mass_ratio(
    *, n: int = 5, factor: float = 10.0, mu: float = 0.5, size: float = 1.0, planar: bool = False
) -> Plan:
    """A tower of n cubes of 1, 10, 100, ... kg: each is `factor` times heavier than the one below.

    size [m].
    """
    at_least(1, n=n)
    positive(factor=factor, size=size)
    not_negative(mu=mu)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    shape = Rectangle(size, size) if planar else Box(size, size, size)
    for k in range(n):
        z = (k + 0.5) * size
        place = (0, z) if planar else (0, 0, z)
        world.add_body(shape, name=f"cube{k}", mass=factor**k, friction=mu, position=place)
    height = n * size
    view: dict[str, Any] = {
        "camera": (0.5 * height, -2 * height, height),
        "target": (0, 0, 0.5 * height),
    }
    if planar:
        view = {"limits": ((-height, height), (-0.2 * height, 1.2 * height))}
    return Plan(world, 5.0, view=view)


def pyramid(
    *,
    rows: int = 10,
    mu: float = 0.5,
    size: float = 1.0,
    gap: float = 0.1,
    mass: float = 1.0,
    planar: bool = False,
) -> Plan:
    """rows (rows + 1) / 2 cubes in a plane, each on two below: 55 for 10 rows, 210 for 20.

    size: of a cube [m]; gap: between neighbours in a row [m]; mass of each [kg].
    """
    at_least(1, rows=rows)
    positive(size=size, mass=mass)
    not_negative(mu=mu, gap=gap)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    shape = Rectangle(size, size) if planar else Box(size, size, size)
    for level in range(rows):
        z = (level + 0.5) * size
        for i in range(rows - level):
            x = (i - 0.5 * (rows - level - 1)) * (size + gap)
            place = (x, z) if planar else (x, 0, z)
            world.add_body(shape, name=f"cube{level}-{i}", mass=mass, friction=mu, position=place)
    width = rows * (size + gap)
    view: dict[str, Any] = {
        "camera": (0.3 * width, -1.6 * width, 0.6 * width),
        "target": (0, 0, 0.4 * width),
    }
    if planar:
        view = {"limits": ((-0.6 * width, 0.6 * width), (-0.1 * width, 1.1 * width))}
    return Plan(world, 5.0, view=view)


def dominoes(
    *,
    n: int = 100,
    height: float = 0.5,
    thickness: float = 0.08,
    width: float = 0.25,
    spacing: float = 0.2,
    mu: float = 0.5,
    push: float = 1.0,
) -> Plan:
    """A row of dominoes; the first is turning over its edge, its top moving at `push` [m/s].

    height, thickness (along the row), width of a domino [m]; spacing: from one to the next [m].
    """
    at_least(1, n=n)
    positive(height=height, thickness=thickness, width=width, spacing=spacing - thickness)
    not_negative(mu=mu, push=push)
    world = World()
    world.add_ground(friction=mu)
    shape = Box(thickness, width, height)
    for i in range(n):
        w = push / height if i == 0 else 0.0
        world.add_body(
            shape,
            name=f"domino{i}",
            friction=mu,
            position=(i * spacing, 0, 0.5 * height),
            velocity=(0.5 * w * height, 0, 0.5 * w * thickness),
            angular_velocity=(0, w, 0),
        )
    length = n * spacing
    view: dict[str, Any] = {
        "camera": (0.3 * length, -0.7 * length, 0.4 * length),
        "target": (0.5 * length, 0, 0),
    }
    # the front moves at the speed of a falling domino's top, about sqrt(g height)
    return Plan(world, 1.0 + length / (GRAVITY * height) ** 0.5, view=view)


def bricks(
    *,
    n: int = 6,
    shift: float = 0.05,
    length: float = 0.2,
    height: float = 0.06,
    mu: float = 0.0,
    planar: bool = False,
) -> Plan:
    """A stack of n bricks, each `shift` [m] further out than the one below, without friction.

    The k upper ones lean over the edge below them if (k + 1) shift > length [m]: the stack falls
    for n shift > length, and its centre of mass stays above the same point of the ground. height
    of a brick [m].
    """
    at_least(1, n=n)
    positive(length=length, height=height)
    not_negative(mu=mu, shift=shift)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    shape: Any = Rectangle(length, height) if planar else Box(length, 0.5 * length, height)
    for k in range(n):
        x, z = k * shift, (k + 0.5) * height
        place = (x, z) if planar else (x, 0, z)
        world.add_body(shape, name=f"brick{k}", density=1800, friction=mu, position=place)
    size, reach = n * height + length, 0.5 * n * shift
    view: dict[str, Any] = {"camera": (reach, -3 * size, size), "target": (reach, 0, 0.3 * size)}
    if planar:
        view = {"limits": ((reach - 1.5 * size, reach + 1.5 * size), (-0.1, 1.5 * size))}
    return Plan(world, 1.0, EventDriven(), view)
