"""Last stages of a step with joints: what they bore, energy they made, the state and the books."""

import numpy as np

from drystone.kernels import rigid
from drystone.kernels._jit import kernel, stage
from drystone.kernels.joints_coupled import SPRING
from drystone.kernels.ledger import contact_work, kinetic_planar, kinetic_spatial
from drystone.kernels.rows import add_impulses
from drystone.kernels.step import codes
from drystone.kernels.step.contacts import becomes_frame
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import book, finite, move, sliding
from drystone.kernels.step.joint_divide import judge
from drystone.kernels.step.joint_spare import spread

# of the kinetic energy, that joints may make or lose in a step
GAIN = 0.001


@stage
def least(s, scan, j):
    """LEAST_REACTIONS where forces of large groups are to be made the least."""
    return codes.LEAST_REACTIONS if j.large_excess > 0 else codes.GO_ON


@kernel
def finish_planar(s, scan, j):
    """Whether this part of the step is good, and its books; see ``joint_divide.judge``."""
    kinetic = kinetic_planar(s.mass, s.inertia, j.at_velocity)
    made, still = _made(s, j)
    gain = _gain(s, made, still, kinetic, kinetic_planar(s.mass, s.inertia, j.push))
    code = judge(s, j, gain) if s.drifts else codes.GO_ON
    if code != codes.GO_ON:
        return code
    _book(s, j, kinetic_planar(s.mass, s.inertia, s.v), kinetic)
    return codes.GO_ON


@kernel
def finish_spatial(s, scan, j):
    """The same in space."""
    rigid.to_world(s.own_inertia, j.at_orientation, s.end_inertia)
    kinetic = kinetic_spatial(s.mass, s.end_inertia, j.at_velocity)
    made, still = _made(s, j)
    gain = _gain(s, made, still, kinetic, kinetic_spatial(s.mass, s.inertia, j.push))
    code = judge(s, j, gain) if s.drifts else codes.GO_ON
    if code != codes.GO_ON:
        return code
    if not finite(j.at_velocity, j.at_orientation):
        return codes.NOT_FINITE
    _book(s, j, kinetic_spatial(s.mass, s.inertia, s.v), kinetic)
    return codes.GO_ON


@stage
def _made(s, j):
    """Work of the rows C = 0 over mean velocities, and the energy [J] that a step of gravity and
    loads gives; j.push: velocities that motors and contacts give, which joints answer."""
    if j.gaining == 0 or not s.drifts:
        return 0.0, 0.0
    made, still = 0.0, 0.0
    dim, h = s.position.shape[1], s.h
    # v0 fits the rows of the middle of the last part, v those of this one's: in parts of unequal
    # length it is so weighted a mean that fits those between them
    late = 0.5 if j.kicks == 2 else 1.0 - 0.5 * (h / s.kick)
    for b in range(s.v.shape[0]):
        for e in range(s.v.shape[1]):
            j.push[b, e] = 0.0
        for a in range(dim):
            still += s.mass[b] * s.gravity[a] ** 2 + s.force[b, a] ** 2 * s.inverse_mass[b]
    for i in range(s.rows):
        block = j.joint[i]
        tied = block >= 0 and j.block_action[block] < 0
        if not tied:
            k = i + 1
            add_impulses(s.body[i:k], s.P[i:k], s.r[i:k], j.push)
            continue
        for a in range(s.r.shape[1]):
            for side in range(2):
                b = s.body[i, side]
                for e in range(s.v.shape[1]):
                    mean = (1.0 - late) * s.v0[b, e] + late * s.v[b, e]
                    made += s.r[i, a] * s.J[i, a, side, e] * mean
    return made, 0.5 * h * h * still


@stage
def _gain(s, made, still, kinetic, answered):
    """Energy that joints made or lost, of what they may: links that turn far in a step, as in a
    whip's crack, meet conditions at its end that its middle would not."""
    most = max(kinetic, s.begun.kinetic, still)
    if abs(made) > GAIN * most:  # and what motors and contacts give, that joints answer
        most = max(most, still + answered)
    return abs(made) / (GAIN * most) if made != 0.0 else 0.0


