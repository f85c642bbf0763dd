"""The command ``drystone``: its options, its commands, and nothing else."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.bench import app as bench
from drystone.cli.check import check
from drystone.cli.compare import compare
from drystone.cli.console import EXIT_WRONG, command, complain
from drystone.cli.export import export
from drystone.cli.plot import plot
from drystone.cli.resume import resume
from drystone.cli.run import run
from drystone.cli.scenes import scenes
from drystone.cli.schema import schema
from drystone.cli.solve import solve
from drystone.cli.sweep import sweep
from drystone.cli.view import view
from drystone.errors import IgnoredWarning
from drystone.escaping import for_line

app = typer.Typer(
    name="drystone",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Rigid bodies, hard contact, exact Coulomb friction.",
    rich_markup_mode="markdown",
    epilog="Try `drystone scenes`, then `drystone run brazil-nut`. Exit codes: 0 done, 1 a run or "
    "solve failed, 2 the command or a file is wrong.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from drystone import __version__

        typer.echo(f"drystone {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Rigid bodies, hard contact, exact Coulomb friction."""


app.command()(scenes)
app.command()(run)
app.command()(resume)
app.command()(view)
app.command()(plot)
app.command()(export)
app.command()(compare)
app.command()(sweep)
app.command()(solve)
app.command()(check)
app.command()(schema)
app.add_typer(bench, name="bench")


@app.command()
@command
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pictures.")] = Path(
        "demo"
    ),
    solvers: Annotated[
        bool, typer.Option("--solvers", help="Compare solvers on one problem instead.")
    ] = False,
) -> None:
    """Simulate the Brazil nut of Hart and Anitescu for 75 seconds and draw the result.

    With --solvers: solve a pile of disks by several methods and draw its force chains; draw
    Baraff's rod, which has two answers or none.
    """
    if solvers:
        from drystone.cli.demo_solvers import demo as shown  # loads every solver
    else:
        from drystone.cli.demo import demo as shown
    shown(output)


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    complain(str(message))


def _check_options(words: list[str]) -> None:
    """Refuse option names with control characters, as of a file called so among those that a shell
    puts in for *: the parser's message would print them."""
    for word in words:
        name = word.partition("=")[0]
        if word == "--":
            return
        if name.startswith("-") and for_line(name) != name:
            complain(f"no such option: {for_line(name)}")
            sys.exit(EXIT_WRONG)


def main() -> None:
    _check_options(sys.argv[1:])
    warnings.simplefilter("ignore", IgnoredWarning)  # commands say it in their own words
    warnings.showwarning = _warned
    app()
