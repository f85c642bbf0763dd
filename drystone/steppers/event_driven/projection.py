"""Closed contacts and joints kept closed: the least motion, in the metric of the mass.

Accelerations alone let C and C' drift by the integrator's error. After every accepted step
positions go back to C = 0 and velocities to C' = 0 (and sticking contacts to zero slip); the
correction is of the size of the error, so a one-step method keeps its order.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgelsy

from drystone.constraints.joints.assembly import moved
from drystone.errors import SimulationError
from drystone.model import State
from drystone.steppers.event_driven.forces.system import System, islands
from drystone.steppers.event_driven.mode import Mode
from drystone.steppers.event_driven.scene import Scene
from drystone.steppers.event_driven.touch import Rows
from drystone.types import Floats, Ints

ROUNDS = 5
TORN = 1e-3  # of the bodies' size (or of a radian): joints that are open by more cannot close
EXACT = 1e-13  # of the bodies' size: gaps and openings that need no correction
STILL = 1e-12  # [m/s] of a body's size of 1 m: the same of speeds


def close(mode: Mode, state: State, targets: Floats) -> Floats:
    """Move bodies, in place, until closed contacts and joints are; returns what is left of the
    joints' errors (nj,) [m or rad].

    targets (nc,): gaps that closed contacts are to have.
    """
    scene = mode.held.scene
    best = np.inf
    for _ in range(ROUNDS):
        rows = mode.held.rows(state, mode.sliding, mode.tolerances)
        pressed = np.flatnonzero(mode.closed & ~rows.loaded)
        lost = np.append(rows.lost, np.zeros(rows.gap.size - rows.nr, bool))
        pressed = pressed[~lost[pressed]]
        C = np.concatenate([rows.gap[pressed] - targets[pressed], rows.jointed.ties.error])
        worst = float(np.abs(C).max(initial=0.0))
        if worst <= EXACT * scene.size or worst > 0.5 * best:
            break
        best = worst
        step = _least(rows, pressed, np.empty(0, np.int64), -C)
        own = np.flatnonzero(scene.model.inverse_mass > 0)
        state.position[own], state.orientation[own] = moved(
            state.position[own], state.orientation[own], step[own]
        )
    return rows.jointed.ties.error


def stop(mode: Mode, state: State, start: bool = False) -> float:
    """Take what is left of C' and of the slip of sticking contacts out of the velocities, in
    place; returns the greatest speed that was there [m/s].

    start: of a phase, where contacts that begin to slide have no slip yet, and those that touch
    without force, at rest and not accelerated, come to rest too.
    """
    scene, model = mode.held.scene, mode.held.scene.model
    rows = mode.held.rows(state, mode.sliding, mode.tolerances)
    d = model.dim
    rests = mode.closed | mode.idle if start else mode.closed
    pressed = np.flatnonzero(rests & ~rows.loaded)
    still = mode.sticks | mode.fresh if start else mode.sticks
    rough = np.flatnonzero(still & (rows.state.mu[:, 0] > 0))
    u = rows.state.u
    speed = np.concatenate([u[pressed, 0], u[rough, 1:d].ravel(), rows.state.joint_u])
    worst = float(np.abs(speed).max(initial=0.0))
    if worst > STILL * max(scene.size, 1.0):
        state.velocity += _least(rows, pressed, rough, -speed)
    return worst


def check_closed(scene: Scene, error: Floats, state: State) -> None:
    """Joints that cannot be closed end the run."""
    joints = scene.model.joints
    worst = float(np.abs(error).max(initial=0.0))
    if joints is None or worst <= TORN * min(1.0, scene.size):
        return
    row = int(np.abs(error).argmax())
    place = joints.row_joint[row] if row < joints.nr else int(joints.body.shape[0]) - 1
    names = scene.model.names
    a, b = ("the world" if i < 0 else repr(names[i]) for i in joints.body[place])
    raise SimulationError(
        f"joint {joints.names[place]!r} is open by {worst:.3g} m or rad between {a} and {b} at "
        f"t = {state.time:.6g} s: no motion closes it, prescribed ones drive them apart"
    )


def _least(rows: Rows, pressed: Ints, rough: Ints, wanted: Floats) -> Floats:
    """(nb, dof) least motion whose rows are `wanted`: normals of `pressed`, tangents of `rough`,
    joints; island by island."""
    state = rows.state
    d, nc = state.d, state.nc
    goal, chosen = np.zeros(nc * d + state.nj), np.zeros(nc * d + state.nj, bool)
    tangents = (d * rough[:, None] + np.arange(1, d)).ravel()
    at = np.concatenate([d * pressed, tangents, nc * d + np.arange(state.nj)])
    goal[at], chosen[at] = wanted, True
    active = np.asarray(chosen[: nc * d].reshape(nc, d).any(axis=1))
    out = np.zeros((state.nb, state.dof))
    for system in islands(state, active):
        own = (d * system.contacts[:, None] + np.arange(d)).ravel()
        own = np.concatenate([own, nc * d + system.joints])
        mine = np.flatnonzero(chosen[own])
        if not goal[own[mine]].any():
            continue
        y, P = _solved(system, mine, goal[own[mine]])
        out[system.bodies] += (P.T @ y).reshape(-1, state.dof)
    return out


def _solved(system: System, mine: Ints, goal: Floats) -> tuple[Floats, Floats]:
    """Multipliers of the rows `mine` of a system, and these rows' responses J M^-1."""
    J, P = system.rows[mine], system.P[mine]
    W = J @ P.T
    unit = np.sqrt(np.maximum(np.abs(W.diagonal()), 1e-300))
    flat = W.diagonal() <= 0.0  # rows without bodies: nothing to move
    scaled = W / unit[:, None] / unit
    scaled[flat], scaled[:, flat] = 0.0, 0.0
    rhs = np.where(flat, 0.0, goal / unit)
    n = rhs.size
    pivots = np.zeros(n, np.int32)
    _, y, _, _, info = dgelsy(scaled, rhs, pivots, 1e-11, 4 * n + 64)
    if info != 0:
        raise SimulationError("the projection onto closed contacts and joints failed")
    return np.asarray(y[:n, 0] if y.ndim == 2 else y[:n]) / unit, P
