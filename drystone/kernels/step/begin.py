"""Inertia in world axes, velocities after the step's forces (kick)."""

from drystone.kernels import rigid
from drystone.kernels._jit import stage
from drystone.kernels.ledger import kinetic
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all


@stage
def begin(s, scan):
    """v0, v_free, and the energy at the start."""
    _fresh(s)
    turn_inertia(s, s.orientation)
    s.begun.kinetic = kinetic(s.mass, s.inertia, s.velocity)
    return kick(s, scan)


@stage
def turn_inertia(s, orientation):
    """Inertia of bodies turned like this in world axes; in the plane it is always the same."""
    if orientation.ndim == 2:  # a constant for the compiler
        rigid.to_world(s.own_inertia, orientation, s.inertia)
    turn_inverse(s, orientation)


@stage
def turn_inverse(s, orientation):
    """The inverse of it alone, also of bodies that slept."""
    if orientation.ndim == 2:
        rigid.to_world(s.own_inverse, orientation, s.inverse)
    else:
        copy_all(s.own_inverse, s.inverse)


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
        copy_all(s.orientation, s.was_turned)
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
def kick(s, scan):
    """v_free from v0; in space the gyroscopic torque may be one of the forces."""
    _kick(s, s.inverse)
    for k in range(s.driven.size):  # prescribed bodies are kicked by their motion
        for a in range(s.v_free.shape[1]):
            mean = s.driven_velocity[s.cursor, k, a]
            s.v_free[s.driven[k], a] = mean if s.drifts else s.driven_late[s.cursor, k, a]
    return codes.GO_ON


@stage
def _kick(s, inverse):
    load = s.force
    if inverse.ndim == 3 and s.gyroscopic:  # its first part is a constant for the compiler
        load = s.load
        copy_all(s.force, load)
        rigid.gyroscopic(s.inertia, s.v0, load)
    rigid.kick(s.inverse_mass, inverse, s.gravity, load, s.v0, s.kick, s.v_free)
