"""Killed at any moment: the file opens, and the run goes on to the bits it would have had."""

import math
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import drystone as ds
from tests.recording.killed import simulation

WORKER = Path(__file__).parent / "killed.py"
# each computes for a second and more, so that kills within 0.8 s of that find it running
STEPS = {
    "spheres": 12000, "brazil-nut": 1500, "four-bar": 30000, "event-driven": 400, "penalty": 200,
}  # fmt: skip
# twice as long, for kills within SECONDS: few come before the first frames are flushed
LONGER, SECONDS = 2, 1.8


@cache
def uninterrupted(name, steps):
    sim = simulation(name)
    sim.step()
    sim.run(steps * sim.method.dt)
    return sim.state


def spent(worker):
    """Time that a process has computed for [s]: its progress, however busy the machine is. Where
    nobody tells, the time of day."""
    if sys.platform != "linux":
        return time.monotonic()
    try:
        return time.clock_gettime((~worker.pid << 3) | 2)  # as clock_getcpuclockid makes it
    except OSError:  # it has ended
        return math.inf


def killed_after(path, name, steps, seconds, there=True):
    """Start a run and kill it when it has computed for so many seconds more than when its file was
    there, or its first step made; whether it was still running."""
    args = [sys.executable, str(WORKER), str(path), name, str(steps)]
    worker = subprocess.Popen(args, stdout=subprocess.PIPE)
    try:
        assert worker.stdout.readline() == b"ready\n"
        while there and not path.exists() and worker.poll() is None:
            time.sleep(0.001)
        end = spent(worker) + seconds
        while worker.poll() is None:
            if spent(worker) >= end:
                worker.kill()
                return worker.wait() != 0
            time.sleep(0.001)
        return False
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()


def check(path, name, steps):
    """Open what a killed run left, go on, compare; how many frames there were."""
    with ds.read_recording(path) as rec:
        n = len(rec)
        assert np.array_equal(rec.time, (1 + np.arange(n) * rec.every) * rec.dt)
        assert np.isfinite(rec.position).all()
        assert np.isfinite(rec.velocity).all()
        for k in {0, n // 2, n - 1}:
            rec.contacts(k)
            assert k == 0 or rec.reports(k).ok
        done = rec.complete
    end = uninterrupted(name, steps)
    sim = ds.resume(path)
    for part in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(sim.state, part), getattr(end, part))
    with ds.read_recording(path) as rec:
        assert rec.complete
        assert not rec.live
        assert not rec.damage
        assert len(rec) == 1 + steps // rec.every
    return n, done


def kill(tmp_path, moments, seed, longer=1, seconds=0.8):
    """Kill runs at so many moments, within `seconds` of their beginning; of each that left a
    file: scene, frames, and whether it was found running."""
    rng = np.random.default_rng(seed)
    left = []
    for k in range(moments):
        name = list(STEPS)[k % len(STEPS)]
        path = tmp_path / f"{k}.h5"
        steps = int(longer * STEPS[name])
        alive = killed_after(path, name, steps, rng.uniform(0.0, seconds), there=k % 4 < 3)
        if not path.exists():  # before the file had its first frame
            assert alive
            continue
        if k % 2:  # and who goes on is killed, too
            killed_after(path, name, 0, rng.uniform(0.0, seconds))
        n, done = check(path, name, steps)
        assert alive or done
        left.append((name, n, alive))
        assert not list(tmp_path.glob(f".{path.name}.*")), "what was left is cleaned up"
        path.unlink()
    return left


def test_killed_at_five_moments(tmp_path):
    assert kill(tmp_path, 5, 1, 0.3, 0.3)


@pytest.mark.kills
@pytest.mark.parametrize("part", range(4))  # minutes each
def test_killed_at_two_hundred_moments(tmp_path, part):
    left = kill(tmp_path, 50, [2, part], LONGER, SECONDS)
    for name in STEPS:
        print(name, sorted(n for scene, n, _ in left if scene == name))
    print("found running:", sum(alive for *_, alive in left), "of", len(left))
    assert len(left) >= 40
    assert sum(alive for *_, alive in left) >= 40
    assert len({(name, n) for name, n, _ in left}) >= 30
    assert {name for name, *_ in left} == set(STEPS)


def test_a_resumed_run_is_killed_too(tmp_path):
    path = tmp_path / "a.h5"
    steps = STEPS["spheres"]
    killed_after(path, "spheres", steps, 0.5)
    code = f"import drystone as ds; print('ready', flush=True); ds.resume({str(path)!r})"
    for seconds in (0.05, 0.6):
        worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        worker.stdout.readline()
        time.sleep(seconds)
        worker.kill()
        worker.wait()
        worker.stdout.close()
    sim = ds.resume(path)
    assert np.array_equal(sim.state.velocity, uninterrupted("spheres", steps).velocity)
    with ds.read_recording(path) as rec:
        assert len(rec) == 1 + steps // rec.every
        assert np.array_equal(rec.velocity[-1], sim.state.velocity)


def test_others_read_while_it_grows(tmp_path):
    path = tmp_path / "a.h5"
    sim = simulation("spheres")
    with sim.record(path, every=1):
        sim.run(0.1)
        time.sleep(0.5)
        code = (
            "import drystone as ds, sys; rec = ds.read_recording(sys.argv[1]);"
            "print(len(rec), rec.live, rec.complete, rec.position.shape)"
        )
        args = [sys.executable, "-c", code, str(path)]
        out = subprocess.run(args, capture_output=True, text=True, check=True).stdout
    assert out.split(" ", 3)[1:3] == ["True", "False"]
    assert int(out.split()[0]) >= 2
