"""Gauss-Seidel by contact blocks: each contact solved exactly, in order, with the others fixed."""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.blocks import block_product
from drystone.kernels.contact.one_contact import solve_contact
from drystone.kernels.contact.residual import contact_residuals


class Sweeps(NamedTuple):
    """How sweeps go: omega: relaxation; tol: of both residuals; every: sweeps between judgings."""

    omega: float
    tol: float
    every: int


class Iterate(NamedTuple):
    """r (nb, d); lam (nb,): of slip, warm starts of the next sweep; u (nb, d) = W r + q."""

    r: Any
    lam: Any
    u: Any


@kernel
def nsgs_solve(shape, p, diagonal, how, done, sweeps, x, history):
    """Sweeps until both residuals are <= how.tol, or `sweeps` more are done (W formed).

    p: FrictionBlocks; diagonal (nb,): where the diagonal blocks are. Judged after sweep 1, 2, 4, 7,
    ... and then `every` so many sweeps; done: sweeps before this call. x: Iterate, in place;
    history (sweeps,): residual at each judging, nan between. Returns (status, sweeps done in all,
    residual, unit-free residual).
    """
    plain, scaled = np.inf, np.inf
    last = done + sweeps
    first = done
    while done < last:
        count = min(max(1, min(how.every, done // 2)), last - done)
        nsgs_sweeps(shape, p, diagonal, how.omega, count, x.r, x.lam)
        done += count
        block_product(shape, p.indptr, p.indices, p.blocks, x.r, p.q, x.u)
        plain, scaled = contact_residuals(shape, x.r, x.u, p.q, p.mu, p.unit, p.law)
        history[done - first - 1] = max(plain, scaled)
        if max(plain, scaled) <= how.tol:
            return status.SOLVED, done, plain, scaled
        if not np.isfinite(plain):
            return status.SINGULAR, done, plain, scaled
    return status.RUNNING, done, plain, scaled


@kernel
def nsgs_sweeps(shape, p, diagonal, omega, sweeps, r, lam):
    """Sweeps over the block rows in order; r (nb, d) and lam (nb,) are updated in place."""
    indptr, indices, blocks, q, mu = p.indptr, p.indices, p.blocks, p.q, p.mu
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
                shape, blocks, diagonal[i], local, mu[i], p.law, lam[i], work, r, i
            )
            if omega != 1.0:
                for a in range(d):
                    r[i, a] = omega * r[i, a] + (1.0 - omega) * old[a]


@kernel
def nsgs_free_sweeps(shape, p, omega, sweeps, r, lam, v):
    """Sweeps without W: v = M^-1 J' r is carried along; p: BodyRows.

    J rows give u = J v + q; P = J M^-1 rows give the velocity that an impulse adds.
    """
    J, P, D, mu = p.J, p.P, p.D, p.mu
    d = len(shape)
    local, old = np.empty(d), np.empty(d)
    work = np.empty((d + 2, d))
    for _ in range(sweeps):
        for i in range(mu.size):
            for a in range(d):
                total = p.q[i, a]
                for e in range(p.J_indptr[d * i + a], p.J_indptr[d * i + a + 1]):
                    total += J[e] * v[p.J_indices[e]]
                for b in range(d):
                    total -= D[i, a, b] * r[i, b]
                local[a] = total
                old[a] = r[i, a]
            lam[i] = solve_contact(shape, D, i, local, mu[i], p.law, lam[i], work, r, i)
            for a in range(d):
                if omega != 1.0:
                    r[i, a] = omega * r[i, a] + (1.0 - omega) * old[a]
                step = r[i, a] - old[a]
                if step != 0.0:
                    for e in range(p.P_indptr[d * i + a], p.P_indptr[d * i + a + 1]):
                        v[p.P_indices[e]] += P[e] * step
