"""What joints add to a step: their rows, closing them at its end, breaking, forces to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from drystone.constraints.joints.blocks import JointBlocks, joint_blocks
from drystone.constraints.joints.edit import carry_values, without
from drystone.constraints.joints.forces import broken
from drystone.constraints.joints.least import LeastNorm
from drystone.constraints.joints.rows import (
    Coordinates,
    JointRows,
    free_coordinates,
    half_kick_rows,
    joint_extra_rows,
    joint_rows,
    kick_rows,
)
from drystone.constraints.rows import Rows
from drystone.errors import SimulationError
from drystone.kernels.joints_coupled import POSITION_MOTOR, SPEED_MOTOR, keep_springs
from drystone.kernels.step.joint_close import OPEN
from drystone.model import Joints, Model, State
from drystone.problems.cones import SoftFingerCone
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.steppers.time_stepping.closing import close, moving_rows
from drystone.steppers.time_stepping.joint_readout import joint_wrenches
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.projection import Projection
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.stiffness import Softened, answers
from drystone.steppers.time_stepping.thinned import Thinned, joined
from drystone.steppers.time_stepping.work import Work
from drystone.types import Floats, Ints

# of the bodies' size (or of a radian): joints that are open by more are torn, not inaccurate
TORN = {"exact": 0.01, "stabilize": 0.2, "project": 0.2, "velocity": np.inf}

# times the spin that bodies gain in a step, with which they pass through a singular state
PASSING = 4.0


class Jointed:
    """The joints of a model from step to step.

    turns (nq,): values of the free coordinates after the last step, by which angles are counted
    beyond a turn; opened: the last step left joints open and is to be tried again in halves;
    wrench: force and torque that the joints `held` bore in the last step; lost: uids of joints
    that broke; behind: how far velocities are behind the positions [s], half of the last step or of
    the last part of one that was divided; ahead: by how much less than half a whole step that is,
    after the last one; start: how often this step is divided before it is tried, wanted: how often
    the next is to be.
    """

    def __init__(self, options: TimeStepping, least: LeastNorm) -> None:
        self.options, self.least = options, least
        self.joints: Joints | None = None
        self.coordinates: Coordinates | None = None
        self.turns: Floats | None = None
        self.projection = Projection(options, least)
        self.wrench: tuple[Floats, Floats] | None = None
        self.held: Joints | None = None
        self.lost: Ints = np.empty(0, np.int64)
        self._work: Work | None = None
        self.thinned: Thinned | None = None
        self.opened, self._again, self._before = False, False, np.inf
        self.behind, self.ahead = 0.0, 0.0
        self.start, self.wanted = 0, 0

    def adopt(self, model: Model) -> Model:
        """Go on with an edited model; returns it without the joints that are broken."""
        joints = model.joints
        if joints is not None and np.isin(joints.uid, self.lost).any():
            joints, _ = without(joints, np.isin(joints.uid, self.lost))
            model = replace(model, joints=joints)
        if joints is None or self.turns is None:
            self.turns = None
        else:
            self.turns = carry_values(self.joints, self.turns, joints)
        self.joints = joints
        return model

    def snapshot(self) -> Snapshot:
        solver = within("projection", self.projection.solver.snapshot())
        known = {"lost": self.lost, "ahead": self.ahead, "start": self.start}
        return solver | known | {"turns": self.turns}

    def restore(self, known: Snapshot) -> None:
        """After ``adopt`` of the model without the joints that are lost."""
        self.projection.solver.restore(part_of(known, "projection"))
        self.turns, self.ahead = known.get("turns"), float(known.get("ahead", 0.0))
        self.start = int(known.get("start", 0))
        self.held = self.wrench = None

    def blocks(self, work: Work) -> JointBlocks | None:
        """The joints' blocks of this step, if there are any."""
        joints = self.joints
        if joints is None or not len(joints):
            return None
        self._work, self.thinned = work, None
        q = self.coordinates = free_coordinates(joints, work.state, self.turns)
        cone, dim = self.options.shape, work.model.dim
        d = cone.block(dim) if isinstance(cone, SoftFingerCone) else dim
        stabilize = work.drifts and self.options.joints in ("exact", "stabilize")
        acts = joint_extra_rows(work.model, work.state, work.h, q)
        if acts is not None and self.options.order == 2:
            acts = half_kick_rows(joints, acts, q, work.v0, work.h, work.drifts)
        elif acts is not None:
            keep_springs(
                work.h, joints.actions, q.value, acts.body, acts.J, work.v0,
                work.model.inverse_mass, work.inverse_inertia, acts.bias, acts.soft,
            )  # fmt: skip
            if work.kick != work.h:
                acts = kick_rows(acts, work.kick / work.h)
        return joint_blocks(work.model, work.state, work.h, d, q, stabilize, acts)

    def solve(
        self,
        rows: Rows,
        bias: Floats,
        once: Callable[[Floats, Floats | None], Solved],
        drift: Callable[[Floats], State],
        h: float,
        guess: Floats | None,
    ) -> Solved:
        """Solve a step, again and again with corrected rows until its joints are closed.

        bias (nc, d): of all rows, corrected in place; once(bias, guess): solves; drift(v): where
        a step with velocities v ends.
        """
        joints, work = self.joints, self._work
        if rows.blocks is None or joints is None or work is None or self.options.joints != "exact":
            return self.once(rows, bias, once, guess)
        ties = joint_rows(joints, work.state, self.coordinates)
        state = work.model, work.state, rows, ties, h

        def end(v: Floats) -> JointRows:
            if not work.drifts:  # the velocities are to fit, J v' = 0
                return moving_rows(ties, v, h)
            after = drift(v)
            return joint_rows(joints, after, free_coordinates(joints, after, self._values))

        # velocities need not fit rows that are about to be too many: the next step's do
        splits = self.least.split(*state, strict=not work.drifts)
        thinned = self.thinned = Thinned(rows, splits)
        newton = self.options.direct and not self.least.large
        free, first = work.v_free, bias.copy()
        if newton and not thinned.weak:
            soft = Softened(work, rows, joints, ties, thinned)
            solved = close(soft, bias, once, end, guess, newton)
            left = end(solved.v).error[soft.rows_of(thinned.dropped)]
            if not np.abs(left).max(initial=0.0) > OPEN:
                return solved
        work.v_free = free
        firm = Thinned(rows, self.least.split(*state, strict=True))
        near = self._look_ahead(firm, ties, first.copy(), once, end) if newton else None
        work.v_free, work.softening = free, 0.0
        bias[:] = first
        soft = Softened(work, rows, joints, ties, self.thinned)
        return close(soft, bias, once, end, guess, newton and not self.thinned.weak, near)

    def _look_ahead(
        self,
        firm: Thinned,
        ties: JointRows,
        bias: Floats,
        once: Callable[[Floats, Floats | None], Solved],
        end: Callable[[Floats], JointRows],
    ) -> Solved | None:
        """The step without rows that are weak or too many where it starts: there a linkage is
        singular. Others of them that hold something where that step ends take part by their rows of
        its end, on both sides. None if there are none, or if bodies do not pass through that state:
        a chain that is taut between two posts is at rest in it."""
        joints, work, rows = self.joints, self._work, firm.rows
        if joints is None or work is None or not work.drifts or not firm.splits:
            return None
        soft = Softened(work, rows, joints, ties, firm)
        solved = close(soft, bias, once, end, None, True)
        at = end(solved.v)
        J, P = soft.rows_at(at)
        splits = [s.elsewhere(rows, J, P, at.error, s.kept) for s in firm.splits]
        new = joined([s.gained(t) for s, t in zip(firm.splits, splits, strict=True)])
        firm.restore()
        held = np.unique(rows.body[rows.joint >= 0])
        held = held[rows.moves[held]]
        spin = np.abs(np.stack([work.v0, solved.v - work.v0])[:, held, work.model.dim :])
        slow = PASSING * spin[1].max(initial=0.0) * self.options.dt / work.kick
        if not new[0].size or not spin[0].max(initial=0.0) > slow:
            return None
        rows.J = rows.J.copy()
        rows.J[new] = J[new]
        block = np.unique(new[0])
        rows.P, rows.D = rows.P.copy(), rows.D.copy()
        args = (rows.J[block], rows.soft[block], rows.body[block])
        rows.P[block], rows.D[block] = answers(work, rows, *args)
        self.thinned = Thinned(rows, splits)
        self.thinned.weak = False
        return solved

    def once(
        self,
        rows: Rows,
        bias: Floats,
        once: Callable[[Floats, Floats | None], Solved],
        guess: Floats | None,
    ) -> Solved:
        """One solve, without the rows that are too many; these end as they come."""
        joints, work = self.joints, self._work
        if rows.blocks is None or joints is None or work is None:
            return once(bias, guess)
        ties = joint_rows(joints, work.state, self.coordinates)
        splits = self.least.split(work.model, work.state, rows, ties, work.h)
        thinned = self.thinned = Thinned(rows, splits)
        if not thinned.splits:
            return once(bias, guess)
        dropped = thinned.dropped
        bias[dropped] = 0.0
        thinned.silence()
        solved = once(bias, None if guess is None else thinned.gather(guess))
        thinned.restore()
        bias[dropped] = -rows.velocities(solved.v)[dropped]
        solved.q = rows.velocities(work.v_free, bias)
        solved.u = rows.velocities(solved.v, bias) + rows.soft * solved.r
        return solved

    def spread(self, r: Floats) -> Floats:
        """Impulses (nc, d) of the step that was solved last: of all that do what r does, the least.
        The books are closed with those of the solve, which hold to rounding."""
        return r if self.thinned is None else self.thinned.spread(r)

    @property
    def _values(self) -> Floats | None:
        return None if self.coordinates is None else self.coordinates.value

    def finish(
        self, work: Work, rows: Rows, solved: Solved, after: State, size: float
    ) -> tuple[float, tuple[str, ...]]:
        """Close what is left, read forces, break; returns the greatest opening and who broke."""
        if self.joints is None or not len(self.joints):
            self.wrench, self.held = None, None
            return 0.0, ()
        if rows.blocks is not None and self.coordinates is not None:
            self.turns = self.coordinates.value
            if self.options.joints == "project":
                self.projection.close(work.model, after, rows.moves, self.turns)
        opening = self._check_closed(work.model, after, size)
        return opening, () if self.opened else self._break(work, rows, solved)

    def attempt(self, level: int) -> None:
        """A step begins, or one of the shorter ones it is tried by again."""
        if level == 0:
            self._before = np.inf
        self._again, self.opened = level < self.options.most_halvings, False

    def _check_closed(self, model: Model, after: State, size: float) -> float:
        """Greatest opening of a joint after the step; one that is torn open ends the run."""
        joints, way = self.joints, self.options.joints
        if joints is None or not len(joints):
            return 0.0
        error = np.abs(joint_rows(joints, after, free_coordinates(joints, after, self.turns)).error)
        worst = float(error.max(initial=0.0))
        torn = worst > TORN[way] * min(1.0, size)
        # what does not close better in half the time does not fail for the length of the step
        helps = torn or OPEN < worst < 0.9 * self._before
        self.opened = self._again and way == "exact" and helps
        if self.opened:
            self._before = worst
        elif torn:
            j = joints.row_joint[int(error.argmax())]
            a, b = ("the world" if i < 0 else repr(model.names[i]) for i in joints.body[j])
            driven = "prescribed motions drive them apart, or " if model.motions else ""
            if np.isin(joints.action_kind, (SPEED_MOTOR, POSITION_MOTOR)).any():
                driven += (
                    "a motor drives its linkage where it cannot go (bound it by max_force), or "
                )
            raise SimulationError(
                f"joint {joints.names[j]!r} is open by {worst:.3g} m or rad between {a} and {b} at "
                f"t = {after.time:.6g} s: {driven}the step of {self.options.dt:.3g} s is too long "
                "for what pulls on it: take a shorter one"
            )
        return worst

    def _break(self, work: Work, rows: Rows, solved: Solved) -> tuple[str, ...]:
        """Read what joints bore, and take away those that bore too much; returns their names."""
        joints = self.joints
        if joints is None or self.coordinates is None or rows.blocks is None:
            self.wrench, self.held = None, None
            return ()
        self.held = joints
        borne = replace(solved, r=self.spread(solved.r))
        self.wrench = joint_wrenches(work, joints, rows, borne, self.coordinates)
        over = broken(joints, *self.wrench)
        if not over.any():
            return ()
        self.lost = np.union1d(self.lost, joints.uid[over])
        self.joints, kept = without(joints, over)
        self.turns = None if self.turns is None else self.turns[kept]
        return tuple(name for name, gone in zip(joints.names, over, strict=True) if gone)
