"""The bordered inverse against NumPy's own solves, over random walks of insertion and deletion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.linalg import bordered_inverse

pytestmark = pytest.mark.kernels


def insert(S, k, A, members, j):
    """Border S, the transposed inverse of A[members][:, members], by row and column j."""
    u, v = np.empty(k), np.empty(k)
    g, h = A[members, j].copy(), A[j, members].copy()
    bordered_inverse.solve(S, k, g, u)
    bordered_inverse.solve_left(S, k, h, v)
    bordered_inverse.border(S, k, u, v, A[j, j] - h @ u)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_walk_of_insertions_and_deletions_keeps_the_inverse(seed, symmetric):
    rng = np.random.default_rng(seed)
    n = 9
    A = rng.normal(size=(n, n))
    A = A @ A.T + n * np.eye(n) if symmetric else A + 3 * n * np.eye(n)
    S, members = np.zeros((n, n)), []
    for _ in range(25):
        outside = [j for j in range(n) if j not in members]
        if outside and (not members or rng.random() < 0.6):
            j = int(rng.choice(outside))
            insert(S, len(members), A, members, j)
            members.append(j)
        else:
            p = int(rng.integers(len(members)))
            bordered_inverse.shrink(S, len(members), p)
            members[p] = members[-1]
            members.pop()
        k = len(members)
        G = A[np.ix_(members, members)]
        np.testing.assert_allclose(S[:k, :k].T @ G, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 2, 5, 13])
def test_solves_on_both_sides(k):
    rng = np.random.default_rng(k)
    G, g = rng.normal(size=(k, k)), rng.normal(size=k)
    S = np.full((k + 2, k + 2), np.nan)  # what lies outside the block in use must not matter
    S[:k, :k] = G.T
    assert bordered_inverse.invert(S, k, np.zeros(k + 2, np.int64), 1e-14) == 1
    x, y = np.empty(k), np.empty(k)
    bordered_inverse.solve(S, k, g, x)
    bordered_inverse.solve_left(S, k, g, y)
    np.testing.assert_allclose(G @ x, g, atol=1e-11)
    np.testing.assert_allclose(y @ G, g, atol=1e-11)


def test_inversion_exchanges_rows():
    S = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]])
    G = S.copy()
    assert bordered_inverse.invert(S, 3, np.zeros(3, np.int64), 1e-14) == 1
    np.testing.assert_array_equal(S @ G, np.eye(3))


def test_singular_matrix_is_reported():
    row = np.array([1.0, 2.0, 3.0])
    S = np.array([row, 2 * row, [0.0, 1.0, 0.0]])
    assert bordered_inverse.invert(S, 3, np.zeros(3, np.int64), 1e-12) == 0
