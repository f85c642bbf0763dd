"""The arrays of a step, made once: bodies, rows, the warm start, frames to record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.kernels import layout
from drystone.kernels.layout import BODY_2, BODY_3, CONTACT_2, CONTACT_3
from drystone.kernels.packed import Packed, as_row
from drystone.kernels.rigid import to_world
from drystone.kernels.step import codes
from drystone.kernels.step.find import SLACK
from drystone.kernels.step.plan import NEVER
from drystone.kernels.step.rows import store_planar, store_spatial
from drystone.model import Contacts, Model, State
from drystone.problems.cones import EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.problems.friction import LAWS
from drystone.steppers.snapshot import Parts, Snapshot
from drystone.steppers.tables import bodies_kind
from drystone.steppers.time_stepping import impact, threads
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import noted_rows
from drystone.types import Ints

FIRST = 16  # rows that there is room for at first
SOON = 8  # frames with contacts until memory is there that somebody else has touched
FRAMES = 4 << 20  # bytes of states that are made room for at once
STILL, SLOW, TOUCH = impact.STILL, impact.SLOW, impact.TOUCH
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
N = np.int64


class Buffers:
    """`s`: the arrays as stages see them; see ``kernels.step`` for who fills what.

    size (nb,): radius of every body about its centre of mass, inf if unbounded; typical: their
    median. Rows J and P are stored only where something asks for them (``rows``).
    """

    def __init__(self, options: TimeStepping, model: Model) -> None:
        self.options, self.model = options, model
        self.size = bodies.radii(model)
        finite = self.size[np.isfinite(self.size)]
        self.typical = float(np.median(finite)) if finite.size else 1.0
        self.gravity = float(np.sqrt((model.gravity**2).sum()))
        self.pull = float(np.linalg.norm(model.gravity))  # the same, rounded as `impact` has it
        self.nj = 0 if model.joints is None else len(model.joints)
        made = self._model() | self._settings() | layout.make(layout.BODIES, self._sizes())
        made |= layout.make(layout.FIRST_BODIES, self._sizes())
        made |= layout.make(layout.SLEEP, self._sizes()) | {"joined": _copy(joined(model))}
        self.stores = not options.packs(model.dim)  # rows J and P, in every step
        first = FIRST if self.stores else 1
        made |= self._frames(0, 0) | self._driven(0) | self._made(FIRST, first) | self._noted(1)
        self.s = Packed(**made)

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
            "slack": SLACK * np.where(np.isfinite(self.size), self.size, 0.0),
            "friction": model.friction, "restitution": model.restitution, "axis": model.axis,
            "ratios": model.ratios, "rule_key": rules.key, "rule_friction": rules.friction,
            "rule_restitution": rules.restitution, "geom_body": geoms.body,
            "geom_offset": geoms.offset, "geom_turn": geoms.turn, "geom_uid": geoms.uid,
            "geom_size": geoms.radius,
        }  # fmt: skip
        return {name: _copy(given[name]) for name in layout.MODEL}

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
            "newton_refused": NEVER, "parallel_island": threads.LARGE,
            "parallel_total": threads.WORTH, "search": codes.BY_TRAVEL,
        }  # fmt: skip
        if isinstance(cone, PolyhedralCone) and model.dim == 3:
            made["corners"] = np.ascontiguousarray(cone.directions().T)
        if isinstance(cone, SoftFingerCone):
            made["finger_radius"] = float(cone.radius)
        if options.only_sweeps(model.dim):
            method: Any = options.method
            made["only_sweeps"], made["max_sweeps"] = 1, method.max_sweeps
        if threads.count_threads() == 1:  # what is shared out by islands has the same bits on one
            made["parallel_total"] = NEVER
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
        out = layout.make(layout.ROWS, sizes) | layout.make(layout.STORED, sizes | {"n": stored})
        out["row_ratios"][:] = 1.0
        return out | layout.make(layout.FIRST_ROWS, sizes)

    def _driven(self, steps: int) -> dict[str, np.ndarray]:
        made = layout.make(layout.DRIVEN, self._sizes(prepared=max(steps, 1)))
        made["driven"][:] = [i for i, _ in self.model.motions]
        return made

    def _frames(self, n: int, islands: int) -> dict[str, np.ndarray]:
        return layout.make(layout.FRAMES, self._sizes(m=max(n, 1), logged=max(islands, 1)))

    def noted(self, room: int) -> dict[str, np.ndarray]:
        """Room for what ``note_contacts`` notes."""
        return layout.make(layout.NOTED, self._sizes(contacts=room))

    def _noted(self, room: int) -> dict[str, np.ndarray]:
        """The same for the contacts of frames."""
        return {f"noted_{name}": array for name, array in self.noted(room).items()}

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
        """The state that the last step began with."""
        s = self.s
        time = float(s.time)
        return State(time, s.was.copy(), s.was_turned.copy(), s.was_moving.copy())

    def set_step(self, h: float, steps: int) -> None:
        """Steps of length h, `steps` of them to come: prescribed motions are worked out ahead."""
        s = self.s
        # what counts as a collision in steps of this length, see ``impact``
        still, touch = max(STILL, SLOW * h * self.pull), TOUCH * self.typical
        kick, share = (0.5 * h, 0.0) if self.options.order == 2 else (h, 0.5)
        s.put(kick=kick, impact_share=share, drifts=1)
        s.put(h=h, rest_speed=h * self.gravity, impact_speed=still, impact_gap=touch, cursor=0)
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
            self.s.put(**self._noted(max(2 * n, min(SOON * n, many) if more_comes else many)))

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
        own = Buffers(self.options, self.model).memory()
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
        """Take over the warm start of other buffers; contacts are told by uids. All are awake."""
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
        (store_planar if self.model.dim == 2 else store_spatial)(self.s, lo, hi)

    def store_again(self) -> None:
        """J and P of all contacts that are read, with the inertia of the time they are of."""
        s, n = self.s, int(self.s.rows)
        if self.options.order != 2:
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
        return Rows(
            s.start[: ni + 1], s.body[:n], contacts, s.moves, s.frame[:n], s.J[:n], s.P[:n],
            s.D[:n], s.both[:n], s.eps[:n], unit, s.zero[:n], np.full(n, -1), None,
        )  # fmt: skip


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
