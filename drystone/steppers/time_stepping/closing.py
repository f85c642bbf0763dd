"""A step whose joints are closed at its end: Newton's method around the step's friction problem.

C(q') = 0 with q' = q + h v'(r), v' of ``Softened``. At impulses r_k, with v_k = v'(r_k) and rows
J_1 of the end q_k', the step is solved for the linear rows C(q_k') / h + J_1 (v - v_k) = 0 and
v = v_k + P (r - r_k): the step's own problem with J_1, P in the place of J, M^-1 J'. Contacts
beside joints take part unchanged. Rows that are too many are left out (``Thinned``), so that none
contradict each other; near a dead point of a linkage, too, the rows of the end are those that can
be fulfilled there. J_1 P is not symmetric. Solvers that need that, loops so large that nothing is
left out of them, and rows that are about to depend on each other where no motion closes them (a
chain that is taut between two posts) take J_1 and P from the start of the step, and converge
linearly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drystone.constraints.joints.rows import JointRows
from drystone.kernels.union_find import root_of
from drystone.model import Joints
from drystone.steppers.time_stepping.solve import Solved
from drystone.steppers.time_stepping.stiffness import Softened
from drystone.types import Bools, Floats

ROUNDS = 20  # solves of a step until its joints are closed
CLOSED = 1e-10  # [m or rad]
LOST = 1e-5  # [m or rad] opening of a step that is tried without closing joints
PATIENCE = 4  # rounds in a row that may leave joints no less than half as open
LOST_WAY = 1e6  # [m or rad] opening from which no round leads back


def close(
    soft: Softened,
    bias: Floats,
    once: Callable[[Floats, Floats | None], Solved],
    end: Callable[[Floats], JointRows],
    guess: Floats | None,
    newton: bool,
    near: Solved | None = None,
) -> Solved:
    """Solve a step, again and again, until its joints are closed or no round helps.

    bias (nc, d): of all rows, changed in place; once(bias, guess): solves; end(v): joints after a
    step with velocities v; newton: rows of the end; near: where to start from, if it is known.
    """
    work, thinned = soft.work, soft.thinned
    soft.load(guess)
    soft.start_rows()
    bias[thinned.dropped] = 0.0
    guess = None if guess is None else thinned.gather(guess)
    work.v_free = soft.velocity(None)
    closes = np.ones(soft.joints.nr, bool)
    closes[soft.rows_of(thinned.dropped)] = False
    solved = kept = once(bias, guess) if near is None else near
    at = _arrive(soft, end, solved.r, closes)
    iterations = solved.iterations
    best, misses = np.inf, 0
    for _ in range(ROUNDS):
        error = max(at.error, work.h * float(np.abs(at.v - solved.v).max()))
        misses = 0 if error < 0.5 * best else misses + 1
        if error < best:
            best, kept = error, solved
        if error <= CLOSED or misses > PATIENCE or not error < LOST_WAY:
            break
        if newton and near is None:
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
    soft.work.v_free = soft.velocity(None)
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
    bow = 0.125 * soft.work.h / soft.work.kick
    middle = end((0.5 - bow) * at.v + bow * soft.work.v0)
    at.joints.error[rest] = middle.error[rest] / (0.5 - bow)
    at.joints.J[rest] = middle.J[rest]


def _expand(soft: Softened, bias: Floats, at: _Arrival) -> None:
    """Bias and free velocities of the step that is linear about an arrival."""
    rows = soft.rows
    block, place, row, _ = soft.places
    error = at.joints.error[row] / soft.work.h
    bias[block, place] = error - rows.velocities(at.v)[block, place]
    bias[soft.thinned.dropped] = 0.0
    free = at.v.copy()
    rows.push(-at.r, free)
    soft.work.v_free = free


def _settle(soft: Softened, bias: Floats, solved: Solved) -> None:
    """Leave the rows of the start, and the problem that r solves with them and the loaded S."""
    work, rows = soft.work, soft.rows
    soft.start_rows(whole=True)
    solved.v = soft.velocity(solved.r)
    work.v_free = soft.velocity(None)
    work.softening = soft.work_of(solved.v)
    block, place, _, _ = soft.places
    bias[block, place] = -rows.velocities(solved.v)[block, place]
    solved.q = rows.velocities(work.v_free, bias)
    solved.u = rows.velocities(solved.v, bias) + rows.soft * solved.r


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
