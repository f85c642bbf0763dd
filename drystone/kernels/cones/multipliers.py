"""The convex friction problem on the velocities of bodies, by the method of multipliers.

    min over v  (v - v_free).M (v - v_free) / 2 + alpha / 2 sum |P_K(x0_i - u_i / alpha)|^2,
    u_i = J_i v + bias_i,

is the relaxed problem with contacts that yield by alpha (x - x0); x = P_K(x0 - u / alpha) are its
impulses, and x0 of the next problem. So x converges to impulses of the problem that does not yield,
at a rate of alpha over the least eigenvalue of W that is not zero (Rockafellar 1976). Each problem
is smooth and strictly convex: Newton's method with a line search always arrives (Castro et al.
2022). Its matrix M + J' dP J / alpha has one block for each body and one for each pair that
touches, where W has one for each pair of contacts of a body: ten to fifty times as many in masonry.
The velocities themselves are the unknowns, not their change: near rest u is known to its own
digits, and not only to those of v_free.

All is unit-free: impulses x = r s and velocities u / s, s^2 the mean diagonal of a contact's block
of W. The rows are J / s.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.contact.residual import project_cone
from drystone.kernels.linalg.block_lu import factorise_sum, solve

RISES = 0.1  # of the slope at the start: that at the end of a step, which ends at a least value
FALLS = 1e-4  # of the fall that the slope promises: what a step must bring (Armijo)
GRADIENT_DECREASE = 0.5  # of the gradient: what a step leaves that helps
GRADIENT_ROUNDING = 1e-11  # of the momentum: gradients below that hardly fall any more are rounding
SHORTEST_PRIMAL_STEP = 2.0**-20  # part of a Newton step


class Contacts(NamedTuple):
    """n contacts: J (n, d, 2, dof) and bias (n, d), unit-free; side (n, 2): numbers of their bodies
    among those that move, -1: it does not; spot (n, 2, 2): places of their blocks in the matrix;
    mu (n,)."""

    J: Any
    side: Any
    spot: Any
    bias: Any
    mu: Any


class Bodies(NamedTuple):
    """M and its inverse (m, dof, dof); free (m, dof): velocities without contacts; indptr, indices:
    pattern of the matrix in block rows."""

    M: Any
    inverse: Any
    free: Any
    indptr: Any
    indices: Any


class Factors(NamedTuple):
    """The matrix and its factors: blocks (nnz, dof, dof); place, panels, offset, stride: see
    ``linalg.block_lu``; buffer: entries of the panels."""

    blocks: Any
    place: Any
    panels: Any
    offset: Any
    stride: Any
    buffer: Any


class Point(NamedTuple):
    """A point and what is known there: v, g (m, dof); u, x (n, d); D (n, d, d): derivative of the
    projection."""

    v: Any
    g: Any
    u: Any
    x: Any
    D: Any


@kernel
def minimise(shape, wide, c, b, f, alpha, x0, now, other, step, enough, most):
    """Newton's method from now.v; `now` becomes the best point. shape, wide: d and dof zeros;
    other: room for another point; step (m, dof): work; enough: gradient to reach, relative to the
    momentum of the impulses. Returns the number of steps."""
    value = _evaluate(shape, wide, c, b, alpha, x0, now)
    size, scale = _size(wide, b, now.g), 0.0
    factorised = False
    for k in range(most):
        for j in range(now.v.shape[0]):  # |J'x|: g = M (v - v_free) - J'x
            for a in range(len(wide)):
                step[j, a] = -now.g[j, a]
                for e in range(len(wide)):
                    step[j, a] += b.M[j, a, e] * (now.v[j, e] - b.free[j, e])
        scale = _size(wide, b, step)
        if not size > enough * scale:
            return k
        if not factorised:
            _fill(shape, wide, c, alpha, now.D, f.blocks)
            if not factorise_sum(
                wide, b.indptr, b.indices, f.blocks, b.M, f.offset, f.stride, f.panels, f.buffer
            ):
                return k
        solve(wide, f.place, f.panels, f.buffer, now.g, step, other.v)
        slope, length, new = _dot(now.g, step), 1.0, size
        while length >= SHORTEST_PRIMAL_STEP:
            for j in range(step.shape[0]):
                for a in range(len(wide)):
                    other.v[j, a] = now.v[j, a] - length * step[j, a]
            reached = _evaluate(shape, wide, c, b, alpha, x0, other)
            new, rise = _size(wide, b, other.g), -_dot(other.g, step)
            # the value is convex: where it does not rise, it has fallen, if only within rounding
            if rise <= RISES * slope or new <= GRADIENT_DECREASE * size:
                break
            if reached < value - FALLS * length * slope:
                break
            length *= max(RISES, slope / (slope + rise))
        if length < SHORTEST_PRIMAL_STEP:
            return k + 1
        ends = size <= GRADIENT_ROUNDING * scale and new > GRADIENT_DECREASE * size
        factorised = _same(now.D, other.D)
        value, size = reached, new
        _copy(other, now)
        if ends:
            return k + 1
    return most


@stage
def _dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        for e in range(a.shape[1]):
            total += a[j, e] * b[j, e]
    return total


@stage
def _evaluate(shape, wide, c, b, alpha, x0, p):
    """u, x, D and the gradient at p.v; returns the value."""
    d, value = len(shape), 0.0
    for j in range(p.v.shape[0]):
        for a in range(len(wide)):
            total = 0.0
            for e in range(len(wide)):
                total += b.M[j, a, e] * (p.v[j, e] - b.free[j, e])
            p.g[j, a] = total
            value += 0.5 * total * (p.v[j, a] - b.free[j, a])
    velocities(shape, wide, c, p.v, p.u)
    for i in range(x0.shape[0]):
        for a in range(d):
            p.x[i, a] = x0[i, a] - p.u[i, a] / alpha
        _project(shape, c.mu[i], p.x[i], p.D[i])
        for a in range(d):
            x = p.x[i, a]
            value += 0.5 * alpha * x * x
            if x != 0.0:
                for s in range(2):
                    j = c.side[i, s]
                    if j >= 0:
                        for e in range(len(wide)):
                            p.g[j, e] -= c.J[i, a, s, e] * x
    return value


@kernel
def velocities(shape, wide, c, v, u):
    """u = J v + bias."""
    for i in range(u.shape[0]):
        for a in range(len(shape)):
            total = c.bias[i, a]
            for s in range(2):
                j = c.side[i, s]
                if j >= 0:
                    for e in range(len(wide)):
                        total += c.J[i, a, s, e] * v[j, e]
            u[i, a] = total


@kernel
def push(shape, wide, c, b, x, momentum, v):
    """v = v_free + M^-1 J'x; momentum (m, dof): J'x."""
    for j in range(v.shape[0]):
        for a in range(len(wide)):
            momentum[j, a] = 0.0
    for i in range(x.shape[0]):
        for s in range(2):
            j = c.side[i, s]
            if j >= 0:
                for a in range(len(shape)):
                    for e in range(len(wide)):
                        momentum[j, e] += c.J[i, a, s, e] * x[i, a]
    for j in range(v.shape[0]):
        for a in range(len(wide)):
            v[j, a] = b.free[j, a]
            for e in range(len(wide)):
                v[j, a] += b.inverse[j, a, e] * momentum[j, e]


@stage
def _project(shape, mu, x, D):
    """x := P_K(x), and its derivative."""
    d, square = len(shape), 0.0
    for a in range(1, d):
        square += x[a] * x[a]
    length, n = np.sqrt(square), x[0]
    top, factor = project_cone(n, length, mu)
    for a in range(d):
        for b in range(d):
            D[a, b] = 0.0
    if length <= mu * n:  # its tip, too: what begins at rest begins closed
        for a in range(d):
            D[a, a] = 1.0
        return
    if top <= 0.0:
        for a in range(d):
            x[a] = 0.0
        return
    along = 1.0 / (1.0 + mu * mu)
    for a in range(d):
        ea = 1.0 if a == 0 else mu * x[a] / length
        for b in range(d):
            eb = 1.0 if b == 0 else mu * x[b] / length
            D[a, b] = along * ea * eb
            if a > 0 and b > 0:
                across = (1.0 if a == b else 0.0) - x[a] * x[b] / square
                D[a, b] += factor * across
    x[0] = top
    for a in range(1, d):
        x[a] *= factor


@stage
def _fill(shape, wide, c, alpha, D, blocks):
    """blocks = J' D J / alpha."""
    d, dof = len(shape), len(wide)
    for k in range(blocks.shape[0]):
        for a in range(dof):
            for e in range(dof):
                blocks[k, a, e] = 0.0
    for i in range(D.shape[0]):
        for a in range(d):
            if D[i, a, a] == 0.0:
                continue
            for t in range(2):
                if c.side[i, t] < 0:
                    continue
                for e in range(dof):
                    along = 0.0
                    for b in range(d):
                        along += D[i, a, b] * c.J[i, b, t, e]
                    along /= alpha
                    if along != 0.0:
                        for s in range(2):
                            k = c.spot[i, s, t]
                            if k >= 0:
                                for g in range(dof):
                                    blocks[k, g, e] += c.J[i, a, s, g] * along


@stage
def _size(wide, b, g):
    """sqrt(g.M^-1 g)."""
    total = 0.0
    for j in range(g.shape[0]):
        for a in range(len(wide)):
            for e in range(len(wide)):
                total += g[j, a] * b.inverse[j, a, e] * g[j, e]
    return np.sqrt(max(total, 0.0))


@stage
def _same(D, other):
    """Whether no contact has changed its state and none slides."""
    for i in range(D.shape[0]):
        for a in range(D.shape[1]):
            for b in range(D.shape[1]):
                if D[i, a, b] != other[i, a, b]:
                    return False
    return True


@stage
def _copy(p, to):
    for j in range(p.v.shape[0]):
        for a in range(p.v.shape[1]):
            to.v[j, a], to.g[j, a] = p.v[j, a], p.g[j, a]
    for i in range(p.x.shape[0]):
        for a in range(p.x.shape[1]):
            to.u[i, a], to.x[i, a] = p.u[i, a], p.x[i, a]
            for b in range(p.x.shape[1]):
                to.D[i, a, b] = p.D[i, a, b]
