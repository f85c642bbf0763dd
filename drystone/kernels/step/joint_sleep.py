"""Sleeping beside joints, which hold what sleeps together (``sleep``).

A motor that is not where or as fast as it should be, and a spring that its load does not balance,
keep their island awake: they are slow for a while, not at rest.
"""

from drystone.kernels._jit import stage
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR, SPRING
from drystone.kernels.step import sleep
from drystone.kernels.step.joint_aim import speed
from drystone.kernels.union_find import root_of

BALANCED = 0.01  # of the acceleration that reaches the speed of sleep within its duration


@stage
def put_to_sleep_planar(s, scan, j):
    """Count slow time, and put to sleep islands that have had enough."""
    sleep.count_slow_time(s)
    _keep_awake(s, j)
    return sleep.stop(s)


@stage
def put_to_sleep_spatial(s, scan, j):
    """The same in space."""
    sleep.count_slow_time(s)
    _keep_awake(s, j)
    return sleep.stop(s)


@stage
def _keep_awake(s, j):
    """Keep islands awake with motors and springs that will move what they act on."""
    for i in range(s.rows):
        block = j.joint[i]
        if block >= 0 and j.block_action[block] >= 0 and _acts(s, j, i, j.block_action[block]):
            for side in range(2):
                if s.own_inverse_mass[s.body[i, side]] > 0.0:
                    s.island_awake[root_of(s.body[i, side], s.root)] = True


@stage
def _acts(s, j, i, act):
    kind = j.action_kind[act]
    if kind == SPEED_MOTOR:
        return j.action_numbers[act, 0] != 0.0
    if kind == POSITION_MOTOR:
        return abs(j.act_bias[act]) > s.sleep_speed
    gained = 0.0
    for a in range(s.r.shape[1] if kind == SPRING else 0):
        change = speed(i, a, s.body, s.J, s.velocity) - speed(i, a, s.body, s.J, s.v0)
        gained = max(gained, abs(change))
    return gained > BALANCED * s.sleep_speed * s.h / s.sleep_duration
