"""Forty slips of a person at the keyboard: each is answered in a line or two that names the culprit
and the value, with exit code 2 and no traceback."""

import csv
import json
import math

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app

runner = CliRunner()
GROUND = "bodies:\n  - {name: ground, shape: {kind: ground}}\n"
BALL = "  - {name: ball, shape: {kind: sphere, radius: 1}, position: [0, 0, 1]"

COMMANDS = [
    ("run arhc", "unknown scene 'arhc': did you mean 'arch'?"),
    ("run nix.yaml", "nix.yaml: No such file"),
    ("run arch --set ratio", "--set ratio: expected KEY=VALUE"),
    ("run arch --set rato=1", "'rato': did you mean 'ratio'?"),
    ("run arch --set ratio=thin", "ratio = 'thin': expected a number"),
    ("run arch --duration -1", "--duration -1: expected a positive"),
    ("run arch --duration soon", "'--duration': 'soon': expected a number"),
    ("run arch --dt 0", "dt = 0.0: expected a positive number"),
    ("run arch --dt 1/0", "'--dt': '1/0': expected a number"),
    ("run arch --cone 3", "k=3"),
    ("run arch --solver nsg", "'nsg': did you mean 'nsgs'?"),
    ("run arch --tol -1", "tol = -1.0"),
    ("run arch --record run.txt", "run.txt: expected a name ending in .h5"),
    ("run arch --picture run.bmp", "run.bmp: expected a name ending in"),
    ("view arch --port x", "'--port': 'x': expected a whole number"),
    ("compare arch --with convex", "did you mean 'time-stepping:convex'?"),
    ("compare arch --with tim-stepping", "'tim-stepping': did you mean 'time-stepping'?"),
    ("compare arch --with time-stepping:convx", "'convx': did you mean 'convex'?"),
    ("compare arch --with time-stepping:dt=0", "dt = 0: expected a positive number"),
    ("sweep incline --set ratio=1:2", "'1:2': expected FIRST:LAST:COUNT"),
    ("sweep incline --set ratio=1 -m end:blok.x", "'blok': did you mean 'block'?"),
    ("sweep incline --set ratio=1 -j none", "'none': expected a whole number, 1 or more"),
    ("bench solvers --time-limit x", "'x': expected a number"),
    ("plot nix.h5", "nix.h5: No such file"),
    (
        "plot energy.pdf",
        "energy.pdf: expected a scene (`drystone scenes`) or a file (.yaml, .yml, "
        ".json, .h5, .hdf5)",
    ),
    ("solve nix.dat", "nix.dat: No such file"),
    ("solve wall.yaml", "a scene file, not a problem: `drystone run wall.yaml`"),
    ("check notes.txt", "notes.txt: expected a name ending in"),
]

FILES = [
    (GROUND + BALL + ", mass: .nan}", "bodies[1].mass = '.nan': expected a number"),
    (GROUND + BALL + ", friction: -1}", "bodies[1].friction = -1: expected at least 0"),
    (GROUND + BALL + ", orientation: [0, 0, 90]}", "a quaternion [w, x, y, z] in space"),
    (GROUND + BALL + ", orientation: 90deg}", "'90deg': expected an angle [rad]"),
    (
        GROUND + BALL + ", frction: 1}",
        "bodies[1].frction = 1: unknown key: did you mean 'friction'",
    ),
    (GROUND + BALL.replace("sphere", "shpere") + "}", "'shpere': did you mean 'sphere'?"),
    (GROUND + BALL.replace("1]", "0.5]") + "}", "overlap by 0.5 m"),
    (GROUND + "durtion: 3\n", "durtion = 3: unknown key: did you mean 'duration'?"),
    (GROUND + "duration: -2\n", "duration = -2: expected more than 0"),
    (GROUND + "method: {name: time-stepping, dt: 0}\n", "method.dt = 0: expected more than 0"),
    (GROUND + BALL + "}\njoints: [{kind: ball, a: ball, b: ball}]", "two different bodies"),
    (GROUND + "\t- {name: a}\n", "a tab: YAML is indented with spaces"),
    ("bodies: [", "not YAML"),
    ("", "is empty"),
]


def answer(*arguments):
    """What a mistake is answered with; no traceback, exit code 2."""
    done = runner.invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    assert "internal error" not in done.output
    return " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(("line", "words"), COMMANDS)
def test_slips_of_commands(line, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = answer(*line.split())
    assert words in said
    assert len(said) < 700
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("text", "words"), FILES)
def test_slips_in_scene_files(text, words, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    said = answer("run", path, "--duration", "0.01")
    assert words in said
    assert said.startswith("drystone: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"bodies": [\n  {"name": "a"},\n]}', "not JSON: a comma before ']'"),
        ('{"bodies": [],}', "mine.json:1: not JSON: a comma before '}'"),
        ('{"bodies": [1 2]}', "not JSON: expecting ',' delimiter (column 15)"),
    ],
)
def test_slips_in_json(text, words, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(text)
    assert words in answer("check", path)


def test_a_mesh_that_is_not_convex_is_told_what_else_there_is(tmp_path):
    pytest.importorskip("trimesh")
    low = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    points = [(*p, z) for z in (0, 1) for p in low]
    sides = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
    faces = [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11), *sides]
    lines = [f"v {x} {y} {z}" for x, y, z in points]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    (tmp_path / "angle.obj").write_text("\n".join(lines))
    path = tmp_path / "mine.yaml"
    path.write_text("bodies: [{name: a, shape: {kind: mesh-file, file: angle.obj, use: convex}}]")
    said = answer("check", path)
    assert "'angle.obj'" in said
    assert "'use: parts'" in said


