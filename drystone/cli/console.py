"""How problems, times and errors are put into words on the command line."""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from drystone.errors import (
    DrystoneError,
    OptionError,
    SimulationError,
    SolverError,
    StepWarning,
    WriteError,
)
from drystone.escaping import for_line, for_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from drystone.problems import Problem

PIPED_WIDTH = 160  # columns of a table where no terminal says otherwise
EXIT_FAILED = 1  # the run or solve failed
EXIT_WRONG = 2  # the command or a file is wrong
DAMAGES = 10  # damaged parts of a recording that are named
SALVAGE: Any = typer.Option(
    "--salvage", help="Skip the damaged parts of a recording, and name them."
)
DEBUG = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
KINDS = {
    "lcp": "lcp",
    "mixed-lcp": "mlcp",
    "boxed-lcp": "boxed-lcp",
    "friction": "fc",
    "global-friction": "gfc",
}


@contextmanager
def warnings_in_table() -> Iterator[None]:
    """Failed steps are listed below the table, not issued as Python warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepWarning)
        yield


def number(text: Any) -> float:
    """A number as people write it: 0.004, 4e-3 or 1/240."""
    above, slash, below = str(text).partition("/")
    try:
        return float(above) / (float(below) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"{text!r}: expected a number, such as 0.5 or 1/240") from None


def _whole(least: int) -> Callable[[Any], int]:
    def whole(text: Any) -> int:
        try:
            value = int(str(text))
        except ValueError:
            value = least - 1
        if value < least:
            raise typer.BadParameter(f"{text!r}: expected a whole number, {least} or more")
        return value

    return whole


# what options that are numbers have in common: their value is named when it is none
NUMBER: dict[str, Any] = {"parser": number, "metavar": "NUMBER"}
WHOLE: dict[str, Any] = {"parser": _whole(0), "metavar": "NUMBER"}
COUNT: dict[str, Any] = {"parser": _whole(1), "metavar": "NUMBER"}
DURATION = Annotated[float | None, typer.Option(**NUMBER, help="Simulated seconds.")]


def kind_of(problem: Problem) -> str:
    """lcp, mlcp, boxed-lcp, fc2d, fc3d, gfc2d or gfc3d, as in the field's collections."""
    dim = getattr(problem, "dim", None)
    return KINDS[problem.kind] + (f"{dim}d" if dim else "")


def size_of(problem: Problem) -> int:
    """Contacts of a friction problem, unknowns of an LCP."""
    return int(getattr(problem, "nc", problem.size))


def stem_of(path: Path) -> str:
    """The file's name without the endings of problem files."""
    name = path.name
    while Path(name).suffix in (".dat", ".hdf5", ".h5", ".npz"):
        name = Path(name).stem
    return name


def duration(seconds: float | None) -> str:
    """Three digits and a unit: 812 us, 3.40 ms, 12.1 s."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    for unit, scale in (("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def tolerances(method: Any) -> dict[str, float]:
    """What the residual of a step is held against: tol, and loose for large islands that move;
    nothing for methods that do not solve by iteration."""
    out = {"tol": float(method.tol)} if hasattr(method, "tol") else {}
    return out | ({"loose": method.sweep_tol} if getattr(method, "direct", False) else {})


def tolerance(method: Any, residual: float) -> str:
    """The same in words, in parentheses; the loose one only if a residual made use of it."""
    known = tolerances(method)
    if "tol" not in known:
        return f" (integrated to rtol {method.rtol:g})" if hasattr(method, "rtol") else ""
    text = f" (tolerance {known['tol']:g}"
    if known["tol"] < residual and "loose" in known:
        text += f", {known['loose']:g} for large islands on the move"
    return f"{text})"


def ignored_restitution(simulation: Any) -> str:
    """What a world says and its method leaves out; empty if nothing."""
    if not simulation.stops_bouncing:
        return ""
    return (
        "bodies have a restitution, but this method stops what collides: --restitution newton (in "
        "a file: method: {restitution: newton}) lets them bounce"
    )


def check_seconds(option: str, value: float | None) -> None:
    """A time that was given must be positive and finite."""
    if value is not None and not 0 < value < math.inf:
        raise OptionError(f"{option} {value:g}: expected a positive number of seconds")


def make_folder(option: str, place: Path) -> None:
    """Create a folder, or say why not before anything is computed."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{option} {place}: {error.strerror or error}") from None


