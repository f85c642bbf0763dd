"""Small worlds for goldens: each meets contacts, joints or both, in the plane and in space.

A function takes `planar` and returns a world. Bodies start a little apart from symmetry, so that
results do not hang on a tie, and where they touch they touch from the start.
"""

import math

import drystone as ds

SQRT = math.sqrt(0.5)


def at(planar, x, height, y=0.0):
    """A place, or a vector: x to the right, height up, y into the picture."""
    return (x, height) if planar else (x, y, height)


def block(planar, length, height, width=None):
    width = length if width is None else width
    return ds.Rectangle(length, height) if planar else ds.Box(length, width, height)


def ball(planar, radius):
    return ds.Disk(radius) if planar else ds.Sphere(radius)


def turned(planar, angle):
    """An orientation: by an angle [rad] in the plane of x and the height."""
    if planar:
        return angle
    return (math.cos(0.5 * angle), 0.0, -math.sin(0.5 * angle), 0.0)


def turning(planar, a, b, place, **more):
    """A pin, or in space a hinge across the picture."""
    if planar:
        return ds.Pin(a, b, anchor=place, **more)
    return ds.Hinge(a, b, anchor=at(planar, *place), axis=(0, -1, 0), **more)


def rod(world, planar, name, start, end, **more):
    """A thin rod between two points of the picture (x, height)."""
    dx, dz = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dz)
    middle = at(planar, 0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1]))
    world.add_body(
        block(planar, length, 0.04, 0.04),
        name=name,
        position=middle,
        orientation=turned(planar, math.atan2(dz, dx)),
        **{"density": 300, **more},
    )


def slide(planar):
    """A ball slides until it rolls; in space it spins about the vertical too."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    spin = {} if planar else {"angular_velocity": (0.5, 0.0, 20.0)}
    world.add_body(
        ball(planar, 0.1), name="ball", mass=1.0, friction=0.4, position=at(planar, 0.0, 0.1),
        velocity=at(planar, 1.0, 0.0, 0.5), **spin,
    )  # fmt: skip
    return world


def slope(planar):
    """Two blocks on a slope: friction holds one of them."""
    angle = 0.35
    world = ds.World(planar=planar)
    world.add_ground(normal=at(planar, -math.sin(angle), math.cos(angle)), friction=1.0)
    c, s = math.cos(angle), math.sin(angle)
    for name, along, mu in (("holds", 0.0, 0.6), ("slides", 0.7, 0.1)):
        world.add_body(
            block(planar, 0.3, 0.2), name=name, mass=2.0, friction=mu,
            position=at(planar, along * c - 0.1 * s, along * s + 0.1 * c),
            orientation=turned(planar, angle),
        )  # fmt: skip
        world.set_pair("ground", name, friction=mu)
    return world


def smooth(planar):
    """A block slides off another, both without friction: what methods without friction solve."""
    world = ds.World(at(planar, 1.5, -9.81), planar=planar)
    world.add_ground(friction=0.0)
    for k, name in enumerate(("lower", "upper")):
        world.add_body(
            block(planar, 0.4 - 0.1 * k, 0.2), name=name, mass=2.0 - k, friction=0.0,
            position=at(planar, 0.03 * k, 0.1 + 0.2 * k), velocity=at(planar, 0.5 * k, 0.0),
        )  # fmt: skip
    return world


def pile(planar):
    """Blocks and round bodies that lie on each other, pushed aside by one that arrives."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    world.add_body(block(planar, 0.4, 0.2), name="left", mass=2.0, position=at(planar, -0.3, 0.1))
    world.add_body(block(planar, 0.4, 0.2), name="right", mass=2.0, position=at(planar, 0.31, 0.1))
    world.add_body(
        block(planar, 0.9, 0.1, 0.4), name="plank", mass=1.0, position=at(planar, 0.02, 0.25)
    )
    shape = ds.Ellipse(0.12, 0.08) if planar else ds.Cylinder(0.2, 0.08)
    above = 0.3801 if planar else 0.4001
    world.add_body(shape, name="round", mass=0.5, position=at(planar, -0.2, above))
    shape = ds.Capsule2D(0.1, 0.06) if planar else ds.Capsule(0.1, 0.06)
    lying = 0.0 if planar else (SQRT, 0.0, SQRT, 0.0)
    world.add_body(
        shape, name="rod", mass=0.5, position=at(planar, 0.21, 0.3601, 0.03), orientation=lying
    )
    world.add_body(
        ball(planar, 0.07), name="ball", mass=1.0, position=at(planar, -0.7, 0.13, 0.05),
        velocity=at(planar, 3.0, 0.0),
    )  # fmt: skip
    return world


