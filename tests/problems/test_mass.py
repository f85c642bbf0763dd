"""The factorised mass matrix, block by block and coupled, against dense solves."""

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds
from drystone.problems.mass import MassMatrix, decoupled


def bodies(rng, sizes):
    blocks = []
    for size in sizes:
        half = rng.normal(size=(size, size))
        blocks.append(half.T @ half + 0.1 * np.eye(size))
    return sp.block_diag(blocks).toarray()


def finite_elements(n):
    """Mass matrix of linear elements on a line: couples every row with its neighbours."""
    return sp.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).toarray() / 6.0


@pytest.mark.parametrize(
    "M",
    [
        np.diag([1.0, 2.0, 3.0]),
        bodies(np.random.default_rng(0), [6, 6, 3, 1, 6]),
        bodies(np.random.default_rng(1), [12, 2]),
        bodies(np.random.default_rng(2), [13, 2]),
        finite_elements(40),
    ],
    ids=["diagonal", "bodies", "largest block", "too large a block", "finite elements"],
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_solve_and_congruence(M, shuffled):
    rng = np.random.default_rng(3)
    if shuffled:
        order = rng.permutation(M.shape[0])
        M = M[np.ix_(order, order)]
    mass = MassMatrix(M)
    right = rng.normal(size=M.shape[0])
    assert np.allclose(mass.solve(right), np.linalg.solve(M, right), rtol=1e-11)
    H = sp.csr_array(sp.random_array((M.shape[0], 6), density=0.4, rng=rng))
    W = mass.congruence(H)
    W = W.toarray() if sp.issparse(W) else W
    dense = H.toarray()
    assert np.allclose(W, dense.T @ np.linalg.solve(M, dense), rtol=1e-10, atol=1e-12)


def test_rigid_bodies_keep_the_local_matrix_sparse():
    rng = np.random.default_rng(4)
    M = bodies(rng, [6] * 20)
    H = sp.kron(sp.eye_array(20), rng.normal(size=(6, 3)))  # one contact for each body
    W = MassMatrix(M).congruence(sp.csr_array(H))
    assert sp.issparse(W)
    assert W.nnz == 20 * 9


def test_decoupled_parts_cover_every_row_once():
    M = sp.csr_array(bodies(np.random.default_rng(5), [3, 1, 2, 3]))
    parts = decoupled(M)
    rows = np.concatenate([members.ravel() for members, _ in parts])
    assert sorted(rows.tolist()) == list(range(9))
    for members, cells in parts:
        for row, cell in zip(members, cells, strict=True):
            assert np.array_equal(cell, M.toarray()[np.ix_(row, row)])


@pytest.mark.parametrize("M", [bodies(np.random.default_rng(6), [6, 6]), finite_elements(30)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csc_array])
def test_global_problem_reduces_to_the_local_one(M, storage):
    """u = H' M^-1 (q + H r) + b, by dense algebra."""
    rng = np.random.default_rng(7)
    n = M.shape[0]
    H, q, b, r = rng.normal(size=(n, 7)), rng.normal(size=n), rng.normal(size=7), rng.normal(size=7)
    problem = ds.GlobalFrictionProblem(
        storage(M), storage(H), q, b, [0.3, 0.4], bilateral=1, law="coulomb"
    )
    v = np.linalg.solve(M, q + H @ r)
    assert np.allclose(problem.velocity(r), v)
    assert np.allclose(problem.dual(r), H.T @ v + b)
    local = problem.local
    assert np.allclose(local.dense, H.T @ np.linalg.solve(M, H))
    assert np.allclose(local.dual(r), H.T @ v + b)
    assert problem.residuals(r) == pytest.approx(local.residuals(r), rel=1e-9)
    assert (problem.nc, problem.dim, problem.bilateral) == (2, 3, 1)
