"""``drystone scenes``: the gallery as a table, as JSON, and the settings of one scene."""

import json

from typer.testing import CliRunner

from drystone.cli.main import app
from drystone.scenes.registry import SCENES

runner = CliRunner()


def test_the_table_names_every_scene_and_its_paper():
    done = runner.invoke(app, ["scenes"])
    assert done.exit_code == 0
    for entry in SCENES.values():
        assert entry.name in done.output
        assert entry.summary in done.output
    assert "Hart and Anitescu 2003" in done.output


def test_json_holds_settings_with_defaults_and_types():
    done = runner.invoke(app, ["scenes", "--json"])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == list(SCENES)
    spheres = next(row for row in rows if row["name"] == "spheres")
    assert spheres["settings"]["n"] == {"default": 1000, "type": "int"}
    cradle = next(row for row in rows if row["name"] == "newton-cradle")
    assert "poisson" in cradle["settings"]["law"]["choices"]


def test_a_name_shows_that_scenes_settings():
    done = runner.invoke(app, ["scenes", "arch"])
    assert done.exit_code == 0
    for name in SCENES["arch"].settings:
        assert name in done.output
    assert "dominoes" not in done.output


def test_a_wrong_name_gets_a_hint():
    done = runner.invoke(app, ["scenes", "arhc"])
    assert done.exit_code == 2
    assert "did you mean 'arch'?" in done.output
