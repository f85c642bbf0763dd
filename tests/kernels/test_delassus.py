"""W in blocks against J M^-1 J' by dense algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.delassus import delassus
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows

pytestmark = pytest.mark.kernels


def dense(indptr, indices, blocks, n, d):
    W = np.zeros((n * d, n * d))
    for i in range(n):
        columns = indices[indptr[i] : indptr[i + 1]]
        assert (np.diff(columns) > 0).all(), "columns ascend, each once"
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            W[i * d : (i + 1) * d, j * d : (j + 1) * d] = blocks[k]
    return W


@pytest.mark.parametrize(("dim", "soft"), [(2, False), (3, False), (3, True)])
@settings(deadline=None, derandomize=True, max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), nc=st.integers(1, 12), fixed=st.integers(0, 2))
def test_blocks_are_the_dense_matrix(dim, soft, seed, nc, fixed):
    a = random_rows(np.random.default_rng(seed), dim, 5, nc, fixed, soft)
    d = a["d"]
    work = np.full(5, 77)
    W = delassus((0,) * d, 0, nc, a["body"], a["moves"], a["J"], a["P"], work)
    J = dense_J(a)
    expected = J @ inverse_mass_matrix(a) @ J.T
    assert np.allclose(dense(*W, nc, d), expected, atol=1e-12)


def test_a_range_of_contacts_alone():
    """Contacts 2:5 of three bodies that the first two contacts do not touch."""
    a = random_rows(np.random.default_rng(3), 3, 6, 5, 1)
    a["body"][:2], a["body"][2:] = [[1, 2], [2, 0]], [[3, 4], [4, 5], [5, 0]]
    work = np.zeros(6, np.int64)
    indptr, indices, _ = delassus((0,) * 3, 2, 5, a["body"], a["moves"], a["J"], a["P"], work)
    assert indptr.tolist() == [0, 2, 5, 7]
    assert indices.tolist() == [0, 1, 0, 1, 2, 1, 2], "the ground couples nothing"
