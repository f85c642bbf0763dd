"""Parallel compilation: two processes compile the kernels of a first run.

A run compiles the stages of a step from the first on. A helper process starts with the last. Each
finds on disk what the other has compiled, so they need no communication.

    python -m drystone.cli.parallel_compile SCENE
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from drystone.kernels._jit import MODE, cache_folder
from drystone.simulation import Simulation
from drystone.steppers.time_stepping.stepper import TimeStepper
from drystone.steppers.time_stepping.threads import count_cores

# by dimension, and whether there are joints: all worlds of a kind take the same kernels
SCENES = {
    (2, False): "brazil-nut",
    (3, False): "incline",
    (2, True): "four-bar",
    (3, True): "chain",
}


@contextmanager
def parallel_compilation(simulation: Simulation) -> Iterator[None]:
    """Within this context a helper process compiles kernels that the simulation needs, if they are
    missing and a second core is free. It ends with the context."""
    stepper = simulation.stepper
    if not isinstance(stepper, TimeStepper) or count_cores() < 2 or not _missing(stepper):
        yield
        return
    process = _started(SCENES[simulation.model.dim, stepper.jointed])
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def _started(name: str) -> subprocess.Popen[bytes] | None:
    """None where no process can be started: the run then compiles alone."""
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", __name__, name], stdin=nowhere, stdout=nowhere, stderr=nowhere
        )
    except OSError:
        return None


def _missing(stepper: TimeStepper) -> bool:
    """Whether the first stage of a step was never compiled on this machine."""
    first = stepper.stages[0][1]
    folder = cache_folder(first.__module__)
    return MODE != "off" and not any(folder.rglob(f"*.{first.__name__}-*.nbc"))


def main(name: str) -> None:
    from drystone.scenes.registry import scene

    stepper = scene(name).simulation().stepper
    if isinstance(stepper, TimeStepper):
        stepper.compile_from_the_end()


if __name__ == "__main__":
    main(sys.argv[1])
