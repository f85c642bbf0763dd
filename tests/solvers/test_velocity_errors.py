"""What a residual relative to large impulses cannot see: errors of velocities and of energy."""

from __future__ import annotations

import numpy as np
import pytest

import drystone as ds
from drystone.problems import FrictionProblem, classic
from drystone.problems.residual import FrictionMeasures
from drystone.solvers.base import COLD, Limits, judged


def groove(delta):
    """A particle thrown along a right-angled groove, pressed into it with a share delta.

    Momentum (-1, 0, -delta) lies in the sum of the cones (mu = 1), so it comes to rest; the least
    normal impulses that stop it are 1 / (4 sqrt(2) delta) to first order.
    """
    given = classic.wedge((-1.0, 0.0, -delta))
    return FrictionProblem(given.dense, given.q, 1.0, law="convex")


@pytest.mark.parametrize("delta", [1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6])
def test_a_groove_that_nearly_does_not_jam_brings_to_rest(delta):
    solution = ds.solve(groove(delta))
    assert solution.ok
    assert np.abs(solution.dual).max() <= 1e-9
    least = 1.0 / (4.0 * np.sqrt(2.0) * delta)
    assert solution.value[::3].min() >= 0.999 * least
    assert max(solution.primal, solution.gap) <= 1e-8


@pytest.mark.parametrize("method", ["nsgs", "newton", "interior-point", "qp"])
@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-4, 1e-6])
def test_no_method_calls_a_wrong_velocity_solved(method, delta):
    """The kinetic energy of the error is at most the gap: 1e-8 of that of q, by the tolerance."""
    problem = groove(delta)
    solution = ds.solve(problem, method)
    if solution.ok:
        assert np.linalg.norm(solution.dual) <= 2e-4 * np.linalg.norm(problem.q)


@pytest.mark.parametrize("delta", [1e-3, 1e-4])
def test_a_small_residual_is_not_enough(delta):
    """What Newton's method returns at a residual of 1e-8 moves with 4e-3 of the speed."""
    problem = groove(delta)
    raw = ds.Newton().run(problem, COLD, Limits(1e-8, 60.0))
    assert max(problem.residuals(raw.value)) <= 1e-8
    assert np.abs(problem.dual(raw.value)).max() > 1e-3
    assert max(problem.optimality(raw.value)) > 1e-7
    judged_again = judged(problem, raw, ds.Newton(), 0.0)
    assert judged_again.status is ds.Status.INACCURATE


def test_gap_bounds_the_error_of_velocities():
    """Convex law: |u - u*|^2 in the metric of W^-1 is at most 2 r.u if both are feasible."""
    rng = np.random.default_rng(1)
    tried = 0
    for _ in range(300):
        nc = int(rng.integers(1, 4))
        J = rng.normal(size=(3 * nc, 3 * nc + 2))
        W, q = J @ J.T, rng.normal(size=3 * nc)
        problem = FrictionProblem(W, q, rng.uniform(0.1, 1.0, nc), law="convex")
        exact = ds.solve(problem, tol=1e-10)
        r = exact.value * (1.0 + rng.uniform(0, 1))  # in K; u is in K* in some cases
        primal, gap = problem.optimality(r)
        if primal > 0.0 or not exact.ok:
            continue
        tried += 1
        away = problem.dual(r) - exact.dual
        energy = 0.5 * away @ np.linalg.solve(W, away)
        unit = np.repeat(problem.form.unit, 3)
        assert energy <= gap * np.sum((q / unit) ** 2) * (1 + 1e-6) + 1e-9
    assert tried > 10


@pytest.mark.parametrize("law", ["coulomb", "convex", "static"])
@pytest.mark.parametrize("dim", [2, 3])
def test_kernel_and_arrays_agree(law, dim):
    rng = np.random.default_rng(2)
    for _ in range(50):
        nc = int(rng.integers(1, 5))
        J = rng.normal(size=(dim * nc + 2, dim * nc + 2))
        mu = np.where(rng.random(nc) < 0.2, 0.0, rng.uniform(0, 2, nc))
        problem = FrictionProblem(
            J @ J.T, rng.normal(size=dim * nc + 2), mu, dim=dim, law=law, bilateral=2
        )
        r = rng.normal(size=problem.size)
        form = problem.form
        blocks = form.impulses(r), form.velocities(problem.dual(r))
        expected = FrictionMeasures(form.q, form.mu, form.unit, law).optimality(*blocks)
        np.testing.assert_allclose(problem.optimality(r), expected, rtol=1e-10)


def test_solved_problems_have_no_errors_left():
    """Known slip: a solution at rounding level is one by the new measures too."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        nc = int(rng.integers(1, 4))
        J = rng.normal(size=(2 * nc, 2 * nc))
        slip = np.where(rng.random((nc, 1)) < 0.4, rng.choice([-1.0, 1.0], (nc, 1)), 0.0)
        problem = FrictionProblem(
            J @ J.T, rng.normal(size=2 * nc), rng.uniform(0, 0.3, nc), dim=2, slip=slip
        )
        solution = ds.solve(problem)
        if max(solution.residual, solution.residual_unit) <= 1e-12:
            assert solution.ok
            assert max(solution.primal, solution.gap) <= 1e-9


@pytest.mark.parametrize("theta", [0.01, 0.2, 1.2])
@pytest.mark.parametrize("excess", [2e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_groove_that_just_jams_is_not_called_infeasible(theta, excess, dim):
    """The convex law of W = J M^-1 J', q = J v always has a solution; here it takes impulses up to
    10^9 times the momentum, and a certificate of infeasibility is satisfied but for 1e-9."""
    c, s = np.cos(theta), np.sin(theta)
    walls = np.array([[c, s], [-s, c], [-c, s], [-s, -c]]).reshape(2, 2, 2)
    J = np.zeros((2, dim, dim))
    J[:, :2, :2] = walls
    J[:, 2:, 2:] = 1.0
    J = J.reshape(2 * dim, dim)
    mu = np.tan(theta) * (1.0 + excess)
    for mass, speed in ((1.0, -1.0), (1e-3, 7.0), (2.0, 0.5)):
        v = np.array([0.0, speed, 0.0][:dim])
        problem = ds.FrictionProblem(J @ J.T / mass, J @ v, mu, dim=dim, law="convex")
        for solver in ("interior-point", "auto"):
            assert ds.solve(problem, solver).status is not ds.Status.INFEASIBLE
