"""Corners of polyhedra and rims of cylinders and cones in a bowl: the nearest point of its wall.

A convex body inside a convex hollow touches with its corners only. The nearest point of an
ellipsoid to a point y inside is x_i = a_i^2 y_i / (a_i^2 + t), where t in (-min a^2, 0] is the only
root there of sum (a_i y_i / (a_i^2 + t))^2 = 1 (Eberly): found by bisection, it cannot fail.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_write import local, put, turned

POLYHEDRON, CYLINDER, CONE = 16, 14, 15  # of drystone.geometry.kinds; a test compares them
RING = 12


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
def corner(kind, numbers, f0, k, q):
    """Corner k of a body of points, in its frame: vertices, ring points of both ends, apex."""
    if kind == POLYHEDRON:
        for c in range(3):
            q[c] = numbers[f0 + 3 * k + c]
        return
    h, r = numbers[f0], numbers[f0 + 1]
    low, high, wide = -h, h, r
    if kind == CONE:
        low, high, wide = -0.25 * h, 0.75 * h, 0.0
    r, q[2] = (r, low) if k < RING else (wide, high)
    angle = 2.0 * np.pi * k / RING
    q[0], q[1] = r * np.cos(angle), r * np.sin(angle)


@kernel
def corners(kind, ints, i0):
    """How many there are."""
    if kind == POLYHEDRON:
        return ints[i0]
    return 2 * RING if kind == CYLINDER else RING + 1


@kernel
def contact_bowl_corners(
    kind, pairs, margin, x, R, first, numbers, first_int, ints,
    which, point, normal, gap, feature,
):  # fmt: skip
    """One contact for each corner near the wall below the rim; feature: its number."""
    a, y, w, n, q = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    count = np.int64(0)
    for i in range(pairs.shape[0]):
        o, b = pairs[i, 0], pairs[i, 1]
        for k in range(3):
            a[k] = numbers[first[o] + k]
        rim = numbers[first[o] + 5]
        for k in range(corners(kind, ints, first_int[b])):
            corner(kind, numbers, first[b], k, q)
            q[0], q[1], q[2] = turned(R[b], q[0], q[1], q[2])
            for c in range(3):
                q[c] += x[b, c]
            y[0], y[1], y[2] = local(x[o], R[o], q)
            g = wall_point(a, y, w, n)
            if not g <= margin[i] or w[2] > rim:
                continue
            if count == which.size:
                return -1
            px, py, pz = turned(R[o], w[0], w[1], w[2])
            nx, ny, nz = turned(R[o], n[0], n[1], n[2])
            count = put(
                count, i, x[o, 0] + px, x[o, 1] + py, x[o, 2] + pz, nx, ny, nz, g, k,
                which, point, normal, gap, feature,
            )  # fmt: skip
    return count


@kernel
def contact_bowl_polyhedron(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Every vertex near the wall."""
    return contact_bowl_corners(
        np.int64(POLYHEDRON), pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_cylinder(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Points of both rims that are fixed in the body."""
    return contact_bowl_corners(
        np.int64(CYLINDER), pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip


@kernel
def contact_bowl_cone(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """Points of the rim that are fixed in the body, and the apex."""
    return contact_bowl_corners(
        np.int64(CONE), pairs, margin, x, R, first, numbers, first_int, ints,
        which, point, normal, gap, feature,
    )  # fmt: skip
