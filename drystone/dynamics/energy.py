"""Kinetic and potential energy of a state."""

from __future__ import annotations

import numpy as np

from drystone.kernels import ledger as kernels
from drystone.kernels import rigid
from drystone.model import Model, State
from drystone.types import Floats


def kinetic(model: Model, inertia: Floats, velocity: Floats) -> float:
    """Kinetic energy [J]; inertia in world axes."""
    if model.dim == 2:
        return float(kernels.kinetic_planar(model.mass, model.inertia, velocity))
    return float(kernels.kinetic_spatial(model.mass, inertia, velocity))


def height(model: Model, state: State) -> float:
    """Potential energy of gravity [J]."""
    return -float((model.mass * (state.position * model.gravity).sum(axis=1)).sum())


def stored(model: Model, state: State) -> float:
    """Energy stored in forces that have a potential, such as springs [J]."""
    return sum(float(force.potential(model, state)) for force in model.forces)


def energy(model: Model, state: State) -> tuple[float, float, float]:
    """Kinetic energy, that of gravity, and that stored in forces [J]."""
    inertia = model.inertia
    if model.dim == 3:
        inertia = np.empty_like(model.inertia)
        rigid.to_world(model.inertia, state.orientation, inertia)
    return kinetic(model, inertia, state.velocity), height(model, state), stored(model, state)
