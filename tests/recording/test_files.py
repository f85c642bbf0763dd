"""Files that are no recordings, or not any more; disks that are full; edits while recording."""

import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.recording.checksums import text_array
from drystone.scenes import scene


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "a.h5"
    sim = scene("spheres", n=12).simulation()
    sim.run(0.2, record=path, every=4).close()
    return path


def world():
    out = ds.World(planar=True)
    out.add_ground()
    out.add_body(ds.Disk(0.1), name="disk", position=(0, 0.3))
    return out


def test_files_that_are_none(tmp_path, recorded):
    bad = tmp_path / "bad.h5"

    def complaint():
        with pytest.raises(ds.RecordingError) as caught:
            ds.read_recording(bad)
        assert str(caught.value).startswith(str(bad))
        return str(caught.value)

    assert "No such file" in complaint()
    bad.mkdir()
    assert "is a folder" in complaint()
    bad.rmdir()
    bad.write_bytes(b"")
    assert "is empty" in complaint()
    bad.write_text("time,x\n0,1\n")
    assert "not in the format HDF5" in complaint()
    data = recorded.read_bytes()
    for part in (0.001, 0.1, 0.5, 0.9, 0.999):
        bad.write_bytes(data[: int(part * len(data))])
        said = complaint()
        assert "cannot be opened" in said or "is cut off" in said or part < 0.01
    bad.unlink()
    with h5py.File(bad, "w") as file:
        file["x"] = np.zeros(3)
    assert "no recording of Drystone's" in complaint()


def test_a_later_version(tmp_path, recorded):
    later = tmp_path / "later.h5"
    with h5py.File(recorded) as old, h5py.File(later, "w", libver="latest") as new:
        about = json.loads(old["about"][()].tobytes())
        new["about"] = text_array(json.dumps(about | {"version": 99}))
        new.create_group("frames")
    with pytest.raises(ds.RecordingError, match=r"later version of Drystone .*format 99"):
        ds.read_recording(later)


def test_places_that_cannot_be_written(tmp_path):
    sim = ds.Simulation(world())
    why = ": No such file or directory" if os.name == "posix" else ""
    with pytest.raises(ds.RecordingError, match=f"cannot be written{why}"):
        sim.run(0.1, record=tmp_path / "nowhere" / "a.h5")
    with pytest.raises(ds.RecordingError, match="cannot be written"):
        sim.run(0.1, record=tmp_path)
    for letters in (5000, 250):  # the second is the lock's alone
        with pytest.raises(ds.RecordingError, match="cannot be written"):
            sim.run(0.1, record=tmp_path / ("a" * letters))
    assert sim.time == 0.0
    sim.run(0.1)
    assert sim.time > 0.0


@pytest.mark.parametrize(
    "state", [{1, 2}, b"a", 1j, np.array([None]), {"a": [object()]}, np.datetime64("2020-01-01")]
)
def test_states_that_no_file_can_keep(state, tmp_path):
    class Callback:
        def state(self):
            return state

        def restore(self, state):
            """Never called."""

        def __call__(self, sim):
            """Does nothing."""

    sim = ds.Simulation(world())
    with pytest.raises(ds.RecordingError, match=r"the callback: .* cannot be kept"):
        sim.run(0.1, record=tmp_path / "a.h5", callback=Callback())
    assert sim.time == 0.0
    assert list(tmp_path.iterdir()) == []
    recorder = sim.record(tmp_path / "b.h5")
    recorder.callback = Callback()
    with pytest.raises(ds.RecordingError, match="kept"):
        recorder.close()


FULL = """
import resource, signal, sys
import drystone as ds
from drystone.scenes import scene
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails, as on a full disk
sim = scene("spheres", n=60).simulation()
sim.run(0.01)
resource.setrlimit(resource.RLIMIT_FSIZE, (12_000_000, resource.RLIM_INFINITY))
try:
    with sim.record(sys.argv[1], every=1):
        for _ in range(200):  # each at most so many frames at once, however fast the machine is
            sim.run(0.1)
except ds.RecordingError as error:
    print(error)
reached = sim.time
sim.step()
print(reached > 0.01, sim.time > reached)
"""


