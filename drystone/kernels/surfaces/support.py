"""Support points of surfaces given by formulas: the point of a convex surface farthest along d.

Implicit: d = mu grad F, F = 0 by Newton's method on point and multiplier. Parametric: the
stationary point of d.S(u, v). Both start at the best point of a table, and take only steps that
lead on: shorter ones, or, where the surface is flat, damped ones. A support function h(d) has the
point for its gradient; where it has none, across a face, that of a direction next to d is one.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.linalg.dense_lu import solve_ranked
from drystone.kernels.surfaces.evaluate import jets
from drystone.kernels.surfaces.layout import (
    COLUMNS,
    D1,
    D2,
    D3,
    D11,
    D12,
    D22,
    FORM,
    LENGTH,
    PARAMETRIC,
    RADIUS,
    SUPPORT,
    TABLE,
    TABLE_ROWS,
    VALUE,
)

SUPPORT_STEPS = 60  # of Newton's method
KINK = 1e-9  # of a direction across which h(d) has no gradient
SUPPORT_TOL = 1e-15  # of the error of direction, and of the distance from the surface in sizes


@kernel
def _start(numbers, f0, d, p, uv):
    """The table's point farthest along d."""
    best, most = f0 + TABLE, -np.inf
    for k in range(int(numbers[f0 + TABLE_ROWS])):
        at = f0 + TABLE + COLUMNS * k
        along = d[0] * numbers[at] + d[1] * numbers[at + 1] + d[2] * numbers[at + 2]
        if along > most:
            best, most = at, along
    for k in range(3):
        p[k] = numbers[best + k]
    uv[0], uv[1], uv[2] = numbers[best + 3], numbers[best + 4], 0.0


@kernel
def _error(J, d, size):
    """How far the normal is from d, and the point from the surface."""
    g = np.sqrt(J[D1] * J[D1] + J[D2] * J[D2] + J[D3] * J[D3])
    total = (J[0] / (g * size)) ** 2
    for k in range(3):
        total += (d[k] - J[1 + k] / g) ** 2
    return np.sqrt(total)


@kernel
def _implicit(numbers, f0, d, size, p, W, J):
    """Newton on F; p (3,) in and out."""
    M, y, z = np.empty((4, 4)), np.empty(4), np.empty(4)
    order, q, shift = np.empty(4, np.int64), np.empty(3), 0.0
    jets(numbers, f0, p, W, J)
    error = _error(J[0], d, size)
    for _ in range(SUPPORT_STEPS):
        if not error > SUPPORT_TOL:
            break
        F = J[0]
        g = np.sqrt(F[D1] * F[D1] + F[D2] * F[D2] + F[D3] * F[D3])
        k = 4
        for i in range(3):  # (H / g) dp + (grad / g) dm = d - grad / g; grad.dp / g = -F / g
            for j in range(i, 3):
                M[i, j] = F[k] * size / g
                M[j, i] = M[i, j]
                k += 1
            M[i, i] += shift
            M[i, 3] = F[1 + i] / g
            M[3, i] = M[i, 3]
            y[i] = d[i] - F[1 + i] / g
        M[3, 3], y[3] = 0.0, -F[0] / (g * size)
        solve_ranked(M, y, z, order)
        length = np.sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2])
        cut, better = min(1.0, 0.5 / length), False
        for _ in range(6):
            for i in range(3):
                q[i] = p[i] + cut * size * z[i]
            jets(numbers, f0, q, W, J)
            trial = _error(J[0], d, size)
            if trial < error:
                better = True
                break
            cut *= 0.35
        if better:
            for i in range(3):
                p[i] = q[i]
            error, shift = trial, shift * 0.1
        else:
            jets(numbers, f0, p, W, J)
            if error < 1e-13 or shift > 1e3:
                break
            shift = max(10.0 * shift, 1e-3)


