"""How far a direction of Dantzig's method can be followed, and what ends it (Baraff 1994)."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.dantzig_moves import (
    ARRIVES,
    CLOSES,
    DRIVE_BACK,
    DRIVE_FRICTION,
    DRIVE_NORMAL,
    LETS_GO,
    NOTHING,
    OPENS,
    SLIPS,
    STICKS,
)
from drystone.kernels.dantzig_sets import (
    A_TOL,
    DA,
    DA_TOL,
    DF,
    DF_TOL,
    DIM,
    DRIVE,
    KIND,
    MODE,
    MU,
    NC,
    NORMAL,
    SAT,
    SIGN,
    STATE,
    STEP,
    TANGENT,
    TIED,
    A,
    C,
    F,
)

TIE = 1e-11  # steps this close (relative) are equal: the driven row wins, then the first row


@kernel
def limit(V, T, reg, num):
    """Longest step along (df, da): stores it in num[STEP], returns (change that ends it, row).

    The row is that of the contact that changes, or the driven row when the drive itself ends.
    """
    what, row = _driven(V, T, reg, num)
    tangents = reg[DIM] > 1
    for h in range(V.shape[1]):
        if T[KIND, h] != NORMAL:
            continue
        state = T[STATE, h]
        bound = num[STEP] * (1.0 - TIE)
        if state == NC:
            if V[DA, h] < -num[DA_TOL]:
                s = max(V[A, h], 0.0) / -V[DA, h]
                if s < bound:
                    what, row, num[STEP] = CLOSES, h, s
            continue
        if state == C and V[DF, h] < -num[DF_TOL]:
            s = max(V[F, h], 0.0) / -V[DF, h]
            if s < bound:
                what, row, num[STEP] = OPENS, h, s
        if tangents and T[KIND, h + 1] == TANGENT:
            bound = num[STEP] * (1.0 - TIE)
            if T[STATE, h + 1] == TIED:
                s = _stick_step(V, num, h)
                if s < bound:
                    what, row, num[STEP] = STICKS, h, s
            elif _has_friction(T, reg, h) and not h < reg[DRIVE] < h + reg[DIM]:
                s = cone_step(V, reg, num, h)
                if s < bound:
                    what, row, num[STEP] = SLIPS, h, s
    return what, row


@kernel
def _has_friction(T, reg, h):
    """Whether a tangent of contact h is clamped, so that its cone must be watched."""
    clamped = T[STATE, h + 1] == C
    return clamped or (reg[DIM] == 3 and T[STATE, h + 2] == C)


@kernel
def _driven(V, T, reg, num):
    """The driven row's own end: stores the step, returns (what, row)."""
    d, mode, tol = reg[DRIVE], reg[MODE], num[DA_TOL]
    f, df, a, da = V[F, d], V[DF, d], V[A, d], V[DA, d]
    num[STEP] = np.inf
    what = NOTHING
    if mode != DRIVE_BACK and reg[SIGN] * a >= -4.0 * num[A_TOL]:
        num[STEP] = 0.0  # it arrived with the last step, which another row had limited as well
        return ARRIVES, d
    if mode != DRIVE_BACK and abs(da) > tol and (a > 0.0) != (da > 0.0):
        num[STEP] = abs(a / da)
        what = ARRIVES
    if mode == DRIVE_NORMAL:
        if reg[SIGN] < 0 and f / -df < num[STEP]:
            num[STEP] = max(f, 0.0) / -df
            what = OPENS
        return what, d
    h = d - d % reg[DIM]
    if mode == DRIVE_FRICTION:
        s = cone_step(V, reg, num, h)
        if s < num[STEP]:
            num[STEP] = s
            return SLIPS if _opposes(V, reg, num, h, s) else LETS_GO, d
    else:
        s = abs(f / df)
        side = 1.0 if f > 0.0 else -1.0
        rate = V[MU, h] * V[DF, h] - side * df
        if rate > num[DF_TOL]:
            s = min(s, max(side * f - V[MU, h] * V[F, h], 0.0) / rate)
        if s < num[STEP]:
            num[STEP] = s
            what = LETS_GO
    return what, d


@kernel
def _opposes(V, reg, num, h, s):
    """Whether friction of contact h, after the step s, does not drive its own acceleration."""
    along, force = 0.0, 0.0
    for t in range(h + 1, h + reg[DIM]):
        f = V[F, t] + s * V[DF, t]
        along += f * (V[A, t] + s * V[DA, t])
        force = max(force, abs(f))
    return along <= 10.0 * num[A_TOL] * force


@kernel
def _stick_step(V, num, h):
    """Step at which the acceleration stops opposing the saturated friction of contact h."""
    side = 1.0 if V[SAT, h + 1] > 0.0 else -1.0
    rate = side * V[DA, h + 1]
    if rate <= num[DA_TOL]:
        return np.inf
    return max(-side * V[A, h + 1], 0.0) / rate


@kernel
def cone_step(V, reg, num, h):
    """Step at which contact h leaves its cone, |f_t + s df_t| = mu (f_N + s df_N); inf if never.

    In the plane two lines; in space a quadratic, since both sides vary, solved so that nothing
    cancels: q(s) = qa s^2 + 2 qb s + qc with q <= 0 inside.
    """
    mu, f, df = V[MU, h], V[F], V[DF]
    fn, dfn, tol = mu * f[h], mu * df[h], num[DF_TOL]
    if reg[DIM] == 2:
        best = np.inf
        for side in (1.0, -1.0):
            rate = side * df[h + 1] - dfn
            if rate > tol:
                best = min(best, max(fn - side * f[h + 1], 0.0) / rate)
        return best
    x, y, dx, dy = f[h + 1], f[h + 2], df[h + 1], df[h + 2]
    size, change = np.hypot(x, y), np.hypot(dx, dy)
    if size == 0.0:
        return max(fn, 0.0) / (change - dfn) if change - dfn > tol else np.inf
    qa = (change - dfn) * (change + dfn)
    qb = x * dx + y * dy - fn * dfn
    qc = min((size - fn) * (size + fn), 0.0)
    disc = qb * qb - qa * qc
    if qb > tol * size:
        return -qc / (qb + np.sqrt(disc)) if disc >= 0.0 else np.inf
    if qa > tol * tol:
        return (-qb + np.sqrt(max(disc, 0.0))) / qa
    return np.inf
