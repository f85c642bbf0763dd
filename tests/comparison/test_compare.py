"""``ds.compare``: errors against closed forms, and rows for what fails."""

import json

import numpy as np
import pytest

import drystone as ds
from drystone.comparison import compare as module
from drystone.comparison.measures import common, errors, finest, interpolated
from drystone.comparison.runs import FRAMES_KEPT, interval, simulate

G = 9.81


def falling():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="a", position=(0, 10))
    world.add_body(ds.Disk(0.1), name="b", position=(1, 10))
    return world


@pytest.fixture(scope="module")
def fall():
    steps = ["time-stepping:dt=1/60", "time-stepping:dt=1/120", "event-driven:dt=1/60"]
    return ds.compare(falling(), steps, duration=0.5)


def test_errors_are_those_of_the_scheme(fall):
    """Free fall by steps of h is g h t / 2 behind the parabola; events are on it."""
    assert fall.reference == "event-driven:dt=1/60"
    first, second, exact = fall.rows
    assert first.error == pytest.approx(G / 60 * 0.5 / 2, rel=1e-6)
    assert second.error == pytest.approx(G / 120 * 0.5 / 2, rel=1e-6)
    assert first.error_end == first.error
    assert exact.error is None
    assert exact.reference
    t, distance = errors(fall.runs["time-stepping:dt=1/120"], fall.runs[fall.reference])
    assert t == pytest.approx(np.arange(31) / 60)
    assert distance == pytest.approx(G / 120 * t / 2, abs=1e-9)


def test_rows_say_what_the_runs_did(fall):
    first, _, exact = fall.rows
    assert (first.steps, first.simulated, first.dt) == (30, pytest.approx(0.5), 1 / 60)
    assert first.wall > 0
    assert first.penetration == first.residual == 0
    assert not first.failed
    assert first.contacts == 0
    mass = sum(falling().build()[0].mass)
    assert exact.energy == pytest.approx(mass * G * 10, rel=1e-9)
    # velocities are exact and positions g h t / 2 too low
    assert first.energy_error == pytest.approx(-mass * G * first.error, rel=1e-6)
    assert first.gain == 0.0


def test_energy_made_of_nothing_is_seen():
    """Order 1 throws upwards: half a step behind, a ball rises less: it loses; then it gains."""
    world = ds.World(planar=True)
    world.add_ground(friction=0, restitution=1)
    world.add_body(ds.Disk(0.1), position=(0, 1), restitution=1)
    found = ds.compare(world, [ds.TimeStepping(dt=0.01, restitution="newton")], duration=2.0)
    run = next(iter(found.runs.values()))
    total = [r.energy.total for r in run.reports]
    start = total[0] - run.reports[0].energy.change
    assert found.rows[0].gain == pytest.approx(max(0.0, max(total) - start), abs=1e-12)


def test_work_of_motors_is_no_gain():
    """A platform lifts a block of 2 kg by 0.5 m: its energy rises by what the platform does."""
    world = ds.World(planar=True)
    lift = ds.ConstantVelocity((0, 1.0))
    world.add_body(ds.Rectangle(2, 0.2), name="lift", position=(0, -0.1), motion=lift)
    world.add_body(ds.Rectangle(1, 1), mass=2.0, position=(0, 0.5), velocity=(0, 1.0))
    row = ds.compare(world, ["time-stepping"], duration=0.5).rows[0]
    assert row.energy == pytest.approx(2 * G * (0.5 + 0.5) + 1.0, rel=1e-6)
    assert row.gain < 1e-9


def test_a_method_that_fails_is_a_row_that_says_why():
    scene = ds.scene("rolling-ball")
    found = ds.compare(scene, ["own", "event-driven:jacobi,routh", "time-stepping:qp"],
                       duration=0.05)  # fmt: skip
    by = {row.method: row for row in found.rows}
    assert by["own"].failed == ""
    bad = [row for row in found.rows if row.failed]
    assert bad
    for row in bad:
        assert len(row.failed) > 10
    assert list(by) == ["own", "event-driven:jacobi,routh", "time-stepping:qp"]
    assert len(found.runs) + sum(not row.steps for row in found.rows) == 3


