"""Worlds with joints that are recorded: the compiled loop and steps one by one, to the bit."""

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.constraints.joints.rows import free_coordinates
from drystone.scenes import scene
from drystone.steppers.time_stepping.compiled_joints import CompiledJoints
from drystone.steppers.time_stepping.joint_buffers import JointBuffers
from drystone.steppers.time_stepping.joint_readout import joint_wrenches

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
    assert isinstance(sim.stepper, CompiledJoints)
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


def test_frames_of_the_loop_and_of_python_follow_each_other(tmp_path, monkeypatch):
    """Every third step is left to Python."""
    calls, find = {}, JointBuffers.find_spare

    def ask(self, parts):
        find(self, parts)
        self.j.large_excess = 1  # as if a group were too large for the loop

    def often(self):
        calls[self] = calls.get(self, 0) + 1
        return calls[self] % 3 != 0

    monkeypatch.setattr(JointBuffers, "find_spare", ask)
    monkeypatch.setattr(CompiledJoints, "_bears", often)
    same_in_both_ways(held_twice, 20, 1, tmp_path)
    same_in_both_ways(held_twice, 20, 2, tmp_path)
    kept = held_twice()
    reports = kept.run(9 * kept.method.dt, record=True, contacts=True).reports
    assert {bool(report.seconds) for report in reports} == {True, False}


@pytest.mark.parametrize("name", ["four-bar", "gripper"])
def test_forces_of_joints_are_those_of_their_rows(name):
    """Rows and arms worked out anew from the state, with NumPy."""
    sim = scene(name).simulation()
    sim.run(7 * sim.method.dt)
    stepper = sim.stepper
    joints, work, made, solved = sim.model.joints, stepper.work, stepper.rows, stepper.solved
    q = free_coordinates(joints, work.state, stepper.buffers.j.turns)
    force, torque = joint_wrenches(work, joints, made, solved, q)
    size = abs(force).max()
    assert size > 0
    assert np.allclose(sim.joints["force"], force, rtol=0, atol=1e-12 * size)
    assert np.allclose(sim.joints["torque"], torque, rtol=0, atol=1e-12 * size)
