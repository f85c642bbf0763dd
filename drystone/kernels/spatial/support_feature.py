"""Support features: the face, edge or point of a body that faces a direction, as a polygon.

A cap is a ring of RING points fixed in the body's frame; the side of a cylinder or capsule and the
slant of a cone are segments. Everything within an angle of being flat counts as flat: points of a
face that is a little tilted have their own gaps.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.support import CAPSULE, CONE, CYLINDER, POLYHEDRON, support

RING = 12
ROOM = 64  # points of a feature; a face with more is thinned out evenly


@kernel
def ring(numbers, f0, z, out, ids, across):
    """The rim at height z, counter-clockwise about +z."""
    r = numbers[f0 + 1]
    for k in range(RING):
        angle = 2.0 * np.pi * k / RING
        out[k, 0], out[k, 1], out[k, 2] = r * np.cos(angle), r * np.sin(angle), z
        ids[k], across[k] = k, 0.0
    return RING


@kernel
def face_or_edge(numbers, f0, ints, i0, v, dx, dy, dz, sine, out, ids, across):
    """The flattest face at vertex v along d, else its flattest edge; 0 points if none is flat."""
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
            ids[k] = ints[loop + first + stride * k]
    elif edge >= 0:
        ids[0], ids[1] = ints[edges + 4 * edge], ints[edges + 4 * edge + 1]
        n = 2
    else:
        return 0
    for k in range(n):
        p = f0 + 3 * ids[k]
        out[k, 0], out[k, 1], out[k, 2] = numbers[p], numbers[p + 1], numbers[p + 2]
        across[k] = 0.0
    return n


@kernel
def local_feature(kind, numbers, f0, ints, i0, v, dx, dy, dz, sine, out, ids, across):
    """Points of the feature along the unit vector d, in local axes; 0 if it is a single point."""
    if kind == POLYHEDRON:
        return face_or_edge(numbers, f0, ints, i0, v, dx, dy, dz, sine, out, ids, across)
    if kind != CAPSULE and kind != CYLINDER and kind != CONE:
        return 0
    h, r = numbers[f0], numbers[f0 + 1]
    flat = np.sqrt(dx * dx + dy * dy)  # sine of the angle to the axis
    if flat < sine and kind == CYLINDER:
        return ring(numbers, f0, h if dz > 0.0 else -h, out, ids, across)
    if flat < sine and kind == CONE and dz < 0.0:
        return ring(numbers, f0, -0.25 * h, out, ids, across)
    slope = dz
    low, high, inner, outer = -h, h, r, r
    if kind == CONE:
        slant = np.sqrt(h * h + r * r)
        slope = (h * dz - r * flat) / slant
        low, high, inner, outer = -0.25 * h, 0.75 * h, r * slant / h, 0.0
    if not abs(slope) < sine or flat == 0.0:
        return 0
    c, s = dx / flat, dy / flat
    rim = 0.0 if kind == CAPSULE else r
    top = 0.0 if kind == CONE else rim
    out[0, 0], out[0, 1], out[0, 2] = rim * c, rim * s, low
    out[1, 0], out[1, 1], out[1, 2] = top * c, top * s, high
    ids[0], ids[1], across[0], across[1] = 0, 1, inner, outer
    return 2


@kernel
def feature_of(s, spec, frame, numbers, ints, n, sine, out, ids, across, ab):
    """Feature of body s (0: A along -n, 1: B along n) in the axes of `frame`: its points.

    out (ROOM, 3), ids (ROOM,), across (ROOM,): radius of curvature across a segment at its ends.
    The single furthest point of the core has id 0 and counts as one point.
    """
    F, sign = frame[s], (-1.0 if s == 0 else 1.0)
    dx = sign * (F[0] * n[0] + F[3] * n[1] + F[6] * n[2])
    dy = sign * (F[1] * n[0] + F[4] * n[1] + F[7] * n[2])
    dz = sign * (F[2] * n[0] + F[5] * n[1] + F[8] * n[2])
    ids[0] = -1
    v = support(s, ids[0], spec, frame, numbers, ints, n[0], n[1], n[2], ab)
    k = local_feature(
        spec[s, 0], numbers, spec[s, 1], ints, spec[s, 2], v, dx, dy, dz, sine, out, ids, across
    )
    for i in range(k):
        p0, p1, p2 = out[i, 0], out[i, 1], out[i, 2]
        for c in range(3):
            out[i, c] = F[9 + c] + F[3 * c] * p0 + F[3 * c + 1] * p1 + F[3 * c + 2] * p2
    if k == 0:
        ids[0], across[0] = 0, 0.0
        for c in range(3):
            out[0, c] = ab[s, c]
        return 1
    return k
