"""Clusters of events, where steps with impulses take over; checked against closed forms and
against the same motion by events."""

from types import SimpleNamespace

import numpy as np
import pytest

import drystone as ds
from drystone.errors import OptionError
from drystone.scenes.stacks import dominoes
from drystone.steppers.event_driven import guards
from drystone.steppers.event_driven.guards import EVENT_WINDOW, LARGE_ISLAND, SLOW_STEPS, Guard

G = 9.81


def crowded(world, **options):
    """A simulation in which the cluster of events never ends."""
    sim = ds.Simulation(world, method=ds.EventDriven(**options))
    sim.stepper.loop.guard.until = np.inf
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
    sim = crowded(puck(planar), guards=ds.EventGuards(cluster_step=h))
    start = sim.body("puck").position.copy()
    reports = run(sim, 0.2)
    far = np.linalg.norm(sim.body("puck").position - start)
    assert far == pytest.approx(0.3**2 / (2 * 0.4 * G), abs=0.4 * G * h**2)
    assert {e.kind for r in reports for e in r.events} == {"cluster"}
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
        sim = crowded(world, guards=ds.EventGuards(cluster_step=h), dt=0.01)
        reports = run(sim, 0.5)
        assert all(len(r.events) == 1 for r in reports), "no crumbs of frames"
        bob = sim.body("bob")
        fell = -float(bob.position[1])
        miss.append(abs(float(bob.velocity @ bob.velocity) - 2 * G * fell))
    assert miss[0] < 1e-3
    assert miss[1] < 0.3 * miss[0]
    assert miss[2] < 0.3 * miss[1]


