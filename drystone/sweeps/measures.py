"""What is read of each run of a sweep: ``max:penetration``, ``end:total``, ``ball.x``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.plots.run_data import series
from drystone.recording.reports import COLUMNS, DERIVED
from drystone.scenes.base import unknown
from drystone.steppers.base import current_name
from drystone.types import Floats

REDUCTIONS: dict[str, Callable[[Floats], float]] = {
    "end": lambda v: float(v[-1]),
    "start": lambda v: float(v[0]),
    "max": lambda v: float(v.max()),
    "min": lambda v: float(v.min()),
    "mean": lambda v: float(v.mean()),
    "sum": lambda v: float(v.sum()),
}
COORDINATES = ("x", "y", "z", "vx", "vy", "vz", "speed", "angle", "path")
NUMBERS = (*COLUMNS, *sorted(DERIVED))  # of the report of a step
DEFAULT = ("max:penetration", "max:residual", "end:kinetic", "end:total")


@dataclass(frozen=True)
class Measure:
    """A reduction over time of a number of the reports, or of a coordinate of a body."""

    text: str
    reduction: str
    name: str
    body: str | None = None

    def check(self, bodies: Iterable[str], others: Iterable[Iterable[str]] = ()) -> None:
        """Raise OptionError if there is nothing to read: no such number, no such body in the first
        world, nor in the others."""
        what, name = ("number", self.name) if self.body is None else ("body", self.body)
        known = dict.fromkeys(NUMBERS if self.body is None else bodies)
        if name in known or (self.body is not None and any(name in other for other in others)):
            return
        raise OptionError(f"measure {self.text!r}: {unknown(what, name, known)}")

    def read(self, run: Any) -> float:
        if self.body is None:
            return REDUCTIONS[self.reduction](series(run, self.name))
        return REDUCTIONS[self.reduction](_coordinate(run, self.body, self.name))


def read_measure(text: str) -> Measure:
    """[REDUCTION:]NAME, or [REDUCTION:]BODY.COORDINATE; the reduction is "end" by default."""
    reduction, colon, rest = text.strip().partition(":")
    if not colon:
        reduction, rest = "end", reduction
    if reduction not in REDUCTIONS:
        raise OptionError(f"measure {text!r}: {unknown('reduction', reduction, REDUCTIONS)}")
    body, dot, name = rest.rpartition(".")
    if not rest or (dot and not body):
        raise OptionError(f"measure {text!r}: expected max:penetration or end:BODY.x")
    if dot and name not in COORDINATES:
        known = dict.fromkeys(COORDINATES)
        raise OptionError(f"measure {text!r}: {unknown('coordinate', name, known)}")
    return Measure(
        text.strip(), reduction, name if dot else current_name(name), body if dot else None
    )


def _coordinate(run: Any, body: str, name: str) -> Floats:
    """(n,) of a body's centre of mass over the frames."""
    if body not in run.model.names:
        raise OptionError(unknown("body", body, dict.fromkeys(run.model.names)))
    i, dim = run.model.names.index(body), run.model.dim
    place, speed = np.asarray(run.position)[:, i], np.asarray(run.velocity)[:, i]
    if name == "path":
        steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])
    if name == "speed":
        return np.asarray(np.linalg.norm(speed[:, :dim], axis=1))
    if name == "angle":
        turn = np.asarray(run.orientation)[:, i]
        if dim == 2:
            return turn
        # by how much it is turned from the start
        share = np.abs(np.einsum("ni,i->n", turn, turn[0]))
        return np.asarray(2.0 * np.arccos(np.clip(share, 0.0, 1.0)))
    axis = "xyz".index(name[-1])
    if axis >= dim:
        raise OptionError(f"{body}.{name}: a planar world has x and y")
    return speed[:, axis] if name.startswith("v") else place[:, axis]
