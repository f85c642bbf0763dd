"""auto: solves what has a solution, says what ran, proves what has none; third-party problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.library import coulomb_by_hand, random_bodies, third_party_folder

FOLDER = third_party_folder()
FILES = sorted(p for p in FOLDER.iterdir() if p.suffix != ".md") if FOLDER else []


@pytest.mark.problems
@pytest.mark.skipif(not FILES, reason="no third-party problems beside the project")
@pytest.mark.parametrize("path", FILES, ids=[p.name for p in FILES])
def test_third_party_problem(path):
    """Every one to 1e-8 in both forms, judged anew and not by the solution's own word."""
    problem = ds.read_problem(path)
    solution = ds.solve(problem, tol=1e-8)
    assert solution.ok, solution
    assert max(problem.residuals(solution.value)) <= 1e-8
    if isinstance(problem, ds.GlobalFrictionProblem):
        balance = problem.M @ solution.velocity - problem.q - problem.H @ solution.value
        assert np.linalg.norm(balance) <= 1e-9 * max(1.0, np.linalg.norm(problem.q))
        assert solution.value.size == problem.size


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    dim=st.sampled_from([2, 3]),
    law=st.sampled_from(["coulomb", "convex"]),
    ratio=st.sampled_from([1.0, 100.0, 1e4]),
)
def test_random_bodies(seed, dim, law, ratio):
    rng = np.random.default_rng(seed)
    bodies, contacts = int(rng.integers(2, 20)), int(rng.integers(1, 50))
    problem = random_bodies(rng, bodies, contacts, dim=dim, law=law, mass_ratio=ratio)
    solution = ds.solve(problem)
    assert solution.ok, solution
    if law == "coulomb":  # masses weigh the residual's units: their root separates u from r
        assert coulomb_by_hand(problem, solution.value) <= 10 * 1e-8 * np.sqrt(ratio)


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_order_and_frames_change_no_velocity(seed):
    """Contacts shuffled, tangent frames turned; the bodies' motion is the same.

    Friction is small, so that the solution is unique.
    """
    rng = np.random.default_rng(seed)
    problem = random_bodies(rng, 8, 6, mu=0.1)
    first = ds.solve(problem, tol=1e-11)
    Q = np.zeros((18, 18))
    for new, old in enumerate(rng.permutation(6)):
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        Q[3 * new, 3 * old] = 1.0
        Q[3 * new + 1 : 3 * new + 3, 3 * old + 1 : 3 * old + 3] = turn
    W = Q @ problem.dense @ Q.T
    second = ds.solve(ds.FrictionProblem(W, Q @ problem.q, 0.1), tol=1e-11)
    assert first.ok
    assert second.ok
    np.testing.assert_allclose(Q.T @ second.dual, first.dual, atol=1e-8)


def test_same_bits_every_time():
    problem = random_bodies(np.random.default_rng(9), 15, 40, mu=0.6)
    values = {ds.solve(problem).value.tobytes() for _ in range(3)}
    assert len(values) == 1


def test_says_what_ran_and_starts_from_the_last():
    problem = random_bodies(np.random.default_rng(3), 15, 60, mu=0.8)
    solution = ds.solve(problem)
    assert solution.ok
    assert solution.methods[0] == "nsgs"
    again = ds.solve(problem, guess=solution)
    assert again.methods == ("nsgs",)
    assert again.iterations <= 2


def test_an_infeasible_lcp_ends_with_a_proof():
    M = np.array([[1.0, -1.0], [-1.0, 1.0]])
    problem = ds.LCP(M, [-1.0, -1.0])  # w1 + w2 = -2 for every z
    solution = ds.solve(problem)
    assert solution.status is ds.Status.INFEASIBLE
    z = solution.ray
    assert (z >= 0).all()
    assert z.any()
    assert (M @ z)[z > 0].max() <= 1e-12


def test_failure_can_be_an_exception():
    problem = ds.LCP(np.array([[0.0]]), [-1.0])
    with pytest.raises(ds.SolverError) as caught:
        ds.solve(problem, on_failure="raise")
    assert not caught.value.solution.ok


def test_large_and_matrix_free_goes_through_sweeps():
    problem = random_bodies(np.random.default_rng(8), 40, 60, mu=0.4, operator=True)
    solution = ds.solve(problem, tol=1e-6)
    assert solution.ok
    assert solution.methods[0] == "nsgs"


@pytest.mark.parametrize("n", [1, 5, 30])
def test_empty_and_trivial(n):
    assert ds.solve(ds.LCP(np.zeros((0, 0)), np.zeros(0))).ok
    assert ds.solve(ds.LCP(np.eye(n), np.ones(n))).ok
    free = ds.FrictionProblem(np.eye(3 * n), np.tile([1.0, 0.5, 0.0], n), 0.5)
    solution = ds.solve(free)
    assert solution.ok
    assert not solution.value.any()


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_wedge_that_closes_has_no_solution_and_is_not_called_solved(dim, law):
    """Two contacts that push the same body against each other, both approached: u_1 + u_2 = q_1 +
    q_2 < 0 whatever the impulses. Growing impulses make |F| / |r| small, and must not pass."""
    W = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(dim))
    q = np.tile(-np.eye(dim)[0], 2)
    problem = ds.FrictionProblem(W, q, 0.5, dim=dim, law=law)
    huge = 1e12 * np.tile(np.eye(dim)[0], 2)
    assert min(problem.residuals(huge)) > 0.1
    for solver in ("auto", "nsgs", "newton", "apgd"):
        solution = ds.solve(problem, solver, time_limit=2.0)
        assert not solution.ok, solution
