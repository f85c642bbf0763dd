"""Conversions: solutions go there and back, and the matrices have the promised character."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems.convert import fold

REPEAT = settings(deadline=None, max_examples=40, derandomize=True)


def random_problem(rng, nc, dim, rank=None, mu=None, **statement):
    m = dim * nc + statement.get("bilateral", 0)
    J = rng.normal(size=(rank or m + 1, m))
    mu = rng.uniform(0.1, 1.0, nc) if mu is None else mu
    return ds.FrictionProblem(J.T @ J, J.T @ rng.normal(size=J.shape[0]), mu, dim=dim, **statement)


def all_lcp_solutions(lcp):
    """Every solution with a nonsingular basis, by trying all index sets (free rows always in)."""
    M, q, n = lcp.dense, lcp.q, lcp.size
    found = []
    choices = [(True,) if free else (False, True) for free in lcp.free]
    for pattern in product(*choices):
        basic = np.array(pattern, dtype=bool)
        z = np.zeros(n)
        if basic.any():
            block = M[np.ix_(basic, basic)]
            if np.linalg.cond(block) > 1e10:
                continue
            z[basic] = np.linalg.solve(block, -q[basic])
        w = M @ z + q
        if (z[~lcp.free] >= -1e-10).all() and (w >= -1e-10).all():
            found.append(z)
    return found


@given(st.integers(0, 10**6), st.sampled_from(["coulomb", "convex"]), st.integers(0, 2))
@REPEAT
def test_planar_lcp_solutions_solve_the_friction_problem(seed, law, bilateral):
    """k = 2 is exact in the plane: every solution of the LCP maps to one of the problem."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 2, 2, law=law, bilateral=bilateral)
    pyramid = ds.to_lcp(problem)
    solutions = all_lcp_solutions(pyramid.lcp)
    assert solutions
    for z in solutions:
        assert max(problem.residuals(pyramid.value(z))) < 1e-9


@given(st.integers(0, 10**6), st.sampled_from([4, 6]), st.sampled_from(["coulomb", "convex"]))
@REPEAT
def test_spatial_lcp_solutions_obey_the_polyhedral_law(seed, k, law):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 1, 3, cone=k, law=law)
    pyramid = ds.to_lcp(problem)
    assert pyramid.lcp.size == k + 2
    solutions = all_lcp_solutions(pyramid.lcp)
    assert solutions
    for z in solutions:
        assert max(problem.residuals(pyramid.value(z))) < 1e-9


def test_lcp_of_a_sliding_block_by_hand():
    """Unit mass, q = (-1, 2), mu = 1/2: c_n = 1, beta = (0, 1/2), lambda = slip speed 3/2."""
    problem = ds.FrictionProblem(np.eye(2), [-1.0, 2.0], 0.5, dim=2)
    pyramid = ds.to_lcp(problem)
    z = np.array([1.0, 0.0, 0.5, 1.5])
    assert pyramid.lcp.residual(z) < 1e-15
    assert pyramid.value(z).tolist() == [1.0, -0.5]
    assert problem.residual(pyramid.value(z)) < 1e-15


@given(st.integers(0, 10**6), st.sampled_from([(2, None, 2), (3, 4, 4), (3, 8, 8)]))
@REPEAT
def test_character_of_the_matrices(seed, shape):
    """The relaxation is positive semidefinite; the exact law only copositive (sampled)."""
    dim, cone, k = shape
    rng = np.random.default_rng(seed)
    statement = {"dim": dim, "cone": cone, "rank": 3}
    convex = ds.to_lcp(random_problem(rng, 2, law="convex", **statement)).lcp.dense
    eigenvalues = np.linalg.eigvalsh(convex + convex.T)
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]
    exact = ds.to_lcp(random_problem(rng, 2, **statement)).lcp.dense
    samples = rng.exponential(size=(2000, exact.shape[0])) * (rng.random((2000, 1)) < 0.9)
    samples *= rng.random((2000, exact.shape[0])) < rng.random((2000, 1))  # many faces
    values = np.einsum("ij,jk,ik->i", samples, exact, samples)
    assert values.min() >= -1e-10 * abs(exact).max()
    assert k == ds.to_lcp(random_problem(rng, 1, **statement)).lcp.size - 2


def test_exact_matrix_differs_from_the_convex_one_by_the_block_of_e11():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 1, 2, mu=np.array([0.7]))
    relaxed = ds.FrictionProblem(problem.W, problem.q, problem.mu, dim=2, law="convex")
    difference = ds.to_lcp(relaxed).lcp.dense - ds.to_lcp(problem).lcp.dense
    expected = np.zeros((4, 4))
    expected[0, 3] = -0.7  # contact row, lambda column
    assert np.array_equal(difference, expected)


