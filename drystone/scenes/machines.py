"""Machines that live by contact: a gripper, a vehicle, a Geneva drive, things that fall."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.constraints.joints import Ball, Motor, Pin, Slider, Wheel
from drystone.dynamics.motions import ConstantVelocity, Waypoints
from drystone.geometry.shapes import Box, Capsule, Capsule2D, Cylinder, Disk, Polygon, Rectangle
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.types import GRAVITY
from drystone.world import World


def gripper(
    *,
    grip: float = 1.5,
    mu: float = 0.5,
    mass: float = 1.0,
    height: float = 0.2,
    lift: float = 1.0,
) -> Plan:
    """Two fingers on motors close on a cube, and the hand that carries them rises.

    grip: force of either finger over that which just holds the cube at rest, m g / (2 mu): from
    1 + 5.77 height / (lift^2 g) on the cube comes along, below 1 it stays behind; mass [kg] of the
    cube; height [m] that the hand rises in `lift` seconds, after half a second.
    """
    positive(grip=grip, mu=mu, mass=mass, lift=lift)
    not_negative(height=height)
    side, gap, thick = 0.1, 0.01, 0.02
    world = World()
    world.add_ground(friction=mu)
    world.add_body(
        Box(side, side, side), name="cube", mass=mass, friction=mu, position=(0, 0, 0.5 * side)
    )
    up = 2.5 * side
    rise = Waypoints(times=(0.5, 0.5 + lift), positions=((0, 0, up), (0, 0, up + height)))
    world.add_body(Box(3 * side, 0.4 * side, 0.3 * side), name="hand", layer=(), motion=rise)
    force = grip * mass * GRAVITY / (2 * mu)
    for name, way in (("left", 1.0), ("right", -1.0)):
        x = -way * (0.5 * side + gap + 0.5 * thick)
        world.add_body(
            Box(thick, 0.8 * side, 2 * side),
            name=name,
            mass=0.2,
            friction=mu,
            position=(x, 0, 1.35 * side),
        )
        motor = Motor(speed=0.1, max_force=force)
        world.add_joint(Slider(name, "hand", axis=(way, 0, 0), motor=motor, name=f"{name}-slide"))
    view = {"camera": (0.5, -1.0, 0.5), "target": (0, 0, 0.2)}
    return Plan(world, 1.0 + lift, view=view)


def vehicle(
    *,
    speed: float = 2.0,
    bumps: int = 3,
    bump: float = 0.04,
    sag: float = 0.03,
    damping: float = 0.4,
    torque: float = 6.0,
    mu: float = 0.8,
    planar: bool = False,
) -> Plan:
    """A car with sprung wheels, driven by its rear axle, crosses round bumps.

    speed [m/s] that its motors keep, with at most `torque` [N m] each; bumps: how many; bump: their
    height [m]. sag: by how much its weight presses the springs [m]; damping: of each wheel's
    spring, over the critical one.
    """
    at_least(0, bumps=bumps)
    positive(bump=bump, sag=sag, mu=mu)
    not_negative(damping=damping, torque=torque)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    radius, mass = 0.15, 20.0
    chassis: Any = Rectangle(1.2, 0.12) if planar else Box(1.2, 0.4, 0.12)
    clear = 1.6 * radius
    world.add_body(
        chassis,
        name="chassis",
        mass=mass,
        friction=mu,
        position=(0, clear) if planar else (0, 0, clear),
    )
    sides = (0.0,) if planar else (-0.3, 0.3)
    share = mass / (2 * len(sides))
    stiffness = share * GRAVITY / sag
    spring = (stiffness, 2 * damping * math.sqrt(stiffness * share))
    tyre: Any = Disk(radius) if planar else Cylinder(0.1, radius)
    for where, x in (("front", 0.45), ("rear", -0.45)):
        for y in sides:
            name = where if planar else f"{where}-{'left' if y > 0 else 'right'}"
            at = (x, radius) if planar else (x, y, radius)
            turned: Any = 0.0 if planar else (math.sqrt(0.5), -math.sqrt(0.5), 0, 0)
            world.add_body(tyre, name=name, mass=1.0, friction=mu, position=at, orientation=turned)
            motor = None
            if where == "rear":
                turn = -speed / radius if planar else speed / radius
                motor = Motor(speed=turn, max_force=torque)
            way: dict[str, Any] = {"axis": (0, 1)}
            if not planar:
                way = {"axis": (0, 0, 1), "axle": (0, 1, 0)}
            limits = (-2 * sag, 0.6 * radius)
            way |= {"anchor": at, "spring": spring, "limits": limits, "motor": motor}
            world.add_joint(Wheel(name, "chassis", name=f"{name}-axle", **way))
    _bumps(world, bumps, bump, mu, planar)
    end = 1.5 + bumps
    view: dict[str, Any] = {"camera": (0.5 * end, -5.0, 2.0), "target": (0.5 * end - 0.5, 0, 0)}
    if planar:
        view = {"limits": ((-1.0, end + 1.0), (-0.2, 1.0))}
    return Plan(world, (end + 0.5) / abs(speed) + 1.0 if speed else 3.0, view=view)


def _bumps(world: World, count: int, bump: float, mu: float, planar: bool) -> None:
    """Rods across the way, a metre apart, of which `bump` metres look out of the ground."""
    round_ = 3 * bump
    for k in range(count):
        x = 1.5 + k
        if planar:
            world.add_body(
                Disk(round_), name=f"bump{k}", fixed=True, friction=mu, position=(x, bump - round_)
            )
            continue
        world.add_body(
            Capsule(1.6, round_),
            name=f"bump{k}",
            fixed=True,
            friction=mu,
            position=(x, 0, bump - round_),
            orientation=(math.sqrt(0.5), -math.sqrt(0.5), 0, 0),
        )


def geneva(
    *,
    slots: int = 4,
    speed: float = 3.0,
    distance: float = 0.2,
    brake: float = 0.02,
    clearance: float = 0.002,
    mu: float = 0.1,
) -> Plan:
    """A pin on a wheel that turns at `speed` [rad/s] enters a slot of another at each turn, carries
    it on by one slot, and leaves it at rest.

    slots of the driven wheel; distance of the axes [m]; brake: friction of the driven wheel's
    bearing [N m], which holds it between; clearance of the pin in the slots, over the distance.
    """
    at_least(3, slots=slots)
    positive(distance=distance)
    not_negative(brake=brake, clearance=clearance, mu=mu)
    half = math.pi / slots
    arm, reach = distance * math.sin(half), distance * math.cos(half)
    pin = 0.04 * distance
    width = pin + clearance * distance  # half of a slot's
    world = World(planar=True)
    # the first lobe looks at the drive, so that slots are where the pin comes and goes
    lobes = [Polygon(_lobe(half, math.pi + 2 * k * half, width, reach)) for k in range(slots)]
    hub = Disk(0.8 * (distance - arm - pin))
    world.add_body([hub, *lobes], name="wheel", density=20, friction=mu, position=(distance, 0))
    world.add_joint(Pin("wheel", "world", anchor=(distance, 0), friction=brake, name="bearing"))
    turn = ConstantVelocity(angular_velocity=speed)
    # the pin starts opposite to the driven wheel; its arm turns in front of that
    world.add_body([(Disk(pin), (-arm, 0))], name="pin", friction=mu, motion=turn)
    crank = [Disk(0.6 * (distance - reach)), (Rectangle(arm, pin), (-0.5 * arm, 0))]
    world.add_body(crank, name="drive", layer=(), motion=turn)
    view = {"limits": ((-1.0 * distance, 2.0 * distance), (-0.95 * distance, 0.95 * distance))}
    return Plan(world, 4 * math.pi / abs(speed) if speed else 1.0, view=view)


def _lobe(half: float, middle: float, width: float, reach: float) -> list[tuple[float, float]]:
    """What is between two slots at `half` from its middle [rad], which are 2 `width` wide and end
    `reach` from the axis [m]; their mouths are chamfered by a third of their half-width."""
    mouth, cut = math.sqrt(reach**2 - width**2), 0.3 * width
    s, c = math.sin(half), math.cos(half)
    # along a slot's side, then across it; the sides meet on the middle line
    edges = [(width * c / s, width), (mouth - cut, width), (mouth, width + cut)]
    lower = [(c * x + s * y, -s * x + c * y) for x, y in edges]
    outline = lower + [(x, -y) for x, y in reversed(lower[1:])]
    s, c = math.sin(middle), math.cos(middle)
    return [(c * x - s * y, s * x + c * y) for x, y in outline]


def chain_drop(
    *,
    links: int = 20,
    length: float = 0.1,
    angle: float = 60.0,
    height: float = 0.3,
    mu: float = 0.5,
    planar: bool = False,
) -> Plan:
    """A straight chain falls on the ground and comes to rest in a heap.

    links: of `length` [m]; angle [degrees] from the horizontal at which it is let go; height [m]
    of its lower end.
    """
    at_least(1, links=links)
    positive(length=length, height=height)
    not_negative(mu=mu)
    within(0.0, 90.0, angle=angle)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    turn, radius = math.radians(angle), 0.15 * length
    way = np.array([math.cos(turn), math.sin(turn)])
    shape: Any = Capsule2D(length, radius) if planar else Capsule(length, radius)
    tilt = 0.25 * math.pi - 0.5 * turn  # from the vertical, halved
    orientation: Any = turn if planar else (math.cos(tilt), 0.0, math.sin(tilt), 0.0)
    for k in range(links):
        x, z = (k + 0.5) * length * way + (0.0, height)
        at = (x, z) if planar else (x, 0.0, z)
        world.add_body(
            shape, name=f"link{k}", friction=mu, position=at, orientation=orientation, density=2000
        )
        if k:
            x, z = k * length * way + (0.0, height)
            anchor = (x, z) if planar else (x, 0.0, z)
            kind = Pin if planar else Ball
            world.add_joint(kind(f"link{k}", f"link{k - 1}", anchor=anchor, name=f"joint{k}"))
    size = links * length
    view: dict[str, Any] = {
        "camera": (0.5 * size, -1.6 * size, 0.8 * size),
        "target": (0.5 * size, 0, 0.2 * size),
    }
    if planar:
        view = {"limits": ((-0.3 * size, 1.2 * size), (-0.1 * size, size + height))}
    return Plan(world, 2.0, view=view)
