"""``drystone compare``: its table, its files, and how it refuses."""

import csv
import json
import os

import pytest
from typer.testing import CliRunner

from drystone.cli.main import app

runner = CliRunner()
PAIR = ["--with", "time-stepping:convex", "--with", "time-stepping:coulomb,dt=1/480"]


def invoke(*arguments):
    return runner.invoke(app, ["compare", *(str(a) for a in arguments)])


def test_the_table_has_a_row_for_each_method():
    done = invoke("rolling-ball", *PAIR, "--duration", 0.1)
    assert done.exit_code == 0, done.output
    head, *columns, first, second = done.output.strip().splitlines()
    assert head == "rolling-ball, 0.1 s"
    for name in ("wall", "error", "energy gain", "[m]", "penetration", "residual", "unsolved"):
        assert name in "\n".join(columns)
    assert first.startswith("time-stepping:convex")
    assert "reference" in second


def test_json_is_one_object():
    done = invoke("rolling-ball", *PAIR, "--duration", 0.1, "--json", "-s", "mu=0.1")
    found = json.loads(done.stdout)
    assert found["scene"] == "rolling-ball"
    assert found["reference"] == "time-stepping:coulomb,dt=1/480"
    assert [row["steps"] for row in found["rows"]] == [24, 48]
    assert 0 < found["rows"][0]["error"] < 0.05
    assert found["files"] == []


def test_a_folder_gets_figures_table_and_page(tmp_path):
    done = invoke("disks-21", "-s", "rows=3", "--with", "own", "--with", "time-stepping:convex",
                  "--duration", 1, "-o", tmp_path / "out")  # fmt: skip
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["own", "time-stepping:convex"]
    assert float(rows[1]["error"]) > 0
    for name in ("comparison.png", "states.png"):
        assert (tmp_path / "out" / name).stat().st_size > 10000
    page = (tmp_path / "out" / "page.html").read_text()
    assert "time-stepping:convex" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_method_that_fails_is_said_below_the_table():
    done = invoke("rolling-ball", "--with", "own", "--with", "penalty", "--limit", 1e-9,
                  "--duration", 0.1)  # fmt: skip
    assert done.exit_code == 0
    assert "(stopped)" in done.output
    assert "penalty: 1e-09 s of wall time were up" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rolling-bal"], "did you mean 'rolling-ball'?"),
        (["rolling-ball", "--with", "time-stepping:convx"], "did you mean 'convex'?"),
        (["rolling-ball", "--with", "own", "--reference", "x"], "reference = 'x'"),
        (["rolling-ball", "--limit", "0"], "--limit 0"),
        (["rolling-ball", "--duration", "0"], "--duration 0"),
        (["rolling-ball", "-o", f"{os.devnull}/x"], f"--output {os.devnull}"),
        (["run.h5"], "is a recording"),
        (["rolling-ball", "--set", "mu"], "KEY=VALUE"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(arguments, words):
    done = invoke(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_narrow_terminal_shows_fewer_columns_and_says_so():
    from drystone.cli.compare import HEADS, _fitting

    rows = [["time-stepping:dt=1/960", *["0.000123"] * len(HEADS)]]
    heads = ("method", *HEADS)
    everything, left = _fitting(rows, 160)
    assert everything == list(range(len(heads)))
    assert not left
    shown, left = _fitting(rows, 80)
    assert {heads[k] for k in shown} | set(left) == set(heads)
    assert {"method", "wall", "error [m]"} <= {heads[k] for k in shown}
    lines = [[*heads[k].split(" ["), rows[0][k]] for k in shown]
    wide = sum(max(len(line) for line in column) + 2 for column in lines) - 2
    assert wide <= 80
    assert "energy gain [J]" in left
