"""G(q) of every representation against finite differences of the turn itself, and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.dynamics.kinematics import REPRESENTATIONS, representation
from drystone.errors import ArrayError, ModelError, OptionError
from drystone.kernels.rigid import turn

seeds = st.integers(0, 2**32 - 1)
thorough = settings(deadline=None, derandomize=True, max_examples=60)
every = pytest.mark.parametrize("name", REPRESENTATIONS)


def some_orientation(rng, name):
    """A random unit quaternion; for Euler angles not within 0.1 of their singularity."""
    while True:
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        if name != "euler" or np.hypot(*matrix(q)[:2, 0]) > 0.1:
            return q


def matrix(q):
    return Rotation.from_quat(q, scalar_first=True).as_matrix()


@every
@thorough
@given(seeds)
def test_conversions_keep_the_rotation(name, seed):
    kind, rng = representation(name), np.random.default_rng(seed)
    q = some_orientation(rng, name)
    own = kind.from_quaternion(q)
    assert own.shape == (kind.size,)
    assert np.allclose(kind.rotation(own), matrix(q), atol=1e-14)
    assert np.allclose(kind.from_quaternion(kind.to_quaternion(own)), own, atol=1e-12)
    assert np.allclose(kind.normalise(own), own, atol=1e-13), "an orientation is its own nearest"


@every
@thorough
@given(seeds)
def test_G_is_the_derivative_of_the_turn(name, seed):
    """q(exp(h omega) R) - q(exp(-h omega) R) over 2 h, with SciPy's rotations, is G(q) omega."""
    kind, rng = representation(name), np.random.default_rng(seed)
    quaternion = some_orientation(rng, name)
    own, omega, h = kind.from_quaternion(quaternion), rng.normal(size=3), 1e-5
    ends = []
    for sign in (1, -1):
        turned = Rotation.from_rotvec(sign * h * omega) * Rotation.from_matrix(matrix(quaternion))
        end = kind.from_quaternion(turned.as_quat(scalar_first=True))
        if name == "quaternion" and end @ own < 0:
            end = -end
        ends.append(end)
    if np.abs(ends[0] - ends[1]).max() > 0.5:
        return  # the two ends lie in different charts
    rate = (ends[0] - ends[1]) / (2 * h)
    assert np.allclose(rate, kind.G(own) @ omega, rtol=1e-5, atol=1e-6)


@every
@thorough
@given(seeds)
def test_G_has_full_column_rank_and_its_pseudo_inverse(name, seed):
    kind, rng = representation(name), np.random.default_rng(seed)
    own = kind.from_quaternion(some_orientation(rng, name))
    G = kind.G(own)
    least = {"quaternion": 0.5, "matrix": np.sqrt(2), "euler": 0.1, "rodrigues": 0.25}[name]
    assert np.linalg.svd(G, compute_uv=False).min() > least * (1 - 1e-12) / (1 + (name == "euler"))
    assert np.allclose(kind.pseudo_inverse(own) @ G, np.eye(3), atol=1e-11)


def test_G_of_quaternions_and_matrices_by_hand():
    """At the reference orientation: q' = (0, omega / 2), and the columns of Q move by omega x e."""
    assert np.allclose(
        representation("quaternion").G(np.array([1.0, 0, 0, 0])), np.eye(4)[:, 1:] / 2
    )
    omega = np.array([1.0, 2.0, 3.0])
    moved = representation("matrix").G(np.eye(3).ravel()) @ omega
    assert np.allclose(moved.reshape(3, 3).T, np.cross(omega, np.eye(3)).T)


@every
def test_all_representations_integrate_the_same_rotation(name):
    """A tumbling motion of known omega(t): the exponential update, against the kernel's own."""
    kind = representation(name)
    q = np.array([1.0, 0, 0, 0])
    own = kind.from_quaternion(q)
    h = 0.01
    for k in range(400):
        t = k * h
        omega = np.array([np.sin(t), 2 * np.cos(0.7 * t), 0.5 + t / 4])
        own = kind.step(own, omega, h)
        turn(q, *(h * omega))
    assert np.allclose(kind.rotation(own), matrix(q), atol=1e-12)