def pendulum(planar):
    """A double pendulum: joints alone."""
    return ds.scene("double-pendulum", planar=planar).world


def four_bar(planar):
    """A closed loop that a motor of bounded torque drives; the rocker's weight is beside it."""
    world = ds.World(planar=planar)
    a, b, c, d = (0.0, 0.0), (0.1, 0.17), (0.5, 0.42), (0.55, 0.0)
    rod(world, planar, "crank", a, b, layer=())
    rod(world, planar, "coupler", b, c, layer=())
    rod(world, planar, "rocker", d, c, layer=())
    motor = ds.Motor(speed=6.0, max_force=3.0)
    world.add_joint(turning(planar, "crank", "world", a, motor=motor, name="drive"))
    world.add_joint(turning(planar, "coupler", "crank", b, name="crank-pin"))
    world.add_joint(turning(planar, "rocker", "coupler", c, name="rocker-pin"))
    world.add_joint(turning(planar, "rocker", "world", d, name="pivot"))
    return world


def stops(planar):
    """What acts on joints: a stop that is reached, friction, a spring, a motor to a place."""
    world = ds.World(planar=planar)
    rod(world, planar, "arm", (0.0, 0.0), (0.5, 0.0))
    world.add_joint(
        turning(planar, "arm", "world", (0.0, 0.0), limits=(-0.15, 0.5), friction=0.05, name="stop")
    )
    rod(world, planar, "sprung", (1.0, 0.0), (1.5, 0.0))
    world.add_joint(
        turning(planar, "sprung", "world", (1.0, 0.0), spring=(20.0, 0.3), name="spring")
    )
    rod(world, planar, "servo", (2.0, 0.0), (2.5, 0.0))
    motor = ds.Motor(position=0.3, max_force=8.0)
    world.add_joint(turning(planar, "servo", "world", (2.0, 0.0), motor=motor, name="servo"))
    world.add_body(block(planar, 0.2, 0.2), name="bob", mass=1.0, position=at(planar, 3.0, 0.0))
    world.add_joint(
        ds.Slider(
            "bob", "world", axis=at(planar, 0.0, 1.0), limits=(-0.02, 0.1), spring=(50.0, 1.0),
            name="lift",
        )
    )  # fmt: skip
    return world


def chain(planar):
    """Four links fall on the ground, one end first, and slide: joints and contacts."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    place, before = (0.0, 0.03), None
    for k, angle in enumerate((0.5, 0.45, 0.55, 0.4)):
        end = (place[0] + 0.2 * math.cos(angle), place[1] + 0.2 * math.sin(angle))
        rod(world, planar, f"link{k}", place, end, friction=0.4)
        if before is not None:
            world.add_joint(turning(planar, f"link{k}", before, place, name=f"pin{k}"))
            world.ignore(f"link{k}", before)
        place, before = end, f"link{k}"
    return world


def car(planar):
    """A sprung car that starts, and meets a bump."""
    return ds.scene("vehicle", planar=planar, bumps=1, speed=3.0).world


def tower(planar):
    """A stack at rest that a ball wakes."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.6)
    for k in range(3):
        world.add_body(
            block(planar, 0.3, 0.2), name=f"block{k}", mass=2.0 - 0.5 * k, friction=0.6,
            position=at(planar, 0.011 * k, 0.1 + 0.2 * k),
        )  # fmt: skip
    world.add_body(
        ball(planar, 0.08), name="ball", mass=0.6, friction=0.6,
        position=at(planar, -0.63, 0.34, 0.02), velocity=at(planar, 2.0, 1.0),
    )  # fmt: skip
    return world


