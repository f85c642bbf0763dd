"""Penetration depth by an expanding polytope (van den Bergen 2001), coarse: others polish it.

C = A - B is grown by a ball of radius `grow`. That adds a constant to its support function, so
the unit direction of least depth is the same, but C then has a thickness, and bodies that touch,
or are apart by less than `grow`, are as well posed as deep ones.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.support import Cores, both

CORNERS = 96  # a convex polytope of v corners has at most 2 v - 4 triangles and 3 v - 6 edges


class Polytope(NamedTuple):
    """Work: corners V (CORNERS, 3) and their labels (CORNERS, 2); triangles F (2 CORNERS, 3) and
    their planes N (2 CORNERS, 4); edges E (4 CORNERS, 2) of the horizon."""

    V: Any
    labels: Any
    F: Any
    N: Any
    E: Any


@kernel
def empty_polytope():
    """Room for one."""
    V, labels = np.empty((CORNERS, 3)), np.empty((CORNERS, 2), np.int64)
    F, N = np.empty((2 * CORNERS, 3), np.int64), np.empty((2 * CORNERS, 4))
    return Polytope(V, labels, F, N, np.empty((4 * CORNERS, 2), np.int64))


@kernel
def set_face(f, i, j, k, hull: Polytope):
    """Triangle ijk, counter-clockwise from outside, and its plane; a sliver is never chosen."""
    V, F, N = hull.V, hull.F, hull.N
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
def insert(k, nf, hull: Polytope):
    """Hull with corner k: faces that see it go, the horizon joins it; the number of faces."""
    V, _, F, N, E = hull
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
        set_face(nf, E[e, 0], E[e, 1], k, hull)
        nf += 1
    return nf


@kernel
def penetration(cores: Cores, grow, tol, n, T, labels, hull: Polytope, stats):
    """Direction of least depth near its global minimum, to an absolute depth `tol` [m].

    n (3,): the answer; T (2, 3): any two unit vectors at right angles; labels (4, 2): of the three
    atoms of the nearest face.

    The first three corners are furthest in three directions 120 degrees apart: each beats the
    others by 3/2 grow in its own, so they are a triangle, the first polytope with its two sides.
    The origin may be outside until the faces that do not hold it, the nearest, have moved out.
    """
    ab, label, nf, best = cores.ab, cores.label, np.int64(0), 0
    V, VL, F, N, _ = hull
    for k in range(CORNERS):
        stats[3] += 1
        if k < 3:
            c, s = np.cos(2.0 * np.pi * k / 3.0), np.sin(2.0 * np.pi * k / 3.0)
            for a in range(3):
                n[a] = -c * T[0, a] - s * T[1, a]
        else:
            best = 0
            for f in range(1, nf):
                if N[f, 3] < N[best, 3]:
                    best = f
            for a in range(3):
                n[a] = -N[best, a]
        high = grow - both(cores, n[0], n[1], n[2])
        for a in range(3):
            V[k, a] = ab[0, a] - ab[1, a] - grow * n[a]
        VL[k, 0], VL[k, 1] = label[0], label[1]
        if k == 2:
            for nf in range(2):
                set_face(nf, nf, 1 - nf, k, hull)
            nf = np.int64(2)
        elif k > 2:
            if not high - N[best, 3] > tol:
                break
            nf = insert(k, nf, hull)
    for i in range(3):
        labels[i, 0], labels[i, 1] = VL[F[best, i], 0], VL[F[best, i], 1]
