"""One interior-point iteration in three passes over the blocks, and the polishing step.

The problem in scaled unknowns: y = W x + q + |y_t| n (exact Coulomb) or y = W x + q (convex),
x, y in second-order cones, x'y = 0. Coordinates are chosen so that mu = 1: x = (r_n sqrt(mu),
r_t / sqrt(mu)), y = (u~_n / sqrt(mu), u_t sqrt(mu)), hence mu |u_t| / sqrt(mu) = |y_t|.

With N = I - n t', t = y_t / |y_t| (N = I for the convex law), Newton's equations
    N dy - W dx = -rho,  rho = y - W x - q - |y_t| n,     dy + Theta dx = c
give (W + N Theta) dx = rho + N c: one matrix W + block diagonal for both steps of Mehrotra.
With N = I for Coulomb's law too, the step is that of the convex problem with the present shift.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.contact.residual import project_cone

REGULAR = 1e-12  # added to the diagonal: hyperstatic stacks leave W + N Theta singular in the limit
# Added to the polishing step's projector, so that it can be divided by: the step is perturbed by
# this much, and by rounding divided by this much.
PROJECTOR_SHIFT = 1e-8


class Iterate(NamedTuple):
    """x, y (nb, d) and what belongs to them. kind (nb,): the three codes below; v, lam (nb, d),
    eta (nb,), theta (nb, d, d): scaling of Nesterov and Todd; t: direction of slip; D = N Theta;
    rho, c: of Newton's equations; rhs: right side of the system."""

    kind: Any
    x: Any
    y: Any
    v: Any
    eta: Any
    lam: Any
    theta: Any
    t: Any
    D: Any
    rho: Any
    c: Any
    rhs: Any


@kernel
def _turn(shape, t, i, c):
    """c_i := N c_i."""
    for a in range(1, len(shape)):
        c[i, 0] -= t[i, a] * c[i, a]


@kernel
def prepare(shape, p, exact, bend, u):
    """Scaling, D = N Theta, rho and the predictor's right side; u = W x + q.

    exact: with the shift |y_t|; bend: and with its derivative (else N = I). Returns (status, mu):
    status 1 if an iterate left its cone; mu = x'y / cones.
    """
    kind, x, y, theta, t, D, rho, rhs = p.kind, p.x, p.y, p.theta, p.t, p.D, p.rho, p.rhs
    d, nb = len(shape), x.shape[0]
    if nt_scaling(shape, kind, x, y, p.v, p.eta, p.lam, theta):
        return 1, 0.0
    gap, cones = 0.0, 0
    for i in range(nb):
        slip = 0.0
        for a in range(1, d):
            slip += y[i, a] ** 2
        slip = np.sqrt(slip)
        shifted = exact and kind[i] == CONE_BLOCK and slip > 0.0
        for a in range(d):
            t[i, a] = y[i, a] / slip if bend and shifted and a > 0 else 0.0
            rho[i, a] = y[i, a] - u[i, a]
            rhs[i, a] = -y[i, a]
            for b in range(d):
                D[i, a, b] = theta[i, a, b]
            D[i, a, a] += REGULAR
        if shifted:
            rho[i, 0] -= slip
            for b in range(d):
                for a in range(1, d):
                    D[i, 0, b] -= t[i, a] * theta[i, a, b]
        if kind[i] == RAY_BLOCK:
            for a in range(1, d):
                rho[i, a] = 0.0
        if kind[i] != FREE_BLOCK:
            cones += 1
            for a in range(d):
                gap += x[i, a] * y[i, a]
        _turn(shape, t, i, rhs)
        for a in range(d):
            rhs[i, a] += rho[i, a]
    return 0, gap / max(cones, 1)


@kernel
def _dual_step(shape, kind, theta, dx, c, dy):
    """dy = c - Theta dx, zero where y is not free to move."""
    d = len(shape)
    for i in range(dx.shape[0]):
        for a in range(d):
            total = c[i, a]
            for b in range(d):
                total -= theta[i, a, b] * dx[i, b]
            dy[i, a] = 0.0 if kind[i] == FREE_BLOCK or (kind[i] == RAY_BLOCK and a > 0) else total


