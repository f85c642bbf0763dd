"""Contacts at the level of accelerations: C, C' and C'', slip and its rate, for every contact; how
fast contact points roll over surfaces; contact accelerations as a function of forces.

The local shape of both bodies is all that C'' asks of a surface. E (m' - omega x m) = D s ties the
turning of the outer normal m to the slide s of the point along the surface: E = 1 and D = curvature
on smooth surfaces, D = 0 on faces, E = 0 at vertices, both singular on edges. So no curvature is
ever infinite, and all contacts share one formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np

from drystone.errors import ArrayError
from drystone.geometry.shapes import KINDS
from drystone.kernels import rows as row_kernels
from drystone.kernels.kinematics import codes
from drystone.kernels.kinematics.codes import GeomNumbers, LocalShapes, Rates
from drystone.kernels.kinematics.rates import (
    rates_planar,
    rates_spatial,
    resolve,
    rolling_rates,
)
from drystone.model import Contacts, Geoms
from drystone.types import Bools, Floats, Ints

Fill = Callable[[Floats, Floats, Floats, Floats, LocalShapes], None]

LEAST_SPIN = 1e-6  # [rad/s]: turning that counts


class Feature(IntEnum):
    """What a contact point lies on; a RIM is an edge that is curved."""

    SMOOTH = codes.SMOOTH
    FACE = codes.FACE
    EDGE = codes.EDGE
    RIM = codes.RIM
    VERTEX = codes.VERTEX


class Flag(IntFlag):
    """What is special about a contact.

    SINGULAR: relative curvature zero while the bodies turn against each other: C'' is infinite
        (Baraff 1992, 6.7); the bias is that of the least slide, finite and wrong.
    ILL: nearly so; C'' is right and large.
    DEGENERATE: features that determine no normal; B is a plane across the given one.
    BORDER: on the border of two pieces of a surface, where the curvature jumps (Baraff 1992, 6.7).
    NOT_EXTREMAL: a point of a flat contact region that is held fixed in its body.
    """

    SINGULAR = codes.INFINITE_RATE
    ILL = codes.ILL
    DEGENERATE = codes.DEGENERATE
    BORDER = codes.BORDER
    NOT_EXTREMAL = codes.NOT_EXTREMAL


@dataclass(frozen=True, slots=True)
class ContactKinematics:
    """nc contacts of d = dim rows, normal first; bodies' velocities v and accelerations a are
    (nb, dof), linear then angular, in world axes.

    body (nc, 2): A, B. frame (nc, d, dim): n (unit, from B to A) and tangents. J (nc, d, 2, dof).
    gap (nc,) = C [m]. velocity (nc, d) = J v [m/s]: C', then the slip along the tangents.
    bias (nc, d) [m/s^2]: J a + bias is C'', then the rate of the slip vector along the tangents.
    normal_rate (nc, dim) [1/s] = n'. point_rate (nc, dim) [m/s]: velocity of the contact point,
    halfway between the bodies. slide (nc, 2, dim) [m/s]: velocity of A's and B's extremal point
    relative to the body it lies on.
    feature, piece (nc, 2): codes of ``Feature``; the smooth piece of the surface, numbered.
    rcond (nc,): smallest over largest pivot of the relative curvature, 0 if singular.
    flag (nc,): bits of ``Flag``.
    """

    body: Ints
    frame: Floats
    J: Floats
    gap: Floats
    velocity: Floats
    bias: Floats
    normal_rate: Floats
    point_rate: Floats
    slide: Floats
    feature: Ints
    piece: Ints
    rcond: Floats
    flag: Ints

    def __len__(self) -> int:
        return int(self.gap.size)

    @property
    def slip(self) -> Floats:
        """(nc, d - 1) slip velocity along the tangents [m/s]."""
        slip: Floats = self.velocity[:, 1:]
        return slip

    @property
    def rolling_bias(self) -> Floats:
        """(nc, d): J a + rolling_bias is the rate of the slip vector along n and the tangents
        (Baraff 1992, (6-33)). Rolling is that all of it vanish; as n.slip = C', row 0 is C'' less
        n'.slip."""
        out = self.bias.copy()
        along = np.einsum("iak,ik->ia", self.frame[:, 1:], self.normal_rate)
        out[:, 0] -= np.einsum("ia,ia->i", along, self.slip)
        return out

    def accel(self, a: Floats) -> Floats:
        """(nc, d) C'' and slip rates at body accelerations a (nb, dof)."""
        out = np.empty_like(self.bias)
        row_kernels.row_velocities(self.body, self.J, self.bias, a, out)
        return out


