"""Index sets repaired by principal pivots: saved problems of a run, and random ones.

The saved ones are LCPs of normal forces of the scene ``collapse``, with friction as a load or of
known direction. Some contacts open with 1e-9 to 1e-6 of the greatest acceleration, and others are
redundant: libraries do not find those index sets.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems import BoxedLCP
from drystone.solvers._polish import repaired

DATA = np.load(Path(__file__).parent / "data" / "collapse_normals.npz")
NORMALS = ("qp84", "qp154", "qp353", "qp380", "qp484", "qp493")
DIRECTED = ("lp188", "lp384")  # friction of known direction makes the matrix unsymmetric
SURE = 1e-13


def saved(name):
    return ds.LCP(DATA[f"{name}_M"], DATA[f"{name}_q"])


def off_the_law(M, q, z, free=None):
    """How far z is from the law, unit-free and relative to |q|: plain NumPy."""
    unit = np.sqrt(np.diag(M))
    size = np.linalg.norm(q / unit)
    f, a = z * unit / size, (M @ z + q) / unit / size
    free = np.zeros(z.size, bool) if free is None else free
    held = np.where(free, 0.0, np.minimum(f, a))
    return max(np.abs(held).max(), np.abs(a[free]).max(initial=0.0))


@pytest.mark.parametrize("name", NORMALS)
@pytest.mark.parametrize("form", [1, 2])
def test_qp_answers_where_contacts_open_by_a_hair(name, form):
    """Accelerations without friction are unique: those of Dantzig's method, to rounding."""
    problem = saved(name)
    solution = ds.QP(form=form, tol=1e-9).solve(problem)
    assert solution.ok
    assert off_the_law(problem.M, problem.q, solution.value) <= SURE
    other = ds.solve(problem, "dantzig")
    assert off_the_law(problem.M, problem.q, other.value) <= SURE
    size = np.linalg.norm(problem.q)
    np.testing.assert_allclose(solution.dual, other.dual, rtol=0, atol=1e-12 * size)


def test_the_second_guess_of_lp_takes_contacts_that_open_slowly():
    problem = saved("lp384")
    solution = ds.solve(problem, "lp")
    assert solution.ok
    assert solution.info["step"] == "c"
    assert solution.info["counts"]["c"] == 2
    assert off_the_law(problem.M, problem.q, solution.value) <= SURE


def test_lp_says_so_where_no_guess_holds():
    """Friction of known direction: the least sum of forces opens a contact that presses."""
    solution = ds.solve(saved("lp188"), "lp")
    assert solution.status is ds.Status.APPROXIMATE
    assert solution.info["step"] == "d"
    assert solution.info["energy"] > 0


@pytest.mark.parametrize("name", NORMALS)
def test_every_index_set_of_a_saved_problem_leads_to_the_solution(name):
    problem = saved(name)
    rng = np.random.default_rng(7)
    boxed = BoxedLCP(problem.M, problem.q, np.zeros(problem.size), np.inf)
    found = 0
    for _ in range(20):
        z = repaired(boxed, rng.random(problem.size) < 0.5)
        if z is not None:
            assert off_the_law(problem.M, problem.q, z) <= SURE
            found += 1
    assert found >= 15  # some take more pivots than a repair may


@settings(deadline=None, max_examples=80, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(0, 3), st.booleans())
def test_random_problems_with_dependent_rows_and_free_ones(seed, n, nf, skew):
    """M = B B' of low rank, also with a skew part; solvable, because z and w are given."""
    rng = np.random.default_rng(seed)
    B, S = rng.normal(size=(n + nf, max(1, (n + nf) // 2))), rng.normal(size=(n + nf, n + nf))
    M = B @ B.T + (B @ B.T @ (S - S.T) @ B @ B.T if skew else 0.0)
    free = np.arange(n + nf) >= n
    pressing = rng.random(n + nf) < 0.5
    z = np.where(pressing | free, rng.exponential(size=n + nf), 0.0)
    w = np.where(pressing | free, 0.0, rng.exponential(size=n + nf))
    q = w - M @ z
    problem = BoxedLCP(M, q, np.where(free, -np.inf, 0.0), np.inf)
    near = repaired(problem, (pressing | free) ^ (rng.random(n + nf) < 0.2))
    if near is not None:
        assert off_the_law(M, q, near, free) <= 1e-10
        np.testing.assert_allclose(M @ near + q, w, rtol=0, atol=1e-9 * (1 + np.linalg.norm(q)))
    exact = repaired(problem, pressing | free)
    assert exact is not None
    np.testing.assert_allclose(M @ exact + q, w, rtol=0, atol=1e-9 * (1 + np.linalg.norm(q)))


def test_other_bounds_are_left_alone():
    M, q = np.eye(2), -np.ones(2)
    assert repaired(BoxedLCP(M, q, np.zeros(2), np.full(2, 3.0)), np.ones(2, bool)) is None
    assert repaired(BoxedLCP(M, q, np.full(2, -1.0), np.inf), np.ones(2, bool)) is None


def test_where_nothing_stops_a_force_there_is_no_repair():
    """z = (t, t) changes nothing, and w_0 + w_1 = -2."""
    M, q = np.array([[1.0, -1.0], [-1.0, 1.0]]), -np.ones(2)
    problem = BoxedLCP(M, q, np.zeros(2), np.inf)
    for basis in ([False, False], [True, False], [True, True]):
        assert repaired(problem, np.array(basis)) is None
