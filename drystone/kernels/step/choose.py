"""Which contacts take part, in the order of their islands, and whether one of them collides."""

from drystone.kernels._jit import kernel, stage
from drystone.kernels.active import activate
from drystone.kernels.islands import label_contacts
from drystone.kernels.rows import impulse_vectors
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all, copy_row
from drystone.kernels.step.meet import (
    MEETS,
    PASSES,
    PRESSED,
    TOUCHING,
    judges,
    may_pass,
    meet,
    pressed,
    remember_pairs,
)

MISSED_ROUNDS = 6  # of adding such contacts after a solve
DROPPING_ROUNDS = 2  # the first of them, which also drop contacts whose bodies pass


@stage
def choose(s, scan):
    """Numbers of the contacts that are kept into s.pick, by islands: island k owns
    start[k]:start[k + 1], in the order in which contacts were found."""
    s.rows = collect(s, scan)
    s.islands = by_islands(s, s.rows)


@stage
def collect(s, scan):
    """s.found, s.body: numbers and bodies of the contacts that are kept; returns how many."""
    n, m = s.candidates, 0
    pairs(n, s.geom_body, scan.geom_a, scan.geom_b, s.pair)
    if not s.drifts:  # all but those that ``kicks.reached`` left out
        for i in range(n):
            s.keep[i] = True
    elif s.search == codes.BY_TRAVEL:
        activate(s.pair[:n], scan.gap[:n], s.reach, s.moves, s.root, s.fast, s.keep[:n])
    else:
        _by_gap(n, s, scan)
    if judges(s) and s.missed_rounds == 0:
        _judge(s, scan)
    for i in range(n):
        s.keep[i] = s.forced[i] or (s.keep[i] and s.verdict[i] != PASSES)
        s.keep[i] = s.keep[i] and not s.left_out[i]
        if s.keep[i]:
            s.body[m, 0], s.body[m, 1] = s.pair[i, 0], s.pair[i, 1]
            s.found[m] = i
            m += 1
    return m


@kernel
def _judge(s, scan):
    """s.verdict of contacts that the free motion would close, as far as their planes say."""
    asked, known = False, -1
    for i in range(s.candidates):
        if not s.keep[i] or s.left_out[i] or not may_pass(s, scan, i):
            continue
        a, b = s.pair[i, 0], s.pair[i, 1]
        speed = normal_speed(i, a, s.v_free, scan.point, s.position, scan.normal)
        speed -= normal_speed(i, b, s.v_free, scan.point, s.position, scan.normal)
        if scan.gap[i] + s.h * speed > 0.0:
            continue
        if not asked:
            asked = True
            remember_pairs(s)
            copy_all(s.v_free, s.near.v)
        s.verdict[i] = _verdict(s, scan, i, known)
        known = i


@kernel
def _verdict(s, scan, i, known):
    """Of candidate i with the velocities s.near.v; `known`: one that is judged by them, or -1."""
    a, b = scan.geom_a[i], scan.geom_b[i]
    if known >= 0 and scan.geom_a[known] == a and scan.geom_b[known] == b:
        return s.verdict[known]
    if pressed(s, a, b):
        return PRESSED
    return MEETS if meet(s, scan, a, b) else PASSES


@stage
def pairs(n, geom_body, geom_a, geom_b, pair):
    for i in range(n):
        pair[i, 0], pair[i, 1] = geom_body[geom_a[i]], geom_body[geom_b[i]]


@stage
def _by_gap(n, s, scan):
    """By a given distance, or those that the free motion would close (1998)."""
    if s.search != codes.PREDICTED:
        for i in range(n):
            s.keep[i] = scan.gap[i] <= s.active_gap
        return
    for i in range(n):
        speed = 0.0
        for side in range(2):
            b = s.pair[i, side]
            v = s.v0 if s.inverse_mass[b] > 0.0 else s.v_free
            along = normal_speed(i, b, v, scan.point, s.position, scan.normal)
            speed += along if side == 0 else -along
        s.keep[i] = scan.gap[i] + s.h * speed <= 0.0


