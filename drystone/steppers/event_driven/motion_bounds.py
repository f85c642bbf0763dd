"""What can have met between two samples: conservative bounds on the gaps of pairs of geoms.

Two convex bodies are apart along their normal n by their gap. Held fixed, n continues to separate
them by at least that gap, plus n.(motion of A's centre less that of B's), less what their turning
can bring closer. So a gap at each end of an interval bounds it from below all through, and a pair
for which both bounds together stay above zero has not met. Where they do not, the interval is
sampled and halved. It ends where bodies have moved by a tenth of the thinner one's half width:
none can have passed through the other in between, and what grazes it shows in its gap's rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.geometry.shapes import BALLS, HOLLOW, KINDS, codes
from drystone.model import Contacts, Geoms, Model, State
from drystone.types import Bools, Floats, Ints

PASSING_PART = 0.1  # of the thinner geom's half width: motion in which nothing passes through it
SPARE = 1.5  # times the bend of a path at constant acceleration, and
# times the turning at its ends: what smooth motion between two samples is within
TURNING_FACTOR = 1.1
TRAVEL = 0.5  # of the smaller geom: turning of bodies that touch, between two samples
MOTION_SAMPLES = 10  # of a prescribed motion in an interval; nothing else is known of it
ROUND = codes(lambda kind: kind.about_z)  # about the z axes of their frames
UNEVEN = 0.6180339887498949  # of an interval: samples at times that no period fits


class Meeting(Enum):
    """What may have happened between two samples in which geoms are apart."""

    NONE = "they have not met"
    POSSIBLE = "they may have met, and passed through each other"
    GRAZING = "they may have met, but none can have passed through another"


@dataclass(slots=True)
class Pairs:
    """Pairs of geoms at an instant: key (n,) ascending, a * ng + b; gap (n,) the least of their
    contacts [m], normal (n, dim) its normal."""

    key: Ints
    gap: Floats
    normal: Floats

    @classmethod
    def of(cls, found: Contacts, count: int) -> Pairs:
        key = found.geom_a * count + found.geom_b
        order = np.lexsort((found.gap, key))
        first = np.ones(order.size, bool)
        first[1:] = key[order][1:] != key[order][:-1]
        least = order[first]
        return cls(key[least], found.gap[least], found.normal[least])


@dataclass(slots=True)
class PairSample:
    """A state, and the pairs of geoms that were found near each other in it: others are farther
    apart than the sum of their reach (ng,) [m]."""

    state: State
    pairs: Pairs
    reach: Floats


class MotionBounds:
    """The geoms of a model as bounds see them: thin (ng,) half of the least width [m]; arm (ng,)
    how far from the body's centre its turning moves a surface [m]; plain (ng,): convex; axis
    (ng, dim): in the body's frame, that about which turning does not move it, zero for none."""

    def __init__(self, model: Model) -> None:
        geoms = model.geoms
        self.model, self.count = model, len(geoms)
        self.body = geoms.body
        self.thin = np.array([_thin(geoms, g) for g in range(self.count)])
        away = np.sqrt((geoms.offset**2).sum(axis=1))
        self.radius: Floats = geoms.radius
        ball = np.isin(geoms.kind, BALLS)
        self.arm: Floats = away + np.where(ball, 0.0, geoms.radius)
        self.plain: Bools = np.isin(geoms.kind, HOLLOW, invert=True)
        self.axis = np.zeros((self.count, model.dim))
        for g in np.flatnonzero(np.isin(geoms.kind, ROUND)):
            self.axis[g] = _axis(model, int(g))
        self.round = bool(self.axis.any())

    def fastest(self, t0: float, t1: float) -> dict[int, tuple[float, float]]:
        """Greatest speeds [m/s] and turning rates [rad/s] of prescribed bodies in an interval."""
        out, dim = {}, self.model.dim
        for i, motion in self.model.motions:
            rates = np.array([motion.velocity(t, 0.0) for t in _times(t0, t1)])
            linear, angular = (np.sqrt((v**2).sum(axis=1)).max() for v in np.split(rates, [dim], 1))
            out[i] = float(linear), float(angular)
        return out

    def may_meet(self, a: PairSample, b: PairSample, touching: Ints, touch: float) -> Meeting:
        """Whether geoms that are apart in two samples may have met in between.

        One of the samples reaches as far as bodies can move, so that pairs which were found at
        neither cannot meet. touching: keys of pairs with contacts that press: the others have
        gaps of their own, and turn by half their size at most between two samples.
        """
        key = np.union1d(a.pairs.key, b.pairs.key)
        if key.size == 0 or not a.state.time < b.state.time:
            return Meeting.NONE
        g = np.stack([key // self.count, key % self.count], axis=1)
        shift, turned, bend, wobble = self._relative(a.state, b.state, g)
        loss = turned + 4.0 * bend
        size = np.sqrt((shift**2).sum(axis=1))
        plain: Bools = np.asarray(self.plain[g].all(axis=1))
        bounds, across = [], np.zeros(key.size)
        for sample, sign in ((a, 1.0), (b, -1.0)):
            pairs = sample.pairs
            gap, rate = sample.reach[g].sum(axis=1), -size - loss
            at = np.minimum(np.searchsorted(pairs.key, key), max(pairs.key.size - 1, 0))
            known = np.flatnonzero(np.isin(key, pairs.key))
            gap[known] = pairs.gap[at[known]]
            along = sign * (pairs.normal[at[known]] * shift[known]).sum(axis=1)
            across[known] = np.abs(along)
            rate[known] = np.where(plain[known], along - loss[known], rate[known])
            bounds.append((gap - wobble, rate))
        own = np.isin(key, touching)
        width = np.where(
            own, TRAVEL * self.radius[g].min(axis=1), PASSING_PART * self.thin[g].min(axis=1)
        )
        fine = np.where(own, across, size) + loss + wobble <= width
        near: Bools = own | (_lowest(*bounds[0], *bounds[1]) < -touch)
        if (near & ~fine).any():
            return Meeting.POSSIBLE
        return Meeting.GRAZING if (near & ~own).any() else Meeting.NONE

    def _relative(self, a: State, b: State, g: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Of pairs of geoms g (n, 2) between two states: motion of A's centre less that of B's
        (n, dim); what turning moves surfaces, at most; how far paths are from straight, at constant
        acceleration, and of prescribed ones, which may be so at once: (n,) each [m]."""
        dim, dt, body = self.model.dim, b.time - a.time, self.body[g]
        moved = b.position - a.position
        change = b.velocity[:, :dim] - a.velocity[:, :dim]
        bend = SPARE * dt / 8.0 * np.sqrt((change**2).sum(axis=1))
        turns = [np.sqrt((s.velocity[:, dim:] ** 2).sum(axis=1)) for s in (a, b)]
        turn, wobble = TURNING_FACTOR * np.maximum(*turns), np.zeros_like(bend)
        for i, motion in self.model.motions:
            if not (body == i).any():
                continue
            times = np.array(_times(a.time, b.time))
            place = np.array([motion.pose(t)[0] for t in times])
            straight = a.position[i] + np.outer((times - a.time) / dt, moved[i])
            rates = np.array([motion.velocity(t, 0.0)[dim:] for t in times])
            bend[i] = 0.0
            wobble[i] = SPARE * float(np.sqrt(((place - straight) ** 2).sum(axis=1)).max())
            turn[i] = TURNING_FACTOR * float(np.sqrt((rates**2).sum(axis=1)).max())
        shift = moved[body[:, 0]] - moved[body[:, 1]]
        arm = self.arm[g]
        wide = ~np.isfinite(arm)
        if wide.any():  # what turning moves of a plane, next to the other body
            away = a.position[body[:, 0]] - a.position[body[:, 1]]
            far = np.sqrt((away**2).sum(axis=1)) + np.sqrt((shift**2).sum(axis=1))
            arm = np.where(wide, far[:, None] + np.where(wide, 0.0, arm)[:, ::-1], arm)
        rate = turn[body]
        if self.round:
            rate = np.minimum(rate, self._across(a, b, g, rate))
        turned = (np.minimum(rate * dt, 2.0) * arm).sum(axis=1)
        return shift, turned, bend[body].sum(axis=1), wobble[body].sum(axis=1)

    def _across(self, a: State, b: State, g: Ints, rate: Floats) -> Floats:
        """Turning rates (n, 2) [rad/s] of geoms g (n, 2) across their axes; others as they are."""
        body, axis, dim = self.body[g], self.axis[g], self.model.dim
        least = [np.zeros_like(rate)]
        for s in (a, b):
            along = np.einsum("npij,npj->npi", rotations(s.orientation)[body], axis)
            least.append(np.sqrt((np.cross(s.velocity[body, dim:], along) ** 2).sum(axis=2)))
        out: Floats = np.where(axis.any(axis=2), TURNING_FACTOR * np.maximum.reduce(least), rate)
        return out


def _axis(model: Model, g: int) -> Floats:
    """Axis of a round geom in its body's frame, if it passes through the centre of a free body
    whose inertia is round too, so that spin stays spin; zero if not."""
    geoms, i = model.geoms, int(model.geoms.body[g])
    e: Floats = geoms.turn[g][:, 2]
    off = geoms.offset[g] - (geoms.offset[g] @ e) * e
    if np.abs(off).max() > 1e-12 * geoms.radius[g] or i in dict(model.motions):
        return np.zeros(3)
    inertia = model.inertia[i]
    along = e @ inertia @ e
    across = 0.5 * (np.trace(inertia) - along)
    odd = inertia - across * np.eye(3) - (along - across) * np.outer(e, e)
    return e if np.abs(odd).max() <= 1e-12 * np.abs(inertia).max() else np.zeros(3)


def _lowest(g0: Floats, a0: Floats, g1: Floats, a1: Floats) -> Floats:
    """Least value over s from 0 to 1 of the greater of g0 + s a0 and g1 + (1 - s) a1: it is convex,
    so at an end or where they cross."""
    ends = np.minimum(np.maximum(g0, g1 + a1), np.maximum(g0 + a0, g1))
    both = a0 + a1
    s = np.divide(g1 + a1 - g0, both, out=np.zeros_like(both), where=both != 0.0)
    inside = (s > 0.0) & (s < 1.0)
    out: Floats = np.where(inside, np.minimum(ends, g0 + s * a0), ends)
    return out


def _times(t0: float, t1: float) -> list[float]:
    """Both ends, and times in between."""
    return [t0, t1, *(t0 + (t1 - t0) * ((k * UNEVEN) % 1.0) for k in range(1, MOTION_SAMPLES))]


def _thin(geoms: Geoms, g: int) -> float:
    """Half of a geom's least width [m]."""
    numbers = geoms.numbers[geoms.first[g] : geoms.first[g + 1]]
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    return KINDS[int(geoms.kind[g])].half_width(numbers, ints)
