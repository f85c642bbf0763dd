"""Flat ends of cylinders and cones: either one point of the rim bears, or the whole end does.

Detectors give a tilted end its lowest point, which rolls along the rim, and points of a ring that
is fixed in the body. Above a plane none of the ring is lower than the lowest point: while the end
is tilted they say nothing, and are left out. The lowest point runs round the rim at the rate of
the spin over the tilt, and where the end is flush there is none: then the ring bears. In between
lies an event, the instant at which the point of the rim across from the lowest one meets
the plane too. At that instant points approach at different speeds, of which the ring need not have
the greatest: the point of the rim that approaches fastest is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.constraints.rows import select
from drystone.dynamics import bodies
from drystone.geometry.shapes import KINDS
from drystone.kernels import kinds
from drystone.model import Contacts, Model, State
from drystone.types import Bools, Floats, Ints

FLUSH = 0.25  # of `touch`: an end whose rim is nowhere higher than that is flush
LEVEL_TILT = (
    5.0  # times rtol: so is one whose tilt is less [rad], whose direction is error of integration
)
ON_RIM = 1e-7  # of a geom's size: what lies on its rim
FACING_PLANE = 0.5  # cosine between an end and the plane below it
OVER = 1e-8  # of a geom's size: depth of the lowest point over that of what was found
RINGS = 8, 12  # points of a ring over a half-space, and over anything else

ENDS = np.full((max(KINDS) + 1, 2), np.nan)  # by kind: lower and upper flat end, in first numbers
for _kind in KINDS.values():
    for _height in _kind.ends:
        ENDS[_kind.code, int(_height > 0.0)] = _height


@dataclass(slots=True)
class Rims:
    """Contacts on the rim of a flat end: index (n,) among all, side (n,) 0 or 1 that has the end;
    lean (n, 2): the contact's outer normal across the axis; way (n, 2): unit vector to the point;
    radius (n,), end (n,): height of the end over the geom's origin; lowest (n,): whether the name
    is that of the lowest point, not of a point of the ring."""

    index: Ints
    side: Ints
    lean: Floats
    way: Floats
    radius: Floats
    end: Floats
    lowest: Bools

    def only_lowest(self) -> Rims:
        """Those of them that are lowest points."""
        return Rims(*(getattr(self, name)[self.lowest] for name in self.__slots__))

    def across(self, geom: Ints, normal: Floats, R: Floats) -> Floats:
        """(n,) heights of the points across the ends [m], signed: as the ends lean now, under
        normals (n, 3) and turns R of geoms, the points staying where they are. geom (nc, 2)."""
        own = geom[self.index, self.side]
        m = (2.0 * self.side - 1.0)[:, None] * np.einsum("iek,ie->ik", R[own], normal)
        out: Floats = 2.0 * self.radius * (m[:, :2] * self.way).sum(axis=1)
        return out


class Caps:
    """The flat ends of a model's geoms. touch [m], rtol: as in the options."""

    def __init__(self, model: Model, touch: float, rtol: float) -> None:
        geoms = model.geoms
        self.model, self._touch, self._tilt = model, FLUSH * touch, LEVEL_TILT * rtol
        flat = np.isfinite(ENDS[geoms.kind]).any(axis=1)
        self._flat: Bools = np.asarray(flat)
        self.any = bool(flat.any())

    def limit(self, radius: Floats) -> Floats:
        """How high the rim of a flush end may be somewhere [m]."""
        out: Floats = np.maximum(self._touch, 2.0 * self._tilt * radius)
        return out

    def level(self, contacts: Contacts, state: State) -> Bools:
        """(nc,) points of the rings of flush ends."""
        out = np.zeros(len(contacts), bool)
        if self.any and len(contacts):
            rims = self.rims(contacts, *bodies.geom_poses(self.model, state))
            tilt = np.sqrt((rims.lean**2).sum(axis=1))
            flush = 2.0 * rims.radius * tilt <= self.limit(rims.radius)
            near = np.abs(contacts.gap[rims.index]) <= 2.0 * self.limit(rims.radius)
            out[rims.index] = flush & near
        return out

    def rims(self, contacts: Contacts, x: Floats, R: Floats) -> Rims:
        """Contacts that lie on rims, at poses x, R of the geoms."""
        geom = np.stack([contacts.geom_a, contacts.geom_b], axis=1)
        index, side = np.nonzero(self._flat[geom]) if self.any else (np.empty(0, int),) * 2
        g, geoms = geom[index, side], self.model.geoms
        half = (0.5 - side) * contacts.gap[index]
        p = contacts.point[index] + half[:, None] * contacts.normal[index] - x[g]
        q = np.einsum("iek,ie->ik", R[g], p)
        m = (2.0 * side - 1.0)[:, None] * np.einsum("iek,ie->ik", R[g], contacts.normal[index])
        height, r = geoms.numbers[geoms.first[g]], geoms.numbers[geoms.first[g] + 1]
        end = ENDS[geoms.kind[g], (m[:, 2] > 0.0).astype(int)] * height
        rho, near = np.sqrt((q[:, :2] ** 2).sum(axis=1)), ON_RIM * geoms.radius[g]
        on = (np.abs(rho - r) <= near) & (np.abs(q[:, 2] - end) <= near)
        on &= np.abs(m[:, 2]) > FACING_PLANE
        ground = geoms.kind[geom[index, 1 - side]] == kinds.HALF_SPACE
        name = contacts.feature[index]
        lowest = np.where(ground, name % 16 == RINGS[0], name == 0)
        way = q[:, :2] / np.maximum(rho, 1e-300)[:, None]
        return Rims(index[on], side[on], m[on, :2], way[on], r[on], end[on], lowest[on])

    def sorted(self, contacts: Contacts, x: Floats, R: Floats) -> Contacts:
        """What a detector found; of a tilted end the lowest point, of a flush one the ring."""
        rims = self.rims(contacts, x, R)
        if rims.index.size == 0:
            return contacts
        keep, out = np.ones(len(contacts), bool), contacts
        for group in self._groups(contacts, rims):
            i, low = rims.index[group], rims.lowest[group]
            lean = rims.lean[group[0]]
            tilt = float(np.sqrt(lean @ lean))
            if 2.0 * rims.radius[group[0]] * tilt <= self.limit(rims.radius[group[0]]):
                keep[i[low]] = bool(low.all())
                continue
            first = i[low][0] if low.any() else -1
            if first < 0:
                first = i[0]
                out = select(out, np.arange(len(out))) if out is contacts else out
                out = self._lowest(out, rims, group[0], lean / tilt, x, R)
                if out.feature[first] != 0:
                    continue  # it does not lie over the other body
            keep[i] = False
            keep[first] = True
        return out if keep.all() else select(out, keep)

    @staticmethod
    def _groups(contacts: Contacts, rims: Rims) -> list[Ints]:
        """Rims one by one: numbers of contacts among them."""
        columns = contacts.geom_a[rims.index], contacts.geom_b[rims.index], rims.side, rims.end
        groups: dict[tuple[float, ...], list[int]] = {}
        for k, key in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            groups.setdefault(key, []).append(k)
        return [np.array(g) for g in groups.values()]

    def _lowest(
        self, contacts: Contacts, rims: Rims, k: int, way: Floats, x: Floats, R: Floats
    ) -> Contacts:
        """The contacts with rim contact k moved to the lowest point of its rim, if that lies over
        the face that k is on: then nothing of the pair is deeper."""
        i = int(rims.index[k])
        point, gap = self._at(contacts, rims, k, way, x, R)
        pair = (contacts.geom_a == contacts.geom_a[i]) & (contacts.geom_b == contacts.geom_b[i])
        size = self.model.geoms.radius[contacts.geom_a[i]]
        if gap >= contacts.gap[pair].min() - OVER * size:
            contacts.point[i], contacts.gap[i], contacts.feature[i] = point, gap, 0
        return contacts

    def _at(
        self, contacts: Contacts, rims: Rims, k: int, way: Floats, x: Floats, R: Floats
    ) -> tuple[Floats, float]:
        """Point and gap of the point of a rim along `way`, over the plane of its contact k."""
        i, side = int(rims.index[k]), int(rims.side[k])
        g = int((contacts.geom_a, contacts.geom_b)[side][i])
        n, sign = contacts.normal[i], 1.0 - 2.0 * side
        p = x[g] + R[g] @ np.append(rims.radius[k] * way, rims.end[k])
        other = contacts.point[i] - sign * 0.5 * contacts.gap[i] * n
        gap = float(sign * ((p - other) @ n))
        return p - sign * 0.5 * gap * n, gap

    def fastest(self, contacts: Contacts, state: State, least: float) -> Contacts:
        """Touching contacts, of flush ends also the point of the rim that approaches fastest, where
        it does so by more than `least` [m/s] faster than the middle of the end."""
        if not self.any or len(contacts) == 0:
            return contacts
        x, R = bodies.geom_poses(self.model, state)
        rims, parts = self.rims(contacts, x, R), [contacts]
        for group in self._groups(contacts, rims):
            k, i = int(group[0]), int(rims.index[group[0]])
            pair = int(contacts.geom_a[i]), int(contacts.geom_b[i])
            side = int(rims.side[k])
            ground = self.model.geoms.kind[pair[1 - side]] == kinds.HALF_SPACE
            if rims.lowest[group].any() or group.size < RINGS[0 if ground else 1]:
                continue  # not flush, or not all of it over the other body
            a, b = (int(self.model.geoms.body[g]) for g in pair)
            turn = state.velocity[a, 3:] - state.velocity[b, 3:]
            slope = (R[pair[side]].T @ np.cross(contacts.normal[i], turn))[:2]
            size = float(np.sqrt(slope @ slope))
            if rims.radius[k] * size <= least:
                continue
            point, gap = self._at(contacts, rims, k, -slope / size, x, R)
            name = 16 * (int(contacts.feature[i]) // 16) + RINGS[0] if ground else 0
            one = select(contacts, np.array([i]))
            one.point[0], one.gap[0], one.feature[0] = point, gap, name
            parts.append(one)
        if len(parts) == 1:
            return contacts
        return Contacts(
            np.concatenate([c.geom_a for c in parts]),
            np.concatenate([c.geom_b for c in parts]),
            np.concatenate([c.point for c in parts]),
            np.concatenate([c.normal for c in parts]),
            np.concatenate([c.gap for c in parts]),
            np.concatenate([c.feature for c in parts]),
        )
