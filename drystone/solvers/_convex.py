"""The one interface to the library for convex programs (Clarabel, an interior-point method).

Everything else speaks of ``ConicProgram``: min 1/2 x'Px + c'x with h - G x in a product of cones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.problems.convert import ConicProgram
from drystone.solvers.base import Limits
from drystone.types import Floats, Status

_CONES: dict[str, Any] = {
    "zero": clarabel.ZeroConeT,
    "nonnegative": clarabel.NonnegativeConeT,
    "second-order": clarabel.SecondOrderConeT,
}
_STATUS: dict[str, Status] = {
    "Solved": Status.SOLVED,
    "AlmostSolved": Status.SOLVED,
    "PrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.INFEASIBLE,
    "MaxIterations": Status.MAX_ITERATIONS,
    "MaxTime": Status.TIME_LIMIT,
}


@dataclass(frozen=True)
class Minimum:
    """What the library found.

    x: minimiser; multipliers: of the cone rows. If INFEASIBLE, `certificate` proves it: "primal"
    multipliers y in the dual cone with G'y = 0, h'y < 0 (no point is feasible), or a "dual"
    direction x with P x = 0, -G x in the cone, c'x < 0 (unbounded below); `proves` names which.
    """

    x: Floats
    multipliers: Floats
    status: Status
    iterations: int
    objective: float
    certificate: Floats | None = None
    proves: str = ""


def minimise(program: ConicProgram, tol: float, limits: Limits) -> Minimum:
    """Minimise to the absolute and relative gap and feasibility `tol`, in the time left."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1  # the same bits on every machine
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    settings.time_limit = max(limits.left(), 1e-3)
    cones = [_CONES[kind](rows) for kind, rows in program.cones if rows]
    found = clarabel.DefaultSolver(
        sp.csc_matrix(sp.triu(program.P)),
        program.c,
        sp.csc_matrix(program.G),
        program.h,
        cones,
        settings,
    ).solve()
    word = str(found.status)
    x, y = np.array(found.x), np.array(found.z)
    certificate, proves = None, ""
    if word == "PrimalInfeasible":
        certificate, proves = y, "primal"
    elif word == "DualInfeasible":
        certificate, proves = x, "dual"
    status = _STATUS.get(word, Status.STALLED)
    return Minimum(x, y, status, int(found.iterations), float(found.obj_val), certificate, proves)


def box_rows(lower: Floats, upper: Floats) -> tuple[sp.csc_array, Floats]:
    """(G, h) with h - G x >= 0 exactly for lower <= x <= upper; infinite bounds have no row."""
    eye = sp.eye_array(lower.size, format="csr")
    below, above = np.isfinite(lower), np.isfinite(upper)
    G = sp.vstack([-eye[below], eye[above]])
    return sp.csc_array(G), np.concatenate([-lower[below], upper[above]])
