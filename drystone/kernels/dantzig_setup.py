"""A problem into the arrays of Dantzig's method, scaled, and its forces out of them."""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.dantzig_sets import (
    AIMED,
    AMAX,
    BILATERAL,
    BMAX,
    COS,
    DIM,
    DRIVE,
    FIXED,
    KIND,
    LAST,
    MU,
    NORMAL,
    POS,
    SAT,
    SECOND,
    SIN,
    SPARE,
    STALE,
    STATE,
    SYMMETRIC,
    TANGENT,
    TIED,
    TIES,
    A,
    B,
    C,
    D,
    K,
    clamp_bilateral,
    refresh,
)


@kernel
def prepare(W, q, mu, slip, free, d, At, S, V, T, reg, num):
    """Scale the problem to unit diagonal, label the rows, and solve the bilateral rows.

    W (n, n), q (n,); mu (nc,) and slip (nc, d - 1) of the contacts, which own the first d nc
    rows; free (n,) marks bilateral rows. An LCP has d = 1 and nc = n. Scales are equal within
    a contact, which keeps its cone.
    """
    n, nc = q.size, mu.size
    reg[DIM], reg[DRIVE], reg[LAST] = d, -1, -1
    reg[K], reg[TIES], reg[STALE], reg[SECOND], reg[AIMED] = 0, 0, 0, 0, 0
    for j in range(n):
        for row in range(V.shape[0]):
            V[row, j] = 0.0
        for row in range(T.shape[0]):
            T[row, j] = 0
        T[POS, j] = -1
    for c in range(nc):
        h = c * d
        T[KIND, h] = BILATERAL if free[h] else NORMAL
        V[MU, h], V[COS, h] = mu[c], 1.0
        slides = False
        for t in range(1, d):
            slides = slides or slip[c, t - 1] != 0.0
        for t in range(1, d):
            if slides or mu[c] == 0.0:
                T[KIND, h + t], T[STATE, h + t] = FIXED, TIED
                V[SAT, h + t] = -mu[c] * slip[c, t - 1]
            else:
                T[KIND, h + t] = TANGENT
        if slides and mu[c] > 0.0:
            reg[TIES] += 1
    _scale(W, q, d, nc, At, V, reg, num)
    clamp_bilateral(At, S, V, T, reg)
    refresh(At, S, V, T, reg, num)
    spare = 0.0
    for j in range(n):
        if T[STATE, j] == SPARE:
            spare = max(spare, abs(V[A, j]))
    if spare > 1e-8 * num[BMAX]:
        return status.INFEASIBLE if reg[SYMMETRIC] == 1 else status.SINGULAR
    return status.RUNNING


@kernel
def _scale(W, q, d, nc, At, V, reg, num):
    """At = (D W D)', b = D q with unit mean diagonal per contact, per row elsewhere."""
    n = q.size
    largest = 0.0
    num[AMAX], num[BMAX] = 0.0, 0.0
    for i in range(n):
        largest = max(largest, abs(W[i, i]))
    for i in range(n):
        mean = abs(W[i, i])
        if i < d * nc:
            mean = 0.0
            for t in range(d):
                mean += W[i - i % d + t, i - i % d + t]
            mean = abs(mean) / d
        if not mean > 1e-12 * largest:
            mean = largest if largest > 0.0 else 1.0
        V[D, i] = 1.0 / np.sqrt(mean)
    skew = 0.0
    for i in range(n):
        V[B, i] = V[D, i] * q[i]
        num[BMAX] = max(num[BMAX], abs(V[B, i]))
        for j in range(n):
            At[i, j] = V[D, i] * W[j, i] * V[D, j]
            num[AMAX] = max(num[AMAX], abs(At[i, j]))
            if j < i:
                skew = max(skew, abs(At[i, j] - At[j, i]))
    reg[SYMMETRIC] = 1 if skew <= 1e-13 * num[AMAX] else 0


@kernel
def finish(V, row, d, nc, out):
    """Forces (or the direction V[row]) in the problem's own frames and units."""
    for j in range(out.size):
        out[j] = V[row, j]
    if d == 3:
        for c in range(nc):
            h = 3 * c
            size = np.hypot(V[COS, h], V[SIN, h])
            x, y = V[COS, h] / size, V[SIN, h] / size
            p, q = out[h + 1], out[h + 2]
            out[h + 1], out[h + 2] = x * p - y * q, y * p + x * q
    for j in range(out.size):
        out[j] *= V[D, j]


@kernel
def classify(T, value, d, nc, group, direction):
    """State of each contact: group 0 open, 1 stick, 2 slip, 3 closed with tied friction forever.

    direction (nc, d - 1): unit friction of slipping contacts, zero elsewhere.
    """
    for c in range(nc):
        h = d * c
        size = 0.0
        for t in range(1, d):
            direction[c, t - 1] = 0.0
            size = np.hypot(size, value[h + t])
        if T[STATE, h] != C:
            group[c] = 0
        elif T[KIND, h + 1] != TANGENT:
            group[c] = 3
        elif T[STATE, h + 1] != TIED:
            group[c] = 1
        else:
            group[c] = 2
            for t in range(1, d):
                direction[c, t - 1] = value[h + t] / size if size > 0.0 else 0.0
