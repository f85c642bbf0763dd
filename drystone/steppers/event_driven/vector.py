"""The state of all moving bodies as one vector, as integrators want it (Baraff 1992, 3.1).

Y = (positions, orientations, velocities, work): work (4,) are energies that grow with time, so that
the energy ledger of a step is integrated as exactly as its motion.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from drystone.kernels.event_state import rate_of_change, unpack
from drystone.model import Model, State
from drystone.types import Bools, Floats, Ints

LOADS, DRIVING, FRICTION, CONSTRAINT = range(4)  # entries of work [J]
DIFFERENCE = 2e-4  # [s] of the differences that stand for the acceleration of a prescribed motion
# (place, weight) of differences of order 4: central
CENTRAL = ((-2.0, 1 / 12), (-1.0, -2 / 3), (1.0, 2 / 3), (2.0, -1 / 12))
# one-sided: a motion may not be defined before time 0
FORWARD = ((0.0, -25 / 12), (1.0, 4.0), (2.0, -3.0), (3.0, 4 / 3), (4.0, -1 / 4))


class Layout:
    """Where each number of Y lies; bodies that forces do not move are functions of time. bodies:
    those that Y has; others stay where they are."""

    def __init__(self, model: Model, bodies: Ints | None = None) -> None:
        self.model = model
        self.bodies = np.flatnonzero(model.inverse_mass > 0) if bodies is None else bodies
        n, dim, dof = self.bodies.size, model.dim, model.dof
        turns = 1 if dim == 2 else 4
        ends = np.cumsum([0, n * dim, n * turns, n * dof, 4])
        self.position, self.orientation, self.velocity, self.work = (
            slice(a, b) for a, b in pairwise(ends.tolist())
        )
        self.size = int(ends[-1])
        self._template: State | None = None

    def of(self, awake: Bools) -> Layout:
        """The layout with those bodies that are awake."""
        own = np.flatnonzero((self.model.inverse_mass > 0) & awake)
        return self if np.array_equal(own, self.bodies) else Layout(self.model, own)

    def pack(self, state: State, work: Floats | None = None) -> Floats:
        """Y of a state; bodies that do not move are remembered as they are in it."""
        self._template = state
        y, own = np.zeros(self.size), self.bodies
        y[self.position] = state.position[own].ravel()
        y[self.orientation] = state.orientation[own].ravel()
        y[self.velocity] = state.velocity[own].ravel()
        if work is not None:
            y[self.work] = work
        return y

    def state(self, t: float, y: Floats) -> State:
        """The state of all bodies at Y, quaternions of length 1."""
        if self._template is None:
            raise ValueError("pack a state first")
        out = self._template.copy()
        out.time = float(t)
        turn = out.orientation.reshape(-1, 1 if self.model.dim == 2 else 4)
        unpack(y, self.bodies, out.position, turn, out.velocity)
        for i, motion in self.model.motions:
            out.position[i], out.orientation[i] = motion.pose(t)
            out.velocity[i] = motion.velocity(t, 0.0)
        return out

    def rate(self, y: Floats, state: State, acceleration: Floats, power: Floats) -> Floats:
        """dY/dt: acceleration (nb, dof) of the bodies, power (4,) [W]."""
        out, dim = np.empty(self.size), self.model.dim
        rate_of_change(y, self.bodies, state.velocity, acceleration, power, dim, out)
        return out

    def tolerances(self, atol: float, rtol: float, energy: float) -> Floats:
        """Absolute tolerances of Y; energy [J]: the size of the energies at stake."""
        out = np.full(self.size, atol)
        out[self.work] = max(atol, rtol * energy)
        return out


def prescribed_acceleration(model: Model, t: float, out: Floats) -> None:
    """Write the accelerations of prescribed bodies at t into out (nb, dof)."""
    for i, motion in model.motions:
        early = 0.0 <= t < 2 * DIFFERENCE
        a = np.zeros(model.dof)
        for k, weight in FORWARD if early else CENTRAL:
            a += weight * motion.velocity(t + k * DIFFERENCE, 0.0)
        out[i] = a / DIFFERENCE
