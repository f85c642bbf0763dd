"""Worlds with one of every kind of joint, shape and force: what a new record must give again."""

import math

import numpy as np

import drystone as ds
from tests.golden.worlds import at, ball, block, turning


def joints(planar):
    """Every kind of joint holds a block of its own to the world, or a pair to each other."""
    world = ds.World(planar=planar)
    places = {}

    def body(name):
        x = places[name] = 1.0 * len(places)
        spin = 0.4 if planar else (0.3, 0.2, 0.4)
        world.add_body(
            block(planar, 0.3, 0.2, 0.25), name=name, mass=1.0, position=at(planar, x, 0.0),
            angular_velocity=spin, velocity=at(planar, 0.1, 0.0, 0.2),
        )  # fmt: skip
        return at(planar, x - 0.2, 0.05)

    if planar:
        world.add_joint(ds.Pin("pin", anchor=body("pin")))
        world.add_joint(ds.Slider("slider", anchor=body("slider"), axis=(1, 1)))
        world.add_joint(ds.Slot("slot", anchor=body("slot"), axis=(1, -1)))
        world.add_joint(ds.Weld("weld", anchor=body("weld")))
        world.add_joint(ds.Wheel("wheel", anchor=body("wheel"), axis=(0, 1), spring=(200.0, 5.0)))
    else:
        tilted = (0.2, 1.0, 0.3)
        for name, kind in (
            ("hinge", ds.Hinge), ("cylindrical", ds.Cylindrical), ("planar", ds.PlanarJoint),
            ("slider", ds.Slider), ("line", ds.PointOnLine), ("plane", ds.PointOnPlane),
        ):  # fmt: skip
            world.add_joint(kind(name, anchor=body(name), axis=tilted))
        world.add_joint(ds.Ball("ball", anchor=body("ball")))
        world.add_joint(ds.Fixed("fixed", anchor=body("fixed")))
        world.add_joint(ds.Screw("screw", anchor=body("screw"), axis=tilted, pitch=0.1))
        second = {"axis": (0, 0, 1), "second_axis": (1, 0, 0)}
        world.add_joint(ds.Universal("universal", anchor=body("universal"), **second))
        way = {"axis": (0, 0, 1), "axle": (0, 1, 0), "spring": (200.0, 5.0)}
        world.add_joint(ds.Wheel("wheel", anchor=body("wheel"), **way))
    rope = at(planar, 1.0 * len(places), 0.5)
    body("rod")
    world.add_joint(ds.Distance("rod", anchor_a=at(planar, 0.1, 0.1), anchor_b=rope))
    gears = []
    for name in ("first", "second"):
        body(name)
        place = (places[name], 0.0)
        gears.append(world.add_joint(turning(planar, name, "world", place, name=f"{name}-axle")))
    world.add_joint(ds.Gear(*gears, ratio=-0.5))
    return world


def shapes(planar):
    """Every kind of shape lands on the ground, each by itself; some of them on each other."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    if planar:
        some = {
            "disk": ds.Disk(0.1),
            "ellipse": ds.Ellipse(0.15, 0.1),
            "rectangle": ds.Rectangle(0.3, 0.2),
            "capsule": ds.Capsule2D(0.2, 0.08),
            "polygon": ds.Polygon([(-0.1, -0.1), (0.15, -0.08), (0.1, 0.12), (-0.05, 0.15)]),
            "regular": ds.RegularPolygon(5, 0.12),
            "compound": [ds.Disk(0.08), (ds.Rectangle(0.3, 0.06), (0.1, 0.0))],
        }
    else:
        corners = [(-0.1, -0.1, -0.1), (0.2, 0, -0.1), (0, 0.2, -0.1), (0.05, 0.05, 0.15)]
        some = {
            "sphere": ds.Sphere(0.1),
            "box": ds.Box(0.3, 0.2, 0.2),
            "cylinder": ds.Cylinder(0.25, 0.1),
            "capsule": ds.Capsule(0.2, 0.08),
            "cone": ds.Cone(0.3, 0.12),
            "ellipsoid": ds.Ellipsoid(0.15, 0.12, 0.1),
            "superquadric": ds.Superquadric(0.15, 0.12, 0.1, 0.6, 0.7),
            "polyhedron": ds.ConvexPolyhedron(corners),
            "egg": ds.ImplicitSurface(
                lambda x, y, z: x**2 + y**2 * (1 + 0.2 * x) + 1.5 * z**2 - 0.01
            ),
            "compound": [ds.Sphere(0.08), (ds.Box(0.3, 0.06, 0.06), (0.1, 0.0, 0.0))],
        }
        hollow(world)
    for k, (name, shape) in enumerate(some.items()):
        turn = (
            0.3
            if planar
            else tuple(np.array([1.0, 0.2, 0.1, 0.3]) / np.linalg.norm([1, 0.2, 0.1, 0.3]))
        )
        world.add_body(
            shape, name=name, mass=1.0, friction=0.5, position=at(planar, 0.6 * k, 0.24),
            orientation=turn, velocity=at(planar, 0.5, -1.0, 0.2),
        )  # fmt: skip
        world.add_body(
            ball(planar, 0.06), name=f"{name}-rider", mass=0.3, friction=0.5,
            position=at(planar, 0.6 * k + 0.02, 0.5, 0.01), velocity=at(planar, 0.5, -2.0, 0.2),
        )  # fmt: skip
    return world


def hollow(world):
    """A bowl with a ball in it, and a fixed mesh with one on it; both away from all others."""
    world.add_body(ds.Bowl(0.5, 0.5, 0.4), name="bowl", fixed=True, position=(0, -5, 3))
    low = 3.0 - 0.4
    world.add_body(ds.Sphere(0.1), name="marble", mass=1.0, position=(0.05, -5.02, low + 0.12))
    corners = [(-1, -1, 0), (1, -1, 0.1), (1, 1, 0), (-1, 1, 0.1)]
    mesh = ds.TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)])
    world.add_body(mesh, name="mesh", fixed=True, position=(0, 5, 3))
    world.add_body(
        ds.Box(0.2, 0.2, 0.2),
        name="on-mesh",
        mass=1.0,
        position=(0.1, 5.2, 3.2),
        velocity=(1, 0, -1),
    )


def callback(planar):
    """A hand in Python pushes a ball over the ground: compiled code is left at every step."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.3)
    world.add_body(
        ball(planar, 0.1), name="ball", mass=1.0, friction=0.3, position=at(planar, 0.0, 0.1)
    )

    def push(model, state):
        force = at(planar, 4.0 * math.cos(20.0 * state.time), 0.0)
        return {"ball": (*force, *(0.0,) * (1 if planar else 3))}

    world.add_force(ds.Callback(push))
    return world


KINDS = {"joint-kinds": joints, "shape-kinds": shapes, "callback": callback}
