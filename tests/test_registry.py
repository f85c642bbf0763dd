"""Solvers and export formats from outside of the package: registered, or brought by a package."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.registry import Registry
from drystone.solvers.registry import SOLVERS, by_name
from drystone.view.formats import FORMATS

ROOT = Path(__file__).parents[1]
PACKAGE = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import drystone as ds


def write(replay, path, *, start=None):
    """Heights of the last body."""
    kept = [k for k, t in enumerate(replay.time) if start is None or t >= start]
    path.write_text(" ".join(f"{replay.position[k, -1, -1]:.17g}" for k in kept))


HEIGHTS = ds.ExportFormat("heights", "heights as text", write, ("start",))


@dataclass(frozen=True, kw_only=True)
class Diagonal(ds.Solver):
    """LCPs of diagonal matrices, row by row."""

    name: ClassVar[str] = "diagonal"

    def refuses(self, problem):
        return None if isinstance(problem, ds.LCP) else "takes LCPs only"

    def run(self, problem, start, limits):
        value = np.maximum(0.0, -problem.q / np.diag(problem.dense))
        return ds.Answer(value, ds.Status.SOLVED)


class Still(ds.Stepper):
    def step(self, state, h):
        before, after = self.energies(state), state.copy()
        after.time = state.time + h
        return after, self.report(before, after, h)


@dataclass(frozen=True)
class Frozen(ds.Method):
    """Nothing moves."""

    name: ClassVar[str] = "frozen"

    def stepper(self, model):
        return Still(model)


F = ds.JointFunction


@dataclass(frozen=True)
class Rail(ds.AxisJoint):
    """A point of a on a line of b, as far as `reach` [m] along it: a planar joint of two rows."""

    reach: float = 1.0
    kind: ClassVar[str] = "rail"
    rows: ClassVar = {2: (F.point(1), F.turn(0))}
    free: ClassVar = {2: {"slide": F.point(0)}}
'''
POINTS = """
[drystone.exporters]
heights = outside:HEIGHTS
broken = outside:NOTHING

[drystone.solvers]
diagonal = outside:Diagonal

[drystone.joints]
rail = outside:Rail

[drystone.methods]
frozen = outside:Frozen
"""


@pytest.fixture
def outside(tmp_path):
    """The environment of a process that has another package installed beside ours."""
    (tmp_path / "outside.py").write_text(PACKAGE)
    facts = tmp_path / "outside-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(POINTS)
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}


def run(words, env, folder):
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=folder, env=env, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from drystone.cli.main import app
done = [CliRunner().invoke(app, words) for words in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.output) for one in done]))
"""


