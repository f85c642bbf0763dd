"""Other engines on our worlds: each is built from the same arrays and gives back the same state.

So geometry, masses, inertias, friction and starting state are equal by construction, and one
judge measures everybody. Sleeping and damping are off, pair friction is exactly that of the scene.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.errors import UnsupportedProblemError
from drystone.geometry import shapes
from drystone.kernels import kinds
from drystone.model import Geoms, Model, State
from drystone.types import Floats, Ints

FAR = 1e3  # [m] how far half-planes of planar peers reach
# package to import: our module, and its classes (several: named modes of one engine)
PEERS = {
    "mujoco": ("mujoco", ("Mujoco", "MujocoRK4")),
    "pybullet": ("pybullet", ("PyBullet",)),
    "exudyn": ("exudyn", ("Exudyn",)),
    "pymunk": ("pymunk", ("Pymunk",)),
    "Box2D": ("box2d", ("Box2d",)),
}


class Engine(ABC):
    """A peer: made from a model and a state, steps by dt [s], and says where its bodies are.

    planar: worlds of dim 2 instead of 3; touches: whether it is run on worlds with contacts.
    """

    name: ClassVar[str]
    planar: ClassVar[bool] = False
    touches: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, model: Model, state: State, dt: float) -> None: ...

    @abstractmethod
    def run(self, steps: int) -> None:
        """Advance, in as few calls of the engine as it allows."""

    @abstractmethod
    def state(self) -> State:
        """Positions of centres of mass, orientations and velocities, as ours."""


class PlanarEngine(Engine):
    """A planar peer that is called step by step; prescribed bodies get their velocity before each.

    A subclass fills ``_bodies`` and says how its engine steps, and how a body's velocity is set
    and its pose read.
    """

    planar = True
    _bodies: Any  # by the number of the body: its own object

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYGON, kinds.DISK, kinds.HALF_PLANE), moving=True)
        self._start, self._dt, self._steps = state.copy(), dt, 0
        self._motions = model.motions
        self._free = np.flatnonzero(model.inverse_mass > 0)

    @abstractmethod
    def _step(self, dt: float) -> None: ...

    @abstractmethod
    def _push(self, body: Any, velocity: tuple[float, float], spin: float) -> None: ...

    @abstractmethod
    def _read(self, body: Any) -> tuple[tuple[float, ...], float, tuple[float, ...]]:
        """Position, angle, (linear, angular) velocity."""

    def run(self, steps: int) -> None:
        for _ in range(steps):
            for b, motion in self._motions:
                v = motion.velocity(self._start.time + self._steps * self._dt, self._dt)
                self._push(self._bodies[b], (float(v[0]), float(v[1])), float(v[2]))
            self._step(self._dt)
            self._steps += 1

    def state(self) -> State:
        out = self._start.copy()
        out.time += self._steps * self._dt
        for b in (*self._free, *(b for b, _ in self._motions)):
            out.position[b], out.orientation[b], out.velocity[b] = self._read(self._bodies[int(b)])
        return out


def installed() -> dict[str, tuple[type[Engine], ...]]:
    """The peers that are here, by the package they come in."""
    out: dict[str, tuple[type[Engine], ...]] = {}
    for package, (module, classes) in PEERS.items():
        if find_spec(package) is not None:
            found = import_module(f"benchmarks.peers.{module}")
            out[package] = tuple(getattr(found, name) for name in classes)
    return out


def missing() -> list[str]:
    return [package for package in PEERS if find_spec(package) is None]


def only_friction(model: Model) -> float:
    """The one coefficient of friction of a scene; other engines combine several differently."""
    values = np.unique(model.friction[colliding(model)])
    if values.size > 1:
        raise UnsupportedProblemError(f"peers need one friction for all bodies, not {values}")
    return float(values[0]) if values.size else 0.0


def colliding(model: Model) -> Ints:
    """Bodies (n,) that can touch others at all."""
    return np.unique(model.geoms.body[model.layer[model.geoms.body] != 0])


def bounce(model: Model) -> Floats:
    """(nb,) restitution of each body; of fixed ones 0, where pair rules say so for any pair.

    Free bodies must agree: engines that multiply, and those that take the larger one, then do
    what the scene says.
    """
    free = model.inverse_mass > 0
    e = model.restitution[:, 0].copy()
    moving = np.unique(e[free]) if free.any() else np.zeros(1)
    if moving.size > 1 or (moving[0] != 0.0 and moving[0] != 1.0):
        raise UnsupportedProblemError(f"peers need restitution 0 or 1 for all bodies, not {moving}")
    said = ~np.isnan(model.rules.restitution[:, 0])
    if moving[0] == 0.0:
        e[:] = 0.0
    for pair in np.stack(np.divmod(model.rules.key, model.nb), axis=1)[said]:
        e[pair[~free[pair]]] = 0.0
    return e


def ball_joints(model: Model) -> list[tuple[int, int, Floats, Floats]]:
    """Bodies a and b (-1: the world) of every ball joint or pin, with its anchors (dim,) in their
    centre-of-mass frames; other joints and whatever acts in joints are refused."""
    joints = model.joints
    if joints is None:
        return []
    for kind in joints.kind:
        if kind not in ("ball", "pin"):
            raise UnsupportedProblemError(f"peers have no joint {kind!r}")
    if joints.action_kind.size:
        raise UnsupportedProblemError("peers have no limits, motors, friction, springs in joints")
    ends = zip(joints.body.tolist(), joints.anchor_a, joints.anchor_b, strict=True)
    return [(a, b, at, on) for (a, b), at, on in ends]


def half_sides(geoms: Geoms, g: int) -> Floats | None:
    """(3,) of a box, None of another polyhedron."""
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    nv = int(ints[0])
    corners = geoms.numbers[geoms.first[g] : geoms.first[g] + 3 * nv].reshape(nv, 3)
    half: Floats = np.abs(corners).max(axis=0)
    if nv != 8 or not np.allclose(np.abs(corners), half, rtol=1e-9):
        return None
    return half


def corners(geoms: Geoms, g: int) -> Floats:
    """Vertices (nv, 3) of a polyhedron or (nv, 2) of a polygon, in its body's frame."""
    values = numbers(geoms, g)
    if geoms.kind[g] == kinds.POLYHEDRON:
        values = values[: 3 * int(geoms.ints[geoms.first_int[g]])]
    out: Floats = geoms.offset[g] + values.reshape(-1, geoms.dim) @ geoms.turn[g].T
    return out


def check_kinds(model: Model, taken: tuple[int, ...], *, moving: bool = False) -> None:
    """Refuse what the translation does not know. moving: prescribed motions are known."""
    used = model.layer[model.geoms.body] != 0
    for kind in np.unique(model.geoms.kind[used]):
        if int(kind) not in taken:
            raise UnsupportedProblemError(f"peers have no {shapes.KINDS[int(kind)].name}")
    if model.motions and not moving:
        raise UnsupportedProblemError("this peer is given no prescribed motions")
    if model.forces:
        raise UnsupportedProblemError("peers have no forces but gravity")


def principal(model: Model, b: int) -> Floats:
    """(3,) moments of inertia of a body whose axes are principal."""
    J = model.inertia[b]
    moments: Floats = np.diag(J).copy()
    if np.abs(J - np.diag(moments)).max() > 1e-9 * moments.max():
        raise UnsupportedProblemError(f"peers need principal axes: body {model.names[b]!r}")
    return moments


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
