"""One joint of a running simulation, to read."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.constraints.joints.rows import Coordinates, free_coordinates
from drystone.errors import ModelError
from drystone.model import Joints
from drystone.types import Floats
from drystone.values import among, text


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
