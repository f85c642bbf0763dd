"""Sparse problems that Dantzig's method answers by one guess of all contacts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import drystone as ds
from drystone.kernels.linalg import envelope
from drystone.solvers.dantzig import EXACT_RESIDUAL, GUESS_ROWS, guessed

seeds = st.integers(0, 2**31)


def tower(blocks, jolt=0.3, seed=0, mu=0.5):
    """(W, q, G) of planar blocks of 1 kg, two contacts at each joint of the stack, rows (normal,
    tangent): bodies shaken by `jolt` m/s^2. W = G'G."""
    rng = np.random.default_rng(seed)
    half, tall = 0.5, 0.4
    inertia = ((2 * half) ** 2 + tall**2) / 12.0
    J = np.zeros((4 * blocks, 3 * blocks))
    for k in range(blocks):
        for side, x in enumerate((-half, half)):
            for t, direction in enumerate(((0.0, 1.0), (1.0, 0.0))):
                row = 4 * k + 2 * side + t
                for body, y, sign in ((k, -tall / 2, 1.0), (k - 1, tall / 2, -1.0)):
                    if body >= 0:
                        spin = x * direction[1] - y * direction[0]
                        J[row, 3 * body : 3 * body + 3] = sign * np.array([*direction, spin])
    G = (J / np.sqrt(np.tile([1.0, 1.0, inertia], blocks))).T
    free = np.tile([0.0, -9.81, 0.0], blocks) + jolt * rng.normal(size=3 * blocks)
    return G.T @ G, J @ free, G


@pytest.mark.kernels
def test_the_factor_within_the_envelope_solves():
    rng = np.random.default_rng(1)
    n = 12
    A = np.diag(rng.uniform(4.0, 5.0, n))
    for i, j in ((0, 3), (1, 2), (2, 7), (4, 9), (5, 6), (3, 10), (7, 11)):
        A[i, j] = A[j, i] = rng.normal()
    start, index, value = np.empty(n + 1, np.int64), np.empty(40, np.int64), np.empty(40)
    count = envelope.entries(A, 0.0, start, index, value)
    assert count == np.count_nonzero(A)
    order = np.array([7, 2, 1, 11, 4, 9, 0, 3, 10, 5], np.int64)
    m, more = np.int64(order.size), rng.uniform(0.0, 0.1, n)
    place, first, begin = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64)
    L = np.empty(envelope.extent(start, index, order, m, place, first, begin))
    assert envelope.factorise(start, index, value, more, order, m, place, first, begin, L) == 1
    x = rng.normal(size=order.size)
    y = x.copy()
    envelope.substitute(m, first, begin, L, y)
    whole = A[np.ix_(order, order)] + np.diag(more[order])
    assert y == pytest.approx(np.linalg.solve(whole, x), rel=1e-12)


@pytest.mark.kernels
def test_full_and_unsymmetric_matrices_are_none_of_its_business():
    start, index, value = np.empty(3, np.int64), np.empty(4, np.int64), np.empty(4)
    A = np.array([[2.0, 1.0], [0.9, 2.0]])
    assert envelope.entries(A, 0.01, start, index, value) == -1
    assert envelope.entries(A, 0.2, start, index, value) == 4
    assert envelope.entries(A, 0.2, start, index[:3], value) == -1


@settings(deadline=None, derandomize=True, max_examples=15)
@given(seeds, st.floats(0.0, 3.0))
def test_without_friction_the_accelerations_are_those_of_least_constraint(seed, jolt):
    """Gauss' principle by Lawson and Hanson's nnls; also where many contacts open."""
    W, q, G = tower(60, jolt, seed)
    W, q, G = W[::2, ::2], q[::2], G[:, ::2]
    found = ds.solve(ds.LCP(W, q), ds.Dantzig(tol=1e-9))
    assert found.ok
    y = np.linalg.lstsq(G.T, q, rcond=None)[0]
    f = nnls(G, -y, maxiter=5000)[0]
    np.testing.assert_allclose(W @ found.value + q, W @ f + q, atol=1e-8 * np.abs(q).max())


