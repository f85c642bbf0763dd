"""``python -m benchmarks scenes``: figures against closed forms, reports; peers if present."""

import csv
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from benchmarks.__main__ import app
from benchmarks.peers import engine as engine_peers
from benchmarks.scenes import cases as cases
from benchmarks.scenes import figures as figures
from benchmarks.scenes import report as report
from benchmarks.scenes import run as runs
from benchmarks.scenes.chain import bob_path

runner = CliRunner()


def case(name):
    return cases.by_name([name])[0]


def test_every_case_names_a_scene_and_settings_that_exist():
    for one in cases.CASES:
        for world in one.worlds:
            scene = ds.scene(one.scene, **one.settings_in(world))
            assert scene.world.planar == (world == "2D")
            scene.simulation(**one.options)
    assert len({one.name for one in cases.CASES}) == len(cases.CASES)


def moving(scene, **settings):
    """A run's ends, both at the start, to be edited."""
    chosen = ds.scene(scene, **settings)
    model, state = chosen.world.build()
    return figures.Seen(model, state, state.copy(), chosen.settings, 2.0), model


def test_figures_of_known_motions():
    seen, model = moving("incline", ratio=1.05)
    i = model.names.index("block")
    mu, angle = 0.5, math.atan(1.05 * 0.5)
    way = 0.5 * 9.81 * (math.sin(angle) - mu * math.cos(angle)) * 4.0
    seen.end.position[i] += 1.01 * way * np.array([math.cos(angle), 0, -math.sin(angle)])
    assert figures.slide(seen) == pytest.approx(1.0)
    assert figures.creep(seen) == pytest.approx(1010 * way)

    seen, model = moving("sliding-block", direction=30.0)
    turn = math.radians(32.0)
    seen.end.position[1] += 0.9 * 25 / (0.6 * 9.81) * np.array([math.cos(turn), math.sin(turn), 0])
    assert figures.stop(seen) == pytest.approx(-10.0)
    assert figures.direction(seen) == pytest.approx(2.0)

    seen, model = moving("mass-ratio")
    seen.depth = 1e-3
    assert figures.depth(seen) == pytest.approx(1.0)
    seen.end.position[5, 0] += 0.6
    assert figures.depth(seen) == math.inf
    assert figures.moved(seen) == pytest.approx(600.0)


def test_kinetic_energy_of_a_spinner_and_of_disks():
    seen, _ = moving("gyroscope", kind="spinner")
    assert figures._kinetic(seen.model, seen.start) == pytest.approx(0.5 * (2.0 + 1e-6))
    seen.end.velocity *= 2
    assert figures.kinetic(seen) == pytest.approx(300.0)
    seen, _ = moving("billiard-three", planar=True)
    mass = seen.model.mass[seen.model.names.index("ball0")]
    assert figures._kinetic(seen.model, seen.start) == pytest.approx(0.5 * mass)


def test_rise_and_depth_of_the_nut_are_counted_in_small_radii():
    seen, model = moving("brazil-nut", n=5, radius=2.0, width=30.0)
    box, nut = (model.names.index(name) for name in ("box", "nut"))
    seen.end.position[box, 1] += 1.0
    seen.end.position[nut, 1] += 7.0
    assert figures.risen(seen) == pytest.approx(3.0)
    seen.deepest = 0.5
    assert figures.nut_depth(seen) == pytest.approx(0.25)
    assert figures.deepest(seen) == pytest.approx(500.0)


def test_speed_of_a_front_of_dominoes():
    seen, model = moving("dominoes", n=10)
    nb = model.nb
    first = model.names.index("domino0")
    for k in range(200):
        t = 0.01 * k
        up = np.ones(nb)
        up[first : first + int(2.5 * t / 0.2)] = 0.5  # 2.5 m/s
        seen.track.append((t, up))
    assert figures.front(seen) == pytest.approx(2.5, rel=0.05)
    seen.track = seen.track[:2]
    assert math.isnan(figures.front(seen))


def test_ours_are_measured_and_judged():
    row = runs.measure(case("slope-slide"), repeats=1, shorter=0.1)
    assert row.steps == 48
    assert row.wall > 0
    # semi-implicit Euler: a relative excess of 1 / steps, whatever the duration
    assert row.figure == pytest.approx(100 / 48, rel=1e-3)
    assert row.contacts == 4
    assert row.unsolved == 0
    assert {"contacts", "solve"} <= set(row.stages)


