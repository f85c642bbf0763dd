"""Rows of every joint: Jacobians against differences, rank, invariance, degrees of freedom left."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.constraints.joints import Fixed, Hinge
from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.kernels.joints import SPIN
from drystone.world import World
from tests.constraints.joints.joint_worlds import (
    CASES,
    counts,
    dense,
    differences,
    disturbed,
    jointed_world,
    transformed,
    unit,
)

pytestmark = pytest.mark.kernels
seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=6)
cases = pytest.mark.parametrize(("dim", "name"), CASES, ids=[f"{d}d-{n}" for d, n in CASES])


@cases
@some
@given(seed=seeds)
def test_a_joint_fits_where_it_was_described(dim, name, seed):
    model, state = jointed_world(dim, name, np.random.default_rng(seed)).build()
    q = free_coordinates(model.joints, state)
    assert np.abs(joint_rows(model.joints, state, q).error).max(initial=0.0) < 1e-13
    rows, coordinates = counts(dim, name)
    assert (model.joints.nr, model.joints.nq) == (rows, coordinates)
    if name != "rope":  # the only one whose coordinate does not start at zero
        assert np.abs(q.value).max(initial=0.0) < 1e-7  # a tilt is sqrt(eps) next to zero


@cases
@some
@given(seed=seeds)
def test_jacobians_are_the_derivatives(dim, name, seed):
    """Also away from the constraint: the pose is disturbed by a few tenths."""
    rng = np.random.default_rng(seed)
    model, state = jointed_world(dim, name, rng).build()
    joints, state = model.joints, disturbed(state, rng, 0.3)
    q = free_coordinates(joints, state)
    rows = joint_rows(joints, state, q)
    J = np.concatenate([dense(rows.body, rows.J, 3), dense(joints.coordinate_body, q.J, 3)])
    known = np.concatenate([joints.row_code[:, 0], joints.coordinate_code[:, 0]]) != SPIN
    assert np.allclose(J[known], differences(joints, state)[known], atol=1e-7, rtol=1e-7)
    dof = 3 * (dim - 1)
    assert not J[:, :dof].any(), "the joint is none of the other body's business"


@cases
@some
@given(seed=seeds)
def test_rows_are_independent_and_leave_what_is_tabled(dim, name, seed):
    rng = np.random.default_rng(seed)
    model, state = jointed_world(dim, name, rng).build()
    joints = model.joints
    rows = joint_rows(joints, state)
    J = dense(rows.body, rows.J, 3)
    assert np.linalg.matrix_rank(J, tol=1e-9) == counts(dim, name)[0]
    if name in ("gear", "ball-axis"):
        return
    q = free_coordinates(joints, state)
    both = np.concatenate([J, dense(joints.coordinate_body, q.J, 3)])
    expected = counts(dim, name)[0] + counts(dim, name)[1] - (name == "screw")
    assert np.linalg.matrix_rank(both, tol=1e-9) == expected, "coordinates are independent too"


@cases
@some
@given(seed=seeds)
def test_a_rigid_motion_of_everything_changes_nothing(dim, name, seed):
    rng = np.random.default_rng(seed)
    if name == "gear":  # of bodies: measured against the world
        return
    model, state = jointed_world(dim, name, rng).build()
    state = disturbed(state, rng, 0.3)
    shift, turn = rng.normal(size=dim), rng.uniform(-3, 3) if dim == 2 else unit(rng, 4)
    there = transformed(state, shift, turn)
    q, q2 = free_coordinates(model.joints, state), free_coordinates(model.joints, there)
    here, there_rows = (joint_rows(model.joints, s) for s in (state, there))
    assert np.allclose(here.error, there_rows.error, atol=1e-12)
    assert np.allclose(q.value, q2.value, atol=1e-12)
    # internal forces: no row pushes the pair as a whole
    for J in (here.J, q.J):
        assert np.allclose(J[:, 0, :dim] + J[:, 1, :dim], 0.0, atol=1e-13)


@cases
@some
@given(seed=seeds)
def test_rows_conserve_angular_momentum(dim, name, seed):
    """J' r is a pair of opposite wrenches: torques about the world's origin cancel."""
    rng = np.random.default_rng(seed)
    if name == "gear":  # its bearings are in the world
        return
    model, state = jointed_world(dim, name, rng).build()
    state = disturbed(state, rng, 0.3)
    q = free_coordinates(model.joints, state)
    x = state.position[model.joints.body[0]]
    for J in np.concatenate([joint_rows(model.joints, state, q).J, q.J]):
        if dim == 2:
            total = sum(x[s, 0] * J[s, 1] - x[s, 1] * J[s, 0] + J[s, 2] for s in range(2))
        else:
            total = sum(np.cross(x[s], J[s, :3]) + J[s, 3:] for s in range(2))
        assert np.allclose(total, 0.0, atol=1e-12)


SYMMETRIC = {
    (3, "ball"), (3, "hinge"), (3, "slider"), (3, "cylindrical"), (3, "fixed"), (3, "planar"),
    (3, "screw"), (2, "pin"), (2, "slider"), (2, "weld"),
}  # fmt: skip


@pytest.mark.parametrize(("dim", "name"), sorted(SYMMETRIC))
@some
@given(seed=seeds)
def test_swapping_the_bodies_holds_the_same_motions(dim, name, seed):
    """The rows span the same space; a coordinate along the axis changes its sign."""
    rng = np.random.default_rng(seed)
    world = jointed_world(dim, name, rng)
    entry = next(iter(world._joints.values()))
    world.add_joint(replace(entry.joint, a="b", b="a"))
    model, state = world.build()
    rows = joint_rows(model.joints, state)
    J = dense(rows.body, rows.J, 3)
    assert np.linalg.matrix_rank(J, tol=1e-9) == counts(dim, name)[0]
    q = free_coordinates(model.joints, state)
    G = dense(model.joints.coordinate_body, q.J, 3)
    n = counts(dim, name)[1]
    hold = np.eye(G.shape[1]) - np.linalg.pinv(J) @ J  # motions that the joint allows
    if name == "planar":  # x and y change with the frame; the turn does not
        G, n = G[[2, 5]], 1
    assert np.allclose((G[:n] + G[n:]) @ hold, 0.0, atol=1e-9)


def test_rows_turned_half_round_are_finite_and_not_zero():
    """The errors of an axis turned over and of a body turned round: no false root, no nan."""
    world = World()
    world.add_body(name="a", mass=1, inertia=(1, 1, 1))
    world.add_joint(Hinge("a", anchor=(0, 0, 0), axis=(0, 0, 1)))
    world.add_joint(Fixed("a", anchor=(0, 0, 0)))
    model, state = world.build()
    for axis in np.eye(3):
        state.orientation[0] = (0, *axis)
        rows = joint_rows(model.joints, state)
        assert np.isfinite(rows.J).all()
        if axis[2] == 0:
            assert np.isclose(np.linalg.norm(rows.error[3:5]), 2.0)
        assert np.isclose(np.linalg.norm(rows.error[8:]), 2.0)
