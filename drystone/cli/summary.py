"""What a run came to, for people and for programs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.cli.console import duration, plain, tolerance

if TYPE_CHECKING:
    from drystone.cli.progress import RunOutcome
    from drystone.model import State
    from drystone.scenes.base import Scene
    from drystone.simulation import Simulation


@dataclass(frozen=True)
class Moved:
    """Which body is farthest from where it began [m]; the greatest speed of any now [m/s]."""

    body: str
    distance: float
    speed: float

    @property
    def words(self) -> str:
        if self.distance == 0.0:
            return "nothing has moved"
        return f"{self.body} by {self.distance:.3g} m; {self.speed:.3g} m/s at most at the end"


def moved(simulation: Simulation, start: State) -> Moved | None:
    """What became of the bodies that are free to move; None if there are none."""
    free = np.flatnonzero(simulation.model.inverse_mass > 0)
    if not free.size:
        return None
    dim, now = simulation.model.dim, simulation.state
    way = np.linalg.norm(now.position[free] - start.position[free], axis=1)
    speed = np.linalg.norm(now.velocity[free, :dim], axis=1).max()
    k = int(way.argmax())
    return Moved(simulation.model.names[free[k]], float(way[k]), float(speed))


def as_object(
    scene: Scene, simulation: Simulation, done: RunOutcome, written: list[Path], start: State
) -> dict[str, Any]:
    """The summary for programs."""
    gone = moved(simulation, start)
    return {
        "scene": scene.name,
        "settings": dict(scene.settings),
        "method": method_object(simulation.method),
        "bodies": len(simulation.bodies),
        "simulated": done.simulated,
        "seconds": done.seconds,
        "compiling": done.compiling,
        "speed": done.speed,
        "stopped": done.stopped,
        **done.tally.as_json(),
        "summary": done.summary.as_json(),
        "moved": None if gone is None or not gone.distance < math.inf else asdict(gone),
        "files": [str(path) for path in written],
    }


def method_object(method: Any) -> dict[str, Any]:
    """Name and options of a method (of time stepping the main ones); objects among them by their
    own names."""
    main = ("dt", "formulation", "cone", "restitution", "stabilize", "solver", "tol")
    out = {"name": method.name}
    for name in main if method.name == "time-stepping" else [f.name for f in fields(method)]:
        value = getattr(method, name)
        plain = value is None or isinstance(value, str | int | float)
        out[name] = value if plain else getattr(value, "name", str(value))
    return out


def print_summary(
    scene: Scene, simulation: Simulation, done: RunOutcome, written: list[Path], start: State
) -> None:
    """The summary for people. start: where the bodies began."""
    from rich.console import Console
    from rich.table import Table

    from drystone.cli.progress import times

    tally, method = done.tally, simulation.method
    console = Console(highlight=False)
    source = f" ({scene.paper})" if scene.paper else ""
    console.print(f"[bold]{plain(scene.name)}[/]: {plain(scene.summary + source)}")
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    unsolved = "all solved" if not tally.unsolved else f"[yellow]{tally.unsolved} unsolved[/]"
    if tally.first_unsolved is not None:
        unsolved += f", the first at {tally.first_unsolved:.4g} s"
    compiling = (
        f", and {done.compiling:.1f} s compiling or loading kernels"
        if done.compiling > 0.05
        else ""
    )
    rows = {
        "simulated": f"{done.simulated:g} s in {tally.steps} steps of {method.dt:.4g} s, "
        f"{len(simulation.bodies)} bodies, {getattr(method, 'formulation', method.name)}",
        "wall time": f"{duration(done.seconds)}: {times(done.speed)} real time{compiling}",
        "solves": f"{unsolved}; worst residual {tally.residual:.1e}"
        f"{tolerance(method, tally.residual)}",
        "penetration": f"{tally.penetration:.2e} m at most",
        "contacts": f"{tally.contacts} at the end, {tally.most_contacts} at most",
        "energy": energy_words(tally.ledger()),
    }
    if not done.summary.ok or done.summary.halved:
        rows["steps"] = f"[yellow]{plain(done.summary)}[/]"
    gone = moved(simulation, start)
    if gone is not None:
        rows["moved"] = plain(gone.words)
    for name, text in rows.items():
        table.add_row(name, text)
    console.print(table)
    for path in written:
        console.print(f"wrote {plain(path)}", style="bold", soft_wrap=True)


def energy_words(ledger: dict[str, float]) -> str:
    """Where the energy went [J]; what did nothing is left out."""
    scale = max((abs(value) for value in ledger.values()), default=0.0)
    parts = [
        f"{name} {ledger[name]:+.3g}"
        for name in ("driving", "loads", "friction", "impact", "constraint", "integration")
        if abs(ledger.get(name, 0.0)) > 1e-6 * scale
    ]
    because = f" = {', '.join(parts)}" if parts else ""
    return (
        f"{ledger['change']:+.4g} J{because}; unexplained {ledger['unexplained']:.0e}; "
        f"kinetic {ledger.get('kinetic', 0.0):.3g} at the end"
    )
