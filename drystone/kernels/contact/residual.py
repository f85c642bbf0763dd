"""The friction residual: how far impulses r and velocities u are from the law, contact by contact.

F = r - proj(r - (u + lift)) with the projection onto the friction cone; lift = mu |u_t| along the
normal for Coulomb's law, 0 for the relaxed one. |F| is measured as it is and unit-free (impulses
times s, velocities over s, with s^2 the mean diagonal of a contact's block of W), each relative to
the greatest of |q|, |r|, |u|.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import COULOMB, EPS, LINEAR, STATIC, ratio
from drystone.kernels.contact.polyhedral import polyhedral_error


@kernel
def contact_residuals(shape, r, u, q, mu, unit, law, corners=None):
    """(scaled, unit-free) residual of circular cones, or of polyhedral ones with these corners."""
    return floored_residuals(shape, r, u, q, mu, unit, law, 0.0, 0.0, corners)


@kernel
def floored_residuals(shape, r, u, q, mu, unit, law, floor, unit_floor, corners=None):
    """The same with least denominators: how a part of a problem is judged by the whole's scale."""
    d = len(shape)
    plain_f, plain_q, plain_r, plain_u = 0.0, 0.0, 0.0, 0.0
    unit_f, unit_q, unit_r, unit_u = 0.0, 0.0, 0.0, 0.0
    for i in range(r.shape[0]):
        s = unit[i]
        f = _contact_error(shape, r, u, mu[i], i, 1.0, law, corners)
        plain_f += f
        unit_f += f if s == 1.0 else _contact_error(shape, r, u, mu[i], i, s, law, corners)
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
        ratio(plain_f, max(plain_q, plain_r, plain_u, floor**2)),
        ratio(unit_f, max(unit_q, unit_r, unit_u, unit_floor**2)),
    )


@stage
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
def _contact_error(shape, r, u, mu, i, s, law, corners):
    """|F_i|^2 with impulses scaled by s and velocities by 1/s."""
    if corners is not None:
        return polyhedral_error(r[i], u[i], mu, s, law, corners)
    d = len(shape)
    if mu < 0.0:
        total = 0.0
        for a in range(d):
            total += (u[i, a] / s) ** 2
        return total
    if law == STATIC:
        return _static_error(shape, r, u, mu, i, s)
    if d == 2:
        rn, rt, un, ut = r[i, 0] * s, r[i, 1] * s, u[i, 0] / s, u[i, 1] / s
        return error_planar(rn, rt, un, ut, mu * abs(ut) if law == COULOMB else 0.0, mu)
    slip = 0.0
    for a in range(1, d):
        slip += (u[i, a] / s) ** 2
    lift = mu * np.sqrt(slip) if law == COULOMB else 0.0
    if d == 3:
        rn, rs, rt = r[i, 0] * s, r[i, 1] * s, r[i, 2] * s
        return error_spatial(rn, rs, rt, u[i, 0] / s, u[i, 1] / s, u[i, 2] / s, lift, mu)
    n = r[i, 0] * s - u[i, 0] / s - lift
    t = 0.0
    for a in range(1, d):
        t += (r[i, a] * s - u[i, a] / s) ** 2
    top, factor = project_cone(n, np.sqrt(t), mu)
    total = (r[i, 0] * s - top) ** 2
    for a in range(1, d):
        total += (r[i, a] * s - factor * (r[i, a] * s - u[i, a] / s)) ** 2
    return total


@stage
def error_planar(rn, rt, un, ut, lift, mu):
    """|F|^2 of a contact in the plane."""
    n, x = rn - un - lift, rt - ut
    top, factor = project_cone(n, abs(x), mu)
    n, x = rn - top, rt - factor * x
    return n * n + x * x


@stage
def error_spatial(rn, rs, rt, un, us, ut, lift, mu):
    """|F|^2 of a contact in space."""
    n, x, y = rn - un - lift, rs - us, rt - ut
    top, factor = project_cone(n, np.sqrt(x * x + y * y), mu)
    n, x, y = rn - top, rs - factor * x, rt - factor * y
    return n * n + x * x + y * y


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
    driving = max(along, 0.0) / max(force, speed, EPS)
    normal = min(r[i, 0] * s, u[i, 0] / s)
    return normal * normal + unmet * unmet + driving * driving


@stage
def project_cone(n, t, mu):
    """Projection of a point with normal part n and tangential length t: (normal, factor of t)."""
    if mu * t <= -n:  # first: without friction the axis below the apex passes the other test
        return 0.0, 0.0
    if t <= mu * n:
        return n, 1.0
    top = (n + mu * t) / (1.0 + mu * mu)
    return top, mu * top / t
