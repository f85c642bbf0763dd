"""Kernels of pivoting and enumeration, small enough for the JIT to be off."""

from __future__ import annotations

import numpy as np
import pytest

from drystone.kernels import status
from drystone.kernels.linalg import dense_lu, modular
from drystone.kernels.pivoting import complementary, lemke
from drystone.kernels.pivoting.pyramid import planar_pyramid, planar_size, planar_value
from drystone.problems import LCP, FrictionProblem, classic
from drystone.problems.convert import to_lcp
from drystone.solvers.base import Limits
from drystone.solvers.enumerative import Enumerative
from drystone.solvers.lemke import Lemke
from drystone.solvers.pivoting import Pivoting

pytestmark = pytest.mark.kernels


def test_exchange_solves_a_row_for_a_column():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(3, 4))
    before = T.copy()
    nonbasic = rng.normal(size=4)
    basic = before @ nonbasic
    complementary.exchange(T, 1, 2)
    nonbasic[2], basic[1] = basic[1], nonbasic[2]
    np.testing.assert_allclose(T @ nonbasic, basic, rtol=1e-12)
    complementary.exchange(T, 1, 2)
    np.testing.assert_allclose(T, before, rtol=1e-12)


def test_lu_against_lapack():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 6)), rng.normal(size=6)
    B, order, x = A.copy(), np.zeros(6, np.int64), np.zeros(6)
    assert dense_lu.factorise(B, 6, order) == status.SOLVED
    dense_lu.back_substitute(B, 6, order, b, x)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-10)
    assert dense_lu.factorise(np.zeros((2, 2)), 2, order) == status.SINGULAR


@pytest.mark.parametrize("singular", [False, True])
def test_transform_is_a_principal_pivot(singular):
    """w and z exchanged on the mask, free rows spent: checked on a point of the graph."""
    rng = np.random.default_rng(2)
    n, free = 6, np.array([True, True, False, False, False, False])
    M, q = rng.normal(size=(n, n)), rng.normal(size=n)
    if singular:
        M[:2, :2] = 0.0
    mask = np.array([False, False, False, True, False, False])
    T, marks = np.column_stack([M, q]), np.zeros((4, n), np.int64)
    done = complementary.transform(
        T, free, mask, 1e-12, marks[0], marks[1], marks[2], marks[3], np.zeros(n)
    )
    assert done == status.SOLVED
    assert mask.sum() == (3 if singular else 1)
    small, right, labels = np.zeros((4, 4)), np.zeros(4), np.zeros(4, np.int64)
    assert complementary.condense(T, free, marks[2], marks[3], labels, small, right) == 4
    z = np.zeros(n)
    z[2:] = rng.normal(size=4)
    z[:2] = np.linalg.lstsq(M[:2, :2], -(M[:2, 2:] @ z[2:] + q[:2]), rcond=None)[0]
    if singular:  # then the equations tie the others: take a point that meets them
        z = rng.normal(size=n)
        z -= np.linalg.lstsq(M[:2], M[:2] @ z + q[:2], rcond=None)[0]
    w = M @ z + q
    one, two = np.where(mask, w, z)[2:], np.where(mask, z, w)[2:]
    np.testing.assert_allclose(small @ one + right, two, atol=1e-9)


def test_balance_keeps_the_problem_and_tames_it():
    rng = np.random.default_rng(3)
    M, q = rng.normal(size=(5, 5)), rng.normal(size=5)
    wild = 10.0 ** rng.uniform(-6, 6, 5)[:, None] * M * 10.0 ** rng.uniform(-6, 6, 5)
    r, c, T = np.zeros(5), np.zeros(5), np.zeros((5, 6))
    complementary.balance(wild, q, r, c, T)
    np.testing.assert_array_equal(T[:, :5], r[:, None] * wild * c)
    np.testing.assert_array_equal(T[:, 5], r * q)
    assert np.abs(T[:, :5]).max(axis=1).min() > 1e-2
    assert np.abs(T[:, :5]).max() < 1e2


def test_planar_pyramid_is_the_lcp_of_the_statement():
    rng = np.random.default_rng(4)
    J = rng.normal(size=(9, 9))
    mu, slip = np.array([0.5, 0.0, 0.3, 0.7]), np.array([[0.0], [0.0], [-1.0], [0.0]])
    for law in ("coulomb", "convex"):
        problem = FrictionProblem(
            J @ J.T, rng.normal(size=9), mu, dim=2, bilateral=1, slip=slip, law=law
        )
        expected = to_lcp(problem)
        n = planar_size(mu, slip[:, 0].copy(), 1)
        row, side, along = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        M, q, r = np.zeros((n, n)), np.zeros(n), np.zeros(9)
        planar_pyramid(
            problem.dense, problem.q, mu, slip[:, 0].copy(), law == "convex", row, side, along, M, q
        )
        np.testing.assert_allclose(M, expected.lcp.dense, atol=1e-14)
        np.testing.assert_allclose(q, expected.lcp.q)
        z = rng.normal(size=n)
        planar_value(z, row, side, along, r)
        np.testing.assert_allclose(r, expected.value(z))


def test_whole_solves():
    method = Lemke()
    assert method.solve(classic.murty(4)).iterations == 16
    assert method.solve(classic.cycling("beale")).ok
    assert method.solve(classic.subset_sum((3, 5), 4)).ray is not None
    # a singular matrix whose small pivots must be told from rounding
    G = np.random.default_rng(5).normal(size=(3, 12))
    assert method.solve(LCP(G.T @ G, -G.T @ np.ones(3))).residual <= 1e-12


