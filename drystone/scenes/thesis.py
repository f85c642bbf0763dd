"""The three simulations of the thesis (appendix D). Its pictures give no numbers: all are ours."""

from __future__ import annotations

import math
from typing import Any

from drystone.geometry.shapes import Box, Capsule, Ellipsoid, Superquadric
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import GRAVITY
from drystone.world import World

ROOT = math.sqrt(0.5)
LOOSE = EventDriven(
    integrator="rk45", rtol=1e-5, atol=1e-7, rest_speed=1e-4, slip_speed=1e-5, turning_speed=1e-4
)  # for pictures: what follows an impact is not to be told to ten digits


def jack_stairs(
    *,
    steps: int = 5,
    size: float = 0.25,
    rise: float = 0.35,
    tread: float = 0.4,
    speed: float = 2.0,
    mu: float = 0.4,
    restitution: float = 0.3,
) -> Plan:
    """A jack, three crossed ellipsoids, is thrown at `speed` [m/s] down a flight of stairs.

    steps of `rise` and `tread` [m]; size: half its width [m]; restitution at every contact.
    """
    at_least(1, steps=steps)
    positive(size=size, rise=rise, tread=tread)
    not_negative(mu=mu, speed=speed, restitution=restitution)
    world = World()
    world.add_ground(friction=mu, restitution=restitution)
    for k in range(steps):
        high = rise * (steps - k)
        width = tread if k else 3 * tread
        x = (k + 0.5) * tread if k else -0.5 * tread
        world.add_body(
            Box(width, 6 * tread, high),
            name=f"step{k}",
            fixed=True,
            friction=mu,
            restitution=restitution,
            position=(x, 0, 0.5 * high),
        )
    thin = 0.22 * size
    arms = [Ellipsoid(size, thin, thin), Ellipsoid(thin, size, thin), Ellipsoid(thin, thin, size)]
    world.add_body(
        arms,
        name="jack",
        friction=mu,
        restitution=restitution,
        position=(0.3 * tread, 0.0, rise * steps + 1.3 * size),
        orientation=_unit((1.0, 0.35, 0.2, 0.1)),
        velocity=(speed, 0.0, 0.0),
        angular_velocity=(0.5, 3.0 * speed, 0.2),
    )
    far = steps * tread + 2.0
    view = {"camera": (far, -1.6 * far, 0.8 * far), "target": (0.4 * far, 0, 0.3 * far)}
    return Plan(world, 4.0, EventDriven(), view)


def dice_lattice(
    *,
    n: int = 6,
    bars: int = 4,
    size: float = 0.1,
    pitch: float = 0.42,
    height: float = 1.0,
    mu: float = 0.3,
    restitution: float = 0.2,
) -> Plan:
    """n superquadric dice fall through a lattice of crossed bars onto the floor.

    bars each way, `pitch` apart, at `height` [m]; size: half of a die's edge [m], at most 0.3
    of the pitch; restitution.
    """
    at_least(1, n=n, bars=bars)
    positive(size=size, height=height - 2 * size, pitch=pitch)
    not_negative(mu=mu, restitution=restitution)
    world = World()
    world.add_ground(friction=mu, restitution=restitution)
    reach = 0.5 * (bars - 1) * pitch
    for k in range(bars):
        at = k * pitch - reach
        bar = Capsule(2 * reach + pitch, 0.15 * size)
        more: dict[str, Any] = {"fixed": True, "friction": mu, "restitution": restitution}
        turned = (ROOT, 0.0, ROOT, 0.0)  # a capsule lies along z: these along x, those along y
        world.add_body(bar, name=f"x{k}", position=(0, at, height), orientation=turned, **more)
        turned = (ROOT, ROOT, 0.0, 0.0)
        low = height - 0.3 * size
        world.add_body(bar, name=f"y{k}", position=(at, 0, low), orientation=turned, **more)
    die = Superquadric(size, size, size, 0.5, 0.5)
    within(2.5 * die.bounding_radius, math.inf, pitch=pitch)  # dice start 0.8 pitch apart
    for k in range(n):
        row, level = k % 3, k // 3
        x, y = (row - 1) * 0.8 * pitch + 0.11 * pitch, (0.23 * (-1) ** level) * pitch
        world.add_body(
            die,
            name=f"die{k}",
            friction=mu,
            restitution=restitution,
            position=(x, y, height + (2.5 + 3.0 * level) * size),
            orientation=_unit((1.0, 0.3 + 0.17 * k, 0.4 - 0.11 * k, 0.2)),
        )
    far = 3 * reach + height
    view = {"camera": (0.6 * far, -1.2 * far, 0.9 * far), "target": (0, 0, 0.5 * height)}
    return Plan(world, 3.0, LOOSE, view)


def collapse(
    *,
    storeys: int = 2,
    lean: float = 0.35,
    mu: float = 0.5,
    height: float = 0.8,
    width: float = 0.2,
) -> Plan:
    """Posts and beams with friction, `storeys` high, under a pull to the side of `lean` times their
    weight, as an earthquake's.

    Posts of `height` and `width` [m] rock when the pull passes their width over their height (or
    a little more: what they bear moves to the edge), and slide when it passes mu.
    """
    at_least(1, storeys=storeys)
    positive(height=height, width=width)
    not_negative(lean=lean, mu=mu)
    world = World((GRAVITY * lean, 0.0, -GRAVITY))
    world.add_ground(friction=mu)
    span, thick = 1.4, 0.15
    post, beam = Box(width, width, height), Box(span + 2 * width, 1.5 * width, thick)
    for k in range(storeys):
        base = k * (height + thick)
        for side, x in (("left", -0.5 * span), ("right", 0.5 * span)):
            at = (x, 0.0, base + 0.5 * height)
            world.add_body(post, name=f"{side}{k}", density=2000, friction=mu, position=at)
        at = (0.0, 0.0, base + height + 0.5 * thick)
        world.add_body(beam, name=f"beam{k}", density=2000, friction=mu, position=at)
    top = storeys * (height + thick)
    at = (0.0, 0.0, top + 0.5 * width)
    world.add_body(Box(*[width] * 3), name="stone", density=2000, friction=mu, position=at)
    view = {"camera": (0.5 * top, -2.6 * top, 0.8 * top), "target": (0.3, 0, 0.4 * top)}
    return Plan(world, 2.0, view=view)


def _unit(q: tuple[float, float, float, float]) -> tuple[float, ...]:
    size = math.sqrt(sum(x * x for x in q))
    return tuple(x / size for x in q)
