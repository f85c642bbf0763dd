"""What the surface of a geom is like at a contact point, and what is special about a contact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# feature of one side
SMOOTH, FACE, EDGE, RIM, VERTEX = 0, 1, 2, 3, 4

# bits of one side
ON_FACE = 1  # the normal is that of a face that the point lies on, or on the border of
AT_BORDER = 2  # within FEATURE_TOL of where one piece of the surface ends
OFF = 4  # the normal is none of the surface's at that point: a point fixed in the body

# bits of a contact
INFINITE_RATE, ILL, DEGENERATE, BORDER, NOT_EXTREMAL = 1, 2, 4, 8, 16

FEATURE_TOL = 1e-7  # of a geom's size: closer than this is on an edge or at a vertex
STEEP = 1e-7  # sine of an angle: flatter than this is flat
ROUND = 1e-11  # of a geom's size: rounding of where one piece of a surface ends


class GeomNumbers(NamedTuple):
    """What geoms are made of: kind, radius (ng,); numbers first[g]:first[g + 1], and whole ones
    first_int[g]:first_int[g + 1] of ints, of geom g."""

    kind: np.ndarray
    radius: np.ndarray
    first: np.ndarray
    numbers: np.ndarray
    first_int: np.ndarray
    ints: np.ndarray


class LocalShapes(NamedTuple):
    """feature, bits, piece (nc, 2): the codes above; E, D (nc, 2, k): the tensors (xx, xy, yy)
    along the tangents (k = 3), one number in the plane (k = 1)."""

    feature: np.ndarray
    bits: np.ndarray
    piece: np.ndarray
    E: np.ndarray
    D: np.ndarray

    @classmethod
    def empty(cls, nc: int, dim: int) -> LocalShapes:
        """Of nc contacts, all zeros."""
        feature, bits, piece = (np.zeros((nc, 2), np.int64) for _ in range(3))
        E, D = (np.zeros((nc, 2, 2 * dim - 3)) for _ in range(2))
        return cls(feature, bits, piece, E, D)

    def clear(self) -> None:
        """Zeros again."""
        for array in self:
            array[...] = 0


class Rates(NamedTuple):
    """What ``rates_planar`` and ``rates_spatial`` fill: bias, normal_rate, point_rate (nc, dim),
    slide (nc, 2, dim), rcond (nc,); to flag (nc,) they add."""

    bias: np.ndarray
    normal_rate: np.ndarray
    point_rate: np.ndarray
    slide: np.ndarray
    rcond: np.ndarray
    flag: np.ndarray
