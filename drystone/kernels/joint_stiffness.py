"""Geometric stiffness of joints: how their impulses turn with the bodies they act on.

A force F at an arm x of a body has the torque x cross F, which a turn of the body changes by -K
times the turn, K = (x.F) 1 - (x F' + F x')/2. Links under tension T so have a frequency of their
own, w^2 = 12 T / (m l), and with w h > 2 a step that takes directions at its start is unstable.
Newmark's beta = 1/4 takes the mean of J over three positions, (M + S)(v' - v) = h f + J' r with
S = (h^2 / 4) K: the step is stable for any w. Here S is reduced by THRESHOLD M / 4 and cut to
what is positive (rounded off: Newton's method goes through it), so that motions with
(w h)^2 < THRESHOLD are what they were, to the bit. Forces that push K below zero are left alone:
what buckles is not made to stand.

A distance |d| under tension T also pulls sideways by T / |d| per displacement of its ends; the
pair of ends is majorised by bodies apart, and a body's turning and moving by both apart.
Everything is in space; planar vectors lie in the plane z = 0. Blocks [b, 0] belong to the velocity
of body b's centre of mass, [b, 1] to its spin.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.joints import LENGTH, POINT

THRESHOLD = 0.0625  # (w h)^2 of the motions that are left alone; from 4 on they would be unstable
BEND = 0.0625  # of M: where the positive part of S is rounded off, for Newton's method
SWEEPS = 12  # of Jacobi's method for eigenvectors of 3 x 3
LEAST_PIVOT = 1e-15  # of a diagonal, what must be left of it
JACOBI_TOL = 1e-30  # (relative)^2 of what is left off the diagonal


class Levers(NamedTuple):
    """Where the rows of joints act: body (nj, 2); arms (nj, 2, 3): anchors from the centres of
    mass; gap (nj, 3): from b's anchor to a's; first (nj + 1,), code (nr, 4): of rows; J
    (nr, 2, dof)."""

    body: np.ndarray
    arms: np.ndarray
    gap: np.ndarray
    first: np.ndarray
    code: np.ndarray
    J: np.ndarray


class Softened(NamedTuple):
    """S - THRESHOLD M / 4 in its own axes, of ``soften``: axes (nb, 2, 3, 3), values, bend
    (nb, 2, 3), stiff (nb,)."""

    axes: np.ndarray
    values: np.ndarray
    bend: np.ndarray
    stiff: np.ndarray


@kernel
def stiffness(levers, r, scale, S):
    """Add scale K(r) of all joints to S (nb, 2, 3, 3); r (nr,): impulses."""
    body, arms, gap, first, code, J = levers
    unit = np.empty((2, 3, 3))
    for j in range(body.shape[0]):
        for n in range(first[j], first[j + 1]):
            for s in range(2):
                b = body[j, s]
                if b >= 0 and _unit(j, n, s, arms, gap, code[n, 0], J, r[n] < 0.0, unit):
                    load = scale * r[n]
                    for k in range(0 if code[n, 0] == LENGTH else 1, 2):
                        for p in range(3):
                            for q in range(3):
                                S[b, k, p, q] += load * unit[k, p, q]


@kernel
def _unit(j, n, s, arms, gap, kind, J, tense, out):
    """out (2, 3, 3): K of the unit impulse of row n on its body s; False if it has none. Of a point
    out[0] is zero, and left alone."""
    if kind not in (POINT, LENGTH):
        return False
    dim = 2 if J.shape[2] == 3 else 3
    x0, x1, x2 = arms[j, s, 0], arms[j, s, 1], arms[j, s, 2]
    if kind == POINT and s == 1:  # b's material point is where a's anchor is
        x0, x1, x2 = x0 + gap[j, 0], x1 + gap[j, 1], x2 + gap[j, 2]
    f0, f1, f2 = J[n, s, 0], J[n, s, 1], J[n, s, 2] if dim == 3 else 0.0
    dot = x0 * f0 + x1 * f1 + x2 * f2
    turn = out[1]
    turn[0, 0], turn[1, 1], turn[2, 2] = dot - x0 * f0, dot - x1 * f1, dot - x2 * f2
    turn[0, 1] = turn[1, 0] = -0.5 * (x0 * f1 + f0 * x1)
    turn[0, 2] = turn[2, 0] = -0.5 * (x0 * f2 + f0 * x2)
    turn[1, 2] = turn[2, 1] = -0.5 * (x1 * f2 + f1 * x2)
    if kind == LENGTH:
        _sideways(j, gap, tense, x0 * x0 + x1 * x1 + x2 * x2, J[n, s], dim, out)
    return True


@kernel
def _sideways(j, gap, tense, square, f, dim, out):
    """What a distance under tension adds; square: of its arm, f: its direction."""
    length = np.sqrt(gap[j, 0] ** 2 + gap[j, 1] ** 2 + gap[j, 2] ** 2)
    for p in range(3):
        for q in range(3):
            out[0, p, q] = 0.0
    if not (tense and length > 0.0):
        return
    k = -2.0 / length if square == 0.0 else -4.0 / length
    for p in range(3):
        for q in range(3):
            if p < dim and q < dim:
                out[0, p, q] -= k * f[p] * f[q]
        out[0, p, p] += k
        out[1, p, p] += k * square


@kernel
def soften(dim, inverse_mass, mass, inertia, S, axes, values, bend, inverse, stiff):
    """S becomes what is added to M: its part above THRESHOLD M / 4.

    inertia (nb, 3, 3) in world axes; axes (nb, 2, 3, 3) in columns and values (nb, 2, 3):
    eigenvectors and eigenvalues of S - THRESHOLD M / 4; bend (nb, 2, 3): where each is rounded
    off; inverse (nb, 2, 3, 3) of M + S; stiff (nb,): bodies to which anything is added; of others
    nothing is filled in.
    """
    A = np.empty((3, 3))
    for b in range(mass.size):
        top = 0.0
        stiff[b] = False
        if inverse_mass[b] == 0.0:
            continue
        for k in range(2):
            if k == 0 and _nothing(S[b, 0]):  # none but distances pull sideways
                for p in range(3):
                    values[b, 0, p], bend[b, 0, p] = -0.25 * THRESHOLD * mass[b], BEND * mass[b]
                    for q in range(3):
                        axes[b, 0, p, q] = 1.0 if p == q else 0.0
                continue
            for p in range(3):
                for q in range(3):
                    m = inertia[b, p, q] if k == 1 else (mass[b] if p == q else 0.0)
                    A[p, q] = S[b, k, p, q] - 0.25 * THRESHOLD * m
            if dim == 2 and k == 1:  # only the turning about z is a freedom
                A[0, 0], A[1, 1], A[0, 1], A[1, 0] = -1.0, -1.0, 0.0, 0.0
            _eigen(A, axes[b, k])
            for c in range(3):
                values[b, k, c] = A[c, c]
                top = max(top, A[c, c])
                m = 0.0
                for p in range(3):
                    for q in range(3):
                        own = inertia[b, p, q] if k == 1 else (mass[b] if p == q else 0.0)
                        m += axes[b, k, p, c] * own * axes[b, k, q, c]
                bend[b, k, c] = BEND * m
        if top <= 0.0:
            continue
        stiff[b] = True
        for k in range(2):
            _rebuild(values[b, k], bend[b, k], axes[b, k], S[b, k])
            for p in range(3):
                for q in range(3):
                    m = inertia[b, p, q] if k == 1 else (mass[b] if p == q else 0.0)
                    A[p, q] = m + S[b, k, p, q]
            _inverse(A, inverse[b, k])


@kernel
def _rebuild(values, bend, U, S):
    """S of the positive parts of its eigenvalues."""
    for p in range(3):
        for q in range(3):
            S[p, q] = 0.0
    for c in range(3):
        add = _part(values[c], bend[c])
        if add > 0.0:
            for p in range(3):
                for q in range(3):
                    S[p, q] += add * U[p, c] * U[q, c]


@kernel
def _nothing(S):
    for p in range(3):
        for q in range(3):
            if S[p, q] != 0.0:
                return False
    return True


@kernel
def _part(x, bend):
    """The positive part of x, with a parabola from 0 to bend in the place of its corner."""
    if x <= 0.0:
        return 0.0
    return x - 0.5 * bend if x >= bend else 0.5 * x * x / bend


@kernel
def _eigen(A, U):
    """Jacobi: A (3, 3), symmetric, becomes diagonal; eigenvectors in the columns of U."""
    for p in range(3):
        for q in range(3):
            U[p, q] = 1.0 if p == q else 0.0
    size = A[0, 0] ** 2 + A[1, 1] ** 2 + A[2, 2] ** 2
    for _ in range(SWEEPS):
        off = A[0, 1] ** 2 + A[0, 2] ** 2 + A[1, 2] ** 2
        if off <= JACOBI_TOL * (size + off):
            return
        for p in range(2):
            for q in range(p + 1, 3):
                if A[p, q] == 0.0:
                    continue
                t = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = (1.0 if t >= 0.0 else -1.0) / (abs(t) + np.sqrt(t * t + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for e in range(3):
                    A[e, p], A[e, q] = c * A[e, p] - s * A[e, q], s * A[e, p] + c * A[e, q]
                    U[e, p], U[e, q] = c * U[e, p] - s * U[e, q], s * U[e, p] + c * U[e, q]
                for e in range(3):
                    A[p, e], A[q, e] = c * A[p, e] - s * A[q, e], s * A[p, e] + c * A[q, e]


@kernel
def _inverse(A, out):
    """Of a symmetric positive definite A (3, 3), as L^-T L^-1: that is positive definite too
    whatever rounding does, where stiffness is 10^16 times the mass."""
    a = 1.0 / np.sqrt(A[0, 0])
    b, c = A[1, 0] * a, A[2, 0] * a
    d = 1.0 / np.sqrt(max(A[1, 1] - b * b, LEAST_PIVOT * A[1, 1]))
    e = (A[2, 1] - b * c) * d
    f = 1.0 / np.sqrt(max(A[2, 2] - c * c - e * e, LEAST_PIVOT * A[2, 2]))
    c = -(c * a - e * b * a * d) * f
    b, e = -b * a * d, -e * d * f
    out[0, 0], out[0, 1], out[0, 2] = a * a + b * b + c * c, b * d + c * e, c * f
    out[1, 1], out[1, 2], out[2, 2] = d * d + e * e, e * f, f * f
    out[1, 0], out[2, 0], out[2, 1] = out[0, 1], out[0, 2], out[1, 2]


@kernel
def mean_rows(levers, r, scale, softened, change, out):
    """out (nr, 2, dof): by what an impulse of a row changes (M + S) (v' - v), J' - dS (v' - v).

    change (nb, dof): v' - v. The derivative of a function of a symmetric matrix, in its own axes:
    each entry times the slope of the function from one eigenvalue to the other.
    """
    body, arms, gap, first, code, J = levers
    axes, values, bend, stiff = softened
    unit, H = np.empty((2, 3, 3)), np.empty((2, 3, 3))
    w, y = np.empty(3), np.empty(3)
    dim = 2 if J.shape[2] == 3 else 3
    for j in range(body.shape[0]):
        for s in range(2):
            b = body[j, s]
            held = b >= 0 and stiff[b]
            if held:
                for k in range(2):
                    _lift(dim, k, change[b], w)
                    _slopes(axes[b, k], values[b, k], bend[b, k], w, H[k])
            for n in range(first[j], first[j + 1]):
                for e in range(J.shape[2]):
                    out[n, s, e] = J[n, s, e]
                if not (held and _unit(j, n, s, arms, gap, code[n, 0], J, r[n] < 0.0, unit)):
                    continue
                for k in range(0 if code[n, 0] == LENGTH else 1, 2):  # of a point unit[0] is zero
                    _change(unit[k], axes[b, k], H[k], y)
                    if k == 0:
                        for e in range(dim):
                            out[n, s, e] -= scale * y[e]
                    elif dim == 2:
                        out[n, s, 2] -= scale * y[2]
                    else:
                        for e in range(3):
                            out[n, s, 3 + e] -= scale * y[e]


@kernel
def _lift(dim, k, v, w):
    """w (3,): velocity (k = 0) or spin of v (dof,)."""
    for e in range(3):
        if dim == 3:
            w[e] = v[3 * k + e]
        elif k == 0:
            w[e] = v[e] if e < 2 else 0.0
        else:
            w[e] = v[2] if e == 2 else 0.0


@kernel
def _slopes(U, values, bend, w, H):
    """H[p, q]: slope of the positive part from eigenvalue p to q, times the part of w along q."""
    for q in range(3):
        along = U[0, q] * w[0] + U[1, q] * w[1] + U[2, q] * w[2]
        for p in range(3):
            a, b = values[p], values[q]
            if a <= 0.0 and b <= 0.0:
                H[p, q] = 0.0
            elif abs(a - b) > 1e-6 * (abs(a) + abs(b)):
                H[p, q] = (_part(a, bend[p]) - _part(b, bend[q])) / (a - b) * along
            else:
                H[p, q] = min(1.0, 0.5 * (a + b) / bend[p]) * along


@kernel
def _change(K, U, H, y):
    """y = (derivative of the positive part along K) w, with the slopes H."""
    t0, t1, t2 = 0.0, 0.0, 0.0
    for q in range(3):
        u0, u1, u2 = U[0, q], U[1, q], U[2, q]
        k0 = K[0, 0] * u0 + K[0, 1] * u1 + K[0, 2] * u2
        k1 = K[1, 0] * u0 + K[1, 1] * u1 + K[1, 2] * u2
        k2 = K[2, 0] * u0 + K[2, 1] * u1 + K[2, 2] * u2
        t0 += H[0, q] * (U[0, 0] * k0 + U[1, 0] * k1 + U[2, 0] * k2)
        t1 += H[1, q] * (U[0, 1] * k0 + U[1, 1] * k1 + U[2, 1] * k2)
        t2 += H[2, q] * (U[0, 2] * k0 + U[1, 2] * k1 + U[2, 2] * k2)
    for e in range(3):
        y[e] = U[e, 0] * t0 + U[e, 1] * t1 + U[e, 2] * t2


@kernel
def soft_responses(dim, body, J, soft, inverse, stiff, right, P, D):
    """P (nc, d, 2, dof) of blocks on stiff bodies from rows `right`, and D = J P' of all of them.

    Sides on other bodies keep their P. soft (nc, d): compliances.
    """
    y = np.empty(3)
    w = np.empty(3)
    for i in range(body.shape[0]):
        for s in range(2):
            b = body[i, s]
            if not stiff[b]:
                continue
            for a in range(J.shape[1]):
                if dim == 3:
                    _respond(inverse[b], right[i, a, s], P[i, a, s])
                    continue
                for k in range(2):
                    _lift(dim, k, right[i, a, s], w)
                    for e in range(3):
                        y[e] = 0.0
                        for c in range(3):
                            y[e] += inverse[b, k, e, c] * w[c]
                    _drop(dim, k, y, P[i, a, s])
        for a in range(J.shape[1]):
            for c in range(J.shape[1]):
                total = soft[i, a] if a == c else 0.0
                for s in range(2):
                    for e in range(J.shape[3]):
                        total += J[i, a, s, e] * P[i, c, s, e]
                D[i, a, c] = total


@kernel
def _respond(inverse, f, P):
    """P = (M + S)^-1 f in space."""
    for k in range(2):
        f0, f1, f2 = f[3 * k], f[3 * k + 1], f[3 * k + 2]
        for e in range(3):
            P[3 * k + e] = inverse[k, e, 0] * f0 + inverse[k, e, 1] * f1 + inverse[k, e, 2] * f2


@kernel
def _drop(dim, k, y, v):
    """The inverse of ``_lift``."""
    for e in range(3):
        if dim == 3:
            v[3 * k + e] = y[e]
        elif k == 0:
            if e < 2:
                v[e] = y[e]
        elif e == 2:
            v[2] = y[2]


@kernel
def soft_kick(dim, mass, inertia, inverse, stiff, v0, v_free, impulse, v):
    """v of stiff bodies: v0 + (M + S)^-1 (M (v_free - v0) + impulse), with impulse (nb, dof)."""
    w, g, y = np.empty(3), np.empty(3), np.empty(3)
    for b in range(mass.size):
        if not stiff[b]:
            continue
        for k in range(2):
            _lift(dim, k, v_free[b], w)
            _lift(dim, k, v0[b], y)
            _lift(dim, k, impulse[b], g)
            for e in range(3):
                w[e] -= y[e]
            for e in range(3):
                if k == 0:
                    g[e] += mass[b] * w[e]
                else:
                    g[e] += inertia[b, e, 0] * w[0] + inertia[b, e, 1] * w[1]
                    g[e] += inertia[b, e, 2] * w[2]
            for e in range(3):
                for c in range(3):
                    y[e] += inverse[b, k, e, c] * g[c]
            _drop(dim, k, y, v[b])


@kernel
def softening_work(dim, S, stiff, v0, v):
    """-(v + v0).S (v - v0) / 2 [J]: what M + S in the place of M adds to the kinetic energy."""
    w, g = np.empty(3), np.empty(3)
    total = 0.0
    for b in range(stiff.size):
        if stiff[b]:
            for k in range(2):
                _lift(dim, k, v[b], w)
                _lift(dim, k, v0[b], g)
                for p in range(3):
                    for q in range(3):
                        total -= 0.5 * (w[p] + g[p]) * S[b, k, p, q] * (w[q] - g[q])
    return total
