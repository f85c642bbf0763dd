"""Accelerated Gauss-Seidel, island by island: one loop for packed contacts, for blocks of rows, and
for one large island that threads share.

Island k owns the contacts start[k]:start[k + 1] and is judged by its own scale (Anitescu et al.
1998, 2.4). Islands share no moving body. W is never formed.

Sweeps alone crawl in deep piles. They are accelerated as gradients are by Nesterov: a sweep starts
from a point beyond the last one's end, y + beta (y - y_before), with beta growing towards one;
where the change g of a sweep grows by more than RESTART, or little by little by more than GROWN,
beta starts again from zero. On piles, walls, arches and shaken grains this takes a fifth fewer
sweeps to 1e-3 than conjugate gradients in their nonlinear form, and two vectors less. v is linear
in r, so bodies take the same step beyond as impulses. What is judged and returned always comes from
a sweep.

Judging costs two thirds of a sweep. |g|, which a sweep knows at no cost, follows the residual by a
factor that changes slowly: so the residual is evaluated where |g| predicts the end, and else every
few sweeps.
"""

from typing import NamedTuple

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel, stage
from drystone.kernels.contact.block_sweeps import judge_blocks, sweep_blocks
from drystone.kernels.contact.energy_gap import gap_of_blocks, gap_of_lines
from drystone.kernels.contact.packed import free_scales, judge_lines, load_island, sweep_lines
from drystone.kernels.contact.parallel_sweeps import judge_parts, sweep_parts
from drystone.kernels.layout import CONTACT_2 as C2
from drystone.kernels.layout import CONTACT_3 as C3

COSTLY_ISLAND = 1000  # contacts of an island whose sweeps cost much: it is left sooner
EVERY = 8  # sweeps between judgings, once the first few are done
FIRST_JUDGING = 3  # sweeps until an island is judged that was left for a looser tolerance
RESTART = 1.1  # of |g|^2, from one sweep to the next
GROWN = 1.5  # of |g|^2, from its least on: in large heaps it may grow slowly, and for ever
SAFE = 0.5  # of the residual that would have the energy gap that is asked for
UNDECIDED = -1  # no status: the island is swept on


class Aim(NamedTuple):
    """When the sweeps of an island end; the fields are those of ``layout.ISLANDS``. size: its
    contacts; leave: stop early where the rate of convergence is too slow; plain: without
    acceleration."""

    size: int
    island_tol: float
    loose_tol: float
    fallback_tol: float
    min_sweeps: int
    sweep_limit: int
    gap: float
    leave: bool
    plain: bool


class Lines(NamedTuple):
    """Packed contacts of island k of the record s: its bodies `mine`, room `awake` (nc,), sums of
    |q|^2 as they are and unit-free."""

    s: object
    k: int
    mine: object
    awake: object
    plain_q: float
    free_q: float


class Share(NamedTuple):
    """What thread `rank` of `threads` has of an island in parts; p: of ``layout.PARTS``."""

    p: object
    rank: int
    threads: int


class Blocks(NamedTuple):
    """Rows of island k of the record s, with compliances soft (nc, d) and scales unit (nc,); shape:
    d zeros; mine: its bodies; r_old, v_old: after the sweep before; work (d + 4, d)."""

    shape: object
    s: object
    k: int
    soft: object
    unit: object
    mine: object
    r_old: object
    v_old: object
    work: object