def commands(env, folder, *several):
    """Exit codes and outputs of several commands, one after the other in one process."""
    done = run(["-c", COMMANDS, json.dumps(several)], env, folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def falling():
    world = ds.World()
    world.add_body(ds.Sphere(0.1), position=(0, 0, 1))
    return ds.Simulation(world, ds.TimeStepping(dt=0.01))


def test_an_installed_package_brings_a_solver_and_a_format(outside, tmp_path):
    """By the command alone: nobody calls the package."""
    falling().run(0.2, record=tmp_path / "fall.h5")
    export = ["export", "fall.h5", "-o", "fall.heights", "--start", "0.1"]
    done = run(["-m", "drystone", *export], outside, tmp_path)
    assert done.returncode == 0, done.stderr
    kept = ds.read_recording(tmp_path / "fall.h5")
    expected = kept.position[kept.time >= 0.1, -1, -1]
    assert [float(x) for x in (tmp_path / "fall.heights").read_text().split()] == expected.tolist()

    ds.write_problem(ds.LCP(np.diag([2.0, 4.0]), [-1.0, 3.0]), tmp_path / "p.npz")
    solve = ["solve", "p.npz", "--solver"]
    asked = [*export, "--fps", "5"], [*solve, "diagonal", "-o", "z.npz"], [*solve, "diagnal"]
    wrong, solved, unknown = commands(outside, tmp_path, *asked)
    assert wrong[0] == 2
    assert "--fps: heights has no such option" in wrong[1]
    assert solved[0] == 0, solved[1]
    assert np.load(tmp_path / "z.npz")["z"].tolist() == [0.5, 0.0]
    assert unknown[0] == 2
    assert "did you mean 'diagonal'?" in unknown[1]


RAIL = """
drystone: 1
planar: true
method: {name: time-stepping, dt: 0.01}
bodies: [{name: car, shape: {kind: rectangle, width: 1, height: 0.2}, velocity: [1, 0]}]
joints: [{kind: rail, a: car, anchor: [0, 0], axis: [1, 0], reach: 3, limits: [null, 0.5]}]
"""


def test_an_installed_package_brings_a_method(outside, tmp_path):
    """A run of a scene of the gallery with it, and the rest of that run."""
    first = ["run", "heavy-ball", "--method", "frozen", "--duration", "0.1", "--record", "a.h5"]
    rest = ["resume", "a.h5", "--until", "0.2"]
    compared = ["compare", "heavy-ball", "--with", "frozen:dt=0.05", "--duration", "0.1", "--json"]
    unknown = ["run", "heavy-ball", "--method", "froze"]
    ran, resumed, table, wrong = commands(outside, tmp_path, first, rest, compared, unknown)
    assert ran[0] == resumed[0] == table[0] == 0, (ran, resumed, table)
    assert "did you mean 'frozen'?" in wrong[1]
    assert '"frozen:dt=0.05"' in table[1]
    replay = ds.read_recording(tmp_path / "a.h5")
    assert replay.time[-1] == pytest.approx(0.2)
    np.testing.assert_array_equal(replay.position[-1], replay.position[0])


def test_an_installed_package_brings_a_joint(outside, tmp_path):
    """A run of a scene file with it, and the rest of that run in another process."""
    (tmp_path / "rail.yaml").write_text(RAIL)
    (tmp_path / "wrong.yaml").write_text(RAIL.replace("reach", "reech"))
    first = ["run", "rail.yaml", "--duration", "0.2", "--record", "a.h5"]
    wrong, ran = commands(outside, tmp_path, ["check", "wrong.yaml"], first)
    assert "did you mean 'reach'?" in wrong[1]
    assert ran[0] == 0, ran[1]
    done = run(["-m", "drystone", "resume", "a.h5", "--until", "1"], outside, tmp_path)
    assert done.returncode == 0, done.stderr
    recording = ds.read_recording(tmp_path / "a.h5")
    assert recording.model.joints.kind == ("rail",)
    np.testing.assert_allclose(recording.position[-1, 0], [0.5, 0], atol=1e-9)
    here = CliRunner().invoke(app, ["check", str(tmp_path / "rail.yaml")])  # without the package
    assert "joints[0].kind = 'rail': expected one of ball" in here.output


def test_a_broken_entry_point_is_left_out_with_a_warning(outside, tmp_path):
    code = "import drystone as ds; ds.export(None, 'a.obj')"
    done = run(["-c", code], outside, tmp_path)
    assert "broken = outside:NOTHING is left out" in done.stderr
    assert "a name ending in .html, .glb, .mp4, .gif, .webp, .csv, .heights" in done.stderr


def test_ours_are_found_without_looking_at_other_packages():
    code = (
        "import importlib.metadata as m\n"
        "asked = m.entry_points\n"
        "def entry_points(**given):\n"
        "    assert not given.get('group', '').startswith('drystone')\n"
        "    return asked(**given)\n"
        "m.entry_points = entry_points\n"
        "import drystone as ds\n"
        "print(ds.solve(ds.LCP([[1.0]], [-1.0]), 'lemke').ok)\n"
    )
    done = run(["-c", code], dict(os.environ), ROOT)
    assert done.stdout.split() == ["True"], done.stderr


@pytest.fixture
def clean(monkeypatch):
    """What a test registers goes when it ends."""
    for table in (SOLVERS, FORMATS):
        monkeypatch.setattr(table, "_added", dict(table._added))
    yield
    by_name.cache_clear()


@dataclass(frozen=True, kw_only=True)
class Mine(ds.Solver):
    """Sweeps, by another name."""

    sweeps: int = 2000
    name: ClassVar[str] = "mine"

    def refuses(self, problem):
        return ds.NSGS().refuses(problem)

    def run(self, problem, start, limits):
        answer = ds.NSGS(max_sweeps=self.sweeps).run(problem, start, limits)
        answer.methods = ("mine",)
        return answer


@pytest.mark.parametrize("joint", [False, True])
def test_a_simulation_steps_with_a_solver_of_ones_own(joint, clean, tmp_path):
    """To what ours finds, by name or with options, in memory and recorded; the scene is kept."""
    ds.register_solver(Mine)

    def made(solver):
        world = ds.World()
        world.add_ground(friction=0.5)
        for k in range(2):
            world.add_body(
                ds.Sphere(0.1), name=f"b{k}", position=(0.3 * k, 0, 0.1), velocity=(0, k, 0)
            )
        if joint:
            world.add_joint(ds.Ball("b0", "b1", anchor=(0.15, 0, 0.1)))
        return ds.Simulation(world, ds.TimeStepping(dt=0.01, tol=1e-10, solver=solver))

    reference = made("nsgs")
    reference.run(0.1)
    for solver in ("mine", Mine(tol=1e-10, sweeps=1000)):
        sim = made(solver)
        sim.run(0.1, record=tmp_path / "run.h5", overwrite=True)
        assert sim.report.methods == ("mine",)
        np.testing.assert_allclose(sim.state.position, reference.state.position, atol=1e-9)
        recording = ds.read_recording(tmp_path / "run.h5")
        assert recording.reports(3).methods == ("mine",)
        assert recording.method["solver"] in (
            "mine",
            {"name": "mine", "tol": 1e-10, "sweeps": 1000},
        )


def test_auto_asks_a_solver_of_ones_own_where_its_record_says(clean):
    problem = ds.FrictionProblem(np.eye(6) + 0.1, [-1.0, 9.0, 0.0, -1.0, 0.0, 0.3], 0.5, cone=4)
    before = ds.solve(problem)
    assert before.methods == ("lemke",)

    @ds.register_solver
    @dataclass(frozen=True, kw_only=True)
    class First(ds.Solver):
        """Knows the answer."""

        name: ClassVar[str] = "first"
        auto: ClassVar[dict[str, float]] = {"polyhedral": 0.5}

        def refuses(self, problem):
            return None

        def run(self, problem, start, limits):
            return ds.Answer(before.value, ds.Status.SOLVED)

    assert ds.solve(problem).methods == ("first",)
    assert ds.solve(ds.LCP(np.eye(6), -np.ones(6))).methods == ("lemke",)
    with pytest.raises(ds.UnsupportedProblemError, match=r"\(k = 4\) \(use first, lemke"):
        ds.solve(problem, "nsgs")
    for wrong in ("lcp", {"lcps": 1}, {"lcp": "1"}, {"lcp": np.nan}, {"lcp": None}):
        with pytest.raises(ds.OptionError, match=r"Wrong\.auto = .*expected places.*sparse-lcp"):
            ds.register_solver(type("Wrong", (Mine,), {"name": "wrong", "auto": wrong}))


def test_what_cannot_be_registered_is_refused_by_name(clean):
    ds.register_solver(Mine)
    with pytest.raises(ds.OptionError, match="solver 'mine' exists already"):
        ds.register_solver(Mine)
    taken = type("Taken", (Mine,), {"name": "lemke"})
    with pytest.raises(ds.OptionError, match="solver 'lemke' exists already"):
        ds.register_solver(taken)
    for wrong in (Mine(), dict, "mine", None):
        with pytest.raises(ds.OptionError, match=r"expected a subclass of ds\.Solver"):
            ds.register_solver(wrong)
    with pytest.raises(ds.OptionError, match=r"Nameless\.name = ''"):
        ds.register_solver(type("Nameless", (Mine,), {"name": ""}))
    with pytest.raises(ds.OptionError, match=r"expected a ds\.ExportFormat"):
        ds.register_exporter(print)
    ds.register_exporter(ds.ExportFormat("abc", "letters", print))
    for name in ("abc", "csv"):
        with pytest.raises(ds.OptionError, match=f"format '{name}' exists already"):
            ds.register_exporter(ds.ExportFormat(name, "again", print))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ".csv"}, "name = '.csv': expected what files end in"),
        ({"name": "CSV"}, "name = 'CSV'"),
        ({"name": 3}, "name = 3"),
        ({"about": ""}, "about = ''"),
        ({"write": "nowhere"}, "write = 'nowhere': expected a function"),
        ({"write": None}, "write = None"),
        ({"options": ("fps", "colour")}, "options = .*: expected a tuple, some of fps, speed"),
        ({"options": "fps"}, "options = 'fps'"),
    ],
)
def test_a_format_that_says_something_wrong(wrong, words):
    with pytest.raises(ds.OptionError, match=words):
        ds.ExportFormat(**{"name": "abc", "about": "letters", "write": print} | wrong)


