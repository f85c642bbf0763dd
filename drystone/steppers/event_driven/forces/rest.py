"""Rest where rest is a solution.

With friction an instant may have several solutions: a pile of disks that can rest may also fall
(Baraff 1992, 12.4). The rule of choice is that of time stepping: rest, if it is a solution, else
what the method finds. Rest means here that all contacts of an island that are at rest stay so.
Whether forces within the cones hold them is a cone program; of such forces the least are taken, and
an index set of theirs has to confirm them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from drystone.problems.convert import ConicProgram
from drystone.solvers._convex import minimise
from drystone.solvers.base import Limits
from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.index_set import (
    LAW_TOL,
    SAME_ACCELERATION,
    index_sets,
    units,
)
from drystone.steppers.event_driven.forces.results import Island
from drystone.steppers.event_driven.forces.state import Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Floats, Status

REST = "rest"  # name of the method
MU_MARGIN = 1e-8  # of the friction coefficient: room for the last correction
PROGRAM_TOL = 1e-11  # of the cone program
PROGRAM_TIME = 60.0  # [s]
SINGULAR = 1e-12  # singular values below, relative to the largest, are none
UNLOADED = 1e-10  # of the largest force: contacts with less are open


def rests(part: Island) -> bool:
    """Whether all contacts of an island that are at rest stay so."""
    if part.solution.status is not Status.SOLVED:
        return False
    system, a = part.system, part.solution.dual
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    return bool(np.abs(a).max(initial=0.0) <= SAME_ACCELERATION * size)


def at_rest(part: Island) -> Island | None:
    """The island with forces that hold it; None where it slides already, or none do."""
    system = part.system
    if not system.contacts.size or methods.sliding(system).any():
        return None
    slip, mu = methods.acting(system)
    if not mu.any():  # without friction there is one motion
        return None
    r = holding(system, mu)
    if r is None:
        return None
    d = system.state.d
    normal = r[: d * mu.size : d]
    pressed = normal > UNLOADED * float(np.abs(r).max(initial=0.0))
    states = tuple(np.where(pressed, Kind.STICKING, Kind.OPEN).tolist())
    still = SAME_ACCELERATION * float(np.abs(system.q).max(initial=0.0))
    for L in index_sets(system, r, states):
        found = L.forces(system, mu, slip)
        if found is None or np.abs(found[1]).max(initial=0.0) > still:
            continue
        value, dual, violation = found
        solution = replace(
            part.solution, value=value, dual=dual, status=Status.SOLVED, residual=violation,
            residual_unit=violation, ray=None, methods=(REST,),
        )  # fmt: skip
        return replace(part, solution=solution, states=states, reused=False, index_set=L)
    return None


def holding(system: System, mu: Floats) -> Floats | None:
    """The least forces (m,) within the cones under which no row accelerates, or None."""
    d, nc = system.state.d, mu.size
    own = system.W.diagonal()[d * nc :]
    unit = np.concatenate([np.repeat(units(system), d), np.sqrt(np.where(own > 0.0, own, 1.0))])
    W, q = system.W / unit[:, None] / unit, system.q / unit
    scale = float(np.linalg.norm(q))
    if not scale > 0.0:
        return None
    U, s, _ = scipy.linalg.svd(W)
    U, s = U[:, s > SINGULAR * s[0]], s[s > SINGULAR * s[0]]
    target = -(U.T @ q) / s / scale
    if np.linalg.norm(q - U @ (U.T @ q)) > LAW_TOL * scale:
        return None  # rows that depend on each other are not at rest together
    found = minimise(_least(U, target, mu, d), PROGRAM_TOL, Limits(PROGRAM_TOL, PROGRAM_TIME))
    if found.status is not Status.SOLVED or not np.isfinite(found.x).all():
        return None
    x = found.x * scale
    x -= U @ ((U.T @ (W @ x + q)) / s)
    f = x[: d * nc].reshape(nc, d)
    f[f[:, 0] <= UNLOADED * float(np.abs(x).max(initial=0.0))] = 0.0
    return np.asarray(x / unit)


def _least(U: Floats, target: Floats, mu: Floats, d: int) -> ConicProgram:
    """min |x|^2 / 2 with U'x = target, contacts of x in their cones; other rows have any sign."""
    m, rank = U.shape
    n = d * mu.size
    rows = sp.csr_array((np.tile([1.0] * d, mu.size), (np.arange(n), np.arange(n))), (n, m))
    steep = np.tile([1.0] * d, mu.size)
    steep[::d] = mu * (1.0 - MU_MARGIN)
    rough = np.repeat(mu > 0.0, d)
    first = np.arange(n) % d == 0
    parts, cones = [sp.csr_array(U.T)], [("zero", rank)]
    smooth = np.flatnonzero(~rough & first), np.flatnonzero(~rough & ~first)
    for chosen, kind in zip(smooth, ("nonnegative", "zero"), strict=True):
        parts.append(-rows[chosen])
        cones.append((kind, chosen.size))
    parts.append(-sp.diags_array(steep) @ rows)
    parts[-1] = parts[-1][np.flatnonzero(rough)]
    cones += [("second-order", d)] * int((mu > 0.0).sum())
    G = sp.csc_array(sp.vstack(parts))
    h = np.concatenate([target, np.zeros(G.shape[0] - rank)])
    return ConicProgram(sp.csc_array(sp.eye_array(m)), np.zeros(m), G, h, tuple(cones))
