"""Spinning bodies: invariants, closed forms, and an independent integration of rolling."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from drystone.scenes import scene
from tests.scenes.running import run


def turn(quaternion):
    """(3, 3) body axes in the world."""
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def angular_momentum(sim, i):
    R = turn(sim.state.orientation[i])
    return R @ sim.model.inertia[i] @ R.T @ sim.state.velocity[i, 3:]


def test_a_free_spinner_keeps_energy_and_angular_momentum():
    """Middle axis, 20 s: it flips over and over, and loses nothing."""
    built = scene("gyroscope", kind="spinner")
    sim = built.simulation()
    energy, momentum = sim.energy[0], angular_momentum(sim, 0)
    kept = sim.run(20.0, record=True)
    assert sim.energy[0] == pytest.approx(energy, rel=1e-6)
    assert np.abs(angular_momentum(sim, 0) - momentum).max() < 1e-6 * np.linalg.norm(momentum)
    up = np.array([turn(q)[2, 2] for q in kept.orientation[:, 0]])
    along = np.array([turn(q)[1, 1] for q in kept.orientation[:, 0]])
    assert min(up.min(), along.min()) < -0.9  # flipped


def test_a_free_spinner_follows_eulers_equations():
    sim = scene("gyroscope", kind="spinner").simulation()
    sim.run(20.0)
    inertia = np.array([1.0, 2.0, 3.0])

    def rates(_, w):
        return np.cross(inertia * w, w) / inertia

    exact = solve_ivp(rates, (0, 20), (1e-3, 1.0, 0.0), rtol=1e-12, atol=1e-14).y[:, -1]
    body = turn(sim.state.orientation[0]).T @ sim.state.velocity[0, 3:]
    assert body == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(("tilt", "spin"), [(20.0, 200.0), (35.0, 150.0), (20.0, -200.0)])
def test_a_top_precesses_steadily(tilt, spin):
    """I_1 cos(tilt) rate^2 - I_3 spin rate + m g l = 0, with a frictionless tip."""
    sim = scene("gyroscope", tilt=tilt, spin=spin).simulation(dt=1 / 1000)
    i = sim.index("top")
    R = turn(sim.state.orientation[i])
    model = sim.model
    across, along = model.inertia[i, 0, 0], model.inertia[i, 2, 2]
    push = model.mass[i] * 9.81 * model.centre[i, 2]
    roots = np.roots([across * math.cos(math.radians(tilt)), -along * spin, push])
    rate = float(roots[np.argmin(np.abs(roots))])
    azimuth, lean = [], []
    for _ in range(500):
        sim.step()
        R = turn(sim.state.orientation[i])
        azimuth.append(math.atan2(R[1, 2], R[0, 2]))
        lean.append(math.degrees(math.acos(R[2, 2])))
    measured = np.polyfit(sim.method.dt * np.arange(500), np.unwrap(azimuth), 1)[0]
    assert measured == pytest.approx(rate, rel=5e-3)
    assert np.abs(np.array(lean) - tilt).max() < 0.1


def jellett(sim):
    """L.(centre of mass to contact): constant for a sphere, whatever the friction (Jellett)."""
    i = sim.index("top")
    centre = sim.body("top").position
    contact = centre - (0, 0, 0.02)
    return angular_momentum(sim, i) @ (contact - sim.state.position[i])


def test_a_tippe_top_turns_over():
    sim = scene("tippe-top").simulation()
    height, before = sim.energy[1], jellett(sim)
    sim.run(3.0)
    assert turn(sim.state.orientation[1])[2, 2] < -0.95
    assert sim.energy[1] > height + 0.9 * 2 * 0.02 * 9.81 * 0.3 * 0.02  # raised by 2 e
    assert jellett(sim) == pytest.approx(before, rel=0.01)


def test_a_tippe_tops_invariant_holds_the_better_the_smaller_the_step():
    errors = []
    for dt in (1 / 240, 1 / 500, 1 / 1000):
        sim = scene("tippe-top").simulation(dt=dt)
        before = jellett(sim)
        sim.run(0.75)
        errors.append(abs(jellett(sim) / before - 1))
    assert errors[0] < 1e-3
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.5 * errors[1]


def test_a_tippe_top_does_not_turn_over_without_friction_or_spin():
    for settings in ({"mu": 0.0}, {"spin": 20.0}):
        sim = run("tippe-top", 2.0, **settings).sim
        assert turn(sim.state.orientation[1])[2, 2] > 0.9


def rolling_stone(duration, spin):
    """Spin about the vertical of Kane and Levinson's ellipsoid rolling without slip, by an ODE.

    Unknowns: orientation R (world from body) and body rates w. n: up in body axes; contact at
    r = -E n / sqrt(n.E n) from the middle, E = diag(a^2, b^2, c^2), rho = r + h z from the centre
    of mass. v = -w x rho; F = m (v' + g n); I w' + w x I w = rho x F, all in body axes.
    """
    E = np.array([0.2, 0.03, 0.02]) ** 2
    inertia = np.array([[2e-4, -2e-5, 0], [-2e-5, 1.6e-3, 0], [0, 0, 1.7e-3]])
    lift = np.array([0, 0, 0.01])

    def contact(n):
        return -E * n / math.sqrt(n @ (E * n)) + lift

    def rates(_, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        n = R[2]
        dn = -np.cross(w, n)
        root = math.sqrt(n @ (E * n))
        rho = contact(n)
        drho = -E * dn / root + E * n * (n @ (E * dn)) / root**3
        # v' in the body frame: -w' x rho - w x drho + w x v
        v = -np.cross(w, rho)
        known = -np.cross(w, drho) + np.cross(w, v) + 9.81 * n
        S = np.array([[0, -rho[2], rho[1]], [rho[2], 0, -rho[0]], [-rho[1], rho[0], 0]])
        torque = S @ known - np.cross(w, inertia @ w)
        dw = np.linalg.solve(inertia - S @ S, torque)
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ W).ravel(), dw])

    tilt = math.radians(0.5)
    R = (Rotation.from_euler("y", tilt) * Rotation.from_euler("x", tilt)).as_matrix()
    start = np.concatenate([R.ravel(), R.T @ [0, 0, spin]])
    out = solve_ivp(rates, (0, duration), start, rtol=1e-9, atol=1e-11)
    R = out.y[:9, -1].reshape(3, 3)
    return float((R @ out.y[9:, -1])[2])


@pytest.mark.parametrize("spin", [-5.0, 5.0])
def test_a_rattleback_follows_the_equations_of_rolling(spin):
    """The error is of first order in the step."""
    exact = rolling_stone(0.1, spin)
    errors = []
    for dt in (1 / 1000, 1 / 4000):
        sim = scene("rattleback", spin=spin).simulation(dt=dt)
        sim.run(0.1)
        errors.append(abs(sim.state.velocity[1, 5] - exact))
    assert errors[1] < 0.02 * abs(spin)
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_a_rattleback_reverses_one_way_only():
    ends = [
        run("rattleback", 2.5, {"dt": 1 / 1000}, spin=s).sim.state.velocity[1, 5] for s in (-5, 5)
    ]
    assert ends[0] > 0.5  # turned round
    assert ends[1] > 2.0  # not yet
