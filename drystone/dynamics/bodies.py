"""Small questions about all bodies at once."""

from __future__ import annotations

import numpy as np

from drystone.errors import SimulationError
from drystone.model import Model, State
from drystone.types import Bools, Floats, Ints


def radii(model: Model) -> Floats:
    """(nb,) of the ball about the centre of mass that holds the body; inf if unbounded."""
    geoms, out = model.geoms, np.zeros(model.nb)
    reach = np.sqrt((geoms.offset**2).sum(axis=1)) + geoms.radius
    np.maximum.at(out, geoms.body, reach)
    return out


def only(inverse_inertia: Floats, moves: Bools) -> Floats:
    """The same with zeros for bodies that do not move."""
    shape = (-1,) + (1,) * (inverse_inertia.ndim - 1)
    return np.where(moves.reshape(shape), inverse_inertia, 0.0)


def relative_speed(velocity: Floats, pair: Ints, arms: list[Floats], normal: Floats) -> Floats:
    """(nc,) normal velocity of contact points: n.(v_a + w_a x r_a - v_b - w_b x r_b)."""
    dim = normal.shape[1]
    at = []
    for s in (0, 1):
        v, w, r = velocity[pair[:, s], :dim], velocity[pair[:, s], dim:], arms[s]
        if dim == 2:
            at.append(v + w * np.stack([-r[:, 1], r[:, 0]], axis=1))
        else:
            at.append(v + np.cross(w, r))
    return np.einsum("ij,ij->i", normal, at[0] - at[1])


def check_finite(model: Model, state: State) -> None:
    """Nothing that is not a number leaves a step: the error names the body and the time."""
    sum_ = state.position.sum() + state.velocity.sum() + state.orientation.sum()
    if np.isfinite(sum_):
        return
    parts = (state.velocity, state.position, state.orientation.reshape(model.nb, -1))
    wrong = ~np.logical_and.reduce([np.isfinite(part).all(axis=1) for part in parts])
    if not wrong.any():
        return
    i = int(np.argmax(wrong))
    raise SimulationError(
        f"body {model.names[i]!r} left the finite numbers at t = {state.time:.6g} s: velocity "
        f"{state.velocity[i]}, position {state.position[i]}, orientation {state.orientation[i]}"
    )
