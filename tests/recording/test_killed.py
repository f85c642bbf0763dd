"""Killed at any moment: the file opens, and the run goes on to the bits it would have had."""

import math
import sys
import time
from functools import cache

import numpy as np
import pytest

import drystone as ds
from tests.recording.killed import SCENES, look, record, resume, simulation, start

PIECES = dict(
    zip(SCENES, (480, 60, 1200, 16, 8), strict=True)
)  # steps: some hundredths of a second


@cache
def lasting(name, seconds):
    """Steps for which a run computes so long [s], and longer with its recording: whoever is killed
    before is found running, on any machine."""
    for _ in range(2):  # the second time with all kernels loaded
        sim, steps = simulation(name), 0
        sim.step()
        end = time.process_time() + seconds
        while time.process_time() < end:
            sim.run(PIECES[name] * sim.method.dt)
            steps += PIECES[name]
    return steps


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


def killed_after(seconds, task, path, *args, there=True):
    """Start a task and kill it when it has computed for so many seconds more than when its file was
    there, or its first step made; whether it was still running."""
    worker, _ = start(task, path, *args)
    while there and not path.exists() and worker.is_alive():
        time.sleep(0.001)
    end = spent(worker) + seconds
    while worker.is_alive() and spent(worker) < end:
        time.sleep(0.001)
    worker.kill()
    worker.join()
    assert worker.exitcode <= 0, "it ended by itself, or was killed"
    return worker.exitcode != 0


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


def kill(tmp_path, moments, seed, seconds):
    """Kill runs at so many moments, within `seconds` of their beginning; of each that left a
    file: scene, frames, and whether it was found running."""
    rng = np.random.default_rng(seed)
    left = []
    for k in range(moments):
        name = SCENES[k % len(SCENES)]
        path = tmp_path / f"{k}.h5"
        steps = lasting(name, seconds)
        there = k % 4 < 3
        alive = killed_after(rng.uniform(0.0, seconds), record, path, name, steps, there=there)
        if not path.exists():  # before the file had its first frame
            assert alive
            continue
        if k % 2:  # and who goes on is killed, too
            killed_after(rng.uniform(0.0, seconds), resume, path)
        n, done = check(path, name, steps)
        assert alive or done
        left.append((name, n, alive))
        assert not list(tmp_path.glob(f".{path.name}.*")), "what was left is cleaned up"
        path.unlink()
    return left


def test_killed_at_five_moments(tmp_path):
    assert kill(tmp_path, 5, 1, 0.3)


@pytest.mark.kills
@pytest.mark.parametrize("part", range(4))  # minutes each
def test_killed_at_two_hundred_moments(tmp_path, part):
    left = kill(tmp_path, 50, [2, part], 1.8)  # few come before the first frames are flushed
    for name in SCENES:
        print(name, sorted(n for scene, n, _ in left if scene == name))
    print("found running:", sum(alive for *_, alive in left), "of", len(left))
    assert len(left) >= 40
    assert sum(alive for *_, alive in left) >= 40
    assert len({(name, n) for name, n, _ in left}) >= 30
    assert {name for name, *_ in left} == set(SCENES)


def test_a_resumed_run_is_killed_too(tmp_path):
    path = tmp_path / "a.h5"
    steps = lasting("spheres", 0.9)
    killed_after(0.5, record, path, "spheres", steps)
    for seconds in (0.05, 0.4):
        killed_after(seconds, resume, path)
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
        worker, (live, complete, shape) = start(look, path)
        worker.join()
    assert live
    assert not complete
    assert shape[0] >= 2
    assert shape[1:] == sim.state.position.shape
