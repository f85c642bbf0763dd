"""Bodies and joints of a running simulation, to read and to set."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from drystone import edits
from drystone.arguments import answering
from drystone.constraints.joints.rows import Coordinates, free_coordinates
from drystone.dynamics import check
from drystone.errors import ModelError
from drystone.model import Joints, Model, State
from drystone.types import Floats, Real, VectorLike
from drystone.values import among, text


@answering
class BodyView:
    """A body of a running simulation; what is set takes effect at the next step.

    position and velocity are those of the frame the body was described in. A reading is that of the
    present moment, whatever was stepped, restored or edited before it, and a copy: later steps do
    not change it.
    """

    __slots__ = ("_centre", "_index", "_model", "_simulation", "name")

    def __init__(self, simulation: Any, name: str) -> None:
        self._simulation, self.name = simulation, name
        self._model: Model | None = None

    def __reduce__(self) -> Any:
        return BodyView, (self._simulation, self.name)

    def _at(self) -> tuple[State, int]:
        """The present state, and the body's row in it. The row is looked up once for each model:
        an edit makes another one."""
        sim = self._simulation
        if sim.world._version != sim._version:
            sim._sync()
        if self._model is not sim.model:
            self._index = sim.index(self.name)
            centre = tuple(sim.model.centre[self._index].tolist())
            self._centre = centre if any(centre) else None
            self._model = sim.model
        return sim.state, self._index

    def _arm(self, state: State, i: int) -> tuple[float, ...]:
        """(dim,) from the frame's origin to the centre of mass, in world axes. In numbers: arrays
        of three take five times as long."""
        if self._centre is None:
            return (0.0,) * state.position.shape[1]
        if len(self._centre) == 2:
            angle, (a, b) = state.orientation[i], self._centre
            c, s = cos(angle), sin(angle)
            return c * a - s * b, s * a + c * b
        w, x, y, z = state.orientation[i].tolist()
        a, b, c = self._centre
        r, s, t = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
        return a + w * r + y * t - z * s, b + w * s + z * r - x * t, c + w * t + x * s - y * r

    def _to_set(self, field: str, of_dynamic: bool = False) -> tuple[Model, State, int]:
        """The same for a change: prescribed motions take none, and sleepers wake."""
        state, i = self._at()
        model: Model = self._simulation.model
        if any(i == k for k, _ in model.motions):
            raise ModelError(f"body {self.name!r}: {field} cannot be set: its motion is prescribed")
        if of_dynamic and model.mass[i] == 0:
            raise ModelError(f"body {self.name!r}: {field} cannot be set: it is fixed")
        if field in ("position", "orientation"):
            edits.note(self._simulation)
        self._simulation.wake()
        return model, state, i

    @property
    def position(self) -> Floats:
        """Of the frame's origin [m]."""
        state, i = self._at()
        row: Floats = state.position[i]
        if self._centre is None:
            return row.copy()
        return row - np.array(self._arm(state, i))

    @position.setter
    def position(self, value: VectorLike) -> None:
        model, state, i = self._to_set("position")
        place = check.vector(f"body {self.name!r}", "position", value, model.dim)
        state.position[i] = np.array(place) + self._arm(state, i)

    @property
    def centre_of_mass(self) -> Floats:
        state, i = self._at()
        return state.position[i].copy()

    @property
    def orientation(self) -> Any:
        """Angle [rad] in the plane, quaternion (w, x, y, z) in space; setting it turns the body
        about the origin of its frame."""
        state, i = self._at()
        found = state.orientation[i]
        return found.copy() if state.orientation.ndim == 2 else float(found)

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
        state, i = self._at()
        row: Floats = state.velocity[i]
        if self._centre is None:
            return row[: state.position.shape[1]].copy()
        if row.size == 3:
            (u, v, spin), (x, y) = row.tolist(), self._arm(state, i)
            return np.array((u + spin * y, v - spin * x))
        (u, v, w, p, q, r), (x, y, z) = row.tolist(), self._arm(state, i)
        return np.array((u - (q * z - r * y), v - (r * x - p * z), w - (p * y - q * x)))

    @velocity.setter
    def velocity(self, value: VectorLike) -> None:
        model, state, i = self._to_set("velocity", of_dynamic=True)
        wanted = check.vector(f"body {self.name!r}", "velocity", value, model.dim)
        state.velocity[i, : model.dim] += np.array(wanted) - self.velocity

    @property
    def angular_velocity(self) -> Any:
        """[rad/s]: a number in the plane, (3,) in world axes in space; setting it spins the body
        about the origin of its frame."""
        state, i = self._at()
        if state.orientation.ndim == 1:
            return float(state.velocity[i, 2])
        return state.velocity[i, 3:].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: Real | VectorLike) -> None:
        model, state, i = self._to_set("angular_velocity", of_dynamic=True)
        spin = check.spin(f"body {self.name!r}", "angular_velocity", value, model.dim)
        speed = self.velocity
        state.velocity[i, model.dim :] = spin
        self.velocity = speed

    @property
    def mass(self) -> float:
        _, i = self._at()
        return float(self._simulation.model.mass[i])

    def __repr__(self) -> str:
        return f"BodyView({self.name!r}, t = {self._simulation.time:.6g} s)"


@answering
class JointView:
    """A joint of a running simulation: its coordinates, their rates and its reactions.

    coordinates: names of its freedoms, as limits and motors speak of them, none for a joint that
    leaves none or that other joints measure better (a ball). position and velocity: one number a
    freedom, [rad] or [m] and per second, counted on over full turns.
    """

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: Any, name: str) -> None:
        self._simulation, self.name = simulation, name
        _ = self._at

    @property
    def _at(self) -> tuple[Joints, int]:
        sim = self._simulation
        sim.sync()
        joints = sim.stepper.model.joints
        if joints is None or not among(self.name, joints.names):
            known = () if joints is None else joints.names
            raise ModelError(
                f"unknown or broken joint {text(self.name)}: there are {', '.join(known)}"
            )
        return joints, joints.names.index(self.name)

    def _values(self) -> tuple[Joints, Coordinates, slice]:
        joints, j = self._at
        sim = self._simulation
        q = free_coordinates(joints, sim.state, sim.stepper.turns)
        return (
            joints,
            q,
            slice(int(joints.first_coordinate[j]), int(joints.first_coordinate[j + 1])),
        )

    @property
    def coordinates(self) -> tuple[str, ...]:
        joints, j = self._at
        first = joints.first_coordinate
        return joints.coordinate_name[int(first[j]) : int(first[j + 1])]

    @property
    def position(self) -> Floats:
        _, q, own = self._values()
        return q.value[own].copy()

    @property
    def velocity(self) -> Floats:
        joints, q, own = self._values()
        body, v = joints.coordinate_body[own], self._simulation.state.velocity
        sides = np.where((body >= 0)[:, :, None], v[body], 0.0)
        return np.asarray((q.J[own] * sides).sum(axis=(1, 2)))

    @property
    def force(self) -> Floats:
        """On the first body at its anchor, in world axes, in the last step [N]."""
        return self._row("force")

    @property
    def torque(self) -> Floats:
        """The same of the torque [N m]."""
        return self._row("torque")

    def _row(self, field: str) -> Floats:
        table = self._simulation.joints
        mine = np.flatnonzero(table["name"] == self.name)
        if mine.size == 0:
            raise ModelError(f"joint {self.name!r}: no step has been made yet, or it is broken")
        return np.asarray(table[field][mine[0]])
