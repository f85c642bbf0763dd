"""Snapshots of a simulation: to restore, copy or resume it, bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.geometry.surface_numbers import without_addresses
from drystone.model import Model, State
from drystone.recording.earlier_formats import JOINT_KINDS
from drystone.recording.user_states import check_states, restore_states, states
from drystone.steppers.snapshot import flat, parts_of
from drystone.steppers.totals import RunSummary, Totals
from drystone.values import real, text

Simulation = Any  # drystone.simulation.Simulation, which imports this module

# what a simulation counts or tells beside its state: attributes that are replaced, never changed
CARRIED = ("_start", "_count", "_since", "_remainder", "_overlaps", "report")
MOVING = ("position", "orientation", "velocity")
PLAIN = (*MOVING, "time", "steps", "start", "stepper", "kept")  # of every checkpoint
# what must be the same where a snapshot is restored; friction, gravity, forces and the like may
# have been said anew
STRUCTURE = {
    "its bodies": ("dim", "names", "uid"),
    "the masses of its bodies": ("mass", "inertia", "centre"),
    "its shapes": ("geoms",),
    "its joints": ("joints",),
}


class Structure:
    """What of a model must be the same where a snapshot of it is restored: digests by what
    messages call them, made when they are first asked for."""

    __slots__ = ("_digests", "_model")

    def __init__(self, model: Model) -> None:
        self._model: Model | None = model
        self._digests: dict[str, str] = {}

    @property
    def digests(self) -> dict[str, str]:
        if self._model is not None:
            self._digests = {
                name: hashlib.sha256(
                    b"".join(_bytes(self._model, part) for part in parts)
                ).hexdigest()
                for name, parts in STRUCTURE.items()
            }
            self._model = None
        return self._digests

    def difference(self, other: Structure) -> str | None:
        """What differs first, if anything does."""
        if self is other:
            return None
        mine, theirs = self.digests, other.digests
        return next((name for name in STRUCTURE if mine[name] != theirs[name]), None)

    def __getstate__(self) -> dict[str, str]:
        return self.digests

    def __setstate__(self, digests: dict[str, str]) -> None:
        self._model, self._digests = None, digests

    def __deepcopy__(self, memo: dict[int, Any]) -> Structure:
        return self  # nothing changes it


class Snapshot:
    """A moment of a simulation, as ``Simulation.snapshot`` takes it and ``restore`` takes it back.

    It has arrays of its own, which nothing changes: it can be restored any number of times, by the
    simulation that it is of, by a copy, and by any other of an equal world and method, also in
    another process. time [s]; steps: made since the start; report: of the last one.
    """

    __slots__ = ("_carried", "_counted", "_events", "_method", "_moment", "_shown", "_structure")

    def __init__(self, sim: Simulation, moment: dict[str, Any], shown: Any) -> None:
        self._moment, self._shown = moment, shown
        self._method, self._structure = sim.method, sim._structure
        had = sim.__dict__
        self._carried = {name: had[name] for name in CARRIED}
        run = sim._current
        self._counted = Totals(sim._totals), None if run is None else Totals(run)
        self._events = None if sim._events is None else tuple(sim._events)

    @property
    def time(self) -> float:
        return float(self._moment["time"])

    @property
    def steps(self) -> int:
        return int(self._moment["steps"])

    @property
    def report(self) -> Any:
        return self._carried["report"]

    def __repr__(self) -> str:
        bodies = len(self._moment["position"])
        return f"Snapshot({bodies} bodies, t = {self.time:.6g} s, {self.steps} steps)"

    def __copy__(self) -> Snapshot:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot:
        return self  # nothing changes it

    def refusal(self, sim: Simulation) -> str | None:
        """Why a simulation cannot be restored to this, if it cannot."""
        if self._method is not sim.method and self._method != sim.method:
            return f"it is by {_difference(self._method, sim.method)}"
        other = self._structure.difference(sim._structure)
        if other is None:
            return None
        return f"it is of another world, or of this one before an edit: {other} differ"


def take(sim: Simulation, callback: Any = None) -> Snapshot:
    """A snapshot of a simulation that is up to date with its world."""
    return Snapshot(sim, moment(sim, callback), last_step(sim))


def checkpoint(sim: Simulation, callback: Any = None) -> dict[str, Any]:
    """All that the next step depends on, as numbers, texts, arrays and dictionaries of them, as
    files keep it."""
    out = moment(sim, callback)
    check_states(out["kept"])
    return out | {
        "stepper": flat(out["stepper"]), "summary": Totals(sim.summary).text(),
        "structure": dict(sim._structure.digests),
    }  # fmt: skip


def moment(sim: Simulation, callback: Any = None) -> dict[str, Any]:
    """The same, with what the stepper remembers by parts."""
    now = sim.state
    kept = states(sim.world, sim.rng, callback)
    return {
        "steps": sim._count, "start": sim._start, "time": now.time,
        "position": now.position.copy(), "orientation": now.orientation.copy(),
        "velocity": now.velocity.copy(), "stepper": sim.stepper.snapshot(),
        "kept": deepcopy(kept) if kept else {}, "since": sim._since, "remainder": sim._remainder,
    }  # fmt: skip


def put(sim: Simulation, known: Snapshot | Mapping[str, Any], callback: Any = None) -> None:
    """Restore a simulation to a snapshot, or to a checkpoint of the same world."""
    if isinstance(known, Snapshot):
        _put(sim, known._moment, callback)
        _count_on(sim, *known._counted)
        sim.__dict__.update(known._carried)
        sim._shown = known._shown
        sim._events = None if known._events is None else list(known._events)
    else:
        _put(sim, known, callback, take(sim))
        sim._start, sim._count = float(known["start"]), int(known["steps"])
        # files of before have no remainders and no totals
        sim._since, sim._remainder = int(known.get("since", 0)), float(known.get("remainder", 0.0))
        said = known.get("summary")
        none = RunSummary(max_depth=sim.summary.max_depth)
        _count_on(sim, none if said is None else Totals.from_text(str(said)).summary)
        sim.report = sim._shown = sim._overlaps = None
        sim._events = None


def check_plain(sim: Simulation, known: Any) -> None:
    """That what is to be restored is a checkpoint of an equal world: kernels take the arrays as
    they are, and the same numbers in another world are another motion."""
    said = "restore: expected what sim.snapshot() or sim.checkpoint() gave"
    if not isinstance(known, Mapping):
        raise OptionError(f"{said}, not {text(known)}")
    missing = [name for name in PLAIN if name not in known]
    if missing:
        raise OptionError(f"{said}, not a mapping without {', '.join(missing)}")
    for name in ("stepper", "kept"):
        if not isinstance(known[name], Mapping):
            raise OptionError(f"{said}: {name} = {text(known[name])}")
    for name in MOVING:
        array, wanted = known[name], getattr(sim.state, name)
        plain = isinstance(array, np.ndarray) and array.dtype == wanted.dtype
        if not plain or not np.isfinite(array).all():
            raise OptionError(f"{said}: {name} = {text(array)}")
        if array.shape != wanted.shape:
            raise OptionError(
                f"restore: {name} has the shape {array.shape} in this checkpoint, and "
                f"{wanted.shape} in this simulation: it is of another world"
            )
    # files of before say nothing of their worlds
    digests, mine = known.get("structure", {}), sim._structure.digests
    if not isinstance(digests, Mapping):
        raise OptionError(f"{said}: structure = {text(digests)}")
    for name, digest in mine.items():
        if digests.get(name, digest) != digest:
            raise OptionError(
                "restore: this checkpoint is of another world, or of this one before an edit: "
                f"{name} differ"
            )
    for name in ("steps", "start", "time", "since", "remainder"):
        value = known.get(name, 0)  # files of before have neither of the last two
        if (number := real(value)) is None or not np.isfinite(number):
            raise OptionError(f"{said}: {name} = {text(value)}")
    if "summary" in known:
        try:
            Totals.from_text(known["summary"])
        except (KeyError, TypeError, ValueError):
            raise OptionError(f"{said}: summary = {text(known['summary'])}") from None
    dt, since = sim.method.dt, known.get("since", 0)
    made = known["start"] + (known["steps"] - since) * dt
    if not abs(made - known["time"]) <= 1e-6 * dt:
        raise OptionError(
            f"restore: this checkpoint is of t = {known['time']:.6g} s after {known['steps']:g} "
            f"steps, which steps of {dt:.6g} s do not make: it is of another method"
        )


def _count_on(
    sim: Simulation, before: RunSummary | Totals, run: RunSummary | Totals | None = None
) -> None:
    """Have a simulation count its steps on: those before a run, and those of the run that was on.
    A run that is on now, whose callback goes back, counts on in its own totals."""
    sim._totals = Totals(before)
    if sim._current is not None:
        sim._current.count_from(run or RunSummary(max_depth=before.max_depth))
    elif run is not None:
        sim._totals.join(run)


def _put(
    sim: Simulation, moment: Mapping[str, Any], callback: Any, before: Snapshot | None = None
) -> None:
    """before: of a checkpoint, which may not fit, what to come back to then."""
    kept, left = moment["kept"], moment["stepper"]
    sim.rng = restore_states(sim.world, callback, deepcopy(kept) if kept else {}, sim.rng)
    if before is None:
        sim.stepper.restore(left, sim.model)
    else:
        try:
            sim.stepper.restore(parts_of(left), sim.model)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            put(sim, before)
            raise OptionError(
                "restore: this checkpoint is of another world or method: what its steps left for "
                f"the next one does not fit ({type(error).__name__}: {error})"
            ) from error
    sim.state = State(float(moment["time"]), *(moment[name].copy() for name in MOVING))


class LastStep:
    """Contacts and joints of the step before a snapshot: tables, or what has a ``table()``."""

    __slots__ = ("count", "tables")

    def __init__(self, count: int, contacts: Any, joints: Any) -> None:
        self.count, self.tables = count, {"contacts": contacts, "joints": joints}

    def table(self, name: str) -> np.ndarray:
        found = self.tables[name]
        made: np.ndarray = found.copy() if isinstance(found, np.ndarray) else found.table()
        return made


def last_step(sim: Simulation) -> LastStep:
    """What is to be read of the last step, for as long as there is no other."""
    shown: LastStep | None = sim._shown
    if shown is not None and shown.count == sim._count:
        return shown
    stepper = sim.stepper
    noted = getattr(stepper, "noted", None)
    if noted is None:
        return LastStep(sim._count, stepper.contact_table(), stepper.joint_table())
    return LastStep(sim._count, *noted())


def _bytes(model: Model, part: str) -> bytes:
    value = getattr(model, part)
    if value is None or (part == "joints" and not len(value)):
        return b""
    if part in ("geoms", "joints"):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        if part == "geoms":
            own["numbers"] = without_addresses(value)
        elif all(kind in JOINT_KINDS for kind in value.kind):  # as checkpoints before 0.2 have it
            own["kind"] = np.array([JOINT_KINDS.index(kind) for kind in value.kind])
        return b"".join(_plain(name, item) for name, item in own.items())
    return _plain(part, value)


def _plain(name: str, value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return (
            f"{name} {value.dtype} {value.shape}:".encode() + np.ascontiguousarray(value).tobytes()
        )
    return f"{name} {value!r};".encode()


def _difference(theirs: Any, mine: Any) -> str:
    """In what two methods differ."""
    names = type(theirs).__name__, type(mine).__name__
    if names[0] != names[1]:
        return f"{names[0]}, and this is one by {names[1]}"
    pairs = [[getattr(m, f.name) for m in (theirs, mine)] for f in fields(theirs)]
    odd = [(f.name, a, b) for f, (a, b) in zip(fields(theirs), pairs, strict=True) if a != b]
    had = ", ".join(f"{name}={a!r}" for name, a, _ in odd)
    has = ", ".join(f"{name}={b!r}" for name, _, b in odd)
    return f"{names[0]}({had}), and this is one by {names[1]}({has})"


def check_free(sim: Simulation, what: str) -> None:
    """A simulation that is being recorded cannot be restored: its file only grows."""
    if sim._recorder is not None:
        raise OptionError(
            f"{what}: this simulation is recorded to {sim._recorder.path}, which cannot go back in "
            "time: close the recorder first, or look ahead with a copy, copy.deepcopy(sim)"
        )
