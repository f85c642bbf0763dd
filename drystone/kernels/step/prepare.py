"""Velocities with the first guess of the impulses, and what islands may cost."""

from drystone.kernels import contact_frames as frames
from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all


@stage
def prepare_planar(s, scan):
    n = s.rows
    frames.velocities_planar(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_planar(s, scan)
    return share(s)


@stage
def prepare_spatial(s, scan):
    n = s.rows
    frames.velocities_spatial(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_spatial(s, scan)
    return share(s)


@stage
def push_planar(s, scan):
    """v = v_free + M^-1 J' r."""
    n = s.rows
    copy_all(s.v_free, s.v)
    frames.push_planar(n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v)
    return codes.GO_ON


@stage
def push_spatial(s, scan):
    n = s.rows
    copy_all(s.v_free, s.v)
    frames.push_spatial(
        n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v
    )
    return codes.GO_ON


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
    restless = rests = False
    warm = s.warm_start != 0  # else no later step carries on: each must arrive by itself
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        s.chosen[k] = k
        if s.only_sweeps:
            s.limit[k] = s.enough[k] = s.resort[k] = tol
            s.least[k] = s.most[k] = s.max_sweeps
            s.residual[k, 0] = s.residual[k, 1] = 0.0
            continue
        s.limit[k], s.most[k] = tol, policy.first_sweeps + policy.first_visits // size
        if size <= policy.small:
            s.limit[k] = tol * policy.closer
            if at_rest(s, k):
                # an error that is let pass is a velocity that the next step must stop, by impulses
                # that the one after it must unlearn: only two good solves in a row settle it
                s.limit[k] = tol * (policy.closest if tight else policy.closer_at_rest)
                s.most[k] = policy.jointed_sweeps if tight else s.most[k]
        elif warm and s.sweep_tol > tol:
            s.most[k] = max(policy.sweeps, policy.visits // size)
            if not settled(s, k, 1.0):
                s.limit[k] = s.sweep_tol
        s.enough[k] = s.resort[k] = s.limit[k]
        s.least[k] = s.most[k]
        if warm and size > policy.small and s.limit[k] < s.sweep_tol:
            # the warm start carries on: what is left of the tolerance is swept in later steps. If
            # Newton's turn comes next, it is not to begin where sweeps have done the easy part
            s.enough[k], s.least[k], s.most[k] = (
                max(tol, policy.rest_tol * s.sweep_tol),
                policy.rest_sweeps,
                policy.rest_sweeps_most,
            )
            if s.newton_wait == 0:
                s.enough[k], s.most[k] = tol, policy.rest_sweeps
            else:
                s.resort[k] = s.sweep_tol
            rests = True
            if s.enough[k] > tol and slow(s, k):
                _carefully(s, k, size)
        elif warm and size > policy.small and slow(s, k):
            restless = True
            if s.careful:
                _carefully(s, k, size)
        s.residual[k, 0] = s.residual[k, 1] = 0.0
    if first and restless:
        s.restless_steps = (s.restless_steps + 1) % policy.slow_period
    elif first and rests:
        s.restless_steps = 0
    return codes.GO_ON


@stage
def _carefully(s, k, size):
    """Sweeps that also end errors which change slowly along a column, see ``plan``."""
    s.limit[k] = s.enough[k] = s.resort[k] = s.policy.slow_tol * s.sweep_tol
    s.least[k] = s.most[k] = max(s.policy.sweeps, s.policy.visits // size)


@stage
def slow(s, k):
    """Whether island k is worth care: no larger than `medium`, nothing drives it, and its bodies
    are not much faster than errors of sweeps can make them."""
    if s.start[k + 1] - s.start[k] > s.policy.medium or s.policy.slow_tol * s.sweep_tol <= s.tol:
        return False
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if not s.moves[b]:
                for a in range(s.v.shape[1]):
                    if s.v[b, a] != 0.0:
                        return False
    return settled(s, k, s.policy.slow_speed)


@stage
def at_rest(s, k):
    """Whether nothing in island k is faster than rest_speed."""
    dim, most = s.point.shape[1], 0.0
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
    dim, total, count = s.point.shape[1], 0.0, 0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                count += 1
                for a in range(dim):
                    total += s.v[b, a] ** 2
    return total <= (1.0 + 1e-9) * count * (times * s.rest_speed) ** 2
