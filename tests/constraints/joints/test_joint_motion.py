"""Motion in maximal coordinates by a dense reference step, against minimal coordinates.

The step of Hart and Anitescu by dense algebra: M (v' - v) = h f + J' r, C / h + J v' = 0. It
stands for any
stepper: what is tested is that rows and errors hold bodies together as they should.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from drystone.constraints.joints import Ball, Hinge, Pin
from drystone.constraints.joints.rows import joint_rows
from drystone.dynamics.frames import rotation
from drystone.world import World
from tests.constraints.joints.joint_worlds import dense, moved

G = 9.81


def step(model, state, h):
    dof, nb = model.dof, model.nb
    M, force = np.zeros((nb * dof, nb * dof)), np.zeros((nb, dof))
    for b in range(nb):
        at = slice(b * dof, (b + 1) * dof)
        block = np.zeros((dof, dof))
        block[: model.dim, : model.dim] = model.mass[b] * np.eye(model.dim)
        if model.dim == 2:
            block[2, 2] = model.inertia[b]
        else:
            R = rotation(state.orientation[b])
            inertia = R @ model.inertia[b] @ R.T
            w = state.velocity[b, 3:]
            force[b, 3:] = -np.cross(w, inertia @ w)
            block[3:, 3:] = inertia
        M[at, at] = block
        force[b, : model.dim] = model.mass[b] * model.gravity
    rows = joint_rows(model.joints, state)
    J = dense(rows.body, rows.J, nb)
    free = state.velocity.ravel() + h * np.linalg.solve(M, force.ravel())
    P = np.linalg.solve(M, J.T)
    r = np.linalg.lstsq(J @ P, -(J @ free + rows.error / h), rcond=None)[0]
    out = state.copy()
    out.velocity = (free + P @ r).reshape(nb, dof)
    return moved(out, h * out.velocity), np.abs(rows.error).max()


def run(world, h, duration):
    model, state = world.build()
    worst = 0.0
    for _ in range(round(duration / h)):
        state, error = step(model, state, h)
        worst = max(worst, error)
    return state, worst


def double_pendulum(t, y, length=1.0):
    """Two uniform rods of mass 1 and the given length; angles from the downward vertical."""
    a, b, wa, wb = y
    c, s = np.cos(a - b), np.sin(a - b)
    M = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]]) * length**2
    load = np.array(
        [
            -0.5 * length**2 * s * wb**2 - 1.5 * G * length * np.sin(a),
            0.5 * length**2 * s * wa**2 - 0.5 * G * length * np.sin(b),
        ]
    )
    return np.concatenate([[wa, wb], np.linalg.solve(M, load)])


def test_a_double_pendulum_converges_to_the_minimal_coordinates():
    a, b = 1.2, 0.4
    exact = solve_ivp(double_pendulum, (0, 0.8), (a, b, 0, 0), rtol=1e-10, atol=1e-12).y[:, -1]

    def world():
        out, top, above = World(planar=True), np.zeros(2), "world"
        for name, angle in (("upper", a), ("lower", b)):
            along = np.array([np.sin(angle), -np.cos(angle)])
            out.add_body(
                name=name, mass=1, inertia=1 / 12, position=top + along / 2, orientation=angle
            )
            out.add_joint(Pin(name, above, anchor=top))
            top, above = top + along, name
        return out

    errors = []
    for h in (0.01, 0.005, 0.0025):
        state, worst = run(world(), h, 0.8)
        errors.append(np.abs(state.orientation - exact[:2]).max())
        assert worst < 20 * h**2, "infeasibility is of second order (Hart and Anitescu 2003)"
    assert errors[-1] < 0.01
    assert 1.6 < errors[0] / errors[1] < 2.4, "first order"
    assert 1.6 < errors[1] / errors[2] < 2.4


@pytest.mark.parametrize("kind", ["hinge", "balls"])
def test_a_swinging_plate_in_space_is_a_pendulum(kind):
    """About a skew axis: period and motion depend on gravity across the axis only. Two balls on
    the axis are a hinge with one row too many."""
    axis = np.array([1.0, 0.0, 0.4]) / np.hypot(1.0, 0.4)
    down = np.array([0, 0, -1.0]) - (-axis[2]) * axis
    down /= np.linalg.norm(down)
    side = np.cross(axis, down)
    arm = 0.7 * (np.cos(1.0) * down + np.sin(1.0) * side)
    world = World()
    world.add_body(name="plate", mass=2, inertia=(0.3, 0.5, 0.6), position=arm)
    if kind == "hinge":
        world.add_joint(Hinge("plate", anchor=(0, 0, 0), axis=axis))
    else:
        for place in (-axis, 2 * axis):
            world.add_joint(Ball("plate", anchor=place))
    about = axis @ np.diag((0.3, 0.5, 0.6)) @ axis + 2 * 0.7**2
    pull = 2 * G * np.sqrt(1 - axis[2] ** 2) * 0.7 / about
    swing = solve_ivp(lambda t, y: (y[1], -pull * np.sin(y[0])), (0, 1.0), (1.0, 0), rtol=1e-10)
    errors = []
    for h in (0.005, 0.0025):
        state, worst = run(world, h, 1.0)
        x = state.position[0]
        angle = np.arctan2(x @ side, x @ down)
        errors.append(abs(angle - swing.y[0, -1]))
        assert worst < 10 * h**2
        assert abs(x @ axis) < 10 * h**2
    assert errors[1] < 0.01
    assert 1.6 < errors[0] / errors[1] < 2.4