def test_turns_of_joints_are_counted_through_a_cluster():
    """30 rad/s for half a second are more than two turns; then events go on from there."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Cylinder(0.1, 0.05), name="wheel", angular_velocity=(0, 0, 30.0))
    world.add_joint(ds.Hinge("wheel", "world", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    sim = crowded(world, dt=0.01)
    run(sim, 0.5)
    assert abs(float(sim.joint("axle").position[0])) == pytest.approx(15.0, abs=1e-9)
    sim.stepper.loop.guard.until = 0.0
    run(sim, 0.6)
    assert abs(float(sim.joint("axle").position[0])) == pytest.approx(18.0, abs=1e-7)


def test_restitution_holds_in_a_cluster():
    world = ds.World(planar=True)
    world.add_ground(restitution=0.6)
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 1.1), restitution=0.6)
    sim = crowded(world)
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
    sims = [
        ds.Simulation(world, method=ds.EventDriven()),
        crowded(world, guards=ds.EventGuards(cluster_step=2.5e-4)),
    ]
    sums = []
    for sim in sims:
        reports = run(sim, 1.0)
        assert max(abs(r.energy.unexplained) for r in reports) < 1e-8
        parts = ("loads", "driving", "friction")
        sums.append([sum(getattr(r.energy, p) for r in reports) for p in parts])
    np.testing.assert_allclose(sums[0], sums[1], atol=5e-3)


def test_dominoes_through_clusters_fall_as_by_events():
    """To first order in the step, also where events take over again."""
    away = []
    exact = ds.Simulation(dominoes(n=4).world, method=ds.EventDriven())
    run(exact, 0.6)
    for h in (1e-3, 5e-4, 2.5e-4):
        method = ds.EventDriven(guards=ds.EventGuards(max_events=1, cluster_step=h))
        sim = ds.Simulation(dominoes(n=4).world, method=method)
        reports = run(sim, 0.6)
        cluster_frames = sum(any(e.kind == "cluster" for e in r.events) for r in reports)
        assert 3 <= cluster_frames <= 25
        assert max(r.penetration for r in reports) < 1e-9
        assert max(abs(r.energy.unexplained) for r in reports) < 1e-9
        away.append(np.abs(sim.state.position - exact.state.position).max())
    assert away[0] < 1e-5
    assert away[1] < 0.6 * away[0]
    assert away[2] < 0.6 * away[1]


def test_a_run_through_clusters_resumes_to_the_bit():
    method = ds.EventDriven(guards=ds.EventGuards(max_events=1))
    whole, first, second = (
        ds.Simulation(dominoes(n=3).world, method=method) for _ in range(3)
    )  # fmt: skip
    run(whole, 0.5)
    run(first, 0.15)
    assert first.report.events[-1].kind == "cluster"
    second.restore(first.snapshot())
    run(second, 0.5)
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(whole.state, name), getattr(second.state, name))


def test_joints_break_at_the_end_of_a_frame_in_a_cluster():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="bob", mass=2.0, position=(0, -1))
    world.add_joint(ds.Pin("bob", "world", anchor=(0, 0), breaks_at=19.0, name="pin"))
    sim = crowded(world, dt=0.01)
    report = sim.step()
    assert report.broken == ("pin",)
    assert np.linalg.norm(sim.joints["force"][0]) == pytest.approx(2.0 * G, rel=1e-6)
    sim.step()
    assert sim.body("bob").velocity[1] == pytest.approx(-0.01 * G, rel=1e-6)


@pytest.mark.parametrize(
    ("contacts", "lengths"), [(20, [2, 4, 8, 16, 16]), (256, [2, 4, 8, 16, 32])]
)
def test_longer_clusters_ask_for_fewer_events(contacts, lengths):
    """And in large islands an event counts for more."""
    guard = Guard(ds.EventGuards())
    weight = max(1, contacts / LARGE_ISLAND) ** 2

    def until_cluster(t):
        count = 1
        while not guard.count_event(t, contacts):
            count += 1
        return count

    assert until_cluster(0.0) == 80 // weight + 1
    assert guard.until == pytest.approx(EVENT_WINDOW)
    found, counts = [], []
    for _ in lengths:
        t = guard.since = guard.until
        guard.count = 0.0
        counts.append(until_cluster(t))
        found.append((guard.until - t) / EVENT_WINDOW)
    assert found == pytest.approx(lengths)
    assert counts == sorted(counts, reverse=True)


def test_after_a_calm_while_a_cluster_is_forgotten():
    guard = Guard(ds.EventGuards())
    for _ in range(81):
        guard.count_event(0.0, 4)
    assert guard.length == EVENT_WINDOW
    for _ in range(80):
        assert not guard.count_event(1.0, 4)
    assert guard.length == 0.0


@pytest.mark.parametrize("h", [1e-3, 1e-6, 1e-10, 1e-15])
def test_steps_may_be_as_short_as_rounding(h):
    """What an event leaves of a frame: no gap is closed at any speed."""
    sim = crowded(puck(False))
    sim.step()
    clusters, state = sim.stepper.loop.clusters, sim.state.copy()
    for lifted in (4e-10, -4e-10):
        state.position[1, 2] = 0.05 + lifted
        after, report = clusters.stepper.step(state, h)
        away = np.abs(after.velocity[1] - state.velocity[1]).max()
        closing = abs(lifted) / h if h > 1e-4 else 0.0
        assert away <= 2 * G * h + 1.01 * closing + 1e-12
        assert report.ok


@pytest.mark.parametrize(("most", "goes_on"), [(3, True), (4, False)])
def test_huge_islands_stay_in_a_cluster(most, goes_on, monkeypatch):
    """A puck on four corners: huge if more than three are."""
    monkeypatch.setattr(guards, "HUGE_ISLAND", most)
    sim = ds.Simulation(puck(False), method=ds.EventDriven())
    sim.stepper.loop.guard.until = 0.5 * EVENT_WINDOW
    first, second = sim.step(), sim.step()
    assert first.events[0].kind == "cluster"
    assert bool(second.events) == goes_on


@pytest.mark.parametrize("contacts", [LARGE_ISLAND, LARGE_ISLAND + 1])
@pytest.mark.parametrize("smooth", [True, False])
def test_many_contacts_without_an_index_set_are_a_cluster(contacts, smooth):
    guard = Guard(ds.EventGuards())
    begins = guard.without_index_set(1.0, mode_of(contacts, smooth=smooth))
    assert begins == (contacts > LARGE_ISLAND and not smooth)
    assert (guard.until > 1.0) == begins


@pytest.mark.parametrize(
    ("speed", "frozen", "counts"),
    [(9e-4, False, True), (1.1e-3, False, False), (9e-4, True, False)],
)
def test_steps_count_where_slow_slip_turns(speed, frozen, counts):
    guard = Guard(ds.EventGuards())
    u = np.array([[0.0, 0.6 * speed, 0.8 * speed]])
    now = SimpleNamespace(rows=SimpleNamespace(state=SimpleNamespace(u=u)))
    mode = mode_of(1, slides=np.array([True]), frozen=np.array([frozen]))
    steps = 0
    while steps < 2000 and not guard.count_step(0.0, mode, now):
        steps += 1
    assert steps == (80 * SLOW_STEPS if counts else 2000)


def mode_of(contacts, smooth=True, **sliding):
    island = SimpleNamespace(system=SimpleNamespace(contacts=np.arange(contacts)))
    forces = SimpleNamespace(islands=[island])
    return SimpleNamespace(smooth=smooth, forces=forces, sliding=SimpleNamespace(**sliding))


@pytest.mark.parametrize(
    ("options", "word"),
    [({"max_events": 0}, "EventGuards.max_events = 0"), ({"max_events": True}, "max_events"),
     ({"cluster_step": 0.0}, "EventGuards.cluster_step = 0"), ({"max_events": 2.5}, "max_events"),
     ({"cluster_step": float("nan")}, "cluster_step"),
     ({"cluster_step": "short"}, "cluster_step")],
)  # fmt: skip
def test_bad_options_are_named(options, word):
    with pytest.raises(OptionError, match=word):
        ds.EventGuards(**options)


def test_guards_must_be_guards():
    with pytest.raises(OptionError, match=r"EventDriven.guards = 3: expected ds.EventGuards"):
        ds.EventDriven(guards=3)


@pytest.mark.parametrize(
    ("old", "new"),
    [({"max_events": 9}, {"max_events": 9}),
     ({"storm_step": 1e-3}, {"cluster_step": 1e-3})],
)  # fmt: skip
def test_earlier_names_of_options_still_work_and_say_where_they_went(old, new):
    with pytest.warns(DeprecationWarning, match=f"EventGuards\\({next(iter(new))}="):
        method = ds.EventDriven(**old)
    assert method == ds.EventDriven(guards=ds.EventGuards(**new))
