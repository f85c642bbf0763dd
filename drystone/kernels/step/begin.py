"""Inertia in world axes, velocities after the step's forces (kick)."""

from drystone.kernels import rigid
from drystone.kernels._jit import kernel, stage
from drystone.kernels.ledger import kinetic_planar, kinetic_spatial
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all


@stage
def begin_planar(s, scan):
    """v0, v_free, and the energy at the start."""
    _fresh(s)
    for i in range(s.orientation.size if s.drifts else 0):
        s.was_turned[i] = s.orientation[i]
    for b in range(s.asleep.size):
        s.inverse[b] = s.own_inverse[b]
    s.begun.kinetic = kinetic_planar(s.mass, s.inertia, s.velocity)
    return kick_planar(s, scan)


@kernel
def begin_spatial(s, scan):
    _fresh(s)
    for i in range(s.orientation.shape[0] if s.drifts else 0):
        for a in range(4):
            s.was_turned[i, a] = s.orientation[i, a]
    rigid.to_world(s.own_inertia, s.orientation, s.inertia)
    rigid.to_world(s.own_inverse, s.orientation, s.inverse)
    s.begun.kinetic = kinetic_spatial(s.mass, s.inertia, s.velocity)
    return kick_spatial(s, scan)


@stage
def _fresh(s):
    for b in range(s.asleep.size):
        s.inverse_mass[b] = s.own_inverse_mass[b]
    for i in range(s.velocity.shape[0]):
        for a in range(s.velocity.shape[1]):
            s.v0[i, a] = s.velocity[i, a]
        s.moves[i] = s.inverse_mass[i] > 0.0
    if s.drifts:  # the second kick of a step is not its start
        copy_all(s.velocity, s.was_moving)
        copy_all(s.position, s.was)
    for k in range(s.begun_row.size):
        s.begun_row[k] = 0.0
    s.begun.gravity_energy = height(s, s.position)
    s.iterations = s.methods = s.collisions = s.status = 0
    s.solves = s.slip_rounds = s.outer = 0
    s.unsettled = 0.0


@stage
def height(s, position):
    """Potential energy of gravity [J] with bodies at these positions."""
    total = 0.0
    for i in range(position.shape[0]):
        for a in range(position.shape[1]):
            total -= s.mass[i] * position[i, a] * s.gravity[a]
    return total


@stage
def kick_planar(s, scan):
    """v_free from v0."""
    rigid.kick_planar(s.inverse_mass, s.inverse, s.gravity, s.force, s.v0, s.kick, s.v_free)
    _drive(s)
    return codes.GO_ON


@stage
def kick_spatial(s, scan):
    """The same in space, where the gyroscopic torque may be one of the forces."""
    load = s.force
    if s.gyroscopic:
        load = s.load
        for i in range(load.shape[0]):
            for a in range(6):
                load[i, a] = s.force[i, a]
        rigid.gyroscopic(s.inertia, s.v0, load)
    rigid.kick_spatial(s.inverse_mass, s.inverse, s.gravity, load, s.v0, s.kick, s.v_free)
    _drive(s)
    return codes.GO_ON


@stage
def _drive(s):
    """Prescribed bodies are kicked by their motion."""
    at = s.cursor
    for k in range(s.driven.size):
        for a in range(s.v_free.shape[1]):
            mean = s.driven_velocity[at, k, a]
            s.v_free[s.driven[k], a] = mean if s.drifts else s.driven_late[at, k, a]
