"""Support features: the face, edge or point of a body that faces a direction, as a polygon.

A cap is a ring of RING points fixed in the body's frame; the side of a cylinder or capsule and the
slant of a cone are segments. Everything within an angle of being flat counts as flat: points of a
face that is a little tilted have their own gaps.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import POLYHEDRON
from drystone.kernels.profiles import is_revolved, profile_of
from drystone.kernels.spatial.support import ORIGIN, Cores, support

RING = 12  # points of a cap
ROOM = 64  # points of a feature; a face with more is thinned out evenly


class Feature(NamedTuple):
    """Points (ROOM, 3) and their names (ROOM,); across (ROOM,): radius of curvature across a
    segment at its ends [m]."""

    points: Any
    names: Any
    across: Any


@kernel
def ring(r, z, out: Feature):
    """The rim of radius r at height z, counter-clockwise about +z."""
    points, names, across = out
    for k in range(RING):
        angle = 2.0 * np.pi * k / RING
        points[k, 0], points[k, 1], points[k, 2] = r * np.cos(angle), r * np.sin(angle), z
        names[k], across[k] = k, 0.0
    return RING


@kernel
def face_or_edge(numbers, f0, ints, i0, v, d, sine, out: Feature):
    """The flattest face at vertex v along d (3 numbers), else its flattest edge; 0 points if none
    is flat."""
    points, names, across = out
    dx, dy, dz = d
    nv, nf, ne = ints[i0], ints[i0 + 1], ints[i0 + 2]
    loop = i0 + 3 + nf + 1
    edges = loop + ints[i0 + 3 + nf]
    face, most = -1, np.sqrt(1.0 - sine * sine)
    edge, least = -1, sine
    for e in range(ne):
        k = edges + 4 * e
        if ints[k] != v and ints[k + 1] != v:
            continue
        for side in range(2):
            f = ints[k + 2 + side]
            p = f0 + 3 * nv + 4 * f
            cosine = dx * numbers[p] + dy * numbers[p + 1] + dz * numbers[p + 2]
            if cosine > most:
                face, most = f, cosine
        i, j = f0 + 3 * ints[k], f0 + 3 * ints[k + 1]
        e0, e1 = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        e2 = numbers[j + 2] - numbers[i + 2]
        slope = abs(dx * e0 + dy * e1 + dz * e2) / np.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        if slope < least:
            edge, least = e, slope
    if face >= 0:
        first, last = ints[i0 + 3 + face], ints[i0 + 3 + face + 1]
        stride = 1 + (last - first - 1) // ROOM
        n = (last - first + stride - 1) // stride
        for k in range(n):
            names[k] = ints[loop + first + stride * k]
    elif edge >= 0:
        names[0], names[1] = ints[edges + 4 * edge], ints[edges + 4 * edge + 1]
        n = 2
    else:
        return 0
    for k in range(n):
        p = f0 + 3 * names[k]
        points[k, 0], points[k, 1], points[k, 2] = numbers[p], numbers[p + 1], numbers[p + 2]
        across[k] = 0.0
    return n


@kernel
def end_or_side(p, d, sine, out: Feature):
    """The flat end of a profile that faces d (3 numbers), or the line of its side that does."""
    dx, dy, dz = d
    flat = np.sqrt(dx * dx + dy * dy)  # sine of the angle to the axis
    z, wide = (p.high, p.wide_high) if dz > 0.0 else (p.low, p.wide_low)
    if flat < sine and wide > 0.0:
        return ring(wide, z, out)
    taper = p.wide_low - p.wide_high
    slope, inner, outer = dz, p.wide_low + p.around, p.wide_high + p.around
    if taper != 0.0:
        slant = np.sqrt(p.height * p.height + taper * taper)
        slope = (p.height * dz - taper * flat) / slant
        inner, outer = p.wide_low * slant / p.height, p.wide_high * slant / p.height
    if not abs(slope) < sine or flat == 0.0:
        return 0
    c, s = dx / flat, dy / flat
    points, names, across = out
    points[0, 0], points[0, 1], points[0, 2] = p.wide_low * c, p.wide_low * s, p.low
    points[1, 0], points[1, 1], points[1, 2] = p.wide_high * c, p.wide_high * s, p.high
    names[0], names[1], across[0], across[1] = 0, 1, inner, outer
    return 2


@kernel
def feature_of(cores: Cores, s, n, sine, out: Feature):
    """Feature of body s (0: A along -n, 1: B along n) in the axes of its frame: its points.

    The single furthest point of the core has the name 0 and counts as one point.
    """
    points, names, across = out
    spec, numbers, ab = cores.spec, cores.numbers, cores.ab
    F, sign = cores.frame[s], (-1.0 if s == 0 else 1.0)
    dx = sign * (F[0] * n[0] + F[3] * n[1] + F[6] * n[2])
    dy = sign * (F[1] * n[0] + F[4] * n[1] + F[7] * n[2])
    dz = sign * (F[2] * n[0] + F[5] * n[1] + F[8] * n[2])
    names[0] = -1
    v = support(cores, s, names[0], n[0], n[1], n[2])
    kind, f0, k = spec[s, 0], spec[s, 1], 0
    if kind == POLYHEDRON:
        k = face_or_edge(numbers, f0, cores.ints, spec[s, 2], v, (dx, dy, dz), sine, out)
    elif is_revolved(kind):
        k = end_or_side(profile_of(kind, numbers, f0), (dx, dy, dz), sine, out)
    for i in range(k):
        p0, p1, p2 = points[i, 0], points[i, 1], points[i, 2]
        for c in range(3):
            points[i, c] = F[ORIGIN + c] + F[3 * c] * p0 + F[3 * c + 1] * p1 + F[3 * c + 2] * p2
    if k == 0:
        names[0], across[0] = 0, 0.0
        for c in range(3):
            points[0, c] = ab[s, c]
        return 1
    return k
