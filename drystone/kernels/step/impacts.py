"""Is there a collision with restitution? They are rare, and solved elsewhere."""

from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.choose import normal_speed


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
