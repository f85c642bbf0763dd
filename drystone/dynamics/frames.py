"""Orientations of bodies as arrays, and the two frames of a body: the user's and the centre's.

Planar orientations are angles, spatial ones unit quaternions (w, x, y, z). A body's own frame is
the one it was described in; the state holds its centre of mass, ``Model.centre`` away from it.
"""

from __future__ import annotations

import numpy as np

from drystone.model import Model, State
from drystone.types import Floats


def rotations(orientation: Floats) -> Floats:
    """Rotation matrices (n, dim, dim) of n angles (n,) or n unit quaternions (n, 4)."""
    n = orientation.shape[0]
    if orientation.ndim == 1:
        flat = np.empty((n, 2, 2))
        flat[:, 0, 0] = flat[:, 1, 1] = np.cos(orientation)
        flat[:, 1, 0] = np.sin(orientation)
        flat[:, 0, 1] = -flat[:, 1, 0]
        return flat
    w, x, y, z = orientation.T
    out = np.empty((n, 3, 3))
    out[:, 0, 0], out[:, 1, 1] = 1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z)
    out[:, 2, 2] = 1 - 2 * (x * x + y * y)
    out[:, 0, 1], out[:, 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    out[:, 0, 2], out[:, 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    out[:, 1, 2], out[:, 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return out


def turned(R: Floats, local: Floats) -> Floats:
    """R_i v_i (n, dim) for matrices (n, dim, dim) and vectors (n, dim)."""
    out: Floats = np.matmul(R, local[:, :, None])[:, :, 0]
    return out


def rotation(orientation: float | Floats) -> Floats:
    """(dim, dim) rotation matrix of one angle or quaternion."""
    return rotations(np.asarray(orientation, float)[None])[0]


def product(p: Floats, q: Floats) -> Floats:
    """Quaternion product p q (..., 4): the rotation q followed by p."""
    w, u = p[..., :1], p[..., 1:]
    s, v = q[..., :1], q[..., 1:]
    scalar = w * s - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate([scalar, w * v + s * u + cross(u, v)], axis=-1)


def conjugate(q: Floats) -> Floats:
    """The inverse rotation (..., 4) of unit quaternions."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def exponential(turn: Floats) -> Floats:
    """Unit quaternions (..., 4) of rotation vectors (..., 3) [rad]."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    # sinc is sin(pi x) / (pi x): no division by a vanishing angle
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * turn], axis=-1)


def logarithm(q: Floats) -> Floats:
    """Rotation vectors (..., 3) of unit quaternions, the shorter way round: at most pi long."""
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., :1])
    factor = np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0)
    return factor * q[..., 1:]


def cross(a: Floats, b: Floats) -> Floats:
    """a x b (..., 3); NumPy's own takes five times as long for a few vectors."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


def spin_velocity(spin: Floats, arm: Floats) -> Floats:
    """omega x r (n, dim) for spins (n, 1) or (n, 3) and arms (n, dim)."""
    if arm.shape[-1] == 3:
        return cross(spin, arm)
    out = np.empty_like(arm)
    out[..., 0], out[..., 1] = -spin[..., 0] * arm[..., 1], spin[..., 0] * arm[..., 0]
    return out


def moment(arm: Floats, force: Floats) -> Floats:
    """r x f (n, 1) or (n, 3)."""
    if arm.shape[-1] == 3:
        return cross(arm, force)
    return arm[..., :1] * force[..., 1:] - arm[..., 1:] * force[..., :1]


def frame_position(model: Model, state: State) -> Floats:
    """(nb, dim) origins of the bodies' own frames [m]."""
    return state.position - turned(rotations(state.orientation), model.centre)


def frame_velocity(model: Model, state: State) -> Floats:
    """(nb, dof) velocities of the origins of the bodies' own frames, and their spins."""
    arm = -turned(rotations(state.orientation), model.centre)
    out = state.velocity.copy()
    out[:, : model.dim] += spin_velocity(state.velocity[:, model.dim :], arm)
    return out
