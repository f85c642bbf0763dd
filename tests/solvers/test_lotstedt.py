"""Lotstedt's approximation: its own conditions (14-9), where it settles, alternates, diverges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems import classic

LONG = ds.Lotstedt(passes=100)


def system(seed, nc, dim, mu=0.4, **statement):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(dim * nc, 4 * nc))
    return ds.FrictionProblem(J @ J.T, J @ rng.normal(size=4 * nc), mu, dim=dim, **statement)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([2, 3]))
def test_one_pass_meets_14_9(seed, nc, dim):
    """Forces of the previous step given: every line of (14-9), axis by axis."""
    problem = system(seed, nc, dim)
    previous = np.zeros(problem.size)
    previous[::dim] = np.random.default_rng(seed).exponential(size=nc)
    solution = ds.solve(problem, "lotstedt", guess=previous)
    assert solution.status in (ds.Status.APPROXIMATE, ds.Status.SOLVED)
    assert solution.iterations == 1
    f, a = solution.value.reshape(nc, dim), solution.dual.reshape(nc, dim)
    tol = 1e-8 * max(np.abs(f).max(), np.abs(a).max(), 1.0)
    assert f[:, 0].min() >= 0
    assert a[:, 0].min() >= -tol
    assert np.abs(np.minimum(f[:, 0], a[:, 0])).max() <= tol
    bound = (problem.mu * previous[::dim])[:, None]
    assert (np.abs(f[:, 1:]) <= bound + tol).all()
    assert np.minimum(np.abs(a[:, 1:]), bound - np.abs(f[:, 1:])).max() <= tol
    assert (f[:, 1:] * a[:, 1:]).max() <= tol * max(1.0, np.abs(f).max())


def test_start_up_on_the_indeterminate_rod():
    """The rod: from 0 it stays at 0; from below m it falls to 0; from above m it diverges.

    By hand: f_N <- max(0, ((D + 1/m) f_N - 1) / D) with D = W_nn, the fixed points 0 and m.
    """
    mass = 2.0
    problem = classic.rod(mass)
    start = ds.solve(problem, "lotstedt")
    assert start.ok
    assert start.iterations == 1
    assert not start.value.any()
    below = ds.solve(problem, LONG, guess=[0.9 * mass, 0.0])
    assert below.ok
    assert not below.value.any()
    above = ds.solve(problem, LONG, guess=[1.1 * mass, 0.0])
    assert above.status is ds.Status.STALLED
    assert above.info["diverged"]
    D = problem.dense[0, 0]
    expected = [1.1 * mass]
    for _ in range(above.iterations):
        expected.append(((D + 1 / mass) * expected[-1] - 1.0) / D)
    assert above.value[0] == pytest.approx(expected[-1], rel=1e-9)


def test_start_up_diverges_on_the_inconsistent_rod():
    """No force exists, and the start-up runs away from 0; one pass makes up a force."""
    solution = ds.solve(classic.inconsistent_rod(), "lotstedt")
    assert solution.status is ds.Status.STALLED
    assert solution.info["diverged"]
    one = ds.solve(classic.inconsistent_rod(), ds.Lotstedt(passes=1))
    assert one.status is ds.Status.APPROXIMATE
    assert one.value[0] > 0


def test_it_alternates_when_friction_lifts_the_tip():
    """Fig. 10.1 with the slip reversed (14.2.1): 0 and -b / W_nn, for ever."""
    rod = classic.inconsistent_rod(gravity=9.81)
    problem = ds.FrictionProblem(rod.dense, rod.q, rod.mu, dim=2, slip=[[1.0]])
    solution = ds.solve(problem, "lotstedt")
    assert solution.status is ds.Status.STALLED
    assert solution.info["alternates"]
    landing = 9.81 / rod.dense[0, 0]
    assert min(abs(solution.value[0]), abs(solution.value[0] - landing)) < 1e-9
    moved = landing * problem.form.unit[0]  # history is unit-free
    np.testing.assert_allclose(solution.history, moved, rtol=1e-9)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.3]))
def test_where_it_settles_in_the_plane_the_law_is_exact(seed, nc, mu):
    solution = ds.solve(system(seed, nc, 2, mu), "lotstedt")
    if solution.info.get("settled"):
        assert solution.residual <= 1e-8
    else:
        assert solution.ok or solution.status in (ds.Status.STALLED, ds.Status.MAX_ITERATIONS)


def test_in_space_the_square_is_not_the_disk():
    """Pulled along the diagonal each axis saturates by itself: sqrt(2) too much friction."""
    problem = ds.FrictionProblem(np.eye(3), [-10.0, 20.0, 20.0], 0.5)
    solution = ds.solve(problem, "lotstedt")
    assert solution.status is ds.Status.APPROXIMATE
    assert solution.info["settled"]
    np.testing.assert_allclose(solution.value, [10.0, -5.0, -5.0], rtol=1e-9)
    along_an_axis = ds.FrictionProblem(np.eye(3), [-10.0, 20.0, 0.0], 0.5)
    assert ds.solve(along_an_axis, "lotstedt").ok


def test_joints_and_refusals():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(5, 6))
    problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=6), 0.2, dim=2, bilateral=1)
    solution = ds.solve(problem, "lotstedt")
    assert solution.ok
    assert abs(solution.dual[-1]) < 1e-9
    skew = ds.FrictionProblem([[1.0, 0.5], [0.0, 1.0]], [1.0, 1.0], 0.5, dim=2)
    with pytest.raises(ds.UnsupportedProblemError, match="symmetric"):
        ds.solve(skew, "lotstedt")
    with pytest.raises(ds.UnsupportedProblemError, match="circular"):
        ds.solve(ds.FrictionProblem(np.eye(3), np.ones(3), 0.5, cone=8), "lotstedt")
    with pytest.raises(ds.UnsupportedProblemError, match="friction problems, not lcp"):
        ds.solve(ds.LCP(np.eye(2), [1.0, 1.0]), "lotstedt")
    with pytest.raises(ds.OptionError, match="passes"):
        ds.Lotstedt(passes=0)


def test_unsatisfiable_joints_are_infeasible():
    problem = ds.FrictionProblem(
        np.diag([1.0, 1.0, 0.0]), [-1.0, 0.0, 1.0], 0.2, dim=2, bilateral=1
    )
    assert ds.solve(problem, "lotstedt").status is ds.Status.INFEASIBLE


def test_time_limit():
    solution = ds.solve(system(0, 20, 3), "lotstedt", time_limit=1e-6)
    assert solution.status is ds.Status.TIME_LIMIT


@pytest.mark.parametrize("mu", [1e6, 1e9, 1e12])
def test_large_bounds_are_not_called_infeasible(mu):
    """Free velocities of bodies that can be stopped: forces exist for any friction."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        nc, dim = int(rng.integers(1, 5)), int(rng.choice([2, 3]))
        J = rng.normal(size=(dim * nc, int(rng.integers(2, 4 * nc + 1))))
        problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=J.shape[1]), mu, dim=dim)
        assert ds.solve(problem, "lotstedt").status is not ds.Status.INFEASIBLE


def test_what_no_force_prevents_is_infeasible():
    """Two bodies pressed together by motions that are given: W = 0, q < 0."""
    problem = ds.FrictionProblem(np.zeros((2, 2)), [-1.0, 0.0], 0.5, dim=2)
    assert ds.solve(problem, "lotstedt").status is ds.Status.INFEASIBLE
