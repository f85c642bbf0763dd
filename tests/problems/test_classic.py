"""The classic problems against what their sources say, by algebra that does not solve them."""

from __future__ import annotations

import numpy as np
import pytest

import drystone as ds
from drystone.errors import ProblemError
from drystone.problems import classic
from drystone.problems.convert import fold


@pytest.mark.parametrize("mass", [0.25, 1.0, 4.0])
def test_rod_is_equation_10_12(mass):
    """a_N = -f_N / m + 1; mu is about 3/4."""
    folded = fold(classic.rod(mass))
    np.testing.assert_allclose(folded.A, [[-1.0 / mass]], rtol=1e-13)
    np.testing.assert_allclose(folded.b, [1.0], rtol=1e-14)
    assert pytest.approx(0.75, abs=1e-3) == classic.MU


def test_rod_of_equation_10_13():
    folded = fold(classic.inconsistent_rod(2.0, gravity=3.0))
    np.testing.assert_allclose(folded.A, [[-0.5]], rtol=1e-13)
    np.testing.assert_allclose(folded.b, [-3.0])


def test_rod_accelerates_as_newton_and_euler_say():
    """(10-6) in full: p'' = a + alpha x r + omega x (omega x r) for a force f (n + mu t)."""
    m, spin, g, f = 1.7, 3.0, 9.81, 2.3
    problem = classic.rod(m, gravity=g, spin=spin)
    r = np.array([-classic.COS, -classic.SIN, 0.0])
    force = np.array([classic.MU * f, f, 0.0])
    omega, alpha = np.array([0.0, 0.0, -spin]), np.cross(r, force) / (m / 16.0)
    point = force / m - [0.0, g, 0.0] + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    np.testing.assert_allclose(problem.dual(np.array([f, classic.MU * f])), point[[1, 0]])


@pytest.mark.parametrize("values", [(3.0, 5.0), (2.0, 7.0, 11.0)])
def test_bodies_and_guides_give_the_lcp_by_hand(values):
    """The block assembled from bodies, guides eliminated, equals (11-2) to (11-5) written out."""
    folded = fold(classic.subset_sum(values, 4.0))
    F, C = folded.bilateral, ~folded.bilateral
    free = np.linalg.solve(
        folded.A[np.ix_(F, F)], np.column_stack([folded.A[np.ix_(F, C)], folded.b[F]])
    )
    A = folded.A[np.ix_(C, C)] - folded.A[np.ix_(C, F)] @ free[:, :-1]
    b = folded.b[C] - folded.A[np.ix_(C, F)] @ free[:, -1]
    by_hand = classic.subset_sum_lcp(values, 4.0)
    np.testing.assert_allclose(A, by_hand.dense, atol=1e-13)
    np.testing.assert_allclose(b, by_hand.q, atol=1e-14)


def test_single_impulse_free_solution():
    """Figure 12.4 of 1992: with f_N = m at R the block is pushed left and no force at E1 helps."""
    problem = classic.impulse_or_none(2.0)
    folded = fold(problem)
    F, C = folded.bilateral, ~folded.bilateral
    A = folded.A[np.ix_(C, C)] - folded.A[np.ix_(C, F)] @ np.linalg.solve(
        folded.A[np.ix_(F, F)], folded.A[np.ix_(F, C)]
    )
    np.testing.assert_allclose(A, [[-0.5, 0.0], [-classic.MU / 100.0, -0.99]], atol=1e-14)
    assert A[1, 1] <= 0  # the impulse at E1 alone satisfies (13-1)


def test_wedge_cones_touch_without_closing():
    """(1, 0, 1/2n) is a sum of cone elements for every n; (1, 0, 0) is not."""
    problem = classic.wedge()
    assert np.linalg.matrix_rank(problem.dense) == 3
    normals = np.array([[0, -1, 1], [0, 1, 1]]) / np.sqrt(2)
    for n in (1, 10, 1000):
        parts = [np.array([0.5, -n, 0.25 / n]), np.array([0.5, n, 0.25 / n])]
        total = parts[0] + parts[1]
        np.testing.assert_allclose(total, [1.0, 0.0, 0.5 / n])
        for part, normal in zip(parts, normals, strict=True):
            along = part @ normal
            assert np.linalg.norm(part - along * normal) <= along * (1 + 1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_murty(n):
    problem = classic.murty(n)
    assert problem.residual(np.array([2.0**n] + [0.0] * (n - 1))) == 0.0
    upper = classic.murty_transposed(n)
    assert upper.residual(np.array([0.0] * (n - 1) + [1.0])) == 0.0


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("beale", [1 / 25, 0.0, 1.0, 0.0]),
        ("chvatal", [1.0, 0.0, 1.0, 0.0]),
        ("kuhn", [2.0, 0.0, 2.0, 0.0]),
    ],
)
def test_cycling_examples_have_their_published_optima(name, x):
    problem = classic.cycling(name)
    A, b = -problem.dense[4:, :4], problem.q[4:]
    assert (A @ x <= b + 1e-15).all()
    assert problem.q[:4] @ x == pytest.approx({"beale": -0.05, "chvatal": -1, "kuhn": -2}[name])
    np.testing.assert_array_equal(problem.dense, -problem.dense.T)  # so positive semidefinite


def test_small_ones():
    assert classic.kostreva().residual(np.full(3, 1 / 3)) <= 1e-15
    for t in (0.0, 0.4, 1.0):
        assert classic.segment().residual(np.array([t, 1.0 - t])) <= 1e-15
    assert classic.bimatrix_game().residual(np.array([0.1, 0.0, 0.1, 0.0])) <= 1e-15
    M = classic.infeasible().dense
    assert np.linalg.eigvalsh(M + M.T)[0] == 0.0


def test_bad_arguments():
    with pytest.raises(ProblemError, match="unknown cycling example"):
        classic.cycling("hoffman")
    with pytest.raises(ProblemError, match="positive"):
        classic.subset_sum([3.0, -1.0], 2.0)
    with pytest.raises(ProblemError, match="positive"):
        classic.subset_sum_lcp([[1.0]], 2.0)
    assert isinstance(classic.rod(), ds.FrictionProblem)
