"""Snapshots: what they take back, what they refuse, and what they leave alone."""

import copy
import pickle

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.packed import Packed


def box(size=0.2, **said):
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(size, size, size), name="box", position=(0, 0, 0.5), **said)
    return world


def steps(sim, count):
    for _ in range(count):
        sim.step()


def hung(method, anchor=(0, 0)):
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="bob", position=(1, 0))
    world.add_joint(ds.Pin("bob", "world", anchor=anchor, breaks_at=60.0, name="pin"))
    return ds.Simulation(world, method)


@pytest.mark.parametrize(
    "method",
    [
        ds.TimeStepping(dt=0.01),
        ds.TimeStepping(dt=0.01, joints="stabilize"),
        ds.TimeStepping(dt=0.01, order=2),
        ds.EventDriven(dt=0.01),
    ],
)
def test_joints_that_broke_since_are_whole_again(method):
    sim, broke = hung(method), []
    before = sim.snapshot()
    for _ in range(2):
        steps = 0
        while not sim.step().broken:
            steps += 1
            assert steps < 100
        after, speed = sim.snapshot(), sim.state.velocity.copy()
        broke.append((steps, speed))
        sim.step()
        fallen = sim.state.velocity.copy()
        sim.restore(after)
        assert len(sim.stepper.model.joints.names if sim.stepper.model.joints else ()) == 0
        sim.step()
        assert np.array_equal(sim.state.velocity, fallen)
        sim.restore(before)
        assert sim.joint("pin").position[0] == 0.0
    assert broke[0][0] == broke[1][0]
    assert np.array_equal(broke[0][1], broke[1][1])
    other = copy.deepcopy(sim)
    other.restore(after)
    other.step()
    assert np.array_equal(other.state.velocity, fallen)


def test_snapshots_of_other_worlds_and_methods_are_refused_by_name():
    moment = ds.Simulation(box()).snapshot()
    world = box()
    world.add_body(ds.Sphere(0.1), position=(3, 0, 3))
    planar = ds.World(planar=True)
    planar.add_ground()
    planar.add_body(ds.Disk(0.1), name="box", position=(0, 1))
    others = {
        "its shapes": ds.Simulation(box(0.2000001, mass=8.0, inertia=(0.1, 0.1, 0.1))),
        "masses": ds.Simulation(box(density=999.0)),
        "its bodies": ds.Simulation(world),
        "dt=0.01": ds.Simulation(box(), ds.TimeStepping(dt=0.01)),
        "EventDriven": ds.Simulation(box(), "event-driven"),
        " bodies": ds.Simulation(planar),
    }
    same_mass = ds.Simulation(box(mass=8.0, inertia=(0.1, 0.1, 0.1))).snapshot()
    for word, sim in others.items():
        known = same_mass if word == "its shapes" else moment
        before = sim.state.copy()
        for snapshot in (known, pickle.loads(pickle.dumps(known))):
            with pytest.raises(ds.OptionError, match=word):
                sim.restore(snapshot)
        assert np.array_equal(sim.state.position, before.position)
    for wrong in (None, 3, {}, moment.report, ds.Simulation(box())):
        with pytest.raises(ds.OptionError, match=r"sim\.snapshot\(\)"):
            ds.Simulation(box()).restore(wrong)
    jointed = hung(ds.TimeStepping())
    with pytest.raises(ds.OptionError, match="its joints differ"):
        hung(ds.TimeStepping(), anchor=(0.5, 0)).restore(jointed.snapshot())


def test_a_snapshot_survives_edits_that_leave_bodies_alone():
    sim = ds.Simulation(box(friction=0.5))
    sim.run(0.1)
    moment = sim.snapshot()
    sim.world.gravity = (0, 0, -1.0)
    sim.world.change_body("box", friction=0.1)
    sim.run(0.1)
    sim.restore(moment)
    assert sim.time == moment.time
    before = sim.state.velocity[1, 2]
    sim.step()
    assert sim.state.velocity[1, 2] - before == pytest.approx(-sim.method.dt)
    sim.world.add_body(ds.Sphere(0.1), position=(3, 0, 3))
    with pytest.raises(ds.OptionError, match="its bodies differ"):
        sim.restore(moment)
    sim.world.remove_body("body0")
    sim.restore(moment)
    assert sim.time == moment.time


