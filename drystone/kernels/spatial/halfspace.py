"""Curved bodies on a half-space: points of the body, each with its own gap.

Every point is a true point of the body's surface, so none can hold it up where it does not touch.
The deepest one is always among them: a tilted cylinder or cone rolls on its exact rim, without the
bumps of a polygon. On top of that, a cap that faces the plane has a ring of eight points fixed in
the body, so that an upright body stands on features that persist.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.smooth_surface import read_surface, support
from drystone.kernels.spatial.smooth_write import put, turned

CAP_POINTS = 8  # of a ring
Q = 0.7071067811865476  # sqrt(1/2)
COS = (1.0, Q, 0.0, -Q, -1.0, -Q, 0.0, Q)  # of the ring's angles; the sine is two places before
STEEP_CAP = 0.5  # cosine between cap and plane below which the ring is of no use
LEVEL_CAP = 1e-14  # sine of the tilt below which no point of the rim is deepest


@kernel
def _touch(contacts, k, i, geoms, a, b, q, r, f, far):
    """Contact at local point q (3 numbers) of A, moved by r against the normal, if within `far`."""
    if k < 0:
        return k
    x, R = geoms.x, geoms.R
    u, v, w = q
    nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
    px = x[a, 0] + R[a, 0, 0] * u + R[a, 0, 1] * v + R[a, 0, 2] * w - r * nx
    py = x[a, 1] + R[a, 1, 0] * u + R[a, 1, 1] * v + R[a, 1, 2] * w - r * ny
    pz = x[a, 2] + R[a, 2, 0] * u + R[a, 2, 1] * v + R[a, 2, 2] * w - r * nz
    g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
    if g > far:
        return k
    if k == contacts.gap.size:
        return -1
    return put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, f)


@kernel
def _rim(contacts, k, i, geoms, a, b, r, z, facing, f, far):
    """The deepest point of a rim at height z (feature f + 8) and its ring (f ... f + 7).

    facing: cosine between the cap's outer normal and the direction into the half-space.
    """
    R = geoms.R
    tx = R[a, 0, 0] * R[b, 0, 2] + R[a, 1, 0] * R[b, 1, 2] + R[a, 2, 0] * R[b, 2, 2]
    ty = R[a, 0, 1] * R[b, 0, 2] + R[a, 1, 1] * R[b, 1, 2] + R[a, 2, 1] * R[b, 2, 2]
    t = np.sqrt(tx * tx + ty * ty)
    if facing > STEEP_CAP:
        for j in range(CAP_POINTS):
            q = (r * COS[j], r * COS[(j + 6) % 8], z)
            k = _touch(contacts, k, i, geoms, a, b, q, 0.0, f + j, far)
    if t > LEVEL_CAP:
        q = (-r * tx / t, -r * ty / t, z)
        k = _touch(contacts, k, i, geoms, a, b, q, 0.0, f + CAP_POINTS, far)
    return k


@kernel
def contact_revolved_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Both ends: of a rim the features 0-8 at the lower end, 16-24 at the upper one; of an apex 16;
    of the end balls of a capsule 0 and 1. On its side, a body has one point of each end."""
    geom, margin, R = pairs.geom, pairs.margin, geoms.R
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        p = profile_of(geoms.kind[a], geoms.numbers, geoms.first[a])
        up = R[a, 0, 2] * R[b, 0, 2] + R[a, 1, 2] * R[b, 1, 2] + R[a, 2, 2] * R[b, 2, 2]
        for end in range(2):
            z, wide = (p.low, p.wide_low) if end == 0 else (p.high, p.wide_high)
            f = 16 * end if p.around == 0.0 else end
            if wide > 0.0:
                facing = up if end == 0 else -up
                k = _rim(contacts, k, i, geoms, a, b, wide, z, facing, f, margin[i])
            else:
                k = _touch(contacts, k, i, geoms, a, b, (0.0, 0.0, z), p.around, f, margin[i])
        if k < 0:
            return -1
    return k


@kernel
def contact_smooth_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact: the support point of A, in closed form."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    s = np.empty(5)
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        read_surface(first, numbers, a, s)
        u = R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz
        v = R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz
        w = R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz
        u, v, w = support(s, -u, -v, -w)
        px, py, pz = turned(R[a], u, v, w)
        px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
        g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
        if g > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        k = put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, 0)
    return k
