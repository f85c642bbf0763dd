"""Triangle meshes of curved solids, for pictures and export."""

from __future__ import annotations

import math

import numpy as np

from drystone.geometry.shapes.base import corners
from drystone.types import Floats, Ints


def rings_to_mesh(rings: Floats, bottom: Floats, top: Floats) -> tuple[Floats, Ints]:
    """Skin of rings (m, n, 3), counter-clockwise seen from above and stacked upwards, closed by
    one vertex below and one above."""
    m, n, _ = rings.shape
    vertices = np.vstack((rings.reshape(-1, 3), bottom, top))
    i = np.arange(n)
    j = (i + 1) % n
    faces = [np.column_stack((np.full(n, m * n), j, i))]
    for k in range(m - 1):
        low, high = k * n, (k + 1) * n
        faces.append(np.column_stack((low + i, low + j, high + j)))
        faces.append(np.column_stack((low + i, high + j, high + i)))
    last = (m - 1) * n
    faces.append(np.column_stack((last + i, last + j, np.full(n, m * n + 1))))
    return vertices, np.vstack(faces).astype(np.int64)


def revolved(profile: Floats, n: int, low: float, high: float) -> tuple[Floats, Ints]:
    """Solid of revolution about z: profile (m, 2) of (radius, z) upwards, with poles on the axis
    at heights `low` and `high`."""
    n = corners(n)
    angle = 2.0 * math.pi * np.arange(n) / n
    rings = np.empty((len(profile), n, 3))
    rings[..., 0] = profile[:, :1] * np.cos(angle)
    rings[..., 1] = profile[:, :1] * np.sin(angle)
    rings[..., 2] = profile[:, 1:]
    return rings_to_mesh(rings, np.array([0.0, 0.0, low]), np.array([0.0, 0.0, high]))


def superquadric_surface(
    axes: tuple[float, float, float], e1: float, e2: float, n: int
) -> tuple[Floats, Ints]:
    """Barr's parametric surface: the sphere's coordinates raised to the powers e1 and e2."""
    n = corners(n, 4)
    latitude = _even_power_angles(n // 2 + 1, e1)[1:-1]
    quarter = _even_power_angles(n // 2 + 1, e2)[: n // 2] + 0.5 * math.pi
    longitude = np.concatenate((quarter, quarter + math.pi))
    c, s = _power(np.cos(latitude), e1)[:, None], _power(np.sin(latitude), e1)[:, None]
    rings = np.empty((latitude.size, longitude.size, 3))
    rings[..., 0] = axes[0] * c * _power(np.cos(longitude), e2)
    rings[..., 1] = axes[1] * c * _power(np.sin(longitude), e2)
    rings[..., 2] = axes[2] * s
    return rings_to_mesh(rings, np.array([0.0, 0.0, -axes[2]]), np.array([0.0, 0.0, axes[2]]))


def _even_power_angles(n: int, e: float) -> Floats:
    """n angles from -pi/2 to pi/2 whose (cos^e, sin^e) lie at even polar angles: plain even
    angles crowd at the corners for small e."""
    t = np.linspace(-0.5 * math.pi, 0.5 * math.pi, n)
    inner = t[1:-1]
    tangent = np.tan(inner)
    t[1:-1] = np.arctan(_power(tangent, 1.0 / e))
    return t


def _power(x: Floats, e: float) -> Floats:
    return np.sign(x) * np.abs(x) ** e
