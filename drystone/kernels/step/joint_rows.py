"""Contacts and joints of a step as blocks of rows, in the order of their islands.

Blocks of joints are those of ``constraints.joints.blocks``; which there are does not change from
step to step, but those that no impulse can move are left out, and limits that the second kick of a
step does not reach. They lie in the arrays of contacts, without geoms and with an infinite gap.
"""

import numpy as np

from drystone.kernels import rows as kernels
from drystone.kernels._jit import stage
from drystone.kernels.active import pair_materials
from drystone.kernels.joints_coupled import (
    Actions,
    action_rows,
    halve_kicks,
    is_limit,
    is_reached,
    keep_springs,
)
from drystone.kernels.step import codes
from drystone.kernels.step.choose import by_islands, collect
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.rows import axes, give_bias, guess


@stage
def order(s, scan, j):
    """Bodies, tags and geometry of all blocks, in the order of their islands."""
    blocks = j.block_body.shape[0]
    if s.candidates + blocks > s.gap.size:
        s.needed = s.candidates + blocks
        return codes.NO_ROW_ROOM
    m = collect(s, scan)
    for b in range(blocks):
        j.place[b] = -1
        if not _takes_part(s, j, b):
            continue
        s.body[m, 0], s.body[m, 1] = j.block_body[b, 0], j.block_body[b, 1]
        s.found[m] = -1 - b
        m += 1
    s.rows = m
    s.islands = by_islands(s, m)
    s.failed = -1
    for i in range(m):
        k = s.pick[i]
        j.joint[i] = -1
        if k >= 0:
            _touch(s, scan, i, k)
        else:
            _tie(s, j, i, -1 - k)
    for k in range(s.islands):
        for i in range(s.start[k], s.start[k + 1]):
            s.jointed[k] = s.jointed[k] or j.joint[i] >= 0
    return codes.GO_ON


@stage
def _takes_part(s, j, b):
    """Whether an impulse can move one of the bodies of block b and, if it is a limit, the second
    kick of a step finds it reached."""
    act = j.block_action[b]
    if not (s.moves[j.block_body[b, 0]] or s.moves[j.block_body[b, 1]]):
        return False
    if s.drifts or act < 0 or not is_limit(j.action_kind[act]):
        return True
    c = j.action_coordinate[act]
    gap = j.at_value[c] - j.action_numbers[act, 0]
    return is_reached(s.h, gap, j.action_body[act], j.at_G[c], s.v0)


@stage
def _touch(s, scan, i, k):
    """Block i is contact k."""
    a, b = scan.geom_a[k], scan.geom_b[k]
    s.gap[i], s.geom_a[i], s.geom_b[i] = scan.gap[k] if s.drifts else 0.0, a, b
    s.tag_a[i], s.tag_b[i], s.feature[i] = s.geom_uid[a], s.geom_uid[b], scan.feature[k]
    s.body[i, 0], s.body[i, 1] = s.geom_body[a], s.geom_body[b]
    for c in range(s.point.shape[1]):
        s.point[i, c], s.normal[i, c] = scan.point[k, c], scan.normal[k, c]


@stage
def _tie(s, j, i, b):
    """Block i is a joint's block b."""
    j.joint[i], j.place[b] = b, i
    s.gap[i], s.geom_a[i], s.geom_b[i] = np.inf, -1, -1
    s.tag_a[i], s.tag_b[i], s.feature[i] = -1, j.block_uid[b], j.block_part[b]
    s.body[i, 0], s.body[i, 1] = j.block_body[b, 0], j.block_body[b, 1]
    for c in range(s.point.shape[1]):
        s.point[i, c] = s.normal[i, c] = 0.0
    s.both[i, 0] = s.both[i, 1] = j.block_mu[b]
    s.eps[i, 0] = s.eps[i, 1] = 0.0
    for a in range(s.frame.shape[1]):
        for c in range(s.frame.shape[2]):
            s.frame[i, a, c] = 1.0 if c == a % s.frame.shape[2] else 0.0


@stage
def touch_planar(s, scan, j):
    """Frames, rows, materials and bias of contacts."""
    n, joint = s.rows, j.joint
    give_bias(s, n)
    for i in range(n):
        if joint[i] < 0:
            k = i + 1
            kernels.frames_planar(s.normal[i:k], s.frame[i:k])
            kernels.rows_planar(
                s.inverse_mass, s.inverse, s.position, s.body[i:k], s.point[i:k], s.frame[i:k],
                s.J[i:k], s.P[i:k], s.D[i:k],
            )  # fmt: skip
            _material(s, i, k)
    return codes.GO_ON


@stage
def touch_spatial(s, scan, j):
    """The same in space."""
    n, joint = s.rows, j.joint
    give_bias(s, n)
    if s.anisotropic[0]:
        axes(s, n)
    for i in range(n):
        if joint[i] < 0:
            k = i + 1
            kernels.frames_spatial(
                s.normal[i:k], s.row_axis[i:k], s.row_ratios[i:k], s.finger_radius, s.frame[i:k]
            )
            kernels.rows_spatial(
                s.inverse_mass, s.inverse, s.position, s.body[i:k], s.point[i:k], s.frame[i:k],
                s.J[i:k], s.P[i:k], s.D[i:k],
            )  # fmt: skip
            _material(s, i, k)
    return codes.GO_ON


