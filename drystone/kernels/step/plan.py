"""What sweeps left undone: which islands need Newton's method, which more sweeps.

In this order until an island is solved:
1. accelerated Gauss-Seidel on body velocities, left early where it promises no end;
2. small islands: Newton's method (NEWTON: outside of this loop), many sweeps, everything there is;
3. large islands: Newton where it pays. A wall needs it once and then stands on the warm start; a
   pile that moves would need it at every step, for an accuracy beyond that of the step itself. So
   it is tried on islands slower than what gravity gives in a step. If a solve did not help the
   next step, the wait before the next attempt is multiplied by four;
4. large islands that move or wait: sweeps until the loose tolerance, Newton where they stall. Those
   of up to `medium` contacts that move slowly, and that nothing drives, are swept on towards a
   hundredth of it: what sweeps leave of a column is an error of its whole length, that the next
   steps turn into motion. If this brings no rest in `slow_steps` steps, there is a long pause.
Without a warm start no step may rely on the next: large islands are solved as small ones.
Nothing here looks at the clock, so that a run repeats to the bit on any machine.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.prepare import settled

NEVER = 1 << 40  # contacts: no island is refused


@stage
def plan(s, scan):
    """s.plan of every island; NEWTON if some of it is not done by sweeps."""
    ni, tol, loose = s.islands, s.tol, s.sweep_tol
    if s.warm_start == 0:  # no later step thanks for a solve: none is spared
        loose = tol
    first, slow, code = s.solves == 1, 0, codes.GO_ON
    if first:
        s.newton_refused = min(s.newton_refused + s.newton_refused // 128, NEVER)
    for k in range(ni):
        s.plan[k] = codes.DONE
        if s.ended[k] == status.SOLVED or s.only_sweeps:
            continue
        if s.start[k + 1] - s.start[k] <= s.policy.small:
            s.plan[k], code = codes.SMALL_NEWTON, codes.NEWTON
        else:
            s.plan[k] = codes.SWEEP
            if loose <= tol or settled(s, k, 1.0):
                s.plan[k] = codes.LARGE_NEWTON
                slow += 1
    if first and s.newton_tried and slow == 0:  # the last solve still holds: it paid
        s.newton_interval, s.newton_wait = 1, 0
    if first:
        s.newton_tried = 0
    if slow == 0:
        return code
    if s.newton_wait > 0 and loose > tol:
        s.newton_wait -= first
        for k in range(ni):
            if s.plan[k] == codes.LARGE_NEWTON:
                s.plan[k] = codes.SWEEP
        return code
    if s.newton_wait == 0 and s.newton_tried == 0:  # a step tries once, in however many solves
        s.newton_tried = s.solves
        s.newton_interval = min(4 * s.newton_interval, s.policy.newton_interval)
        s.newton_wait = s.newton_interval
    return codes.NEWTON


@stage
def choose_rest(s, scan):
    """Islands for more sweeps: what Newton was not asked to do, or did not."""
    ni, tol = s.islands, s.tol
    s.n_chosen = 0
    s.leave = False
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        if s.plan[k] == codes.DONE:
            continue
        careful = size > s.policy.small and tol < s.limit[k] < s.sweep_tol
        aim = s.limit[k] if careful else s.sweep_tol
        s.limit[k] = tol
        worst = max(s.residual[k, 0], s.residual[k, 1])
        if worst <= tol:
            s.plan[k] = codes.DONE
            continue
        s.limit[k] = s.policy.closer * tol if size <= s.policy.small else aim
        if size > s.policy.small and worst <= s.limit[k]:
            s.plan[k] = codes.DONE
            continue
        s.enough[k] = s.resort[k] = s.limit[k]
        # where Coulomb's law is hard to meet, sweeps that crawl are cheaper than Newton's method
        s.most[k] = s.policy.sweeps
        if size > s.policy.small:
            s.most[k] = max(s.policy.sweeps, s.policy.visits // size)
        s.least[k] = s.most[k]
        s.chosen[s.n_chosen] = k
        s.n_chosen += 1
    total = 0.0
    for i in range(s.rows):
        for a in range(s.r.shape[1]):
            total += s.r[i, a]
    if not np.isfinite(total):  # nothing to go on from: the step's state says where
        s.n_chosen = 0
    return codes.GO_ON


@stage
def judge_rest(s, scan):
    """STUCK if an island that is worth it is still not solved; a large one owes `sweep_tol`."""
    code, tol = codes.GO_ON, s.tol
    if s.only_sweeps:  # what they leave is said; a jam is still to be told from it
        conclude(s)
        return codes.STUCK if s.failed >= 0 else codes.GO_ON
    for j in range(s.n_chosen):
        k = s.chosen[j]
        size = s.start[k + 1] - s.start[k]
        s.limit[k] = tol if size <= s.policy.small else s.sweep_tol
        if max(s.residual[k, 0], s.residual[k, 1]) <= s.limit[k]:
            s.plan[k] = codes.DONE
        elif size <= s.policy.medium:
            code = codes.STUCK
    if code == codes.GO_ON:
        conclude(s)
    return code


@stage
def conclude(s):
    """Note an island that was not solved."""
    for k in range(s.islands):
        if not max(s.residual[k, 0], s.residual[k, 1]) <= s.limit[k]:
            s.failed = k
            return