def test_circular_cone_in_space_needs_a_number_of_directions():
    problem = random_problem(np.random.default_rng(0), 1, 3)
    with pytest.raises(ds.ProblemError, match="give a number of directions"):
        ds.to_lcp(problem)
    assert ds.to_lcp(problem, 6).lcp.size == 8
    with pytest.raises(ds.ProblemError, match="k=5"):
        ds.to_lcp(problem, 5)
    finger = ds.FrictionProblem(np.eye(4), np.zeros(4), 1, cone=ds.SoftFingerCone(1.0))
    with pytest.raises(ds.ProblemError, match="no polyhedral form"):
        ds.to_lcp(finger, 4)
    with pytest.raises(ds.ProblemError, match="only circular cones"):
        fold(finger)


@pytest.mark.parametrize("statement", [{"mu": np.zeros(2)}, {"slip": np.ones((2, 2))}])
def test_directions_do_not_matter_where_no_friction_is_unknown(statement):
    problem = random_problem(np.random.default_rng(0), 2, 3, **statement)
    pyramid = ds.to_lcp(problem)
    assert pyramid.lcp.size == 2
    for z in all_lcp_solutions(pyramid.lcp):
        assert max(problem.residuals(pyramid.value(z))) < 1e-10


@given(st.integers(0, 10**6), st.booleans())
@REPEAT
def test_elliptic_cone_with_directions(seed, jointed):
    """The force lies in the stretched polygon and dissipates most of all its corners."""
    rng = np.random.default_rng(seed)
    k, ratios, angle = 6, rng.uniform(0.2, 2.0, 2), rng.uniform(0, np.pi)
    cone = ds.EllipticCone(tuple(ratios), angle)
    problem = random_problem(rng, 1, 3, cone=cone, bilateral=int(jointed))
    pyramid = ds.to_lcp(problem, k)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = problem.mu[0] * (turn * ratios) @ ds.PolyhedralCone(k).directions()
    solutions = all_lcp_solutions(pyramid.lcp)
    assert solutions
    for z in solutions:
        r = pyramid.value(z)
        u = problem.dual(r)
        assert np.allclose(pyramid.R @ z, r)
        assert min(r[0], u[0]) > -1e-9
        assert abs(r[0] * u[0]) < 1e-9
        assert np.allclose(u[3:], 0.0, atol=1e-9)
        power = corners.T @ u[1:3] * r[0]
        assert r[1:3] @ u[1:3] <= power.min() + 1e-8


def test_polyhedral_solution_approaches_the_circular_one():
    """With more directions the force D beta converges; a sliding contact in closed form."""
    q, mu = np.array([-1.0, 2.0 * np.cos(0.3), 2.0 * np.sin(0.3)]), 0.5
    circular = ds.FrictionProblem(np.eye(3), q, mu)
    exact = np.array([1.0, -mu * np.cos(0.3), -mu * np.sin(0.3)])
    assert circular.residual(exact) < 1e-15
    errors = []
    for k in (4, 8, 16, 32):
        # the normal decouples, so friction is the nearest point of the polygon to -q_t
        angles = 2 * np.pi * np.arange(k + 1) / k
        corners = mu * np.column_stack([np.cos(angles), np.sin(angles)])
        start, edge = corners[:-1], np.diff(corners, axis=0)
        t = np.einsum("ij,ij->i", -q[1:] - start, edge) / (edge**2).sum(axis=1)
        points = start + np.clip(t, 0.0, 1.0)[:, None] * edge
        r = np.array([1.0, *points[np.argmin(np.linalg.norm(points + q[1:], axis=1))]])
        assert ds.FrictionProblem(np.eye(3), q, mu, cone=k).residual(r) < 1e-15
        errors.append(np.linalg.norm(r - exact))
    assert (np.array(errors) < mu * np.pi / np.array([4, 8, 16, 32])).all()
    assert errors[3] < 0.1 * errors[0]


def test_folding_keeps_the_equations():
    """r = Q f, and the kept rows of u = W r + q are a = A f + b, whatever f is."""
    rng = np.random.default_rng(1)
    slip = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    problem = random_problem(
        rng, 4, 3, mu=np.array([0.5, 0.0, 0.3, 0.0]), slip=slip, bilateral=2, law="static"
    )
    folded = fold(problem)
    assert folded.normal.tolist() == [0, 1, 2, 5]
    assert folded.tangent.tolist() == [-1, -1, 3, -1]
    f = rng.normal(size=folded.b.size)
    r = folded.value(f)
    u = problem.dual(r)
    kept = [0, 3, 6, 7, 8, 9, 12, 13]
    assert np.allclose(folded.A @ f + folded.b, u[kept])
    assert np.allclose(r[1:3], -0.5 * f[0] * slip[0])  # dynamic friction
    assert np.allclose(r[[4, 5, 10, 11]], 0.0)  # no friction
    assert folded.bilateral.tolist() == [False] * 6 + [True] * 2


