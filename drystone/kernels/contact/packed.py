"""Packed contacts of both dimensions: loading them, sweeps over an island, its residual.

Contacts and bodies are packed into lines of numbers (``packed_spatial``, ``packed_planar``). Scales
of the residual come as sums of squares, plain and unit-free (impulses times s, velocities over s,
with s^2 the mean diagonal of D): what is said of the free velocity q never changes during a solve.

A contact reads no impulse but its own: so its part of the step beyond the last sweep waits for its
turn, and what is left of the acceleration is a pass over the bodies.

Most contacts that are in reach are open (two thirds of shaken grains'). In the plane, one that
stays so is left out, but for every WAKE-th sweep; judging sees them all.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.blocks import ratio
from drystone.kernels.contact.extrapolation import step_beyond
from drystone.kernels.contact.packed_planar import judge_planar, set_friction, sweep_planar
from drystone.kernels.contact.packed_spatial import judge_spatial, sweep_spatial
from drystone.kernels.contact.residual import ran_away
from drystone.kernels.layout import BODY_2 as B2
from drystone.kernels.layout import BODY_3 as B3
from drystone.kernels.layout import CONTACT_2 as C2
from drystone.kernels.layout import CONTACT_3 as C3

FULL_SWEEPS, WAKE = 3, 6  # sweeps over all contacts at the start, and how often later ones are
ALWAYS_SWEPT = 64  # contacts of an island all of which are always swept


@stage
def load_island(s, k, seen, mine):
    """What a solve brings into the lines; bodies of island k into mine; returns how many."""
    count = 0
    for i in range(s.start[k], s.start[k + 1]):
        load_contact(i, s.bias, s.mu, s.r, i, s.contact)
        for side in range(2):
            b = s.body[i, side]
            if seen[b] != k:
                seen[b] = k
                mine[count] = b
                count += 1
                load_body(b, s.v, b, s.motion)
    return count


@stage
def load_contact(i, bias, mu, r, j, line):
    """What a solve brings of contact i, into line j."""
    d = r.shape[1]
    if d == 2:
        set_friction(j, mu[i], line)
        for a in range(2):
            line[j, C2.BIAS + a] = bias[i, a]
            line[j, C2.R + a] = line[j, C2.R_OLD + a] = r[i, a]
    else:
        line[j, C3.MU], line[j, C3.LAM] = mu[i], 0.0
        for a in range(3):
            line[j, C3.BIAS + a] = bias[i, a]
            line[j, C3.R + a] = line[j, C3.R_OLD + a] = r[i, a]


@stage
def load_body(b, v, j, state):
    """Velocities of body b into line j, also as those of a sweep before."""
    before = B2.V_OLD if v.shape[1] == 3 else B3.V_OLD
    for e in range(v.shape[1]):
        state[j, e] = v[b, e]
        state[j, before + e] = v[b, e]


@stage
def free_scales(lo, hi, q, unit2):
    """Sums of |q|^2 and |q|^2 / s^2; unit2 (nc,): s^2."""
    plain, free = 0.0, 0.0
    for i in range(lo, hi):
        total = 0.0
        for a in range(q.shape[1]):
            total += q[i, a] * q[i, a]
        plain += total
        free += total / unit2[i]
    return plain, free


@stage
def ratios(sums, plain_q, free_q):
    """Both residuals from sums of squares; infinite where impulses ran away."""
    plain_f, plain_r, plain_u, free_f, free_r, free_u = sums
    if ran_away(free_f, free_q, free_r, free_u):
        return np.inf, np.inf
    return ratio(plain_f, max(plain_q, plain_r, plain_u)), ratio(
        free_f, max(free_q, free_r, free_u)
    )


@stage
def wakes_all(done, size):
    """Whether the next sweep is over all `size` contacts of an island, after `done` sweeps."""
    return done < FULL_SWEEPS or done % WAKE == 0 or size <= ALWAYS_SWEPT


@stage
def wake(lo, hi, awake):
    """awake[lo:hi]: all contacts lo:hi; returns how many."""
    for i in range(lo, hi):
        awake[i] = i
    return hi - lo


@stage
def body_beyond(motion, b, beta, planar):
    """The step of body b beyond the last sweep."""
    dof, at = (3, B2.V_OLD) if planar else (6, B3.V_OLD)
    line = motion[b]
    step_beyond(line, line[at : at + dof], beta, 1)


@stage
def sweep_lines(lines, done, beta, count):
    """One pass over an island, after `done` passes, with `count` contacts awake; returns the sum of
    |change|^2 unit^2, and how many are awake now."""
    s, k, awake = lines.s, lines.k, lines.awake
    lo, hi, body, contact, motion = s.start[k], s.start[k + 1], s.body, s.contact, s.motion
    planar = s.u.shape[1] == 2
    for b in lines.mine if done > 0 else lines.mine[:0]:
        body_beyond(motion, b, beta, planar)
    if not planar:
        return sweep_spatial(lo, hi, body, contact, motion, beta), count
    if wakes_all(done, hi - lo):
        count = wake(lo, hi, awake)
    return sweep_planar(awake[lo : lo + count], body, contact, motion, s.law, beta)


@stage
def judge_lines(lines):
    """Both residuals of an island; s.u gets the velocities of its contacts."""
    s, k = lines.s, lines.k
    lo, hi, body, contact, motion = s.start[k], s.start[k + 1], s.body, s.contact, s.motion
    if s.u.shape[1] == 2:
        sums = judge_planar(lo, hi, body, contact, motion, s.law, s.u)
    else:
        sums = judge_spatial(lo, hi, body, contact, motion, s.u)
    return ratios(sums, lines.plain_q, lines.free_q)
