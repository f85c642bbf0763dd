"""Collisions with restitution: phases without duration before the step's forces act.

After Anitescu et al. 1998, section 4.

Positions stay; only velocities jump. A collision takes in all contacts that touch or close
within the step, in islands where one of them approaches; contacts that separate are left out, and
looked at again in another round (Baraff 1989, (28), (29)). Impacts obey Coulomb's law itself in
both formulations: the relaxation's lift would change the rebound.

Newton: u_n+ >= -eps u_n-, complementary to the impulse; u_t+ + eps_t u_t- in the place of u_t.
Poisson: compression as without restitution, M (v^c - v-) = J' r^c; then decompression from v^c
with the impulses eps_n r_n^c (and eps_t r_t^c) given back, and a friction bound of its own.
Short cut: v+ = v^c + M^-1 J' (eps r^c), one solve; with one eps for all contacts this is
(1 + eps) v^c - eps v- (Anitescu et al. 1998, 4).

With friction none of these laws bounds the energy: where friction and normal impulses are coupled,
what is given back may be more than compression took (Kane 1984 of Newton's law). Where it is, the
coefficients of the impact are scaled down together, to the greatest part with which contacts make
no energy. With none of it an impact is plastic, and makes none.

Velocities of the scheme lie half a step before the positions they meet: q' = q + h v' with the
velocity at the middle of the step. So the law of impact gets v- plus half of the kick by the
step's forces, and the other half is taken off v+ before the whole kick is given. A ball that falls
and bounces with eps = 1 then keeps its energy to rounding, and bodies at rest do not hop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drystone.constraints.rows import Rows
from drystone.steppers.time_stepping.solve import IslandSolver, Solved
from drystone.types import Floats, Ints, Status

IMPACT_ROUNDS = 20  # of contacts that begin to approach because others bounced
IMPACT_GAP = 1e-6  # of a body's size: contacts this near take part in a collision at once
SLOW_IMPACT = 1e-6  # of the speed that gravity gives in a step: not a collision
LEAST_SPEED = 1e-12  # [m/s] the same without gravity
SOLVED_ENERGY = 1e-9  # of the energy that an impact moves: what solves leave
RESTITUTION_TOL = 1e-6  # of the coefficients, where they are scaled down

Phases = tuple[Rows, Floats, Floats, Floats]  # rows, r, v before, v after
Phase = Callable[[Rows, Floats, "Impact", IslandSolver], None]


@dataclass(slots=True)
class Impact:
    """v (nb, dof) after the collisions, and what they took.

    half (nb, dof): the half kick that is part of v here; parts: (rows, r, v before, v after) of
    each phase, for the ledger; status, residual: of the worst solve.
    """

    v: Floats
    half: Floats
    collisions: int
    parts: list[Phases]
    iterations: int = 0
    status: Status = Status.SOLVED
    residual: float = 0.0


def collide(
    rows: Rows, v: Floats, half: Floats, h: float, gravity: float, size: float, solver: IslandSolver
) -> Impact:
    """Collisions of a step that starts with v (nb, dof) and has the half kick `half`.

    gravity: its size [m/s^2]; size: of the bodies [m].
    """
    out = Impact(v + half, half, 0, [])
    pull = rows.velocities(half)[:, 0]
    still = max(LEAST_SPEED, SLOW_IMPACT * h * gravity)
    for _ in range(IMPACT_ROUNDS):
        chosen, count = _colliding(rows, out.v, pull, h, still, IMPACT_GAP * size)
        if count == 0:
            break
        out.collisions += count
        part = rows.take(chosen)
        phase = {"newton": _newton, "poisson": _poisson}.get(solver.options.restitution, _shortcut)
        _bounce(phase, part, out, solver)
    return out


def _bounce(phase: Phase, part: Rows, out: Impact, solver: IslandSolver) -> None:
    """A law of impact, by less restitution where its contacts would make energy."""
    v, parts, eps = out.v, len(out.parts), part.eps
    phase(part, eps, out, solver)
    least = SOLVED_ENERGY * _exchanged(out.parts[parts:])
    if _gain(out.parts[parts:]) <= least:
        return
    low, high = 0.0, 1.0
    kept = None
    while kept is None or high - low > RESTITUTION_TOL:
        middle = 0.5 * (low + high) if kept is not None else 0.0
        del out.parts[parts:]
        out.v = v
        phase(part, middle * eps, out, solver)
        if kept is None or _gain(out.parts[parts:]) <= least:
            low, kept = middle, (out.v, out.parts[parts:])
        else:
            high = middle
    out.v, out.parts[parts:] = kept


def _gain(phases: list[Phases]) -> float:
    """Energy that contacts make in an impact: the work of their impulses at the mean of their
    velocities before and after, relative ones, so that prescribed bodies may drive [J]."""
    return float(
        sum(
            (r * 0.5 * (rows.velocities(old) + rows.velocities(new))).sum()
            for rows, r, old, new in phases
        )
    )


def _exchanged(phases: list[Phases]) -> float:
    """The same without signs [J]."""
    return float(
        sum(
            np.abs(r * (np.abs(rows.velocities(old)) + np.abs(rows.velocities(new)))).sum()
            for rows, r, old, new in phases
        )
    )


def _colliding(
    rows: Rows, v: Floats, pull: Floats, h: float, still: float, touch: float
) -> tuple[Ints, int]:
    """Contacts of the collisions, and how many of them approach with restitution.

    pull (nc,): what the half kick adds to the normal velocity: it makes no collision by itself.
    """
    u = rows.velocities(v)[:, 0]
    gap = rows.contacts.gap
    near = (gap <= touch) | (gap + h * (u + pull) <= 0.0)
    taking = near & (u <= still)
    approach = near & (u - pull < -still) & (u < -still) & (rows.eps.max(axis=1) > 0.0)
    count = int(approach.sum())
    if count == 0:
        return np.empty(0, np.int64), 0
    island = np.repeat(np.arange(rows.islands), np.diff(rows.start))
    hit = np.zeros(rows.islands, bool)
    hit[island[approach]] = True
    # joints take part in the collisions of their islands (Baraff 1989, 8): u = 0, with impulses of
    # any sign
    return np.flatnonzero((taking | (rows.mu[:, 0] < 0.0)) & hit[island]), count


def _solve(
    part: Rows, v: Floats, bias: Floats, mu: Floats, out: Impact, solver: IslandSolver
) -> Solved:
    done = solver.solve(part, mu, bias, v, np.zeros((part.nc, part.d)))
    out.iterations += done.iterations
    out.residual = max(out.residual, float(done.residual.max(initial=0.0)))
    if done.status is not Status.SOLVED:
        out.status = done.status
    return done


def _newton(part: Rows, eps: Floats, out: Impact, solver: IslandSolver) -> None:
    before = part.velocities(out.v)
    bias = before * eps[:, 1:]
    # only approach is reversed; a resting neighbour keeps u_n+ >= 0
    bias[:, 0] = np.minimum(before[:, 0], 0.0) * eps[:, 0]
    done = _solve(part, out.v, bias, part.mu[:, 1].copy(), out, solver)
    out.parts.append((part, done.r, out.v, done.v))
    out.v = done.v


def _compress(part: Rows, out: Impact, solver: IslandSolver) -> Solved:
    zero = np.zeros((part.nc, part.d))
    done = _solve(part, out.v, zero, part.mu[:, 1].copy(), out, solver)
    out.parts.append((part, done.r, out.v, done.v))
    out.v = done.v
    return done


def _give_back(part: Rows, r: Floats, out: Impact) -> None:
    v = out.v.copy()
    part.push(r, v)
    out.parts.append((part, r, out.v, v))
    out.v = v


def _poisson(part: Rows, eps: Floats, out: Impact, solver: IslandSolver) -> None:
    r = _compress(part, out, solver).r.copy()
    r[:, 0] *= eps[:, 0]
    r[:, 1:] *= eps[:, 1:]
    _give_back(part, r, out)
    _compress(part, out, solver)  # decompression: the same conditions from v^c + M^-1 I_r


def _shortcut(part: Rows, eps: Floats, out: Impact, solver: IslandSolver) -> None:
    r = _compress(part, out, solver).r
    _give_back(part, r * eps[:, :1], out)
