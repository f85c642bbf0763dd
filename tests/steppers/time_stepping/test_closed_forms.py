"""Motions with a closed form, and the order at which steps approach them."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import drystone as ds
from tests.steppers.time_stepping.worlds import G, block, run


def order(error, steps=(1 / 60, 1 / 120, 1 / 240)):
    """Observed order of an error as a function of dt."""
    errors = [error(dt) for dt in steps]
    return math.log2(errors[0] / errors[1]), math.log2(errors[1] / errors[2]), errors[-1]


def test_projectile():
    """Kick then drift: z = z0 + v t - g t (t + h) / 2 to rounding, so the error is g t h / 2."""

    def error(dt):
        world = ds.World()
        world.add_body(ds.Sphere(0.1), name="s", position=(0, 0, 5), velocity=(3, -1, 4))
        sim, _ = run(world, 1.0, dt)
        scheme = 5 + 4 - 0.5 * G * (1 + dt)
        assert np.allclose(sim.body("s").position, [3, -1, scheme], atol=1e-11)
        assert np.allclose(sim.body("s").velocity, [3, -1, 4 - G], atol=1e-12)
        return abs(sim.body("s").position[2] - (9 - 0.5 * G))

    first, second, last = order(error)
    assert np.isclose(first, 1)
    assert np.isclose(second, 1)
    assert np.isclose(last, 0.5 * G / 240)


@pytest.mark.parametrize("heading", [0.0, 0.3, 1.0, 2.2])
def test_sliding_block_stops_where_it_should(heading):
    """v^2 / (2 mu g) ahead within 0.3 %, whatever the direction, and in that direction exactly."""
    sim, _ = run(block(friction=0.3, velocity=5.0, heading=heading), 2.0)
    end = sim.body("b").position[:2]
    distance = np.linalg.norm(end)
    assert abs(distance / (25 / (2 * 0.3 * G)) - 1) < 3e-3
    angle = math.degrees(math.atan2(end[1], end[0]) - heading)
    assert abs(angle) < 1e-6
    assert np.abs(sim.body("b").velocity).max() < 1e-9


def test_sliding_distance_is_of_first_order():
    def error(dt):
        sim, _ = run(block(friction=0.3, velocity=5.0), 2.0, dt)
        return abs(sim.body("b").position[0] - 25 / (2 * 0.3 * G))

    first, second, _ = order(error)
    assert 0.8 < first < 1.2
    assert 0.8 < second < 1.2


def test_sliding_ball_ends_rolling():
    """5/7 v0: what is left when the slip ends, whatever friction and step."""
    for mu in (0.1, 0.4):
        world = ds.World()
        world.add_ground(friction=mu)
        world.add_body(
            ds.Sphere(0.1), name="s", position=(0, 0, 0.1), velocity=(3, 4, 0), friction=mu
        )
        sim, _ = run(world, 3.0)
        assert np.allclose(sim.body("s").velocity, [15 / 7, 20 / 7, 0], atol=1e-10 * 5)
        spin = sim.body("s").angular_velocity
        assert np.allclose(spin, [-20 / 0.7, 15 / 0.7, 0], atol=1e-8)


@pytest.mark.parametrize("planar", [True, False])
def test_ball_rolls_down(planar):
    """a = g sin / (1 + I / m R^2): 2/3 g sin of a disk, 5/7 of a sphere; v is exact."""
    angle = 0.3
    world = ds.World(planar=planar)
    c, s = math.cos(angle), math.sin(angle)
    normal = np.array([-s, c] if planar else [-s, 0, c])
    world.add_ground(normal=normal, friction=0.6)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    world.add_body(shape, name="b", position=0.1 * normal, friction=0.6)
    sim, _ = run(world, 1.0)
    speed = np.linalg.norm(sim.body("b").velocity)
    assert np.isclose(speed, (2 / 3 if planar else 5 / 7) * G * s, rtol=1e-9)
    travelled = np.linalg.norm(sim.body("b").position - 0.1 * normal)
    assert np.isclose(travelled, 0.5 * speed * (1 + 1 / 240), rtol=1e-6)


def test_plastic_impact_of_a_corner():
    """r_n = -u_n / (1/m + x^2 / I), without friction, of a rectangle that lands on its corner."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_ground(friction=0)
    a, b, angle = 0.6, 0.2, 0.4
    c, s = math.cos(angle), math.sin(angle)
    corner = np.array([c * -a / 2 + s * b / 2, s * -a / 2 - c * b / 2])
    world.add_body(
        ds.Rectangle(a, b), name="r", mass=3.0, position=(0, -corner[1]), orientation=angle,
        velocity=(0.7, -2.0), friction=0,
    )  # fmt: skip
    sim, _ = run(world, 1e-4, dt=1e-4)
    inertia = 3.0 * (a * a + b * b) / 12
    r = 2.0 / (1 / 3.0 + corner[0] ** 2 / inertia)
    assert np.allclose(sim.body("r").velocity, [0.7, -2.0 + r / 3.0], atol=1e-8)
    assert np.isclose(sim.body("r").angular_velocity, corner[0] * r / inertia, atol=1e-7)
    lost = -0.5 * r * 2.0
    assert np.isclose(sim.report.energy.impact + sim.report.energy.constraint, lost, rtol=1e-6)


