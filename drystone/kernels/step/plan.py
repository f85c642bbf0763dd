"""What sweeps left undone: which islands need Newton's method, which more sweeps.

In this order until an island is solved:
1. accelerated Gauss-Seidel on body velocities, left early where it promises no end;
2. small islands: Newton's method (NEWTON: outside of this loop), many sweeps, everything there is;
3. large islands: Newton where it pays. A wall needs it once and then stands on the warm start; a
   pile that moves would need it at every step, for an accuracy beyond that of the step itself. So
   it is tried on islands slower than what gravity gives in a step, and after each solve that the
   next step does not thank for, the next one waits four times as long;
4. large islands that move or wait: sweeps until the loose tolerance, Newton where they stall. Those
   of up to MEDIUM contacts that move slowly, and that nothing drives, are swept on towards a
   hundredth of it: what sweeps leave of a column is an error of its whole length, that the next
   steps turn into motion. If this brings no rest in CAREFUL steps, there is a long pause.
Without a warm start (WARM) no step may rely on the next: large islands are solved as small ones.
Nothing here looks at the clock, so that a run repeats to the bit on any machine.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import stage
from drystone.kernels.step import names as the
from drystone.kernels.step.prepare import settled


@stage
def plan(s, scan):
    """s.plan of every island; NEWTON if some of it is not done by sweeps."""
    ni, tol, loose = s.count[the.ISLANDS], s.real[the.TOL], s.real[the.LOOSE]
    if s.count[the.WARM] == 0:  # no later step thanks for a solve: none is spared
        loose = tol
    s.count[the.REFUSED] += s.count[the.REFUSED] // 128
    slow, code = 0, the.GO_ON
    for k in range(ni):
        s.plan[k] = the.DONE
        if s.ended[k] == status.SOLVED:
            continue
        if s.start[k + 1] - s.start[k] <= the.SMALL:
            s.plan[k], code = the.SMALL_NEWTON, the.NEWTON
        else:
            s.plan[k] = the.SWEEP
            if loose <= tol or settled(s, k, 1.0):
                s.plan[k] = the.LARGE_NEWTON
                slow += 1
    if s.count[the.TRIED] and slow == 0:  # the last solve still holds: it paid
        s.count[the.PENALTY], s.count[the.WAIT] = 1, 0
    s.count[the.TRIED] = 0
    if slow == 0:
        return code
    if s.count[the.WAIT] > 0 and loose > tol:
        s.count[the.WAIT] -= 1
        for k in range(ni):
            if s.plan[k] == the.LARGE_NEWTON:
                s.plan[k] = the.SWEEP
        return code
    if s.count[the.WAIT] == 0:
        s.count[the.TRIED], s.count[the.PENALTY] = 1, min(4 * s.count[the.PENALTY], the.LONGEST)
        s.count[the.WAIT] = s.count[the.PENALTY]
    return the.NEWTON


@stage
def choose_rest(s, scan):
    """Islands for more sweeps: what Newton was not asked to do, or did not."""
    ni, tol = s.count[the.ISLANDS], s.real[the.TOL]
    s.chosen_count[0] = 0
    s.leave[0] = False
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        if s.plan[k] == the.DONE:
            continue
        careful = size > the.SMALL and tol < s.limit[k] < s.real[the.LOOSE]
        aim = s.limit[k] if careful else s.real[the.LOOSE]
        s.limit[k] = tol
        worst = max(s.residual[k, 0], s.residual[k, 1])
        if worst <= tol:
            s.plan[k] = the.DONE
            continue
        s.limit[k] = the.CLOSER * tol if size <= the.SMALL else aim
        if size > the.SMALL and worst <= s.limit[k]:
            s.plan[k] = the.DONE
            continue
        s.enough[k] = s.resort[k] = s.limit[k]
        # where Coulomb's law is hard to meet, sweeps that crawl are cheaper than Newton's method
        s.most[k] = the.MANY if size <= the.SMALL else max(the.MANY, the.PLENTY // size)
        s.least[k] = s.most[k]
        s.chosen[s.chosen_count[0]] = k
        s.chosen_count[0] += 1
    total = 0.0
    for i in range(s.count[the.ROWS]):
        for a in range(s.r.shape[1]):
            total += s.r[i, a]
    if not np.isfinite(total):  # nothing to go on from: the step's state says where
        s.chosen_count[0] = 0
    return the.GO_ON


@stage
def judge_rest(s, scan):
    """STUCK if an island that is worth it is still not solved; a large one owes LOOSE."""
    code, tol = the.GO_ON, s.real[the.TOL]
    for j in range(s.chosen_count[0]):
        k = s.chosen[j]
        size = s.start[k + 1] - s.start[k]
        s.limit[k] = tol if size <= the.SMALL else s.real[the.LOOSE]
        if max(s.residual[k, 0], s.residual[k, 1]) <= s.limit[k]:
            s.plan[k] = the.DONE
        elif size <= the.MEDIUM:
            code = the.STUCK
    if code == the.GO_ON:
        conclude(s)
    return code


@stage
def conclude(s):
    """Note an island that was not solved."""
    for k in range(s.count[the.ISLANDS]):
        if not max(s.residual[k, 0], s.residual[k, 1]) <= s.limit[k]:
            s.count[the.FAILED] = k
            return
