"""Arches and houses of cards stand at default options, whatever they are made of."""

import numpy as np
import pytest

import drystone as ds

ARCHES = [(33, 0.15, 0.7), (40, 0.35, 1.0), (60, 0.2, 0.8), (90, 0.25, 0.8)]


def moved(scene, dt, steps):
    sim = ds.Simulation(scene.world, ds.TimeStepping(dt=dt))
    start = sim.state.position.copy()
    sweeps = 0
    for _ in range(steps):
        report = sim.step()
        assert report.ok
        sweeps += report.iterations
    return np.abs(sim.state.position - start).max(), sweeps


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize(("n", "ratio", "mu"), ARCHES)
def test_an_arch_stands_on_its_first_solve(n, ratio, mu, planar):
    """It is thick enough for a line of thrust within it, so it rests; and what rests costs little:
    sweeps alone crept by 1e-5 to 1e-4 m and took hundreds in every step."""
    scene = ds.scene("arch", n=n, ratio=ratio, mu=mu, planar=planar)
    way, sweeps = moved(scene, 1 / 240, 40)
    assert way < 1e-9
    assert sweeps < 400


@pytest.mark.parametrize("storeys", [4, 5, 6])
def test_a_house_of_cards_stands_on_its_first_solve(storeys):
    way, sweeps = moved(ds.scene("card-house", storeys=storeys), 1 / 120, 40)
    assert way < 1e-9
    assert sweeps < 400