def test_every_format_of_ours_takes_the_options_it_names(tmp_path):
    """Each is asked for with all of them at once."""
    replay = falling().run(0.2, record=True)
    values = {
        "fps": 10.0, "speed": 0.5, "start": 0.0, "end": 0.2, "size": (64, 48), "forces": False,
        "table": "bodies",
    }  # fmt: skip
    for entry in FORMATS.ours.values():
        place = tmp_path / f"a{entry.suffix}"
        try:
            ds.export(replay, place, **{name: values[name] for name in entry.options})
        except ds.MissingExtraError:
            assert entry.needs
            continue
        assert place.stat().st_size > 0


def test_csv_of_a_trajectory(tmp_path):
    replay = falling().run(0.2, record=True)
    ds.export(replay, tmp_path / "a.csv", start=0.1)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    last = dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))
    assert float(last["z"]) == replay.position[-1, 0, 2]
    assert len(lines) == 1 + (replay.time >= 0.1 - 1e-12).sum()
    with pytest.raises(ds.OptionError, match="only recordings have it"):
        ds.export(replay, tmp_path / "a.csv", table="reports")
    with pytest.raises(ds.OptionError, match="start = 7: no frame"):
        ds.export(replay, tmp_path / "a.csv", start=7.0)


def test_a_table_lists_its_own_first():
    class One:
        def __init__(self, name):
            self.name = name

    table = Registry("thing", "nobody.has.this", [One("b"), One("a")], lambda item: item)
    table.register(One("c"))
    assert list(table) == ["b", "a", "c"]
    assert len(table) == 3
    assert "c" in table
    assert "d" not in table
    with pytest.raises(ds.OptionError, match="unknown thing 3: expected b, a, c"):
        table.find(3)


