"""What is asked of all bodies at once: poses of geoms, relative velocities, loads, overlap."""

from __future__ import annotations

from math import isfinite

import numpy as np

from drystone.dynamics.frames import spin_velocity
from drystone.errors import ModelError, SimulationError
from drystone.kernels import rigid
from drystone.kernels.active import pair_materials
from drystone.kernels.poses import geom_poses_planar, geom_poses_spatial
from drystone.model import Contacts, Model, State
from drystone.types import Bools, Floats, Ints

Pair = tuple[int, int]  # uids of two bodies
OVERLAP = 1e-3  # of the smaller body's size, that bodies may start inside each other


def radii(model: Model) -> Floats:
    """(nb,) of the ball about the centre of mass that holds the body; inf if unbounded."""
    geoms, out = model.geoms, np.zeros(model.nb)
    reach = np.sqrt((geoms.offset**2).sum(axis=1)) + geoms.radius
    np.maximum.at(out, geoms.body, reach)
    return out


def geom_poses(model: Model, state: State) -> tuple[Floats, Floats]:
    """x (ng, dim), R (ng, dim, dim) of all geoms."""
    geoms, dim = model.geoms, model.dim
    x, R = np.empty((len(geoms), dim)), np.empty((len(geoms), dim, dim))
    fill = geom_poses_planar if dim == 2 else geom_poses_spatial
    fill(geoms.body, geoms.offset, geoms.turn, state.position, state.orientation, x, R)
    return x, R


def of_moving(inverse_inertia: Floats, moves: Bools) -> Floats:
    """The same with zeros for bodies that do not move."""
    shape = (-1,) + (1,) * (inverse_inertia.ndim - 1)
    return np.where(moves.reshape(shape), inverse_inertia, 0.0)


def relative_velocity(velocity: Floats, pair: Ints, arms: list[Floats]) -> Floats:
    """(nc, dim) velocity of contact points on A against B: v_a + w_a x r_a - v_b - w_b x r_b."""
    dim = arms[0].shape[1]
    of_a, of_b = (
        velocity[pair[:, s], :dim] + spin_velocity(velocity[pair[:, s], dim:], arms[s])
        for s in (0, 1)
    )
    return np.asarray(of_a - of_b)


def relative_speed(velocity: Floats, pair: Ints, arms: list[Floats], normal: Floats) -> Floats:
    """(nc,) normal velocity of contact points."""
    return np.einsum("ij,ij->i", normal, relative_velocity(velocity, pair, arms))


def check_finite(model: Model, state: State, force: Floats | None = None, h: float = 0.0) -> None:
    """Nothing that is not a number leaves a step, and nothing that is about to become one.

    The error names the body, the time, and the forces (nb, dof) that the step of length h had.
    """
    sums = state.position.sum() + state.orientation.sum()
    if np.abs(state.velocity).max(initial=0.0) <= rigid.RUNAWAY and np.isfinite(sums):
        return
    parts = (state.velocity, state.position, state.orientation.reshape(model.nb, -1))
    wrong = ~np.logical_and.reduce([np.isfinite(part).all(axis=1) for part in parts])
    wrong |= ~(np.abs(state.velocity).max(axis=1) <= rigid.RUNAWAY)
    if not wrong.any():
        return
    i = int(np.argmax(wrong))
    why = ""
    if force is not None and force[i].any():
        why = (
            f"; the forces on it were {force[i]}: stiff springs and dampers and callbacks need a "
            f"smaller dt than {h:.6g} s"
        )
    raise SimulationError(
        f"body {model.names[i]!r} diverged at t = {state.time:.6g} s: velocity "
        f"{state.velocity[i]}, position {state.position[i]}, orientation "
        f"{state.orientation[i]}{why}"
    )


def loads(model: Model, state: State) -> Floats:
    """(nb, dof) sum of the model's forces at this state, without gravity."""
    force = np.zeros((model.nb, model.dof))
    for item in model.forces:
        item.add(model, state, force)
    if model.forces:
        check_loads(model, state, force)
    return force


def inverse_inertia(model: Model, state: State) -> Floats:
    """(nb,), or (nb, 3, 3) in world axes."""
    if model.dim == 2:
        return model.inverse_inertia
    out = np.empty_like(model.inertia)
    rigid.to_world(model.inverse_inertia, state.orientation, out)
    return out


