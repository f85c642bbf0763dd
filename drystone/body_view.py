"""One body of a running simulation, to read and to set."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone import edits
from drystone.arguments import answering
from drystone.dynamics import check
from drystone.dynamics.frames import rotation, spin_velocity
from drystone.errors import ModelError
from drystone.model import Model, State
from drystone.types import Floats, Real, VectorLike


@answering
class BodyView:
    """A body of a running simulation; what is set takes effect at the next step.

    position and velocity are those of the frame the body was described in.
    """

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: Any, name: str) -> None:
        self._simulation, self.name = simulation, name

    @property
    def _at(self) -> tuple[Model, State, int]:
        sim = self._simulation
        sim.sync()
        return sim.model, sim.state, sim.index(self.name)

    def _to_set(self, field: str, of_dynamic: bool = False) -> tuple[Model, State, int]:
        """The same for a change: prescribed motions take none, and sleepers wake."""
        model, state, i = self._at
        if any(i == k for k, _ in model.motions):
            raise ModelError(f"body {self.name!r}: {field} cannot be set: its motion says it")
        if of_dynamic and model.mass[i] == 0:
            raise ModelError(f"body {self.name!r}: {field} cannot be set: it is fixed")
        if field in ("position", "orientation"):
            edits.note(self._simulation)
        self._simulation.wake()
        return model, state, i

    @property
    def position(self) -> Floats:
        model, state, i = self._at
        return state.position[i] - rotation(state.orientation[i]) @ model.centre[i]

    @position.setter
    def position(self, value: VectorLike) -> None:
        model, state, i = self._to_set("position")
        place = check.vector(f"body {self.name!r}", "position", value, model.dim)
        state.position[i] = np.array(place) + rotation(state.orientation[i]) @ model.centre[i]

    @property
    def centre_of_mass(self) -> Floats:
        _, state, i = self._at
        return state.position[i].copy()

    @property
    def orientation(self) -> Any:
        """Angle [rad] in the plane, quaternion (w, x, y, z) in space; setting it turns the body
        about the origin of its frame."""
        model, state, i = self._at
        return float(state.orientation[i]) if model.dim == 2 else state.orientation[i].copy()

    @orientation.setter
    def orientation(self, value: Real | VectorLike) -> None:
        model, state, i = self._to_set("orientation")
        turn = check.orientation(f"body {self.name!r}", "orientation", value, model.dim)
        place = self.position
        state.orientation[i] = turn
        self.position = place

    @property
    def velocity(self) -> Floats:
        """Velocity of the frame's origin [m/s]."""
        model, state, i = self._at
        v, w = state.velocity[i, : model.dim], state.velocity[i, model.dim :]
        return v + spin_velocity(w, -rotation(state.orientation[i]) @ model.centre[i])

    @velocity.setter
    def velocity(self, value: VectorLike) -> None:
        model, state, i = self._to_set("velocity", of_dynamic=True)
        wanted = check.vector(f"body {self.name!r}", "velocity", value, model.dim)
        state.velocity[i, : model.dim] += np.array(wanted) - self.velocity

    @property
    def angular_velocity(self) -> Any:
        """[rad/s]: a number in the plane, (3,) in world axes in space; setting it spins the body
        about the origin of its frame."""
        model, state, i = self._at
        return float(state.velocity[i, 2]) if model.dim == 2 else state.velocity[i, 3:].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: Real | VectorLike) -> None:
        model, state, i = self._to_set("angular_velocity", of_dynamic=True)
        spin = check.spin(f"body {self.name!r}", "angular_velocity", value, model.dim)
        speed = self.velocity
        state.velocity[i, model.dim :] = spin
        self.velocity = speed

    @property
    def mass(self) -> float:
        model, _, i = self._at
        return float(model.mass[i])

    def __repr__(self) -> str:
        return f"BodyView({self.name!r}, t = {self._simulation.time:.6g} s)"