@kernel
def correct(shape, p, dx, mu, dy):
    """Mehrotra's centring from the predictor dx; leaves c and the corrector's right side in rhs.

    dx is overwritten.
    """
    kind, x, y, c = p.kind, p.x, p.y, p.c
    d, nb = len(shape), x.shape[0]
    for i in range(nb):
        for a in range(d):
            c[i, a] = -y[i, a]
    alpha = min(1.0, reach(shape, p, dx, dy))
    gap, cones = 0.0, 0
    for i in range(nb):
        if kind[i] != FREE_BLOCK:
            cones += 1
            for a in range(d):
                gap += (x[i, a] + alpha * dx[i, a]) * (y[i, a] + alpha * dy[i, a])
    sigma = gap / (max(cones, 1) * mu) if mu > 0.0 else 0.0
    sigma = min(max(sigma, 0.0), 1.0) ** 3
    corrector(shape, kind, p.v, p.eta, p.lam, dx, dy, sigma * mu, c)
    _right(shape, p.t, p.rho, c, p.rhs)


@kernel
def centre(shape, p, target, dx, dy):
    """The right side of a plain step to x'y / cones = target; dx, dy are overwritten."""
    for i in range(dx.shape[0]):
        for a in range(len(shape)):
            dx[i, a], dy[i, a] = 0.0, 0.0
    corrector(shape, p.kind, p.v, p.eta, p.lam, dx, dy, target, p.c)
    _right(shape, p.t, p.rho, p.c, p.rhs)


@kernel
def _right(shape, t, rho, c, rhs):
    """rhs = rho + N c."""
    for i in range(c.shape[0]):
        for a in range(len(shape)):
            rhs[i, a] = c[i, a]
        _turn(shape, t, i, rhs)
        for a in range(len(shape)):
            rhs[i, a] += rho[i, a]


@kernel
def reach(shape, p, dx, dy):
    """dy = c - Theta dx, and the largest step along (dx, dy) that stays in the cones."""
    _dual_step(shape, p.kind, p.theta, dx, p.c, dy)
    return min(largest_step(shape, p.kind, p.x, dx), largest_step(shape, p.kind, p.y, dy))


@kernel
def polish(shape, exact, r, u, mu, scale, delta, P, D, rhs):
    """Blocks of one semismooth Newton step on the natural map F(r) = r - P_K(r - u~).

    With P the projector's derivative and N = I + mu n t', F' = (I - P) + P N W; divided by
    P + eps it becomes W + D, the system that interior-point steps solve. The unknown is
    dr / scale (scale: (nb, d), zero where a tangent is left out). delta damps directions in
    which W vanishes. P: (d + 1, d) work.
    """
    d = len(shape)
    for i in range(r.shape[0]):
        slip = 0.0
        for a in range(d):
            rhs[i, a] = -u[i, a]
            for b in range(d):
                D[i, a, b] = 0.0
            if a:
                slip += u[i, a] ** 2
        slip = np.sqrt(slip)
        if mu[i] >= 0.0:
            _divided(shape, exact, r, u, mu, slip, i, P, D, rhs)
        for a in range(d):
            D[i, a, a] += delta
            for b in range(d):
                D[i, a, b] *= scale[i, a] * scale[i, b]
            rhs[i, a] *= scale[i, a]
            if scale[i, a] == 0.0:
                D[i, a, a] = 1.0


