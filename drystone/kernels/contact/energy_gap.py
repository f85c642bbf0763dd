"""The energy gap of an island: how far its velocities can be from those of a solution.

Where impulses are large beside what they change, as under a heavy load, in a slender stack or a
wedge that nearly jams, the residual does not see errors of velocities: it divides by |r|. Here is
what does: the work that the law does not allow,

    sum |r.u~| + |r| (dist of u~ from the dual cone) + |u| (dist of r from the cone),

relative to the kinetic energy r.W r = r.(u - q) of the change that the impulses make, or to that of
the free velocities, sum |q|^2 / s^2 with s^2 the mean diagonal of D, if it is greater. For the
convex law the kinetic energy of the error of the velocities is at most that work. So a gap e bounds
their error by sqrt(e) of that change, in the mean over masses: sqrt(e) g h of what rests.
What lies within the rounding of u counts as zero.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import CONVEX, SUM_ROUNDING
from drystone.kernels.contact.polyhedral import fastest
from drystone.kernels.layout import CONTACT_2 as C2
from drystone.kernels.layout import CONTACT_3 as C3


@stage
def gap_of_lines(lines):
    """Of an island of packed contacts, whose velocities are in s.u."""
    s, k = lines.s, lines.k
    d = s.u.shape[1]
    at, unit2 = (C2.R, C2.UNIT2) if d == 2 else (C3.R, C3.UNIT2)
    error, moved, free = 0.0, 0.0, 0.0
    for i in range(s.start[k], s.start[k + 1]):
        line = s.contact[i]
        a, b, c = _terms(line[at : at + d], s.u[i], s.q[i], s.mu[i], line[unit2], s.law, None)
        error, moved, free = error + a, moved + b, free + c
    return _relative(error, moved, free)


@kernel
def gap_of_blocks(r, u, q, mu, unit, law, corners):
    """Of blocks r, u, q (n, d), mu, unit (n,); mu < 0: of joints. corners (k, 2): of polyhedral
    cones, or None. Zero for joints alone: errors of theirs are seen where they open, and rows that
    all but depend on each other bear impulses that cancel."""
    if mu.size == 0 or mu.max() < 0.0:
        return 0.0
    error, moved, free = 0.0, 0.0, 0.0
    for i in range(r.shape[0]):
        a, b, c = _terms(r[i], u[i], q[i], mu[i], unit[i] * unit[i], law, corners)
        error, moved, free = error + a, moved + b, free + c
    return _relative(error, moved, free)


@stage
def _relative(error, moved, free):
    scale = max(moved, free)
    return error / scale if scale > 0.0 else error


@stage
def _terms(r, u, q, mu, unit2, law, corners):
    """Work that the law of a contact does not allow, r.(u - q), and |q|^2 / s^2. Roots are taken
    where a term needs them: most contacts stick."""
    work, moved, rt2, ut2, qt2 = r[0] * u[0], r[0] * (u[0] - q[0]), 0.0, 0.0, 0.0
    for a in range(1, u.size):
        work += r[a] * u[a]
        moved += r[a] * (u[a] - q[a])
        rt2 += r[a] * r[a]
        ut2 += u[a] * u[a]
        qt2 += q[a] * q[a]
    rr = r[0] * r[0] + rt2
    free = (q[0] * q[0] + qt2) / unit2
    if rr == 0.0 and u[0] >= 0.0 and (mu < 0.0 or law != CONVEX):
        return 0.0, moved, free
    noise = SUM_ROUNDING * (1.5 * rr * unit2 + 0.5 * free)  # |r| s^2 |r| + |r| |q|, or more
    if mu < 0.0:
        return max(0.0, abs(work) - noise), moved, free
    ut = np.sqrt(ut2) if corners is None else fastest(-u[1], -u[2], corners)
    closing = -u[0]
    if law == CONVEX:
        closing += mu * ut
    else:
        work += mu * ut * r[0]
    work = abs(work)
    if closing > 0.0:
        work += np.sqrt(rr) * closing
    most = mu * max(r[0], 0.0)
    if rt2 > most * most or r[0] < 0.0:
        work += np.sqrt(u[0] * u[0] + ut2) * (np.sqrt(rt2) - mu * r[0])
    return max(0.0, work - noise), moved, free