@kernel
def _parametric(numbers, f0, d, uv, W, J):
    """Newton on d.S(u, v); uv (3,) in and out. J (3, NJ): jets there."""
    q, shift = np.zeros(3), 0.0
    jets(numbers, f0, uv, W, J)
    for _ in range(SUPPORT_STEPS):
        value = gu = gv = e = f = g = su = sv = 0.0
        for k in range(3):
            value += d[k] * J[k, VALUE]
            gu, gv = gu + d[k] * J[k, D1], gv + d[k] * J[k, D2]
            e, f, g = e - d[k] * J[k, D11], f - d[k] * J[k, D12], g - d[k] * J[k, D22]
            su, sv = su + J[k, D1] * J[k, D1], sv + J[k, D2] * J[k, D2]
        e, g = e + shift * su, g + shift * sv
        det = e * g - f * f
        if not (e > 0.0 and det > 1e-14 * e * g):
            if shift > 1e6 or (gu == 0.0 and gv == 0.0):
                break
            shift = max(10.0 * shift, 1e-2)
            continue
        du, dv = (g * gu - f * gv) / det, (e * gv - f * gu) / det
        cut = min(1.0, 0.5 / np.sqrt(du * du + dv * dv)) if du != 0.0 or dv != 0.0 else 0.0
        slack = 1e-15 * abs(value)
        better = False
        for _ in range(6):
            q[0], q[1] = uv[0] + cut * du, uv[1] + cut * dv
            jets(numbers, f0, q, W, J)
            if d[0] * J[0, VALUE] + d[1] * J[1, VALUE] + d[2] * J[2, VALUE] >= value - slack:
                better = True
                break
            cut *= 0.35
        if not better:
            jets(numbers, f0, uv, W, J)
            shift = max(10.0 * shift, 1e-2)
            if shift > 1e6:
                break
            continue
        uv[0], uv[1] = q[0], q[1]
        shift *= 0.1
        if cut * max(abs(du), abs(dv)) <= 1e-15 * (1.0 + max(abs(uv[0]), abs(uv[1]))):
            break


@kernel
def _gradient(numbers, f0, d, p, W, J):
    """p (3,): gradient of h at d, or at a direction beside it; J[0]: its jet."""
    beside = np.empty(3)
    for k in range(4):
        for c in range(3):
            beside[c] = d[c] + (KINK if k > 0 and c == k - 1 else 0.0)
        jets(numbers, f0, beside, W, J)
        p[0], p[1], p[2] = J[0, D1], J[0, D2], J[0, D3]
        if np.isfinite(p[0]) and np.isfinite(p[1]) and np.isfinite(p[2]):
            break


@kernel
def support_point(numbers, f0, dx, dy, dz, out):
    """out (3,): the point farthest along (dx, dy, dz), in the geom's frame. -> 0."""
    W, J = np.empty((int(numbers[f0 + LENGTH]), 10)), np.empty((3, 10))
    d, p, uv = np.empty(3), np.empty(3), np.empty(3)
    length = np.sqrt(dx * dx + dy * dy + dz * dz)
    d[0], d[1], d[2] = dx / length, dy / length, dz / length
    support_state(numbers, f0, d, p, uv, W, J)
    out[0], out[1], out[2] = p[0], p[1], p[2]
    return 0


@kernel
def support_state(numbers, f0, d, p, uv, W, J):
    """Point p (3,) and parameters uv (3,) farthest along the unit vector d; jets J (3, NJ)."""
    if numbers[f0 + FORM] == SUPPORT:
        uv[0] = uv[1] = uv[2] = 0.0
        _gradient(numbers, f0, d, p, W, J)
        return
    _start(numbers, f0, d, p, uv)
    if numbers[f0 + FORM] == PARAMETRIC:
        _parametric(numbers, f0, d, uv, W, J)
        p[0], p[1], p[2] = J[0, VALUE], J[1, VALUE], J[2, VALUE]
    else:
        _implicit(numbers, f0, d, numbers[f0 + RADIUS], p, W, J)
