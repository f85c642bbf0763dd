"""``drystone check``, ``drystone schema``, ``drystone scenes --write``, and files for ``run``."""

import json
import os
import signal

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone import running
from drystone.cli.main import app
from drystone.scenes.registry import SCENES

runner = CliRunner()


def invoke(*arguments):
    return runner.invoke(app, [str(a) for a in arguments])


@pytest.fixture
def wall(tmp_path):
    return ds.write_scene(tmp_path / "wall.yaml", ds.scene("wall", courses=2, columns=2))


def test_scenes_are_written_and_run_to_the_same_bits(tmp_path):
    done = invoke("scenes", "--write", tmp_path / "g")
    assert done.exit_code == 0, done.output
    assert f"wrote {len(SCENES)} scenes" in done.output
    assert {path.stem for path in (tmp_path / "g").iterdir()} == set(SCENES)
    runs = [
        json.loads(invoke("run", scene, "--duration", 0.2, "--json").stdout)
        for scene in ("disks-21", tmp_path / "g" / "disks-21.yaml")
    ]
    for key in ("residual", "penetration", "energy", "contacts", "iterations", "method"):
        assert runs[0][key] == runs[1][key]
    assert runs[1]["scene"] == "disks-21"


def test_one_scene_with_settings_as_json(tmp_path):
    done = invoke("scenes", "arch", "--set", "n=5", "--write", tmp_path, "--format", "json")
    assert done.exit_code == 0, done.output
    assert len(ds.read_scene(tmp_path / "arch.json").world) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scenes", "--write", f"{os.devnull}/x"], "--write"),
        (["scenes", "--write", ".", "--set", "n=3"], "give the name of a scene"),
        (["scenes", "arch", "--set", "n=3"], "--write DIR"),
        (["scenes", "arch", "--write", ".", "--format", "yml"], "did you mean 'yaml'"),
        (["run", "none.yaml"], "none.yaml: No such file"),
        (["run", "none.txt"], "expected a scene"),
        (["run", "none.h5"], "is a recording"),
        (["run", "rolling-ball", "--method", "penalti"], "did you mean 'penalty'"),
        (["run", "bricks", "--cone", "8"], "event-driven has no such option"),
        (["run", "rolling-ball", "--record", "x.txt"], "--record x.txt"),
        (["run", "rolling-ball", "--record", f"{os.devnull}/x.h5"], "--record"),
        (["check", "none.yaml"], "No such file"),
        (["check", "x.gif"], "expected a name ending in"),
        (["check", "none.hdf5"], "none.hdf5"),
        (["check", "none.h5"], "none.h5"),
        (["schema", "-o", f"{os.devnull}/x"], "--output"),
    ],
)
def test_mistakes_end_with_one_line_and_code_2(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_file_takes_no_settings(wall):
    done = invoke("run", wall, "--set", "n=3")
    assert done.exit_code == 2
    assert "change it there" in done.output


def test_check_says_what_files_hold(wall, tmp_path):
    sim = ds.scene("disks-21").simulation()
    sim.run(0.5, record=tmp_path / "run.h5")
    sim.save_problem(tmp_path / "step.hdf5")
    sim.save_problem(tmp_path / "step.dat")
    names = [wall, tmp_path / "run.h5", tmp_path / "step.hdf5", tmp_path / "step.dat"]
    done = invoke("check", *names, "--json")
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["kind"] for row in found] == ["scene", "recording", "problem", "problem"]
    assert all(row["ok"] for row in found)
    assert found[0]["bodies"] == 6
    assert found[1]["frames"] == 11
    assert found[1]["complete"]
    assert found[2]["contacts"] == found[3]["contacts"] == sim.problem().nc
    words = invoke("check", *names).output.splitlines()
    mass = 1800 * 0.115 * 0.071 * (3 * 0.24 + 2 * 0.119)  # three bricks and two half ones
    expected = f"spatial scene, 6 bodies, {mass:.6g} kg; time-stepping, dt 0.004167 s, 5 s"
    assert words[0].endswith(expected)


def test_check_goes_on_after_a_wrong_file(wall, tmp_path):
    text = wall.read_text()
    bad = tmp_path / "bad.yaml"
    bad.write_text(text.replace("friction: 0.6", "fricton: 0.6").replace("lx: ", "lxx: "))
    done = invoke("check", bad, wall)
    assert done.exit_code == 2
    lines = done.output.strip().splitlines()
    assert len(lines) > 3
    assert all(line.startswith(f"drystone: {bad}:") for line in lines[:-1])
    assert "did you mean 'friction'?" in done.output
    assert lines[-1].startswith(f"{wall}: spatial scene")
    done = invoke("check", bad, "--json")
    assert json.loads(done.stdout)["ok"] is False


def test_check_finds_what_the_first_instant_shows(tmp_path):
    world = ds.World()
    for k in range(2):
        world.add_body(ds.Box(1, 1, 1), name=f"box{k}", position=(0.3 * k, 0, 0))
    done = invoke("check", ds.write_scene(tmp_path / "a.yaml", world))
    assert done.exit_code in (1, 2)
    assert "box0" in done.output
    assert "Traceback" not in done.output


def test_the_schema_is_printed_or_written(tmp_path):
    text = invoke("schema").output
    assert json.loads(text)["title"] == "Scene"
    assert invoke("schema", "-o", tmp_path / "s.json").exit_code == 0
    assert (tmp_path / "s.json").read_text() == text


def test_a_run_is_recorded(tmp_path):
    path = tmp_path / "new" / "run.h5"
    for scene, frames in (("disks-21", 5), ("rolling-ball", 13), ("double-pendulum", 13)):
        done = invoke("run", scene, "--duration", 0.2, "--record", path, "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["files"] == [str(path)]
        assert found["steps"] == round(0.2 / found["method"]["dt"])
        record = ds.read_recording(path)
        assert len(record) == frames
        assert record.complete
        plain = ds.scene(scene).simulation()
        plain.run(0.2)
        assert (record.position[-1] == plain.state.position).all()
        path.unlink()


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    path, run = tmp_path / "run.h5", running.run_compiled

    def interrupted(sim, *given):
        run(sim, *given)
        if sim.time > 0.4:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr("drystone.cli.progress.run_compiled", interrupted)
        done = invoke("run", "disks-21", "--duration", 1, "--record", path, "--json")
    assert done.exit_code == 1
    assert not ds.read_recording(path).complete
    done = invoke("resume", path, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["until"] == pytest.approx(1.0)
    record, plain = ds.read_recording(path), ds.scene("disks-21").simulation()
    plain.run(1.0)
    assert record.complete
    assert len(record) == 21
    assert record.position[-1].tobytes() == plain.state.position.tobytes()


def test_help_teaches():
    for command in ("scenes", "run", "resume", "check", "schema"):
        text = invoke(command, "--help").output
        assert f"drystone {command}" in text, command


def test_names_are_completed():
    from drystone.cli.inputs import complete_scene

    assert "brazil-nut" in complete_scene("br")
    assert complete_scene("zz") == []
