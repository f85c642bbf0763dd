"""The arrays of a step with joints: those of contacts, and of joints beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from drystone.constraints.joints.blocks import JointBlocks, joint_blocks
from drystone.constraints.joints.least import DENSE
from drystone.constraints.joints.mobility import Excess
from drystone.constraints.joints.rows import free_coordinates
from drystone.constraints.rows import Rows
from drystone.kernels import layout
from drystone.kernels.joints_coupled import SPRING
from drystone.kernels.linalg.block_lu import locate, supernodes
from drystone.kernels.linalg.ordering import minimum_degree
from drystone.kernels.packed import Packed, as_row
from drystone.kernels.step import codes
from drystone.model import Joints, Model, State
from drystone.steppers.time_stepping.buffers import FIRST, STILL, Buffers
from drystone.steppers.time_stepping.closing import is_forest
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Ints

N, B = np.int64, np.bool_
GAINING = 5  # halvings of a step, at most, for the energy that joints make in it
GIVEN = (
    "body", "anchor_a", "anchor_b", "frame_a", "frame_b", "first_row", "row_code", "row_target",
    "row_body", "first_coordinate", "coordinate_code", "coordinate_target", "coordinate_body",
    "coupled_row", "coupled_coordinate", "coupled_factor", "action_kind", "action_coordinate",
    "action_numbers",
)  # fmt: skip

# of the bodies' size (or of a radian): joints that are open by more are torn, not inaccurate
TORN = {"exact": 0.01, "stabilize": 0.2, "project": 0.2, "velocity": np.inf}

SCHEMES = {
    "exact": codes.EXACT, "stabilize": codes.STABILIZE, "project": codes.PROJECT,
    "velocity": codes.VELOCITY,
}  # fmt: skip


class JointBuffers(Buffers):
    """`s` as of contacts, whose rows hold joints too; `j`: the arrays of joints.

    blocks: which blocks joints have, in the order of ``constraints.joints.blocks``; their rows are
    in the buffers.
    """

    def __init__(self, options: TimeStepping, model: Model, joints: Joints) -> None:
        super().__init__(options, model)
        self.joints = joints
        self.blocks = _blocks(model, joints, int(self.s.J.shape[1]))
        arrays = self._of_joints() | self._numbers() | self._work() | self._per_row(self.room)
        arrays["projection"] = self._projection()
        self.parts: list[Excess] | None = None
        self.j = Packed(**arrays | _no_pattern(model.dim) | _spare([]))
        shape = (self.room, *self.s.J.shape[1:])
        self.s.put(J=np.zeros(shape), P=np.zeros(shape))
        if self.options.sweeps_beside_joints(model.dim):
            method: Any = options.method
            self.s.put(only_sweeps=1, max_sweeps=method.max_sweeps)
        self.grow(self.blocks.mu.size + FIRST)

    def grow(self, needed: int) -> None:
        """Room for more rows; what is in them stays."""
        super().grow(needed)
        self.j.put(**self._per_row(self.room))

    def _of_joints(self) -> dict[str, np.ndarray]:
        joints, blocks = self.joints, self.blocks
        out = {name: np.array(getattr(joints, name), order="C") for name in GIVEN}
        row, act = blocks.row.max(axis=1, initial=-1), blocks.action
        flip = np.zeros(act.size, N)
        flip[row >= 0] = joints.row_body[row[row >= 0], 0] < 0
        on = joints.action_coordinate[act[act >= 0]]
        flip[act >= 0] = joints.coordinate_body[on, 0] < 0
        return out | {
            "block_body": blocks.body, "block_row": blocks.row, "block_action": act,
            "block_mu": blocks.mu, "block_uid": blocks.uid, "block_part": blocks.part,
            "block_sign": blocks.sign, "block_flip": flip, "turns": joints.start.copy(),
            "place": np.zeros(act.size, N), "row_block": _where(blocks, joints.nr),
            "action_joint": joints.coordinate_joint[joints.action_coordinate],
            "action_body": np.ascontiguousarray(joints.coordinate_body[joints.action_coordinate]),
        }  # fmt: skip

    def _numbers(self) -> dict[str, Any]:
        joints = self.joints
        total = Packed(**layout.make(layout.REPORT))
        springs = bool((joints.action_kind == SPRING).any())
        return layout.make(layout.JOINTS) | {
            "is_tree": int(is_forest(joints, self.model.inverse_mass > 0)),
            "later": int(springs or joints.coupled_row.size > 0),
            "kicks": self.options.order, "most": self.options.most_halvings,
            "gaining": min(GAINING, self.options.most_halvings), "least_impact": STILL,
            "open_before": np.inf, "sum": total, "sum_row": as_row(total),
            "breaks": int(np.isfinite(joints.breaks_at).any()), "before": np.inf,
            "scheme": SCHEMES[self.options.joints], "loads": int((self.blocks.mu > 0.0).any()),
            "factored": int(self.options.solver == "auto"),
            "takes_end": int(not self.options.asks_beside_joints(self.model.dim)),
            "torn": TORN[self.options.joints] * min(1.0, self.typical),
        }  # fmt: skip

    def _work(self) -> dict[str, Any]:
        """What stages hand to each other, of bodies, rows of joints, coordinates, actions."""
        model, joints = self.model, self.joints
        sizes = self._sizes(nr=joints.nr, nq=joints.nq, ne=joints.action_kind.size)
        made = layout.make(layout.JOINT_WORK, sizes)
        made["closes"][:] = True
        if model.dim == 2:  # about z, and something about the others
            made["inertia"][:] = model.inertia[:, None, None] * np.eye(3)
        return made

    def _per_row(self, room: int) -> dict[str, Any]:
        twice = room if self.options.order == 2 else 0
        sizes = self._sizes(n=room, nf=twice)
        return layout.make(layout.JOINT_ROWS, sizes) | layout.make(layout.FIRST_JOINT_ROWS, sizes)

    def _projection(self) -> Packed:
        """Blocks C = 0 of joints for ``kernels.step.joint_project``, if anything is projected."""
        model, blocks = self.model, self.blocks
        asked = self.options.joints == "project"
        ties = np.flatnonzero((blocks.row >= 0).any(axis=1)) if asked else np.empty(0, N)
        made = layout.make(layout.PROJECTION, self._sizes(nt=ties.size))
        made["block"][:], made["body"][:] = ties, blocks.body[ties]
        if not ties.size:
            return Packed(**made | _no_pattern(model.dim))
        moves = model.inverse_mass > 0
        block, side = np.nonzero(moves[made["body"]])
        shape = (ties.size, model.nb)
        holds = sparse.csr_array((np.ones(block.size), (block, made["body"][block, side])), shape)
        W = (holds @ holds.T).tocsr()
        return Packed(**made | self._panels(W.indptr.astype(np.int32), W.indices.astype(np.int32)))

    def find_pattern(self) -> None:
        """Order of elimination and panels of W, of joints alone."""
        rows = self.rows()
        W = rows.W(0, rows.nc)
        self.j.put(**self._panels(W.indptr, W.indices))
        self.j.patterned[: rows.nc] = self.j.joint[: rows.nc]
        self.j.pattern = rows.nc

    def _panels(self, indptr: np.ndarray, indices: np.ndarray) -> dict[str, np.ndarray]:
        """Order of elimination and panels of a matrix with this pattern of blocks."""
        d, n = int(self.s.J.shape[1]), indptr.size - 1
        order = np.zeros((7, n + 1), N)
        start = np.zeros(n + 1, N)
        _, below = minimum_degree(
            indptr, indices, np.ones(n, B), order[0], start, self.options.policy.newton_room
        )
        count, below, size = supernodes(
            d, n, start, below, order[2], order[3], order[4], order[5], order[6]
        )
        order[1, order[0, :n]] = np.arange(n)
        offset, stride = np.zeros((2, indices.size), N)
        panels = (count, order[2], order[3], order[4], below, order[5], order[6])
        locate(d, indptr, indices, order[1], panels, offset, stride)
        names = ("order", "node", "first", "below", "lower", "upper")
        return {name: order[k + 1].copy() for k, name in enumerate(names)} | {
            "indptr": indptr, "indices": indices, "rows": np.ascontiguousarray(below),
            "offset": offset, "stride": stride, "panels": np.array([count], N),
            "buffer": np.zeros(size),
        }  # fmt: skip

    def find_spare(self, parts: list[Excess]) -> None:
        """Room for the groups of joints that hold something twice."""
        if parts is self.parts:
            return
        self.parts = parts
        self.j.large_excess = sum(part.count for part in parts if part.rows.size > DENSE)
        self.j.put(**_spare([part.rows for part in parts if part.rows.size <= DENSE]))

    def rows(self) -> Rows:
        """The step's rows as they lie in the buffers."""
        rows, n = super().rows(), int(self.s.rows)
        j = self.j
        return replace(
            rows, unit=j.unit[:n], soft=j.soft[:n], joint=j.joint[:n], blocks=self.blocks
        )

    def store(self, lo: int, hi: int) -> None:
        """Nothing to do: J and P are there."""

    def store_again(self) -> None:
        """Nothing to do: ``kernels.step.joint_kicks`` keeps those of the first kick."""

    def state_before(self) -> State:
        """The state that the last step began with, also if it was divided."""
        j = self.j
        if j.done == 0:
            return super().state_before()
        parts = j.began_position, j.began_orientation, j.began_velocity
        return State(float(self.s.time), *(part.copy() for part in parts))


