"""What drawing and plotting need of a run, in memory or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from drystone.model import Model, State
from drystone.types import Floats


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
