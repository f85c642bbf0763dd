"""Block storage and the operator J M^-1 J' against plain dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems.delassus import BlockMatrix


def sparse_blocks(rng, nb, d, density=0.3):
    filled = rng.random((nb, nb)) < density
    dense = np.kron(filled, np.ones((d, d))) * rng.normal(size=(nb * d, nb * d))
    return dense + dense.T


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_blocks_hold_the_matrix_and_its_diagonal(seed, nb, d, as_sparse):
    rng = np.random.default_rng(seed)
    dense = sparse_blocks(rng, nb, d)
    blocks = BlockMatrix.of(sp.csr_array(dense) if as_sparse else dense, d)
    assert np.array_equal(blocks.dense, dense)
    assert blocks.shape == dense.shape
    assert blocks.diagonal.size == nb  # stored even where it is zero
    assert np.array_equal(blocks.indices[blocks.diagonal], np.arange(nb))
    for i in range(nb):
        row = blocks.indices[blocks.indptr[i] : blocks.indptr[i + 1]]
        assert (np.diff(row) > 0).all()
    r, q = rng.normal(size=(nb, d)), rng.normal(size=(nb, d))
    assert np.allclose(blocks.product(r, q).ravel(), dense @ r.ravel() + q.ravel())


def test_unit_is_the_root_of_the_mean_diagonal():
    blocks = BlockMatrix.of(np.diag([1.0, 3.0, 0.0, 0.0]), 2)
    assert blocks.unit.tolist() == [np.sqrt(2.0), 1.0]


def operator(rng, m=6, ndof=9):
    J = sp.random_array((m, ndof), density=0.5, rng=rng)
    half = [rng.normal(size=(3, 3)) for _ in range(ndof // 3)]
    inverse_mass = sp.block_diag([h.T @ h for h in half])
    return ds.DelassusOperator(J, inverse_mass), (J @ inverse_mass @ J.T).toarray()


def test_operator_is_the_product_of_its_factors():
    rng = np.random.default_rng(0)
    W, dense = operator(rng)
    r = rng.normal(size=6)
    assert W.shape == (6, 6)
    assert np.allclose(W @ r, dense @ r)
    assert np.allclose(W.diagonal(), np.diag(dense))
    assert np.allclose(W.formed().toarray(), dense)
    assert np.allclose(W.P.toarray(), (W.J @ W.inverse_mass).toarray())


@pytest.mark.parametrize("cone", [None, ds.EllipticCone((1.0, 0.3), 0.5), 4])
@pytest.mark.parametrize("bilateral", [0, 1, 2])
def test_matrix_free_problem_is_the_formed_problem(cone, bilateral):
    rng = np.random.default_rng(bilateral)
    W, dense = operator(rng, m=6 + bilateral)
    q, r = rng.normal(size=6 + bilateral), rng.normal(size=6 + bilateral)
    statement = {"bilateral": bilateral, "cone": cone}
    free = ds.FrictionProblem(W, q, 0.5, **statement)
    formed = ds.FrictionProblem(dense, q, 0.5, **statement)
    assert free.matrix_free
    assert not formed.matrix_free
    assert np.allclose(free.dual(r), formed.dual(r))
    assert free.residuals(r) == pytest.approx(formed.residuals(r), rel=1e-12)
    assert np.allclose(free.form.unit, formed.form.unit)
    assert np.allclose(free.dense, dense)
    # the rows of the block form make the blocks of W, but for the ones of the padding
    J, padding = free.form.J, -bilateral % 3
    expected = (J @ W.inverse_mass @ J.T).toarray()
    if padding:
        expected[-padding:, -padding:] = np.eye(padding)
    assert np.allclose(formed.form.W.dense, expected)


def test_fixed_bodies_have_no_inverse_mass():
    W = ds.DelassusOperator(np.eye(4), np.diag([1.0, 1.0, 0.0, 0.0]))
    assert W.diagonal().tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_patterns_that_are_not_symmetric_are_made_so(form):
    """Factorisations of Newton's method rely on it: an unsymmetric one ended in foreign memory."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(5, 80))
        M = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.1), 1) + 2.0 * np.eye(n)
        M[-1, 0] = 0.5
        stated = M if form == "dense" else sp.csr_array(M)
        blocks = BlockMatrix.of(stated, 1)
        np.testing.assert_array_equal(blocks.scipy.toarray(), M)
        filled = np.zeros((n, n), bool)
        filled[np.repeat(np.arange(n), np.diff(blocks.indptr)), blocks.indices] = True
        assert (filled == filled.T).all()
        q = rng.normal(size=n)
        assert ds.solve(ds.LCP(stated, q), "newton").status is not None