def test_a_run_that_breaks_off_keeps_what_it_reached(monkeypatch):
    step = ds.Simulation.step

    def burst(self):
        if self.time > 0.1 and self.method.name == "event-driven":
            raise ds.SimulationError("body 'a' at 0.1 s: speed is not finite")
        return step(self)

    monkeypatch.setattr(ds.Simulation, "step", burst)
    found = ds.compare(falling(), ["time-stepping", "event-driven"], duration=0.3)
    assert found.reference == "time-stepping"
    row = found.rows[1]
    assert row.failed == "body 'a' at 0.1 s: speed is not finite"
    assert row.steps == 7
    assert row.energy_error is None
    assert row.error > 0


def test_wall_time_is_limited():
    found = ds.compare("brazil-nut", ["own"], limit=1e-9)
    assert found.rows[0].steps == 1
    assert "wall time were up at t = 0.1 s" in found.rows[0].failed
    assert found.reference is None


def test_objects_and_references_can_be_given():
    methods = [ds.TimeStepping(), ds.TimeStepping(dt=0.01), "penalty"]
    found = ds.compare(falling(), methods, duration=0.1, reference="time-stepping (2)")
    assert [row.method for row in found.rows] == ["time-stepping", "time-stepping (2)", "penalty"]
    assert found.rows[1].reference


def test_frames_of_one_time_are_found():
    mine, other = np.arange(13) / 60, np.arange(121) / 600
    at, there = common(mine, other)
    assert at.tolist() == list(range(13))
    assert there.tolist() == list(range(0, 121, 10))
    at, there = common(np.array([0.0, 0.013, 0.1]), np.array([0.0, 0.05, 0.1]))
    assert (at.tolist(), there.tolist()) == ([0, 2], [0, 2])
    at, there = common(np.array([0.0, 0.5]), np.array([0.0]))
    assert (at.tolist(), there.tolist()) == ([0], [0])


def test_steps_without_common_times_are_interpolated():
    step = 0.00975310
    coarse, fine = f"time-stepping:dt={step}", "time-stepping:dt=0.001"
    found = ds.compare(falling(), [coarse, fine], duration=0.5)
    t, distance = errors(found.runs[coarse], found.runs[fine])
    assert t == pytest.approx(np.arange(52) * step)
    # g t (h - h') / 2, and what a chord of length h' misses
    assert distance == pytest.approx(G * t * (step - 0.001) / 2, abs=G * 0.001**2)
    values = np.array([[0.0, 1.0], [2.0, 5.0]])
    assert interpolated(np.array([0.25]), np.array([0.0, 1.0]), values) == pytest.approx(
        np.array([[0.5, 2.0]])
    )


def test_the_finest_is_the_one_whose_error_is_held():
    runs = {}
    for label, method in {"a": ds.TimeStepping(), "b": ds.TimeStepping(dt=1e-3),
                          "c": ds.Penalty(dt=1e-4)}.items():  # fmt: skip
        runs[label] = simulate(ds.Simulation(falling(), method), 0.01)
    assert finest(runs) == "b"
    runs["d"] = simulate(ds.Simulation(falling(), ds.EventDriven()), 0.02)
    assert finest(runs) == "d"
    runs["d"].stopped = "why"
    assert finest(runs) == "b"
    assert finest({}) is None


def test_long_runs_keep_every_report_and_some_frames():
    sim = ds.Simulation(falling(), ds.TimeStepping(dt=1e-4))
    run = simulate(sim, 0.25, contacts=False)
    assert len(run.reports) == 2500
    assert run.every == 3
    assert len(run) <= FRAMES_KEPT + 1
    assert run.time[1] == pytest.approx(3e-4)
    assert len(run.series("kinetic")) == len(run) - 1
    assert run.series("kinetic")[0] == run.reports[2].energy.kinetic


