"""A phase that no event ends goes on from frame to frame: the same motion, resumed to the bit."""

import numpy as np
import pytest

import drystone as ds
from drystone.scenes.base import rough
from drystone.steppers.event_driven.phase import Phase

PARTS = ("position", "orientation", "velocity")


def same_bits(a, b):
    assert a.state.time == b.state.time
    for name in PARTS:
        assert np.array_equal(getattr(a.state, name), getattr(b.state, name))
    for name in a.contacts.dtype.names:
        assert np.array_equal(a.contacts[name], b.contacts[name]), name
    assert a.report.events == b.report.events
    assert a.report.energy == b.report.energy
    assert a.report.evaluations == b.report.evaluations
    assert a.report.reuse == b.report.reuse


@pytest.mark.parametrize(
    ("name", "settings", "method", "frames"),
    [
        ("double-action-jack", {}, rough(), 30),
        ("double-action-jack", {}, ds.EventDriven(integrator="adams"), 9),
        ("block-feeder", {"n": 4}, rough(), 30),
        ("sliding-block", {}, ds.EventDriven(), 20),
        ("rolling-ball", {}, ds.EventDriven(), 15),
        ("dominoes", {"n": 3}, rough(), 30),
    ],
)
def test_a_phase_that_goes_on_is_resumed_to_the_bit(name, settings, method, frames):
    """From checkpoints of every third frame on, three frames each, beside the run itself."""
    scene = ds.scene(name, **settings)
    whole = scene.simulation(method)
    part, kept = None, 0
    for k in range(frames):
        if k % 3 == 0:
            part = scene.simulation(method)
            part.restore(whole.snapshot())
            # what has been read and not used yet is written again
            again = scene.simulation(method)
            again.restore(part.snapshot())
            part = again
            kept += "loop.phase.targets" in whole.checkpoint()["stepper"]
        whole.step()
        part.step()
        same_bits(whole, part)
    assert kept > frames // 12


@pytest.mark.parametrize(
    ("name", "settings", "frames"), [("double-action-jack", {}, 30), ("sliding-block", {}, 30)]
)
def test_phases_that_go_on_change_no_motion(name, settings, frames, monkeypatch):
    def run():
        sim = ds.scene(name, **settings).simulation(ds.EventDriven())
        events = [e for _ in range(frames) for e in sim.step().events]
        return sim.state, [(e.kind, e.names) for e in events]

    kept, events = run()
    monkeypatch.setattr(Phase, "lasts", lambda *_: False)
    anew, others = run()
    assert events == others
    for name in PARTS:
        np.testing.assert_allclose(getattr(kept, name), getattr(anew, name), atol=1e-7)


def sliding_box(velocity=2.0):
    world = ds.World(planar=True)
    world.add_ground(friction=0.3)
    world.add_body(
        ds.Rectangle(0.2, 0.2), name="box", density=500, friction=0.3, position=(0.0, 0.1),
        velocity=(velocity, 0.0),
    )  # fmt: skip
    return ds.Simulation(world, method=ds.EventDriven())


def test_who_moves_a_body_ends_the_phase():
    sim = sliding_box()
    sim.run(duration=5 / 60)
    sim.body("box").velocity = (0.0, 3.0)  # up and away
    sim.step()
    t = 1 / 60
    assert sim.body("box").position[1] == pytest.approx(0.1 + 3.0 * t - 9.81 * t * t / 2, abs=1e-9)


def test_forces_that_change_between_frames_act_at_once():
    sim, lift = sliding_box(), [0.0]
    sim.world.add_force(ds.Callback(lambda *_: {"box": (0.0, lift[0], 0.0)}))
    sim.run(duration=5 / 60)
    lift[0] = 3.0 * 9.81 * 500 * 0.2 * 0.2
    sim.step()
    assert sim.body("box").velocity[1] == pytest.approx(2.0 * 9.81 / 60)


def test_an_edited_world_ends_the_phase():
    sim = sliding_box()
    sim.run(duration=5 / 60)
    sim.world.gravity = (0.0, 9.81)
    sim.step()
    assert sim.body("box").velocity[1] == pytest.approx(9.81 / 60)


def test_contacts_that_part_do_not_stay():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", density=1000, position=(0.0, 0.2), restitution=0.8)
    sim = ds.Simulation(world, method=ds.EventDriven())
    met = 0
    for _ in range(40):
        report = sim.step()
        met += report.collisions
        if not report.events:
            assert report.contacts == 0
    assert met >= 2


def test_compiled_rates_stay_those_of_the_phase():
    """Edges that lay on each other as a phase began do not say whose corner touches later."""
    sim = ds.scene("block-feeder", n=10).simulation(rough())
    worst, kept = 0.0, 0
    for _ in range(100):
        sim.step()
        loop = sim.stepper.loop
        if not loop._lasts or loop.phase.fast is None:
            continue
        kept += 1
        y = loop.layout.pack(sim.state, np.zeros(4))
        phase, now = loop.phase, loop.phase.mode.evaluate(sim.state)
        rate = loop.layout.rate(y, now.state, now.acceleration, now.power)
        worst = max(worst, np.abs(phase.fast(sim.time, y) - rate).max() / np.abs(rate).max())
    assert kept > 50
    assert worst < 1e-10
