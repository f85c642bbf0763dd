"""Chains and linkages: what joints alone decide, with equations of motion to compare."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.constraints.joints import Ball, Hinge, Motor, Pin, Slider
from drystone.errors import OptionError
from drystone.geometry.shapes import Box, Capsule, Capsule2D, Disk, Rectangle, Sphere
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


def double_pendulum(
    *,
    first: float = 120.0,
    second: float = 100.0,
    length: float = 1.0,
    mass: float = 1.0,
    planar: bool = True,
) -> Plan:
    """Two equal rods, one hung from the other, let go at rest: chaotic for large angles.

    first, second: angles of the rods from the vertical [degrees]; length [m] and mass [kg] of each.
    """
    positive(length=length, mass=mass)
    world = World(planar=planar)
    pin, before = np.zeros(2), "world"
    for name, angle in (("upper", first), ("lower", second)):
        turn = math.radians(angle - 90.0)
        end = pin + length * np.array([math.cos(turn), math.sin(turn)])
        bar(world, name, (pin, end), planar, mass=mass)
        turning(world, name, before, pin, planar, name=f"{name}-pin")
        pin, before = end, name
    return Plan(world, 10.0, view=sideways((-2.2, 2.2), (-2.2, 2.2), length, planar))


def four_bar(
    *,
    crank: float = 0.2,
    coupler: float = 0.5,
    rocker: float = 0.4,
    base: float = 0.5,
    angle: float = 60.0,
    speed: float = 5.0,
    planar: bool = True,
) -> Plan:
    """A crank that a motor turns at `speed` [rad/s] rocks the rocker to and fro.

    Lengths [m] of the crank, the coupler, the rocker and the base between the fixed pins; angle
    [degrees] of the crank at the start. Bars weigh 2 kg/m. In space its four hinges hold three
    freedoms twice over.
    """
    positive(crank=crank, coupler=coupler, rocker=rocker, base=base)
    turn = math.radians(angle)
    b = crank * np.array([math.cos(turn), math.sin(turn)])
    d = np.array([base, 0.0])
    c = _meet(b, coupler, d, rocker, f"angle = {angle:g} degrees")
    vb = speed * _left(b)
    # |c - b| and |c - d| stay as they are
    vc = np.linalg.solve(np.array([c - b, c - d]), np.array([(c - b) @ vb, 0.0]))
    world = World(planar=planar)
    still = np.zeros(2)
    bar(world, "crank", (still, b), planar, (still, vb))
    bar(world, "coupler", (b, c), planar, (vb, vc))
    bar(world, "rocker", (d, c), planar, (still, vc))
    motor = Motor(speed=speed)
    turning(world, "crank", "world", still, planar, name="drive", motor=motor)
    turning(world, "coupler", "crank", b, planar, name="crank-pin")
    turning(world, "rocker", "coupler", c, planar, name="rocker-pin")
    turning(world, "rocker", "world", d, planar, name="pivot")
    size = crank + base
    return Plan(world, 5.0, view=sideways((-0.5, 1.4), (-0.6, 0.9), size, planar))


def slider_crank(
    *,
    crank: float = 0.1,
    rod: float = 0.3,
    angle: float = 30.0,
    speed: float = 10.0,
    mass: float = 1.0,
    planar: bool = True,
) -> Plan:
    """A motor turns a crank at `speed` [rad/s]; a connecting rod drives a slider on a rail.

    Lengths of crank and rod [m]; angle [degrees] of the crank at the start; mass of the slider
    [kg]. Bars weigh 2 kg/m. The slider is at crank cos + sqrt(rod^2 - crank^2 sin^2).
    """
    positive(crank=crank, rod=rod, mass=mass)
    if not rod > crank:
        raise OptionError(f"rod = {rod!r}: expected more than the crank's {crank!r}")
    turn = math.radians(angle)
    b = crank * np.array([math.cos(turn), math.sin(turn)])
    c = np.array([b[0] + math.sqrt(rod**2 - b[1] ** 2), 0.0])
    vb = speed * _left(b)
    vc = np.array([(c - b) @ vb / (c - b)[0], 0.0])
    world = World(planar=planar)
    still = np.zeros(2)
    bar(world, "crank", (still, b), planar, (still, vb))
    bar(world, "rod", (b, c), planar, (vb, vc))
    wide, tall = 0.6 * crank, 0.4 * crank
    block: Any = Rectangle(wide, tall) if planar else Box(wide, tall, tall)
    place: dict[str, Any] = {"position": lifted(c, planar), "velocity": lifted(vc, planar)}
    world.add_body(block, name="slider", mass=mass, layer=(), **place)
    turning(world, "crank", "world", still, planar, name="drive", motor=Motor(speed=speed))
    turning(world, "rod", "crank", b, planar, name="crank-pin")
    turning(world, "rod", "slider", c, planar, name="wrist-pin")
    world.add_joint(Slider("slider", "world", axis=lifted(np.array([1.0, 0]), planar), name="rail"))
    size = crank + rod
    return Plan(world, 3.0, view=sideways((-0.5, 1.3), (-0.5, 0.5), size, planar))


def _meet(b: Floats, reach: float, d: Floats, other: float, place: str) -> Floats:
    """The point left of the way from b to d at distance `reach` from b and `other` from d."""
    way = d - b
    far = float(np.linalg.norm(way))
    along = 0.5 * (far + (reach**2 - other**2) / far)
    across = reach**2 - along**2
    if not across > 0:
        raise OptionError(
            f"{place}: coupler = {reach:g} and rocker = {other:g} m do not meet over {far:.4g} m"
        )
    way = way / far
    out: Floats = b + along * way + math.sqrt(across) * _left(way)
    return out


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


def bar(
    world: World,
    name: str,
    ends: tuple[Floats, Floats],
    planar: bool,
    speeds: tuple[Floats, Floats] | None = None,
    mass: float | None = None,
) -> None:
    """A bar between two points (x, height), with the velocities of its ends; it touches nothing.

    mass [kg]: of 2 kg/m by default. Its width is 8 % of its length, or 0.08 m if that is less.
    """
    p, q = ends
    way = q - p
    length = float(np.linalg.norm(way))
    width = 0.08 * min(1.0, length)
    vp, vq = (0.0 * p, 0.0 * p) if speeds is None else speeds
    spin = float(_left(way) @ (vq - vp)) / length**2
    world.add_body(
        Rectangle(length, width) if planar else Box(length, width, width),
        name=name,
        mass=2.0 * length if mass is None else mass,
        position=lifted(0.5 * (p + q), planar),
        orientation=upright(math.atan2(way[1], way[0]), planar),
        velocity=lifted(0.5 * (vp + vq), planar),
        angular_velocity=spin if planar else (0.0, -spin, 0.0),
        layer=(),
    )


def turning(world: World, a: str, b: str, at: Floats, planar: bool, **options: Any) -> None:
    """A joint about a point (x, height), whose turn is positive counter-clockwise."""
    anchor = lifted(at, planar)
    if planar:
        world.add_joint(Pin(a, b, anchor=anchor, **options))
    else:
        world.add_joint(Hinge(a, b, anchor=anchor, axis=(0, -1, 0), **options))


def sideways(
    x: tuple[float, float], height: tuple[float, float], size: float, planar: bool
) -> dict[str, Any]:
    """Hints to draw a mechanism in a vertical plane: its range in units of `size` [m]."""
    (x0, x1), (h0, h1) = x, height
    if planar:
        return {"limits": ((x0 * size, x1 * size), (h0 * size, h1 * size))}
    middle = 0.5 * (x0 + x1) * size, 0.5 * (h0 + h1) * size
    far = 1.4 * max(x1 - x0, h1 - h0) * size
    return {
        "camera": (middle[0] + 0.3 * far, -far, middle[1] + 0.3 * far),
        "target": (middle[0], 0.0, middle[1]),
    }


def _left(v: Floats) -> Floats:
    """A quarter turn counter-clockwise."""
    return np.array([-v[1], v[0]])


def lifted(point: Floats, planar: bool) -> tuple[float, ...]:
    """A point (x, height) of the plane, or at y = 0 in space."""
    x, height = float(point[0]), float(point[1])
    return (x, height) if planar else (x, 0.0, height)


def upright(turn: float, planar: bool) -> Any:
    """Orientation of a body turned counter-clockwise as seen with x to the right, height up."""
    return turn if planar else (math.cos(0.5 * turn), 0.0, -math.sin(0.5 * turn), 0.0)
