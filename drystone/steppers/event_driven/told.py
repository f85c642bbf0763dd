"""What a listener hears of an accepted step: its force problem, and the run's answer to it.

The problem is stated as the phase has it. Contacts whose static friction gives way in the phase
slide along the direction that the phase found for them, although they are not fast yet; contacts
that parted, however slowly, bear no force until they are back, which ends the phase. A phase that
is over is not told: the one that begins at the same instant is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drystone.steppers.event_driven.forces.state import ContactState
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.types import Bools, Floats


@dataclass(frozen=True, slots=True)
class Told:
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


def over(mode: Mode, now: Evaluation) -> bool:
    """Whether a contact that presses in this phase parts: its features met another way."""
    return bool((mode.closed & (now.rows.state.u[:, 0] > mode.tolerances.normal)).any())


def told(mode: Mode, now: Evaluation, touch: float) -> Told:
    """The force problem of an accepted state: what touches, not what is apart by now."""
    state, gap = now.rows.state, now.rows.gap
    u = state.u[:, 0]
    parted = np.array([word == "separates" for word in mode.forces.word], bool)
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
    return Told(stated, now.f[near], now.joint, now.acceleration, gives[near])
