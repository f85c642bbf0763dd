"""The arrays of all joints of a model, gathered joint by joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drystone.builder.bodies import Body
from drystone.constraints.joints.base import Placed
from drystone.constraints.joints.functions import COUPLED, JointFunction
from drystone.kernels.joints_coupled import HOLD, LOWER, UPPER
from drystone.model import Joints
from drystone.types import Floats, Ints

Ends = tuple[Body | None, Body | None]


class JointTable:
    """Collects joints; ``arrays`` makes the model's arrays of them.

    index: of bodies by uid; centre (nb, dim): centres of mass in the bodies' own frames.
    """

    def __init__(self, index: Mapping[int, int], centre: Floats) -> None:
        self.index = index
        self.centre = centre
        self.dim = int(centre.shape[1])
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.heads: list[tuple[int, int, int]] = []  # uid, body a, body b
        self.placed: list[Placed] = []
        self.bearing: list[tuple[float, float]] = []
        self.gears: dict[int, tuple[Any, Any, float, tuple[int, int]]] = {}
        self._where: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, kind: str, uid: int, ends: Ends, placed: Placed, bearing: Any) -> None:
        """One joint; the uid of a gear's bearing is negative."""
        self._where[uid] = len(self)
        self.names.append(name)
        self.kinds.append(kind)
        self.heads.append((uid, *self.bodies(ends)))
        self.placed.append(placed)
        self.bearing.append(bearing)

    def couple(
        self, joint: int, at: Sequence[tuple[int, int]], factors: Any, start: float, ends: Ends
    ) -> None:
        """A row of `joint`: the sum of factors times coordinates (joint, number), minus start."""
        self.gears[joint] = (at, factors, start, self.bodies(ends))

    def bodies(self, ends: Ends) -> tuple[int, int]:
        a, b = (-1 if body is None else self.index[body.uid] for body in ends)
        return a, b

    def find(self, uid: int) -> int:
        return self._where[uid]

    def arrays(self) -> Joints:
        dim, n = self.dim, len(self)
        heads = np.array(self.heads, np.int64).reshape(n, 3)
        body = heads[:, 1:].copy()
        anchors = np.array([p.anchors for p in self.placed]).reshape(n, 2, dim)
        held = body >= 0
        anchors[held] -= self.centre[body[held]]
        frames = np.array([p.frames for p in self.placed]).reshape(n, 2, dim, dim)
        rows = [list(p.rows) for p in self.placed]
        for joint, (_, _, described, _) in self.gears.items():
            rows[joint].append((COUPLED, described))
        first_row, row_code, row_target = _functions(rows)
        first, code, target = _functions([p.coordinates for p in self.placed])
        row_body = np.repeat(body, np.diff(first_row), axis=0)
        coupled = self._coupled(first_row, first)
        for joint, (_, _, _, ends) in self.gears.items():
            row_body[first_row[joint]] = ends
        kinds, at, numbers, start = self._actions(first)
        return Joints(
            names=tuple(self.names),
            kind=tuple(self.kinds),
            uid=heads[:, 0].copy(),
            body=body,
            anchor_a=anchors[:, 0].copy(),
            anchor_b=anchors[:, 1].copy(),
            frame_a=frames[:, 0].copy(),
            frame_b=frames[:, 1].copy(),
            first_row=first_row,
            row_code=row_code,
            row_target=row_target,
            row_body=row_body,
            first_coordinate=first,
            coordinate_code=code,
            coordinate_target=target,
            coordinate_body=np.repeat(body, np.diff(first), axis=0),
            coordinate_name=tuple(name for p in self.placed for name in p.names),
            coupled_row=coupled[0],
            coupled_coordinate=coupled[1],
            coupled_factor=coupled[2],
            action_kind=kinds,
            action_coordinate=at,
            action_numbers=numbers,
            breaks_at=np.array(self.bearing, float).reshape(n, 2),
            start=start,
        )

    def _coupled(self, first_row: Ints, first: Ints) -> tuple[Ints, Ints, Floats]:
        """Rows that couple coordinates: the last ones of a joint, the only one of a gear."""
        rows, pairs, factors = [], [], []
        for joint, placed in enumerate(self.placed):
            for k, pair in enumerate(placed.couplings):
                rows.append(first_row[joint + 1] - len(placed.couplings) + k)
                pairs.append(tuple(first[joint] + at for at, _ in pair))
                factors.append(tuple(factor for _, factor in pair))
        for joint, (at, factor, _, _) in self.gears.items():
            rows.append(first_row[joint])
            pairs.append(tuple(first[j] + k for j, k in at))
            factors.append(factor)
        return (
            np.array(rows, np.int64),
            np.array(pairs, np.int64).reshape(-1, 2),
            np.array(factors, float).reshape(-1, 2),
        )

    def _actions(self, first: Ints) -> tuple[Ints, Ints, Floats, Floats]:
        """Kinds, coordinates and numbers of actions; where angles begin to be counted."""
        actions = [
            (kind, first[joint] + coordinate, numbers)
            for joint, placed in enumerate(self.placed)
            for coordinate, kind, numbers in placed.actions
        ]
        sums, sides = np.zeros(int(first[-1])), np.zeros(int(first[-1]))
        for kind, at, numbers in actions:
            if kind in (LOWER, UPPER, HOLD):
                sums[at] += numbers[0] * (2.0 if kind == HOLD else 1.0)
                sides[at] += 2.0 if kind == HOLD else 1.0
        start = np.where(sides == 2.0, 0.5 * sums, 0.0)  # between limits, where there are two
        return (
            np.array([a[0] for a in actions], np.int64),
            np.array([a[1] for a in actions], np.int64),
            np.array([a[2] for a in actions], float).reshape(-1, 4),
            start,
        )


def _functions(parts: Sequence[Sequence[tuple[JointFunction, float]]]) -> tuple[Ints, Ints, Floats]:
    """first (n + 1,), codes (m, 4) and targets (m,)."""
    first = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=first[1:])
    flat = [function for part in parts for function in part]
    code = np.array([f.code for f, _ in flat], np.int64).reshape(-1, 4)
    return first, code, np.array([f[1] for f in flat], float)
