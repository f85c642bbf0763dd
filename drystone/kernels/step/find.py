"""Around detection: poses and how far bodies can travel before it, room and depth after it."""

from drystone.kernels._jit import stage
from drystone.kernels.active import body_reach
from drystone.kernels.poses import geom_poses
from drystone.kernels.step import codes
from drystone.kernels.step.meet import NOT_ASKED

TRAVEL_SLACK = 1e-6  # of a body's size, added to what it can travel: resting contacts stay
MOST_MARGIN = 1.0  # of a geom's size: the most its search distance grows because others are fast


@stage
def reach(s, scan):
    """Poses of geoms; contacts are looked for within what bodies can travel in this step, and a
    little beyond."""
    geom_poses(s.geom_body, s.geom_offset, s.geom_turn, s.position, s.orientation, scan.x, scan.R)
    fastest = s.longest_path = body_reach(s.v_free, s.size, s.h, s.reach)
    for b in range(s.reach.size):
        s.reach[b] += s.slack[b]
    return margins(s, scan, fastest)


@stage
def margins(s, scan, fastest):
    """Within which contacts of each geom are looked for."""
    for g in range(scan.margin.size):
        if s.search == codes.GIVEN:
            scan.margin[g] = 0.5 * s.active_gap
        else:
            mine = s.reach[s.geom_body[g]]
            scan.margin[g] = max(mine, min(fastest, MOST_MARGIN * s.geom_size[g]))
    return codes.GO_ON


@stage
def admit(s, scan):
    """Whether there is room for what was found; the greatest depth, also as part of a size."""
    n = s.candidates = scan.n_contacts
    if n > s.keep.size:
        s.needed = n
        return codes.NO_ROW_ROOM
    deepest, part, s.missed_rounds, s.carries = 0.0, 0.0, 0, 0
    a = b = -1
    for i in range(n):
        s.forced[i], s.verdict[i] = False, NOT_ASKED
        depth = -scan.gap[i]
        if depth > 0.0:
            deepest = max(deepest, depth)
            one, other = s.geom_body[scan.geom_a[i]], s.geom_body[scan.geom_b[i]]
            size = min(s.size[one], s.size[other])
            if depth > part * size:
                part, a, b = depth / size, one, other
    s.begun.infeasibility, s.begun.depth = deepest, part
    s.begun.deep_a, s.begun.deep_b = a, b
    return codes.GO_ON