@every
def test_the_printed_update_is_of_first_order(name):
    """q + h G(q) omega, normalised, about a fixed axis for one second: error halves with h."""
    kind, omega = representation(name), np.array([0.3, 0.5, -0.4])
    exact = Rotation.from_rotvec(omega).as_matrix()
    errors = []
    for n in (100, 200, 400):
        own = kind.from_quaternion(np.array([1.0, 0, 0, 0]))
        for _ in range(n):
            own = kind.euler_step(own, omega, 1 / n)
        errors.append(np.abs(kind.rotation(own) - exact).max())
    # matrices and quaternions: the error of the normalised tangent step is along the turn
    assert errors[0] < 3e-3
    assert errors[2] < 0.55 * errors[1] < 0.31 * errors[0]


def test_a_row_is_the_gradient_of_the_gap():
    """n_hat' omega = d/dt f for f = height of a body point, stated in each representation."""
    point, q = np.array([0.3, -0.2, 0.5]), np.array([0.5, -0.1, 0.7, 0.5])
    q /= np.linalg.norm(q)
    arm = matrix(q) @ point
    expected = np.cross(arm, [0, 0, 1])  # d/dt (e . R p) = omega . (R p x e)
    for name, kind in REPRESENTATIONS.items():
        own, gradient = kind.from_quaternion(q), np.empty(kind.size)
        for i in range(kind.size):
            ends = []
            for sign in (1, -1):
                moved = own.copy()
                moved[i] += sign * 1e-6
                # off the sphere of unit quaternions f is read through R(q) as a polynomial
                ends.append((height_matrix(name, moved) @ point)[2])
            gradient[i] = (ends[0] - ends[1]) / 2e-6
        assert np.allclose(kind.row(own, gradient), expected, atol=1e-8), name


def height_matrix(name, q):
    if name == "matrix":
        return q.reshape(3, 3, order="F")
    if name == "quaternion":
        w, x, y, z = q
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        v = np.array([x, y, z])
        return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
    return representation(name).rotation(q)


def test_euler_angles_report_their_singularity():
    euler = representation("euler")
    with pytest.raises(ModelError, match=r"singular at theta = 1\.57"):
        euler.G(np.array([0.3, np.pi / 2, 0.1]))
    q = np.array([np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0])
    assert np.allclose(euler.rotation(euler.from_quaternion(q)), matrix(q), atol=1e-9)
    near = np.linalg.svd(euler.G(np.array([0.3, np.pi / 2 - 1e-3, 0.1])), compute_uv=False)
    assert near.max() > 500, "G grows without bound on the way there"


def test_rodrigues_vectors_switch_charts():
    rodrigues = representation("rodrigues")
    p = np.array([0.9, 0.8, -0.3])
    other = rodrigues.switch(p)
    assert np.allclose(rodrigues.rotation(p), rodrigues.rotation(other), atol=1e-15)
    assert np.linalg.norm(rodrigues.normalise(p)) <= 1
    own, turns = rodrigues.from_quaternion(np.array([1.0, 0, 0, 0])), 0.0
    for _ in range(1000):  # four whole turns: without switching |p| would pass infinity
        own = rodrigues.euler_step(own, np.array([0, 0, 1.0]), 8 * np.pi / 1000)
        turns = max(turns, float(np.linalg.norm(own)))
    assert turns <= 1
    assert np.allclose(rodrigues.rotation(own), np.eye(3), atol=2e-2)


@pytest.mark.kernels
def test_norm_is_kept_over_many_turns():
    q = np.array([0.1, -0.7, 0.5, 0.5])
    q /= np.linalg.norm(q)
    for k in range(2000):
        turn(q, 0.3, -0.2 + 1e-4 * k, 0.1)
    assert abs(np.linalg.norm(q) - 1) < 4e-16


def test_wrong_input_is_named():
    with pytest.raises(OptionError, match="unknown representation 'cayley'"):
        representation("cayley")
    with pytest.raises(ArrayError, match="expected 4 finite numbers"):
        representation("quaternion").G(np.zeros(3))
    with pytest.raises(ModelError, match="length 2"):
        representation("rodrigues").from_quaternion(np.array([2.0, 0, 0, 0]))
    with pytest.raises(ModelError, match="no rotation"):
        representation("matrix").to_quaternion(np.diag([1.0, 1.0, -1.0]).ravel())
    with pytest.raises(ModelError, match="no other one"):
        representation("rodrigues").switch(np.zeros(3))
    with pytest.raises(ModelError, match="no orientation"):
        representation("quaternion").normalise(np.zeros(4))
