"""What a whole run amounts to: the sums and the worst of its step reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from drystone.cli.words import finite
from drystone.steppers.base import StepReport

LEDGER = ("change", "loads", "driving", "friction", "impact", "constraint", "integration")


@dataclass
class Tally:
    """Counts reports as they come.

    residual: the worst of any step; unsolved: steps whose solve missed its tolerance, and
    first_unsolved [s]: when the first of them ended; penetration: greatest at the start of
    any step [m]; energy: sums of the ledgers over the run [J]; seconds: of each stage.
    """

    steps: int = 0
    unsolved: int = 0
    first_unsolved: float | None = None
    residual: float = 0.0
    penetration: float = 0.0
    contacts: int = 0
    most_contacts: int = 0
    collisions: int = 0
    retries: int = 0
    iterations: int = 0
    energy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LEDGER, 0.0))
    seconds: dict[str, float] = field(default_factory=dict)
    last: StepReport | None = None

    def add(self, report: StepReport) -> None:
        self.steps += 1
        if not report.ok:
            self.unsolved += 1
            if self.first_unsolved is None:
                self.first_unsolved = report.time
        self.residual = max(self.residual, report.residual)
        self.penetration = max(self.penetration, report.penetration)
        self.contacts = report.contacts
        self.most_contacts = max(self.most_contacts, report.contacts)
        self.collisions += report.collisions
        self.retries += report.retries
        self.iterations += report.iterations
        for name in LEDGER:
            self.energy[name] += getattr(report.energy, name)
        for stage, seconds in report.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        self.last = report

    @property
    def unexplained(self) -> float:
        """Change of energy that no entry of the ledger explains [J]: rounding."""
        return self.energy["change"] - sum(self.energy[k] for k in LEDGER if k != "change")

    def ledger(self) -> dict[str, float]:
        """The sums, with the energies at the end and what stays unexplained [J]."""
        out = dict(self.energy) | {"unexplained": self.unexplained}
        if self.last is not None:
            ends = self.last.energy
            out |= {"kinetic": ends.kinetic, "potential": ends.potential}
        return out

    def as_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "unsolved": self.unsolved,
            "first_unsolved": self.first_unsolved,
            "residual": finite(self.residual),
            "penetration": finite(self.penetration),
            "infeasibility": finite(self.penetration),  # its former name
            "contacts": self.contacts,
            "most_contacts": self.most_contacts,
            "collisions": self.collisions,
            "retries": self.retries,
            "iterations": self.iterations,
            "energy": {name: finite(value) for name, value in self.ledger().items()},
            "stages": {name: finite(value) for name, value in self.seconds.items()},
        }
