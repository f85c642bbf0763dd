"""Between events the motion is accurate to the integrator's tolerance: independent references."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

G = 9.81


def advance(world, duration, dt=0.1, **options):
    sim = ds.Simulation(world, method=ds.EventDriven(dt=dt, **options))
    reports = []
    while sim.time < duration - 1e-9:
        reports.append(sim.step())
    return sim, reports


def reference(rate, start, duration):
    run = solve_ivp(rate, (0, duration), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return run.y[:, -1]


@pytest.mark.parametrize("mu", [0.0, 0.05, 0.6])
def test_a_disk_on_an_incline_rolls_or_slides(mu):
    slope = 0.3
    along, across = G * np.sin(slope), G * np.cos(slope)
    world = ds.World(planar=True, gravity=(along, -across))
    world.add_ground(friction=mu)
    world.add_body(ds.Disk(0.1), name="ball", density=1000, position=(0, 0.1), friction=mu)
    sim, reports = advance(world, 1.0)
    rolls = mu >= np.tan(slope) / 3
    a = along / 1.5 if rolls else along - mu * across
    spin = a / 0.1 if rolls else 2 * mu * across / 0.1
    assert sim.body("ball").position == pytest.approx([a / 2, 0.1], abs=1e-10)
    assert sim.body("ball").angular_velocity == pytest.approx(-spin, abs=1e-9)
    assert all(r.ok and not r.events for r in reports)
    force = sim.contacts["force"][0]
    mass = sim.body("ball").mass
    assert force[1] == pytest.approx(mass * across, rel=1e-9)
    assert force[0] == pytest.approx(-mass * (along - a), rel=1e-9, abs=1e-9)


def test_a_ball_rolls_down_an_incline_in_space():
    along = np.array([1.1, -0.7])
    world = ds.World(gravity=(*along, -9.0))
    world.add_ground(friction=0.5)
    world.add_body(ds.Sphere(0.2), name="ball", density=500, position=(0, 0, 0.2), friction=0.5)
    sim, reports = advance(world, 1.0)
    assert sim.body("ball").position[:2] == pytest.approx(along / 1.4 / 2, abs=1e-9)
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-9


def rocking_ellipse(rtol, integrator):
    a, b, m, start = 1.0, 0.5, 2.0, 0.4
    inertia = m * (a * a + b * b) / 4

    def height(turn):
        return np.sqrt((a * np.sin(turn)) ** 2 + (b * np.cos(turn)) ** 2)

    def rate(_, y):
        turn, spin = y
        h = height(turn)
        slope = (a * a - b * b) * np.sin(turn) * np.cos(turn) / h
        bend = (a * a - b * b) * np.cos(2 * turn) / h - slope**2 / h
        return [spin, -m * slope * (bend * spin**2 + G) / (inertia + m * slope**2)]

    world = ds.World(planar=True)
    world.add_ground(friction=0)
    world.add_body(
        ds.Ellipse(a, b), name="e", mass=m, inertia=inertia, position=(0, height(start)),
        orientation=start, friction=0,
    )  # fmt: skip
    sim, reports = advance(world, 1.0, rtol=rtol, atol=0.01 * rtol, integrator=integrator)
    turn, _ = reference(rate, [start, 0.0], 1.0)
    away = abs(sim.body("e").orientation - turn)
    return away + abs(sim.body("e").position[1] - height(turn)), reports


@pytest.mark.parametrize("integrator", ["dop853", "rk45", "adams"])
def test_a_rocking_ellipse(integrator):
    coarse, _ = rocking_ellipse(1e-5, integrator)
    fine, reports = rocking_ellipse(1e-9, integrator)
    assert fine < 1e-8
    assert fine < 0.05 * coarse
    assert max(r.penetration for r in reports) < 1e-12
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-7


def double_pendulum(rtol, integrator):
    world = ds.World(planar=True)
    for name, x in (("a", 0.5), ("b", 1.5)):
        world.add_body(ds.Rectangle(1.0, 0.1), name=name, mass=1, inertia=1 / 12, position=(x, 0))
    world.add_joint(ds.Pin("a", "world", anchor=(0, 0)))
    world.add_joint(ds.Pin("a", "b", anchor=(1, 0)))
    return advance(world, 1.0, rtol=rtol, atol=0.01 * rtol, integrator=integrator)


def pendulum_rate(_, y):
    a, b, u, w = y
    M = np.array([[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]])
    q = [
        -0.5 * np.sin(a - b) * w**2 - 1.5 * G * np.cos(a),
        0.5 * np.sin(a - b) * u**2 - 0.5 * G * np.cos(b),
    ]
    return [u, w, *np.linalg.solve(M, q)]


@pytest.mark.parametrize("integrator", ["dop853", "rk45", "adams"])
def test_a_double_pendulum_against_minimal_coordinates(integrator):
    angles = reference(pendulum_rate, [0.0] * 4, 1.0)[:2]
    errors = []
    for rtol in (1e-5, 1e-9):
        sim, reports = double_pendulum(rtol, integrator)
        found = [sim.body(name).orientation for name in "ab"]
        errors.append(np.abs(found - angles).max())
        assert max(r.joint_error for r in reports) < 1e-10
    assert errors[1] < 1e-8
    assert errors[1] < 0.05 * errors[0]
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-7
    assert abs(sum(sim.energy)) < 1e-7, "a pendulum keeps its energy"


def test_a_heavy_top_against_its_angles():
    m, arm, across, along, tilt, spin = 2.0, 0.3, 0.02, 0.03, 0.5, 60.0
    inertia = across + m * arm**2
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    momentum = along * spin

    def rate(_, y):
        tilt_now, fall, _ = y
        turn = momentum * (np.cos(tilt) - np.cos(tilt_now)) / (inertia * np.sin(tilt_now) ** 2)
        lift = turn**2 * np.sin(tilt_now) * np.cos(tilt_now)
        lift += (m * G * arm - momentum * turn) * np.sin(tilt_now) / inertia
        return [fall, lift, turn]

    world = ds.World()
    world.add_body(
        ds.Cylinder(0.1, 0.05), name="top", mass=m, inertia=np.diag([across, across, along]),
        position=arm * axis, orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        angular_velocity=spin * axis,
    )  # fmt: skip
    world.add_joint(ds.Ball("top", "world", anchor=(0, 0, 0)))
    sim, reports = advance(world, 0.5, rtol=1e-9, atol=1e-11)
    nod, _, turn = reference(rate, [tilt, 0.0, 0.0], 0.5)
    place = arm * np.array([np.sin(nod) * np.cos(turn), np.sin(nod) * np.sin(turn), np.cos(nod)])
    assert sim.body("top").position == pytest.approx(place, abs=1e-8)
    assert max(r.joint_error for r in reports) < 1e-10


def test_time_stepping_converges_to_it_at_first_order():
    """Agreement on a smooth phase with contact: the rocking ellipse."""
    a, b, start = 1.0, 0.5, 0.4
    height = np.sqrt((a * np.sin(start)) ** 2 + (b * np.cos(start)) ** 2)

    def run(method):
        world = ds.World(planar=True)
        world.add_ground(friction=0.4)
        world.add_body(
            ds.Ellipse(a, b), name="e", density=1.0, position=(0, height), orientation=start,
            friction=0.4,
        )  # fmt: skip
        sim = ds.Simulation(world, method=method)
        sim.run(0.4)
        body = sim.body("e")
        return np.array([*body.position, body.orientation])

    exact = run(ds.EventDriven(dt=0.1, rtol=1e-10, atol=1e-12))
    errors = [np.abs(run(ds.TimeStepping(dt=h)) - exact).max() for h in (4e-3, 2e-3, 1e-3)]
    assert errors[2] < 1e-2
    for one, half in itertools.pairwise(errors):
        assert 1.7 < one / half < 2.3


def test_runs_repeat_to_the_bit():
    states = [double_pendulum(1e-7, "adams")[0].state for _ in range(2)]
    assert np.array_equal(states[0].position, states[1].position)
    assert np.array_equal(states[0].velocity, states[1].velocity)


def test_a_prescribed_body_drives_what_lies_on_it():
    """A block on a shaken table sticks: it follows, and the books say who worked."""
    world = ds.World(planar=True)
    shake = ds.Oscillation(direction=(1, 0), amplitude=0.05, frequency=1.0)
    world.add_body(
        ds.Rectangle(2, 0.2), name="table", position=(0, -0.1), motion=shake, friction=0.6
    )
    world.add_body(
        ds.Rectangle(0.4, 0.2), name="block", density=100, position=(0, 0.1), friction=0.6,
        velocity=(0.05 * 2 * np.pi, 0),
    )  # fmt: skip
    sim, reports = advance(world, 0.6, rtol=1e-9, atol=1e-11)
    assert all(not r.events for r in reports)
    assert sim.body("block").position[0] == pytest.approx(0.05 * np.sin(2 * np.pi * 0.6), abs=1e-8)
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-8
    assert sum(r.energy.driving for r in reports) == pytest.approx(
        sum(r.energy.change for r in reports), abs=1e-8
    )


def test_a_body_without_shape_falls():
    world = ds.World()
    world.add_ground()
    world.add_body(None, name="point", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 1))
    sim = ds.Simulation(world, "event-driven")
    sim.run(0.1)
    assert sim.body("point").position[2] == pytest.approx(1 - 9.81 * sim.time**2 / 2, abs=1e-9)
