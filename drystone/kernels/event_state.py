"""The vector Y of the event-driven method and the state of bodies: there and back, without objects.

Y = (positions, orientations, velocities, work) of the bodies `own`; see ``steppers.event_driven``.
"""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def unpack(y, own, position, orientation, velocity):
    """Write Y into position (nb, dim), orientation (nb,) or (nb, 4) as (nb, k), velocity (nb, dof);
    quaternions get length 1."""
    n, dim, k = own.size, position.shape[1], orientation.shape[1]
    at, to = n * dim, n * (dim + k)
    for i in range(n):
        b = own[i]
        for e in range(dim):
            position[b, e] = y[dim * i + e]
        size = 1.0
        if k == 4:
            size = 0.0
            for e in range(4):
                size += y[at + 4 * i + e] ** 2
            size = np.sqrt(size)
        for e in range(k):
            orientation[b, e] = y[at + k * i + e] / size
        for e in range(velocity.shape[1]):
            velocity[b, e] = y[to + velocity.shape[1] * i + e]


@kernel
def rate_of_change(y, own, velocity, acceleration, power, dim, out):
    """dY/dt into out; velocity, acceleration (nb, dof); power (4,): rates of the work."""
    n, dof = own.size, velocity.shape[1]
    k = 1 if dim == 2 else 4
    at, to = n * dim, n * (dim + k)
    for i in range(n):
        b = own[i]
        for e in range(dim):
            out[dim * i + e] = velocity[b, e]
        if dim == 2:
            out[at + i] = velocity[b, 2]
        else:
            w, x, z = velocity[b, 3], velocity[b, 4], velocity[b, 5]
            j = at + 4 * i
            q0, q1, q2, q3 = y[j], y[j + 1], y[j + 2], y[j + 3]
            out[j] = -0.5 * (w * q1 + x * q2 + z * q3)
            out[j + 1] = 0.5 * (w * q0 + x * q3 - z * q2)
            out[j + 2] = 0.5 * (x * q0 + z * q1 - w * q3)
            out[j + 3] = 0.5 * (z * q0 + w * q2 - x * q1)
        for e in range(dof):
            out[to + dof * i + e] = acceleration[b, e]
    for e in range(4):
        out[to + dof * n + e] = power[e]


@kernel
def follow(scan, key, index, p, n, C):
    """Contacts `key` (nc, 3), of geoms and feature, among those that a scan found; their surface
    points into p (nc, 2, dim), normals n (nc, dim), gaps C (nc,); index (nc,): where, -1 if
    nowhere. -> how many are not there."""
    geom_a, geom_b, feature, found = scan.geom_a, scan.geom_b, scan.feature, scan.n_contacts
    point, normal, gap = scan.point, scan.normal, scan.gap
    lost, j, dim = 0, 0, point.shape[1]
    for i in range(key.shape[0]):
        index[i] = -1
        for _ in range(found):
            if j >= found:
                j = 0
            here = j
            j += 1
            if (
                geom_a[here] == key[i, 0]
                and geom_b[here] == key[i, 1]
                and feature[here] == key[i, 2]
            ):
                index[i] = here
                break
        here = index[i]
        if here < 0:
            lost += 1
            continue
        C[i] = gap[here]
        for e in range(dim):
            n[i, e] = normal[here, e]
            p[i, 0, e] = point[here, e] + 0.5 * gap[here] * normal[here, e]
            p[i, 1, e] = point[here, e] - 0.5 * gap[here] * normal[here, e]
    return lost


@kernel
def corners(geom, side, local, m, x, R, p, n, C):
    """Contacts of a corner of one geom, the one on `side` (nc,), with a face of the other: surface
    points p (nc, 2, dim), normals n (nc, dim), gaps C (nc,). geom (nc, 2); local (nc, 2, dim): the
    corner, and a point of the face; m (nc, dim): the normal, in the frame of the face's geom."""
    dim = m.shape[1]
    for i in range(side.size):
        c, f = side[i], 1 - side[i]
        g, h = geom[i, f], geom[i, c]
        away = 0.0
        for e in range(dim):
            n[i, e], here, there = 0.0, x[h, e], x[g, e]
            for k in range(dim):
                n[i, e] += R[g, e, k] * m[i, k]
                here += R[h, e, k] * local[i, c, k]
                there += R[g, e, k] * local[i, f, k]
            p[i, c, e] = here
            away += (here - there) * n[i, e]
        C[i] = away if c == 0 else -away
        for e in range(dim):
            p[i, f, e] = p[i, c, e] - away * n[i, e]


@kernel
def match(geom_a, geom_b, feature, key, place):
    """place (nf,): which of the contacts `key` (nc, 3), geoms and feature, each one is, or -1."""
    j, nc = 0, key.shape[0]
    for i in range(geom_a.size):
        place[i] = -1
        for _ in range(nc):
            if j >= nc:
                j = 0
            here = j
            j += 1
            if (
                geom_a[i] == key[here, 0]
                and geom_b[i] == key[here, 1]
                and feature[i] == key[here, 2]
            ):
                place[i] = here
                break


@kernel
def gap_rates(body, geom_a, geom_b, point, normal, position, velocity, out):
    """C' (nc,) of contacts between geoms (nc,) each, of these bodies (ng,), at their points."""
    dim = point.shape[1]
    for i in range(out.size):
        total = 0.0
        for s in range(2):
            b, sign = body[geom_a[i] if s == 0 else geom_b[i]], 1.0 - 2.0 * s
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            if dim == 2:
                w = velocity[b, 2]
                v0, v1, v2 = velocity[b, 0] - w * y, velocity[b, 1] + w * x, 0.0
            else:
                z = point[i, 2] - position[b, 2]
                w0, w1, w2 = velocity[b, 3], velocity[b, 4], velocity[b, 5]
                v0 = velocity[b, 0] + w1 * z - w2 * y
                v1 = velocity[b, 1] + w2 * x - w0 * z
                v2 = velocity[b, 2] + w0 * y - w1 * x
                total += sign * normal[i, 2] * v2
            total += sign * (normal[i, 0] * v0 + normal[i, 1] * v1)
        out[i] = total