LCP = ds.LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
SOLUTION = np.array([4.0, 7.0]) / 3.0


def own(decorated=True, **values):
    """A solver that knows the solution of LCP."""
    good = {
        "name": "own",
        "refuses": lambda self, problem: None,
        "run": lambda self, problem, start, limits: ds.Answer(SOLUTION, ds.Status.SOLVED),
    }
    cls = type("Own", (ds.Solver,), good | values)
    return dataclass(frozen=True, kw_only=True)(cls) if decorated else cls


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "a b"}, r"Own\.name = 'a b': expected a name"),
        ({"name": "Lemke"}, r"Own\.name = 'Lemke': expected a name"),
        ({"name": None}, "expected a name"),
        ({"name": "lemke"}, "'lemke' exists already"),
        ({"refuses": ds.Solver.refuses}, "Own lacks a method refuses"),
        ({"run": ds.Solver.run}, "Own lacks a method run"),
        ({"run": lambda self, p: None}, r"run\(self, p\): expected run\(self, problem, start,"),
        ({"refuses": lambda self: None}, r"expected refuses\(self, problem\)"),
        ({"refuses": 3}, "has refuses = 3"),
        ({"__annotations__": {"steps": int}}, r"Own\.steps needs a default"),
        (
            {"decorated": False, "__annotations__": {"steps": int}, "steps": 3},
            "Own must be a dataclass",
        ),
    ],
)
def test_solvers_that_cannot_be_registered(values, words):
    before = set(SOLVERS)
    with pytest.raises(ds.OptionError, match=words):
        ds.register_solver(own(**values))
    assert set(SOLVERS) == before


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "gave None: expected a ds.Answer"),
        (SOLUTION, "expected a ds.Answer"),
        (ds.Answer(np.zeros(3), ds.Status.SOLVED), "value = .*: expected 2 numbers"),
        (ds.Answer(np.zeros((1, 2)), ds.Status.SOLVED), "expected 2 numbers"),
        (ds.Answer(1j * SOLUTION, ds.Status.SOLVED), "expected 2 numbers"),
        (ds.Answer("ab", ds.Status.SOLVED), "expected 2 numbers"),
        (ds.Answer(SOLUTION, "solved"), "status = 'solved': expected a ds.Status"),
        (ds.Answer(SOLUTION, ds.Status.SOLVED, iterations=None), "iterations = None"),
        (ds.Answer(SOLUTION, ds.Status.SOLVED, methods="abc"), "methods = 'abc'"),
        (ds.Answer(SOLUTION, ds.Status.SOLVED, extras={"nope": 1}), "extras = .* of ray, basis"),
        (ds.Answer(SOLUTION, ds.Status.SOLVED, extras=None), "extras = None"),
    ],
)
def test_answers_of_own_solvers_are_checked(answer, words):
    solver = own(run=lambda self, problem, start, limits: answer)()
    with pytest.raises(ds.OptionError, match=r"Own\.run.*" + words):
        ds.solve(LCP, solver)