@settings(deadline=None, derandomize=True, max_examples=10)
@given(seeds)
def test_a_stack_at_rest_is_guessed_and_obeys_the_law(seed):
    W, q, _ = tower(40, 0.2, seed)
    problem = ds.FrictionProblem(W, q, 0.5, dim=2)
    found = ds.solve(problem, ds.Dantzig(tol=1e-9))
    assert found.ok
    assert found.info["guesses"] > 0
    assert found.info["drives"] == 0
    f, a = found.value.reshape(-1, 2), (W @ found.value + q).reshape(-1, 2)
    top = np.abs(f).max()
    assert (np.abs(f[:, 1]) <= 0.5 * f[:, 0] + 1e-9 * top).all()
    assert np.abs(a).max() <= 1e-9 * np.abs(q).max()
    driven = ds.solve(problem, ds.Dantzig(tol=1e-9, trace=True))
    assert driven.info["guesses"] == 0
    np.testing.assert_allclose(W @ driven.value + q, a.ravel(), atol=1e-8 * np.abs(q).max())


def test_what_slides_is_driven():
    """Blocks pushed harder than friction holds: no guess of sticking contacts is right."""
    W, q, G = tower(30, 0.0)
    push = np.zeros(90)
    push[3 * 29] = 8.0  # the uppermost, sideways
    root = np.sqrt(np.tile([1.0, 1.0, (1.0 + 0.16) / 12.0], 30))
    problem = ds.FrictionProblem(W, q + G.T @ (push * root), 0.5, dim=2)
    assert guessed(problem) is None
    found = ds.solve(problem, ds.Dantzig(tol=1e-9))
    assert found.ok
    assert found.info["guesses"] == 0
    a = found.dual.reshape(-1, 2)
    assert a[-2:, 1] == pytest.approx(8.0 - 0.5 * 9.81, rel=1e-9)


def test_other_problems_are_not_guessed():
    W, q, _ = tower(GUESS_ROWS // 4 - 1)
    assert guessed(ds.FrictionProblem(W, q, 0.5, dim=2)) is None  # small
    W, q, _ = tower(40)
    slip = np.zeros((80, 1))
    slip[3] = 1.0
    assert guessed(ds.FrictionProblem(W, q, 0.5, dim=2, slip=slip)) is None
    joint = np.pad(W, (0, 1)) + np.diag(np.append(np.zeros(160), 1.0))
    stated = ds.FrictionProblem(joint, np.append(q, 0.0), 0.5, dim=2, bilateral=1)
    assert guessed(stated) is None
    full = np.ones((80, 80)) + np.eye(80)
    assert guessed(ds.LCP(full, -np.ones(80))) is None
    unsymmetric = np.eye(80) + np.diag(np.full(79, 0.1), 1)
    assert guessed(ds.LCP(unsymmetric, -np.ones(80))) is None


def test_a_guess_is_exact_and_its_index_sets_are_those_of_the_answer():
    W, q, _ = tower(50, 0.3, 4)
    W, q = W[::2, ::2], q[::2]
    found = ds.solve(ds.LCP(W, q), "dantzig")
    assert found.info["guesses"] > 0
    assert max(found.residual, found.residual_unit) <= EXACT_RESIDUAL
    assert set(np.flatnonzero(found.value > 0)) <= set(found.index_sets["contact"])
    again = ds.solve(ds.LCP(W, q * (1 + 1e-9)), "dantzig", guess=found)
    assert again.ok


def test_contacts_that_would_pull_are_left_out_of_the_guess():
    """The uppermost block is lifted: the two contacts below it open."""
    W, q, G = tower(40, 0.0)
    lift = np.zeros(120)
    lift[3 * 39 + 1] = 1.2 * 9.81
    W, q = W[::2, ::2], (q + G.T @ lift)[::2]
    found = ds.solve(ds.LCP(W, q), ds.Dantzig(tol=1e-9))
    assert found.info["guesses"] == 2
    assert list(found.index_sets["open"]) == [78, 79]
    assert found.dual[78:] == pytest.approx(0.2 * 9.81, rel=1e-9)
