"""Steps that are divided: halves, and halves of halves, where joints would stay open or do work.

Nothing of a part is kept before it is judged, so a part that is tried again in halves begins where
it began. The list of stages runs once for each part. Velocities lie half a step behind the
positions, whatever the length of that step was: forces lead them from the middle of the last part
to that of this one, which is how long the kick of a part is.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.find import margins
from drystone.kernels.step.joint_close import OPEN_JOINT
from drystone.kernels.step.kicks import join

LEVELS = 52  # a step is counted in parts of 2^-52: more than it is ever halved
WHOLE = 1 << LEVELS
GROWTH = 8.0  # of the energy that joints make, from steps to steps twice as long
HELPED = (
    0.9  # of an opening, that a step of half the length must leave: else its length is no cause
)


@stage
def enter(s, scan, j):
    """A part of the step begins: all of it, if it is not divided. PART if forces or prescribed
    motions of a part are to be asked for."""
    if not s.drifts:  # the second kick of a part
        return codes.GO_ON
    if j.level == 0 and j.done == 0:
        j.whole, j.whole_rest, j.whole_impact = s.h, s.rest_speed, s.impact_speed
        j.behind = 0.5 * s.h - j.lead
        j.parts = j.wanted = 0
        j.open_before = np.inf
        j.level = j.start
    if j.level > 0 and j.done == 0:
        copy_all(s.position, j.began_position)
        copy_all(s.orientation, j.began_orientation)
        copy_all(s.velocity, j.began_velocity)
    j.looks = j.earlier = j.by_host = 0
    part = 0.5**j.level
    s.h, s.rest_speed = part * j.whole, part * j.whole_rest
    s.impact_speed = max(j.least_impact, part * j.whole_impact)
    s.kick = 0.5 * s.h
    if j.kicks == 1:
        s.kick += j.behind
        s.impact_share = j.behind / s.kick
    asked = s.forced_by_python or s.driven.size > 0
    return codes.BEGIN_PART if j.level > 0 and asked else codes.GO_ON


@stage
def widen(s, scan, j):
    """Contacts are looked for where bodies went when this part was tried before."""
    if j.looks == 0:
        return codes.GO_ON
    fastest = s.longest_path
    for b in range(s.reach.size):
        s.reach[b] = max(s.reach[b], j.travel[b])
        fastest = max(fastest, j.travel[b])
    return margins(s, scan, fastest)


@stage
def judge(s, j, gain):
    """AGAIN if a part is to be tried in halves: joints are open, and were more so in a longer one,
    or made more energy than they may (gain > 1). TORN if they are open and nothing helps."""
    torn = not j.opening <= j.torn
    helps = torn or OPEN_JOINT < j.opening < HELPED * j.open_before
    if helps and j.scheme == codes.EXACT_JOINTS and j.level < j.most:
        j.open_before = j.opening
        return _halve(s, j)
    if torn:
        return codes.TORN_JOINTS
    if gain > 1.0 and j.level < j.gaining:
        return _halve(s, j)
    _want(j, gain)
    return codes.GO_ON


@stage
def _halve(s, j):
    j.level += 1
    s.next_stage = 0
    return codes.AGAIN


@stage
def _want(j, gain):
    """How often the next step is to be divided: as this one, unless parts so much longer would do.
    Steps that change their length at every other turn drift in energy."""
    level = j.level
    while level > 0 and gain <= 1.0 / GROWTH:
        level -= 1
        gain *= GROWTH
    j.wanted = max(j.wanted, min(level, j.gaining))


@stage
def next_part(s, scan, j):
    """A part is made: its report joins those of the parts before it. AGAIN for the next one, until
    the step is whole."""
    if j.parts > 0:
        join(j.sum, s.report)
        s.report.retries = j.parts
    j.parts += 1
    j.done += 1 << (LEVELS - j.level)
    if j.kicks == 1:
        j.behind = 0.5 * s.h
    if j.done < WHOLE:
        j.open_before = np.inf
        copy_all(s.report_row, j.sum_row)
        left, level = j.done, LEVELS  # the longest part that may begin here
        while left % 2 == 0:
            left //= 2
            level -= 1
        j.level = max(level, j.start)
        s.next_stage = 0
        return codes.AGAIN
    if j.kicks == 1:
        j.lead = 0.5 * j.whole - j.behind
    j.start = j.wanted
    j.level = j.done = 0
    s.h, s.rest_speed, s.impact_speed = j.whole, j.whole_rest, j.whole_impact
    return codes.GO_ON


@stage
def verdict(s, scan, j):
    """VERDICT: who asked for it decides whether a part that was not solved is kept."""
    return codes.VERDICT
