"""Contacts in space whose static friction gives way, by Coulomb's law for accelerations.

The conditions of static friction (14-1) leave the direction of friction open once it gives way
(Baraff 1994, 5.4): contacts may slide where friction could hold them, or across it. The motion that
follows needs more: friction opposite to the acceleration, that is to the slip about to begin.
Contacts that slide already take part with an acceleration so large along their slip that their
friction opposes it; the index set of the answer then gives the exact forces of the stated problem.

Forces, impulses and the motions they give may be many: of a row of boxes on two corners each, both
corners of one may hold, or one of them, and each obeys the law to the last digit. A method that
takes contacts one by one prefers some, and so does one that begins with Gauss-Seidel sweeps; bodies
then turn to a side that nothing prefers. What is symmetric has a symmetric answer where every step
of the way is the same for images of a problem (``central_answer``): the central path of an
interior-point method, from a start that is the same for all contacts, and then Newton steps on the
conditions themselves, each the least of those that solve its linear equations. These end at
rounding, not at a tolerance: what is left open there would grow from event to event.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from drystone.problems import FrictionProblem
from drystone.solvers.base import COLD, Limits
from drystone.solvers.interior_point import InteriorPoint
from drystone.steppers.event_driven.forces import methods
from drystone.steppers.event_driven.forces.index_set import index_sets, states_of
from drystone.steppers.event_driven.forces.rest import REST, rests
from drystone.steppers.event_driven.forces.results import Forces, Island, assembled, contact_states
from drystone.steppers.event_driven.forces.sharing import GUESS
from drystone.steppers.event_driven.forces.state import ContactState, Kind, States
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats, Solution

SLIDING_ACCELERATION = 1e3  # times the accelerations of an island: that of what slides already
SOLVERS = ("newton", "nsgs")
ALIKE = "central"  # name of the method that treats images of a problem alike
# relative: contacts that stick by more rows than they need are at rest to within a
RESTING_ROWS = 1e-8
# speed, and so are their accelerations: taken for slip these would end phase after phase (at
# 1e-10 ``collapse`` takes 1.6 times as many steps, and twice as many if pivots look for slip)
INDEX_SET_ROUNDS = 4  # of an index set from the forces of the one before
# times the largest motion: that of what slides already, while the path is followed
FAR_ALONG = 10.0
# where the path ends and Newton's steps begin: residual, and compliance of the contacts, of W's
# diagonal. Contacts a little soft share what nothing else decides, in proportion to nothing but
# the load; far along the path of rigid ones the iterates tremble where answers are many
PATHS = ((1e-5, 1e-4), (1e-6, 1e-6), (1e-7, 1e-8), (1e-7, 0.0), (1e-9, 0.0))
LAW_HOLDS = 1e-11  # of the largest force or motion, units scaled out: conditions that are met
PATH_STEPS = 15  # of Newton's method: where the path comes near two or three do
IDLE = 4  # of them in a row that do not halve what is missed: no more follow
CUT = 1e-12  # of the largest pivot: directions that no condition sees


def coulomb_forces(state: ContactState, forces: Forces) -> Forces | None:
    """The same forces, with those islands solved anew whose contacts give way; None if one of
    them has no such solution that an index set confirms. So are those whose answer was picked."""
    parts = []
    for part in forces.islands:
        again: Island | None = part
        if Kind.YIELDING in part.states or picked(part):
            again = _solved(part)
        if again is None and Kind.YIELDING in part.states:
            return None
        if again is not None and rests(part) and not rests(again):
            again = None
        again = part if again is None else again
        parts.append(again)
    return assembled(state, tuple(parts), list(forces.log))


def picked(part: Island) -> bool:
    """Whether contacts at rest are in states that a method picked by taking them one by one: it
    may let one corner open and its mirror image hold where both would give way."""
    found = part.solution.methods
    if part.reused or part.index_set is None or GUESS in found or REST in found:
        return False
    rough = methods.acting(part.system)[1] > 0.0
    resting = rough & ~methods.sliding(part.system)
    problem = methods.friction_problem(part.system)
    return bool(resting.any()) and not methods.suspicious(problem).any()


def _solved(part: Island) -> Island | None:
    system = part.system
    d, nc = system.state.d, system.contacts.size
    slip, mu = methods.acting(system)
    q = system.q.copy()
    shift = np.zeros((nc, d))
    shift[:, 1:] = SLIDING_ACCELERATION * float(np.abs(q).max(initial=0.0)) * slip
    q[: nc * d] += shift.ravel()
    stated = methods.friction_problem(system)
    joints = int(system.joints.size)
    r = central_answer(
        FrictionProblem(system.W, system.q, mu, dim=d, bilateral=joints), slip, RESTING_ROWS
    )
    if r is not None:
        found = replace(part.solution, value=r, dual=stated.dual(r), methods=(ALIKE,))
        sure = _confirmed(part, system, stated, found)
        if sure is not None:
            return sure
    problem = FrictionProblem(system.W, q, mu, dim=d, bilateral=joints, law="coulomb")
    for name in SOLVERS:
        found = methods.named(name, 1e-10).solve(problem)  # from nothing: what can stick sticks
        sure = _confirmed(part, system, stated, found) if found.ok else None
        if sure is not None:
            return sure
    return None


def _confirmed(
    part: Island, system: System, stated: FrictionProblem, found: Solution
) -> Island | None:
    """The island with exact forces by an index set of the solution that was found."""
    d, nc = stated.d, stated.nc
    slip, mu = methods.acting(system)
    r = found.value.copy()
    f = r[: d * nc].reshape(nc, d)
    moving = slip.any(axis=1)
    f[moving, 1:] = -mu[moving, None] * slip[moving] * f[moving, :1]
    for _ in range(INDEX_SET_ROUNDS):
        states = contact_states(stated, replace(found, value=r, dual=stated.dual(r)))
        following = None
        for L in index_sets(system, r, states):
            near = L.values(system, stated.mu, slip)
            if near is None:
                continue
            value, dual = near
            violation = L.violation(system, value, dual, stated.mu)
            if violation <= RESTING_ROWS and _held(system, states, dual):
                solution = replace(
                    part.solution, value=value, dual=dual, residual=violation,
                    residual_unit=violation, methods=found.methods,
                )  # fmt: skip
                return Island(part.key, system, solution, states, False, L)
            following = value
        if following is None:
            break
        r = following
    return None


def _held(system: System, states: States, a: Floats) -> bool:
    """Whether what is said to stick is held indeed. Friction at its bound that is tied there may
    let its contact go, and still obey (14-1): the block would turn on a slope that holds it."""
    d, nc = system.state.d, system.contacts.size
    _, stick, _ = states_of(system, states)
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(system.q).max(initial=0.0)))
    across = a[: d * nc].reshape(nc, d)[stick, 1:]
    return bool(np.abs(across).max(initial=0.0) <= RESTING_ROWS * size)


def central_answer(
    problem: FrictionProblem, slip: Floats | None = None, tol: float = LAW_HOLDS
) -> Floats | None:
    """Forces or impulses (m,) of a problem with Coulomb's law and round cones in space, None where
    the way to them ends early.

    slip (nc, d - 1): unit directions of contacts that slide already, with friction against them;
    zeros for the others, whose friction opposes the motion that follows. tol: by how much of the
    largest force or motion, units scaled out, the conditions may be missed where rounding does not
    end it: contacts on more points than a body needs move together to within that.
    """
    conditions = _Conditions(problem, slip)
    far = FAR_ALONG if conditions.moving.any() else 1.0
    best, least = None, tol
    for end, soft in PATHS:
        path = InteriorPoint(tol=end / far, polish=False)
        # its end is only where Newton's steps begin: it is not judged, which would take ten times
        # as long as to find it
        with np.errstate(over="ignore", invalid="ignore"):
            ended = path.run(conditions.shifted(far, soft), COLD, Limits(path.tol, path.time_limit))
        r, error = conditions.polished(ended.value)
        if error <= least:
            best, least = r, error
        if least <= LAW_HOLDS:
            break
    return best


class _Conditions:
    """Alart-Curnier's function of the contacts at rest, friction of those that slide, joints."""

    def __init__(self, problem: FrictionProblem, slip: Floats | None) -> None:
        self.problem = problem
        d, nc = problem.d, problem.nc
        self.d, self.nc, self.mu = d, nc, problem.mu
        self.slip = np.zeros((nc, d - 1)) if slip is None else slip
        self.moving: Bools = np.asarray(self.slip.any(axis=1))
        diagonal = np.abs(problem.dense.diagonal())
        mean = np.repeat(diagonal[: d * nc].reshape(nc, d).mean(axis=1), d)
        self.mean = np.concatenate([mean, diagonal[d * nc :]])
        self.unit = np.sqrt(np.where(self.mean > 0.0, self.mean, 1.0))
        self.W = problem.dense / self.unit[:, None] / self.unit
        self.q = problem.q / self.unit

    def shifted(self, far: float, soft: float) -> FrictionProblem:
        """The problem for the path: what slides gets so large a motion along its slip, `far` times
        the largest, that its friction opposes it; soft: of the diagonal of W, added to it."""
        p, n = self.problem, self.d * self.nc
        q = p.q.copy()
        q[:n].reshape(self.nc, self.d)[:, 1:] += far * np.abs(q).max(initial=0.0) * self.slip
        W = p.dense + np.diag(soft * self.mean) if soft else p.dense
        return FrictionProblem(W, q, p.mu, dim=p.dim, bilateral=p.bilateral)

    def polished(self, r: Floats) -> tuple[Floats, float]:
        """(forces, by how much they miss the conditions): Newton's steps from r while they pay."""
        x = r * self.unit
        f = x[: self.d * self.nc].reshape(self.nc, self.d)
        slides = self.moving
        f[slides, 1:] = -self.mu[slides, None] * self.slip[slides] * f[slides, :1]
        best, least, idle = x, np.inf, 0
        for _ in range(PATH_STEPS):
            if not np.isfinite(x).all():
                break
            F, slope = self._linear(x)
            size = max(float(np.abs(self.q).max(initial=0.0)), float(np.abs(x).max(initial=0.0)))
            error = float(np.abs(F).max(initial=0.0)) / size if size > 0.0 else 0.0
            idle = 0 if error < 0.5 * least else idle + 1
            if error < least:
                best, least = x, error
            if error == 0.0 or idle > (0 if least <= LAW_HOLDS else IDLE):
                break
            move = scipy.linalg.lstsq(slope, F, cond=CUT, lapack_driver="gelsy", check_finite=False)
            x = x - move[0]
        return best / self.unit, least

    def _linear(self, x: Floats) -> tuple[Floats, Floats]:
        """(m,) by how much forces x miss the conditions, (m, m) a piece of its derivative.

        With s = x - u: open (s_n <= 0): x = 0; else u_n = 0 and, at rest, u_t = 0 or friction of
        mu s_n along s_t if that is less than |s_t|; sliding: x_t = -mu x_n slip. Joints: u = 0.
        """
        d, nc, n = self.d, self.nc, self.d * self.nc
        u = self.W @ x + self.q
        F = u.copy()
        own, by_u = np.zeros((2, nc, d, d))  # derivative: by x itself, and by u
        f, v, out = x[:n].reshape(nc, d), u[:n].reshape(nc, d), F[:n].reshape(nc, d)
        s = f - v
        bound, pull = self.mu * np.maximum(s[:, 0], 0.0), np.linalg.norm(s[:, 1:], axis=1)
        open_ = s[:, 0] <= 0.0
        tied = ~open_ & (self.moving | (self.mu == 0.0))
        gives = ~open_ & ~tied & (pull > bound)
        out[open_], own[open_] = f[open_], np.eye(d)
        by_u[~open_] = np.eye(d)
        rub = self.mu[tied, None] * self.slip[tied]
        out[tied, 1:] = f[tied, 1:] + rub * f[tied, :1]
        own[tied, 1:, 1:], own[tied, 1:, 0] = np.eye(d - 1), rub
        by_u[tied, 1:] = 0.0
        e = s[gives, 1:] / pull[gives, None]
        turn = np.eye(d - 1) - e[:, :, None] * e[:, None, :]
        turn *= (bound[gives] / pull[gives])[:, None, None]
        along = self.mu[gives, None] * e
        out[gives, 1:] = f[gives, 1:] - bound[gives, None] * e
        own[gives, 1:, 1:], own[gives, 1:, 0] = np.eye(d - 1) - turn, -along
        by_u[gives, 1:, 1:], by_u[gives, 1:, 0] = turn, along
        slope = self.W.copy()
        slope[:n] = np.matmul(by_u, self.W[:n].reshape(nc, d, -1)).reshape(n, -1)
        place = d * np.arange(nc)[:, None] + np.arange(d)
        slope[place[:, :, None], place[:, None, :]] += own
        return F, slope
