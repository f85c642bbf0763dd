"""Runs that end between two frames, and runs that are watched while they are recorded."""

import numpy as np
import pytest

import drystone as ds
from drystone.cli.progress import watch
from drystone.recording.locks import Lock
from drystone.recording.repair import repair
from drystone.resuming import reopen
from drystone.scenes import scene


def made(name="spheres"):
    return scene(name, **({"n": 30} if name == "spheres" else {})).simulation()


def same(a, b, frames):
    assert np.array_equal(a.time[:frames], b.time[:frames])
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(a, name)[:frames], getattr(b, name)[:frames])
    for k in range(1, frames):
        assert np.array_equal(a.contacts(k), b.contacts(k))
        mine, other = a.reports(k), b.reports(k)
        assert mine.energy == other.energy
        assert np.array_equal(mine.island_sizes, other.island_sizes)
        assert np.array_equal(mine.island_residuals, other.island_residuals)


@pytest.mark.parametrize("name", ["spheres", "four-bar"])  # compiled, and stage by stage
def test_the_end_of_a_short_run_is_kept(name, tmp_path):
    sim, plain = made(name), made(name)
    dt = sim.method.dt
    rec = sim.run(2 * dt, record=tmp_path / "a.h5", every=5)
    for _ in range(2):
        plain.step()
    assert len(rec) == 2
    assert rec.odd
    assert rec.complete
    assert rec.time[-1] == plain.time
    assert np.array_equal(rec.velocity[-1], plain.state.velocity)
    assert np.array_equal(rec.contacts(1), plain.contacts)
    assert np.array_equal(rec.joints(1), plain.joints)
    assert rec.reports(1).energy == plain.report.energy


@pytest.mark.parametrize("name", ["spheres", "four-bar"])
@pytest.mark.parametrize("steps", [3, 13])
def test_a_run_that_goes_on_leaves_it_out(name, steps, tmp_path):
    path, whole = tmp_path / "a.h5", tmp_path / "b.h5"
    dt = made(name).method.dt
    made(name).run(steps * dt, record=path, every=5).close()
    ds.resume(path, until=23 * dt)
    with ds.read_recording(path) as a, made(name).run(23 * dt, record=whole, every=5) as b:
        assert a.time.size == b.time.size == 1 + 4 + 1
        assert np.array_equal(b.time[:-1], np.arange(5) * 5 * dt)
        same(a, b, len(b))


@pytest.mark.parametrize("until", [None, 7])
@pytest.mark.parametrize("name", ["spheres", "four-bar"])
def test_a_run_that_is_at_its_end_is_left_alone(name, until, tmp_path):
    path, dt = tmp_path / "a.h5", made(name).method.dt
    made(name).run(7.3 * dt, record=path, every=5).close()
    before = path.read_bytes()
    for _ in range(2):
        sim = ds.resume(path, until=None if until is None else until * dt)
        assert sim.time == 7 * dt
        assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"until": 1e300}, "steps"), ({"until": 10**400}, "finite"), ({"until": "1"}, "finite"),
        ({"until": float("nan")}, "finite"), ({"until": 0.001}, "already"),
        ({"until": True}, "finite"), ({"until": 1.0, "callback": 3}, "callback"),
        ({"until": 1.0, "callback": lambda: None}, "callback"),
        ({"until": 1.0, "world": 3}, "World"),
        ({"until": 1.0, "world": ds.World(planar=True)}, "dimension"),
        ({"until": 1.0, "world": ds.World()}, "bodies"), ({"until": 1.0, "method": 3}, "method"),
        ({"until": 1.0, "method": "penalty"}, "dt"), ({"until": 1.0, "method": "pgs"}, "method"),
        ({"until": 1.0, "salvage": "no"}, "salvage"),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_the_file_alone(arguments, word, tmp_path):
    path, dt = tmp_path / "a.h5", made().method.dt
    made().run(7 * dt, record=path, every=5).close()
    before = path.read_bytes()
    with pytest.raises(ds.DrystoneError, match=word):
        ds.resume(path, **arguments)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_run_that_is_stopped_before_its_first_step(tmp_path):
    path, whole, dt = tmp_path / "a.h5", tmp_path / "b.h5", made().method.dt
    made().run(7 * dt, record=path, every=5).close()
    reopen(path, 13 * dt)[1].close()
    with ds.read_recording(path) as stopped:
        assert np.array_equal(stopped.time, [0.0, 5 * dt])
    ds.resume(path, until=13 * dt)
    with ds.read_recording(path) as a, made().run(13 * dt, record=whole, every=5) as b:
        same(a, b, len(b))


def test_regular_ends_need_no_repair(tmp_path):
    path = tmp_path / "a.h5"
    dt = made().method.dt
    with made().run(10 * dt, record=path, every=5) as rec:
        assert not rec.odd
    with Lock(path) as lock:
        assert not repair(lock)
    with made().run(0.0, record=path, every=5) as rec:
        assert len(rec) == 1
        assert not rec.odd


@pytest.mark.parametrize(("every", "steps"), [(1, 40), (4, 300), (7, 61)])
def test_a_watched_run_is_told_every_step_and_records_the_same(every, steps, tmp_path):
    sim, plain = made(), made()
    dt = sim.method.dt
    with sim.record(tmp_path / "a.h5", every=every):
        done = watch(sim, steps * dt, title="", bar=False, keep=True)
    rec = plain.run(steps * dt, record=tmp_path / "b.h5", every=every)
    again = made()
    reports = [again.step() for _ in range(steps)]
    assert done.tally.steps == len(done.reports) == steps
    assert [r.energy for r in done.reports] == [r.energy for r in reports]
    assert [r.time for r in done.reports] == [r.time for r in reports]
    watched = ds.read_recording(tmp_path / "a.h5")
    assert len(watched) == len(rec) == 1 + steps // every + (steps % every > 0)
    same(watched, rec, len(rec))
    assert np.array_equal(watched.ends, rec.ends)


def test_steps_by_hand_between_watched_runs(tmp_path):
    sim, plain = made(), made()
    dt = sim.method.dt
    with sim.record(tmp_path / "a.h5", every=4):
        watch(sim, 6 * dt, title="", bar=False)
        sim.step()
        watch(sim, 9 * dt, title="", bar=False, each=lambda sim: None)
        watch(sim, 8 * dt, title="", bar=False)
    rec = plain.run(24 * dt, record=tmp_path / "b.h5", every=4)
    same(ds.read_recording(tmp_path / "a.h5"), rec, len(rec))