def bounce(planar):
    """Balls and a block with restitution: single impacts, and several at once."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.3, restitution=0.6)
    more = {"friction": 0.3, "restitution": 0.6}
    world.add_body(
        ball(planar, 0.1), name="thrown", mass=1.0, position=at(planar, 0.0, 0.13),
        velocity=at(planar, 1.0, -2.0, 0.3), **more,
    )  # fmt: skip
    world.add_body(ball(planar, 0.1), name="lower", mass=1.0, position=at(planar, 1.0, 0.1), **more)
    world.add_body(
        ball(planar, 0.08), name="upper", mass=2.0, position=at(planar, 1.01, 0.3),
        velocity=at(planar, 0.0, -1.5), **more,
    )  # fmt: skip
    world.add_body(
        block(planar, 0.3, 0.2), name="block", mass=1.0, position=at(planar, 2.0, 0.22),
        orientation=turned(planar, 0.5), velocity=at(planar, 0.5, -1.0), **more,
    )  # fmt: skip
    return world


def loads(planar):
    """Forces of every kind, and a table that moves as prescribed under a block."""
    world = ds.World(planar=planar)
    shake = ds.Oscillation(at(planar, 1.0, 0.0), amplitude=0.05, frequency=3.0)
    world.add_body(
        block(planar, 1.0, 0.1), name="table", motion=shake, friction=0.3,
        position=at(planar, 0.0, -0.05),
    )  # fmt: skip
    world.add_body(
        block(planar, 0.2, 0.2), name="block", mass=1.0, friction=0.3,
        position=at(planar, 0.01, 0.1),
    )  # fmt: skip
    for k, name in enumerate(("sprung", "dragged", "pushed")):
        world.add_body(
            ball(planar, 0.1), name=name, mass=1.0, position=at(planar, 2.0 + k, 1.0),
            velocity=at(planar, 1.0, 0.5),
        )  # fmt: skip
    end = at(planar, 2.0, 1.6)
    world.add_force(ds.Spring("sprung", anchor_b=end, stiffness=80.0, rest_length=0.5, damping=0.4))
    world.add_force(
        ds.Drag("dragged", at(planar, 3.5, 1.2), stiffness=30.0, damping=0.5, limit=12.0)
    )
    world.add_force(ds.Damper("pushed", linear=2.0, angular=0.1))
    world.add_force(ds.ConstantForce("pushed", at(planar, 2.0, 3.0)))
    return world


def breaking(planar):
    """A rod on two joints, one of which breaks when the rod is loaded."""
    world = ds.World(planar=planar)
    rod(world, planar, "rod", (0.0, 0.0), (0.6, 0.0))
    world.add_joint(turning(planar, "rod", "world", (0.0, 0.0), name="holds"))
    weak = ds.Distance(
        "rod", "world", anchor_a=at(planar, 0.3, 0.0), anchor_b=at(planar, 0.6, 0.5),
        name="weak", breaks_at=9.0,
    )  # fmt: skip
    world.add_joint(weak)
    world.add_body(
        ball(planar, 0.05), name="weight", mass=0.4, position=at(planar, 0.4, 0.2),
    )  # fmt: skip
    return world


def lattice(planar, columns=60, rows=50):
    """Very many contacts: layers of balls, each lying on those below; in space balls side by side
    on the ground, each an island of its own."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    if not planar:
        for k in range(columns * (rows + 22)):
            x, y = 0.21 * (k % columns), 0.21 * (k // columns)
            world.add_body(
                ds.Sphere(0.1), name=f"s{k}", mass=1.0, position=(x, y, 0.1),
                velocity=(0.01 * (k % 7), 0.0, 0.0),
            )  # fmt: skip
        return world
    for row in range(rows):
        for k in range(columns - row % 2):
            place = (0.2 * (k + 0.5 * (row % 2)), 0.1 + row * 0.1 * math.sqrt(3.0))
            world.add_body(ds.Disk(0.1), name=f"d{row}-{k}", mass=1.0, position=place)
    return world


WORLDS = {
    made.__name__.replace("_", "-"): made
    for made in (
        slide, slope, smooth, pile, pendulum, four_bar, stops, chain, car, tower, bounce, loads,
        breaking,
    )
}  # fmt: skip
