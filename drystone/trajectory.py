"""States and reports of a run, in memory, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.constraints.canonical import CanonicalForces, ContactLaw, checked_choice
from drystone.errors import OptionError, QuantityError
from drystone.model import Model, State
from drystone.steppers.base import StepReport, current_name
from drystone.steppers.tables import contact_table
from drystone.steppers.time_stepping.reading import Frames
from drystone.steppers.totals import RunSummary, Totals
from drystone.types import Floats
from drystone.values import frame_number, text

LEDGER = (
    "kinetic", "potential", "change", "loads", "driving", "friction", "impact", "constraint",
    "integration", "unexplained",
)  # fmt: skip


@answering
class Trajectory:
    """Frames of a run. Bodies are those of the start; edits of the world end the recording.

    time (n,); position (n, nb, dim) of centres of mass; orientation (n, nb) or (n, nb, 4);
    velocity (n, nb, dof); reports: of the step that led to each frame after the first. view,
    title: hints for drawing, of the scene it was run from.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        origin: Mapping[str, Any] | None = None,
        law: ContactLaw | None = None,
    ) -> None:
        self.model, self._canonical = model, CanonicalForces(model, law)
        about = dict(origin or {})
        self.view: Mapping[str, Any] = dict(about.get("view") or {})
        self.title = str(about.get("title") or about.get("scene") or "")
        self._tables: dict[int, np.ndarray] = {}
        self._kept = [state.copy()]
        self._reports: list[StepReport] = []
        self._frames: list[Frames] = []
        self.totals: Totals | None = None  # of all steps of the run

    @property
    def summary(self) -> RunSummary:
        """Totals of all steps of the run, as ``Simulation.summary``."""
        return RunSummary() if self.totals is None else self.totals.summary

    def add(
        self,
        model: Model,
        state: State,
        report: StepReport | None,
        contacts: np.ndarray | None = None,
    ) -> None:
        if model.names != self.model.names or report is None:
            raise ValueError("bodies were added or removed: record each part of the run by itself")
        self.reports.append(report)
        self.add_frame(state, contacts)

    def add_frame(self, state: State, contacts: np.ndarray | None = None) -> None:
        """A state, with the contacts of the step that led to it."""
        self._states.append(state.copy())
        if contacts is not None:
            self._tables[len(self._kept) - 1] = contacts

    def extend(self, frames: Frames) -> None:
        """Add what a compiled run recorded; it is made into states and reports when asked for."""
        self._frames.append(frames)

    @property
    def _states(self) -> list[State]:
        self._unpack()
        return self._kept

    @property
    def reports(self) -> list[StepReport]:
        """Of the step that led to each frame after the first."""
        self._unpack()
        return self._reports

    def _unpack(self) -> None:
        for frames in self._frames:
            if frames.watched:
                tables = frames.contacts(self.model.names, self.model.dim)
                self._tables |= {len(self._kept) + k: table for k, table in enumerate(tables)}
            self._kept += frames.states()
            self._reports += frames.reports()
        self._frames.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Everything; of the model what a recording has of it: forces and motions may be functions
        that stay where they are."""
        self._unpack()
        return vars(self) | {"model": replace(self.model, forces=(), motions=())}

    def __deepcopy__(self, memo: dict[int, Any]) -> Trajectory:
        self._unpack()
        out = object.__new__(type(self))
        memo[id(self)] = out
        vars(out).update(deepcopy(vars(self), memo))
        return out

    def __copy__(self) -> Trajectory:
        return deepcopy(self)

    def __len__(self) -> int:
        return len(self._states)

    def state(self, k: int) -> State:
        return self._states[frame_number(k, len(self), "this run")]

    @property
    def time(self) -> Floats:
        return np.array([s.time for s in self._states])

    @property
    def position(self) -> Floats:
        return np.array([s.position for s in self._states])

    @property
    def orientation(self) -> Floats:
        return np.array([s.orientation for s in self._states])

    @property
    def velocity(self) -> Floats:
        return np.array([s.velocity for s in self._states])

    def contacts(self, k: int, forces: str = "auto") -> np.ndarray:
        """Those of the step that led to frame k, as ``Simulation.contacts``; none of the start.
        They exist if the run was asked to keep them: ``run(..., contacts=True)``.
        forces: as ``Simulation.forces``."""
        checked_choice("contacts", forces)
        return self._canonical.of(self._raw_contacts(k), forces)

    def forces_read(self, k: int, forces: str = "auto") -> str:
        """What the forces of ``contacts(k)`` are, as ``Simulation.forces_read``."""
        checked_choice("forces_read", forces)
        return self._canonical.said(self._raw_contacts(k), forces)

    def _raw_contacts(self, k: int) -> np.ndarray:
        k = frame_number(k, len(self), "this run")
        if k and k not in self._tables:
            raise OptionError(
                "contacts were not kept: sim.run(duration, record=True, contacts=True) keeps them"
            )
        if k not in self._tables:
            return contact_table(self.model.names, self.model.dim, 0)
        return self._tables[k]

    def show(self, **options: Any) -> Any:
        """Replay in a browser; in a notebook the result is shown in the cell. Options are those of
        ``drystone.view.show``; needs the extra ``view``."""
        return import_module("drystone.view").show(self, **options)

    def series(self, name: str) -> Floats:
        """One number of every report: a field of it ("residual", "contacts", "penetration"),
        of its energy ledger ("friction", "total") or of its conditions ("dissipation")."""
        name = current_name(name)
        return np.array([report_number(report, name) for report in self.reports])


def report_number(report: StepReport, name: str) -> Any:
    """A number of a report, of its energy ledger or of its conditions, by name."""
    for part in (report, report.energy, report.conditions):
        if isinstance(name, str) and hasattr(part, name):
            return getattr(part, name)
    raise QuantityError(f"a step's report has no {text(name)}")
