"""The ramp: dynamic friction scaled down below a threshold; bodies creep instead of resting."""

import numpy as np
import pytest

import drystone as ds
from drystone.problems import classic

G, ANGLE, MU, EPS = 9.81, 0.3, 0.5, 1e-3
INCLINE = ds.FrictionProblem(np.eye(2), [-G * np.cos(ANGLE), G * np.sin(ANGLE)], MU, dim=2)


def test_creep_speed_on_an_incline():
    """g sin(theta) = mu g cos(theta) v / eps: no acceleration at v = eps tan(theta) / mu."""
    speed = EPS * np.tan(ANGLE) / MU
    solution = ds.solve(INCLINE, ds.Ramp(velocity=[speed], eps=EPS))
    assert solution.dual[1] == pytest.approx(0.0, abs=1e-12)
    assert solution.ok  # at that speed the force is that of rest
    assert solution.methods == ("ramp", "lemke")
    at_rest = ds.solve(INCLINE, ds.Ramp(velocity=[0.0], eps=EPS))
    assert at_rest.status is ds.Status.APPROXIMATE
    np.testing.assert_allclose(at_rest.value, [G * np.cos(ANGLE), 0.0], rtol=1e-12)
    assert at_rest.info["ramped"] == 1


def test_the_block_settles_at_the_creep_speed():
    """dv/dt = g sin - mu g cos v / eps: v(t) = v_creep (1 - exp(-t / tau)) with tau known."""
    tau, speed, dt = EPS / (MU * G * np.cos(ANGLE)), 0.0, 0.0
    creep, t = EPS * np.tan(ANGLE) / MU, 0.0
    dt = tau / 500
    for _ in range(1000):
        half = speed + 0.5 * dt * _pull(speed)  # midpoint rule: error (dt / tau)^2 / 24
        speed, t = speed + dt * _pull(half), t + dt
    assert speed == pytest.approx(creep * (1 - np.exp(-t / tau)), rel=1e-5)


def _pull(speed):
    return ds.solve(INCLINE, ds.Ramp(velocity=[speed], eps=EPS)).dual[1]


@pytest.mark.parametrize("speed", [1.0, 1.7, 300.0])
def test_above_the_threshold_it_is_dynamic_friction(speed):
    steep = ds.FrictionProblem(np.eye(2), [-G, 2.0], MU, dim=2)
    solution = ds.solve(steep, ds.Ramp(velocity=[speed * EPS], eps=EPS))
    np.testing.assert_allclose(solution.value, [G, -MU * G], rtol=1e-12)
    dynamic = ds.FrictionProblem(np.eye(2), [-G, 2.0], MU, dim=2, slip=[[1.0]])
    assert dynamic.residual(solution.value) < 1e-12


def test_friction_is_proportional_to_velocity_in_space():
    rng = np.random.default_rng(1)
    J = rng.normal(size=(9, 12))
    problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=12), 0.1)
    velocity = np.array([[3e-4, -2e-4], [0.0, 0.0], [3.0, 4.0]])
    solution = ds.solve(problem, ds.Ramp(velocity=velocity, eps=EPS))
    r = solution.value.reshape(3, 3)
    expected = -0.1 * r[:, :1] * np.array([[0.3, -0.2], [0.0, 0.0], [0.6, 0.8]])
    np.testing.assert_allclose(r[:, 1:], expected, atol=1e-12)
    normal, lift = r[:, 0], solution.dual[::3]
    assert np.abs(np.minimum(normal, lift)).max() < 1e-9
    assert solution.info["ramped"] == 2


def test_known_slip_of_the_problem_is_kept():
    """The rod slides already; no velocity is needed, and Lemke's answer is one of the two."""
    solution = ds.solve(classic.rod(3.0), "ramp")
    assert solution.ok
    assert solution.value[0] == pytest.approx(0.0) or solution.value[0] == pytest.approx(3.0)


def test_an_inconsistent_configuration_ends_in_its_impulse():
    """The rod without spin as a resting contact that creeps backwards fast enough: the same ray."""
    rod = classic.inconsistent_rod()
    resting = ds.FrictionProblem(rod.dense, rod.q, rod.mu, dim=2)
    solution = ds.solve(resting, ds.Ramp(velocity=[-EPS], eps=EPS))
    assert not solution.ok
    np.testing.assert_allclose(solution.ray / solution.ray[0], [1.0, classic.MU])
    # slower, the ramp weakens friction, and a force exists
    slow = ds.solve(resting, ds.Ramp(velocity=[-0.1 * EPS], eps=EPS))
    assert slow.status is ds.Status.APPROXIMATE
    assert slow.value[0] > 0


def test_joints_and_another_inner_method():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(5, 6))
    problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=6), 0.05, dim=2, bilateral=1)
    for inner in ("lemke", "qp", ds.PGS()):
        solution = ds.solve(problem, ds.Ramp(velocity=[1.0, -2.0], inner=inner))
        assert solution.status in (ds.Status.APPROXIMATE, ds.Status.SOLVED)
        assert abs(solution.dual[-1]) < 1e-6


def test_refusals_and_options():
    with pytest.raises(ds.UnsupportedProblemError, match="velocities"):
        ds.solve(INCLINE, "ramp")
    with pytest.raises(ds.UnsupportedProblemError, match=r"shape \(2, 1\)"):
        ds.solve(INCLINE, ds.Ramp(velocity=[1.0, 2.0]))
    with pytest.raises(ds.UnsupportedProblemError, match="friction problems, not"):
        ds.solve(ds.LCP(np.eye(2), [1.0, 1.0]), "ramp")
    with pytest.raises(ds.OptionError, match="eps"):
        ds.Ramp(eps=0.0)
    with pytest.raises(ds.ArrayError, match="finite"):
        ds.Ramp(velocity=[np.nan])
    velocity = np.ones((1, 1))
    ramp = ds.Ramp(velocity=velocity)
    velocity[0] = 7.0
    assert ramp.velocity[0, 0] == 1.0  # options are frozen
