"""Every public call of the package once, right: what the fuzz test then spoils.

A case is a function, arguments by name that are right, and what its result is good for: a shape
is put into a world and weighed, a joint is stepped, a solver solves.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

import drystone as ds

TETRA = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]
WHAT = "energy"


@dataclass
class Case:
    """make(folder) -> the function to call; args: right ones, by name; use: of what it returns.

    words: names of arguments to spoil besides those in `args`; alone: one spoilt argument a call,
    where two would ask for hours of honest work.
    """

    make: Callable[[Any], Callable[..., Any]]
    args: dict[str, Any] = field(default_factory=dict)
    use: Callable[[Any], Any] = repr
    words: tuple[str, ...] = ()
    alone: bool = False
    keep: tuple[str, ...] = ()  # never spoilt: what bounds the work


def world(planar=False):
    """A ground, two boxes that stand on it apart, and a free one."""
    out = ds.World(planar=planar)
    out.add_ground()
    box = ds.Rectangle(0.2, 0.2) if planar else ds.Box(0.2, 0.2, 0.2)
    for name, x, z in (("a", 0.0, 0.1), ("b", 0.4, 0.1), ("c", 0.8, 0.5)):
        out.add_body(box, name=name, position=(x, z) if planar else (x, 0, z))
    return out


def simulation():
    sim = ds.Simulation(world(), ds.TimeStepping(dt=0.01))
    sim.run(0.02)
    return sim


def use_shape(shape):
    flat = shape.dim == 2
    shape.pieces(), shape.bounding_radius, hash(shape), repr(shape), shape == shape
    shape.contains([0.0] * shape.dim)
    (shape.outlines if flat else shape.mesh)(8)
    place = (0, 1e6) if flat else (0, 0, 1e6)
    here = ds.World(planar=flat)
    here.add_body(shape, name="fixed", fixed=True)
    if type(shape).__name__ not in FIXED:
        here.add_body(shape, name="free", position=place)
    here.build()


def use_joint(joint):
    flat = 3 not in joint.dims
    here = world(flat)
    if isinstance(joint, ds.Gear):
        for name in "ab":
            here.add_joint(ds.Hinge(name, anchor=(0, 0, 0.1), axis=(0, 1, 0), name=f"on_{name}"))
    here.add_joint(joint)
    ds.Simulation(here, ds.TimeStepping(dt=0.001)).step()


def use_force(force):
    here = world()
    here.add_force(force)
    ds.Simulation(here, ds.TimeStepping(dt=0.001)).step()


def use_motion(motion):
    here = ds.World()
    here.add_body(ds.Sphere(1), motion=motion)
    ds.Simulation(here, ds.TimeStepping(dt=0.001)).step()


def use_method(method):
    sim = ds.Simulation(world(), method)
    if method.name == "time-stepping" or method.dt <= 0.01:
        sim.step()


def use_solver(solver):
    for problem in (lcp(), friction()):
        if solver.refuses(problem) is None:
            ds.solve(problem, solver)


def use_problem(problem):
    ds.solve(problem)
    problem.residual(np.zeros(problem.size))
    problem.residual_unit(np.zeros(problem.size))


def lcp():
    return ds.LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0])


def friction():
    return ds.FrictionProblem(np.eye(3), [-1.0, 0.5, 0.0], [0.5])


def taken(name):
    """A problem that the solver takes."""
    solver = getattr(ds, name)()
    stick = ds.FrictionProblem(np.eye(2), [-1.0, 0.0], [0.5], dim=2)
    known = (friction(), lcp(), stick)
    return next((p for p in known if solver.refuses(p) is None), known[0])


def recording(folder):
    path = folder / "run.h5"
    if not path.exists():
        ds.Simulation(world(), ds.TimeStepping(dt=0.01)).run(0.03, record=path, every=1)
    return ds.read_recording(path)


def trajectory():
    return ds.Simulation(world(), ds.TimeStepping(dt=0.01)).run(0.03, record=True)


def plain(function, use=repr, /, **args):
    return Case(lambda folder: function, args, use)


def method(make, name, use=repr, /, **args):
    return Case(lambda folder: getattr(make(), name), args, use)


def of_file(name, use=repr, /, **args):
    return Case(lambda folder: getattr(recording(folder), name), args, use)


class Made:
    """An argument that is made when it is used: it takes a run."""

    def __init__(self, make):
        self.make = make


AXIS = {"anchor": (0, 0, 0.1), "axis": (0, 1, 0)}
MOVED = {"limits": (-0.5, 0.5), "friction": 0.1, "spring": (1.0, 0.1), "breaks_at": 1e6}
DRIVEN = {"motor": ds.Motor(speed=1.0, max_force=10.0)}
TURNS = {"limits": {"turn": (-0.5, 0.5)}, "spring": {"turn": (1.0, 0.1)}, "breaks_at": (1e6, 1e6)}

JOINTS = {
    "Ball": {"anchor": (0, 0, 0.1), "axis": (0, 0, 1), "limits": {"swing": (0, 1)}, "friction": 1},
    "Hinge": {**AXIS, **MOVED, **DRIVEN},
    "Slider": {**AXIS, **MOVED, **DRIVEN},
    "Cylindrical": {**AXIS, **TURNS},
    "Universal": {**AXIS, "second_axis": (1, 0, 0), "limits": {"first": (-1, 1)}},
    "Fixed": {"orientation": (1, 0, 0, 0)},
    "Weld": {"anchor": (0, 0, 0)},
    "Distance": {"length": 0.4, "anchor_a": (0, 0, 0), "anchor_b": (0, 0, 0.5)},
    "PointOnLine": {**AXIS, "limits": (-0.5, 0.5)},
    "PointOnPlane": {**AXIS, "limits": {"x": (-1, 1)}},
    "PlanarJoint": {**AXIS, **TURNS},
    "Screw": {**AXIS, "pitch": 0.01},
    "Pin": {"anchor": (0, 0.1), **MOVED},
    "Slot": {"anchor": (0, 0.1), "axis": (1, 0), **TURNS},
    "Wheel": {"anchor": (0, 0, 0.1), "axis": (0, 0, 1), "axle": (0, 1, 0), "spring": (1, 1)},
}

SHAPES = {
    "Disk": {"radius": 1},
    "Ellipse": {"a": 1, "b": 2},
    "Capsule2D": {"length": 1, "radius": 2},
    "Polygon": {"points": SQUARE},
    "Rectangle": {"width": 1, "height": 2},
    "RegularPolygon": {"n": 5, "radius": 1},
    "HalfPlane": {"normal": (0, 1), "offset": 0.0},
    "Sphere": {"radius": 1},
    "Box": {"lx": 1, "ly": 2, "lz": 3},
    "Capsule": {"length": 1, "radius": 2},
    "Cylinder": {"length": 1, "radius": 2},
    "Cone": {"height": 1, "radius": 2},
    "Ellipsoid": {"a": 1, "b": 2, "c": 3},
    "Superquadric": {"a": 1, "b": 2, "c": 3, "e1": 0.5, "e2": 0.5},
    "ConvexPolyhedron": {"points": TETRA},
    "HalfSpace": {"normal": (0, 0, 1), "offset": 0.0},
    "Bowl": {"a": 1, "b": 1, "c": 1, "rim": 0.0},
    "TriangleMesh": {"vertices": TETRA, "faces": FACES, "thickness": 0.1},
    "Compound": {"parts": [ds.Sphere(1), (ds.Box(1, 1, 1), (2, 0, 0), (1, 0, 0, 0))]},
}


def ball(x, y, z):
    return x * x + y * y + z * z - 1


def globe(u, v):
    c = np.cos(v)
    return c * np.cos(u), c * np.sin(u), np.sin(v)


def ground_points(name):
    sample = [[0.0] * 3] if name not in FLAT else [[0.0] * 2]
    return {"points": sample}


FIXED = ("HalfPlane", "HalfSpace", "Bowl", "TriangleMesh")
FLAT = ("Disk", "Ellipse", "Capsule2D", "Polygon", "Rectangle", "RegularPolygon", "HalfPlane")

SOLVERS = {
    name: {} for name in ("Auto", "Lemke", "Dantzig", "Enumerative", "LP", "QP", "Lotstedt",
                          "Ramp", "QPSigns", "PGS", "NSGS", "Newton", "APGD", "ADMM",
                          "InteriorPoint")
}  # fmt: skip

BODY = {
    "shape": ds.Box(1, 1, 1), "name": "new", "mass": 1.0, "inertia": (1, 1, 1),
    "inertia_frame": (1, 0, 0, 0), "centre_of_mass": (0, 0, 0), "position": (5, 5, 5),
    "orientation": (1, 0, 0, 0), "velocity": (0, 0, 0), "angular_velocity": (0, 0, 0),
    "friction": 0.5, "restitution": 0.1, "cone": ds.EllipticCone((1.0, 0.5)),
    "cone_axis": (1, 0, 0), "layer": 1,
}  # fmt: skip


def steps(handle):
    """Nothing more to do with a handle."""


def build(planar=False):
    """add_body of a world, which is then built."""
    here = world(planar)

    def add_body(**args):
        here.add_body(**args)
        here.build()

    return wrapped_as(add_body, ds.World.add_body)


def wrapped_as(function, like):
    function.__signature__ = inspect.Signature(
        list(inspect.signature(like).parameters.values())[1:]
    )
    return function


def setter(name):
    def set_it(value):
        sim = simulation()
        setattr(sim.body("a"), name, value)
        sim.step()

    return set_it


def gravity(value):
    here = world()
    here.gravity = value
    ds.Simulation(here).step()


def cases():
    """By public name, or name.method."""
    out = {}
    for name, args in SHAPES.items():
        out[name] = plain(getattr(ds, name), use_shape, **args)
        made = lambda name=name, args=args: getattr(ds, name)(**args)  # noqa: E731
        out[f"{name}.contains"] = method(made, "contains", **ground_points(name))
        if name not in FIXED:
            out[f"{name}.mass_properties"] = method(made, "mass_properties", density=1.0)
        drawn = "outline" if name in FLAT else "mesh"
        out[f"{name}.{drawn}"] = method(made, drawn, n=8)
    out["ImplicitSurface"] = plain(ds.ImplicitSurface, use_shape, F=ball)
    out["ParametricSurface"] = plain(ds.ParametricSurface, use_shape, S=globe)
    out["ConvexPolyhedron.hull"] = plain(ds.ConvexPolyhedron.hull, use_shape, points=TETRA)
    for name, args in JOINTS.items():
        out[name] = plain(getattr(ds, name), use_joint, a="a", b="world", **args)
    out["Gear"] = plain(ds.Gear, use_joint, a="on_a", b="on_b", ratio=2.0)
    hinged = lambda **args: ds.Hinge("a", **AXIS, motor=ds.Motor(**args))  # noqa: E731
    out["Motor"] = Case(
        lambda folder: wrapped(hinged, ds.Motor), {"speed": 1, "max_force": 1}, use_joint
    )
    out["Motor.position"] = Case(
        lambda folder: wrapped(hinged, ds.Motor),
        {"position": 1, "gain": 1, "max_force": 1},
        use_joint,
    )
    for name, args in {
        "ConstantForce": {"body": "a", "force": (1, 0, 0), "torque": (0, 0, 0), "point": (0, 0, 0)},
        "Spring": {"a": "a", "b": "b", "anchor_a": (0, 0, 0), "anchor_b": (0, 0, 0),
                   "stiffness": 1.0, "rest_length": 0.1, "damping": 0.1},
        "TorsionSpring": {"a": "a", "stiffness": 1.0, "rest_angle": 0.0, "damping": 0.1,
                          "axis": (0, 0, 1)},
        "Damper": {"body": "a", "linear": 1.0, "angular": 1.0},
        "Drag": {"body": "a", "target": (0, 0, 1), "point": (0, 0, 0), "stiffness": 1.0,
                 "damping": 1.0, "limit": 10.0},
        "Callback": {"function": lambda model, state: np.zeros((model.nb, 6)), "name": "x"},
    }.items():  # fmt: skip
        out[name] = plain(getattr(ds, name), use_force, **args)
    out["Callback"].keep = ("fills",)  # then the function has another signature
    for name, args in {
        "Oscillation": {"direction": (1, 0, 0), "amplitude": 0.1, "frequency": 1.0, "phase": 0.0},
        "ConstantVelocity": {"velocity": (1, 0, 0), "angular_velocity": (0, 0, 0)},
        "MotionFunction": {"function": lambda t: ((0, 0, t), (1, 0, 0, 0))},
        "Rocking": {"amplitude": 0.1, "period": 1.0, "phase": 0.0, "axis": (1, 0, 0)},
        "Waypoints": {"times": (0, 1), "positions": [(0, 0, 0), (1, 0, 0)],
                      "orientations": [(1, 0, 0, 0), (1, 0, 0, 0)], "repeat": False},
    }.items():  # fmt: skip
        out[name] = plain(getattr(ds, name), use_motion, **args)
    for name in SOLVERS:
        out[name] = plain(getattr(ds, name), use_solver, time_limit=1.0)
        out[f"{name}.solve"] = method(
            lambda name=name: getattr(ds, name)(time_limit=1.0), "solve", problem=taken(name)
        )
    out["Penalty"] = plain(ds.Penalty, use_method, dt=0.01, damping=10.0, max_steps=50)
    out["Penalty"].keep = ("max_steps",)
    out["TimeStepping"] = plain(ds.TimeStepping, use_method, dt=0.01)
    out["EventDriven"] = plain(ds.EventDriven, use_method, dt=0.01)
    out["IslandPolicy"] = plain(
        ds.IslandPolicy,
        lambda value: use_method(ds.TimeStepping(policy=value)),
        small=8,
        closer=0.1,
    )
    out["EventGuards"] = plain(
        ds.EventGuards,
        lambda value: use_method(ds.EventDriven(dt=0.01, guards=value)),
        max_events=40,
    )
    out["Sleeping"] = plain(
        ds.Sleeping, lambda value: use_method(ds.TimeStepping(sleeping=value)), speed=1, duration=1
    )
    out["CollisionLaw"] = plain(
        ds.CollisionLaw, lambda law: use_method(ds.EventDriven(dt=0.01, collisions=law))
    )
    out |= problem_cases() | world_cases() | run_cases()
    return out


def wrapped(function, like):
    def call(**args):
        return function(**args)

    call.__signature__ = inspect.signature(like)
    return call


def problem_cases():
    out = {
        "LCP": plain(ds.LCP, use_problem, M=[[2, 1], [1, 2]], q=[-1, -1]),
        "MixedLCP": plain(
            ds.MixedLCP, use_problem, M=[[2, 1], [1, 2]], q=[-1, -1], free=[True, False]
        ),
        "BoxedLCP": plain(
            ds.BoxedLCP, use_problem, M=[[2, 1], [1, 2]], q=[-1, -1], lower=[0, 0], upper=[1, 1]
        ),
        "FrictionProblem": plain(
            ds.FrictionProblem, use_problem, W=np.eye(3), q=[-1, 0.5, 0], mu=[0.5], dim=3
        ),
        "GlobalFrictionProblem": plain(
            ds.GlobalFrictionProblem, use_problem,
            M=np.eye(3), H=np.eye(3), q=[0, 0, 0], b=[-1, 0.5, 0], mu=[0.5], dim=3,
        ),
        "DelassusOperator": plain(
            ds.DelassusOperator,
            lambda W: use_problem(ds.FrictionProblem(W, [-1, 0.5, 0], [0.5])),
            J=np.eye(3), inverse_mass=np.eye(3),
        ),
        "CircularCone": plain(ds.CircularCone),
        "EllipticCone": plain(ds.EllipticCone, cone, ratios=(1, 0.5), angle=0.0),
        "SoftFingerCone": plain(ds.SoftFingerCone, cone, radius=0.1),
        "PolyhedralCone": plain(ds.PolyhedralCone, cone, k=8),
        "to_lcp": plain(ds.to_lcp, problem=friction(), k=8),
        "to_conic": plain(
            ds.to_conic, problem=ds.FrictionProblem(np.eye(3), [-1, 0, 0], [0.5], law="convex")
        ),
        "scaled": plain(ds.scaled, problem=friction()),
        "solve": plain(ds.solve, problem=friction(), solver="auto", time_limit=1.0),
        "read_problem": plain(ds.read_problem, path="nowhere.npz"),
        "write_problem": Case(
            lambda folder: ds.write_problem, {"problem": friction(), "path": "nowhere/p.npz"}
        ),
    }  # fmt: skip
    for name, made in {"LCP": lcp, "FrictionProblem": friction}.items():
        value = np.zeros(made().size)
        for verb in ("dual", "residual", "residual_unit", "residuals"):
            out[f"{name}.{verb}"] = method(made, verb, value=value)
        out[f"{name}.check_guess"] = method(made, "check_guess", guess=value)
    return out


def cone(shape):
    W = np.eye(4 if isinstance(shape, ds.SoftFingerCone) else 3)
    use_problem(ds.FrictionProblem(W, [-1.0, 0.5, 0.0, 0.0][: len(W)], [0.5], cone=shape))


def world_cases():
    def ds_world(**args):
        here = ds.World(**args)
        here.add_ground()
        return here

    pinned = lambda: _with(world(), ds.Hinge("a", **AXIS, name="pin"))  # noqa: E731
    pulled = lambda: _with(world(), ds.ConstantForce("a", (1, 0, 0)))  # noqa: E731
    return {
        "World": Case(
            lambda folder: wrapped(ds_world, ds.World), {"gravity": (0, 0, -1), "planar": False}
        ),
        "World.gravity": plain(gravity, value=(0, 0, -1)),
        "World.add_body": Case(lambda folder: build(), BODY),
        "World.add_body planar": Case(
            lambda folder: build(True),
            {"shape": ds.Disk(1), "density": 100.0, "position": (5, 5), "orientation": 0.1,
             "velocity": (0, 0), "angular_velocity": 0.0},
        ),
        "World.add_ground": method(
            ds.World, "add_ground", friction=0.5, restitution=0.0, height=0.0, normal=(0, 0, 1),
            name="ground", layer=1,
        ),
        "World.add_joint": method(world, "add_joint", joint=ds.Hinge("a", **AXIS)),
        "World.add_force": method(world, "add_force", force=ds.Damper("a", 1.0, 1.0)),
        "World.build": method(world, "build", time=0.0),
        "World.change_body": method(world, "change_body", body="a", friction=0.1, restitution=0.1),
        "World.handle": method(world, "handle", name="a"),
        "World.ignore": method(world, "ignore", a="a", b="b"),
        "World.remove_body": method(world, "remove_body", body="a"),
        "World.remove_force": method(pulled, "remove_force", handle=None),
        "World.remove_joint": method(pinned, "remove_joint", joint="pin"),
        "World.set_pair": method(world, "set_pair", a="a", b="b", friction=0.5, restitution=0.1),
        "World.skip_uids": method(world, "skip_uids", body=5, geom=5, joint=5),
        "BodyHandle": plain(ds.BodyHandle, lambda h: world().remove_body(h), name="a", uid=1),
        "ForceHandle": plain(ds.ForceHandle, lambda h: world().remove_force(h), uid=0, force=None),
    }  # fmt: skip


def _with(here, thing):
    (here.add_joint if hasattr(thing, "collide") else here.add_force)(thing)
    return here


def run_cases():
    out = {
        "Simulation": plain(ds.Simulation, world=Made(world), method="time-stepping"),
        "Simulation.body": method(simulation, "body", body="a"),
        "Simulation.index": method(simulation, "index", body="a"),
        "Simulation.joint": method(simulation, "joint", name="a"),
        "Simulation.save_problem": method(simulation, "save_problem", path="nowhere/p.npz"),
        "Simulation.record": method(simulation, "record", path="nowhere/p.h5", every=1),
        "Simulation.restore": method(
            lambda: ds.Simulation(world()), "restore",
            snapshot=Made(lambda: ds.Simulation(world()).snapshot()),
        ),
        "Simulation.snapshot": method(simulation, "snapshot", callback=None),
        "Simulation.run": Case(
            lambda folder: simulation().run,
            {"duration": 0.01, "record": True, "every": 1, "contacts": True,
             "callback": lambda sim: False, "rng": None},
            alone=True,
        ),
        "Simulation.step": method(simulation, "step"),
        "Simulation.solutions": method(simulation, "solutions"),
        "Trajectory.state": method(trajectory, "state", k=0),
        "Trajectory.contacts": method(trajectory, "contacts", k=0),
        "Trajectory.series": method(trajectory, "series", name="kinetic"),
        "Recording": plain(ds.Recording, path="nowhere.h5"),
        "Recording.state": of_file("state", k=0),
        "Recording.contacts": of_file("contacts", k=0),
        "Recording.joints": of_file("joints", k=0),
        "Recording.reports": of_file("reports", k=1),
        "Recording.rows": of_file("rows", name="frames/position", first=0, last=1),
        "Recording.series": of_file("series", name="kinetic"),
        "Recording.snapshot": of_file("snapshot", k=-1),
        "Recording.to_pandas": of_file("to_pandas", what="bodies", frame=0),
        "Recording.frame_numbers": of_file("frame_numbers", k=0),
        "read_recording": plain(ds.read_recording, path="nowhere.h5"),
        "resume": plain(ds.resume, path="nowhere.h5", until=1.0),
        "plot": Case(lambda folder: ds.plot, {"run": Made(trajectory), "what": WHAT}, closed),
        "export": Case(
            lambda folder: ds.export,
            {"replay": Made(trajectory), "path": "nowhere/x.html", "to": "html"},
        ),
        "ExportFormat": plain(ds.ExportFormat, name="abc", about="letters", write=print),
        "Solver": plain(ds.Solver, tol=1e-6),
        "embed": plain(ds.embed, replays=Made(trajectory), height=100),
        "compare": plain(
            ds.compare, scene="incline", methods=["time-stepping"], duration=0.01, contacts=False
        ),
        "sweep": plain(
            ds.sweep, scene="incline", grid={"mu": [0.5]}, methods=("own",), duration=0.01, jobs=1
        ),
        "scene": plain(ds.scene, name="incline"),
        "Scene.simulation": method(lambda: ds.scene("incline"), "simulation", method=None),
        "scenes": plain(ds.scenes),
        "read_scene": plain(ds.read_scene, path="nowhere.yaml"),
        "write_scene": plain(
            ds.write_scene, path="nowhere/x.yaml", scene=Made(world), method=ds.TimeStepping(),
            duration=1.0, view={}, title="x",
        ),
        "decompose": plain(
            ds.decompose, vertices=TETRA, faces=FACES, method="auto", max_parts=4, tolerance=0.5,
        ),
        "decompose_polygon": plain(ds.decompose_polygon, points=SQUARE),
        "MassProperties.moved": method(
            mass, "moved", position=np.zeros(3), turn=np.eye(3)
        ),
        "MassProperties.inertia_about": method(mass, "inertia_about", point=np.zeros(3)),
        "MassProperties.scaled_to": method(mass, "scaled_to", mass=2.0),
    }  # fmt: skip
    for name in ("compare", "sweep"):  # an honest long run is no error
        out[name].alone, out[name].keep = True, ("duration",)
    for name, value in {
        "position": (0, 0, 1), "orientation": (1, 0, 0, 0), "velocity": (0, 0, 1),
        "angular_velocity": (0, 0, 1),
    }.items():  # fmt: skip
        out[f"Simulation.body.{name}"] = plain(setter(name), value=value)
    return out


def mass():
    return ds.Box(1, 1, 1).mass_properties(1.0)


def closed(figure):
    import matplotlib.pyplot as plt

    plt.close("all")


def right(case):
    """Its right arguments, made."""
    return {w: v.make() if isinstance(v, Made) else v for w, v in case.args.items()}


def callable_names():
    """Public names that can be called with something: neither errors nor lists of constants."""
    for name in ds.__all__:
        value = getattr(ds, name)
        failing = isinstance(value, type) and issubclass(value, BaseException | Enum)
        if callable(value) and not failing:
            yield name


# Made by the package itself, for its users to read.
READ_ONLY = (
    "StepReport", "EnergyLedger", "Conditions", "Trajectory", "Comparison", "Sweep", "Solution",
    "MassProperties", "Scene", "Snapshot", "Alternative", "RunSummary", "Event", "Impulse",
    "Answer", "ForceRange",
    "register_solver", "register_exporter",  # once for each name: tests/test_registry.py
    # bases of shapes: tests/geometry/test_outside_shapes.py
    "SupportShape", "ImplicitShape", "register_shape",
    # bases of methods: tests/steppers/test_own_methods.py
    "Method", "Stepper", "register_method",
    # bases of joints, and what they are made of: tests/constraints/joints/test_own_joints.py
    "Joint", "AxisJoint", "AlignedJoint", "JointFunction", "register_joint",
)  # fmt: skip
