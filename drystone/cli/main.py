"""The command ``drystone``: its options, its commands, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.bench import app as bench
from drystone.cli.run import run
from drystone.cli.scenes import scenes
from drystone.cli.solve import solve

app = typer.Typer(
    name="drystone",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Rigid bodies, hard contact, true Coulomb friction.",
    epilog="Exit codes: 0 done, 1 a run or solve failed, 2 the command or a file is wrong.",
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
    """Rigid bodies, hard contact, true Coulomb friction."""


app.command()(scenes)
app.command()(run)
app.command()(solve)
app.add_typer(bench, name="bench")


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo"),
) -> None:
    """Solve a pile of disks by several methods and draw its force chains; draw Baraff's rod."""
    from drystone.cli import demo as shown  # loads every solver: not for the other commands

    shown.demo(output)


def main() -> None:
    app()
