"""Block compressed rows: products, diagonal scales, and the friction residual.

`shape` is a tuple whose *length* is the block size d: a constant for the compiler, so that the
inner loops unroll and one source serves planar, spatial and soft-finger contacts.
A contact with mu < 0 is a bilateral block: r free, u = 0.
"""

import numpy as np

from drystone.kernels._jit import kernel

COULOMB = 0
CONVEX = 1
STATIC = 3  # (14-1): friction need only partly oppose the tangential motion
LINEAR = 2  # rows of an LCP, as blocks of size 1 with mu = 0: residual relative to |q| alone


@kernel
def block_product(shape, indptr, indices, blocks, r, q, u):
    """u = W r + q; blocks (nnz, d, d), r, q, u (nc, d)."""
    d = len(shape)
    for i in range(indptr.size - 1):
        for a in range(d):
            u[i, a] = q[i, a]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for a in range(d):
                total = u[i, a]
                for b in range(d):
                    total += blocks[k, a, b] * r[j, b]
                u[i, a] = total


@kernel
def contact_residuals(shape, r, u, q, mu, unit, law):
    """(scaled, unit-free) residual of circular cones."""
    return floored_residuals(shape, r, u, q, mu, unit, law, 0.0, 0.0)


@kernel
def floored_residuals(shape, r, u, q, mu, unit, law, floor, unit_floor):
    """The same with least denominators: how a part of a problem is judged by the whole's scale."""
    d = len(shape)
    plain_f, plain_q, plain_r, plain_u = 0.0, 0.0, 0.0, 0.0
    unit_f, unit_q, unit_r, unit_u = 0.0, 0.0, 0.0, 0.0
    for i in range(r.shape[0]):
        s = unit[i]
        f = _contact_error(shape, r, u, mu[i], i, 1.0, law)
        plain_f += f
        unit_f += f if s == 1.0 else _contact_error(shape, r, u, mu[i], i, s, law)
        for a in range(d):
            plain_q += q[i, a] ** 2
            plain_r += r[i, a] ** 2
            plain_u += u[i, a] ** 2
            unit_q += (q[i, a] / s) ** 2
            unit_r += (r[i, a] * s) ** 2
            unit_u += (u[i, a] / s) ** 2
    if law == LINEAR:
        plain_r = plain_u = unit_r = unit_u = 0.0
    if ran_away(unit_f, unit_q, unit_r, unit_u):
        return np.inf, np.inf
    return (
        _ratio(plain_f, max(plain_q, plain_r, plain_u, floor**2)),
        _ratio(unit_f, max(unit_q, unit_r, unit_u, unit_floor**2)),
    )


@kernel
def ran_away(f, q, r, u):
    """Whether impulses grow without bound on a problem without a solution (squares, unit-free).

    |F| / |r| then tends to zero although the velocities are as wrong as ever: with r 10^5 times
    all velocities, an error of a tenth of them is not forgiven for the sake of a large r; and with
    r 10^12 times q, u = W r + q has lost q to rounding and proves nothing.
    """
    scale = max(q, u)
    if scale == 0.0:
        return False
    return (r > 1e10 * scale and f > 1e-2 * scale) or (q > 0.0 and r > 1e24 * q)


@kernel
def box_residuals(z, w, q, lower, upper, unit):
    """(scaled, unit-free) residual of a boxed LCP: |mid(z - upper, w, z - lower)| / |q|.

    The same as z - mid(lower, z - w, upper), but it does not lose w in a large z.
    """
    plain_f, plain_q, unit_f, unit_q = 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        s = unit[i]
        above, below = z[i] - upper[i], z[i] - lower[i]
        plain_f += min(max(w[i], above), below) ** 2
        unit_f += min(max(w[i] / s, above * s), below * s) ** 2
        plain_q += q[i] ** 2
        unit_q += (q[i] / s) ** 2
        if np.isnan(z[i]) or np.isnan(w[i]):
            return np.nan, np.nan
    return _ratio(plain_f, plain_q), _ratio(unit_f, unit_q)


@kernel
def _contact_error(shape, r, u, mu, i, s, law):
    """|F_i|^2 with impulses scaled by s and velocities by 1/s."""
    d = len(shape)
    if mu < 0.0:
        total = 0.0
        for a in range(d):
            total += (u[i, a] / s) ** 2
        return total
    if law == STATIC:
        return _static_error(shape, r, u, mu, i, s)
    slip = 0.0
    for a in range(1, d):
        slip += (u[i, a] / s) ** 2
    n = r[i, 0] * s - u[i, 0] / s
    if law == COULOMB:
        n -= mu * np.sqrt(slip)
    t = 0.0
    for a in range(1, d):
        t += (r[i, a] * s - u[i, a] / s) ** 2
    t = np.sqrt(t)
    top, factor = _project(n, t, mu)
    total = (r[i, 0] * s - top) ** 2
    for a in range(1, d):
        total += (r[i, a] * s - factor * (r[i, a] * s - u[i, a] / s)) ** 2
    return total


@kernel
def _static_error(shape, r, u, mu, i, s):
    """min(r_n, u_n); friction over its limit or, with slip, below it; friction that drives."""
    force, speed, along = 0.0, 0.0, 0.0
    for a in range(1, len(shape)):
        force += (r[i, a] * s) ** 2
        speed += (u[i, a] / s) ** 2
        along += r[i, a] * u[i, a]
    force, speed = np.sqrt(force), np.sqrt(speed)
    room = mu * r[i, 0] * s - force
    unmet = -room if room < 0.0 else min(room, speed)
    driving = max(along, 0.0) / max(force, speed, 2.220446049250313e-16)
    normal = min(r[i, 0] * s, u[i, 0] / s)
    return normal * normal + unmet * unmet + driving * driving


@kernel
def _project(n, t, mu):
    """Projection of a point with normal part n and tangential length t: (normal, factor of t)."""
    if mu * t <= -n:  # first: without friction the axis below the apex passes the other test
        return 0.0, 0.0
    if t <= mu * n:
        return n, 1.0
    top = (n + mu * t) / (1.0 + mu * mu)
    return top, mu * top / t


@kernel
def _ratio(error, scale):
    if scale < 2.220446049250313e-16**2:
        return np.sqrt(error)
    return np.sqrt(error / scale)
