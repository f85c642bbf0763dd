"""The friction problem of a step, island by island (Anitescu et al. 1998, 2.4).

With ``solver="auto"`` and a smooth cone, in this order until an island is solved:
1. accelerated Gauss-Seidel on body velocities, left early where it promises no end;
2. small islands: semismooth Newton with W formed, many sweeps, the whole chain of ``ds.solve``;
3. large islands: Newton where it pays. A wall needs it once and then stands on the warm start; a
   pile that moves would need it at every step, for an accuracy beyond that of the step itself. So
   it is tried on islands slower than what gravity gives in a step, with all that it can do on
   those of up to `medium` contacts that stood before the step, and after each solve that the
   next step does not thank for, the next one waits four times as long;
4. large islands that move or wait: sweeps until ``sweep_tol``, Newton where they stall before.
Without ``warm_start`` no step may rely on the next: Newton is tried on every large island.
Nothing here looks at the clock, so that a run repeats to the bit on any machine. Any other solver
gets each island as a FrictionProblem.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels import status as code
from drystone.kernels.island_sweeps import solve_islands
from drystone.problems.cones import CircularCone, Cone, PolyhedralCone, SoftFingerCone
from drystone.problems.delassus import BlockMatrix
from drystone.problems.friction import LAWS, FrictionProblem
from drystone.solvers._jammed import at_rest, nearly_jams
from drystone.solvers.base import Limits, Start
from drystone.solvers.newton import PLAIN, Newton, plain_newton
from drystone.solvers.registry import by_name
from drystone.solvers.solve import solve
from drystone.steppers.snapshot import Snapshot
from drystone.steppers.time_stepping.options import NEVER, TimeStepping
from drystone.steppers.time_stepping.policy import IslandPolicy
from drystone.steppers.time_stepping.stalling import Stall, stall
from drystone.types import Bools, Floats, Ints, Solution, Status

NONE_REFUSED = 1 << 40  # contacts: no island is so large


@dataclass(slots=True)
class Solved:
    """What the solve of a step gives.

    r, u, q (nc, d): impulses, velocities with their bias, free velocities; mu (nc,);
    v (nb, dof): body velocities; status: of the worst island, `failed` its number or -1;
    residual (ni, 2); stalls: of islands that jam, by their numbers.
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
    stalls: dict[int, Stall] = field(default_factory=dict)

    def take(self, k: int, lo: int, hi: int, answer: Solution) -> None:
        """Adopt the answer of island k."""
        self.r[lo:hi] = answer.value.reshape(hi - lo, -1)
        self.residual[k] = answer.residual, answer.residual_unit

    def refresh(self, rows: Rows, v_free: Floats) -> None:
        """Body velocities once more from the impulses."""
        self.v = v_free.copy()
        rows.push(self.r, self.v)


