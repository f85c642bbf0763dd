"""``drystone resume``: resume a recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import EXIT_FAILED, NUMBER, command, complain, say, say_json


@command
def resume(
    recording: Annotated[
        Path, typer.Argument(help="A recording (.h5).", metavar="RECORDING", show_default=False)
    ],
    until: Annotated[
        float | None,
        typer.Option(
            **NUMBER,
            help="Simulated time at which to stop [s]; by default that of the original run.",
        ),
    ] = None,
    salvage: Annotated[
        bool,
        typer.Option(
            "--salvage",
            help="Resume a damaged recording from the last checkpoint before the damage. Later "
            "frames are simulated again, and the damaged file is kept.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and no progress bar.")
    ] = False,
) -> None:
    """Resume an interrupted run. The result is bitwise identical to an uninterrupted one.

    Recorded frames are kept; steps after the last checkpoint are recomputed and compared. Worlds
    with Python functions are resumed from Python: `ds.resume(file, world=...)`.

    Examples:

      drystone resume stack.h5

      drystone resume stack.h5 --until 20
    """
    from drystone.cli.progress import watch
    from drystone.resuming import reopen

    simulation, recorder, end = reopen(recording, until, salvage=salvage)
    start, left = simulation.time, max(end - simulation.time, 0.0)
    title = recording.name
    with recorder:
        done = watch(simulation, left, title=title, bar=not as_json, until=end)
    if not (done.tally.steps or done.stopped):
        _already(recording, start, as_json)
        return
    result = {
        "recording": str(recording),
        "from": start,
        "until": simulation.time,
        "wanted": end,
        "seconds": done.seconds,
        "stopped": done.stopped,
    }
    if as_json:
        result |= done.tally.as_json() | {"summary": done.summary.as_json()}
        say_json(result)
    else:
        say(
            f"{recording}: resumed at {start:g} s, now at {simulation.time:g} s "
            f"({done.seconds:.3g} s of wall time)"
        )
        if not done.summary.ok:
            say(str(done.summary))
    if done.stopped:
        complain(f"stopped at {simulation.time:g} s of {end:g} s")
        raise typer.Exit(EXIT_FAILED)


def _already(recording: Path, time: float, as_json: bool) -> None:
    """There was nothing to do."""
    if as_json:
        say_json({"recording": str(recording), "from": time, "until": time})
    else:
        say(f"{recording}: complete at {time:g} s; --until {time + 1:g} continues it")
