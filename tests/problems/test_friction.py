"""Statements of friction problems: closed forms, and invariances of the residual."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds


def block_on_incline(angle, mu, dt=0.01, g=9.81, **statement):
    """A unit mass at rest on an incline, in the plane; slides down along +t."""
    q = dt * g * np.array([-np.cos(angle), np.sin(angle)])
    return ds.FrictionProblem(np.eye(2), q, mu, dim=2, **statement)


@pytest.mark.parametrize("law", ["coulomb", "static"])
def test_block_on_incline_sticks_below_the_angle_of_friction(law):
    problem = block_on_incline(0.3, np.tan(0.31), law=law)
    assert max(problem.residuals(-problem.q)) < 1e-15  # friction holds it
    problem = block_on_incline(0.3, np.tan(0.29), law=law)
    assert problem.residual(-problem.q) > 1e-4
    n = -problem.q[0]
    r = np.array([n, -problem.mu[0] * n])  # slides: force on the cone, down-hill velocity
    assert max(problem.residuals(r)) < 1e-15
    assert problem.dual(r)[1] > 0


def test_convex_law_takes_off_while_sliding():
    """The relaxation in closed form: u_n = mu u_t, r_t = -mu r_n with u = q + r."""
    angle, mu = 0.3, 0.1
    problem = block_on_incline(angle, mu, law="convex")
    qn, qt = problem.q
    n = (mu * qt - qn) / (1.0 + mu**2)
    r = np.array([n, -mu * n])
    assert max(problem.residuals(r)) < 1e-14
    assert problem.dual(r)[0] == pytest.approx(mu * problem.dual(r)[1])
    assert block_on_incline(angle, mu).residual(r) > 1e-3


@given(st.integers(0, 10**6), st.sampled_from(["coulomb", "convex", "static"]))
@settings(deadline=None, max_examples=50, derandomize=True)
def test_order_and_frames_of_contacts_do_not_matter(seed, law):
    """Reorder contacts and turn tangents; the residual stays."""
    rng = np.random.default_rng(seed)
    nc = 3
    half = rng.normal(size=(9, 9))
    W, q, r, mu = half.T @ half, rng.normal(size=9), rng.normal(size=9), rng.uniform(0, 1, nc)
    turn = []
    for angle in rng.uniform(0, 2 * np.pi, nc):
        c, s = np.cos(angle), np.sin(angle)
        turn.append(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    order = rng.permutation(nc)
    Q = sp.block_diag(turn).toarray()[(3 * order[:, None] + np.arange(3)).ravel()]
    plain = ds.FrictionProblem(W, q, mu, law=law)
    moved = ds.FrictionProblem(Q @ W @ Q.T, Q @ q, mu[order], law=law)
    assert moved.residuals(Q @ r) == pytest.approx(plain.residuals(r), rel=1e-9)


def test_static_and_coulomb_agree_in_the_plane_on_solutions():
    rng = np.random.default_rng(0)
    for _ in range(50):
        mu, speed = rng.uniform(0.1, 1), rng.choice([-1.0, 0.0, 1.0])
        force = rng.uniform(-1, 1) if speed == 0 else -speed
        r, u = np.array([1.0, mu * force]), np.array([0.0, speed])
        for law in ("coulomb", "static"):
            assert ds.FrictionProblem(np.eye(2), u - r, mu, dim=2, law=law).residual(r) < 1e-15


def test_slip_directions_are_normalised():
    problem = ds.FrictionProblem(np.eye(6), np.zeros(6), 0.5, slip=[[3.0, 4.0], [0.0, 0.0]])
    assert problem.slip.tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert problem.sliding.tolist() == [True, False]


@pytest.mark.parametrize("bilateral", [0, 1, 2, 3, 4])
def test_bilateral_rows_are_gathered_into_blocks(bilateral):
    rng = np.random.default_rng(bilateral)
    m = 6 + bilateral
    half = rng.normal(size=(m, m))
    problem = ds.FrictionProblem(half.T @ half, rng.normal(size=m), 0.5, bilateral=bilateral)
    form, r = problem.form, rng.normal(size=m)
    assert form.nb == 2 + -(-bilateral // 3)
    assert (form.mu[2:] < 0).all()
    assert np.allclose(form.value(form.impulses(r)), r)
    u = form.W.product(form.impulses(r), form.q)
    assert np.allclose(u.ravel()[:m], problem.dual(r))
    assert np.allclose(u.ravel()[m:], 0.0)  # padding decouples and stays at rest


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.bsr_array])
def test_storage_does_not_matter(storage):
    rng = np.random.default_rng(1)
    half = rng.normal(size=(6, 6))
    W, q, r = half.T @ half, rng.normal(size=6), rng.normal(size=6)
    problem = ds.FrictionProblem(storage(W), q, 0.5)
    assert np.allclose(problem.dense, W)
    assert problem.residual(r) == pytest.approx(ds.FrictionProblem(W, q, 0.5).residual(r))


def test_repr_states_the_problem():
    text = repr(ds.FrictionProblem(np.eye(4), np.zeros(4), 0.5, dim=2, law="static"))
    assert "nc=2" in text
    assert "law='static'" in text
    gfc = ds.GlobalFrictionProblem(np.eye(3), np.eye(3), np.zeros(3), np.zeros(3), 0.5)
    assert repr(gfc) == "GlobalFrictionProblem(nc=1, ndof=3, dim=3)"
