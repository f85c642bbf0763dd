"""Events: impact times, laws of impact, grazing, simultaneous and infinitely many impacts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.steppers.event_driven.locate import _lowest

G = 9.81


def impacts(sim, duration, kind="impact"):
    out = []
    while sim.time < duration - 1e-9:
        out += [e for e in sim.step().events if e.kind == kind]
    return out


def falling_ball(eps, height=1.0, **options):
    world = ds.World(planar=True)
    world.add_ground(friction=0.3)
    world.add_body(
        ds.Disk(0.1), name="ball", density=1000, position=(0, 0.1 + height), restitution=eps
    )
    return ds.Simulation(world, method=ds.EventDriven(dt=0.05, **options))


@pytest.mark.parametrize("integrator", ["dop853", "adams"])
def test_twenty_bounces_at_their_times(integrator):
    eps, t = 0.8, np.sqrt(2 / G)
    speed, wanted = G * t, []
    for _ in range(20):
        wanted.append(t)
        speed *= eps
        t += 2 * speed / G
    found = [e.time for e in impacts(falling_ball(eps, integrator=integrator), 4.1)]
    assert found[:20] == pytest.approx(wanted, abs=1e-9)


def test_energy_of_every_impact_is_in_the_report():
    sim = falling_ball(0.5)
    start = sum(sim.energy)
    mass = sim.body("ball").mass
    lost = [e.energy for e in impacts(sim, 1.0)]
    first = mass * G * 1.0
    assert lost[:2] == pytest.approx([-0.75 * first, -0.75 * 0.25 * first], rel=1e-9)
    assert sum(sim.energy) - start == pytest.approx(sum(lost), rel=1e-9)


def test_infinitely_many_impacts_end_at_the_resting_speed():
    """The ball comes to rest at t0 (1 + eps) / (1 - eps), after finitely many impacts."""
    eps = 0.6
    sim = falling_ball(eps, rest_speed=1e-6)
    hits = impacts(sim, 2.0)
    rest = np.sqrt(2 / G) * (1 + eps) / (1 - eps)
    assert hits[-1].time == pytest.approx(rest, abs=1e-6)
    assert len(hits) == pytest.approx(np.log(1e-6 / np.sqrt(2 * G)) / np.log(eps), abs=2)
    assert sim.body("ball").velocity == pytest.approx([0, 0], abs=1e-12)
    assert sim.contacts["force"][0, 1] == pytest.approx(sim.body("ball").mass * G, rel=1e-9)


def test_every_impact_of_a_ball_that_keeps_its_energy_is_followed():
    """177 impacts in one frame, 2.8 ms apart: not a cluster, and none is left out."""
    height, eps, frame = 1e-5, 1.0, 0.5
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(
        ds.Disk(0.1), name="ball", density=1, position=(0, 0.1 + height), restitution=eps
    )
    sim = ds.Simulation(world, method=ds.EventDriven(dt=frame))
    report = sim.step()
    fall = np.sqrt(2 * height / G)
    assert report.collisions == int((frame / fall + 1) / 2)
    assert [e.kind for e in report.events if e.kind != "touch"] == ["impact"] * report.collisions
    assert abs(report.energy.change) < 1e-9 * sim.body("ball").mass * G * height


def test_impacts_nearer_to_each_other_are_a_cluster():
    """A ball that keeps its energy and bounces 800 times a frame of 1/60 s."""
    height = 5e-10
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", density=1, position=(0, 0.1 + height), restitution=1)
    sim = ds.Simulation(world, method=ds.EventDriven(touch=1e-11, rest_speed=1e-8))
    report = sim.step()
    assert report.collisions <= ds.EventGuards().max_events + 2
    assert any("cluster" in line for line in report.log)


def test_a_rocking_block_comes_to_rest_in_finite_time():
    world = ds.World(planar=True)
    world.add_ground(friction=0.8)
    world.add_body(
        ds.Rectangle(0.4, 0.2), name="b", density=100, friction=0.8, orientation=0.1,
        position=(0, 0.2 * np.sin(0.1) + 0.1 * np.cos(0.1)),
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05, rtol=1e-6, atol=1e-8))
    depth, evaluations = 0.0, 0
    while sim.time < 0.8:
        report = sim.step()
        depth, evaluations = max(depth, report.penetration), evaluations + report.evaluations
        assert evaluations < 100_000
    assert sim.body("b").orientation == pytest.approx(0, abs=1e-6)
    assert np.abs(sim.state.velocity[1]).max() < 1e-9
    assert depth < 1e-9


@pytest.mark.parametrize(("slip", "spin"), [(0.2, 0.0), (4.0, 0.0), (1.0, 30.0), (-3.0, 5.0)])
def test_a_disk_with_spin_hits_the_ground_by_the_closed_form(slip, spin):
    """Sticks if friction can take the slip, m |u_t| / 3 <= mu (1 + eps) m u_n; else slides."""
    eps, mu, radius, speed = 0.5, 0.3, 0.1, 2.0
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_ground(friction=mu)
    world.add_body(
        ds.Disk(radius), name="d", mass=1.0, inertia=0.5 * radius**2, position=(0, 0.3),
        velocity=(slip, -speed), angular_velocity=spin, friction=mu, restitution=eps,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.2, rtol=1e-10))
    (hit,) = impacts(sim, 0.2)
    u = slip + radius * spin  # of the lowest point
    most = mu * (1 + eps) * speed
    push = -u / 3 if abs(u) / 3 <= most else -np.sign(u) * most
    assert hit.time == pytest.approx(0.1, abs=1e-12)
    assert sim.body("d").velocity == pytest.approx([slip + push, eps * speed], abs=1e-10)
    assert sim.body("d").angular_velocity == pytest.approx(spin + 2 * push / radius, abs=1e-8)


def routh_by_hand(W, u, mu, eps):
    """Poisson's impact of one contact in the plane in steps of normal impulse: du = W (1, f) dp."""
    u, p, slip = np.array(u), 0.0, np.sign(u[1])
    work, end = 0.0, np.inf
    for _ in range(10):
        if slip == 0:  # at rest: what holds it, or which way it gives
            f = -W[1, 0] / W[1, 1]
            if abs(f) > mu:
                slip = -np.sign(f)
        f = -mu * slip if slip else -W[1, 0] / W[1, 1]
        rate = W @ [1.0, f]
        steps = [end - p]
        if end == np.inf and rate[0] > 0:
            steps.append(-u[0] / rate[0])
        if slip and rate[1] * slip < 0:
            steps.append(-u[1] / rate[1])
        s = min(steps)
        u, p = u + s * rate, p + s
        if end == np.inf and abs(u[0]) < 1e-12:
            end = (1 + eps) * p
        elif p >= end * (1 - 1e-12):
            return u
        if slip and abs(u[1]) < 1e-12:
            u[1], slip = 0.0, 0
    raise AssertionError(work)


