"""``python -m benchmarks``: one command for each benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from benchmarks.broad_phase import broad_phase
from benchmarks.compiling import compiling
from benchmarks.dantzig import dantzig
from benchmarks.event_scenes import event_scenes
from benchmarks.forces.command import forces
from benchmarks.growth import growth
from benchmarks.joints import joints
from benchmarks.pictures import pictures
from benchmarks.python_calls import python_calls
from benchmarks.recording import recording
from benchmarks.scaling import scaling
from benchmarks.scenes.command import scenes
from benchmarks.solvers import solvers
from benchmarks.structures import structures
from benchmarks.sweeps import sweeps
from drystone.cli.console import mistakes

app = typer.Typer(
    name="benchmarks",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "scenes": scenes,
    "growth": growth,
    "solvers": solvers,
    "structures": structures,
    "forces": forces,
    "event-scenes": event_scenes,
    "compile": compiling,
    "sweeps": sweeps,
    "broad-phase": broad_phase,
    "joints": joints,
    "scaling": scaling,
    "dantzig": dantzig,
    "recording": recording,
    "python-calls": python_calls,
    "pictures": pictures,
}


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Benchmarks: each prints its figures, and writes them with --output."""


def _told(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose mistakes end in one line, as those of ``drystone`` do."""

    @wraps(command)
    def run(context: typer.Context, **options: Any) -> None:
        with mistakes(bool(context.find_root().params["debug"])):
            command(**options)

    own = signature(command, eval_str=True)
    first = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    run.__dict__["__signature__"] = own.replace(parameters=[first, *own.parameters.values()])
    return run


for _name, _command in COMMANDS.items():
    app.command(_name)(_told(_command))

if __name__ == "__main__":
    app()