def test_reset_is_the_start_of_the_world_as_it_is_now():
    sim = ds.Simulation(box())
    sim.origin["title"] = "a box"
    start = sim.state.copy()
    sim.run(0.5)
    sim.reset()
    assert (sim.time, sim.report) == (0.0, None)
    assert np.array_equal(sim.state.position, start.position)
    sim.run(0.5)
    there = sim.state.position.copy()
    sim.reset()
    sim.run(0.5)
    assert np.array_equal(sim.state.position, there)
    sim.world.add_body(ds.Sphere(0.1), position=(3, 0, 3))
    sim.reset()
    assert (sim.time, len(sim.bodies)) == (0.0, 3)
    assert sim.origin["title"] == "a box"
    sim.run(0.1)
    other = copy.deepcopy(sim)
    other.reset()
    assert other.time == 0.0
    assert sim.time == pytest.approx(0.1)


def test_a_simulation_that_is_recorded_does_not_go_back(tmp_path):
    sim = ds.Simulation(box())
    moment = sim.snapshot()
    with sim.record(tmp_path / "a.h5"):
        sim.run(0.1)
        for back in (sim.reset, lambda: sim.restore(moment)):
            with pytest.raises(ds.OptionError, match=r"recorded to .*a\.h5"):
                back()
        ahead = copy.deepcopy(sim)
        ahead.run(0.5)
        ahead.restore(moment)
        sim.run(0.1)
    sim.restore(moment)
    assert sim.time == 0.0
    assert ds.read_recording(tmp_path / "a.h5").time[-1] == pytest.approx(0.2)


def test_a_checkpoint_of_a_recording_is_restored(tmp_path):
    sim = ds.Simulation(box())
    rec = sim.run(0.2, record=tmp_path / "a.h5")
    sim.run(0.1)
    there = sim.state.position.copy()
    other = ds.Simulation(box())
    other.run(0.05)
    other.restore(rec.snapshot(-1))
    while other.time < sim.time - 1e-9:
        other.step()
    assert np.array_equal(other.state.position, there)


class Wind:
    """A force with a state, of which users may hold arrays."""

    def __init__(self):
        self.blown = np.zeros(1)

    def __call__(self, model, state):
        self.blown += 1.0
        return {"box": (self.blown[0], 0, 0, 0, 0, 0)}

    def state(self):
        return {"blown": self.blown}  # the array itself

    def restore(self, state):
        self.blown = state["blown"]


def test_what_users_bring_goes_back_with_it():
    wind, rng = Wind(), np.random.default_rng(3)
    world = box()
    world.add_force(ds.Callback(wind))
    sim = ds.Simulation(world)
    sim.run(0.05, rng=rng)
    moment, drawn = sim.snapshot(), rng.random(3)
    sim.run(0.1)
    truth, blown = sim.state.velocity.copy(), float(wind.blown[0])
    other = copy.deepcopy(sim)
    for one in (sim, sim, other):
        one.restore(moment)
        assert np.array_equal(one.rng.random(3), drawn)
        one.run(0.1)
        assert np.array_equal(one.state.velocity, truth)
    assert wind.blown[0] == blown
    assert sim.rng is rng
    assert other.rng is not rng
    other.run(0.1)
    assert wind.blown[0] == blown  # the copy has a wind of its own


def test_nobody_holds_addresses_of_another():
    pack = Packed(a=np.zeros(3), b=Packed(c=np.ones(2)))
    for cut in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="the Simulation itself"):
            cut(pack)
    with pytest.raises(AttributeError, match="put"):
        pack.a = np.zeros(3)
    with pytest.raises(AttributeError):
        del pack.a
    with pytest.raises(TypeError, match="the Simulation itself"):
        copy.deepcopy(ds.Simulation(box()).stepper)
    assert pack.a.size == 3


class Trap:
    """A force that fails, or throws a body away, when it is told to."""

    def __init__(self):
        self.mood = None

    def __call__(self, model, state):
        if self.mood == "raise":
            raise KeyError("trap")
        return {"bob": np.full(model.dof, 1e300 if self.mood == "throw" else 0.0)}