def _no_pattern(dim: int) -> dict[str, np.ndarray]:
    whole = ("order", "node", "first", "below", "lower", "upper", "offset", "stride", "panels")
    out = {name: np.zeros(1, N) for name in whole}
    small = {name: np.zeros(1, np.int32) for name in ("indptr", "indices", "rows")}
    return out | small | {"buffer": np.zeros(1)}


def _where(blocks: JointBlocks, nr: int) -> np.ndarray:
    """(nr, 2): block and row in it of every row of the joints."""
    out = np.zeros((nr, 2), N)
    block, place = np.nonzero(blocks.row >= 0)
    out[blocks.row[block, place]] = np.stack([block, place], axis=1)
    return out


def _spare(groups: list[Ints]) -> dict[str, np.ndarray]:
    """Arrays of ``kernels.step.joint_spare``, for groups of rows (m,) of joints."""
    each = np.array([rows.size for rows in groups], N)
    total, squares, most = int(each.sum()), int((each**2).sum()), int(each.max(initial=0))
    return {
        "spare_first": np.concatenate([[0], np.cumsum(each)]).astype(N),
        "spare_square": np.concatenate([[0], np.cumsum(each**2)]).astype(N),
        "spare_row": np.concatenate([np.empty(0, N), *groups]).astype(N),
        "spare_at": np.zeros((total, 2), N), "spare_root": np.zeros(total),
        "spare_extra": np.zeros(total, N), "spare_count": np.zeros(each.size, N),
        "spare_null": np.zeros(squares), "spare_idle": np.zeros(squares),
        "spare_S": np.zeros(most * most), "spare_L": np.zeros(most * most),
        "spare_order": np.zeros(most, N), "spare_firm": np.zeros(most, B),
    }  # fmt: skip


def _blocks(model: Model, joints: Joints, d: int) -> JointBlocks:
    """Which blocks joints have, found at some state."""
    angles = np.zeros(model.nb) if model.dim == 2 else np.tile([1.0, 0, 0, 0], (model.nb, 1))
    place = np.zeros((model.nb, model.dim))
    state = State(0.0, place, angles, np.zeros((model.nb, model.dof)))
    model = replace(model, joints=joints)
    q = free_coordinates(joints, state)
    return joint_blocks(model, state, 1.0, d, q, False)
