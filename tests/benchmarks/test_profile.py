"""Kernels of a run: counted, sampled in machine code, and compiled once for all scenes alike."""

import struct
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from benchmarks import compiling, sampler
from benchmarks.__main__ import app
from benchmarks.clock import fastest
from benchmarks.scenes import cases as cases
from benchmarks.scenes import profile as profiles
from drystone.kernels import rows
from drystone.kernels._jit import MODE

compiled = pytest.mark.skipif(MODE == "off", reason="needs compiled kernels")
sampled = pytest.mark.skipif(not sampler.available(), reason="Linux on x86-64, compiled")


@compiled
def test_calls_from_python_are_counted_and_nothing_stays_behind():
    f = np.zeros((0, 3, 2, 6))
    args = (np.zeros((0, 2), np.int64), f, np.zeros((0, 3)), np.zeros((2, 6)), np.zeros((0, 3)))
    rows.row_velocities(*args)
    with profiles.counted_calls() as (calls, seconds):
        for _ in range(5):
            rows.row_velocities(*args)
    assert calls == {"rows.row_velocities": 5}
    assert seconds["rows.row_velocities"] > 0
    rows.row_velocities(*args)
    assert calls.total() == 5


@sampled
def test_samples_fall_into_the_kernel_that_runs():
    """A kernel kept busy for a while has nearly all samples; a pause in Python has none."""
    n = 20000
    J, v = np.ones((n, 3, 2, 6)), np.ones((4, 6))
    body, bias, out = np.zeros((n, 2), np.int64), np.zeros((n, 3)), np.empty((n, 3))
    rows.row_velocities(body, J, bias, v, out)
    calls = 1 + int(0.3 / fastest(lambda: rows.row_velocities(body, J, bias, v, out), repeats=5))
    samples = sampler.Samples(1e-3)
    with samples.running():
        for _ in range(calls):  # no clock among them: a system call is where others get their turn
            rows.row_velocities(body, J, bias, v, out)
    found = samples.by_function()
    assert found.total() > 20
    assert found["rows.row_velocities"] > 0.8 * found.total()
    before = len(samples.places)
    time.sleep(0.01)
    assert len(samples.places) == before  # the timer is off
    with samples.running():
        sum(k * k for k in range(10**6))
    assert samples.by_function()[sampler.OUTSIDE] > found[sampler.OUTSIDE]


def test_mangled_names_are_read():
    mangled = "_ZN8drystone7kernels13island_sweeps5sweepB2v1B38c8tJTIeFIjxB2IKSgI4CrvQClEv"
    assert sampler.plain(mangled) == "island_sweeps.sweep"
    assert sampler.plain("memcpy") == "memcpy"
    assert sampler._symbols(b"") == []


def test_symbols_of_a_small_object_file():
    """An ELF file written by hand: one function, one table of symbols, one of names."""
    names = b"\0f\0"
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 7, 64, 32)
    body = 64 + len(names) + len(symbol)
    heads = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(names), 0, 0, 0, 0)
    heads += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 64 + len(names), 24, 0, 0, 0, 24)
    file = bytearray(body) + heads
    struct.pack_into("<Q", file, 0x28, body)
    struct.pack_into("<HH", file, 0x3A, 64, 2)
    file[64:body] = names + symbol
    assert sampler._symbols(bytes(file)) == [("f", 7, 64, 32)]


@compiled
def test_a_case_has_a_profile():
    case = cases.by_name(["pyramid-55"])[0]
    found = profiles.profile(case, shorter=0.02)
    assert found.step > 0
    table = profiles.rows(found)
    assert 0 < len(table) <= profiles.SHOWN
    costs = [profiles._cost(one) for one in found.kernels]
    assert costs == sorted(costs, reverse=True)
    if sampler.available():
        assert sum(one.seconds for one in found.kernels) == pytest.approx(found.step)
    assert any("pyramid-55" in line for line in profiles.markdown([found]))


def test_without_sampling_there_are_still_calls(monkeypatch):
    monkeypatch.setattr(sampler, "available", lambda: False)
    found = profiles.profile(cases.by_name(["roll"])[0], shorter=0.02)
    assert found.sampled == 0
    if MODE != "off":
        assert any(one.calls > 0 for one in found.kernels)
        assert profiles.rows(found)[0][2] == ""


@compiled
def test_a_scene_of_kinds_seen_before_compiles_nothing():
    """In one new process; kernels that a scene brings for the first time are named."""
    first, second, third = compiling.compiled(("pyramid", "wall", "mass-ratio"))
    assert first["new"]
    for other in (second, third):
        assert other["again"] == []
        assert other["kernels"] == 0
    assert second["new"] == []


@compiled
def test_compile_command(monkeypatch, tmp_path):
    row = {
        "scene": "spheres", "seconds": 1.5, "compiling": 1.0, "kernels": 2, "new": [],
        "again": ["rows.twice"], "slowest": [["rows.slow", 0.9]],
    }  # fmt: skip
    monkeypatch.setattr(compiling, "measure", lambda scenes: [("alone", row)])
    done = CliRunner().invoke(app, ["compile", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "rows.twice" in done.output
    assert "| alone | spheres | 1.50 |" in (tmp_path / "compile.md").read_text()
    done = CliRunner().invoke(app, ["compile", "--only", "sphere"])
    assert done.exit_code == 2
    assert "--only sphere" in done.output


def test_a_worker_that_fails_says_why():
    with pytest.raises(ds.SimulationError, match="no-such-scene"):
        compiling.compiled(("no-such-scene",))


def test_a_profile_says_what_it_rests_on():
    few = profiles.Profile("one", "3D", 1e-5, (), float("nan"), 12)
    many = profiles.Profile("many", "3D", 1e-2, (), 5e-8, 5000)
    assert "12 looks (few" in profiles.title(few)
    assert "contact and sweep" not in profiles.title(few)
    assert "few" not in profiles.title(many)
    assert "50 ns for each contact and sweep" in profiles.title(many)
