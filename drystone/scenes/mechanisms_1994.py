"""Planar mechanisms of layers, pins and contacts, as those of 1994. The paper shows a double-action
jack and gives no numbers: all are ours."""

from __future__ import annotations

import math
from typing import Any

from drystone.constraints.joints import Pin, Slider
from drystone.dynamics.motions import ConstantVelocity, Rocking
from drystone.geometry.shapes import Polygon, Rectangle
from drystone.scenes.base import Plan, at_least, not_negative, positive, rough, within
from drystone.steppers.event_driven.options import EventDriven
from drystone.world import World

HALF, TOOTH = 0.1, 0.04  # [m] half the width of the jack's bar, and how far teeth look out of it
PITCH = 0.0799  # [m]: with finer teeth a pawl would lean on the tooth below its own
ARM = 0.35  # [m] from the lever's pivot to the pins of its pawls
TIP = (HALF + 0.012, 0.45)  # of the right pawl at the start, from the lever's pivot


def double_action_jack(
    *,
    swing: float = 20.0,
    period: float = 2.0,
    pitch: float = 0.1,
    teeth: int = 16,
    load: float = 50.0,
    mu: float = 0.2,
    hand: bool = False,
) -> Plan:
    """A lever rocks and lifts a toothed bar with each of its strokes: one pawl pushes while the
    other slips to the next tooth below.

    swing of the lever to either side [degrees], once in `period` seconds; pitch of the teeth [m],
    0.08 or more: the pawls need room; teeth on each side of the bar; load: its mass [kg]. hand: the
    lever is free to be pulled to and fro in the viewer, as far as `swing`, and nothing else drives
    it.
    """
    positive(period=period, load=load)
    within(PITCH, math.inf, pitch=pitch)
    within(0, 30, swing=swing)
    at_least(1, teeth=teeth)
    not_negative(mu=mu)
    world = World(planar=True)
    lever = Rectangle(2 * ARM + 0.08, 0.06)
    rock = Rocking(amplitude=math.radians(swing), period=period)
    if hand:
        world.add_body(lever, name="lever", layer=1, mass=16.0)
        most = math.radians(swing)
        world.add_joint(
            Pin("lever", "world", anchor=(0, 0), limits=(-most, most), friction=2.0, name="pivot")
        )
    else:
        world.add_body(lever, name="lever", layer=1, motion=rock)
    _bar(world, pitch, teeth, load, mu)
    reach = math.hypot(ARM - TIP[0], TIP[1])
    for name, side in (("right", 1), ("left", -1)):
        way = math.atan2(TIP[1], side * (TIP[0] - ARM))
        shape = Polygon(
            [(0, -0.012), (reach - 0.03, -0.012), (reach, 0), (reach - 0.03, 0.012), (0, 0.012)]
        )
        pin = (side * ARM, 0.0)
        world.add_body(
            shape, name=name, mass=1.0, friction=mu, position=pin, orientation=way, layer=0
        )
        world.add_joint(Pin(name, "lever", anchor=pin, name=f"{name}-pin"))
    low = TIP[1] - teeth * pitch
    sliders = [
        {"what": "gravity", "low": 0.0, "high": 20.0},
        {"what": "friction", "low": 0.0, "high": 1.0},
    ]
    view: dict[str, Any] = {
        "limits": ((-1.3, 1.3), (low, low + 2.6)),
        "sliders": sliders,
        "play": {
            "settings": {"hand": True},
            "method": "time-stepping",
            "options": {"dt": 1 / 160},
            "strength": 6.0,
        },
    }
    return Plan(world, 3 * period, EventDriven(), view)


def _bar(world: World, pitch: float, teeth: int, load: float, mu: float) -> None:
    """A bar in guides; its teeth have flat undersides, the uppermost of them on the pawls."""
    low, high = TIP[1] - (teeth - 1) * pitch, TIP[1] + pitch
    parts: list[Polygon] = [Polygon([(-HALF, low), (HALF, low), (HALF, high), (-HALF, high)])]
    for k in range(teeth):
        y = low + k * pitch
        for side in (1, -1):
            corners = [
                (side * HALF, y),
                (side * (HALF + TOOTH), y),
                (side * HALF, y + 0.9 * pitch),
            ]
            parts.append(Polygon(corners[::side]))
    world.add_body(parts, name="bar", mass=load, friction=mu, layer=0)
    world.add_joint(Slider("bar", "world", axis=(0, 1), name="guides"))


def block_feeder(
    *, n: int = 8, speed: float = 3.0, mu: float = 0.3, length: float = 0.3, height: float = 0.1
) -> Plan:
    """A crank that turns at `speed` [rad/s] drives a pusher through a rod; each turn it pushes the
    lowest of n blocks out of a magazine, and the others fall after it.

    length and height of a block [m].
    """
    at_least(1, n=n)
    positive(length=length, height=height, speed=speed)
    not_negative(mu=mu)
    crank, rod, head = 0.65 * length, 2.0 * length, 0.7 * length  # pusher: half its length
    slack = 0.02 * length
    world = World(planar=True)
    world.add_ground(friction=mu, name="table", layer=0)
    inner, wall = 0.5 * length + slack, 0.2 * length
    gate, top = 1.15 * height, (n + 1) * height
    for name, side in (("back", -1), ("front", 1)):
        world.add_body(
            Rectangle(wall, top - gate),
            name=name,
            fixed=True,
            friction=0.0,
            layer=0,
            position=(side * (inner + 0.5 * wall), 0.5 * (top + gate)),
        )
    for k in range(n):
        world.add_body(
            Rectangle(length, height),
            name=f"block{k}",
            density=500,
            friction=mu,
            layer=0,
            position=(0.0, (k + 0.5) * height),
        )
    axis = 0.45 * height  # the height of the pusher's middle, just clear of the table
    front = -inner - 2 * slack
    at = front - head
    world.add_body(
        Rectangle(2 * head, 0.8 * height),
        name="pusher",
        density=500,
        friction=mu,
        layer=0,
        position=(at, axis),
    )
    world.add_joint(Slider("pusher", "world", axis=(1, 0), name="guides"))
    hub = at - rod + crank  # the crank starts folded back
    turn = ConstantVelocity(angular_velocity=-speed)
    shape = [(Rectangle(crank, 0.3 * height), (-0.5 * crank, 0.0))]
    world.add_body(shape, name="crank", layer=1, position=(hub, axis), motion=turn)
    middle = hub - crank + 0.5 * rod
    world.add_body(
        Rectangle(rod, 0.2 * height), name="rod", density=500, layer=2, position=(middle, axis)
    )
    world.add_joint(Pin("rod", "crank", anchor=(hub - crank, axis), name="big-end"))
    world.add_joint(Pin("rod", "pusher", anchor=(at, axis), name="small-end"))
    duration = 2 * math.pi * (n + 0.5) / speed
    view = {"limits": ((hub - 2 * crank, (n + 1.5) * length), (-0.5 * length, top + length))}
    return Plan(world, duration, rough(), view)
