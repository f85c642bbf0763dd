"""The contacts of a step as people read them, in world axes, laid out as recordings keep them."""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.step import codes


@stage
def becomes_frame(s):
    """Whether the step that is being made is to be kept."""
    return s.frame_interval > 0 and s.since_frame + 1 >= s.frame_interval


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
    first = ends[0]
    n = _note_bodies(s, bodies, first)
    _note_numbers(s, s.orientation, numbers, first)
    ends[0] += n
    if n > 0:
        _note_laws(s, n, laws, ends)
        _note_features(s, n, features, ends)


@stage
def _note_bodies(s, bodies, at):
    """Bodies, island and state of each contact from row `at` on; returns how many there are."""
    wide, k, n = (bodies.shape[1] - 1) // 3, 0, 0
    # what is looked up in s once is not looked up again after every number that is written
    start, geom, body, slid, r = s.start, s.geom_a, s.body, s.slid, s.r
    for i in range(s.rows):
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
        # without branches, which no processor predicts
        row[3 * wide] = (r[i, 0] > 0.0) * (codes.STICKS + slid[i] * (codes.SLIPS - codes.STICKS))
    return n


@stage
def _note_numbers(s, orientation, numbers, at):
    """The numbers of each contact from row `at` on."""
    dim = 2 if orientation.ndim == 1 else 3  # a constant for the compiler, which unrolls loops
    geom, point, normal, stretched = s.geom_a, s.point, s.normal, s.anisotropic[0]
    gap, impulse, u, bias, frame = s.gap, s.impulse, s.u, s.bias, s.frame
    for i in range(s.rows):
        if geom[i] < 0:
            continue
        out = numbers[at]
        at += 1
        out[2 * dim] = gap[i]
        for c in range(dim):
            out[c], out[dim + c] = point[i, c], normal[i, c]
            out[2 * dim + 1 + c], out[3 * dim + 1 + c] = impulse[i, c], 0.0
        for a in range(dim):
            speed = _speed(u, bias, frame, i, a, stretched)
            for c in range(dim):
                out[3 * dim + 1 + c] += speed * frame[i, a, c]


@stage
def _speed(u, bias, frame, i, a, stretched):
    """Along row a of a frame; rows of elliptic cones are stretched."""
    speed = u[i, a] - bias[i, a]
    if stretched:
        square = 0.0
        for c in range(frame.shape[2]):
            square += frame[i, a, c] ** 2
        speed /= square
    return speed


@stage
def _note_laws(s, n, laws, ends):
    """Friction and spin of the step's n contacts: as few rows as say them."""
    geom, friction, turning, at = s.geom_a, s.mu, s.spin, ends[1]
    done, shared, mu, spin = 0, True, 0.0, 0.0
    for i in range(s.rows):
        if geom[i] < 0:
            continue
        if done == 0:
            mu, spin = friction[i], turning[i]
        elif not (_same(friction[i], mu) and _same(turning[i], spin)):
            shared = False
            break
        done += 1
    if shared:
        known = at > 0 and _same(mu, laws[at - 1, 0]) and _same(spin, laws[at - 1, 1])
        laws[at, 0], laws[at, 1] = mu, spin
        ends[1] += 0 if known else 1
        return
    for i in range(s.rows):
        if geom[i] >= 0:
            laws[at, 0], laws[at, 1] = friction[i], turning[i]
            at += 1
    ends[1] += n


@stage
def _note_features(s, n, features, ends):
    """The same of features."""
    geom, feature, at = s.geom_a, s.feature, ends[2]
    done, shared, one = 0, True, 0
    for i in range(s.rows):
        if geom[i] < 0:
            continue
        if done == 0:
            one = feature[i]
        elif feature[i] != one:
            shared = False
            break
        done += 1
    if shared:
        known = at > 0 and features[at - 1] == one
        features[at] = one
        ends[2] += 0 if known else 1
        return
    for i in range(s.rows):
        if geom[i] >= 0:
            features[at] = feature[i]
            at += 1
    ends[2] += n


@stage
def _same(a, b):
    """Whether two numbers have the same bits; not if they are none."""
    return a == b and np.copysign(1.0, a) == np.copysign(1.0, b)
