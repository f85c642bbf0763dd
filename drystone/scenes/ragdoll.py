"""A jointed figure of fifteen bodies that falls down stairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.constraints.joints import Ball, Hinge
from drystone.geometry.shapes import Box, Capsule
from drystone.scenes.base import Plan, at_least, not_negative, positive
from drystone.types import Floats
from drystone.world import World

# the figure stands along z and looks along x; ends of each part's axis and its radius [m], of the
# right side: the left one is its mirror image in y
MIDDLE: dict[str, tuple[tuple[float, ...], tuple[float, ...], float]] = {
    "pelvis": ((0, -0.07, 1.00), (0, 0.07, 1.00), 0.09),
    "chest": ((0, -0.08, 1.35), (0, 0.08, 1.35), 0.13),
    "head": ((0, 0, 1.64), (0, 0, 1.70), 0.09),
}
SIDE: dict[str, tuple[tuple[float, ...], tuple[float, ...], float]] = {
    "upper-arm": ((0, -0.28, 1.42), (0, -0.50, 1.42), 0.045),
    "forearm": ((0, -0.58, 1.42), (0, -0.78, 1.42), 0.04),
    "hand": ((0, -0.86, 1.42), (0, -0.92, 1.42), 0.035),
    "thigh": ((0, -0.10, 0.86), (0, -0.10, 0.57), 0.065),
    "shin": ((0, -0.10, 0.45), (0, -0.10, 0.16), 0.05),
    "foot": ((-0.02, -0.10, 0.06), (0.12, -0.10, 0.06), 0.04),
}
# body, what it hangs on, where, axis of a hinge or direction of the bone of a ball joint, limits
# [degrees]: of the turn, or (greatest swing, greatest twist)
NECK: tuple[tuple[Any, ...], ...] = (
    ("chest", "pelvis", (0, 0, 1.16), (0, 0, 1), 30.0, 20.0),
    ("head", "chest", (0, 0, 1.51), (0, 0, 1), 40.0, 45.0),
)
LIMBS: tuple[tuple[Any, ...], ...] = (
    ("upper-arm", "chest", (0, -0.22, 1.42), (0, -1, 0), 85.0, 60.0),
    ("hand", "forearm", (0, -0.82, 1.42), (0, -1, 0), 50.0, 20.0),
    ("thigh", "pelvis", (0, -0.10, 0.94), (0, 0, -1), 70.0, 30.0),
)
HINGES: tuple[tuple[Any, ...], ...] = (
    ("forearm", "upper-arm", (0, -0.54, 1.42), (0, 0, -1), (-140.0, 0.0)),
    ("shin", "thigh", (0, -0.10, 0.51), (0, 1, 0), (0.0, 140.0)),
    ("foot", "shin", (0, -0.10, 0.10), (0, 1, 0), (-30.0, 40.0)),
)


def ragdoll(
    *,
    steps: int = 6,
    height: float = 0.5,
    speed: float = 1.0,
    lean: float = 20.0,
    mu: float = 0.5,
    joint_friction: float = 0.5,
) -> Plan:
    """A figure of fifteen bodies, on ball joints and hinges with limits, falls down stairs.

    steps: of the stairs; height [m] of its feet above them at first; speed [m/s], forwards; lean
    [degrees], forwards; joint_friction [N m] in knees, elbows and ankles.
    """
    at_least(1, steps=steps)
    positive(height=height)
    not_negative(mu=mu, joint_friction=joint_friction)
    world = World()
    world.add_ground(friction=mu)
    rise, tread = 0.18, 0.32
    for k in range(steps):
        tall = rise * (steps - k)
        deep = 1.2 if k == 0 else tread
        x = 0.5 * tread - 0.5 * deep + k * tread
        world.add_body(
            Box(deep, 2.4, tall),
            name=f"step{k}",
            fixed=True,
            friction=mu,
            position=(x, 0, 0.5 * tall),
        )
    _figure(world, np.array([0.0, 0.0, steps * rise + height]), lean, speed, mu, joint_friction)
    far = (steps + 2) * tread
    view = {"camera": (2.0 * far, -1.6 * far, 1.2 * far), "target": (0.5 * far, 0, 0.3 * far)}
    return Plan(world, 3.0, view=view)


def _figure(
    world: World, at: Floats, lean: float, speed: float, mu: float, friction: float
) -> None:
    """Its feet at `at`, turned about them by `lean` degrees."""
    angle = math.radians(lean)
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    def place(point: Any) -> tuple[float, ...]:
        return tuple(float(v) for v in at + turn @ np.array(point, float))

    def way(direction: Any) -> tuple[float, ...]:
        return tuple(float(v) for v in turn @ np.array(direction, float))

    for name, (p, q, radius) in _parts():
        a, b = np.array(place(p)), np.array(place(q))
        world.add_body(
            Capsule(float(np.linalg.norm(b - a)), radius),
            name=name,
            friction=mu,
            position=0.5 * (a + b),
            orientation=_along(b - a),
            velocity=(speed, 0, 0),
        )
    for a, b, anchor, axis, swing, twist in _joints(NECK, LIMBS):
        limits = {
            "swing": (None, math.radians(swing)),
            "twist": (-math.radians(twist), math.radians(twist)),
        }
        world.add_joint(
            Ball(a, b, anchor=place(anchor), axis=way(axis), limits=limits, name=f"{a}-joint")
        )
    for a, b, anchor, axis, (low, high) in _joints((), HINGES):
        turns = math.radians(low), math.radians(high)
        world.add_joint(
            Hinge(
                a,
                b,
                anchor=place(anchor),
                axis=way(axis),
                limits=turns,
                friction=friction,
                name=f"{a}-joint",
            )
        )


def _parts() -> list[tuple[str, tuple[Any, Any, float]]]:
    out: list[tuple[str, tuple[Any, Any, float]]] = list(MIDDLE.items())
    for name, (p, q, radius) in SIDE.items():
        out.append((f"right-{name}", (p, q, radius)))
        out.append((f"left-{name}", (_mirror(p), _mirror(q), radius)))
    return out


def _joints(middle: Any, sides: Any) -> list[tuple[Any, ...]]:
    """Those of the middle, and both sides'; an axis of turning is mirrored with its sense."""
    out = list(middle)
    for a, b, anchor, axis, *limits in sides:
        on = b if b in MIDDLE else f"right-{b}"
        out.append((f"right-{a}", on, anchor, axis, *limits))
        on = b if b in MIDDLE else f"left-{b}"
        hinge = len(limits) == 1
        other = tuple(-v for v in _mirror(axis)) if hinge else _mirror(axis)
        out.append((f"left-{a}", on, _mirror(anchor), other, *limits))
    return out


def _mirror(v: Any) -> tuple[float, ...]:
    return (v[0], -v[1], v[2])


def _along(way: Floats) -> tuple[float, ...]:
    """A quaternion that takes z to a direction."""
    x, y, z = way / np.linalg.norm(way)
    if z < -0.999999:
        return (0.0, 1.0, 0.0, 0.0)
    w = math.sqrt(0.5 * (1.0 + z))
    return (w, -y / (2 * w), x / (2 * w), 0.0)
