"""What drawing and plotting need of a run, in memory or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np

from drystone.errors import OptionError
from drystone.model import Model, State
from drystone.types import Floats
from drystone.values import text


@runtime_checkable
class Replay(Protocol):
    """n frames of a run of nb bodies.

    time (n,) [s]; position (n, nb, dim) of centres of mass [m]; orientation (n, nb) or
    (n, nb, 4); velocity (n, nb, dof). contacts(k): those of the step that led to frame k, as
    ``Simulation.contacts``; series(name): a number of each report, (n - 1,), of the steps that led
    to the frames after the first. view: hints for drawing; title: one line.
    """

    @property
    def model(self) -> Model: ...

    @property
    def time(self) -> Floats: ...

    @property
    def position(self) -> Floats: ...

    @property
    def orientation(self) -> Floats: ...

    @property
    def velocity(self) -> Floats: ...

    @property
    def view(self) -> Mapping[str, Any]: ...

    @property
    def title(self) -> str: ...

    def __len__(self) -> int: ...

    def state(self, k: int) -> State: ...

    def contacts(self, k: int) -> np.ndarray: ...

    def series(self, name: str) -> Floats: ...


def checked_replay(value: Any) -> Any:
    """The value, if it has frames with their times, and bodies: what all that draws or writes a
    run begins with. A simulation has one moment only."""
    model, time = getattr(value, "model", None), getattr(value, "time", 0.0)
    if isinstance(model, Model) and not isinstance(value, type) and np.ndim(time) == 1:
        if not np.size(time):
            raise OptionError("this replay has no frames to show")
        return value
    hint = "expected a Trajectory, such as sim.run(..., record=True) returns, or a Recording"
    if isinstance(value, str | PathLike):
        hint = "expected a run; of a file, ds.read_recording(path)"
    raise OptionError(f"{text(value)} is not a replay: {hint}")
