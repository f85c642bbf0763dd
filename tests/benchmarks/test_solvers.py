"""``python -m benchmarks solvers``: means, files, and Siconos when present."""

import math

import pytest
from typer.testing import CliRunner

import drystone as ds
from benchmarks import siconos_report, solvers
from benchmarks.__main__ import app
from benchmarks.peers import siconos as siconos_peer
from drystone.cli import bench

runner = CliRunner()


def run(problem, solver, seconds, residual=1e-10, unit=1e-10, kind="fc3d", size=100):
    return bench.Run(problem, kind, size, solver, "solved", seconds, residual, unit, 1, solver)


def test_means_and_failures_of_the_comparison():
    ours = [run("p", "auto", 0.01), run("q", "auto", 0.02), run("q", "nsgs", 9.0)]
    ours.append(run("tiny", "auto", 50e-6, size=2))
    peers = [
        run("p", "nsgs", 0.4),
        run("p", "prox", 0.04),
        run("p", "admm", 0.001, unit=1e-3),  # meets the scaled form only
        run("q", "nsgs", None, residual=math.inf, unit=math.inf),
        run("q", "prox", 0.32),
    ]
    p, q, tiny = siconos_report.versus(ours, peers, 1e-8)
    assert (p.siconos_solver, p.siconos, p.scaled, p.default) == ("prox", 0.04, 0.001, 0.4)
    assert (q.siconos, q.default, q.accepted) == (0.32, None, "1/2")
    assert tiny.siconos is None
    assert [row.tiny for row in (p, q, tiny)] == [False, False, True]
    # sqrt(4 * 16) = 8 against the best; the default alone: 40, or sqrt(40 * 30 / 0.02) bounded
    mean, count = siconos_report.mean_ratio((row.siconos, row.ours) for row in (p, q))
    assert (round(mean, 12), count) == (8.0, 2)
    text = "\n".join(siconos_report.page([p, q, tiny], 1e-8, 30.0))
    assert "**8.00** over 2 problems" in text
    assert "**40.0** over the 1 it solves" in text
    assert f"{math.sqrt(40 * 30 / 0.02):.1f} over 2 with its failures" in text
    assert "at most 50 us; in global form" in text


def test_runs_survive_their_csv(tmp_path):
    runs = [run("p", "auto", 0.01), run("q", "nsgs", None, residual=math.inf, unit=math.inf)]
    bench.write_runs(runs, tmp_path / "runs.csv")
    assert solvers.read_runs(tmp_path / "runs.csv") == runs


def test_absent_siconos_is_said_with_the_command_that_installs_it(problem_folder, monkeypatch):
    monkeypatch.setattr(siconos_peer.Siconos.__init__, "__defaults__", ("/nonexistent/python3",))
    result = runner.invoke(app, ["solvers", str(problem_folder), "--peers", "-s", "auto"])
    assert result.exit_code == 2
    assert "apt-get install python3-siconos" in result.stderr


@pytest.fixture(scope="module")
def siconos():
    try:
        peer = siconos_peer.Siconos()
        with peer:
            yield peer
    except ds.MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.peers
def test_siconos_solves_our_files_and_our_judge_agrees(problem_folder, siconos):
    expected = {"contact": "nsgs", "small": "lemke", "mixed": "enum", "whole": "nsgs_wr"}
    for case in bench.cases(problem_folder):
        if case.name not in expected:
            continue
        ours = ds.solve(case.problem)
        source = case.path if case.kind == "mlcp" else None
        runs = siconos.run(case.problem, case.kind, expected[case.name], source=source)
        assert any(one.solved(1e-8) for one in runs), (case.name, runs)
        assert ours.ok


@pytest.mark.peers
def test_siconos_that_hangs_is_stopped_and_starts_again(problem_folder, siconos):
    contact = next(case for case in bench.cases(problem_folder) if case.name == "contact")
    siconos._process.kill()  # as a crash would
    crashed = siconos.run(contact.problem, "fc3d", "nsgs")
    assert crashed[-1].note == "crashed"
    assert siconos.run(contact.problem, "fc3d", "nsgs")[-1].solved(1e-8)
    job = {"kind": "fc3d", "solver": "nsgs", "file": str(contact.path), "tol": 1e-8, "out": ""}
    endless = siconos._ask(job | {"repeats": 10**9, "repeat_seconds": 1e9}, 0.5)
    assert "stopped" in endless["error"]
    assert siconos._process is None
    unknown = siconos.run(contact.problem, "fc3d", "no_such_solver")
    assert "no_such_solver".upper() in unknown[-1].note


@pytest.mark.peers
def test_the_comparison_from_the_command(problem_folder, tmp_path, siconos, without_warming):
    for name in ("mixed.dat", "whole.hdf5"):
        (problem_folder / name).unlink()
    out = tmp_path / "results"
    words = ["solvers", str(problem_folder), "--peers", "-s", "auto", "--time-limit", "2"]
    result = runner.invoke(app, [*words, "-o", str(out)])
    assert result.exit_code == 0, result.output
    names = ("siconos.csv", "solvers_vs_siconos.csv", "solvers_vs_siconos.md")
    for name in (*names, "solvers_vs_siconos.png"):
        assert (out / name).is_file(), name
    assert "contact" in (out / "solvers_vs_siconos.md").read_text()
    assert "beside Siconos" in result.stdout