def accelerations(model: Model, state: State, force: Floats, inverse: Floats) -> Floats:
    """(nb, dof) by forces (nb, dof), gravity and the gyroscopic torque; inverse: as of
    ``inverse_inertia``."""
    out, still = np.zeros_like(force), np.zeros_like(force)
    if model.dim == 2:
        rigid.kick_planar(model.inverse_mass, inverse, model.gravity, force, still, 1.0, out)
        return out
    inertia, load = np.empty_like(model.inertia), force.copy()
    rigid.to_world(model.inertia, state.orientation, inertia)
    rigid.gyroscopic(inertia, state.velocity, load)
    rigid.kick_spatial(model.inverse_mass, inverse, model.gravity, load, still, 1.0, out)
    return out


def materials(model: Model, body: Ints) -> tuple[Floats, Floats]:
    """Friction (nc, 2) static and dynamic, restitution (nc, 2) normal and tangential, of contacts
    between bodies (nc, 2)."""
    mu, eps = np.empty((2, body.shape[0], 2))
    rules = model.rules
    pair_materials(
        body, model.friction, model.restitution, rules.key, rules.friction, rules.restitution,
        mu, eps,
    )  # fmt: skip
    return mu, eps


def check_loads(model: Model, state: State, force: Floats) -> None:
    """Forces (nb, dof) that are no numbers are an error that names the body."""
    if isfinite(force.sum()):
        return
    wrong = ~np.isfinite(force).all(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise SimulationError(
            f"the forces on body {model.names[i]!r} at t = {state.time:.6g} s are {force[i]}"
        )


def deepest(model: Model, sizes: Floats, found: Contacts) -> tuple[float, tuple[int, int]]:
    """Greatest depth of contacts as part of the smaller body's size (nb,), and both bodies;
    (-1, -1) if nothing overlaps."""
    if not len(found) or not (found.gap < 0.0).any():
        return 0.0, (-1, -1)
    a, b = (model.geoms.body[g] for g in (found.geom_a, found.geom_b))
    part = np.maximum(-found.gap, 0.0) / np.minimum(sizes[a], sizes[b])
    i = int(np.argmax(part))
    return float(part[i]), (int(a[i]), int(b[i]))


def overlapping(model: Model, found: Contacts) -> dict[Pair, float]:
    """Greatest depth [m] of every pair of bodies that overlap, by their uids."""
    out: dict[Pair, float] = {}
    for pair, gap in zip(_pairs(model, found), found.gap.tolist(), strict=True):
        if gap < 0.0:
            out[pair] = max(out.get(pair, 0.0), -gap)
    return out


def _pairs(model: Model, found: Contacts) -> list[Pair]:
    """Uids of the bodies of contacts, the lesser first."""
    uid = model.uid[model.geoms.body]
    both = np.sort(np.stack([uid[found.geom_a], uid[found.geom_b]], axis=1), axis=1)
    return [(a, b) for a, b in both.tolist()]


def check_apart(
    model: Model,
    sizes: Floats,
    found: Contacts,
    method: str,
    known: dict[Pair, float] | None = None,
    when: str = "at the start",
) -> None:
    """Bodies that lie inside each other are refused, by name and depth.

    sizes (nb,): of bodies; found: all contacts; method: what the user called; known: depths [m]
    that pairs of bodies (``overlapping``) had before, which may stay.
    """
    body = model.geoms.body
    size = np.minimum(sizes[body[found.geom_a]], sizes[body[found.geom_b]])
    least = OVERLAP * np.where(np.isfinite(size), size, 1.0)
    if known:
        least = least + [known.get(pair, 0.0) for pair in _pairs(model, found)]
    deep = -found.gap > least
    if deep.any():
        i = int(np.argmax(np.where(deep, -found.gap, 0.0)))
        a, b = (model.names[body[g]] for g in (found.geom_a[i], found.geom_b[i]))
        raise ModelError(
            f"bodies {a!r} and {b!r} overlap by {-found.gap[i]:.4g} m {when}: move them "
            f'apart, or accept it with {method}(overlap="allow") (in a file: method: '
            "{overlap: allow})"
        )