@pytest.mark.parametrize("mood", ["raise", "throw"])
@pytest.mark.parametrize(
    "method", [ds.TimeStepping(), ds.TimeStepping(order=2), ds.EventDriven(), ds.Penalty()]
)
@pytest.mark.parametrize("jointed", [False, True])
def test_a_run_that_failed_goes_back(method, mood, jointed):
    world, trap = ds.World(planar=True), Trap()
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="bob", position=(1, 0.1), velocity=(1, 0))
    world.add_body(ds.Rectangle(0.2, 0.2), name="block", position=(3, 0.1))
    if jointed and not isinstance(method, ds.Penalty):  # stiff, and slow
        world.add_joint(ds.Pin("block", "world", anchor=(3, 0.5)))
    world.add_force(ds.Callback(trap))
    sim = ds.Simulation(world, method)
    for _ in range(3):
        sim.step()
    moment = sim.snapshot()
    for _ in range(3):
        sim.step()
    truth = sim.state.copy()
    trap.mood = mood
    with pytest.raises((KeyError, ds.SimulationError, RuntimeWarning)):  # an error in tests
        steps(sim, 5)
    trap.mood = None
    sim.restore(moment)
    for _ in range(3):
        sim.step()
    assert np.array_equal(sim.state.position, truth.position)
    assert np.array_equal(sim.state.velocity, truth.velocity)


@pytest.mark.parametrize("method", [ds.TimeStepping(), ds.EventDriven(dt=0.01)])
def test_a_callback_looks_ahead_and_comes_back(method):
    """With the very simulation that is run: it ends, and counts, as if nothing had been."""
    plain, sim = (ds.Simulation(box(), method) for _ in range(2))
    truth = plain.run(0.105, record=True)

    def ahead(sim):
        moment = sim.snapshot()
        for _ in range(2):
            sim.run(0.055)
            sim.step()
            sim.restore(moment)
        other = copy.deepcopy(sim)
        other.step()
        assert other.summary.steps == sim.summary.steps + 1

    found = sim.run(0.105, record=True, callback=ahead)
    assert np.array_equal(found.position, truth.position)
    assert found.time.tolist() == truth.time.tolist()
    assert str(sim.summary) == str(plain.summary)
    assert sim.events == plain.events
    sim.run(0.105)
    plain.run(0.105)
    assert np.array_equal(sim.state.position, plain.state.position)
    assert (sim.time, sim.summary.steps) == (plain.time, plain.summary.steps)
    with pytest.raises(ds.OptionError, match="left the simulation at"):
        sim.run(0.1, callback=lambda sim: sim.step())


def test_what_an_edit_put_into_another_body_is_found_in_copies():
    sim = ds.Simulation(box())
    sim.run(0.01)
    sim.world.add_body(ds.Sphere(0.1), name="ball", position=(0, 0, 0.5))
    for other in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), sim):
        with pytest.raises(ds.ModelError, match="ball"):
            other.step()


def test_checkpoints_that_are_none_are_refused():
    sim = ds.Simulation(box(), ds.TimeStepping(dt=0.01))
    steps(sim, 3)
    known, before = sim.checkpoint(), sim.state.copy()
    for name in (
        "position",
        "orientation",
        "velocity",
        "time",
        "steps",
        "start",
        "stepper",
        "kept",
    ):
        with pytest.raises(ds.OptionError, match=f"without {name}"):
            sim.restore({k: v for k, v in known.items() if k != name})
        with pytest.raises(ds.OptionError, match=f"{name} = 'a text'"):
            sim.restore({**known, name: "a text"})
    for name, value in (
        ("since", "a text"), ("since", 10**400), ("remainder", None), ("remainder", np.nan),
        ("summary", 3), ("summary", "{"), ("velocity", known["velocity"] + np.inf),
    ):  # fmt: skip
        with pytest.raises(ds.OptionError, match=f"{name} = "):
            sim.restore({**known, name: value})
    for rng in (3, {}, {"bit_generator": "PCG64"}, {"bit_generator": "PCG64", "state": {}}):
        with pytest.raises(ds.RecordingError, match="random numbers"):
            sim.restore({**known, "kept": {"rng": rng}})
    with pytest.raises(ds.OptionError, match=r"shape \(1, 3\) .* another world"):
        sim.restore({**known, "position": known["position"][:1]})
    with pytest.raises(ds.OptionError, match="not 3"):
        sim.restore(3)
    assert (sim.state.position == before.position).all()
    sim.restore(known)
    sim.step()


