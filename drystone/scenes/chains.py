"""Chains of 1989 (figure 14 c to f): polyhedra on joints, without friction, that meet others."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.constraints.joints import Hinge, Pin
from drystone.geometry.shapes import Box, Cylinder, Disk, Rectangle
from drystone.scenes.base import Plan, at_least, not_negative, positive
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Floats
from drystone.world import World

LINK_WIDTH = 0.2  # [m] of links and blocks, across the plane they move in
LINK_THICKNESS = 0.25  # of a link, over the length of its pitch
LINK = 0.8  # of a link along the chain, over the same: folded neighbours but one pass each other


def destructive_chain(
    *,
    links: int = 8,
    length: float = 0.2,
    rows: int = 5,
    bob: float = 5.0,
    mu: float = 0.0,
    planar: bool = True,
) -> Plan:
    """A chain with a heavy last link, let go from horizontal, swings through a stack of bricks.

    links: of `length` [m]; rows of two bricks each; bob: mass of the last link over the others'.
    """
    at_least(2, links=links)
    at_least(1, rows=rows)
    positive(length=length, bob=bob)
    not_negative(mu=mu)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    reach = links * length
    brick, high = 0.2, 0.1
    top = reach + 0.5 * brick
    points = np.array([(-k * length, top) for k in range(links + 1)])
    _chain(world, points, mu, planar, ends=(True, False), bob=bob)
    for level in range(rows):
        for side in (0, 1):
            at = (0.6 * brick + brick * side + 0.01 * (level % 2), (level + 0.5) * high)
            _block(world, f"brick{level}-{side}", (0.95 * brick, high), at, mu, planar, 300.0)
    return Plan(world, 2.5, EventDriven(), _view(planar, 0.9 * reach, (0.0, 0.45 * top)))


def chain_pivot(
    *,
    links: int = 16,
    length: float = 0.1,
    post: float = 0.5,
    radius: float = 0.08,
    mu: float = 0.0,
    planar: bool = True,
) -> Plan:
    """A chain that hangs from a pivot is let go from horizontal, meets a fixed round post and
    curls about it.

    links: of `length` [m]; post: where it is below the pivot, over the chain's length; radius of
    the post [m].
    """
    at_least(4, links=links)
    positive(length=length, radius=radius, post=post)
    not_negative(mu=mu)
    world = World(planar=planar)
    reach = links * length
    points = np.array([(k * length, 0.0) for k in range(links + 1)])
    _chain(world, points, mu, planar, ends=(True, False))
    at = (-radius - 0.5 * LINK_THICKNESS * length, -post * reach)
    if planar:
        world.add_body(Disk(radius), name="post", fixed=True, friction=mu, position=at)
    else:
        world.add_body(
            Cylinder(2 * LINK_WIDTH, radius),
            name="post",
            fixed=True,
            friction=mu,
            position=(at[0], 0.0, at[1]),
            orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0),
        )
    view = _view(planar, 0.8 * reach, (0.25 * reach, -0.45 * reach))
    return Plan(world, 2.0, EventDriven(), view)


def blocks_chain(
    *,
    links: int = 12,
    length: float = 0.2,
    size: float = 0.4,
    height: float = 0.5,
    mu: float = 0.0,
    planar: bool = True,
) -> Plan:
    """Two blocks fall into a chain that hangs between two points, and lie in it.

    links: of `length` [m]; size of the blocks [m]; height from which they fall [m].
    """
    return _caught(2, links, length, size, height, mu, planar)


def many_blocks_chain(
    *,
    n: int = 8,
    links: int = 16,
    length: float = 0.2,
    size: float = 0.3,
    height: float = 0.3,
    mu: float = 0.0,
    planar: bool = True,
) -> Plan:
    """n blocks fall into the chain, one after the other.

    links: of `length` [m]; size of the blocks [m]; height of the lowest above the chain's ends [m].
    """
    at_least(1, n=n)
    return _caught(n, links, length, size, height, mu, planar)


def _caught(
    n: int, links: int, length: float, size: float, height: float, mu: float, planar: bool
) -> Plan:
    at_least(4, links=links)
    positive(length=length, size=size, height=height)
    not_negative(mu=mu)
    world = World(planar=planar)
    reach = links * length
    points = _hanging(links, length, 0.6)
    _chain(world, points, mu, planar, ends=(True, True))
    for k in range(n):
        column, level = k % 2, k // 2
        at = ((0.8 * column - 0.4) * 1.4 * size, height + (0.6 + 1.5 * level + 0.3 * column) * size)
        _block(world, f"block{k}", (size, size), at, mu, planar, 200.0)
    top = height + 0.75 * n * size
    deep = 0.4 * reach
    view = _view(planar, 0.55 * (top + deep), (0.0, 0.5 * (top - deep)))
    # more blocks than two: thousands of events, a minute by events
    return Plan(world, 3.0, EventDriven() if n <= 2 else TimeStepping(dt=1e-3), view)


def _hanging(links: int, length: float, span: float) -> Floats:
    """(links + 1, 2) joints of a chain at rest between two points at height 0, `span` of its
    length apart: links in equilibrium have slopes in arithmetic progression."""
    k = np.arange(links) - 0.5 * (links - 1)
    low, high = 0.0, 1e3
    for _ in range(200):  # the steepness that gives the span
        steep = 0.5 * (low + high)
        reached = (1.0 / np.hypot(1.0, steep * k)).sum()
        low, high = (steep, high) if reached > span * links else (low, steep)
    ways = np.stack([np.ones(links), steep * k], axis=1)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    points = np.concatenate([np.zeros((1, 2)), np.cumsum(length * ways, axis=0)])
    points[:, 0] -= 0.5 * points[-1, 0]
    return np.asarray(points)


def _chain(
    world: World,
    points: Floats,
    mu: float,
    planar: bool,
    ends: tuple[bool, bool],
    bob: float = 1.0,
) -> None:
    """Links between points (n + 1, 2), joined to each other and, at `ends`, to the world."""
    before: str = "world"
    for k, (start, end) in enumerate(pairwise(points)):
        along, middle = end - start, 0.5 * (start + end)
        size = float(np.hypot(*along))
        turn = math.atan2(along[1], along[0])
        last = k == len(points) - 2
        density = 1000.0 * (bob if last else 1.0)
        name = f"link{k}"
        sides = (LINK * size, LINK_THICKNESS * size)
        _block(world, name, sides, (middle[0], middle[1]), mu, planar, density, turn)
        if k or ends[0]:
            _joint(world, name, before, start, planar, f"joint{k}")
        before = name
    if ends[1]:
        _joint(world, before, "world", points[-1], planar, f"joint{len(points) - 1}")


def _joint(world: World, a: str, b: str, at: Any, planar: bool, name: str) -> None:
    x, z = float(at[0]), float(at[1])
    if planar:
        world.add_joint(Pin(a, b, anchor=(x, z), name=name))
    else:
        world.add_joint(Hinge(a, b, anchor=(x, 0.0, z), axis=(0, 1, 0), name=name))


def _block(
    world: World,
    name: str,
    size: tuple[float, float],
    at: tuple[float, float],
    mu: float,
    planar: bool,
    density: float,
    turn: float = 0.0,
) -> None:
    if planar:
        world.add_body(
            Rectangle(*size),
            name=name,
            density=density * LINK_WIDTH,
            friction=mu,
            position=at,
            orientation=turn,
        )
        return
    world.add_body(
        Box(size[0], LINK_WIDTH, size[1]),
        name=name,
        density=density,
        friction=mu,
        position=(at[0], 0.0, at[1]),
        orientation=(math.cos(0.5 * turn), 0.0, -math.sin(0.5 * turn), 0.0),
    )


def _view(planar: bool, size: float, middle: tuple[float, float]) -> dict[str, Any]:
    x, z = middle
    if planar:
        return {"limits": ((x - size, x + size), (z - size, z + size))}
    return {"camera": (x + 0.8 * size, -2.4 * size, z + 0.6 * size), "target": (x, 0.0, z)}
