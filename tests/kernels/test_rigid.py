"""Free motion of bodies: rotations against SciPy, the torque-free flow against an ODE solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from drystone.kernels import rigid

pytestmark = pytest.mark.kernels
seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=20)


def unit_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def spatial_inertia(rng):
    """A full inertia matrix that keeps the triangle inequality, in axes of its own."""
    masses = rng.uniform(0.2, 2, 3)
    principal = np.diag(masses.sum() - masses)
    R = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
    return R @ principal @ R.T


def scipy_of(q):
    return Rotation.from_quat(q, scalar_first=True)


@some
@given(seeds)
def test_rotation_and_inertia_in_world_axes(seed):
    rng = np.random.default_rng(seed)
    q = np.array([unit_quaternion(rng) for _ in range(3)])
    inertia = np.array([spatial_inertia(rng), 0.7 * np.eye(3), spatial_inertia(rng)])
    R, out = np.empty((3, 3)), np.empty((3, 3, 3))
    rigid.to_world(inertia, q, out)
    for i in range(3):
        rigid.rotation_of(q[i], R)
        expected = scipy_of(q[i]).as_matrix()
        assert np.allclose(R, expected, atol=1e-15)
        assert np.allclose(out[i], expected @ inertia[i] @ expected.T, atol=1e-14)
        assert np.array_equal(out[i], out[i].T)
    assert np.array_equal(out[1], inertia[1]), "isotropic: without rounding"


@some
@given(seeds, st.floats(-8, 2))
def test_turn_is_the_exponential(seed, decade):
    rng = np.random.default_rng(seed)
    q, w = unit_quaternion(rng), rng.normal(size=3) * 10**decade
    expected = (Rotation.from_rotvec(w) * scipy_of(q)).as_matrix()
    rigid.turn(q, *w)
    assert np.allclose(scipy_of(q).as_matrix(), expected, atol=1e-13 * max(1, 10**decade))
    assert abs(np.linalg.norm(q) - 1) < 4e-16


def test_turn_by_nothing_and_by_denormals():
    q = np.array([0.6, 0.8, 0, 0])
    for tiny in (0.0, 1e-320):
        rigid.turn(q, tiny, 0.0, 0.0)
        assert np.array_equal(q, [0.6, 0.8, 0, 0])


@pytest.mark.parametrize("dim", [2, 3])
def test_kicks(dim):
    rng = np.random.default_rng(dim)
    dof = 3 * (dim - 1)
    m, h, g = np.array([2.0, 0.0]), 0.1, rng.normal(size=dim)
    inverse = np.array([0.5, 0.0])
    force, v, out = rng.normal(size=(2, dof)), rng.normal(size=(2, dof)), np.empty((2, dof))
    if dim == 2:
        turning = np.array([0.25, 0.0])
        rigid.kick_planar(inverse, turning, g, force, v, h, out)
        torque = turning[:, None] * force[:, 2:]
    else:
        turning = np.array([np.linalg.solve(spatial_inertia(rng), np.eye(3)), np.zeros((3, 3))])
        rigid.kick_spatial(inverse, turning, g, force, v, h, out)
        torque = np.einsum("iab,ib->ia", turning, force[:, 3:])
    expected = v[0] + h * np.concatenate([g + force[0, :dim] / m[0], torque[0]])
    assert np.allclose(out[0], expected, rtol=1e-14)
    assert np.array_equal(out[1], v[1]), "a body without inverse mass keeps its velocity"


def test_gyroscopic_torque():
    rng = np.random.default_rng(0)
    inertia, w = spatial_inertia(rng)[None], rng.normal(size=3)
    force = np.zeros((1, 6))
    rigid.gyroscopic(inertia, np.concatenate([np.zeros(3), w])[None], force)
    assert np.allclose(force[0], [0, 0, 0, *-np.cross(w, inertia[0] @ w)], atol=1e-15)


def test_planar_drift():
    x, angle = np.array([[1.0, 2.0]]), np.array([0.5])
    rigid.drift_planar(np.array([[3.0, -1.0, 2.0]]), 0.1, x, angle)
    assert np.allclose(x, [[1.3, 1.9]])
    assert np.allclose(angle, 0.7)


def drifted(inertia, q, w, h, flow):
    x, orientation = np.zeros((1, 3)), q[None].copy()
    velocity = np.concatenate([[1.0, 2, 3], w])[None]
    inverse = np.linalg.solve(inertia, np.eye(3))
    rigid.drift_spatial(
        inertia[None], (0.5 * (inverse + inverse.T))[None], flow, velocity, h, x, orientation
    )
    return x[0], orientation[0], velocity[0]


def euler_equations(inertia, q, w, h):
    """q and w after h by DOP853, from R' = w* R and L = R I R' w constant."""
    L = scipy_of(q).as_matrix() @ inertia @ scipy_of(q).as_matrix().T @ w

    def rate(_, y):
        R = scipy_of(y / np.linalg.norm(y)).as_matrix()
        w = R @ np.linalg.solve(inertia, R.T @ L)
        return 0.5 * np.array([-w @ y[1:], *(y[0] * w + np.cross(w, y[1:]))])

    end = solve_ivp(rate, (0, h), q, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    end /= np.linalg.norm(end)
    R = scipy_of(end).as_matrix()
    return end, R @ np.linalg.solve(inertia, R.T @ L)


@settings(deadline=None, derandomize=True, max_examples=6)
@given(seeds, st.floats(0.1, 30))
def test_torque_free_flow_is_eulers(seed, speed):
    """Error of fourth-order substeps of 0.02 rad: about 1e-10 a radian."""
    rng = np.random.default_rng(seed)
    inertia, q = spatial_inertia(rng), unit_quaternion(rng)
    w = rng.normal(size=3)
    w *= speed / np.linalg.norm(w)
    _, orientation, velocity = drifted(inertia, q, w, 0.05, True)
    end, spin = euler_equations(inertia, q, w, 0.05)
    assert np.allclose(scipy_of(orientation).as_matrix(), scipy_of(end).as_matrix(), atol=2e-9)
    assert np.allclose(velocity[3:], spin, atol=2e-9 * speed)


def test_flow_keeps_momentum_to_rounding():
    rng = np.random.default_rng(5)
    inertia, q, w = spatial_inertia(rng), unit_quaternion(rng), np.array([1.0, -2.0, 7.0])

    def momentum(q, w):
        R = scipy_of(q).as_matrix()
        return R @ inertia @ R.T @ w

    L = momentum(q, w)
    for _ in range(20):
        _, q, v = drifted(inertia, q, w, 1 / 60, True)
        w = v[3:]
    assert np.allclose(momentum(q, w), L, rtol=0, atol=1e-13 * np.linalg.norm(L))


def test_drift_without_flow_is_the_exponential():
    rng = np.random.default_rng(6)
    inertia, q, w = spatial_inertia(rng), unit_quaternion(rng), rng.normal(size=3)
    x, orientation, velocity = drifted(inertia, q, w, 0.1, False)
    expected = Rotation.from_rotvec(0.1 * w) * scipy_of(q)
    assert np.allclose(x, [0.1, 0.2, 0.3])
    assert np.allclose(scipy_of(orientation).as_matrix(), expected.as_matrix(), atol=1e-14)
    assert np.array_equal(velocity[3:], w)


def test_the_norm_of_a_quaternion_is_kept_over_many_turns():
    q = np.array([0.1, -0.7, 0.5, 0.5])
    q /= np.linalg.norm(q)
    for k in range(2000):
        rigid.turn(q, 0.3, -0.2 + 1e-4 * k, 0.1)
    assert abs(np.linalg.norm(q) - 1) < 4e-16
