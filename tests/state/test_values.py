"""Simulations as values: copies, pickles and snapshots go on to the same bits."""

import copy
import gc
import pickle

import numpy as np
import pytest

import drystone as ds
from drystone.scenes import scene
from drystone.steppers.time_stepping import threads

pytestmark = pytest.mark.filterwarnings("ignore::drystone.errors.IgnoredWarning")
TS, ED = ds.TimeStepping, ds.EventDriven
# scene, settings, method, steps before and after: what steppers keep differs from one to the next
CASES = {
    "stack": ("heap", {}, None, 40, 8),
    "spheres": ("spheres", {"n": 30}, None, 12, 6),
    "collisions": ("newton-cradle", {}, None, 20, 10),
    "hull": ("arch", {}, None, 5, 4),
    "rolling": ("rattleback", {}, None, 20, 10),
    "loop": ("four-bar", {}, None, 10, 8),
    "chain": ("chain-drop", {}, None, 10, 5),
    "motors": ("gripper", {}, None, 8, 5),
    "planar": ("disks-21", {}, None, 15, 8),
    "sleeping": ("dominoes", {}, TS(sleeping=ds.Sleeping()), 20, 10),
    "order 2": ("heap", {}, TS(order=2), 30, 5),
    "pyramid cone": ("heap", {}, TS(cone=4), 30, 5),
    "named solver": ("heap", {}, TS(solver="nsgs"), 30, 5),
    "convex": ("heap", {}, TS(formulation="convex"), 30, 5),
    "end mass": ("heap", {}, TS(mass="end"), 30, 5),
    "retry": ("heap", {}, TS(on_failure="retry"), 30, 5),
    "bouncing": ("heap", {}, TS(restitution="newton"), 30, 5),
    "project": ("four-bar", {}, TS(joints="project"), 6, 4),
    "cold": ("heap", {}, TS(warm_start=False), 30, 5),
    "events": ("billiard-three", {}, ED(), 5, 3),
    "touching": ("newton-cradle", {}, ED(), 3, 2),
    "adams": ("ellipse-drop", {}, ED(integrator="adams"), 8, 5),
    "linkage": ("double-pendulum", {}, ED(), 4, 3),
    "cluster": ("dominoes", {"n": 4}, ED(guards=ds.EventGuards(max_events=1)), 10, 2),
    "springs": ("sliding-block", {}, ds.Penalty(), 8, 4),
    "sprung joints": ("double-pendulum", {}, ds.Penalty(rtol=1e-4), 1, 1),
}
CUTS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda sim: pickle.loads(pickle.dumps(sim)),
}


def heap(step=0.08, first=0.05):
    world = ds.World()
    world.add_ground(friction=0.6, restitution=0.3)
    for k in range(4):
        place = (0.03 * k, 0, first + step * k)
        world.add_body(ds.Box(0.2, 0.1, 0.06), name=f"b{k}", position=place)
    return world


def start(title, settings, method):
    if title == "heap":
        return ds.Simulation(heap(), method or "time-stepping")
    return scene(title, **settings).simulation(method)


def made(name):
    title, settings, method, before, after = CASES[name]
    sim = start(title, settings, method)
    for _ in range(before):
        sim.step()
    return sim, after


def told(sim):
    """All that can be read of a simulation between two steps, in an order."""
    state, report = sim.state, sim.report
    out = [sim.time, state.position, state.orientation, state.velocity, sim.contacts, sim.joints]
    if report is not None:
        skipped = {"seconds"}
        names = [name for name in type(report).__dataclass_fields__ if name not in skipped]
        out += [getattr(report, name) for name in names]
    return [copy.deepcopy(x) for x in (*out, *sim.energy)]


def same(a, b):
    return len(a) == len(b) and all(map(equal, a, b))


def equal(x, y):
    if isinstance(x, np.ndarray) and x.dtype.names:
        return x.dtype == y.dtype and x.tobytes() == y.tobytes()
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.array_equal(x, y)
    return x == y or (x != x and y != y)


def run(sim, steps):
    out = []
    for _ in range(steps):
        sim.step()
        out.append(told(sim))
    return out


def alike(a, b):
    return len(a) == len(b) and all(map(same, a, b))


@pytest.mark.parametrize("name", CASES)
def test_copies_and_snapshots_go_on_to_the_same_bits(name):
    sim, steps = made(name)
    moment, here = sim.snapshot(), told(sim)
    bytes_of_it = pickle.dumps(moment)
    copies = {cut: made_by(sim) for cut, made_by in CUTS.items()}
    truth = run(sim, steps)
    for cut, other in copies.items():
        assert same(told(other), here), cut
        assert alike(run(other, steps), truth), cut
    copied = copies["deepcopy"]
    for other in (sim, copied, sim, pickle.loads(pickle.dumps(copied))):
        other.restore(moment)
        assert same(told(other), here)
        assert alike(run(other, steps), truth)
    assert pickle.dumps(moment) == bytes_of_it
    again, _ = made(name)
    again.reset()
    title, settings, method, before, _ = CASES[name]
    fresh = start(title, settings, method)
    assert same(told(again), told(fresh))
    for _ in range(before):
        again.step()
    assert same(told(again), here)
    again.restore(pickle.loads(bytes_of_it))
    assert alike(run(again, steps), truth)


@pytest.mark.kernels
@pytest.mark.parametrize("cut", CUTS)
def test_a_copy_needs_nothing_of_its_original(cut):
    whole, part = (ds.Simulation(heap(0.0602, 0.0301)) for _ in range(2))  # soon in touch
    for _ in range(12):
        whole.step()
    for _ in range(8):
        part.step()
    other = CUTS[cut](part)
    del part
    gc.collect()
    junk = [np.full(1000, np.nan) for _ in range(2000)]  # where its arrays were
    for _ in range(4):
        other.step()
    assert same(told(other), told(whole))
    assert other.report.contacts > 0
    del junk


def test_islands_on_two_threads(monkeypatch):
    """Contacts enough for threads: copies are made, and go on, as on one."""
    monkeypatch.setattr(threads, "count_threads", lambda: 2)
    monkeypatch.setattr(threads, "SHARED_TOTAL", 4)
    sim = ds.Simulation(heap(0.0602, 0.0301))
    for _ in range(8):
        sim.step()
    moment, others = sim.snapshot(), [made_by(sim) for made_by in CUTS.values()]
    truth = run(sim, 4)
    for other in (*others, sim):
        other.restore(moment)
        assert alike(run(other, 4), truth)


def test_a_copy_and_its_original_share_nothing_that_changes():
    sim = ds.Simulation(heap())
    sim.run(0.1)
    other = copy.deepcopy(sim)
    before = told(sim)
    other.run(0.2)
    other.body("b3").velocity = (1, 2, 3)
    other.state.position[:] += 1.0
    other.world.remove_body("b2")
    other.world.gravity = (0, 0, 9.81)
    other.run(0.1)
    assert same(told(sim), before)
    assert len(other.bodies) == len(sim.bodies) - 1
    handle = sim.world.handle("b1")
    assert handle in other.world
    other.world.change_body(handle, friction=0.1)
    assert np.array_equal(sim.model.friction, ds.Simulation(heap()).model.friction)