@kernel
def _divided(shape, exact, r, u, mu, slip, i, P, D, rhs):
    """D_i = ((P + eps) N)^-1 (I - P), rhs_i = -((P + eps) N)^-1 F_i.

    P has the eigenvectors e+ (along the cone's edge), e- (across it) and the tangents normal to
    both, so its inverse needs no elimination: 1, 0 and mu top / |a_t| on the slanted part.
    """
    d, m = len(shape), mu[i]
    shift = m * slip if exact else 0.0
    length = 0.0
    for a in range(1, d):
        length += (r[i, a] - u[i, a]) ** 2
    length = np.sqrt(length)
    first = r[i, 0] - u[i, 0] - shift
    top, factor = project_cone(first, length, m)
    edge, across, side = 1.0, 1.0, 1.0  # eigenvalues of P
    if top == 0.0:
        edge, across, side = 0.0, 0.0, 0.0
    elif factor != 1.0:
        across, side = 0.0, factor
    norm = 1.0 + m * m
    for a in range(d):
        ea = (r[i, a] - u[i, a]) / length if length > 0.0 and a > 0 else 0.0
        rhs[i, a] = -(r[i, a] - (top if a == 0 else factor * (r[i, a] - u[i, a])))
        for b in range(d):
            eb = (r[i, b] - u[i, b]) / length if length > 0.0 and b > 0 else 0.0
            plus = (1.0 if a == 0 else m * ea) * (1.0 if b == 0 else m * eb) / norm
            minus = (m if a == 0 else -ea) * (m if b == 0 else -eb) / norm
            rest = (1.0 if a == b else 0.0) - plus - minus
            P[a, b] = plus / (edge + PROJECTOR_SHIFT) + minus / (across + PROJECTOR_SHIFT)
            P[a, b] += rest / (side + PROJECTOR_SHIFT)
            D[i, a, b] = plus * (1.0 - edge) / (edge + PROJECTOR_SHIFT)
            D[i, a, b] += minus * (1.0 - across) / (across + PROJECTOR_SHIFT)
            D[i, a, b] += rest * (1.0 - side) / (side + PROJECTOR_SHIFT)
    for a in range(d):
        P[d, a] = rhs[i, a]
    for a in range(d):
        rhs[i, a] = 0.0
        for b in range(d):
            rhs[i, a] += P[a, b] * P[d, b]
    if exact and slip > 0.0:  # N^-1 = I - mu n t'
        for a in range(1, d):
            t = m * u[i, a] / slip
            rhs[i, 0] -= t * rhs[i, a]
            for b in range(d):
                D[i, 0, b] -= t * D[i, a, b]


# Nesterov-Todd scaling of products of second-order cones, by blocks (nb, d).
#
# One entry (d = 1) makes a cone a plain inequality: an LCP is the case d = 1.
#
# With eta = sqrt(det y / det x) and v the scaling point, det v = 1, Theta = eta (2 v v' - J) maps
# x to y; its root T gives lambda = T x = T^-1 y. J = diag(1, -1, ...), det x = x' J x.

FREE_BLOCK = 0  # y = 0, x of any sign
CONE_BLOCK = 1  # x, y in x_0 >= |x_1..|
RAY_BLOCK = 2  # x_0, y_0 >= 0, the other entries of x are zero


@kernel
def root_det(shape, x, i):
    """sqrt(det x_i), or 0 outside the cone; (x_0 - t)(x_0 + t) keeps digits near its boundary."""
    t = 0.0
    for a in range(1, len(shape)):
        t += x[i, a] ** 2
    t = np.sqrt(t)
    value = (x[i, 0] - t) * (x[i, 0] + t)
    return np.sqrt(value) if value > 0.0 and x[i, 0] > 0.0 else 0.0


@kernel
def nt_scaling(shape, kind, x, y, v, eta, lam, theta):
    """v (nb, d), eta (nb,), lam = T x (nb, d), theta (nb, d, d); 1 if x or y left its cone."""
    d = len(shape)
    for i in range(x.shape[0]):
        for a in range(d):
            v[i, a], lam[i, a] = 0.0, 0.0
            for b in range(d):
                theta[i, a, b] = 0.0
        v[i, 0], eta[i] = 1.0, 1.0
        if kind[i] == FREE_BLOCK:
            continue
        if kind[i] == RAY_BLOCK:
            if not (x[i, 0] > 0.0 and y[i, 0] > 0.0):
                return 1
            eta[i] = y[i, 0] / x[i, 0]
            lam[i, 0] = np.sqrt(x[i, 0] * y[i, 0])
            theta[i, 0, 0] = eta[i]
            for a in range(1, d):
                theta[i, a, a] = 1.0
            continue
        dx, dy = root_det(shape, x, i), root_det(shape, y, i)
        if not (dx > 0.0 and dy > 0.0):
            return 1
        inner = 1.0
        for a in range(d):
            inner += (x[i, a] / dx) * (y[i, a] / dy)
        scale = 1.0 / np.sqrt(2.0 * inner)  # 1 / (2 gamma)
        v[i, 0] = scale * (x[i, 0] / dx + y[i, 0] / dy)
        for a in range(1, d):
            v[i, a] = scale * (y[i, a] / dy - x[i, a] / dx)
        eta[i] = dy / dx
        for a in range(d):
            for b in range(d):
                theta[i, a, b] = 2.0 * eta[i] * v[i, a] * v[i, b]
            theta[i, a, a] += eta[i] if a else -eta[i]
        scale_row(shape, v, eta, x, lam, i, 1.0)
    return 0


