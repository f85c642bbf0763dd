"""``drystone solve``: tables, JSON, saved solutions, exit codes, and errors that read well."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app

KEYS = [
    "file",
    "kind",
    "size",
    "solver",
    "methods",
    "status",
    "residual",
    "residual_unit",
    "primal",
    "gap",
    "iterations",
    "seconds",
]
FRICTION = "3 1 0 3 3 3 3 15 -1 0 -1 15 0 0 0 15 -1 2 3 0.1"
LCP = "2 0 2 2 2 2\n2 1\n1 2\n-5 -6\n"
INFEASIBLE = "1 0 1 1 1 1 0 -1"  # w = -1 whatever z is
runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "contact.dat").write_text(FRICTION)
    (tmp_path / "small.dat").write_text(LCP)
    (tmp_path / "none.dat").write_text(INFEASIBLE)
    H = np.vstack([np.eye(3), np.zeros((1, 3))])
    whole = ds.GlobalFrictionProblem(np.eye(4), H, np.array([-1.0, 0.2, 0, 0]), np.zeros(3), 0.5)
    ds.write_problem(whole, tmp_path / "whole.hdf5")
    return tmp_path


def run(*words):
    return runner.invoke(app, [str(word) for word in words])


def objects(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_is_one_object_a_line_with_the_promised_keys(folder):
    names = ["contact.dat", "small.dat", "whole.hdf5"]
    result = run("solve", *(folder / name for name in names), "--json")
    assert result.exit_code == 0, result.output
    rows = objects(result)
    assert [list(row) for row in rows] == [KEYS] * 3
    assert [row["kind"] for row in rows] == ["fc3d", "lcp", "gfc3d"]
    assert [row["size"] for row in rows] == [1, 2, 1]
    for row in rows:
        assert row["status"] == "solved"
        assert row["solver"] == "auto"
        assert row["methods"]
        assert max(row["residual"], row["residual_unit"]) <= 1e-8
        assert row["seconds"] > 0


def test_the_table_names_files_and_counts(folder):
    result = run("solve", folder / "contact.dat", folder / "small.dat")
    assert result.exit_code == 0, result.output
    assert "contact.dat" in result.stdout
    assert "2 of 2 solved" in result.stdout


def test_saved_solutions_meet_the_judged_residual(folder):
    for name, keys in (
        ("contact.dat", {"r", "u"}),
        ("small.dat", {"z", "w"}),
        ("whole.hdf5", {"v", "r", "u"}),
    ):
        out = folder / "out.npz"
        assert run("solve", folder / name, "--output", out).exit_code == 0
        problem = ds.read_problem(folder / name)
        with np.load(out, allow_pickle=False) as saved:
            assert set(saved) == keys
            value, dual = (saved["z"], saved["w"]) if "z" in keys else (saved["r"], saved["u"])
            assert problem.residual(value) <= 1e-8
            assert problem.residual_unit(value) <= 1e-8
            np.testing.assert_allclose(dual, problem.dual(value), atol=1e-12)
            if "v" in keys:
                balance = problem.M @ saved["v"] - problem.q - problem.H @ value
                np.testing.assert_allclose(balance, 0, atol=1e-12)
    np.testing.assert_allclose(
        ds.solve(ds.read_problem(folder / "small.dat")).value, [4 / 3, 7 / 3], atol=1e-12
    )


def test_several_files_go_to_a_folder(folder):
    files = [folder / "contact.dat", folder / "small.dat"]
    assert run("solve", *files, "-o", folder / "new").exit_code == 0
    assert sorted(p.name for p in (folder / "new").iterdir()) == ["contact.npz", "small.npz"]
    result = run("solve", *files, "-o", folder / "one.npz")
    assert result.exit_code == 2
    assert "2 files need a folder" in result.stderr
    (folder / "again").mkdir()
    (folder / "again" / "small.dat").write_text(LCP)
    result = run("solve", files[1], folder / "again" / "small.dat", "-o", folder / "new")
    assert result.exit_code == 2
    assert "both be written to small.npz" in result.stderr
    assert run("solve", files[0], "-o", folder / "no.csv").exit_code == 2


def test_a_failed_solve_is_exit_code_1_and_json_without_nan(folder):
    result = run("solve", folder / "none.dat", "--json", "--time-limit", "2")
    assert result.exit_code == 1
    (row,) = objects(result)
    assert row["status"] != "solved"
    assert "NaN" not in result.stdout
    assert "Infinity" not in result.stdout


def test_mistakes_are_exit_code_2_with_one_line(folder):
    (folder / "bad.dat").write_text(FRICTION.replace("-1 2 3", "-1 nan 3"))
    cases = [
        (["solve", folder / "bad.dat"], ["bad.dat", "line 1, word 18", "'nan'"]),
        (["solve", folder / "missing.dat"], ["missing.dat", "No such file"]),
        (["solve", folder / "small.dat", "--solver", "lemk"], ["'lemk'", "did you mean 'lemke'"]),
        (["solve", folder / "small.dat", "--tol", "-1"], ["tol = -1"]),
        (["solve", folder / "small.dat", "--time-limit", "0"], ["time_limit"]),
        (["solve", folder / "small.dat", "--solver", "nsgs"], ["small.dat", "nsgs"]),
    ]
    for words, expected in cases:
        result = run(*words)
        assert result.exit_code == 2, words
        assert "Traceback" not in result.output
        assert result.stderr.count("\n") == 1, result.stderr
        for part in expected:
            assert part in result.stderr
    assert run("solve").exit_code == 2
    assert run("solve", folder / "small.dat", "--nonsense").exit_code == 2
    assert run("nonsense").exit_code == 2


def test_a_wrong_file_does_not_stop_the_others(folder):
    result = run("solve", folder / "missing.dat", folder / "small.dat", "--json")
    assert result.exit_code == 2
    assert [row["file"] for row in objects(result)] == [str(folder / "small.dat")]


def test_debug_shows_the_error_itself(folder):
    result = run("solve", folder / "missing.dat", "--debug")
    assert isinstance(result.exception, ds.ProblemFileError)


def test_help_teaches():
    for words in ([], ["--help"], ["solve", "--help"], ["bench", "--help"]):
        assert "Usage" in run(*words).output
    text = run("solve", "--help").output
    for word in ("FCLIB", "--solver", "--tol", "--json", "--output", "lemke"):
        assert word in text
    assert run("--version").output == f"drystone {ds.__version__}\n"


def test_the_real_command(folder):
    command = [sys.executable, "-m", "drystone", "solve", str(folder / "small.dat"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "solved"
    command[-2] = str(folder / "missing.dat")
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("drystone: ")
