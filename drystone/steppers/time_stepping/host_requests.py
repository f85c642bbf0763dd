"""What stages ask of Python: room, pair kernels, collisions, Newton's method, sweeps on threads; of
joints the pattern of W, closing where rounds of the list do not close them, verdicts on parts of a
step, and which of them broke."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from drystone.constraints.joints.forces import broken
from drystone.constraints.joints.minimum_norm import MinimumNorm
from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.dynamics.energy import stored
from drystone.errors import SimulationError
from drystone.kernels import ledger as kernels
from drystone.kernels.active import body_reach
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR
from drystone.kernels.step import begin, blocks, codes, packed, policy
from drystone.kernels.step import joint_close as closing
from drystone.kernels.step import joint_divide as divide
from drystone.kernels.step import joint_finish as finish
from drystone.kernels.step import joint_places as places
from drystone.kernels.step import joint_spare as spare
from drystone.model import Model, State
from drystone.problems.friction import FrictionProblem
from drystone.solvers.multipliers import MULTIPLIERS
from drystone.solvers.registry import SOLVERS
from drystone.steppers.base import Stepper, StepReport
from drystone.steppers.time_stepping.buffers import Buffers
from drystone.steppers.time_stepping.closing import Closer
from drystone.steppers.time_stepping.friction import solve_friction
from drystone.steppers.time_stepping.impact import collide
from drystone.steppers.time_stepping.nonlinear_gaps import NonlinearGaps
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import Frames, read_report
from drystone.steppers.time_stepping.search import Search
from drystone.steppers.time_stepping.solve import IslandSolver, Solved, island_problem
from drystone.steppers.time_stepping.stalling import jammed_names
from drystone.steppers.time_stepping.stiffness import Part
from drystone.steppers.time_stepping.threads import Sweeper
from drystone.types import Bools, Floats, Status

METHODS = [*dict.fromkeys(("nsgs", "newton", *SOLVERS.ours)), "stall", MULTIPLIERS]  # by bits
STATUSES = tuple(Status)
# what is done for a code before the next stage, and before the stage that asked is run again
GOES_ON = {
    codes.THREADS: "_sweep", codes.COLLIDE: "_collide", codes.NEWTON: "_newton",
    codes.REST: "_rest", codes.UNSOLVED: "_stuck", codes.THROWS: "_restrain",
    codes.NOT_FINITE: "_run_away",
    codes.BEGIN_PART: "_begin_part", codes.LEAST_REACTIONS: "_least_reactions",
    codes.BORNE: "_look_at_joints", codes.TORN_JOINTS: "_tear",
}  # fmt: skip
REPEATS = {
    codes.NO_ROW_ROOM: "_grow",
    codes.NO_FRAME_ROOM: "_empty",
    codes.PATTERN: "_find_pattern",
}
MORE_SEARCHES = 4  # further searches for contacts in a step


class HostRequests(Stepper):
    """Answers the codes of stages, in the buffers; ``answer`` returns the stage to go on with.

    method_names: by their bits in reports; least: which joints are redundant.
    """

    method_names: list[str]
    buffers: Buffers
    search: Search
    sweeper: Sweeper
    gaps: NonlinearGaps | None
    _frames: Frames | None
    _jam: tuple[int, tuple[str, ...], tuple[str, ...]] | None
    _looked: tuple[Rows, Solved] | None
    _over: Bools
    _stepped: bool
    _began: tuple[State, Any]

    def __init__(self, options: TimeStepping, model: Model) -> None:
        self.method_names = list(METHODS)
        self.options = options
        self.solver = IslandSolver(options)
        self.bouncer = IslandSolver(replace(options, formulation="coulomb"))
        self.minimum_norm = MinimumNorm()
        self._closer: Closer | None = None
        # the step, and the part of it, that the last solve was asked for
        self._asked: tuple[int, int, int, int] | None = None
        super().__init__(model)

    def answer(self, code: int, stage: int) -> int:
        """Do what a stage asked for; returns the stage to go on with."""
        if code in GOES_ON:
            getattr(self, GOES_ON[code])()
            return stage + 1
        if code in REPEATS:
            getattr(self, REPEATS[code])()
            return stage
        if code >= codes.DETECTION:
            self.detector.serve(code - codes.DETECTION)
            return stage
        if code == codes.FORCES:
            self._forces(self.buffers.s)
            return 0
        j = self.buffers.j
        if code == codes.SOLVE:
            if j is None:
                self._ask()
                return stage + 1
            return int(j.load_stage) if self._solve_laws() else self._close()
        if code == codes.CLOSE_JOINTS:
            return self._close()
        if code == codes.LOOK:
            return self._look_again() or int(j.aim_stage)
        if code == codes.END_GAPS and self.gaps is not None:
            return self.gaps.next_stage(self, stage)
        if code == codes.VERDICT:
            return 0 if self._retried() else stage + 1
        raise ValueError(f"a stage answered {code}")

    def _grow(self) -> None:
        self.buffers.grow(int(self.buffers.s.needed))

    def _empty(self) -> None:
        """Room to record."""
        buffers, frames, s = self.buffers, self._frames, self.buffers.s
        if frames is not None:
            frames.take(s)
        buffers.make_room_in_log(int(s.islands))
        buffers.make_room_for_contacts(frames is not None and frames.spare is not None)

    def _find_pattern(self) -> None:
        self.buffers.find_pattern()

    def _least_reactions(self) -> None:
        self.minimum_norm(self.model, self.buffers.rows(), self._view().r)

    def _run_away(self) -> None:
        """Velocities that are no numbers, or soon would be, end the run."""
        s, j = self.buffers.s, self.buffers.j
        end = s if j is None else j
        names = ("position", "orientation", "velocity")
        parts = (getattr(end, name if j is None else f"at_{name}") for name in names)
        after = State(self.now + s.h, *parts)
        bodies.check_finite(self.model, after, s.force, float(s.h))
        raise SimulationError(f"a body ran away at t = {after.time:.6g} s")

    def _forces(self, s: Any) -> None:
        """Forces of springs and callbacks at the start of a step, or where it arrived for its
        second kick; what they store at the start."""
        state = self.buffers.state()
        state.time = self.now if s.drifts else self.now + float(s.h)
        s.force[:] = 0.0
        for item in self.model.forces:
            item.add(self.model, state, s.force)
        bodies.check_loads(self.model, state, s.force)
        if s.drifts and state.time == s.time:
            s.spring_energy = stored(self.model, state)

    @property
    def now(self) -> float:
        """When the step that is being made begins, or its part [s]."""
        s, j = self.buffers.s, self.buffers.j
        return float(s.time if j is None else s.time + j.whole * (j.done / divide.WHOLE))

    def _collide(self) -> None:
        """Collisions of this step with restitution; the kick is given anew after them."""
        buffers, s = self.buffers, self.buffers.s
        buffers.store(0, int(s.rows))
        part, j = buffers.rows(), buffers.j
        half = s.impact_share * (s.v_free - s.v0)
        h, gravity = s.h, buffers.pull
        hits = collide(part, s.v0.copy(), half, h, gravity, buffers.typical, self.bouncer)
        if not hits.collisions:
            return
        s.v0[:] = hits.v - half
        begin.kick(s, self.detector.scan)
        if j is not None:
            j.free[:] = s.v_free
        blows, offset = np.zeros(4), 0.0
        half = np.where(self.model.inverse_mass[:, None] > 0, half, 0.0)
        for rows_, r, old, new in hits.parts:
            kernels.contact_work(rows_.body, rows_.moves, rows_.J, r, old, new, blows)
            offset += float((r * rows_.velocities(half)).sum())
        # contacts may be added after a solve, and collide in turn: what was before them counts, too
        begun = s.begun
        begun.driving += blows[3]
        begun.impact += blows[:3].sum()
        begun.impact_energy += blows[:3].sum()
        begun.integration -= offset
        begun.residual = max(begun.residual, hits.residual)
        begun.failed = max(begun.failed, float(hits.status is not Status.SOLVED))
        s.collisions += hits.collisions
        s.iterations += hits.iterations

    def _sweep(self) -> None:
        """Sweeps of the chosen islands on several threads."""
        s = self.buffers.s
        self.sweeper.solve(s, s.chosen[: s.n_chosen].copy())
        policy.count_sweeps(s)

    def _newton(self) -> None:
        """Newton on the islands that are planned for it."""
        view = self._view()
        self._new_solve()
        self.solver.newton(self.buffers.s, view, self._rows_of)
        self._adopt_answers(view)

    def _rest(self) -> None:
        """Islands that are to rest where they can."""
        view = self._view()
        self.solver.rest(self.buffers.s, view, self._rows_of)
        self._adopt_answers(view)

    def _new_solve(self) -> None:
        """Nothing is known of jams; but what a part of a step with joints knows of them its other
        solves know, too."""
        s, j = self.buffers.s, self.buffers.j
        if j is None:
            self.solver.jams = False
            return
        here = int(s.origin[1] + s.cursor), int(j.done), int(j.level), int(s.drifts)
        if here != self._asked:
            self._asked, self.solver.jams = here, bool(s.only_sweeps)

    def _rows_of(self, k: int) -> Rows:
        """The step's rows, with those of island k stored."""
        s = self.buffers.s
        self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
        return self.buffers.rows()

    def _ask(self) -> None:
        """All islands by a solver of the library."""
        s, view = self.buffers.s, self._view()
        s.methods = 0
        self._new_solve()
        self.solver.ask(self.buffers.rows(), s.v_free, view)
        s.v[:], s.failed = view.v, view.failed
        s.iterations += view.iterations
        self._used(view, view.status)
        if view.stalls:
            self._note_jam(*jammed_names(self.model, self.buffers.rows(), view.stalls))

    def _stuck(self) -> None:
        """Islands that sweeps did not solve either: the whole chain of methods, if small."""
        s, view = self.buffers.s, self._view()
        if s.only_sweeps:
            self._stall(view)
            return
        self.solver.stuck(s, view, self._rows_of)
        self._adopt_answers(view)

    def _restrain(self) -> None:
        """Islands that a prescribed motion throws."""
        s, view = self.buffers.s, self._view()
        self.solver.restrain(s, view, self._rows_of)
        self._adopt_answers(view)

    def _adopt_answers(self, view: Solved) -> None:
        """Velocities from the new impulses; what it took."""
        s = self.buffers.s
        (blocks if self.buffers.stores else packed).push(s, self.detector.scan)
        s.iterations += view.iterations
        self._used(view, Status.MAX_ITERATIONS)
        if view.stalls:
            self._note_jam(*jammed_names(self.model, self.buffers.rows(), view.stalls))

    def _used(self, view: Solved, status: Status) -> None:
        """Note the methods of a solve, and how it ended if not well."""
        s, names = self.buffers.s, self.method_names
        for name in view.methods:
            if name not in names:
                names.append(name)
            s.methods |= 1 << names.index(name)
        s.status = STATUSES.index(status)

    def _stall(self, view: Solved) -> None:
        """Islands that Gauss-Seidel did not solve, if they jam."""
        s = self.buffers.s
        self.solver.jams = False
        for k in range(s.islands):
            if s.residual[k].max() <= s.tol and policy.gap_holds(s, k):
                continue
            rows = self._rows_of(int(k))
            if any(self.solver._stalls(rows, int(k), view, locks) for locks in (False, True)):
                s.plan[k] = codes.DONE
        self._adopt_answers(view)
        s.failed = -1
        policy.conclude(s)
        if s.failed >= 0 and not np.isfinite(s.residual[s.failed]).all():
            s.status = STATUSES.index(Status.SINGULAR)

    def _view(self) -> Solved:
        """The state of the solve, as it lies in the buffers."""
        s = self.buffers.s
        n, ni, failed = s.rows, s.islands, s.failed
        status = Status.SOLVED if failed < 0 else Status.MAX_ITERATIONS
        return Solved(
            s.r[:n],
            s.u[:n],
            s.v,
            s.q[:n],
            s.mu[:n],
            status,
            s.residual[:ni],
            0,
            (),
            s.energy_gap[:ni],
            failed,
        )

    def _note_jam(self, names: tuple[str, ...], log: tuple[str, ...]) -> None:
        s = self.buffers.s
        number = int(s.origin[1] + s.cursor)
        if self._frames is not None and (self._jam is None or self._jam[0] != number):
            self._frames.jammed += 1
            self._frames.stalled = self._frames.stalled or names
            self._frames.said[float(s.origin[0] + (number + 1) * self._frames.h)] = names, log
        self._jam = number, names, log

    @property
    def _jams_now(self) -> bool:
        """Whether a jam is noted of the step that is being made."""
        s = self.buffers.s
        return self._jam is not None and self._jam[0] == s.origin[1] + s.cursor

    def _forget_jam(self) -> None:
        """The step is solved anew, with other contacts or laws: what jammed may not jam now."""
        s = self.buffers.s
        self._jam = None
        s.methods &= ~(1 << METHODS.index("stall"))
        if self._frames is not None:
            self._frames.jammed -= 1
            self._frames.stalled = self._frames.stalled if self._frames.jammed else ()

    def _begin_part(self) -> None:
        """Forces and prescribed motions of a part of a step."""
        s = self.buffers.s
        self.buffers.prepare_motions(int(s.cursor), self.now, float(s.h))
        if self.model.forces:
            self._forces(s)

    def _look_again(self) -> int:
        """The stage to begin a part with again, where contacts are looked for further away; 0 if
        bodies that went further than they were looked for meet none, or all was looked at."""
        s, j = self.buffers.s, self.buffers.j
        h, travel = float(s.h), np.empty(self.model.nb)
        body_reach(j.at_v, self.search.sizes, h, travel)
        travel = np.maximum(travel, s.reach)
        if j.looks == MORE_SEARCHES or not self.search.misses(
            self.buffers.state(), j.at_v, h, travel, self.buffers.rows()
        ):
            return 0
        j.travel[:] = travel
        j.looks += 1
        j.earlier = int(s.iterations)
        return 1

    def _solve_laws(self) -> bool:
        """The friction problem of one round; False if it is not solved."""
        s = self.buffers.s
        n = int(s.rows)
        solved = self._friction(self.buffers.rows(), s.bias[:n], s.v_free, s.r[:n].copy())
        self._adopt_solved(solved)
        return solved.status is Status.SOLVED

    def _friction(self, rows: Rows, bias: Floats, v_free: Floats, guess: Floats | None) -> Solved:
        s = self.buffers.s
        self._new_solve()
        at = s.source[: s.rows]
        slid = (at >= 0) & s.old_slid[at]
        return solve_friction(rows, bias, v_free, guess, slid, self.solver, s)

    def _adopt_solved(self, solved: Solved) -> None:
        s = self.buffers.s
        n, ni = int(s.rows), int(s.islands)
        s.r[:n], s.u[:n], s.q[:n], s.mu[:n], s.v[:] = (
            solved.r, solved.u, solved.q, solved.mu, solved.v,
        )  # fmt: skip
        s.residual[:ni], s.failed = solved.residual, solved.failed
        s.energy_gap[:ni] = solved.gap
        if self._jams_now:
            self._forget_jam()
        s.iterations += solved.iterations
        self._used(solved, solved.status)
        if solved.stalls:
            self._note_jam(*jammed_names(self.model, self.buffers.rows(), solved.stalls))

    def _close(self) -> int:
        """Close joints by all that ``Closer`` knows, from the start of the part; returns the
        stage to go on with."""
        buffers, s, j = self.buffers, self.buffers.s, self.buffers.j
        n, h = int(s.rows), float(s.h)
        spare.restore(j)
        for name in ("J", "P", "D", "r", "bias"):
            getattr(s, name)[:n] = getattr(j, f"{name}0")[:n]
        s.v_free[:] = j.free
        made, bias, part = buffers.rows(), s.bias[:n].copy(), self._part()

        def once(bias: Floats, guess: Floats | None) -> Solved:
            return self._friction(made, bias, part.v_free, guess)

        closer = Closer(self.options, self.minimum_norm, buffers.joints, part, j.turns)
        solved = closer.solve(made, bias, once, self._arrival_of, h, s.r[:n].copy())
        self._closer = closer
        s.J[:n], s.P[:n], s.D[:n], s.bias[:n] = made.J, made.P, made.D, bias
        s.v_free[:], j.softening = part.v_free, part.softening
        self._adopt_solved(solved)
        j.by_host, j.excess, j.goal = 1, self.minimum_norm.count, codes.SETTLE_JOINTS
        after = self._arrival_of(solved.v)
        bodies.check_finite(self.model, after, s.force, h)
        places.places(s, self.detector.scan, j)
        j.opening = float(np.abs(j.at_error).max(initial=0.0))
        return (closing.outran(s, j) and self._look_again()) or int(j.least_stage)

    def _arrival_of(self, v: Floats) -> State:
        """The state after a part with velocities v, whatever they are."""
        s, j = self.buffers.s, self.buffers.j
        j.at_v[:], j.at_velocity[:] = v, v
        j.at_position[:], j.at_orientation[:] = s.position, s.orientation
        move = closing.drift_planar if self.model.dim == 2 else closing.drift_spatial
        move(s, self.detector.scan, j)
        pose = j.at_position.copy(), j.at_orientation.copy()
        return State(self.now + float(s.h), *pose, j.at_velocity.copy())

    def _part(self) -> Part:
        """What the part of a step that is being made begins with."""
        s = self.buffers.s
        state = self.buffers.state()
        state.time = self.now
        return Part(
            self.model, state, float(s.h), float(s.kick), bool(s.drifts), s.v0, s.v_free.copy(),
            s.inertia, s.inverse,
        )  # fmt: skip

    def _retried(self) -> bool:
        """Whether a part that was not solved is tried again in halves; if not it is kept, or ends
        the run."""
        s, j, options = self.buffers.s, self.buffers.j, self.options
        if s.drifts:
            self._began = self.buffers.state(), self._memory()
        s.report.time = self.now + s.h
        report = read_report(s, float(s.h), self.method_names, {})
        if report.ok:
            return False
        if options.on_failure == "retry" and j.level < options.retries:
            j.level += 1
            if not s.drifts:  # the first kick was kept
                state, memory = self._began
                s.position[:], s.orientation[:] = state.position, state.orientation
                s.velocity[:] = state.velocity
                s.put(drifts=1, impact_share=0.0)
                self._recall(memory)
            return True
        jam = self._jam
        if jam is not None and jam[0] == s.origin[1] + s.cursor:
            report = replace(report, jammed=jam[1], log=jam[2])
        self._looked = None
        raise SimulationError(self._failure(report), self.problem(), report)

    def _tear(self) -> None:
        """Joints that nothing closes end the run."""
        s, j, model, joints = self.buffers.s, self.buffers.j, self.model, self.buffers.joints
        k = int(joints.row_joint[int(np.abs(j.at_error).argmax())])
        a, b = ("the world" if i < 0 else repr(model.names[i]) for i in joints.body[k])
        driven = "prescribed motions drive them apart, or " if model.motions else ""
        if np.isin(joints.action_kind, (SPEED_MOTOR, POSITION_MOTOR)).any():
            driven += "a motor drives its linkage where it cannot go (bound it by max_force), or "
        raise SimulationError(
            f"joint {joints.names[k]!r} is open by {j.opening:.3g} m or rad between {a} and {b} at "
            f"t = {self.now + s.h:.6g} s: {driven}the step of {self.options.dt:.3g} s is too long "
            "for what pulls on it: take a shorter one"
        )

    def _look_at_joints(self) -> None:
        """The least forces of redundant joints, and which of them broke."""
        s, j = self.buffers.s, self.buffers.j
        n = int(s.rows)
        if j.by_host and self._closer is not None:
            s.r[:n] = self._closer.spread(s.r[:n])
        else:
            spare.spread(j, s.r)
        finish.wrenches(s, j)
        if j.breaks:
            dim = self.model.dim
            self._over |= broken(self.buffers.joints, s.wrench[:, :dim], s.wrench[:, dim:])

    def _last_solve(self) -> tuple[Rows, Solved] | None:
        """Rows and impulses of the last step, if there was one."""
        if self._looked is None and self._stepped:
            self.buffers.store_again()
            self._looked = self.buffers.rows(), self._view()
        return self._looked

    def problem(self) -> FrictionProblem | None:
        """The last step's friction problem (all islands), or None without contacts."""
        last = self._last_solve()
        if last is None or last[0].nc == 0:
            return None
        rows, solved = last
        return island_problem(rows, 0, rows.nc, solved.mu, solved.q, self.options)

    def _failure(self, report: StepReport) -> str:
        """Why a step is not good, in words."""
        names, last = self.model.names, self._last_solve()
        if report.jammed:
            return f"at t = {report.time - report.dt:.6g} s {'; '.join(report.log)}"
        where = ""
        if last is not None and last[1].failed >= 0:
            rows, k = last[0], last[1].failed
            lo, hi = rows.start[k], rows.start[k + 1]
            body = int(rows.body[lo:hi].max())
            where = f" of {hi - lo} contacts that holds body {names[body]!r}"
        if not report.energy.closes and not where:
            return (
                f"at t = {report.time - report.dt:.6g} s the energy ledger does not close: "
                f"{report.energy.unexplained:.2e} J are unexplained"
            )
        return (
            f"at t = {report.time - report.dt:.6g} s the friction problem{where} was not solved: "
            f"{report.status.value} (residual {report.residual:.2e}, wanted "
            f"{self.options.tol:.0e}); sim.save_problem(file) writes it"
        )

    def _memory(self) -> Any:
        """What steps leave for each other."""
        j = self.buffers.j
        own = () if j is None else (j.turns.copy(), j.lead, j.start)
        return self.buffers.memory(), own

    def _recall(self, memory: Any) -> None:
        """Take over what ``_memory`` gave."""
        known, own = memory
        j = self.buffers.j
        if j is not None:
            j.turns[:], j.lead, j.start = own
        self.buffers.recall(known)
