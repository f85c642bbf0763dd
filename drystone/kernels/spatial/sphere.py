"""Spheres with spheres, half-spaces and capsules: closed forms, kept lean for large piles."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_write import local, put_ball, turned


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
