"""``ds.sweep``: against a closed form, by any number of processes, stopped and resumed."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.sweeps import sweep as module
from drystone.sweeps.measures import read_measure
from drystone.sweeps.sweep import points, read_grid, read_values

G = 9.81
GRID = {"ratio": "0.8:1.6:3", "planar": "true"}
MEASURES = ("end:block.path", "max:residual", "max:block.speed")


def test_blocks_slide_as_the_slope_says():
    """tan(angle) = ratio mu: at rest below 1, above it g (sin - mu cos) t^2 / 2."""
    found = ds.sweep("incline", GRID, measures=MEASURES, duration=0.5, jobs=1)
    assert found.columns == ("ratio", "planar", "method", *MEASURES, "failed")
    assert [row[0] for row in found.rows] == ["0.8", "1.2", "1.6"]
    for row in found.rows:
        ratio, way, speed = float(row[0]), row[3], row[5]
        angle = math.atan(0.5 * ratio)
        pull = max(0.0, G * (math.sin(angle) - 0.5 * math.cos(angle)))
        h = 1 / 240
        assert way == pytest.approx(pull * 0.5 * (0.5 + h) / 2, abs=1e-9)
        assert speed == pytest.approx(pull * 0.5, abs=1e-9)
        assert row[-1] == ""


def test_the_table_does_not_depend_on_the_number_of_processes(tmp_path):
    files = []
    for jobs in (1, 2):
        files.append(tmp_path / f"{jobs}.csv")
        ds.sweep("incline", {"ratio": "0.9,1.2"}, duration=0.02, jobs=jobs, path=files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_a_sweep_that_was_stopped_goes_on(tmp_path, monkeypatch):
    path, ran = tmp_path / "s.csv", []
    run = module.run_point

    def interrupted(point):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(point)
        return run(point)

    ask = {"measures": MEASURES, "duration": 0.05, "jobs": 1}
    monkeypatch.setattr(module, "run_point", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ds.sweep("incline", GRID, path=path, **ask)
    journal = tmp_path / "s.csv.part"
    assert len(journal.read_text().splitlines()) == 3
    assert not path.exists()
    with journal.open("a") as out:
        out.write("[2, [0.1, 0")  # a line that the kill cut off
    monkeypatch.setattr(module, "run_point", lambda point: ran.append(point) or run(point))
    found = ds.sweep("incline", GRID, path=path, **ask)
    assert len(ran) == 3
    assert found.rows == ds.sweep("incline", GRID, **ask).rows
    assert not journal.exists()


def test_a_journal_of_another_sweep_is_not_taken(tmp_path):
    path = tmp_path / "s.csv"
    (tmp_path / "s.csv.part").write_text("{}\n")
    with pytest.raises(ds.OptionError, match="another sweep"):
        ds.sweep("incline", GRID, path=path, duration=0.05, jobs=1)


def test_a_run_that_fails_is_a_row_that_says_why():
    found = ds.sweep("incline", {"mu": "0.5,-1"}, duration=0.02, measures=["end:kinetic"], jobs=1)
    assert found.rows[0][-1] == ""
    assert found.rows[1][-2] is None
    assert "mu = -1" in found.rows[1][-1]


def test_methods_are_columns_of_the_grid():
    found = ds.sweep(
        "incline", {"ratio": [0.9, 1.2]}, methods=["own", "time-stepping:dt=0.01"],
        measures=["max:dt"], duration=0.05, jobs=1,
    )  # fmt: skip
    assert [row[:2] for row in found.rows] == [
        ("0.9", "own"), ("0.9", "time-stepping:dt=0.01"),
        ("1.2", "own"), ("1.2", "time-stepping:dt=0.01"),
    ]  # fmt: skip
    assert [row[2] for row in found.rows] == [1 / 240, 0.01] * 2
    assert list(found.table.columns) == list(found.columns)


def test_values_of_a_range_are_short():
    assert read_values("mu", "0.1:0.9:9") == [f"0.{k}" for k in range(1, 10)]
    assert read_values("n", "10,20, 50") == ["10", "20", "50"]
    assert read_values("n", "3:1:3") == ["3", "2", "1"]
    assert read_values("n", "3:9:1") == ["3"]
    assert read_grid({"a": range(3), "b": 0.5, "c": (True,)}) == {
        "a": ["0", "1", "2"], "b": ["0.5"], "c": ["True"]
    }  # fmt: skip
    assert points({"a": ["1", "2"], "b": ["x", "y"]})[1] == {"a": "1", "b": "y"}


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(2, 50))
def test_a_range_ends_where_it_says(first, last, count):
    values = [float(text) for text in read_values("x", f"{first!r}:{last!r}:{count}")]
    assert len(values) == count
    assert values[0] == pytest.approx(first, rel=1e-11, abs=1e-300)
    assert values[-1] == pytest.approx(last, rel=1e-9, abs=1e-9 * (1 + abs(first)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: read_values("mu", "1:2"), "FIRST:LAST:COUNT"),
        (lambda: read_values("mu", "1:2:x"), "FIRST:LAST:COUNT"),
        (lambda: read_values("mu", "1:2:3:4"), "FIRST:LAST:COUNT"),
        (lambda: read_values("mu", "nan:2:3"), "FIRST:LAST:COUNT"),
        (lambda: read_values("mu", "1:2:0"), "count from 1"),
        (lambda: read_values("mu", "1,,2"), "empty value"),
        (lambda: read_grid({"mu": []}), "no values"),
        (lambda: read_grid({"mu": [1, 1]}), "same value twice"),
        (lambda: read_grid({"a": "0:1:1000", "b": "0:1:1000"}), "1000000 points"),
        (lambda: read_measure("mx:residual"), "did you mean 'max'"),
        (lambda: read_measure("max:block.q"), "unknown coordinate 'q'"),
        (lambda: read_measure("max:"), "expected max:penetration"),
        (lambda: ds.sweep("inclin", {}), "did you mean 'incline'"),
        (lambda: ds.sweep("incline", {"mut": "1"}), "did you mean 'mu'"),
        (lambda: ds.sweep("incline", {}, methods=[]), "at least one"),
        (lambda: ds.sweep("incline", {}, duration=-1), "duration = -1"),
        (lambda: ds.sweep("incline", {}, jobs=0), "jobs = 0"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ds.OptionError, match=words):
        call()


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("end:blok.x", "'end:blok.x'.*did you mean 'block'"),
        ("max:kinetc", "did you mean 'kinetic'"),
    ],
)
def test_a_measure_of_nothing_is_refused_before_any_run(measure, words):
    with pytest.raises(ds.OptionError, match=words):
        ds.sweep("incline", {}, measures=[measure], duration=0.02, jobs=1)


def test_a_body_of_some_points_only_is_said_in_the_rows_without_it():
    grid = {"rows": "1,2", "planar": "true"}
    found = ds.sweep("pyramid", grid, measures=["end:cube1-0.x"], duration=0.01, jobs=1)
    assert "unknown body 'cube1-0'" in found.rows[0][-1]
    assert not found.rows[1][-1]


def test_the_command_prints_writes_and_refuses(tmp_path):
    runner = CliRunner()
    path = tmp_path / "out" / "s.csv"
    base = ["sweep", "incline", "--set", "ratio=0.9,1.2", "-m", "end:block.x", "--duration", "0.05",
            "-j", "1"]  # fmt: skip
    done = runner.invoke(app, [*base, "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert path.read_text().splitlines()[0] == "ratio,method,end:block.x,failed"
    assert len(done.output.splitlines()) == 4
    done = runner.invoke(app, [*base, "--json"])
    assert [json.loads(line)["ratio"] for line in done.stdout.splitlines()] == ["0.9", "1.2"]
    for extra, words in ((["-o", "x.txt"], ".csv"), (["-m", "mx:y"], "'max'")):
        done = runner.invoke(app, [*base, *extra])
        assert done.exit_code == 2
        assert words in done.output
        assert len(done.output.strip().splitlines()) == 1


def test_a_cluster_gives_the_same_table(tmp_path):
    distributed = pytest.importorskip("distributed")
    ask = {"measures": ("end:block.x",), "duration": 0.02}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        found = ds.sweep("incline", {"ratio": [0.9, 1.2]}, scheduler=cluster.scheduler_address,
                         **ask)  # fmt: skip
    assert found.rows == ds.sweep("incline", {"ratio": [0.9, 1.2]}, jobs=1, **ask).rows


def journal_of(tmp_path, *lines):
    """The journal of a stopped sweep of one point, with these lines after its head."""
    asked = ("incline", {"mu": "0.5"}, "own", 0.01, ("end:block.path",))
    head = json.dumps({"drystone": ds.__version__, "points": [asked]})
    place = tmp_path / "s.csv.part"
    place.write_bytes(b"\n".join([head.encode(), *lines, b""]))
    return module.Journal(tmp_path / "s.csv", [asked]), place


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[]", b"3", b'[0, 1, "", ""]', b'[0, ["x"], "", ""]', b'[7, [1.0], "", ""]',
     b'[0, [1.0, 2.0], "", ""]', b'[[], [1.0], "", ""]', b"\xff\xfe", b"[" * 100_000],
)  # fmt: skip
def test_lines_of_a_journal_that_are_none(tmp_path, line):
    """Their points are run again."""
    whole = b'[0, [1.0], "", "a"]'
    journal, place = journal_of(tmp_path, line, whole)
    assert journal.done == {0: ([1.0], "", "a")}
    assert place.read_bytes().split(b"\n")[1:] == [whole, b""]
    assert journal_of(tmp_path, line)[0].done == {}


def test_places_that_no_table_can_have(tmp_path):
    for place in (tmp_path / ("a" * 300), tmp_path / "file" / "b.csv"):
        (tmp_path / "file").write_text("")
        with pytest.raises(ds.OptionError):
            ds.sweep("incline", {"mu": [0.5]}, duration=0.01, jobs=1, path=place)
    found = ds.Sweep("a", ("b",), ((1.0,),))
    with pytest.raises(ds.OptionError):
        found.write(tmp_path)
    (tmp_path / "b.csv.part").mkdir()
    with pytest.raises(ds.OptionError, match="is a folder"):
        ds.sweep("incline", {"mu": [0.5]}, duration=0.01, jobs=1, path=tmp_path / "b.csv")
