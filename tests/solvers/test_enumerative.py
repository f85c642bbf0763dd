"""Enumeration: how many solutions, which, and the proof that there is none."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import drystone as ds
from drystone.errors import OptionError, UnsupportedProblemError
from drystone.problems import classic
from drystone.problems.convert import to_lcp

SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=150, derandomize=True)


def by_hand(M, q):
    """Solutions of an LCP without singular index sets, one linear solve each."""
    n, out = q.size, []
    for choice in product([False, True], repeat=n):
        L = np.array(choice)
        z = np.zeros(n)
        z[L] = np.linalg.solve(M[np.ix_(L, L)], -q[L])
        if (z >= 0).all() and ((M @ z + q)[~L] >= 0).all():
            out.append(z)
    return out


def same_sets(one, two, tol=1e-8):
    def near(a, b):
        return np.abs(a - b).max(initial=0.0) <= tol * max(1.0, np.abs(b).max(initial=0.0))

    close = [[near(a, b) for b in two] for a in one]
    return all(any(row) for row in close) and all(
        any(column) for column in zip(*close, strict=True)
    )


@some
@given(SEEDS)
def test_every_solution_of_a_random_lcp(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    M, q = rng.normal(size=(n, n)), rng.normal(size=n)
    solution = ds.solve(ds.LCP(M, q), "enumerative")
    expected = by_hand(M, q)
    assert solution.info["count"] == len(expected)
    if not expected:
        assert solution.status is ds.Status.INFEASIBLE
        return
    assert same_sets(solution.solutions, expected)
    assert solution.value is solution.solutions[0]
    assert solution.info["isolated"]
    np.testing.assert_array_equal(solution.index_sets["positive"], np.flatnonzero(solution.value))


@some
@given(SEEDS)
def test_singular_index_sets_hide_no_solution(seed):
    """Integer data with ties: empty exactly if no index set has a feasible point (by LP)."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    M, q = rng.integers(-1, 2, (n, n)).astype(float), rng.integers(-1, 2, n).astype(float)
    solution = ds.solve(ds.LCP(M, q), "enumerative")
    pieces = 0
    for choice in product([False, True], repeat=n):
        L = np.array(choice)
        bounds = [(0, None) if on else (0, 0) for on in L]
        equal, above = M[L], M[~L]
        found = linprog(
            np.zeros(n),
            A_eq=equal if L.any() else None,
            b_eq=-q[L] if L.any() else None,
            A_ub=-above if not L.all() else None,
            b_ub=q[~L] if not L.all() else None,
            bounds=bounds,
        )
        pieces += found.status == 0
    assert solution.ok == (pieces > 0)
    assert solution.info["complete"]
    for z in solution.solutions:
        assert ds.LCP(M, q).residual(z) <= 1e-12


def test_a_segment_of_solutions_is_reported_by_its_ends():
    solution = ds.solve(classic.segment(), "enumerative")
    assert same_sets(solution.solutions, [np.array([1.0, 0.0]), np.array([0.0, 1.0])], 1e-14)
    assert solution.info["segments"] == ((0, 1),)
    assert not solution.info["isolated"]


def test_an_unbounded_set_is_reported_by_its_direction():
    solution = ds.solve(ds.LCP([[0.0]], [0.0]), "enumerative")
    assert [z.tolist() for z in solution.solutions] == [[0.0]]
    assert [d.tolist() for d in solution.info["rays"]] == [[1.0]]
    assert not solution.info["isolated"]
    # z_2 = 1 with a singular block of every index set that holds it
    solution = ds.solve(ds.LCP([[0.0, 1.0], [0.0, 0.0]], [-1.0, 0.0]), "enumerative")
    assert solution.ok
    assert any(np.allclose(z, [0.0, 1.0]) for z in solution.solutions)


