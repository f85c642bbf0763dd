"""Orientations against SciPy's rotations; frames against hand-made bodies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.dynamics import frames

EPS = 1e-14
seeds = st.integers(0, 2**32 - 1)
thorough = settings(deadline=None, derandomize=True, max_examples=100)


def quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def scipy_of(q):
    return Rotation.from_quat(q, scalar_first=True)


@thorough
@given(seeds)
def test_rotations_and_products(seed):
    rng = np.random.default_rng(seed)
    p, q = quaternions(rng, 5), quaternions(rng, 5)
    assert np.allclose(frames.rotations(q), scipy_of(q).as_matrix(), atol=EPS)
    together = (scipy_of(p) * scipy_of(q)).as_matrix()
    assert np.allclose(frames.rotations(frames.product(p, q)), together, atol=EPS)
    back = frames.product(q, frames.conjugate(q))
    assert np.allclose(back, [1, 0, 0, 0], atol=EPS)


@thorough
@given(seeds, st.floats(0, np.pi - 1e-6))
def test_exponential_and_logarithm(seed, angle):
    axis = np.random.default_rng(seed).normal(size=3)
    turn = angle * axis / np.linalg.norm(axis)
    q = frames.exponential(turn)
    assert np.allclose(frames.rotation(q), Rotation.from_rotvec(turn).as_matrix(), atol=EPS)
    assert np.allclose(frames.logarithm(q), turn, rtol=1e-13, atol=1e-300)
    assert np.allclose(frames.logarithm(-q), turn, rtol=1e-13, atol=1e-300), "-q is the same turn"


def test_logarithm_of_nothing_and_of_half_a_turn():
    assert np.array_equal(frames.logarithm(np.array([1.0, 0, 0, 0])), np.zeros(3))
    assert np.allclose(frames.logarithm(np.array([0.0, 0, 1, 0])), [0, np.pi, 0])


def test_planar_rotation():
    R = frames.rotation(0.3)
    assert np.allclose(R, [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])


@pytest.mark.parametrize("dim", [2, 3])
def test_cross_products_in_both_dimensions(dim):
    rng = np.random.default_rng(1)
    arm, force, spin = (rng.normal(size=(4, 3)) for _ in range(3))
    if dim == 2:
        arm[:, 2] = force[:, 2] = spin[:, 0] = spin[:, 1] = 0
    turn = slice(2, 3) if dim == 2 else slice(0, 3)
    assert np.allclose(
        frames.moment(arm[:, :dim], force[:, :dim]), np.cross(arm, force)[:, turn], atol=EPS
    )
    speed = np.cross(spin, arm)[:, :dim]
    assert np.allclose(frames.spin_velocity(spin[:, turn], arm[:, :dim]), speed, atol=EPS)
