"""apgd, admm and interior-point on the same problems, against answers found otherwise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.solvers.cone_problems import (
    METHODS,
    by_clarabel,
    check_coulomb,
    operator_problem,
    random_problem,
    third_party,
)

each_method = pytest.mark.parametrize("method", METHODS)
# A conic solver that stops at a gap of 1e-9 knows velocities to the root of it: the energy of
# their error is at most the gap.
CONIC = 1e-4
RELAXED = settings(deadline=None, max_examples=25, derandomize=True)


@each_method
@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.kernels)])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_one_contact_open_stick_slip(method, d, law):
    """W = diag(2, 1, ..): forces by hand."""
    W = np.diag([2.0] + [1.0] * (d - 1))
    tangent = np.zeros(d - 1)
    tangent[-1] = 1.0
    cases = {
        "open": (np.r_[1.0, 0.3 * tangent], np.zeros(d)),
        "stick": (np.r_[-1.0, 0.2 * tangent], np.r_[0.5, -0.2 * tangent]),
    }
    if law == "coulomb":  # u_n = 0, |r_t| = mu r_n against the slip
        cases["slip"] = (np.r_[-1.0, 3.0 * tangent], np.r_[0.5, -0.3 * tangent])
    else:  # min r_n^2 + t^2 / 2 - r_n - 3 t on t = mu r_n, r_t = -t: r_n = (1 + 3 mu) / (2 + mu^2)
        top = (1 + 3 * 0.6) / (2 + 0.6**2)
        cases["slip"] = (np.r_[-1.0, 3.0 * tangent], np.r_[top, -0.6 * top * tangent])
    for name, (q, expected) in cases.items():
        problem = ds.FrictionProblem(W, q, 0.6, dim=d, law=law)
        solution = ds.solve(problem, method, tol=1e-10)
        assert solution.ok, name
        np.testing.assert_allclose(solution.value, expected, atol=1e-8, err_msg=name)


@RELAXED
@given(
    seed=st.integers(0, 10**6),
    nc=st.integers(1, 6),
    d=st.sampled_from([2, 3, 4]),
    loss=st.integers(0, 3),
    bilateral=st.integers(0, 3),
)
def test_convex_law_three_ways_and_by_a_conic_solver(seed, nc, d, loss, bilateral):
    """Velocities are unique, forces need not be: W may be singular.

    Three methods with nothing in common but the statement agree to 1e-8.
    """
    rank = max(1, d * nc + bilateral - loss)
    problem = random_problem(seed, nc, d, rank=rank, bilateral=bilateral)
    size = np.abs(problem.q).max()
    solutions = [ds.solve(problem, method, tol=1e-11) for method in METHODS]
    assert all(max(s.residual, s.residual_unit) <= 1e-10 for s in solutions)
    np.testing.assert_allclose(solutions[0].dual, solutions[2].dual, atol=1e-8 * size, rtol=0)
    np.testing.assert_allclose(solutions[1].dual, solutions[2].dual, atol=1e-8 * size, rtol=0)
    expected = by_clarabel(problem)
    np.testing.assert_allclose(solutions[2].dual, expected, atol=CONIC * size, rtol=0)


@each_method
@RELAXED
@given(seed=st.integers(0, 10**6), nc=st.integers(1, 6), d=st.sampled_from([2, 3, 4]))
def test_coulomb_law_by_the_book(method, seed, nc, d):
    problem = random_problem(seed, nc, d, law="coulomb", bilateral=seed % 3, smooth=seed % 2)
    if d == 4:  # the book's law is for plain tangents: take the stretched problem itself
        problem = ds.FrictionProblem(
            problem.form.W.dense, problem.form.q.ravel(), problem.form.mu.clip(0), dim=3,
            cone=ds.SoftFingerCone(1.0),
        )  # fmt: skip
    solution = ds.solve(problem, method)
    assert solution.ok
    check_coulomb(problem, solution.value, 1e-6)


@each_method
def test_smooth_contacts_and_bilateral_rows_together(method):
    problem = random_problem(7, 5, 3, smooth=2, bilateral=4)
    solution = ds.solve(problem, method, tol=1e-11)
    np.testing.assert_allclose(solution.dual, by_clarabel(problem), atol=CONIC, rtol=0)
    r = solution.value[:15].reshape(5, 3)
    assert np.abs(r[:2, 1:]).max() <= 1e-9


@each_method
def test_elliptic_cone(method):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((9, 9))
    cone = ds.EllipticCone((1.0, 0.2), angle=0.4)
    problem = ds.FrictionProblem(A @ A.T, A @ np.ones(9), 0.5, cone=cone, law="convex")
    solution = ds.solve(problem, method, tol=1e-11)
    np.testing.assert_allclose(solution.dual, by_clarabel(problem), atol=CONIC, rtol=0)


@each_method
@pytest.mark.parametrize("law", ["convex", "coulomb"])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_matrix_free_equals_formed(method, law, d):
    free, formed = operator_problem(11, d=d, law=law)
    one, two = (ds.solve(problem, method, tol=1e-10) for problem in (free, formed))
    assert one.ok
    assert two.ok
    np.testing.assert_allclose(one.dual, two.dual, atol=1e-7)


@each_method
def test_order_and_frames_change_nothing_unique(method):
    """Contacts reordered and tangents turned give the same velocities."""
    problem = random_problem(5, 5, 3, rank=11)
    rng = np.random.default_rng(0)
    turn = np.zeros((15, 15))
    for new, old in enumerate(rng.permutation(5)):
        c, s = np.cos(new + 1.0), np.sin(new + 1.0)
        block = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        turn[3 * new : 3 * new + 3, 3 * old : 3 * old + 3] = block
    mu = (np.abs(turn[::3, ::3]) > 0.5) @ problem.mu
    other = ds.FrictionProblem(turn @ problem.W @ turn.T, turn @ problem.q, mu, law="convex")
    u = ds.solve(problem, method, tol=1e-11).dual
    v = ds.solve(other, method, tol=1e-11).dual
    np.testing.assert_allclose(turn @ u, v, atol=1e-8)


@each_method
def test_a_solution_as_guess_costs_next_to_nothing(method):
    problem = random_problem(2, 6, 3, law="coulomb")
    first = ds.solve(problem, method)
    again = ds.solve(problem, method, guess=first)
    assert again.ok
    assert again.iterations <= max(25, first.iterations // 10)


@each_method
def test_limits_end_in_a_status(method):
    problem = random_problem(1, 6, 3, law="coulomb")
    options = {"max_iterations": 1, "tol": 1e-14}
    if method == "interior-point":
        options["polish"] = False
    cls = {"apgd": ds.APGD, "admm": ds.ADMM, "interior-point": ds.InteriorPoint}[method]
    assert ds.solve(problem, cls(**options)).status is ds.Status.MAX_ITERATIONS
    timed = ds.solve(problem, method, tol=1e-300, time_limit=1e-9)
    assert timed.status is ds.Status.TIME_LIMIT


@each_method
def test_refusals_say_why(method):
    problem = ds.FrictionProblem(np.eye(3), -np.ones(3), 0.5, cone=8)
    with pytest.raises(ds.UnsupportedProblemError, match="polyhedral"):
        ds.solve(problem, method)


@each_method
def test_repeats_to_the_bit(method):
    problem = random_problem(9, 6, 3, law="coulomb")
    one, two = ds.solve(problem, method), ds.solve(problem, method)
    assert one.value.tobytes() == two.value.tobytes()


@pytest.mark.problems
@each_method
@pytest.mark.parametrize(
    "name",
    [
        "Confeti-ex13-Fc3D-SBM.dat",
        "FrictionContactProblem00237.dat",
        "GFC3D_Example00_badly_scaled.dat",
        "KaplasTower-i1061-4.hdf5.dat",
        "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
        "OneObject-i100000-316.hdf5.dat",
        "Rover3865.dat",
    ],
)
def test_third_party_problems(method, name):
    assert ds.solve(third_party(name), method, time_limit=1e9).ok
