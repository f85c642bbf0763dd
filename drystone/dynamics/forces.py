"""Loads on bodies. Gravity is not among them: steppers apply it exactly.

A force as the user writes it names bodies; ``bind(forces, names, dim)`` of its class turns all
forces of that class into one bound force on body indices, which has

    add(model, state, out)      adds forces [N] and torques [N m] about the centres of mass, in
                                world axes, to out (nb, dof)
    potential(model, state)     its energy [J]; 0 for what has none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.frames import moment, rotations, turned
from drystone.errors import DrystoneError, ModelError, SimulationError
from drystone.functions import WithFunctions
from drystone.model import Model, State
from drystone.types import BodyLike, Floats, Ints, Real, VectorLike
from drystone.values import refused_call, switch, text

Names = Mapping[str, int]


class BoundForce(Protocol):
    """What a stepper asks of a force."""

    def add(self, model: Model, state: State, out: Floats) -> None: ...

    def potential(self, model: Model, state: State) -> float: ...


class Force:
    """Base of all forces: what they act on, and how they bind to a world."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ("body",)  # the attributes that name bodies

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on; ``"world"`` and "all of them" (None) left out."""
        owner = type(self).__name__
        named = [getattr(self, field) for field in self.fields]
        names = [check.body_name(owner, n, world=True) for n in named if n is not None]
        return tuple(name for name in names if name != check.WORLD)

    def check(self, dim: int) -> None:
        """Raise ModelError unless it makes sense in a world of this dimension."""
        type(self).bind([self], dict.fromkeys(self.bodies(), 0), dim)

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        raise NotImplementedError


def index(owner: str, body: Any, names: Names, *, world: bool = False) -> int:
    """Index of a body by name or handle; -1 for the world, where that is allowed."""
    name = check.body_name(owner, body, world=world)
    if name == check.WORLD:
        return -1
    if name not in names:
        raise check.unknown(owner, name, names)
    return names[name]


@dataclass(frozen=True, slots=True)
class ConstantForce(Force):
    """A load that never changes: force (dim,) [N] and torque [N m] (a number in the plane).

    point (dim,) [m], in the body's own frame: where the force acts; None: the centre of mass.
    follows: both turn with the body, as the thrust of a rocket does; otherwise they keep their
        world direction, and the force has a potential (in the plane the torque has one too).
    """

    body: BodyLike
    force: VectorLike | None = None
    torque: Real | VectorLike | None = None
    point: VectorLike | None = None
    follows: bool = False

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        n, zero = len(forces), (0.0,) * dim
        body, follows = np.empty(n, np.int64), np.empty(n, np.bool_)
        force, point = np.empty((n, dim)), np.full((n, dim), np.nan)
        torque = np.empty((n, 2 * dim - 3))
        for i, load in enumerate(forces):
            owner = f"ConstantForce on {check.body_name('ConstantForce', load.body)!r}"
            follows[i] = switch(owner, "follows", load.follows, ModelError)
            body[i] = index(owner, load.body, names)
            force[i] = check.vector(owner, "force", _or(load.force, zero), dim)
            torque[i] = check.spin(
                owner, "torque", _or(load.torque, 0.0 if dim == 2 else zero), dim
            )
            if load.point is not None:
                point[i] = check.vector(owner, "point", load.point, dim)
        return _Constant(body, force, torque, point, follows)


@dataclass(frozen=True, slots=True)
class _Constant:
    """point: nan rows act on the centre of mass."""

    body: Ints
    force: Floats
    torque: Floats
    point: Floats
    follows: Any

    def add(self, model: Model, state: State, out: Floats) -> None:
        force, torque, arm = self._now(model, state)
        np.add.at(out, self.body, np.concatenate([force, torque + moment(arm, force)], axis=1))

    def potential(self, model: Model, state: State) -> float:
        force, torque, arm = self._now(model, state)
        place = state.position[self.body] + arm
        energy = -np.sum(force * place, axis=1)
        if model.dim == 2:
            energy -= torque[:, 0] * state.orientation[self.body]
        return float(energy[~self.follows].sum())

    def _now(self, model: Model, state: State) -> tuple[Floats, Floats, Floats]:
        R = rotations(state.orientation[self.body])
        centred = np.isnan(self.point[:, :1])
        local = np.where(centred, 0.0, self.point - model.centre[self.body])
        arm = turned(R, local)
        turns = self.follows[:, None]
        force = np.where(turns, turned(R, self.force), self.force)
        torque = self.torque
        if model.dim == 3:
            torque = np.where(turns, turned(R, torque), torque)
        return force, torque, arm


@dataclass(frozen=True, slots=True)
class Damper(Force):
    """Viscous drag: force -linear v of the centre of mass, torque -angular omega.

    body: None for all; linear [N s/m] and angular [N m s], 0 or more.
    """

    body: BodyLike | None = None
    linear: float = 0.0
    angular: float = 0.0

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        bodies: list[int] = []
        rates: list[tuple[float, float]] = []
        for damper in forces:
            owner = "Damper" if damper.body is None else f"Damper on {_name(damper.body)!r}"
            linear = check.not_negative(owner, "linear", damper.linear)
            angular = check.not_negative(owner, "angular", damper.angular)
            chosen = (
                range(len(names)) if damper.body is None else [index(owner, damper.body, names)]
            )
            bodies += chosen
            rates += [(linear, angular)] * len(chosen)
        rate = np.array(rates, float).reshape(-1, 2)
        return _Drag(np.array(bodies, np.int64), np.repeat(rate, [dim, 2 * dim - 3], axis=1))


@dataclass(frozen=True, slots=True)
class _Drag:
    body: Ints
    rate: Floats  # (n, dof)

    def add(self, model: Model, state: State, out: Floats) -> None:
        np.add.at(out, self.body, -self.rate * state.velocity[self.body])

    def potential(self, model: Model, state: State) -> float:
        return 0.0


@dataclass(frozen=True, slots=True)
class Callback(WithFunctions, Force):
    """A force computed by a Python function at every step.

    function(model, state) -> (nb, dof) forces and torques about the centres of mass, world axes,
        or {name of a body: (dof,)}; with ``fills=True`` function(model, state, out) adds to
        out (nb, dof), which comes in as zeros.
    potential(model, state) -> float [J], if the force has one.
    name: what errors call it; the function's own name by default.
    """

    function: Callable[..., Any]
    potential: Callable[[Model, State], float] | None = None
    fills: bool = False
    name: str | None = None
    fields: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def bind(cls, forces: Sequence[Self], names: Names, dim: int) -> BoundForce:
        called: list[tuple[str, Callback]] = []
        for force in forces:
            if force.name is not None and not isinstance(force.name, str):
                raise ModelError(f"Callback: name = {text(force.name)}: expected a string")
            name: str = (
                force.name or getattr(force.function, "__name__", "") or repr(force.function)
            )
            if not callable(force.function):
                raise ModelError(f"Callback {name!r}: expected a function of (model, state)")
            if force.potential is not None and not callable(force.potential):
                raise ModelError(
                    f"Callback {name!r}: potential = {force.potential!r} is not a function"
                )
            switch(f"Callback {name!r}", "fills", force.fills, ModelError)
            words = ("model", "state", "out") if force.fills else ("model", "state")
            refused = refused_call(force.function, *words) or (
                force.potential and refused_call(force.potential, "model", "state")
            )
            if refused:
                raise ModelError(f"Callback {name!r}: {refused}")
            called.append((name, force))
        return _Called(tuple(called), dict(names))


@dataclass(frozen=True, slots=True)
class _Called:
    called: tuple[tuple[str, Callback], ...]
    names: dict[str, int]

    def add(self, model: Model, state: State, out: Floats) -> None:
        for name, force in self.called:
            values = np.zeros_like(out) if force.fills else out
            try:
                if force.fills:
                    force.function(model, state, values)
                else:
                    values = self._array(name, force.function(model, state), out.shape)
            except DrystoneError:
                raise
            except Exception as error:
                error.add_note(f"in force callback {name!r} at t = {state.time:.9g} s")
                raise
            if not np.isfinite(values).all():
                self._refuse(name, model, state, values)
            out += values

    @staticmethod
    def _refuse(name: str, model: Model, state: State, values: Floats) -> NoReturn:
        """A body gets what is no number."""
        i = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise SimulationError(
            f"force callback {name!r} at t = {state.time:.9g} s: "
            f"body {model.names[i]!r} gets {values[i].tolist()}"
        )

    def _array(self, name: str, values: Any, shape: tuple[int, ...]) -> Floats:
        if isinstance(values, Mapping):
            array = np.zeros(shape)
            for body, value in values.items():
                i = index(f"force callback {name!r}", body, self.names)
                row = np.asarray(value)
                if row.shape != shape[1:] or row.dtype.kind not in "biuf":
                    raise ModelError(
                        f"force callback {name!r}: body {body!r} gets {value!r}: "
                        f"expected {shape[1]} numbers, force then torque"
                    )
                array[i] += row
            return array
        array = np.asarray(values)
        if array.shape != shape or array.dtype.kind not in "biuf":
            got = "nothing" if values is None else f"an array of shape {array.shape}"
            hint = "; pass fills=True if it fills its third argument" if values is None else ""
            raise ModelError(
                f"force callback {name!r} returned {got}: expected shape {shape}, one row of "
                f"force and torque for each body{hint}"
            )
        return array.astype(float, copy=False)

    def potential(self, model: Model, state: State) -> float:
        total = 0.0
        for name, force in self.called:
            if force.potential is not None:
                energy = float(force.potential(model, state))
                if not np.isfinite(energy):
                    when = f"at t = {state.time:.9g} s"
                    raise SimulationError(f"force callback {name!r}: potential {energy} {when}")
                total += energy
        return total


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _name(body: Any) -> str:
    return check.body_name("Damper", body)
