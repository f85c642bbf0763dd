"""Recordings of earlier formats open, and are written anew when a run goes on with them."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import drystone as ds
from drystone.recording import layout
from drystone.recording.locks import Lock
from drystone.recording.repair import repair

DATA = Path(__file__).parent / "data"  # made by the code of that format: file, and what was seen


@pytest.fixture(params=["1_planar", "1_spatial", "2_planar", "2_spatial"])
def old(request, tmp_path):
    path = tmp_path / "old.h5"
    path.write_bytes(gzip.decompress((DATA / f"version_{request.param}.h5.gz").read_bytes()))
    return path, np.load(DATA / f"version_{request.param}.npz")


def anew(path, salvage=False):
    """What repair did to a file, in words."""
    with Lock(path) as lock:
        return repair(lock, salvage)


def check(rec, seen):
    assert len(rec) == 1 + len(seen["counts"])
    assert np.array_equal(rec.position[1:], seen["position"])
    assert np.array_equal(rec.velocity[1:], seen["velocity"])
    assert np.array_equal(rec.series("total"), seen["total"])
    assert len(rec.contacts(0)) == 0
    assert [len(rec.contacts(k)) for k in range(1, len(rec))] == seen["counts"].tolist()
    for name in rec.contacts(1).dtype.names:
        column = np.concatenate([rec.contacts(k, forces="raw")[name] for k in range(1, len(rec))])
        assert np.array_equal(column, seen[f"contact_{name}"]), name
    assert rec.complete
    assert all(rec.reports(k).ok for k in range(1, len(rec)))
    assert rec.snapshot(-1)["steps"] == len(rec) - 1
    assert rec.world is not None


def test_a_file_of_an_earlier_format_is_read_as_it_is(old):
    path, seen = old
    before = path.read_bytes()
    with ds.read_recording(path) as rec:
        assert rec.version < layout.FORMAT_VERSION
        assert not rec.damage
        check(rec, seen)
        assert len(rec.to_pandas("contacts")) == seen["counts"].sum()
        told = rec.summary  # of its frames: it has no other totals
        assert told.ok
        assert told.steps == len(seen["counts"])
        assert told.residual == rec.series("residual").max()
        assert told.end == rec.time[-1]
    assert path.read_bytes() == before


def test_it_is_written_anew_to_be_gone_on_with(old):
    path, seen = old
    assert anew(path) == "written anew"
    assert not anew(path)
    with ds.read_recording(path) as rec:
        assert rec.version == layout.FORMAT_VERSION
        check(rec, seen)
        assert not rec.damage
    if seen["counts"].size != 12:  # the first format knew fewer checkpoints
        return
    assert ds.resume(path, until=0.2).time == pytest.approx(0.2)
    with ds.read_recording(path) as rec:
        assert not rec.damage


@pytest.mark.parametrize("frames", [1, 3])
def test_in_pieces_of_any_size(old, frames, monkeypatch):
    path, seen = old
    monkeypatch.setattr("drystone.recording.repair.FRAMES_CONVERTED", frames)
    assert anew(path)
    with ds.read_recording(path) as rec:
        check(rec, seen)
        assert not rec.damage


@pytest.mark.parametrize("name", ["soft", "o2", "pendulum", "ev-collapse"])
def test_runs_that_were_recorded_before_names_changed_go_on(name, tmp_path):
    """What a step leaves for the next one had other names: soft fingers and order 2 stepped in
    Python, joints had kinds by number, the event-driven method words for states."""
    path = tmp_path / "old.h5"
    path.write_bytes(gzip.decompress((DATA / f"before_0.2_{name}.h5.gz").read_bytes()))
    with ds.read_recording(path) as rec:
        ended, frames = rec.time[-1], len(rec)
    sim = ds.resume(path, until=ended + 0.025)
    assert sim.time == pytest.approx(ended + 0.025)
    assert sim.report.ok
    with ds.read_recording(path) as rec:
        assert len(rec) > frames
        assert np.abs(np.diff(rec.position, axis=0)).max() < 0.05  # no jump


def test_a_world_that_another_processor_rounded_is_the_same_and_one_beside_it_is_not(tmp_path):
    def pendulum(anchor):
        world = ds.World(planar=True)
        rod = world.add_body(
            ds.Rectangle(0.4, 0.04), position=(0.2, 0.3), orientation=0.1, mass=1.0
        )
        world.add_joint(ds.Pin(rod, anchor=(anchor, 0.3)))
        return world

    path = tmp_path / "a.h5"
    ds.Simulation(pendulum(0.01), ds.TimeStepping(dt=0.01)).run(0.1, record=path)
    sim = ds.resume(path, until=0.2, world=pendulum(0.01 + 1e-17))
    assert sim.time == pytest.approx(0.2)
    with pytest.raises(ds.RecordingError, match=r"not the world that was recorded: joints\.anchor"):
        ds.resume(path, until=0.3, world=pendulum(0.01 + 1e-12))