class IslandSolver:
    """Solves steps; remembers which islands were too large for Newton, so as not to ask again.

    refused: contacts of the smallest island without room for its factors; grows slowly with the
    steps. penalty, wait: steps between Newton's tries on large islands, and until the next;
    tried: in the last step. jams: whether this step did, so that its further solves ask that first.
    """

    def __init__(self, options: TimeStepping) -> None:
        self.options, self.policy = options, options.policy
        self.loose = max(options.tol, options.sweep_tol)
        self.spares = options.warm_start and self.loose > options.tol
        self.refused = NONE_REFUSED
        self.penalty, self.wait, self.tried = 1, 0, False
        self.rest, self.jams = 0.0, False

    def snapshot(self) -> Snapshot:
        return {
            "refused": self.refused, "penalty": self.penalty, "wait": self.wait,
            "tried": self.tried,
        }  # fmt: skip

    def restore(self, known: Snapshot) -> None:
        self.refused, self.penalty = int(known["refused"]), int(known["penalty"])
        self.wait, self.tried = int(known["wait"]), bool(known["tried"])

    def solve(
        self, rows: Rows, mu: Floats, bias: Floats, v_free: Floats, r: Floats, rest: float = 0.0
    ) -> Solved:
        """Impulses of all islands, from the guess r (nc, d); v_free (nb, dof).

        rest: speed that gravity gives in a step [m/s].
        """
        self.rest = rest
        v, q = v_free.copy(), rows.velocities(v_free, bias)
        rows.push(r, v)
        every = Status.SOLVED
        out = Solved(r, q, v, q, mu, every, np.zeros((rows.islands, 2)), 0, ())
        if self.options.solver == "auto" and self.options.smooth(rows.frame.shape[2]):
            self._direct(rows, bias, v_free, out)
        else:
            self._generic(rows, v_free, out)
        out.u = rows.velocities(out.v, bias) + rows.soft * out.r
        return out

    def _direct(self, rows: Rows, bias: Floats, v_free: Floats, out: Solved) -> None:
        tol, size = self.options.tol, np.diff(rows.start)
        closer = np.where(size <= self.policy.small, self.policy.closer * tol, tol)
        most = self.policy.first_sweeps + self.policy.first_visits // np.maximum(size, 1)
        if rows.blocks is not None:  # what joints must tell each other takes sweeps too many
            most[np.logical_or.reduceat(rows.joint >= 0, rows.start[:-1])] = (
                self.policy.jointed_sweeps
            )
        todo = self._sweep(rows, bias, out, np.arange(rows.islands), closer, most, True)
        if not np.isfinite(out.r.sum()):  # nothing to go on from: the step's state says where
            out.status = Status.SINGULAR
            return
        out.methods = ("nsgs",)
        small, large = todo[size[todo] <= self.policy.small], todo[size[todo] > self.policy.small]
        for k in small:
            self._newton(rows, int(k), out, self.policy.newton_steps)
        large = self._where_it_pays(rows, out, large, v_free)
        if out.stalls:
            small, large = (part[~np.isin(part, list(out.stalls))] for part in (small, large))
        if todo.size:
            out.refresh(rows, v_free)
        many = np.full(rows.islands, self.policy.sweeps)
        rest = small[out.residual[small].max(axis=1) > tol]
        rest = self._sweep(rows, bias, out, rest, closer, many, False) if rest.size else rest
        for k in rest[out.residual[rest].max(axis=1) > tol]:
            self._island(rows, int(k), out)
            out.refresh(rows, v_free)
        limit = np.full(rows.islands, tol)
        limit[large] = self.loose
        if large.size:
            left = self._sweep(rows, bias, out, large, limit, many, False)
            for k in left[size[left] <= self.policy.medium]:
                self._newton(rows, int(k), out, self.policy.newton_steps)
            if left.size:
                out.refresh(rows, v_free)
        bad = np.flatnonzero(~(out.residual.max(axis=1) <= limit))
        if bad.size:
            out.status, out.failed = Status.MAX_ITERATIONS, int(bad[0])
        self._name_jams(out)

    def _sweep(
        self,
        rows: Rows,
        bias: Floats,
        out: Solved,
        chosen: Ints,
        tol: Floats,
        most: Ints,
        leave: bool,
    ) -> Ints:
        """Sweeps on the chosen islands; returns those that are not within tol (ni,)."""
        ended, sweeps = np.zeros(rows.islands, np.int64), np.zeros(rows.islands, np.int64)
        solve_islands(
            rows.key, chosen, rows.start, rows.body, rows.J, rows.P, rows.D, rows.soft, bias,
            out.mu, rows.unit, LAWS[self.options.formulation], tol, most, leave, out.q, out.v,
            out.r, np.zeros(rows.nc), np.empty_like(out.r), ended, sweeps, out.residual,
        )  # fmt: skip
        out.iterations += int(sweeps.sum())
        return chosen[ended[chosen] != code.SOLVED]

    def _where_it_pays(self, rows: Rows, out: Solved, large: Ints, v_free: Floats) -> Ints:
        """Newton on large islands, if it is time; returns those it did not solve."""
        self.refused = min(self.refused + self.refused // 128, NONE_REFUSED)
        slow = large
        if self.spares:
            slow = large[[self._at_rest(rows, int(k), out.v) for k in large]]
        if self.tried and not slow.size:  # the last solve still holds: it paid
            self.penalty, self.wait = 1, 0
        self.tried = False
        if self.wait > 0 and self.spares:
            self.wait -= 1
            slow = slow[[_jointed(rows, int(k)) for k in slow]]
        if not slow.size:
            return large
        if self.wait == 0:
            self.tried, self.penalty = True, min(4 * self.penalty, self.policy.newton_interval)
            self.wait = self.penalty
        for k in slow:
            lo, size = int(rows.start[k]), int(rows.start[k + 1] - rows.start[k])
            policy, body = self.policy, rows.body[lo : lo + size]
            moving = not stands(body, rows.moves, v_free, self.rest, policy)
            steps = policy.large_newton_steps if moving else policy.newton_steps
            if size < self.refused and not self._newton(rows, int(k), out, steps, moving):
                self.refused = size
        left = large[out.residual[large].max(axis=1) > self.options.tol]
        if self.tried and np.isin(slow, left).any():  # it did not even arrive
            self.penalty = self.wait = min(4 * self.penalty, self.policy.newton_interval)
        return left

    def _at_rest(self, rows: Rows, k: int, v: Floats) -> bool:
        """Whether nothing in island k is faster than `rest`; joints are exact in any motion."""
        bodies = rows.body[rows.start[k] : rows.start[k + 1]].reshape(-1)
        bodies = bodies[rows.moves[bodies]]
        speed = float(np.abs(v[bodies, : rows.frame.shape[2]]).max())
        return speed <= self.rest or _jointed(rows, k)

    def _newton(self, rows: Rows, k: int, out: Solved, steps: int, large: bool = False) -> bool:
        """Newton on island k, its answer adopted if it is better; False if it lacked room.

        large: a few steps at a time, for as long as each few pay; all that it takes where no later
        step carries on (without ``warm_start``).
        """
        if self.jams and self._stalls(rows, k, out):
            return True
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        r = out.r[lo:hi].copy()
        law, tol = LAWS[self.options.formulation], self.policy.closer * self.options.tol
        given = (rows.W(lo, hi), out.q[lo:hi], out.mu[lo:hi], rows.unit[lo:hi], law)
        jointed = _jointed(rows, k)
        # a few steps more and the next step can rest on this one: with joints as the compiled loop
        # does it, while steps halve the residual; contacts alone, as under a mass of 10^4, take all
        goal = (
            (tol, self.policy.polish * tol, self.policy.polish_steps) if jointed else (tol, tol, 0)
        )
        large = large and not jointed and self.options.warm_start
        first = self.policy.newton_batch if large else PLAIN
        ended, count, both = plain_newton(*given, *goal, first, self.policy.newton_room, r)
        if ended is Status.SINGULAR and count == 0:
            return False
        before = np.inf
        while (
            large
            and ended is not Status.SOLVED
            and count < steps
            and max(both) < self.policy.newton_gain * before
        ):
            before = max(both)
            ended, more, both = plain_newton(
                *given, *goal, self.policy.newton_batch, self.policy.newton_room, r
            )
            count += more
        out.iterations += count
        if "newton" not in out.methods:
            out.methods += ("newton",)
        if max(both) < out.residual[k].max():
            out.r[lo:hi], out.residual[k] = r, both
        if ended is not Status.SOLVED and not large and not self._stalls(rows, k, out):
            self._regularised(rows, k, out, steps)
        if not jointed and k not in out.stalls and out.residual[k].max() <= tol:
            r, fine = out.r[lo:hi].copy(), self.policy.polish * tol
            _, more, both = plain_newton(
                *given, fine, fine, 0, self.policy.polish_steps, self.policy.newton_room, r
            )
            out.iterations += more
            if max(both) < out.residual[k].max():
                out.r[lo:hi], out.residual[k] = r, both
        if not jointed and self.options.formulation == "convex":
            self._jammed(rows, k, out, given[0])
        return True

    def _jammed(self, rows: Rows, k: int, out: Solved, W: BlockMatrix) -> None:
        """Bring island k of the convex law to rest where impulses that are large beside its
        velocities hide that it moves.

        The residual does not see their error (``solvers._jammed``).
        """
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        r, q, unit = out.r[lo:hi], out.q[lo:hi], rows.unit[lo:hi]
        if not nearly_jams(r, W.product(r, q), q, unit):
            return
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        value = np.ascontiguousarray(r).reshape(-1)
        held = at_rest(problem, value, Limits(self.options.tol, NEVER))
        if held is not None:
            out.r[lo:hi] = held.reshape(hi - lo, -1)
            out.residual[k] = problem.residuals(held)

    def _stalls(self, rows: Rows, k: int, out: Solved, locks: bool = False) -> bool:
        """Whether island k jams; then its motors stall. locks: by friction (``stalling``)."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        drives = driving(rows, lo, hi, out.v)
        if not drives.size:
            return False

        def attempt(W: BlockMatrix, q: Floats, mu: Floats, r: Floats, part: float) -> Floats | None:
            return self._attempt(rows, k, out, W, q, mu, r, part * self.options.tol)

        given = out.q[lo:hi], out.mu[lo:hi], rows.unit[lo:hi], drives, rows.joint[lo:hi] < 0
        found = stall(rows.W(lo, hi), *given, locks, attempt)
        if found is None:
            return False
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        out.r[lo:hi], out.residual[k] = found.r, problem.residuals(found.r.reshape(-1))
        if found.short.any():
            self.jams, out.stalls[k] = True, found
            out.methods += ("stall",) if "stall" not in out.methods else ()
        return True

    def _attempt(
        self,
        rows: Rows,
        k: int,
        out: Solved,
        W: BlockMatrix,
        q: Floats,
        mu: Floats,
        r: Floats,
        tol: float,
    ) -> Floats | None:
        """Impulses of island k with another W, q and mu, from r; None if they are not found."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        unit, r = rows.unit[lo:hi], r.copy()
        # a jam is a property of the problem: whatever solver was asked for, the fastest finds it
        smooth = self.options.smooth(rows.frame.shape[2])
        if smooth:
            law = LAWS[self.options.formulation]
            given = (W, q, mu, unit, law, tol, tol, 0)
            _, count, both = plain_newton(*given, PLAIN, self.policy.newton_room, r)
            out.iterations += count
            if max(both) <= tol:
                return r
        every, mus = np.zeros_like(out.q), out.mu.copy()
        every[lo:hi], mus[lo:hi] = q, mu
        problem = island_problem(rows, lo, hi, mus, every, self.options, W)
        start = Start(np.ascontiguousarray(r).reshape(-1))
        if smooth and self.options.formulation == "convex":  # has solvers that are sure to arrive
            solution = solve(problem, "auto", guess=start.value, tol=tol, time_limit=NEVER)
            value, count = solution.value, solution.iterations
        else:  # `solve` would go on to what lies below rounding: the residual is enough here
            policy, method = self.policy, by_name("lemke")
            if smooth:
                room, most = policy.newton_room, policy.newton_steps
                method = Newton(homotopy=0, sweeps=0, max_steps=most, room=room)
            answer = method.run(problem, start, Limits(tol, NEVER))
            value, count = answer.value, answer.iterations
        out.iterations += count
        return value.reshape(hi - lo, -1) if max(problem.residuals(value)) <= tol else None

    def _name_jams(self, out: Solved) -> None:
        """The status of a step in which motors stall, if all else is solved."""
        if out.stalls and (out.failed < 0 or out.failed in out.stalls):
            out.status, out.failed = Status.JAMMED, min(out.stalls)

    def _regularised(self, rows: Rows, k: int, out: Solved, steps: int) -> None:
        """All that Newton's method can do on island k."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        newton = Newton(
            tol=self.policy.closer * self.options.tol,
            homotopy=0,
            sweeps=0,
            max_steps=steps,
            room=self.policy.newton_room,
            time_limit=1e9,
        )
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        start = Start(np.ascontiguousarray(out.r[lo:hi]).reshape(-1))
        answer = newton.run(problem, start, Limits(newton.tol, NEVER))
        out.iterations += answer.iterations
        residuals = problem.residuals(answer.value)
        if max(residuals) < out.residual[k].max():
            out.r[lo:hi], out.residual[k] = answer.value.reshape(hi - lo, -1), residuals

    def _island(self, rows: Rows, k: int, out: Solved) -> None:
        """The whole chain of methods on one small island, unless friction locks what is driven."""
        if self._stalls(rows, k, out, locks=True):
            return
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        answer = solve(problem, self.options.method, guess=out.r[lo:hi].reshape(-1))
        out.iterations += answer.iterations
        if max(answer.residual, answer.residual_unit) < out.residual[k].max():
            out.take(k, lo, hi, answer)
        out.methods += tuple(m for m in answer.methods if m not in out.methods)

    def _generic(self, rows: Rows, v_free: Floats, out: Solved) -> None:
        """Any solver of the library, one island at a time."""
        method = self.options.method
        for k in range(rows.islands):
            if self.jams and self._stalls(rows, k, out):
                continue
            lo, hi = int(rows.start[k]), int(rows.start[k + 1])
            problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
            guess = out.r[lo:hi].reshape(-1) if self.options.warm_start else None
            answer = solve(problem, method, guess=guess)
            out.take(k, lo, hi, answer)
            out.iterations += answer.iterations
            out.methods += tuple(m for m in answer.methods if m not in out.methods)
            if not answer.ok and not any(
                self._stalls(rows, k, out, locks) for locks in (False, True)
            ):
                out.status, out.failed = answer.status, k
        out.refresh(rows, v_free)
        self._name_jams(out)


def stands(body: Ints, moves: Bools, v_free: Floats, rest: float, policy: IslandPolicy) -> bool:
    """Whether a large island stands: an arch or a house of cards is solved once, whatever it takes,
    and then stands on the warm start; a heap that settles is not.

    body (nc, 2): of its contacts; rest: what gravity gives in a step, and all that moves what
    stands before contacts push [m/s].
    """
    own = body[moves[body] > 0]
    fast = np.linalg.norm(v_free[own, : 2 if v_free.shape[1] == 3 else 3], axis=1).max(initial=0.0)
    return bool(len(body) <= policy.medium and fast <= policy.standing_speed * rest)


def _jointed(rows: Rows, k: int) -> bool:
    return bool((rows.joint[rows.start[k] : rows.start[k + 1]] >= 0).any())


def driving(rows: Rows, lo: int, hi: int, v: Floats) -> Ints:
    """Blocks of lo:hi, counted from lo, whose first row has a velocity that is prescribed: motors
    of unlimited force, and contacts of bodies that move as they are told to; v (nb, dof)."""
    driven = ~rows.moves & v.any(axis=1)
    found = driven[rows.body[lo:hi]].any(axis=1) & (rows.joint[lo:hi] < 0)
    if rows.blocks is not None:
        found |= (rows.joint[lo:hi] >= 0) & rows.blocks.drives[rows.joint[lo:hi]]
    return np.flatnonzero(found)


def island_problem(
    rows: Rows,
    lo: int,
    hi: int,
    mu: Floats,
    q: Floats,
    options: TimeStepping,
    W: BlockMatrix | None = None,
) -> FrictionProblem:
    """The island's contacts lo:hi in local form. Its cones are circular: rows are stretched.
    W: another than that of the rows."""
    cone: Cone = CircularCone()
    if isinstance(options.shape, SoftFingerCone):
        cone = SoftFingerCone(1.0)
    elif isinstance(options.shape, PolyhedralCone):
        cone = PolyhedralCone(2) if rows.d == 2 else options.shape
    law = mu[lo:hi] >= 0.0  # joints' rows C = 0 have none, and come last
    return FrictionProblem(
        rows.W(lo, hi) if W is None else W,
        q[lo:hi].reshape(-1),
        mu[lo:hi][law],
        bilateral=rows.d * int((~law).sum()),
        dim=min(rows.d, 3),
        law=options.formulation,
        cone=cone,
    )
