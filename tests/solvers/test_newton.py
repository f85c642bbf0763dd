"""Semismooth Newton: the law by cases, hard starts, degenerate contacts, LCPs, cones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.library import coulomb_by_hand, random_bodies


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    dim=st.sampled_from([2, 3]),
    bilateral=st.integers(0, 2),
    ratio=st.sampled_from([1.0, 1e4]),
)
def test_coulomb_law_by_cases(seed, dim, bilateral, ratio):
    """Solutions exist (q in the range of J); Newton finds one on every random configuration."""
    rng = np.random.default_rng(seed)
    bodies, contacts = int(rng.integers(2, 9)), int(rng.integers(1, 16))
    bilateral = min(bilateral, bodies)
    problem = random_bodies(
        rng, bodies, contacts, dim=dim, bilateral=bilateral, mass_ratio=ratio, mu=0.5
    )
    solution = ds.solve(problem, "newton", tol=1e-10)
    assert solution.ok, solution
    assert coulomb_by_hand(problem, solution.value) <= 50 * 1e-10 * np.sqrt(ratio)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_globalisation_converges_from_anywhere(seed):
    """No sweeps, and a start far from the solution: the proximal rounds alone bring it home."""
    rng = np.random.default_rng(seed)
    problem = random_bodies(rng, 6, 12, mu=0.7)
    start = 10.0 ** rng.uniform(-2, 3) * rng.normal(size=problem.size)
    solution = ds.solve(problem, ds.Newton(sweeps=0), guess=start)
    assert solution.ok, solution


def test_local_convergence_is_quadratic():
    """Digits double: the last step of a nondegenerate problem takes 1e-5 to 1e-9 or better."""
    problem = random_bodies(np.random.default_rng(11), 12, 14, mu=0.3)
    solution = ds.solve(problem, ds.Newton(sweeps=3, alpha=1e-14), tol=1e-13)
    assert solution.ok
    history = solution.history
    late = history[:-1][history[:-1] < 1e-3]
    assert history[-1] < 1e-2 * late[-1]


def test_rolling_with_zero_slip_and_zero_friction():
    """The degenerate case: u_t = 0 and r_t = 0 at once, on the kink of every function."""
    W = np.diag([2.0, 1.0, 1.0])
    q = np.array([-1.0, 0.0, 0.0])
    for guess in (None, [0.5, 0.0, 0.0], [0.5, 0.4, -0.3], [5.0, 0.0, 0.0]):
        for mu in (0.0, 0.5):
            problem = ds.FrictionProblem(W, q, mu)
            solution = ds.solve(problem, ds.Newton(sweeps=0), guess=guess)
            assert solution.ok
            np.testing.assert_allclose(solution.value, [0.5, 0.0, 0.0], atol=1e-8)


def test_hyperstatic_block():
    """Four contacts under one block: W has rank 6 of 12; velocities and resultant are unique."""
    J = []
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            arm = np.array([x, y, -0.5])
            for e in np.eye(3)[[2, 0, 1]]:
                J.append(np.concatenate([e, np.cross(arm, e)]))
    J = np.array(J)
    load = np.array([0.1, 0.05, -1.0, 0.0, 0.0, 0.0])
    problem = ds.FrictionProblem(J @ J.T, J @ load, 0.3)
    solution = ds.solve(problem, "newton", tol=1e-12)
    assert solution.ok
    np.testing.assert_allclose(J.T @ solution.value, -load, atol=1e-9)  # it stands still


def test_homotopy_in_friction_alone_arrives():
    """The last resort, called on its own: friction raised from none to its full value."""
    from drystone.solvers._blocks import BlockProblem
    from drystone.solvers.base import Limits
    from drystone.solvers.newton import _Part, _Run
    from drystone.types import Status

    problem = random_bodies(np.random.default_rng(21), 8, 14, mu=0.8)
    c = BlockProblem(problem)
    run = _Run(ds.Newton(), c, Limits(1e-8, 10.0))
    part = _Part(c.blocks, 0.0, 0.0)
    r = np.zeros_like(c.q)
    assert run._homotopy(part, r, 1e-8) is Status.SOLVED
    assert max(problem.residuals(c.value(r))) <= 1e-8


@pytest.mark.parametrize("cone", [ds.EllipticCone((1.0, 0.3), 0.4), ds.SoftFingerCone(0.2)])
def test_stretched_cones_dissipate_most(cone):
    """Among all friction forces of the cone's size, the one found dissipates the most."""
    rng = np.random.default_rng(4)
    spin = isinstance(cone, ds.SoftFingerCone)
    problem = random_bodies(rng, 6, 8, mu=0.5, cone=cone, spin=spin)
    solution = ds.solve(problem, "newton", tol=1e-10)
    assert solution.ok
    d = problem.d
    T = cone.stretch(3)
    for r, u in zip(solution.value.reshape(-1, d), solution.dual.reshape(-1, d), strict=True):
        for _ in range(50):
            s = rng.normal(size=d - 1)
            other = 0.5 * r[0] * T @ (s / np.linalg.norm(s))
            assert other @ u[1:] >= r[1:] @ u[1:] - 1e-7


@settings(deadline=None, max_examples=50, derandomize=True)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20))
def test_positive_definite_lcp(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    problem = ds.LCP(B @ B.T + 0.1 * np.eye(n) + 0.3 * (B - B.T), rng.normal(size=n))
    solution = ds.solve(problem, "newton", tol=1e-11)
    z, w = solution.value, solution.dual
    assert solution.ok
    assert min(z.min(), w.min()) >= -1e-9
    assert abs(z @ w) <= 1e-8


def test_limits_and_options():
    problem = random_bodies(np.random.default_rng(6), 10, 30, mu=0.9)
    assert ds.solve(problem, ds.Newton(sweeps=0, max_steps=1)).status is not ds.Status.SOLVED
    hurried = ds.solve(problem, ds.Newton(sweeps=0, time_limit=1e-9, tol=1e-15))
    assert hurried.status in (ds.Status.TIME_LIMIT, ds.Status.SOLVED)
    for options in ({"max_steps": 0}, {"alpha": 0.0}, {"sweeps": -1}):
        with pytest.raises(ds.OptionError, match="newton"):
            ds.Newton(**options)
    with pytest.raises(ds.UnsupportedProblemError, match="upper bounds"):
        ds.solve(ds.BoxedLCP(np.eye(2), [1.0, -1.0], 0.0, 1.0), "newton")
