"""Statements of linear complementarity problems."""

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

M = np.array([[2.0, 1.0], [1.0, 2.0]])


def test_the_three_kinds_are_boxes():
    lcp, mixed = ds.LCP(M, [-5, -6]), ds.MixedLCP(M, [-5, -6], 1)
    boxed = ds.BoxedLCP(M, [-5, -6], -1, [1, np.inf])
    assert lcp.lower.tolist() == [0, 0]
    assert mixed.lower.tolist() == [-np.inf, 0]
    assert mixed.free.tolist() == [True, False]
    assert boxed.upper.tolist() == [1, np.inf]
    assert [p.kind for p in (lcp, mixed, boxed)] == ["lcp", "mixed-lcp", "boxed-lcp"]
    assert isinstance(lcp, ds.MixedLCP)
    assert isinstance(mixed, ds.BoxedLCP)


def test_known_solutions():
    # Cottle, Pang and Stone: z = (4/3, 7/3), w = 0
    assert ds.LCP(M, [-5, -6]).residual([4 / 3, 7 / 3]) < 1e-15
    assert ds.LCP(M, [-5, -6]).residual([0, 0]) == 1.0
    # a free row may be negative: 2 z_0 = -5, w = (0, 1/2)
    assert ds.MixedLCP(M, [5, 3], 1).residual([-2.5, 0]) < 1e-15
    # with both free it is a linear system, whose solution breaks z_1 >= 0 by 1/3
    assert ds.MixedLCP(M, [5, 3], 2).residual([-7 / 3, -1 / 3]) < 1e-15
    broken = ds.MixedLCP(M, [5, 3], 1).residual([-7 / 3, -1 / 3])
    assert broken == pytest.approx(1 / 3 / np.sqrt(34))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_storage_does_not_matter(storage):
    problem = ds.LCP(storage(M), [-5, -6])
    assert problem.sparse is (storage is not np.asarray)
    assert np.array_equal(problem.dense, M)
    assert problem.dual(np.array([1.0, 2.0])).tolist() == [-1.0, -1.0]
    assert problem.unit.tolist() == [np.sqrt(2)] * 2
    assert problem.symmetric


def test_symmetry_is_told():
    assert ds.LCP(M, [0, 0]).symmetric
    assert not ds.LCP([[1, 2], [0, 1]], [0, 0]).symmetric
    assert not ds.LCP(sp.csr_array([[1, 2], [0, 1]]), [0, 0]).symmetric


def test_free_rows_as_a_number_or_a_mask():
    mask = np.array([False, True])
    assert ds.MixedLCP(M, [0, 0], mask).free.tolist() == [False, True]
    assert ds.MixedLCP(M, [0, 0], 0).free.tolist() == [False, False]
    assert ds.MixedLCP(sp.csr_array(M), [0, 0], 2).free.tolist() == [True, True]


def test_a_zero_diagonal_has_unit_one():
    assert ds.LCP([[0, 1], [1, 4]], [0, 0]).unit.tolist() == [1.0, 2.0]


def test_repr_names_the_size():
    assert repr(ds.LCP(M, [0, 0])) == "LCP(n=2, dense)"
    assert repr(ds.MixedLCP(sp.csr_array(M), [0, 0], 1)) == "MixedLCP(n=2, sparse)"
