"""Worlds with joints that are recorded: the compiled loop and steps one by one, to the bit."""

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.scenes import scene
from tests.tables_by_rows import wrenches_by_rows

# what depends on the clock, as the last column of sums, which is that of seconds
TIMED = ("checkpoints", "seconds")


def datasets(path):
    """Bytes of all that a recording has, by name."""
    out = {}

    def keep(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith(TIMED):
            rows = item[()]
            out[name] = (rows[:, :-1] if name == "frames/sums" else rows).tobytes()

    with h5py.File(path) as file:
        file.visititems(keep)
    return out


def held_twice():
    """Two bars that slide on the ground, on top of each other, held by two pins; and a spring."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.3)
    for k, name in enumerate(("bar", "lid")):
        place = (0.0, 0.05 + 0.1 * k)
        world.add_body(ds.Rectangle(0.4, 0.1), name=name, position=place, velocity=(1.0, 0.0))
    for k, x in enumerate((-0.1, 0.1)):
        world.add_joint(ds.Pin("lid", "bar", anchor=(x, 0.1), name=f"pin{k}"))
    world.add_force(ds.Spring("lid", anchor_b=(0.0, 1.0), stiffness=20.0, rest_length=0.5))
    return ds.Simulation(world)


def taut():
    """A chain between two walls: no step of it is closed by the loop."""
    world = ds.World(planar=True)
    before = "world"
    for k in range(3):
        place = (0.2 * k + 0.1, 1)
        world.add_body(ds.Rectangle(0.2, 0.05), name=f"link{k}", position=place, layer=k)
        world.add_joint(ds.Pin(f"link{k}", before, anchor=(0.2 * k, 1)))
        before = f"link{k}"
    world.add_joint(ds.Pin(before, "world", anchor=(0.6, 1)))
    return ds.Simulation(world)


CASES = {
    "four-bar": (lambda: scene("four-bar").simulation(), 40, 3),
    "gripper": (lambda: scene("gripper").simulation(), 24, 1),
    "held twice": (held_twice, 12, 1),
    "taut": (taut, 6, 2),
}


def recorded(make, steps, every, way, path):
    sim = make()
    assert sim.stepper.jointed
    watch = None if way == "loop" else lambda sim: True
    sim.run(steps * sim.method.dt, record=path, every=every, callback=watch)
    return datasets(path)


def same_in_both_ways(make, steps, every, folder):
    loop, single = (
        recorded(make, steps, every, way, folder / f"{way}.h5") for way in ("loop", "one by one")
    )
    assert loop.keys() == single.keys()
    assert [key for key in loop if loop[key] != single[key]] == []
    assert loop["joints"]


@pytest.mark.parametrize("name", CASES)
def test_the_loop_records_what_steps_one_by_one_record(name, tmp_path):
    same_in_both_ways(*CASES[name], tmp_path)


@pytest.mark.parametrize("name", ["four-bar", "gripper"])
def test_forces_of_joints_are_those_of_their_rows(name):
    """Rows and arms worked out anew from the state, with NumPy."""
    sim = scene(name).simulation()
    sim.run(6 * sim.method.dt)
    before = sim.state.copy()
    sim.step()
    force, torque = wrenches_by_rows(sim.stepper, before)
    size = abs(force).max()
    assert size > 0
    assert np.allclose(sim.joints["force"], force, rtol=0, atol=1e-12 * size)
    assert np.allclose(sim.joints["torque"], torque, rtol=0, atol=1e-12 * size)
