"""Small worlds that several tests of the time stepper share."""

import math

import numpy as np

import drystone as ds

G = 9.81


def particle(
    planar=True, velocity=None, friction=0.5, gap=0.0, normal=None, gravity=None, **ground
):
    """A round body on (or `gap` above) the ground, whose rotation is blocked by a huge inertia."""
    dim = 2 if planar else 3
    world = ds.World(planar=planar, gravity=gravity)
    up = np.array((0.0,) * (dim - 1) + (1.0,) if normal is None else normal, float)
    world.add_ground(friction=friction, normal=normal, **ground)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    world.add_body(
        shape, name="p", mass=2.0, inertia=1e12 if planar else (1e12,) * 3, friction=friction,
        position=(0.1 + gap) * up, velocity=velocity,
    )  # fmt: skip
    return world


def block(angle=0.0, friction=0.5, planar=False, size=(0.4, 0.4, 0.2), velocity=None, heading=0.0):
    """A box on a plane inclined by `angle` about y; velocity along the slope, turned by `heading`
    in it. The slope falls towards negative x."""
    world = ds.World(planar=planar)
    c, s = math.cos(angle), math.sin(angle)
    if planar:
        normal, along = np.array([-s, c]), np.array([c, s])
        world.add_ground(normal=normal, friction=friction)
        world.add_body(
            ds.Rectangle(size[0], size[2]), name="b", friction=friction, orientation=angle,
            position=0.5 * size[2] * normal,
            velocity=None if velocity is None else velocity * along,
        )  # fmt: skip
        return world
    normal, along = np.array([-s, 0, c]), np.array([c, 0, s])
    across = np.array([0.0, 1, 0])
    way = math.cos(heading) * along + math.sin(heading) * across
    world.add_ground(normal=normal, friction=friction)
    world.add_body(
        ds.Box(*size), name="b", friction=friction, position=0.5 * size[2] * normal,
        orientation=(math.cos(angle / 2), 0, -math.sin(angle / 2), 0),
        velocity=None if velocity is None else velocity * way,
    )  # fmt: skip
    return world


def tumble(seed, planar=False, n=4, friction=0.5, restitution=0.0, ground=True, speed=1.0):
    """n random bodies that fly at each other and at the ground."""
    rng = np.random.default_rng(seed)
    world = (
        ds.World(planar=planar) if ground else ds.World([0] * (2 if planar else 3), planar=planar)
    )
    if ground:
        world.add_ground(friction=friction, restitution=restitution)
    for k in range(n):
        side = rng.uniform(0.2, 0.5, 3)
        place = np.array([0.1 * k, 0.0, 0.6 + 0.75 * k]) + 0.05 * rng.normal(size=3)
        common = {"name": f"b{k}", "friction": friction, "restitution": restitution}
        if planar:
            shape = (
                ds.Rectangle(*side[:2]),
                ds.Disk(side[0] / 2),
                ds.Ellipse(side[0], side[1] / 2),
            )
            world.add_body(
                shape[k % 3], position=place[[0, 2]], orientation=rng.uniform(0, 6),
                velocity=speed * rng.normal(size=2), angular_velocity=3 * speed * rng.normal(),
                **common,
            )  # fmt: skip
        else:
            q = rng.normal(size=4)
            world.add_body(
                (ds.Box(*side), ds.Sphere(side[0] / 2))[k % 2], position=place,
                orientation=q / np.linalg.norm(q), velocity=speed * rng.normal(size=3),
                angular_velocity=3 * speed * rng.normal(size=3), **common,
            )  # fmt: skip
    return world


def run(world, duration, dt=1 / 240, **options):
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt, **options))
    return sim, sim.run(duration, record=True)
