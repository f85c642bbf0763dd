"""Gauss-Seidel on body velocities, island by island, judged as it goes; W is never formed.

Contacts are in the order of their islands: island k owns the rows start[k]:start[k + 1]. Islands
share no moving body, so each is swept, judged by its own scale and left when it is solved.

They are accelerated as in ``packed_islands``, which does the same for contacts alone in a third of
the time: a sweep starts beyond the last one's end, and what is judged comes from a sweep.
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.contact.one_contact import solve_contact
from drystone.kernels.contact.polyhedral import polyhedral_residuals, solve_polyhedral
from drystone.kernels.contact.residual import contact_residuals

MANY = 1000  # contacts of an island whose sweeps are dear: it is left sooner
EVERY = 8  # sweeps between judgings, once the first few are done
RESTART = 1.1  # of |g|^2, the change of a sweep


@kernel
def solve_islands(
    shape, chosen, start, body, J, P, D, soft, bias, mu, unit, law, tol, most, leave, q, v, r, lam,
    u, ended, sweeps, residual, corners=None, plain_sweeps=False,
):  # fmt: skip
    """Sweep the chosen islands until both residuals are <= tol (ni,), or most (ni,) sweeps.

    chosen (n,): numbers of islands; v (nb, dof) holds v_free + M^-1 J' r on entry and on return;
    q (nc, d): J v_free + bias; soft (nc, d): compliances, in D too; unit (nc,): sqrt of the mean
    diagonal of D; leave: stop early where the rate so far promises no end. ended (ni,): status
    codes; sweeps (ni,): added to; residual (ni, 2). corners (k, 2): of polyhedral cones in space;
    plain_sweeps: no acceleration.
    """
    d = len(shape)
    work = np.empty((d + 4, d))
    before = np.empty_like(r), np.empty_like(v)
    seen, mine = np.full(v.shape[0], -1), np.empty(v.shape[0], np.int64)
    for k in chosen:
        lo, hi = start[k], start[k + 1]
        members = _members(lo, hi, body, k, seen, mine)
        done, upto, last, past = 0, 1, 0, np.inf
        old, new, goal, t = np.inf, np.inf, -1.0, 1.0
        ended[k] = status.RUNNING
        while True:
            while done < min(upto, most[k]):
                t = 1.0 if new > RESTART * old else t
                old, beta = new, 0.0 if plain_sweeps else t - 1.0
                t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t)) if done > 0 else t
                _go_on(lo, hi, mine[:members], beta / t, r, v, before)
                new = sweep(
                    shape,
                    lo,
                    hi,
                    body,
                    J,
                    P,
                    D,
                    soft,
                    bias,
                    mu,
                    unit,
                    law,
                    v,
                    r,
                    lam,
                    work,
                    corners,
                )
                done += 1
                if new <= goal:
                    break
            velocities(shape, lo, hi, body, J, soft, bias, v, r, u)
            if corners is None:
                plain, free = contact_residuals(
                    shape, r[lo:hi], u[lo:hi], q[lo:hi], mu[lo:hi], unit[lo:hi], law
                )
            else:
                plain, free = polyhedral_residuals(
                    r[lo:hi], u[lo:hi], q[lo:hi], mu[lo:hi], unit[lo:hi], law, corners
                )
            worst = max(plain, free)
            residual[k, 0], residual[k, 1] = plain, free
            # after one sweep at least: an error that is let pass is there again in the next
            # step, and velocities would add it up until it shows
            if worst <= tol[k]:
                ended[k] = status.SOLVED
            if worst <= tol[k] or done >= most[k] or not np.isfinite(worst):
                break
            goal = new * (tol[k] / worst) ** 2
            if done >= upto:
                if leave and done >= (EVERY if hi - lo > MANY else 3 * EVERY):
                    rate = np.log(worst / past) / (done - last)
                    if not rate < 0.0 or np.log(tol[k] / worst) / rate > most[k] - done:
                        break
                past, last, upto = worst, done, done + min(EVERY, done + 2)
        sweeps[k] += done


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
def _go_on(lo, hi, mine, beta, r, v, before):
    """The step beyond the last sweep: r and v go on by beta times what they changed.

    Velocities follow the impulses: v is linear in r, so the same combination applies.
    """
    r0, v0 = before
    for i in range(lo, hi):
        for a in range(r.shape[1]):
            y = r[i, a]
            r[i, a] += beta * (y - r0[i, a]) if beta > 0.0 else 0.0
            r0[i, a] = y
    for b in mine:
        for e in range(v.shape[1]):
            y = v[b, e]
            v[b, e] += beta * (y - v0[b, e]) if beta > 0.0 else 0.0
            v0[b, e] = y


@kernel
def velocities(shape, lo, hi, body, J, soft, bias, v, r, u):
    """u (nc, d) = J v + bias + soft r for the rows lo:hi."""
    dof = 3 if len(shape) == 2 else 6  # constants for the compiler
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(len(shape)):
            total = bias[i, c] + soft[i, c] * r[i, c]
            for e in range(dof):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            u[i, c] = total


@kernel
def sweep(shape, lo, hi, body, J, P, D, soft, bias, mu, unit, law, v, r, lam, work, corners=None):
    """One pass over the contacts lo:hi, each solved exactly with the others fixed.

    work (d + 4, d). Returns the sum of |change|^2 unit^2.
    """
    d, dof = len(shape), 3 if len(shape) == 2 else 6  # constants for the compiler
    local, old = work[d + 2], work[d + 3]
    size = 0.0
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(d):
            total = bias[i, c] + soft[i, c] * r[i, c]
            for e in range(dof):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            for f in range(d):
                total -= D[i, c, f] * r[i, f]
            local[c] = total
            old[c] = r[i, c]
        if corners is None:
            lam[i] = solve_contact(shape, D, i, local, mu[i], law, lam[i], work, r, i)
        else:
            solve_polyhedral(D[i], local, mu[i], law, corners, r[i])
        for c in range(d):
            step = r[i, c] - old[c]
            size += (step * unit[i]) ** 2
            if step != 0.0:
                for e in range(dof):
                    v[a, e] += P[i, c, 0, e] * step
                    v[b, e] += P[i, c, 1, e] * step
    return size
