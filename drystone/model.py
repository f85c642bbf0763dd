"""The arrays that a step reads and writes: geoms, joints, model, state, contacts. Data only.

Conventions, written once. SI units; planar worlds have dim 2 and dof 3 (x, y, angle), spatial
ones dim 3 and dof 6. Positions are centres of mass; velocities are (linear, angular) in world
axes; quaternions are (w, x, y, z). A contact's normal points from body B to body A; its gap is
positive apart and negative in penetration; a positive normal impulse pushes A along the normal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.kernels.joints import JointFrames, JointFunctions
from drystone.kernels.joints_coupled import Actions
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(slots=True)
class Geoms:
    """Convex pieces, ng of them, each rigidly attached to a body.

    kind (ng,): code of ``geometry.kinds``; body (ng,): its body's index; uid (ng,): never reused.
    offset (ng, dim), turn (ng, dim, dim): the geom's frame in the body's centre-of-mass frame;
        columns of turn are the geom's axes.
    first (ng + 1,), numbers: floats of geom g are numbers[first[g]:first[g + 1]]; the same for
        first_int and ints. Their meaning for each kind is written in ``geometry.kinds``.
    radius (ng,): of the least ball about the geom's frame origin that holds it; inf if unbounded.
    tile (ng,), bend (nt, 3): row of `bend` of a mesh's triangle, -1 for other geoms, and how the
        surface turns at the triangle's edges [rad]; both empty without meshes.
    """

    dim: int
    kind: Ints
    body: Ints
    uid: Ints
    offset: Floats
    turn: Floats
    first: Ints
    numbers: Floats
    first_int: Ints
    ints: Ints
    radius: Floats
    tile: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    bend: Floats = field(default_factory=lambda: np.empty((0, 3)))

    def __len__(self) -> int:
        return int(self.kind.size)


@dataclass(slots=True)
class PairRules:
    """Exceptions to the rules by body: for pairs of body indices with key a * nb + b, a < b.

    key (np,) sorted; friction (np, 2) static and dynamic; restitution (np, 2) normal and
    tangential; nan where the pair says nothing. ignored (ni,) sorted keys that never collide.
    """

    key: Ints
    friction: Floats
    restitution: Floats
    ignored: Ints


@dataclass(slots=True)
class Joints:
    """nj joints; their nr rows C = 0; their nq free coordinates; ne actions on coordinates.

    kind: names of ``constraints.joints.registry``; uid (nj,): never reused.
    body (nj, 2): bodies a and b, -1 the world. anchor_a, anchor_b (nj, dim) [m], frame_a, frame_b
        (nj, dim, dim), columns are axes: the joint's frame on either body, in its centre-of-mass
        frame (world coordinates for the world).
    first_row, first_coordinate (nj + 1,): joint j owns rows first_row[j]:first_row[j + 1].
    row_code (nr, 4), row_target (nr,), row_body (nr, 2), and the same of coordinates: functions
        of ``kernels.joints``; coordinate_name: as the user speaks of them.
    coupled_row (nk,): rows that are factor_0 q_0 + factor_1 q_1 - target of two coordinates:
        coupled_coordinate, coupled_factor (nk, 2).
    action_kind (ne,), action_coordinate (ne,), action_numbers (ne, 4): limits, motors, friction
        and springs of ``kernels.joints_coupled``.
    breaks_at (nj, 2): force [N] and torque [N m] at which a joint breaks; inf by default.
    start (nq,): values near which angles begin to be counted [m or rad].
    """

    names: tuple[str, ...]
    kind: tuple[str, ...]
    uid: Ints
    body: Ints
    anchor_a: Floats
    anchor_b: Floats
    frame_a: Floats
    frame_b: Floats
    first_row: Ints
    row_code: Ints
    row_target: Floats
    row_body: Ints
    first_coordinate: Ints
    coordinate_code: Ints
    coordinate_target: Floats
    coordinate_body: Ints
    coordinate_name: tuple[str, ...]
    coupled_row: Ints
    coupled_coordinate: Ints
    coupled_factor: Floats
    action_kind: Ints
    action_coordinate: Ints
    action_numbers: Floats
    breaks_at: Floats
    start: Floats

    def __len__(self) -> int:
        return int(self.uid.size)

    @property
    def nr(self) -> int:
        return int(self.row_target.size)

    @property
    def nq(self) -> int:
        return int(self.coordinate_target.size)

    @property
    def frames(self) -> JointFrames:
        """As kernels take them."""
        return JointFrames(self.body, self.anchor_a, self.anchor_b, self.frame_a, self.frame_b)

    @property
    def actions(self) -> Actions:
        """What acts on coordinates, as kernels take it."""
        return Actions(self.action_kind, self.action_coordinate, self.action_numbers)

    @property
    def row_functions(self) -> JointFunctions:
        """Of the rows."""
        return JointFunctions(self.first_row, self.row_code, self.row_target)

    @property
    def coordinate_functions(self) -> JointFunctions:
        """Of the free coordinates."""
        return JointFunctions(self.first_coordinate, self.coordinate_code, self.coordinate_target)

    @property
    def row_joint(self) -> Ints:
        """(nr,) the joint of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_row))

    @property
    def coordinate_joint(self) -> Ints:
        """(nq,) the joint of each coordinate."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_coordinate))


@dataclass(slots=True)
class Model:
    """What does not change during a step; nb bodies.

    inverse_mass (nb,), inverse_inertia (nb,) or (nb, 3, 3) in body axes: zero for bodies that
        are fixed or move as prescribed; mass and inertia likewise.
    centre (nb, dim): centre of mass in the frame the user described the body in.
    friction (nb, 2): static, dynamic; restitution (nb, 2): normal, tangential.
    ratios (nb, 2): factors of friction along and across `axis`; axis (nb, dim): unit vector in
        body axes, zero for bodies of isotropic friction.
    layer (nb,): bits; bodies collide if they share one.
    motions: (body index, motion) of kinematic bodies; forces: anything with
        ``add(model, state, out)`` and ``potential(model, state)``. joints: None without any.
    """

    dim: int
    gravity: Floats
    names: tuple[str, ...]
    uid: Ints
    mass: Floats
    inverse_mass: Floats
    inertia: Floats
    inverse_inertia: Floats
    centre: Floats
    friction: Floats
    restitution: Floats
    ratios: Floats
    axis: Floats
    layer: Ints
    geoms: Geoms
    rules: PairRules
    motions: tuple[tuple[int, Any], ...] = ()
    forces: Sequence[Any] = ()
    joints: Joints | None = None

    @property
    def nb(self) -> int:
        return int(self.mass.size)

    @property
    def dof(self) -> int:
        return 3 * (self.dim - 1)


@dataclass(slots=True)
class State:
    """position (nb, dim) of centres of mass; orientation (nb,) angles or (nb, 4) quaternions;
    velocity (nb, dof): linear, then angular, in world axes."""

    time: float
    position: Floats
    orientation: Floats
    velocity: Floats

    def copy(self) -> State:
        return State(self.time, self.position.copy(), self.orientation.copy(), self.velocity.copy())


@dataclass(slots=True)
class Contacts:
    """nc contact points between geoms, in a fixed order.

    geom_a, geom_b (nc,): indices of geoms; point (nc, dim): halfway between the two surfaces;
    normal (nc, dim): unit, from B to A; gap (nc,) [m]; feature (nc,): distinguishes the points
    of one pair of geoms and stays with the same features from step to step.
    """

    geom_a: Ints
    geom_b: Ints
    point: Floats
    normal: Floats
    gap: Floats
    feature: Ints
    info: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.gap.size)

    @staticmethod
    def none(dim: int) -> Contacts:
        i, f = np.empty(0, np.int64), np.empty((0, dim))
        return Contacts(i, i, f, f, np.empty(0), i)
