"""One instant of a system of bodies in contact: everything that forces and impulses depend on.

Signs as everywhere: a contact's rows are (normal, tangents) with unit vectors, the normal from
body B to body A; J_A acts on the first body's velocity (v, omega), J_B on the second's and already
carries its minus sign; u_n > 0 separates and f_n >= 0 pushes apart. Accelerations of the contact
are J a + bias with a (nb, dof) those of the bodies and bias their part of velocities alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from drystone.errors import ArrayError, ModelError, OptionError
from drystone.types import Bools, Floats, Ints


class Kind(IntEnum):
    """State of a contact at an instant.

    By its velocity it separates, sticks, slides or collides; by its force it may be open (it
    touches without one), or yield: at rest, but static friction gives way.
    """

    SEPARATING = 0
    STICKING = 1
    SLIDING = 2
    COLLIDING = 3
    OPEN = 4
    YIELDING = 5


States = tuple[int, ...]  # of contacts, of Kind


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Speeds below which a contact counts as at rest [m/s].

    normal: u_n above it separates, below its negative collides. slip: |u_t| above it slides.
    """

    normal: float = 1e-8
    slip: float = 1e-8

    def __post_init__(self) -> None:
        for name in ("normal", "slip"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise OptionError(f"tolerance {name} = {value}: expected a speed >= 0")


@dataclass(frozen=True, kw_only=True, eq=False)
class ContactState:
    """Contacts, joints and masses of one instant; nc contacts of d rows, nj rows of joints.

    body (nc, 2): the two bodies, -1 for none. J (nc, d, 2, dof): rows, normal first. u (nc, d):
        velocities of the contacts [m/s].
    mu (nc,) or (nc, 2): static and dynamic coefficients; restitution (nc,).
    inverse_mass (nb,) [1/kg]; inverse_inertia: (nb,) in the plane, (nb, 3, 3) in world axes in
        space; zeros for bodies that forces do not move.
    acceleration (nb, dof): of the bodies without contact and joint forces: gravity, loads,
        gyroscopic terms; of prescribed bodies their own.
    bias (nc, d): J a + bias are the accelerations of the contact. soft (nc, d): compliance added
        to the diagonal (rows without bodies state given loads with it); both zero by default.
    joint_body (nj, 2), joint_J (nj, 2, dof), joint_bias (nj,), joint_u (nj,): bilateral rows.
    slip (nc, d - 1): directions of sliding contacts, where the caller decides who slides and
        who sticks (rows of zeros); None: by the velocities and `tolerances`.
    key (nc,): names that a contact keeps from instant to instant; its number by default.
    """

    body: Any
    J: Any
    u: Any
    mu: Any
    inverse_mass: Any
    inverse_inertia: Any
    acceleration: Any = None
    restitution: Any = 0.0
    bias: Any = None
    soft: Any = None
    joint_body: Any = None
    joint_J: Any = None
    joint_bias: Any = None
    joint_u: Any = None
    slip: Any = None
    key: Any = None
    tolerances: Tolerances = Tolerances()

    def __post_init__(self) -> None:
        put = _Put(self)
        J = put("J", None)
        if J.ndim != 4 or J.shape[2] != 2 or (J.shape[1], J.shape[3]) not in ((2, 3), (3, 6)):
            raise ArrayError(f"J has shape {J.shape}: expected (nc, 2, 2, 3) or (nc, 3, 2, 6)")
        nc, d, _, dof = J.shape
        nb = int(put("inverse_mass", None).size)
        put("inverse_mass", (nb,))
        put("inverse_inertia", (nb,) if d == 2 else (nb, 3, 3))
        put("u", (nc, d))
        if self.mu is not None and np.ndim(self.mu) < 2:
            both = np.broadcast_to(np.asarray(self.mu, dtype=np.float64), (nc,))
            object.__setattr__(self, "mu", np.stack([both, both], axis=1))
        put("mu", (nc, 2))
        if np.ndim(self.restitution) == 0:
            object.__setattr__(self, "restitution", np.full(nc, self.restitution, np.float64))
        put("restitution", (nc,))
        put("acceleration", (nb, dof), 0.0)
        put("bias", (nc, d), 0.0)
        put("soft", (nc, d), 0.0)
        nj = 0 if self.joint_J is None else int(np.shape(self.joint_J)[0])
        put("joint_J", (nj, 2, dof), 0.0)
        put("joint_bias", (nj,), 0.0)
        put("joint_u", (nj,), 0.0)
        put.bodies("body", (nc, 2), nb)
        put.bodies("joint_body", (nj, 2), nb)
        if self.slip is not None:
            put("slip", (nc, d - 1))
        if self.key is None:
            object.__setattr__(self, "key", tuple(range(nc)))
        elif len(self.key) != nc:
            raise ArrayError(f"key has {len(self.key)} entries: expected {nc}")
        _check_laws(self)

    @classmethod
    def trusted(cls, **fields: Any) -> ContactState:
        """A state whose fields are all given, arrays as they are to be: nothing is checked."""
        out = object.__new__(cls)
        out.__dict__.update(fields)
        return out

    def sliding_along(self, slip: Floats | None, tolerances: Tolerances) -> ContactState:
        """The same instant with other contacts taken to slide; see `slip`."""
        known = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return self.trusted(**{**known, "slip": slip, "tolerances": tolerances})

    @property
    def nc(self) -> int:
        return int(self.J.shape[0])

    @property
    def nj(self) -> int:
        return int(self.joint_J.shape[0])

    @property
    def nb(self) -> int:
        return int(self.inverse_mass.size)

    @property
    def d(self) -> int:
        return int(self.J.shape[1])

    @property
    def dof(self) -> int:
        return int(self.J.shape[3])

    @cached_property
    def moves(self) -> Bools:
        """(nb,) bodies that forces accelerate."""
        turns = self.inverse_inertia.any(axis=tuple(range(1, self.inverse_inertia.ndim)))
        return np.asarray((self.inverse_mass > 0) | turns)

    @cached_property
    def kind(self) -> Ints:
        """(nc,) of Kind. Contacts with a slip given by the caller separate or slide or stick."""
        out = np.full(self.nc, int(Kind.STICKING))
        out[np.asarray(self.slip_directions.any(axis=1))] = Kind.SLIDING
        out[self.u[:, 0] < -self.tolerances.normal] = Kind.COLLIDING
        out[self.u[:, 0] > self.tolerances.normal] = Kind.SEPARATING
        return out

    @cached_property
    def slip_directions(self) -> Floats:
        """(nc, d - 1) unit slip of sliding contacts, zeros for the others."""
        given = self.u[:, 1:] if self.slip is None else self.slip
        speed = np.sqrt((given * given).sum(axis=1, keepdims=True))
        least = self.tolerances.slip if self.slip is None else 0.0
        return np.divide(given, speed, out=np.zeros_like(given), where=speed > least)

    @cached_property
    def acting(self) -> Floats:
        """(nc,) the coefficient of friction that acts: dynamic where a contact slides."""
        slides = self.slip_directions.any(axis=1)
        return np.where(slides, self.mu[:, 1], self.mu[:, 0])

    def take(self, chosen: Ints) -> ContactState:
        """The same instant with some of its contacts; joints and bodies stay."""
        names = ("body", "J", "u", "mu", "restitution", "bias", "soft")
        parts = {name: getattr(self, name)[chosen] for name in names}
        slip = None if self.slip is None else self.slip[chosen]
        key = tuple(self.key[int(i)] for i in chosen)
        return replace(self, **parts, slip=slip, key=key)


class _Put:
    """Replaces fields of a state by checked arrays; every complaint names field and entry."""

    def __init__(self, state: ContactState) -> None:
        self.state = state

    def __call__(
        self, name: str, shape: tuple[int, ...] | None, default: float | None = None
    ) -> Floats:
        value = getattr(self.state, name)
        if value is None and default is not None and shape is not None:
            value = np.full(shape, default)
        try:
            out = np.ascontiguousarray(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            raise ArrayError(f"{name} is not an array of numbers") from None
        if shape is not None and out.shape != shape:
            raise ArrayError(f"{name} has shape {out.shape}: expected {shape}")
        if not np.isfinite(out).all():
            place = tuple(int(k) for k in np.argwhere(~np.isfinite(out))[0])
            raise ArrayError(f"{name}{list(place)} is {out[place]}")
        object.__setattr__(self.state, name, out)
        return out

    def bodies(self, name: str, shape: tuple[int, int], nb: int) -> None:
        value = getattr(self.state, name)
        out = np.asarray(np.zeros(shape, np.int64) if value is None else value)
        if out.shape != shape or (out.size and out.dtype.kind not in "iu"):
            raise ArrayError(f"{name} is {out.shape} of {out.dtype}: expected {shape} integers")
        out = np.ascontiguousarray(out, dtype=np.int64)
        if out.size and (out.min() < -1 or out.max() >= nb):
            bad = out[(out < -1) | (out >= nb)][0]
            raise ArrayError(f"{name} names body {bad}: there are {nb}")
        object.__setattr__(self.state, name, out)


def _check_laws(state: ContactState) -> None:
    mu, eps = state.mu, state.restitution
    if (mu < 0).any() or (mu[:, 0] < mu[:, 1]).any():
        i = int(np.argmax((mu < 0).any(axis=1) | (mu[:, 0] < mu[:, 1])))
        raise ModelError(
            f"contact {state.key[i]}: friction {mu[i, 0]:g} (static), {mu[i, 1]:g} (dynamic): "
            "expected static >= dynamic >= 0"
        )
    if ((eps < 0) | (eps > 1)).any():
        i = int(np.argmax((eps < 0) | (eps > 1)))
        raise ModelError(f"contact {state.key[i]}: restitution {eps[i]:g}: expected 0 to 1")
    if (state.inverse_mass < 0).any():
        i = int(np.argmax(state.inverse_mass < 0))
        raise ModelError(f"body {i}: inverse mass {state.inverse_mass[i]:g} is negative")