@pytest.mark.parametrize(
    ("mu", "along", "regime"),
    [
        (0.6, -3.0, "slip"),
        (0.6, -0.3, "stick"),
        (0.6, 0.4, "stick"),
        (0.6, 2.0, "slip"),
        (0.2, 0.4, "reversal"),
        (0.2, 2.0, "slip"),
    ],
)
def test_a_rod_hits_with_its_tip_by_the_exact_law(mu, along, regime):
    """Slip, stick and reversed slip, against an impact followed by hand."""
    eps, turn, radius = 0.4, 1.0, 0.01
    inertia = 1 / 12
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_ground(friction=mu)
    arm = np.array([-0.5 * np.cos(turn), -0.5 * np.sin(turn) - radius])
    world.add_body(
        ds.Capsule2D(1.0, radius), name="rod", mass=1.0, inertia=inertia, orientation=turn,
        position=(0, 0.1 - arm[1]), velocity=(along, -1.0), friction=mu, restitution=eps,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.15, collisions="routh"))
    impacts(sim, 0.15)
    t, n = np.array([-1.0, 0.0]), np.array([0.0, 1.0])  # of the ground below the rod
    J = np.array([[*n, arm[0] * n[1] - arm[1] * n[0]], [*t, arm[0] * t[1] - arm[1] * t[0]]])
    W = J @ np.diag([1, 1, 1 / inertia]) @ J.T
    before = J @ [along, -1.0, 0.0]
    after = J @ [*sim.body("rod").velocity, sim.body("rod").angular_velocity]
    ends = {0.0: "stick", 1.0: "slip", -1.0: "reversal"}
    assert ends[np.sign(before[1]) * np.sign(np.round(after[1], 9))] == regime
    # the tip has turned on since: its velocity at the instant of impact
    assert after == pytest.approx(routh_by_hand(W, before, mu, eps), abs=1e-9)


