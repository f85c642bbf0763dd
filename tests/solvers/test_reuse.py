"""Reuse of a basis: valid while the index set holds, None as soon as it does not."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems import classic
from drystone.solvers import reuse
from drystone.solvers.reuse import contact_states

SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=200, derandomize=True)


def reuse_lcp(problem, basis):
    held = reuse.reuse_lcp(problem.dense, problem.q, problem.free, basis)
    return None if held is None else held[0]


def reuse_friction(problem, basis, value=None):
    held = reuse.reuse_friction(problem, basis, value)
    return None if held is None else held[0]


def test_the_index_set_by_hand():
    problem = ds.LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0])
    np.testing.assert_allclose(reuse_lcp(problem, np.array([True, False])), [0.5, 0.0])
    assert reuse_lcp(problem, np.array([False, False])) is None  # w_1 = -1
    assert reuse_lcp(problem, np.array([True, True])) is None  # z_2 = -1
    assert reuse_lcp(problem, np.array([True])) is None
    assert reuse_lcp(problem, [1.0, 0.0]) is None
    assert reuse_lcp(problem, None) is None


def test_a_singular_index_set():
    inside = reuse_lcp(classic.segment(), np.array([True, True]))  # least norm on the segment
    np.testing.assert_allclose(inside, [0.5, 0.5])
    contradicting = ds.LCP([[1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0])
    assert reuse_lcp(contradicting, np.array([True, True])) is None


@some
@given(SEEDS)
def test_reused_exactly_when_it_still_solves(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    G = rng.normal(size=(n, n))
    M, q = G @ G.T + 0.1 * np.eye(n), rng.normal(size=n)
    basis = ds.solve(ds.LCP(M, q), "lemke").basis
    moved = ds.LCP(M, q + 0.2 * rng.normal(size=n))
    found = reuse_lcp(moved, basis)
    true = ds.solve(moved, "lemke")
    if found is None:
        assert (true.basis != basis).any()
    else:
        np.testing.assert_allclose(found, true.value, atol=1e-9)


@some
@given(SEEDS)
def test_planar_friction_keeps_its_contact_states(seed):
    rng = np.random.default_rng(seed)
    nc = int(rng.integers(1, 5))
    J = rng.normal(size=(2 * nc + 1, 2 * nc + 2))
    W, q = J @ J.T, rng.normal(size=2 * nc + 1)
    mu = np.where(rng.random(nc) < 0.2, 0.0, rng.uniform(0.1, 1.0, nc))
    slip = np.where(rng.random((nc, 1)) < 0.2, 1.0, 0.0)
    problem = ds.FrictionProblem(W, q, mu, dim=2, bilateral=1, slip=slip)
    first = ds.solve(problem, "lemke")
    if not first.ok:
        return
    r = reuse_friction(problem, first.basis)
    np.testing.assert_allclose(r, first.value, atol=1e-8 * (1 + np.abs(first.value).max()))
    without_sides = {name: first.basis[name] for name in ("open", "stick", "slip")}
    again = reuse_friction(problem, without_sides, first.value)
    np.testing.assert_allclose(again, r, atol=1e-12)
    solution = ds.solve(problem, "lemke", guess=first)
    assert solution.info["reused"]
    assert solution.iterations == 0


def test_friction_states_that_no_longer_hold():
    push = ds.FrictionProblem(np.eye(2), [-1.0, 0.2], 0.5, dim=2)
    stick = ds.solve(push, "lemke")
    assert stick.index_sets["stick"].tolist() == [0]
    harder = ds.FrictionProblem(np.eye(2), [-1.0, 2.0], 0.5, dim=2)
    assert reuse_friction(harder, stick.basis) is None
    slipping = ds.solve(harder, "lemke", guess=stick)
    np.testing.assert_allclose(slipping.value, [1.0, -0.5])
    assert not slipping.info["reused"]
    assert slipping.index_sets["slip+"].tolist() == [0]
    lifted = ds.FrictionProblem(np.eye(2), [1.0, 2.0], 0.5, dim=2)
    assert ds.solve(lifted, "lemke", guess=slipping).index_sets["open"].tolist() == [0]


def test_friction_states_are_refused_where_they_mean_nothing():
    convex = ds.FrictionProblem(np.eye(2), [-1.0, 2.0], 0.5, dim=2, law="convex")
    states = contact_states(convex, np.array([1.0, 0.0]))
    assert reuse_friction(convex, states) is None
    solution = ds.solve(convex, "lemke")
    assert ds.solve(convex, "lemke", guess=solution).info["reused"]
    other = ds.FrictionProblem(np.eye(2), [-1.0, 2.0], 0.5, dim=2)
    assert reuse_friction(other, {"open": np.array([7])}) is None
    singular = ds.FrictionProblem(np.zeros((2, 2)), [-1.0, 2.0], 0.5, dim=2)
    assert reuse_friction(singular, {"open": np.array([], dtype=int)}) is None
