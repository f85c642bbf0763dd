"""Where the first event of a step lies (Baraff 1992, 6.5).

The conditions of a phase are sampled at the end of each step of the integrator, and within it where
a gap may have closed and opened again, or bodies may have passed through each other. Where one is
violated, the first violation is located on the step's polynomial by the quadratic model (6-31),
regula falsi and bisection. One side of the bracket is always legal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drystone.model import State
from drystone.steppers.event_driven.events import Condition, EventFunctions, EventSample, Name
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.integrators import StepPath
from drystone.steppers.event_driven.motion_bounds import Meeting
from drystone.steppers.event_driven.vector import Layout
from drystone.types import Floats

PART_OF_WAY = 0.3  # of how much nearer they come: of the way to where a contact is lost
LIGHT = (
    Condition.GAP, Condition.FLUSH, Condition.SLIP, Condition.GROW, Condition.TURN, Condition.SET,
    Condition.PIECE,
)  # what needs no forces to be evaluated  # fmt: skip
INSTANT = 1e-10  # [s]: how well the end of what is there or not is located: contacts, pieces
THERE_OR_NOT = (Condition.SET, Condition.PIECE)  # what has no size

Sampler = Callable[[float, bool], EventSample]  # at a time; whether gaps and slips are enough
Bracket = tuple[EventSample, EventSample]  # last legal, first illegal


class StepSearch:
    """Samples the conditions of a phase within one step of the integrator.

    path: Y within the step; margin (ng,) [m]: how far around geoms contacts are searched for;
    log: counts samples.
    """

    def __init__(
        self, events: EventFunctions, layout: Layout, path: StepPath, margin: Floats, log: FrameLog
    ) -> None:
        self.events, self.layout, self.path = events, layout, path
        self.margin, self.log = margin, log

    def first(self, prior: EventSample, after: State) -> Bracket | EventSample:
        """The first event after a legal sample, or the sample at the end of the step, whose state,
        contacts closed, is `after`."""
        self.log.evaluations += 1
        end = self.events.sample(after, self.margin)
        left = prior
        for t in dips(prior, end):
            middle = self._sample(t)
            if middle.violated():
                return self._within(left, middle)
            event = self._hidden(left, middle)
            if event is not None:
                return event
            left = middle
        if end.violated():
            return self._within(left, end)
        return self._hidden(left, end) or end

    def _sample(self, t: float, light: bool = False) -> EventSample:
        there = self.layout.state(t, self.path(t))
        found = self.events.light(there, self.margin) if light else None
        if found is not None:
            return found
        self.log.evaluations += 1
        return self.events.sample(there, self.margin)

    def _within(self, a: EventSample, b: EventSample) -> Bracket:
        """The first event between a legal and an illegal sample."""
        last = first_event(self.events, self._sample, a, b)
        return self._hidden(a, last[0]) or last

    def _hidden(self, a: EventSample, b: EventSample) -> Bracket | None:
        """The first event between two legal samples, if there is one."""
        meeting = self.events.may_meet(a, b)
        if meeting is Meeting.POSSIBLE:
            m = self._sample(0.5 * (a.t + b.t), True)
            if m.violated():
                return self._within(a, m)
            return self._hidden(a, m) or self._hidden(m, b)
        for t in dips(a, b) if meeting is Meeting.GRAZING else []:
            m = self._sample(t, True)
            if m.violated():
                return first_event(self.events, self._sample, a, m)
        return None


def dips(a: EventSample, b: EventSample) -> list[float]:
    """Times inside (a, b) at which a gap that is open at both ends may have been closed."""
    h = b.t - a.t
    out = []
    for name, end in b.rates.items():
        if end <= 0.0 or b.values[name] <= 0.0:
            continue
        if name not in a.rates:
            out.append(a.t + 0.5 * h)
            continue
        start = a.rates[name]
        if start >= 0.0:
            continue
        s, least = _lowest(a.values[name], start * h, b.values[name], end * h)
        if least <= 0.05 * max(a.values[name], b.values[name]):
            out.append(a.t + s * h)
    return sorted(set(out))


def _lowest(c0: float, r0: float, c1: float, r1: float) -> tuple[float, float]:
    """Where on (0, 1) the cubic with these ends and slopes is lowest, and its value."""
    a, b = 2 * (c0 - c1) + r0 + r1, 3 * (c1 - c0) - 2 * r0 - r1
    roots = np.roots([3 * a, 2 * b, r0]) if a != 0.0 or b != 0.0 else np.empty(0)
    best = (0.5, min(c0, c1))
    for s in roots[np.isreal(roots)].real.tolist():
        if 0.0 < s < 1.0:
            value = ((a * s + b) * s + r0) * s + c0
            if value < best[1]:
                best = (s, value)
    return best


def first_event(events: EventFunctions, sample: Sampler, a: EventSample, b: EventSample) -> Bracket:
    """(last legal, first illegal) sample between a, legal, and b, illegal."""
    run, last, past = 0, 0, b
    tiny = 4.0 * np.spacing(max(abs(a.t), abs(b.t)))
    for _ in range(120):
        width = b.t - a.t
        names = b.violated()
        if width <= tiny or all(b.values[n] >= -events.tiny(n) for n in names):
            break
        instant = all(n[0] in THERE_OR_NOT for n in names)
        if width <= INSTANT and instant:
            break
        part = 0.5 if run >= 3 else min(_estimate(n, events.tiny(n), a, b, past) for n in names)
        edge = min(0.25, (0.5 * INSTANT if instant else 2.0 * tiny) / width)
        light = all(n[0] in LIGHT for n in names)
        c = sample(a.t + width * min(max(part, edge), 1.0 - edge), light)
        side = 1 if c.violated() else -1
        run, last = (run + 1 if side == last and run < 3 else 1), side
        if side > 0:
            b, past = c, b
        else:
            a = c
    return a, b


def _estimate(name: Name, tiny: float, a: EventSample, b: EventSample, past: EventSample) -> float:
    """Part of the way from a to b at which a condition has just failed, by half of what is
    tolerated: by the quadratic model, else by a straight line; past: the illegal one before b."""
    h = b.t - a.t
    c0, c1 = a.values.get(name), b.values[name] + 0.5 * tiny
    if name[0] is Condition.SET:
        return _lost_at(past.t - b.t, past.values.get(name, c1), c1, h)
    if c0 is None:
        return 0.5
    c0 += 0.5 * tiny
    rate = a.rates.get(name)
    if rate is not None:
        curve = 2.0 * (c1 - c0 - rate * h)  # C'' h^2
        slope = rate * h
        root = slope * slope - 2.0 * curve * c0
        if abs(curve) > 1e-12 * abs(slope) and root >= 0.0:
            q = -(slope + np.copysign(np.sqrt(root), slope))
            found = [s for s in (q / curve, 2.0 * c0 / q if q != 0.0 else -1.0) if 0 < s < 1]
            if found:
                return float(max(found) if c0 <= 0.0 or slope > 0.0 else min(found))
    if c0 <= 0.0 or c1 >= 0.0:
        return 0.5
    return c0 / (c0 - c1)


def _lost_at(ahead: float, later: float, c: float, h: float) -> float:
    """The same for what has a value on the illegal side only: by the line through c at its end and
    `later`, `ahead` [s] of it. A little of the way is kept, less and less of it, so as to come
    down on that side, where the next line begins; half of the way where there is no line."""
    if not later < c:
        return 0.5
    back = ahead * c / (later - c)
    part = 1.0 - back / h * (1.0 - PART_OF_WAY * back / (back + ahead))
    return part if part > 0.0 else 0.5