@stage
def normal_speed(i, b, velocity, point, position, normal):
    """n.(v + omega x r) of body b at contact i."""
    v, n = velocity[b], normal[i]
    x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
    if v.size == 3:
        return n[0] * (v[0] - v[2] * y) + n[1] * (v[1] + v[2] * x)
    z = point[i, 2] - position[b, 2]
    return (
        n[0] * (v[0] + v[4] * z - v[5] * y)
        + n[1] * (v[1] + v[5] * x - v[3] * z)
        + n[2] * (v[2] + v[3] * y - v[4] * x)
    )


@stage
def by_islands(s, m):
    """Fill s.pick and s.start from the m in s.found and s.body; returns the number of islands.
    Uses label and place."""
    islands = label_contacts(s.body[:m], s.moves, s.root, s.label[:m])
    for k in range(islands + 1):
        s.start[k] = 0
    for j in range(m):
        s.start[s.label[j] + 1] += 1
    for k in range(islands):
        s.jointed[k] = False
        s.start[k + 1] += s.start[k]
        s.place[k] = s.start[k]
    for j in range(m):
        k = s.label[j]
        s.pick[s.place[k]] = s.found[j]
        s.place[k] += 1
    return islands


@kernel
def missed(s, scan):
    """AGAIN if contacts that were left out would end deep, or others pushed though their bodies
    pass: impulses can make a body faster than any was before, as a grain that is squeezed out
    between others, or take it from where it was to meet another."""
    return revise(s, scan, s.v, True)


@kernel
def missed_with_joints(s, scan, j):
    """The same where joints are closed. They would answer if a push was taken back: bodies are
    asked where they went with it. What is dropped though they meet without it comes back."""
    code = revise(s, scan, j.at_v, False)
    if code == codes.AGAIN:
        copy_all(j.free, s.v_free)
    return code


@kernel
def revise(s, scan, v, alone):
    """AGAIN, from the rows, if v says that other contacts take part."""
    if not judges(s) or s.missed_rounds >= MISSED_ROUNDS:
        return codes.GO_ON
    s.missed_rounds += 1
    s.next_stage = s.rows_stage
    added = _add(s, scan, v)
    dropped = s.missed_rounds <= DROPPING_ROUNDS and _drop(s, scan, v, alone)
    if not (added or dropped):
        return codes.GO_ON
    _carry(s, s.rows)
    return codes.AGAIN


@stage
def _carry(s, n):
    """The impulses of the n rows, by their contacts: the next solve starts from them."""
    impulse_vectors(s.frame[:n], s.r[:n], s.impulse[:n], s.spin[:n])
    s.carries = 1
    for i in range(s.candidates):
        s.carried_spin[i] = 0.0
        for e in range(s.carried.shape[1]):
            s.carried[i, e] = 0.0
    for row in range(n):
        i = s.pick[row]
        if i >= 0 and s.verdict[i] != PASSES:
            s.carried_spin[i] = s.spin[row]
            copy_row(s.impulse, row, s.carried, i)


@kernel
def _add(s, scan, v):
    """Force contacts that were left out, and whose bodies meet with velocities v."""
    again = asked = False
    for i in range(s.candidates):
        if s.keep[i] or s.left_out[i]:
            continue
        a, b = s.pair[i, 0], s.pair[i, 1]
        speed = normal_speed(i, a, v, scan.point, s.position, scan.normal)
        speed -= normal_speed(i, b, v, scan.point, s.position, scan.normal)
        if scan.gap[i] + s.h * speed >= -TOUCHING * min(s.size[a], s.size[b]):
            continue
        if may_pass(s, scan, i):
            if not asked:
                asked = True
                copy_all(v, s.near.v)
            if not meet(s, scan, scan.geom_a[i], scan.geom_b[i]):
                continue
        s.forced[i] = again = True
    return again


