"""Where the viewer's moments come from: a simulation that runs, or frames that were kept."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.model import Model, State
from drystone.plots.decimation import peaks
from drystone.steppers.base import StepReport
from drystone.types import Floats

if TYPE_CHECKING:  # a replay does without it
    from drystone.simulation import Simulation

LONG_STEP = 1 / 45  # [s] longer steps are drawn smoothly, from the last to the present one
HISTORY_LENGTH = 1500  # moments to scrub through; beyond, every second one goes
CURVES = ("kinetic", "potential", "total", "residual", "penetration")
CURVE_COLUMNS = 100  # of curves that are plotted: in each the least and the greatest of every curve


def between(a: State, b: State, part: float) -> State:
    """From state a (part = 0) to state b (part = 1), along a straight line."""
    orientation = a.orientation + part * (b.orientation - a.orientation)
    if a.orientation.ndim == 2:
        same = np.sum(a.orientation * b.orientation, axis=1, keepdims=True) >= 0
        near = np.where(same, b.orientation, -b.orientation)
        orientation = a.orientation + part * (near - a.orientation)
        length = np.linalg.norm(orientation, axis=1, keepdims=True)
        orientation /= np.maximum(length, 1e-300)
    return State(
        a.time + part * (b.time - a.time),
        a.position + part * (b.position - a.position),
        orientation,
        a.velocity + part * (b.velocity - a.velocity),
    )


class Live:
    """A simulation, stepped by `advance`; earlier frames can be shown."""

    live = True

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.lag = 0.0  # time owed to the clock [s]
        self.pace = 1.0  # simulated seconds per second, as far as steps keep up
        self._forget()

    def _forget(self) -> None:
        self.simulation.sync()
        self._before = self.simulation.state
        self._past: list[State] = [self.simulation.state]
        self._curves: list[tuple[float, ...]] = []
        self._stride = self._since = 1
        self.looked_at: int | None = None  # a moment of the past
        self.part = 1.0

    @property
    def model(self) -> Model:
        self.simulation.sync()
        return self.simulation.model

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def span(self) -> tuple[float, float]:
        return self._past[0].time, self.simulation.time

    @property
    def state(self) -> State:
        """What is to be seen: between two steps if these are long, or in the past."""
        if self.looked_at is not None:
            return self._past[self.looked_at]
        now = self.simulation.state
        if self.simulation.method.dt > LONG_STEP and self.part < 1.0:
            return between(self._before, now, self.part)
        return now

    @property
    def contacts(self) -> Any:
        if self.looked_at is not None or self.simulation.report is None:
            return None
        return self.simulation.contacts

    @property
    def forces_read(self) -> str:
        return self.simulation.forces_read

    @property
    def report(self) -> StepReport | None:
        return None if self.looked_at is not None else self.simulation.report

    def advance(self, seconds: float, budget: float) -> bool:
        """Steps for so many seconds of the scene's time, for at most `budget` of our own; whether
        the picture changed."""
        dt = self.simulation.method.dt
        owed = dt * (1.0 - 1e-9)  # a sum of rounded times may fall short of a step by as much
        self.looked_at = None
        self.lag += seconds
        began, stepped = perf_counter(), 0
        while self.lag >= owed and perf_counter() - began < budget:
            self.step()
            self.lag -= dt
            stepped += 1
        spent = perf_counter() - began
        self.pace = 1.0
        if self.lag >= owed:  # too slow for the clock: what is owed is not run after
            self.lag %= dt
            self.pace = stepped * dt / max(spent, 1e-9)
        self.part = min(max(self.lag / dt, 0.0), 1.0)
        return stepped > 0 or dt > LONG_STEP

    def step(self) -> None:
        """One step, whatever the clock says."""
        sim = self.simulation
        self._before, self.looked_at, self.part = sim.state, None, 1.0
        report = sim.step()
        parts = report.energy.kinetic, report.energy.potential, report.energy.total
        self._note((report.time, *parts, report.residual, report.penetration))

    def _note(self, row: tuple[float, ...]) -> None:
        self._since -= 1
        if self._since > 0:
            return
        self._past.append(self.simulation.state)
        self._curves.append(row)
        if len(self._past) > HISTORY_LENGTH:
            self._past, self._curves = self._past[::2], self._curves[1::2]
            self._stride *= 2
        self._since = self._stride

    def seek(self, time: float) -> None:
        """Show the frame nearest to `time` [s]; the simulation stays where it is."""
        times = np.array([s.time for s in self._past])
        k = int(np.argmin(np.abs(times - time)))
        self.looked_at = None if k == len(times) - 1 else k

    def reset(self) -> None:
        self.simulation.reset()
        self.lag = 0.0
        self._forget()

    def curves(self) -> tuple[Floats, ...]:
        """Time, and the numbers of CURVES."""
        rows = self._curves or [self._start()]
        table = np.array(rows).T
        return tuple(table[:, peaks(table[1:], CURVE_COLUMNS)])

    def _start(self) -> tuple[float, ...]:
        from drystone.dynamics.energy import energy

        kinetic, height, stored = energy(self.model, self.simulation.state)
        potential = height + stored
        return (self.simulation.time, kinetic, potential, kinetic + potential, 0.0, 0.0)


class Playback:
    """A recording or a trajectory; frames are read when they are shown."""

    live = False

    def __init__(self, frames: Any) -> None:
        self.frames = frames
        self.times = np.asarray(frames.time)
        self.now = float(self.times[0])
        self._read: dict[int, State] = {}
        self._curves: tuple[Floats, ...] | None = None
        self.pace = 1.0

    @property
    def model(self) -> Model:
        model: Model = self.frames.model
        return model

    @property
    def time(self) -> float:
        return self.now

    @property
    def span(self) -> tuple[float, float]:
        return float(self.times[0]), float(self.times[-1])

    @property
    def place(self) -> int:
        """The last frame that is not after the present time."""
        return max(int(np.searchsorted(self.times, self.now + 1e-12, side="right")) - 1, 0)

    def _frame(self, k: int) -> State:
        if k not in self._read:
            if len(self._read) > 8:
                self._read.clear()
            self._read[k] = self.frames.state(k)
        return self._read[k]

    @property
    def state(self) -> State:
        k = self.place
        here = self._frame(k)
        if k + 1 >= len(self.times) or self.now <= self.times[k]:
            return here
        part = (self.now - self.times[k]) / (self.times[k + 1] - self.times[k])
        return between(here, self._frame(k + 1), float(part))

    @property
    def contacts(self) -> Any:
        read, k = getattr(self.frames, "contacts", None), self.place
        return read(k) if read is not None and k > 0 else None

    @property
    def forces_read(self) -> str:
        said, k = getattr(self.frames, "forces_read", None), self.place
        return said(k) if said is not None and k > 0 else ""

    @property
    def report(self) -> StepReport | None:
        k = self.place
        if k == 0:
            return None
        reports: Any = getattr(self.frames, "reports", None)
        if callable(reports):
            report: StepReport | None = reports(k)
            return report
        return None if reports is None or len(reports) < k else reports[k - 1]

    def advance(self, seconds: float, budget: float) -> bool:
        """Go on by so many seconds; from the end, to the start."""
        low, high = self.span
        if self.now >= high:
            self.now = low
        else:
            self.now = min(self.now + seconds, high)
        return high > low

    def step(self) -> None:
        """To the next frame."""
        self.now = float(self.times[min(self.place + 1, len(self.times) - 1)])

    def seek(self, time: float) -> None:
        low, high = self.span
        self.now = min(max(time, low), high)

    def reset(self) -> None:
        self.now = self.span[0]

    def curves(self) -> tuple[Floats, ...]:
        if self._curves is None:
            values = [np.asarray(self.frames.series(name), float) for name in CURVES]
            n = min(map(len, values))
            if n == 0:
                return (self.times[:1], *(np.zeros(1) for _ in CURVES))
            lines = np.array([v[:n] for v in values])
            keep = peaks(lines, CURVE_COLUMNS)
            self._curves = (self.times[1 : n + 1][keep], *lines[:, keep])
        return self._curves
