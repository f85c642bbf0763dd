"""MuJoCo, with its defaults, but that a run that blows up is not started anew.

Conjugate gradients are used where its Newton solver would take minutes. Bodies in joints become a
tree of its own coordinates, which is what the engine is made for.
"""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

from benchmarks.peers.engine import (
    Engine,
    ball_joints,
    bounce,
    check_kinds,
    half_sides,
    numbers,
    only_friction,
    quaternions,
)
from drystone.dynamics.frames import conjugate, product, rotations
from drystone.errors import UnsupportedProblemError
from drystone.kernels import kinds
from drystone.model import Model, State
from drystone.types import Floats, Ints

MANY = 300  # bodies from which on conjugate gradients are used
ELASTIC = "-2500 0"  # contacts as stiff as the default's 0.02 s, without its damping


class Mujoco(Engine):
    """mjModel made from our arrays; free bodies have a free joint, others a ball joint."""

    name = "MuJoCo"
    integrator: ClassVar[str] = "Euler"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYHEDRON, kinds.SPHERE, kinds.HALF_SPACE))
        self._free = np.flatnonzero(model.inverse_mass > 0)
        self._start = state.copy()
        self._time = state.time
        self._jointed = model.joints is not None
        mujoco.set_mju_user_warning(_quiet)
        document = _Document(model, state, self._free).text(dt, self.integrator)
        self._model = mujoco.MjModel.from_xml_string(document)
        self._data = mujoco.MjData(self._model)
        v = state.velocity[self._free]
        if self._jointed:
            if v.any():
                raise UnsupportedProblemError("MuJoCo: bodies in joints start from rest here")
            self._at = [self._model.body(f"b{i}").id for i in self._free]
        else:
            R = rotations(state.orientation[self._free])
            w = np.einsum("bji,bj->bi", R, v[:, 3:])  # of a free joint: in body axes
            self._data.qvel[:] = np.hstack([v[:, :3], w]).ravel()
        mujoco.mj_forward(self._model, self._data)

    def run(self, steps: int) -> None:
        mujoco.mj_step(self._model, self._data, steps)

    def state(self) -> State:
        out = self._start.copy()
        out.time = self._time + float(self._data.time)
        if self._jointed:
            self._read_tree(out)
            return out
        q = np.array(self._data.qpos).reshape(-1, 7)
        v = np.array(self._data.qvel).reshape(-1, 6)
        out.position[self._free], out.orientation[self._free] = q[:, :3], q[:, 3:]
        spin = np.einsum("bij,bj->bi", rotations(q[:, 3:]), v[:, 3:])
        out.velocity[self._free] = np.hstack([v[:, :3], spin])
        return out

    def _read_tree(self, out: State) -> None:
        # poses of bodies are those of the step's start until these have run
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_comVel(self._model, self._data)
        six = np.empty(6)
        for i, at in zip(self._free, self._at, strict=True):
            kind = mujoco.mjtObj.mjOBJ_BODY
            mujoco.mj_objectVelocity(self._model, self._data, kind, at, six, 0)
            out.position[i], out.orientation[i] = self._data.xpos[at], self._data.xquat[at]
            out.velocity[i] = (*six[3:], *six[:3])


class MujocoRK4(Mujoco):
    """With the higher-order integrator that the engine offers for smooth motion."""

    name = "MuJoCo RK4"
    integrator = "RK4"
    touches = False


class _Document:
    """The XML that describes a model."""

    def __init__(self, model: Model, state: State, free: Ints) -> None:
        self.model, self.state, self.free = model, state, free
        self.bounce = bounce(model)
        self.meshes: list[str] = []
        self.joint: dict[int, tuple[int, Floats]] = {}
        self.below: dict[int, list[int]] = {}
        for a, b, anchor, _ in ball_joints(model):
            if a in self.joint or a < 0:
                raise UnsupportedProblemError("MuJoCo: trees of joints only")
            self.joint[a] = (b, anchor)
            self.below.setdefault(b, []).append(a)

    def text(self, dt: float, integrator: str) -> str:
        mu = only_friction(self.model)
        solver = "CG" if self.free.size > MANY else "Newton"
        roots = [i for i in range(self.model.nb) if self.joint.get(i, (-1,))[0] < 0]
        bodies = "".join(self.body(i, -1) for i in roots)
        return (
            f'<mujoco><option timestep="{dt!r}" gravity="{_text(self.model.gravity)}" '
            f'solver="{solver}" integrator="{integrator}"><flag autoreset="disable"/></option>'
            '<size memory="2G"/>'
            f'<default><geom condim="3" friction="{mu!r} 0 0"/></default>'
            f"<asset>{''.join(self.meshes)}</asset><worldbody>{bodies}</worldbody></mujoco>"
        )

    def body(self, i: int, above: int) -> str:
        """Body i in the frame of the body it hangs from, with all that hangs from it."""
        place, turn = self.state.position[i], self.state.orientation[i]
        if above >= 0:
            back = conjugate(self.state.orientation[above])
            place = rotations(back[None])[0] @ (place - self.state.position[above])
            turn = product(back, turn)
        parts = [f'<body name="b{i}" pos="{_text(place)}" quat="{_text(turn)}">']
        if self.model.inverse_mass[i] > 0:
            J = self.model.inertia[i]
            six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
            hold = "<freejoint/>"
            if i in self.joint:
                hold = f'<joint type="ball" pos="{_text(self.joint[i][1])}"/>'
            parts.append(
                f'{hold}<inertial pos="0 0 0" mass="{float(self.model.mass[i])!r}" '
                f'fullinertia="{_text(np.array(six))}"/>'
            )
        if self.model.layer[i] != 0:
            parts += [self.geom(int(g)) for g in np.flatnonzero(self.model.geoms.body == i)]
        parts += [self.body(k, i) for k in self.below.get(i, ())]
        return "".join([*parts, "</body>"])

    def geom(self, g: int) -> str:
        geoms = self.model.geoms
        frame = f'pos="{_text(geoms.offset[g])}" quat="{_text(quaternions(geoms.turn[g]))}"'
        if self.bounce[geoms.body[g]] > 0:
            frame += f' solref="{ELASTIC}"'
        elif self.bounce.any():
            frame += ' priority="1"'  # its own stiffness holds, not the mean of two
        if geoms.kind[g] == kinds.SPHERE:
            return f'<geom type="sphere" size="{float(geoms.numbers[geoms.first[g]])!r}" {frame}/>'
        if geoms.kind[g] == kinds.HALF_SPACE:
            return f'<geom type="plane" size="0 0 1" {frame}/>'
        half = half_sides(geoms, g)
        if half is None:
            nv = int(geoms.ints[geoms.first_int[g]])
            vertices = _text(numbers(geoms, g)[: 3 * nv])
            self.meshes.append(f'<mesh name="m{g}" vertex="{vertices}"/>')
            return f'<geom type="mesh" mesh="m{g}" {frame}/>'
        return f'<geom type="box" size="{_text(half)}" {frame}/>'


def _quiet(_: str) -> None:
    """Warnings of a run that blows up; otherwise they go to a file in the current folder."""


def _text(values: Floats) -> str:
    return " ".join(repr(float(v)) for v in values)