def test_a_recording_cut_in_half_says_how_much_is_left(tmp_path):
    path = tmp_path / "run.h5"
    ds.scene("incline").simulation().run(0.1, record=path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    words = f"run.h5: is cut off: {len(whole) // 2} of {len(whole)} bytes"
    for command in ("check", "plot", "view"):
        assert words in answer(command, path)
    path.write_bytes(whole)
    assert "speed = 0" in answer("export", path, "-o", tmp_path / "a.html", "--speed", "0")
    assert "start = 5: no frame" in answer("export", path, "--to", "csv", "--start", "5")


def test_angles_that_look_like_degrees_are_pointed_out(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "planar: true\n"
        "bodies:\n  - {name: a, shape: {kind: disk, radius: 1}, orientation: 90}\n"
        "joints:\n  - {kind: pin, a: a, b: world, anchor: [0, 0], limits: [-1.5, 45]}\n"
    )
    done = runner.invoke(app, ["check", str(path)])
    assert done.exit_code == 0
    assert "mine.yaml:3: bodies[0].orientation: 90 rad are 14.3 turns: 1.571 if" in done.output
    assert "mine.yaml:5: joints[0].limits: 45 rad" in done.output
    assert done.output.count("degrees") == 2
    (hint, _) = json.loads(runner.invoke(app, ["check", "--json", str(path)]).stdout)["hints"]
    assert "1.571 if 90 degrees are meant" in hint


def test_a_table_of_some_frames(tmp_path):
    path, table = tmp_path / "run.h5", tmp_path / "run.csv"
    ds.scene("incline").simulation().run(0.1, record=path)
    times = ds.read_recording(path).time
    chosen = ["--start", f"{times[2]:.17g}", "--end", f"{times[3]:.17g}"]
    done = runner.invoke(app, ["export", str(path), "-o", str(table), *chosen])
    assert done.exit_code == 0, done.output
    with table.open() as file:
        assert {float(row["time"]) for row in csv.DictReader(file)} == set(times[2:4])


def test_a_summary_says_what_has_moved():
    """A block slides 0.5 g (sin - mu cos) t^2 down a slope, and a steeper friction holds it."""
    told = ["run", "incline", "--set", "ratio=1.2", "--duration", "0.5", "--json"]
    moved = json.loads(runner.invoke(app, told).stdout)["moved"]
    slope = math.atan(1.2 * 0.5)
    a = 9.81 * (math.sin(slope) - 0.5 * math.cos(slope))
    assert moved["body"] == "block"
    assert moved["distance"] == pytest.approx(0.5 * a * 0.25, rel=0.02)
    assert moved["speed"] == pytest.approx(0.5 * a, rel=0.02)
    words = runner.invoke(app, ["run", "incline", "--set", "ratio=1.2", "--duration", "0.5"]).stdout
    assert "moved        block by" in words


def test_what_is_printed_of_a_simulation_and_a_report_fits_on_a_line():
    sim = ds.scene("four-bar").simulation()
    sim.step()
    assert repr(sim).startswith("Simulation(3 bodies, time-stepping, dt = 0.004167 s, t = 0.0041")
    text = str(sim.report)
    assert "solved" in text
    assert "joints open by" in text
    assert len(text) < 200


@pytest.mark.parametrize("said", ["restitution: 0.5}", "friction: 0.5}\npairs: [{between: [ball, "
                                  "ground], restitution: 0.5}]"])  # fmt: skip
def test_a_restitution_that_the_method_leaves_out_is_pointed_out(said, tmp_path):
    """Time stepping stops what collides unless it is told a law of restitution."""
    path = tmp_path / "mine.yaml"
    path.write_text(f"{GROUND}{BALL}, {said}\n")
    words = "bodies have a restitution, but this method stops what collides"
    assert words in runner.invoke(app, ["check", str(path)]).stderr
    run = ["run", str(path), "--duration", "0.01"]
    assert words in runner.invoke(app, run).stderr
    for more in (["--restitution", "newton"], ["--restitution", "none"], ["--json"]):
        assert words not in runner.invoke(app, [*run, *more]).stderr
    path.write_text(f"{GROUND}{BALL}}}\n")
    assert words not in runner.invoke(app, run).stderr


def test_slips_in_python():
    sim = ds.scene("arch", n=3).simulation()
    with pytest.raises(ds.ModelError, match=r"'vousoir1'.*did you mean 'voussoir1'"):
        sim.body("vousoir1")
    with pytest.raises(ds.OptionError, match="duration = 'long'"):
        sim.run("long")
    with pytest.raises(ds.ModelError, match=r"'box' is not a shape: expected one such as ds\.Box"):
        ds.World().add_body("box")
    with pytest.raises(ds.ModelError, match=r"Sphere.*is not a shape: .* ds\.Sphere\(\.\.\.\)"):
        ds.World().add_body(ds.Sphere)


def test_steps_are_numbers_as_people_write_them():
    done = runner.invoke(app, ["run", "incline", "--dt", "1/480", "--duration", "0.01", "--json"])
    assert json.loads(done.stdout)["method"]["dt"] == 1 / 480


LONG = "a" * 300  # more than the name of a file may have


@pytest.mark.parametrize(
    "line",
    [("run", LONG), ("view", LONG), ("plot", LONG), ("compare", LONG), ("check", LONG),
     ("bench", "solvers", LONG), ("run", "incline", "--record", f"{LONG}.h5"),
     ("plot", "incline", "-o", f"{LONG}.png"), ("export", "", "--to", "csv"),
     ("export", "/", "--to", "csv")],
)  # fmt: skip
def test_names_that_no_file_can_have(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert answer(*line)
    assert not list(tmp_path.iterdir())
