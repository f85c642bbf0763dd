"""The three examples of Hart and Anitescu 2003. What the paper leaves open is a setting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.dynamics.motions import Oscillation
from drystone.geometry.shapes import Compound, Disk, Ellipse, HalfPlane
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.world import World

ROD_DENSITY = 10.0  # [kg/m^2], of the paper


def ellipse_drop(
    *,
    a: float = 4.0,
    b: float = 2.0,
    height: float = 8.0,
    spin: float = 3.0,
    angle: float = 0.0,
    mu: float = 0.3,
    gravity: float = 9.81,
) -> Plan:
    """A spinning ellipse falls on a table and rocks there.

    The paper: axes 8 and 4 (read as full lengths: semi-axes a, b [m]), centre at `height` [m],
    `spin` [rad/s], mu 0.3, h 0.05, active set within 0.3, 20 s. Not in the paper: the release
    `angle` [degrees] of the long axis, and gravity [m/s^2].
    """
    positive(a=a, b=b)
    not_negative(mu=mu)
    world = World((0, -gravity), planar=True)
    world.add_ground(friction=mu, name="table")
    world.add_body(
        Ellipse(a, b),
        name="ellipse",
        density=ROD_DENSITY,
        friction=mu,
        position=(0, height),
        orientation=math.radians(angle),
        angular_velocity=spin,
    )
    view = {"limits": ((-2 * a, 2 * a), (-0.5, 2 * height))}
    return Plan(world, 20.0, TimeStepping(dt=0.05, active_gap=0.3), view)


def disks_21(
    *,
    rows: int = 6,
    radius: float = 3.0,
    mu: float = 0.2,
    half_width: float = 180.0,
    slope: float = 45.0,
    gap: float = 0.02,
    shift: float = 0.002,
) -> Plan:
    """A cannonball pile of disks (6 below: 21) on a table between two slanted walls.

    The paper: radius 3, mu 0.2, h 0.05, active set within 0.3, 20 s. Not in the paper:
    half_width, of the table [m]; slope of the walls [degrees]; gap: between neighbours [m]; shift:
    of every row against the one below [m], because an even pile leaves a column that balances.
    rows: of disks.
    """
    at_least(1, rows=rows)
    positive(radius=radius)
    not_negative(mu=mu, gap=gap)
    within(0, 90, slope=slope)
    within(rows * (radius + gap), math.inf, half_width=half_width)
    world = World(planar=True)
    world.add_ground(friction=mu, name="table")
    s, c = math.sin(math.radians(slope)), math.cos(math.radians(slope))
    for name, side in (("left", -1), ("right", 1)):
        world.add_ground(friction=mu, normal=(-side * s, c), height=-s * half_width, name=name)
    pitch = 2 * radius + gap
    for level in range(rows):
        for i in range(rows - level):
            x = (i - 0.5 * (rows - level - 1)) * pitch + shift * level
            y = radius + level * pitch * math.sqrt(0.75)
            world.add_body(
                Disk(radius),
                name=f"disk{level}-{i}",
                density=ROD_DENSITY,
                friction=mu,
                position=(x, y),
            )
    top = rows * pitch
    view = {"limits": ((-half_width - top, half_width + top), (-radius, 1.2 * top))}
    return Plan(world, 20.0, TimeStepping(dt=0.05, active_gap=0.3), view)


SHAKING = [  # what the viewer offers to play with
    {"what": "motion", "body": "box", "field": "amplitude", "low": 0.0, "high": 4.0},
    {"what": "motion", "body": "box", "field": "frequency", "low": 0.1, "high": 3.0},
    {"what": "friction", "low": 0.0, "high": 1.0},
    {"what": "gravity", "low": 0.0, "high": 20.0},
]
SMOOTH = {"options": {"dt": 1 / 60}}  # steps as short as a hand needs them


def brazil_nut(
    *,
    n: int = 200,
    radius: float = 1.0,
    ratio: float = 5.0,
    mu: float = 0.5,
    width: float = 40.0,
    amplitude: float = 1.5,
    frequency: float = 1.0,
    duration: float = 75.0,
) -> Plan:
    """n small disks and a large one below them in a box that is shaken up and down.

    The paper: 201 bodies, convex relaxation, mu 0.5, h 0.1, duration 75 s, hard walls. Not in it:
    radius of the small ones [m], ratio of the large one's to it, width of the box [m], amplitude
    [m] and frequency [Hz] of the shaking (6 g at most, 75 shakes). Small radii differ by up to
    5 %, evenly: equal disks would lie in a crystal.
    """
    at_least(1, n=n)
    positive(radius=radius, ratio=ratio, duration=duration)
    not_negative(mu=mu, amplitude=amplitude, frequency=frequency)
    within(2 * radius * max(ratio, 1.05), math.inf, width=width)
    world = World(planar=True)
    box = Compound(
        [
            HalfPlane((0, 1), 0.0),
            HalfPlane((1, 0), -0.5 * width),
            HalfPlane((-1, 0), -0.5 * width),
        ]
    )
    world.add_body(box, name="box", friction=mu, motion=Oscillation((0, 1), amplitude, frequency))
    large = ratio * radius
    world.add_body(
        Disk(large), name="nut", density=ROD_DENSITY, friction=mu, position=(0, 1.001 * large)
    )
    pitch = 2.15 * radius
    columns = int((width - 0.1 * radius) / pitch)
    sizes = radius * (1 + 0.05 * np.sin(2.4 * np.arange(n)))  # fills [-1, 1], repeats nowhere
    k = level = 0
    while k < n:
        y = (level + 0.5) * pitch
        shift = 0.25 * pitch * (1 if level % 2 else -1) if columns > 1 else 0.0
        for i in range(columns):
            x = (i - 0.5 * (columns - 1)) * (width - 1.6 * pitch) / max(columns - 1, 1) + shift
            free = math.hypot(x, y - 1.001 * large) > large + 1.06 * radius
            if k < n and free:
                name = f"grain{k}"
                world.add_body(
                    Disk(sizes[k]), name=name, density=ROD_DENSITY, friction=mu, position=(x, y)
                )
                k += 1
        level += 1
    top = level * pitch
    limits = ((-0.6 * width, 0.6 * width), (-2 * amplitude, 1.3 * top))
    view: dict[str, Any] = {"limits": limits, "sliders": SHAKING, "play": SMOOTH}
    return Plan(world, duration, TimeStepping(dt=0.1, formulation="convex"), view)
