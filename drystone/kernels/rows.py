"""Contacts as rows: frames, Jacobian blocks J, impulse responses P = M^-1 J', diagonal blocks D.

Velocity of contact i: u_i = J_i (v_a, v_b) + bias_i; an impulse r_i adds P_i' r_i to (v_a, v_b).
frame (nc, d, dim): rows n, t_1, t_2, each tangent stretched by its friction ratio, so that an
anisotropic cone is circular in r (an impulse of r is the vector sum of r_k frame_k). For soft
fingers d = 4 and the last row is the spin about n, stretched by the finger's radius.
J, P (nc, d, 2, dof): bodies a and b. Bodies that do not move have zeros in P.
"""

import numpy as np

from drystone.kernels._jit import stage


@stage
def frames_planar(normal, frame):
    """n, and t = n turned by +90 degrees."""
    for i in range(normal.shape[0]):
        frame[i, 0, 0], frame[i, 0, 1] = normal[i, 0], normal[i, 1]
        frame[i, 1, 0], frame[i, 1, 1] = -normal[i, 1], normal[i, 0]


@stage
def frames_spatial(normal, axis, ratios, radius, frame):
    """n, t_1, t_2 (and n again for the spin).

    axis (nc, 3): the wanted direction of t_1, projected; zeros: any, by a fixed rule.
    ratios (nc, 2): stretches of the tangents; radius: of the soft finger.
    """
    for i in range(normal.shape[0]):
        n0, n1, n2 = normal[i, 0], normal[i, 1], normal[i, 2]
        along = axis[i, 0] * n0 + axis[i, 1] * n1 + axis[i, 2] * n2
        x, y, z = axis[i, 0] - along * n0, axis[i, 1] - along * n1, axis[i, 2] - along * n2
        length = np.sqrt(x * x + y * y + z * z)
        if length <= 1e-9:  # no axis, or one along the normal
            if abs(n0) < 0.6:
                x, y, z = 1.0 - n0 * n0, -n0 * n1, -n0 * n2
            else:
                x, y, z = -n1 * n0, 1.0 - n1 * n1, -n1 * n2
            length = np.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        s, c = ratios[i, 0], ratios[i, 1]
        frame[i, 0, 0], frame[i, 0, 1], frame[i, 0, 2] = n0, n1, n2
        frame[i, 1, 0], frame[i, 1, 1], frame[i, 1, 2] = s * x, s * y, s * z
        frame[i, 2, 0] = c * (n1 * z - n2 * y)
        frame[i, 2, 1] = c * (n2 * x - n0 * z)
        frame[i, 2, 2] = c * (n0 * y - n1 * x)
        if frame.shape[1] == 4:
            for a in range(3):
                frame[i, 3, a] = radius * normal[i, a]


@stage
def contact_rows(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D):
    """J, P and D of contacts, in the plane or in space."""
    if inverse_inertia.ndim == 1:  # a constant for the compiler: only one of them is compiled
        rows_planar(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D)
    else:
        rows_spatial(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D)


@stage
def rows_planar(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D):
    """J, P (nc, 2, 2, 3) and D (nc, 2, 2); body (nc, 2)."""
    for i in range(point.shape[0]):
        for s in range(2):
            b = body[i, s]
            sign = 1.0 - 2.0 * s
            x, y = point[i, 0] - position[b, 0], point[i, 1] - position[b, 1]
            m, k = inverse_mass[b], inverse_inertia[b]
            for a in range(2):
                f0, f1 = sign * frame[i, a, 0], sign * frame[i, a, 1]
                t = x * f1 - y * f0
                J[i, a, s, 0], J[i, a, s, 1], J[i, a, s, 2] = f0, f1, t
                P[i, a, s, 0], P[i, a, s, 1], P[i, a, s, 2] = m * f0, m * f1, k * t
        _diagonal(J, P, D, i)


@stage
def rows_spatial(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D):
    """J, P (nc, d, 2, 6) and D (nc, d, d); inverse_inertia (nb, 3, 3) in world axes."""
    d = frame.shape[1]
    for i in range(point.shape[0]):
        for s in range(2):
            b = body[i, s]
            sign = 1.0 - 2.0 * s
            x, y, z = (
                point[i, 0] - position[b, 0],
                point[i, 1] - position[b, 1],
                point[i, 2] - position[b, 2],
            )
            m, Iw = inverse_mass[b], inverse_inertia[b]
            for a in range(d):
                f0, f1, f2 = sign * frame[i, a, 0], sign * frame[i, a, 1], sign * frame[i, a, 2]
                if a < 3:
                    t0, t1, t2 = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
                else:
                    t0, t1, t2 = f0, f1, f2
                    f0, f1, f2 = 0.0, 0.0, 0.0
                J[i, a, s, 0], J[i, a, s, 1], J[i, a, s, 2] = f0, f1, f2
                J[i, a, s, 3], J[i, a, s, 4], J[i, a, s, 5] = t0, t1, t2
                P[i, a, s, 0], P[i, a, s, 1], P[i, a, s, 2] = m * f0, m * f1, m * f2
                for e in range(3):
                    P[i, a, s, 3 + e] = Iw[e, 0] * t0 + Iw[e, 1] * t1 + Iw[e, 2] * t2
        _diagonal(J, P, D, i)