def check_writable(option: str, place: Path) -> None:
    """The same of a file, whose folder is created."""
    make_folder(option, place.parent)
    if place.is_dir() or not os.access(place if place.exists() else place.parent, os.W_OK):
        raise OptionError(f"{option} {place}: cannot be written")


def check_plots() -> None:
    """Raise where matplotlib is missing."""
    from drystone.plots import style

    with style.figure(1, 1):
        pass


def report_damage(recording: Any) -> None:
    """Say what was left out of a recording that is read with --salvage."""
    damage = recording.damage if recording.salvage else ()
    for line in damage[:DAMAGES]:
        complain(f"{recording.path}: damaged, left out: {line}")
    if len(damage) > DAMAGES:
        complain(f"{recording.path}: and {len(damage) - DAMAGES} more")


def say(message: str) -> None:
    """Text for people, on the terminal: whatever it quotes stays text."""
    typer.echo(for_lines(message))


def keep_open(viewer: Any) -> None:
    """Keep a viewer open until Ctrl-C."""
    try:
        say(f"{viewer.title} at {viewer.url} (Ctrl-C ends it)")
        viewer.wait()
    except KeyboardInterrupt:  # between the two
        viewer.close()


def say_json(found: Any) -> None:
    """One JSON object on one line, for programs."""
    typer.echo(json.dumps(found, allow_nan=False))


def make_console() -> Console:
    """Where tables are printed: as wide as the terminal, or wide enough for a pipe."""
    from rich.console import Console

    out = Console(highlight=False)
    if not out.is_terminal:
        out.width = PIPED_WIDTH
    return out


def make_table(**options: Any) -> Table:
    """A table without rules, to be filled."""
    from rich.table import Table

    return Table(box=None, header_style="bold", pad_edge=False, **options)


def complain(message: str) -> None:
    typer.echo(f"drystone: {for_lines(message)}", err=True)


def plain(text: object) -> str:
    """Text from elsewhere inside what rich prints: no markup, no control characters."""
    from rich.markup import escape

    return escape(for_line(text))


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Says on a terminal what takes so long, while it does."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{plain(doing)} ..."):
        yield


@contextmanager
def mistakes(debug: bool) -> Iterator[None]:
    """A mistake ends the command with one line and exit code 2, a run that fails with 1, and so
    does a failure of ours, which is called so.

    --debug shows where.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except DrystoneError as error:
        if debug:
            raise
        complain(str(error))
        failed = isinstance(error, SimulationError | SolverError | WriteError)
        raise typer.Exit(EXIT_FAILED if failed else EXIT_WRONG) from None
    except KeyboardInterrupt:
        complain("stopped")
        raise typer.Exit(EXIT_FAILED) from None
    except BrokenPipeError:
        # the reader of our output went away (| head): leave quietly
        sys.stderr.close()
        raise typer.Exit(EXIT_FAILED) from None
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            complain(f"{error.filename}: {error.strerror}")  # a path that the user gave
            raise typer.Exit(EXIT_WRONG) from None
        why = " ".join(str(error).split())[:300]
        complain(f"internal error: {type(error).__name__}: {why} (--debug shows where)")
        raise typer.Exit(EXIT_FAILED) from None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command with the option --debug, whose mistakes end it as above.

    debug is given to the function if it has such a parameter."""
    signature = inspect.signature(function, eval_str=True)
    asks = "debug" in signature.parameters

    @wraps(function)
    def run(*, debug: bool = False, **given: Any) -> None:
        with mistakes(debug):
            function(**given, **({"debug": debug} if asks else {}))

    if not asks:
        kind = inspect.Parameter.KEYWORD_ONLY
        own = inspect.Parameter("debug", kind, default=False, annotation=DEBUG)
        signature = signature.replace(parameters=[*signature.parameters.values(), own])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = get_type_hints(function, include_extras=True) | {"debug": DEBUG}
    return run
