"""The arrays of a step, made once: bodies, rows, joints, the warm start, frames to record."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy import sparse

from drystone.constraints.joints.blocks import JointBlocks, joint_blocks
from drystone.constraints.joints.minimum_norm import DEPENDENT_ROWS
from drystone.constraints.joints.mobility import Excess
from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.geometry import dispatch
from drystone.kernels import layout
from drystone.kernels.joints_coupled import SPRING
from drystone.kernels.kinds import DISK, SPHERE
from drystone.kernels.layout import BODY_2, BODY_3, CONTACT_2, CONTACT_3
from drystone.kernels.linalg.block_lu import locate, supernodes
from drystone.kernels.linalg.ordering import minimum_degree
from drystone.kernels.packed import Packed, as_row
from drystone.kernels.rigid import to_world
from drystone.kernels.step import codes
from drystone.kernels.step.find import TRAVEL_SLACK
from drystone.kernels.step.policy import NO_LIMIT
from drystone.kernels.step.rows import store
from drystone.model import Contacts, Joints, Model, State
from drystone.problems.cones import EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.problems.friction import LAWS
from drystone.steppers.snapshot import Parts, Snapshot
from drystone.steppers.tables import bodies_kind
from drystone.steppers.time_stepping import impact, threads
from drystone.steppers.time_stepping.closing import is_forest
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import noted_rows
from drystone.types import Ints

FIRST_ROWS = 16  # rows that there is room for at first
ROOM_AHEAD = 8  # frames with contacts until memory is there that somebody else has touched
FRAMES = 4 << 20  # bytes of states that are made room for at once
RESTING = ("asleep", "slow_time")
WARM = ("old_a", "old_b", "old_feature", "old_impulse", "old_spin", "old_slid")
KEPT = layout.kept(layout.STEP)
OLD_PLACES = {
    "old_rows": 3, "newton_wait": 16, "newton_interval": 17, "newton_tried": 18,
    "newton_refused": 19, "tight_steps": 30, "restless_steps": 35,
}  # of numbers in checkpoints that have no names for them  # fmt: skip
OLD_PARTS = {
    "old_a": "a", "old_b": "b", "old_feature": "feature", "old_impulse": "impulse",
    "old_spin": "spin", "old_slid": "slid",
}  # of the warm start of the pipeline in Python  # fmt: skip
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
    "exact": codes.EXACT_JOINTS, "stabilize": codes.STABILIZE, "project": codes.PROJECT,
    "velocity": codes.VELOCITY,
}  # fmt: skip


class Buffers:
    """`s`: the arrays as stages see them; see ``kernels.step`` for who fills what; `j`: those of
    joints, None in worlds without; blocks: which blocks joints have, in the order of
    ``constraints.joints.blocks``.

    size (nb,): radius of every body about its centre of mass, inf if unbounded; typical: their
    median. Rows J and P are stored only where something asks for them (``rows``).
    """

    j: Any
    blocks: JointBlocks

    def __init__(self, options: TimeStepping, model: Model, jointed: bool = False) -> None:
        self.options, self.model = options, model
        self.jointed = jointed
        self.size = bodies.radii(model)
        finite = self.size[np.isfinite(self.size)]
        self.typical = float(np.median(finite)) if finite.size else 1.0
        self.gravity = float(np.sqrt((model.gravity**2).sum()))
        self.pull = float(np.linalg.norm(model.gravity))  # the same, rounded as `impact` has it
        self.nj = 0 if model.joints is None else len(model.joints)
        made = self._model() | self._settings() | layout.make(layout.BODIES, self._sizes())
        made |= layout.make(layout.FIRST_BODIES, self._sizes())
        made |= layout.make(layout.SLEEP, self._sizes()) | {"joined": _copy(joined(model))}
        self.stores = jointed or not options.packs(model.dim)  # rows J and P, in every step
        first = FIRST_ROWS if self.stores else 1
        made |= self._frames(0, 0) | self._driven(0) | self._noted(1)
        made |= self._made(FIRST_ROWS, first) | {"near": self._near()}
        self.s, self.j = Packed(**made), None
        if jointed:
            self._add_joints()

    @property
    def joints(self) -> Joints:
        """Of a world that has some."""
        assert self.model.joints is not None
        return self.model.joints

    def _add_joints(self) -> None:
        """The arrays of joints, and room for their rows among those of contacts."""
        options, model = self.options, self.model
        self.blocks = _blocks(model, self.joints, int(self.s.J.shape[1]))
        arrays = self._of_joints() | self._numbers() | self._work() | self._per_row(self.room)
        arrays["projection"] = self._projection()
        self.parts: list[Excess] | None = None
        self.j = Packed(**arrays | _no_pattern(model.dim) | _spare([]))
        if options.sweeps_beside_joints(model.dim):
            method: Any = options.method
            self.s.put(only_sweeps=1, max_sweeps=method.max_sweeps)
        self.grow(self.blocks.mu.size + FIRST_ROWS)

    @property
    def room(self) -> int:
        return int(self.s.gap.size)

    def grow(self, needed: int) -> None:
        """Room for more rows; what is in them stays."""
        room = max(needed + needed // 4, 2 * self.room)
        more = self._made(room, room if self.s.J.shape[0] > 1 else 1)
        for name, array in more.items():
            old = getattr(self.s, name)
            array[tuple(slice(0, n) for n in old.shape)] = old
        self.s.put(**more)
        if self.j is not None:
            self.j.put(**self._per_row(self.room))

    def _sizes(self, **more: int | tuple[int, ...]) -> layout.Sizes:
        model, planar = self.model, self.model.dim == 2
        line, body = (CONTACT_2, BODY_2) if planar else (CONTACT_3, BODY_3)
        soft = isinstance(self.options.shape, SoftFingerCone)
        d = self.options.shape.block(model.dim) if soft else model.dim
        return {
            "nb": model.nb, "dim": model.dim, "dof": model.dof, "d": d, "nj": self.nj,
            "angle": () if planar else 4, "report": len(layout.REPORT),
            "packed_contact": line.WIDTH, "packed_body": body.WIDTH,
            "driven": len(model.motions), "numbers": 4 * model.dim + 1,
            "bytes": bodies_kind(model.nb).itemsize, "joined": 0,
            "nk": model.nb if self.options.order == 2 else 0,
            "ns": 0 if self.options.sleeping is None else model.nb,
        } | more  # fmt: skip

    def _model(self) -> dict[str, Any]:
        model, rules, geoms = self.model, self.model.rules, self.model.geoms
        given = {
            "own_inverse_mass": model.inverse_mass,
            "mass": model.mass, "inverse_mass": model.inverse_mass, "own_inertia": model.inertia,
            "own_inverse": model.inverse_inertia, "inertia": model.inertia,
            "inverse": model.inverse_inertia, "end_inertia": model.inertia,
            "gravity": model.gravity, "size": self.size,
            "slack": TRAVEL_SLACK * np.where(np.isfinite(self.size), self.size, 0.0),
            "friction": model.friction, "restitution": model.restitution, "axis": model.axis,
            "ratios": model.ratios, "rule_key": rules.key, "rule_friction": rules.friction,
            "rule_restitution": rules.restitution, "geom_body": geoms.body,
            "geom_offset": geoms.offset, "geom_turn": geoms.turn, "geom_uid": geoms.uid,
            "geom_size": geoms.radius,
        }  # fmt: skip
        return {name: _copy(given[name]) for name in layout.MODEL}

    def _near(self) -> Packed:
        """Two geoms along the motion of a step."""
        geoms = self.model.geoms
        kinds, code = np.unique(geoms.kind, return_inverse=True)
        pairs = [dispatch.find(int(a), int(b)) for a in kinds for b in kinds if a <= b]
        known = [pair for pair in pairs if pair is not None]
        sizes = self._sizes(
            ng=len(geoms), found=4 * max([16, *(pair.points for pair in known)]),
            width=max([1, *(pair.width for pair in known)]),
        )  # fmt: skip
        made = layout.make(layout.NEAR, sizes) | {"kinds": kinds.size}
        made["code"][:] = code
        turns = ~np.isin(geoms.kind, (DISK, SPHERE))
        made["lever"][:] = np.linalg.norm(geoms.offset, axis=1)
        made["lever"][turns] += geoms.radius[turns]
        made["ball"][:] = np.linalg.norm(geoms.offset, axis=1) + geoms.radius
        return Packed(**made)

    def _settings(self) -> dict[str, Any]:
        options, model, cone = self.options, self.model, self.options.shape
        made = layout.make(layout.STEP) | layout.make(layout.SETTINGS, {"corners": 1}) | {
            "tol": float(options.tol), "sweep_tol": float(max(options.tol, options.sweep_tol)),
            "slop": float(options.slop), "finger_radius": 1.0, "old_h": 1.0,
            "law": LAWS[options.formulation], "torque_free": int(options.rotation == "flow"),
            "gyroscopic": int(options.rotation == "explicit"),
            "stabilize": int(options.stabilize), "warm_start": int(options.warm_start),
            "bounces": int(options.restitution != "none"), "drifts": 1,
            "forced_by_python": int(bool(model.forces)), "newton_interval": 1,
            "newton_refused": NO_LIMIT, "parallel_island": threads.LARGE_ISLANDS,
            "parallel_total": threads.SHARED_TOTAL, "search": codes.BY_TRAVEL,
        }  # fmt: skip
        if isinstance(cone, PolyhedralCone) and model.dim == 3:
            made["corners"] = np.ascontiguousarray(cone.directions().T)
        if isinstance(cone, SoftFingerCone):
            made["finger_radius"] = float(cone.radius)
        if options.only_sweeps(model.dim):
            method: Any = options.method
            made["only_sweeps"], made["max_sweeps"] = 1, method.max_sweeps
        if threads.count_threads() == 1:  # what is shared out by islands has the same bits on one
            made["parallel_total"] = NO_LIMIT
        if options.active_gap == "predicted":
            made["search"] = codes.PREDICTED
        elif options.active_gap is not None:
            made["search"], made["active_gap"] = codes.GIVEN, float(options.active_gap)
        if options.sleeping is not None:
            made["sleep_speed"] = float(options.sleeping.speed)
            made["sleep_duration"] = float(options.sleeping.duration)
        made["cone_ratios"][:] = 1.0
        made["anisotropic"][0] = bool(model.axis.any())
        if isinstance(cone, EllipticCone):
            made["cone_axis"][:2] = np.cos(cone.angle), np.sin(cone.angle)
            made["cone_ratios"][:], made["anisotropic"][0] = cone.ratios, True
        report, begun, first = (Packed(**layout.make(layout.REPORT)) for _ in range(3))
        total = Packed(**layout.cleared_totals(options.max_depth))
        return made | {
            "policy": Packed(**asdict(options.policy)), "report": report,
            "report_row": as_row(report), "begun": begun,
            "begun_row": as_row(begun), "first": first, "first_row": as_row(first),
            "total": total, "total_row": as_row(total),
        }  # fmt: skip

    def _made(self, room: int, stored: int) -> dict[str, np.ndarray]:
        sizes = self._sizes(n=room, hash=1 << (2 * room).bit_length()) | {"n+1": room + 1}
        twice = room if self.options.order == 2 else 0
        sizes |= {"nf": twice, "nf+1": twice + 1}
        out = layout.make(layout.ROWS | layout.ISLANDS, sizes)
        out |= layout.make(layout.STORED, sizes | {"n": stored})
        out["row_ratios"][:] = 1.0
        return out | layout.make(layout.FIRST_ROWS, sizes)

    def _driven(self, steps: int) -> dict[str, np.ndarray]:
        made = layout.make(layout.DRIVEN, self._sizes(prepared=max(steps, 1)))
        made["driven"][:] = driven = [i for i, _ in self.model.motions]
        made["is_driven"][driven] = True
        return made

    def _frames(self, n: int, islands: int) -> dict[str, np.ndarray]:
        return layout.make(layout.FRAMES, self._sizes(m=max(n, 1), logged=max(islands, 1)))

    def noted(self, room: int) -> dict[str, np.ndarray]:
        """Room for what ``note_contacts`` notes."""
        return layout.make(layout.NOTED, self._sizes(contacts=room))

    def _noted(self, room: int) -> dict[str, np.ndarray]:
        """The same for the contacts of frames."""
        return {f"noted_{name}": array for name, array in self.noted(room).items()}

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
            "gaining": min(GAINING, self.options.most_halvings), "least_impact": impact.LEAST_SPEED,
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
        self.j.large_excess = sum(part.count for part in parts if part.rows.size > DEPENDENT_ROWS)
        self.j.put(**_spare([part.rows for part in parts if part.rows.size <= DEPENDENT_ROWS]))

    def set_state(self, state: State, start: float, steps: int) -> None:
        """Begin with a state, `steps` steps after `start` [s]."""
        s = self.s
        s.position[:] = state.position
        s.orientation[:] = state.orientation
        s.velocity[:] = state.velocity
        s.origin[0], s.origin[1] = start, steps
        s.put(time=state.time, cursor=0)

    def clear_totals(self) -> None:
        """Count steps from here on."""
        self.s.total.put(**layout.cleared_totals(self.options.max_depth))

    def state(self) -> State:
        s = self.s
        return State(float(s.time), s.position.copy(), s.orientation.copy(), s.velocity.copy())

    def state_before(self) -> State:
        """The state that the last step began with, also if it was divided."""
        s, j = self.s, self.j
        time = float(s.time)
        if j is not None and j.done > 0:
            parts = j.began_position, j.began_orientation, j.began_velocity
            return State(time, *(part.copy() for part in parts))
        return State(time, s.was.copy(), s.was_turned.copy(), s.was_moving.copy())

    def set_step(self, h: float, steps: int) -> None:
        """Steps of length h, `steps` of them to come: prescribed motions are worked out ahead."""
        s = self.s
        # what counts as a collision in steps of this length, see ``impact``
        still = max(impact.LEAST_SPEED, impact.SLOW_IMPACT * h * self.pull)
        touch = impact.IMPACT_GAP * self.typical
        kick, share = (0.5 * h, 0.0) if self.options.order == 2 else (h, 0.5)
        s.put(
            h=h, kick=kick, impact_share=share, drifts=1, cursor=0,
            rest_speed=h * self.gravity, impact_speed=still, impact_gap=touch,
        )  # fmt: skip
        if not self.model.motions:
            return
        driven = self._driven(steps)
        there = steps <= s.driven_velocity.shape[0]
        if not there:
            s.put(**driven)
        for i in range(steps):
            t = s.origin[0] + (s.origin[1] + i) * h if steps > 1 else s.time
            self.prepare_motions(i, t, h)

    def prepare_motions(self, i: int, t: float, h: float) -> None:
        """Prescribed motions of step i, which begins at t [s]."""
        s = self.s
        for k, (_, motion) in enumerate(self.model.motions):
            s.driven_velocity[i, k] = motion.velocity(t, h)
            if self.options.order == 2:
                s.driven_late[i, k] = motion.velocity(t + h, 0.0)
            s.driven_position[i, k], s.driven_orientation[i, k] = motion.pose(t + h)

    def make_room_for_frames(self, frames: int, most: int) -> None:
        """Room for so many, and at once for the `most` that may come if they are small: later a
        recording's other thread would make this one wait for each array."""
        s = self.s
        s.frames = s.logged = s.noted_ends[:] = 0
        if frames > s.frame_time.size:
            state = s.position.nbytes + s.orientation.nbytes + s.velocity.nbytes
            frames = max(frames, min(most, FRAMES // max(state, 1)))
            s.put(**self._frames(frames, max(frames, s.log.shape[0])))

    def make_room_in_log(self, islands: int) -> None:
        """Room for the islands of a step; what is there has been taken."""
        if islands > self.s.log.shape[0]:
            self.s.put(log=np.zeros((2 * islands, 2)))

    def make_room_for_contacts(self, more_comes: bool) -> None:
        """Room for the contacts of this step and of more; what is there was taken. more_comes:
        larger arrays will take its place."""
        n = int(self.s.rows * self.s.records_contacts)
        if n > self.s.noted_numbers.shape[0]:
            many = noted_rows(self.s.noted_numbers)
            self.s.put(**self._noted(max(2 * n, min(ROOM_AHEAD * n, many) if more_comes else many)))

    def memory(self) -> Snapshot:
        """What a step leaves for the next one."""
        n = self.s.old_rows
        warm: Snapshot = {name: getattr(self.s, name)[:n].copy() for name in WARM}
        warm |= {name: getattr(self.s, name).copy() for name in RESTING}
        return warm | {name: getattr(self.s, name) for name in KEPT}

    def recall(self, known: Snapshot) -> None:
        """Take over what ``memory`` gave, here or elsewhere."""
        known = _named(known)
        n = int(known["old_rows"])
        if n > self.room:
            self.grow(n)
        for name in WARM:
            getattr(self.s, name)[:n] = known[name]
        for name in RESTING:
            getattr(self.s, name)[:] = known.get(name, 0)
        self.s.put(**{name: known[name] for name in KEPT})

    def recall_parts(self, known: Parts) -> None:
        """The same of what steps in Python gave: older checkpoints of most options."""
        warm = known["warm"]
        rest = known.get("sleepers", {}) if self.options.sleeping is not None else {}
        own = Buffers(self.options, self.model, self.jointed).memory()
        if "a" in warm:
            own |= {"old_rows": warm["a"].size, "old_h": warm["h"]}
            own |= {name: warm[OLD_PARTS[name]] for name in WARM}
        own |= {
            new: rest[old]
            for new, old in zip(RESTING, ("asleep", "slow"), strict=True)
            if old in rest
        }
        self.recall(own)

    def remember(self, other: Buffers) -> None:
        """Take over the warm start of other buffers; contacts are known by uids. All are awake."""
        known = other.memory()
        self.recall({name: known[name] for name in known if name not in RESTING})

    def wake(self) -> None:
        """Wake all bodies that sleep."""
        self.s.asleep[:], self.s.slow_time[:] = False, 0.0

    def store(self, lo: int, hi: int) -> None:
        """J and P of the contacts lo:hi, which stages of packed contacts do without."""
        if not self.stores:
            self._store(lo, hi)

    def _store(self, lo: int, hi: int) -> None:
        if self.s.J.shape[0] < self.room:
            shape = (self.room, *self.s.J.shape[1:])
            self.s.put(J=np.zeros(shape), P=np.zeros(shape))
        store(self.s, lo, hi)

    def store_again(self) -> None:
        """J and P of all contacts that are read, with the inertia of the time they are of."""
        s, n = self.s, int(self.s.rows)
        if self.options.order != 2 or self.jointed:  # ``kicks`` keeps those of the first kick
            self.store(0, n)
            return
        if self.model.dim == 3:
            to_world(s.own_inverse, s.was_turned, s.inverse)
            s.inverse[s.inverse_mass == 0.0] = 0.0
        self._store(0, n)

    def rows(self) -> Rows:
        """The step's rows as they lie in the buffers; J and P as far as they were stored."""
        s = self.s
        n, ni = int(s.rows), int(s.islands)
        contacts = Contacts(
            s.geom_a[:n], s.geom_b[:n], s.point[:n], s.normal[:n], s.gap[:n], s.feature[:n]
        )
        unit2 = (CONTACT_2 if self.model.dim == 2 else CONTACT_3).UNIT2
        unit = s.unit[:n] if self.stores else np.sqrt(s.contact[:n, unit2])
        rows = Rows(
            s.start[: ni + 1], s.body[:n], contacts, s.moves, s.frame[:n], s.J[:n], s.P[:n],
            s.D[:n], s.both[:n], s.eps[:n], unit, s.zero[:n], np.full(n, -1), None,
        )  # fmt: skip
        if self.j is None:
            return rows
        j = self.j
        return replace(
            rows, unit=j.unit[:n], soft=j.soft[:n], joint=j.joint[:n], blocks=self.blocks
        )


def joined(model: Model) -> Ints:
    """(n, 2) bodies that a joint holds together."""
    if model.joints is None:
        return np.empty((0, 2), np.int64)
    both = np.concatenate([model.joints.body, model.joints.row_body])
    return both[(both >= 0).all(axis=1)]


def _copy(array: np.ndarray) -> np.ndarray:
    """One that kernels may hold on to: contiguous, and nobody else's."""
    return np.array(array, order="C")


def _named(known: Snapshot) -> Snapshot:
    """A memory, also as it was written before: numbers by their places in two arrays."""
    if "count" not in known:
        return known
    count = {name: known["count"][place] for name, place in OLD_PLACES.items()}
    return known | count | {"old_h": known["real"][9]}


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
    return joint_blocks(model, joints, state, d)
