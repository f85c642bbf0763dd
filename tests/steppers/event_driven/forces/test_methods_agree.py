"""Every method gives the same accelerations; references are independent of all of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import drystone as ds
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind, solutions
from drystone.types import Status
from tests.steppers.event_driven.instants import dense_rows, random_state

SOME = settings(deadline=None, max_examples=60, derandomize=True)
SIZES = st.tuples(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 8), st.integers(0, 2)
)  # seed, bodies, contacts, joints


def gauss(state):
    """Accelerations of frictionless contacts by Gauss' principle of least constraint: the
    acceleration nearest to the free one in the kinetic metric, as a least-squares problem."""
    rows, joints, inverse = dense_rows(state)
    normals = rows[:: state.d]
    root = np.linalg.cholesky(inverse)
    free = state.acceleration.ravel()
    bias = state.bias[:, 0]
    stacked = np.vstack([normals, joints, -joints]) @ root
    rest = np.concatenate([normals @ free + bias, joints @ free, -(joints @ free)])
    # the least |w| with stacked w + rest >= 0 (Lawson and Hanson: least distance programming)
    E = np.vstack([stacked.T, -rest])
    target = np.zeros(E.shape[0])
    target[-1] = 1.0
    x, error = nnls(E, target, maxiter=10_000)
    residual = E @ x - target
    return free + root @ (-residual[:-1] / residual[-1]), error


@SOME
@given(SIZES, st.sampled_from([2, 3]))
def test_frictionless_accelerations_are_those_of_least_constraint(size, dim):
    seed, bodies, contacts, joints = size
    state = random_state(seed, dim=dim, bodies=bodies, contacts=contacts, joints=joints)
    expected, error = gauss(state)
    if error < 1e-6:
        return  # the reference divides by it: nearly infeasible
    for method in ("lp", "qp", ds.QP(form=2, tol=1e-9), "lemke", "dantzig"):
        result = ContactForces(method).solve(state)
        if result.status is Status.APPROXIMATE:
            assert method == "lp"  # step (d): its guess did not hold
            continue
        assert result.ok, (method, result.log)
        size_of = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(result.acceleration.ravel(), expected, atol=1e-8 * size_of)


def by_hand(state, f, a, tol):
    """The conditions of contact, case by case."""
    top, size = max(np.abs(f).max(), 1.0), max(np.abs(a).max(), 9.81)  # bodies weigh about 10 N
    for i in range(state.nc):
        fn, ft, an, at = f[i, 0], f[i, 1:], a[i, 0], a[i, 1:]
        if state.kind[i] == Kind.SEPARATING:
            assert not f[i].any()
            continue
        assert fn >= -tol * top
        assert an >= -tol * size
        assert min(fn / top, an / size) <= tol
        if state.kind[i] == Kind.SLIDING:
            slip = state.u[i, 1:] / np.linalg.norm(state.u[i, 1:])
            np.testing.assert_allclose(ft, -state.mu[i, 1] * fn * slip, atol=tol * top)
        else:
            room = state.mu[i, 0] * fn - np.linalg.norm(ft)
            assert room >= -tol * top
            assert ft @ at <= tol * top * size
            assert min(room / top, np.linalg.norm(at) / size) <= tol


@SOME
@given(SIZES, st.sampled_from([0.1, 0.4, 0.8]), st.sampled_from([0.0, 0.5, 1.0]))
def test_planar_friction_where_the_motion_is_unique(size, mu, slides):
    seed, bodies, contacts, joints = size
    contacts = min(contacts, 5)
    options = {"bodies": bodies, "contacts": contacts, "joints": joints, "mu": mu}
    state = random_state(seed, slides=slides, **options)
    ways = solutions(state)
    if len(ways) != 1 or ways[0].kind != "forces":
        return  # several motions, or a jam: nothing to agree on
    expected = ways[0].motion
    static = (state.kind == Kind.STICKING).any()
    methods = ["dantzig", "lemke"] + ([] if static else ["lp", "qp"])
    for method in methods:
        result = ContactForces(method).solve(state)
        assert result.ok, (method, result.log)
        if result.status is Status.SOLVED:
            np.testing.assert_allclose(
                result.acceleration, expected, atol=1e-8 * max(1.0, np.abs(expected).max())
            )
            by_hand(state, result.f, result.contact_acceleration, 1e-8)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(SIZES, st.sampled_from([0.1, 0.4]))
def test_sweeps_and_guessed_signs_agree_in_the_plane(size, mu):
    seed, bodies, contacts, joints = size
    options = {"bodies": bodies, "contacts": min(contacts, 4), "joints": min(joints, 1), "mu": mu}
    state = random_state(seed, slides=0.3, **options)
    ways = solutions(state)
    if len(ways) != 1 or ways[0].kind != "forces":
        return
    scale = max(1.0, np.abs(ways[0].motion).max())
    for method in ("jacobi", "qp-signs"):
        result = ContactForces(method, tol=1e-11).solve(state)
        assert result.ok
        np.testing.assert_allclose(result.acceleration, ways[0].motion, atol=1e-8 * scale)


@SOME
@given(SIZES, st.sampled_from([0.2, 0.6]), st.sampled_from([0.0, 0.5, 1.0]))
def test_true_cones_in_space_obey_every_condition(size, mu, slides):
    seed, bodies, contacts, joints = size
    options = {"dim": 3, "bodies": bodies, "contacts": contacts, "joints": joints, "mu": mu}
    state = random_state(seed, slides=slides, **options)
    result = ContactForces("dantzig").solve(state)
    assert result.ok or result.status is Status.RAY
    if result.status is Status.SOLVED:
        by_hand(state, result.f, result.contact_acceleration, 1e-7)


@SOME
@given(SIZES, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.4]))
def test_newtons_law_holds_for_bodies(size, dim, mu):
    """M (a - a_free) = J' f, assembled by plain loops."""
    seed, bodies, contacts, joints = size
    options = {"dim": dim, "bodies": bodies, "contacts": contacts, "joints": joints, "mu": mu}
    state = random_state(seed, **options)
    result = ContactForces().solve(state)
    rows, ties, inverse = dense_rows(state)
    change = inverse @ (rows.T @ result.f.ravel() + ties.T @ result.joint)
    np.testing.assert_allclose(
        result.acceleration.ravel(), state.acceleration.ravel() + change, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        result.contact_acceleration.ravel(), rows @ result.acceleration.ravel(), atol=1e-9
    )


