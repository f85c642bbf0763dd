"""Accelerated projected gradient on min 1/2 r'Wr + (q + s n)'r over a product of cones.

Nesterov's momentum with the step found by backtracking on L and a restart whenever the last
move went uphill (Mazhar, Heyn, Negrut, Tasora 2015, algorithm 1). One product with W for each
iteration: u is linear in r, so that u(y) of the extrapolated point y = r + beta (r - r_old)
needs none. `state` = (theta, L, restarts, products) carries the method from chunk to chunk.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.cones.conic import project_row

DECREASE = 0.9  # of L after every step, so that a bad region is not paid for ever after
LARGEST_LIPSCHITZ = 1e8  # L in unit-free blocks is of the order of a contact's neighbours


class Cones(NamedTuple):
    """q (nb, d), mu (nb,), and the shift s (nb,) of the first rows."""

    q: Any
    mu: Any
    s: Any


class Iterate(NamedTuple):
    """r and its extrapolation y (nb, d), with what is linear in them: u and u_y, either W r + q and
    W y + q (nb, d), or G'r and G'y (ndof,); new_r, new_u: work for the next ones; row (d,): work.
    """

    r: Any
    y: Any
    u: Any
    u_y: Any
    new_r: Any
    new_u: Any
    row: Any


@kernel
def momentum(state, uphill):
    """beta of the next extrapolation; theta starts again when the last step went uphill."""
    if uphill > 0.0:
        state[0] = 1.0
        state[2] += 1.0
        return 0.0
    old = state[0]
    square = old * old
    new = 0.5 * (np.sqrt(square * square + 4.0 * square) - square)
    state[0] = new
    return old * (1.0 - old) / (square + new)


@kernel
def advance(shape, W, p, x, state, steps):
    """`steps` iterations with W in block rows (Blocks; x: Iterate with W r + q), or with a factor
    G of W = G G' (Factor; x with G'r), where W is never formed; p: Cones."""
    for _ in range(steps):
        while True:
            state[3] += 1.0
            moved, uphill, energy = _trial(shape, W, p, x, x.u, state[1])
            if not energy > state[1] * moved * (1.0 + 1e-12) or state[1] > LARGEST_LIPSCHITZ:
                break
            state[1] = max(2.0 * state[1], energy / moved)
        beta = momentum(state, uphill)
        _extrapolate(x.new_r.reshape(-1), x.r.reshape(-1), x.y.reshape(-1), beta)
        _extrapolate(x.new_u.reshape(-1), x.u.reshape(-1), x.u_y.reshape(-1), beta)
        state[1] *= DECREASE


@kernel
def _trial(shape, W, p, x, u, L):
    """r_new = P_K(y - u~(y) / L), and what is linear in it; returns (|r_new - y|^2,
    u~(y).(r_new - r), (r_new - y)'W(r_new - y))."""
    if u.ndim == 2:  # a constant for the compiler
        return _trial_blocks(shape, W, p, x, L)
    else:
        return _trial_factored(shape, W, p, x, L)


@kernel
def _extrapolate(new, old, ahead, beta):
    """ahead = new + beta (new - old), and old = new."""
    for j in range(new.size):
        ahead[j] = new[j] + beta * (new[j] - old[j])
        old[j] = new[j]


@kernel
def _trial_factored(shape, G, p, x, L):
    """``_trial`` in one pass over the contacts."""
    d = len(shape)
    indptr, columns, blocks, mu = G.indptr, G.columns, G.blocks, p.mu
    r, y, nu_y, r_new, nu_new, g = x.r, x.y, x.u_y, x.new_r, x.new_u, x.row
    moved, uphill = 0.0, 0.0
    for j in range(nu_new.size):
        nu_new[j] = 0.0
    for i in range(r.shape[0]):
        for a in range(d):
            g[a] = p.q[i, a]
        if mu[i] >= 0.0:
            g[0] += p.s[i]
        for k in range(indptr[i], indptr[i + 1]):
            speed = nu_y[columns[k]]
            for a in range(d):
                g[a] += blocks[k, a] * speed
        for a in range(d):
            r_new[i, a] = y[i, a] - g[a] / L
        project_row(shape, r_new, mu, i)
        for a in range(d):
            uphill += g[a] * (r_new[i, a] - r[i, a])
            moved += (r_new[i, a] - y[i, a]) ** 2
        for k in range(indptr[i], indptr[i + 1]):
            total = 0.0
            for a in range(d):
                total += blocks[k, a] * r_new[i, a]
            nu_new[columns[k]] += total
    energy = 0.0
    for j in range(nu_new.size):
        energy += (nu_new[j] - nu_y[j]) ** 2
    return moved, uphill, energy


@kernel
def _trial_blocks(shape, W, p, x, L):
    """``_trial`` with W in block rows."""
    d = len(shape)
    indptr, indices, blocks = W.indptr, W.indices, W.blocks
    mu, r, y, u_y, r_new, u_new = p.mu, x.r, x.y, x.u_y, x.new_r, x.new_u
    moved, uphill = 0.0, 0.0
    for i in range(r.shape[0]):
        shift = p.s[i] if mu[i] >= 0.0 else 0.0
        for a in range(d):
            r_new[i, a] = y[i, a] - u_y[i, a] / L
        r_new[i, 0] -= shift / L
        project_row(shape, r_new, mu, i)
        for a in range(d):
            g = u_y[i, a] + (shift if a == 0 else 0.0)
            uphill += g * (r_new[i, a] - r[i, a])
            moved += (r_new[i, a] - y[i, a]) ** 2
    energy = 0.0
    for i in range(r.shape[0]):
        for a in range(d):
            u_new[i, a] = p.q[i, a]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for a in range(d):
                total = 0.0
                for b in range(d):
                    total += blocks[k, a, b] * r_new[j, b]
                u_new[i, a] += total
        for a in range(d):
            energy += (r_new[i, a] - y[i, a]) * (u_new[i, a] - u_y[i, a])
    return moved, uphill, energy
