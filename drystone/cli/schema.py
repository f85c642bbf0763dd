"""``drystone schema``: the JSON Schema of scene files, for editors that check while one types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import command, say
from drystone.values import writing


@command
def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; standard output by default."),
    ] = None,
) -> None:
    """Print the JSON Schema of scene files.

    Editors that know YAML complete keys and mark mistakes with it: begin a file with
    `# yaml-language-server: $schema=drystone.schema.json`.

    Examples:

      drystone schema -o drystone.schema.json

      drystone schema | jq '.["$defs"] | keys'
    """
    from drystone import scene_files

    text = json.dumps(scene_files.schema(), indent=2)
    if output is None:
        typer.echo(text)
        return
    with writing(output, "--output"):
        output.write_text(text + "\n", encoding="utf-8")
    say(f"wrote {output}")
