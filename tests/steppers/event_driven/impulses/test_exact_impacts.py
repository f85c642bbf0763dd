"""Routh's and Keller's impacts against Wang and Mason's table and against plain integration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.steppers.event_driven.impulses import keller, routh
from drystone.steppers.event_driven.impulses.exact import escape_direction

RESTITUTIONS = ("poisson", "newton", "stronge")


def random_matrix(rng, n):
    B = rng.normal(size=(n, n))
    return B @ B.T + 0.1 * np.eye(n)


def wang_mason(K, u, mu, e):
    """Table 1 of Wang and Mason (1992), for Poisson's restitution; signs of S and C as there."""
    B1, B2, B3 = K[1, 1], K[0, 0], -K[0, 1]
    C0, S0 = u[0], u[1]
    s = 1.0 if S0 >= 0 else -1.0
    Pd, Pq = (B2 + s * mu * B3) * s * S0, (mu * B1 + s * B3) * (-C0)
    free = -(1 + e) * C0 / (B2 + s * mu * B3)
    if Pd >= (1 + e) * Pq:
        return "sliding", free, -s * mu * free
    holds, early = mu > abs(B3) / B1, Pd < Pq
    if holds and early:
        Py = -(1 + e) * (B1 * C0 + B3 * S0) / (B1 * B2 - B3**2)
        return "C-sticking", Py, (B3 * Py - S0) / B1
    if holds:
        return "R-sticking", free, (B3 * free - S0) / B1
    turn = 2 * S0 / (B3 + s * mu * B1)
    if early:
        Py = -(1 + e) / (B2 - s * mu * B3) * (C0 + s * mu * B3 * turn)
        return "C-reversed", Py, s * mu * (Py - turn)
    return "R-reversed", free, s * mu * (free - turn)


def marched(K, u, mu, e, restitution, steps=200_000):
    """The differential impact by plain steps in the normal impulse, slip directions as they are."""
    u, u0 = np.array(u, float), u[0]
    dp = 3.0 * (1 + e) * np.linalg.norm(u) / np.linalg.eigvalsh(K)[0] / steps
    r, work, p_c, work_c = np.zeros(u.size), 0.0, None, 0.0
    while True:
        speed = np.linalg.norm(u[1:])
        hold = -np.linalg.solve(K[1:, 1:], K[1:, 0] + u[1:] / dp)
        if np.linalg.norm(hold) <= mu:
            f = hold
        else:
            f = -mu * (u[1:] / speed if speed > 0 else -hold / np.linalg.norm(hold))
        push = np.concatenate([[1.0], f]) * dp
        work += u[0] * dp
        u, r = u + K @ push, r + push
        if p_c is None and u[0] >= 0:
            p_c, work_c = r[0], work
        if p_c is not None and (
            (restitution == "poisson" and r[0] >= (1 + e) * p_c)
            or (restitution == "newton" and u[0] >= -e * u0)
            or (restitution == "stronge" and work >= (1 - e**2) * work_c)
        ):
            return r


def test_routh_is_wang_and_masons_table():
    rng, seen = np.random.default_rng(7), {}
    for _ in range(4000):
        K = random_matrix(rng, 2)
        u = np.array([-rng.exponential(), rng.normal()])
        mu, e = rng.choice([0.05, 0.2, 0.5, 1.5]), rng.uniform()
        r, phases = routh(K, u, mu, e, "poisson")
        name, py, px = wang_mason(K, u, mu, e)
        np.testing.assert_allclose(r, [py, px], rtol=1e-9, atol=1e-9 * abs(py), err_msg=name)
        seen[name] = seen.get(name, 0) + 1
        ends = {"sliding": 1, "C-sticking": 2, "R-sticking": 2, "C-reversed": 2, "R-reversed": 2}
        assert len(phases) == ends[name], (name, phases)
    assert min(seen.values()) > 30
    assert len(seen) == 5


@pytest.mark.parametrize("restitution", RESTITUTIONS)
def test_routh_is_the_limit_of_small_steps(restitution):
    rng = np.random.default_rng(3)
    for _ in range(4):
        K, u = random_matrix(rng, 2), np.array([-1.0, rng.normal()])
        mu, e = rng.uniform(0.1, 1.0), rng.uniform(0.2, 0.9)
        r, _ = routh(K, u, mu, e, restitution)
        expected = marched(K, u, mu, e, restitution, 20_000)
        np.testing.assert_allclose(r, expected, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("restitution", RESTITUTIONS)
def test_keller_is_the_limit_of_small_steps(restitution):
    rng = np.random.default_rng(11)
    for _ in range(3):
        K, u = random_matrix(rng, 3), np.array([-1.0, *rng.normal(size=2)])
        mu, e = rng.uniform(0.1, 0.8), rng.uniform(0.2, 0.9)
        r, _ = keller(K, u, mu, e, restitution)
        expected = marched(K, u, mu, e, restitution, 20_000)
        np.testing.assert_allclose(r, expected, rtol=5e-3, atol=5e-3)


CASES = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 0.5, 1.5]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from(RESTITUTIONS),
)
SOME = settings(deadline=None, max_examples=60, derandomize=True)


