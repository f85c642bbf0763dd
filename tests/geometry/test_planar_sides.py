"""Sides of several edges that are nearly parallel carry as one edge would: against closed forms."""

import numpy as np
import pytest

import drystone as ds


def bench(bend, parts=4):
    """A plank of 2 x 0.2 m whose top has `parts` edges and bulges by `bend`."""
    x = np.linspace(1, -1, parts + 1)
    top = np.stack((x, 0.1 + bend * (1 - x * x)), 1)
    return np.vstack(([[-1, -0.1], [1, -0.1]], top))


def standing(shape, place, above, bend, parts=4):
    world = ds.World(planar=True)
    world.add_body(ds.Polygon(bench(bend, parts)), name="bench", fixed=True)
    world.add_body(shape, name="top", position=(place, 0.1 + bend + above), density=1000)
    return ds.Simulation(world, ds.TimeStepping(dt=1 / 100))


@pytest.mark.parametrize("shape", [ds.Rectangle(0.8, 0.4), ds.Capsule2D(0.8, 0.2)])
@pytest.mark.parametrize("place", [0.0, 0.3, -0.45])
@pytest.mark.parametrize("bend", [1e-9, 1e-7, 1e-5])
def test_a_body_across_several_edges_has_contacts_at_both_ends(shape, place, bend):
    """The ends of the upper body's flat side, wherever the edges below meet; it stays there."""
    sim = standing(shape, place, 0.2, bend)
    sim.step()
    ends = place + np.array([-0.4, 0.4])
    found = np.sort(sim.contacts["point"][:, 0])
    assert 2 <= len(found) <= 4
    np.testing.assert_allclose(found[[0, -1]], ends, atol=1e-6)
    sim.run(0.5)
    assert np.abs(sim.state.velocity).max() < 1e-4


def test_a_chain_of_edges_that_bends_away_carries_as_far_as_the_margin():
    """Gaps at the ends are those of the two chains, by interpolation."""
    sim = standing(ds.Rectangle(1.6, 0.4), 0.0, 0.2, 2e-3, parts=8)
    sim.step()
    x, gap = sim.contacts["point"][:, 0], sim.contacts["gap"]
    top = bench(2e-3, 8)[2:][::-1]
    true = 0.1 + 2e-3 - np.interp(x, *top.T)
    np.testing.assert_allclose(gap - gap.min(), true - true.min(), atol=1e-6)
