"""One body on planes: what friction alone decides, with closed forms to compare."""

from __future__ import annotations

import math
from typing import Any, Literal

from drystone.geometry.shapes import Box, Cylinder, Rectangle, Sphere
from drystone.scenes.base import Plan, not_negative, positive, within
from drystone.types import GRAVITY
from drystone.world import World


def incline(
    *,
    mu: float = 0.5,
    ratio: float = 0.98,
    shape: Literal["box", "plate", "cylinder"] = "box",
    size: float = 1.0,
    planar: bool = False,
) -> Plan:
    """A block at rest on a slope with tan(angle) = ratio mu, downhill along x.

    It stays for ratio < 1; otherwise it slides by g (sin - mu cos) t^2 / 2. shape, and size of its
    sides [m]; a plate is a quarter as high, a cylinder half.
    """
    positive(mu=mu, size=size)
    not_negative(ratio=ratio)
    angle = math.atan(ratio * mu)
    s, c = math.sin(angle), math.cos(angle)
    world = World(planar=planar)
    if planar:
        world.add_ground(friction=mu, normal=(s, c))
        height = size / (4 if shape == "plate" else 1)
        place, turn = (0.5 * height * s, 0.5 * height * c), -angle
        world.add_body(
            Rectangle(size, height), name="block", friction=mu, position=place, orientation=turn
        )
        return Plan(world, 10.0, view={"limits": ((-2 * size, 6 * size), (-4 * size, 2 * size))})
    world.add_ground(friction=mu, normal=(s, 0, c))
    solid: Any = Cylinder(0.5 * size, 0.5 * size)
    height = 0.5 * size
    if shape != "cylinder":
        height = size if shape == "box" else 0.25 * size
        solid = Box(size, size, height)
    world.add_body(
        solid,
        name="block",
        friction=mu,
        position=(0.5 * height * s, 0, 0.5 * height * c),
        orientation=(math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0),
    )
    return Plan(world, 10.0, view={"camera": (3, -6, 3), "target": (1, 0, 0)})


def sliding_block(
    *, speed: float = 5.0, mu: float = 0.3, direction: float = 0.0, size: float = 1.0
) -> Plan:
    """A cube thrown along the ground: it stops after speed^2 / (2 mu g), in a straight line.

    speed [m/s]; direction [degrees] from its own x axis; size [m].
    """
    positive(mu=mu, size=size)
    not_negative(speed=speed)
    angle = math.radians(direction)
    way = (math.cos(angle), math.sin(angle), 0.0)
    world = World()
    world.add_ground(friction=mu)
    world.add_body(
        Box(size, size, size),
        name="block",
        friction=mu,
        position=(0, 0, 0.5 * size),
        velocity=tuple(speed * x for x in way),
    )
    stop = speed**2 / (2 * mu * GRAVITY)
    view = {"camera": (0.5 * stop, -2 * stop, stop), "target": (0.5 * stop, 0, 0)}
    return Plan(world, 1.2 * speed / (mu * GRAVITY) + 0.1, view=view)


def rolling_ball(*, speed: float = 5.0, mu: float = 0.2, radius: float = 0.1) -> Plan:
    """A ball thrown without spin: it slides until it rolls, at 5/7 of its speed.

    Rolling begins after 2 speed / (7 mu g). speed [m/s], radius [m].
    """
    positive(mu=mu, radius=radius, speed=speed)
    world = World()
    world.add_ground(friction=mu)
    world.add_body(
        Sphere(radius), name="ball", friction=mu, position=(0, 0, radius), velocity=(speed, 0, 0)
    )
    roll = 2 * speed / (7 * mu * GRAVITY)
    view = {"camera": (speed * roll, -2 * speed * roll, 1), "target": (speed * roll, 0, 0)}
    return Plan(world, 1.5 * roll, view=view)


def wedge_cone(
    *,
    mu: float = 1.0,
    speed: float = 1.0,
    push: float = 0.0,
    degrees: float = 90.0,
    radius: float = 0.01,
    spins: bool = False,
) -> Plan:
    """A particle in a wedge along x, thrown with `speed` [m/s] or pushed with `push` [N] along it.

    Friction cones of two faces at 90 degrees with mu = 1 meet in the horizontal direction: their
    sum is not closed, any push can be held by squeezing hard enough, and sliding and sticking are
    both solutions. For smaller mu it slides, decelerated by mu g / sin(degrees / 2).
    spins: a ball that rolls instead of a particle that cannot turn.
    """
    not_negative(mu=mu, speed=speed)
    positive(radius=radius)
    within(0, 180, degrees=degrees)
    half = math.radians(0.5 * degrees)
    c, s = math.cos(half), math.sin(half)
    world = World()
    world.add_ground(friction=mu, normal=(0, c, s), name="left")
    world.add_ground(friction=mu, normal=(0, -c, s), name="right")
    ball = Sphere(radius)
    mass = ball.mass_properties(1000.0).mass
    # a particle is a ball too heavy to turn: a million times a ball's inertia
    inertia = None if spins else (4e5 * mass * radius**2,) * 3
    world.add_body(
        ball,
        name="particle",
        mass=mass,
        inertia=inertia,
        friction=mu,
        position=(0, 0, radius / s),
        velocity=(speed, 0, 0),
    )
    if push:
        from drystone.dynamics.forces import ConstantForce

        world.add_force(ConstantForce("particle", force=(push, 0, 0)))
    return Plan(world, 1.0, view={"camera": (-0.3, -0.3, 0.3), "target": (0.1, 0, 0)})
