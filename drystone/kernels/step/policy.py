"""The island policy: what is tried on an island, in which order, and until when.

Here ``ds.IslandPolicy`` is evaluated, for contacts and joints, in a step and in solves of rows
alone (collisions, closing of joints). ``layout.SOLVE`` has what is read of the record of the step.

In this order until an island is solved:
1. accelerated Gauss-Seidel on body velocities, left early where it converges too slowly;
   What rested before and now moves, or is not solved, is asked first whether it can rest (REST): if
   rest is a solution it is the one that is taken, see ``solvers.multipliers``;
2. small islands, and those with joints: Newton's method (NEWTON: outside of this loop, but for
   small ones beside joints), many sweeps, everything there is;
3. large islands: Newton where it pays. A wall needs it once and then stands on the warm start; a
   pile that moves would need it at every step, for an accuracy beyond that of the step itself. So
   it is tried on islands slower than what gravity gives in a step. If a solve did not help the
   next step, the wait before the next attempt is multiplied by four;
4. large islands that move or wait: sweeps until the loose tolerance, Newton where they stall. Those
   of up to `medium` contacts that move slowly, and that nothing drives, are swept on towards a
   hundredth of it: what sweeps leave of a column is an error of its whole length, that the next
   steps turn into motion. If this brings no rest in `slow_steps` steps, there is a long pause.
Islands with joints get few sweeps: what joints must tell each other takes too many.
Without a warm start no step may rely on the next: large islands are solved as small ones.
Nothing here reads the clock: runs are bitwise reproducible on any machine.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import stage
from drystone.kernels.step import codes

FASTER = 10.0  # times its speed before: what rested begins to move,
BEGINS = 0.1  # of the speed that is still, at least
LARGE_GAP = 1.0  # energy gap of large islands with joints: what the law forbids is all there is
NO_LIMIT = 1 << 40  # contacts: no island is refused
# a body is thrown if it gains so many times the speed of what pushes it, more than so many times
# that of what is free beside it, and moves by so much of its size in the step
THROWN, KNOCKED, FAR_THROWN = 10.0, 2.0, 0.05


@stage
def share(s):
    """All islands are chosen, each with its tolerance and its number of sweeps. Steps are counted
    by their first solve: a step may take more, where contacts are added or break loose, or with M
    at its end."""
    ni, tol, policy = s.islands, s.tol, s.policy
    s.failed = -1
    s.n_chosen = ni
    s.leave = not s.only_sweeps
    if ni > 0:
        s.methods |= 1
    s.solves += 1
    first = s.solves == 1
    if first:
        s.tight, s.careful = s.tight_steps > 0, s.restless_steps < policy.slow_steps
        s.tight_steps = max(0, s.tight_steps - 1)
    tight = s.tight != 0
    creeps = rests = False
    warm = s.warm_start != 0  # else no later step carries on: each must arrive by itself
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        s.chosen[k] = k
        if s.only_sweeps:
            s.island_tol[k] = s.loose_tol[k] = s.fallback_tol[k] = tol
            s.min_sweeps[k] = s.sweep_limit[k] = s.max_sweeps
            s.residual[k, 0] = s.residual[k, 1] = s.energy_gap[k] = 0.0
            continue
        jointed, large = s.jointed[k], size > policy.small and not s.jointed[k]
        s.island_tol[k], s.sweep_limit[k] = tol, policy.first_sweeps + policy.first_visits // size
        if jointed:
            s.sweep_limit[k] = policy.jointed_sweeps
        if size <= policy.small:
            s.island_tol[k] = tol * policy.closer
            if not jointed and at_rest(s, k):
                # an error that is let pass is a velocity that the next step must stop, by impulses
                # that the one after it must unlearn: only two good solves in a row settle it
                s.island_tol[k] = tol * (policy.closest if tight else policy.closer_at_rest)
                s.sweep_limit[k] = policy.jointed_sweeps if tight else s.sweep_limit[k]
        elif large and warm and s.sweep_tol > tol:
            s.sweep_limit[k] = max(policy.sweeps, policy.visits // size)
            if not settled(s, k, 1.0):
                s.island_tol[k] = s.sweep_tol
        s.loose_tol[k] = s.fallback_tol[k] = s.island_tol[k]
        s.min_sweeps[k] = s.sweep_limit[k]
        if warm and large and s.island_tol[k] < s.sweep_tol:
            # the warm start carries on: what is left of the tolerance is swept in later steps. If
            # Newton's turn comes next, it is not to begin where sweeps have done the easy part
            s.loose_tol[k], s.min_sweeps[k], s.sweep_limit[k] = (
                max(tol, policy.rest_tol * s.sweep_tol),
                policy.rest_sweeps,
                policy.rest_sweeps_most,
            )
            if s.newton_wait == 0:
                s.loose_tol[k], s.sweep_limit[k] = tol, policy.rest_sweeps
            else:
                s.fallback_tol[k] = s.sweep_tol
            rests = True
            if s.loose_tol[k] > tol and slow(s, k):
                _carefully(s, k, size)
        elif warm and large and slow(s, k):
            creeps = True
            if s.careful:
                _carefully(s, k, size)
        s.residual[k, 0] = s.residual[k, 1] = s.energy_gap[k] = 0.0
    if first and creeps:
        s.restless_steps = (s.restless_steps + 1) % policy.slow_period
    elif first and rests:
        s.restless_steps = 0
    return codes.GO_ON


@stage
def _carefully(s, k, size):
    """Sweeps that also end errors which change slowly along a column, see above."""
    s.island_tol[k] = s.loose_tol[k] = s.fallback_tol[k] = s.policy.slow_tol * s.sweep_tol
    s.min_sweeps[k] = s.sweep_limit[k] = max(s.policy.sweeps, s.policy.visits // size)


@stage
def slow(s, k):
    """Whether island k is worth care: no larger than `medium`, nothing drives it, and its bodies
    are not much faster than errors of sweeps can make them."""
    if s.start[k + 1] - s.start[k] > s.policy.medium or s.policy.slow_tol * s.sweep_tol <= s.tol:
        return False
    return not pushed(s, k) and settled(s, k, s.policy.slow_speed)


@stage
def at_rest(s, k):
    """Whether nothing in island k is faster than rest_speed."""
    dim, most = _dim(s), 0.0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                for a in range(dim):
                    most = max(most, abs(s.v[b, a]))
    return most <= s.rest_speed


@stage
def settled(s, k, times):
    """Whether bodies in island k are as slow as rest_speed, or so many times as fast, in the mean
    square over contacts: in a heap of thousands there is always one that still moves. What is let
    go falls at rest_speed at first."""
    dim, total, count = _dim(s), 0.0, 0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                count += 1
                for a in range(dim):
                    total += s.v[b, a] ** 2
    return total <= (1.0 + 1e-9) * count * (times * s.rest_speed) ** 2


@stage
def _dim(s):
    return 2 if s.v.shape[1] == 3 else 3


@stage
def hold(s, scan):
    """REST if islands are to rest where they can: those that were at rest and begin to move, those
    whose sweeps did not arrive, and large ones that come to rest, when it is Newton's turn."""
    code = codes.GO_ON
    for k in range(s.islands):
        s.plan[k] = codes.DONE
        if s.only_sweeps or s.jointed[k] or pushed(s, k):
            continue
        solved = s.ended[k] == status.SOLVED
        first = unmoved(s, k) and not (solved and stays(s, k))
        if s.start[k + 1] - s.start[k] > s.policy.small and not (solved or first):
            first = s.newton_wait == 0 and settled(s, k, 1.0)
        if first:
            s.plan[k], code = codes.REST_FIRST, codes.REST
    return code