@stage
def solve_packed_islands(s, chosen, seen, mine, awake):
    """Sweep the chosen islands k until both residuals are <= s.island_tol[k], or <= s.loose_tol[k]
    after s.min_sweeps[k] sweeps, or s.sweep_limit[k] sweeps; where that is out of reach, until they
    are <= s.fallback_tol[k], if that is more than loose_tol.

    For contacts alone, of Coulomb's law in space or of either law in the plane. s: fields of
    ``layout``, with v = v_free + M^-1 J' r on entry and on return, contact and motion from
    ``pack_spatial`` or ``pack_planar``; ended, sweeps (added to), residual, u: out. s.leave: stop
    early where the rate of convergence is too slow. seen, mine (nb,), awake (nc,): work. Returns 0.
    """
    for b in range(seen.size):
        seen[b] = -1
    r, v, contact, motion, residual = s.r, s.v, s.contact, s.motion, s.residual
    d, dof = r.shape[1], v.shape[1]
    at, unit2 = (C2.R, C2.UNIT2) if d == 2 else (C3.R, C3.UNIT2)
    for k in chosen:
        lo, hi = s.start[k], s.start[k + 1]
        members = load_island(s, k, seen, mine)
        plain_q, free_q = free_scales(lo, hi, s.q, contact[:, unit2])
        lines = Lines(s, k, mine[:members], awake, plain_q, free_q)
        found = _solve(_aim(s, k), lines, None, None)
        s.ended[k], count, residual[k, 0], residual[k, 1], s.energy_gap[k] = found
        s.sweeps[k] += count
        for i in range(lo, hi):
            for a in range(d):
                r[i, a] = contact[i, at + a]
        for j in range(members):
            for e in range(dof):
                v[mine[j], e] = motion[mine[j], e]
    return 0


@kernel
def solve_block_islands(shape, s, soft, unit, corners):
    """The same for the chosen islands s.chosen[:s.n_chosen] of blocks with rows J and P: of any
    law, with joints.

    shape: d zeros; soft (nc, d): compliances, in D too; unit (nc,): sqrt of the mean diagonal of D;
    corners (k, 2): of polyhedral cones in space, or None.
    """
    d = len(shape)
    work, r_old, v_old = np.empty((d + 4, d)), np.empty_like(s.r), np.empty_like(s.v)
    for b in range(s.seen.size):
        s.seen[b] = -1
    for j in range(s.n_chosen):
        k = s.chosen[j]
        members = _members(s, k)
        for i in range(s.start[k], s.start[k + 1]):
            s.lam[i] = 0.0
        mine = s.mine[:members]
        blocks = Blocks(shape, s, k, soft, unit, mine, r_old, v_old, work)
        found = _solve(_aim(s, k), None, None, blocks, corners)
        s.ended[k], count, s.residual[k, 0], s.residual[k, 1], s.energy_gap[k] = found
        s.sweeps[k] += count


@stage
def _members(s, k):
    """Bodies of island k into s.mine; returns how many."""
    count = 0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.seen[b] != k:
                s.seen[b] = k
                s.mine[count] = b
                count += 1
    return count


@kernel
def solve_parts(p, rank, threads):
    """What thread `rank` of `threads` does of a large island; all are called with the same p, of
    ``layout.PARTS``. Returns 0."""
    size = p.first[p.first_body.size]
    leave, alone, gap = p.leave != 0, p.only_sweeps != 0, np.inf
    tols = p.island_tol, p.loose_tol, p.fallback_tol
    aim = Aim(size, *tols, p.min_sweeps, p.sweep_limit, gap, leave, alone)
    code, done, plain, free, _ = _solve(aim, None, Share(p, rank, threads), None)
    if rank == 0:
        p.ended, p.sweeps, p.plain, p.free = code, done, plain, free
    return 0


@stage
def _aim(s, k):
    """Of island k, as the record has it."""
    size, leave, plain = s.start[k + 1] - s.start[k], s.leave != 0, s.only_sweeps != 0
    gap = s.tol if s.island_tol[k] <= s.tol else np.inf
    tols = s.island_tol[k], s.loose_tol[k], s.fallback_tol[k]
    return Aim(size, *tols, s.min_sweeps[k], s.sweep_limit[k], gap, leave, plain)