OTHERS = {
    "joints": lambda: jointed_box(),
    "shapes": lambda: ds.Simulation(box_of(ds.Sphere(0.1)), ds.TimeStepping(dt=0.01)),
    "method": lambda: ds.Simulation(box(), ds.EventDriven(dt=0.01)),
    "law": lambda: ds.Simulation(box(), ds.Penalty(dt=0.01)),
    "step": lambda: ds.Simulation(box(), ds.TimeStepping(dt=0.02)),
}


def box_of(shape):
    world = ds.World()
    world.add_ground()
    world.add_body(shape, name="box", position=(0, 0, 0.5))
    return world


def jointed_box():
    world = box()
    world.add_joint(ds.Ball("box", "world", anchor=(0, 0, 1), name="ball"))
    return ds.Simulation(world, ds.TimeStepping(dt=0.01))


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_checkpoints_of_others_are_refused_and_leave_no_trace(other):
    sim = ds.Simulation(box(), ds.TimeStepping(dt=0.01))
    steps(sim, 40)  # it lies on the ground
    twin, tried = other(), other()
    steps(twin, 5)
    steps(tried, 5)
    with pytest.raises(ds.OptionError, match="of another"):
        tried.restore(sim.checkpoint())
    steps(twin, 5)
    steps(tried, 5)
    assert (tried.state.position == twin.state.position).all()
    assert tried.summary == twin.summary


def crate(shape=None, name="box", mass=8.0, **said):
    world = ds.World()
    world.add_ground()
    inertia, shape = (0.05, 0.05, 0.05), shape or ds.Box(0.2, 0.2, 0.2)
    place = (0, 0, 0.5)
    world.add_body(shape, name=name, position=place, mass=mass, inertia=inertia, **said)
    return world


def hung_crate():
    world = crate()
    world.add_joint(ds.Ball("box", "world", anchor=(0, 0, 1), name="ball"))
    return world


STRANGERS = {
    "its shapes": lambda: crate(ds.Box(0.2, 0.2, 0.3)),
    "the masses of its bodies": lambda: crate(mass=3.0),
    "its bodies": lambda: crate(name="crate"),
    "its joints": hung_crate,
}


@pytest.mark.parametrize(("what", "other"), STRANGERS.items(), ids=STRANGERS)
@pytest.mark.parametrize("at_rest", [False, True])
def test_checkpoints_say_of_which_world_they_are(tmp_path, what, other, at_rest):
    """Also in flight, where nothing that the last step left tells worlds apart; also those of
    recordings."""
    sim, stranger = (ds.Simulation(w, ds.TimeStepping(dt=0.01)) for w in (crate(), other()))
    twin = ds.Simulation(crate(friction=0.2), ds.TimeStepping(dt=0.01))
    path = tmp_path / "a.h5"
    with sim.record(path, every=1):
        steps(sim, 60 if at_rest else 3)
    with ds.read_recording(path) as rec:
        kept = rec.snapshot(len(rec.checkpoints) - 1)
    for known in (sim.checkpoint(), kept):
        before = stranger.state.position.copy()
        with pytest.raises(ds.OptionError, match=f"of another world.*: {what} differ"):
            stranger.restore(known)
        assert (stranger.state.position == before).all()
        twin.restore(known)  # friction may have been said anew
        twin.step()
        del known["structure"]  # as files of before
        twin.restore(known)
    with pytest.raises(ds.OptionError, match="structure = 3"):
        twin.restore({**sim.checkpoint(), "structure": 3})


def test_recorders_are_not_copied(tmp_path):
    sim = ds.Simulation(box(), ds.TimeStepping(dt=0.01))
    with sim.record(tmp_path / "a.h5") as recorder:
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(ds.RecordingError, match="cannot be copied"):
                make(recorder)
