"""Mass, centre of mass and inertia: of shapes, of several together, in any frame, and checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.errors import ModelError
from drystone.types import Floats, Ints
from drystone.values import real, reals, text

FARTHEST = 1e100  # [m]: squares of lengths stay numbers
MOST_INERTIA = 1e200  # [kg m^2]: so do sums and quotients of moments


@answering
@dataclass(frozen=True, eq=False)
class MassProperties:
    """mass [kg]; centre (dim,) [m] of mass in the frame described; inertia [kg m^2] about that
    centre and along the frame's axes: a number in the plane, (3, 3) in space.

    In the plane a density is per area [kg/m^2].
    """

    mass: float
    centre: Floats
    inertia: Any  # float in the plane, Floats in space

    @property
    def dim(self) -> int:
        return int(self.centre.size)

    def moved(self, position: Floats, turn: Floats) -> MassProperties:
        """The same body seen from a frame in which its own frame stands at `position` (dim,),
        with axes the columns of `turn` (dim, dim)."""
        place = _sized("position", position, (self.dim,))
        axes = _sized("turn", turn, (self.dim, self.dim))
        inertia = self.inertia if self.dim == 2 else rotated_inertia(self.inertia, axes)
        return MassProperties(self.mass, place + axes @ self.centre, inertia)

    def inertia_about(self, point: Floats) -> Any:
        """Inertia about any `point` (dim,) of the frame, by the parallel-axis theorem."""
        arm = _sized("point", point, (self.dim,)) - self.centre
        return self.inertia + parallel_axis(self.mass, arm)

    def scaled_to(self, mass: float) -> MassProperties:
        """The same distribution of matter with another total mass."""
        total = real(mass)
        if total is None or not 0 < total < math.inf:
            raise ModelError(f"mass = {text(mass)}: expected a positive number")
        return MassProperties(total, self.centre, self.inertia * (total / self.mass))


def _sized(field: str, value: Any, shape: tuple[int, ...]) -> Floats:
    out = reals(value)
    if out is None or out.shape != shape or not np.all(np.abs(out) <= FARTHEST):
        raise ModelError(f"{field} = {text(value)}: expected numbers of shape {shape}")
    return out


def combined(parts: Iterable[MassProperties]) -> MassProperties:
    """Several bodies made one; where they overlap, matter counts twice."""
    parts = list(parts)
    mass = sum(part.mass for part in parts)
    weighted = np.array([part.mass * part.centre for part in parts])
    centre = weighted.sum(axis=0) / mass
    inertia = sum(part.inertia_about(centre) for part in parts)
    return MassProperties(mass, centre, inertia)


def parallel_axis(mass: float, d: Floats) -> Any:
    """What a shift by d (dim,) away from the centre of mass adds to the inertia."""
    if d.size == 2:
        return mass * float(d @ d)
    return mass * ((d @ d) * np.eye(3) - np.outer(d, d))


def rotated_inertia(inertia: Floats, turn: Floats) -> Floats:
    """R I R': an inertia (3, 3) along the axes that are the columns of R, in the outer axes."""
    out: Floats = turn @ inertia @ turn.T
    return 0.5 * (out + out.T)


def inertia_matrix(second: Floats) -> Floats:
    """Inertia (3, 3) of the second moments (3, 3) integral of x x'."""
    xx, yy, zz = np.diagonal(second)
    out: Floats = -second
    # sums of two, not the trace less one: a needle's last moment is small beside its others
    out[0, 0], out[1, 1], out[2, 2] = yy + zz, xx + zz, xx + yy
    return out + 0.0


