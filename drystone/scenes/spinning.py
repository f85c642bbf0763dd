"""Bodies that surprise because they spin."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.errors import OptionError
from drystone.geometry.shapes import Box, Compound, Cylinder, Ellipsoid, Sphere
from drystone.scenes.base import Plan, not_negative, positive, within
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import GRAVITY
from drystone.world import World


def tippe_top(
    *,
    radius: float = 0.02,
    mass: float = 0.02,
    offset: float = 0.3,
    inertia_ratio: float = 1.0,
    spin: float = 200.0,
    tilt: float = 5.0,
    mu: float = 0.3,
    stem: bool = False,
) -> Plan:
    """A ball whose centre of mass is below its middle spins fast, and friction turns it over.

    offset: of the centre of mass, over the radius; inertia_ratio: about the axis, over that across
    it. It turns over completely if 1 - offset < inertia_ratio < 1 + offset and `spin` [rad/s] is
    fast enough. tilt [degrees]: of the axis at the start. stem: with a peg on top.
    """
    positive(radius=radius, mass=mass, inertia_ratio=inertia_ratio)
    not_negative(mu=mu)
    within(0, 1, offset=offset)
    angle = math.radians(tilt)
    world = World()
    world.add_ground(friction=mu)
    shape: Any = Sphere(radius)
    if stem:
        peg = 0.25 * radius
        shape = Compound([Sphere(radius), (Sphere(peg), (0, 0, 1.15 * radius))])
    across = 0.4 * mass * radius**2
    # the axis leans towards +x
    arm = -offset * radius * np.array([math.sin(angle), 0, math.cos(angle)])
    spun = spin * np.array([math.sin(angle), 0, math.cos(angle)])
    world.add_body(
        shape,
        name="top",
        mass=mass,
        inertia=(across, across, inertia_ratio * across),
        centre_of_mass=(0, 0, -offset * radius),
        friction=mu,
        position=(0, 0, radius),
        orientation=(math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0),
        velocity=-np.cross(spun, arm),  # the centre of mass is at rest
        angular_velocity=spun,
    )
    view = {"camera": (0, -10 * radius, 4 * radius), "target": (0, 0, radius)}
    return Plan(world, 5.0, view=view)


def rattleback(
    *,
    a: float = 0.2,
    b: float = 0.03,
    c: float = 0.02,
    height: float = 0.01,
    product: float = -2e-5,
    spin: float = -5.0,
    pitch: float = 0.5,
    roll: float = 0.5,
    mu: float = 0.8,
) -> Plan:
    """An ellipsoid whose axes of inertia are turned against its geometric ones.

    Spun one way it begins to rattle, stops, and spins the other way. Numbers of Kane and Levinson:
    semi-axes a, b, c [m]; centre of mass `height` [m] below the middle; 1 kg, inertia 2e-4, 1.6e-3,
    1.7e-3 and a `product` of inertia between the horizontal axes [kg m^2]; spin [rad/s] about the
    vertical; pitch and roll at the start [degrees].
    """
    positive(a=a, b=b, c=c)
    not_negative(mu=mu)
    world = World()
    world.add_ground(friction=mu)
    # turned by `roll` about x, then by `pitch` about y
    half = 0.5 * math.radians(roll), 0.5 * math.radians(pitch)
    (cr, sr), (cp, sp) = ((math.cos(h), math.sin(h)) for h in half)
    turn = (cp * cr, cp * sr, sp * cr, -sp * sr)
    # the lowest point, from the support function of the ellipsoid; it starts without slip
    R = rotations(np.array([turn]))[0]
    lift = float(np.linalg.norm(R[2] * (a, b, c)))
    lowest = R @ (R[2] * np.array([a, b, c]) ** 2) / -lift
    world.add_body(
        Ellipsoid(a, b, c),
        name="stone",
        mass=1.0,
        inertia=((2e-4, product, 0), (product, 1.6e-3, 0), (0, 0, 1.7e-3)),
        centre_of_mass=(0, 0, -height),
        friction=mu,
        position=(0, 0, lift),
        orientation=turn,
        velocity=-np.cross((0, 0, spin), lowest),
        angular_velocity=(0, 0, spin),
    )
    # it rattles at 107 rad/s (sqrt(m g (a^2 / c) / I)); the scheme damps that by h omega^2 / 2
    view = {"camera": (0.3, -0.6, 0.3), "target": (0, 0, 0)}
    return Plan(world, 6.0, TimeStepping(dt=1 / 2000), view)


def gyroscope(
    *,
    kind: Literal["top", "spinner"] = "top",
    spin: float = 200.0,
    tilt: float = 20.0,
    steady: bool = True,
    mu: float = 0.0,
    tumble: float = 1.0,
    wobble: float = 1e-3,
) -> Plan:
    """A top on its tip that precesses steadily, or a spinner without gravity.

    kind top: a disk on a thin axle whose round tip stands on the ground, `tilt` [degrees] from the
    vertical, `spin` [rad/s] about its axis; steady: started with the precession that keeps the
    tilt (exact for mu = 0), otherwise released from rest. spinner: inertia 1, 2, 3 kg m^2, spun
    at `tumble` [rad/s] about the middle axis and a little, `wobble`, about the first: it flips.
    """
    not_negative(mu=mu)
    if kind == "spinner":
        world = World((0, 0, 0))
        world.add_body(
            Box(math.sqrt(24), math.sqrt(12), 0.05),  # a plate: 1 + 2 = 3
            name="spinner",
            mass=1.0,
            inertia=(1, 2, 3),
            angular_velocity=(wobble, tumble, 0),
        )
        return Plan(world, 20.0, view={"camera": (5, -10, 5), "target": (0, 0, 0)})
    return _top(spin, tilt, steady, mu)


def _top(spin: float, tilt: float, steady: bool, mu: float) -> Plan:
    within(0, 40, tilt=tilt)  # beyond, the rim touches the ground
    tip, arm = 0.002, 0.05
    disk = Compound([(Cylinder(0.01, 0.05), (0, 0, arm)), Sphere(tip)])
    angle = math.radians(tilt)
    s, c = math.sin(angle), math.cos(angle)
    world = World()
    world.add_ground(friction=mu)
    matter = disk.mass_properties(2700.0)
    across, along = float(matter.inertia[0, 0]), float(matter.inertia[2, 2])
    lever = float(matter.centre[2])  # from the middle of the tip, which the normal passes through
    rate = 0.0
    if steady:  # across c rate^2 - along spin rate + m g lever = 0: the slow root
        push = matter.mass * GRAVITY * lever
        inside = (along * spin) ** 2 - 4 * across * c * push
        if inside < 0:
            raise OptionError(f"spin = {spin!r}: too slow to precess steadily")
        rate = 2 * push / (along * spin + math.copysign(math.sqrt(inside), spin))
    axis = np.array([s, 0, c])
    # spin is all of the rotation about the axis; the precession adds what is across it
    omega = spin * axis + rate * (np.array([0, 0, 1]) - c * axis)
    world.add_body(
        disk,
        name="top",
        density=2700,
        friction=mu,
        position=(0, 0, tip),
        orientation=(math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0),
        velocity=-np.cross(omega, lever * axis),  # the centre of mass is at rest
        angular_velocity=omega,
    )
    return Plan(world, 5.0, view={"camera": (0.15, -0.35, 0.2), "target": (0, 0, 0.04)})
