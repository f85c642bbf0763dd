"""The face, edge or vertex of a convex polyhedron that a contact point lies on.

A vertex stays where it is however the normal turns (E = 0); on an edge along e the normal can
turn about e only (E = e e'), and the point slides along e only; a face fixes the normal (D = 0).
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.kinematics.codes import (
    AT_BORDER,
    EDGE,
    FACE,
    NEAR,
    OFF,
    ON_FACE,
    STEEP,
    VERTEX,
)


@kernel
def _flat_face(numbers, f0, ints, i0, q, m, near):
    """Face through q whose normal is m, or -1; whether q lies on any face at all."""
    nv, found, touched = ints[i0], -1, -1
    for f in range(ints[i0 + 1]):
        j = f0 + 3 * nv + 4 * f
        a, b, c = numbers[j], numbers[j + 1], numbers[j + 2]
        if abs(a * q[0] + b * q[1] + c * q[2] - numbers[j + 3]) > near:
            continue
        touched = f
        x, y, z = b * m[2] - c * m[1], c * m[0] - a * m[2], a * m[1] - b * m[0]
        if x * x + y * y + z * z <= STEEP * STEEP and a * m[0] + b * m[1] + c * m[2] > 0.0:
            found = f
    return found, touched


@kernel
def _edge_at(numbers, f0, ints, i0, q, near, e):
    """Edge through q, its direction into e (3,); -1 if there is none; -2 - vertex at a vertex."""
    nf, ne = ints[i0 + 1], ints[i0 + 2]
    edges = i0 + 3 + nf + 1 + ints[i0 + 3 + nf]
    for k in range(ne):
        a, b = ints[edges + 4 * k], ints[edges + 4 * k + 1]
        i, j = f0 + 3 * a, f0 + 3 * b
        length, along = 0.0, 0.0
        for c in range(3):
            e[c] = numbers[j + c] - numbers[i + c]
            length += e[c] * e[c]
        length = np.sqrt(length)
        for c in range(3):
            e[c] /= length
            along += e[c] * (q[c] - numbers[i + c])
        if along < -near or along > length + near:
            continue
        off = 0.0
        for c in range(3):
            off += (q[c] - numbers[i + c] - along * e[c]) ** 2
        if off > near * near:
            continue
        if along <= near:
            return -2 - a
        if along >= length - near:
            return -2 - b
        return k
    return -1


@kernel
def features_polyhedron(which, geoms, geom, x, R, p, frame, out):
    """As ``features_smooth``. Pieces: faces, then edges, then vertices."""
    _, radius, first, numbers, first_int, ints = geoms
    feature, bits, piece, E, D = out
    q, m, e = np.empty(3), np.empty(3), np.empty(3)
    for k in range(which.shape[0]):
        i, side = which[k, 0], which[k, 1]
        o = geom[i, side]
        f0, i0, near = first[o], first_int[o], NEAR * radius[o]
        nf, ne, sign = ints[i0 + 1], ints[i0 + 2], 2.0 * side - 1.0
        for a in range(3):
            q[a] = m[a] = 0.0
            for b in range(3):
                q[a] += R[o, b, a] * (p[i, side, b] - x[o, b])
                m[a] += sign * R[o, b, a] * frame[i, 0, b]
        flat, touched = _flat_face(numbers, f0, ints, i0, q, m, near)
        edge = _edge_at(numbers, f0, ints, i0, q, near, e)
        mark, u, v, vertex = ON_FACE if flat >= 0 else 0, 0.0, 0.0, 1.0 / radius[o]
        if edge <= -2:
            found, number = VERTEX, nf + ne - 2 - edge
            mark |= AT_BORDER if flat >= 0 else 0
        elif edge >= 0:
            found, number = EDGE, nf + edge
            mark |= AT_BORDER if flat >= 0 else 0
            if abs(e[0] * m[0] + e[1] * m[1] + e[2] * m[2]) > STEEP:
                found, mark = VERTEX, mark | OFF
            for b in range(3):
                turned = R[o, b, 0] * e[0] + R[o, b, 1] * e[1] + R[o, b, 2] * e[2]
                u += turned * frame[i, 1, b]
                v += turned * frame[i, 2, b]
        elif flat >= 0:
            found, number = FACE, flat
        else:
            found, number, mark = VERTEX, max(touched, 0), OFF
        feature[i, side], bits[i, side], piece[i, side] = found, mark, number
        if found != EDGE:
            face = 1.0 if found == FACE else 0.0
            E[i, side, 0], E[i, side, 1], E[i, side, 2] = face, 0.0, face
            D[i, side, 0] = D[i, side, 2] = (1.0 - face) * vertex
            D[i, side, 1] = 0.0
            continue
        E[i, side, 0], E[i, side, 1], E[i, side, 2] = u * u, u * v, v * v
        D[i, side, 0], D[i, side, 1], D[i, side, 2] = (
            v * v * vertex,
            -u * v * vertex,
            u * u * vertex,
        )
