"""Where a solve leads, and whether its joints are closed there."""

import math

from drystone.kernels import joint_stiffness as kernels
from drystone.kernels import rigid
from drystone.kernels._jit import kernel, stage
from drystone.kernels.rows import add_impulses
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import finite

CLOSING_ROUNDS = 20  # solves of a step until its joints are closed
CLOSED_JOINT = 1e-10  # [m or rad]
OPEN_JOINT = 1e-7  # [m or rad] joints that a shorter step may close better
FAR = 100.0  # times what was open, that a round may move bodies
PATIENCE = 4  # rounds in a row that may leave joints no less than half as open


@kernel
def arrive(s, scan, j):
    """Velocities at_v of the impulses s.r."""
    n = s.rows
    copy_all(j.at_v, j.change)
    if j.goal == codes.MASS:  # velocities of M at the end, which S has no part in
        copy_all(s.v, j.at_v)
        return _set_out(s, j)
    copy_all(j.free, j.at_v)
    add_impulses(s.body[:n], j.P0[:n], s.r[:n], j.at_v)
    if j.is_stiff:
        for b in range(j.push.shape[0]):
            for e in range(j.push.shape[1]):
                j.push[b, e] = 0.0
        add_impulses(s.body[:n], j.J0[:n], s.r[:n], j.push)
        kernels.soft_kick(
            s.position.shape[1], s.mass, j.inertia, j.inverse, j.stiff, s.v0, j.free, j.push,
            j.at_v,
        )  # fmt: skip
    j.moved = 0.0
    for b in range(j.change.shape[0]):
        for e in range(j.change.shape[1]):
            j.moved = max(j.moved, abs(j.at_v[b, e] - j.change[b, e]))
    j.goal = codes.END
    return _set_out(s, j)


@stage
def _set_out(s, j):
    copy_all(j.at_v, j.at_velocity)
    copy_all(s.position, j.at_position)
    copy_all(s.orientation, j.at_orientation)
    return codes.GO_ON


@stage
def drift_planar(s, scan, j):
    """The poses to which at_v leads."""
    if s.drifts:
        rigid.drift_planar(j.at_velocity, s.h, j.at_position, j.at_orientation)
    at = s.cursor
    for k in range(s.driven.size):
        j.at_orientation[s.driven[k]] = s.driven_orientation[at, k]
    return _driven(s, j, at)


@kernel
def drift_spatial(s, scan, j):
    """The same in space."""
    if s.drifts:
        rigid.drift_spatial(
            s.own_inertia, s.own_inverse, s.torque_free != 0, j.at_velocity, s.h,
            j.at_position, j.at_orientation,
        )  # fmt: skip
    at = s.cursor
    for k in range(s.driven.size):
        for a in range(4):
            j.at_orientation[s.driven[k], a] = s.driven_orientation[at, k, a]
    return _driven(s, j, at)


@stage
def _driven(s, j, at):
    for k in range(s.driven.size):
        for a in range(s.position.shape[1]):
            j.at_position[s.driven[k], a] = s.driven_position[at, k, a]
    if not finite(j.at_velocity, j.at_position):
        return codes.CLOSE_JOINTS
    return codes.GO_ON


@stage
def outran(s, j):
    """Whether a body went further than contacts were looked for, by more than may be left of
    depth and than forces move it in a step: a motor started, or a blow reached it."""
    if s.search != codes.BY_TRAVEL or not s.drifts:  # who names a distance gets it
        return False
    dim, dof, h = s.position.shape[1], s.v.shape[1], s.h
    for b in range(s.reach.size):
        if not s.inverse_mass[b] > 0.0:
            continue
        v, w, kick = 0.0, 0.0, 0.0
        for a in range(dim):
            v += j.at_v[b, a] ** 2
            kick += (j.free[b, a] - s.v0[b, a]) ** 2
        for a in range(dim, dof):
            w += j.at_v[b, a] ** 2
        travel = h * (math.sqrt(v) + math.sqrt(w) * s.size[b])
        if travel > s.reach[b] + s.total.max_depth * s.size[b] + h * math.sqrt(kick):
            return True
    return False


@stage
def judge(s, scan, j):
    """AGAIN, with rows of this end, until the joints are closed; CLOSE if they do not close, LOOK
    if bodies went where contacts were not looked for. Other schemes take the first solve."""
    opening, wrong, off = 0.0, 0.0, 0.0
    for r in range(j.at_error.size):
        if not abs(j.at_error[r]) <= opening:
            opening = abs(j.at_error[r])
        if j.closes[r] and not abs(j.at_error[r]) <= wrong:
            wrong = abs(j.at_error[r])
    for b in range(s.v.shape[0]):
        for e in range(s.v.shape[1]):
            off = max(off, abs(j.at_v[b, e] - s.v[b, e]))
    error = max(wrong, s.h * off)
    j.opening = opening
    s.next_stage = j.aim_stage
    if j.goal == codes.MASS:
        s.next_stage = j.least_stage
        return codes.AGAIN
    if j.scheme != codes.EXACT_JOINTS:
        j.goal = codes.SETTLE_JOINTS
        return codes.LOOK if outran(s, j) else codes.AGAIN
    if j.round > 0 and s.h * j.moved > FAR * j.error:
        return codes.CLOSE_JOINTS  # rows that are nearly too many where the step ends
    j.error = error
    if error <= CLOSED_JOINT and not opening <= OPEN_JOINT:
        return codes.CLOSE_JOINTS  # rows that are not to be closed contradict those that are
    if error <= CLOSED_JOINT:
        j.goal = codes.SETTLE_JOINTS
        return codes.LOOK if outran(s, j) else codes.AGAIN
    if j.round == 0:
        j.best_opening = 2.0 * error + 1.0
    j.round += 1
    if error < 0.5 * j.best_opening:
        j.misses = 0
    else:
        j.misses += 1
    j.best_opening = min(j.best_opening, error)
    if not error < 1e300 or j.misses > PATIENCE or j.round >= CLOSING_ROUNDS:
        return codes.CLOSE_JOINTS
    return codes.AGAIN
