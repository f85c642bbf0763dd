"""Storms: where events crowd, steps with impulses take over; checked against closed forms and
against the same motion by events."""

from types import SimpleNamespace

import numpy as np
import pytest

import drystone as ds
from drystone.errors import OptionError
from drystone.scenes.stacks import dominoes
from drystone.steppers.event_driven import storm
from drystone.steppers.event_driven.storm import LARGE, STEPS, WINDOW, Storms

G = 9.81


def stormy(world, **options):
    """A simulation in which the storm never ends."""
    sim = ds.Simulation(world, method=ds.EventDriven(**options))
    sim.stepper.loop.storms.until = np.inf
    return sim


def run(sim, duration):
    reports = []
    while sim.time < duration - 1e-12:
        reports.append(sim.step())
    return reports


def puck(planar, speed=0.3, mu=0.4):
    world = ds.World(planar=planar)
    world.add_ground(friction=mu)
    if planar:
        shape, place, v = ds.Rectangle(0.2, 0.1), (0, 0.05), (speed, 0)
    else:
        shape, place, v = ds.Box(0.2, 0.2, 0.1), (0, 0, 0.05), (0.6 * speed, 0.8 * speed, 0)
    world.add_body(shape, name="puck", position=place, velocity=v, friction=mu, mass=2.0)
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_a_puck_stops_where_it_should_and_its_weight_can_be_read(planar):
    """s = v^2 / (2 mu g); the step in which it stops is as long as the others: order h^2."""
    h = 1e-3
    sim = stormy(puck(planar), storm_step=h)
    start = sim.body("puck").position.copy()
    reports = run(sim, 0.2)
    far = np.linalg.norm(sim.body("puck").position - start)
    assert far == pytest.approx(0.3**2 / (2 * 0.4 * G), abs=0.4 * G * h**2)
    assert {e.kind for r in reports for e in r.events} == {"storm"}
    assert np.abs(sim.body("puck").velocity).max() < 1e-9
    assert abs(sim.contacts["force"].sum(axis=0)[-1]) == pytest.approx(2.0 * G, rel=1e-6)
    assert max(r.penetration for r in reports) < 1e-9
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-12


def test_smooth_motion_is_of_second_order():
    """A pendulum that swings to its lowest point: v^2 = 2 g l."""
    miss = []
    for h in (2e-3, 1e-3, 5e-4):
        world = ds.World(planar=True)
        world.add_body(ds.Disk(0.1), name="bob", mass=1.0, inertia=1e-12, position=(1, 0))
        world.add_joint(ds.Pin("bob", "world", anchor=(0, 0)))
        sim = stormy(world, storm_step=h, dt=0.01)
        reports = run(sim, 0.5)
        assert all(len(r.events) == 1 for r in reports), "no crumbs of frames"
        bob = sim.body("bob")
        fell = -float(bob.position[1])
        miss.append(abs(float(bob.velocity @ bob.velocity) - 2 * G * fell))
    assert miss[0] < 1e-3
    assert miss[1] < 0.3 * miss[0]
    assert miss[2] < 0.3 * miss[1]


