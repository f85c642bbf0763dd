"""Rows against velocities of material points, and against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels import rows as kernels
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows

pytestmark = pytest.mark.kernels
seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=15)
shapes = pytest.mark.parametrize(("dim", "soft"), [(2, False), (3, False), (3, True)])


def point_velocity(a, v, b, p):
    dim, arm = a["dim"], p - a["position"][b]
    if dim == 2:
        return v[b, :2] + v[b, 2] * np.array([-arm[1], arm[0]])
    return v[b, :3] + np.cross(v[b, 3:], arm)


@shapes
@some
@given(seed=seeds)
def test_rows_are_the_relative_velocity_of_the_two_points(dim, soft, seed):
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 4, 5, soft=soft)
    v, bias = rng.normal(size=(4, a["dof"])), rng.normal(size=(5, a["d"]))
    u = np.empty((5, a["d"]))
    kernels.row_velocities(a["body"], a["J"], bias, v, u)
    for i, (first, second) in enumerate(a["body"]):
        p = a["point"][i]
        gap_rate = point_velocity(a, v, first, p) - point_velocity(a, v, second, p)
        expected = a["frame"][i, :dim] @ gap_rate
        assert np.allclose(u[i, :dim] - bias[i, :dim], expected, atol=1e-13)
        assert np.allclose(a["frame"][i, 0], a["normal"][i]), "the first row is the normal"
        if soft:
            spin = 0.3 * a["normal"][i] @ (v[first, 3:] - v[second, 3:])
            assert np.isclose(u[i, 3] - bias[i, 3], spin)


@shapes
@some
@given(seed=seeds)
def test_responses_and_diagonals(dim, soft, seed):
    """P' r = M^-1 J' r, D = J M^-1 J'; bodies that do not move get nothing."""
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 4, 5, soft=soft)
    J, inverse = dense_J(a), inverse_mass_matrix(a)
    r, v = rng.normal(size=(5, a["d"])), np.zeros((4, a["dof"]))
    kernels.add_impulses(a["body"], a["P"], r, v)
    assert np.allclose(v.ravel(), inverse @ J.T @ r.ravel(), atol=1e-12)
    assert not v[0].any()
    W = J @ inverse @ J.T
    for i in range(5):
        at = slice(i * a["d"], (i + 1) * a["d"])
        assert np.allclose(a["D"][i], W[at, at], atol=1e-12)


@some
@given(seed=seeds)
def test_frames_are_right_handed_and_follow_the_axis(seed):
    rng = np.random.default_rng(seed)
    normal, axis = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    axis[0], axis[1] = 0.0, 2.0 * normal[1]  # none, and one along the normal
    ratios = rng.uniform(0.1, 2, (6, 2))
    frame = np.empty((6, 3, 3))
    kernels.frames_spatial(normal, axis, ratios, 1.0, frame)
    for n, wanted, (s, c), (f, t1, t2) in zip(normal, axis, ratios, frame, strict=True):
        assert np.allclose(f, n)
        assert np.allclose(np.cross(n, t1 / s), t2 / c, atol=1e-12), "n, t1, t2 right-handed"
        assert np.isclose(np.linalg.norm(t1), s)
        along = wanted - (wanted @ n) * n
        if np.linalg.norm(along) > 1e-9:
            assert t1 @ along > 0
            assert np.allclose(np.cross(t1, along), 0, atol=1e-9)
    planar = np.empty((1, 2, 2))
    kernels.frames_planar(np.array([[0.6, 0.8]]), planar)
    assert np.allclose(planar[0], [[0.6, 0.8], [-0.8, 0.6]])


@shapes
@some
@given(seed=seeds)
def test_impulse_vectors_and_back(dim, soft, seed):
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 4, 5, soft=soft)
    frame = a["frame"]
    frame[:, 1] *= 0.4  # a stretched tangent
    r, back = rng.normal(size=(5, a["d"])), np.empty((5, a["d"]))
    vector, spin = np.empty((5, dim)), np.empty(5)
    kernels.impulse_vectors(frame, r, vector, spin)
    assert np.allclose(vector, np.einsum("ia,iae->ie", r[:, :dim], frame[:, :dim]))
    assert np.allclose(spin, 0.3 * r[:, 3] if soft else 0.0)
    kernels.project_impulses(frame, vector, spin, back)
    assert np.allclose(back, r, atol=1e-13)
