"""``python -m benchmarks forces``: all methods of contact forces on the problems of whole runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options, tables
from benchmarks.forces.comparison import RUN, Comparison, RunOfForces, Tally, listen
from drystone.cli.console import COUNT
from drystone.errors import OptionError
from drystone.scenes.base import rough
from drystone.scenes.registry import scene

HEADS = (
    "method",
    "solved",
    "agree (worst)",
    "other answers (same with friction given, farthest)",
    "against the law",
    "residual",
    "loads",
    "declined",
    "failed",
    "lp: a, c, d",
)


@dataclass(frozen=True)
class Case:
    """A run to listen to: a scene with some settings, for a time [s]; of `every` problems one goes
    to the methods that take long; rough: by the method for pictures of many bodies, whose runs
    with friction come to their end."""

    title: str
    scene: str
    duration: float
    settings: dict[str, Any] = field(default_factory=dict)
    every: int = 1
    rough: bool = False


CASES = (
    Case("bricks", "bricks", 1.0, {}, 5),
    Case("bricks in the plane", "bricks", 1.0, {"planar": True}),
    Case("eight dominoes without friction", "dominoes", 1.0, {"n": 8, "mu": 0.0}),
    Case("all dominoes to the end, without friction", "dominoes", 10.03, {"mu": 0.0}, 50, True),
    Case("eight dominoes", "dominoes", 0.4, {"n": 8}),
    Case("three dominoes to the end", "dominoes", 1.27, {"n": 3}, 10, True),
    Case("collapse without friction", "collapse", 1.0, {"mu": 0.0, "lean": 0.1}),
    Case("collapse", "collapse", 0.4, {}, 5),
    Case("collapse to the end", "collapse", 2.0, {}, 20, True),
)


def forces(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only runs whose title begins so; may be given several times."),
    ] = None,
    every: Annotated[
        int, typer.Option(**COUNT, help="Ask the slow methods so many times less.")
    ] = 1,
    shorter: options.Shorter = 1.0,
    output: options.Output = None,
) -> None:
    """Solve every force problem of event-driven runs by every method, and compare accelerations.

    Each method starts from nothing. The last columns say in which step the islands of lp ended.
    """
    chosen = [c for c in CASES if not only or any(c.title.startswith(name) for name in only)]
    if not chosen:
        raise OptionError(f"--only {only}: expected one of {[c.title for c in CASES]}")
    factor, folder = options.shortened(shorter), options.folder(output)
    done: list[tuple[Case, RunOfForces]] = []
    for case in chosen:
        tables.tell(f"{case.title} ...")
        done.append((case, _run(case, every, factor)))
        tables.show("\n".join(section(*done[-1])))
        if folder is not None:
            _write(done, folder)


def _run(case: Case, every: int, shorter: float) -> RunOfForces:
    return listen(
        scene(case.scene, **case.settings),
        shorter * case.duration,
        every * case.every,
        method=rough() if case.rough else None,
    )


def section(case: Case, run: RunOfForces) -> list[str]:
    """A run as Markdown: a heading, a line of counts, a table."""
    heard = run.heard
    settings = ", ".join(f"{key}={value}" for key, value in case.settings.items())
    lines = [
        f"## {case.title}",
        "",
        f"`{case.scene}`{' with ' + settings if settings else ''}, {run.sim.time:.4g} s: "
        f"{heard.problems} force problems, up to {max(heard.contacts, default=0)} contacts, "
        f"{heard.rubs} with static friction{_open(heard)}. "
        f"{heard.stayed:.1%} of the islands had the contacts of the step before, whose index set "
        f"answered {heard.hit_rate:.1%} of them.",
        "",
    ]
    cells = [_cells(name, tally) for name, tally in heard.tallies.items()]
    return [*lines, *tables.lines(HEADS, cells), ""]


def _cells(name: str, tally: Tally) -> tuple[object, ...]:
    again = "" if name == RUN or not tally.other else f" ({tally.given}, {tally.left:.0e})"
    return (
        name,
        tally.solved,
        f"{tally.agree} ({tally.worst:.1e})",
        f"{tally.other}{again}",
        tally.apart,
        f"{tally.residual:.1e}",
        tally.loads,
        tally.declined,
        tally.failed,
        ", ".join(str(tally.lp[k]) for k in "acd") if name == "lp" else "",
    )


def _open(heard: Comparison) -> str:
    """What is said of contacts that give way."""
    if not heard.gives:
        return ""
    text = f", which gives way in {heard.gives}"
    if heard.open.other:
        text += (
            f" (in {heard.open.other} of them (14-1) alone has two answers at least, the run's and "
            f"Dantzig's, apart by up to {heard.open.farthest:.1g}, residuals up to "
            f"{heard.open.residual:.0e})"
        )
    return text


HEAD = """# Methods of contact forces on the problems of whole runs

