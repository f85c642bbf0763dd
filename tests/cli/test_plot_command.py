"""``drystone plot``: what it writes, and how it refuses."""

import json
import os

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.plots.figures import QUANTITIES

runner = CliRunner()
SHORT = ["plot", "rolling-ball", "--duration", "0.05"]


def invoke(*arguments):
    return runner.invoke(app, [str(a) for a in arguments])


def test_one_file_holds_all_that_was_asked_for(tmp_path):
    path = tmp_path / "deep" / "run.svg"
    done = invoke(*SHORT, "--what", "energy,gap,forces", "-o", path)
    assert done.exit_code == 0, done.output
    assert done.output.strip() == f"wrote {path}"
    assert path.read_text().count("<svg") == 1


def test_a_folder_gets_a_file_for_each_quantity(tmp_path):
    done = invoke(*SHORT, "-w", "residual,timing", "-o", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["what"] == ["residual", "timing"]
    assert found["files"] == [str(tmp_path / "out" / f"{n}.png") for n in ("residual", "timing")]
    assert all((tmp_path / "out" / f"{n}.png").exists() for n in ("residual", "timing"))


def test_all_is_what_a_recording_has(tmp_path):
    """One that was not timed has no wall times by stage: said, and the others are drawn."""
    place = tmp_path / "a.h5"
    assert invoke("run", "rolling-ball", "--duration", "0.05", "-r", place).exit_code == 0
    done = invoke("plot", place, "--what", "all", "-o", tmp_path / "all")
    assert done.exit_code == 0, done.output
    assert "left out timing: no step was timed" in done.output
    drawn = {path.stem for path in (tmp_path / "all").iterdir()}
    assert drawn == set(QUANTITIES) - {"timing"}
    assert invoke("plot", place, "--what", "timing", "-o", tmp_path / "t.png").exit_code == 2


def test_without_a_name_the_file_is_named_after_the_scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(*SHORT, "--what", "phase", "--coordinate", "x").exit_code == 0
    assert (tmp_path / "rolling-ball_phase.png").exists()


def test_methods_and_settings_reach_the_run(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("drystone.plots.figures.plot", lambda run, what, **_: seen.append(run))
    done = invoke(*SHORT, "-s", "speed=3", "--method", "time-stepping:convex,dt=0.01",
                  "-o", tmp_path / "x.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    run = seen[0]
    assert (run.method.formulation, run.method.dt) == ("convex", 0.01)
    assert len(run.reports) == 5
    assert run.velocity[0, :, 0].max() == 3.0
    assert run.view == ds.scene("rolling-ball", speed=3).view


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rolling-bal"], "did you mean 'rolling-ball'?"),
        (["rolling-ball", "--what", "enrgy"], "did you mean 'energy'?"),
        (["rolling-ball", "-o", "x.gif"], "x.gif: expected a name ending in .png, .svg, .pdf"),
        (["rolling-ball", "-o", f"{os.devnull}/x.png"], f"--output {os.devnull}"),
        (["rolling-ball", "--duration", "-1"], "--duration -1"),
        (["rolling-ball", "--method", "penalti"], "did you mean 'penalty'?"),
        (["rolling-ball", "--set", "sped=1"], "did you mean 'speed'?"),
        (["rolling-ball", "-w", "trajectory", "-b", "bal"], "did you mean 'ball'?"),
        (["rolling-ball", "-w", "picture", "--time", "9"], "the run goes from 0 s"),
        (["rolling-ball", "-w", "trajectory", "--plane", "xq"], "plane = 'xq'"),
        (["run.h5", "--duration", "1"], "is a recording"),
        (["no.h5"], "no.h5"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    extra = [] if "--duration" in arguments or ".h5" in arguments[0] else ["--duration", "0.02"]
    done = invoke("plot", *arguments, *extra)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert "Traceback" not in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_run_that_fails_is_plotted_up_to_there(tmp_path, monkeypatch):
    step = ds.Simulation.step

    def burst(self):
        if self.time > 0.02:
            raise ds.SimulationError("body 'ball' at 0.02 s: speed is not finite")
        return step(self)

    monkeypatch.setattr(ds.Simulation, "step", burst)
    done = invoke(*SHORT, "-o", tmp_path / "x.png")
    assert done.exit_code == 0
    assert "plotted up to there" in done.output
    monkeypatch.setattr(ds.Simulation, "step", lambda self: burst_at_once())
    done = invoke(*SHORT, "-o", tmp_path / "y.png")
    assert done.exit_code == 1
    assert done.output.strip() == "drystone: at once"


def burst_at_once():
    raise ds.SimulationError("at once")
