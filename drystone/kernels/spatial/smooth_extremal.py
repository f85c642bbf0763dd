"""Extremal points of two smooth bodies: Newton on the eight equations (5-2) of Baraff (1992).

    E1: grad F(a) + l2 grad G(b) = 0     E2: F(a) = 0
    E4: (b - a) + l1 grad G(b) = 0       E3: G(b) = 0

a, b are points of A and B. Apart they are the nearest points (l1 > 0), in penetration the deepest
ones (l1 < 0); normals oppose when l2 > 0. Three things make plain Newton quick and safe:
- E4 gives da = E4 + (I + l1 Hess G) db + grad G dl1, which leaves five unknowns; same step;
- after each step the points return to their surfaces by one division (E2 = E3 = 0), and l1, l2
  are the least-squares ones, so only points need to be cached;
- where both surfaces are flat the matrix is singular and the points slide freely: a small
  multiple of the identity added to the Hessians makes a and b meet halfway.

A pair is held in arrays of two rows, A and B: S (2, 5) surfaces, C (2, 3) centres, R (2, 3, 3)
frames, P (2, 3) points, in axes of the world. (One call site for both keeps compiling short.)
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_surface import derivatives, gauge

STEPS = 30  # more means that the guess was hopeless: the caller falls back
TOL = 1e-11  # of normals [1] and points [sizes]; the gap's error is its square
LEVEL = 1e-7  # Hessians are raised by this share of |gradient| / size
INSIDE = 1e-9  # slack of "the deepest points lie inside the other body"


@kernel
def _evaluate(S, C, R, P, G, H, g, K):
    """Put P on the surfaces; gradients G (2, 3), Hessians H (2, 3, 3). g (3,), K (3, 3) scratch."""
    for o in range(2):
        d0, d1, d2 = P[o, 0] - C[o, 0], P[o, 1] - C[o, 1], P[o, 2] - C[o, 2]
        phi = derivatives(
            S[o],
            R[o, 0, 0] * d0 + R[o, 1, 0] * d1 + R[o, 2, 0] * d2,
            R[o, 0, 1] * d0 + R[o, 1, 1] * d1 + R[o, 2, 1] * d2,
            R[o, 0, 2] * d0 + R[o, 1, 2] * d1 + R[o, 2, 2] * d2,
            g,
            K,
        )
        P[o, 0], P[o, 1], P[o, 2] = C[o, 0] + d0 / phi, C[o, 1] + d1 / phi, C[o, 2] + d2 / phi
        for i in range(3):
            r0, r1, r2 = R[o, i, 0], R[o, i, 1], R[o, i, 2]
            G[o, i] = (r0 * g[0] + r1 * g[1] + r2 * g[2]) / phi
            c0 = r0 * K[0, 0] + r1 * K[1, 0] + r2 * K[2, 0]
            c1 = r0 * K[0, 1] + r1 * K[1, 1] + r2 * K[2, 1]
            c2 = r0 * K[0, 2] + r1 * K[1, 2] + r2 * K[2, 2]
            for j in range(3):
                H[o, i, j] = c0 * R[o, j, 0] + c1 * R[o, j, 1] + c2 * R[o, j, 2]


@kernel
def _solve5(M):
    """Gauss with row pivoting on M (5, 6) in place, answer in the last column."""
    for k in range(5):
        best = k
        for i in range(k + 1, 5):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        for j in range(k, 6):
            M[k, j], M[best, j] = M[best, j], M[k, j]
        inverse = 1.0 / M[k, k]
        for j in range(k + 1, 6):
            M[k, j] *= inverse
            for i in range(k + 1, 5):
                M[i, j] -= M[i, k] * M[k, j]
    for k in range(3, -1, -1):
        for j in range(k + 1, 5):
            M[k, 5] -= M[k, j] * M[j, 5]


@kernel
def _newton(P, G, H, l1, l2, f, g, limit, M):
    """One step of P, at most `limit` long: M (5, 6) in (db, g dl1, g/f dl2); f, g = |gradients|."""
    for i in range(4):
        for j in range(6):
            M[i, j] = 0.0
    for i in range(3):
        M[i, 4] = G[1, i] / g
        M[i, 5] = -(G[0, i] + l2 * G[1, i]) / f
        for j in range(3):
            M[i, j] += l2 * H[1, i, j] / f
            # rows of E1 and E2 through da: Hess F or grad F times (I + l1 Hess G, grad G, E4)
            e4 = P[1, j] - P[0, j] + l1 * G[1, j]
            M[i, 3] += H[0, i, j] * G[1, j] / (f * g)
            M[i, 5] -= H[0, i, j] * e4 / f
            for k in range(3):
                M[i, k] += H[0, i, j] * ((1.0 if j == k else 0.0) + l1 * H[1, j, k]) / f
        e4 = P[1, i] - P[0, i] + l1 * G[1, i]
        M[3, i] += G[0, i] / f
        M[3, 3] += G[0, i] * G[1, i] / (f * g)
        M[3, 5] -= G[0, i] * e4 / f
        for k in range(3):
            M[3, k] += l1 * G[0, i] * H[1, i, k] / f
        M[4, i] = G[1, i] / g
        M[4, 3 + i] = 0.0
    _solve5(M)
    longest = 0.0
    for o in range(2):
        length = 0.0
        for i in range(3):
            d = M[i, 5]
            if o == 0:
                d += P[1, i] - P[0, i] + (l1 + M[3, 5] / g) * G[1, i]
                for j in range(3):
                    d += l1 * H[1, i, j] * M[j, 5]
            M[o, i] = d
            length += d * d
        longest = max(longest, length)
    cut = min(1.0, limit / np.sqrt(longest))
    for o in range(2):
        for i in range(3):
            P[o, i] += cut * M[o, i]


@kernel
def extremal_points(S, C, R, P, G, H, g, K, M):
    """Improve the guesses P (2, 3) to extremal points; -> Newton steps, or -1: failed.

    G (2, 3) out: grad F, grad G there; H (2, 3, 3), g (3,), K (3, 3), M (5, 6): scratch. A
    solution is refused if normals do not oppose, or if the points of a penetration lie outside
    the other body (the root of greatest distance).
    """
    size = min(max(S[0, 0], S[0, 1], S[0, 2]), max(S[1, 0], S[1, 1], S[1, 2]))
    for step in range(STEPS + 1):
        _evaluate(S, C, R, P, G, H, g, K)
        ff, gg, fg, dg = 0.0, 0.0, 0.0, 0.0
        for k in range(3):
            ff += G[0, k] * G[0, k]
            gg += G[1, k] * G[1, k]
            fg += G[0, k] * G[1, k]
            dg += G[1, k] * (P[0, k] - P[1, k])
        l1, l2, e1, e4 = dg / gg, -fg / gg, 0.0, 0.0
        for k in range(3):
            e1 += (G[0, k] + l2 * G[1, k]) ** 2
            e4 += (P[1, k] - P[0, k] + l1 * G[1, k]) ** 2
        if e1 <= TOL * TOL * ff and e4 <= (TOL * size) ** 2:
            return step if l2 > 0.0 and (l1 >= 0.0 or _inside(S, C, R, P)) else -1
        if step == STEPS or not e1 + e4 < np.inf:
            break
        f, h = np.sqrt(ff), np.sqrt(gg)
        for k in range(3):
            H[0, k, k] += LEVEL * f / size
            H[1, k, k] += LEVEL * h / size
        _newton(P, G, H, l1, l2, f, h, 0.5 * size, M)
    return -1


@kernel
def _inside(S, C, R, P):
    """Whether each point lies in the other body."""
    for o in range(2):
        d0, d1, d2 = P[1 - o, 0] - C[o, 0], P[1 - o, 1] - C[o, 1], P[1 - o, 2] - C[o, 2]
        phi = gauge(
            S[o],
            R[o, 0, 0] * d0 + R[o, 1, 0] * d1 + R[o, 2, 0] * d2,
            R[o, 0, 1] * d0 + R[o, 1, 1] * d1 + R[o, 2, 1] * d2,
            R[o, 0, 2] * d0 + R[o, 1, 2] * d1 + R[o, 2, 2] * d2,
        )
        if phi > 1.0 + INSIDE:
            return False
    return True
