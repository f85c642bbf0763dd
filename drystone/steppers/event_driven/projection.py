"""Closed contacts and joints kept closed: the least motion, in the metric of the mass.

Accelerations alone let C and C' drift by the integrator's error. After every accepted step
positions go back to C = 0 and velocities to C' = 0 (and sticking contacts to zero slip); the
correction is of the size of the error, so a one-step method keeps its order.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgelsy

from drystone.constraints.joints.assembly import moved
from drystone.dynamics import bodies
from drystone.errors import SimulationError
from drystone.kernels.event_forces import add_rows, equations, responses
from drystone.kernels.islands import label_contacts
from drystone.model import State
from drystone.steppers.event_driven.active_contacts import Closing
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import INDEX_SET_RANK, Mode
from drystone.types import Bools, Floats, Ints

CLOSING_STEPS = 5  # of Newton's method, from a state that is open by the step's error
TORN = 1e-3  # of the bodies' size (or of a radian): joints that are open by more cannot close
CLOSED_GAP = 1e-13  # of the bodies' size: gaps and openings that need no correction
STOPPED_SPEED = 1e-12  # [m/s] of a body's size of 1 m: the same of speeds
KEPT_DEPTH = 1e3  # times touch: contacts that are deeper, as bodies may start, keep their depth


def put_to_rest(mode: Mode, state: State, touch: float, slow: float) -> Floats:
    """Close what presses as a phase begins and stop it, in place; the gaps that closed contacts
    keep (nc,). touch [m], slow [m/s]: as in the options."""
    gap = mode.contact_set.closing(state).gap
    deep = np.abs(gap) > KEPT_DEPTH * touch
    targets: Floats = np.where(deep & np.isfinite(gap), gap, 0.0)
    close(mode, state, targets)
    stop(mode, state, targets, start=True)
    mode.straighten(state, slow)
    mode.rest(state)
    return targets


def close(mode: Mode, state: State, targets: Floats) -> Floats:
    """Move bodies, in place, until closed contacts and joints are; returns what is left of the
    joints' errors (nj,) [m or rad].

    targets (nc,): gaps that closed contacts are to have.
    """
    mechanics, contact_set = mode.contact_set.mechanics, mode.contact_set
    nd = mode.closed.size * mechanics.model.dim
    best, fastest = np.inf, mode.leaving_speed(state)
    for _ in range(CLOSING_STEPS):
        rows = contact_set.closing(state)
        pressed = np.flatnonzero(mode.closed & followed(mode, rows, targets, fastest))
        C = np.concatenate([rows.gap[pressed] - targets[pressed], rows.error])
        worst = float(np.abs(C).max(initial=0.0))
        if worst <= CLOSED_GAP * mechanics.size or worst > 0.5 * best:
            break
        best = worst
        chosen = np.concatenate([mechanics.model.dim * pressed, np.arange(nd, rows.body.shape[0])])
        step = _least(mechanics, state, rows, chosen, -C)
        own = np.flatnonzero(mechanics.model.inverse_mass > 0)
        state.position[own], state.orientation[own] = moved(
            state.position[own], state.orientation[own], step[own]
        )
    return rows.error


def followed(mode: Mode, rows: Closing, targets: Floats, fastest: float) -> Bools:
    """(nc,) contacts that are found where their phase has them, and part or approach no faster
    than `fastest` [m/s]; others have met other features, with another gap or another normal, or
    are extrapolated from where they were last, and their motion has no meaning."""
    there = np.abs(rows.gap - targets) <= mode.contact_set.mechanics.jump
    d, nc = mode.contact_set.mechanics.model.dim, rows.gap.size
    return np.asarray(there & ~rows.lost & (np.abs(rows.u[: nc * d : d]) <= fastest))


def stop(mode: Mode, state: State, targets: Floats, start: bool = False) -> float:
    """Take what is left of C' and of the slip of sticking contacts out of the velocities, in
    place; returns the greatest speed that was there [m/s].

    targets: as of ``close``. start: of a phase, where contacts that begin to slide have no slip
    yet, and those that touch without force, at rest and not accelerated, come to rest too.
    """
    mechanics, d = mode.contact_set.mechanics, mode.contact_set.mechanics.model.dim
    rows = mode.contact_set.closing(state)
    rests = mode.closed | mode.idle if start else mode.closed
    still = mode.sticks | mode.fresh if start else mode.sticks
    real = np.isfinite(rows.gap)
    mu = np.append(
        mode.contact_set.mu[:, 0], ~real[mode.contact_set.mu.shape[0] :]
    )  # loads have friction 1
    wanted = np.repeat((still & (mu > 0))[:, None], d, axis=1)
    wanted[:, 0] = rests & real
    wanted[real & ~followed(mode, rows, targets, mode.leaving_speed(state))] = False
    bilateral = np.arange(wanted.size, rows.u.size)
    chosen = np.concatenate([np.flatnonzero(wanted), bilateral])
    speed = rows.u[chosen]
    worst = float(np.abs(speed).max(initial=0.0))
    if worst > STOPPED_SPEED * max(mechanics.size, 1.0):
        state.velocity += _least(mechanics, state, rows, chosen, -speed)
    return worst


def check_closed(mechanics: Mechanics, error: Floats, state: State) -> None:
    """Joints that cannot be closed end the run."""
    joints = mechanics.model.joints
    worst = float(np.abs(error).max(initial=0.0))
    if joints is None or worst <= TORN * min(1.0, mechanics.size):
        return
    row = int(np.abs(error).argmax())
    place = joints.row_joint[row] if row < joints.nr else int(joints.body.shape[0]) - 1
    names = mechanics.model.names
    a, b = ("the world" if i < 0 else repr(names[i]) for i in joints.body[place])
    raise SimulationError(
        f"joint {joints.names[place]!r} is open by {worst:.3g} m or rad between {a} and {b} at "
        f"t = {state.time:.6g} s: no motion closes it, prescribed ones drive them apart"
    )


def _least(
    mechanics: Mechanics, state: State, rows: Closing, chosen: Ints, wanted: Floats
) -> Floats:
    """(nb, dof) least motion by which the chosen rows move as wanted, island by island."""
    model = mechanics.model
    nb, dof, k = model.nb, model.dof, 1 if model.dim == 2 else 3
    body, J = rows.body[chosen], rows.J[chosen]
    P = np.empty_like(J)
    inverse = bodies.inverse_inertia(model, state).reshape(nb, k, k)
    responses(body, J, model.inverse_mass, inverse, P)
    moves = np.append(model.inverse_mass > 0, False)
    label = np.empty(chosen.size, np.int64)
    count = label_contacts(np.where(body < 0, nb, body), moves, np.empty(nb + 1, np.int64), label)
    out = np.zeros((nb, dof))
    for island in range(count):
        mine = np.flatnonzero(label == island)
        if wanted[mine].any():
            add_rows(mine, _solved(body, J, P, moves, mine, wanted[mine]), body, P, out)
    return out


def _solved(body: Ints, J: Floats, P: Floats, moves: Bools, mine: Ints, goal: Floats) -> Floats:
    """Multipliers of the rows `mine` that move them by a goal."""
    n = mine.size
    W, _ = np.empty((n, n)), np.empty(n)
    none = np.zeros(body.shape[0])
    equations(mine, mine, body, moves, J, P, none, none, np.zeros((moves.size, J.shape[2])), W, _)
    unit = np.sqrt(np.maximum(np.abs(W.diagonal()), 1e-300))
    flat = W.diagonal() <= 0.0  # rows without bodies: nothing to move
    scaled = W / unit[:, None] / unit
    scaled[flat], scaled[:, flat] = 0.0, 0.0
    rhs = np.where(flat, 0.0, goal / unit)
    pivots = np.zeros(n, np.int32)
    _, y, _, _, info = dgelsy(scaled, rhs, pivots, INDEX_SET_RANK, 4 * n + 64)
    if info != 0:
        raise SimulationError("the projection onto closed contacts and joints failed")
    return np.asarray(y[:n, 0] if y.ndim == 2 else y[:n]) / unit
