"""Balls in a row: what a law of restitution makes of a collision of many bodies."""

from __future__ import annotations

from typing import Any, Literal

from drystone.geometry.shapes import Disk, Sphere
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.world import World

Law = Literal["newton", "poisson", "poisson-shortcut"]


def billiard_three(
    *,
    law: Law = "newton",
    restitution: float = 1.0,
    targets: int = 2,
    gap: float = 0.0,
    speed: float = 1.0,
    radius: float = 0.03,
    planar: bool = False,
) -> Plan:
    """One ball meets `targets` others that touch, without friction; law of restitution, and its
    coefficient.

    With gap = 0 all contacts act at once: v = -1/3, 2/3, 2/3 for three balls. With a gap [m]
    between the targets the blow travels from ball to ball: 0, 0, 1.
    """
    at_least(1, targets=targets)
    row = _row(targets + 1, 1, law, restitution, gap, speed, radius, planar, 5.0)
    return row


def newton_cradle(
    *,
    n: int = 5,
    incoming: int = 1,
    law: Law = "newton",
    restitution: float = 1.0,
    gap: float = 1e-4,
    speed: float = 1.0,
    radius: float = 0.03,
    planar: bool = False,
) -> Plan:
    """n balls in a row, the first `incoming` of which fly at the others, on a frictionless plane;
    law of restitution, and its coefficient.

    As many leave at the other end: real balls touch only in pairs, one after the other, which the
    small gap [m] between them says. With gap = 0 they all act at once: the incoming ones have
    2 k / n - 1 of their speed afterwards, the others 2 k / n.
    """
    at_least(2, n=n)
    at_least(1, incoming=incoming)
    if incoming >= n:
        within(0, n, incoming=incoming)
    return _row(n, incoming, law, restitution, gap, speed, radius, planar, 5.0)


def _row(
    n: int,
    incoming: int,
    law: Law,
    restitution: float,
    gap: float,
    speed: float,
    radius: float,
    planar: bool,
    run_up: float,
) -> Plan:
    """Balls along x; the incoming ones start `run_up` radii before the others."""
    positive(speed=speed, radius=radius)
    not_negative(gap=gap)
    world = World(planar=planar)
    world.add_ground(friction=0.0)
    shape = Disk(radius) if planar else Sphere(radius)
    pitch = 2 * radius + gap
    for i in range(n):
        first = i < incoming
        x = pitch * (i - incoming) - (run_up * radius if first else 0.0)
        world.add_body(
            shape,
            name=f"ball{i}",
            friction=0.0,
            restitution=restitution,
            position=(x, radius) if planar else (x, 0, radius),
            velocity=((speed,) if first else (0.0,)) + (0.0,) * (1 if planar else 2),
        )
    # the ground takes no part: Newton's law of the larger restitution would make balls hop
    for i in range(n):
        world.set_pair("ground", f"ball{i}", restitution=0.0)
    width = (2 * n + 2 * run_up) * radius
    view: dict[str, Any] = {"camera": (0, -2 * width, width), "target": (0, 0, radius)}
    if planar:
        view = {"limits": ((-width, width), (-radius, 0.5 * width))}
    return Plan(world, 4 * run_up * radius / speed, TimeStepping(restitution=law), view)
