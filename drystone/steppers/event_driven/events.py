"""Event functions of a smooth phase: not negative while it lasts (Baraff 1992, 6.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat

import numpy as np

from drystone.constraints.kinematics import frames_and_velocities
from drystone.constraints.rows import select
from drystone.geometry.shapes import KINDS, codes
from drystone.kernels import kinds
from drystone.model import Contacts, State
from drystone.steppers.event_driven.active_contacts import Rows
from drystone.steppers.event_driven.forces import Kind
from drystone.steppers.event_driven.joint_acceleration_rows import along
from drystone.steppers.event_driven.mechanics import same_pose
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.motion_bounds import Meeting, Pairs, PairSample
from drystone.types import Bools, Floats, Ints

VIOLATED = 3e-8  # relative: by how much a condition of L is violated before its phase ends: more
# than methods and words need to see it; forces are continuous there, so its time matters little
REVERSED_SLIP = 0.1  # of the slip speed: slip against the direction of friction, the same
RENAMED_CONTACT = 1e-6  # of a body's size: a contact that is found again under another name
BEGUN = 1e-5  # [m/s]: slip that keeps the direction in which it began, at most
NO_GAP = 1e-13  # of a body's size: a gap that is none
FOLLOWS = 1e-6  # relative: acceleration of a row that follows from others
VIOLATION_PART = 0.3  # of what conditions of L may be violated by, and
SLIP_END = 1e-3  # of the slip speed: how well their ends are located
PIECED = np.zeros(max(KINDS) + 1, bool)  # by kind: whose curvature jumps
PIECED[codes(lambda kind: kind.pieced)] = True


class Condition(StrEnum):
    """A kind of condition of a phase; ``event``: what happens where one is violated."""

    event: str

    def __new__(cls, value: str, event: str) -> Condition:
        out = str.__new__(cls, value)
        out._value_, out.event = value, event
        return out

    GAP = "gap", "touch"  # C of open contacts
    FLUSH = "flush", "touch"  # height of the rim point opposite to the lowest one
    LIMIT = "limit", "limit"  # gap of a joint's stop
    PULL = "pull", "release"  # f_n of pressing contacts
    PRESS = "press", "touch"  # C'' of open ones with zero gap
    CONE = "cone", "slip"  # mu f_n - |f_t| of sticking ones
    SLIP = "slip", "stick"  # slip along the direction of friction
    GROW = "grow", "slip"  # slip that is too slow to have a direction
    TURN = "turn", "turn"  # slip that keeps its direction
    SET = "set", "contacts"  # presence of a closed contact
    PIECE = "piece", "border"  # the piece of a surface that a contact point is on
    ROW = "row", "joints"  # a joint row that follows from others


GAPS = (Condition.GAP, Condition.FLUSH, Condition.LIMIT)  # distances [m]
LAW = (Condition.PULL, Condition.PRESS, Condition.CONE)  # conditions of L
Name = tuple[Condition, object]


@dataclass(slots=True)
class EventSample:
    """Conditions at time t: values, negative where violated; rates of gaps; found: what the
    detector says, now: forces, where these were evaluated; joins: contacts that touch at rest and
    are not in the phase, or are called otherwise in it."""

    t: float
    now: Evaluation | None = None
    found: Contacts | None = None
    state: State | None = None
    reach: Floats | None = None
    values: dict[Name, float] = field(default_factory=dict)
    rates: dict[Name, float] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)
    _pairs: PairSample | None = None

    def seen(self, state: State) -> Contacts | None:
        """What the detector said of this state, if this sample is of it."""
        if self.now is None or self.t != state.time or not same_pose(self.now.state, state):
            return None
        return self.found

    def pairs(self, count: int) -> PairSample:
        """Pairs of geoms that were found; count: of all geoms."""
        if self.state is None or self.found is None:
            raise ValueError("contacts were not searched for")
        if self._pairs is None:
            reach = np.zeros(count) if self.reach is None else self.reach
            self._pairs = PairSample(self.state, Pairs.of(self.found, count), reach)
        return self._pairs

    def violated(self) -> list[Name]:
        """Names of violated conditions."""
        return [name for name, value in self.values.items() if value < 0.0]


class EventFunctions:
    """Evaluates the conditions of a phase.

    start: its rows at the beginning; touch [m], slow [m/s]: as in the options; slack (nc,):
    times the tolerance of forces, as ``Guard`` has it, None: once.
    """

    def __init__(
        self, mode: Mode, start: Rows, touch: float, slow: float, slack: Floats | None
    ) -> None:
        self.mode, self.touch, self.slow = mode, touch, slow
        self.slack = VIOLATED * (np.ones(mode.closed.size) if slack is None else slack)
        low = np.minimum(start.gap, 0.0)
        leaves = start.state.kind == Kind.SEPARATING
        self.floor: Floats = np.where(leaves, low, low - 0.5 * touch)
        self.piece, self.gap = start.kin.piece, start.contacts.gap
        slides, states = mode.sliding.slides, np.array(mode.forces.states, np.int64)
        gives = (states == Kind.YIELDING) & ~slides & (start.state.mu[:, 0] > 0.0)
        self.gives: list[int] = np.flatnonzero(gives).tolist()
        mu = start.state.mu
        same = (mu[:, 0] == mu[:, 1]) & (start.state.d == 3)
        least = 10.0 * mode.tolerances.slip
        # the direction is kept either way: with one coefficient the phase need not end before slip
        # has a direction of its own
        self.begun: Floats = np.where(same, max(least, min(4.0 * slow, BEGUN)), least)
        self.slides: list[int] = np.flatnonzero(slides & mode.closed).tolist()
        self.slips = bool(self.gives or self.slides)
        self._open = np.append(~mode.closed, True)  # the last one: what is not in the phase
        kind = mode.contact_set.mechanics.model.geoms.kind
        geom = np.stack([start.contacts.geom_a, start.contacts.geom_b], axis=1)
        kind = kind[geom]
        named = (kind == kinds.POLYHEDRON).all(axis=1)  # by the features that meet
        self.pieced: Bools = PIECED[kind] & (mode.closed[: start.nr] & ~named)[:, None]
        self._pieced = bool(self.pieced.any())
        self._spare = mode.spare_joints
        which, away = mode.contact_set.leans(mode.contact_set.began, start.contacts)
        low = np.minimum(away, 0.0) - NO_GAP * mode.contact_set.mechanics.size
        # by contact: its height where the phase begins, if it is below the plane, and how high the
        # rim may be where there is no lowest point
        level = mode.contact_set.level_heights()
        ends = zip(which.tolist(), low.tolist(), level.tolist(), strict=True)
        self._tilted_ends = {i: (c, h) for i, c, h in ends if mode.closed[i]}

    @property
    def nominal(self) -> bool:
        """Whether all conditions have their own tolerances: none is slack, as guards make it."""
        return bool((self.slack == VIOLATED).all())

    def sample(self, state: State, margin: Floats, now: Evaluation | None = None) -> EventSample:
        """Conditions at a state; margin (ng,) [m]: how far around geoms contacts are searched for;
        now: its forces, if they are known."""
        mechanics = self.mode.contact_set.mechanics
        reach = np.maximum(margin, mechanics.near)
        return self.conditions(state, mechanics.contacts(state, reach), now, reach)

    def conditions(
        self,
        state: State,
        found: Contacts,
        now: Evaluation | None = None,
        reach: Floats | None = None,
    ) -> EventSample:
        """Conditions at a state where the detector found these contacts, within a reach."""
        now = now or self.mode.evaluate(state, found)
        out = EventSample(state.time, now, found, state, reach)
        self._gaps(state, found, now.rows.contacts, out)
        self._limits(now, out)
        for kind, margins in zip(LAW, self.mode.margins(now), strict=True):
            slack = VIOLATED if kind is Condition.PRESS else self.slack
            there = (margins < np.inf).nonzero()[0]
            values = (margins + slack)[there].tolist()
            out.values.update(zip(zip(repeat(kind), there.tolist()), values, strict=True))
        self._slips(now.rows.kin.frame, now.rows.state.u[:, 1:], out)
        self._flush(state, now.rows.contacts, out)
        self._lost(state, found, now.rows.contacts, now.rows.lost, out)
        self._borders(now.rows.kin.piece, now.rows.lost, out)
        self._rows(now, out)
        return out

    def may_meet(self, a: EventSample, b: EventSample) -> Meeting:
        """Whether bodies may have met between two samples, as ``MotionBounds`` has it."""
        bounds, own = self.mode.contact_set.mechanics.bounds, self.mode.contact_set.start
        touching = (own.geom_a * bounds.count + own.geom_b)[self.mode.closed[: len(own)]]
        first, second = a.pairs(bounds.count), b.pairs(bounds.count)
        return bounds.may_meet(first, second, touching, self.touch)

    def light(self, state: State, margin: Floats) -> EventSample | None:
        """A sample without forces: gaps, slips, contacts that are lost; None with joints whose
        limits are conditions too."""
        mode, mechanics = self.mode, self.mode.contact_set.mechanics
        if mechanics.joints is not None and mechanics.joints.acting.size:
            return None
        reach = np.maximum(margin, mechanics.near)
        found = mechanics.contacts(state, reach)
        own, lost = mode.contact_set.contacts(state, found)
        out = EventSample(state.time, None, found, state, reach)
        self._gaps(state, found, own, out)
        self._flush(state, own, out)
        self._lost(state, found, own, lost, out)
        if self.slips:
            frame, u = frames_and_velocities(
                mode.contact_set.body, state.position, state.velocity, own
            )
            self._slips(frame, u[:, 1:], out)
        if self._pieced:
            sides = mode.contact_set.sides
            self._borders(mechanics.kinematics(state, own, sides).piece, lost, out)
        return out

    def late(self, there: State, state: State, margin: Floats, legal: EventSample) -> float:
        """How long ago [s] contacts met that are deeper than touching ones may be, in a state that
        closing moved from `there`, and that were apart at a legal sample; 0: none is."""
        mechanics = self.mode.contact_set.mechanics
        away = np.abs(state.position - there.position).max(initial=0.0)
        turn = np.abs(state.orientation - there.orientation).max(initial=0.0)
        if away + mechanics.size * turn <= self.touch:
            return 0.0
        found = mechanics.contacts(state, np.maximum(margin, mechanics.near))
        own, _ = self.mode.contact_set.contacts(state, found)
        out = EventSample(state.time)
        self._gaps(state, found, own, out)
        known = out.rates.keys() & legal.values.keys()
        deep = [(-out.values[name], -out.rates[name]) for name in known]
        return max((c / v for c, v in deep if c > self.touch and v > 0.0), default=0.0)

    def _slack(self, name: Name) -> float:
        """By how much a condition of L may be violated; what is let press would sink."""
        kind, who = name
        if kind is Condition.PRESS or not isinstance(who, int):
            return VIOLATED
        return float(self.slack[who])

    def tiny(self, name: Name) -> float:
        """A violation of this condition that is none."""
        kind = name[0]
        if kind in GAPS:
            return NO_GAP * self.mode.contact_set.mechanics.size
        if kind in (Condition.SLIP, Condition.GROW):
            return SLIP_END * self.mode.tolerances.slip
        if kind is Condition.ROW:
            return FOLLOWS
        if kind is Condition.TURN:
            return VIOLATION_PART * self.mode.sliding.aside * self.slow
        return VIOLATION_PART * self._slack(name) if kind in LAW else 0.0

    def _gaps(self, state: State, found: Contacts, own: Contacts, out: EventSample) -> None:
        """Gaps of contacts that are not closed; own: those of the phase, where they are now."""
        mode, tol = self.mode, self.mode.tolerances
        if len(found) == 0:
            return
        place = mode.contact_set.places(found)
        other = self._open[place].nonzero()[0]
        if other.size == 0:
            return
        found, place = select(found, other), place[other]
        rate = mode.contact_set.mechanics.gap_rates(state, found)
        near = RENAMED_CONTACT * mode.contact_set.mechanics.size
        for j, key in enumerate(mode.contact_set.mechanics.keys(found)):
            i = int(place[j])
            gap = float(found.gap[j])
            if i < 0:
                same = abs(gap) <= near and self._alias(own, found, j)
                if same or (abs(gap) <= self.touch and abs(rate[j]) <= tol.normal):
                    out.joins.append(mode.contact_set.title(key))
                    continue
                out.values[Condition.GAP, key], out.rates[Condition.GAP, key] = gap, float(rate[j])
            else:
                out.values[Condition.GAP, key] = gap - float(self.floor[i])
                out.rates[Condition.GAP, key] = float(rate[j])

    def _flush(self, state: State, own: Contacts, out: EventSample) -> None:
        """Flat ends on one point of their rim: the one across meets the plane too."""
        if not self._tilted_ends:
            return
        which, away = self.mode.contact_set.leans(state, own)
        for i, c in zip(which.tolist(), away.tolist(), strict=True):
            if i in self._tilted_ends:
                out.values[Condition.FLUSH, i] = c - self._tilted_ends[i][0]

    def _alias(self, own: Contacts, found: Contacts, j: int) -> bool:
        """Whether contact j is a closed one under another name."""
        mode = self.mode
        pair = (own.geom_a == found.geom_a[j]) & (own.geom_b == found.geom_b[j])
        pair &= mode.closed[: len(own)]
        if not pair.any():
            return False
        away = np.abs(own.point[pair] - found.point[j]).max(axis=1)
        return bool(away.min() <= RENAMED_CONTACT * mode.contact_set.mechanics.size)

    def _limits(self, now: Evaluation, out: EventSample) -> None:
        acts = now.rows.jointed.acts
        mine = set(self.mode.contact_set.acts.tolist())
        for k, action in enumerate(acts.action.tolist()):
            if acts.loaded[k]:
                continue
            if action not in mine:
                out.values[Condition.LIMIT, action] = float(acts.gap[k])
                out.rates[Condition.LIMIT, action] = float(acts.u[k])
            else:
                i = now.rows.nr + int(np.flatnonzero(self.mode.contact_set.acts == action)[0])
                if not self.mode.closed[i]:
                    out.values[Condition.LIMIT, action] = float(acts.gap[k]) - float(self.floor[i])
                    out.rates[Condition.LIMIT, action] = float(acts.u[k])

    def _slips(self, frame: Floats, u: Floats, out: EventSample) -> None:
        """Sliding contacts: those with a direction of their own stop when they turn back, or turn
        aside; the others when they are slow. Closed ones alone have friction. frame (nr, d, d);
        u (nc, d - 1): slip, those of actions of joints after those of contacts."""
        sliding, nr, tol = self.mode.sliding, frame.shape[0], self.mode.tolerances
        speed = np.sqrt((u**2).sum(axis=1)).tolist()
        for i in self.gives:
            out.values[Condition.GROW, i] = self.begun[i] - speed[i]
        for i in self.slides:
            if not sliding.frozen[i]:
                out.values[Condition.SLIP, i] = speed[i] - self.slow
                continue
            way = sliding.way[i - nr] * u[i, 0] if i >= nr else 0.0
            if i < nr:
                s = frame[i, 1:] @ sliding.direction[i]
                way = float(s @ u[i])
                if u.shape[1] == 2 and sliding.straight[i]:
                    across = abs(s[0] * u[i, 1] - s[1] * u[i, 0])
                    aside = sliding.aside * (speed[i] + self.slow)
                    out.values[Condition.TURN, i] = aside - float(across)
                elif u.shape[1] == 2:
                    out.values[Condition.GROW, i] = 4.0 * self.slow - speed[i]
            out.values[Condition.SLIP, i] = float(way) + REVERSED_SLIP * tol.slip

    def _lost(
        self, state: State, found: Contacts, own: Contacts, lost: Bools, out: EventSample
    ) -> None:
        """Closed contacts that are not found, unless they only changed their name, or are found
        elsewhere, or with another normal, under their name; by how much [m], where there is
        something to compare with."""
        mode, mechanics = self.mode, self.mode.contact_set.mechanics
        closed = mode.closed[: lost.size]
        if not closed.any():
            return
        moved = np.abs(own.gap - self.gap)
        parts = np.abs(mechanics.gap_rates(state, own)) > mode.leaving_speed(state)
        for i in (~lost & closed & parts).nonzero()[0].tolist():
            out.values[Condition.SET, i] = -1.0
        for i in (~lost & closed & (moved > mechanics.jump)).nonzero()[0].tolist():
            out.values[Condition.SET, i] = mechanics.jump - float(moved[i])
        for i in (lost & closed).nonzero()[0].tolist():
            away = out.values.get((Condition.FLUSH, i), np.inf)
            if i in self._tilted_ends and away <= self._tilted_ends[i][1]:
                continue  # the point of a rim that ends with its tilt
            pair = (found.geom_a == own.geom_a[i]) & (found.geom_b == own.geom_b[i])
            away = np.abs(found.point[pair] - own.point[i]).max(axis=1, initial=0.0)
            out.values[Condition.SET, i] = (
                RENAMED_CONTACT * mechanics.size - float(away.min()) if away.size else -1.0
            )
            if out.values[Condition.SET, i] >= 0.0:
                out.joins.append(mode.contact_set.names[i])

    def _rows(self, now: Evaluation, out: EventSample) -> None:
        """Rows of joints that followed from the others as the phase began, as those of a linkage at
        a dead point do: where they no longer do they have forces of their own. Near a dead point
        the others are not held themselves (``mode.INDEX_SET_RANK``); then what follows from them is
        not held either, and no other index set would hold it."""
        if self._spare.size == 0:
            return
        bilateral = now.rows.jointed.bilateral
        a = along(bilateral.J, bilateral.body, now.acceleration)
        size = max(np.abs(a).max(), np.abs(bilateral.bias).max(), np.abs(now.acceleration).max())
        missed = np.abs(a + bilateral.bias)
        if np.delete(missed, self._spare).max(initial=0.0) > FOLLOWS * size:
            return
        for i in self._spare.tolist():
            out.values[Condition.ROW, i] = FOLLOWS * size - float(missed[i])

    def _borders(self, piece: Ints, lost: Bools, out: EventSample) -> None:
        """Closed contacts on another piece (nc, 2) of a surface than at the start: its curvature
        jumps at the border, and forces with it (Baraff 1992, 6.7)."""
        if not self._pieced:
            return
        other = (self.pieced & (piece != self.piece)).any(axis=1) & ~lost
        for i in np.flatnonzero(other).tolist():
            out.values[Condition.PIECE, i] = -1.0
