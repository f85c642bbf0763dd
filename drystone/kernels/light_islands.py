"""Islands of contacts alone: accelerated Gauss-Seidel on light contacts, W and P never formed.

As ``island_sweeps``, with contacts and bodies packed into lines of numbers (``light_spatial``,
``light_planar``), no allocation, and the conjugate step woven into the sweep: v is linear in r
and a contact reads no impulse but its own, so its part of the step can wait for its turn. What is
left of acceleration is a pass over the bodies, and |g|^2 comes with the sweep.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.light_judge import free_scales, judge_spatial
from drystone.kernels.light_planar import judge_planar, sweep_planar
from drystone.kernels.light_spatial import sweep_spatial

MANY = 1000  # contacts of an island whose sweeps are dear: they are judged sooner
EXACT = 1e-15
EVERY = 8  # sweeps between judgings, once the first few are done


@kernel
def solve_light_islands(
    chosen, start, body, bias, mu, law, tol, most, leave, q, v, r, u, ended, sweeps, residual,
    contact, motion, seen, mine,
):  # fmt: skip
    """Sweep the chosen islands until both residuals are <= tol (ni,), or most (ni,) sweeps.

    As ``island_sweeps.solve_islands``, for contacts alone, of Coulomb's law in space or of either
    law in the plane. contact, motion: from ``pack_spatial`` or ``pack_planar``; seen, mine (nb,):
    work. Returns 0.
    """
    for b in range(seen.size):
        seen[b] = -1
    for k in chosen:
        lo, hi = start[k], start[k + 1]
        members = _members(lo, hi, body, k, seen, mine)
        _load(lo, hi, mine, members, bias, mu, r, v, contact, motion)
        _solve(
            k, lo, hi, body, members, mine, law, tol[k], most[k], leave, q, u, ended, sweeps,
            residual, contact, motion,
        )  # fmt: skip
        at = 14 if r.shape[1] == 2 else 29
        for i in range(lo, hi):
            for a in range(r.shape[1]):
                r[i, a] = contact[i, at + a]
        for j in range(members):
            for e in range(v.shape[1]):
                v[mine[j], e] = motion[mine[j], e]
    return 0


@kernel
def _members(lo, hi, body, k, seen, mine):
    """Bodies of the contacts lo:hi into mine; returns how many."""
    count = 0
    for i in range(lo, hi):
        for s in range(2):
            b = body[i, s]
            if seen[b] != k:
                seen[b] = k
                mine[count] = b
                count += 1
    return count


@kernel
def _load(lo, hi, mine, members, bias, mu, r, v, contact, motion):
    """What a solve brings into the lines; the change g and the direction p start from zero."""
    d = r.shape[1]
    at_bias, at_mu, at = (6, 12, 14) if d == 2 else (15, 26, 29)
    for i in range(lo, hi):
        contact[i, at_mu] = mu[i]
        for a in range(d):
            contact[i, at_bias + a], contact[i, at + a] = bias[i, a], r[i, a]
            contact[i, at + d + a], contact[i, at + 2 * d + a] = 0.0, 0.0
        if d == 3:
            contact[i, 28] = 0.0
    dof, before = (3, 6) if d == 2 else (6, 16)
    for j in range(members):
        b = mine[j]
        for e in range(dof):
            motion[b, e], motion[b, before + e], motion[b, before + dof + e] = v[b, e], v[b, e], 0.0


@kernel
def _solve(
    k, lo, hi, body, members, mine, law, tol, most, leave, q, u, ended, sweeps, residual, contact,
    motion,
):  # fmt: skip
    planar = u.shape[1] == 2
    done, count, before, gg, new = 0, 0, np.inf, -1.0, -1.0
    plain_q, free_q = free_scales(lo, hi, q, contact, 13 if planar else 27)
    ended[k] = status.RUNNING
    while True:
        if planar:
            plain, free = judge_planar(lo, hi, body, contact, motion, law, plain_q, free_q, u)
        else:
            plain, free = judge_spatial(lo, hi, body, contact, motion, plain_q, free_q, u)
        worst = max(plain, free)
        residual[k, 0], residual[k, 1] = plain, free
        # one sweep at least: an error that is let pass is there again in the next step, and
        # velocities would add it up until it shows
        if worst <= tol and (done > 0 or worst <= EXACT):
            ended[k] = status.SOLVED
            break
        if done >= most or not np.isfinite(worst):
            break
        if leave and done >= (EVERY if hi - lo > MANY else 3 * EVERY):
            rate = np.log(worst / before) / count
            if not rate < 0.0 or np.log(tol / worst) / rate > most - done:
                break
        before = worst
        count = min(max(1, min(EVERY, done // 2)), most - done)
        for c in range(count):
            beta, keep = 0.0, 0.0
            if done + c > 0:
                if gg >= 0.0 and new < gg:
                    beta, keep = new / gg, 1.0
                gg = new
                _shift(mine, members, beta, keep, motion)
            if planar:
                new = sweep_planar(lo, hi, body, contact, motion, law, beta, keep)
            else:
                new = sweep_spatial(lo, hi, body, contact, motion, beta, keep)
        done += count
    sweeps[k] += done


@kernel
def _shift(mine, members, beta, keep, motion):
    """The conjugate step of body velocities: v += beta p, p = keep (beta p + g)."""
    dof, before = (3, 6) if motion.shape[1] == 12 else (6, 16)
    for j in range(members):
        b = mine[j]
        for e in range(dof):
            v, p = motion[b, e], motion[b, before + dof + e]
            g = v - motion[b, before + e]
            v += beta * p
            motion[b, e], motion[b, before + e] = v, v
            motion[b, before + dof + e] = keep * (beta * p + g)
