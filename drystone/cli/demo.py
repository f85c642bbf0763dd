"""``drystone demo``: the shaken box of Hart and Anitescu, from its first step to a replay."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer
from rich.console import Console

from drystone.cli.console import EXIT_FAILED, complain, duration, make_folder, tolerance, tolerances
from drystone.cli.parallel_compile import parallel_compilation
from drystone.cli.progress import RunOutcome, Tally, times, watch
from drystone.errors import MissingExtraError
from drystone.plots.axes import unit
from drystone.plots.demos import Moment, Rise, heights, save_brazil_nut
from drystone.plots.series import save_series
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.simulation import Simulation
from drystone.trajectory import Trajectory
from drystone.view.export_html import write_html


def demo(output: Path = Path("demo"), **settings: Any) -> None:
    """Shake, say what happened, draw it, and say where; settings: of the scene."""
    console = Console(highlight=False)
    make_folder("--output", output)
    scene = build("brazil-nut", **settings)
    console.print(
        f"\n{len(scene.world) - 2} disks and a large one below them, in a box that is shaken up "
        f"and down.\n{scene.paper}: hard contact, friction as a convex problem\nat each of the "
        f"{round(scene.duration / scene.method.dt)} steps of {scene.method.dt:g} s.\n"
    )
    simulation = scene.simulation()
    diary = Diary(simulation, scene.duration - 1.0 / float(scene.settings["frequency"] or 1.0))
    begin = perf_counter()
    with parallel_compilation(simulation):
        simulation.step()  # compiles on a fresh machine, and says so: not under the bar
    diary.note(simulation)
    first, opening = perf_counter() - begin, simulation.report
    left = scene.duration - simulation.time
    done = watch(simulation, left, title=scene.name, keep=True, each=diary.note)
    done.tally, done.reports = _with_first(opening, done)
    done.simulated = simulation.time
    print_result(console, scene, simulation, done, diary.rise, first)
    page = write_html(
        diary.kept, output / "brazil_nut.html", title="The Brazil nut", colours={"nut": "#b3592c"}
    )
    console.print("\nTo watch it, in any browser:")
    console.print(f"  {page}", style="bold", soft_wrap=True)
    try:
        written = draw(simulation, diary, done, output, scene)
    except MissingExtraError as error:
        console.print(f"No pictures: {error}")
    else:
        console.print("Pictures, worth a look:")
        for path in written:
            console.print(f"  {path}", style="bold", soft_wrap=True)
    if done.stopped:
        complain(f"stopped at {done.simulated:g} s of {scene.duration:g} s")
        raise typer.Exit(EXIT_FAILED)


class Diary:
    """All frames with their contacts, the heights of every step, the start, and the most loaded
    moment after the time `late` [s].

    Thrown grains hardly touch: force chains show when the box catches them.
    """

    def __init__(self, simulation: Simulation, late: float) -> None:
        self.late, self.load = late, -1.0
        self.start = Moment(simulation.model, simulation.state.copy())
        self.end = self.start
        self.kept = Trajectory(simulation.model, simulation.state, simulation.origin)
        self.track = [(0.0, *heights(simulation.state, simulation.bodies))]

    def note(self, simulation: Simulation) -> None:
        state, contacts = simulation.state, simulation.contacts
        self.kept.add(simulation.model, state, simulation.report, contacts)
        self.track.append((state.time, *heights(state, simulation.model.names)))
        if state.time > self.late:
            load = float(np.abs(contacts["force"]).sum())
            if load > self.load:
                self.load = load
                self.end = Moment(simulation.model, state.copy(), contacts)

    @property
    def rise(self) -> Rise:
        return Rise(*np.array(self.track).T)


def _with_first(opening: Any, done: RunOutcome) -> tuple[Tally, list[Any]]:
    """The tally and reports of the run with its first step, which the bar did not see."""
    reports = [opening, *done.reports]
    tally = Tally()
    for report in reports:
        tally.add(report)
    return tally, reports


def print_result(
    console: Console,
    scene: Scene,
    simulation: Simulation,
    done: RunOutcome,
    rise: Any,
    first: float,
) -> None:
    """Print what the run showed."""
    tally, method = done.tally, simulation.method
    radius = float(scene.settings["radius"])
    way = "rose" if rise.nut[-1] > rise.nut[0] else "sank"
    console.print(
        f"The large disk {way}: its centre went from {rise.nut[0]:.1f} m to {rise.nut[-1]:.1f} m "
        f"above the floor;\nthe upper grains lie at {rise.top[-1]:.1f} m."
    )
    more = f" (and {duration(first)} for the first step)" if first > 0.5 else ""
    console.print(
        f"{done.simulated:g} s took {duration(done.seconds)}{more}: {times(done.speed)} real time."
    )
    solved = f"{tally.unsolved} of {tally.steps} steps unsolved" if tally.unsolved else "all solved"
    console.print(
        f"Contacts: {tally.most_contacts} at most. Residual: {tally.residual:.0e} at worst, "
        f"{solved}\n{tolerance(method, tally.residual).strip()}.\n"
        f"Greatest penetration: {tally.penetration:.2g} m, {tally.penetration / radius:.0%} of "
        "a small disk's radius."
    )
    ledger = tally.ledger()
    console.print(
        f"Shaking put {_joules(ledger['driving'])} in; friction took "
        f"{_joules(-ledger['friction'])}, impacts {_joules(-ledger['impact'])}, the correction of "
        f"gaps {_joules(-ledger['constraint'])}.\n"
        f"No joule is lost: {ledger['unexplained']:.0e} J unexplained."
    )


def _joules(value: float) -> str:
    factor, name = unit(abs(value))
    return f"{value * factor:.3g} {name}"


def draw(
    simulation: Simulation, diary: Diary, done: RunOutcome, output: Path, scene: Scene
) -> list[Path]:
    """The pile before and after with its rise, and the plots over time."""
    width = 0.5 * float(scene.settings["width"])
    end = diary.end
    if done.stopped or end.contacts is None:
        end = Moment(simulation.model, simulation.state, simulation.contacts)
    picture = save_brazil_nut(diary.start, end, diary.rise, output / "brazil_nut.png", width)
    return [picture, *save_series(done.reports, output, **tolerances(simulation.method))]
