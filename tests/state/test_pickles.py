"""Worlds, shapes, recordings and answers in other processes; functions go there by their names."""

import copy
import inspect
import math
import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import drystone as ds
from drystone.geometry.detector import Detector
from drystone.geometry.shapes import Shape
from drystone.scenes import scene

TETRAHEDRON = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SHAPES = [
    ds.Box(0.1, 0.2, 0.3),
    ds.Sphere(0.1),
    ds.Ellipsoid(0.1, 0.2, 0.3),
    ds.Superquadric(0.1, 0.2, 0.3, 0.5, 0.5),
    ds.Capsule(0.1, 0.2),
    ds.Cylinder(0.1, 0.2),
    ds.Cone(0.1, 0.2),
    ds.HalfSpace((1, 1, 1), 0.5),
    ds.ConvexPolyhedron(TETRAHEDRON),
    ds.TriangleMesh(TETRAHEDRON, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]),
    ds.Compound([ds.Sphere(0.1), (ds.Box(0.1, 0.1, 0.1), (1, 0, 0))]),
    ds.Disk(0.1),
    ds.Ellipse(0.1, 0.2),
    ds.Capsule2D(0.1, 0.2),
    ds.HalfPlane((1, 1), 0.5),
    ds.Polygon([(0, 0), (1, 0), (0, 1)]),
    ds.Rectangle(0.1, 0.2),
    ds.RegularPolygon(5, 0.1),
]


def egg(x, y, z):
    return x * x + y * y + z * z * (1.0 + 0.1 * z) - 1.0


def branching(x, y, z):  # called with numbers: no tape
    return x * x + y * y + (z * z if z > 0 else 4.0 * z * z) - 1.0


def wave(t):
    return (0.0, 0.0, 5.0 + 0.1 * math.sin(t)), (1, 0, 0, 0)


def pull(model, state):
    return {"egg": (0.1, 0, 0, 0, 0, 0)}


def pieces_equal(a, b):
    return len(a) == len(b) and all(
        np.array_equal(x, y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)
    )


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_shapes_come_back_equal(shape):
    assert copy.copy(shape) is shape
    assert copy.deepcopy(shape) is shape  # nothing can change it
    other = pickle.loads(pickle.dumps(shape))
    assert other == shape
    assert hash(other) == hash(shape)
    assert repr(other) == repr(shape)
    assert pieces_equal(other.pieces(), shape.pieces())
    for field in fields(other):
        value = getattr(other, field.name)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable
    if type(shape).__name__ not in ("HalfSpace", "HalfPlane", "TriangleMesh"):
        a, b = other.mass_properties(900.0), shape.mass_properties(900.0)
        assert (a.mass, np.array_equal(a.inertia, b.inertia)) == (b.mass, True)


def test_every_shape_is_among_them():
    known = {type(shape) for shape in SHAPES} | {ds.ImplicitSurface, ds.ParametricSurface, ds.Bowl}
    public = {v for v in vars(ds).values() if inspect.isclass(v) and issubclass(v, Shape)}
    assert {kind for kind in public if not inspect.isabstract(kind)} <= known


@pytest.mark.parametrize("function", [egg, branching])
def test_surfaces_of_functions_go_by_their_names(function):
    shape = ds.ImplicitSurface(function)
    other = pickle.loads(pickle.dumps(shape))
    assert other.F is function
    assert other == shape
    worlds = []
    for surface in (shape, other):
        world = ds.World()
        world.add_ground()
        world.add_body(surface, name="egg", position=(0, 0, 1.1), velocity=(0, 0, -9))
        worlds.append(world)
    del shape, other, surface, world  # worlds keep what kernels call
    first, second = (ds.Simulation(world) for world in worlds)
    third = copy.deepcopy(first)
    del worlds
    for sim in (first, second):
        for _ in range(30):
            sim.step()
    del first
    for _ in range(30):
        third.step()
    assert np.array_equal(second.state.position, third.state.position)
    assert second.report.contacts > 0


