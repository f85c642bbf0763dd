"""What a residual relative to large impulses cannot see: errors of velocities and of energy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import drystone as ds
from drystone.problems import FrictionProblem, classic
from drystone.problems.residual import FrictionMeasures
from drystone.solvers.base import COLD, Answer, Limits, judged


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


def jam(seed):
    """A particle between two or three walls in the plane whose friction just jams or just does not:
    (problem of the convex law, velocities u* of its solution).

    v* is the point nearest to the free velocity with g.v >= 0 for all edges g = n +- mu t of the
    friction cones: the free velocity, its projection on an edge's line, or zero; in rationals.
    """
    rng = np.random.default_rng(seed)
    theta = rng.choice([0.01, 0.1, 0.5, 1.0, 1.4, 1.55]) * rng.uniform(0.9, 1.01)
    mu = float(np.tan(theta) * (1.0 + rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-9, -1)))
    tilt = rng.uniform(-0.3, 0.3)
    angles = [tilt + theta, tilt + np.pi - theta]  # of the walls' normals
    if rng.random() < 0.3:
        angles.append(angles[0] + 10 ** rng.uniform(-8, -1))
    J = np.array([[[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]] for a in angles])
    way = tilt + rng.choice([0.5, -0.5, rng.uniform(0, 2)]) * np.pi
    v = np.array([np.cos(way), np.sin(way)])
    exact = [[Fraction(float(x)) for x in row] for row in J.reshape(-1, 2)]
    free, friction = [Fraction(float(x)) for x in v], Fraction(mu)
    edges = [
        [n + side * friction * t for n, t in zip(exact[i], exact[i + 1], strict=True)]
        for i in range(0, len(exact), 2)
        for side in (1, -1)
    ]

    def dot(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    points = [free, [Fraction(0)] * 2]
    points += [
        [x - dot(g, free) / dot(g, g) * y for x, y in zip(free, g, strict=True)] for g in edges
    ]
    inside = [p for p in points if all(dot(g, p) >= 0 for g in edges)]
    best = min(inside, key=lambda p: sum((x - y) ** 2 for x, y in zip(p, free, strict=True)))
    rows, mass = J.reshape(-1, 2), 10 ** rng.uniform(-3, 3)
    problem = FrictionProblem(rows @ rows.T / mass, rows @ v, mu, dim=2, law="convex")
    return problem, rows @ np.array([float(x) for x in best])


METHODS = ("auto", "nsgs", "newton", "interior-point", "qp", "admm", "apgd", "lemke", "enumerative")


@pytest.mark.parametrize("method", METHODS)
def test_what_is_called_solved_moves_as_the_exact_solution(method):
    """The free velocity may be changed by sqrt(tol) of it, and a projection on a convex cone moves
    by no more: twice that, of the particle. 1 of 40 was called SOLVED with another motion."""
    solved, count = 0, 300 if method == "auto" else 60
    for seed in range(count):
        problem, exact = jam(seed)
        solution = ds.solve(problem, method)
        assert solution.status is not ds.Status.INFEASIBLE, seed
        if solution.ok:
            solved += 1
            assert np.linalg.norm(solution.dual - exact) <= 2e-4 * np.linalg.norm(problem.q), seed
    assert solved >= (0.95 if method == "auto" else 0.5) * count


def test_impulses_hide_a_motion_that_the_backward_error_sees():
    """A groove that jams with 1e-8 more friction than it needs, left upwards: resting takes vast
    impulses. Without any, all contacts hold to 7e-9."""
    theta = 0.7
    c, s = np.cos(theta), np.sin(theta)
    J = np.array([[c, s], [-s, c], [-c, s], [-s, -c]])
    problem = FrictionProblem(
        J @ J.T, J @ (0.0, 0.5), np.tan(theta) * (1 + 1e-8), dim=2, law="convex"
    )
    nothing = np.zeros(4)
    assert max(*problem.residuals(nothing), *problem.optimality(nothing)) < 1e-8
    assert problem.backward_error(nothing) == pytest.approx(1.0, rel=1e-6)
    assert np.linalg.norm(ds.solve(problem).dual) < 1e-4 or not ds.solve(problem).ok


def unequal_groove(theta, excesses):
    """A particle lifted out of a groove whose walls' friction differs from tan(theta)."""
    c, s = np.cos(theta), np.sin(theta)
    J = np.array([[c, s], [-s, c], [-c, s], [-s, -c]])
    mu = np.tan(theta) * (1.0 + np.array(excesses))
    return FrictionProblem(J @ J.T, J @ (0.0, 1.0), mu, dim=2, law="convex")