`python -m benchmarks forces --output benchmarks/results`. Every accepted step of an event-driven
run states a force problem; every method solves it from nothing. Its accelerations *agree* if they
are Dantzig's to 1e-8 of the greatest acceleration of any body with or without forces; its forces
are put into the law as stated, and the *residual* is the worst of it. "index set" is what the run
itself used.

Without friction accelerations are unique, and all methods must agree. With friction they are not:
contacts that bodies do not need can be wedged or not, and how they share the load changes friction.
*Other answers* have other accelerations and obey the law as well: their residual says so, and with
the friction of Dantzig's answer given as a load, which makes accelerations unique, the method finds
Dantzig's (in brackets, how often to 1e-8, with those of the next column, and the farthest). Answers
*against the law* are neither: those of `lemke` obey its polyhedral cone and give way where the
round one would hold; `lemke, round` goes on from them to the round cone by their index set. In
space the static law (14-1) also leaves the direction open in which a contact gives way: it is
given, that of the run or of Coulomb's law for accelerations. The polyhedral cone of `lemke` and the
square of `qp-signs` have a corner, or an axis, along the friction of Dantzig's answer.

Where contacts are nearly parallel (`collapse` at 0.75 s) the matrix has eigenvalues of 1e-8 to
1e-16 of the largest. The square of the distance of two answers' accelerations, in the kinetic
norm, is the product of their distances in forces and in accelerations of the contacts: residuals of
1e-16 leave accelerations of bodies open by 1e-8 and more, and those up to 1e-10, with which forces
that all contacts share count as exact, by 1e-5. These few are not the same to 1e-8 with friction
given.

`lp` and `qp` take no friction of unknown direction, `qp` no matrix that sliding makes indefinite,
and (8-11) none that it makes unsymmetric: there Dantzig's friction is a load (*loads*), and they
must find the same normal forces. `jacobi` and `qp-signs` have a quarter of a second each and are
asked more rarely where there are many problems; `jacobi` asks itself for a residual of 1e-12 and
counts as solved from 1e-9 on; the square of `qp-signs` is not the round cone, and it fails where
that matters. Steps of `lp`, by islands: (a) V = {} holds, (c) the second guess holds, (d) none was
found to hold: the heuristic has no answer there, its forces add energy, and they count as failed
unless they obey the law all the same.
"""


def _write(done: list[tuple[Case, RunOfForces]], folder: Path) -> None:
    sections = [line for item in done for line in section(*item)]
    tables.write_page(folder / "force_methods.md", [HEAD, *sections])
    tables.write_csv(
        folder / "force_methods.csv",
        (
            _row(case.title, name, run.heard.problems, tally)
            for case, run in done
            for name, tally in run.heard.tallies.items()
        ),
    )


def _row(title: str, name: str, problems: int, tally: Tally) -> dict[str, Any]:
    counts = {k: v for k, v in asdict(tally).items() if k != "lp"}
    steps = {k: tally.lp[k] if name == "lp" else "" for k in "acd"}
    return {"run": title, "method": name, "problems": problems, **counts, **steps}
