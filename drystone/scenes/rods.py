"""Rods that slide on their tips: forces that are not unique, or do not exist (thesis 10 to 12).

A thin rod of length two leans at 72 degrees on the tip that slides; its moment of inertia is m/16
and mu about 3/4, such that pressing the tip pulls it in: a_N = -f_N / m + e, where
e = omega^2 sin(72) - g.
"""

from __future__ import annotations

import math

from drystone.constraints.joints import Slider
from drystone.dynamics.forces import ConstantForce
from drystone.geometry.shapes import Polygon, Rectangle
from drystone.problems.classic import BLOCK, COS, MU, SIN, THETA
from drystone.scenes.base import Plan, not_negative, positive
from drystone.steppers.event_driven.options import EventDriven
from drystone.types import GRAVITY
from drystone.world import World

ROD = Polygon([(-1, 0), (0, -0.02), (1, 0), (0, 0.02)])
TIPS = 0.7  # [m] between the tips of rods on the block


def rod_indeterminate(
    *,
    mass: float = 1.0,
    gravity: float = 9.81,
    excess: float = 1.0,
    speed: float = 1.0,
    depth: float = 0.0,
) -> Plan:
    """The rod turns so fast that its tip could rise: f_N = 0 and f_N = mass * excess are both
    forces, and so is an impulse that stops the tip.

    mass [kg]; gravity [m/s^2]; excess: omega^2 sin - gravity [m/s^2], 1 in the thesis; speed at
    which the tip slides [m/s]; depth of the tip in the ground [m], with which the penalty method
    chooses.
    """
    positive(excess=excess)
    return _one_rod(mass, gravity, math.sqrt((excess + gravity) / SIN), speed, depth)


def rod_inconsistent(*, mass: float = 1.0, gravity: float = 9.81, speed: float = 1.0) -> Plan:
    """The rod slides without turning: for gravity > 0 no force keeps the tip out of the ground,
    and an impulse stops it; without gravity it skims along.

    mass [kg]; gravity [m/s^2]; speed at which the tip slides [m/s].
    """
    return _one_rod(mass, gravity, 0.0, speed, 0.0)


def _one_rod(mass: float, gravity: float, spin: float, speed: float, depth: float) -> Plan:
    positive(mass=mass, speed=speed)
    not_negative(gravity=gravity, depth=depth)
    world = World((0, -gravity), planar=True)
    world.add_ground(friction=MU)
    _rod(world, "rod", mass, (0.0, -depth), 0, spin, speed)
    view = {"limits": ((-1.0, 2.0), (-0.2, 2.2))}
    return Plan(world, 0.3, EventDriven(dt=1 / 240), view)


def subset_sum(
    *,
    a: float = 3.0,
    b: float = 5.0,
    c: float = 7.0,
    target: float = 8.0,
    speed: float = 1.0,
) -> Plan:
    """Three rods of a, b and c kilograms that turn as in rod-indeterminate slide on a block in
    guides, which a force of mu * target [N] pushes to the right; two rods skim along its ends.

    Forces exist exactly if some of a, b, c sum to target: each rod pushes the block to the left
    with mu times all or nothing of its mass, and the rods at the ends bear no motion of the block.
    speed at which the tips slide [m/s].
    """
    positive(a=a, b=b, c=c, speed=speed)
    not_negative(target=target)
    return _block((a, b, c), (1, -1), MU * target, speed)


def indeterminate_impulse(*, mass: float = 1.0, speed: float = 1.0) -> Plan:
    """One rod of `mass` [kg] on the block, and one at its left end: f_N = 0 is the only force, but
    an impulse is as valid: f_N = mass would push the block into the rod at its end.

    speed at which the tips slide [m/s].
    """
    positive(mass=mass, speed=speed)
    return _block((mass,), (1,), 0.0, speed)


def _block(masses: tuple[float, ...], ends: tuple[int, ...], push: float, speed: float) -> Plan:
    """Rods on a block in guides; ends: 1 the rod at its left, -1 the one at its right."""
    gravity = GRAVITY
    world = World((0, -gravity), planar=True)
    width, height = TIPS * (len(masses) + 1), 2.0
    world.add_body(
        Rectangle(width, height), name="block", mass=BLOCK, friction=MU, position=(0, -1.0)
    )
    world.add_joint(Slider("block", "world", axis=(1, 0), name="guides"))
    if push:
        world.add_force(ConstantForce("block", force=(push, 0)))
    spin = math.sqrt((1.0 + gravity) / SIN)
    for i, mass in enumerate(masses):
        tip = ((i - 0.5 * (len(masses) - 1)) * TIPS, 0.0)
        _rod(world, f"R{i + 1}", mass, tip, 0, spin, speed, layer=i)
    for k, turns in enumerate(ends):
        tip = (-0.5 * turns * width, -0.5 * height)
        _rod(world, f"E{k + 1}", 1.0, tip, turns, 0.0, speed, layer=len(masses) + k)
        world.add_force(ConstantForce(f"E{k + 1}", force=(0, gravity)))  # no weight of their own
    side = 0.5 * width + 1.5
    view = {"limits": ((-side, side), (-2.2, 2.2))}
    return Plan(world, 0.1, EventDriven(dt=1 / 240), view)


def _rod(
    world: World,
    name: str,
    mass: float,
    tip: tuple[float, float],
    turns: int,
    spin: float,
    speed: float,
    layer: int | None = None,
) -> None:
    """A rod whose lower tip slides to the left at `speed` while it turns clockwise at `spin`, all
    of it turned by `turns` right angles about the tip."""
    c, s = math.cos(0.5 * math.pi * turns), math.sin(0.5 * math.pi * turns)
    x, y = COS, SIN
    # centre against tip: omega x r with omega = -spin
    vx, vy = -speed + spin * y, -spin * x
    world.add_body(
        ROD,
        name=name,
        mass=mass,
        inertia=mass / 16,
        friction=MU,
        position=(tip[0] + c * x - s * y, tip[1] + s * x + c * y),
        orientation=float(THETA) + 0.5 * math.pi * turns,
        velocity=(c * vx - s * vy, s * vx + c * vy),
        angular_velocity=-spin,
        layer=layer,
    )
