"""Piles of touching disks and spheres as friction problems: any size, real geometry, no files.

All bodies have one radius and sit on an exact lattice, so every gap is zero and q is the velocity
that gravity and a seeded disturbance give the bodies in one time step: q = J v_free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemError
from drystone.problems.delassus import DelassusOperator
from drystone.problems.friction import FrictionProblem, Law
from drystone.types import GRAVITY, Floats, Ints

FLOOR_NUMBER = -1  # number of the floor, where others are those of bodies


@dataclass(frozen=True)
class Pile:
    """A pile and its friction problem.

    centres (nb, dim) and radii (nb,) of the bodies [m]; pairs (nc, 2) bodies (a, b) of each
    contact, b = -1 for the floor; points (nc, dim) [m]; normals (nc, dim) from b to a.
    """

    problem: FrictionProblem
    centres: Floats
    radii: Floats
    pairs: Ints
    points: Floats
    normals: Floats


def disk_pile(
    rows: int,
    *,
    base: int | None = None,
    friction: float = 0.5,
    seed: int = 0,
    radius: float = 0.05,
    density: float = 2500.0,
    dt: float = 0.005,
    disturbance: float = 0.2,
    law: Law = "coulomb",
    formed: bool = False,
) -> Pile:
    """Rows of disks on a floor, each row one disk shorter than the one below (planar).

    base: disks in the bottom row, by default `rows` (a full triangle). radius [m]; density
    [kg/m^2]; dt [s] step in which gravity acts; disturbance: random velocities, as a fraction of
    g dt; formed: state W itself, sparse, instead of its factors J and M^-1.
    """
    counts = _layer_counts(rows, base)
    lattice = [
        np.column_stack([2.0 * np.arange(k) - (k - 1), np.full(k, 1.0 + i * np.sqrt(3.0))])
        for i, k in enumerate(counts)
    ]
    starts = np.concatenate([[0], np.cumsum(counts)])
    pairs = [np.column_stack([np.arange(counts[0]), np.full(counts[0], FLOOR_NUMBER)])]
    for i, k in enumerate(counts):
        here = starts[i] + np.arange(k)
        pairs.append(np.column_stack([here[1:], here[:-1]]))
        if i:
            below = starts[i - 1] + np.arange(k)
            pairs += [np.column_stack([here, below]), np.column_stack([here, below + 1])]
    mass = density * np.pi * radius**2
    return _pile(
        radius * np.vstack(lattice),
        np.vstack(pairs).astype(np.int64),
        radius,
        np.array([mass, mass, 0.5 * mass * radius**2]),
        (friction, seed, dt, disturbance, law, formed),
    )


def sphere_pile(
    layers: int,
    *,
    base: int | None = None,
    friction: float = 0.5,
    seed: int = 0,
    radius: float = 0.05,
    density: float = 2500.0,
    dt: float = 0.005,
    disturbance: float = 0.2,
    law: Law = "coulomb",
    formed: bool = False,
) -> Pile:
    """Square layers of spheres, each resting in the hollows of the one below: cannonballs.

    base: spheres along an edge of the bottom layer, by default `layers` (a full pyramid); a wider
    base gives a bed, whose number of contacts grows with base^2 at constant depth. density
    [kg/m^3]; other arguments as in ``disk_pile``.
    """
    counts = _layer_counts(layers, base)
    centres, pairs = [], []
    start = 0
    for i, k in enumerate(counts):
        x, y = np.divmod(np.arange(k * k), k)
        height = np.full(k * k, 1.0 + i * np.sqrt(2.0))
        centres.append(np.column_stack([2.0 * x - (k - 1), 2.0 * y - (k - 1), height]))
        here = start + np.arange(k * k)
        if i == 0:
            pairs.append(np.column_stack([here, np.full(k * k, FLOOR_NUMBER)]))
        pairs.append(np.column_stack([here[x > 0], here[x > 0] - k]))
        pairs.append(np.column_stack([here[y > 0], here[y > 0] - 1]))
        if i:
            below = start - (k + 1) ** 2 + x * (k + 1) + y
            pairs += [np.column_stack([here, below + step]) for step in (0, 1, k + 1, k + 2)]
        start += k * k
    mass = density * 4.0 / 3.0 * np.pi * radius**3
    return _pile(
        radius * np.vstack(centres),
        np.vstack(pairs).astype(np.int64),
        radius,
        np.array([mass] * 3 + [0.4 * mass * radius**2] * 3),
        (friction, seed, dt, disturbance, law, formed),
    )


def _layer_counts(layers: int, base: int | None) -> Ints:
    base = layers if base is None else base
    if layers < 1 or base < layers:
        raise ProblemError(f"layers = {layers}, base = {base}: expected 1 <= layers <= base")
    return base - np.arange(layers)


def _pile(
    centres: Floats,
    pairs: Ints,
    radius: float,
    inertia: Floats,
    options: tuple[float, int, float, float, Law, bool],
) -> Pile:
    """The problem of touching equal bodies; inertia: (dofs of one body,) diagonal of its mass."""
    friction, seed, dt, disturbance, law, formed = options
    nb, dim = centres.shape
    a, b = pairs.T
    up = np.eye(dim)[-1]
    normals = np.where((b == FLOOR_NUMBER)[:, None], up, (centres[a] - centres[b]) / (2.0 * radius))
    points = centres[a] - radius * normals
    J = contact_rows(pairs, normals, points, centres)
    generator = np.random.default_rng(seed)
    v = disturbance * GRAVITY * dt * generator.standard_normal((nb, inertia.size))
    v[:, dim:] /= radius  # angular velocities that move the surface as fast as the centre
    v[:, dim - 1] -= GRAVITY * dt
    q = np.asarray(J @ v.ravel())
    W = DelassusOperator(J, sp.diags_array(np.tile(1.0 / inertia, nb)))
    problem = FrictionProblem(W.formed() if formed else W, q, friction, dim=dim, law=law)
    return Pile(problem, centres, np.full(nb, radius), pairs, points, normals)


def contact_rows(pairs: Ints, normals: Floats, points: Floats, centres: Floats) -> sp.csr_array:
    """J (dim nc, dofs nb): velocity of a relative to b at each contact, (normal, tangents).

    Bodies move with (v, omega): 3 dofs in the plane, 6 in space. b = -1 is fixed.
    """
    nc, dim = normals.shape
    frames = tangent_frames(normals)
    dofs = 3 if dim == 2 else 6
    shape = (nc, dim, 2, dofs)
    values, columns = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for side, sign in ((0, 1.0), (1, -1.0)):
        body = pairs[:, side]
        moving = body != FLOOR_NUMBER
        arm = points[moving] - centres[body[moving]]
        rows = sign * frames[moving]
        values[moving, :, side, :dim] = rows
        values[moving, :, side, dim:] = _moments(arm, rows)
        columns[moving, :, side] = dofs * body[moving][:, None, None] + np.arange(dofs)
    index = np.broadcast_to(np.arange(nc * dim).reshape(nc, dim, 1, 1), shape)
    keep = values != 0.0
    coords = (index[keep], columns[keep])
    size = (nc * dim, dofs * centres.shape[0])
    return sp.csr_array(sp.coo_array((values[keep], coords), shape=size))


def _moments(arm: Floats, rows: Floats) -> Floats:
    """arm x row for each row of each contact: what angular velocities add."""
    if arm.shape[1] == 2:
        return (arm[:, None, 0] * rows[:, :, 1] - arm[:, None, 1] * rows[:, :, 0])[:, :, None]
    return np.cross(arm[:, None, :], rows)


def tangent_frames(normals: Floats) -> Floats:
    """(nc, dim, dim) orthonormal frames whose first row is the normal."""
    nc, dim = normals.shape
    frames = np.empty((nc, dim, dim))
    frames[:, 0] = normals
    if dim == 2:
        frames[:, 1, 0], frames[:, 1, 1] = -normals[:, 1], normals[:, 0]
        return frames
    # the axis least aligned with the normal gives a well-conditioned first tangent
    helper = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    tangent = np.cross(normals, helper)
    frames[:, 1] = tangent / np.linalg.norm(tangent, axis=1, keepdims=True)
    frames[:, 2] = np.cross(normals, frames[:, 1])
    return frames
