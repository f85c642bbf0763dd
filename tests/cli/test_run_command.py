"""``drystone run``: what it prints, what it writes, and how it refuses."""

import json
import math
import os
import signal

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone import running
from drystone.cli import run as module
from drystone.cli.main import app
from drystone.cli.progress import Tally, times, watch

runner = CliRunner()
SHORT = ["run", "rolling-ball", "--duration", "0.05"]


def invoke(*arguments):
    return runner.invoke(app, [str(a) for a in arguments])


def test_summary_says_what_matters():
    done = invoke(*SHORT)
    assert done.exit_code == 0
    for word in ("12 steps", "real time", "all solved", "penetration", "contacts", "energy"):
        assert word in done.output, word


def test_json_is_one_object_and_agrees_with_the_simulation():
    done = invoke("run", "rolling-ball", "--duration", 0.2, "--set", "speed=3", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    scene = ds.scene("rolling-ball", speed=3)
    sim = scene.simulation()
    trajectory = sim.run(0.2, record=True)
    assert found["steps"] == 48
    assert found["simulated"] == pytest.approx(0.2)
    assert found["settings"]["speed"] == 3.0
    assert found["contacts"] == len(sim.contacts)
    assert found["residual"] == trajectory.series("residual").max()
    assert found["infeasibility"] == found["penetration"] == trajectory.series("penetration").max()
    friction = trajectory.series("friction").sum()
    assert found["energy"]["friction"] == pytest.approx(friction, rel=1e-12)
    # the ball still slides: friction takes mu m g times the slip, which decreases from v0
    mass, g, mu = sim.body("ball").mass, 9.81, 0.2
    slip = sum(3.0 - 3.5 * mu * g * k / 240 for k in range(1, 49)) / 240
    assert found["energy"]["friction"] == pytest.approx(-mu * mass * g * slip, rel=1e-9)
    assert abs(found["energy"]["unexplained"]) < 1e-9 * mass
    assert found["method"]["dt"] == pytest.approx(1 / 240)


def test_options_reach_the_method():
    done = invoke(
        "run", "sliding-block", "--duration", 0.02, "--dt", 0.01, "--formulation", "convex",
        "--cone", 8, "--solver", "lemke", "--tol", 1e-6, "--restitution", "newton",
        "--no-stabilize", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    method = json.loads(done.stdout)["method"]
    assert method == {
        "name": "time-stepping", "dt": 0.01, "formulation": "convex", "cone": 8,
        "restitution": "newton", "stabilize": False, "solver": "lemke", "tol": 1e-6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rolling-bal"], "did you mean 'rolling-ball'?"),
        (["rolling-ball", "--set", "sped=1"], "did you mean 'speed'?"),
        (["rolling-ball", "--set", "speed=fast"], "speed = 'fast'"),
        (["rolling-ball", "--set", "speed"], "KEY=VALUE"),
        (["rolling-ball", "--set", "mu=-1"], "mu = -1"),
        (["rolling-ball", "--formulation", "convx"], "did you mean 'convex'?"),
        (["rolling-ball", "--restitution", "newtn"], "did you mean 'newton'?"),
        (["rolling-ball", "--solver", "nsg"], "did you mean 'nsgs'?"),
        (["rolling-ball", "--cone", "round"], "--cone round"),
        (["rolling-ball", "--cone", "7"], "even"),
        (["rolling-ball", "--dt", "0"], "dt = 0.0"),
        (["rolling-ball", "--duration", "-1"], "--duration -1"),
        (["rolling-ball", "--picture", "x.gif"], ".png"),
        (["rolling-ball", "--picture", f"{os.devnull}/x.png"], f"--picture {os.devnull}"),
        (["rolling-ball", "--plots", os.devnull], f"--plots {os.devnull}"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(arguments, words):
    done = invoke("run", *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert "Traceback" not in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_run_that_fails_ends_with_code_1(monkeypatch):
    def burst(*given):
        raise ds.SimulationError("body 'ball' at 0.01 s: speed is not finite")

    monkeypatch.setattr("drystone.cli.progress.run_compiled", burst)
    done = invoke(*SHORT)
    assert done.exit_code == 1
    assert done.output.strip() == "drystone: body 'ball' at 0.01 s: speed is not finite"


def test_a_failure_of_ours_is_called_so(monkeypatch):
    def slip(*given):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("drystone.cli.progress.run_compiled", slip)
    done = invoke(*SHORT)
    assert done.exit_code == 1
    assert "internal error: ZeroDivisionError" in done.output
    assert "Traceback" not in done.output
    assert isinstance(invoke(*SHORT, "--debug").exception, ZeroDivisionError)


def test_ctrl_c_ends_politely(monkeypatch):
    run = running.run_compiled

    def interrupted(sim, *given):
        run(sim, *given)
        if sim.time > 0.02:  # what Ctrl-C sends, while the steps are running
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("drystone.cli.progress.run_compiled", interrupted)
    done = invoke(*SHORT, "--json")
    assert done.exit_code == 1
    first, second = done.output.strip().splitlines()
    found = json.loads(second)
    assert found["stopped"] is True
    assert 5 <= found["steps"] < 12
    assert first == f"drystone: stopped at {found['simulated']:g} s of 0.05 s"
    assert signal.getsignal(signal.SIGINT) == before


def test_a_second_ctrl_c_does_not_wait_for_the_step(monkeypatch):
    def impatient(self):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ds.Simulation, "step", impatient)
    done = invoke("run", "double-pendulum", "--method", "penalty", "--duration", "0.05", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["steps"] == 0


def test_pictures_and_plots_are_written(tmp_path):
    picture = tmp_path / "new" / "end.png"
    plots = tmp_path / "plots"
    done = invoke("run", "ellipse-drop", "--duration", 1, "--picture", picture, "--plots", plots)
    assert done.exit_code == 0, done.output
    assert picture.stat().st_size > 5000
    assert sorted(path.name for path in plots.iterdir()) == ["energy.png", "steps.png"]
    assert "energy.png" in done.output.replace("\n", "")


def test_a_tally_finds_the_worst_and_sums_the_rest():
    sim = ds.scene("disks-21").simulation()
    trajectory = sim.run(4.0, record=True)
    tally = Tally()
    for report in trajectory.reports:
        tally.add(report)
    assert tally.steps == 80
    assert tally.penetration == trajectory.series("penetration").max() > 1e-4
    assert tally.residual == trajectory.series("residual").max()
    assert tally.most_contacts == trajectory.series("contacts").max()
    assert tally.contacts == trajectory.series("contacts")[-1]
    assert tally.unsolved == sum(not report.ok for report in trajectory.reports)
    kinetic, potential = sim.energy
    start = sum(ds.scene("disks-21").simulation().energy)
    assert tally.energy["change"] == pytest.approx(kinetic + potential - start, rel=1e-9)
    assert abs(tally.unexplained) < 1e-9 * start


def test_watching_changes_nothing():
    plain, watched, chunks = (ds.scene("disks-21").simulation() for _ in range(3))
    plain.run(1.0)
    seen = []
    many = watch(chunks, 1.0, title="", keep=True)
    assert (plain.state.position == chunks.state.position).all()
    assert (many.tally.steps, len(many.reports)) == (20, 20)
    done = watch(watched, 1.0, title="", keep=True, each=lambda sim: seen.append(sim.time))
    assert (plain.state.position == watched.state.position).all()
    assert len(done.reports) == len(seen) == 20
    assert done.tally.energy == many.tally.energy
    assert done.simulated == pytest.approx(1.0)
    assert 0 < done.seconds < math.inf


def test_the_bar_alone_says_that_kernels_compile(monkeypatch):
    from drystone.cli.progress import _hushed
    from drystone.kernels import _jit

    monkeypatch.setattr(_jit._progress, "quiet", False)
    with _hushed(True):
        assert _jit._progress.quiet
    assert not _jit._progress.quiet
    with _hushed(False):
        assert not _jit._progress.quiet


def test_speeds_in_words():
    assert [times(s) for s in (0.0123, 1.26, 9.96, 31.4)] == ["0.012x", "1.3x", "10x", "31x"]


def test_settings_may_hold_dashes_and_blanks():
    assert module.read_settings(["half-width = 3"]) == {"half_width": "3"}