def test_tables_and_figures(tmp_path):
    found = ds.compare("disks-21", ["own", "time-stepping:convex"], duration=1.0)
    assert list(found.table.index) == ["own", "time-stepping:convex"]
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["reference"] == found.reference
    fig = found.plot(tmp_path / "c.png")
    labels = [line.get_label() for line in fig.axes[1].get_lines()]
    assert labels == ["own (reference)", "time-stepping:convex"]
    found.plot_states(tmp_path / "s.png", time=0.5)
    assert (tmp_path / "s.png").stat().st_size > 5000


def test_runs_repeat_to_the_bit():
    first, second = (ds.compare("disks-21", ["own"], duration=0.5).runs["own"] for _ in range(2))
    assert np.array_equal(first.position, second.position)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ds.compare("disks-22"), "did you mean 'disks-21'"),
        (lambda: ds.compare(7), "a scene's name"),
        (lambda: ds.compare(falling(), ["penalty"]), "give duration="),
        (lambda: ds.compare(falling(), ["penalty"], duration=-1), "duration = -1"),
        (lambda: ds.compare(falling(), [], duration=1), "at least one"),
        (lambda: ds.compare(falling(), [7], duration=1), "7"),
        (lambda: ds.compare(falling(), [ds.Penalty], duration=1), "expected a string or a method"),
        (lambda: ds.compare(falling(), ["penalty", "penalty"], duration=1), "given twice"),
        (lambda: ds.compare(falling(), ["penalty"], duration=1, reference="x"), "reference = 'x'"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ds.OptionError, match=words):
        call()


def test_defaults_suit_a_world_without_a_method(monkeypatch):
    asked = []

    def short(sim, *_, title, **__):
        asked.append(title)
        return simulate(sim, 0.02, title=title)

    monkeypatch.setattr(module, "simulate", short)
    ds.compare("sliding-block", duration=0.02)
    assert asked[0] == "own"
    assert "event-driven" in asked


@pytest.mark.parametrize(
    ("least", "beat", "every"),
    [(1, 64, 1), (7, 64, 8), (7, 12, 12), (70, 64, 128), (7, 12.5, 7), (7, 0.0, 7), (3, 9, 3)],
)
def test_frames_that_stay_are_those_of_the_slowest_beat(least, beat, every):
    assert interval(least, beat) == every


def test_states_beside_each_other_show_the_same_part_of_space():
    """A body that slid farther lies elsewhere in its picture."""
    world = ds.World()
    world.add_ground(friction=0.0)
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="box", position=(0, 0, 0.1), velocity=(1, 0, 0))
    found = ds.compare(world, ["time-stepping", "time-stepping:dt=1/60"], duration=0.1)
    found.runs["time-stepping"].state(-1).position[1, 0] += 0.2
    pictures = [axes.get_images()[0].get_array() for axes in found.plot_states().axes]
    assert np.abs(pictures[0] - pictures[1]).max() > 0.1


def test_states_beside_each_other_show_the_same_part_of_the_plane():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.1), velocity=(1, 0))
    texts = ["time-stepping", "time-stepping:dt=1/60", "time-stepping:dt=1/120"]
    found = ds.compare(world, texts, duration=0.2)
    ends = found.runs["time-stepping"].state(-1), found.runs["time-stepping:dt=1/60"].state(-1)
    assert ends[0].position[1, 0] != ends[1].position[1, 0]
    figure = found.plot_states()
    shown = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert len(shown) == 3
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in shown}) == 1
    figure.draw_without_rendering()
    box, (_, tall) = figure.get_tightbbox(), figure.get_size_inches()
    assert 0.0 <= box.y0 < box.y1 <= tall  # legends and titles are not cut off
    far = found.runs["time-stepping"].state(-1)
    far.position[1, 0] += 100.0  # one that went far does not make the others dots
    wide = [axes.get_xlim() for axes in found.plot_states().axes if axes.get_title(loc="left")]
    assert np.ptp(wide[1]) < 1.0
