"""Positions and orientations as users give them, checked, and as matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drystone.errors import ModelError
from drystone.types import Floats
from drystone.values import reals, text


def vector(owner: str, field: str, value: Any, size: int) -> Floats:
    """`value` as (size,) finite floats, or a ModelError that names owner, field and value."""
    out = reals(value)
    if out is None or out.shape != (size,):
        raise ModelError(f"{owner}: {field} must be {size} numbers, got {text(value)}")
    if not np.isfinite(out).all():
        raise ModelError(f"{owner}: {field} must be finite, got {out.tolist()}")
    return out


def rotation(owner: str, orientation: Any, dim: int) -> Floats:
    """(dim, dim) matrix whose columns are the turned axes, of an angle [rad] or a quaternion.

    A quaternion (w, x, y, z) need not be of unit length, but not zero either.
    """
    if dim == 2:
        one = reals(orientation)
        (angle,) = vector(owner, "angle", orientation if one is None else one.ravel(), 1)
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[c, -s], [s, c]])
    q = vector(owner, "orientation", orientation, 4)
    norm = float(np.linalg.norm(q))
    if not 1e-150 < norm < 1e150:  # beyond, squares leave the range of floats
        raise ModelError(
            f"{owner}: orientation must be a quaternion (w, x, y, z) that can be made a unit one, "
            f"got {q.tolist()}"
        )
    w, x, y, z = (q / norm).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