@kernel
def scale_row(shape, v, eta, x, out, i, sign):
    """out_i = T x_i (sign 1) or T^-1 x_i (sign -1); out may be x."""
    d = len(shape)
    dot = 0.0
    for a in range(1, d):
        dot += v[i, a] * x[i, a]
    factor = np.sqrt(eta[i]) if sign > 0.0 else 1.0 / np.sqrt(eta[i])
    first = x[i, 0]
    slope = sign * first + dot / (1.0 + v[i, 0])
    for a in range(1, d):
        out[i, a] = factor * (x[i, a] + slope * v[i, a])
    out[i, 0] = factor * (v[i, 0] * first + sign * dot)


@kernel
def corrector(shape, kind, v, eta, lam, dx, dy, target, out):
    """out = T (lam \\ (target e - lam o lam - (T dx) o (T^-1 dy))): what dy + Theta dx must be.

    dx, dy: the predictor's step; overwritten with work. Free blocks get 0.
    """
    d = len(shape)
    for i in range(dx.shape[0]):
        if kind[i] == FREE_BLOCK:
            for a in range(d):
                out[i, a] = 0.0
            continue
        if kind[i] == RAY_BLOCK:
            for a in range(1, d):
                out[i, a] = 0.0
            c = target - lam[i, 0] ** 2 - dx[i, 0] * dy[i, 0]
            out[i, 0] = np.sqrt(eta[i]) * c / lam[i, 0]
            continue
        scale_row(shape, v, eta, dx, dx, i, 1.0)
        scale_row(shape, v, eta, dy, dy, i, -1.0)
        first = target
        for a in range(d):
            first -= lam[i, a] ** 2 + dx[i, a] * dy[i, a]
        for a in range(1, d):
            out[i, a] = -2.0 * lam[i, 0] * lam[i, a] - dx[i, 0] * dy[i, a] - dy[i, 0] * dx[i, a]
        out[i, 0] = first
        _divide(shape, lam, out, i)
        scale_row(shape, v, eta, out, out, i, 1.0)


@kernel
def _divide(shape, lam, c, i):
    """c_i := the z with lam_i o z = c_i (Jordan product of the second-order cone)."""
    d = len(shape)
    dot = 0.0
    for a in range(1, d):
        dot += lam[i, a] * c[i, a]
    root = root_det(shape, lam, i)
    first = (lam[i, 0] * c[i, 0] - dot) / (root * root)
    for a in range(1, d):
        c[i, a] = (c[i, a] - first * lam[i, a]) / lam[i, 0]
    c[i, 0] = first


@kernel
def largest_step(shape, kind, x, dx):
    """The largest alpha with x + alpha dx in the cones; infinity if none limits."""
    least = np.inf
    d = len(shape)
    for i in range(x.shape[0]):
        if kind[i] == FREE_BLOCK:
            continue
        if dx[i, 0] < 0.0:
            least = min(least, -x[i, 0] / dx[i, 0])
        if kind[i] == RAY_BLOCK or d == 1:
            continue
        root = root_det(shape, x, i)
        # det(x + alpha dx) = c + 2 b alpha + a alpha^2 with c > 0: first positive root
        quad, half = dx[i, 0] ** 2, x[i, 0] * dx[i, 0]
        for a in range(1, d):
            quad -= dx[i, a] ** 2
            half -= x[i, a] * dx[i, a]
        c = root * root
        disc = half * half - quad * c
        if disc >= 0.0 and np.sqrt(disc) > half:
            least = min(least, c / (np.sqrt(disc) - half))
    return least
