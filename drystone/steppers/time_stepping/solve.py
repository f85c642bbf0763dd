"""The friction problem of a step, island by island (Anitescu et al. 1998, 2.4): what is done for it
in Python.

With ``solver="auto"`` and a smooth cone the island policy decides what is tried
(``kernels.step.policy``). Stages ask here for Newton's method and for all that ``ds.solve`` knows;
solves of rows alone, of collisions and where joints are closed in Python, run the same stages on a
record of their own. Any other solver gets each island as a FrictionProblem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from drystone.constraints.rows import Rows
from drystone.kernels import layout
from drystone.kernels.contact.energy_gap import gap_of_blocks
from drystone.kernels.contact.sweeps import solve_block_islands
from drystone.kernels.packed import Packed
from drystone.kernels.status import SOLVED
from drystone.kernels.step import codes
from drystone.kernels.step import policy as stages
from drystone.problems.cones import CircularCone, Cone, PolyhedralCone, SoftFingerCone
from drystone.problems.delassus import BlockMatrix
from drystone.problems.friction import LAWS, FrictionProblem
from drystone.solvers import multipliers
from drystone.solvers._jammed import LARGE_IMPULSE, at_rest, creeps
from drystone.solvers.base import Limits, Start
from drystone.solvers.multipliers import MULTIPLIERS
from drystone.solvers.newton import PLAIN, Newton, plain_newton
from drystone.solvers.registry import by_name
from drystone.solvers.solve import solve
from drystone.steppers.time_stepping.options import NO_TIME_LIMIT, TimeStepping
from drystone.steppers.time_stepping.stalling import EXACTLY, Attempt, Stall, give_way, stall
from drystone.types import Floats, Ints, Solution, Status

COUNTERS = (
    "newton_wait", "newton_interval", "newton_tried", "newton_refused", "tight_steps",
    "restless_steps", "solves", "tight", "careful",
)  # of the policy, which a solve of rows alone shares with its step  # fmt: skip
POLISHES = 4  # rounds of Newton's method towards a small energy gap
RowsOf = Callable[[int], Rows]  # the step's rows, with J and P of an island


@dataclass(slots=True)
class Solved:
    """What the solve of a step gives.

    r, u, q (nc, d): impulses, velocities with their bias, free velocities; mu (nc,);
    v (nb, dof): body velocities; status: of the worst island, `failed` its number or -1;
    residual (ni, 2); gap (ni,): the energy gap, where it is judged; stalls: of islands that jam, by
    their numbers.
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
    gap: Floats
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
    """Solves islands with what lies outside of compiled stages.

    jams: whether this step did, so that its further solves ask that first.
    """

    def __init__(self, options: TimeStepping) -> None:
        self.options, self.policy = options, options.policy
        self.jams = False
        self._work: Packed | None = None

    def solve(
        self, rows: Rows, mu: Floats, bias: Floats, v_free: Floats, r: Floats, step: Any = None
    ) -> Solved:
        """Impulses of all islands, from the guess r (nc, d); v_free (nb, dof).

        step: the record of the step that asks, with the counters of the policy, and how fast
        gravity makes bodies in it; None: nothing of it counts.
        """
        v, q = v_free.copy(), rows.velocities(v_free, bias)
        rows.push(r, v)
        every = Status.SOLVED
        out = Solved(
            r, q, v, q, mu, every, np.zeros((rows.islands, 2)), 0, (), np.zeros(rows.islands)
        )
        s = self._record(rows, bias, v_free, out, step)
        if self.options.solver == "auto" and self.options.smooth(rows.frame.shape[2]):
            self._direct(rows, v_free, out, s, step)
        else:
            self.ask(rows, v_free, out)
        s.put(v=out.v)
        if step is not None and stages.restrain(s, None) == codes.THROWS:
            self.restrain(s, out, lambda k: rows)
            out.refresh(rows, v_free)
            self._name_jams(out)
        out.u = rows.velocities(out.v, bias) + rows.soft * out.r
        return out

    def _direct(self, rows: Rows, v_free: Floats, out: Solved, s: Packed, step: Any) -> None:
        """The stages of a solve, as a step runs them."""
        s.rest_speed = 0.0
        if step is not None:
            s.put(rest_speed=step.rest_speed, **{name: getattr(step, name) for name in COUNTERS})
        stages.share(s)
        self._sweep(rows, s)
        if not np.isfinite(out.r.sum()):  # nothing to go on from: the step's state says where
            out.status = Status.SINGULAR
            return
        out.methods = ("nsgs",)
        if stages.plan(s, None) == codes.NEWTON:
            self.newton(s, out, lambda k: rows)
            out.refresh(rows, v_free)
        stages.choose_rest(s, None)
        self._sweep(rows, s)
        if stages.judge_rest(s, None) == codes.UNSOLVED:
            self.stuck(s, out, lambda k: rows)
            out.refresh(rows, v_free)
        out.iterations += int(s.iterations)
        if s.failed >= 0:
            close = stages.inaccurate(s, s.failed)
            out.status = Status.INACCURATE if close else Status.MAX_ITERATIONS
            out.failed = int(s.failed)
        self._name_jams(out)
        if step is not None:
            step.put(**{name: getattr(s, name) for name in COUNTERS})

    def _record(self, rows: Rows, bias: Floats, v_free: Floats, out: Solved, step: Any) -> Packed:
        """The rows as the stages of a solve read them."""
        n, nb, s = rows.nc, rows.moves.size, self._work
        if s is None or len(s.lam) < n or len(s.seen) != nb:
            sizes: layout.Sizes = {
                "n": n + n // 4, "n+1": n + n // 4 + 1, "nb": nb, "d": rows.d, "dim": 1,
                "dof": v_free.shape[1],
            }  # fmt: skip
            s = self._work = Packed(
                **layout.make(layout.SOLVE, sizes), policy=Packed(**asdict(self.policy))
            )
            options = self.options
            loose = float(max(options.tol, options.sweep_tol))
            s.put(tol=float(options.tol), sweep_tol=loose, warm_start=int(options.warm_start))
            s.put(law=LAWS[options.formulation])
        s.put(
            rows=n, islands=rows.islands, iterations=0, solves=0, newton_wait=0, newton_interval=1,
            newton_tried=0, newton_refused=stages.NO_LIMIT, tight_steps=0, restless_steps=0,
            v_free=v_free, v=out.v, moves=rows.moves, J=rows.J, P=rows.P, D=rows.D, body=rows.body,
            bias=bias, mu=out.mu, q=out.q, r=out.r, start=rows.start, residual=out.residual,
            energy_gap=out.gap,
        )  # fmt: skip
        if step is not None:
            s.put(h=step.h, size=step.size)
        s.jointed[: rows.islands] = False
        if rows.blocks is not None:
            held = np.logical_or.reduceat(rows.joint >= 0, rows.start[:-1])
            s.jointed[: rows.islands] = held
        return s

    def _sweep(self, rows: Rows, s: Packed) -> None:
        """Sweeps over the chosen islands."""
        if s.n_chosen:
            stages.reset_sweeps(s)
            solve_block_islands(rows.key, s, rows.soft, rows.unit, None)
            stages.count_sweeps(s)

    def rest(self, s: Packed, out: Solved, rows_of: RowsOf) -> None:
        """Islands that may rest: the answer of the convex law, if Coulomb's is met by it. Its
        velocities are unique, so they are rest wherever rest is a solution."""
        law, close = LAWS[self.options.formulation], self.policy.closer * self.options.tol
        for k in np.flatnonzero(s.plan[: s.islands] == codes.REST_FIRST).tolist():
            rows = rows_of(k)
            lo, hi = int(rows.start[k]), int(rows.start[k + 1])
            if rows.soft[lo:hi].any():
                continue
            given = multipliers.Contacts(
                rows.J[lo:hi], rows.body[lo:hi], s.bias[lo:hi], out.q[lo:hi], out.mu[lo:hi],
                rows.unit[lo:hi],
            )  # fmt: skip
            bodies = multipliers.Bodies(s.inverse_mass, s.inverse, s.v_free)
            room, tol = self.policy.rest_room, min(close, float(s.island_tol[k]))
            answer = multipliers.solve(given, bodies, law, tol, out.r[lo:hi], room)
            if answer is None:
                continue
            out.iterations += answer.steps
            out.methods += (MULTIPLIERS,) if MULTIPLIERS not in out.methods else ()
            judged = answer.r, answer.u, given.q, given.mu, given.unit
            gap = gap_of_blocks(*judged, law, None)
            if max(answer.residual) > s.tol or gap > s.tol:
                continue
            out.r[lo:hi], out.residual[k], s.island_tol[k] = answer.r, answer.residual, s.tol
            s.ended[k], out.gap[k] = SOLVED, gap

    def newton(self, s: Packed, out: Solved, rows_of: RowsOf) -> None:
        """Newton on the islands that are planned for it; large ones are refused for lack of room,
        and wait longer where it did not arrive."""
        tol, missed, policy = self.options.tol, False, self.policy
        smooth = self.options.smooth(2 if s.v.shape[1] == 3 else 3)
        for k in np.flatnonzero(s.plan[: s.islands] == codes.SMALL_NEWTON).tolist():
            if not smooth:
                self._island(rows_of(k), k, out)
                continue
            self._newton(rows_of(k), k, out, policy.newton_steps)
            if not (s.tight or s.jointed[k]):
                s.tight_steps = 2
        for k in np.flatnonzero(s.plan[: s.islands] == codes.LARGE_NEWTON).tolist():
            size = int(s.start[k + 1] - s.start[k])
            if not smooth:  # pivoting is for small ones: more sweeps
                continue
            steps = policy.large_newton_steps
            if size < s.newton_refused and not self._newton(rows_of(k), k, out, steps, True):
                s.newton_refused = size
            missed |= bool(s.residual[k].max() > tol)
        tries = s.newton_tried == s.solves
        if tries and missed:
            longer = min(4 * s.newton_interval, policy.newton_interval)
            s.newton_interval = s.newton_wait = longer
        elif tries and not s.tight:
            # as for small islands: impulses that stopped what moved are no warm start for what
            # rests, so the next step asks again before anybody waits
            s.tight_steps, s.newton_wait = 2, 0
            s.newton_interval = max(1, s.newton_interval // 4)
        self._leave_jams(s, out)

    def stuck(self, s: Packed, out: Solved, rows_of: RowsOf) -> None:
        """Islands that sweeps did not solve either: the whole chain of methods, if small."""
        smooth = self.options.smooth(2 if s.v.shape[1] == 3 else 3)
        for k in np.flatnonzero(s.plan[: s.islands] != codes.DONE).tolist():
            size = int(s.start[k + 1] - s.start[k])
            if size <= self.policy.small or (size <= self.policy.medium and not smooth):
                self._island(rows_of(k), k, out)
            elif size <= self.policy.medium:
                rows = rows_of(k)
                self._newton(rows, k, out, PLAIN)
                if k not in out.stalls and out.gap[k] > stages.LARGE_GAP:
                    self._stalls(rows, k, out, locks=True)
        self._leave_jams(s, out)
        stages.conclude(s)

    def restrain(self, s: Packed, out: Solved, rows_of: RowsOf) -> None:
        """Islands whose bodies a prescribed motion would throw: it gives way."""
        for k in range(s.islands):
            rows = rows_of(k)
            v = s.v_free.copy()
            rows.push(out.r, v)
            if stages.throws(s, v, k):
                self._hold_back(rows, k, out, s)
        stages.conclude(s)

    def _hold_back(self, rows: Rows, k: int, out: Solved, s: Packed) -> None:
        """Island k, pushed as hard as throws nothing."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])

        def holds(r: Floats) -> bool:
            every, v = np.zeros_like(out.r), s.v_free.copy()
            every[lo:hi] = r
            rows.push(every, v)
            return not stages.throws(s, v, k)

        drives = driving(rows, lo, hi, s.v_free)
        given = out.q[lo:hi], out.mu[lo:hi], rows.unit[lo:hi], drives
        found = give_way(rows.W(lo, hi), *given, holds, self._attempt_on(rows, k, out))
        if found is not None:
            self._adopt_stall(rows, k, out, found)

    def _leave_jams(self, s: Packed, out: Solved) -> None:
        """Leave islands that jam: their residual says so, and nothing else would help."""
        for k in out.stalls:
            s.plan[k] = codes.DONE

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
        blind = out.gap[k] > self.options.tol
        if max(both) < out.residual[k].max() or (blind and max(both) <= tol):
            out.r[lo:hi], out.residual[k] = r, both
        self._judge_gap(rows, k, out, given[0])
        blind = out.gap[k] > self.options.tol and max(both) <= tol
        if blind and not large:  # a jam may hide in vast impulses
            self._stalls(rows, k, out)
        elif ended is not Status.SOLVED and not large and not self._stalls(rows, k, out):
            self._regularised(rows, k, out, steps)
            self._judge_gap(rows, k, out, given[0])
        rounds = 0
        while k not in out.stalls and out.residual[k].max() <= tol and rounds < POLISHES:
            if jointed or (rounds > 0 and out.gap[k] <= self.options.tol):
                break
            rounds += 1
            r, fine = out.r[lo:hi].copy(), self.policy.polish * tol
            _, more, both = plain_newton(
                *given, fine, fine, 0, self.policy.polish_steps, self.policy.newton_room, r
            )
            out.iterations += more
            if not max(both) < out.residual[k].max():
                break
            out.r[lo:hi], out.residual[k] = r, both
            self._judge_gap(rows, k, out, given[0])
        if not jointed and self.options.formulation == "convex":
            self._jammed(rows, k, out, given[0])
        return True

    def _judge_gap(self, rows: Rows, k: int, out: Solved, W: BlockMatrix) -> None:
        """The energy gap of island k."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        r, q, mu, unit = out.r[lo:hi], out.q[lo:hi], out.mu[lo:hi], rows.unit[lo:hi]
        law = LAWS[self.options.formulation]
        out.gap[k] = gap_of_blocks(r, W.product(r, q), q, mu, unit, law, self._corners(rows))

    def _corners(self, rows: Rows) -> Floats | None:
        """Directions of a polyhedral cone in space."""
        shape = self.options.shape
        if rows.d != 3 or not isinstance(shape, PolyhedralCone):
            return None
        return np.ascontiguousarray(shape.directions().T)

    def _jammed(self, rows: Rows, k: int, out: Solved, W: BlockMatrix) -> None:
        """Bring island k of the convex law to rest where impulses that are large beside its
        velocities hide that it moves (``problems.backward_error``), or where it creeps under them;
        if they hide another error, its square is the gap: the velocity of the convex law is off by
        at most twice as much.
        """
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        r, q, unit = out.r[lo:hi], out.q[lo:hi], rows.unit[lo:hi]
        if not np.linalg.norm(r * unit[:, None]) > LARGE_IMPULSE * np.linalg.norm(
            q / unit[:, None]
        ):
            return
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        value = np.ascontiguousarray(r).reshape(-1)
        error = problem.backward_error(value, enough=np.sqrt(self.options.tol)) ** 2
        if error > self.options.tol:
            out.gap[k] = max(out.gap[k], error)
        elif not creeps(r, W.product(r, q), q, unit):
            return
        held = at_rest(problem, value, Limits(self.options.tol, NO_TIME_LIMIT))
        if held is not None:
            out.r[lo:hi] = held.reshape(hi - lo, -1)
            out.residual[k] = problem.residuals(held)
            self._judge_gap(rows, k, out, W)

    def _stalls(self, rows: Rows, k: int, out: Solved, locks: bool = False) -> bool:
        """Whether island k jams; then its motors stall. locks: by friction (``stalling``)."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        drives = driving(rows, lo, hi, out.v)
        if not drives.size:
            return False
        given = out.q[lo:hi], out.mu[lo:hi], rows.unit[lo:hi], drives, rows.joint[lo:hi] < 0
        found = stall(rows.W(lo, hi), *given, locks, self._attempt_on(rows, k, out))
        if found is None:
            return False
        self._adopt_stall(rows, k, out, found)
        return True

    def _adopt_stall(self, rows: Rows, k: int, out: Solved, found: Stall) -> None:
        """The step of island k in which motors, or prescribed motions, give way."""
        lo, hi = int(rows.start[k]), int(rows.start[k + 1])
        problem = island_problem(rows, lo, hi, out.mu, out.q, self.options)
        out.r[lo:hi], out.residual[k] = found.r, problem.residuals(found.r.reshape(-1))
        out.gap[k] = 0.0
        if found.short.any():
            self.jams, out.stalls[k] = True, found
            out.methods += ("stall",) if "stall" not in out.methods else ()

    def _attempt_on(self, rows: Rows, k: int, out: Solved) -> Attempt:
        """What solves variants of island k."""

        def attempt(W: BlockMatrix, q: Floats, mu: Floats, r: Floats, part: float) -> Floats | None:
            weak = part >= EXACTLY  # what weak motors drive has an answer: it is worth the effort
            return self._attempt(rows, k, out, W, q, mu, r, part * self.options.tol, weak)

        return attempt

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
        sure: bool,
    ) -> Floats | None:
        """Impulses of island k with another W, q and mu, from r; None if they are not found.
        sure: an answer is worth all that Newton's method can do."""
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
        # `solve` would go on to what lies below rounding: the residual is enough here
        policy, method = self.policy, by_name("lemke")
        if smooth:
            method = Newton(max_steps=policy.newton_steps, room=policy.newton_room)
            method = method if sure else replace(method, homotopy=0, sweeps=0)
            if self.options.formulation == "convex":  # has a method that is sure to arrive
                method = by_name("interior-point")
        answer = method.run(problem, start, Limits(tol, NO_TIME_LIMIT))
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
        answer = newton.run(problem, start, Limits(newton.tol, NO_TIME_LIMIT))
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
        if answer.ok or max(answer.residual, answer.residual_unit) < out.residual[k].max():
            out.take(k, lo, hi, answer)
            self._judge_gap(rows, k, out, rows.W(lo, hi))
        out.methods += tuple(m for m in answer.methods if m not in out.methods)

    def ask(self, rows: Rows, v_free: Floats, out: Solved) -> None:
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
