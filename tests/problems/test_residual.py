"""The residual against projections written another way, and against the conditions themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import drystone as ds
from drystone.problems.residual import contact_errors, project_cone

REPEAT = settings(deadline=None, max_examples=200, derandomize=True)
numbers = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))


def dense_projection(x, mu, k=0):
    """Nearest point of the cone by non-negative least squares on its generators.

    A smooth cone is a polyhedral one whose directions include that of x itself: the nearest point
    lies in the plane of x and the axis, so (1, mu t) and (1, -mu t) with the axis generate it.
    """
    d = x.size
    if k:
        angles = 2 * np.pi * np.arange(k) / k
        tangents = np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        length = np.linalg.norm(x[1:])
        along = x[1:] / length if length > 0 else np.eye(d - 1)[0]
        tangents = np.stack([along, -along])
    generators = np.column_stack([np.ones(len(tangents)), mu * tangents]).T
    generators = np.column_stack([np.eye(d)[0], generators])
    return generators @ nnls(generators, x)[0]


@given(st.lists(numbers, min_size=3, max_size=3), st.sampled_from([0.0, 0.3, 1.0, 2.5]))
@REPEAT
def test_circular_projection(x, mu):
    x = np.array(x)
    expected = dense_projection(x, mu)
    assert np.allclose(project_cone(x[None], np.array([mu]))[0], expected, atol=1e-12)


@given(
    st.lists(numbers, min_size=3, max_size=3),
    st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    st.sampled_from([4, 6, 8, 12]),
)
@REPEAT
def test_polyhedral_projection(x, mu, k):
    x = np.array(x)
    expected = dense_projection(x, mu, k)
    assert np.allclose(project_cone(x[None], np.array([mu]), k)[0], expected, atol=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]))
@REPEAT
def test_projection_is_the_nearest_point(seed, d):
    """Moreau: x = P + (x - P), P in K, P - x in K*, and the two are orthogonal."""
    rng = np.random.default_rng(seed)
    x, mu = rng.normal(size=(1, d)), rng.uniform(0, 2, 1)
    p = project_cone(x, mu)[0]
    polar = p - x[0]
    assert np.linalg.norm(p[1:]) <= mu[0] * p[0] + 1e-14
    assert mu[0] * np.linalg.norm(polar[1:]) <= polar[0] + 1e-13  # K* = {mu |t| <= n}
    assert abs(p @ polar) <= 1e-13


def independent_residuals(problem, r):
    """The definition written out, contact by contact, for problems without bilateral rows."""
    u = problem.dense @ r + problem.q
    d, k = problem.d, problem.k
    out = []
    for unit_free in (False, True):
        F, R, U, Q = [], [], [], []
        for i, mu in enumerate(problem.mu):
            rows = slice(d * i, d * i + d)
            scale = np.sqrt(np.trace(problem.dense[rows, rows]) / d) if unit_free else 1.0
            ri, ui, qi = r[rows] * scale, u[rows] / scale, problem.q[rows] / scale
            shifted = ui.copy()
            if problem.law == "coulomb" and k:
                angles = 2 * np.pi * np.arange(k) / k
                shifted[0] += mu * max(-(np.cos(a) * ui[1] + np.sin(a) * ui[2]) for a in angles)
            elif problem.law == "coulomb":
                shifted[0] += mu * np.linalg.norm(ui[1:])
            F.append(ri - dense_projection(ri - shifted, mu, k))
            R.append(ri), U.append(ui), Q.append(qi)
        out.append(np.linalg.norm(F) / max(map(np.linalg.norm, (R, U, Q))))
    return out


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize(("dim", "cone"), [(2, None), (3, None), (3, 4), (3, 8)])
def test_residual_is_the_one_of_the_design(law, dim, cone):
    rng = np.random.default_rng(7)
    for nc in (1, 2, 5):
        half = rng.normal(size=(dim * nc, dim * nc)) * 10.0 ** rng.uniform(-2, 2, dim * nc)
        problem = ds.FrictionProblem(
            half.T @ half,
            rng.normal(size=dim * nc),
            rng.uniform(0, 1.5, nc),
            dim=dim,
            law=law,
            cone=cone,
        )
        for _ in range(5):
            r = rng.normal(size=dim * nc)
            got = problem.residual(r), problem.residual_unit(r)
            assert got == pytest.approx(independent_residuals(problem, r), rel=1e-10)


def contact_in_state(rng, state, d, mu):
    """(r, u) of one contact that obeys exact Coulomb friction by construction."""
    r, u = np.zeros(d), np.zeros(d)
    along = rng.normal(size=d - 1)
    along /= np.linalg.norm(along)
    if state == "open":
        u[0], u[1:] = rng.uniform(0.1, 2), rng.normal(size=d - 1)
    else:
        r[0] = rng.uniform(0.1, 2)
    if state == "stick":
        r[1:] = mu * r[0] * rng.uniform(0, 0.99) * along
    if state == "slip":
        r[1:], u[1:] = -mu * r[0] * along, rng.uniform(0.1, 2) * along
    return r, u


@pytest.mark.parametrize("law", ["coulomb", "static"])
@pytest.mark.parametrize("d", [2, 3])
def test_zero_exactly_when_the_conditions_hold(law, d):
    """Any mixture of open, sticking and sliding contacts passes; each spoiled one does not."""
    rng = np.random.default_rng(d)
    for _ in range(60):
        states = rng.choice(["open", "stick", "slip"], size=4)
        mu = rng.uniform(0.1, 1.5, 4)
        pairs = [contact_in_state(rng, s, d, m) for s, m in zip(states, mu, strict=True)]
        r = np.concatenate([p[0] for p in pairs])
        u = np.concatenate([p[1] for p in pairs])
        half = rng.normal(size=(r.size, r.size))
        W = half.T @ half
        problem = ds.FrictionProblem(W, u - W @ r, mu, dim=d, law=law)
        assert max(problem.residuals(r)) < 1e-14
        i = int(rng.integers(4))
        spoiled = r.copy()
        spoiled[d * i] -= 0.05 if states[i] == "open" else 1.2 * r[d * i]  # a force that pulls
        assert problem.residual(spoiled) > 1e-4
        spoiled = r.copy()
        spoiled[d * i + 1] += 3.0 * max(1.0, mu[i] * r[d * i])  # outside the cone
        assert problem.residual(spoiled) > 1e-3


def test_friction_must_oppose_slip_but_static_only_in_part():
    """Sliding along x with the force turned by 45 degrees: Coulomb says no, (14-1) says yes."""
    r = np.array([[1.0, -np.sqrt(0.5), -np.sqrt(0.5)]])
    u = np.array([[0.0, 1.0, 0.0]])
    mu = np.array([1.0])
    assert np.linalg.norm(contact_errors(r, u, mu, "coulomb")) > 0.3
    assert np.linalg.norm(contact_errors(r, u, mu, "static")) < 1e-15
    assert np.linalg.norm(contact_errors(r, -u, mu, "static")) > 0.3  # now it drives the slip
    inside = 0.5 * r[:, 1:]
    assert np.linalg.norm(contact_errors(np.hstack([r[:, :1], inside]), u, mu, "static")) > 0.3


def test_convex_law_lifts_a_sliding_contact():
    """The relaxation: u_n = mu |u_t| while sliding, so it and the exact law exclude each other."""
    mu, r = np.array([0.5]), np.array([[2.0, -1.0, 0.0]])
    flat, lifted = np.array([[0.0, 3.0, 0.0]]), np.array([[1.5, 3.0, 0.0]])
    assert np.linalg.norm(contact_errors(r, flat, mu, "coulomb")) < 1e-15
    assert np.linalg.norm(contact_errors(r, lifted, mu, "convex")) < 1e-15
    assert np.linalg.norm(contact_errors(r, lifted, mu, "coulomb")) > 0.1
    assert np.linalg.norm(contact_errors(r, flat, mu, "convex")) > 0.1


def test_sliding_contact_has_its_force_given():
    slip, mu = np.array([[0.6, 0.8]]), np.array([0.5])
    r = np.array([[2.0, -0.6, -0.8]])
    u = np.array([[0.0, 5.0, -7.0]])  # tangential acceleration: not constrained
    assert np.linalg.norm(contact_errors(r, u, mu, "coulomb", slip)) < 1e-15
    assert np.linalg.norm(contact_errors(r + 0.1, u, mu, "coulomb", slip)) > 0.05
    assert np.linalg.norm(contact_errors(r, u + 1.0, mu, "coulomb", slip)) > 0.5


def test_bilateral_rows_have_no_velocity():
    W = np.diag([1.0, 1.0, 4.0])
    problem = ds.FrictionProblem(W, [1.0, 0.0, 2.0], 0.5, dim=2, bilateral=1)
    assert max(problem.residuals(np.array([0.0, 0.0, -0.5]))) == 0.0
    # u = (1, 0, 1): |F| = 1 against max(|q|, |r|, |u|) = sqrt 5
    wrong = problem.residual(np.array([0.0, 0.0, -0.25]))
    assert wrong == pytest.approx(1.0 / np.sqrt(5.0))


def test_no_division_by_a_vanishing_scale():
    problem = ds.LCP(np.eye(2), [0.0, 0.0])
    assert problem.residual([0.0, 0.0]) == 0.0
    assert problem.residual([3e-3, 4e-3]) == pytest.approx(5e-3)


@given(st.integers(0, 10**6))
@REPEAT
def test_boxed_residual_vanishes_on_constructed_solutions_only(seed):
    rng = np.random.default_rng(seed)
    n = 4
    lower, upper = rng.uniform(-2, 0, n), rng.uniform(0.1, 2, n)
    where = rng.integers(0, 3, n)
    z = np.choose(where, [lower, 0.5 * (lower + upper), upper])
    w = np.choose(where, [1.0, 0.0, -1.0]) * rng.uniform(0.1, 1, n)
    M = rng.normal(size=(n, n)) + 3 * np.eye(n)
    problem = ds.BoxedLCP(M, w - M @ z, lower, upper)
    assert max(problem.residuals(z)) < 1e-14
    z[int(rng.integers(n))] += 0.05
    assert problem.residual(z) > 1e-4


def test_lcp_residual_is_the_minimum_map():
    rng = np.random.default_rng(3)
    M, q, z = rng.normal(size=(5, 5)), rng.normal(size=5), rng.normal(size=5)
    expected = np.linalg.norm(np.minimum(z, M @ z + q)) / np.linalg.norm(q)
    assert ds.LCP(M, q).residual(z) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_unit_free_residual_does_not_see_the_units(factor):
    """Impulses in other units: W -> W / f, r -> f r leaves the unit-free form alone."""
    rng = np.random.default_rng(5)
    half = rng.normal(size=(6, 6))
    W, q, r = half.T @ half, rng.normal(size=6), rng.normal(size=6)
    one = ds.FrictionProblem(W, q, 0.4).residual_unit(r)
    other = ds.FrictionProblem(W / factor, q, 0.4).residual_unit(r * factor)
    assert other == pytest.approx(one, rel=1e-9)
