"""A run that was interrupted ends in the bits of one that was not."""

import numpy as np
import pytest

import drystone as ds
from drystone.recording.packing import pack, unpack
from drystone.scenes import scene

# name, settings, method, steps: what steppers keep differs from one to the next
CASES = [
    ("brazil-nut", {}, None, 30),
    ("spheres", {"n": 60}, None, 120),
    ("wall", {}, None, 30),
    ("arch", {}, None, 30),
    ("disks-21", {}, None, 40),
    ("newton-cradle", {}, None, 40),
    ("tippe-top", {}, None, 60),
    ("rattleback", {}, None, 60),
    ("four-bar", {}, None, 40),
    ("double-pendulum", {}, None, 40),
    ("chain-drop", {}, None, 20),
    ("gripper", {}, None, 30),
    ("double-action-jack", {}, None, 6),
    ("dominoes", {}, ds.TimeStepping(sleeping=ds.Sleeping()), 60),
    ("pyramid", {}, ds.TimeStepping(solver="nsgs"), 6),
    ("pyramid", {}, ds.TimeStepping(order=2), 20),
    ("four-bar", {}, ds.TimeStepping(joints="project"), 20),
    ("sliding-block", {}, ds.Penalty(), 20),
    ("double-pendulum", {}, ds.Penalty(), 4),
    ("billiard-three", {}, ds.EventDriven(), 12),
    ("ellipse-drop", {}, ds.EventDriven(integrator="adams"), 12),
    ("double-pendulum", {}, ds.EventDriven(), 6),
]


def made(name, settings, method):
    return scene(name, **settings).simulation(method)


def same_state(a, b):
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for part in ("position", "orientation", "velocity")
    ) and a.time == b.time  # fmt: skip


SUMMED = "relative_depth", "deepest", "unsolved_body"  # a recording has them in its summary


def same_report(a, b, *more):
    skipped = {"seconds", "island_residuals", "island_sizes", *more}
    for name in type(a).__dataclass_fields__:
        x, y = getattr(a, name), getattr(b, name)
        if name not in skipped and not (x == y or (x != x and y != y)):
            return False
    return True


@pytest.mark.parametrize(("name", "settings", "method", "steps"), CASES)
def test_a_run_in_two_halves_is_one_run(name, settings, method, steps):
    whole, first = made(name, settings, method), made(name, settings, method)
    reports = [whole.step() for _ in range(steps)]
    for _ in range(steps // 2):
        first.step()
    snapshot = unpack(pack(first.checkpoint()))
    second = made(name, settings, method)
    second.restore(snapshot)
    for k in range(steps // 2, steps):
        assert same_report(second.step(), reports[k]), f"step {k}"
    assert same_state(second.state, whole.state)


@pytest.mark.parametrize("name", ["brazil-nut", "spheres", "four-bar"])
def test_what_is_recorded_is_what_happened(name, tmp_path):
    settings = {"n": 40} if name == "spheres" else {}
    sim, plain = (scene(name, **settings).simulation() for _ in range(2))
    dt = sim.method.dt
    rec = sim.run(24 * dt, record=tmp_path / "a.h5", every=3)
    states, tables, reports, joints = [plain.state.copy()], [plain.contacts], [None], [None]
    for k in range(24):
        report = plain.step()
        if k % 3 == 2:
            states.append(plain.state.copy())
            tables.append(plain.contacts)
            joints.append(plain.joints)
            reports.append(report)
    assert len(rec) == len(states) == 9
    assert rec.complete
    for k, state in enumerate(states):
        assert same_state(rec.state(k), state)
        assert rec.contacts(k).dtype == tables[k].dtype
        assert np.array_equal(rec.contacts(k), tables[k])
        if k:
            assert same_report(rec.reports(k), reports[k], *SUMMED)
            assert np.array_equal(rec.reports(k).island_sizes, reports[k].island_sizes)
            assert rec.series("total")[k - 1] == reports[k].energy.total
            assert np.array_equal(rec.joints(k), joints[k])
    assert rec.model.names == plain.model.names
    assert rec.summary == sim.summary == plain.summary


def test_steps_by_hand_by_callback_and_in_one_loop_give_one_file(tmp_path):
    def frames(way):
        sim = scene("spheres", n=30).simulation()
        path = tmp_path / f"{way}.h5"
        if way == "loop":
            sim.run(0.1, record=path, every=2)
        elif way == "callback":
            sim.run(0.1, record=path, every=2, callback=lambda sim: True)
        else:
            with sim.record(path, every=2):
                sim.run(0.05)
                for _ in range(12):
                    sim.step()
        return ds.read_recording(path)

    a, b, c = frames("loop"), frames("callback"), frames("hand")
    for other in (b, c):
        assert np.array_equal(a.time, other.time)
        assert np.array_equal(a.velocity, other.velocity)
        assert all(np.array_equal(a.contacts(k), other.contacts(k)) for k in range(len(a)))


class Noise:
    """A callback with a memory of its own."""

    def __init__(self):
        self.calls = 0

    def __call__(self, sim):
        self.calls += 1
        view = sim.body("ball0")
        view.velocity = view.velocity + sim.rng.normal(size=3) * 1e-3 / self.calls

    def state(self):
        return {"calls": self.calls}

    def restore(self, state):
        self.calls = state["calls"]


def world_with_function(gain=1.0):
    world = ds.World()
    world.add_ground()
    for k in range(3):
        world.add_body(ds.Sphere(0.1), name=f"ball{k}", position=(0.3 * k, 0, 0.15))
    world.add_force(ds.Callback(lambda model, state: {"ball0": (gain, 0, 0, 0, 0, 0)}))
    return world


def test_random_numbers_and_callbacks_go_on(tmp_path):
    path = tmp_path / "a.h5"
    args = {"rng": np.random.default_rng(7), "callback": Noise()}
    ds.Simulation(world_with_function()).run(0.1, record=path, **args)
    with pytest.raises(ds.RecordingError, match=r"Python functions.*world=world"):
        ds.resume(path, until=0.2)
    with pytest.raises(ds.RecordingError, match="had a callback with a state"):
        ds.resume(path, until=0.2, world=world_with_function())
    sim = ds.resume(path, until=0.2, world=world_with_function(), callback=Noise())
    whole = ds.Simulation(world_with_function())
    whole.run(0.2, callback=Noise(), rng=np.random.default_rng(7))
    assert same_state(sim.state, whole.state)
    other = world_with_function()
    other.gravity = (0, 0, -9.8)
    with pytest.raises(ds.RecordingError, match="gravity is different"):
        ds.resume(path, until=0.3, world=other, callback=Noise())


def test_frames_that_do_not_repeat_are_noticed(tmp_path):
    path = tmp_path / "a.h5"
    world = world_with_function()
    sim = ds.Simulation(world)
    recorder = sim.record(path, every=1, until=0.2)
    sim.run(0.1)
    recorder._keep = lambda: None  # as if it had been killed before it could say where it was
    recorder.close()
    assert len(ds.read_recording(path).checkpoints) == 1
    with pytest.raises(ds.RecordingError, match="does not repeat"):
        ds.resume(path, world=world_with_function(1.001))
    sim = ds.resume(path, world=world_with_function())
    whole = ds.Simulation(world_with_function())
    whole.run(0.2)
    assert same_state(sim.state, whole.state)
    rec = ds.read_recording(path)
    assert np.array_equal(rec.time, np.arange(len(rec)) * rec.dt)
