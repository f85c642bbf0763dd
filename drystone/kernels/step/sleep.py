"""Sleeping: islands that have been slow for long stop until something touches them.

Whatever moves wakes its island, which contacts within reach and joints make. Bodies that sleep have
no inverse mass and no velocity: for the solve they are part of the ground.
"""

from drystone.kernels._jit import kernel, stage
from drystone.kernels.active import body_reach
from drystone.kernels.ledger import kinetic
from drystone.kernels.step import codes
from drystone.kernels.step.begin import kick, turn_inverse
from drystone.kernels.step.choose import pairs
from drystone.kernels.union_find import root_of, unite


@kernel
def wake(s, scan):
    """s.moves: sleepers in reach of a body that moves are woken. Contacts that no impulse can
    change are left out."""
    if _wake(s, scan):
        turn_inverse(s, s.orientation)
        kick(s, scan)
    _still(s)
    return codes.GO_ON


@stage
def _wake(s, scan):
    """Who sleeps in this step; whether one of them woke that this step had already stilled."""
    n, root, island_awake, keeps_awake = s.candidates, s.root, s.island_awake, s.keeps_awake
    pairs(n, s.geom_body, scan.geom_a, scan.geom_b, s.pair)
    for b in range(root.size):
        root[b], island_awake[b] = b, False
        keeps_awake[b] = s.own_inverse_mass[b] > 0.0 and not s.asleep[b]
    _drive(s)
    for i in range(n):
        if _near(s, scan, i):
            _join(s, s.pair[i, 0], s.pair[i, 1])
    for k in range(s.joined.shape[0]):
        _join(s, s.joined[k, 0], s.joined[k, 1])
    for i in range(n):
        if _near(s, scan, i):
            _mark_awake(s, s.pair[i, 0], s.pair[i, 1])
    for k in range(s.joined.shape[0]):
        _mark_awake(s, s.joined[k, 0], s.joined[k, 1])
    late = False
    for b in range(root.size):
        if s.asleep[b] and island_awake[root_of(b, root)]:
            s.asleep[b], s.slow_time[b] = False, 0.0
        if s.asleep[b] and _pushed(s, b):
            s.asleep[b] = False
        moves = s.own_inverse_mass[b] > 0.0 and not s.asleep[b]
        if moves and not s.moves[b]:
            s.inverse_mass[b], late = s.own_inverse_mass[b], True
        s.moves[b] = moves
    for i in range(n):
        s.left_out[i] = not (s.moves[s.pair[i, 0]] or s.moves[s.pair[i, 1]])
    return late


@stage
def _drive(s):
    """Prescribed bodies that move keep others awake."""
    for k in range(s.driven.size):
        b = s.driven[k]
        for a in range(s.v_free.shape[1]):
            if s.v_free[b, a] != 0.0:
                s.keeps_awake[b] = True


@stage
def _near(s, scan, i):
    """Whether a contact wakes: within what one of its bodies can travel, or found to bear load."""
    return scan.gap[i] <= max(s.reach[s.pair[i, 0]], s.reach[s.pair[i, 1]]) or s.forced[i]


@stage
def _join(s, a, b):
    if s.own_inverse_mass[a] > 0.0 and s.own_inverse_mass[b] > 0.0:
        unite(a, b, s.root)


@stage
def _mark_awake(s, a, b):
    """Mark the island of two bodies if one of them keeps others awake."""
    if s.keeps_awake[a] or s.keeps_awake[b]:
        if s.own_inverse_mass[a] > 0.0:
            s.island_awake[root_of(a, s.root)] = True
        if s.own_inverse_mass[b] > 0.0:
            s.island_awake[root_of(b, s.root)] = True


@stage
def _pushed(s, b):
    """Whether a force acts on a sleeper, or a velocity was given to it."""
    pushed = False
    for a in range(s.force.shape[1]):
        pushed = pushed or s.force[b, a] != 0.0 or s.v0[b, a] != 0.0
    return pushed


@stage
def _still(s):
    """Sleepers have no velocity, and nothing can move them."""
    for b in range(s.asleep.size):
        if s.asleep[b]:
            s.inverse_mass[b] = 0.0
            s.inverse[b] = 0.0
            for a in range(s.v0.shape[1]):
                s.v0[b, a] = s.v_free[b, a] = 0.0


@stage
def touched(s, scan):
    """AGAIN if a sleeper bears load from a body that moves: it wakes, and the step is solved with
    it."""
    again = False
    for i in range(s.rows):
        if s.geom_a[i] < 0:  # joints hold none that sleeps to one that moves
            continue
        if s.r[i, 0] > 0.0 and (s.asleep[s.body[i, 0]] or s.asleep[s.body[i, 1]]):
            s.forced[s.pick[i]] = again = True
    s.next_stage = s.rows_stage
    return codes.AGAIN if again else codes.GO_ON


@stage
def put_to_sleep(s, scan):
    """Count slow time, and put to sleep islands that have been slow for long enough; the energy
    ledger has what it costs."""
    count_slow_time(s)
    return stop(s)


@stage
def stop(s):
    """Put islands to sleep that nothing moves."""
    if _stop(s):
        _book(s, kinetic(s.mass, s.end_inertia, s.velocity))
    return codes.GO_ON


@stage
def count_slow_time(s):
    """s.island_awake: islands with bodies that have not been slow for long, by their roots."""
    root, island_awake, keeps_awake, speed = s.root, s.island_awake, s.keeps_awake, s.fast
    body_reach(s.velocity, s.size, 1.0, speed)
    for b in range(root.size):
        s.slow_time[b] = s.slow_time[b] + s.h if speed[b] < s.sleep_speed else 0.0
        root[b], island_awake[b] = b, False
        awake = s.own_inverse_mass[b] > 0.0 and not s.asleep[b]
        keeps_awake[b] = awake and not _ready(s, b)
    _drive(s)
    for i in range(s.rows):
        _join(s, s.body[i, 0], s.body[i, 1])
    for i in range(s.rows):
        _mark_awake(s, s.body[i, 0], s.body[i, 1])


@stage
def _stop(s):
    """s.asleep and its count; whether somebody fell asleep that was not quite at rest."""
    root, island_awake, keeps_awake = s.root, s.island_awake, s.keeps_awake
    moved = False
    for i in range(s.rows):
        for side in range(2):
            b = s.body[i, side]
            if s.asleep[b] or keeps_awake[b] or not s.own_inverse_mass[b] > 0.0:
                continue
            if not island_awake[root_of(b, root)]:
                s.asleep[b] = True
                for a in range(s.velocity.shape[1]):
                    moved = moved or s.velocity[b, a] != 0.0
                    s.velocity[b, a] = 0.0
    count = 0
    for b in range(root.size):
        if s.asleep[b]:
            count += 1
    s.report.asleep = count
    return moved


@stage
def _ready(s, b):
    """Whether a body has been slow for long enough, and no force acts on it."""
    ready = s.slow_time[b] >= s.sleep_duration
    for a in range(s.force.shape[1]):
        ready = ready and s.force[b, a] == 0.0
    return ready


@stage
def _book(s, kinetic):
    """Energy that ends because bodies stop is an error of the scheme."""
    out = s.report
    lost = out.kinetic - kinetic
    out.kinetic = kinetic
    out.change -= lost
    out.integration -= lost