@stage
def unmoved(s, k):
    """Whether island k rested before this step."""
    return fastest(s, s.v0, k) <= (s.policy.quiet * s.rest_speed) ** 2


@stage
def stays(s, k):
    """Whether an island that rested still does. Impulses that stopped what moved, however little,
    are no warm start for what rests, and would move it as fast as it was: what begins to move at
    once is asked anew. What sweeps leave grows slowly, step by step: it is stopped in time."""
    before, now = fastest(s, s.v0, k), fastest(s, s.v, k)
    still = (s.policy.still * s.rest_speed) ** 2
    return now <= still and (now <= BEGINS**2 * still or now <= FASTER**2 * before)


@stage
def fastest(s, v, k):
    """Square of the greatest speed in island k, turning or not; inf for what is no number."""
    dim, most = _dim(s), 0.0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                moved = turned = 0.0
                for a in range(v.shape[1]):
                    if a < dim:
                        moved += v[b, a] ** 2
                    else:
                        turned += (v[b, a] * s.size[b]) ** 2
                most = max(most, moved, turned) if moved + turned < np.inf else np.inf
    return most


@stage
def pushed(s, k):
    """Whether a body of island k moves as it is told to."""
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if not s.moves[b]:
                for a in range(s.v.shape[1]):
                    if s.v[b, a] != 0.0:
                        return True
    return False


@stage
def restrain(s, scan):
    """THROWS if a prescribed motion throws bodies."""
    for k in range(s.islands):
        if throws(s, s.v, k):
            return codes.THROWS
    return codes.GO_ON


