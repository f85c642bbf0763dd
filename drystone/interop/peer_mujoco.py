"""MuJoCo, with its defaults; conjugate gradients where its Newton solver would take minutes."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from drystone.dynamics.frames import rotations
from drystone.geometry import kinds
from drystone.interop.engine_peers import (
    Engine,
    check_kinds,
    half_sides,
    only_friction,
    quaternions,
)
from drystone.model import Model, State
from drystone.types import Floats

MANY = 300  # bodies from which on conjugate gradients are used


class Mujoco(Engine):
    """mjModel made from our arrays; free bodies have a free joint."""

    name = "MuJoCo"

    def __init__(self, model: Model, state: State, dt: float) -> None:
        check_kinds(model, (kinds.POLYHEDRON, kinds.SPHERE, kinds.HALF_SPACE))
        self._free = np.flatnonzero(model.inverse_mass > 0)
        self._start = state.copy()
        self._time = state.time
        self._model = mujoco.MjModel.from_xml_string(_document(model, state, self._free, dt))
        self._data = mujoco.MjData(self._model)
        R = rotations(state.orientation[self._free])
        v = state.velocity[self._free]
        w = np.einsum("bji,bj->bi", R, v[:, 3:])  # of a free joint: in body axes
        self._data.qvel[:] = np.hstack([v[:, :3], w]).ravel()
        mujoco.mj_forward(self._model, self._data)

    def step(self) -> None:
        mujoco.mj_step(self._model, self._data)

    def state(self) -> State:
        q = np.array(self._data.qpos).reshape(-1, 7)
        v = np.array(self._data.qvel).reshape(-1, 6)
        out = self._start.copy()
        out.time = self._time + float(self._data.time)
        out.position[self._free], out.orientation[self._free] = q[:, :3], q[:, 3:]
        spin = np.einsum("bij,bj->bi", rotations(q[:, 3:]), v[:, 3:])
        out.velocity[self._free] = np.hstack([v[:, :3], spin])
        return out


def _document(model: Model, state: State, free: Any, dt: float) -> str:
    mu = only_friction(model)
    solver = "CG" if free.size > MANY else "Newton"
    parts = [
        f'<mujoco><option timestep="{dt!r}" gravity="{_text(model.gravity)}" solver="{solver}"/>',
        '<size memory="2G"/>',
        f'<default><geom condim="3" friction="{mu!r} 0 0"/></default><worldbody>',
    ]
    for i in range(model.nb):
        pose = f'pos="{_text(state.position[i])}" quat="{_text(state.orientation[i])}"'
        parts.append(f"<body {pose}>")
        if i in free:
            J = model.inertia[i]
            six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
            parts.append(
                f'<freejoint/><inertial pos="0 0 0" mass="{float(model.mass[i])!r}" '
                f'fullinertia="{_text(np.array(six))}"/>'
            )
        parts += [_geom(model, int(g)) for g in np.flatnonzero(model.geoms.body == i)]
        parts.append("</body>")
    return "".join([*parts, "</worldbody></mujoco>"])


def _geom(model: Model, g: int) -> str:
    geoms = model.geoms
    frame = f'pos="{_text(geoms.offset[g])}" quat="{_text(quaternions(geoms.turn[g]))}"'
    if geoms.kind[g] == kinds.SPHERE:
        return f'<geom type="sphere" size="{float(geoms.numbers[geoms.first[g]])!r}" {frame}/>'
    if geoms.kind[g] == kinds.HALF_SPACE:
        return f'<geom type="plane" size="0 0 1" {frame}/>'
    return f'<geom type="box" size="{_text(half_sides(geoms, g))}" {frame}/>'


def _text(values: Floats) -> str:
    return " ".join(repr(float(v)) for v in values)
