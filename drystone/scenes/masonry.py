"""Dry masonry and cards: what stands by contact and friction alone."""

from __future__ import annotations

import math
from typing import Any

from drystone.geometry.shapes import Box, ConvexPolyhedron, Polygon
from drystone.scenes.base import Plan, at_least, not_negative, positive, within
from drystone.world import World


def wall(
    *,
    courses: int = 8,
    columns: int = 6,
    mu: float = 0.6,
    length: float = 0.24,
    depth: float = 0.115,
    height: float = 0.071,
    joint: float = 0.002,
) -> Plan:
    """A wall of dry bricks in running bond: every other course begins with a half brick.

    courses of as many columns; length, depth, height of a brick and the open joint between bricks
    of a course [m].
    """
    at_least(1, courses=courses, columns=columns)
    positive(length=length, depth=depth, height=height)
    not_negative(mu=mu, joint=joint)
    if joint >= length:
        within(0, length, joint=joint)
    world = World()
    world.add_ground(friction=mu)
    pitch = length + joint
    whole, half = Box(length, depth, height), Box(0.5 * (length - joint), depth, height)
    for level in range(courses):
        row = [(whole, (i + 0.5) * pitch) for i in range(columns)]
        if level % 2:
            row = [(whole, (i + 1) * pitch) for i in range(columns - 1)]
            row = [(half, 0.25 * pitch), *row, (half, (columns - 0.25) * pitch)]
        for i, (shape, x) in enumerate(row):
            world.add_body(
                shape,
                name=f"brick{level}-{i}",
                density=1800,
                friction=mu,
                position=(x - 0.5 * columns * pitch, 0, (level + 0.5) * height),
            )
    wide = columns * pitch
    view: dict[str, Any] = {"camera": (0.4 * wide, -1.5 * wide, 0.8 * wide)}
    return Plan(world, 5.0, view=view | {"target": (0, 0, 0.5 * courses * height)})


def card_house(
    *,
    storeys: int = 3,
    tilt: float = 15.0,
    mu: float = 0.5,
    length: float = 0.09,
    width: float = 0.06,
    thickness: float = 0.003,
) -> Plan:
    """Pairs of cards lean against each other in storeys; a long card lies on all but the last.

    tilt: of a card from the vertical [degrees]; length, width, thickness of a card [m].

    Why it stands. The inner lower edge of a card is its foot, the inner upper edge touches the
    other card of its pair, the outer upper edge carries a part P of what lies above. Moments about
    the foot of a card of weight G, with the horizontal force H at the top:
        H L cos(tilt) = G (L sin(tilt) - t cos(tilt)) / 2 + P (L sin(tilt) - t cos(tilt)),
    so H = (G / 2 + P) (tan(tilt) - t / L), while the foot carries G + P. It holds if H / (G + P)
    <= mu, for every P if tan(tilt) - t / L <= mu: 0.235 against 0.5 for the defaults. At the top
    the pair pushes horizontally by symmetry; two edges meet there, and the mean of the cards'
    normals is horizontal (Baraff 1989, 4.1). Long cards lie on both cards of a
    pair, so that no pair is loaded on one side only; they take the thrust of the feet above.
    """
    at_least(1, storeys=storeys)
    within(0, 60, tilt=tilt)
    not_negative(mu=mu)
    positive(length=length, width=width, thickness=thickness)
    angle = math.radians(tilt)
    s, c = math.sin(angle), math.cos(angle)
    world = World()
    world.add_ground(friction=mu)
    card = Box(thickness, width, length)
    rise = length * c + thickness * s  # from the foot to the outer upper edge
    pitch = 2 * length * s + 4 * thickness
    base = 0.0
    for level in range(storeys):
        pairs = storeys - level
        for i in range(pairs):
            middle = (i - 0.5 * (pairs - 1)) * pitch
            for side, name in ((-1, "left"), (1, "right")):
                x = middle + side * 0.5 * (length * s + thickness * c)
                world.add_body(
                    card,
                    name=f"{name}{level}-{i}",
                    density=800,
                    friction=mu,
                    position=(x, 0, base + 0.5 * rise),
                    orientation=(math.cos(0.5 * angle), 0, -side * math.sin(0.5 * angle), 0),
                )
        base += rise
        if pairs > 1:
            floor = Box((pairs - 1) * pitch + 4 * thickness, width, thickness)
            place = (0, 0, base + 0.5 * thickness)
            name = f"floor{level}"
            world.add_body(floor, name=name, density=800, friction=mu, position=place)
        base += thickness
    view: dict[str, Any] = {"camera": (0.5 * base, -2.2 * base, base), "target": (0, 0, 0.4 * base)}
    return Plan(world, 5.0, view=view)


def arch(
    *,
    n: int = 15,
    ratio: float = 0.15,
    mu: float = 0.7,
    radius: float = 1.0,
    depth: float = 0.3,
    planar: bool = False,
) -> Plan:
    """A semicircular arch of n equal voussoirs that springs from the ground.

    ratio: thickness over the mean radius. Such an arch stands from 0.1075 on (Milankovitch), a
    little less for few voussoirs: hinges open only at joints. radius: mean [m]; depth [m].
    """
    at_least(2, n=n)
    within(0, 2, ratio=ratio)
    positive(mu=mu, radius=radius, depth=depth)
    world = World(planar=planar)
    world.add_ground(friction=mu)
    half = 0.5 * math.pi / n
    inner, outer = radius * (1 - 0.5 * ratio), radius * (1 + 0.5 * ratio)
    outline = [
        (r * math.sin(a), r * math.cos(a))
        for r, a in ((inner, -half), (outer, -half), (outer, half), (inner, half))
    ]
    shape: Any = Polygon(outline)
    if not planar:
        shape = ConvexPolyhedron([(x, y, z) for x, z in outline for y in (-depth / 2, depth / 2)])
    for k in range(n):
        turn = (2 * k + 1 - n) * half  # of the middle of the voussoir from the vertical, to +x
        world.add_body(
            shape,
            name=f"voussoir{k}",
            density=2400,
            friction=mu,
            orientation=-turn if planar else (math.cos(turn / 2), 0, math.sin(turn / 2), 0),
        )
    view: dict[str, Any] = {
        "camera": (0.8 * radius, -3.5 * radius, 1.2 * radius),
        "target": (0, 0, 0.5 * radius),
    }
    if planar:
        view = {"limits": ((-1.3 * radius, 1.3 * radius), (-0.1 * radius, 1.3 * radius))}
    return Plan(world, 5.0, view=view)