def contact_kinematics(
    geoms: Geoms,
    x: Floats,
    R: Floats,
    position: Floats,
    velocity: Floats,
    contacts: Contacts,
    sides: Sides | None = None,
) -> ContactKinematics:
    """Kinematics of the contacts that a ``Detector`` found at the poses x (ng, dim),
    R (ng, dim, dim) of the geoms; position (nb, dim), velocity (nb, dof) of the bodies; sides:
    of these contacts, where many calls have the same."""
    dim, nc = geoms.dim, len(contacts)
    dof = 3 * (dim - 1)
    _check("x", x, (len(geoms), dim))
    _check("R", R, (len(geoms), dim, dim))
    nb = position.shape[0]
    _check("position", position, (nb, dim))
    _check("velocity", velocity, (nb, dof))
    sides = Sides.of(geoms, contacts) if sides is None else sides
    body, size, frame = sides.body, sides.size, _frames(contacts.normal)
    shapes = local_shapes(x, R, contacts, frame, sides.fill)
    flag = np.zeros(nc, np.int64)
    resolve(dim, contacts.gap, size, shapes.feature, shapes.bits, shapes.E, shapes.D, flag)
    bias, velocities = np.empty((nc, dim)), np.empty((nc, dim))
    normal_rate, point_rate = np.empty((nc, dim)), np.empty((nc, dim))
    slide, rcond = np.empty((nc, 2, dim)), np.empty(nc)
    rates = rates_planar if dim == 2 else rates_spatial
    out = Rates(bias, normal_rate, point_rate, slide, rcond, flag)
    rates(
        body, position, velocity, contacts.point, contacts.gap, size, frame, shapes.E, shapes.D,
        out,
    )  # fmt: skip
    J = _rows(body, position, contacts.point, frame)
    row_kernels.row_velocities(body, J, np.zeros((nc, dim)), velocity, velocities)
    return ContactKinematics(
        body, frame, J, contacts.gap, velocities, bias, normal_rate, point_rate, slide,
        shapes.feature, shapes.piece, rcond, flag,
    )  # fmt: skip


def pieces_changed(before: ContactKinematics, after: ContactKinematics) -> Bools:
    """(nc,) which of the same contacts moved to another piece of a surface in between:
    curvature jumps there, and with it C'' and the contact forces."""
    if before.piece.shape != after.piece.shape:
        raise ArrayError(f"after: {len(after)} contacts, expected {len(before)}, those before")
    changed: Bools = (
        (before.piece != after.piece) | (before.feature != after.feature)
    ).any(axis=1)  # fmt: skip
    return changed


def _frames(normal: Floats) -> Floats:
    nc, dim = normal.shape
    frame = np.empty((nc, dim, dim))
    if dim == 2:
        row_kernels.frames_planar(normal, frame)
    else:
        row_kernels.frames_spatial(normal, np.zeros((nc, 3)), np.ones((nc, 2)), 1.0, frame)
    return frame


def jacobians(body: Ints, position: Floats, contacts: Contacts) -> Floats:
    """J (nc, d, 2, dof) of contacts between bodies (nc, 2) at their positions (nb, dim)."""
    return _rows(body, position, contacts.point, _frames(contacts.normal))


def frames_and_velocities(
    body: Ints, position: Floats, velocity: Floats, contacts: Contacts
) -> tuple[Floats, Floats]:
    """frame (nc, d, d) and velocity (nc, d) as ``contact_kinematics`` has them, and no more."""
    frame = _frames(contacts.normal)
    J, out = _rows(body, position, contacts.point, frame), np.empty(contacts.normal.shape)
    row_kernels.row_velocities(body, J, np.zeros(out.shape), velocity, out)
    return frame, out


def _rows(body: Ints, position: Floats, point: Floats, frame: Floats) -> Floats:
    nc, dim = point.shape
    nb, dof = position.shape[0], 3 * (dim - 1)
    J, P = np.empty((nc, dim, 2, dof)), np.empty((nc, dim, 2, dof))
    D, none = np.empty((nc, dim, dim)), np.zeros(nb)
    if dim == 2:
        row_kernels.rows_planar(none, none, position, body, point, frame, J, P, D)
    else:
        inertia = np.zeros((nb, 3, 3))
        row_kernels.rows_spatial(none, inertia, position, body, point, frame, J, P, D)
    return J


