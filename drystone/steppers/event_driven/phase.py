"""A phase of a run: its right-hand side, its event functions, and its present state.

A phase that is not over at the end of a frame continues in the next one, unless bodies are moved in
between. It is determined by where it began (state, contacts, which of them slide, the index sets
that the method of forces keeps) and by what was found at its present state. A checkpoint holds
these and no more, and a run that resumes from it builds the same phase, bit for bit.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from drystone.constraints.kinematics import LocalShapes, shapes_of
from drystone.dynamics import bodies
from drystone.errors import DrystoneError
from drystone.kernels import detect as stage
from drystone.kernels import event_forces as forces
from drystone.kernels import event_state, rows
from drystone.kernels.kinematics import codes
from drystone.kernels.kinematics.codes import Rates
from drystone.kernels.kinematics.rates import rates_planar, rates_spatial, resolve
from drystone.kernels.poses import geom_poses_planar, geom_poses_spatial
from drystone.model import Contacts, State
from drystone.steppers.event_driven.active_contacts import ContactSet, Rows
from drystone.steppers.event_driven.events import EventFunctions, EventSample
from drystone.steppers.event_driven.force_log import contacts_of, phase_over
from drystone.steppers.event_driven.forces import ContactForces, Tolerances
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.integrators import Paths, Running
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import Evaluation, Law, Mode, Sliding
from drystone.steppers.event_driven.projection import close, stop
from drystone.steppers.event_driven.sleep import Island
from drystone.steppers.event_driven.vector import LOADS, Layout
from drystone.steppers.snapshot import Snapshot, part_of, within
from drystone.types import Floats, Ints

NO_STATE = 1e12  # [m], [m/s]: no state is there
DEAD = 0.5  # of the best condition of a phase's joints: a dead point is near
NORMAL_TURNED = 1e-12  # of a normal: what is more than rounding


class Phase:
    """One smooth phase from `state` on.

    targets (nc,): gaps that closed contacts keep; touch [m], slow [m/s], slack: as
    ``EventFunctions`` has them. last: conditions at the present state, None where not evaluated.
    """

    def __init__(
        self,
        mode: Mode,
        state: State,
        targets: Floats,
        layout: Layout,
        touch: float,
        slow: float,
        slack: Floats | None = None,
    ) -> None:
        self.mode, self.targets, self.layout = mode, targets, layout
        self.turns = mode.contact_set.mechanics.turns
        self.start = mode.evaluate(state)
        mode.contact_set.begin(state)
        self.events = EventFunctions(mode, self.start.rows, touch, slow, slack)
        self.paths = Paths(mode, self.start)
        plain = mode.smooth and mode.contact_set.acts.size == 0
        self.fast = Rate(mode, layout) if plain else None
        self.last: EventSample | None = None
        self.log = FrameLog()
        self.trouble = ""
        self._known: tuple[float, Floats, Evaluation] | None = None
        self._best = self.start.condition
        self.near_dead_point = False
        self._running: Running | None = None

    @property
    def follows_corners(self) -> bool:
        """Whether the law of motion is smooth also where contacts are lost."""
        return self.fast is not None and self.fast.smooth

    def go_on(self, state: State) -> Evaluation:
        """Forces at the present state, as another frame begins with it."""
        last = self.last
        if last is not None and last.found is not None and last.t != state.time:
            self.last = self.events.conditions(state, last.found, None, last.reach)
        now = self.mode.evaluate(state)
        self._watch_condition(now)
        if self.fast is not None:
            self.fast.follow(now)
        return now

    def _watch_condition(self, now: Evaluation) -> None:
        """Near a dead point trial states of the integrator are closed before forces are computed:
        what is open at a distance x from it has accelerations of its size over x^2, and steps would
        become as short as x."""
        self._best = max(self._best, now.condition)
        self.near_dead_point = bool(now.joint.size) and now.condition < DEAD * self._best

    def lasts(self, touch: float) -> bool:
        """Whether the next frame may go on with this phase: another one, found anew, would be the
        same. What the user's forces will be is unknown."""
        mode, last = self.mode, self.last
        if last is None or last.now is None or not mode.smooth or mode.resting:
            return False
        rows = last.now.rows
        apart = rows.lost.any() or not ((rows.gap <= touch) | rows.loaded).all()
        nominal = self.events.nominal and not mode.contact_set.mechanics.model.forces
        return bool(nominal and not apart and not phase_over(mode, last.now))

    def islands_at_rest(self, log: FrameLog) -> list[Island]:
        """Bodies and contacts of the islands in equilibrium, as the phase began; log: impulses."""
        mode, model = self.mode, self.mode.contact_set.mechanics.model
        table = contacts_of(model, mode, self.start, log)
        out = []
        for k in mode.resting:
            system = mode.forces.islands[k].system
            own = system.bodies[model.inverse_mass[system.bodies] > 0]
            out.append((own, table[system.contacts[system.contacts < table.size]]))
        return out

    def accept(self, t: float, y: Floats, now: Evaluation) -> None:
        """Go on from (t, y), where forces are known."""
        self._known = t, y.copy(), now
        self._watch_condition(now)
        self.mode.contact_set.follow(now.state, now.rows.contacts)
        if self.fast is not None:
            self.fast.follow(now, anew=False)

    def rate(self, t: float, y: Floats) -> Floats:
        """dY/dt (Baraff 1992, (3-1))."""
        known = self._known
        if known is not None and known[0] == t and np.array_equal(known[1], y):
            now = known[2]
        else:
            self.log.evaluations += 1
            # trials may go where the phase has no law: a rate of nan makes the step shorter
            if not np.abs(y).max() <= NO_STATE:
                return np.full_like(y, np.nan)
            try:
                if self.near_dead_point:
                    y = self._closed(t, y)
                fast = None if self.fast is None else self.fast(t, y)
                if fast is not None and self.fast is not None:
                    self._running = self.fast.slide, self.fast.contacts
                    return fast
                now = self.mode.evaluate(self.layout.state(t, y))
            except DrystoneError as error:
                self.trouble = f" ({error})"
                return np.full_like(y, np.nan)
        self._running = now.rows.kin.slide, np.arange(now.rows.nr)
        return self.layout.rate(y, now.state, now.acceleration, now.power)

    def _closed(self, t: float, y: Floats) -> Floats:
        """Y with contacts and joints closed."""
        state = self.layout.state(t, y)
        close(self.mode, state, self.targets)
        stop(self.mode, state, self.targets)
        return self.layout.pack(state, y[self.layout.work])

    def pace(self) -> float:
        """g of the latest rate; see ``ArcLengthIntegrator``."""
        return 1.0 if self._running is None else self.paths.pace(*self._running)

    def snapshot(self) -> Snapshot:
        """What ``restored`` needs beside the mechanics, the method's index sets and the state."""
        mode, contact_set, last = self.mode, self.mode.contact_set, self.last
        out: Snapshot = {
            "acts": contact_set.acts, "loaded": contact_set.loaded, "targets": self.targets,
            "turns": self.turns, "slow": self.events.slow, "best": self._best,
        }  # fmt: skip
        parts: dict[str, Any] = {
            "state": contact_set.began, "start": contact_set.start, "sliding": mode.sliding,
            "tolerances": mode.tolerances,
        }  # fmt: skip
        if last is not None and last.now is not None:
            parts |= {"found": last.found, "own": last.now.rows.contacts}
            out["reach"] = last.reach
        for name, part in parts.items():
            out |= within(name, asdict(part))
        return {name: value for name, value in out.items() if value is not None}

    @classmethod
    def restored(
        cls,
        known: Snapshot,
        mechanics: Mechanics,
        method: ContactForces,
        layout: Layout,
        touch: float,
        now: State,
    ) -> Phase:
        """The phase that ``snapshot`` was taken of; now: its present state."""
        state, sliding = State(**part_of(known, "state")), Sliding(**part_of(known, "sliding"))
        tolerances = Tolerances(**part_of(known, "tolerances"))
        turns, mechanics.turns = mechanics.turns, known.get("turns")
        contact_set = ContactSet(
            mechanics, state, Contacts(**part_of(known, "start")), known["acts"]
        )
        contact_set.loaded = int(known["loaded"])
        rows = contact_set.rows(state, sliding, tolerances)
        none = np.zeros(rows.state.nc, bool)
        mode = Mode(contact_set, method.recalled(rows.state), sliding, tolerances, method, none)
        out = cls(mode, state, known["targets"], layout, touch, float(known["slow"]))
        mechanics.turns = turns
        contact_set.put(now, Contacts(**part_of(known, "own")))
        found = Contacts(**part_of(known, "found"))
        out.last = out.events.conditions(now, found, None, known.get("reach"))
        out._best = float(known.get("best", out._best))
        return out


