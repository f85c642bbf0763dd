"""Other engines on our worlds: each is built from the same arrays and gives back the same state.

So geometry, masses, inertias, friction and starting state are equal by construction, and one
judge measures everybody. Sleeping and damping are off, pair friction is exactly that of the scene.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.errors import UnsupportedProblemError
from drystone.geometry import kinds
from drystone.model import Geoms, Model, State
from drystone.types import Floats

PEERS = {"mujoco": "Mujoco", "pybullet": "PyBullet", "pymunk": "Pymunk"}


class Engine(ABC):
    """A peer: made from a model and a state, steps by dt [s], and says where its bodies are."""

    name: ClassVar[str]
    planar: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, model: Model, state: State, dt: float) -> None: ...

    @abstractmethod
    def step(self) -> None: ...

    @abstractmethod
    def state(self) -> State:
        """Positions of centres of mass, orientations and velocities, as ours."""


def installed() -> dict[str, type[Engine]]:
    """The peers that are here, by name."""
    out: dict[str, type[Engine]] = {}
    for module, cls in PEERS.items():
        if find_spec(module) is not None:
            out[module] = getattr(import_module(f"drystone.interop.peer_{module}"), cls)
    return out


def missing() -> list[str]:
    return [module for module in PEERS if find_spec(module) is None]


def only_friction(model: Model) -> float:
    """The one coefficient of friction of a scene; other engines combine several differently."""
    values = np.unique(model.friction)
    if values.size != 1:
        raise UnsupportedProblemError(f"peers need one friction for all bodies, not {values}")
    return float(values[0])


def half_sides(geoms: Geoms, g: int) -> Floats:
    """(3,) of a box; another polyhedron is refused."""
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    nv = int(ints[0])
    corners = geoms.numbers[geoms.first[g] : geoms.first[g] + 3 * nv].reshape(nv, 3)
    half: Floats = np.abs(corners).max(axis=0)
    if nv != 8 or not np.allclose(np.abs(corners), half, rtol=1e-9):
        raise UnsupportedProblemError("peers take boxes, spheres and half-spaces only")
    return half


def check_kinds(model: Model, taken: tuple[int, ...]) -> None:
    """Refuse what the translation does not know."""
    for kind in np.unique(model.geoms.kind):
        if int(kind) not in taken:
            raise UnsupportedProblemError(f"peers have no {kinds.NAMES[int(kind)]}")
    if model.motions or model.forces:
        raise UnsupportedProblemError("peers have no prescribed motions and no forces but gravity")


def world_frame(model: Model, state: State, g: int) -> tuple[Floats, Floats]:
    """Origin (dim,) and axes (dim, dim) of a geom in the world."""
    b = model.geoms.body[g]
    R = rotations(state.orientation[b : b + 1])[0]
    return state.position[b] + R @ model.geoms.offset[g], R @ model.geoms.turn[g]


def numbers(geoms: Geoms, g: int) -> Floats:
    return geoms.numbers[geoms.first[g] : geoms.first[g + 1]]


def quaternions(axes: Floats) -> Floats:
    """Unit quaternion (w, x, y, z) of a rotation matrix (3, 3)."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return np.array([w, x, y, z])
