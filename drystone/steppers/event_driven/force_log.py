"""What a listener hears of an accepted step: its force problem, and the run's answer to it.

The problem is stated as the phase has it. Contacts whose static friction gives way in the phase
slide along the direction that the phase found for them, although they are not fast yet; contacts
that parted, however slowly, bear no force until they are back, which ends the phase. A phase that
is over is not reported: the one that begins at the same instant is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drystone.model import Model
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.tables import contact_table
from drystone.types import Bools, Floats


@dataclass(frozen=True, slots=True)
class LoggedForces:
    """state: contacts that touch, as the phase has them; f (nc, d), joint (nj,) and acceleration
    (nb, dof): what the run goes on with; gives (nc,): contacts at rest whose friction gives way."""

    state: ContactState
    f: Floats
    joint: Floats
    acceleration: Floats
    gives: Bools

    @property
    def open(self) -> ContactState:
        """The same instant without the directions in which contacts give way: by (14-1)."""
        if self.state.slip is None:
            return self.state
        return replace(self.state, slip=np.where(self.gives[:, None], 0.0, self.state.slip))


def phase_over(mode: Mode, now: Evaluation) -> bool:
    """Whether a contact that presses in this phase parts: its features met another way."""
    return bool((mode.closed & (now.rows.state.u[:, 0] > mode.tolerances.normal)).any())


def logged_forces(mode: Mode, now: Evaluation, touch: float) -> LoggedForces:
    """The force problem of an accepted state: what touches, not what is apart by now."""
    state, gap = now.rows.state, now.rows.gap
    u = state.u[:, 0]
    parted = np.array(mode.forces.states, np.int64) == Kind.SEPARATING
    rests = (u >= -mode.tolerances.normal) & ~parted  # others collide at the event to come
    near = np.flatnonzero(mode.closed | ((gap <= touch) & rests) | ~np.isfinite(gap))
    direction = np.zeros((state.nc, state.d - 1))
    for part in mode.forces.islands:
        if part.index_set is not None:
            direction[part.system.contacts] = part.index_set.direction
    gives = direction.any(axis=1) & (state.mu[:, 0] > 0.0)
    slip = state.slip_directions if state.slip is None else state.slip
    slip = np.where(gives[:, None], -direction, slip)
    mu = np.where(gives[:, None], state.mu[:, :1], state.mu)  # static: it is at rest still
    stated = replace(state, slip=slip, mu=mu).take(near)
    return LoggedForces(stated, now.f[near], now.joint, now.acceleration, gives[near])


def contacts_of(model: Model, mode: Mode, now: Evaluation, log: FrameLog) -> np.ndarray:
    """Forces at a state of a phase; impulse: of the collisions in the log."""
    rows, nr = now.rows, now.rows.nr
    table = contact_table(model.names, model.dim, nr)
    if nr == 0:
        return table
    contacts, frame = rows.contacts, rows.kin.frame
    table["bodies"] = np.array(model.names, dtype=np.str_)[rows.kin.body]
    table["point"], table["normal"] = contacts.point, contacts.normal
    table["gap"], table["feature"] = contacts.gap, contacts.feature
    table["force"] = np.einsum("iak,ia->ik", frame, now.f[:nr])
    table["velocity"] = np.einsum("iak,ia->ik", frame, rows.state.u[:nr])
    for i, name in enumerate(mode.contact_set.names):
        table["impulse"][i] = log.impulse.get(name, 0.0)
    slides = mode.sliding.slides[:nr]
    table["friction"] = np.where(slides, rows.state.mu[:nr, 1], rows.state.mu[:nr, 0])
    for k, part in enumerate(mode.forces.islands):
        own = part.system.contacts
        table["island"][own[own < nr]] = k
    word = np.where(slides, "slip", "stick")
    table["state"] = np.where(mode.closed[:nr], word, "open")
    return table
