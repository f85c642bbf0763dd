"""Spheres with cylinders and cones: signed distance in the half-plane (rho >= 0, z) of the axis.

Outside, the nearest point of the profile; inside, the nearest of the two sides, which is exact
because the profile is convex.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_write import local, put_ball


@kernel
def cylinder_distance(rho, z, h, r):
    """Signed distance of (rho, z) to the cylinder, and its gradient."""
    sign = 1.0 if z > 0.0 else -1.0
    side, cap = rho - r, abs(z) - h
    if side > 0.0 and cap > 0.0:
        d = np.sqrt(side * side + cap * cap)
        return d, side / d, sign * cap / d
    if cap >= side:
        return cap, 0.0, sign
    return side, 1.0, 0.0


@kernel
def cone_distance(rho, z, height, r):
    """Signed distance of (rho, z) to the cone, and its gradient."""
    slant = np.sqrt(height * height + r * r)
    s, c = r / slant, height / slant  # outer normal of the side: (c, s)
    zb, za = z + 0.25 * height, z - 0.75 * height  # heights over the base and over the apex
    side, base = c * rho + s * za, -zb
    along = s * rho - c * za  # distance from the apex along the side, downwards
    if side <= 0.0 and base <= 0.0:
        if base >= side:
            return base, 0.0, -1.0
        return side, c, s
    if base > 0.0 and rho <= r:
        return base, 0.0, -1.0
    if along <= 0.0:
        d = np.sqrt(rho * rho + za * za)
        return d, rho / d, za / d
    if along < slant:
        return side, c, s
    d = np.sqrt((rho - r) ** 2 + zb * zb)
    return d, (rho - r) / d, zb / d


@kernel
def _contact(
    k, i, xa, ra, xb, Rb, u, v, rho, g, gr, gz, which, point, normal, gap, feature
):  # fmt: skip
    """Turn a gradient in (rho, z) into a contact; on the axis the radial direction is x."""
    if rho > 0.0:
        u, v = gr * u / rho, gr * v / rho
    else:
        u, v = gr, 0.0
    nx = Rb[0, 0] * u + Rb[0, 1] * v + Rb[0, 2] * gz
    ny = Rb[1, 0] * u + Rb[1, 1] * v + Rb[1, 2] * gz
    nz = Rb[2, 0] * u + Rb[2, 1] * v + Rb[2, 2] * gz
    return put_ball(k, i, xa, ra, nx, ny, nz, g, 0, which, point, normal, gap, feature)


@kernel
def contact_sphere_cylinder(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """One contact: nearest side, cap or rim."""
    k = np.int64(0)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        ra, h, rb = numbers[first[a]], numbers[first[b]], numbers[first[b] + 1]
        u, v, z = local(x[b], R[b], x[a])
        rho = np.sqrt(u * u + v * v)
        d, gr, gz = cylinder_distance(rho, z, h, rb)
        if d - ra > margin[i]:
            continue
        if k == which.size:
            return -1
        k = _contact(
            k, i, x[a], ra, x[b], R[b], u, v, rho, d - ra, gr, gz,
            which, point, normal, gap, feature,
        )  # fmt: skip
    return k


@kernel
def contact_sphere_cone(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """One contact: nearest side, base, rim or apex."""
    k = np.int64(0)
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        ra, height, rb = numbers[first[a]], numbers[first[b]], numbers[first[b] + 1]
        u, v, z = local(x[b], R[b], x[a])
        rho = np.sqrt(u * u + v * v)
        d, gr, gz = cone_distance(rho, z, height, rb)
        if d - ra > margin[i]:
            continue
        if k == which.size:
            return -1
        k = _contact(
            k, i, x[a], ra, x[b], R[b], u, v, rho, d - ra, gr, gz,
            which, point, normal, gap, feature,
        )  # fmt: skip
    return k
