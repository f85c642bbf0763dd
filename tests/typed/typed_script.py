"""What a user may write, for the type checker alone: ``test_typed.py`` runs mypy --strict on it.

``assert_type`` states what comes back; a function that gave Any would fail there.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import drystone as ds

Floats = NDArray[np.float64]


def worlds() -> ds.World:
    world = ds.World(gravity=(0, 0, -9.81))
    ground = world.add_ground(friction=0.6, restitution=(0.1, 0.0), normal=[0, 0, 1], layer=0)
    assert_type(ground, ds.BodyHandle)
    brick = ds.Box(0.2, 0.1, 0.06)
    for k in range(10):
        world.add_body(
            brick,
            name=f"brick{k}",
            density=1800,
            position=(0.002 * k, 0, 0.03 + 0.06 * k),
            orientation=np.array([1.0, 0.0, 0.0, 0.0]),
            friction=(0.6, 0.5),
            layer={0, 1},
        )
    world.add_body(
        [ds.Sphere(0.1), (ds.Capsule(0.3, 0.05), (0, 0, 0.2)), (brick, [0, 0, 1], (1, 0, 0, 0))],
        mass=np.float32(2.0).item(),
        inertia=np.eye(3),
        motion=ds.Oscillation((1, 0, 0), amplitude=0.1, frequency=2.0),
    )
    parts = [ds.Sphere(0.1), (ds.Sphere(0.05), (0, 0, 0.2))]
    world.add_body(parts, name="dumbbell", cone=ds.EllipticCone((1.0, 0.5)), cone_axis=(1, 0, 0))
    world.add_body(ds.ConvexPolyhedron(np.random.default_rng(0).random((9, 3))), name="stone")
    world.add_body(ds.TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), fixed=True)
    world.add_joint(
        ds.Hinge(
            "brick9",
            ground,
            anchor=(0, 0, 1),
            axis=(0, 1, 0),
            limits=(-0.5, None),
            motor=ds.Motor(speed=2.0, max_force=50.0),
            breaks_at=(1e4, None),
        )
    )
    world.add_joint(
        ds.Cylindrical("brick1", anchor=(0, 0, 0), axis=(0, 0, 1), friction={"slide": 3})
    )
    world.add_force(ds.Spring("brick0", "brick1", stiffness=100.0, damping=1.0))
    world.add_force(ds.ConstantForce("brick2", force=(1, 0, 0), point=[0.0, 0.1, 0.0]))
    world.set_pair("brick0", ground, friction=0.9)
    assert_type(world.gravity, tuple[float, ...])
    assert_type(world.bodies, tuple[str, ...])
    assert_type(ds.Polygon([(0, 0), (1, 0), (0, 1)]).points, Floats)
    return world


def runs(world: ds.World) -> None:
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 240, cone=8, restitution="newton"))
    assert_type(sim.step(), ds.StepReport)
    assert_type(sim.run(1.0), None)
    kept = sim.run(1.0, record=True, contacts=True)
    assert_type(kept, ds.Trajectory)
    replay = sim.run(until=3.0, record="stack.h5", callback=lambda s: s.time < 2.5)
    assert_type(replay, ds.Recording)
    assert_type(sim.run(1.0, record=Path("stack.h5")), ds.Recording)
    body = sim.body("brick9")
    assert_type(body.position, Floats)
    assert_type(body.velocity, Floats)
    body.position = (0, 0, 1)
    body.angular_velocity = [0.0, 0.0, 2.0]
    assert_type(sim.contacts["force"], NDArray[Any])
    assert sim.report is not None  # there is none before the first step
    assert_type(sim.report.status, ds.Status)
    assert_type(sim.report.energy.unexplained, float)
    assert_type(sim.summary, ds.RunSummary)
    assert_type(sim.events, tuple[ds.Event, ...])
    assert_type(sim.joint("hinge").position, Floats)
    assert_type(sim.energy, tuple[float, float])
    moment = sim.snapshot()
    assert_type(moment, ds.Snapshot)
    sim.restore(moment)
    problem = sim.problem()
    if problem is not None:
        assert_type(ds.solve(problem, "newton", tol=1e-10), ds.Solution)
    for way in ds.Simulation(world, ds.EventDriven(dt=0.01)).solutions():
        assert_type(way, ds.Alternative)
    ds.plot(replay, "energy,gap", path="stack.pdf")
    assert_type(ds.export(kept, "stack.html"), Path)
    assert_type(replay.time, Floats)
    assert_type(replay.complete, bool)
    known = ds.read_recording("stack.h5")
    assert_type(known.position, Floats)
    assert_type(ds.resume("stack.h5", until=5.0), ds.Simulation)


def galleries() -> None:
    assert_type(ds.scenes(), tuple[str, ...])
    scene = ds.scene("arch", ratio=0.12)
    assert_type(scene, ds.Scene)
    assert_type(scene.world, ds.World)
    assert_type(scene.simulation("penalty"), ds.Simulation)
    assert_type(ds.compare(scene, ["time-stepping:convex", ds.Penalty(dt=1e-3)]), ds.Comparison)
    assert_type(ds.sweep("arch", {"ratio": [0.1, 0.12]}, jobs=1), ds.Sweep)
    ds.write_scene("arch.yaml", scene)
    assert_type(ds.read_scene("arch.yaml"), ds.Scene)


def problems() -> None:
    lcp = ds.LCP([[2.0, 1.0], [1.0, 2.0]], [-5, -6])
    found = ds.solve(lcp, ds.Lemke(max_pivots=100))
    assert_type(found.value, Floats)
    assert_type(found.status, ds.Status)
    assert_type(found.residual, float)
    assert_type(found.ok, bool)
    assert_type(lcp.residual(found.value), float)
    friction = ds.FrictionProblem(np.eye(3), [-1.0, 0.5, 0.0], 0.5, cone=ds.CircularCone())
    again = ds.solve(friction, solver="nsgs", guess=ds.solve(friction))
    assert_type(again.value, Floats)
    ds.write_problem(friction, "one.hdf5")
    ds.solve(ds.MixedLCP(np.eye(2), np.zeros(2), free=1))
    ds.solve(ds.BoxedLCP(np.eye(2), np.zeros(2), lower=-1, upper=[1, 2]))
    try:
        ds.read_problem("none.hdf5")
    except ds.ProblemFileError as error:
        print(error)


def own(x: float, y: float, z: float) -> float:
    return x**2 + y**2 + z**4 - 1


def shapes() -> None:
    shape = ds.ImplicitSurface(own, inside=(0, 0, 0))
    assert_type(shape.mass_properties(1000.0), ds.MassProperties)
    assert_type(ds.Superquadric(1, 1, 1, 0.5, 0.5).contains((0, 0, 0)), NDArray[np.bool_])
    assert_type(ds.decompose_polygon([(0, 0), (2, 0), (2, 2), (1, 0.5)]), ds.Compound)
    ds.HalfSpace((0, 0, 1), 0.5)


def pull(model: object, state: object) -> Floats:
    return np.zeros((1, 6))


def mechanisms() -> None:
    plane = ds.World((0, -9.81), planar=True)
    wheel = plane.add_body(ds.Disk(0.1), position=(0, 1), orientation=0.5, angular_velocity=3)
    pin = plane.add_joint(ds.Pin(wheel, "world", anchor=(0, 1), limits=(-1, 1), spring=(10, 1)))
    plane.add_body(ds.Rectangle(1, 0.1), name="arm")
    arm = plane.add_joint(ds.Pin("arm", "world", anchor=(0, 0)))
    plane.add_joint(ds.Gear(pin, (arm, "turn"), ratio=-2))
    plane.add_force(ds.Callback(pull, name="pull"))
    plane.add_body(ds.Disk(1), motion=ds.MotionFunction(lambda t: ((t, 0.0), 0.0)))
    plane.add_body(ds.Disk(1), motion=ds.Waypoints([0, 1], positions=[(0, 0), (1, 0)]))
    ds.Simulation(plane, "event-driven").run(0.5)