class Rate:
    """dY/dt of a phase without objects: what ``Mode.evaluate`` computes, by kernels alone; None in
    place of a rate where it does not apply.

    Integrators ask for it a dozen times a step. Only contacts that press take part; what is the
    same for the whole phase (who they are, rows of index sets, materials) is laid out once.
    """

    def __init__(self, mode: Mode, layout: Layout) -> None:
        contact_set, mechanics = mode.contact_set, mode.contact_set.mechanics
        self.mechanics, self.layout, self.model = mechanics, layout, mechanics.model
        self._contact_set = contact_set
        self._chosen(mode)
        model, n, d = self.model, self.contacts.size, self.model.dim
        dof, N = model.dof, n * d + self.nj
        k = d if d == 2 else 3
        self._x, self._R = np.empty((len(model.geoms), d)), np.empty((len(model.geoms), d, d))
        self._index, self._C = np.empty(n, np.int64), np.empty(n)
        self._p, self._n = np.empty((n, 2, d)), np.empty((n, d))
        self._frame, self._D = np.empty((n, d, d)), np.empty((n, d, d))
        self._bias, self._u = np.zeros(N), np.zeros(N)
        self._rates = [np.empty((n, d)), np.empty((n, d)), np.empty((n, 2, d)), np.empty(n)]
        self._J, self._P = np.empty((N, 2, dof)), np.empty((N, 2, dof))
        self._soft, self._friction = np.zeros(N), np.empty((n, k - 1))
        self._zero, self._ones = np.zeros((n, 3)), np.ones((n, 2))
        self._marks = LocalShapes.empty(n, d)
        start = contact_set.start
        self._key = np.stack([start.geom_a, start.geom_b, start.feature], axis=1)[self.contacts]
        self._geom = np.ascontiguousarray(self._key[:, :2])
        self._size = model.geoms.radius[self._geom].min(axis=1)
        self._shapes = shapes_of(model.geoms, self._geom)
        self._corner: tuple[Ints, Floats, Floats] | None = None

    def follow(self, now: Evaluation, anew: bool = True) -> None:
        """Where every contact is a corner on a face at an accepted state they are followed without
        a search, smoothly also where the corner leaves the face. Edges that lie on each
        other do not say whose corner it will be: where a face turns out to have another normal
        than its contact, contacts are searched for until this is asked `anew`."""
        if self.contacts.size == 0 or not (anew or self._corner):
            return
        x, R = bodies.geom_poses(self.mechanics.model, now.state)
        normal = now.rows.contacts.normal[self.contacts]
        if anew:
            self._corner = self._corners(now.rows, x, R, normal)
        elif self._corner is not None:
            side, _, local = self._corner
            n = np.einsum("iek,ik->ie", R[self._geom[np.arange(side.size), 1 - side]], local)
            if np.abs(n - normal).max() > NORMAL_TURNED:
                self._corner = None

    @property
    def smooth(self) -> bool:
        """Whether contacts are corners on faces, followed without a search, or none."""
        return self.contacts.size == 0 or self._corner is not None

    def _corners(
        self, rows: Rows, x: Floats, R: Floats, normal: Floats
    ) -> tuple[Ints, Floats, Floats] | None:
        """(side, points, normals) of corners on faces at poses x, R; None if some are others."""
        if rows.lost[self.contacts].any():
            return None
        chosen, d, marks, geom = self.contacts, self.model.dim, self._marks, self._geom
        point, C = rows.contacts.point[chosen], rows.contacts.gap[chosen]
        half = 0.5 * C[:, None] * normal
        p = np.stack([point + half, point - half], axis=1)
        marks.clear()
        self._shapes(x, R, p, rows.kin.frame[chosen], marks)
        corner = marks.feature == codes.VERTEX
        flag = np.zeros(C.size, np.int64)
        resolve(d, C, self._size, marks.feature, marks.bits, marks.E, marks.D, flag)
        corner &= marks.feature == codes.VERTEX
        if not ((corner.sum(axis=1) == 1) & (marks.feature == codes.FACE).any(axis=1)).all():
            return None
        side = np.where(corner[:, 0], 0, 1)
        local = np.einsum("isek,ise->isk", R[geom], p - x[geom])
        face = geom[np.arange(side.size), 1 - side]
        return side, local, np.einsum("iek,ie->ik", R[face], normal)

    def _chosen(self, mode: Mode) -> None:
        """Contacts that press, in islands that move, and what they are made of."""
        model = self.model
        nr, moving = len(mode.contact_set.keys), np.zeros(mode.closed.size, bool)
        for i, part in enumerate(mode.forces.islands):
            if i not in mode.resting:
                moving[part.system.contacts] = True
        chosen = np.flatnonzero((mode.closed & moving)[:nr])
        self.contacts, self.nj = chosen, mode.forces.joint.size
        self._body = np.ascontiguousarray(mode.contact_set.body[chosen])
        sliding = mode.sliding
        self._slides, self._frozen = sliding.slides[chosen], sliding.frozen[chosen]
        self._way = np.ascontiguousarray(sliding.direction[chosen])
        self._mu = mode.contact_set.mu[chosen]
        still = [mode.forces.islands[i].system.bodies for i in mode.resting]
        self._still: Ints = np.concatenate([*still, np.empty(0, np.int64)])
        joint_body = np.empty((0, 2), np.int64)
        if mode.forces.islands:
            joint_body = mode.forces.islands[0].system.state.joint_body
        body = np.concatenate([np.repeat(self._body, model.dim, axis=0), joint_body])
        self._law = Law(model, mode.forces, chosen, body, mode.resting)

    def __call__(self, t: float, y: Floats) -> Floats | None:
        """dY/dt, or None: contacts that are not found."""
        state = self.layout.state(t, y)
        if self.contacts.size and not self._contacts(state):
            return None
        return self.layout.rate(y, state, *self._accelerations(state))

    @property
    def slide(self) -> Floats:
        """(n, 2, d) velocities of the contact points over both surfaces [m/s]."""
        return self._rates[2]

    def _contacts(self, state: State) -> bool:
        """Rows of the contacts; whether all are found."""
        geoms, d = self.model.geoms, self.model.dim
        x, R = self._x, self._R
        fill = geom_poses_planar if d == 2 else geom_poses_spatial
        fill(geoms.body, geoms.offset, geoms.turn, state.position, state.orientation, x, R)
        if self._corner is not None:
            event_state.corners(self._geom, *self._corner, x, R, self._p, self._n, self._C)
        elif not self._found(x, R):
            return False
        n, C, frame = self._C.size, self._C, self._frame
        point = 0.5 * (self._p[:, 0] + self._p[:, 1])
        if d == 2:
            rows.frames_planar(self._n, frame)
        else:
            rows.frames_spatial(self._n, self._zero, self._ones, 1.0, frame)
        marks, flag = self._marks, np.zeros(n, np.int64)
        if self._corner is None:
            marks.clear()
            self._shapes(x, R, self._p, frame, marks)
            resolve(d, C, self._size, marks.feature, marks.bits, marks.E, marks.D, flag)
        bias = self._bias[: n * d].reshape(n, d)
        normal_rate, point_rate, slide, rcond = self._rates
        out = Rates(bias, normal_rate, point_rate, slide, rcond, flag)
        rates = rates_planar if d == 2 else rates_spatial
        rates(
            self._body, state.position, state.velocity, point, C, self._size, frame, marks.E,
            marks.D, out,
        )  # fmt: skip
        self._jacobians(state, point, frame)
        return True

    def _found(self, x: Floats, R: Floats) -> bool:
        """Search for the contacts at poses x, R of the geoms; whether all are there."""
        detector = self.mechanics.detector
        detector.scan.stage = stage.BOXES
        while code := stage.detect(detector.scan, x, R, self.mechanics.near):
            detector.serve(code)  # a longer scan, if it has to be
        out = self._index, self._p, self._n, self._C
        lost = event_state.follow(detector.scan, self._key, *out)
        return not lost and self._contact_set.same_rims(self.contacts, self._n, R)

    def _jacobians(self, state: State, point: Floats, frame: Floats) -> None:
        n, d, dof = point.shape[0], self.model.dim, self.model.dof
        J = self._J[: n * d].reshape(n, d, 2, dof)
        P = self._P[: n * d].reshape(n, d, 2, dof)
        model = self.model
        fill = rows.rows_planar if d == 2 else rows.rows_spatial
        fill(
            model.inverse_mass, model.inverse_inertia, state.position, self._body, point, frame,
            J, P, self._D,
        )  # fmt: skip
        u = self._u[: n * d].reshape(n, d)
        rows.row_velocities(self._body, J, np.zeros((n, d)), state.velocity, u)
        forces.slip_friction(
            frame, u, self._slides, self._frozen, self._way, self._law.direction, self._law.tied,
            self._mu, self._friction,
        )  # fmt: skip

    def _accelerations(self, state: State) -> tuple[Floats, Floats]:
        """Of bodies (nb, dof), and rates of the energies (4,)."""
        model, mechanics, n = self.model, self.mechanics, self.contacts.size
        d, power = model.dim, np.zeros(4)
        q = None
        if mechanics.joints is not None:
            bilateral, _, q, _ = mechanics.joints.at(state, mechanics.turns)
            self._J[n * d :], self._bias[n * d :], self._u[n * d :] = (
                bilateral.J,
                bilateral.bias,
                bilateral.u,
            )
        loads = mechanics.loads(state, q)
        a = loads.acceleration
        J = self._J
        r = self._law.forces(J, self._bias, self._soft, self._friction, loads.inverse_inertia, a)
        a[self._still] = 0.0
        body = self._law.body
        forces.powers(n, d, body, mechanics.driven, J, r, self._u, state.velocity, power)
        power[LOADS] += float((loads.force * state.velocity)[self._law.moves].sum())
        return a, power
