"""What the steps of a run amount to: how many went wrong, when first, how badly, and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from drystone.arguments import answering
from drystone.dynamics import bodies
from drystone.kernels import layout
from drystone.model import State
from drystone.steppers.base import Method, StepReport
from drystone.types import Floats, Status


@answering
@dataclass(frozen=True, slots=True)
class RunSummary:
    """Totals over steps: of a simulation since its start, of a recording, of a trajectory.

    steps; end [s]: when the last of them ended.
    unsolved: steps whose status was not SOLVED, but for approximate: those of a method that only
    resembles the law (Status.APPROXIMATE); jammed: of the unsolved ones, those in which no force
    gives what is driven its speed (Status.JAMMED), stalled: its names in the first of them;
    halved: steps that were made in two halves or more; deep: steps with bodies deeper in each other
    than `max_depth`, a part of the smaller one's size (the option of the method).
    first [s]: when the first step ended that was unsolved, approximate or deep, None if none was.
    residual: the worst of any step; unsolved_body: one of the first island that was not solved.
    depth: greatest penetration [m] at the start of any step and at the end of the last;
    relative_depth: greatest as part of the smaller body's size, deepest: the names of those two
    bodies.
    """

    steps: int = 0
    end: float = 0.0
    unsolved: int = 0
    approximate: int = 0
    jammed: int = 0
    halved: int = 0
    deep: int = 0
    first: float | None = None
    residual: float = 0.0
    unsolved_body: str = ""
    stalled: tuple[str, ...] = ()
    depth: float = 0.0
    relative_depth: float = 0.0
    deepest: tuple[str, str] | tuple[()] = ()
    max_depth: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every step was solved, and none too deep, nor what the last one left."""
        return not (self.unsolved or self.approximate or self.deep or self.ends_deep)

    @property
    def ends_deep(self) -> bool:
        """Whether bodies were too deep at the end of the last step, and never before."""
        return not self.deep and self.relative_depth > self.max_depth

    @property
    def made(self) -> str:
        """How many steps, in words."""
        return f"{self.steps} step{'s' * (self.steps != 1)}"

    @property
    def trouble(self) -> str:
        """What went wrong, in words; empty if nothing did."""
        parts = []
        if self.unsolved:
            who = f" (body {self.unsolved_body!r} first)" if self.unsolved_body else ""
            if self.jammed:  # its name says more than that of any body
                many = "" if self.jammed == self.unsolved else f"{self.jammed} of them "
                stalled = ", ".join(repr(name) for name in self.stalled)
                who = f" ({many}jammed: {stalled})"
            parts.append(f"{self.unsolved} not solved{who}")
        if self.approximate:
            parts.append(f"{self.approximate} approximate")
        if self.deep:
            parts.append(f"{self.deep} with a penetration above {self.limit}")
        if self.ends_deep:
            parts.append(f"a penetration above {self.limit} at the end of the last")
        return ", ".join(parts)

    @property
    def limit(self) -> str:
        """`max_depth` in words."""
        return f"{100 * self.max_depth:.3g} % of the smaller one's size"

    @property
    def worst(self) -> str:
        """The worst residual and penetration, in words."""
        who = " in ".join(repr(name) for name in self.deepest)
        where = f" ({who}, {100 * self.relative_depth:.3g} % of the smaller)" if who else ""
        return f"worst residual {self.residual:.1e}, greatest penetration {self.depth:.2e} m{where}"

    def __str__(self) -> str:
        made = f"{self.made} to t = {self.end:.6g} s"
        made += f": {self.trouble}" if self.trouble else ", all solved"
        first = "" if self.first is None else f", the first at t = {self.first:.6g} s"
        halved = f", {self.halved} halved" if self.halved else ""
        return f"{made}{first}{halved}; {self.worst}"

    def as_json(self) -> dict[str, Any]:
        """For programs: JSON's types, None for numbers that are not finite."""
        out = asdict(self) | {"deepest": list(self.deepest), "ok": self.ok}
        out["stalled"] = list(self.stalled)
        for name, value in out.items():
            if isinstance(value, float) and not abs(value) < float("inf"):
                out[name] = None
        return out


NAMES = tuple(f.name for f in fields(RunSummary))
NOTHING = {f.name: f.default for f in fields(RunSummary)}


