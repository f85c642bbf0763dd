"""Chains under heavy loads, and steps of second order, against minimal coordinates (SciPy)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import drystone as ds
from drystone.errors import OptionError
from tests.steppers.time_stepping.chains import LENGTH, MASS, G, chain, reference
from tests.steppers.time_stepping.linkages import in_time

DT = 1.0 / 240.0


def run(world, duration, dt=DT, **options):
    """Positions and velocities of the last body after every step; what the reports said."""
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt, **options))
    start = sum(sim.energy)
    kept, said = [], {"joint": 0.0, "unexplained": 0.0, "energy": 0.0, "halved": 0, "ok": True}
    for _ in range(round(duration / dt)):
        report = sim.step()
        said["joint"] = max(said["joint"], report.joint_error)
        said["unexplained"] = max(said["unexplained"], abs(report.energy.unexplained))
        said["energy"] = max(said["energy"], abs(in_time(sim) - start))
        said["halved"] += report.retries
        said["ok"] &= report.ok
        dim = sim.model.dim
        kept.append(np.concatenate([sim.state.position[-1], sim.state.velocity[-1, :dim]]))
    return np.array(kept), said


@pytest.mark.parametrize("start", ["45 degrees", "horizontal"])
def test_fifty_links_and_a_heavy_bob_swing_at_default_settings(start):
    """w h = 1.8 and more: a step that takes directions at its start tears this chain."""
    links, bob, angle = 50, 100.0, math.radians(45.0 if start == "45 degrees" else 90.0)
    duration = 1.5  # the bob passes its lowest point, where the chain pulls most
    kept, said = run(chain(links, bob, angle), duration)
    scale = (links + bob) * MASS * G * links * LENGTH
    assert said["ok"]
    assert said["joint"] < 1e-9
    assert said["unexplained"] < 1e-12 * scale
    place, _ = reference(links, bob, angle, DT * np.arange(1, len(kept) + 1))
    # first order: half a step of time, at the bob's greatest speed
    fastest = math.sqrt(2.0 * G * links * LENGTH * (1.0 - math.cos(angle)))
    assert np.abs(kept[:, :2] - place).max() < 0.6 * DT * fastest
    assert said["energy"] < 0.6 * DT * fastest / (links * LENGTH) * scale


@pytest.mark.slow
@pytest.mark.parametrize("start", ["45 degrees", "horizontal"])
def test_the_chain_stays_right_for_five_seconds(start):
    """Through the whip's crack, where links turn by half a radian in a step: those steps are
    halved until joints do no work."""
    links, bob, angle = 50, 100.0, math.radians(45.0 if start == "45 degrees" else 90.0)
    kept, said = run(chain(links, bob, angle), 5.0)
    scale = (links + bob) * MASS * G * links * LENGTH
    assert said["ok"]
    assert said["joint"] < 1e-6
    assert said["unexplained"] < 1e-12 * scale
    place, _ = reference(links, bob, angle, DT * np.arange(1, len(kept) + 1))
    fastest = math.sqrt(2.0 * G * links * LENGTH * (1.0 - math.cos(angle)))
    assert np.abs(kept[:, :2] - place).max() < 0.8 * DT * fastest
    assert said["energy"] < 0.005 * scale


def test_the_chain_in_space_moves_like_the_planar_one():
    flat, _ = run(chain(12, 100.0, 1.2), 0.5)
    deep, said = run(chain(12, 100.0, 1.2, planar=False), 0.5)
    assert said["joint"] < 1e-9
    # the cut eigenvalues are the same; rounding grows with the modes of the chain
    np.testing.assert_allclose(deep[:, [0, 2]], flat[:, :2], atol=1e-7)
    assert np.abs(deep[:, 1]).max() < 1e-9


@pytest.mark.parametrize(("order", "least"), [(1, 0.95), (2, 1.7)])
def test_a_chain_converges_with_its_order(order, least):
    """From steps that soften all of its modes (w h = 5) to such that soften few: on the way the
    constant of the error changes."""
    times = np.arange(1, 61) / 120.0
    place, speed = reference(6, 100.0, 0.8, times)
    errors = []
    for n in (120, 960):
        kept, said = run(chain(6, 100.0, 0.8), 0.5, 1.0 / n, order=order)
        assert said["joint"] < 1e-9
        wrong = kept[n // 120 - 1 :: n // 120] - np.concatenate([place, speed], axis=1)
        errors.append([(wrong[:, :2] ** 2).mean(), (wrong[:, 2:] ** 2).mean()])
    rate = np.log2(np.sqrt(np.array(errors[0]) / errors[1])) / 3.0
    assert (rate > least).all()  # positions, velocities
    if order == 1:
        assert rate[0] < 1.05


def double_pendulum(t):
    """Two point masses on rods of 1 m: their angles and rates at t."""

    def rate(_, y):
        a, b, u, v = y
        c, s = math.cos(a - b), math.sin(a - b)
        M = np.array([[2.0, c], [c, 1.0]])
        load = np.array([-s * v * v - 2 * G * math.sin(a), s * u * u - G * math.sin(b)])
        return [u, v, *np.linalg.solve(M, load)]

    return solve_ivp(rate, (0, t), [1.0, 0.6, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12).y[
        :, -1
    ]


def smooth_world(kind):
    """A world of smooth motion, and its state at t: a function to (position, velocity) of "b"."""
    world = ds.World(planar=True)
    if kind == "projectile in a spring":
        world.add_body(
            ds.Disk(0.1), name="b", mass=2.0, position=(0.5, 0.2), velocity=(0.3, 1.0), layer=()
        )
        world.add_force(ds.Spring("b", "world", stiffness=50.0))

        def exact(t):
            w, rest = 5.0, np.array([0.0, -G / 25.0])
            x, v = np.array([0.5, 0.2]) - rest, np.array([0.3, 1.0])
            c, s = math.cos(w * t), math.sin(w * t)
            return rest + c * x + s / w * v, c * v - w * s * x

        return world, exact
    ends = [np.zeros(2)]
    for name, before, angle in (("a", "world", 1.0), ("b", "a", 0.6)):
        ends.append(ends[-1] + np.array([math.sin(angle), -math.cos(angle)]))
        point = {"mass": 1.0, "inertia": 1e-12, "layer": ()}
        world.add_body(ds.Disk(0.1), name=name, position=ends[-1], **point)
        joint = {"anchor_a": tuple(ends[-2] - ends[-1]), "anchor_b": (0.0, 0.0)}
        world.add_joint(ds.Pin(name, before, **joint))

    def exact(t):
        a, b, u, v = double_pendulum(t)
        way = np.array([[math.sin(a), -math.cos(a)], [math.sin(b), -math.cos(b)]])
        turn = np.array([[math.cos(a), math.sin(a)], [math.cos(b), math.sin(b)]])
        return way.sum(axis=0), u * turn[0] + v * turn[1]

    return world, exact


@pytest.mark.parametrize("kind", ["projectile in a spring", "double pendulum"])
def test_order_two_is_second_order_in_positions_and_velocities(kind):
    errors = {1: [], 2: []}
    for order, found in errors.items():
        for n in (100, 200, 400):
            world, exact = smooth_world(kind)
            kept, said = run(world, 1.0, 1.0 / n, order=order)
            assert said["unexplained"] < 1e-11
            x, v = exact(1.0)
            found.append([np.linalg.norm(kept[-1, :2] - x), np.linalg.norm(kept[-1, 2:] - v)])
    rate = {order: np.log2(np.array(e)[:-1] / np.array(e)[1:]) for order, e in errors.items()}
    assert (np.abs(rate[2] - 2.0) < 0.15).all()
    assert (rate[1][:, 0] < 1.4).all()
    assert errors[2][-1][0] < 0.1 * errors[1][-1][0]


def test_spinning_bodies_on_a_joint_are_second_order():
    """A top on a ball joint without gravity: a free rotation about the pivot. Against Euler's."""
    inertia, arm, mass = np.array([0.2, 0.3, 0.4]), 0.5, 1.5
    about = inertia + mass * np.array([arm**2, arm**2, 0.0])  # the pivot, on the body's z axis
    spin = np.array([0.7, 0.4, 3.0])

    def rate(_, y):
        q, w = y[:4], y[4:]
        turn = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([turn, np.cross(about * w, w) / about])

    start = np.concatenate([[1.0, 0, 0, 0], spin])
    q = solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-11).y[:4, -1]
    w, x, y, z = q
    tip = arm * np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    errors = []
    for n in (100, 200):
        world = ds.World(gravity=(0, 0, 0))
        world.add_body(
            ds.Sphere(0.1), name="b", mass=mass, inertia=inertia, position=(0, 0, arm),
            velocity=np.cross(spin, (0, 0, arm)), angular_velocity=spin, layer=(),
        )  # fmt: skip
        world.add_joint(ds.Ball("b", "world", anchor=(0, 0, 0)))
        kept, _ = run(world, 1.0, 1.0 / n, order=2)
        errors.append(np.linalg.norm(kept[-1, :3] - tip))
    assert abs(math.log2(errors[0] / errors[1]) - 2.0) < 0.15