@pytest.mark.parametrize("reason", [True, False, "", 3])
def test_a_reason_to_refuse_is_a_sentence(reason):
    with pytest.raises(ds.OptionError, match=r"Own\.refuses gave .*: expected None or a sentence"):
        ds.solve(LCP, own(refuses=lambda self, problem: reason)())


def test_own_solvers_do_not_judge_themselves():
    """Whatever they say about their residual, or the dual."""
    said = ds.Answer(np.zeros(2), ds.Status.SOLVED, residuals=(0.0, 0.0), dual=np.ones(2))
    found = ds.solve(LCP, own(run=lambda self, problem, start, limits: said)())
    assert found.status is ds.Status.INACCURATE
    assert found.residual > 0.1
    np.testing.assert_array_equal(found.dual, LCP.q)
    lost = ds.Answer(np.full(2, np.nan), ds.Status.SOLVED)
    assert not ds.solve(LCP, own(run=lambda self, problem, start, limits: lost)()).ok


def test_an_error_inside_of_an_own_solver_is_told_with_its_name():
    with pytest.raises(ZeroDivisionError) as caught:
        ds.solve(LCP, own(run=lambda self, problem, start, limits: 1 / 0)())
    assert caught.value.__notes__ == ["solver 'own': in Own.run"]


@pytest.mark.parametrize(
    ("write", "options", "words"),
    [
        (lambda replay: None, (), r"cannot call <lambda>\(replay, path\): too many"),
        (lambda: None, (), "too many positional"),
        (lambda replay, path, more: None, (), "missing a required argument: 'more'"),
        (lambda replay, path: None, ("fps",), r"path, fps=\.\.\.\): got an unexpected"),
    ],
)
def test_writers_that_cannot_be_called(write, options, words):
    with pytest.raises(ds.OptionError, match="ExportFormat own: .*" + words):
        ds.ExportFormat("own", "a test", write, options)


@pytest.mark.parametrize("place", ["no.module:x", "os:nope", "os:", ":x", "os:sep"])
def test_a_writer_that_cannot_be_loaded_is_named(place):
    with pytest.raises(ds.OptionError, match=f"ExportFormat own: write = '{place}|no function"):
        _ = ds.ExportFormat("own", "a test", place).writer


def test_options_that_a_writer_does_not_take(monkeypatch, tmp_path):
    monkeypatch.setattr(FORMATS, "_added", {})
    ds.register_exporter(ds.ExportFormat("own", "a test", lambda replay, path: None))
    replay = falling().run(0.01, record=True)
    with pytest.raises(ds.OptionError, match=r"ExportFormat own: cannot call .* 'fps'"):
        ds.export(replay, tmp_path / "a.own", fps=3)


@pytest.mark.parametrize("field", ["energy", "conditions", None])
def test_what_steps_report_answers_wrong_words(field):
    sim = falling()
    sim.run(0.02)
    report = sim.report if field is None else getattr(sim.report, field)
    with pytest.raises(ds.ArgumentError, match=f"{type(report).__name__}|StepReport has no"):
        replace(report, nonsense=1.0)
    for wrong in (sim.report, replace(sim.report, residual=0.0)):  # of the loop, and a plain one
        with pytest.raises(ds.ArgumentError, match="did you mean 'penetration'"):
            replace(wrong, infeasibility=1.0)
    with pytest.raises(ds.ArgumentError, match="Solution has no argument 'nonsense'"):
        replace(ds.solve(LCP), nonsense=1.0)


@pytest.mark.parametrize("function", [lambda: None, lambda t: None, lambda a, b, c: None])
def test_functions_of_the_wrong_arguments_are_answered_when_they_are_given(function):
    world = ds.World()
    world.add_body(ds.Sphere(0.1))
    with pytest.raises(ds.ModelError, match=r"Callback .*cannot call <lambda>\(model, state\)"):
        world.add_force(ds.Callback(function))
    if function.__code__.co_argcount != 1:
        with pytest.raises(ds.ModelError, match=r"motion\.function: cannot call <lambda>\(t\)"):
            ds.World().add_body(ds.Sphere(0.1), motion=ds.MotionFunction(function))
        with pytest.raises(ds.OptionError, match=r"run: callback: cannot call <lambda>\(sim\)"):
            falling().run(0.01, callback=function)
