"""Which contacts take part, in the order of their islands, and whether one of them collides."""

from drystone.kernels._jit import stage
from drystone.kernels.active import activate
from drystone.kernels.islands import label_contacts
from drystone.kernels.step import codes

MISSED_DEPTH = 1e-4  # of the smaller body's size, that a contact which is left out may end inside
MISSED_ROUNDS = 4  # of adding such contacts


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
    for i in range(n):
        s.keep[i] = (s.keep[i] or s.forced[i]) and not s.left_out[i]
        if s.keep[i]:
            s.body[m, 0], s.body[m, 1] = s.pair[i, 0], s.pair[i, 1]
            s.found[m] = i
            m += 1
    return m


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


@stage
def missed(s, scan):
    """AGAIN if contacts that were left out would end deep: impulses can make a body faster than
    any was before, as a grain that is squeezed out between others."""
    if s.search != codes.BY_TRAVEL or not s.drifts:  # who names a distance gets it
        return codes.GO_ON
    h = s.h
    again = False
    for i in range(s.candidates):
        if s.keep[i] or s.left_out[i]:
            continue
        a, b = s.pair[i, 0], s.pair[i, 1]
        speed = normal_speed(i, a, s.v, scan.point, s.position, scan.normal)
        speed -= normal_speed(i, b, s.v, scan.point, s.position, scan.normal)
        if scan.gap[i] + h * speed < -MISSED_DEPTH * min(s.size[a], s.size[b]):
            s.forced[i] = again = True
    s.missed_rounds += 1
    s.next_stage = s.rows_stage
    return codes.AGAIN if again and s.missed_rounds <= MISSED_ROUNDS else codes.GO_ON


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
