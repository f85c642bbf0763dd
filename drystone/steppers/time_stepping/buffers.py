"""The arrays of a step, made once: bodies, rows, the warm start, frames to record."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.constraints.rows import Rows
from drystone.dynamics import bodies
from drystone.kernels import light_planar, light_spatial
from drystone.kernels.packed import Packed
from drystone.kernels.step import names as the
from drystone.kernels.step.find import SLACK
from drystone.kernels.step.rows import store_planar, store_spatial
from drystone.model import Contacts, Model, State
from drystone.problems.cones import EllipticCone
from drystone.problems.friction import LAWS
from drystone.steppers.snapshot import Snapshot
from drystone.steppers.tables import bodies_kind
from drystone.steppers.time_stepping import impact, threads
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.reading import noted_rows
from drystone.types import Floats, Ints

FIRST = 16  # rows that there is room for at first
SOON = 8  # frames with contacts until memory is there that somebody else has touched
FRAMES = 4 << 20  # bytes of states that are made room for at once
NEVER = 1 << 40  # contacts: no island is refused yet
STILL, SLOW, TOUCH = impact.STILL, impact.SLOW, impact.TOUCH
WARM = ("old_a", "old_b", "old_feature", "old_impulse", "old_spin", "old_slid")
MEMORY = ("real", "count", *WARM)
N, F, B = np.int64, np.float64, np.bool_


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
        self._row_kinds = self._kinds_of_rows()
        arrays = self._bodies() | self._settings() | self._geoms() | self._frames(0, 0)
        arrays |= self._driven(0) | self._made(FIRST, 1) | self._noted(1)
        self.s = Packed(**arrays)
        self.clear_totals()

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

    def _bodies(self) -> dict[str, np.ndarray]:
        model, nb, dof = self.model, self.model.nb, self.model.dof
        inertia, inverse = _copy(model.inertia), _copy(model.inverse_inertia)
        planar = model.dim == 2
        out: dict[str, np.ndarray] = {
            name: np.zeros((nb, dof)) for name in ("velocity", "v0", "v_free", "v", "force", "load")
        }
        rules = model.rules
        angles = (nb,) if planar else (nb, 4)
        return out | {
            "mass": _copy(model.mass), "inverse_mass": _copy(model.inverse_mass),
            "own_inertia": inertia, "own_inverse": inverse, "inertia": inertia.copy(),
            "inverse": inverse.copy(), "end_inertia": inertia.copy(),
            "gravity": _copy(model.gravity), "size": _copy(self.size),
            "slack": SLACK * np.where(np.isfinite(self.size), self.size, 0.0),
            "position": np.zeros((nb, model.dim)), "was": np.zeros((nb, model.dim)),
            "was_turned": np.zeros(angles), "was_moving": np.zeros((nb, dof)),
            "orientation": np.zeros(angles),
            "reach": np.zeros(nb), "moves": np.zeros(nb, B), "root": np.zeros(nb, N),
            "fast": np.zeros(nb), "seen": np.zeros(nb, N), "mine": np.zeros(nb, N),
            "motion": np.zeros((nb, light_planar.MOTION if planar else light_spatial.MOTION)),
            "friction": _copy(model.friction), "restitution": _copy(model.restitution),
            "axis": _copy(model.axis), "ratios": _copy(model.ratios),
            "rule_key": _copy(rules.key), "rule_friction": _copy(rules.friction),
            "rule_restitution": _copy(rules.restitution), "wrench": np.zeros((self.nj, dof)),
        }  # fmt: skip

    def _geoms(self) -> dict[str, np.ndarray]:
        geoms = self.model.geoms
        return {
            "geom_body": _copy(geoms.body), "geom_offset": _copy(geoms.offset),
            "geom_turn": _copy(geoms.turn), "geom_uid": _copy(geoms.uid),
            "geom_size": _copy(geoms.radius),
        }  # fmt: skip

    def _settings(self) -> dict[str, np.ndarray]:
        options, model, cone = self.options, self.model, self.options.shape
        real, count = np.zeros(the.REALS), np.zeros(the.COUNTS, N)
        real[the.TOL], real[the.LOOSE] = options.tol, max(options.tol, options.sweep_tol)
        real[the.SLOP] = options.slop
        real[the.RADIUS] = 1.0
        count[the.REACH] = the.BY_TRAVEL
        if options.active_gap == "predicted":
            count[the.REACH] = the.PREDICTED
        elif options.active_gap is not None:
            count[the.REACH], real[the.ACTIVE] = the.GIVEN, options.active_gap
        count[the.LAW] = LAWS[options.formulation]
        count[the.FLOW] = options.rotation == "flow"
        count[the.EXPLICIT] = options.rotation == "explicit"
        count[the.STABILIZE], count[the.WARM] = options.stabilize, options.warm_start
        count[the.BOUNCE] = options.restitution != "none"
        count[the.PENALTY], count[the.REFUSED] = 1, NEVER
        count[the.HUGE], count[the.HUGE + 1] = threads.LARGE, threads.WORTH
        if threads.count_threads() == 1:  # what is shared out by islands has the same bits on one
            count[the.HUGE + 1] = NEVER
        real[the.OLD_H] = 1.0
        elliptic = isinstance(cone, EllipticCone)
        axis, ratios = np.zeros(3), np.ones(2)
        if isinstance(cone, EllipticCone):
            axis[:2] = np.cos(cone.angle), np.sin(cone.angle)
            ratios[:] = cone.ratios
        return {
            "real": real, "count": count, "origin": np.zeros(2), "begun": np.zeros(the.REPORT),
            "noted_ends": np.zeros(3, N), "total": np.zeros(the.TOTALS),
            "report": np.zeros(the.REPORT), "sums": np.zeros(4), "turn": np.zeros((3, 3)),
            "cone_axis": axis,
            "cone_ratios": ratios, "chosen_count": np.zeros(1, N), "leave": np.zeros(1, B),
            "anisotropic": np.array([elliptic or bool(model.axis.any())]),
        }  # fmt: skip

    def _kinds_of_rows(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shape of a row's part of each array that has one part for every row."""
        d = dim = self.model.dim
        stored = (d, 2, self.model.dof)
        kinds: dict[str, tuple[tuple[int, ...], Any]] = dict.fromkeys(
            ("geom_a", "geom_b", "feature", "tag_a", "tag_b", "pick", "found", "label",
             "place", "source", "old_a", "old_b", "old_feature", "chosen", "most", "least", "ended",
             "sweeps", "plan", "awake"), ((), N),
        )  # fmt: skip
        kinds |= dict.fromkeys(
            ("gap", "mu", "spin", "old_spin", "limit", "enough", "resort"), ((), F)
        )
        kinds |= dict.fromkeys(("keep", "forced", "loose", "slid", "old_slid"), ((), B))
        kinds |= dict.fromkeys(("bias", "zero", "r", "u", "q", "w"), ((d,), F))
        kinds |= dict.fromkeys(("point", "normal", "impulse", "old_impulse"), ((dim,), F))
        kinds |= {"pair": ((2,), N), "body": ((2,), N), "both": ((2,), F), "eps": ((2,), F)}
        kinds |= {"residual": ((2,), F), "row_axis": ((3,), F), "row_ratios": ((2,), F)}
        kinds |= {"frame": ((d, dim), F), "D": ((d, d), F)}
        kinds |= {
            "contact": ((light_planar.CONTACT if dim == 2 else light_spatial.CONTACT,), F),
            "J": (stored, F),
            "P": (stored, F),
        }
        return kinds

    def _made(self, room: int, stored: int) -> dict[str, np.ndarray]:
        out = {}
        for name, (shape, kind) in self._row_kinds.items():
            out[name] = np.zeros((stored if name in ("J", "P") else room, *shape), kind)
        out["row_ratios"][:] = 1.0
        out["start"] = np.zeros(room + 1, N)
        out["head"] = np.zeros(1 << (2 * room).bit_length(), N)
        out["tail"] = np.zeros((3, room), N)
        return out

    def _driven(self, steps: int) -> dict[str, np.ndarray]:
        model = self.model
        which = np.array([i for i, _ in model.motions], N)
        shape = (max(steps, 1), which.size)
        angles = shape if model.dim == 2 else (*shape, 4)
        return {
            "driven": which, "driven_velocity": np.zeros((*shape, model.dof)),
            "driven_position": np.zeros((*shape, model.dim)),
            "driven_orientation": np.zeros(angles),
        }  # fmt: skip

    def _frames(self, n: int, islands: int) -> dict[str, np.ndarray]:
        model, m = self.model, max(n, 1)
        nb = model.nb
        angles = (m, nb) if model.dim == 2 else (m, nb, 4)
        return {
            "frame_time": np.zeros(m), "frame_position": np.zeros((m, nb, model.dim)),
            "frame_orientation": np.zeros(angles), "frame_velocity": np.zeros((m, nb, model.dof)),
            "frame_report": np.zeros((m, the.REPORT)), "frame_log": np.zeros(m, N),
            "log": np.zeros((max(islands, 1), 2)), "frame_noted": np.zeros((m, 3), N),
            "frame_wrench": np.zeros((m, self.nj, model.dof)),
        }  # fmt: skip

    def noted(self, room: int) -> dict[str, np.ndarray]:
        """Room for what ``note_contacts`` notes."""
        return {
            "numbers": np.zeros((room, 4 * self.model.dim + 1)),
            "bodies": np.zeros((room, bodies_kind(self.model.nb).itemsize), np.uint8),
            "laws": np.zeros((room, 2)), "features": np.zeros(room, N),
        }  # fmt: skip

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
        s.real[the.TIME], s.count[the.CURSOR] = state.time, 0

    def clear_totals(self) -> None:
        """Count steps from here on."""
        total = self.s.total
        total[:] = 0.0
        total[the.T_FIRST], total[the.T_MAX_DEPTH] = np.inf, self.options.max_depth
        total[[the.T_BODY, the.T_DEEP_A, the.T_DEEP_B]] = -1.0

    def state(self) -> State:
        s = self.s
        return State(
            float(s.real[the.TIME]), s.position.copy(), s.orientation.copy(), s.velocity.copy()
        )

    def state_before(self) -> State:
        """The state that the last step began with."""
        s = self.s
        time = float(s.real[the.TIME])
        return State(time, s.was.copy(), s.was_turned.copy(), s.was_moving.copy())

    def set_step(self, h: float, steps: int) -> None:
        """Steps of length h, `steps` of them to come: prescribed motions are worked out ahead."""
        s, real = self.s, self.s.real
        real[the.H], real[the.REST] = h, h * self.gravity
        # what counts as a collision in steps of this length, see ``impact``
        real[the.STILL], real[the.TOUCH] = max(STILL, SLOW * h * self.pull), TOUCH * self.typical
        s.count[the.CURSOR] = 0
        if not self.model.motions:
            return
        driven = self._driven(steps)
        there = steps <= s.driven_velocity.shape[0]
        if there:
            driven = {name: getattr(s, name) for name in driven}
        for k, (_, motion) in enumerate(self.model.motions):
            for i in range(steps):
                t = s.origin[0] + (s.origin[1] + i) * h if steps > 1 else real[the.TIME]
                driven["driven_velocity"][i, k] = motion.velocity(t, h)
                position, orientation = motion.pose(t + h)
                driven["driven_position"][i, k] = position
                driven["driven_orientation"][i, k] = orientation
        if not there:
            s.put(**driven)

    def make_room_for_frames(self, frames: int, most: int) -> None:
        """Room for so many, and at once for the `most` that may come if they are small: later a
        recording's other thread would make this one wait for each array."""
        s = self.s
        s.count[the.RECORDED] = s.count[the.LOGGED] = s.noted_ends[:] = 0
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
        n = int(self.s.count[the.ROWS] * self.s.count[the.WATCHED])
        if n > self.s.noted_numbers.shape[0]:
            many = noted_rows(self.s.noted_numbers)
            self.s.put(**self._noted(max(2 * n, min(SOON * n, many) if more_comes else many)))

    def memory(self) -> dict[str, np.ndarray]:
        """What a step leaves for the next one."""
        return {name: getattr(self.s, name).copy() for name in MEMORY}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        self.s.put(**{name: array.copy() for name, array in memory.items()})

    def snapshot(self) -> Snapshot:
        """The same as short as it goes, for a file."""
        held = self.s.__dict__
        n = int(held["count"][the.OLD])
        out: Snapshot = {name: held[name][:n].copy() for name in WARM}
        out["real"], out["count"] = held["real"].copy(), held["count"].copy()
        return out

    def restore(self, known: Snapshot) -> None:
        n, held = int(known["count"][the.OLD]), self.s.__dict__
        if n > self.room:
            self.grow(n)
        held["real"][:], held["count"][:] = known["real"], known["count"]
        for name in WARM if n else ():
            held[name][:n] = known[name]

    def remember(self, other: Buffers) -> None:
        """Take over the warm start of other buffers; contacts are told by uids."""
        n = int(other.s.count[the.OLD])
        if n > self.room:
            self.grow(n)
        for name in WARM:
            getattr(self.s, name)[:n] = getattr(other.s, name)[:n]
        self.s.real[the.OLD_H] = other.s.real[the.OLD_H]
        for k in (the.OLD, the.WAIT, the.PENALTY, the.TRIED, the.REFUSED):
            self.s.count[k] = other.s.count[k]

    def store(self, lo: int, hi: int) -> None:
        """J and P of the contacts lo:hi, which stages do without."""
        if self.s.J.shape[0] < self.room:
            shape = (self.room, *self.s.J.shape[1:])
            self.s.put(J=np.zeros(shape), P=np.zeros(shape))
        (store_planar if self.model.dim == 2 else store_spatial)(self.s, lo, hi)

    def rows(self) -> Rows:
        """The step's rows as they lie in the buffers; J and P as far as they were stored."""
        s = self.s
        n, ni = int(s.count[the.ROWS]), int(s.count[the.ISLANDS])
        contacts = Contacts(
            s.geom_a[:n], s.geom_b[:n], s.point[:n], s.normal[:n], s.gap[:n], s.feature[:n]
        )
        unit = np.sqrt(s.contact[:n, 13 if self.model.dim == 2 else 27])
        return Rows(
            s.start[: ni + 1], s.body[:n], contacts, s.moves, s.frame[:n], s.J[:n], s.P[:n],
            s.D[:n], s.both[:n], s.eps[:n], unit, s.zero[:n], np.full(n, -1), None,
        )  # fmt: skip


def _copy(array: Floats | Ints) -> np.ndarray:
    """One that kernels may hold on to: contiguous, and nobody else's."""
    return np.array(array, order="C")
