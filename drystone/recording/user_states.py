"""What users bring that has a state of its own: random numbers, callbacks, forces from functions.

An object takes part if it has ``state()``, which gives numbers, texts, arrays or dictionaries of
them, and ``restore(state)``. A numpy Generator takes part as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.dynamics.forces import Callback
from drystone.errors import OptionError, RecordingError
from drystone.recording.packing import pack
from drystone.values import text
from drystone.world import World

BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def states(world: World, rng: np.random.Generator | None, callback: Any) -> dict[str, Any]:
    """Their states now, by name."""
    if callback is None and rng is None and not world.forces:
        return {}
    out = {name: item.state() for name, item in _with_states(world, callback).items()}
    if rng is not None:
        out["rng"] = rng.bit_generator.state
    return out


def check_states(known: dict[str, Any]) -> None:
    """RecordingError for states that no file can keep."""
    for name, state in known.items():
        try:
            pack(state)
        except (TypeError, ValueError, RecursionError) as error:
            raise RecordingError(f"the state() of the {name}: {error}") from None


def restore_states(
    world: World, callback: Any, known: dict[str, Any], rng: np.random.Generator | None = None
) -> np.random.Generator | None:
    """Give each its state back; returns the random numbers: those of `rng`, which others may hold,
    if it is of their kind."""
    if not known:
        return None
    found = _with_states(world, callback)
    for name, state in known.items():
        if name == "rng":
            continue
        if name not in found:
            raise RecordingError(
                f"the run had a {name} with a state: give it again, so that it can be restored"
            )
        found[name].restore(state)
    return _generator(known["rng"], rng) if "rng" in known else None


def checked(rng: Any) -> np.random.Generator:
    """A generator that can be kept."""
    if not isinstance(rng, np.random.Generator):
        raise OptionError(f"rng = {rng!r}: expected a numpy.random.Generator")
    name = type(rng.bit_generator).__name__
    if name not in BITS:
        raise OptionError(f"rng: {name} cannot be kept in a recording: expected {', '.join(BITS)}")
    return rng


def _with_states(world: World, callback: Any) -> dict[str, Any]:
    found = {"callback": callback}
    called = [force for force in world.forces if isinstance(force, Callback)]
    found |= {f"force {k} ({f.name or 'callback'})": f.function for k, f in enumerate(called)}
    return {name: item for name, item in found.items() if _has_state(item)}


def _has_state(item: Any) -> bool:
    return all(callable(getattr(item, name, None)) for name in ("state", "restore"))


def _generator(state: Any, rng: np.random.Generator | None) -> np.random.Generator:
    name = state.get("bit_generator") if isinstance(state, dict) else state
    if name not in BITS:
        raise RecordingError(f"random numbers of an unknown kind: {text(name)}")
    if rng is None or type(rng.bit_generator).__name__ != name:
        rng = np.random.Generator(getattr(np.random, name)())
    try:
        rng.bit_generator.state = state
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise RecordingError(f"random numbers without a state: {error}") from None
    return rng
