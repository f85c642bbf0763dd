"""Growth, the clock and the writer of tables that all benchmarks share."""

import csv
import math
import time

import pytest
from typer.testing import CliRunner

from benchmarks import clock, growth, options, processes, tables
from benchmarks.__main__ import COMMANDS, app
from drystone.errors import OptionError, SimulationError

runner = CliRunner()


def test_every_command_has_a_help_text():
    for name in COMMANDS:
        done = runner.invoke(app, [name, "--help"])
        assert done.exit_code == 0
        assert "--help" in done.stdout


def test_what_is_compared_takes_turns_and_the_fastest_counts(monkeypatch):
    order, now = [], [0.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])
    pauses = {"a": iter((3.0, 1.0, 3.0)), "b": iter((2.0, 4.0, 4.0))}

    def wait(seconds):
        now[0] += seconds

    def ready(name):
        order.append(name)
        pause = next(pauses[name])
        return lambda: wait(pause)

    took = clock.in_turn({n: lambda n=n: ready(n) for n in "ab"}, repeats=3)
    assert order == list("ababab")
    assert {name: one.wall for name, one in took.items()} == {"a": 1.0, "b": 2.0}
    calls = []
    clock.fastest(lambda: calls.append(wait(1.0)), repeats=50, enough=2.5)
    assert len(calls) == 3


def test_on_one_thread_the_time_of_others_does_not_count():
    took = clock.timed(lambda: time.sleep(0.05))
    assert took.wall >= 0.05
    assert took.seconds < 0.03  # waiting is no work


def test_exponents():
    assert clock.exponent((n, 1e-6 * n**1.2) for n in (100, 1000, 10000)) == pytest.approx(1.2)
    assert math.isnan(clock.exponent([(10, 1.0)]))
    rows = [growth.Growth(n, 1e-6 * n, n, {}) for n in (100, 1000, 10000)]
    assert growth.almost(rows) == pytest.approx(1.15, abs=0.01)


def test_tables_survive_their_csv(tmp_path):
    rows = [{"a": 1, "b": math.nan}, {"a": 0.123456789, "c": "x"}, {"a": math.inf, "b": None}]
    tables.write_csv(tmp_path / "rows.csv", rows)
    found = tables.read_csv(tmp_path / "rows.csv")
    assert found[0] == {"a": "1", "b": "", "c": ""}
    assert found[1] == {"a": "0.123457", "b": "", "c": "x"}
    assert found[2]["a"] == "inf"
    assert tables.read_csv(tmp_path / "nothing.csv") == []
    assert tables.lines(("a", "b"), [(1, "x")]) == ["| a | b |", "|---|---|", "| 1 | x |"]


@pytest.mark.parametrize("text", ["many", "", "0,1", "10,-3", "nan", "inf"])
def test_sizes_that_are_none_are_refused(text):
    with pytest.raises(OptionError, match="--sizes"):
        options.numbers(text)


def test_a_call_in_a_process_of_its_own():
    assert processes.alone(options.numbers, "3,1e2") == [3, 100]
    with pytest.raises(SimulationError, match="--sizes none"):
        processes.alone(options.numbers, "none")


def test_growth_prints_and_writes(tmp_path):
    done = runner.invoke(app, ["growth", "--sizes", "5,10", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "grows as" in done.stdout
    assert "10 spheres" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"growth.csv", "growth.md", "growth.png"}
    text = (tmp_path / "growth.md").read_text()
    assert "| 10 | ten layers |" in text
    assert "(growth.png)" in text
    with (tmp_path / "growth.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["spheres"] for row in rows] == ["5", "10"]
    assert float(rows[0]["per_body_s"]) == pytest.approx(float(rows[0]["step_s"]) / 5, rel=1e-4)
