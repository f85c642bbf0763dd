"""Rows of the chosen contacts, packed or stored: frames, materials, bias and the first guess."""

import numpy as np

from drystone.kernels import rows as kernels
from drystone.kernels._jit import stage
from drystone.kernels.active import pair_materials
from drystone.kernels.matching import match_contacts
from drystone.kernels.rigid import rotation_of
from drystone.kernels.step import codes
from drystone.kernels.step.choose import normal_speed
from drystone.kernels.step.copies import copy_row


@stage
def make_frames(s, scan, n):
    """Contacts in the order of s.pick, and their frames."""
    _gather(s, scan, n)
    _frames(s, n, s.orientation)


@stage
def _frames(s, n, orientation):
    if orientation.ndim == 1:  # a constant for the compiler: only one of them is compiled
        kernels.frames_planar(s.normal[:n], s.frame[:n])
        return
    if s.anisotropic[0]:
        axes(s, n)
    kernels.frames_spatial(
        s.normal[:n], s.row_axis[:n], s.row_ratios[:n], s.finger_radius, s.frame[:n]
    )


@stage
def store(s, lo, hi):
    """J, P, D of the contacts lo:hi, from where bodies were when they were found."""
    at = s.was if s.drifts else s.position
    kernels.contact_rows(
        s.inverse_mass, s.inverse, at, s.body[lo:hi], s.point[lo:hi], s.frame[lo:hi],
        s.J[lo:hi], s.P[lo:hi], s.D[lo:hi],
    )  # fmt: skip


@stage
def _gather(s, scan, n):
    uid, body_of = s.geom_uid, s.geom_body
    for i in range(n):
        j = s.pick[i]
        a, b = scan.geom_a[j], scan.geom_b[j]
        s.gap[i], s.geom_a[i], s.geom_b[i] = scan.gap[j] if s.drifts else 0.0, a, b
        s.tag_a[i], s.tag_b[i], s.feature[i] = uid[a], uid[b], scan.feature[j]
        s.body[i, 0], s.body[i, 1] = body_of[a], body_of[b]
        for c in range(s.point.shape[1]):
            s.point[i, c], s.normal[i, c] = scan.point[j, c], scan.normal[j, c]


@stage
def axes(s, n):
    """Axis and ratios of each contact: those of body a, else of body b, else of the cone."""
    R = s.turn
    for i in range(n):
        for c in range(3):
            s.row_axis[i, c] = s.cone_axis[c]
        s.row_ratios[i, 0], s.row_ratios[i, 1] = s.cone_ratios[0], s.cone_ratios[1]
        for side in (1, 0):
            b = s.body[i, side]
            own = s.axis[b]
            if own[0] != 0.0 or own[1] != 0.0 or own[2] != 0.0:
                rotation_of(s.orientation[b], R)
                for c in range(3):
                    s.row_axis[i, c] = R[c, 0] * own[0] + R[c, 1] * own[1] + R[c, 2] * own[2]
                s.row_ratios[i, 0], s.row_ratios[i, 1] = s.ratios[b, 0], s.ratios[b, 1]


@stage
def complete(s, n):
    """Materials, bias, first guess."""
    pair_materials(
        s.body[:n], s.friction, s.restitution, s.rule_key, s.rule_friction, s.rule_restitution,
        s.both[:n], s.eps[:n],
    )  # fmt: skip
    give_bias(s, n)
    guess(s, n)
    return codes.GO_ON


@stage
def give_bias(s, n):
    """gap / h, beyond what counts as touching; overlap with bodies of prescribed motion is undone
    no faster than ``_driven_recovery``."""
    d, h, slop, driven = s.bias.shape[1], s.h, s.slop, s.driven.size > 0
    for i in range(n):
        for a in range(d):
            s.bias[i, a] = 0.0
        if s.stabilize:
            size = min(s.size[s.body[i, 0]], s.size[s.body[i, 1]])
            slack = slop * size if size < np.inf else slop
            gap = s.gap[i]
            s.bias[i, 0] = (gap - min(max(gap, -slack), slack)) / h
            if driven and gap < -slack:
                s.bias[i, 0] = max(s.bias[i, 0], -_driven_recovery(s, i))


@stage
def _driven_recovery(s, i):
    """The greatest speed [m/s] at which the overlap of row i is undone.

    A body whose motion is prescribed goes on where nothing can give way, and into what it presses
    (a jam). What is in it leaves as fast as that body moves at the contact, or as the two approach:
    not in one step, which would throw it. inf: between other bodies overlap is a small error.
    """
    a, b = s.body[i, 0], s.body[i, 1]
    if not (s.is_driven[a] or s.is_driven[b]):
        return np.inf
    approach = normal_speed(i, b, s.v_free, s.point, s.position, s.normal)
    approach -= normal_speed(i, a, s.v_free, s.point, s.position, s.normal)
    return max(approach, _point_speed(i, a if s.is_driven[a] else b, s))


@stage
def _point_speed(i, b, s):
    """|v + omega x r| of body b at the point of row i [m/s]."""
    v = s.v_free[b]
    x, y = s.point[i, 0] - s.position[b, 0], s.point[i, 1] - s.position[b, 1]
    if v.size == 3:
        return np.hypot(v[0] - v[2] * y, v[1] + v[2] * x)
    z = s.point[i, 2] - s.position[b, 2]
    along = v[0] + v[4] * z - v[5] * y, v[1] + v[5] * x - v[3] * z, v[2] + v[3] * y - v[4] * x
    return np.sqrt(along[0] ** 2 + along[1] ** 2 + along[2] ** 2)


@stage
def guess(s, n):
    """r: last step's impulses of the same contacts, or those of a solve before in this step, turned
    into the new frames; and whether each contact starts with its static or its dynamic
    coefficient."""
    old = s.old_rows
    places = 2
    while places <= 2 * old:
        places *= 2
    match_contacts(
        s.old_a[:old], s.old_b[:old], s.old_feature[:old], s.tag_a[:n], s.tag_b[:n], s.feature[:n],
        s.head[:places], s.tail, s.source[:n],
    )  # fmt: skip
    scale = s.kick / s.old_h if old > 0 and s.warm_start else 0.0
    for i in range(n):
        at = s.source[i]
        known = at >= 0
        s.loose[i] = known and s.old_slid[at]
        s.mu[i] = s.both[i, 1] if s.loose[i] else s.both[i, 0]
        for c in range(s.impulse.shape[1]):
            s.impulse[i, c] = scale * s.old_impulse[at, c] if known else 0.0
        s.spin[i] = scale * s.old_spin[at] if known else 0.0
        if s.carries and s.pick[i] >= 0 and s.warm_start:
            copy_row(s.carried, s.pick[i], s.impulse, i)
            s.spin[i] = s.carried_spin[s.pick[i]]
    kernels.project_impulses(s.frame[:n], s.impulse[:n], s.spin[:n], s.r[:n])
    for i in range(n):
        if s.r[i, 0] <= 0.0 and s.both[i, 0] >= 0.0:  # joints pull, too
            for a in range(s.r.shape[1]):
                s.r[i, a] = 0.0