@stage
def _diagonal(J, P, D, i):
    for a in range(J.shape[1]):
        for b in range(a + 1):
            total = 0.0
            for s in range(2):
                for e in range(J.shape[3]):
                    total += J[i, a, s, e] * P[i, b, s, e]
            D[i, a, b] = total
            D[i, b, a] = total


@stage
def row_velocities(body, J, bias, v, u):
    """u (nc, d) = J v + bias for body velocities v (nb, dof)."""
    for i in range(body.shape[0]):
        for a in range(J.shape[1]):
            total = bias[i, a]
            for s in range(2):
                b = body[i, s]
                for e in range(J.shape[3]):
                    total += J[i, a, s, e] * v[b, e]
            u[i, a] = total


@stage
def add_impulses(body, P, r, v):
    """v (nb, dof) += M^-1 J' r for impulses r (nc, d)."""
    for i in range(body.shape[0]):
        for s in range(2):
            b = body[i, s]
            for a in range(P.shape[1]):
                for e in range(P.shape[3]):
                    v[b, e] += P[i, a, s, e] * r[i, a]


@stage
def project_impulses(frame, vector, spin, r):
    """Coordinates r (nc, d) of impulse vectors (nc, dim) and spins (nc,) in the (new) frames."""
    dim = vector.shape[1]
    for i in range(r.shape[0]):
        for a in range(dim):
            along, square = 0.0, 0.0
            for e in range(dim):
                along += frame[i, a, e] * vector[i, e]
                square += frame[i, a, e] * frame[i, a, e]
            r[i, a] = along / square
        if r.shape[1] > dim:
            square = 0.0
            for e in range(dim):
                square += frame[i, dim, e] * frame[i, dim, e]
            r[i, dim] = spin[i] / np.sqrt(square)


@stage
def impulse_vectors(frame, r, vector, spin):
    """Impulse vectors (nc, dim) on body a and spin impulses (nc,) about the normal."""
    dim = vector.shape[1]
    for i in range(r.shape[0]):
        for e in range(dim):
            vector[i, e] = 0.0
            for a in range(dim):
                vector[i, e] += frame[i, a, e] * r[i, a]
        spin[i] = 0.0
        if r.shape[1] > dim:
            square = 0.0
            for e in range(dim):
                square += frame[i, dim, e] * frame[i, dim, e]
            spin[i] = r[i, dim] * np.sqrt(square)


@stage
def responses(inverse_mass, inverse_inertia, body, J, soft, P, D):
    """P and D of given rows J (n, d, 2, dof), in the plane or in space."""
    if inverse_inertia.ndim == 1:  # a constant for the compiler: only one of them is compiled
        responses_planar(inverse_mass, inverse_inertia, body, J, soft, P, D)
    else:
        responses_spatial(inverse_mass, inverse_inertia, body, J, soft, P, D)


@stage
def responses_planar(inverse_mass, inverse_inertia, body, J, soft, P, D):
    """P and D of given rows J (n, d, 2, 3); D includes the compliances soft (n, d)."""
    for i in range(body.shape[0]):
        for s in range(2):
            m, k = inverse_mass[body[i, s]], inverse_inertia[body[i, s]]
            for a in range(J.shape[1]):
                P[i, a, s, 0], P[i, a, s, 1] = m * J[i, a, s, 0], m * J[i, a, s, 1]
                P[i, a, s, 2] = k * J[i, a, s, 2]
        _diagonal(J, P, D, i)
        for a in range(J.shape[1]):
            D[i, a, a] += soft[i, a]


@stage
def responses_spatial(inverse_mass, inverse_inertia, body, J, soft, P, D):
    """The same in space; inverse_inertia (nb, 3, 3) in world axes."""
    for i in range(body.shape[0]):
        for s in range(2):
            m, Iw = inverse_mass[body[i, s]], inverse_inertia[body[i, s]]
            for a in range(J.shape[1]):
                for e in range(3):
                    P[i, a, s, e] = m * J[i, a, s, e]
                    P[i, a, s, 3 + e] = (
                        Iw[e, 0] * J[i, a, s, 3]
                        + Iw[e, 1] * J[i, a, s, 4]
                        + Iw[e, 2] * J[i, a, s, 5]
                    )
        _diagonal(J, P, D, i)
        for a in range(J.shape[1]):
            D[i, a, a] += soft[i, a]
