"""The mass matrix at the end of the step (``mass="end"``), by fixed point: the step is solved with
M(q'), which changes q', until velocities stay."""

from drystone.kernels import rigid
from drystone.kernels._jit import kernel, stage
from drystone.kernels.ledger import kinetic
from drystone.kernels.step import codes
from drystone.kernels.step.begin import kick, turn_inertia
from drystone.kernels.step.blocks import respond
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.packed import pack

OUTER = 25  # iterations, until contacts break loose
SETTLED = 1e-11  # of the greatest velocity, that an iteration may change
LEAST_SCALE = 1e-3  # [m/s], [rad/s] velocities below it count as this


@kernel
def packed(s, scan):
    """AGAIN from the solve with M at the end of the step, until velocities stay."""
    if settled(s):
        return codes.GO_ON
    turn(s, scan)
    pack(s)
    return codes.AGAIN


@kernel
def stored(s, scan):
    """The same where rows are stored."""
    if settled(s):
        return codes.GO_ON
    turn(s, scan)
    respond(s)
    return codes.AGAIN


@stage
def settled(s):
    change, most = 0.0, LEAST_SCALE
    for b in range(s.v.shape[0]):
        for a in range(6):
            change = max(change, abs(s.v[b, a] - s.v_before[b, a]))
            most = max(most, abs(s.v_before[b, a]))
    s.outer += 1
    if s.outer == 1:
        return False
    if change > SETTLED * most and s.outer < OUTER * (1 + s.slip_rounds):
        return False
    _judge(s, most)
    return True


@stage
def _judge(s, most):
    """The step is not solved if velocities still change by more than its solves promise: the
    tolerance, in large islands `sweep_tol`; of the greatest velocity."""
    s.unsettled = 0.0
    spares = s.warm_start != 0 and not s.only_sweeps
    for b in range(s.v.shape[0]):
        change = 0.0
        for a in range(6):
            change = max(change, abs(s.v[b, a] - s.v_before[b, a]))
        if change <= s.tol * most:
            continue
        k = _island(s, b)
        large = k >= 0 and s.start[k + 1] - s.start[k] > s.policy.small
        if large and spares and change <= s.sweep_tol * most:
            continue
        s.unsettled = max(s.unsettled, change / most)
        if k >= 0:
            s.failed = k


@stage
def _island(s, b):
    """The island of body b, or -1."""
    for k in range(s.islands):
        for i in range(s.start[k], s.start[k + 1]):
            if s.body[i, 0] == b or s.body[i, 1] == b:
                return k
    return -1


@kernel
def turn(s, scan):
    """Inertia where the step leads to, and the kick with it."""
    copy_all(s.v, s.v_before)
    copy_all(s.v, s.load)
    copy_all(s.position, s.end_position)
    copy_all(s.orientation, s.end_orientation)
    rigid.drift_spatial(
        s.own_inertia, s.own_inverse, False, s.load, s.h, s.end_position, s.end_orientation
    )
    turn_inertia(s, s.end_orientation)
    for b in range(s.asleep.size):
        if s.asleep[b]:
            s.inverse[b] = 0.0
    kick(s, scan)
    s.next_stage = s.solve_stage


@kernel
def book(s, scan):
    """Kinetic energy that velocities have because M is another: an error of the scheme."""
    rigid.to_world(s.own_inertia, s.was_turned, s.end_inertia)
    s.begun.integration += kinetic(s.mass, s.inertia, s.v0)
    s.begun.integration -= kinetic(s.mass, s.end_inertia, s.v0)
    return codes.GO_ON