@kernel
def take_back_planar(s, scan, j):
    """Energy that joints still made in a part as short as parts get is taken back."""
    made = _unexplained(s, j)
    if made > 0.0:
        _take_back(s, j, made, _pull(s, j, j.push), kinetic_planar(s.mass, s.inertia, j.push))
    return codes.GO_ON


@kernel
def take_back_spatial(s, scan, j):
    """The same in space."""
    made = _unexplained(s, j)
    if made > 0.0:
        _take_back(s, j, made, _pull(s, j, j.push), kinetic_spatial(s.mass, s.end_inertia, j.push))
    return codes.GO_ON


@stage
def _unexplained(s, j):
    """Energy [J] that joints still made in a part as short as parts get, else 0; j.push: the
    velocities of the bodies they hold."""
    if j.gaining == 0 or j.level < j.gaining:
        return 0.0
    out, dim = s.report, s.position.shape[1]
    made = out.change - out.loads - out.driving + _pull(s, j, s.v)  # contacts only lose
    for b in range(s.v.shape[0] if j.kicks == 1 else 0):
        if s.own_inverse_mass[b] > 0.0:
            for a in range(dim):
                made -= s.mass[b] * s.gravity[a] * (s.kick - 0.5 * s.h) * s.v0[b, a]
    if not made > GAIN * out.kinetic:
        return 0.0
    for b in range(s.v.shape[0]):
        for e in range(s.v.shape[1]):
            j.push[b, e] = 0.0
    for k in range(j.body.shape[0]):
        for side in range(2):
            b = j.body[k, side]
            if b >= 0 and s.own_inverse_mass[b] > 0.0:
                for e in range(s.v.shape[1]):
                    j.push[b, e] = s.velocity[b, e]
    return made


@stage
def _pull(s, j, v):
    """Energy [J] that gravity gives bodies of velocities v until these are not late."""
    given = 0.0
    for b in range(v.shape[0] if j.kicks == 1 else 0):
        if s.own_inverse_mass[b] > 0.0:
            for a in range(s.position.shape[1]):
                given += s.mass[b] * s.gravity[a] * 0.5 * s.h * v[b, a]
    return given


@stage
def _take_back(s, j, made, pull, had):
    """Take energy [J] from the velocities of bodies that joints hold; these stay as joints allow.
    had: their kinetic energy; pull: what gravity gives them until their velocities are not late,
    which shrinks with these: factor^2 had + factor pull is what is left of had + pull."""
    factor = 0.0
    if had > 0.0:
        root = pull * pull + 4.0 * had * (had + pull - made)
        factor = max(0.0, 0.5 * (np.sqrt(max(root, 0.0)) - pull) / had)
    left = factor * factor * had
    for k in range(j.body.shape[0]):
        for side in range(2):
            b = j.body[k, side]
            if b >= 0 and s.own_inverse_mass[b] > 0.0:
                for e in range(s.v.shape[1]):
                    s.velocity[b, e] = factor * j.push[b, e]
    s.report.kinetic -= had - left
    s.report.change -= had - left
    s.report.constraint -= had - left


@stage
def commit(s, scan, j):
    """The part is made: its end becomes the state."""
    sliding(s.islands, s.start, s.r, s.u, s.q, s.slid)
    move(s)
    copy_all(j.at_velocity, s.velocity)
    copy_all(j.at_position, s.position)
    copy_all(j.at_orientation, s.orientation)
    if s.drifts:
        copy_all(j.value, j.turns)
    return codes.GO_ON


