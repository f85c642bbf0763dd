"""Worlds with one joint of each kind at random poses, and finite differences of their functions."""

import numpy as np

from drystone.constraints.joints import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Hinge,
    Motor,
    Pin,
    PlanarJoint,
    PointOnLine,
    PointOnPlane,
    Screw,
    Slider,
    Slot,
    Universal,
    Weld,
    Wheel,
)
from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.dynamics.frames import exponential, product
from drystone.model import State
from drystone.world import World

SPEED = Motor(speed=1.0)

# name: (joint of anchor, axis and a direction across it; rows; free coordinates it names)
SPATIAL = {
    "ball": (lambda p, u, v: Ball("a", "b", anchor=p), 3, 0),
    "ball-axis": (lambda p, u, v: Ball("a", "b", anchor=p, axis=u, friction=1.0), 3, 5),
    "hinge": (lambda p, u, v: Hinge("a", "b", anchor=p, axis=u), 5, 1),
    "slider": (lambda p, u, v: Slider("a", "b", anchor=p, axis=u), 5, 1),
    "cylindrical": (lambda p, u, v: Cylindrical("a", "b", anchor=p, axis=u), 4, 2),
    "universal": (lambda p, u, v: Universal("a", "b", anchor=p, axis=u, second_axis=v), 4, 2),
    "fixed": (lambda p, u, v: Fixed("a", "b", anchor=p), 6, 0),
    "distance": (lambda p, u, v: Distance("a", "b", anchor_a=p, anchor_b=u), 1, 0),
    "rope": (lambda p, u, v: Distance("a", "b", anchor_a=p, anchor_b=u, limits=(0, 9)), 0, 1),
    "point-on-line": (lambda p, u, v: PointOnLine("a", "b", anchor=p, axis=u), 2, 1),
    "point-on-plane": (lambda p, u, v: PointOnPlane("a", "b", anchor=p, axis=u), 1, 2),
    "planar": (lambda p, u, v: PlanarJoint("a", "b", anchor=p, axis=u), 3, 3),
    "screw": (lambda p, u, v: Screw("a", "b", anchor=p, axis=u, pitch=0.3), 5, 2),
    "gear": (lambda p, u, v: Gear("a", "b", axis=u, axis_of_b=v, ratio=-1.7), 1, 2),
    "wheel": (lambda p, u, v: Wheel("a", "b", anchor=p, axis=u, axle=v), 4, 2),
    "wheel-steered": (
        lambda p, u, v: Wheel("a", "b", anchor=p, axis=u, axle=v, motor={"steer": SPEED}),
        3,
        3,
    ),
}
PLANAR = {
    "pin": (lambda p, u, v: Pin("a", "b", anchor=p), 2, 1),
    "slot": (lambda p, u, v: Slot("a", "b", anchor=p, axis=u), 1, 2),
    "weld": (lambda p, u, v: Weld("a", "b", anchor=p), 3, 0),
    "distance": (lambda p, u, v: Distance("a", "b", anchor_a=p, anchor_b=u), 1, 0),
    "wheel": (lambda p, u, v: Wheel("a", "b", anchor=p, axis=u), 1, 2),
    "slider": (lambda p, u, v: Slider("a", "b", anchor=p, axis=u), 2, 1),
    "gear": (lambda p, u, v: Gear("a", "b", ratio=-1.7), 1, 2),
}
CASES = [(3, name) for name in SPATIAL] + [(2, name) for name in PLANAR]


def unit(rng, dim):
    v = rng.normal(size=dim)
    return v / np.linalg.norm(v)


def add_random_body(world, rng, name):
    """With its centre of mass away from its own origin."""
    dim = world.dim
    root = rng.normal(size=(dim, dim))
    inertia = 0.7 if dim == 2 else root @ root.T + 3.0 * np.eye(3) * np.trace(root @ root.T)
    world.add_body(
        name=name,
        mass=rng.uniform(0.5, 2),
        inertia=inertia,
        centre_of_mass=0.3 * rng.normal(size=dim),
        position=rng.normal(size=dim),
        orientation=rng.uniform(-9, 9) if dim == 2 else unit(rng, 4),
    )


def jointed_world(dim, name, rng):
    """World with bodies a, b (and one before them) and the joint; it fits."""
    world = World(planar=dim == 2)
    for body in ("other", "a", "b"):
        add_random_body(world, rng, body)
    u = unit(rng, dim)
    v = rng.normal(size=dim)
    v -= (v @ u) * u
    make = (SPATIAL if dim == 3 else PLANAR)[name][0]
    world.add_joint(make(rng.normal(size=dim), u, v))
    return world


def counts(dim, name):
    return (SPATIAL if dim == 3 else PLANAR)[name][1:]


def moved(state, dq):
    """The state after a small motion dq (nb, dof), turns by the exponential update."""
    out = state.copy()
    dim = state.position.shape[1]
    out.position += dq[:, :dim]
    if dim == 2:
        out.orientation += dq[:, 2]
    else:
        out.orientation = product(exponential(dq[:, 3:]), state.orientation)
    return out


def disturbed(state, rng, size):
    nb, dim = state.position.shape
    return moved(state, size * rng.normal(size=(nb, 3 * (dim - 1))))


def transformed(state, shift, turn):
    """The same bodies after a rigid motion of everything: x -> R x + shift."""
    dim = state.position.shape[1]
    if dim == 2:
        c, s = np.cos(turn), np.sin(turn)
        R = np.array([[c, -s], [s, c]])
        return State(0.0, state.position @ R.T + shift, state.orientation + turn, state.velocity)
    q = np.broadcast_to(turn, (state.position.shape[0], 4))
    x = np.array([rotate(turn, p) for p in state.position]) + shift
    return State(0.0, x, product(q, state.orientation), state.velocity)


def rotate(q, v):
    pure = np.concatenate([[0.0], v])
    return product(product(q, pure), q * np.array([1.0, -1, -1, -1]))[1:]


def dense(body, J, nb):
    """(n, nb * dof) from J (n, 2, dof)."""
    n, _, dof = J.shape
    out = np.zeros((n, nb, dof))
    for i in range(n):
        for s in range(2):
            if body[i, s] >= 0:
                out[i, body[i, s]] += J[i, s]
    return out.reshape(n, nb * dof)


def functions(joints, state, last):
    """All rows' errors and all coordinates' values."""
    q = free_coordinates(joints, state, last)
    return np.concatenate([joint_rows(joints, state, q).error, q.value])


def differences(joints, state, step=1e-6):
    """Central differences of all functions by every degree of freedom, (nr + nq, nb * dof)."""
    nb, dim = state.position.shape
    dof = 3 * (dim - 1)
    last = free_coordinates(joints, state).value
    out = np.empty((joints.nr + joints.nq, nb * dof))
    for i in range(nb * dof):
        dq = np.zeros(nb * dof)
        dq[i] = step
        plus, minus = (moved(state, sign * dq.reshape(nb, dof)) for sign in (1, -1))
        out[:, i] = (functions(joints, plus, last) - functions(joints, minus, last)) / (2 * step)
    return out
