"""The sparse block factorisation, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.islands import extract, label_islands
from drystone.kernels.linalg import block_lu
from drystone.kernels.linalg.ordering import minimum_degree
from drystone.problems.delassus import BlockMatrix


def random_pattern(rng, nb, d, density):
    mask = rng.uniform(size=(nb, nb)) < density
    mask = mask | mask.T | np.eye(nb, dtype=bool)
    A = rng.normal(size=(nb, d, nb, d)) * mask[:, None, :, None]
    A = A.reshape(nb * d, nb * d) + 2.0 * d * nb * np.eye(nb * d)
    return BlockMatrix.of(sp.csr_array(A), d), A


def factors(W, keep):
    nb, d = W.nb, W.d
    back, start = np.zeros(nb, np.int64), np.zeros(nb + 1, np.int64)
    n, rows = minimum_degree(W.indptr, W.indices, keep, back, start, nb * nb)
    node, first = np.zeros(nb, np.int64), np.zeros(nb + 1, np.int64)
    below, lower, upper = first.copy(), first.copy(), first.copy()
    count, rows, size = block_lu.supernodes(d, n, start, rows, node, first, below, lower, upper)
    return n, back, (count, node, first, below, rows, lower, upper), np.zeros(size)


@pytest.mark.kernels
@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    nb=st.integers(1, 14),
    d=st.sampled_from([1, 2, 3, 4]),
    density=st.sampled_from([0.05, 0.3, 1.0]),
)
def test_solves_like_dense_algebra(seed, nb, d, density):
    rng = np.random.default_rng(seed)
    W, A = random_pattern(rng, nb, d, density)
    keep = rng.uniform(size=nb) < 0.8
    n, back, s, buffer = factors(W, keep)
    count, node, first, below, rows, lower, upper = s
    for j in range(n):
        for m in range(n):
            block = A.reshape(nb, d, nb, d)[back[j], :, back[m], :]
            if block.any():
                at, stride = block_lu.slot(d, j, m, node, first, below, rows, lower, upper)
                for a in range(d):
                    buffer[at + a * stride : at + a * stride + d] = block[a]
    assert block_lu.factorise(W.key, count, node, first, below, rows, lower, upper, buffer)
    right = rng.normal(size=(n, d))
    x = right.copy()
    block_lu.substitute(W.key, count, first, below, rows, lower, upper, buffer, x)
    index = (d * back[:n, None] + np.arange(d)).ravel()
    np.testing.assert_allclose(A[np.ix_(index, index)] @ x.ravel(), right.ravel(), atol=1e-10)


@pytest.mark.kernels
def test_order_is_a_permutation_and_a_chain_has_no_fill():
    nb = 40
    A = np.eye(nb) * 4 + np.diag(np.ones(nb - 1), 1) + np.diag(np.ones(nb - 1), -1)
    W = BlockMatrix.of(sp.csr_array(A), 1)
    back, start = np.zeros(nb, np.int64), np.zeros(nb + 1, np.int64)
    n, rows = minimum_degree(W.indptr, W.indices, np.ones(nb, bool), back, start, nb * nb)
    assert n == nb
    assert sorted(back) == list(range(nb))
    assert rows.size == nb - 1  # as many entries below the diagonal as the matrix has


def structure(pattern):
    """Order and columns of L of a boolean pattern."""
    nb = pattern.shape[0]
    W = BlockMatrix.of(sp.csr_array(pattern.astype(float)), 1)
    back, start = np.zeros(nb, np.int64), np.zeros(nb + 1, np.int64)
    n, rows = minimum_degree(W.indptr, W.indices, np.ones(nb, bool), back, start, nb * nb)
    assert n == nb
    return back, [rows[start[j] : start[j + 1]].tolist() for j in range(nb)]


@pytest.mark.kernels
@settings(deadline=None, max_examples=40, derandomize=True)
@given(seed=st.integers(0, 10**6), nb=st.integers(1, 25), density=st.floats(0.0, 0.6))
def test_columns_are_those_of_elimination(seed, nb, density):
    """Against elimination of a full boolean matrix in the same order."""
    mask = np.random.default_rng(seed).uniform(size=(nb, nb)) < density
    mask = mask | mask.T | np.eye(nb, dtype=bool)
    back, columns = structure(mask)
    assert sorted(back) == list(range(nb))
    left = mask[np.ix_(back, back)].copy()
    for j in range(nb):
        below = np.flatnonzero(left[j + 1 :, j]) + j + 1
        assert columns[j] == below.tolist()
        left[np.ix_(below, below)] = True


@pytest.mark.kernels
@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 10**6), nb=st.integers(2, 60))
def test_trees_have_no_fill(seed, nb):
    rng = np.random.default_rng(seed)
    mask = np.eye(nb, dtype=bool)
    for k in range(1, nb):
        above = rng.integers(k)
        mask[k, above] = mask[above, k] = True
    assert sum(map(len, structure(mask)[1])) == nb - 1


@pytest.mark.kernels
def test_too_little_room_is_reported():
    W, _ = random_pattern(np.random.default_rng(0), 8, 2, 1.0)
    back, start = np.zeros(8, np.int64), np.zeros(9, np.int64)
    assert minimum_degree(W.indptr, W.indices, np.ones(8, bool), back, start, 3)[0] == -1


@pytest.mark.kernels
def test_a_singular_panel_is_reported():
    W = BlockMatrix.of(np.zeros((4, 4)), 2)
    _, _, s, buffer = factors(W, np.ones(2, bool))
    assert not block_lu.factorise(W.key, *s, buffer)


@pytest.mark.kernels
@settings(deadline=None, max_examples=50, derandomize=True)
@given(seed=st.integers(0, 10**6), nb=st.integers(1, 30))
def test_islands_are_connected_components(seed, nb):
    rng = np.random.default_rng(seed)
    W, A = random_pattern(rng, nb, 2, 1.0 / nb)
    label = np.empty(nb, np.int64)
    count = label_islands(W.indptr, W.indices, label)
    graph = A.reshape(nb, 2, nb, 2).any(axis=(1, 3))
    expected, other = sp.csgraph.connected_components(sp.csr_array(graph), directed=False)
    assert count == expected
    assert np.array_equal(np.unique(np.column_stack([label, other]), axis=0).shape[0], count)
    members = np.flatnonzero(label == label[0])
    part = BlockMatrix(*extract(W.indptr, W.indices, W.blocks, members, np.empty(nb, np.int64)))
    index = (2 * members[:, None] + np.arange(2)).ravel()
    np.testing.assert_array_equal(part.dense, A[np.ix_(index, index)])
