"""Penetration depth by an expanding polytope (van den Bergen 2001), coarse: others polish it.

C = A - B is grown by a ball of radius `grow`. That adds a constant to its support function, so
the unit direction of least depth is the same, but C then has a thickness, and bodies that touch,
or are apart by less than `grow`, are as well posed as deep ones.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.support import both

CORNERS = 96  # a convex polytope of v corners has at most 2 v - 4 triangles and 3 v - 6 edges


@kernel
def corner(k, d0, d1, d2, grow, spec, frame, numbers, ints, V, VL, ab, label):
    """Corner k of the polytope: the point of C furthest along d; d . w comes back."""
    length = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    d0, d1, d2 = d0 / length, d1 / length, d2 / length
    low = both(spec, frame, numbers, ints, -d0, -d1, -d2, ab, label)
    V[k, 0] = ab[0, 0] - ab[1, 0] + grow * d0
    V[k, 1] = ab[0, 1] - ab[1, 1] + grow * d1
    V[k, 2] = ab[0, 2] - ab[1, 2] + grow * d2
    VL[k, 0], VL[k, 1] = label[0], label[1]
    return grow - low


@kernel
def set_face(f, i, j, k, V, F, N):
    """Triangle ijk, counter-clockwise from outside, and its plane; a sliver is never chosen."""
    F[f, 0], F[f, 1], F[f, 2] = i, j, k
    u0, u1, u2 = V[j, 0] - V[i, 0], V[j, 1] - V[i, 1], V[j, 2] - V[i, 2]
    v0, v1, v2 = V[k, 0] - V[i, 0], V[k, 1] - V[i, 1], V[k, 2] - V[i, 2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if length > 0.0:
        N[f, 0], N[f, 1], N[f, 2] = n0 / length, n1 / length, n2 / length
        N[f, 3] = N[f, 0] * V[i, 0] + N[f, 1] * V[i, 1] + N[f, 2] * V[i, 2]
    else:
        N[f, 0] = N[f, 1] = N[f, 2] = 0.0
        N[f, 3] = np.inf


@kernel
def tetrahedron(n, grow, spec, frame, numbers, ints, V, VL, F, N, ab, label):
    """First four corners: both ends along n, then the further of two ends across, twice."""
    corner(0, n[0], n[1], n[2], grow, spec, frame, numbers, ints, V, VL, ab, label)
    corner(1, -n[0], -n[1], -n[2], grow, spec, frame, numbers, ints, V, VL, ab, label)
    for k in range(2, 4):
        e0, e1, e2 = V[1, 0] - V[0, 0], V[1, 1] - V[0, 1], V[1, 2] - V[0, 2]
        if k == 2:  # any direction across the edge: by its smallest component
            s = 1.0 if abs(e0) <= abs(e1) and abs(e0) <= abs(e2) else 0.0
            t = 1.0 if s == 0.0 and abs(e1) <= abs(e2) else 0.0
            u = 1.0 - s - t
        else:
            s, t, u = V[2, 0] - V[0, 0], V[2, 1] - V[0, 1], V[2, 2] - V[0, 2]
        d0, d1, d2 = e1 * u - e2 * t, e2 * s - e0 * u, e0 * t - e1 * s
        corner(k, -d0, -d1, -d2, grow, spec, frame, numbers, ints, V, VL, ab, label)
        base = d0 * V[0, 0] + d1 * V[0, 1] + d2 * V[0, 2]
        below = base - (d0 * V[k, 0] + d1 * V[k, 1] + d2 * V[k, 2])
        corner(k, d0, d1, d2, grow, spec, frame, numbers, ints, V, VL, ab, label)
        if below > d0 * V[k, 0] + d1 * V[k, 1] + d2 * V[k, 2] - base:
            corner(k, -d0, -d1, -d2, grow, spec, frame, numbers, ints, V, VL, ab, label)
    set_face(0, 0, 1, 2, V, F, N)
    height = N[0, 0] * V[3, 0] + N[0, 1] * V[3, 1] + N[0, 2] * V[3, 2] - N[0, 3]
    i, j = (1, 2) if height < 0.0 else (2, 1)
    set_face(0, 0, i, j, V, F, N)
    set_face(1, 0, 3, i, V, F, N)
    set_face(2, i, 3, j, V, F, N)
    set_face(3, j, 3, 0, V, F, N)


@kernel
def insert(k, nf, V, F, N, E):
    """Hull with corner k: faces that see it go, the horizon joins it; the number of faces."""
    ne, f = 0, 0
    while f < nf:
        if N[f, 0] * V[k, 0] + N[f, 1] * V[k, 1] + N[f, 2] * V[k, 2] <= N[f, 3]:
            f += 1
            continue
        for s in range(3):
            i, j = F[f, s], F[f, (s + 1) % 3]
            twin = -1
            for e in range(ne):
                if E[e, 0] == j and E[e, 1] == i:
                    twin = e
            if twin >= 0:
                ne -= 1
                E[twin, 0], E[twin, 1] = E[ne, 0], E[ne, 1]
            else:
                E[ne, 0], E[ne, 1] = i, j
                ne += 1
        nf -= 1
        for c in range(3):
            F[f, c], N[f, c] = F[nf, c], N[nf, c]
        N[f, 3] = N[nf, 3]
    for e in range(ne):
        set_face(nf, E[e, 0], E[e, 1], k, V, F, N)
        nf += 1
    return nf


@kernel
def penetration(spec, frame, numbers, ints, grow, tol, n, labels, V, VL, F, N, E, ab, stats):
    """Direction of least depth near its global minimum, to an absolute depth `tol` [m].

    n (3,): a guess, and the answer; labels (4, 2): of the three atoms of the nearest face. Work:
    V (CORNERS, 3), VL (CORNERS, 2), F (2 CORNERS, 3), N (2 CORNERS, 4), E (4 CORNERS, 2).
    """
    label = np.zeros(2, np.int64)
    tetrahedron(n, grow, spec, frame, numbers, ints, V, VL, F, N, ab, label)
    nv, nf, best = 4, 4, 0
    while True:
        stats[3] += 1
        best = 0
        for f in range(1, nf):
            if N[f, 3] < N[best, 3]:
                best = f
        d0, d1, d2 = N[best, 0], N[best, 1], N[best, 2]
        if nv == CORNERS:
            break
        high = corner(nv, d0, d1, d2, grow, spec, frame, numbers, ints, V, VL, ab, label)
        if not high - N[best, 3] > tol:
            break
        nf = insert(nv, nf, V, F, N, E)
        nv += 1
    n[0], n[1], n[2] = -d0, -d1, -d2
    for i in range(3):
        labels[i, 0], labels[i, 1] = VL[F[best, i], 0], VL[F[best, i], 1]
