"""Blocks in space on slopes: those that friction can hold do not move, whatever the method.

Four corners are more than a block needs. (14-1) then also has answers in which it turns about one
of them, with friction at its bounds at the others: they are not Coulomb's.
"""

import numpy as np
import pytest

import drystone as ds

G, SLOPE = 9.81, 0.3


def on_a_slope(mu, way=0.0, method="dantzig", sides=(0.4, 0.3, 0.2), **options):
    """A block on a slope that falls to the direction `way` [rad] of its own frame."""
    down = G * np.sin(SLOPE) * np.array([np.cos(way), np.sin(way)])
    world = ds.World(gravity=(*down, -G * np.cos(SLOPE)))
    world.add_ground(friction=mu)
    world.add_body(
        ds.Box(*sides), name="block", density=100, friction=mu, position=(0, 0, sides[2] / 2)
    )
    return ds.Simulation(world, method=ds.EventDriven(dt=0.05, contact_forces=method, **options))


@pytest.mark.parametrize("method", ["dantzig", "lemke", "jacobi", "qp-signs"])
@pytest.mark.parametrize("ratio", [1.005, 1.05, 1.15, 1.4])
def test_what_friction_can_hold_does_not_move(ratio, method):
    sim = on_a_slope(ratio * np.tan(SLOPE), method=method)
    for _ in range(3):
        report = sim.step()
        assert report.ok
        assert not report.events
        assert abs(report.energy.constraint) < 1e-12, "nothing had to be stopped"
    body = sim.body("block")
    assert np.abs(body.position - [0, 0, 0.1]).max() < 1e-12
    assert np.abs(body.orientation - [1, 0, 0, 0]).max() < 1e-12
    held = sim.contacts["force"].sum(axis=0)
    weight = body.mass * G * np.array([np.sin(SLOPE), 0, -np.cos(SLOPE)])
    assert held == pytest.approx(-weight, abs=1e-9 * body.mass * G)


@pytest.mark.parametrize("way", [0.4, np.pi / 2, 2.5])
@pytest.mark.parametrize("sides", [(0.4, 0.3, 0.2), (0.3, 0.3, 0.1), (0.1, 0.6, 0.15)])
def test_nor_on_slopes_that_fall_across_it(way, sides):
    sim = on_a_slope(1.02 * np.tan(SLOPE), way, sides=sides)
    sim.run(0.2)
    assert np.abs(sim.body("block").position[:2]).max() < 1e-12
    assert np.abs(sim.body("block").angular_velocity).max() < 1e-12


@pytest.mark.parametrize("static", [1.01, 1.2])
def test_the_static_coefficient_decides_whether_it_begins(static):
    """Below static friction it stays, however small the dynamic one; above it slides by that."""
    holds = on_a_slope((static * np.tan(SLOPE), 0.1))
    holds.run(0.2)
    assert np.abs(holds.body("block").position[:2]).max() < 1e-12
    slides = on_a_slope((np.tan(SLOPE) / static, 0.1))
    slides.run(0.2)
    a = G * (np.sin(SLOPE) - 0.1 * np.cos(SLOPE))
    # slip that is too slow to have a direction has the static coefficient yet
    late = 1e-6 / (G * np.sin(SLOPE) * (1 - 1 / static))
    missing = 0.5 * a * 0.2**2 - slides.body("block").position[0]
    assert -1e-9 <= missing <= a * 0.2 * late
    assert abs(slides.body("block").position[1]) < 1e-9
    assert np.abs(slides.body("block").angular_velocity).max() < 1e-8
