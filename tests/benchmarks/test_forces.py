"""``python -m benchmarks forces``: the table it prints and the files it writes."""

import csv

from typer.testing import CliRunner

from benchmarks.__main__ import app


def test_a_short_run_is_compared_and_written(tmp_path):
    words = ["forces", "--only", "bricks in", "--shorter", "0.04", "--output", tmp_path]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert "| lemke |" in done.output
    assert (tmp_path / "force_methods.md").read_text().startswith("# Methods of contact forces")
    with (tmp_path / "force_methods.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert {"dantzig", "lp", "lemke", "qp (8-10)", "index set"} <= rows.keys()
    assert float(rows["lemke"]["worst"]) < 1e-8
    assert int(rows["lemke"]["agree"]) == int(rows["dantzig"]["problems"]) > 0


def test_unknown_runs_are_refused():
    done = CliRunner().invoke(app, ["forces", "--only", "nothing"])
    assert done.exit_code == 2
    assert "expected one of" in done.output