def floating(seed, planar, turn=0.0):
    """Five bodies in a chain, thrown and spinning, no gravity; all turned by `turn` about z."""
    rng = np.random.default_rng(seed)
    gravity = (0, 0) if planar else (0, 0, 0)
    world = ds.World(planar=planar, gravity=gravity)
    dim = 2 if planar else 3
    R = np.eye(dim)
    R[:2, :2] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    places = np.cumsum(rng.uniform(0.2, 0.6, (5, dim)), axis=0)
    speed, spin = rng.normal(size=dim), rng.normal(size=1 if planar else 3) * 4.0
    axis = np.append(np.zeros(2), spin) if planar else spin  # turns as a whole: joints stay closed
    for k in range(5):
        lever = np.append(places[k], 0.0) if planar else places[k]
        v = speed + np.cross(axis, lever)[:dim]
        own = rng.uniform(0.01, 0.02) * (1.0 if planar else rng.uniform(1.0, 1.5, 3))
        body = {"mass": rng.uniform(0.5, 2.0), "inertia": own, "layer": ()}
        body["angular_velocity"] = float(spin[0]) if planar else R @ spin
        tilt = turn if planar else (math.cos(0.5 * turn), 0, 0, math.sin(0.5 * turn))
        world.add_body(
            ds.Disk(0.1) if planar else ds.Sphere(0.1), name=f"b{k}", position=R @ places[k],
            velocity=R @ v, orientation=tilt, **body,
        )  # fmt: skip
        if k:
            point = R @ (0.5 * (places[k] + places[k - 1]))
            world.add_joint((ds.Pin if planar else ds.Ball)(f"b{k}", f"b{k - 1}", anchor=point))
    return world, R