def test_balls_that_meet_at_once_are_one_event():
    """Baraff 1989, 8: one ball strikes two that touch it at the same instant, symmetric."""
    world = ds.World(planar=True, gravity=(0, 0))
    up = np.sqrt(3) / 2
    for name, place, speed in (
        ("one", (-1.0, 0.0), (1.0, 0.0)),
        ("two", (up, 0.5), (0.0, 0.0)),
        ("three", (up, -0.5), (0.0, 0.0)),
    ):
        world.add_body(
            ds.Disk(0.5), name=name, mass=1.0, position=place, velocity=speed, restitution=1,
            friction=0,
        )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=1.5))
    events = impacts(sim, 1.5)
    assert len(events) == 1
    assert len(events[0].names) == 2
    assert events[0].time == pytest.approx(1.0, abs=1e-12)
    assert events[0].energy == pytest.approx(0, abs=1e-12)
    assert sim.body("one").velocity == pytest.approx([-0.2, 0], abs=1e-12)
    assert sim.body("two").velocity == pytest.approx([0.6, 0.6 / np.sqrt(3)], abs=1e-12)


@pytest.mark.parametrize("miss", [-1e-4, 1e-4])
def test_grazing_contacts_are_found_and_misses_are_not(miss):
    """A thrown disk passes the top of a post: it touches if its path is too low by any amount."""
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.2), name="post", fixed=True, position=(1.0, 0.0), restitution=1)
    # the path's apex is over the post
    apex, vx = 0.3 + miss, 2.0
    t = 1.0 / vx
    world.add_body(
        ds.Disk(0.1), name="ball", mass=1.0, position=(0, apex - 0.5 * G * t * t),
        velocity=(vx, G * t), friction=0, restitution=1,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=1.0))
    report = sim.step()
    hits = [e for e in report.events if e.kind == "impact"]
    assert report.penetration == 0.0
    assert len(hits) == (1 if miss < 0 else 0)
    assert abs(report.energy.unexplained) < 1e-9


def test_fast_bodies_do_not_pass_through_thin_walls():
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Rectangle(0.01, 2.0), name="wall", fixed=True, position=(1.0, 0.0))
    world.add_body(
        ds.Disk(0.02), name="shot", mass=1.0, position=(0, 0), velocity=(200, 0), restitution=1
    )
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.01))
    sim.step()
    assert sim.body("shot").velocity[0] == pytest.approx(-200, rel=1e-9)


number = st.floats(-2, 2, allow_nan=False)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.tuples(number, number, number, number))
def test_the_lowest_point_of_a_cubic(ends):
    c0, r0, c1, r1 = ends
    s = np.linspace(0, 1, 2001)
    h = 1 - s
    cubic = c0 * h * h * (1 + 2 * s) + c1 * s * s * (3 - 2 * s) + s * h * (r0 * h - r1 * s)
    assert _lowest(c0, r0, c1, r1)[1] == pytest.approx(cubic.min(), abs=1e-5)