@kernel
def _drop(s, scan, v, alone):
    """Contacts that pushed, though their bodies pass with velocities v; alone: but for their own
    pushes."""
    again, end = False, 0
    for row in range(s.rows):
        if row < end or s.geom_a[row] < 0 or not s.r[row, 0] > 0.0:
            continue
        i = s.pick[row]
        if s.forced[i] or s.verdict[i] == PRESSED or not may_pass(s, scan, i):
            continue
        a, b = scan.geom_a[i], scan.geom_b[i]
        first = end = row
        while first > 0 and s.geom_a[first - 1] == a and s.geom_b[first - 1] == b:
            first -= 1
        while end < s.rows and s.geom_a[end] == a and s.geom_b[end] == b:
            end += 1
        verdict = PRESSED
        if not pressed(s, a, b):
            for side in range(2):
                copy_row(v, s.pair[i, side], s.near.v, s.pair[i, side])
            for k in range(first, end if alone else first):
                _take_back(s, k, s.inverse)
            verdict = MEETS if meet(s, scan, a, b) else PASSES
        for k in range(first, end):
            s.verdict[s.pick[k]] = verdict
        again = again or verdict == PASSES
    return again


@stage
def _take_back(s, row, inverse):
    """s.near.v without the impulse of a row."""
    dim, v, x, y, z = s.position.shape[1], s.near.v, 0.0, 0.0, 0.0
    for c in range(dim):
        x += s.r[row, c] * s.frame[row, c, 0]
        y += s.r[row, c] * s.frame[row, c, 1]
    if inverse.ndim == 3:  # a constant for the compiler: only one of them is compiled
        for c in range(dim):
            z += s.r[row, c] * s.frame[row, c, 2]
    for side in range(2):
        b, sign = s.body[row, side], 1.0 if side == 0 else -1.0
        m = sign * s.inverse_mass[b]
        v[b, 0] -= m * x
        v[b, 1] -= m * y
        p, q = s.point[row, 0] - s.position[b, 0], s.point[row, 1] - s.position[b, 1]
        if inverse.ndim == 3:
            w = s.point[row, 2] - s.position[b, 2]
            torque = q * z - w * y, w * x - p * z, p * y - q * x
            v[b, 2] -= m * z
            for e in range(3):
                turn = inverse[b, e, 0] * torque[0] + inverse[b, e, 1] * torque[1]
                v[b, 3 + e] -= sign * (turn + inverse[b, e, 2] * torque[2])
        else:
            v[b, 2] -= sign * inverse[b] * (p * y - q * x)


@stage
def impacts(s, scan):
    """COLLIDE if a contact that touches, or closes within the step, approaches with restitution.

    Velocities of the scheme lie half a step before the positions they meet: the law of impact
    sees v0 and half of the kick, which makes no collision by itself. In order 2 it sees v0 at the
    start, and the whole kick at the end.
    """
    if not s.bounces:
        return codes.GO_ON
    h, still, touch = s.h, s.impact_speed, s.impact_gap
    for i in range(s.rows):
        if not (s.eps[i, 0] > 0.0 or s.eps[i, 1] > 0.0):
            continue
        a, b = s.body[i, 0], s.body[i, 1]
        before = normal_speed(i, a, s.v0, s.point, s.position, s.normal)
        before -= normal_speed(i, b, s.v0, s.point, s.position, s.normal)
        free = normal_speed(i, a, s.v_free, s.point, s.position, s.normal)
        free -= normal_speed(i, b, s.v_free, s.point, s.position, s.normal)
        pull = s.impact_share * (free - before)
        u, gap = before + pull, s.gap[i]
        near = gap <= touch or gap + h * (u + pull) <= 0.0
        if near and before < -still and u < -still:
            return codes.COLLIDE
    return codes.GO_ON
