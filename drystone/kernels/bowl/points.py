"""Corners of polyhedra and rims of cylinders and cones in a bowl: the nearest point of its wall.

A convex body inside a convex hollow touches with its corners only. The nearest point of an
ellipsoid to a point y inside is x_i = a_i^2 y_i / (a_i^2 + t), where t in (-min a^2, 0] is the only
root there of sum (a_i y_i / (a_i^2 + t))^2 = 1 (Eberly): found by bisection, it cannot fail.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import POLYHEDRON
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.smooth_write import local, put, turned

RIM_POINTS = 12  # points of a rim


@kernel
def wall_point(a, y, x, n):
    """Nearest point x (3,) of the ellipsoid with semi-axes a (3,) to y (3,), and the outer normal
    n (3,) there; -> n.(x - y), positive inside. On the medial axis the lower point is taken."""
    thin = 0
    for k in range(3):
        if a[k] < a[thin]:
            thin = k
    low, high = -a[thin] * a[thin], 0.0
    for k in range(3):
        high += (a[k] * y[k]) ** 2
    high = max(np.sqrt(high), 0.0)
    for _ in range(200):
        t = 0.5 * (low + high)
        if t <= low or t >= high:
            break
        total = 0.0
        for k in range(3):
            total += (a[k] * y[k] / (a[k] * a[k] + t)) ** 2
        if total > 1.0:
            low = t
        else:
            high = t
    rest = 1.0
    for k in range(3):
        if k != thin:
            x[k] = a[k] * a[k] * y[k] / (a[k] * a[k] + high)
            rest -= (x[k] / a[k]) ** 2
    # the thin axis by what is left: y may be zero there
    x[thin] = a[thin] * np.sqrt(max(rest, 0.0)) * (1.0 if y[thin] > 0.0 else -1.0)
    length = 0.0
    for k in range(3):
        n[k] = x[k] / (a[k] * a[k])
        length += n[k] * n[k]
    gap = 0.0
    for k in range(3):
        n[k] /= np.sqrt(length)
        gap += n[k] * (x[k] - y[k])
    return gap


@kernel
def corner(geoms, b, k, q):
    """Corner k of geom b, in its frame: vertices, ring points of both ends, apex."""
    kind, numbers, f0 = geoms.kind[b], geoms.numbers, geoms.first[b]
    if kind == POLYHEDRON:
        for c in range(3):
            q[c] = numbers[f0 + 3 * k + c]
        return
    p = profile_of(kind, numbers, f0)
    r, q[2] = (p.wide_low, p.low) if k < RIM_POINTS else (p.wide_high, p.high)
    angle = 2.0 * np.pi * k / RIM_POINTS
    q[0], q[1] = r * np.cos(angle), r * np.sin(angle)


@kernel
def corners(geoms, b):
    """How many there are."""
    if geoms.kind[b] == POLYHEDRON:
        return geoms.ints[geoms.first_int[b]]
    pointed = profile_of(geoms.kind[b], geoms.numbers, geoms.first[b]).wide_high == 0.0
    return RIM_POINTS + 1 if pointed else 2 * RIM_POINTS


@kernel
def contact_bowl_corners(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact for each corner near the wall below the rim; feature: its number."""
    geom, margin, x, R = pairs.geom, pairs.margin, geoms.x, geoms.R
    a, y, w, n, q = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    count = np.int64(0)
    for i in range(margin.size):
        o, b = geom[i, 0], geom[i, 1]
        for k in range(3):
            a[k] = geoms.numbers[geoms.first[o] + k]
        rim = geoms.numbers[geoms.first[o] + 5]
        for k in range(corners(geoms, b)):
            corner(geoms, b, k, q)
            q[0], q[1], q[2] = turned(R[b], q[0], q[1], q[2])
            for c in range(3):
                q[c] += x[b, c]
            y[0], y[1], y[2] = local(x[o], R[o], q)
            g = wall_point(a, y, w, n)
            if not g <= margin[i] or w[2] > rim:
                continue
            if count == contacts.gap.size:
                return -1
            px, py, pz = turned(R[o], w[0], w[1], w[2])
            p = (x[o, 0] + px, x[o, 1] + py, x[o, 2] + pz)
            count = put(contacts, count, i, p, turned(R[o], n[0], n[1], n[2]), g, k)
    return count
