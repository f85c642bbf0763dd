"""Newton's linear system as a full matrix, against NumPy's solution of the whole of it."""

import numpy as np
import pytest

from drystone.kernels.cones.newton import (
    DIRECTION_FOUND,
    FEW_COUPLED_ROWS,
    NO_DIRECTION,
    OPEN,
    TOO_LARGE,
    Dense,
    Goal,
    Linear,
    coupled_size,
    direction_dense,
    linearise,
    newton_dense,
)
from drystone.kernels.cones.problem import FrictionBlocks
from drystone.problems.delassus import BlockMatrix
from drystone.problems.friction import LAWS
from drystone.solvers import newton

pytestmark = pytest.mark.kernels


def problem(d, law, seed):
    """W of contacts, limits, motors and joints with padding, at some impulses and velocities."""
    rng = np.random.default_rng(seed)
    nb = 7
    J = rng.normal(size=(nb * d, 12)) * np.exp(rng.normal(size=(nb * d, 1)))
    mu = np.array([0.5, 0.3, 0.0, 0.0, 1.0, -1.0, -1.0])
    soft = np.zeros((nb, d))
    for i, a in [(2, 1), (4, 0), (4, d - 1), (5, d - 1)]:  # padding, given loads
        if a > 0 or i == 4:
            J[i * d + a], soft[i, a] = 0.0, 0.7
    full = J @ J.T + np.diag(soft.ravel())
    W = BlockMatrix.of(full, d)
    r, u = rng.normal(size=(2, nb, d))
    r[4, d - 1] = u[4, d - 1] = 0.0
    return W, full, mu, r, u, LAWS[law]


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("d", [2, 3])
def test_it_is_the_solution_of_the_whole_system(d, law):
    alone = 0
    for seed in range(12):
        W, full, mu, r, u, code = problem(d, law, seed)
        key, nb = (0,) * d, mu.size
        unit = np.sqrt(np.einsum("ii->i", full).reshape(nb, d).mean(axis=1))
        state, shift = np.empty(nb, np.int64), 1e-6 * unit**2
        phi, dr = np.empty((2, nb, d))
        A, B = np.empty((2, nb, d, d))
        p = FrictionBlocks(W.indptr, W.indices, W.blocks, np.zeros((nb, d)), mu, unit, code)
        lin = Linear(state, phi, dr, A, B, shift)
        linearise(key, p, r, u, lin)
        factors = room(key, p)
        assert direction_dense(key, p, lin, True, factors) == DIRECTION_FOUND
        big = np.zeros((nb * d, nb * d))
        for i in range(nb):
            k = slice(i * d, i * d + d)
            big[k] = B[i] @ (full[k] + shift[i] * np.eye(nb * d)[k])
            big[k, k] += A[i]
        expected = np.linalg.solve(big, -phi.ravel())
        assert np.allclose(dr.ravel(), expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
        again = lin._replace(dr=np.empty_like(dr))
        assert direction_dense(key, p, again, False, factors) == DIRECTION_FOUND
        assert np.array_equal(dr, again.dr)
        places = factors.places
        assert (places[:nb, :d][state == OPEN] == -1).all()
        alone += int((places[:nb, :d] < 0).sum())
    assert alone > 12 * 4  # padding of joints at least, and something open


def test_a_singular_matrix_has_no_direction_and_a_large_one_no_room():
    d, nb = 2, 3
    W = BlockMatrix.of(np.ones((nb * d, nb * d)), d)
    key = (0,) * d
    p = bilateral(W)
    A, B = np.zeros((nb, d, d)), np.tile(np.eye(d), (nb, 1, 1))
    given = (np.empty(nb, np.int64), np.ones((nb, d)), np.empty((nb, d)), A, B, np.zeros(nb))
    assert direction_dense(key, p, Linear(*given), True, room(key, p)) == NO_DIRECTION
    nb = FEW_COUPLED_ROWS // d + 1
    p = bilateral(BlockMatrix.of(np.ones((nb * d, nb * d)), d))
    own, places = np.empty((nb, d), bool), np.empty((nb + 1, d + 1), np.int64)
    assert coupled_size(key, p, own, places) == -1
    r, best = np.ones((nb, d)), np.full((nb, d), 7.0)
    goal = Goal(1e-8, 1e-8, 0, 5, 0.0, 0.0, 1e-6, True, 100)
    assert newton_dense(key, p, goal, r, best, np.empty(5))[0] == TOO_LARGE
    assert (r == 1.0).all()
    assert (best == 7.0).all()


def bilateral(W):
    """All blocks with u = 0."""
    nb, d = W.nb, W.d
    given = (np.ones((nb, d)), np.full(nb, -1.0), np.ones(nb), LAWS["coulomb"])
    return FrictionBlocks(W.indptr, W.indices, W.blocks, *given)


def room(key, p):
    """Arrays for the factors."""
    nb, d = p.mu.size, len(key)
    own, places = np.empty((nb, d), bool), np.empty((nb + 1, d + 1), np.int64)
    size = coupled_size(key, p, own, places)
    work = np.empty((2, size))
    return Dense(np.empty((size, size)), np.empty(size, np.int64), own, places, *work)


def test_rows_that_friction_couples_are_counted_before_any_kernel_is_asked(monkeypatch):
    """So that a large island compiles one kind of factors, not two; and only where the kernel for
    small ones would refuse."""
    d = 3
    asked = []
    monkeypatch.setattr(newton.kernels, "newton_dense", lambda *a: asked.append("dense") or (0, 1))
    monkeypatch.setattr(
        newton.kernels, "newton_sparse", lambda *a: asked.append("sparse") or (0, 1)
    )
    for nb in (FEW_COUPLED_ROWS // d, FEW_COUPLED_ROWS // d + 1):
        W = BlockMatrix.of(np.eye(nb * d), d)
        for mu in (0.5, 0.0, -1.0):
            asked.clear()
            p = FrictionBlocks(
                W.indptr, W.indices, W.blocks, np.ones((nb, d)), np.full(nb, mu), np.ones(nb), 0
            )
            room = np.empty((nb, d), bool), np.empty((nb + 1, d + 1), np.int64)
            refused = coupled_size((0,) * d, p, *room) < 0
            r = np.zeros((nb, d))
            newton.newton_steps((0,) * d, p, None, r, r, np.empty(1))
            assert asked == (["sparse"] if refused else ["dense"])
