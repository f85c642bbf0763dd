"""Islands of contacts alone: accelerated Gauss-Seidel on light contacts, W and P never formed.

Contacts and bodies are packed into lines of numbers (``light_spatial``, ``light_planar``); island
k owns the lines start[k]:start[k + 1] and is judged by its own scale (Anitescu et al. 1998, 2.4).

Sweeps alone crawl in deep piles. They are accelerated as gradients are by Nesterov: a sweep starts
from a point beyond the last one's end, y + beta (y - y_before), with beta growing towards one;
where the change g of a sweep grows by more than RESTART, or little by little by more than GROWN,
beta starts again from zero. On piles,
walls, arches and shaken grains this takes a fifth fewer sweeps to 1e-3 than conjugate gradients in
their nonlinear form, and two vectors less. v is linear in r, and a contact reads no impulse but
its own: so its part of the step beyond waits for its turn in the sweep, and what is left of the
acceleration is a pass over the bodies. What is judged and returned always comes from a sweep.

Most contacts that are in reach are open (two thirds of shaken grains'). In the plane, one that
stays so is left out, but for every WAKE-th sweep; judging sees them all.

Judging costs two thirds of a sweep. |g|, which a sweep knows at no cost, follows the residual by a
factor that changes slowly: so the residual is asked for where that promises the end, and else now
and then.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import stage
from drystone.kernels.light_judge import free_scales, judge_spatial, ratios
from drystone.kernels.light_planar import judge_planar, set_friction, sweep_planar
from drystone.kernels.light_spatial import sweep_spatial

MANY = 1000  # contacts of an island whose sweeps are dear: it is left sooner
EVERY = 8  # sweeps between judgings, once the first few are done
SOON = 3  # sweeps until an island is judged that was left for a looser tolerance
RESTART = 1.1  # of |g|^2, from one sweep to the next
GROWN = 1.5  # of |g|^2, from its least on: in large heaps it may grow slowly, and for ever
SETTLE, WAKE = 3, 6  # sweeps over all contacts at the start, and how often later ones are
TINY = 64  # contacts of an island all of which are always swept
GO_ON = -1  # no status: the island is swept on


@stage
def solve_light_islands(
    chosen, start, body, bias, mu, law, tol, enough, resort, least, most, leave, q, v, r, u, ended,
    sweeps, residual, contact, motion, seen, mine, awake,
):  # fmt: skip
    """Sweep the chosen islands until both residuals are <= tol (ni,), or <= enough (ni,) after
    least (ni,) sweeps, or most (ni,) sweeps; where that is out of reach, until they are <= resort
    (ni,), if that is more than enough.

    For contacts alone, of Coulomb's law in space or of either law in the plane. chosen (n,):
    numbers of islands; body (nc, 2); v (nb, dof) holds v_free + M^-1 J' r on entry and on return;
    q (nc, d): J v_free + bias; u (nc, d): velocities at the end; leave: stop early where the rate
    so far promises no end. ended (ni,): status codes; sweeps (ni,): added to; residual (ni, 2).
    contact, motion: from ``pack_spatial`` or ``pack_planar``; seen, mine (nb,), awake (nc,): work.
    Returns 0.
    """
    for b in range(seen.size):
        seen[b] = -1
    d, dof = r.shape[1], v.shape[1]
    at = 14 if d == 2 else 29
    for k in chosen:
        lo, hi = start[k], start[k + 1]
        members = _load(k, lo, hi, body, seen, mine, bias, mu, r, v, contact, motion)
        plain_q, free_q = free_scales(lo, hi, q, contact, 13 if d == 2 else 27)
        ended[k], count, residual[k, 0], residual[k, 1] = _solve(
            lo, hi, body, mine[:members], law, tol[k], enough[k], resort[k], least[k], most[k],
            leave, plain_q, free_q, u, contact, motion, awake,
        )  # fmt: skip
        sweeps[k] += count
        for i in range(lo, hi):
            for a in range(d):
                r[i, a] = contact[i, at + a]
        for j in range(members):
            for e in range(dof):
                v[mine[j], e] = motion[mine[j], e]
    return 0


@stage
def _load(k, lo, hi, body, seen, mine, bias, mu, r, v, contact, motion):
    """What a solve brings into the lines; bodies of the island into mine; returns how many."""
    count = 0
    for i in range(lo, hi):
        load_contact(i, bias, mu, r, i, contact)
        for s in range(2):
            b = body[i, s]
            if seen[b] != k:
                seen[b] = k
                mine[count] = b
                count += 1
                load_body(b, v, b, motion)
    return count


@stage
def load_contact(i, bias, mu, r, j, line):
    """What a solve brings of contact i, into line j."""
    d = r.shape[1]
    at_bias, at = (6, 14) if d == 2 else (15, 29)
    if d == 2:
        set_friction(j, mu[i], line)
    else:
        line[j, 26], line[j, 28] = mu[i], 0.0
    for a in range(d):
        line[j, at_bias + a] = bias[i, a]
        line[j, at + a] = r[i, a]
        line[j, at + d + a] = r[i, a]


@stage
def load_body(b, v, j, state):
    """Velocities of body b into line j, also as those of a sweep before."""
    before = 6 if v.shape[1] == 3 else 14
    for e in range(v.shape[1]):
        state[j, e] = v[b, e]
        state[j, before + e] = v[b, e]


@stage
def _solve(
    lo, hi, body, mine, law, tol, enough, resort, least, most, leave, plain_q, free_q, u, contact,
    motion, awake,
):  # fmt: skip
    """Status, sweeps and both residuals of one island."""
    planar = u.shape[1] == 2
    m = 0
    done, upto, last, before = 0, 1, 0, np.inf
    old, new, low, goal, t = np.inf, np.inf, np.inf, -1.0, 1.0
    while True:
        while done < min(upto, most):
            beta = 0.0
            if done > 0:
                beta, t, low = momentum(new, old, low, t)
                old = new
                _go_on(mine, beta, motion, 3 if planar else 6)
            if planar:
                if wakes_all(done, hi - lo):
                    m = wake(lo, hi, awake)
                new, m = sweep_planar(awake[lo : lo + m], body, contact, motion, law, beta)
            else:
                new = sweep_spatial(lo, hi, body, contact, motion, beta)
            done += 1
            if new <= goal:
                break
        if planar:
            sums = judge_planar(lo, hi, body, contact, motion, law, u)
        else:
            sums = judge_spatial(lo, hi, body, contact, motion, u)
        plain, free = ratios(sums, plain_q, free_q)
        worst = max(plain, free)
        size = hi - lo
        code = verdict(size, done, upto, last, before, worst, tol, enough, least, most, leave)
        if worth_resort(code, done, most, worst, enough, resort):
            tol, enough, leave, code = 0.0, resort, False, GO_ON
            least, upto = done, done + SOON
        if code != GO_ON:
            return code, done, plain, free
        goal = new * ((tol if done < least else enough) / worst) ** 2
        if done >= upto:
            before, last, upto = worst, done, done + min(EVERY, done + 2)


@stage
def wakes_all(done, size):
    """Whether the next sweep is over all `size` contacts of an island, after `done` sweeps."""
    return done < SETTLE or done % WAKE == 0 or size <= TINY


@stage
def wake(lo, hi, awake):
    """awake[lo:hi]: all contacts lo:hi; returns how many."""
    for i in range(lo, hi):
        awake[i] = i
    return hi - lo


@stage
def momentum(new, old, low, t):
    """(beta, t, low) of the next sweep, after changes |g|^2 = old, new; low: the least of them
    since beta was zero."""
    if new > RESTART * old or new > GROWN * low:
        t, low = 1.0, new
    after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
    return (t - 1.0) / after, after, min(low, new)


@stage
def verdict(nc, done, upto, last, before, worst, tol, enough, least, most, leave):
    """Whether an island is solved, is left (RUNNING) or is swept on, after `done` sweeps.

    upto: when it was to be judged at the latest; before: the residual after `last` sweeps.
    One sweep at least is made: an error that is let pass is there again in the next step, and
    velocities would add it up until it shows.
    """
    if worst <= tol:
        return status.SOLVED
    if done >= most or not np.isfinite(worst) or (done >= least and worst <= enough):
        return status.RUNNING
    if leave and done >= upto and done >= (EVERY if nc > MANY else 3 * EVERY):
        rate = np.log(worst / before) / (done - last)
        left = worst <= enough or _hopeless(rate, enough / worst, most - done)
        if left and _hopeless(rate, tol / worst, least - done):
            return status.RUNNING
    return GO_ON


@stage
def worth_resort(code, done, most, worst, enough, resort):
    """Whether an island that is left is swept on, to what it is to reach at the least: another
    solve for that would begin again with loading it, and without momentum."""
    return code == status.RUNNING and done < most and enough < resort < worst < np.inf


@stage
def _hopeless(rate, part, sweeps):
    """Whether so many sweeps do not bring the residual down to a part of it."""
    return not rate < 0.0 or np.log(part) / rate > sweeps


@stage
def _go_on(mine, beta, motion, dof):
    """Bodies' part of the step beyond the last sweep: v goes on by beta times what it changed."""
    at = 6 if dof == 3 else 14
    for b in mine:
        for e in range(dof):
            y = motion[b, e]
            motion[b, e] = y + beta * (y - motion[b, at + e])
            motion[b, at + e] = y