def check_inertia(inertia: Any, name: str, dim: int = 3) -> Any:
    """A user's inertia as a float (plane) or a (3, 3) symmetric array (space), or a ModelError.

    In space `inertia` is (3,) principal moments or (3, 3). Real bodies have positive moments of
    which none exceeds the sum of the other two; rounding is allowed for.
    """
    values = reals(inertia)
    if values is None:
        raise ModelError(f"body {name!r}: inertia is not made of numbers: {text(inertia)}")
    if not np.isfinite(values).all():
        raise ModelError(f"body {name!r}: inertia must be finite, got {values.tolist()}")
    if np.abs(values).max(initial=0.0) > MOST_INERTIA:
        raise ModelError(
            f"body {name!r}: inertia must be at most {MOST_INERTIA:g} kg m^2, got {values.tolist()}"
        )
    if dim == 2:
        if values.size != 1 or values.item() <= 0.0:
            raise ModelError(
                f"body {name!r}: inertia of a planar body must be one positive number "
                f"[kg m^2], got {values.tolist()}"
            )
        return float(values.item())
    if values.shape == (3,):
        values = np.diag(values)
    if values.shape != (3, 3):
        raise ModelError(
            f"body {name!r}: inertia must be 3 principal moments or a 3 x 3 matrix, "
            f"got shape {values.shape}"
        )
    _check_symmetry(values, name)
    values = 0.5 * (values + values.T)
    moments = np.linalg.eigvalsh(values)
    said = ", ".join(f"{moment:.6g}" for moment in moments)
    if moments[0] <= 0.0:
        raise ModelError(
            f"body {name!r}: inertia must be positive definite, its principal moments are {said}"
        )
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        raise ModelError(
            f"body {name!r}: no body has the principal moments {said}: the largest exceeds the "
            f"sum of the other two, {moments[0] + moments[1]:.6g}"
        )
    return values


def _check_symmetry(values: Floats, name: str) -> None:
    gap = np.abs(values - values.T)
    i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    if gap[i, j] > 1e-9 * np.abs(values).max():
        raise ModelError(
            f"body {name!r}: inertia must be symmetric, but [{i}, {j}] = {values[i, j]:.9g} "
            f"and [{j}, {i}] = {values[j, i]:.9g}"
        )


def of_polygon(vertices: Floats, density: float) -> MassProperties:
    """Of a simple polygon (k, 2), counter-clockwise, by the divergence theorem."""
    origin = vertices.mean(axis=0)
    a = vertices - origin  # near the polygon, so that nothing cancels far from the frame's origin
    b = np.roll(a, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area = 0.5 * float(cross.sum())
    centre = (cross @ (a + b)) / (6.0 * area)
    squares = (a * a + a * b + b * b).sum(axis=1)
    inertia = float(cross @ squares) / 12.0 - area * float(centre @ centre)
    return MassProperties(density * area, _snapped(origin + centre, a), density * inertia)


def of_mesh(vertices: Floats, triangles: Ints, density: float) -> MassProperties:
    """Of a closed surface of triangles (nt, 3), counter-clockwise seen from outside.

    Each triangle spans a tetrahedron with a point near the middle; with its corners a, b, c seen
    from there and D = a.(b x c), the tetrahedra's integrals are D/6 (volume), D (a + b + c)/24
    (first moment) and D (aa' + bb' + cc' + ss')/120 with s = a + b + c (second moments).
    """
    origin = vertices.mean(axis=0)
    corners = (vertices - origin)[triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    det = np.einsum("ti,ti->t", a, np.cross(b, c))
    s = a + b + c
    volume = float(det.sum()) / 6.0
    centre = (det @ s) / (24.0 * volume)
    second = (
        np.einsum("t,tki,tkj->ij", det, corners, corners) + np.einsum("t,ti,tj->ij", det, s, s)
    ) / 120.0 - volume * np.outer(centre, centre)
    return MassProperties(
        density * volume, _snapped(origin + centre, corners), density * inertia_matrix(second)
    )


def _snapped(centre: Floats, points: Floats) -> Floats:
    """`centre` with coordinates that are zero but for rounding made zero: a symmetric body then
    keeps the numbers it was given."""
    size = float(np.abs(points).max())
    return np.where(np.abs(centre) < 1e-14 * size, 0.0, centre)
