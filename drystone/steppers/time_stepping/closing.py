"""A step whose joints are closed at its end: Newton's method around the step's friction problem.

C(q') = 0 with q' = q + h v'(r), v' of ``Softened``. At impulses r_k, with v_k = v'(r_k) and rows
J_1 of the end q_k', the step is solved for the linear rows C(q_k') / h + J_1 (v - v_k) = 0 and
v = v_k + P (r - r_k): the step's own problem with J_1, P in the place of J, M^-1 J'. Contacts
beside joints take part unchanged. Rows that are too many are left out (``Thinned``), so that none
contradict each other; near a dead point of a linkage, too, the rows of the end are those that can
be fulfilled there. A step that passes a singular state is solved without the rows that are singular
in it, and closed by motion at its end (``Closer._pass_through``). J_1 P is not symmetric. Solvers
that need that, loops so large that nothing is left out of them, and rows that are about to depend
on each other where no motion closes them (a chain that is taut between two posts) take J_1 and P
from the start of the step, and converge linearly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.minimum_norm import MinimumNorm, Thinned
from drystone.constraints.joints.rows import JointRows, free_coordinates, joint_rows
from drystone.constraints.rows import Rows
from drystone.dynamics.energy import kinetic
from drystone.kernels.redundant import LOOSE, PASSED, WEAKER
from drystone.kernels.step.joint_close import CLOSED_JOINT, OPEN_JOINT
from drystone.kernels.union_find import root_of
from drystone.model import Joints, State
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.stiffness import Part, Softened
from drystone.types import Bools, Floats

CLOSING_ROUNDS = 20  # solves of a step until its joints are closed
LOST = 1e-5  # [m or rad] opening of a step that is tried without closing joints
SLOW_ROUNDS = 4  # rounds in a row that may leave joints no less than half as open
LOST_WAY = 1e6  # [m or rad] opening from which no round leads back
# times the spin that bodies gain in a step, with which they pass through a singular state
PASSING = 4.0
PASSING_SOLVES = 8  # solves of a step through a singular state
CLOSING_WORK = 0.01  # of the kinetic energy, that closing joints behind it may take


class Closer:
    """Closes the joints of a part of a step, by all that is known to help.

    coordinates: of the joints where it begins, from which turns are counted; thinned: the rows it
    was solved without.
    """

    def __init__(
        self,
        options: TimeStepping,
        minimum_norm: MinimumNorm,
        joints: Joints,
        part: Part,
        turns: Floats,
    ) -> None:
        self.options, self.minimum_norm = options, minimum_norm
        self.joints, self.part = joints, part
        self.coordinates = free_coordinates(joints, part.state, turns)
        self.thinned: Thinned | None = None

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
        joints, part = self.joints, self.part
        if self.options.joints != "exact":
            return self.once(rows, bias, once, guess)
        ties = joint_rows(joints, part.state, self.coordinates)
        state = part.model, part.state, rows, ties, h

        def end(v: Floats) -> JointRows:
            if not part.drifts:  # the velocities are to fit, J v' = 0
                return moving_rows(ties, v, h)
            after = drift(v)
            return joint_rows(
                joints, after, free_coordinates(joints, after, self.coordinates.value)
            )

        # velocities need not fit rows that are about to be too many: the next step's do
        splits = self.minimum_norm.split(*state, strict=LOOSE if part.drifts else WEAKER)
        thinned = self.thinned = Thinned(rows, splits)
        newton = self.options.direct and not self.minimum_norm.large
        free, first = part.v_free, bias.copy()
        if newton and not thinned.weak:
            soft = Softened(part, rows, joints, ties, thinned)
            solved = close(soft, bias, once, end, guess, newton)
            if not part.drifts or not _open(end(solved.v)) > OPEN_JOINT:
                return solved
            thinned.restore()
            part.v_free, bias[:] = free, first
        if newton and part.drifts:
            count, left_out = self.minimum_norm.count, -1
            for strict in (WEAKER, PASSED):
                firm = Thinned(rows, self.minimum_norm.split(*state, strict=strict))
                if firm.dropped[0].size > left_out:
                    through = self._pass_through(firm, ties, bias, once, end)
                    self.minimum_norm.count = count
                    if through is not None:
                        return through
                    firm.restore()
                    part.v_free, bias[:] = free, first
                left_out = firm.dropped[0].size
            self.minimum_norm.count = count
        part.softening = 0.0
        soft = Softened(part, rows, joints, ties, thinned)
        return close(soft, bias, once, end, guess, newton and not thinned.weak)

    def _pass_through(
        self,
        firm: Thinned,
        ties: JointRows,
        bias: Floats,
        once: Callable[[Floats, Floats | None], Solved],
        end: Callable[[Floats], JointRows],
    ) -> Solved | None:
        """The step of a linkage that passes a singular state in it, or near it.

        Rows that are weak there hold nothing there, and may pull on one side of it and push on the
        other: the step is solved without them. What is open by them at its end is closed by the
        least motion there, which the free velocities gain. None if there are none, if that does
        not close them or takes much work, or if bodies do not pass through that state: a chain
        that is taut between two posts is at rest in it.
        """
        joints, part, rows = self.joints, self.part, firm.rows
        if not firm.splits:
            return None
        free, first, iterations, best = part.v_free, bias.copy(), 0, np.inf
        (gained, push), guess = np.zeros((2, *free.shape)), None
        before: Floats | None = None
        share = 1.0
        for k in range(PASSING_SOLVES):
            part.v_free, bias[:] = free + gained, first
            soft = Softened(part, rows, joints, ties, firm)
            solved = close(soft, bias, once, end, guess, True)
            iterations += solved.iterations
            at = end(solved.v)
            error = _open(at)
            if solved.stalls or (k == 0 and not self._passes(rows, solved.v)):
                return None
            if error <= OPEN_JOINT and (error <= CLOSED_JOINT or not error < 0.5 * best):
                break
            if not error < best:
                return None
            if before is not None:  # motors and contacts undo a part of what is gained: Aitken
                change = at.error - before
                share *= -float(before @ change) / float(change @ change)
            best, guess, before = error, solved.r.copy(), at.error
            J, P = soft.rows_at(at)
            strict = LOOSE if error > OPEN_JOINT else WEAKER  # weak rows may stay so open
            for split in firm.splits:
                there = split.elsewhere(rows, J, P, at.error, strict)
                body, motion, load = there.closing(rows, J, P, at.error)
                gained[body] += share / part.h * motion
                push[body] += share / part.h * load
            firm.restore()
        else:
            return None
        work = 0.5 * float((push * (part.v0 + solved.v)).sum())
        if abs(work) > CLOSING_WORK * kinetic(part.model, part.inertia, part.v0):
            return None
        part.softening += work
        self.thinned, solved.iterations = firm, iterations
        return solved

    def _passes(self, rows: Rows, v: Floats) -> bool:
        """Whether bodies that joints hold turn on, with velocities v, as they did before."""
        part, held = self.part, np.unique(rows.body[rows.joint >= 0])
        held = held[rows.moves[held]]
        spin = np.abs(np.stack([part.v0, v - part.v0])[:, held, part.model.dim :])
        slow = PASSING * spin[1].max(initial=0.0) * self.options.dt / part.kick
        return bool(spin[0].max(initial=0.0) > slow)

    def once(
        self,
        rows: Rows,
        bias: Floats,
        once: Callable[[Floats, Floats | None], Solved],
        guess: Floats | None,
    ) -> Solved:
        """One solve, without the rows that are too many; these end as they come."""
        joints, part = self.joints, self.part
        ties = joint_rows(joints, part.state, self.coordinates)
        splits = self.minimum_norm.split(part.model, part.state, rows, ties, part.h)
        thinned = self.thinned = Thinned(rows, splits)
        if not thinned.splits:
            return once(bias, guess)
        dropped = thinned.dropped
        bias[dropped] = 0.0
        thinned.silence()
        solved = once(bias, None if guess is None else thinned.gather(guess))
        thinned.restore()
        bias[dropped] = -rows.velocities(solved.v)[dropped]
        solved.q = rows.velocities(part.v_free, bias)
        solved.u = rows.velocities(solved.v, bias) + rows.soft * solved.r
        return solved

    def spread(self, r: Floats) -> Floats:
        """Impulses (nc, d) of the step that was solved last: of all that do what r does, the least.
        Their energy is that of the solve, whose ledger closes to rounding."""
        return r if self.thinned is None else self.thinned.spread(r)


def close(
    soft: Softened,
    bias: Floats,
    once: Callable[[Floats, Floats | None], Solved],
    end: Callable[[Floats], JointRows],
    guess: Floats | None,
    newton: bool,
) -> Solved:
    """Solve a step, again and again, until its joints are closed or no round helps.

    bias (nc, d): of all rows, changed in place; once(bias, guess): solves; end(v): joints after a
    step with velocities v; newton: rows of the end.
    """
    part, thinned = soft.part, soft.thinned
    soft.load(guess)
    soft.start_rows()
    bias[thinned.dropped] = 0.0
    guess = None if guess is None else thinned.gather(guess)
    part.v_free = soft.velocity(None)
    closes = np.ones(soft.joints.nr, bool)
    closes[soft.rows_of(thinned.dropped)] = False
    solved = kept = once(bias, guess)
    at = _arrive(soft, end, solved.r, closes)
    iterations = solved.iterations
    best, misses = np.inf, 0
    for _ in range(CLOSING_ROUNDS):
        error = max(at.error, part.h * float(np.abs(at.v - solved.v).max()))
        misses = 0 if error < 0.5 * best else misses + 1
        if error < best:
            best, kept = error, solved
        if error <= CLOSED_JOINT or misses > SLOW_ROUNDS or not error < LOST_WAY:
            break
        if newton:
            _look_back(soft, at, end)
        if not (newton and soft.end_rows(at.joints, at.v)):
            soft.start_rows()
        _expand(soft, bias, at)
        solved = once(bias, at.r.copy())
        at = _arrive(soft, end, solved.r, closes)
        iterations += solved.iterations
    if not best <= LOST:
        plain = _without_closing(soft, bias, once)
        iterations += plain.iterations
        if not best <= float(np.abs(end(plain.v).error).max(initial=0.0)):
            plain.iterations = iterations
            return plain
    kept.iterations = iterations
    soft.load(kept.r)
    _settle(soft, bias, kept)
    return kept


def _without_closing(
    soft: Softened, bias: Floats, once: Callable[[Floats, Floats | None], Solved]
) -> Solved:
    """The step whose joints keep their velocities only, J v = 0, which never contradict each other:
    a chain that is taut between two posts cannot be closed, to first order, once it is open."""
    block, place, _, _ = soft.places
    soft.load(None)
    soft.start_rows()
    soft.part.v_free = soft.velocity(None)
    bias[block, place] = 0.0
    solved = once(bias, None)
    _settle(soft, bias, solved)
    return solved


@dataclass(slots=True)
class _Arrival:
    """Where impulses r lead: velocities v, the joints as they are then, and the greatest error of
    rows that are to be closed."""

    r: Floats
    v: Floats
    joints: JointRows
    error: float


def _arrive(
    soft: Softened, end: Callable[[Floats], JointRows], r: Floats, closes: Bools
) -> _Arrival:
    soft.load(r)
    v = soft.velocity(r)
    joints = end(v)
    return _Arrival(r, v, joints, float(np.abs(joints.error[closes]).max(initial=0.0)))


def _look_back(soft: Softened, at: _Arrival, end: Callable[[Floats], JointRows]) -> None:
    """Rows that are nearly too many at the end of the step are asked to be closed in its middle.

    There a linkage is singular, and closed to first order whatever its rows hold. The middle lies
    on the arc through the end of the step before, not on the chord: h (v - h (v - v0) / 4 k) / 2
    from the start, where k is the time for which forces act.
    """
    rest = soft.unsure(at.joints)
    if not rest.size:
        return
    bow = 0.125 * soft.part.h / soft.part.kick
    middle = end((0.5 - bow) * at.v + bow * soft.part.v0)
    at.joints.error[rest] = middle.error[rest] / (0.5 - bow)
    at.joints.J[rest] = middle.J[rest]


def _expand(soft: Softened, bias: Floats, at: _Arrival) -> None:
    """Bias and free velocities of the step that is linear about an arrival."""
    rows = soft.rows
    block, place, row, _ = soft.places
    error = at.joints.error[row] / soft.part.h
    bias[block, place] = error - rows.velocities(at.v)[block, place]
    bias[soft.thinned.dropped] = 0.0
    free = at.v.copy()
    rows.push(-at.r, free)
    soft.part.v_free = free


def _settle(soft: Softened, bias: Floats, solved: Solved) -> None:
    """Leave the rows of the start, and the problem that r solves with them and the loaded S."""
    part, rows = soft.part, soft.rows
    soft.start_rows(whole=True)
    solved.v = soft.velocity(solved.r)
    part.v_free = soft.velocity(None)
    part.softening = soft.work_of(solved.v)
    block, place, _, _ = soft.places
    bias[block, place] = -rows.velocities(solved.v)[block, place]
    solved.q = rows.velocities(part.v_free, bias)
    solved.u = rows.velocities(solved.v, bias) + rows.soft * solved.r


def _open(at: JointRows) -> float:
    return float(np.abs(at.error).max(initial=0.0))


def moving_rows(ties: JointRows, v: Floats, h: float) -> JointRows:
    """Joints that open by the velocities v over h, with the rows `ties`."""
    side = np.where((ties.body >= 0)[:, :, None], v[ties.body], 0.0)
    return JointRows(ties.body, h * (ties.J * side).sum(axis=(1, 2)), ties.J)


def is_forest(joints: Joints, moves: Bools) -> bool:
    """Whether joints close no loops, neither among bodies nor over what does not move."""
    root = np.arange(moves.size + 1)
    held = np.zeros(moves.size + 1, np.int64)  # joints of each group to what does not move
    for a, b in joints.body:
        ends = [root_of(i, root) for i in (a, b) if i >= 0 and moves[i]]
        if len(ends) == 2:
            if ends[0] == ends[1]:
                return False
            root[ends[1]] = ends[0]
            held[ends[0]] += held[ends[1]]
        elif ends:
            held[ends[0]] += 1
    return all(held[root_of(i, root)] <= 1 for i in range(moves.size))