def test_torque_free_rotation_about_the_middle_axis():
    """20 s: energy and angular momentum within 1e-6."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Box(0.1, 0.2, 0.4), name="b", angular_velocity=(0.01, 5.0, 0.02))
    sim = ds.Simulation(world)

    def momentum():
        R = Rotation.from_quat(sim.state.orientation[0], scalar_first=True).as_matrix()
        return R @ sim.model.inertia[0] @ R.T @ sim.state.velocity[0, 3:]

    L, energy, most = momentum(), sim.energy[0], 0.0
    for _ in range(20 * 240):
        sim.step()
        most = max(most, abs(sim.energy[0] / energy - 1))
    assert most < 1e-6
    assert np.linalg.norm(momentum() - L) < 1e-9 * np.linalg.norm(L)


def test_torsional_oscillation():
    """I phi'' = -k phi from rest: phi = cos(omega t). First order, and the amplitude stays."""
    omega = math.sqrt(1.0 / (0.5 * 0.2**2))

    def error(dt):
        world = ds.World(planar=True, gravity=(0, 0))
        world.add_body(ds.Disk(0.2), name="d", mass=1.0, orientation=1.0)
        world.add_force(ds.TorsionSpring("d", stiffness=1.0))
        sim, kept = run(world, 2.0, dt)
        assert abs(np.abs(kept.orientation[:, 0]).max() - 1) < omega * dt
        return abs(sim.body("d").orientation - math.cos(2 * omega))

    first, second, last = order(error)
    assert 0.8 < first < 1.2
    assert 0.8 < second < 1.2
    assert last < omega / 240


def driven_rotation(dt, **options):
    """A box under a constant torque: M(q) turns with it."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Box(0.1, 0.2, 0.4), name="b", mass=1.0, angular_velocity=(1, 2, 0.5))
    world.add_force(ds.ConstantForce("b", torque=(0.02, -0.01, 0.03)))
    sim, _ = run(world, 1.0, dt, **options)
    return sim.state.velocity[0, 3:]


def exact_rotation():
    inertia = np.diag([0.04 + 0.16, 0.01 + 0.16, 0.01 + 0.04]) / 12
    torque = np.array([0.02, -0.01, 0.03])

    def rate(_, y):
        q, w = y[:4], y[4:]
        R = Rotation.from_quat(q / np.linalg.norm(q), scalar_first=True).as_matrix()
        Iw = R @ inertia @ R.T
        turning = 0.5 * np.array([-w @ q[1:], *(q[0] * w + np.cross(w, q[1:]))])
        return np.concatenate([turning, np.linalg.solve(Iw, torque - np.cross(w, Iw @ w))])

    y = solve_ivp(rate, (0, 1), [1, 0, 0, 0, 1, 2, 0.5], method="DOP853", rtol=1e-12, atol=1e-12)
    return y.y[4:, -1]


@pytest.mark.parametrize("mass", ["start", "end"])
@pytest.mark.parametrize("rotation", ["flow", "explicit"])
def test_mass_at_the_start_or_the_end_of_the_step(mass, rotation):
    """All four converge to Euler's equations with first order."""
    exact = exact_rotation()

    def error(dt):
        return np.linalg.norm(driven_rotation(dt, mass=mass, rotation=rotation) - exact)

    first, second, last = order(error)
    assert 0.7 < first < 1.4
    assert 0.7 < second < 1.4
    assert last < 0.1 * np.linalg.norm(exact)


def test_mass_at_the_end_differs_by_first_order_and_not_in_the_plane():
    def difference(dt):
        both = [driven_rotation(dt, mass=m, rotation="explicit") for m in ("start", "end")]
        return np.linalg.norm(both[0] - both[1])

    first, second, last = order(difference)
    assert last > 1e-6
    assert 0.7 < first < 1.4
    assert 0.7 < second < 1.4
    flat = [run(block(0.6, planar=True), 0.5, mass=m)[0].state for m in ("start", "end")]
    assert np.array_equal(flat[0].position, flat[1].position), "in the plane M is constant"
    assert np.array_equal(flat[0].velocity, flat[1].velocity)


def test_outer_iteration_is_reported():
    world = block(0.2)
    sim = ds.Simulation(world, ds.TimeStepping(mass="end"))
    assert sim.step().outer >= 2
    assert ds.Simulation(world).step().outer == 1
