"""Contacts without stored rows: velocities, impulses and work straight from frames and arms.

A contact's rows J follow from its frame, its point and the positions of its two bodies; where
they are used once or twice a step it is faster to form them on the way than to store them.

`orientation`, (nb,) in the plane and (nb, 4) in space, tells the compiler the dimension: only what
it needs is compiled.
"""

from drystone.kernels._jit import stage
from drystone.kernels._prefetch import fetch_bodies


@stage
def velocities(orientation, n, body, frame, point, position, bias, v, u):
    """u (n, dim) = J v + bias."""
    if orientation.ndim == 1:
        _velocities_planar(n, body, frame, point, position, bias, v, u)
    else:
        _velocities_spatial(n, body, frame, point, position, bias, v, u)


@stage
def push(orientation, n, body, frame, point, position, inverse_mass, inverse_inertia, r, v):
    """v += M^-1 J' r."""
    if orientation.ndim == 1:
        _push_planar(n, body, frame, point, position, inverse_mass, inverse_inertia, r, v)
    else:
        _push_spatial(n, body, frame, point, position, inverse_mass, inverse_inertia, r, v)


@stage
def driven_work(orientation, n, body, moves, frame, point, position, r, before, after):
    """Work that prescribed bodies do through the impulses r, over their mean velocity [J]."""
    if orientation.ndim == 1:
        return _driven_work_planar(n, body, moves, frame, point, position, r, before, after)
    return _driven_work_spatial(n, body, moves, frame, point, position, r, before, after)


@stage
def _velocities_planar(n, body, frame, point, position, bias, v, u):
    for i in range(n):
        a, b = body[i, 0], body[i, 1]
        x, y = _relative_planar(i, a, b, point, position, v)
        for c in range(2):
            u[i, c] = bias[i, c] + frame[i, c, 0] * x + frame[i, c, 1] * y


@stage
def _relative_planar(i, a, b, point, position, v):
    """Velocity of body a against body b at point i."""
    x, y = _at_planar(i, a, point, position, v)
    X, Y = _at_planar(i, b, point, position, v)
    return x - X, y - Y


@stage
def _at_planar(i, b, point, position, v):
    rx, ry = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
    return v[b, 0] - v[b, 2] * ry, v[b, 1] + v[b, 2] * rx


@stage
def _velocities_spatial(n, body, frame, point, position, bias, v, u):
    for i in range(n):
        fetch_bodies(i, body, v, position)
        a, b = body[i, 0], body[i, 1]
        x, y, z = _at_spatial(i, a, point, position, v)
        X, Y, Z = _at_spatial(i, b, point, position, v)
        x, y, z = x - X, y - Y, z - Z
        for c in range(3):
            u[i, c] = bias[i, c] + frame[i, c, 0] * x + frame[i, c, 1] * y + frame[i, c, 2] * z


@stage
def _at_spatial(i, b, point, position, v):
    """Velocity of body b at point i."""
    rx, ry = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
    rz = point[i, 2] - position[b, 2]
    return (
        v[b, 0] + v[b, 4] * rz - v[b, 5] * ry,
        v[b, 1] + v[b, 5] * rx - v[b, 3] * rz,
        v[b, 2] + v[b, 3] * ry - v[b, 4] * rx,
    )


@stage
def _push_planar(n, body, frame, point, position, inverse_mass, inverse_inertia, r, v):
    for i in range(n):
        fx = frame[i, 0, 0] * r[i, 0] + frame[i, 1, 0] * r[i, 1]
        fy = frame[i, 0, 1] * r[i, 0] + frame[i, 1, 1] * r[i, 1]
        if fx == 0.0 and fy == 0.0:
            continue
        for s in range(2):
            b = body[i, s]
            sign = 1.0 - 2.0 * s
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            v[b, 0] += sign * inverse_mass[b] * fx
            v[b, 1] += sign * inverse_mass[b] * fy
            v[b, 2] += sign * inverse_inertia[b] * (x * fy - y * fx)


@stage
def _push_spatial(n, body, frame, point, position, inverse_mass, inverse_inertia, r, v):
    """inverse_inertia (nb, 3, 3) in world axes."""
    for i in range(n):
        fetch_bodies(i, body, v, position)
        fx = frame[i, 0, 0] * r[i, 0] + frame[i, 1, 0] * r[i, 1] + frame[i, 2, 0] * r[i, 2]
        fy = frame[i, 0, 1] * r[i, 0] + frame[i, 1, 1] * r[i, 1] + frame[i, 2, 1] * r[i, 2]
        fz = frame[i, 0, 2] * r[i, 0] + frame[i, 1, 2] * r[i, 1] + frame[i, 2, 2] * r[i, 2]
        if fx == 0.0 and fy == 0.0 and fz == 0.0:
            continue
        for s in range(2):
            b = body[i, s]
            sign = 1.0 - 2.0 * s
            m = sign * inverse_mass[b]
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            z = point[i, 2] - position[b, 2]
            v[b, 0] += m * fx
            v[b, 1] += m * fy
            v[b, 2] += m * fz
            t0, t1, t2 = (
                sign * (y * fz - z * fy),
                sign * (z * fx - x * fz),
                sign * (x * fy - y * fx),
            )
            for e in range(3):
                v[b, 3 + e] += (
                    inverse_inertia[b, e, 0] * t0
                    + inverse_inertia[b, e, 1] * t1
                    + inverse_inertia[b, e, 2] * t2
                )


@stage
def _driven_work_planar(n, body, moves, frame, point, position, r, before, after):
    total = 0.0
    for i in range(n):
        for s in range(2):
            b = body[i, s]
            if moves[b]:
                continue
            sign = 1.0 - 2.0 * s
            for v in (before, after):
                x, y = _at_planar(i, b, point, position, v)
                for c in range(2):
                    total -= 0.5 * sign * r[i, c] * (frame[i, c, 0] * x + frame[i, c, 1] * y)
    return total


@stage
def _driven_work_spatial(n, body, moves, frame, point, position, r, before, after):
    total = 0.0
    for i in range(n):
        for s in range(2):
            b = body[i, s]
            if moves[b]:
                continue
            sign = 1.0 - 2.0 * s
            for v in (before, after):
                x, y, z = _at_spatial(i, b, point, position, v)
                for c in range(3):
                    along = frame[i, c, 0] * x + frame[i, c, 1] * y + frame[i, c, 2] * z
                    total -= 0.5 * sign * r[i, c] * along
    return total
