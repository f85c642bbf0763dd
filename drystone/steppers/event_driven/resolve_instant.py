"""What happens at an instant: collisions, impulses without collision, then forces.

Contacts that approach faster than the resting speed collide; slower ones rest, and if they press
the rest of their speed is taken out. So the infinitely many impacts of a ball with restitution, or
of a block that rocks to rest, end after finitely many, at a speed that is a setting.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.constraints.rows import select
from drystone.errors import SimulationError
from drystone.model import State
from drystone.steppers.base import Event
from drystone.steppers.event_driven.active_contacts import ContactSet, Rows
from drystone.steppers.event_driven.forces import ContactForces, Forces, Kind, Tolerances
from drystone.steppers.event_driven.forces.coulomb import coulomb_forces, picked
from drystone.steppers.event_driven.forces.methods import APPROXIMATE
from drystone.steppers.event_driven.forces.sharing import shared_forces
from drystone.steppers.event_driven.forces.system import islands
from drystone.steppers.event_driven.frame_log import FrameLog, impulses
from drystone.steppers.event_driven.guards import Guard
from drystone.steppers.event_driven.impulses import CollisionLaw, resolve_jam
from drystone.steppers.event_driven.impulses.results import Collision
from drystone.steppers.event_driven.mechanics import Mechanics
from drystone.steppers.event_driven.mode import Mode, Sliding
from drystone.steppers.snapshot import Snapshot
from drystone.types import Bools, Floats, Ints, Status

ONSETS = 30  # of the direction in which contacts begin to slide
SETTLED_DIRECTION = 1e-10  # change of a unit vector
CREEPING = 1e-2  # of the resting speed: what approaches more slowly and does not press is let be
SINKING = 10.0  # times touch a second: what approaches more slowly than that gets nowhere
SLIP_WITH_DIRECTION = 0.1  # of the slip speed: slip that has a direction
ACROSS_SLIP = 0.1  # of what slip that keeps its direction may be across it: of accelerations
GOES_ON = 1e-2  # the same: two directions of it that are one


class InstantResolver:
    """Resolves instants."""

    def __init__(
        self,
        mechanics: Mechanics,
        law: CollisionLaw,
        method: ContactForces,
        tolerances: Tolerances,
        touch: float,
        slow: float,
        guard: Guard,
        aside: float,
    ) -> None:
        self.mechanics, self.law, self.method = mechanics, law, method
        self.tolerances, self.touch, self.slow = tolerances, touch, slow
        self.guard, self.aside = guard, aside
        self.kept: dict[str, Floats] = {}  # directions of straight slip in the last phase
        self.exact = method.solver.name not in APPROXIMATE

    def snapshot(self) -> Snapshot:
        """Directions of straight slip, by the names of contacts."""
        names, way = list(self.kept), list(self.kept.values())
        return {"names": np.array(names, np.str_), "way": np.array(way).reshape(-1, 3)}

    def restore(self, known: Snapshot) -> None:
        """Take over what ``snapshot`` gave."""
        self.kept = dict(zip(known["names"].tolist(), known["way"], strict=True))

    @property
    def resting_energy(self) -> float:
        """Kinetic energy of all bodies at the speeds of rest [J]."""
        speed = max(self.tolerances.normal, self.tolerances.slip, 2.0 * self.slow)
        mass = self.mechanics.model.inverse_mass
        return float(0.5 * speed * speed * (1.0 / mass[mass > 0]).sum())

    def resolve(self, state: State, log: FrameLog) -> Mode:
        """The phase that begins at a state, whose velocities jump, in place, if contacts meet."""
        tolerances = self.tolerances
        for k in range(self.guard.limits.max_impulses):
            contact_set = self.touching(state)
            bare = bool(contact_set.loaded)  # given loads are nothing beside impulses
            rows = contact_set.rows(state, None, tolerances, impulse=bare)
            jolts = k == 0 and self._jolts(rows)
            if jolts or (rows.state.kind == Kind.COLLIDING).any():
                self._collide(state, rows, log, plastic=False)
                continue
            forces, sliding, rows, fresh = self._forces(state, contact_set, tolerances)
            creeps = self._creeping(rows, forces)
            if forces.ray is None and creeps.any():
                least = min(CREEPING * self.tolerances.normal, 0.5 * -rows.state.u[creeps, 0].max())
                slow = Tolerances(normal=float(least), slip=self.tolerances.slip)
                whole = replace(rows.state, tolerances=slow, slip=None)
                self._collide(state, replace(rows, state=whole), log, plastic=True)
                # what parts from now on as slowly as the others came does not rest: taken to rest
                # it would bring them back
                tolerances = slow
                continue
            if forces.ray is None:
                forces = shared_forces(rows.state, forces)
                self._straighten(sliding, rows, forces, fresh)
                return self._phase(contact_set, forces, sliding, fresh, log)
            self._jam(state, rows, forces, log)
        names = ", ".join(sorted({name.split(" ")[0] for name in contact_set.names}))
        raise SimulationError(
            f"at t = {state.time:.9g} s impulses follow each other without end at contacts {names}"
        )

    def _jolts(self, rows: Rows) -> bool:
        """Whether joints beside contacts do not move as they must: a run that starts so, a body
        that was given another velocity, a motion that begins. It takes an impulse, and contacts
        take part in it: they are neither glued together nor bound to stick."""
        state = rows.state
        if state.nc == 0 or np.abs(state.joint_u).max(initial=0.0) <= self.tolerances.normal:
            return False
        fast = np.abs(state.joint_u) > self.tolerances.normal
        near = state.u[:, 0] <= self.tolerances.normal
        return any(p.contacts.size and fast[p.joints].any() for p in islands(state, near))

    def touching(self, state: State) -> ContactSet:
        """Contacts and limits that touch, motors and friction of joints."""
        acts = self.mechanics.jointed(state).acts
        on = acts.loaded | (acts.gap <= self.touch)
        while True:
            found = self.mechanics.contacts(state)
            caps = self.mechanics.caps
            touching = select(found, (found.gap <= self.touch) | caps.level(found, state))
            touching = caps.fastest(touching, state, self.tolerances.normal)
            if not self.mechanics.sleeping.wake(touching):
                break
        contact_set = ContactSet(self.mechanics, state, touching, acts.action[on])
        contact_set.loaded = int(acts.loaded.sum())
        return contact_set

    def _creeping(self, rows: Rows, forces: Forces) -> Bools:
        """(nc,) contacts that approach, however slowly, and that no force stops, or not before
        they are deeper than touching ones may be: they would end phase after phase."""
        open_ = (np.array(forces.states, np.int64) == Kind.OPEN) & ~rows.loaded
        u, a = rows.state.u[:, 0], np.maximum(forces.contact_acceleration[:, 0], 0.0)
        sinks = (u < -SINKING * self.touch) & (u * u > self.touch * a)
        return np.asarray(open_ & (sinks | (u < -2.0 * CREEPING * self.tolerances.normal)))

    def _phase(
        self, contact_set: ContactSet, forces: Forces, sliding: Sliding, fresh: Bools, log: FrameLog
    ) -> Mode:
        self.method.commit(forces)
        for sentence in forces.log:
            log.say(sentence)
        log.residual = max(log.residual, forces.residual)
        if not forces.ok or log.status is Status.SOLVED:
            log.status = forces.status
        return Mode(contact_set, forces, sliding, self.tolerances, self.method, fresh)

    def _collide(self, state: State, rows: Rows, log: FrameLog, plastic: bool) -> None:
        whole = rows.state
        if plastic:
            whole = replace(whole, restitution=np.zeros(whole.nc))
        hit = self.law.resolve(whole)
        met = np.flatnonzero(whole.kind == Kind.COLLIDING)
        kind = "limit" if met.size and (met >= rows.nr).all() else "impact"
        self._jump(state, rows, hit, log, kind, met)
        log.collisions += len(log.events[-1].names)

    def _jam(self, state: State, rows: Rows, forces: Forces, log: FrameLog) -> None:
        if forces.ray is None:
            return
        for sentence in forces.log:
            log.say(sentence)
        hit = resolve_jam(rows.state, forces.ray, forces.joint_ray, self.law)
        self._jump(state, rows, hit, log, "jam", np.flatnonzero(forces.ray.any(axis=1)))

    def _jump(
        self,
        state: State,
        rows: Rows,
        hit: Collision,
        log: FrameLog,
        kind: str,
        met: Ints,
    ) -> None:
        """Velocities after impulses, and the log of it; met: contacts and actions that asked for
        them, others may have taken part."""
        state.velocity += hit.velocity_change
        self.method.forget()
        log.impact_energy += hit.energy
        for body, _ in self.mechanics.model.motions:
            log.driving -= hit.work_on(rows.state, body, state.velocity[body])
        for sentence in hit.log:
            log.say(sentence)
        if hit.status is not Status.SOLVED:
            log.status = hit.status
        frame = rows.kin.frame
        for i in range(rows.nr):
            if hit.impulse[i].any():
                name = rows.state.key[i]
                vector = frame[i].T @ hit.impulse[i]
                log.impulse[name] = log.impulse.get(name, 0.0) + vector
        took = impulses(self.mechanics, state, rows, hit)
        names = [self._title(rows, int(i)) for i in met]
        names += [impulse.name for impulse in took if impulse.source != "joint"]
        names = names or [impulse.name for impulse in took]  # of joints that no contact resists
        event = Event(state.time, kind, tuple(dict.fromkeys(names)), hit.energy, took)
        reached = Event(event.time, "limit", event.names)
        if kind == "limit" and log.events and _only(log.events[-1], reached):
            log.events.pop()  # the same event, now with its impulse
        log.events.append(event)

    def _title(self, rows: Rows, i: int) -> str:
        """What users call a contact, or an action: its joint."""
        if i < rows.nr:
            return rows.state.key[i]
        return self.mechanics.joint_name(int(rows.action[i - rows.nr]))

    def _forces(
        self, state: State, contact_set: ContactSet, tolerances: Tolerances
    ) -> tuple[Forces, Sliding, Rows, Bools]:
        """Forces, with the dynamic coefficient where static friction gives way; who that is."""
        rows = contact_set.rows(state, None, tolerances)
        forces = self.method.solve(rows.state)
        sliding = self._sliding(rows)
        fresh = np.zeros(rows.state.nc, bool)
        alike = rows.state.d == 2 or not (self.exact and any(map(picked, forces.islands)))
        if rows.state.d == 3 and forces.ray is None and (forces.onset.any() or not alike):
            strict = coulomb_forces(rows.state, forces)
            if strict is not None:
                start = np.asarray(strict.onset.any(axis=1))
                if not (start & (rows.state.mu[:, 0] > rows.state.mu[:, 1])).any():
                    return strict, sliding, rows, start  # once there is slip it is followed
                forces = strict  # with less friction as soon as it slides, in that direction
        plain = forces, self._sliding(rows), rows, fresh.copy()
        turning = False
        for _ in range(ONSETS):
            if forces.ray is not None:
                break
            start = np.asarray(forces.onset.any(axis=1)) & ~sliding.slides
            start &= rows.state.mu[:, 0] > 0
            if not start.any() and not turning:
                break
            sliding.slides |= start
            fresh |= start
            turning = self._turn(sliding, rows, forces, fresh, start)
            now = replace(rows.state, slip=sliding(rows.kin, rows.state.u))
            rows = replace(rows, state=now)
            forces = self.method.solve(now)
        if forces.ray is not None and fresh.any():
            # what has no slip cannot jam: static friction gives way, and how is seen later
            return plain
        fresh &= ~np.array([self._runs(slip) for slip in rows.state.u[:, 1:]], bool)
        return forces, sliding, rows, fresh

    def _runs(self, slip: Floats) -> bool:
        """Whether a contact that gives way moves already, however slowly."""
        least = self.tolerances.slip
        return bool((SLIP_WITH_DIRECTION * least) ** 2 < float(slip @ slip) <= least**2)

    def _sliding(self, rows: Rows) -> Sliding:
        """Who slides by its velocity; slow slip keeps its direction (always, in the plane)."""
        state, nr = rows.state, rows.nr
        slides: Bools = np.asarray(state.slip_directions.any(axis=1)) & (state.mu[:, 0] > 0)
        speed = np.linalg.norm(state.u[:, 1:], axis=1)
        frozen: Bools = (speed <= 2.0 * self.slow) | rows.loaded | (state.d == 2)
        unit = state.slip_directions
        direction = np.einsum("iak,ia->ik", rows.kin.frame[:, 1:], unit[:nr])
        return Sliding(
            slides, frozen, direction, unit[nr:, 0].copy(), np.zeros(nr, bool), self.aside
        )

    def _straighten(self, sliding: Sliding, rows: Rows, forces: Forces, fresh: Bools) -> None:
        """In space slip whose acceleration is along it keeps its direction, and one that it kept
        in the last phase goes on: taken anew from the slip, phase by phase, rounding would grow."""
        state, nr, kept, self.kept = rows.state, rows.nr, self.kept, {}
        if state.d == 2 or nr == 0:
            return
        a, s = forces.contact_acceleration[:, 1:], state.slip_directions
        across = np.abs(s[:, 0] * a[:, 1] - s[:, 1] * a[:, 0])
        size = max(np.abs(a).max(initial=0.0), np.abs(state.acceleration).max(initial=0.0))
        along = across <= ACROSS_SLIP * sliding.aside * size
        sliding.straight[:] = (sliding.slides & along & ~fresh)[:nr]
        sliding.frozen[:nr] |= sliding.straight
        for i in np.flatnonzero(sliding.straight).tolist():
            old = rows.kin.frame[i, 1:] @ kept.get(state.key[i], np.zeros(3))
            old /= max(float(np.sqrt(old @ old)), 1e-300)
            if np.abs(old - s[i]).max() <= GOES_ON * sliding.aside:
                sliding.direction[i] = old @ rows.kin.frame[i, 1:]
            self.kept[state.key[i]] = sliding.direction[i].copy()

    def _turn(
        self, sliding: Sliding, rows: Rows, forces: Forces, fresh: Bools, start: Bools
    ) -> bool:
        """Contacts that begin to slide do so along their acceleration; whether any turned.

        In space that acceleration depends on the direction s of friction itself: s goes on as
        kappa s + a(s), with kappa not less than what friction changes in a.
        """
        a = forces.contact_acceleration[:, 1:]
        size = np.linalg.norm(a, axis=1)
        turned = False
        kappa = _stiffness(forces, fresh)
        for i in np.flatnonzero(fresh & (size > 0)).tolist():
            if i >= rows.nr:
                if start[i]:
                    sliding.way[i - rows.nr] = np.sign(a[i, 0])
                continue
            sliding.frozen[i] = True
            frame = rows.kin.frame[i, 1:]
            old = frame @ sliding.direction[i]
            if start[i]:
                friction = np.linalg.norm(forces.f[i, 1:])
                old = -forces.f[i, 1:] / friction if friction > 0 else a[i] / size[i]
            elif rows.state.d == 2:
                continue  # once begun it does not turn back: that is for an event to find
            new = kappa * forces.f[i, 0] * rows.state.mu[i, 1] * old + a[i]
            if rows.state.d == 2 or not new.any():
                new = a[i]
            slip = rows.state.u[i, 1:]
            if self._runs(slip) and float(slip @ new) < 0.0:
                new = slip  # it moves the other way still: friction slows it down first
            new = new / np.linalg.norm(new)
            turned |= bool(np.abs(new - old).max() > SETTLED_DIRECTION) and rows.state.d == 3
            sliding.direction[i] = frame.T @ new
        return turned


def _stiffness(forces: Forces, fresh: Bools) -> float:
    """Bound on the accelerations of fresh contacts by friction of 1 N on each of them [1/kg]."""
    most = 0.0
    for part in forces.islands:
        d, mine = part.system.state.d, np.flatnonzero(fresh[part.system.contacts])
        rows = (d * mine[:, None] + np.arange(1, d)).ravel()
        W = part.system.W[np.ix_(rows, rows)]
        most = max(most, float(np.abs(W).sum(axis=1).max(initial=0.0)))
    return most


def _only(last: Event, reached: Event) -> bool:
    """Whether an event is that joints reached stops, of which all take part in `reached`."""
    same = (last.time, last.kind, last.impulses) == (reached.time, reached.kind, ())
    return same and set(last.names) <= set(reached.names)
