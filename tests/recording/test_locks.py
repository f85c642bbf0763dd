"""One writer at a time; files that are none, full disks and what killed runs leave behind."""

import multiprocessing
import os
import socket
import subprocess
import sys
import time
import warnings

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.recording import locks
from drystone.recording.locks import Lock
from drystone.recording.opening import lookup3

RUNNER = """
import sys, drystone as ds
world = ds.World(planar=True)
world.add_ground()
world.add_body(ds.Disk(0.1), name="disk", position=(0, 0.3))
sim = ds.Simulation(world)
with sim.record(sys.argv[1], every=1, until=1.0):
    sim.run(0.1)
    print("recording", flush=True)
    sys.stdin.readline()
    sim.run(0.1)
"""


def world():
    out = ds.World(planar=True)
    out.add_ground()
    out.add_body(ds.Disk(0.1), name="disk", position=(0, 0.3))
    return out


def recorded(path, seconds=0.1):
    ds.Simulation(world()).run(seconds, record=path, every=1).close()
    return path


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def runner(tmp_path):
    """A process that records to a.h5 until it is told to end."""
    path = tmp_path / "a.h5"
    args = [sys.executable, "-c", RUNNER, str(path)]
    with subprocess.Popen(
        args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "recording\n"
            while not path.exists() and process.poll() is None:  # a thread makes the file
                time.sleep(0.01)
            yield process, path
        finally:
            process.kill()


def test_a_file_that_is_being_recorded_is_not_touched(runner):
    process, path = runner
    for act in (
        lambda: ds.resume(path, until=2.0),
        lambda: ds.Simulation(world()).run(0.1, record=path),
        lambda: ds.Simulation(world()).record(path, overwrite=False),
    ):
        with pytest.raises(ds.RecordingError, match=rf"process {process.pid} .*-c .*wait until"):
            act()
    out = command("resume", path, "--until", 2)
    assert out.exit_code == 2
    assert f"is being written by process {process.pid}" in out.output
    with ds.read_recording(path) as rec:  # anybody may read
        assert rec.live
    process.communicate("\n", timeout=900)
    assert process.returncode == 0
    with ds.read_recording(path) as rec:
        assert rec.complete
        assert len(rec) == 49, "the runner's further frames are there"
        assert not rec.damage
    assert ds.resume(path, until=0.3).time == pytest.approx(0.3)
    assert sorted(item.name for item in path.parent.iterdir()) == ["a.h5"]


@pytest.mark.posix("names of open files")
def test_nor_under_another_name(runner):
    process, path = runner
    other, link, hard = (path.with_name(name) for name in ("moved.h5", "link.h5", "hard.h5"))
    link.symlink_to(path)
    hard.hardlink_to(path)
    for name in (link, hard):
        with pytest.raises(ds.RecordingError, match=f"process {process.pid} "):
            ds.resume(name, until=2.0)
    path.rename(other)
    with pytest.raises(ds.RecordingError, match=f"process {process.pid} "):
        ds.resume(other, until=2.0)
    process.communicate("\n", timeout=900)
    with ds.read_recording(other) as rec:
        assert len(rec) == 49


def test_a_lock_ends_with_its_process(runner):
    process, path = runner
    process.kill()
    process.wait()
    left = {item.name for item in path.parent.iterdir()}
    assert ".a.h5.lock" in left
    (path.parent / ".a.h5.99999999.part").write_bytes(b"of another killed run")
    (path.parent / ".b.h5.99999999.part").write_bytes(b"of another file's")
    sim = ds.resume(path)
    assert sim.time == pytest.approx(1.0)
    assert {item.name for item in path.parent.iterdir()} == {"a.h5", ".b.h5.99999999.part"}


@pytest.mark.posix("fork")
def test_a_forked_process_has_no_part_in_it(tmp_path):
    path = tmp_path / "a.h5"
    lock = Lock(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of the tests
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
    try:
        lock.release()
        Lock(path).release()
        assert child.is_alive()
        assert not list(tmp_path.iterdir())
    finally:
        child.kill()
        child.join()


def test_twice_in_one_process(tmp_path):
    path = tmp_path / "a.h5"
    with (
        ds.Simulation(world()).record(path),
        pytest.raises(ds.RecordingError, match="is being recorded by this process"),
    ):
        ds.Simulation(world()).run(0.1, record=path)
    recorded(path)


@pytest.mark.posix("locks that readers pass")
def test_a_file_that_another_program_has_open(tmp_path):
    path = recorded(tmp_path / "a.h5")
    with h5py.File(path), pytest.raises(ds.RecordingError, match="is open in"):
        ds.resume(path, until=0.2)
    ds.resume(path, until=0.2)


@pytest.mark.posix("flock")
def test_where_there_are_no_locks_it_is_said(tmp_path, monkeypatch):
    def none(file, how):
        raise OSError(locks.errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    part = tmp_path / ".a.h5.1.part"  # of whom, nobody can tell
    part.touch()
    with pytest.warns(ds.RecordingWarning, match=r"keeps no locks \(No locks available\)"):
        recorded(tmp_path / "a.h5")
    assert part.exists()


def test_existing_files(tmp_path):
    path = recorded(tmp_path / "a.h5")
    before = path.read_bytes()
    with pytest.raises(ds.RecordingError, match=r"exists already.*overwrite=True"):
        ds.Simulation(world()).run(0.1, record=path, overwrite=False)
    out = command("run", "rolling-ball", "--duration", 0.01, "--record", path)
    assert out.exit_code == 2
    assert "--overwrite" in out.output
    assert "drystone resume" in out.output
    assert path.read_bytes() == before
    assert command("run", "rolling-ball", "--duration", 0.01, "--record", path, "-f").exit_code == 0
    assert path.read_bytes() != before
    recorded(path)  # from Python it is replaced: a script is run again and again
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.h5"]


def special(folder):
    """Things that are no files, by what is said of them."""
    pipe, unix = folder / "pipe", folder / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(unix))
    return {"named pipe": pipe, "socket": unix, "device": "/dev/zero", "folder": folder}


@pytest.mark.posix("named pipes, devices")
@pytest.mark.parametrize("ending", [".h5", ".hdf5", ".yaml", ".json", ".dat", ".npz"])
def test_what_is_no_file_is_refused_at_once(tmp_path, ending):
    for word, place in special(tmp_path).items():
        path = tmp_path / f"it{ending}"
        path.symlink_to(place)
        commands = [("check", path)]
        if ending == ".h5":
            commands += [
                ("resume", path), ("export", path, "--to", "csv"), ("plot", path),
                ("view", path, "--html", tmp_path / "a.html"), ("solve", path),
                ("run", "wall", "--duration", "0.01", "--record", path, "-f"),
            ]  # fmt: skip
        elif ending == ".yaml":
            commands += [("run", path), ("view", path, "--html", tmp_path / "a.html")]
        for words in commands:
            out = command(*words)
            assert out.exit_code == 2, words
            assert word in out.output or "cannot be written" in out.output, (words, out.output)
        path.unlink()


def test_until_before_what_is_recorded(tmp_path):
    path = recorded(tmp_path / "a.h5")
    before = path.read_bytes()
    with pytest.raises(ds.OptionError, match=r"until = 0.05 s: .*is recorded until 0.1 s already"):
        ds.resume(path, until=0.05)
    for more in ((), ("--json",)):
        out = command("resume", path, "--until", 0.05, *more)
        assert out.exit_code == 2
        assert "recorded until 0.1 s already" in out.output
    assert path.read_bytes() == before
    for more in ((), ("--json",)):
        out = command("resume", path, "--until", 0.1, *more)
        assert out.exit_code == 0, out.output
        assert "0.1" in out.output
    with ds.read_recording(path) as rec:
        assert rec.time[-1] == pytest.approx(0.1)


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, resource.RLIM_INFINITY))
sys.argv = ["drystone", *sys.argv[1:]]
from drystone.cli.main import main
main()
"""


@pytest.mark.posix("limits of resources")
def test_a_full_disk_ends_a_command_with_what_was_kept(tmp_path):
    path = tmp_path / "a.h5"
    words = ["run", "spheres", "--set", "n=60", "--duration", "30", "--record", str(path)]
    out = subprocess.run(
        [sys.executable, "-c", FULL, *words], capture_output=True, text=True, timeout=900
    )
    assert out.returncode == 1, out.stderr
    assert "writing failed: " in out.stderr
    with ds.read_recording(path) as rec:
        assert f"{len(rec)} frames, until {rec.time[-1]:g} s, were kept" in out.stderr
        assert np.isfinite(rec.position).all()
    assert [item.name for item in tmp_path.iterdir()] == ["a.h5"]


def foreign(path, kind):
    """A file of somebody else's work."""
    if kind == "text":
        path.write_text("what I found out today\n")
    elif kind == "short":
        path.write_bytes(b"\x89HDF")
    else:
        with h5py.File(path, "w", libver="latest" if kind == "latest" else "earliest") as file:
            file["temperature"] = np.arange(5.0)


@pytest.mark.parametrize("kind", ["text", "short", "hdf5", "latest"])
def test_files_that_are_no_recordings_are_never_replaced(tmp_path, kind):
    path = tmp_path / "notes.h5"
    foreign(path, kind)
    before = path.read_bytes()
    for how in (
        lambda: ds.Simulation(world()).run(0.1, record=path),
        lambda: ds.Simulation(world()).record(path, overwrite=True),
    ):
        with pytest.raises(ds.RecordingError, match="it is not replaced: record to another file"):
            how()
    out = command("run", "rolling-ball", "--duration", 0.01, "--record", path, "-f")
    assert out.exit_code == 2
    assert "it is not replaced" in " ".join(out.output.split())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "nothing is left behind"


def test_empty_files_and_killed_recordings_are_replaced(tmp_path):
    path = tmp_path / "a.h5"
    path.touch()  # as tempfile makes them
    recorded(path)
    raw = bytearray(path.read_bytes())
    raw[11] = 5  # a writer that did not close it
    raw[44:48] = lookup3(bytes(raw[:44])).to_bytes(4, "little")
    path.write_bytes(raw)
    recorded(path)
    with ds.read_recording(path) as rec:
        assert rec.complete
