"""``drystone bench scenes``: figures against closed forms, reports, growth; peers if present."""

import csv
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli import bench_scenes_cases as cases
from drystone.cli import bench_scenes_report as report
from drystone.cli import bench_scenes_run as runs
from drystone.cli.main import app
from drystone.interop import engine_peers

runner = CliRunner()


def case(name):
    return cases.by_name([name])[0]


def test_every_case_names_a_scene_and_settings_that_exist():
    for one in cases.CASES:
        scene = ds.scene(one.scene, **one.settings)
        scene.simulation(**one.options)
        if one.planar:
            assert ds.scene(one.scene, **{**one.settings, "planar": True}).world.planar
    assert len({one.name for one in cases.CASES}) == len(cases.CASES)


def moving(scene, **settings):
    """A run's ends, both at the start, to be edited."""
    chosen = ds.scene(scene, **settings)
    model, state = chosen.world.build()
    return cases.Seen(model, state, state.copy(), chosen.settings, 2.0), model


def test_figures_of_known_motions():
    seen, model = moving("incline", ratio=1.05)
    i = model.names.index("block")
    mu, angle = 0.5, math.atan(1.05 * 0.5)
    way = 0.5 * 9.81 * (math.sin(angle) - mu * math.cos(angle)) * 4.0
    seen.end.position[i] += 1.01 * way * np.array([math.cos(angle), 0, -math.sin(angle)])
    assert cases.slide(seen) == pytest.approx(1.0)
    assert cases.creep(seen) == pytest.approx(1010 * way)

    seen, model = moving("sliding-block", direction=30.0)
    turn = math.radians(32.0)
    seen.end.position[1] += 0.9 * 25 / (0.6 * 9.81) * np.array([math.cos(turn), math.sin(turn), 0])
    assert cases.stop(seen) == pytest.approx(-10.0)
    assert cases.direction(seen) == pytest.approx(2.0)

    seen, model = moving("mass-ratio")
    seen.depth = 1e-3
    assert cases.depth(seen) == pytest.approx(1.0)
    seen.end.position[5, 0] += 0.6
    assert cases.depth(seen) == math.inf
    assert cases.moved(seen) == pytest.approx(600.0)


def test_kinetic_energy_of_a_spinner_and_of_disks():
    seen, _ = moving("gyroscope", kind="spinner")
    assert cases._kinetic(seen.model, seen.start) == pytest.approx(0.5 * (2.0 + 1e-6))
    seen.end.velocity *= 2
    assert cases.kinetic(seen) == pytest.approx(300.0)
    seen, _ = moving("billiard-three", planar=True)
    mass = seen.model.mass[seen.model.names.index("ball0")]
    assert cases._kinetic(seen.model, seen.start) == pytest.approx(0.5 * mass)


def test_rise_and_depth_of_the_nut_are_counted_in_small_radii():
    seen, model = moving("brazil-nut", n=5, radius=2.0, width=30.0)
    box, nut = (model.names.index(name) for name in ("box", "nut"))
    seen.end.position[box, 1] += 1.0
    seen.end.position[nut, 1] += 7.0
    assert cases.risen(seen) == pytest.approx(3.0)
    seen.deepest = 0.5
    assert cases.nut_depth(seen) == pytest.approx(0.25)
    assert cases.deepest(seen) == pytest.approx(500.0)


def test_speed_of_a_front_of_dominoes():
    seen, model = moving("dominoes", n=10)
    nb = model.nb
    first = model.names.index("domino0")
    for k in range(200):
        t = 0.01 * k
        up = np.ones(nb)
        up[first : first + int(2.5 * t / 0.2)] = 0.5  # 2.5 m/s
        seen.track.append((t, up))
    assert cases.front(seen) == pytest.approx(2.5, rel=0.05)
    seen.track = seen.track[:2]
    assert math.isnan(cases.front(seen))


def test_ours_are_measured_and_judged():
    row = runs.measure(case("slope-slide"), repeats=1, shorter=0.1)
    assert row.steps == 48
    assert row.wall > 0
    # semi-implicit Euler: a relative excess of 1 / steps, whatever the duration
    assert row.figure == pytest.approx(100 / 48, rel=1e-3)
    assert row.contacts == 4
    assert row.unsolved == 0
    assert set(report.STAGES) == set(row.stages)


def test_a_case_that_fails_is_a_row_that_says_so(monkeypatch):
    def burst(*_):
        raise ds.SimulationError("body 'block' left the world")

    monkeypatch.setattr(runs, "_run", burst)
    row = runs.measure(case("stop"), repeats=1)
    assert row.wall is None
    assert "left the world" in report.cells(row)[-1]
    assert report.figure(row) == "-"


def test_growth_fits_an_exponent():
    rows = [runs.Growth(n, 1e-6 * n**1.2, n, {}) for n in (100, 1000, 10000)]
    assert runs.exponent(rows) == pytest.approx(1.2)
    assert report.almost(rows) == pytest.approx(1.15, abs=0.01)
    assert math.isnan(runs.exponent(rows[:1]))
    found = list(runs.growth((8, 27), settle=0.05, steps=4))
    assert [one.n for one in found] == [8, 27]
    assert all(one.step > 0 for one in found)
    assert "grows as" in report.growth_words(found)


