"""Many grains: they stay in, settle, run out; and every step explains its energy."""

import numpy as np
import pytest

from drystone.scenes import scene
from tests.scenes.running import run


def test_spheres_settle_in_their_box():
    done = run("spheres", 2.0, n=125)
    sim = done.sim
    centres = sim.state.position[5:]
    half = 0.5 * 5 * 0.24
    assert (np.abs(centres[:, :2]) < half - 0.1 + 1e-3).all()
    assert (centres[:, 2] > 0.1 - 1e-3).all()
    assert np.abs(sim.state.velocity[5:, :3]).max() < 0.5
    assert done.depth < 1e-3  # 1 % of a radius, at the worst of the impacts
    assert done.failed == 0
    assert centres[:, 2].mean() < 0.55  # 5 layers of 0.24 m have packed


def test_the_floor_carries_all_spheres():
    """Once they rest, the vertical forces of floor and walls are the weight."""
    sim = scene("spheres", n=27).simulation()
    sim.run(4.0)
    up = 0.0
    for c in sim.contacts:
        fixed = [b.startswith(("wall", "floor")) for b in c["bodies"]]
        if fixed[1]:
            up += c["force"][2]
        elif fixed[0]:
            up -= c["force"][2]
    weight = sim.world.total_mass * 9.81
    assert up == pytest.approx(weight, rel=0.02)


def below(sim, level):
    return sum(sim.body(n).position[-1] < level for n in sim.bodies if n.startswith("grain"))


@pytest.mark.parametrize("planar", [True, False])
def test_a_wide_hopper_runs_out_and_a_narrow_one_does_not(planar):
    settings = {"n": 40, "width": 14.0, "planar": planar}
    outlet = 16.0 * 0.05
    wide = run("hopper", 2.5, outlet=8.0, slope=50.0, mu=0.2, **settings)
    assert below(wide.sim, outlet) == 40
    narrow = run("hopper", 1.0, outlet=1.5, **settings)
    assert below(narrow.sim, outlet - 0.05) == 0
    assert wide.depth < 5e-3
    assert narrow.depth < 5e-3


CASES = [
    ("ellipse-drop", {}, 2.0), ("disks-21", {}, 2.0), ("brazil-nut", {"n": 60}, 3.0),
    ("incline", {"ratio": 1.05}, 0.2), ("sliding-block", {"direction": 30.0}, 0.2),
    ("billiard-three", {"restitution": 0.7}, 0.3), ("newton-cradle", {"law": "poisson"}, 0.3),
    ("arch", {"ratio": 0.09}, 0.5), ("dominoes", {"n": 5}, 0.5), ("spheres", {"n": 27}, 0.5),
    ("hopper", {"n": 30}, 0.4), ("tippe-top", {}, 0.3), ("rattleback", {}, 0.1),
    ("gyroscope", {}, 0.3), ("card-house", {"mu": 0.1}, 0.3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "duration"), CASES, ids=[c[0] for c in CASES])
def test_every_joule_is_explained(name, settings, duration):
    sim = scene(name, **settings).simulation()
    first = sum(sim.energy)
    spent = 0.0
    scale = max(abs(first), 1e-3)

    def watch(sim):
        nonlocal spent, scale
        book = sim.report.energy
        scale = max(scale, abs(book.kinetic), abs(book.potential))
        assert abs(book.unexplained) < 1e-9 * scale
        assert book.friction <= 1e-12 * scale
        spent += book.change

    sim.run(duration, callback=watch)
    assert first + spent == pytest.approx(sum(sim.energy), abs=1e-9 * scale)


@pytest.mark.parametrize("name", ["incline", "sliding-block", "rolling-ball", "arch", "dominoes"])
def test_energy_does_not_grow_without_work(name):
    settings = {"dominoes": {"n": 8}, "arch": {"ratio": 0.09}, "incline": {"ratio": 1.2}}
    sim = scene(name, **settings.get(name, {})).simulation()
    sim.step()
    last = first = sum(sim.energy)

    def watch(sim):
        nonlocal last
        now = sum(sim.energy)
        book = sim.report.energy
        # the gap correction may add a little where bodies meet; nothing else may
        assert now - last <= max(book.constraint, 0.0) + 1e-9 * abs(first)
        last = now

    sim.run(0.8, callback=watch)