@kernel
def _solve(aim, lines, share, blocks, corners=None):
    """Status, sweeps, both residuals and the energy gap of one island: of packed contacts, of a
    thread's share or of blocks. The others are None, and what is for them is not compiled."""
    limit, enough, resort = aim.island_tol, aim.loose_tol, aim.fallback_tol
    least, most = aim.min_sweeps, aim.sweep_limit
    leave = aim.leave
    done, upto, last, before = 0, 1, 0, np.inf
    old, new, low, goal, t = np.inf, np.inf, np.inf, -1.0, 1.0
    awake = phase = 0
    while True:
        while done < min(upto, most):
            beta = 0.0
            if done > 0:
                beta, t, low = momentum(new, old, low, t)
                beta = 0.0 if aim.plain else beta
                old = new
            phase += 1
            if lines is not None:
                new, awake = sweep_lines(lines, done, beta, awake)
            if share is not None:
                new = sweep_parts(share, done, beta, phase)
            if blocks is not None:
                new = sweep_blocks(blocks, corners, done, beta)
            done += 1
            if new <= goal:
                break
        phase += 1
        plain = free = np.inf
        if lines is not None:
            plain, free = judge_lines(lines)
        if share is not None:
            plain, free = judge_parts(share, phase)
        if blocks is not None:
            plain, free = judge_blocks(blocks, corners)
        worst = max(plain, free)
        code = verdict(aim.size, done, upto, last, before, worst, limit, enough, least, most, leave)
        gap = 0.0
        if code != UNDECIDED and lines is not None:
            gap = gap_of_lines(lines)
        if code != UNDECIDED and blocks is not None:
            gap = _gap_of_island(blocks, corners)
        if code == status.SOLVED and gap > aim.gap:  # as its impulses are large, so is its error
            code = UNDECIDED if done < most and worst > 0.0 else status.RUNNING
            limit = SAFE * worst * aim.gap / gap
        if worth_resort(code, done, most, worst, enough, resort):
            limit, enough, leave, code = 0.0, resort, False, UNDECIDED
            least, upto = done, done + FIRST_JUDGING
        if code != UNDECIDED:
            return code, done, plain, free, gap
        goal = new * ((limit if done < least else enough) / worst) ** 2
        if done >= upto:
            before, last, upto = worst, done, done + min(EVERY, done + 2)


@kernel
def _gap_of_island(blocks, corners):
    s, k = blocks.s, blocks.k
    lo, hi = s.start[k], s.start[k + 1]
    given = s.r[lo:hi], s.u[lo:hi], s.q[lo:hi], s.mu[lo:hi], blocks.unit[lo:hi]
    return gap_of_blocks(*given, s.law, corners)


@stage
def momentum(new, old, low, t):
    """(beta, t, low) of the next sweep, after changes |g|^2 = old, new; low: the least of them
    since beta was zero."""
    if new > RESTART * old or new > GROWN * low:
        t, low = 1.0, new
    after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
    return (t - 1.0) / after, after, min(low, new)


@stage
def verdict(nc, done, upto, last, before, worst, limit, enough, least, most, leave):
    """Whether an island is solved, is left (RUNNING) or is swept on, after `done` sweeps.

    upto: when it was to be judged at the latest; before: the residual after `last` sweeps.
    One sweep at least is made: an error that is let pass is there again in the next step, and
    velocities would add it up until it shows.
    """
    if worst <= limit:
        return status.SOLVED
    if done >= most or not np.isfinite(worst) or (done >= least and worst <= enough):
        return status.RUNNING
    if leave and done >= upto and done >= (EVERY if nc > COSTLY_ISLAND else 3 * EVERY):
        rate = np.log(worst / before) / (done - last)
        left = worst <= enough or _hopeless(rate, enough / worst, most - done)
        if left and _hopeless(rate, limit / worst, least - done):
            return status.RUNNING
    return UNDECIDED


@stage
def worth_resort(code, done, most, worst, enough, resort):
    """Whether an island that is left is swept on, to what it is to reach at the least: another
    solve for that would begin again with loading it, and without momentum."""
    return code == status.RUNNING and done < most and enough < resort < worst < np.inf


@stage
def _hopeless(rate, part, sweeps):
    """Whether so many sweeps do not bring the residual down to a part of it."""
    return not rate < 0.0 or np.log(part) / rate > sweeps
