"""The exact solve of one contact, against the law written out by cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.blocks import CONVEX, COULOMB
from drystone.kernels.contact.one_contact import _slip_convex, _stick, solve_contact


def solve(W, q, mu, law, lam=0.0):
    d = q.size
    r = np.zeros((1, d))
    solve_contact((0,) * d, W[None], 0, q, mu, law, lam, np.empty((d + 2, d)), r, 0)
    return r[0]


def random_block(rng, d):
    B = rng.normal(size=(d, d))
    return B @ B.T + 0.05 * np.eye(d)


@pytest.mark.kernels
@settings(deadline=None, max_examples=200, derandomize=True)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([2, 3, 4]), mu=st.floats(0.0, 0.8))
def test_coulomb_by_cases(seed, d, mu):
    rng = np.random.default_rng(seed)
    W, q = random_block(rng, d), rng.normal(size=d)
    r = solve(W, q, mu, COULOMB)
    u = W @ r + q
    eps = 1e-10 * max(1.0, np.abs(r).max())
    slip, friction = np.linalg.norm(u[1:]), np.linalg.norm(r[1:])
    assert r[0] >= 0
    assert u[0] >= -eps
    assert abs(r[0] * u[0]) <= eps
    assert friction <= mu * r[0] + eps
    if slip > 1e-8 and r[0] > 0:
        assert friction == pytest.approx(mu * r[0], abs=eps)
        np.testing.assert_allclose(r[1:] * slip, -mu * r[0] * u[1:], atol=10 * eps)


@pytest.mark.kernels
@settings(deadline=None, max_examples=200, derandomize=True)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([2, 3, 4]), mu=st.floats(0.05, 1.5))
def test_convex_is_the_minimum_over_the_cone(seed, d, mu):
    """r minimises r'Wr/2 + q'r over the cone: no cone direction descends."""
    rng = np.random.default_rng(seed)
    W, q = random_block(rng, d), rng.normal(size=d)
    r = solve(W, q, mu, CONVEX)
    u = W @ r + q
    scale = max(1.0, np.abs(r).max() * np.abs(W).max())
    assert np.linalg.norm(r[1:]) <= mu * r[0] * (1 + 1e-9)
    assert abs(r @ u) <= 1e-8 * scale  # the minimum along its own ray
    assert u[0] >= mu * np.linalg.norm(u[1:]) - 1e-8 * scale  # u in the dual cone


@pytest.mark.kernels
def test_closed_forms():
    W = np.diag([2.0, 1.0, 1.0])
    assert not solve(W, np.array([0.1, 5.0, 0.0]), 0.5, COULOMB).any()  # leaving
    np.testing.assert_allclose(
        solve(W, np.array([-2.0, 0.3, 0.0]), 0.5, COULOMB), [1.0, -0.3, 0.0]
    )  # sticking: r = -q / diag, inside the cone
    np.testing.assert_allclose(
        solve(W, np.array([-2.0, 3.0, -4.0]), 0.5, COULOMB), [1.0, -0.3, 0.4]
    )  # slipping: friction 0.5 against the slip (3, -4) / 5
    np.testing.assert_allclose(solve(W, np.array([-2.0, 3.0, 0.0]), 0.0, COULOMB), [1, 0, 0])
    np.testing.assert_allclose(  # bilateral: u = 0 whatever the signs
        solve(W, np.array([2.0, 3.0, -1.0]), -1.0, COULOMB), [-1.0, -3.0, 1.0]
    )


@pytest.mark.kernels
def test_warm_start_changes_nothing():
    rng = np.random.default_rng(7)
    for _ in range(50):
        W, q = random_block(rng, 3), rng.normal(size=3)
        q[0] = -abs(q[0])
        cold = solve(W, q, 0.2, COULOMB)
        for lam in (1e-6, 1.0, 1e6):
            np.testing.assert_allclose(solve(W, q, 0.2, COULOMB, lam), cold, atol=1e-12)


@pytest.mark.kernels
def test_convex_slip_by_its_angle_arrives_on_round_contacts():
    """Nearly those of spheres: the fast way must find the slip itself, not hand it on."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        W = np.diag([1.0, 3.0, 4.0])[None] * rng.uniform(0.5, 2.0)
        q = np.array([-rng.uniform(0.1, 1.0), *rng.normal(size=2)])
        mu = 0.1
        r = np.zeros((1, 3))
        _stick((0, 0, 0), W, 0, q, np.empty((5, 3)), r, 0)
        if np.linalg.norm(r[0, 1:]) > mu * r[0, 0]:
            assert _slip_convex(W, 0, q, mu, r, 0)
            u = W[0] @ r[0] + q
            assert abs(u @ r[0]) <= 1e-14
            assert u[0] == pytest.approx(mu * np.linalg.norm(u[1:]))


@pytest.mark.kernels
@pytest.mark.parametrize("law", [COULOMB, CONVEX])
@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_rows_without_a_direction_carry_nothing(d, law, mu):
    """As a limit of a joint has at the angle where its gradient vanishes."""
    np.testing.assert_array_equal(solve(np.zeros((d, d)), np.zeros(d), mu, law), np.zeros(d))