class Totals:
    """Adds up steps as they come; ``summary`` says what they amount to. Cheap: it sees every
    step."""

    steps: int
    end: float
    unsolved: int
    approximate: int
    jammed: int
    halved: int
    deep: int
    first: float | None
    residual: float
    unsolved_body: str
    stalled: tuple[str, ...]
    depth: float
    relative_depth: float
    deepest: tuple[str, str] | tuple[()]
    max_depth: float

    def __init__(self, known: RunSummary | Totals) -> None:
        """Count on from what is known; of nothing its `max_depth` alone."""
        self.count_from(known)

    def count_from(self, known: RunSummary | Totals) -> None:
        """Forget, and count on from what is known."""
        if isinstance(known, Totals):
            self.__dict__.update(known.__dict__)
        else:
            self.__dict__.update({name: getattr(known, name) for name in NAMES})

    @classmethod
    def of(cls, method: Method) -> Totals:
        """Of no step by a method."""
        out = cls.__new__(cls)
        out.__dict__.update(NOTHING, max_depth=float(method.max_depth))
        return out

    def add(self, report: StepReport, names: Sequence[str]) -> bool:
        """One step; names: of the bodies. Whether it was solved, and not too deep."""
        time, solved, retries, residual, depth, part, _ = report.outcome
        self.steps += 1
        self.end = time
        if retries:
            self.halved += 1
        if residual > self.residual:
            self.residual = residual
        if depth > self.depth:
            self.depth = depth
        if part > self.relative_depth:
            self.relative_depth = part
            self.deepest = _pair(names, *report.deepest)
        deep = part > self.max_depth
        if solved and not deep:
            return True
        self.deep += deep
        if self.first is None:
            self.first = time
        if report.status is Status.APPROXIMATE:
            self.approximate += 1
        elif not report.ok:
            self.unsolved += 1
            self.unsolved_body = self.unsolved_body or _name(names, report.unsolved_body)
        if report.jammed:
            self.jammed += 1
            self.stalled = self.stalled or report.jammed
        return False

    def see(self, stepper: Any, state: State) -> None:
        """Count the depth at the end of the last step, too: it is that at the start of the next."""
        found = stepper.overlaps(state) if self.steps else None
        if found is None or not len(found):
            return
        model = stepper.model
        self.depth = max(self.depth, float(-found.gap.min()))
        part, pair = bodies.deepest(model, bodies.radii(model), found)
        if part > self.relative_depth:
            self.relative_depth, self.deepest = part, _pair(model.names, *pair)

    def add_loop(
        self,
        total: Floats,
        end: float,
        names: Sequence[str],
        jammed: int = 0,
        stalled: tuple[str, ...] = (),
    ) -> None:
        """The steps of a compiled run, which counted them in a row of ``layout.TOTALS``, but for
        those that jammed."""
        said = dict(zip(layout.TOTALS, total.tolist(), strict=True))
        self.join(
            RunSummary(
                steps=int(said["steps"]),
                end=end,
                unsolved=int(said["unsolved"]),
                jammed=jammed,
                halved=int(said["halved"]),
                deep=int(said["deep"]),
                first=said["first"] if said["first"] < float("inf") else None,
                residual=said["residual"],
                unsolved_body=_name(names, int(said["body"])),
                stalled=stalled,
                depth=said["penetration"],
                relative_depth=said["depth"],
                deepest=_pair(names, int(said["deep_a"]), int(said["deep_b"])),
            )
        )

    def join(self, more: RunSummary | Totals) -> None:
        """Steps that came after these."""
        if not more.steps:
            return
        self.steps += more.steps
        self.unsolved += more.unsolved
        self.approximate += more.approximate
        self.jammed += more.jammed
        self.halved += more.halved
        self.deep += more.deep
        self.residual = max(self.residual, more.residual)
        self.depth = max(self.depth, more.depth)
        self.end = more.end
        self.first = more.first if self.first is None else self.first
        self.unsolved_body = self.unsolved_body or more.unsolved_body
        self.stalled = self.stalled or more.stalled
        if more.relative_depth > self.relative_depth:
            self.relative_depth, self.deepest = more.relative_depth, more.deepest

    @property
    def summary(self) -> RunSummary:
        return RunSummary(**self.__dict__)

    def text(self) -> str:
        """For a file."""
        return json.dumps(asdict(self.summary))

    @classmethod
    def from_text(cls, text: str) -> Totals:
        """What ``text`` wrote."""
        said = json.loads(text)
        known = {name: said[name] for name in NAMES if name in said}
        named = {name: tuple(known.get(name, ())) for name in ("deepest", "stalled")}
        return cls(RunSummary(**known | named))


def _name(names: Sequence[str], number: int) -> str:
    return names[number] if number >= 0 else ""


def _pair(names: Sequence[str], a: int, b: int) -> tuple[str, str] | tuple[()]:
    return (names[a], names[b]) if a >= 0 <= b else ()