def test_enumeration_kernel_with_singular_sets():
    found = Enumerative().solve(classic.segment())
    assert found.info["count"] == 2
    assert found.info["segments"] == ((0, 1),)
    assert Enumerative().solve(classic.rod()).info["count"] == 2


def test_ties_are_broken_as_by_an_explicit_perturbation():
    """The lexicographic rule is the path of q + (eps, eps^2, ...): take that q in earnest."""
    rng = np.random.default_rng(6)
    ties = 0
    for _ in range(150):
        n = int(rng.integers(2, 5))
        M = rng.integers(-1, 3, (n, n)).astype(float)
        q = rng.integers(-1, 1, n).astype(float)
        eps = 2e-3 ** np.arange(1, n + 1)
        rule = Lemke(covering=1.0).solve(LCP(M, q))
        path = Lemke(covering=1.0).solve(LCP(M, q + eps))
        if (q >= 0).all():
            continue
        ties += not np.array_equal(rule.value > 0, path.value > 0)
        if rule.ok and path.ok:
            assert rule.iterations <= path.iterations  # z0 may leave a tie at once
            if rule.iterations == path.iterations:
                np.testing.assert_array_equal(rule.basis, path.basis)
        elif not rule.ok:  # iterations are those of all tries: a ray that proves nothing ends none
            assert not path.ok
            assert (rule.ray is None) == (path.ray is None)
    assert ties > 0


def exchanges(M, q):
    """Pivot one by one, checking X K = 1 and w = M z + q + d z0, and the first also modulo the
    primes; kinds of exchanges met."""
    m = q.size
    state = Pivoting(M, q, np.ones(m), 1e-13)
    assert state.find_residues()
    b, exact = state.basis, state.exact
    kinds = set()
    while state.result == status.RUNNING:
        before, enters_z = int(state.state[lemke.BASIS_SIZE]), state.state[lemke.ENTERING] >= m
        state.run(int(state.state[lemke.PIVOTS_DONE]) + 1, Limits(1e-8, 60.0))
        k = int(state.state[lemke.BASIS_SIZE])
        kinds.add((k - before, bool(enters_z)))
        C, R = b.cols[:k], b.rows[:k]
        K = b.columns[np.ix_(C, R)].T
        np.testing.assert_allclose(b.X[:k, :k] @ K, np.eye(k), atol=1e-9)
        np.testing.assert_allclose(b.w, q + b.x[:k] @ b.columns[C], atol=1e-9)
        for s, p in enumerate(modular.PRIMES):
            X, K = (x.astype(int).astype(object) for x in (exact.X[s], exact.columns[s]))
            assert (X[:k, :k] @ K[np.ix_(C, R)].T % p == np.eye(k, dtype=int)).all()
    assert state.result == status.SOLVED
    return kinds


def test_the_inverse_is_kept():
    """After every pivot, bordering, removing or replacing, without any refresh."""
    rng = np.random.default_rng(7)
    kinds = exchanges(classic.murty(5).dense, classic.murty(5).q)
    for _ in range(20):
        G = rng.normal(size=(8, 8))
        kinds |= exchanges(G @ G.T + np.eye(8), 3.0 * rng.normal(size=8))
    assert kinds == {(1, True), (0, True), (0, False), (-1, False)}


def test_residues_are_those_of_the_rational_numbers():
    values = np.array([[0.0, 1.0, -3.0, 0.1, -1e300], [5e-324, 2.0**-1070, 1e16, -0.75, 1 / 3]])
    for p in modular.PRIMES:
        out = np.empty(values.shape)
        modular.residues(values, float(p), modular.powers_of_two(p), out)
        for value, residue in zip(values.ravel(), out.ravel(), strict=True):
            top, bottom = value.as_integer_ratio()
            assert (int(residue) * bottom - top) % p == 0


@pytest.mark.parametrize("p", modular.PRIMES)
def test_remainders_are_those_of_integers(p):
    """At the border of what floats hold exactly, and beside every multiple of the prime."""
    rng = np.random.default_rng(8)
    tops = [
        0,
        1,
        2,
        7,
        p,
        2**25,
        2**40 // p * p,
        2**53 // p * p,
        modular.EXACT_PRODUCTS * (p - 1) ** 2,
    ]
    values = [top + by for top in tops for by in (-2, -1, 0, 1, 2) if 0 <= top + by < 2**53]
    values += [int(v) for v in rng.integers(0, 2**53, 2000)]
    assert max(values) > 2**53 - 2 * p
    for value in values:
        assert modular.remainder(float(value), float(p), 1.0 / p) == value % p
    for k in (1, 3, 4, 23, 24, 25, 27, 48, 100):
        for a, b in (rng.integers(0, p, (2, k)), np.full((2, k), p - 1)):
            exact = sum(int(x) * int(y) for x, y in zip(a, b, strict=True)) % p
            assert modular.dot(a.astype(float), b.astype(float), k, float(p)) == exact


@pytest.mark.parametrize("p", modular.PRIMES)
def test_inverses_modulo_a_prime(p):
    rng = np.random.default_rng(9)
    A = rng.integers(0, p, (9, 9))
    A[0, 0] = 0
    X = np.zeros((9, 9))
    assert modular.invert(A.astype(float), 9, float(p), X)
    assert (A.astype(object) @ X.astype(int).astype(object) % p == np.eye(9, dtype=int)).all()
    A[3] = 2 * A[5] % p
    assert not modular.invert(A.astype(float), 9, float(p), X)
