"""``drystone export``: a recording as files for other programs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(3):
        world.add_body(ds.Disk(0.2), name=f"disk{k}", position=(0.05 * k, 0.21 + 0.42 * k))
    path = tmp_path_factory.mktemp("recording") / "pile.h5"
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 120))
    sim.run(0.3, record=path)
    return path


def run(*words):
    return CliRunner().invoke(app, ["export", *map(str, words)])


def test_kinds_of_files(recording, tmp_path):
    for name, more in (
        ("a.html", ["--speed", "0.5"]),
        ("a.glb", ["--fps", "20"]),
        ("a.webp", ["--size", "120x80", "--fps", "10", "--forces"]),
    ):
        result = run(recording, "-o", tmp_path / name, *more)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).stat().st_size > 500
        assert f"wrote {tmp_path / name}" in result.output.replace("\n", "")
    text = (tmp_path / "a.html").read_text()
    told = json.loads(text.split('id="replays">')[1].split("</script>")[0])
    assert told["speed"] == 0.5
    assert told["replays"][0]["names"][1:] == ["disk0", "disk1", "disk2"]
    assert told["replays"][0]["contacts"]["count"] > 10


def test_by_default_beside_the_recording(recording):
    assert run(recording, "--to", "glb").exit_code == 0
    assert recording.with_suffix(".glb").exists()


def test_tables(recording, tmp_path):
    pytest.importorskip("pandas")
    result = run(recording, "--to", "csv", "--table", "bodies", "-o", tmp_path / "b.csv")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert len(lines) == 1 + len(ds.read_recording(recording).to_pandas("bodies"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "obj"], "--to: unknown format 'obj': expected html, glb, mp4, gif, webp, csv"),
        (["--to", "htm"], "did you mean 'html'?"),
        (["--to", ""], "--to: unknown format ''"),
        (["-o", "a.obj"], "-o: cannot write 'a.obj': expected a name ending in .html, .glb"),
        ([], "neither a format nor a file: expected html"),
        (["-o", "a.glb", "--forces"], "--forces: glb has no such option"),
        (["-o", "a.webp", "--size", "big"], "--size big: expected columns x rows"),
        (["-o", "a.webp", "--fps", "0"], "fps = 0.0: expected a positive number"),
        (["--to", "csv", "--table", "stars"], "table = 'stars': expected bodies"),
    ],
)
def test_mistakes(recording, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(recording, *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_no_such_recording():
    result = run("none.h5", "--to", "glb")
    assert result.exit_code == 2
    assert "none.h5" in result.output