def _check(name: str, array: Floats, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ArrayError(f"{name}: shape {array.shape}, expected {shape}")


def rolling(kin: ContactKinematics, velocity: Floats) -> tuple[Floats, Floats]:
    """(nc,) how fast the normal turns in the bodies [rad/s], at least LEAST_SPIN, and how fast that
    moves the contact point over them, along the same way [m/s]: their ratio is a mean of the
    bodies' radii of curvature. velocity (nb, dof) of the bodies.

    Turning at w against a plane moves the point by K^-1 w, K the curvature, and adds w.K^-1.w to
    C''. Where the curvature along w vanishes the point races, and contact forces grow with its
    speed: R = O(|p'| + 1) (6-35).
    """
    turning, power = np.empty(len(kin)), np.empty(len(kin))
    normal = np.ascontiguousarray(kin.frame[:, 0])
    rolling_rates(kin.body, velocity, normal, kin.normal_rate, kin.slide, turning, power)
    turning = np.maximum(turning, LEAST_SPIN)
    return turning, power / turning


def contact_system(
    contacts: ContactKinematics,
    inverse_mass: Floats,
    inverse_inertia: Floats,
    acceleration: Floats,
) -> tuple[Floats, Floats]:
    """A (nc d, nc d), b (nc d,) of the contact accelerations A f + b at contact forces f (nc d,).

    inverse_mass (nb,), inverse_inertia (nb,) or (nb, 3, 3) in world axes, zero for bodies that
    forces do not move; acceleration (nb, dof): without contact forces, omega x I omega included.
    f: normal force on A along n, then along the tangents. A = J M^-1 J' is symmetric and positive
    semidefinite, because the normals are unit vectors. (Baraff's thesis writes A f - b.)
    """
    nc, d, _, dof = contacts.J.shape
    nb, dim = acceleration.shape[0], contacts.frame.shape[2]
    J = np.zeros((nc, d, nb, dof))
    row = np.arange(nc)
    for side in range(2):
        J[row, :, contacts.body[:, side]] += contacts.J[:, :, side]
    P = np.empty_like(J)
    P[..., :dim] = J[..., :dim] * inverse_mass[:, None]
    if dim == 2:
        P[..., 2] = J[..., 2] * inverse_inertia
    else:
        P[..., 3:] = np.einsum("bij,rabj->rabi", inverse_inertia, J[..., 3:])
    wide = J.reshape(nc * d, nb * dof)
    A = wide @ P.reshape(nc * d, nb * dof).T
    return 0.5 * (A + A.T), contacts.accel(acceleration).ravel()


def local_shapes(
    x: Floats, R: Floats, contacts: Contacts, frame: Floats, fill: Fill
) -> LocalShapes:
    """Shapes of both sides of the contacts in their frames (nc, dim, dim)."""
    nc, dim = contacts.point.shape
    half = 0.5 * contacts.gap[:, None] * contacts.normal
    p = np.empty((nc, 2, dim))
    np.add(contacts.point, half, out=p[:, 0])
    np.subtract(contacts.point, half, out=p[:, 1])
    out = LocalShapes.empty(nc, dim)
    fill(x, R, p, frame, out)
    return out


@dataclass(slots=True)
class Sides:
    """What stays of contacts wherever they are: geom, body (nc, 2); size (nc,) of the smaller geom
    [m]; what fills their shapes."""

    geom: Ints
    body: Ints
    size: Floats
    fill: Fill

    @classmethod
    def of(cls, geoms: Geoms, contacts: Contacts) -> Sides:
        geom = np.stack([contacts.geom_a, contacts.geom_b], axis=1)
        size = geoms.radius[geom].min(axis=1)
        return cls(geom, geoms.body[geom], size, shapes_of(geoms, geom))


def shapes_of(geoms: Geoms, geom: Ints) -> Fill:
    """What fills the shapes of contacts between geoms (nc, 2), from poses x, R, surface points
    p (nc, 2, dim) and frames (nc, dim, dim), wherever these contacts are."""
    table = GeomNumbers(
        geoms.kind, geoms.radius, geoms.first, geoms.numbers, geoms.first_int, geoms.ints
    )
    from drystone.kernels.kinematics import features

    if geoms.dim == 2:

        def planar(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
            features.planar(table, geom, x, R, p, frame, out)

        return planar
    kind = geoms.kind[geom]
    groups = []
    for k in sorted(set(kind.ravel().tolist())):
        groups.append((getattr(features, KINDS[k].local), np.argwhere(kind == k)))

    def spatial(x: Floats, R: Floats, p: Floats, frame: Floats, out: LocalShapes) -> None:
        for fill, which in groups:
            fill(which, table, geom, x, R, p, frame, out)

    return spatial