def test_a_case_that_fails_is_a_row_that_says_so(monkeypatch):
    def burst(*_):
        raise ds.SimulationError("body 'block' left the world")

    monkeypatch.setattr(runs, "_observe", burst)
    row = runs.measure(case("stop"), repeats=1)
    assert row.wall is None
    assert "left the world" in report.cells(row)[-1]
    assert report.figure(row) == "-"


def test_the_command_prints_and_writes(tmp_path):
    done = runner.invoke(
        app,
        ["scenes", "--only", "slope-hold", "--only", "roll", "--repeats", "1",
         "--shorter", "0.02", "--profile", "-o", str(tmp_path)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for words in ("slope-hold", "creep", "v/v0", "share of each stage", "quick look"):
        assert words in done.output, words
    with (tmp_path / "scenes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["case"] for row in rows] == ["slope-hold", "roll"]
    assert float(rows[0]["figure"]) < 1e-6
    assert float(rows[0]["solve_s"]) > 0
    text = (tmp_path / "scenes.md").read_text()
    assert "| roll | drystone |" in text
    # told on the way, also where no terminal shows progress
    told = done.stderr.splitlines()
    assert any(line.startswith("slope-hold (3D), drystone, dt 1/240: ") for line in told)
    assert any("roll (3D)" in line and "v/v0 - 5/7" in line for line in told)


def test_a_run_that_ended_early_is_told_with_its_reason():
    row = runs.Row("stop", "PyBullet", "3D", 2, 1 / 240, None, math.nan, "distance", "%")
    assert report.line(row) == "stop (3D), PyBullet, dt 1/240: no result"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "rol"], "did you mean 'roll'?"),
        (["--shorter", "2"], "--shorter 2"),
    ],
)
def test_mistakes_end_with_code_2(arguments, words):
    done = runner.invoke(app, ["scenes", *arguments])
    assert done.exit_code == 2
    assert words in done.output


def test_absent_peers_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(engine_peers, "find_spec", lambda name: None)
    done = runner.invoke(
        app, ["scenes", "--only", "roll", "--peers", "--repeats", "1", "--shorter", "0.02"]
    )
    assert done.exit_code == 0
    assert "left out: mujoco, pybullet, exudyn, pymunk, Box2D" in done.output


def test_chain_figures_of_a_state_moved_by_hand():
    """A gap opened by 3 mm, a bob moved by 4 mm off its path, and energy added by lifting."""
    chosen = ds.scene("chain", links=2, bob=0.0)
    model, state = chosen.world.build()
    far = state.copy()
    far.position[-1] += (0, 0.003, 0)
    assert figures.opening(model, state) == pytest.approx(0, abs=1e-12)
    assert figures.opening(model, far) == pytest.approx(0.003)
    exact = bob_path(model, state, np.array([1e-9]))[0]
    assert exact == pytest.approx(state.position[-1], abs=1e-9)
    off = state.copy()
    off.position[-1] = exact + np.array([0.004, 0, 0])
    seen = figures.Seen(model, state, off, chosen.settings, 1e-9, [(1e-9, off)])
    assert figures.bob_error(seen) == pytest.approx(4.0)
    assert figures.joint_gap(seen) == pytest.approx(4.0)
    lifted = state.copy()
    lifted.position[:, 2] += 0.01
    seen = figures.Seen(model, state, lifted, chosen.settings, 1.0)
    below = 0.05 + 0.15 - np.cos(np.radians(45)) * 0.2  # of both links, hanging, over a link's mass
    assert figures.swing_energy(seen) == pytest.approx(100 * 0.02 / below)


def test_the_reference_of_one_link_is_a_physical_pendulum():
    """Small swings of a rod: cos(w t) with w^2 = m g c / (I + m c^2)."""
    model, state = ds.scene("chain", links=1, bob=0.0, angle=0.01).world.build()
    c, inertia = 0.05, model.inertia[0, 1, 1] / model.mass[0]
    w = np.sqrt(9.81 * c / (inertia + c * c))
    times = np.linspace(0.1, 2.0, 7)
    path = bob_path(model, state, times)
    swing = c * np.sin(np.radians(0.01)) * np.cos(w * times)
    assert path[:, 0] == pytest.approx(swing, abs=1e-6 * c)
    with pytest.raises(ds.UnsupportedProblemError, match="one chain"):
        bob_path(*ds.scene("pyramid", rows=1).world.build(), times)


def test_flips_are_changes_of_sign():
    seen, _ = moving("gyroscope", kind="spinner")
    seen.track = [(0.1 * k, about) for k, about in enumerate((1.0, 0.5, -0.2, -1.0, 0.3))]
    assert figures.flips(seen) == 2
    assert figures.middle_spin(seen.model, seen.start) == pytest.approx(1.0)
