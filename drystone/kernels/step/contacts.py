"""The contacts of a step as people read them, in world axes, laid out as recordings keep them."""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.step import names as the


@stage
def note_contacts(s, numbers, bodies, laws, features, ends):
    """Append the contacts of the last step; ends (3,): rows of numbers and bodies, of laws and of
    features that are taken, in and out. Blocks of joints, which have no geoms, are left out.

    numbers (m, 4 dim + 1): point, normal, gap, impulse on the first body, velocity (of the step's
    end with the points of its start); bodies (m, 3 w + 1) bytes: both bodies and the island in w
    bytes each, then the state, see ``names``. laws (m, 2): friction and spin, features (m,): one
    row for each contact, or, if the step's contacts share them, one for all, or none where that is
    the row before.
    """
    n = _note_bodies(s, bodies, ends[0])
    _note_numbers(s, numbers, ends[0])
    ends[0] += n
    _note_laws(s, n, laws, ends)
    _note_features(s, n, features, ends)


@stage
def _note_bodies(s, bodies, at):
    """Bodies, island and state of each contact from row `at` on; returns how many there are."""
    wide, k, n = (bodies.shape[1] - 1) // 3, 0, 0
    # what is looked up in s once is not looked up again after every number that is written
    start, geom, body, slid, r = s.start, s.geom_a, s.body, s.slid, s.r
    for i in range(s.count[the.ROWS]):
        while i >= start[k + 1]:
            k += 1
        if geom[i] < 0:
            continue
        row = bodies[at + n]
        n += 1
        for b in range(wide):
            row[b] = (body[i, 0] >> 8 * b) & 255
            row[wide + b] = (body[i, 1] >> 8 * b) & 255
            row[2 * wide + b] = (k >> 8 * b) & 255
        row[3 * wide] = the.OPEN
        if r[i, 0] > 0.0:
            row[3 * wide] = the.SLIPS if slid[i] else the.STICKS
    return n


@stage
def _note_numbers(s, numbers, at):
    """The numbers of each contact; rows of elliptic cones are stretched."""
    dim, stretched = s.point.shape[1], s.anisotropic[0]
    geom, point, normal = s.geom_a, s.point, s.normal
    gap, impulse, u, bias, frame = s.gap, s.old_impulse, s.u, s.bias, s.frame
    for i in range(s.count[the.ROWS]):
        if geom[i] < 0:
            continue
        out = numbers[at]
        at += 1
        out[2 * dim] = gap[i]
        for c in range(dim):
            out[c], out[dim + c] = point[i, c], normal[i, c]
            out[2 * dim + 1 + c], out[3 * dim + 1 + c] = impulse[i, c], 0.0
        for a in range(dim):
            speed = u[i, a] - bias[i, a]
            if stretched:
                square = 0.0
                for c in range(dim):
                    square += frame[i, a, c] ** 2
                speed /= square
            for c in range(dim):
                out[3 * dim + 1 + c] += speed * frame[i, a, c]


@stage
def _note_laws(s, n, laws, ends):
    """Friction and spin of the step's n contacts: as few rows as say them."""
    at, done, shared = ends[1], 0, True
    geom, friction, turning = s.geom_a, s.mu, s.old_spin
    for i in range(s.count[the.ROWS]):
        if geom[i] < 0:
            continue
        mu, spin = friction[i], turning[i]
        if done == 0:
            laws[at, 0], laws[at, 1] = mu, spin
        elif shared and not (_same(mu, laws[at, 0]) and _same(spin, laws[at, 1])):
            shared = False
            for j in range(at + 1, at + done):
                laws[j, 0], laws[j, 1] = laws[at, 0], laws[at, 1]
        if not shared:
            laws[at + done, 0], laws[at + done, 1] = mu, spin
        done += 1
    if n == 0:
        return
    known = shared and at > 0
    known = known and _same(laws[at, 0], laws[at - 1, 0]) and _same(laws[at, 1], laws[at - 1, 1])
    ends[1] += 0 if known else 1 if shared else n


@stage
def _note_features(s, n, features, ends):
    """The same of features."""
    at, done, shared = ends[2], 0, True
    geom, feature = s.geom_a, s.feature
    for i in range(s.count[the.ROWS]):
        if geom[i] < 0:
            continue
        if done == 0:
            features[at] = feature[i]
        elif shared and feature[i] != features[at]:
            shared = False
            for j in range(at + 1, at + done):
                features[j] = features[at]
        if not shared:
            features[at + done] = feature[i]
        done += 1
    if n > 0:
        known = shared and at > 0 and features[at] == features[at - 1]
        ends[2] += 0 if known else 1 if shared else n


@stage
def _same(a, b):
    """Whether two numbers have the same bits; not if they are none."""
    return a == b and np.copysign(1.0, a) == np.copysign(1.0, b)
