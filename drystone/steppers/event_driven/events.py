"""Events of a smooth phase: what ends it, and when (Baraff 1992, 6.5).

Every condition of a phase is a number that is not negative while the phase lasts. At the end of a
step of the integrator all of them are looked at; where one is violated the first violation is
located on the step's dense output by the quadratic model (6-31), regula falsi and bisection. One
side of the bracket is always legal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from drystone.constraints.kinematics import frames_and_velocities
from drystone.constraints.rows import select
from drystone.geometry.shapes import KINDS, codes
from drystone.model import Contacts, State
from drystone.steppers.event_driven import sweep
from drystone.steppers.event_driven.forces import Kind
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.event_driven.scene import same_pose
from drystone.steppers.event_driven.settle import OFTEN
from drystone.steppers.event_driven.ties import along
from drystone.steppers.event_driven.touch import Rows
from drystone.types import Bools, Floats

HOLDS = 3e-8  # relative: by how much a condition of L is violated before its phase ends: more
# than methods and words need to see it; forces are continuous there, so its time matters little
# times as much after OFTEN phases of a frame that a contact ends in this way, after one more as
# much again, and no more: what is at its bound by its nature would end phase after phase
AGAIN = 100.0
TURNED = 0.1  # of the slip speed: slip against the direction of friction, the same
SAME = 1e-6  # of a body's size: a contact that is found again under another name
BEGUN = 1e-5  # [m/s]: slip that keeps the direction in which it began, at most
NONE = 1e-13  # of a body's size: a gap that is none
FOLLOWS = 1e-6  # relative: acceleration of a row that follows from others
PART = 0.3  # of what conditions of L may be violated by, and
FINE = 1e-3  # of the slip speed: how well their ends are located
KEPT = 0.3  # of how much nearer they come: of the way to where a contact is lost
INSTANT = 1e-10  # [s]: the same of what is there or not: contacts, pieces of surfaces
LAW = ("pull", "press", "cone")
HEARD = ("gap", "flush", "limit")  # what ends phases that make no progress
LIGHT = ("gap", "flush", "slip", "grow", "turn", "set")  # what needs no forces to be looked at
ENDS = {
    "gap": "touch", "flush": "touch", "limit": "limit", "pull": "release", "press": "touch",
    "cone": "slip", "slip": "stick", "grow": "slip", "turn": "turn", "set": "contacts",
    "piece": "border", "row": "joints",
}  # fmt: skip

PIECED = np.zeros(max(KINDS) + 1, bool)  # by kind: whose curvature jumps
PIECED[codes(lambda kind: kind.pieced)] = True

Name = tuple[str, object]


@dataclass(slots=True)
class Probe:
    """Conditions at time t: values, negative where violated; rates of gaps; found: what the
    detector says, now: forces, where these were looked at; joins: contacts that touch at rest and
    are not in the phase, or are called otherwise in it."""

    t: float
    now: Evaluation | None = None
    found: Contacts | None = None
    state: State | None = None
    reach: Floats | None = None
    values: dict[Name, float] = field(default_factory=dict)
    rates: dict[Name, float] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)
    _look: sweep.Look | None = None

    def seen(self, state: State) -> Contacts | None:
        """What the detector said of this state, if this probe is of it."""
        if self.now is None or self.t != state.time or not same_pose(self.now.state, state):
            return None
        return self.found

    def look(self, count: int) -> sweep.Look:
        """Pairs of geoms that were found; count: of all geoms."""
        if self.state is None or self.found is None:
            raise ValueError("nothing was looked for")
        if self._look is None:
            reach = np.zeros(count) if self.reach is None else self.reach
            self._look = sweep.Look(self.state, sweep.Pairs.of(self.found, count), reach)
        return self._look

    def violated(self, quiet: bool = False) -> list[Name]:
        """Names of violated conditions; quiet: of gaps and limits alone."""
        return [
            name for name, value in self.values.items()
            if value < 0.0 and (not quiet or name[0] in HEARD)
        ]  # fmt: skip


class Watch:
    """Looks at the conditions of a phase.

    start: its rows at the beginning; touch [m], slow [m/s]: as in the options; loose: factor of
    the tolerance of L, raised where events follow each other without progress; ended: by name,
    how many phases of the frame contacts have ended that left L.
    """

    def __init__(
        self,
        mode: Mode,
        start: Rows,
        touch: float,
        slow: float,
        loose: float,
        ended: Mapping[str, int],
    ) -> None:
        self.mode, self.touch, self.slow, self.loose = mode, touch, slow, loose
        times = np.zeros(mode.closed.size, np.int64)
        times[: len(mode.held.names)] = [ended.get(name, 0) for name in mode.held.names]
        self.slack = loose * HOLDS * AGAIN ** np.clip(times - OFTEN + 1, 0, 2)
        low = np.minimum(start.gap, 0.0)
        leaves = start.state.kind == Kind.SEPARATING
        self.floor: Floats = np.where(leaves, low, low - 0.5 * touch)
        self.piece, self.gap = start.kin.piece, start.contacts.gap
        slides, word = mode.sliding.slides, np.array(mode.forces.word, "<U9")
        gives = (word == "onset") & ~slides & (start.state.mu[:, 0] > 0.0)
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
        kind = mode.held.scene.model.geoms.kind
        geom = np.stack([start.contacts.geom_a, start.contacts.geom_b], axis=1)
        self.pieced: Bools = PIECED[kind[geom]] & mode.closed[: start.nr, None]
        self._pieced = bool(self.pieced.any())
        self._spare = mode.spare_joints
        which, away = mode.held.leans(mode.held.began, start.contacts)
        low = np.minimum(away, 0.0) - NONE * mode.held.scene.size
        # by contact: its height where the phase begins, if it is below the plane, and how high the
        # rim may be where there is no lowest point
        level = mode.held.level_heights()
        ends = zip(which.tolist(), low.tolist(), level.tolist(), strict=True)
        self._tips = {i: (c, h) for i, c, h in ends if mode.closed[i]}

    @property
    def calm(self) -> bool:
        """Whether nothing that happened in the frame is held against the conditions."""
        return bool((self.slack == HOLDS).all())

    def probe(self, state: State, margin: Floats, now: Evaluation | None = None) -> Probe:
        """Conditions at a state; margin (ng,) [m]: how far around geoms to look; now: its forces,
        if they are known."""
        scene = self.mode.held.scene
        reach = np.maximum(margin, scene.near)
        return self.conditions(state, scene.contacts(state, reach), now, reach)

    def conditions(
        self,
        state: State,
        found: Contacts,
        now: Evaluation | None = None,
        reach: Floats | None = None,
    ) -> Probe:
        """Conditions at a state where the detector found these contacts, within a reach."""
        now = now or self.mode.evaluate(state, found)
        out = Probe(state.time, now, found, state, reach)
        self._gaps(state, found, now.rows.contacts, out)
        self._limits(now, out)
        for kind, margins in zip(LAW, self.mode.margins(now), strict=True):
            slack = self.loose * HOLDS if kind == "press" else self.slack
            there = (margins < np.inf).nonzero()[0]
            values = (margins + slack)[there].tolist()
            out.values.update(zip(zip(repeat(kind), there.tolist()), values, strict=True))
        self._slips(now.rows.kin.frame, now.rows.state.u[:, 1:], out)
        self._flush(state, now.rows.contacts, out)
        self._lost(found, now.rows.contacts, now.rows.lost, out)
        self._borders(now, out)
        self._rows(now, out)
        return out

    def doubt(self, a: Probe, b: Probe) -> int:
        """Whether bodies may have met between two probes, as ``Sweep`` has it."""
        tool, own = self.mode.held.scene.sweep, self.mode.held.start
        touching = (own.geom_a * tool.count + own.geom_b)[self.mode.closed[: len(own)]]
        return tool.doubt(a.look(tool.count), b.look(tool.count), touching, self.touch)

    def light(self, state: State, margin: Floats) -> Probe | None:
        """A probe without forces: gaps, slips, contacts that are lost; None with joints whose
        limits have to be looked at too."""
        mode, scene = self.mode, self.mode.held.scene
        if scene.joints is not None and scene.joints.acting.size:
            return None
        reach = np.maximum(margin, scene.near)
        found = scene.contacts(state, reach)
        own, lost = mode.held.contacts(state, found)
        out = Probe(state.time, None, found, state, reach)
        self._gaps(state, found, own, out)
        self._flush(state, own, out)
        self._lost(found, own, lost, out)
        if self.slips:
            frame, u = frames_and_velocities(mode.held.body, state.position, state.velocity, own)
            self._slips(frame, u[:, 1:], out)
        return out

    def late(self, there: State, state: State, margin: Floats, legal: Probe) -> float:
        """How long ago [s] contacts met that are deeper than touching ones may be, in a state that
        closing moved from `there`, and that were apart at a legal probe; 0: none is."""
        scene = self.mode.held.scene
        away = np.abs(state.position - there.position).max(initial=0.0)
        turn = np.abs(state.orientation - there.orientation).max(initial=0.0)
        if away + scene.size * turn <= self.touch:
            return 0.0
        found = scene.contacts(state, np.maximum(margin, scene.near))
        own, _ = self.mode.held.contacts(state, found)
        out = Probe(state.time)
        self._gaps(state, found, own, out)
        known = out.rates.keys() & legal.values.keys()
        deep = [(-out.values[name], -out.rates[name]) for name in known]
        return max((c / v for c, v in deep if c > self.touch and v > 0.0), default=0.0)

    def _slack(self, name: Name) -> float:
        """By how much a condition of L may be violated; what is let press would sink."""
        kind, who = name
        if kind == "press" or not isinstance(who, int):
            return self.loose * HOLDS
        return float(self.slack[who])

    def tiny(self, name: Name) -> float:
        """A violation of this condition that is none."""
        kind = name[0]
        if kind in ("gap", "flush", "limit"):
            return NONE * self.mode.held.scene.size
        if kind in ("slip", "grow"):
            return FINE * self.mode.tolerances.slip
        if kind == "row":
            return FOLLOWS
        if kind == "turn":
            return PART * self.mode.sliding.aside * self.slow
        return PART * self._slack(name) if kind in LAW else 0.0

    def _gaps(self, state: State, found: Contacts, own: Contacts, out: Probe) -> None:
        """Gaps of contacts that are not closed; own: those of the phase, where they are now."""
        mode, tol = self.mode, self.mode.tolerances
        if len(found) == 0:
            return
        place = mode.held.places(found)
        other = self._open[place].nonzero()[0]
        if other.size == 0:
            return
        found, place = select(found, other), place[other]
        rate = mode.held.scene.gap_rates(state, found)
        near = SAME * mode.held.scene.size
        for j, key in enumerate(mode.held.scene.keys(found)):
            i = int(place[j])
            gap = float(found.gap[j])
            if i < 0:
                same = abs(gap) <= near and self._alias(own, found, j)
                if same or (abs(gap) <= self.touch and abs(rate[j]) <= tol.normal):
                    out.joins.append(mode.held.title(key))
                    continue
                out.values["gap", key], out.rates["gap", key] = gap, float(rate[j])
            else:
                out.values["gap", key] = gap - float(self.floor[i])
                out.rates["gap", key] = float(rate[j])

    def _flush(self, state: State, own: Contacts, out: Probe) -> None:
        """Flat ends on one point of their rim: the one across meets the plane too."""
        if not self._tips:
            return
        which, away = self.mode.held.leans(state, own)
        for i, c in zip(which.tolist(), away.tolist(), strict=True):
            if i in self._tips:
                out.values["flush", i] = c - self._tips[i][0]

    def _alias(self, own: Contacts, found: Contacts, j: int) -> bool:
        """Whether contact j is a closed one under another name."""
        mode = self.mode
        pair = (own.geom_a == found.geom_a[j]) & (own.geom_b == found.geom_b[j])
        pair &= mode.closed[: len(own)]
        if not pair.any():
            return False
        away = np.abs(own.point[pair] - found.point[j]).max(axis=1)
        return bool(away.min() <= SAME * mode.held.scene.size)

    def _limits(self, now: Evaluation, out: Probe) -> None:
        acts = now.rows.jointed.acts
        mine = set(self.mode.held.acts.tolist())
        for k, action in enumerate(acts.action.tolist()):
            if acts.loaded[k]:
                continue
            if action not in mine:
                out.values["limit", action] = float(acts.gap[k])
                out.rates["limit", action] = float(acts.u[k])
            else:
                i = now.rows.nr + int(np.flatnonzero(self.mode.held.acts == action)[0])
                if not self.mode.closed[i]:
                    out.values["limit", action] = float(acts.gap[k]) - float(self.floor[i])
                    out.rates["limit", action] = float(acts.u[k])

    def _slips(self, frame: Floats, u: Floats, out: Probe) -> None:
        """Sliding contacts: those with a direction of their own stop when they turn back, or turn
        aside; the others when they are slow. Closed ones alone have friction. frame (nr, d, d);
        u (nc, d - 1): slip, those of actions of joints after those of contacts."""
        sliding, nr, tol = self.mode.sliding, frame.shape[0], self.mode.tolerances
        speed = np.sqrt((u**2).sum(axis=1)).tolist()
        for i in self.gives:
            out.values["grow", i] = self.begun[i] - speed[i]
        for i in self.slides:
            if not sliding.frozen[i]:
                out.values["slip", i] = speed[i] - self.slow
                continue
            way = sliding.way[i - nr] * u[i, 0] if i >= nr else 0.0
            if i < nr:
                s = frame[i, 1:] @ sliding.direction[i]
                way = float(s @ u[i])
                if u.shape[1] == 2 and sliding.straight[i]:
                    across = abs(s[0] * u[i, 1] - s[1] * u[i, 0])
                    out.values["turn", i] = sliding.aside * (speed[i] + self.slow) - float(across)
                elif u.shape[1] == 2:
                    out.values["grow", i] = 4.0 * self.slow - speed[i]
            out.values["slip", i] = float(way) + TURNED * tol.slip

    def _lost(self, found: Contacts, own: Contacts, lost: Bools, out: Probe) -> None:
        """Closed contacts that are not found, unless they only changed their name, or are found
        elsewhere under their name; by how much [m], where there is something to compare with."""
        mode, scene = self.mode, self.mode.held.scene
        closed = mode.closed[: lost.size]
        moved = np.abs(own.gap - self.gap)
        for i in (~lost & closed & (moved > scene.jump)).nonzero()[0].tolist():
            out.values["set", i] = scene.jump - float(moved[i])
        for i in (lost & closed).nonzero()[0].tolist():
            if i in self._tips and out.values["flush", i] <= self._tips[i][1]:
                continue  # the point of a rim that ends with its tilt
            pair = (found.geom_a == own.geom_a[i]) & (found.geom_b == own.geom_b[i])
            away = np.abs(found.point[pair] - own.point[i]).max(axis=1, initial=0.0)
            out.values["set", i] = SAME * scene.size - float(away.min()) if away.size else -1.0
            if out.values["set", i] >= 0.0:
                out.joins.append(mode.held.names[i])

    def _rows(self, now: Evaluation, out: Probe) -> None:
        """Rows of joints that followed from the others as the phase began, as those of a linkage at
        a dead point do: where they no longer do they have forces of their own."""
        if self._spare.size == 0:
            return
        ties = now.rows.jointed.ties
        a = along(ties.J, ties.body, now.acceleration)
        size = max(np.abs(a).max(), np.abs(ties.bias).max(), np.abs(now.acceleration).max())
        for i in self._spare.tolist():
            out.values["row", i] = FOLLOWS * size - abs(float(a[i] + ties.bias[i]))

    def _borders(self, now: Evaluation, out: Probe) -> None:
        """Closed contacts on another piece of a surface than at the start: its curvature jumps
        at the border, and forces with it (Baraff 1992, 6.7)."""
        if self.loose > 1.0 or not self._pieced:
            return
        other = (self.pieced & (now.rows.kin.piece != self.piece)).any(axis=1) & ~now.rows.lost
        for i in np.flatnonzero(other).tolist():
            out.values["piece", i] = -1.0


Look = Callable[[float, bool], Probe]  # at a time; whether gaps and slips are enough


def dips(a: Probe, b: Probe) -> list[float]:
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


def first_event(watch: Watch, look: Look, a: Probe, b: Probe, quiet: bool) -> tuple[Probe, Probe]:
    """(last legal, first illegal) probe between a, legal, and b, illegal."""
    run, last, past = 0, 0, b
    tiny = 4.0 * np.spacing(max(abs(a.t), abs(b.t)))
    for _ in range(120):
        width = b.t - a.t
        names = b.violated(quiet)
        if width <= tiny or all(b.values[n] >= -watch.tiny(n) for n in names):
            break
        instant = all(n[0] in ("set", "piece") for n in names)
        if width <= INSTANT and instant:
            break
        part = 0.5 if run >= 3 else min(_estimate(n, watch.tiny(n), a, b, past) for n in names)
        edge = min(0.25, (0.5 * INSTANT if instant else 2.0 * tiny) / width)
        light = all(n[0] in LIGHT for n in names)
        c = look(a.t + width * min(max(part, edge), 1.0 - edge), light)
        side = 1 if c.violated(quiet) else -1
        run, last = (run + 1 if side == last and run < 3 else 1), side
        if side > 0:
            b, past = c, b
        else:
            a = c
    return a, b


def _estimate(name: Name, tiny: float, a: Probe, b: Probe, past: Probe) -> float:
    """Part of the way from a to b at which a condition has just failed, by half of what is
    tolerated: by the quadratic model, else by a straight line; past: the illegal probe before b."""
    h = b.t - a.t
    c0, c1 = a.values.get(name), b.values[name] + 0.5 * tiny
    if name[0] == "set":
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
    part = 1.0 - back / h * (1.0 - KEPT * back / (back + ahead))
    return part if part > 0.0 else 0.5