@pytest.mark.posix("limits of resources")
def test_a_full_disk(tmp_path):
    path = tmp_path / "a.h5"
    args = [sys.executable, "-c", FULL, str(path)]
    out = subprocess.run(args, capture_output=True, text=True, timeout=900)
    assert out.returncode == 0, out.stderr
    assert "writing failed" in out.stdout
    assert out.stdout.endswith("True True\n"), "the simulation goes on from where it came to"
    with ds.read_recording(path) as rec:
        assert len(rec) > 1
        assert np.isfinite(rec.position).all()


def test_edits_end_a_recording(tmp_path):
    sim = ds.Simulation(world())

    def edit(sim):
        if sim.time > 0.05:
            sim.world.add_body(ds.Disk(0.1), position=(3, 1))

    with pytest.raises(ds.RecordingError, match="world was edited while it was recorded"):
        sim.run(0.2, record=tmp_path / "a.h5", every=1, callback=edit)
    assert len(sim.bodies) == 3
    rec = ds.read_recording(tmp_path / "a.h5")
    assert not rec.complete
    assert rec.names == ("ground", "disk")
    sim.run(0.1, record=tmp_path / "b.h5", every=1)
    assert len(ds.read_recording(tmp_path / "b.h5").names) == 3


def test_wrong_options(tmp_path):
    sim = ds.Simulation(world())
    path = tmp_path / "a.h5"
    with pytest.raises(ds.OptionError, match="every = 0"):
        sim.run(1, record=path, every=0)
    with pytest.raises(ds.OptionError, match="rng = 3"):
        sim.run(1, record=path, rng=3)
    with sim.record(path), pytest.raises(ds.OptionError, match=r"is recorded to .*a\.h5"):
        sim.record(path)
    with pytest.raises(ds.OptionError, match="does not say when"):
        ds.resume(path)
    assert ds.resume(path, until=0.05).time == pytest.approx(0.05)
    with pytest.raises(ds.OptionError, match="until = inf"):
        ds.resume(path, until=float("inf"))


def test_a_run_that_fails_keeps_what_it_reached(tmp_path):
    far = world()
    far.add_force(ds.Callback(lambda m, s: {"disk": (np.nan if s.time > 0.05 else 0, 0, 0)}))
    sim = ds.Simulation(far)
    with pytest.raises(ds.SimulationError):
        sim.run(0.2, record=tmp_path / "a.h5", every=1)
    rec = ds.read_recording(tmp_path / "a.h5")
    assert not rec.complete
    assert rec.time[-1] == sim.time > 0.05
    assert rec.world is None
    assert "Callback" in rec.undescribed


def read_all(path):
    """Everything a reader can ask; RecordingError, and nothing else, may come."""
    try:
        with ds.read_recording(path) as rec:
            rec.time, rec.position, rec.orientation, rec.velocity, rec.model, rec.world  # noqa: B018
            for k in range(len(rec)):
                rec.contacts(k)
                rec.joints(k)
                rec.state(k)
                if k:
                    rec.reports(k)
            rec.series("total")
            for k in range(len(rec.checkpoints)):
                rec.snapshot(k)
            rec.complete, rec.duration, rec.title, repr(rec)
    except ds.RecordingError:
        return False
    return True


def damage(recorded, folder, count, seed):
    data = np.frombuffer(recorded.read_bytes(), np.uint8)
    rng = np.random.default_rng(seed)
    path = folder / "damaged.h5"
    read = 0
    for k in range(count):
        bad = data.copy()
        many = int(rng.choice([1, 1, 4, 64]))
        # the beginning of the file, where its structure is, and anywhere
        top = min(len(data), 4096) if k % 3 == 0 else len(data)
        at = rng.integers(0, top, many)
        if k % 5 == 4:
            first = int(rng.integers(0, len(data) - 64))
            bad[first : first + 64] = rng.integers(0, 256, 64)
        else:
            bad[at] = rng.integers(0, 256, many)
        path.write_bytes(bad.tobytes())
        read += read_all(path)
    return read


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "a.h5"
    ds.Simulation(world()).run(0.05, record=path, every=4).close()
    return path


def test_damaged_bytes(small, tmp_path):
    assert read_all(small)
    assert damage(small, tmp_path, 60, 1) < 60  # some of it is noticed


@pytest.mark.fuzz
def test_a_thousand_damaged_files(small, recorded, tmp_path):
    assert damage(small, tmp_path, 1000, 2) < 1000
    assert damage(recorded, tmp_path, 200, 3) < 200
