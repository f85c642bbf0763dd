"""The report of a step: energy explained, conditions measured."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from drystone.constraints.rows import Rows
from drystone.dynamics.energy import energy, kinetic
from drystone.kernels import ledger as kernels
from drystone.model import Contacts, State
from drystone.steppers.base import Conditions, EnergyLedger, StepReport
from drystone.steppers.time_stepping.impact import Impact
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.work import Work
from drystone.types import Floats, Status

SAID = ("jammed", "log")


def report(
    work: Work,
    rows: Rows,
    solved: Solved,
    hits: Impact,
    found: Contacts,
    after: State,
    h: float,
    options: TimeStepping,
) -> StepReport:
    book, jump = _energy(work, rows, solved, hits, after, h)
    worst = np.maximum(solved.residual.max(axis=0, initial=0.0), hits.residual)
    status = solved.status if hits.status is Status.SOLVED else hits.status
    if status is Status.SOLVED and not book.closes:
        status = Status.INACCURATE
    work.stage("report")
    return StepReport(
        time=after.time,
        dt=h,
        status=status,
        residual=float(worst[0]),
        residual_unit=float(worst[1]),
        iterations=solved.iterations + hits.iterations,
        methods=solved.methods,
        contacts=int(rows.touching.sum()),
        islands=rows.islands,
        penetration=float(np.maximum(-found.gap, 0.0).max(initial=0.0)),
        energy=book,
        conditions=_conditions(rows, solved, options),
        collisions=hits.collisions,
        impact_energy=jump,
        seconds=work.seconds,
        island_residuals=solved.residual.max(axis=1) if solved.residual.size else None,
        island_sizes=np.diff(rows.start),
    )


def _energy(
    work: Work, rows: Rows, solved: Solved, hits: Impact, after: State, h: float
) -> tuple[EnergyLedger, float]:
    """The books of the step, and what the collisions changed."""
    model = work.model
    start = (*work.energy[:2], work.energy[2] + work.springs[0])
    kinetic_end, height_end, stored_end = energy(model, after)
    end = (kinetic_end, height_end, stored_end + work.springs[1])
    sums, blows = np.zeros(4), np.zeros(4)
    offset = 0.0  # impulses act on velocities of moving bodies that lie half a kick further
    half = np.where(model.inverse_mass[:, None] > 0, hits.half, 0.0)
    for part, r, before, later in hits.parts:
        kernels.contact_work(part.body, part.moves, part.J, r, before, later, blows)
        offset += float((r * part.velocities(half)).sum())
    kernels.contact_work(rows.body, rows.moves, rows.J, solved.r, work.v0, solved.v, sums)
    ties, acts = _joints(rows, solved)
    sums[0] -= ties[0] + acts[0]
    sums[2] += ties[0] - acts[1]
    mean = 0.5 * (work.v0 + solved.v)
    moving = model.inverse_mass > 0
    moved = work.kick * mean[moving]
    pushed = float((work.force[moving] * moved).sum())
    fell = float((model.mass[moving] * (moved[:, : model.dim] * model.gravity).sum(axis=1)).sum())
    kicked = kinetic(model, work.inertia, solved.v)
    # heights change by h v', gravity works over the mean velocity; bodies turn
    free = (end[1] - start[1]) + fell + (end[0] - kicked) - offset + work.softening
    if work.load is not work.force:  # torques that only turn omega do no work in the limit
        free += float(((work.load - work.force)[moving] * moved).sum())
    if work.inertia is not work.inertia_before:
        free += kinetic(model, work.inertia, work.v0)
        free -= kinetic(model, work.inertia_before, work.v0)
    book = EnergyLedger(
        kinetic=end[0],
        potential=end[1] + end[2],
        change=sum(end) - sum(start),
        loads=pushed + end[2] - start[2] + acts[0] + acts[1],
        driving=float(sums[3] + blows[3]),
        friction=float(sums[0]),
        impact=float(sums[1] + blows[:3].sum()),
        constraint=float(sums[2]),
        integration=free,
    )
    return book, float(blows[:3].sum())


def _joints(rows: Rows, solved: Solved) -> tuple[Floats, Floats]:
    """Work r.u' of the joints' rows C = 0 and of what acts on their coordinates, each by the rows
    of a block after the first, and by the first."""
    if rows.blocks is None:
        return np.zeros(2), np.zeros(2)
    power = solved.r * rows.velocities(solved.v)
    block = rows.joint
    tie = (block >= 0) & (rows.blocks.action[block] < 0)
    act = (block >= 0) & ~tie
    out = [np.array([power[m, 1:].sum(), power[m, 0].sum()]) for m in (tie, act)]
    return out[0], out[1]


def _conditions(rows: Rows, solved: Solved, options: TimeStepping) -> Conditions:
    here = rows.touching
    if not here.any():
        return Conditions()
    r, u, mu = solved.r, solved.u, solved.mu
    if rows.blocks is not None:
        r, u, mu = r[here], u[here], mu[here]
    out = np.empty(6)
    kernels.conditions(r, u, mu, options.formulation == "convex", out)
    return Conditions(*(float(x) for x in out))


def joined(first: StepReport, second: StepReport) -> StepReport:
    """One report of two halves of a step: energies add, of the rest the worse half speaks."""
    a, b = first.energy, second.energy
    c, d = first.conditions, second.conditions
    worst = {f.name: max(getattr(c, f.name), getattr(d, f.name), key=abs) for f in fields(c)}
    worst |= {f: min(getattr(c, f), getattr(d, f)) for f in ("least_impulse", "least_velocity")}
    worst |= {f: max(getattr(c, f), getattr(d, f)) for f in ("cone", "power")}
    sums = {f.name: getattr(a, f.name) + getattr(b, f.name) for f in fields(EnergyLedger)}
    sums |= {"kinetic": b.kinetic, "potential": b.potential}
    values = {f.name: getattr(second, f.name) for f in fields(StepReport)}
    deeper = first if first.relative_depth >= second.relative_depth else second
    values |= {
        "dt": first.dt + second.dt,
        "status": first.status if not first.ok else second.status,
        "residual": max(first.residual, second.residual),
        "residual_unit": max(first.residual_unit, second.residual_unit),
        "iterations": first.iterations + second.iterations,
        "penetration": max(first.penetration, second.penetration),
        **{f: getattr(deeper, f) for f in ("relative_depth", "deepest")},
        "unsolved_body": max(first.unsolved_body, second.unsolved_body),
        "energy": EnergyLedger(**sums),
        "conditions": Conditions(**worst),
        "methods": first.methods + tuple(m for m in second.methods if m not in first.methods),
        "contacts": max(first.contacts, second.contacts),
        "collisions": first.collisions + second.collisions,
        "impact_energy": first.impact_energy + second.impact_energy,
        "retries": first.retries + second.retries + 1,
        "broken": first.broken + second.broken,
        **{f: tuple(dict.fromkeys((*getattr(first, f), *getattr(second, f)))) for f in SAID},
        "seconds": {k: first.seconds.get(k, 0.0) + v for k, v in second.seconds.items()},
    }
    return StepReport(**values)
