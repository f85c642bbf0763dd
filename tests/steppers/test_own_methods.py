"""Methods of simulation from outside of the package."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest

import drystone as ds
from drystone.comparison.method_texts import read_method
from drystone.steppers.registry import METHODS


class Flight(ds.Stepper):
    """The parabola of every body."""

    def __init__(self, model, spin):
        self.spin = spin
        super().__init__(model)

    def step(self, state, h):
        before, after, moves = self.energies(state), state.copy(), self.model.inverse_mass > 0
        g = np.append(self.model.gravity, 0.0)
        turn = np.where(self.spin == "kept", state.velocity, state.velocity * (1, 1, 0))
        after.position[moves] += (h * turn + 0.5 * h * h * g)[moves, :2]
        after.orientation[moves] += h * turn[moves, 2]
        after.velocity[moves] += h * g
        after.time = state.time + h
        return after, self.report(before, after, h, methods=("parabola",))


@dataclass(frozen=True)
class Ballistic(ds.Method):
    """Free flight in the plane: no contacts, no joints."""

    dt: float = 0.01
    spin: Literal["kept", "none"] = "kept"
    mass: float | None = None

    name: ClassVar[str] = "ballistic"

    def stepper(self, model):
        if model.dim != 2:
            raise ds.ModelError("ballistic: planar worlds only")
        return Flight(model, self.spin)


@pytest.fixture
def clean(monkeypatch):
    monkeypatch.setattr(METHODS, "_added", dict(METHODS._added))
    return ds.register_method(Ballistic)


def thrown():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="disk", position=(0, 1), velocity=(1, 2), angular_velocity=3)
    return world


def test_it_is_known_by_its_name(clean, tmp_path):
    sim = ds.Simulation(thrown(), "ballistic")
    kept = sim.run(1.0, record=True)
    exact = [1.0, 1 + 2 - 0.5 * 9.81]
    np.testing.assert_allclose(sim.state.position[sim.bodies.index("disk")], exact, rtol=1e-12)
    assert sim.report.status is ds.Status.SOLVED
    assert sim.report.energy.closes
    assert abs(sim.report.energy.integration) < 1e-12
    assert sim.report.penetration == 0.0
    assert len(kept.time) > 10
    assert not len(sim.contacts)
    assert sim.penetration > 1.0  # nothing holds it above the ground
    other = ds.Simulation(thrown(), "ballistic")
    other.run(0.5)
    known = other.snapshot()
    other.run(0.5)
    assert other.state.position.tobytes() == sim.state.position.tobytes()
    other.restore(known)
    other.world.add_body(ds.Disk(0.1), name="second", position=(5, 1))
    other.run(0.5)
    assert other.state.position[:2].tobytes() == sim.state.position.tobytes()


def test_files_and_commands_know_it(clean, tmp_path):
    world, method = thrown(), Ballistic(dt=0.02, spin="none")
    ds.write_scene(tmp_path / "thrown.yaml", world, method=method)
    assert "name: ballistic" in (tmp_path / "thrown.yaml").read_text()
    scene = ds.read_scene(tmp_path / "thrown.yaml")
    assert scene.method == method
    sim = scene.simulation()
    sim.run(0.1, record=tmp_path / "a.h5")
    recording = ds.read_recording(tmp_path / "a.h5")
    assert recording.method == {"name": "ballistic", "dt": 0.02, "spin": "none"}
    again = ds.resume(tmp_path / "a.h5", until=0.2)
    assert again.time == pytest.approx(0.2)
    assert read_method("ballistic:spin=none,dt=0.02") == method
    found = ds.compare(world, ["ballistic", "time-stepping"], duration=0.1)
    assert [row.method for row in found.rows] == ["ballistic", "time-stepping"]
    text = (tmp_path / "thrown.yaml").read_text().replace("spin:", "spim:")
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(ds.SceneFileError, match="did you mean 'spin'"):
        ds.read_scene(tmp_path / "wrong.yaml")


def test_what_cannot_be_registered_is_refused_by_name(clean):
    with pytest.raises(ds.OptionError, match="method 'ballistic' exists already"):
        ds.register_method(Ballistic)
    for wrong in (Ballistic(), dict, "ballistic", None, ds.Solver):
        with pytest.raises(ds.OptionError, match=r"expected a subclass of ds\.Method"):
            ds.register_method(wrong)
    own = {"name": "penalty"}
    with pytest.raises(ds.OptionError, match="method 'penalty' exists already"):
        ds.register_method(type("Taken", (Ballistic,), own))
    for facts, words in (
        ({"name": ""}, r"Wrong\.name = ''"),
        ({"name": "own"}, "it means a scene's method"),
        ({"name": "wrong", "words": ("speed",)}, "'speed' is none of its options"),
        ({"name": "wrong", "stepper": lambda self: None}, r"expected stepper\(self, model\)"),
    ):
        with pytest.raises(ds.OptionError, match=words):
            ds.register_method(type("Wrong", (Ballistic,), facts))


def test_what_it_gives_back_is_checked():
    world = thrown()
    with pytest.raises(ds.OptionError, match="dt = -1"):
        Ballistic(dt=-1)
    with pytest.raises(ds.OptionError, match="spin = 3: expected kept or none"):
        Ballistic(spin=3)
    with pytest.raises(ds.ModelError, match="planar worlds only"):
        ds.Simulation(ds.World(), Ballistic())
    nothing = type("Nothing", (Ballistic,), {"stepper": lambda self, model: None})
    with pytest.raises(ds.OptionError, match=r"Nothing\.stepper gave None: expected a ds\.Stepper"):
        ds.Simulation(world, nothing())
    lost = type("Lost", (Flight,), {"step": lambda self, state, h: state})
    half = type("Half", (Ballistic,), {"stepper": lambda self, model: lost(model, "kept")})
    with pytest.raises(ds.OptionError, match=r"Lost\.step gave .*expected a state and a report"):
        ds.Simulation(world, half()).step()
    for wrong in (Ballistic, object(), None, 3):
        with pytest.raises(ds.OptionError, match=r"expected ds\.TimeStepping"):
            ds.Simulation(world, wrong)
    with pytest.raises(ds.OptionError, match="did you mean 'penalty'"):
        ds.Simulation(world, "penality")