@stage
def throws(s, v, k):
    """Whether velocities v (nb, dof) throw a body of island k that a prescribed motion pushes.

    What is squeezed out between hard bodies is faster than these by 1 / angle: without a bound as
    they come to face each other, and then by no path that a step could follow. Joints guide what
    they hold: a lever may be as fast as it is long.
    """
    if s.jointed[k] or not pushed(s, k):
        return False
    pushing = free = 0.0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                free = max(free, _speed(s, s.v_free, b, 0.0))
            else:
                pushing = max(pushing, _speed(s, s.v_free, b, 0.0))
    most = max(THROWN * pushing, KNOCKED * free)
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                gained = _speed(s, v, b, 1.0)
                if gained > most and s.h * gained > FAR_THROWN * s.size[b]:
                    return True
    return False


@stage
def _speed(s, v, b, less):
    """Of body b's fastest point, of its velocity without `less` times its free one."""
    dim, along, turn = _dim(s), 0.0, 0.0
    for a in range(v.shape[1]):
        x = v[b, a] - less * s.v_free[b, a]
        if a < dim:
            along += x * x
        else:
            turn += x * x
    return np.sqrt(along) + (np.sqrt(turn) * s.size[b] if turn > 0.0 else 0.0)


@stage
def plan(s, scan):
    """s.plan of every island; NEWTON if some of it is not done by sweeps."""
    ni, tol, loose = s.islands, s.tol, s.sweep_tol
    if s.warm_start == 0:  # no later step continues from what is left
        loose = tol
    first, slow, code = s.solves == 1, 0, codes.GO_ON
    if first:
        s.newton_refused = min(s.newton_refused + s.newton_refused // 128, NO_LIMIT)
    for k in range(ni):
        s.plan[k] = codes.DONE
        if s.ended[k] == status.SOLVED or s.only_sweeps:
            continue
        if s.start[k + 1] - s.start[k] <= s.policy.small or s.jointed[k]:
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
def reset_sweeps(s):
    """No island was swept yet."""
    for k in range(s.islands):
        s.sweeps[k] = 0


@stage
def count_sweeps(s):
    """Add the sweeps of the islands to the iterations of the step."""
    for k in range(s.islands):
        s.iterations += s.sweeps[k]
    return codes.GO_ON


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
        careful = size > s.policy.small and tol < s.island_tol[k] < s.sweep_tol
        aim = s.island_tol[k] if careful else s.sweep_tol
        s.island_tol[k] = tol
        worst = max(s.residual[k, 0], s.residual[k, 1])
        if worst <= tol and gap_holds(s, k):
            s.plan[k] = codes.DONE
            continue
        s.island_tol[k] = s.policy.closer * tol if size <= s.policy.small else aim
        if size > s.policy.small and worst <= s.island_tol[k] and gap_holds(s, k):
            s.plan[k] = codes.DONE
            continue
        s.loose_tol[k] = s.fallback_tol[k] = s.island_tol[k]
        # where Coulomb's law is hard to meet, sweeps that crawl are cheaper than Newton's method
        s.sweep_limit[k] = s.policy.sweeps
        if size > s.policy.small:
            s.sweep_limit[k] = max(s.policy.sweeps, s.policy.visits // size)
        s.min_sweeps[k] = s.sweep_limit[k]
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
    """UNSOLVED if an island that is worth it is still not solved; a large one is judged by
    `sweep_tol`."""
    code, tol = codes.GO_ON, s.tol
    if s.only_sweeps:  # an island that jams is recognised by the host
        conclude(s)
        return codes.UNSOLVED if s.failed >= 0 else codes.GO_ON
    for j in range(s.n_chosen):
        k = s.chosen[j]
        size = s.start[k + 1] - s.start[k]
        s.island_tol[k] = tol if size <= s.policy.small else s.sweep_tol
        if max(s.residual[k, 0], s.residual[k, 1]) <= s.island_tol[k] and gap_holds(s, k):
            s.plan[k] = codes.DONE
        elif size <= s.policy.medium:
            code = codes.UNSOLVED
    if code == codes.GO_ON:
        conclude(s)
    return code


@stage
def conclude(s):
    """Note an island that was not solved; else one whose velocities are not trusted."""
    for k in range(s.islands):
        if not max(s.residual[k, 0], s.residual[k, 1]) <= s.island_tol[k]:
            s.failed = k
            return
    for k in range(s.islands):
        if not gap_holds(s, k):
            s.failed = k
            return


@stage
def gap_holds(s, k):
    """Whether velocities of island k are known to sqrt(tol) of what its impulses change; of a large
    one that a motor may jam, at all. Other large ones are judged by `sweep_tol` alone."""
    if s.start[k + 1] - s.start[k] <= s.policy.small:
        return s.energy_gap[k] <= s.tol
    return not s.jointed[k] or s.energy_gap[k] <= LARGE_GAP


@stage
def inaccurate(s, k):
    """Whether island k is within its residual, but not within its energy gap."""
    return max(s.residual[k, 0], s.residual[k, 1]) <= s.island_tol[k] and not gap_holds(s, k)
