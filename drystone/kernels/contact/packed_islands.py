"""Islands of contacts alone: accelerated Gauss-Seidel on packed contacts, W and P never formed.

Contacts and bodies are packed into lines of numbers (``packed_spatial``, ``packed_planar``); island
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
from drystone.kernels.contact.packed_planar import judge_planar, set_friction, sweep_planar
from drystone.kernels.contact.packed_residual import free_scales, judge_spatial, ratios
from drystone.kernels.contact.packed_spatial import sweep_spatial
from drystone.kernels.layout import BODY_2 as B2
from drystone.kernels.layout import BODY_3 as B3
from drystone.kernels.layout import CONTACT_2 as C2
from drystone.kernels.layout import CONTACT_3 as C3

MANY = 1000  # contacts of an island whose sweeps are dear: it is left sooner
EVERY = 8  # sweeps between judgings, once the first few are done
SOON = 3  # sweeps until an island is judged that was left for a looser tolerance
RESTART = 1.1  # of |g|^2, from one sweep to the next
GROWN = 1.5  # of |g|^2, from its least on: in large heaps it may grow slowly, and for ever
SETTLE, WAKE = 3, 6  # sweeps over all contacts at the start, and how often later ones are
TINY = 64  # contacts of an island all of which are always swept
GO_ON = -1  # no status: the island is swept on


@stage
def solve_packed_islands(s, chosen, seen, mine, awake):
    """Sweep the chosen islands k until both residuals are <= s.limit[k], or <= s.enough[k] after
    s.least[k] sweeps, or s.most[k] sweeps; where that is out of reach, until they are <=
    s.resort[k], if that is more than enough.

    For contacts alone, of Coulomb's law in space or of either law in the plane. s: fields of
    ``layout``, with v = v_free + M^-1 J' r on entry and on return, contact and motion from
    ``pack_spatial`` or ``pack_planar``; ended, sweeps (added to), residual, u: out. s.leave: stop
    early where the rate so far promises no end. seen, mine (nb,), awake (nc,): work. Returns 0.
    """
    for b in range(seen.size):
        seen[b] = -1
    r, v, contact, motion, residual = s.r, s.v, s.contact, s.motion, s.residual
    d, dof = r.shape[1], v.shape[1]
    at, unit2 = (C2.R, C2.UNIT2) if d == 2 else (C3.R, C3.UNIT2)
    for k in chosen:
        lo, hi = s.start[k], s.start[k + 1]
        members = _load(s, k, seen, mine)
        plain_q, free_q = free_scales(lo, hi, s.q, contact[:, unit2])
        s.ended[k], count, residual[k, 0], residual[k, 1] = _solve(
            s, k, mine[:members], awake, plain_q, free_q
        )
        s.sweeps[k] += count
        for i in range(lo, hi):
            for a in range(d):
                r[i, a] = contact[i, at + a]
        for j in range(members):
            for e in range(dof):
                v[mine[j], e] = motion[mine[j], e]
    return 0


@stage
def _load(s, k, seen, mine):
    """What a solve brings into the lines; bodies of island k into mine; returns how many."""
    count = 0
    for i in range(s.start[k], s.start[k + 1]):
        load_contact(i, s.bias, s.mu, s.r, i, s.contact)
        for side in range(2):
            b = s.body[i, side]
            if seen[b] != k:
                seen[b] = k
                mine[count] = b
                count += 1
                load_body(b, s.v, b, s.motion)
    return count


@stage
def load_contact(i, bias, mu, r, j, line):
    """What a solve brings of contact i, into line j."""
    d = r.shape[1]
    if d == 2:
        set_friction(j, mu[i], line)
        for a in range(2):
            line[j, C2.BIAS + a] = bias[i, a]
            line[j, C2.R + a] = line[j, C2.R_OLD + a] = r[i, a]
    else:
        line[j, C3.MU], line[j, C3.LAM] = mu[i], 0.0
        for a in range(3):
            line[j, C3.BIAS + a] = bias[i, a]
            line[j, C3.R + a] = line[j, C3.R_OLD + a] = r[i, a]


@stage
def load_body(b, v, j, state):
    """Velocities of body b into line j, also as those of a sweep before."""
    before = B2.V_OLD if v.shape[1] == 3 else B3.V_OLD
    for e in range(v.shape[1]):
        state[j, e] = v[b, e]
        state[j, before + e] = v[b, e]


@stage
def _solve(s, k, mine, awake, plain_q, free_q):
    """Status, sweeps and both residuals of island k; mine: its bodies."""
    lo, hi, body, law, u = s.start[k], s.start[k + 1], s.body, s.law, s.u
    tol, enough, resort, least, most = s.limit[k], s.enough[k], s.resort[k], s.least[k], s.most[k]
    contact, motion, leave, planar = s.contact, s.motion, s.leave != 0, u.shape[1] == 2
    m = 0
    done, upto, last, before = 0, 1, 0, np.inf
    old, new, low, goal, t = np.inf, np.inf, np.inf, -1.0, 1.0
    while True:
        while done < min(upto, most):
            beta = 0.0
            if done > 0:
                beta, t, low = momentum(new, old, low, t)
                beta = 0.0 if s.only_sweeps else beta
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
    at = B2.V_OLD if dof == 3 else B3.V_OLD
    for b in mine:
        for e in range(dof):
            y = motion[b, e]
            motion[b, e] = y + beta * (y - motion[b, at + e])
            motion[b, at + e] = y
