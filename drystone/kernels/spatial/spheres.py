"""Spheres with spheres, half-spaces, capsules, cylinders and cones, in closed form."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.frames import local, put_ball, turned


@kernel
def contact_sphere_sphere(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """gap = |x_A - x_B| - r_A - r_B; centres that coincide push apart along z."""
    geom, margin = pairs.geom, pairs.margin
    x, first, numbers = geoms.x, geoms.first, geoms.numbers
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        ra = numbers[first[a]]
        reach = ra + numbers[first[b]]
        dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
        square, far = dx * dx + dy * dy + dz * dz, reach + margin[i]
        if square > far * far or far < 0.0:
            continue
        if k == contacts.gap.size:
            return -1
        d = np.sqrt(square)
        if d > 0.0:
            s = 1.0 / d
            k = put_ball(contacts, k, i, x[a], ra, (s * dx, s * dy, s * dz), d - reach, 0)
        else:
            k = put_ball(contacts, k, i, x[a], ra, (0.0, 0.0, 1.0), -reach, 0)
    return k


@kernel
def contact_sphere_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """gap = n.(x_A - x_B) - r with n the z axis of B."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        r = numbers[first[a]]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        g = (x[a, 0] - x[b, 0]) * nx + (x[a, 1] - x[b, 1]) * ny + (x[a, 2] - x[b, 2]) * nz - r
        if g > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        k = put_ball(contacts, k, i, x[a], r, (nx, ny, nz), g, 0)
    return k


@kernel
def contact_sphere_capsule(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """The sphere against the nearest ball of the capsule; on the axis it is pushed along x."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        ra, h, rb = numbers[first[a]], numbers[first[b]], numbers[first[b] + 1]
        u, v, w = local(x[b], R[b], x[a])
        w -= min(max(w, -h), h)
        d = np.sqrt(u * u + v * v + w * w)
        g = d - ra - rb
        if g > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        if d > 0.0:
            u, v, w = u / d, v / d, w / d
        else:
            u = 1.0
        k = put_ball(contacts, k, i, x[a], ra, turned(R[b], u, v, w), g, 0)
    return k


# ---- Cylinders and cones: signed distance in the half-plane (rho >= 0, z) of the axis.
#
# Outside, the nearest point of the profile; inside, the nearest of the two sides, which is exact
# because the profile is convex.


@kernel
def straight_distance(rho, z, h, r):
    """Signed distance of (rho, z) to a cylinder of half the height h, and its gradient."""
    sign = 1.0 if z > 0.0 else -1.0
    side, cap = rho - r, abs(z) - h
    if side > 0.0 and cap > 0.0:
        d = np.sqrt(side * side + cap * cap)
        return d, side / d, sign * cap / d
    if cap >= side:
        return cap, 0.0, sign
    return side, 1.0, 0.0


@kernel
def pointed_distance(rho, z, height, r):
    """Signed distance of (rho, z) to a cone, and its gradient."""
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
def _outwards(R, u, v, rho, gr, gz):
    """World direction of the gradient (gr, gz) in (rho, z); on the axis the radial one is x."""
    if rho > 0.0:
        return turned(R, gr * u / rho, gr * v / rho, gz)
    return turned(R, gr, 0.0, gz)


@kernel
def contact_sphere_revolved(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact: nearest side, end, rim or apex of a cylinder or cone."""
    geom, margin, x, R = pairs.geom, pairs.margin, geoms.x, geoms.R
    first, numbers = geoms.first, geoms.numbers
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        ra, p = numbers[first[a]], profile_of(geoms.kind[b], numbers, first[b])
        u, v, z = local(x[b], R[b], x[a])
        rho = np.sqrt(u * u + v * v)
        if p.wide_high > 0.0:
            d, gr, gz = straight_distance(rho, z, p.high, p.wide_low)
        else:
            d, gr, gz = pointed_distance(rho, z, p.height, p.wide_low)
        if d - ra > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        k = put_ball(contacts, k, i, x[a], ra, _outwards(R[b], u, v, rho, gr, gz), d - ra, 0)
    return k
