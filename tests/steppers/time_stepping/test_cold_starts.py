"""Steps without a warm start are as good as with one, and friction without bound sticks."""

from __future__ import annotations

import numpy as np
import pytest

import drystone as ds
from drystone.solvers.registry import SOLVERS


def pyramid(layers, planar, friction=0.6):
    world = ds.World(planar=planar)
    world.add_ground(friction=friction)
    for i in range(layers):
        for j in range(layers - i):
            x, z = (j - (layers - i - 1) / 2) * 0.22, 0.05 + 0.1 * i
            world.add_body(
                ds.Rectangle(0.2, 0.1) if planar else ds.Box(0.2, 0.2, 0.1),
                density=1000,
                friction=friction,
                position=(x, z) if planar else (x, 0, z),
            )
    return world


def wall(rows, columns):
    world = ds.World(planar=True)
    world.add_ground(friction=0.6)
    for i in range(rows):
        for j in range(columns):
            place = 0.2 * j + 0.1 * (i % 2), 0.05 + 0.1 * i
            world.add_body(ds.Rectangle(0.2, 0.1), density=1800, friction=0.6, position=place)
    return world


@pytest.mark.parametrize(
    ("world", "formulation"),
    [
        (pyramid(10, True), "coulomb"),
        (pyramid(16, True), "coulomb"),
        (pyramid(6, False), "coulomb"),
        (pyramid(12, True), "convex"),
        (wall(8, 6), "coulomb"),
    ],
)
def test_cold_steps_are_solved_and_rest(world, formulation):
    method = ds.TimeStepping(dt=1 / 120, warm_start=False, formulation=formulation)
    sim = ds.Simulation(world, method=method)
    start = sim.state.position.copy()
    for _ in range(8):
        report = sim.step()
        assert report.ok
        assert max(report.residual, report.residual_unit) <= 1e-8
        assert report.iterations <= 400
    assert np.abs(sim.state.position - start).max() <= 1e-8


def test_the_python_stages_too():
    """mass="end" does not run in the compiled loop."""
    method = ds.TimeStepping(dt=1 / 120, warm_start=False, mass="end")
    sim = ds.Simulation(pyramid(9, True), method=method)
    for _ in range(3):
        report = sim.step()
        assert report.ok
        assert max(report.residual, report.residual_unit) <= 1e-8


def heap(friction, steps):
    rng = np.random.default_rng(0)
    world = ds.World()
    world.add_ground(friction=friction)
    for i in range(8):
        world.add_body(
            ds.Box(0.2, 0.2, 0.2),
            density=1000,
            friction=friction,
            position=(0.1 * rng.normal(), 0.1 * rng.normal(), 0.2 + 0.25 * i),
            velocity=(rng.normal(), 0, 0),
        )
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 120))
    reports = [sim.step() for _ in range(steps)]
    return sim.state.position.copy(), reports


@pytest.mark.parametrize("friction", [1e5, 1e8, 1e12, 1e40])
def test_friction_without_bound_takes_the_effort_of_much_friction(friction):
    place, reports = heap(friction, 30)
    expected, _ = heap(1e4, 30)
    assert all(report.ok for report in reports)
    assert max(report.iterations for report in reports) <= 3000
    np.testing.assert_array_equal(place, expected)


@pytest.mark.parametrize("friction", [1e6, 1e12])
@pytest.mark.parametrize("slope", [0.5, 1.2, 1.5])
def test_a_block_sticks_to_any_slope(friction, slope):
    """It does not slide, and being long and flat it does not tip either."""
    world = ds.World(planar=True)
    normal = np.array([-np.sin(slope), np.cos(slope)])
    world.add_body(ds.HalfPlane(normal, 0.0), name="slope", fixed=True, friction=friction)
    world.add_body(
        ds.Rectangle(2.0, 0.1),
        name="block",
        density=1000,
        friction=friction,
        position=tuple(0.05 * normal),
        orientation=slope,
    )
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 120))
    start = sim.body("block").position.copy()
    for _ in range(60):
        assert sim.step().ok
    assert np.abs(sim.body("block").position - start).max() <= 1e-9


def test_rules_of_pairs_and_both_methods_have_the_same_bound():
    world = ds.World(planar=True)
    world.add_ground(name="floor", friction=0.1)
    world.add_body(
        ds.Disk(0.1), name="disk", density=1000, friction=0.1, position=(0, 0.1),
        velocity=(1.0, 0.0),
    )  # fmt: skip
    world.set_pair("floor", "disk", friction=1e12)
    place = []
    for method in (ds.TimeStepping(dt=1 / 240), ds.EventDriven(dt=1 / 240)):
        sim = ds.Simulation(world, method=method)
        sim.run(0.1)
        place.append(sim.body("disk").position[0])
    np.testing.assert_allclose(place, 0.1 * 2 / 3, rtol=1e-2)  # rolls at once: 2/3 of its speed


def test_a_heavy_box_on_light_ones_uses_methods_that_have_names():
    """Impulses a million times those of the light boxes: every method may be asked."""
    world = ds.World()
    world.add_ground(friction=0.5)
    for i, mass in enumerate((1.0, 1.0, 1e6)):
        world.add_body(
            ds.Box(0.2, 0.2, 0.2), mass=mass, friction=0.5, position=(0, 0, 0.1 + 0.2 * i),
            velocity=(0.1, 0, 0),
        )  # fmt: skip
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=1 / 240))
    for _ in range(25):
        report = sim.step()
        assert report.ok
        assert set(report.methods) <= {"nsgs", "newton", *SOLVERS}