@stage
def _book(s, j, kicked, kinetic):
    """The books of contacts, and what joints change in them."""
    n, tie, act, act_first = s.rows, 0.0, 0.0, 0.0
    for k in range(4):
        s.sums[k] = 0.0
    contact_work(s.body[:n], s.moves, s.J[:n], s.r[:n], s.v0, s.v, s.sums)
    for i in range(s.rows):
        block = j.joint[i]
        if block < 0:
            continue
        for a in range(s.r.shape[1]):
            power = 0.0
            for side in range(2):
                b = s.body[i, side]
                for e in range(s.v.shape[1]):
                    power += s.J[i, a, side, e] * s.v[b, e]
            power *= s.r[i, a]
            if j.block_action[block] < 0:
                tie += power if a > 0 else 0.0
            elif a > 0:
                act += power
            else:
                act_first += power
    s.sums[0] -= tie + act
    s.sums[2] += tie - act_first
    book(s, kicked, kinetic, j.at_position)
    before, after = _stored(j, j.value), _stored(j, j.at_value)
    out = s.report
    out.potential += after
    out.gravity_energy += after  # what `forces` store comes on top
    out.change += after - before
    out.loads += after - before + act + act_first
    out.integration += j.softening
    out.joint_error, out.redundant = j.opening, j.excess
    out.retries = 0.0
    out.iterations += j.earlier


@stage
def _stored(j, value):
    """Energy [J] in the springs of joints."""
    total = 0.0
    for i in range(j.action_kind.size):
        if j.action_kind[i] == SPRING:
            x = value[j.action_coordinate[i]] - j.action_numbers[i, 2]
            total += 0.5 * j.action_numbers[i, 0] * x * x
    return total


@stage
def bear(s, scan, j):
    """The least forces of redundant joints, after the books, which hold to rounding with those that
    were solved for; what joints bore, where the step becomes a frame. BORNE if that is to be looked
    at, or was found otherwise. Of two kicks the first is read, and there is no later time to do so.
    """
    if not s.drifts:
        return codes.GO_ON
    if j.by_host or j.breaks:
        return codes.BORNE
    spread(j, s.r)
    if becomes_frame(s) or j.kicks == 2:
        wrenches(s, j)
    return codes.GO_ON


@stage
def wrenches(s, j):
    """s.wrench (nj, dof): force [N] and torque [N m] of every joint on its body a over the step, at
    a's anchor, in world axes; see ``constraints.joints.forces``."""
    dim, out = s.position.shape[1], s.wrench
    _gather(s, j)
    for k in range(out.shape[0]):
        for e in range(out.shape[1]):
            out[k, e] = 0.0
        for n in range(j.first_row[k], j.first_row[k + 1]):
            _add(j.body, k, j.tie[n], j.impulse[n], out)
    for n in range(j.acting.size):
        _add(j.body, j.action_joint[n], j.act_J[n], j.acting[n], out)
    for k in range(out.shape[0]):
        for e in range(out.shape[1]):
            out[k, e] /= s.kick
        a, b = j.body[k, 0], j.body[k, 1]
        x, y, z = j.arms[k, 0, 0], j.arms[k, 0, 1], j.arms[k, 0, 2]
        if a < 0:
            x, y = x - s.was[b, 0], y - s.was[b, 1]
            z = z - s.was[b, 2] if dim == 3 else z
        if dim == 2:
            out[k, 2] -= x * out[k, 1] - y * out[k, 0]
        else:
            out[k, 3] -= y * out[k, 2] - z * out[k, 1]
            out[k, 4] -= z * out[k, 0] - x * out[k, 2]
            out[k, 5] -= x * out[k, 1] - y * out[k, 0]


@stage
def _gather(s, j):
    """Impulses of rows C = 0 and of what acts on joints, from their blocks."""
    for b in range(j.block_row.shape[0]):
        i = j.place[b]
        for a in range(j.block_row.shape[1]):
            if j.block_row[b, a] >= 0:
                j.impulse[j.block_row[b, a]] = s.r[i, a] if i >= 0 else 0.0
        if j.block_action[b] >= 0:  # of friction under a load: its tangent
            row = 1 if j.block_mu[b] > 0.0 else 0
            bears = s.r[i, row] if i >= 0 else 0.0
            j.acting[j.block_action[b]] = bears * j.block_sign[b]


@stage
def _add(body, k, J, r, out):
    """The wrench on a, or minus that on b where a is the world, about that body's centre."""
    for e in range(out.shape[1]):
        out[k, e] += (-J[1, e] if body[k, 0] < 0 else J[0, e]) * r
