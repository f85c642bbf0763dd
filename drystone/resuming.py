"""Resume a recorded run; the result is bitwise identical to an uninterrupted one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from drystone.errors import OptionError, RecordingError
from drystone.recording.locks import Lock
from drystone.recording.models import difference
from drystone.recording.reader import Recording, read_recording
from drystone.recording.recorder import Recorder
from drystone.recording.repair import repair
from drystone.running import WHOLE, check_count, plan, seconds
from drystone.scene_files import method_from
from drystone.scenes import scene
from drystone.simulation import Simulation
from drystone.snapshots import Structure
from drystone.steppers.base import Method
from drystone.values import as_path, function, text
from drystone.world import World


def resume(
    path: str | os.PathLike[str],
    until: float | None = None,
    *,
    world: World | None = None,
    method: str | Method | None = None,
    callback: Callable[[Simulation], object] | None = None,
    salvage: bool = False,
) -> Simulation:
    """Run on from the last checkpoint of a recording, appending to it; returns the simulation.

    until: simulated time [s] at which to end, by default what the run was asked for. world, method:
    those of the run, for worlds that hold Python functions: a file does not execute any; what it
    holds must be the same. callback: as of ``Simulation.run``, restored if it has a state. salvage:
    of a damaged file, resume from the last checkpoint before the damage: later frames are remade,
    and the damaged file is kept beside the new one.
    """
    sim, recorder, end = reopen(
        path, until, world=world, method=method, callback=callback, salvage=salvage
    )
    with recorder:
        if end > sim.time:
            sim.run(until=end, callback=callback)
    return sim


def reopen(
    path: str | os.PathLike[str],
    until: float | None = None,
    *,
    world: World | None = None,
    method: str | Method | None = None,
    callback: Callable[[Simulation], object] | None = None,
    salvage: bool = False,
) -> tuple[Simulation, AbstractContextManager[object], float]:
    """The same without running: the simulation at the last checkpoint, a context in which its
    steps are recorded, and the time to run until [s]. A file is left alone if it is refused, or if
    no step is left to make."""
    place = as_path("resume", path, RecordingError)
    function("resume", "callback", callback, "sim")
    read_recording(place, salvage=salvage).close()  # what is not a recording is not locked
    lock = Lock(place)
    try:
        with read_recording(lock.path, salvage=salvage) as known:  # what is refused stays as it is
            known.path = place
            sim = simulation(known, world, method)
            if not salvage:
                _restore(sim, known, callback)
            end = _end(known, until, sim)
            if not (salvage or known.live or plan(sim, until=end).makes_steps):
                lock.release()
                return sim, nullcontext(), end
        repair(lock, salvage)
        with read_recording(lock.path) as known:
            known.path = place
            at = _restore(sim, known, callback)
            recorder = Recorder(sim, place, known.every, known.keeps_contacts, known.keeps_forces)
            recorder.callback = callback
            recorder.go_on(known, at, end, lock)
    except BaseException:
        lock.release()
        raise
    sim.attach(recorder)
    return sim, recorder, end


def simulation(known: Recording, world: World | None = None, method: Any = None) -> Simulation:
    """A simulation of a recording's world by its method, at the start."""
    path = known.path
    if method is None:
        if known.method is None:
            raise RecordingError(
                f"{path}: its method cannot be described in a file: resume(..., method=...)"
            )
        method = method_from(known.method)
    sim = Simulation(_world(known, world), method)
    sim.origin = {
        "scene": known.scene, "settings": known.settings, "view": known.view,
        "title": known.title,
    }  # fmt: skip
    other = difference(sim.model, known.model)
    if other is not None:
        raise RecordingError(f"{path}: this is not the world that was recorded: {other}")
    if sim.method.dt != known.dt:
        raise RecordingError(f"{path}: recorded with dt = {known.dt:g} s, not {sim.method.dt:g} s")
    return sim


def _world(known: Recording, world: World | None) -> World:
    if world is not None:
        return world
    if known.world is not None:
        return known.world
    if known.scene is not None:
        return scene(known.scene, **known.settings).world
    raise RecordingError(
        f"{known.path}: the world holds Python functions, which a file does not "
        f"({known.undescribed}): build it again and give it, resume(path, world=world)"
    )


def _checkpoint(known: Recording) -> tuple[int, dict[str, Any]]:
    """The last one."""
    if not len(known.checkpoints):
        raise RecordingError(f"{known.path}: it has no checkpoint to resume from")
    last = len(known.checkpoints) - 1
    snapshot = known.snapshot(last)
    if snapshot["stepper"] is None:
        raise RecordingError(
            f"{known.path}: it was recorded by a version that kept no checkpoints of this method: "
            "run it again"
        )
    return last, snapshot


def _restore(sim: Simulation, known: Recording, callback: Any) -> int:
    """Put a simulation to the last checkpoint; returns its number."""
    last, snapshot = _checkpoint(known)
    if snapshot.get("structure") == Structure(known.model).digests:
        # not edited since the recording began: the same world, if rounded by another processor
        snapshot = snapshot | {"structure": Structure(sim.model).digests}
    try:
        for name in ("position", "orientation", "velocity"):
            now, then = getattr(sim.state, name), snapshot[name]
            if (now.shape, now.dtype) != (then.shape, then.dtype):
                raise TypeError(f"{name} has shape {then.shape}")
        sim.restore(snapshot, callback)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise RecordingError(
            f"{known.path}: its checkpoints are not those of this version of Drystone "
            f"({type(error).__name__}: {error}): run it again"
        ) from None
    return last


def _end(known: Recording, until: float | None, sim: Simulation) -> float:
    """When to end [s]."""
    last = max(float(known.time[-1]), sim.time)
    if until is None:
        end = float(known.runs[-1, 1])
        if np.isnan(end):
            raise OptionError(
                f"resume: {known.path} does not say when the run was to end: "
                "resume(path, until=...)"
            )
        return max(end, last)
    end = seconds("resume", "until", until)
    if end < last - WHOLE * known.dt:
        raise OptionError(
            f"resume: until = {end:g} s: {known.path} is recorded until {last:g} s already"
        )
    check_count(f"resume: until = {text(until)}", (end - last) / known.dt, known.dt)
    return max(end, last)
