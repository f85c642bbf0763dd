"""Two pictures of 1989 about collisions that meet contacts (figures 12 and 13)."""

from __future__ import annotations

from typing import Any

from drystone.geometry.shapes import Box, Disk, Rectangle
from drystone.scenes.base import Plan, not_negative, positive
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import GRAVITY
from drystone.world import World


def heavy_ball(*, ratio: float = 9.0, speed: float = 1.0, radius: float = 0.1) -> Plan:
    """A ball `ratio` times as heavy falls on another that rests on the floor, without restitution.

    All contacts at once: both are at rest. One after the other: the upper one keeps
    ratio / (ratio + 1) of its speed with each round. speed when they meet [m/s]; radius [m].
    """
    positive(ratio=ratio, speed=speed, radius=radius)
    world = World(planar=True)
    world.add_ground(friction=0.0)
    ball = Disk(radius)
    world.add_body(ball, name="light", mass=1.0, friction=0.0, position=(0, radius))
    fall = min(0.05 * radius, 0.25 * speed**2 / GRAVITY)
    start = (speed**2 - 2 * GRAVITY * fall) ** 0.5
    world.add_body(
        ball,
        name="heavy",
        mass=ratio,
        friction=0.0,
        position=(0, 3 * radius + fall),
        velocity=(0, -start),
    )
    view = {"limits": ((-4 * radius, 4 * radius), (-radius, 6 * radius))}
    return Plan(world, 0.2, EventDriven(dt=1 / 240), view)


def struck_block(
    *, speed: float = 2.0, restitution: float = 0.5, mass: float = 1.0, planar: bool = True
) -> Plan:
    """A board A of `mass` [kg] lies on two supports B; a block C of one kilogram strikes it from
    below at `speed` [m/s].

    A leaves the supports, which give no impulse: C and A part as two free bodies would, with
    restitution.
    """
    positive(speed=speed, mass=mass)
    not_negative(restitution=restitution, **{"1 - restitution": 1 - restitution})
    world = World(planar=planar)

    def add(name: str, size: tuple[float, float], at: tuple[float, float], **more: Any) -> None:
        shape: Any = Rectangle(*size) if planar else Box(size[0], 0.3, size[1])
        place = at if planar else (at[0], 0.0, at[1])
        world.add_body(shape, name=name, friction=0.0, position=place, **more)

    add("B-left", (0.2, 1.0), (-0.8, 0.5), fixed=True)
    add("B-right", (0.2, 1.0), (0.8, 0.5), fixed=True)
    add("A", (2.0, 0.1), (0.0, 1.05), mass=mass)
    gap = 0.05
    up = (speed**2 + 2 * GRAVITY * gap) ** 0.5
    way = (0.0, up) if planar else (0.0, 0.0, up)
    add("C", (0.2, 0.2), (0.0, 0.9 - gap), mass=1.0, velocity=way, restitution=restitution)
    view: dict[str, Any] = {"limits": ((-1.5, 1.5), (-0.2, 2.2))}
    if not planar:
        view = {"camera": (2.0, -5.0, 2.0), "target": (0.0, 0.0, 0.9)}
    return Plan(world, 0.4, EventDriven(dt=1 / 240), view)
