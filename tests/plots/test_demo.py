"""``drystone demo``: the shaken box in small, its words and its pictures."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli import demo as module
from drystone.cli.main import app
from drystone.plots.demos import heights

SMALL = {"n": 20, "width": 14.0, "duration": 2.0}


def test_demo_says_what_it_shows_and_where(tmp_path, capsys):
    module.demo(tmp_path / "new", **SMALL)
    text = capsys.readouterr().out
    for words in ("20 disks", "20 steps", "The large disk", "real time", "Residual", "penetration"):
        assert words in text, words
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["brazil_nut.html", "brazil_nut.png", "energy.png", "steps.png"]
    for name in names:
        assert name in text


def test_demo_without_matplotlib_still_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    module.demo(tmp_path / "new", **SMALL)
    text = capsys.readouterr().out
    assert "real time" in text
    assert "pip install" in text
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["brazil_nut.html"]


def test_heights_are_above_the_moving_floor():
    sim = ds.scene("brazil-nut", n=20, width=14.0).simulation()
    sim.run(0.7)
    nut, mean, top = heights(sim.state, sim.bodies)
    floor = sim.body("box").position[1]
    assert abs(floor) > 0.1
    assert nut == pytest.approx(sim.body("nut").position[1] - floor)
    grains = [sim.body(f"grain{k}").position[1] - floor for k in range(20)]
    assert mean == pytest.approx(np.mean(grains))
    assert mean < top <= max(grains)


def test_the_command_keeps_the_comparison_of_solvers(tmp_path, monkeypatch):
    from drystone.cli import demo_solvers

    seen = []
    monkeypatch.setattr(demo_solvers, "demo", lambda output: seen.append(output))
    done = CliRunner().invoke(app, ["demo", "--solvers", "--output", str(tmp_path)])
    assert done.exit_code == 0
    assert seen == [tmp_path]