def test_functions_that_cannot_be_found_by_name_are_refused_with_a_reason():
    lost = [
        lambda: ds.ImplicitSurface(lambda x, y, z: x * x + y * y + z * z - 1.0),
        lambda: ds.Callback(lambda model, state: {}),
        lambda: ds.Callback(partial(lambda k, model, state: {}, 3)),
        lambda: ds.MotionFunction(lambda t: ((0, 0, 0), (1, 0, 0, 0))),
    ]
    for make in lost:
        thing, world = make(), ds.World()
        if isinstance(thing, ds.Callback):
            world.add_force(thing)
        elif isinstance(thing, ds.ImplicitSurface):
            world.add_body(thing)
        else:
            world.add_body(ds.Sphere(0.1), motion=thing)
        sim = ds.Simulation(world)
        for what in (thing, world, sim):
            with pytest.raises(ds.DescriptionError, match="lambda> cannot be pickled"):
                pickle.dumps(what)
            copy.deepcopy(what)  # that can be done
        sim.step()


def test_a_model_from_another_process_calls_no_address():
    world = ds.World()
    world.add_body(ds.ImplicitSurface(branching), name="egg", position=(0, 0, 2))
    world.add_ground()
    model, _ = world.build()
    other = pickle.loads(pickle.dumps(model))
    with pytest.raises(ds.ModelError, match=r"'egg'.* stayed in the process"):
        Detector(other.geoms, other.mass > 0, other.layer, names=other.names)
    kept = ds.Simulation(world).run(0.02, record=True)
    there = pickle.loads(pickle.dumps(kept))
    assert np.array_equal(there.position, kept.position)


def test_trajectories_recordings_reports_and_answers(tmp_path):
    made = scene("four-bar")
    made.world.add_force(ds.Callback(lambda model, state: {}))
    sim = ds.Simulation(made.world)
    kept = sim.run(0.1, record=True, contacts=True)
    rec = ds.Simulation(scene("four-bar").world).run(0.1, record=tmp_path / "a.h5")
    problem = ds.LCP([[2, 1], [1, 2]], [-5, -6])
    solution = ds.solve(problem)
    for cut in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        other = cut(kept)
        assert np.array_equal(other.position, kept.position)
        assert np.array_equal(other.series("residual"), kept.series("residual"))
        assert np.array_equal(other.contacts(-1), kept.contacts(-1))
        other.state(0).position[:] = 7.0
        assert not (kept.position[0] == 7.0).any()
        assert np.array_equal(cut(rec).position, rec.position)
        assert cut(sim.report).energy == sim.report.energy
        assert np.array_equal(cut(solution).value, solution.value)
        assert np.array_equal(ds.solve(cut(problem)).value, solution.value)
    assert np.array_equal(rec.position, ds.read_recording(tmp_path / "a.h5").position)


CHILD = """
    import pickle, sys
    sys.path.insert(0, {here!r})
    sims = pickle.load(open({given!r}, "rb"))
    for sim in sims:
        for _ in range(4):
            sim.step()
    states = [(s.time, s.state.position, s.state.velocity, s.contacts.tobytes()) for s in sims]
    pickle.dump(states, open({out!r}, "wb"))
"""


def test_simulations_go_on_in_another_process(tmp_path, monkeypatch):
    """To the same bits: with contacts, joints, functions, each method, in the midst of things."""
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    import test_pickles as importable  # as the other process knows this file

    world = ds.World()
    world.add_ground()
    surface = ds.ImplicitSurface(importable.egg)
    world.add_body(surface, name="egg", position=(0, 0, 1.12), velocity=(0, 0, -9))
    world.add_body(ds.Sphere(0.1), motion=ds.MotionFunction(importable.wave))
    world.add_force(ds.Callback(importable.pull))
    sims = [
        ds.Simulation(world),
        scene("four-bar").simulation(),
        scene("billiard-three").simulation(ds.EventDriven()),
        scene("sliding-block").simulation(ds.Penalty()),
    ]
    for sim in sims:
        for _ in range(3):
            sim.step()
    given, out = tmp_path / "given", tmp_path / "out"
    given.write_bytes(pickle.dumps(sims))
    code = textwrap.dedent(CHILD).format(here=here, given=str(given), out=str(out))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=900)
    there = pickle.loads(out.read_bytes())
    for sim, (time, position, velocity, contacts) in zip(sims, there, strict=True):
        for _ in range(4):
            sim.step()
        assert sim.time == time
        assert np.array_equal(sim.state.position, position)
        assert np.array_equal(sim.state.velocity, velocity)
        assert sim.contacts.tobytes() == contacts
    assert sims[0].report.contacts > 0