def test_the_command_prints_and_writes(tmp_path):
    done = runner.invoke(
        app,
        ["bench", "scenes", "--only", "slope-hold", "--only", "roll", "--repeats", "1",
         "--shorter", "0.02", "--profile", "--growth", "--sizes", "5,10", "-o", str(tmp_path)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for words in ("slope-hold", "creep", "v/v0", "share of each stage", "grows as"):
        assert words in done.output, words
    with (tmp_path / "scenes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["case"] for row in rows] == ["slope-hold", "roll"]
    assert float(rows[0]["figure"]) < 1e-6
    assert float(rows[0]["solve_s"]) > 0
    text = (tmp_path / "scenes.md").read_text()
    assert "| roll | drystone |" in text
    assert "## Growth" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "rol"], "did you mean 'roll'?"),
        (["--shorter", "2"], "--shorter 2"),
        (["--growth", "--sizes", "many"], "--sizes many"),
    ],
)
def test_mistakes_end_with_code_2(arguments, words):
    done = runner.invoke(app, ["bench", "scenes", *arguments])
    assert done.exit_code == 2
    assert words in done.output


def test_absent_peers_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(engine_peers, "find_spec", lambda name: None)
    done = runner.invoke(
        app, ["bench", "scenes", "--only", "roll", "--peers", "--repeats", "1", "--shorter", "0.02"]
    )
    assert done.exit_code == 0
    assert "left out: mujoco, pybullet, pymunk" in done.output


def test_what_peers_cannot_do_is_refused():
    model, _ = ds.scene("arch").world.build()
    with pytest.raises(ds.UnsupportedProblemError, match="boxes"):
        engine_peers.half_sides(model.geoms, 1)
    model, _ = ds.scene("brazil-nut", n=5).world.build()
    with pytest.raises(ds.UnsupportedProblemError, match="motions"):
        engine_peers.check_kinds(model, (0, 4))
    with pytest.raises(ds.UnsupportedProblemError, match="disk"):
        engine_peers.check_kinds(model, (4,))


@pytest.fixture(params=list(engine_peers.PEERS))
def engine(request):
    pytest.importorskip(request.param)
    return engine_peers.installed()[request.param]


def peer_world(planar):
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    shape = ds.Rectangle(1, 0.5) if planar else ds.Box(1, 0.8, 0.5)
    ball = ds.Disk(0.3) if planar else ds.Sphere(0.3)
    end = () if planar else (0.0,)
    turn = 0.5 if planar else (math.cos(0.25), 0, -math.sin(0.25), 0)
    spin = 2.0 if planar else (0, 2.0, 0)
    world.add_body(
        shape, name="box", mass=3.0, friction=0.4, position=(0, *end, 5), orientation=turn,
        velocity=(1, *end, 2), angular_velocity=spin,
    )  # fmt: skip
    world.add_body(ball, name="ball", mass=2.0, friction=0.4, position=(4, *end, 0.3))
    return world


def test_a_peer_gets_our_bodies_and_gives_back_our_state(engine):
    """Free flight has a closed form in every engine; a ball at rest stays where it is."""
    model, state = peer_world(engine.planar).build()
    peer = engine(model, state, 1 / 240)
    first = peer.state()
    assert first.position == pytest.approx(state.position, abs=1e-12)
    assert first.velocity == pytest.approx(state.velocity, abs=1e-12)
    for _ in range(60):
        peer.step()
    end = peer.state()
    box, ball = model.names.index("box"), model.names.index("ball")
    t = 0.25
    h = -1 / 240 if engine.planar else 1 / 240  # semi-implicit Euler; pymunk moves, then pulls
    fall = 2 * t - 0.5 * 9.81 * t * (t + h)
    assert end.position[box, 0] == pytest.approx(1 * t, abs=1e-6)
    assert end.position[box, -1] == pytest.approx(5 + fall, abs=1e-6)
    assert np.linalg.norm(end.position[ball] - state.position[ball]) < 2e-3
    if engine.planar:
        assert end.orientation[box] == pytest.approx(0.5 + 2 * t)
    else:
        half = 0.5 * (-0.5 + 2 * t)  # about y, as it started
        assert abs(end.orientation[box] @ (math.cos(half), 0, math.sin(half), 0)) > 1 - 1e-6


def test_a_peer_keeps_a_spin_about_any_axis(engine):
    model, state = peer_world(engine.planar).build()
    box = model.names.index("box")
    if not engine.planar:
        state.orientation[box] = np.array([1.0, 2.0, -3.0, 4.0]) / math.sqrt(30.0)
        state.velocity[box, 3:] = (0.3, -2.0, 0.7)
    peer = engine(model, state, 1 / 240)
    for found in (peer.state(), (peer.step(), peer.state())[1]):
        spin = found.velocity[box, model.dim :]
        assert spin == pytest.approx(state.velocity[box, model.dim :], abs=0.03)


def test_a_peer_slides_by_the_same_friction(engine):
    """mu of a pair is that of the scene, whatever rule an engine combines frictions by."""
    world = ds.World(planar=engine.planar)
    world.add_ground(friction=0.3)
    end = () if engine.planar else (0.0,)
    shape = ds.Rectangle(1, 0.2) if engine.planar else ds.Box(1, 1, 0.2)
    world.add_body(
        shape, name="plate", friction=0.3, position=(0, *end, 0.1), velocity=(6, *end, 0)
    )
    model, state = world.build()
    peer = engine(model, state, 1 / 240)
    for _ in range(360):
        peer.step()
    # over a second and a half: soft contacts hop a little, but carry the weight on average
    lost = 6 - peer.state().velocity[model.names.index("plate"), 0]
    assert lost == pytest.approx(0.3 * 9.81 * 1.5, rel=0.03)


def test_a_peer_is_measured_and_judged(engine):
    row = runs.measure_peer(case("slope-slide"), engine)
    assert row.wall > 0
    assert abs(row.figure) < 20  # none is exact, but all slide down the same slope
    assert row.bodies == 2
    stopped = runs.measure_peer(case("slope-slide"), engine, limit=0.0)
    assert stopped.wall is None
    assert "stopped" in stopped.note