@stage
def _material(s, i, k):
    pair_materials(
        s.body[i:k], s.friction, s.restitution, s.rule_key, s.rule_friction, s.rule_restitution,
        s.both[i:k], s.eps[i:k],
    )  # fmt: skip


@stage
def tie(s, scan, j):
    """Rows of joints, what acts on them, and their bias."""
    copy_all(j.at_value, j.value)
    copy_all(j.at_value, j.last)
    copy_all(j.at_J, j.tie)
    h, bias, soft, J, n = s.h, s.bias, j.soft, s.J, s.rows
    closes = s.drifts and (j.scheme == codes.EXACT_JOINTS or j.scheme == codes.STABILIZE)
    if j.action_kind.size > 0:
        actions = Actions(j.action_kind, j.action_coordinate, j.action_numbers)
        action_rows(
            h, actions, j.at_value, j.at_G, j.act_J, j.act_bias, j.act_soft, j.act_lower,
            j.act_upper,
        )  # fmt: skip
        if j.kicks == 1:
            keep_springs(
                h, actions, j.at_value, j.action_body, j.act_J, s.v0, s.inverse_mass, s.inverse,
                j.act_bias, j.act_soft,
            )  # fmt: skip
            if s.kick != h:  # forces act for another time than the part is long
                for k in range(j.action_kind.size):
                    j.act_soft[k] /= s.kick / h
                    j.act_lower[k] *= s.kick / h
                    j.act_upper[k] *= s.kick / h
        else:
            halve_kicks(
                h, s.drifts != 0, actions, j.at_value, j.action_body, j.act_J, s.v0, j.act_bias,
                j.act_soft, j.act_lower, j.act_upper,
            )  # fmt: skip
    for i in range(n):
        b = j.joint[i]
        for a in range(bias.shape[1]):
            soft[i, a] = 0.0
            if b < 0:
                continue
            row = j.block_row[b, a]
            bias[i, a], soft[i, a] = 0.0, 1.0
            if row >= 0:
                bias[i, a], soft[i, a] = j.at_error[row] / h if closes else 0.0, 0.0
            _row(i, a, j.tie, row, j.block_flip[b], 1.0, J)
        if b < 0 or j.block_action[b] < 0:
            continue
        act, mu, sign = j.block_action[b], j.block_mu[b], j.block_sign[b]
        a = 1 if mu > 0.0 else 0
        _row(i, a, j.act_J, act, j.block_flip[b], sign, J)
        bias[i, a], soft[i, a] = sign * j.act_bias[act], j.act_soft[act]
        if mu > 0.0:
            bias[i, 0] = -j.act_upper[act]
    return codes.GO_ON


@stage
def _row(i, a, values, row, flip, sign, J):
    """Row a of block i, from `row` of values (n, 2, dof), none if it is negative."""
    for side in range(2):
        for e in range(J.shape[3]):
            J[i, a, side, e] = sign * values[row, side ^ flip, e] if row >= 0 else 0.0


@stage
def respond(s, scan, j):
    """P and D of joints, compliances of their padding, and the first guess."""
    n = s.rows
    for i in range(n):
        k = i + 1
        if j.joint[i] >= 0:
            kernels.responses(
                s.inverse_mass, s.inverse, s.body[i:k], s.J[i:k], s.zero[i:k], s.P[i:k], s.D[i:k]
            )
    return _complete(s, j, n)


@stage
def _complete(s, j, n):
    lawful, D = False, s.D
    for i in range(n):
        if j.joint[i] >= 0:
            _scale(i, D, j.soft, s.bias, j.block_mu[j.joint[i]])
        lawful = lawful or s.both[i, 0] >= 0.0
        mean = 0.0
        for a in range(D.shape[1]):
            mean += D[i, a, a]
        j.unit[i] = np.sqrt(mean / D.shape[1]) if mean > 0.0 else 1.0
    j.lawful = lawful
    guess(s, n)
    copy_all(s.J[:n], j.J0[:n])
    copy_all(s.P[:n], j.P0[:n])
    copy_all(s.D[:n], j.D0[:n])
    copy_all(s.v_free, j.free)
    copy_all(s.r[:n], j.r0[:n])
    copy_all(s.bias[:n], j.bias0[:n])
    return codes.GO_ON


@stage
def _scale(i, D, soft, bias, mu):
    """Padding and given loads get a compliance of the size of their block's own rows."""
    d, used, size = D.shape[1], 0, 0.0
    for a in range(d):
        if D[i, a, a] > 0.0:
            used += 1
            size += D[i, a, a]
    size = size / used if used > 0 else 1.0
    for a in range(d):
        if not D[i, a, a] > 0.0 and soft[i, a] == 1.0:
            soft[i, a] = size
        D[i, a, a] += soft[i, a]
    if mu > 0.0:
        bias[i, 0] *= size
