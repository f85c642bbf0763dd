"""Gauss-Seidel by contact blocks: each contact solved exactly, in order, with the others fixed."""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.blocks import block_product
from drystone.kernels.contact.one_contact import solve_contact
from drystone.kernels.contact.residual import contact_residuals


@kernel
def nsgs_solve(
    shape, indptr, indices, blocks, diagonal, q, mu, unit, law, omega, tol, every, done, sweeps,
    r, lam, u, history,
):  # fmt: skip
    """Sweeps until both residuals are <= tol, or `sweeps` more are done (W formed).

    Judged after sweep 1, 2, 4, 7, ... and then `every` so many sweeps; done: sweeps before this
    call. r (nb, d), lam (nb,), u (nb, d) updated in place; history (sweeps,): residual at each
    judging, nan between. Returns (status, sweeps done in all, residual, unit-free residual).
    """
    plain, scaled = np.inf, np.inf
    last = done + sweeps
    first = done
    while done < last:
        count = min(max(1, min(every, done // 2)), last - done)
        nsgs_sweeps(shape, indptr, indices, blocks, diagonal, q, mu, law, omega, count, r, lam)
        done += count
        block_product(shape, indptr, indices, blocks, r, q, u)
        plain, scaled = contact_residuals(shape, r, u, q, mu, unit, law)
        history[done - first - 1] = max(plain, scaled)
        if max(plain, scaled) <= tol:
            return status.SOLVED, done, plain, scaled
        if not np.isfinite(plain):
            return status.SINGULAR, done, plain, scaled
    return status.RUNNING, done, plain, scaled


@kernel
def nsgs_sweeps(shape, indptr, indices, blocks, diagonal, q, mu, law, omega, sweeps, r, lam):
    """Sweeps over the block rows in order; r (nb, d) and lam (nb,) are updated in place."""
    d = len(shape)
    local, old = np.empty(d), np.empty(d)
    work = np.empty((d + 2, d))
    for _ in range(sweeps):
        for i in range(mu.size):
            for a in range(d):
                local[a] = q[i, a]
                old[a] = r[i, a]
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j != i:
                    for a in range(d):
                        for b in range(d):
                            local[a] += blocks[k, a, b] * r[j, b]
            lam[i] = solve_contact(
                shape, blocks, diagonal[i], local, mu[i], law, lam[i], work, r, i
            )
            if omega != 1.0:
                for a in range(d):
                    r[i, a] = omega * r[i, a] + (1.0 - omega) * old[a]


@kernel
def nsgs_free_sweeps(
    shape, J_indptr, J_indices, J, P_indptr, P_indices, P, D, q, mu, law, omega, sweeps, r, lam, v
):
    """Sweeps without W: v = M^-1 J' r is carried along; D (nb, d, d) are W's diagonal blocks.

    J rows give u = J v + q; P = J M^-1 rows give the velocity that an impulse adds.
    """
    d = len(shape)
    local, old = np.empty(d), np.empty(d)
    work = np.empty((d + 2, d))
    for _ in range(sweeps):
        for i in range(mu.size):
            for a in range(d):
                total = q[i, a]
                for e in range(J_indptr[d * i + a], J_indptr[d * i + a + 1]):
                    total += J[e] * v[J_indices[e]]
                for b in range(d):
                    total -= D[i, a, b] * r[i, b]
                local[a] = total
                old[a] = r[i, a]
            lam[i] = solve_contact(shape, D, i, local, mu[i], law, lam[i], work, r, i)
            for a in range(d):
                if omega != 1.0:
                    r[i, a] = omega * r[i, a] + (1.0 - omega) * old[a]
                step = r[i, a] - old[a]
                if step != 0.0:
                    for e in range(P_indptr[d * i + a], P_indptr[d * i + a + 1]):
                        v[P_indices[e]] += P[e] * step
