"""The friction problem of a step, island by island (G14).

With ``solver="auto"`` and a smooth cone: Gauss-Seidel on body velocities; islands that it will
not solve go to semismooth Newton with W formed, and what is left to the whole chain of
``ds.solve``. Any other solver gets each island as a FrictionProblem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels import status as code
from drystone.kernels.island_sweeps import solve_islands
from drystone.problems.cones import CircularCone, Cone, PolyhedralCone, SoftFingerCone
from drystone.problems.friction import LAWS, FrictionProblem, Law
from drystone.solvers.base import Solver
from drystone.solvers.newton import Newton
from drystone.solvers.solve import solve
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Floats, Ints, Solution, Status

SWEEPS = 200  # before an island is given to Newton, if they promise to arrive


@dataclass(slots=True)
class Solved:
    """What the solve of a step gives.

    r, u, q (nc, d): impulses, velocities with their bias, free velocities; mu (nc,);
    v (nb, dof): body velocities; status: of the worst island, `failed` its number or -1;
    residual (ni, 2).
    """

    r: Floats
    u: Floats
    v: Floats
    q: Floats
    mu: Floats
    status: Status
    residual: Floats
    iterations: int
    methods: tuple[str, ...]
    failed: int = -1


def solve_rows(
    rows: Rows, mu: Floats, bias: Floats, v_free: Floats, r: Floats, options: TimeStepping
) -> Solved:
    """Impulses of all islands, from the guess r (nc, d); v_free (nb, dof)."""
    law: Law = options.formulation
    v, u = v_free.copy(), np.empty_like(r)
    q = rows.velocities(v_free, bias)
    rows.push(r, v)
    residual = np.zeros((rows.islands, 2))
    ended = np.zeros(rows.islands, np.int64)
    sweeps = np.zeros(rows.islands, np.int64)
    todo: Ints = np.arange(rows.islands)
    methods: list[str] = []
    if options.direct:
        solve_islands(
            rows.key, rows.start, rows.body, rows.J, rows.P, rows.D, bias, mu, rows.unit,
            LAWS[law], options.tol, SWEEPS, q, v, r, np.zeros(rows.nc), u, ended, sweeps, residual,
        )  # fmt: skip
        todo = np.flatnonzero(ended != code.SOLVED)
        methods.append("nsgs")
    iterations, worst, failed = int(sweeps.sum()), Status.SOLVED, -1
    for k in todo:
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        problem = island_problem(rows, lo, hi, mu, q, options)
        answer = _solve_island(problem, r[lo:hi], options)
        residual[k] = answer.residual, answer.residual_unit
        iterations += answer.iterations
        methods += [m for m in answer.methods if m not in methods]
        r[lo:hi] = answer.value.reshape(hi - lo, rows.d)
        if not answer.ok:
            worst, failed = answer.status, int(k)
    if todo.size:  # velocities once more from the impulses: no sweep's rounding is left in them
        v = v_free.copy()
        rows.push(r, v)
    u = rows.velocities(v, bias)
    return Solved(r, u, v, q, mu, worst, residual, iterations, tuple(methods), failed)


def _solve_island(problem: FrictionProblem, guess: Floats, options: TimeStepping) -> Solution:
    start = guess.reshape(-1)
    if options.direct:
        first = Newton(tol=options.tol, homotopy=0, time_limit=20.0).solve(problem, start)
        if first.ok:
            return first
    method: Solver = options.method
    return solve(problem, method, guess=start if options.warm_start else None)


def island_problem(
    rows: Rows, lo: int, hi: int, mu: Floats, q: Floats, options: TimeStepping
) -> FrictionProblem:
    """The island's contacts lo:hi in local form. Its cones are circular: rows are stretched."""
    cone: Cone = CircularCone()
    if isinstance(options.shape, SoftFingerCone):
        cone = SoftFingerCone(1.0)
    elif isinstance(options.shape, PolyhedralCone):
        cone = PolyhedralCone(2) if rows.d == 2 else options.shape
    return FrictionProblem(
        rows.W(lo, hi),
        q[lo:hi].reshape(-1),
        mu[lo:hi],
        dim=min(rows.d, 3),
        law=options.formulation,
        cone=cone,
    )
