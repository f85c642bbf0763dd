"""Nesterov-Todd scaling of products of second-order cones, by blocks (nb, d).

kind: FREE (y = 0, x of any sign), CONE (x, y in x_0 >= |x_1..|), RAY (x_0, y_0 >= 0, the other
entries of x are zero). One entry (d = 1) makes CONE a plain inequality: an LCP is the case d = 1.

With eta = sqrt(det y / det x) and v the scaling point, det v = 1, Theta = eta (2 v v' - J) maps
x to y; its root T gives lambda = T x = T^-1 y. J = diag(1, -1, ...), det x = x' J x.
"""

import numpy as np

from drystone.kernels._jit import kernel

FREE = 0
CONE = 1
RAY = 2


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
        if kind[i] == FREE:
            continue
        if kind[i] == RAY:
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

    dx, dy: the predictor's step; overwritten with work. FREE blocks get 0.
    """
    d = len(shape)
    for i in range(dx.shape[0]):
        if kind[i] == FREE:
            for a in range(d):
                out[i, a] = 0.0
            continue
        if kind[i] == RAY:
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
        if kind[i] == FREE:
            continue
        if dx[i, 0] < 0.0:
            least = min(least, -x[i, 0] / dx[i, 0])
        if kind[i] == RAY or d == 1:
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