def test_turns_of_joints_are_counted_through_a_storm():
    """30 rad/s for half a second are more than two turns; then events go on from there."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Cylinder(0.1, 0.05), name="wheel", angular_velocity=(0, 0, 30.0))
    world.add_joint(ds.Hinge("wheel", "world", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    sim = stormy(world, dt=0.01)
    run(sim, 0.5)
    assert abs(float(sim.joint("axle").position[0])) == pytest.approx(15.0, abs=1e-9)
    sim.stepper.loop.storms.until = 0.0
    run(sim, 0.6)
    assert abs(float(sim.joint("axle").position[0])) == pytest.approx(18.0, abs=1e-7)


def test_restitution_holds_in_a_storm():
    world = ds.World(planar=True)
    world.add_ground(restitution=0.6)
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 1.1), restitution=0.6)
    sim = stormy(world)
    run(sim, np.sqrt(2 / G) + 0.02)
    v = float(sim.body("ball").velocity[1])
    up = v + G * (sim.time - np.sqrt(2 / G))
    assert up == pytest.approx(0.6 * np.sqrt(2 * G), abs=2 * G * 2e-3)


def test_springs_and_driven_bodies_are_in_the_books():
    """A belt drags a block on a spring: loads and driving are told apart, nothing is left."""
    world = ds.World(planar=True)
    world.add_body(
        ds.Rectangle(10, 0.2), name="belt", position=(0, -0.1), friction=0.5,
        motion=ds.Oscillation((1, 0), amplitude=0.3, frequency=1.0),
    )  # fmt: skip
    world.add_body(ds.Rectangle(0.2, 0.2), name="block", mass=1.0, position=(0, 0.1), friction=0.5)
    world.add_force(
        ds.Spring("block", "world", stiffness=40.0, rest_length=0.5, anchor_b=(0.5, 0.1))
    )
    sims = [ds.Simulation(world, method=ds.EventDriven()), stormy(world, storm_step=2.5e-4)]
    sums = []
    for sim in sims:
        reports = run(sim, 1.0)
        assert max(abs(r.energy.unexplained) for r in reports) < 1e-8
        parts = ("loads", "driving", "friction")
        sums.append([sum(getattr(r.energy, p) for r in reports) for p in parts])
    np.testing.assert_allclose(sums[0], sums[1], atol=5e-3)


def test_dominoes_through_storms_fall_as_by_events():
    """To first order in the step, also where events take over again."""
    away = []
    exact = ds.Simulation(dominoes(n=4).world, method=ds.EventDriven())
    run(exact, 0.6)
    for h in (1e-3, 5e-4, 2.5e-4):
        method = ds.EventDriven(max_events=1, storm_step=h)
        sim = ds.Simulation(dominoes(n=4).world, method=method)
        reports = run(sim, 0.6)
        stormy_frames = sum(any(e.kind == "storm" for e in r.events) for r in reports)
        assert 3 <= stormy_frames <= 25
        assert max(r.penetration for r in reports) < 1e-9
        assert max(abs(r.energy.unexplained) for r in reports) < 1e-9
        away.append(np.abs(sim.state.position - exact.state.position).max())
    assert away[0] < 1e-5
    assert away[1] < 0.6 * away[0]
    assert away[2] < 0.6 * away[1]


def test_a_run_through_storms_resumes_to_the_bit():
    method = ds.EventDriven(max_events=1)
    whole, first, second = (
        ds.Simulation(dominoes(n=3).world, method=method) for _ in range(3)
    )  # fmt: skip
    run(whole, 0.5)
    run(first, 0.15)
    assert first.report.events[-1].kind == "storm"
    second.restore(first.snapshot())
    run(second, 0.5)
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(whole.state, name), getattr(second.state, name))


def test_joints_break_at_the_end_of_a_frame_in_a_storm():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="bob", mass=2.0, position=(0, -1))
    world.add_joint(ds.Pin("bob", "world", anchor=(0, 0), breaks_at=19.0, name="pin"))
    sim = stormy(world, dt=0.01)
    report = sim.step()
    assert report.broken == ("pin",)
    assert np.linalg.norm(sim.joints["force"][0]) == pytest.approx(2.0 * G, rel=1e-6)
    sim.step()
    assert sim.body("bob").velocity[1] == pytest.approx(-0.01 * G, rel=1e-6)


@pytest.mark.parametrize(
    ("contacts", "lengths"), [(20, [2, 4, 8, 16, 16]), (256, [2, 4, 8, 16, 32])]
)
def test_longer_storms_ask_for_fewer_events(contacts, lengths):
    """And in large islands an event counts for more."""
    storms = empty_storms()
    weight = max(1, contacts / LARGE) ** 2

    def until_storm(t):
        count = 1
        while not storms.event(t, contacts):
            count += 1
        return count

    assert until_storm(0.0) == 80 // weight + 1
    assert storms.until == pytest.approx(WINDOW)
    found, counts = [], []
    for _ in lengths:
        t = storms.since = storms.until
        storms.count = 0.0
        counts.append(until_storm(t))
        found.append((storms.until - t) / WINDOW)
    assert found == pytest.approx(lengths)
    assert counts == sorted(counts, reverse=True)


def test_after_a_calm_while_a_storm_is_forgotten():
    storms = empty_storms()
    for _ in range(81):
        storms.event(0.0, 4)
    assert storms.length == WINDOW
    for _ in range(80):
        assert not storms.event(1.0, 4)
    assert storms.length == 0.0


@pytest.mark.parametrize("h", [1e-3, 1e-6, 1e-10, 1e-15])
def test_steps_may_be_as_short_as_rounding(h):
    """What an event leaves of a frame: no gap is closed at any speed."""
    sim = stormy(puck(False))
    sim.step()
    storms, state = sim.stepper.loop.storms, sim.state.copy()
    for lifted in (4e-10, -4e-10):
        state.position[1, 2] = 0.05 + lifted
        after, report = storms.stepper.step(state, h)
        away = np.abs(after.velocity[1] - state.velocity[1]).max()
        closing = abs(lifted) / h if h > 1e-4 else 0.0
        assert away <= 2 * G * h + 1.01 * closing + 1e-12
        assert report.ok


@pytest.mark.parametrize(("most", "goes_on"), [(3, True), (4, False)])
def test_huge_islands_stay_in_a_storm(most, goes_on, monkeypatch):
    """A puck on four corners: huge if more than three are."""
    monkeypatch.setattr(storm, "HUGE", most)
    sim = ds.Simulation(puck(False), method=ds.EventDriven())
    sim.stepper.loop.storms.until = 0.5 * WINDOW
    first, second = sim.step(), sim.step()
    assert first.events[0].kind == "storm"
    assert bool(second.events) == goes_on


@pytest.mark.parametrize("contacts", [LARGE, LARGE + 1])
@pytest.mark.parametrize("smooth", [True, False])
def test_many_contacts_without_an_index_set_are_a_storm(contacts, smooth):
    storms = empty_storms()
    begins = storms.phase(1.0, mode_of(contacts, smooth=smooth))
    assert begins == (contacts > LARGE and not smooth)
    assert (storms.until > 1.0) == begins


@pytest.mark.parametrize(
    ("speed", "frozen", "counts"),
    [(9e-4, False, True), (1.1e-3, False, False), (9e-4, True, False)],
)
def test_steps_count_where_slow_slip_turns(speed, frozen, counts):
    storms = empty_storms()
    u = np.array([[0.0, 0.6 * speed, 0.8 * speed]])
    now = SimpleNamespace(rows=SimpleNamespace(state=SimpleNamespace(u=u)))
    mode = mode_of(1, slides=np.array([True]), frozen=np.array([frozen]))
    steps = 0
    while steps < 2000 and not storms.count_step(0.0, mode, now):
        steps += 1
    assert steps == (80 * STEPS if counts else 2000)


def mode_of(contacts, smooth=True, **sliding):
    island = SimpleNamespace(system=SimpleNamespace(contacts=np.arange(contacts)))
    forces = SimpleNamespace(islands=[island])
    return SimpleNamespace(smooth=smooth, forces=forces, sliding=SimpleNamespace(**sliding))


def empty_storms():
    world = ds.World()
    world.add_body(ds.Sphere(0.1))
    return Storms(ds.Simulation(world).stepper.model, 80, 1e-3, 1e-9)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"max_events": 0}, "max_events"), ({"max_events": True}, "max_events"),
     ({"storm_step": 0.0}, "storm_step"), ({"storm_step": float("nan")}, "storm_step")],
)  # fmt: skip
def test_bad_options_are_named(options, word):
    with pytest.raises(OptionError, match=word):
        ds.EventDriven(**options)