def test_bimatrix_game_has_three_equilibria():
    solution = ds.solve(classic.bimatrix_game(), "enumerative")
    costs = np.array([[10.0, 20.0], [30.0, 15.0]])
    expected = [np.array([0.1, 0, 0.1, 0]), np.array([0, 1 / 15, 0, 1 / 15])]
    mixed = np.linalg.solve(costs, np.ones(2))
    expected.append(np.concatenate([np.linalg.solve(costs, np.ones(2)), mixed]))
    assert same_sets(solution.solutions, expected, 1e-14)


@pytest.mark.parametrize("mass", [0.5, 1.0, 3.25])
def test_rod_has_exactly_two_forces(mass):
    """The rod: f_N in {0, m}."""
    solution = ds.solve(classic.rod(mass), "enumerative")
    forces = sorted(r[0] for r in solution.solutions)
    np.testing.assert_allclose(forces, [0.0, mass], rtol=1e-13)
    assert [s["open"].tolist() for s in solution.info["states"]] == [[0], []]


def test_inconsistent_rod():
    """The rod without spin: none with gravity."""
    assert ds.solve(classic.inconsistent_rod(), "enumerative").status is ds.Status.INFEASIBLE
    at_rest = ds.solve(classic.inconsistent_rod(gravity=0.0), "enumerative")
    assert [r.tolist() for r in at_rest.solutions] == [[0.0, 0.0]]


@pytest.mark.parametrize("values", [(3, 5, 7), (1, 2, 4, 8), (6, 10, 15, 21), (5,)])
def test_subset_sum(values):
    """Consistent exactly if a subset sums to S, and each solution is a subset."""
    for target in range(1, sum(values) + 3):
        subsets = [
            chosen
            for k in range(len(values) + 1)
            for chosen in combinations(range(len(values)), k)
            if sum(values[i] for i in chosen) == target
        ]
        for problem in (classic.subset_sum(values, target), classic.subset_sum_lcp(values, target)):
            solution = ds.solve(problem, "enumerative")
            assert solution.info["count"] == len(subsets)
            assert solution.ok == bool(subsets)
            assert solution.ok or solution.status is ds.Status.INFEASIBLE
            step = 2 if isinstance(problem, ds.FrictionProblem) else 1
            pressing = [np.flatnonzero(r[: step * len(values) : step]) for r in solution.solutions]
            assert sorted(map(tuple, pressing)) == sorted(subsets)


def test_only_one_force_but_an_impulse_too():
    """Zero force is the only one; the impulse at E1 alone is a ray."""
    problem = classic.impulse_or_none()
    solution = ds.solve(problem, "enumerative")
    assert solution.info["count"] == 1
    np.testing.assert_array_equal(solution.value, 0.0)


def test_static_rod_with_a_tangential_load_has_three_solutions():
    """The rod of Fig. 10.1 at rest; pulled along the ground it opens, sticks or slips."""
    m, mu = 1.0, classic.MU
    J = np.array([[0.0, 1.0, -classic.COS], [1.0, 0.0, classic.SIN]])
    W = (J / np.array([m, m, m / 16.0])) @ J.T
    gravity_only = ds.solve(ds.FrictionProblem(W, [-9.81, 0.0], mu, dim=2), "enumerative")
    assert gravity_only.info["count"] == 1
    pulled = ds.FrictionProblem(W, [1.0, -10.0], mu, dim=2)
    solution = ds.solve(pulled, "enumerative")
    states = [
        name for s in solution.info["states"] for name in ("open", "stick", "slip") if s[name].size
    ]
    assert sorted(states) == ["open", "slip", "stick"]
    # slip: f_N = m by (10-12); stick: the tip does not move at all
    expected = [np.zeros(2), np.array([1.0, mu]), np.linalg.solve(W, [-1.0, 10.0])]
    assert same_sets(solution.solutions, expected, 1e-12)