def test_conic_program_has_the_solution_as_its_minimiser():
    """Closed form of the relaxation, and every feasible neighbour is worse."""
    mu, q = 0.5, np.array([-1.0, 1.2, 0.0])
    n = (mu * q[1] - q[0]) / (1 + mu**2)
    r = np.array([n, -mu * n, 0.0])
    problem = ds.FrictionProblem(np.eye(3), q, mu, law="convex")
    assert problem.residual(r) < 1e-15
    program = ds.to_conic(problem)
    assert program.cones == (("second-order", 3),)

    def value(x):
        return 0.5 * x @ program.P @ x + program.c @ x

    rng = np.random.default_rng(0)
    for _ in range(300):
        x = r + 0.3 * rng.normal(size=3)
        slack = program.h - program.G @ x
        if np.linalg.norm(slack[1:]) <= slack[0]:
            assert value(x) >= value(r) - 1e-15


def test_conic_program_of_a_frictionless_contact_keeps_the_sign():
    """mu = 0 would make (mu r_n, r_t) a cone that lets r_n pull."""
    program = ds.to_conic(ds.FrictionProblem(np.eye(6), np.ones(6), [0.0, 0.5], law="convex"))
    assert program.cones == (("nonnegative", 1), ("zero", 2), ("second-order", 3))
    slack = program.h - program.G @ np.array([-1.0, 0, 0, 1, 0, 0])
    assert slack[0] < 0


@pytest.mark.parametrize(
    ("statement", "message"),
    [({"cone": 4}, "not a second-order cone"), ({"slip": [[1.0, 0.0]]}, "no conic program")],
)
def test_no_conic_program(statement, message):
    with pytest.raises(ds.ProblemError, match=message):
        ds.to_conic(ds.FrictionProblem(np.eye(3), np.zeros(3), 0.5, **statement))


@pytest.mark.parametrize("law", ["coulomb", "convex", "static"])
@pytest.mark.parametrize("matrix_free", [False, True])
def test_scaling_and_its_undoing(law, matrix_free):
    rng = np.random.default_rng(2)
    J = rng.normal(size=(8, 9)) * 10.0 ** rng.uniform(-3, 3, (8, 1))
    W = ds.DelassusOperator(J, np.eye(9)) if matrix_free else J @ J.T
    problem = ds.FrictionProblem(W, rng.normal(size=8), 0.4, bilateral=2, law=law)
    scaled = ds.scaled(problem)
    inner = scaled.problem
    assert inner.matrix_free is matrix_free
    diagonal = np.diag(inner.dense)
    assert np.allclose(diagonal[:6].reshape(2, 3).mean(axis=1), 1.0)
    assert np.allclose(diagonal[6:], 1.0)
    r = rng.normal(size=8)
    assert np.allclose(scaled.guess(scaled.value(r)), r)
    assert np.allclose(inner.dual(scaled.guess(r)), scaled.scale * problem.dual(r))
    # the contacts' unit-free residual is what scaling leaves alone (bilateral rows: own scales)
    contacts = ds.FrictionProblem(J[:6] @ J[:6].T, problem.q[:6], 0.4, law=law)
    plain = ds.scaled(contacts)
    assert plain.problem.residual(plain.guess(r[:6])) == pytest.approx(
        contacts.residual_unit(r[:6]), rel=1e-9
    )


@pytest.mark.parametrize("kind", ["lcp", "mixed", "boxed"])
def test_scaling_of_complementarity_problems(kind):
    rng = np.random.default_rng(3)
    half = rng.normal(size=(4, 4)) * [1e-3, 1, 10, 1e4]
    M, q = half.T @ half, rng.normal(size=4)
    problem = {
        "lcp": ds.LCP(M, q),
        "mixed": ds.MixedLCP(M, q, 2),
        "boxed": ds.BoxedLCP(M, q, [-1, 0, -np.inf, 0], [1, 2, 3, np.inf]),
    }[kind]
    scaled = ds.scaled(problem)
    assert type(scaled.problem) is type(problem)
    assert np.allclose(np.diag(scaled.problem.dense), 1.0)
    z = rng.normal(size=4)
    inner = scaled.problem.residual(scaled.guess(z))
    assert inner == pytest.approx(problem.residual_unit(z), rel=1e-9)


def test_global_problems_convert_through_their_local_form():
    rng = np.random.default_rng(4)
    half = rng.normal(size=(4, 4))
    problem = ds.GlobalFrictionProblem(
        half.T @ half + np.eye(4),
        rng.normal(size=(4, 4)),
        rng.normal(size=4),
        rng.normal(size=4),
        0.5,
        dim=2,
        law="convex",
    )
    assert np.allclose(ds.to_lcp(problem).lcp.dense, ds.to_lcp(problem.local).lcp.dense)
    assert np.allclose(ds.to_conic(problem).P.toarray(), problem.local.dense)
    assert np.allclose(ds.scaled(problem).scale, ds.scaled(problem.local).scale)
