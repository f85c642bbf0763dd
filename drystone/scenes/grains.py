"""Many round grains: dropped into a box, or running out of a hopper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.geometry.shapes import ConvexPolyhedron, Disk, Polygon, Sphere
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.world import World


def spheres(
    *,
    n: int = 1000,
    radius: float = 0.1,
    mu: float = 0.5,
    spacing: float = 2.4,
    across: int = 0,
    seed: int = 0,
) -> Plan:
    """n spheres in a loose lattice fall into a box.

    radius [m]; spacing: of the lattice, over the radius; across: spheres along a side of the box,
    0 for a cube of them; seed: of the small displacements that break the lattice.
    """
    at_least(1, n=n)
    at_least(0, across=across, seed=seed)
    positive(radius=radius)
    not_negative(mu=mu)
    within(2.1, math.inf, spacing=spacing)
    side = across or math.ceil(n ** (1 / 3) - 1e-9)
    pitch = spacing * radius
    half = 0.5 * side * pitch
    world = World()
    world.add_ground(friction=mu, name="floor")
    for name, way in (("-x", (1, 0)), ("+x", (-1, 0)), ("-y", (0, 1)), ("+y", (0, -1))):
        world.add_ground(friction=mu, normal=(*way, 0), height=-half, name=f"wall{name}")
    rng = np.random.default_rng(seed)
    away = 0.45 * (pitch - 2 * radius) * rng.uniform(-1, 1, (n, 3))
    ball = Sphere(radius)
    for k in range(n):
        level, place = divmod(k, side * side)
        cell = np.array([place % side, place // side, level]) + 0.5
        x = cell * pitch - (half, half, 0) + away[k]
        world.add_body(ball, name=f"sphere{k}", friction=mu, position=x)
    view: dict[str, Any] = {"camera": (2 * half, -6 * half, 4 * half), "target": (0, 0, half)}
    return Plan(world, 3.0, view=view)


def hopper(
    *,
    n: int = 200,
    radius: float = 0.05,
    mu: float = 0.3,
    outlet: float = 6.0,
    slope: float = 45.0,
    width: float = 24.0,
    drop: float = 16.0,
    planar: bool = True,
    depth: float = 6.0,
    seed: int = 0,
) -> Plan:
    """Grains run through a funnel on to the floor below.

    radius [m] of grains, which differ by up to 10 % (seed: how). Lengths in radii: outlet, its
    width; width of the bin; drop, height of the outlet above the floor; depth of the bin in space.
    slope of the funnel [degrees]. Narrow outlets are closed by an arch of grains.
    """
    at_least(1, n=n)
    at_least(0, seed=seed)
    positive(radius=radius, outlet=outlet)
    not_negative(mu=mu)
    within(0, 90, slope=slope)
    within(outlet + 4, math.inf, width=width)
    within(2.5, math.inf, drop=drop, depth=depth)
    world = World(planar=planar)
    world.add_ground(friction=mu, name="floor")
    half, mouth, low = 0.5 * width * radius, 0.5 * outlet * radius, drop * radius
    rise = (half - mouth) * math.tan(math.radians(slope))
    deep = 0.5 * depth * radius
    _bin(world, planar, mu, half, deep)
    for name, side in (("left", -1), ("right", 1)):
        outline = [(side * mouth, low), (side * half, low), (side * half, low + rise)]
        shape: Any = Polygon(outline)
        if not planar:
            shape = ConvexPolyhedron([(x, y, z) for x, z in outline for y in (-deep, deep)])
        world.add_body(shape, name=f"funnel-{name}", friction=mu, fixed=True)
    _fill(world, planar, mu, n, radius, half, deep, low + rise, seed)
    top = low + rise + 2.3 * radius * n / max(1, int(width / 2.3))
    view: dict[str, Any] = {"camera": (0, -6 * half, low + rise), "target": (0, 0, low)}
    if planar:
        view = {"limits": ((-1.2 * half, 1.2 * half), (-radius, top))}
    return Plan(world, 6.0, view=view)


def _bin(world: World, planar: bool, mu: float, half: float, deep: float) -> None:
    """Walls at x = -half and half, in space at y = -deep and deep too."""
    end = () if planar else (0.0,)
    sides = [("-x", (1.0,), half), ("+x", (-1.0,), half)]
    for name, way, away in sides:
        world.add_ground(friction=mu, normal=(*way, 0.0, *end), height=-away, name=f"wall{name}")
    if not planar:
        for name, y in (("-y", 1.0), ("+y", -1.0)):
            world.add_ground(friction=mu, normal=(0, y, 0), height=-deep, name=f"wall{name}")


def _fill(
    world: World,
    planar: bool,
    mu: float,
    n: int,
    radius: float,
    half: float,
    deep: float,
    base: float,
    seed: int,
) -> None:
    """Grains in a loose lattice above `base`."""
    rng = np.random.default_rng(seed)
    pitch = 2.3 * radius
    across = int(2 * half / pitch)
    layer = across * (1 if planar else int(2 * deep / pitch))
    sizes = radius * (1 + 0.1 * rng.uniform(-1, 1, n))
    away = 0.04 * radius * rng.uniform(-1, 1, (n, 3))
    for k in range(n):
        level, place = divmod(k, layer)
        x = (place % across - 0.5 * (across - 1)) * pitch + away[k, 0]
        z = base + (level + 0.5) * pitch + away[k, 2]
        y = (place // across + 0.5) * pitch - deep + away[k, 1]
        shape: Any = Disk(sizes[k]) if planar else Sphere(sizes[k])
        position = (x, z) if planar else (x, y, z)
        world.add_body(shape, name=f"grain{k}", friction=mu, position=position)
