"""``drystone scenes``: the gallery as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from drystone.cli.console import command, make_console, make_folder, make_table, say, say_json
from drystone.cli.inputs import complete_scene, read_settings


@command
def scenes(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the settings of this scene.",
            metavar="SCENE",
            autocompletion=complete_scene,
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", help="Write scenes to this folder as files to edit and run.", metavar="DIR"
        ),
    ] = None,
    format: Annotated[str, typer.Option(help="File format: yaml or json.")] = "yaml",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="A setting of the scene to write.", metavar="KEY=VALUE"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per scene, one per line.")
    ] = False,
) -> None:
    """List the gallery: name, what it shows, and the paper it comes from.

    With a name: that scene's settings and their defaults, for `drystone run SCENE --set`.

    Examples:

      drystone scenes arch

      drystone scenes --write gallery/

      drystone scenes wall --set courses=20 --write . && drystone run wall.yaml
    """
    from drystone.errors import OptionError
    from drystone.scenes.base import unknown
    from drystone.scenes.registry import SCENES

    if name is not None and name not in SCENES:
        raise OptionError(unknown("scene", name, SCENES))
    if write is not None:
        _write(write, format, [name] if name else list(SCENES), settings, as_json)
        return
    if settings:
        raise OptionError("--set: settings of a scene that is written: --write DIR")
    rows = [_row(entry) for entry in SCENES.values() if name in (None, entry.name)]
    if as_json:
        for row in rows:
            say_json(row)
    elif name is None:
        _print_gallery(rows)
    else:
        _print_settings(rows[0])


def _write(
    folder: Path, format: str, names: list[str], settings: list[str] | None, as_json: bool
) -> None:
    """Scenes as files; what cannot be described is said."""
    from drystone.errors import OptionError
    from drystone.scenes.base import unknown
    from drystone.scenes.files import write_scene
    from drystone.scenes.registry import scene

    if format not in ("yaml", "json"):
        raise OptionError(f"--format: {unknown('format', format, {'yaml': 0, 'json': 0})}")
    given = read_settings(settings)
    if given and len(names) > 1:
        raise OptionError("--set: give the name of a scene")
    make_folder("--write", folder)
    written = []
    for name in names:
        built = scene(name, **given)
        written.append(str(write_scene(folder / f"{name}.{format}", built)))
    if as_json:
        say_json({"files": written})
    else:
        say(f"wrote {len(written)} scene{'s' * (len(written) > 1)} to {folder}")


def _row(entry: Any) -> dict[str, Any]:
    settings = {
        s.name: {"default": s.default, "type": "text" if get_args(s.kind) else s.kind.__name__}
        | ({"choices": list(get_args(s.kind))} if get_args(s.kind) else {})
        for s in entry.settings.values()
    }
    return {
        "name": entry.name,
        "summary": entry.summary,
        "paper": entry.paper,
        "about": _about(entry.function),
        "settings": settings,
    }


def _about(function: Any) -> str:
    """The description of a scene, without the indentation of its source."""
    import inspect

    return inspect.cleandoc(function.__doc__ or "")


def _print_gallery(rows: list[dict[str, Any]]) -> None:
    table = make_table()
    table.add_column("scene", no_wrap=True, style="bold")
    table.add_column("what it shows")
    table.add_column("from", style="dim")
    for row in rows:
        table.add_row(row["name"], row["summary"], row["paper"])
    console = make_console()
    console.print(table)
    console.print(
        "\nrun one: drystone run SCENE      its settings: drystone scenes SCENE      "
        "as files: drystone scenes --write DIR",
    )


def _print_settings(row: dict[str, Any]) -> None:
    console = make_console()
    console.print(f"[bold]{row['name']}[/]: {row['summary']} ({row['paper']})\n")
    console.print(row["about"] + "\n", markup=False)
    table = make_table()
    table.add_column("setting", style="bold")
    table.add_column("default", justify="right")
    table.add_column("values", style="dim")
    words = {"int": "whole number", "float": "number", "bool": "true or false"}
    for name, setting in row["settings"].items():
        values = ", ".join(setting.get("choices", ())) or words[setting["type"]]
        default = setting["default"]
        text = str(default).lower() if isinstance(default, bool) else f"{default}"
        table.add_row(name, text, values)
    console.print(table)
