"""The same scene gives the same bits; another order or another frame gives the same physics."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.geometry.shapes import Box, Capsule, Ellipsoid, Sphere
from drystone.scenes import scene
from drystone.simulation import Simulation
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.world import World

SCENES = {
    "hopper": {"n": 30, "width": 14.0},
    "pyramid": {"rows": 4},
    "dominoes": {"n": 6},
    "spheres": {"n": 27},
}
SCRIPT = """
import hashlib, sys
from drystone.scenes import scene
for name, settings in {scenes!r}.items():
    sim = scene(name, **settings).simulation()
    for _ in range({steps}):
        sim.step()
    s = sim.state
    bits = s.position.tobytes() + s.orientation.tobytes() + s.velocity.tobytes()
    print(name, hashlib.sha256(bits).hexdigest())
"""


def bits(sim):
    s = sim.state
    return s.position.tobytes() + s.orientation.tobytes() + s.velocity.tobytes()


@pytest.mark.parametrize("name", ["hopper", "disks-21"])
def test_the_same_scene_twice_gives_the_same_bits(name):
    ends = []
    for _ in range(2):
        sim = scene(name, **SCENES.get(name, {})).simulation()
        for _ in range(1000 if name == "disks-21" else 500):
            sim.step()
        ends.append(bits(sim))
    assert ends[0] == ends[1]


def test_looking_changes_nothing():
    """Contacts, reports, problems and penetration may be read at any time."""
    quiet, watched = (scene("dominoes", n=4).simulation() for _ in range(2))
    for _ in range(120):
        quiet.step()
        watched.step()
        assert watched.penetration >= 0
        assert len(watched.contacts) >= 0
        watched.problem()
    assert bits(quiet) == bits(watched)


def test_threads_change_no_bit():
    """1000 steps in processes of their own, with one thread and with two."""
    script = SCRIPT.format(scenes=SCENES, steps=1000)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={
                **os.environ,
                "NUMBA_NUM_THREADS": str(threads),
                "OMP_NUM_THREADS": str(threads),
                "OPENBLAS_NUM_THREADS": str(threads),
                "PYTHONHASHSEED": str(threads),
                "DRYSTONE_QUIET": "1",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for threads in (1, 2)
    ]
    said = [run.communicate(timeout=900)[0] for run in runs]
    assert all(run.returncode == 0 for run in runs)
    assert said[0].count("\n") == len(SCENES)
    assert said[0] == said[1]


THINGS = {
    "box": (Box(0.3, 0.2, 0.1), (0.0, 0.0, 0.3), (1.0, 0.2, 0.1, 0.0)),
    "ball": (Sphere(0.1), (0.5, 0.1, 0.2), (1.0, 0.0, 0.0, 0.0)),
    "rod": (Capsule(0.3, 0.05), (-0.5, 0.0, 0.3), (1.0, 0.6, 0.1, 0.2)),
    "egg": (Ellipsoid(0.1, 0.12, 0.15), (0.0, 0.6, 0.25), (1.0, 0.1, 0.4, 0.0)),
    "plate": (Box(0.4, 0.4, 0.05), (0.0, -0.7, 0.2), (1.0, 0.05, 0.1, 0.0)),
    "rider": (Sphere(0.05), (0.02, -0.7, 0.35), (1.0, 0.0, 0.0, 0.0)),
}


def thrown(order, Q=None, shift=(0.0, 0.0, 0.0)):
    """Things thrown on the ground, added in an order; the whole world turned by Q and moved."""
    Q = Rotation.identity() if Q is None else Q
    up = Q.apply([0.0, 0.0, 1.0])
    world = World(-9.81 * up)
    shift = np.array(shift)
    added = False
    for name in order:
        if name == "ground":
            world.add_ground(normal=up, height=float(up @ shift), friction=0.4)
            added = True
            continue
        shape, place, turn = THINGS[name]
        turn = Q * Rotation.from_quat(turn, scalar_first=True)
        world.add_body(
            shape,
            name=name,
            friction=0.4,
            position=Q.apply(place) + shift,
            orientation=turn.as_quat(scalar_first=True),
            velocity=Q.apply([0.3, -0.2, 0.0]),
            angular_velocity=Q.apply([0.5, 1.0, -2.0]),
        )
    assert added
    sim = Simulation(world, TimeStepping(dt=1 / 240))
    sim.run(0.4)
    return {
        n: (Q.inv().apply(sim.body(n).centre_of_mass - shift), Q.inv().apply(sim.body(n).velocity))
        for n in THINGS
    }


def test_the_order_of_bodies_changes_nothing_that_is_unique():
    names = ["ground", *THINGS]
    first = thrown(names)
    assert first["rider"][0][2] > 0.05  # they met
    for order in (names[::-1], [*names[3:], *names[:3]]):
        again = thrown(order)
        for name in THINGS:
            assert again[name][0] == pytest.approx(first[name][0], abs=1e-6)
            assert again[name][1] == pytest.approx(first[name][1], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_frame_of_the_world_changes_nothing(seed):
    names = ["ground", *THINGS]
    first = thrown(names)
    rng = np.random.default_rng(seed)
    again = thrown(names, Rotation.random(rng=rng), rng.uniform(-1, 1, 3))
    for name in THINGS:
        assert again[name][0] == pytest.approx(first[name][0], abs=1e-6)
        assert again[name][1] == pytest.approx(first[name][1], abs=1e-4)
