"""Bodies that rock on a plane without friction: their reaction R(t) (thesis, figures 6.6 to 6.8).

Without friction the centre only rises and falls: its height is the support function h(theta), and
R = m (g + h'' theta'^2 + h' theta''). Where the curvature of the surface is small h'' is large.
"""

from __future__ import annotations

import math
from typing import Any

from drystone.geometry.shapes import Ellipsoid, Superquadric
from drystone.geometry.shapes.base import SpatialShape
from drystone.scenes.base import Plan, positive, within
from drystone.steppers.event_driven.options import EventDriven
from drystone.world import World


def ellipsoid_rock(
    *, a: float = 1.5, b: float = 1.0, c: float = 1.0, tilt: float = 30.0, mass: float = 1.0
) -> Plan:
    """An ellipsoid with semi-axes a, b, c [m] rocks about its y axis: R(t) is smooth.

    tilt at the start [degrees]; mass [kg].
    """
    positive(a=a, b=b, c=c)
    s, t = math.sin(math.radians(tilt)), math.cos(math.radians(tilt))
    return _rock(Ellipsoid(a, b, c), math.hypot(a * s, c * t), tilt, mass, EventDriven())


def eccentric_ellipsoid_rock(
    *, a: float = 4.0, b: float = 1.0, c: float = 1.0, tilt: float = 30.0, mass: float = 1.0
) -> Plan:
    """A flatter ellipsoid, semi-axes a, b, c [m]: R(t) has sharp peaks where the curvature of the
    surface, c / a^2 along the way, is small.

    tilt at the start [degrees]; mass [kg].
    """
    return ellipsoid_rock(a=a, b=b, c=c, tilt=tilt, mass=mass)


def superquadric_rock(*, size: float = 1.0, tilt: float = 30.0, mass: float = 1.0) -> Plan:
    """x^4 + y^4 + z^4 = size^4 [m] rocks over its flat spot: R(t) diverges there, like
    |t - t0|^(-2/3), and its impulse over a shrinking time vanishes.

    tilt at the start [degrees]; mass [kg].
    """
    positive(size=size)
    s, c = abs(math.sin(math.radians(tilt))), abs(math.cos(math.radians(tilt)))
    height = size * (s ** (4 / 3) + c ** (4 / 3)) ** 0.75
    shape = Superquadric(size, size, size, 0.5, 0.5)
    return _rock(shape, height, tilt, mass, EventDriven())


def _rock(shape: SpatialShape, height: float, tilt: float, mass: float, method: Any) -> Plan:
    positive(mass=mass)
    within(-90, 90, tilt=tilt)
    half = math.radians(0.5 * tilt)
    world = World()
    world.add_ground(friction=0.0)
    world.add_body(
        shape,
        name="body",
        mass=mass,
        friction=0.0,
        position=(0, 0, height),
        orientation=(math.cos(half), 0.0, math.sin(half), 0.0),
    )
    far = 6 * height
    view = {"camera": (0.3 * far, -far, 0.4 * far), "target": (0, 0, 0.8)}
    return Plan(world, 6.0, method, view)