@some
@given(SEEDS)
def test_contact_states_against_the_lcp_of_the_pyramid(seed):
    """Planar friction by contact states and by the index sets of the LCP: the same impulses."""
    rng = np.random.default_rng(seed)
    nc = int(rng.integers(1, 4))
    J = rng.normal(size=(2 * nc, 2 * nc))
    W, q = J @ J.T, rng.normal(size=2 * nc)
    mu = np.where(rng.random(nc) < 0.2, 0.0, rng.uniform(0.1, 3.0, nc))
    slip = np.where(rng.random((nc, 1)) < 0.3, rng.choice([-1.0, 1.0], (nc, 1)), 0.0)
    problem = ds.FrictionProblem(W, q, mu, dim=2, slip=slip)
    solution = ds.solve(problem, "enumerative")
    pyramid = to_lcp(problem)
    lcp = ds.solve(pyramid.lcp, "enumerative")
    assert solution.ok == lcp.ok
    assert same_sets(solution.solutions, [pyramid.value(z) for z in lcp.solutions])
    for r in solution.solutions:
        assert problem.residual(r) <= 1e-11


def test_bilateral_rows_boxes_and_polyhedral_cones():
    rng = np.random.default_rng(4)
    J = rng.normal(size=(5, 6))
    hinged = ds.FrictionProblem(J @ J.T, rng.normal(size=5), 0.5, dim=2, bilateral=1)
    solution = ds.solve(hinged, "enumerative")
    assert solution.info["count"] == 1
    np.testing.assert_allclose(solution.value, ds.solve(hinged, "lemke").value, atol=1e-12)
    box = ds.BoxedLCP(np.eye(3) * 2.0, [-1.0, -10.0, 3.0], -1.0, 1.0)
    np.testing.assert_allclose(ds.solve(box, "enumerative").value, [0.5, 1.0, -1.0], atol=1e-14)
    J = rng.normal(size=(3, 3))
    cone = ds.FrictionProblem(J @ J.T, -np.ones(3), 0.5, cone=4)
    np.testing.assert_allclose(
        ds.solve(cone, "enumerative").value, ds.solve(cone, "lemke").value, atol=1e-12
    )
    smooth = ds.FrictionProblem(np.eye(6), -np.ones(6), [0.0, 0.3], slip=[[0, 0], [1, 0]])
    assert ds.solve(smooth, "enumerative").info["count"] == 1


def test_free_variables_that_others_span():
    """A line of solutions in the free variables: one of them stands for it."""
    M = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, -1.0, 2.0]])
    solution = ds.solve(ds.MixedLCP(M, [-1.0, 1.0, 0.0], 2), "enumerative")
    assert solution.ok
    assert solution.info["count"] == 1


def test_options_and_refusals():
    with pytest.raises(OptionError):
        ds.Enumerative(max_size=0)
    with pytest.raises(OptionError):
        ds.Enumerative(max_solutions=0)
    with pytest.raises(UnsupportedProblemError, match=r"2\^20 combinations"):
        ds.solve(ds.LCP(np.eye(20), -np.ones(20)), "enumerative")
    with pytest.raises(UnsupportedProblemError, match="contact states"):
        ds.solve(ds.FrictionProblem(np.eye(3), -np.ones(3), 0.5), "enumerative")
    soft = ds.FrictionProblem(np.eye(4), -np.ones(4), 0.5, cone=ds.SoftFingerCone(0.1))
    with pytest.raises(UnsupportedProblemError, match="smooth"):
        ds.solve(soft, "enumerative")


def test_limits():
    problem = ds.LCP(-np.eye(11), np.ones(11))  # any subset of ones
    assert ds.solve(problem, "enumerative").info["count"] == 2048
    few = ds.Enumerative(max_solutions=10).solve(problem)
    assert few.ok
    assert not few.info["complete"]
    none = ds.LCP(np.zeros((20, 20)), -np.ones(20))
    late = ds.Enumerative(max_size=20, time_limit=1e-3).solve(none)
    assert late.status is ds.Status.TIME_LIMIT
    assert not late.info["complete"]


def test_a_problem_without_unknowns_has_one_solution():
    for problem in (ds.LCP(np.zeros((0, 0)), []), ds.FrictionProblem(np.zeros((0, 0)), [], [])):
        found = ds.solve(problem, "enumerative")
        assert found.ok
        assert found.info["count"] == 1
        assert [x.size for x in found.solutions] == [0]
