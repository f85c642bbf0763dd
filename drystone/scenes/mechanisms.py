"""Chains and linkages: what joints alone decide, with equations of motion to compare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.constraints.joints import Ball, Pin
from drystone.geometry.shapes import Capsule, Capsule2D, Disk, Sphere
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.types import Floats
from drystone.world import World


def chain(
    *,
    links: int = 50,
    bob: float = 100.0,
    angle: float = 45.0,
    length: float = 0.1,
    mass: float = 0.1,
    planar: bool = False,
) -> Plan:
    """A straight chain of rods on ball joints (planar: pins), let go at `angle` [degrees] from the
    vertical, with a heavy bob about the end of the last rod.

    links: of `length` [m] and `mass` [kg] each; bob: its mass over a link's. Light links under a
    heavy bob are stiff: their sideways frequency is about sqrt(12 T / (mass length)) under the
    tension T.
    """
    return _hanging(links, bob, angle, length, mass, planar)


def chain_whip(
    *,
    links: int = 50,
    bob: float = 100.0,
    angle: float = 90.0,
    length: float = 0.1,
    mass: float = 0.1,
    planar: bool = False,
) -> Plan:
    """The chain let go from horizontal: the tension grows from nothing, and the bob's fall
    cracks it like a whip.

    links: of `length` [m] and `mass` [kg] each; bob: its mass over a link's; angle [degrees] from
    the vertical.
    """
    return _hanging(links, bob, angle, length, mass, planar)


def _hanging(
    links: int, bob: float, angle: float, length: float, mass: float, planar: bool
) -> Plan:
    at_least(1, links=links)
    not_negative(bob=bob)
    positive(length=length, mass=mass)
    within(-180.0, 180.0, angle=angle)
    world = World(planar=planar)
    turn = math.radians(angle)
    way = np.array([math.sin(turn), -math.cos(turn)])
    rod = _rod(length, planar)
    place: dict[str, Any] = {"orientation": upright(turn, planar), "layer": ()}
    before = "world"
    for k in range(links):
        name, middle = f"link{k}", (k + 0.5) * length * way
        if k < links - 1 or bob == 0:
            shape: Any = {"shape": rod, "mass": mass}
        else:
            shape = _with_bob(rod, length, mass, bob * mass, planar)
        world.add_body(name=name, position=lifted(middle, planar), **shape, **place)
        pin = lifted(k * length * way, planar)
        world.add_joint((Pin if planar else Ball)(name, before, anchor=pin, name=f"joint{k}"))
        before = name
    size = 1.15 * links * length
    view: dict[str, Any] = {"camera": (0, -2.2 * size, -0.5 * size), "target": (0, 0, -0.5 * size)}
    if planar:
        view = {"limits": ((-size, size), (-size, 0.2 * size))}
    return Plan(world, 5.0, view=view)


def _rod(length: float, planar: bool) -> Any:
    """A thin one, along -y of its frame in the plane and -z in space."""
    radius = 0.1 * length
    if planar:
        return [(Capsule2D(length - 2 * radius, radius), (0, 0), 0.5 * math.pi)]
    return Capsule(length - 2 * radius, radius)


def _with_bob(rod: Any, length: float, mass: float, bob: float, planar: bool) -> dict[str, Any]:
    """The last link: a ball about its end, fixed to it."""
    down = np.array((0.0, -0.5 * length) if planar else (0.0, 0.0, -0.5 * length))
    radius = 0.45 * length
    ball: Any = Disk(radius) if planar else Sphere(radius)
    bare = rod[0][0] if planar else rod
    parts = [(bare, mass, 0.0 * down), (ball, bob, down)]
    centre = bob / (mass + bob) * down
    inertia: Any = 0.0 if planar else np.zeros((3, 3))
    for shape, m, at in parts:
        unit = shape.mass_properties(1.0)
        arm = at - centre
        own = m / unit.mass * np.asarray(unit.inertia)
        inertia = (
            inertia
            + own
            + m * (arm @ arm if planar else arm @ arm * np.eye(3) - np.outer(arm, arm))
        )
    first = rod[0] if planar else rod
    return {
        "shape": [first, (ball, tuple(down))],
        "mass": mass + bob,
        "inertia": float(inertia) if planar else inertia,
        "centre_of_mass": tuple(centre),
    }


def lifted(point: Floats, planar: bool) -> tuple[float, ...]:
    """A point (x, height) of the plane, or at y = 0 in space."""
    x, height = float(point[0]), float(point[1])
    return (x, height) if planar else (x, 0.0, height)


def upright(turn: float, planar: bool) -> Any:
    """Orientation of a body turned counter-clockwise as seen with x to the right, height up."""
    return turn if planar else (math.cos(0.5 * turn), 0.0, -math.sin(0.5 * turn), 0.0)