def swapped(state):
    """A and B exchanged: normals and tangents turn round with them, rows stay as they are."""
    return ContactState(
        body=state.body[:, ::-1], J=state.J[:, :, ::-1], u=state.u, mu=state.mu,
        inverse_mass=state.inverse_mass, inverse_inertia=state.inverse_inertia,
        acceleration=state.acceleration, joint_body=state.joint_body, joint_J=state.joint_J,
    )  # fmt: skip


@SOME
@given(SIZES)
def test_order_of_bodies_and_contacts_changes_no_acceleration(size):
    """Where the accelerations are unique: without friction."""
    seed, bodies, contacts, joints = size
    state = random_state(seed, bodies=bodies, contacts=contacts, joints=joints)
    first = ContactForces().solve(state)
    scale = 1e-9 * max(1.0, np.abs(first.acceleration).max())
    second = ContactForces().solve(swapped(state))
    np.testing.assert_allclose(second.acceleration, first.acceleration, atol=scale)
    order = np.random.default_rng(seed).permutation(state.nc)
    third = ContactForces().solve(state.take(order))
    np.testing.assert_allclose(third.acceleration, first.acceleration, atol=scale)


def test_lp_and_qp_name_the_contact_whose_friction_they_do_not_take():
    state = random_state(1, contacts=3, mu=0.5)
    for method in ("lp", "qp"):
        with pytest.raises(ds.UnsupportedProblemError, match=f"{method}: contact 0 sticks"):
            ContactForces(method).solve(state)


def test_statistics_of_the_linear_programs():
    """Most guesses V = {} hold; all of (a) to (d) are counted."""
    forces = ContactForces("lp", reuse=False)
    for seed in range(60):
        forces.solve(random_state(seed, bodies=1, contacts=3, lean=0.1))
    counts = forces.statistics.lp
    assert sum(counts.values()) == forces.statistics.solves
    assert counts["a"] > 0
    assert counts["c"] > 0
    assert counts["basis"] == 0


@SOME
@given(SIZES, st.sampled_from([0.0, 0.5, 1.0]))
def test_tangent_frames_do_not_matter_in_space(size, slides):
    """Other tangents, same accelerations, forces turned with them (static friction too)."""
    seed, bodies, contacts, joints = size
    options = {"dim": 3, "bodies": bodies, "contacts": contacts, "joints": joints, "mu": 0.3}
    state = random_state(seed, slides=slides, **options)
    first = ContactForces().solve(state)
    angle = np.random.default_rng(seed + 5).uniform(0, 2 * np.pi, size=contacts)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    turn = np.moveaxis(turn, 2, 0)
    J, u = state.J.copy(), state.u.copy()
    J[:, 1:] = np.einsum("cij,cjsk->cisk", turn, state.J[:, 1:])
    u[:, 1:] = np.einsum("cij,cj->ci", turn, state.u[:, 1:])
    second = ContactForces().solve(replace(state, J=J, u=u))
    assert first.status is second.status
    if first.ok:
        scale = 1e-8 * max(1.0, np.abs(first.acceleration).max())
        np.testing.assert_allclose(second.acceleration, first.acceleration, atol=scale)
