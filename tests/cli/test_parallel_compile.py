"""A second process that compiles: only where kernels are missing, and it ends with the run."""

import subprocess

import pytest

from drystone.cli import parallel_compile
from drystone.kernels import _calls
from drystone.kernels._jit import MODE
from drystone.scenes.registry import scene
from drystone.steppers.time_stepping.stepper import TimeStepper

pytestmark = pytest.mark.skipif(MODE == "off", reason="nothing is compiled")


@pytest.fixture
def started(monkeypatch):
    """Commands of processes that were started, and whether they still run."""
    found = []

    class Process:
        def __init__(self, command, **given):
            self.command, self.runs = command, True
            found.append(self)

        def terminate(self):
            self.runs = False

        def wait(self):
            assert not self.runs

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(parallel_compile, "count_cores", lambda: 2)
    return found


@pytest.mark.parametrize(("dim", "jointed"), list(parallel_compile.SCENES))
def test_scenes_are_of_their_kind(dim, jointed):
    simulation = scene(parallel_compile.SCENES[dim, jointed]).simulation()
    assert simulation.model.dim == dim
    assert isinstance(simulation.stepper, TimeStepper)
    assert simulation.stepper.jointed == jointed


def test_none_is_started_where_kernels_are(started):
    simulation = scene("sliding-block").simulation()
    simulation.step()
    with parallel_compile.parallel_compilation(simulation):
        pass
    assert not started


def test_one_is_started_where_they_are_missing_and_ends(started, monkeypatch, tmp_path):
    monkeypatch.setattr(parallel_compile, "cache_folder", lambda module: tmp_path)
    simulation = scene("sliding-block").simulation()
    with parallel_compile.parallel_compilation(simulation):
        assert started[0].runs
    assert started[0].command[1:] == ["-m", "drystone.cli.parallel_compile", "incline"]
    assert not started[0].runs


def test_a_machine_that_starts_none_compiles_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel_compile, "cache_folder", lambda module: tmp_path)
    monkeypatch.setattr(parallel_compile, "count_cores", lambda: 2)
    monkeypatch.setattr(parallel_compile.sys, "executable", str(tmp_path / "nothing"))
    simulation = scene("sliding-block").simulation()
    with parallel_compile.parallel_compilation(simulation):
        assert simulation.step().ok


def test_one_core_is_left_alone(started, monkeypatch, tmp_path):
    monkeypatch.setattr(parallel_compile, "cache_folder", lambda module: tmp_path)
    monkeypatch.setattr(parallel_compile, "count_cores", lambda: 1)
    with parallel_compile.parallel_compilation(scene("sliding-block").simulation()):
        pass
    assert not started


@pytest.mark.parametrize(
    ("dim", "jointed", "other"),
    [(2, False, "hopper"), (3, False, "spheres"), (2, True, "slider-crank"), (3, True, "ragdoll")],
)
def test_what_is_compiled_is_what_another_world_of_the_kind_asks_for(dim, jointed, other):
    parallel_compile.main(parallel_compile.SCENES[dim, jointed])
    stepper = scene(other).simulation().stepper
    assert isinstance(stepper, TimeStepper)
    assert stepper.jointed == jointed
    before = set(_calls._KNOWN)
    assert (stepper.job.program > 0).all()
    assert {kernel for kernel, _ in set(_calls._KNOWN) - before} == set()