@SOME
@given(CASES)
def test_keller_in_a_plane_is_routh(case):
    seed, mu, e, restitution = case
    rng = np.random.default_rng(seed)
    K, u = np.zeros((3, 3)), np.array([-rng.exponential(), rng.normal(), 0.0])
    K[:2, :2], K[2, 2] = random_matrix(rng, 2), 1.0
    flat, _ = routh(K[:2, :2], u[:2], mu, e, restitution)
    r, _ = keller(K, u, mu, e, restitution)
    np.testing.assert_allclose(r, [*flat, 0.0], rtol=1e-8, atol=1e-8 * np.abs(flat).max())


@SOME
@given(CASES)
def test_turning_the_tangents_turns_the_impulse(case):
    seed, mu, e, restitution = case
    rng = np.random.default_rng(seed)
    K, u = random_matrix(rng, 3), np.array([-1.0, *rng.normal(size=2)])
    angle = rng.uniform(0, 2 * np.pi)
    Q = np.eye(3)
    Q[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    r, phases = keller(K, u, mu, e, restitution)
    turned, again = keller(Q @ K @ Q.T, Q @ u, mu, e, restitution)
    np.testing.assert_allclose(turned, Q @ r, rtol=1e-7, atol=1e-8 * np.abs(r).max())
    assert phases == again


@SOME
@given(CASES)
def test_what_an_exact_impact_promises(case):
    """In the cone, no approach left, restitution as named, and energy lost for Stronge's."""
    seed, mu, e, restitution = case
    rng = np.random.default_rng(seed)
    K, u = random_matrix(rng, 3), np.array([-1.0, *rng.normal(size=2)])
    r, phases = keller(K, u, mu, e, restitution)
    v = u + K @ r
    assert phases
    assert np.linalg.norm(r[1:]) <= (mu + 1e-9) * r[0]
    assert v[0] >= -1e-9
    if restitution == "newton":
        np.testing.assert_allclose(v[0], e, atol=1e-8)
    if restitution == "stronge" or e == 0.0:
        assert r @ (u + v) / 2 <= 1e-9


def test_the_way_that_slip_resumes():
    """K_tn - mu K_tt s points along s; in the plane it is the sign of K_tn."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        K = random_matrix(rng, 3)
        mu = 0.5 * np.linalg.norm(np.linalg.solve(K[1:, 1:], K[1:, 0]))
        s = escape_direction(K, mu)
        pull = K[1:, 0] - mu * K[1:, 1:] @ s
        assert abs(s[0] * pull[1] - s[1] * pull[0]) <= 1e-10 * np.linalg.norm(K)
        assert s @ pull > 0


@pytest.mark.parametrize("law", [routh, keller])
def test_no_impact_without_approach(law):
    n = 2 if law is routh else 3
    K = np.eye(n)
    away = np.zeros(n)
    away[0], away[1] = 1.0, 0.5
    assert not law(K, away, 0.3, 0.5)[0].any()
    along = np.zeros(n)
    along[1] = 1.0
    assert not law(K, along, 0.3, 0.5)[0].any()


def test_reversed_slip_of_a_ball_with_backspin_does_not_occur():
    """A sphere has K_tn = 0: it slips to the end or sticks; e_t = 0 when it sticks (2/7)."""
    K = np.diag([1.0, 3.5])  # unit mass and radius, solid sphere: 1/m + r^2 / (2/5)
    r, phases = routh(K, np.array([-1.0, 0.5]), 0.3, 0.5, "newton")
    assert phases == ("slip+", "stick")
    np.testing.assert_allclose(r, [1.5, -0.5 / 3.5], rtol=1e-12)
    r, phases = routh(K, np.array([-1.0, 5.0]), 0.3, 0.5, "newton")
    assert phases == ("slip+",)
    np.testing.assert_allclose(r, [1.5, -0.45], rtol=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.4, 2.0])
def test_joints_may_leave_a_contact_no_tangential_freedom(mu):
    """A slider that only moves along the normal: the impulse is the frictionless one."""
    K = np.diag([2.0, 0.0, 0.0])
    for ut in (0.0, 0.7):  # a belt may run past it
        u = np.array([-1.0, ut, 0.0])
        r, _ = keller(K, u, mu, 0.5)
        np.testing.assert_allclose(r, [0.75, -0.75 * mu * np.sign(ut), 0.0], atol=1e-12)
        r, _ = routh(K[:2, :2], u[:2], mu, 0.5)
        np.testing.assert_allclose(r, [0.75, -0.75 * mu * np.sign(ut)], atol=1e-12)
