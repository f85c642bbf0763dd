"""``drystone bench``: what it measures, prints and writes, and where the others went."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli import bench
from drystone.cli.main import app
from drystone.plots import performance_profile

runner = CliRunner()


def test_warming_solves_the_smallest_of_each_kind(problem_folder, monkeypatch):
    seen = []
    monkeypatch.setattr(ds.NSGS, "solve", lambda self, problem: seen.append(problem.kind))
    bench.warm(bench.cases(problem_folder), ["nsgs"])
    assert sorted(seen) == ["friction", "global-friction"]


def test_global_problems_appear_twice_and_other_files_not_at_all(problem_folder):
    names = [case.name for case in bench.cases(problem_folder)]
    assert names == ["contact", "mixed", "small", "whole", "whole@reduced"]
    assert [case.kind for case in bench.cases(problem_folder)][-2:] == ["gfc3d", "fc3d"]


def test_a_fresh_statement_is_the_same_statement(problem_folder):
    problems = [case.problem for case in bench.cases(problem_folder)]
    problems.append(ds.BoxedLCP(np.eye(2), [1.0, -1.0], -1.0, 1.0))
    for problem in problems:
        copy = bench.fresh(problem)
        assert type(copy) is type(problem)
        assert copy is not problem
        value = np.linspace(-1, 1, problem.size)
        assert copy.residuals(value) == problem.residuals(value)


def test_profiles_are_those_of_dolan_and_more():
    times = {"a": {"p": 1.0, "q": 4.0}, "b": {"p": 2.0, "q": 1.0, "s": 3.0}}
    shares = performance_profile.fractions(times, ["p", "q", "r", "s"], np.array([1, 2, 4, 1e9]))
    np.testing.assert_array_equal(shares["a"], [0.25, 0.25, 0.5, 0.5])  # r is solved by nobody
    np.testing.assert_array_equal(shares["b"], [0.5, 0.75, 0.75, 0.75])
    assert performance_profile.fractions({}, ["p"], np.array([1.0])) == {}


def test_the_command_prints_a_profile_and_writes_its_files(
    problem_folder, tmp_path, without_warming
):
    out = tmp_path / "results"
    words = ["bench", "solvers", str(problem_folder), "-s", "auto", "-s", "nsgs", "-o", str(out)]
    result = runner.invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "friction 3D: 3 problems" in result.stdout
    assert "3/3" in result.stdout
    with (out / "solvers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["solver"] for row in rows} == {"auto", "nsgs"}
    assert all(float(row["residual"]) <= 1e-8 for row in rows if row["solver"] == "auto")
    assert (out / "solvers.png").stat().st_size > 10_000


def test_mistakes(tmp_path, monkeypatch):
    for words, expected in (
        ([str(tmp_path / "none")], "not a folder"),
        ([str(tmp_path)], "holds no problem files"),
        ([str(tmp_path), "-s", "simplx"], "unknown solver"),
        ([str(tmp_path), "--tol", "0"], "tol"),
    ):
        result = runner.invoke(app, ["bench", "solvers", *words])
        assert result.exit_code == 2, words
        assert expected in result.stderr
    monkeypatch.chdir("/")
    if not (tmp_path.root and (tmp_path.parents[-1] / "shared" / "problems").is_dir()):
        assert runner.invoke(app, ["bench", "solvers"]).exit_code == 2


@pytest.mark.parametrize("words", ["scenes --peers --only roll", "forces -o results", "compile"])
def test_benchmarks_that_moved_say_where(words):
    done = runner.invoke(app, ["bench", *words.split()])
    assert done.exit_code == 2
    assert f"`python -m benchmarks {words.split()[0]}`" in done.stderr
    assert "Traceback" not in done.output
    helped = runner.invoke(app, ["bench", words.split()[0], "--help"])
    assert f"python -m benchmarks {words.split()[0]}" in " ".join(helped.stdout.split())
    assert words.split()[0] not in runner.invoke(app, ["bench", "--help"]).stdout.split()
