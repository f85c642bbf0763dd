"""Gauss-Seidel on body velocities, island by island, judged as it goes; W is never formed.

Contacts are in the order of their islands: island k owns the rows start[k]:start[k + 1]. Islands
share no moving body, so each is swept, judged by its own scale and left when it is solved (G14).
"""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.blocks import contact_residuals
from drystone.kernels.one_contact import solve_contact

EVERY = 8  # sweeps between judgings, once the first few are done


@kernel
def label_contacts(body, moves, root, label):
    """label (nc,): number of each contact's island, in order of first contact; returns how many.

    body (nc, 2); moves (nb,): bodies that an impulse can move; root (nb,): work.
    """
    for b in range(moves.size):
        root[b] = b
    for i in range(body.shape[0]):
        a, b = body[i, 0], body[i, 1]
        if moves[a] and moves[b]:
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            if a < b:
                root[b] = a
            else:
                root[a] = b
    count = 0
    for i in range(body.shape[0]):
        a = body[i, 0] if moves[body[i, 0]] else body[i, 1]
        while root[a] >= 0 and root[a] != a:
            a = root[a]
        if root[a] >= 0:  # a root seen for the first time: keep its number below zero
            root[a] = -1 - count
            count += 1
        label[i] = -1 - root[a]
    return count


@kernel
def solve_islands(
    shape, start, body, J, P, D, bias, mu, unit, law, tol, most, q, v, r, lam, u, ended, sweeps,
    residual,
):  # fmt: skip
    """Sweep every island until both its residuals are <= tol, it is hopeless, or `most` sweeps.

    v (nb, dof) holds v_free + M^-1 J' r on entry and on return; q (nc, d): J v_free + bias;
    unit (nc,): sqrt of the mean diagonal of D. ended (ni,): status codes; sweeps (ni,);
    residual (ni, 2).
    """
    d = len(shape)
    local, old, work = np.empty(d), np.empty(d), np.empty((d + 2, d))
    unsolved = 0
    for k in range(start.size - 1):
        lo, hi = start[k], start[k + 1]
        done, count, before = 0, 0, np.inf
        ended[k] = status.RUNNING
        while True:
            velocities(shape, lo, hi, body, J, bias, v, u)
            plain, free = contact_residuals(
                shape, r[lo:hi], u[lo:hi], q[lo:hi], mu[lo:hi], unit[lo:hi], law
            )
            worst = max(plain, free)
            residual[k, 0], residual[k, 1] = plain, free
            if worst <= tol:
                ended[k] = status.SOLVED
                break
            if done >= most or not np.isfinite(worst):
                break
            if done >= 3 * EVERY and count == EVERY:
                # at this rate, how many more? leave early what sweeps will not solve
                rate = np.log(worst / before) / count
                if not rate < 0.0 or np.log(tol / worst) / rate > most - done:
                    break
            before = worst
            count = min(max(1, min(EVERY, done // 2)), most - done)
            for _ in range(count):
                sweep(shape, lo, hi, body, J, P, D, bias, mu, law, v, r, lam, local, old, work)
            done += count
        sweeps[k] = done
        if ended[k] != status.SOLVED:
            unsolved += 1
    return unsolved


@kernel
def velocities(shape, lo, hi, body, J, bias, v, u):
    """u (nc, d) = J v + bias for the rows lo:hi."""
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(len(shape)):
            total = bias[i, c]
            for e in range(J.shape[3]):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            u[i, c] = total


@kernel
def sweep(shape, lo, hi, body, J, P, D, bias, mu, law, v, r, lam, local, old, work):
    """One pass over the contacts lo:hi, each solved exactly with the others fixed."""
    d = len(shape)
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(d):
            total = bias[i, c]
            for e in range(J.shape[3]):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            for f in range(d):
                total -= D[i, c, f] * r[i, f]
            local[c] = total
            old[c] = r[i, c]
        lam[i] = solve_contact(shape, D, i, local, mu[i], law, lam[i], work, r, i)
        for c in range(d):
            step = r[i, c] - old[c]
            if step != 0.0:
                for e in range(J.shape[3]):
                    v[a, e] += P[i, c, 0, e] * step
                    v[b, e] += P[i, c, 1, e] * step