@settings(deadline=None, derandomize=True, max_examples=6)
@given(st.integers(0, 1000), st.booleans(), st.sampled_from([1, 2]))
def test_floating_chains_keep_momentum_and_nearly_their_energy(seed, planar, order):
    world, _ = floating(seed, planar)
    sim = ds.Simulation(world, ds.TimeStepping(order=order))
    mass, dim = sim.model.mass, sim.model.dim
    before = mass @ sim.state.velocity[:, :dim]
    start = sim.energy[0]
    for _ in range(60):
        report = sim.step()
        assert report.joint_error < 1e-9
        assert abs(report.energy.unexplained) < 1e-12 * max(start, 1.0)
    after = mass @ sim.state.velocity[:, :dim]
    np.testing.assert_allclose(after, before, atol=1e-11 * mass.sum())
    assert abs(sim.energy[0] - start) < 0.03 * start


@settings(deadline=None, derandomize=True, max_examples=4)
@given(st.integers(0, 1000), st.booleans(), st.floats(-3, 3))
def test_jointed_motion_does_not_depend_on_the_frame(seed, planar, turn):
    ends = []
    for angle in (0.0, turn):
        world, R = floating(seed, planar, angle)
        kept, _ = run(world, 0.1)
        dim = 2 if planar else 3
        ends.append(np.concatenate([R.T @ kept[-1, :dim], R.T @ kept[-1, dim:]]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


def test_a_chain_hangs_still_under_its_bob():
    """Stiff at rest as well: what is added to M does not move it."""
    for order in (1, 2):
        kept, said = run(chain(20, 500.0, 0.0), 0.5, order=order)
        assert said["joint"] < 1e-10  # to which joints are closed
        assert np.abs(kept[:, :2] - kept[0, :2]).max() < 1e-10
        assert np.abs(kept[:, 2:]).max() < 1e-10 / DT


def test_beads_on_distance_joints_under_a_heavy_one_do_not_tear():
    world = ds.World(planar=True)
    before, way = "world", np.array([math.sin(1.0), -math.cos(1.0)])
    for k in range(10):
        place = 0.1 * (k + 1) * way
        mass = 0.05 if k < 9 else 20.0
        world.add_body(ds.Disk(0.01), name=f"b{k}", mass=mass, position=place, layer=())
        ends = {"anchor_a": (0, 0), "anchor_b": (0, 0)}
        world.add_joint(ds.Distance(f"b{k}", before, length=0.1, **ends))
        before = f"b{k}"
    _, said = run(world, 1.0)
    assert said["joint"] < 1e-9
    assert said["energy"] < 0.02 * 20.0 * G


@pytest.mark.parametrize("restitution", ["newton", "poisson"])
def test_a_ball_bounces_with_its_energy_at_order_two(restitution):
    """Velocities at the time of the positions: the reversal at the floor costs nothing."""
    world = ds.World(planar=True)
    world.add_ground(restitution=1.0)
    world.add_body(ds.Disk(0.1), name="b", mass=1.0, restitution=1.0, position=(0, 1.1))
    _, said = run(world, 3.0, order=2, restitution=restitution)
    assert said["energy"] < 1e-11
    assert said["unexplained"] < 1e-12


def test_contacts_hold_slide_and_stop_at_order_two():
    world = ds.World()
    world.add_ground(friction=0.3)
    world.add_body(
        ds.Box(0.4, 0.4, 0.2), name="b", friction=0.3, position=(0, 0, 0.1), velocity=(2, 0, 0)
    )
    sim = ds.Simulation(world, ds.TimeStepping(order=2))
    energy = sum(sim.energy)
    for _ in range(240):
        report = sim.step()
        assert report.ok
        assert sum(sim.energy) < energy + 1e-10
        energy = sum(sim.energy)
    # of second order while it slides; the last step ends before its end
    assert abs(sim.body("b").position[0] / (4.0 / (2 * 0.3 * G)) - 1.0) < 1e-5
    assert np.abs(sim.state.velocity).max() < 1e-12


def test_orders_that_do_not_exist_are_refused():
    for order in (0, 3, True, "2"):
        with pytest.raises(OptionError, match="order"):
            ds.TimeStepping(order=order)
    with pytest.raises(OptionError, match="mass"):
        ds.TimeStepping(order=2, mass="end")
