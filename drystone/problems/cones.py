"""Friction cones. Each names its block size and how it becomes a circular cone.

An elliptic cone is circular in stretched tangent coordinates: with r_t = T s, |s| <= mu r_n and,
by virtual work, the velocity conjugate to s is T' u_t. The law of maximal dissipation keeps
its form under that change, so solvers see circular cones only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from drystone.errors import ProblemError
from drystone.types import Floats
from drystone.values import real, reals, text, whole

MOST_DIRECTIONS = 10_000  # of a polyhedral cone
LARGEST_RATIO = 1e50  # of a ratio or a radius: squares stay numbers


@dataclass(frozen=True)
class CircularCone:
    """|r_t| <= mu r_n: isotropic Coulomb friction."""

    def block(self, dim: int) -> int:
        return dim

    def stretch(self, dim: int) -> Floats | None:
        """(d-1, d-1) matrix T with r_t = T s, or None for the identity."""
        return None


@dataclass(frozen=True)
class EllipticCone:
    """Anisotropic friction: |(r_1 / a_1, r_2 / a_2)| <= mu r_n in axes turned by `angle` [rad].

    ratios: (a_1, a_2) > 0, factors of mu along the two axes ("ice skate": (1, 0.05)).
    """

    ratios: tuple[float, float] = (1.0, 1.0)
    angle: float = 0.0

    def __post_init__(self) -> None:
        ratios, angle = reals(self.ratios), real(self.angle)
        if ratios is None or ratios.shape != (2,):
            raise ProblemError(f"EllipticCone.ratios = {text(self.ratios)}: expected two numbers")
        _check_ratios("EllipticCone.ratios", self.ratios)
        if angle is None or not math.isfinite(angle):
            raise ProblemError(f"EllipticCone.angle = {text(self.angle)}: expected radians")
        object.__setattr__(self, "angle", angle)

    def block(self, dim: int) -> int:
        if dim != 3:
            raise ProblemError(f"EllipticCone needs two tangents (dim=3), not dim={dim}")
        return 3

    def stretch(self, dim: int) -> Floats | None:
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s], [s, c]]) * np.asarray(self.ratios)


@dataclass(frozen=True)
class SoftFingerCone:
    """Circular friction with a torsional moment: |(r_t, m_n / radius)| <= mu r_n.

    Contact rows are (normal, tangent, tangent, spin about the normal); radius [m] > 0.
    """

    radius: float

    def __post_init__(self) -> None:
        _check_ratios("SoftFingerCone.radius", (self.radius,))

    def block(self, dim: int) -> int:
        if dim != 3:
            raise ProblemError(f"SoftFingerCone needs dim=3, not dim={dim}")
        return 4

    def stretch(self, dim: int) -> Floats | None:
        return np.diag([1.0, 1.0, self.radius])


@dataclass(frozen=True)
class PolyhedralCone:
    """r_t = D beta, beta >= 0, sum beta <= mu r_n with k unit directions, k even.

    In the plane k is 2 and the cone is exact.
    """

    k: int = 8

    def __post_init__(self) -> None:
        k = whole(self.k)
        if k is None or not 2 <= k <= MOST_DIRECTIONS or k % 2:
            raise ProblemError(
                f"PolyhedralCone(k={text(self.k)}): k must be even, from 2 to {MOST_DIRECTIONS}"
            )

    def block(self, dim: int) -> int:
        if (dim == 2) != (self.k == 2):
            need = "k = 2 in the plane, k >= 4 in space"
            raise ProblemError(f"PolyhedralCone(k={self.k}) with dim={dim}: need {need}")
        return dim

    def stretch(self, dim: int) -> Floats | None:
        return None

    def directions(self) -> Floats:
        """D: (d-1, k) unit columns, balanced: column j + k/2 is minus column j (2.6)."""
        if self.k == 2:
            return np.array([[1.0, -1.0]])
        angles = 2.0 * np.pi * np.arange(self.k // 2) / self.k
        half = np.array([np.cos(angles), np.sin(angles)])
        return np.hstack([half, -half])


Cone = CircularCone | EllipticCone | SoftFingerCone | PolyhedralCone


def as_cone(cone: object) -> Cone:
    """Accepts a cone, ``"circular"``, or an even number of directions."""
    if isinstance(cone, Cone):
        return cone
    if cone is None or (isinstance(cone, str) and cone == "circular"):
        return CircularCone()
    if whole(cone) is not None:
        return PolyhedralCone(int(cast(int, cone)))
    raise ProblemError(f"unknown cone {text(cone)}: expected 'circular', an even number or a cone")


def _check_ratios(name: str, ratios: tuple[float, ...]) -> None:
    for ratio in ratios:
        number = real(ratio)
        if number is None or not 1.0 / LARGEST_RATIO <= number <= LARGEST_RATIO:
            raise ProblemError(
                f"{name} holds {text(ratio)}: expected positive numbers (up to {LARGEST_RATIO:g})"
            )
