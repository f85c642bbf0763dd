"""Whether two bodies meet along the motion of a step.

The row of a contact that is still open stands for a tangent plane without end: a body that flies
past another would be stopped by the plane. So a contact between bodies that do not touch, and did
not press each other in the last step, acts only if they would meet: their motion is followed by
conservative advancement, from one time at which they are surely apart to the next (Mirtich 1996).
Bodies move as in the drift of the step: on straight lines, turning freely.
"""

import math

from drystone.kernels import rigid
from drystone.kernels._calls import call
from drystone.kernels._jit import kernel, stage
from drystone.kernels.kinds import BOWL, HALF_PLANE, HALF_SPACE
from drystone.kernels.matching import match_contacts, slot_of
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.poses import geom_poses
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_row

TOUCHING = 1e-5  # of the smaller body's size: bodies that are nearer than this touch
MOST_LOOKS = 2000  # at the distance of a pair along its motion; beyond, it counts as meeting
MOST_TURN = 0.5  # [rad] in a step: bodies that turn further count as meeting
NOT_ASKED, MEETS, PASSES, PRESSED = 0, 1, 2, 3  # values of s.verdict; PRESSED: in the last step


@stage
def judges(s):
    """Whether contacts are asked if their bodies meet: who names a distance gets it, and without
    drift nothing moves."""
    return s.drifts != 0 and s.search == codes.BY_TRAVEL


@stage
def may_pass(s, scan, i):
    """Whether the bodies of candidate i do not touch there, and neither is all of what lies below
    the plane of the contact."""
    for kind in (scan.kind[scan.geom_a[i]], scan.kind[scan.geom_b[i]]):
        if kind in (HALF_PLANE, HALF_SPACE):
            return False
    return scan.gap[i] > TOUCHING * min(s.size[s.pair[i, 0]], s.size[s.pair[i, 1]])


@stage
def remember_pairs(s):
    """s.head, s.tail: the contacts of the last step by their pairs of geoms."""
    old = s.old_rows
    places = 2
    while places <= 2 * old:
        places *= 2
    match_contacts(
        s.old_a[:old], s.old_b[:old], s.old_feature[:old], s.tag_a[:0], s.tag_b[:0], s.feature[:0],
        s.head[:places], s.tail, s.source[:0],
    )  # fmt: skip


@stage
def pressed(s, a, b):
    """Whether geoms a and b pressed each other in the last step. What rolls or slides over a curve
    is open by what the curve bends away in a step, and still in contact."""
    old, places = s.old_rows, 2
    while places <= 2 * old:
        places *= 2
    head = s.head[:places]
    i = head[slot_of(s.geom_uid[a], s.geom_uid[b], s.old_a, s.old_b, head)]
    while i >= 0:
        for e in range(s.old_impulse.shape[1]):
            if s.old_impulse[i, e] != 0.0:
                return True
        i = s.tail[0, i]
    return False


@kernel
def meet(s, scan, a, b):
    """Whether geoms a and b touch at a time of the step, with the velocities s.near.v of their
    bodies. In doubt they do."""
    near, h, one, other = s.near, s.h, s.geom_body[a], s.geom_body[b]
    spin = _turning(s, a) + _turning(s, b)
    touch = TOUCHING * min(s.size[one], s.size[other])
    apart = _least_distance(s, one, other) - near.ball[a] - near.ball[b]
    if near.lever[a] == 0.0 and near.lever[b] == 0.0:  # they are these spheres
        return apart <= touch
    if apart > touch:
        return False
    if not spin < math.inf:
        return True
    for e in range(near.cache.size):  # what is found does not depend on who was asked before
        near.cache[e] = 0.0
    dim, square = s.position.shape[1], 0.0
    for e in range(dim):
        square += (near.v[one, e] - near.v[other, e]) ** 2
    _move(s, a, b, h)
    if _look(s, scan, a, b, touch) != 0:  # most that meet still do at the end
        return True
    fastest, hollow = spin + math.sqrt(square), scan.kind[a] == BOWL or scan.kind[b] == BOWL
    t = 0.0
    for _ in range(MOST_LOOKS):
        _move(s, a, b, t)
        found = _look(s, scan, a, b, fastest * (h - t) + touch)
        if found == 0:
            return False
        k = 0
        for i in range(1, found):
            if near.gap[i] < near.gap[k]:
                k = i
        gap = near.gap[k]
        if found < 0 or gap <= touch:
            return True
        closing = fastest
        if not hollow:  # they lie on both sides of a plane, along whose normal they must come
            closing = spin
            for e in range(dim):
                closing -= near.normal[k, e] * (near.v[one, e] - near.v[other, e])
        if closing * (h - t) < gap - touch:
            return False
        t = min(t + gap / closing, h)
    return True


@stage
def _least_distance(s, one, other):
    """Of two bodies' centres of mass, in the step."""
    near, dim, across, square, left = s.near, s.position.shape[1], 0.0, 0.0, 0.0
    for e in range(dim):
        v = near.v[one, e] - near.v[other, e]
        across += v * (s.position[one, e] - s.position[other, e])
        square += v * v
    t = min(max(-across / square, 0.0), s.h) if square > 0.0 else 0.0
    for e in range(dim):
        v = near.v[one, e] - near.v[other, e]
        left += (s.position[one, e] - s.position[other, e] + t * v) ** 2
    return math.sqrt(left)


@stage
def _turning(s, g):
    """How fast the rotation of its body can move a surface point of geom g [m/s], inf: unknown."""
    near, b, square = s.near, s.geom_body[g], 0.0
    for e in range(s.position.shape[1], near.v.shape[1]):
        square += near.v[b, e] ** 2
    if square == 0.0 or near.lever[g] == 0.0:
        return 0.0
    speed = math.sqrt(square)
    if speed * s.h > MOST_TURN:
        return math.inf
    # a body that turns freely changes its angular velocity by less than its square
    return near.lever[g] * speed / (1.0 - speed * s.h)


@kernel
def _move(s, a, b, t):
    """Poses of geoms a and b after t seconds of motion."""
    near = s.near
    for g in (a, b):
        k, n, end = s.geom_body[g], g + 1, s.geom_body[g] + 1
        copy_row(near.v, k, near.velocity, k)
        copy_row(s.position, k, near.position, k)
        copy_row(s.orientation, k, near.orientation, k)
        rigid.drift(
            s.own_inertia[k:end], s.own_inverse[k:end], s.torque_free != 0, near.velocity[k:end], t,
            near.position[k:end], near.orientation[k:end], s.turn_work,
        )  # fmt: skip
        geom_poses(
            s.geom_body[g:n], s.geom_offset[g:n], s.geom_turn[g:n], near.position,
            near.orientation, near.x[g:n], near.R[g:n],
        )  # fmt: skip


@stage
def _look(s, scan, a, b, margin):
    """Contacts of geoms a and b where they are in s.near, as far apart as `margin`; how many, or -1
    if there is no room for them."""
    near = s.near
    c = near.code[a] * near.kinds + near.code[b]
    near.pair[0, 0], near.pair[0, 1], near.margin[0] = a, b, margin
    width = scan.width[c]
    pairs = Pairs(
        near.pair, near.margin, near.cache[:width].reshape((1, width)), near.stats,
        scan.kernel_calls[c],
    )  # fmt: skip
    geoms = PosedGeoms(
        near.x, near.R, scan.kind, scan.first, scan.numbers, scan.first_int, scan.ints
    )
    room = FoundContacts(near.which, near.point, near.normal, near.gap, near.feature)
    return call(scan.pair_kernel[c], (pairs, geoms, room))