def test_a_nearer_motion_that_violates_another_contact_is_no_solution():
    """One wall holds by 1.3e-9, the other lets go by 3e-10: together they jam. The velocity moved
    onto the one wall's condition violates that of the other."""
    problem = unequal_groove(1.16, (1.33e-9, -3.26e-10))
    nothing = np.zeros(4)
    assert max(*problem.residuals(nothing), *problem.optimality(nothing)) < 1e-8
    assert problem.backward_error(nothing) > 0.5
    for method in METHODS:
        solution = ds.solve(problem, method)
        assert not solution.ok or np.linalg.norm(solution.dual) < 2e-4, method


@pytest.mark.parametrize("method", ["interior-point", "auto"])
def test_walls_that_jam_unequally_are_not_called_infeasible(method):
    """Resting takes impulses of 10^7 to 10^8 times the momentum."""
    problem = unequal_groove(1.3685840823782274, (3.4418547e-7, -2.01949278e-8))
    assert ds.solve(problem, method).status is not ds.Status.INFEASIBLE


def test_twice_the_backward_error_bounds_that_of_velocities():
    """Impulses of a solution, judged for other free velocities of the same bodies. Convex law: the
    velocities are off by at most twice the backward error; norms of W are between that of u, in
    which it is measured, and that of kinetic energy."""
    rng = np.random.default_rng(4)
    tried = 0
    for _ in range(60):
        J = rng.normal(size=(9, 6))
        v, mu = rng.normal(size=6), rng.uniform(0.1, 1.0, 3)
        guess = ds.solve(FrictionProblem(J @ J.T, J @ v, mu, law="convex"), tol=1e-12)
        v += 10 ** rng.uniform(-8, -2) * rng.normal(size=6)
        problem = FrictionProblem(J @ J.T, J @ v, mu, law="convex")
        exact = ds.solve(problem, tol=1e-12)
        if not (guess.ok and exact.ok and exact.value.any()):
            continue
        tried += 1
        assert exact.backward < 1e-6
        unit = np.repeat(problem.form.unit, 3)
        response = np.linalg.svd(J @ J.T / np.outer(unit, unit))[1]
        ratio = np.sqrt(response[0] / response[5])
        away = np.linalg.norm((problem.dual(guess.value) - exact.dual) / unit)
        bound = 2.0 * problem.backward_error(guess.value) * np.linalg.norm(problem.q / unit)
        assert away <= ratio * bound + 1e-12
    assert tried > 30


def test_redundant_contacts_and_heavy_loads_are_judged_as_before():
    """A box on four corners under a mass of 10^6: rows depend on each other and impulses are large
    beside the free velocities of the light one; neither is an error."""
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(ds.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), mass=1e-3, friction=0.5)
    world.add_body(ds.Box(0.2, 0.2, 0.2), position=(0, 0, 0.3), mass=1e3, friction=0.5)
    sim = ds.Simulation(world)
    sim.step()
    solution = ds.solve(sim.problem())
    assert solution.ok
    assert solution.backward < 1e-6


@pytest.mark.parametrize("mu", [1e6, 1e9, 1e12, 1e16])
@pytest.mark.parametrize(("dim", "cone"), [(2, None), (3, None), (3, 4)])
def test_large_friction_hides_no_closing_contact(mu, dim, cone):
    """Contacts that close and slip at the same speed, without impulses: u + mu |u_t| n is as near
    to the dual cone as 1 / mu."""
    nc = 101 if cone is None else 5  # too many rows for the backward error
    q = np.tile([-1.0, 1.0, 0.0][:dim], nc)
    problem = FrictionProblem(np.eye(dim * nc), q, mu, dim=dim, cone=cone)
    nothing = Answer(np.zeros(dim * nc), ds.Status.SOLVED)
    assert problem.optimality(nothing.value)[0] == pytest.approx(np.sqrt(0.5))
    assert judged(problem, nothing, ds.NSGS(), 0.0).status is ds.Status.INACCURATE


@pytest.mark.parametrize("method", ["admm", "apgd", "qp-signs"])
def test_no_method_passes_through_rough_contacts(method):
    """A body in 160 contacts of random directions, mu = 1e9: all three called impulses
    of nearly zero a solution."""
    rng = np.random.default_rng(0)
    J = rng.normal(size=(320, 6))
    problem = FrictionProblem(J @ J.T, J @ rng.normal(size=6), 1e9, dim=2)
    solution = ds.solve(problem, method, time_limit=2.0)
    assert not solution.ok or solution.dual[::2].min() >= -1e-6 * np.linalg.norm(problem.q)
