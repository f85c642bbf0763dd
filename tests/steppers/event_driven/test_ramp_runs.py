"""Friction by a ramp in whole runs: a block on a slope creeps, or slides, by closed forms."""

import numpy as np
import pytest

import drystone as ds

G, SLOPE = 9.81, 0.3


def slid(mu, eps, t):
    """How far a block at rest gets in t seconds: v' = g sin - mu g cos min(v / eps, 1)."""
    tau, end = eps / (mu * G * np.cos(SLOPE)), eps * np.tan(SLOPE) / mu
    full = -tau * np.log(1 - eps / end) if end > eps else np.inf  # when friction is full
    ramped = min(t, full)
    x = end * (ramped - tau * (1 - np.exp(-ramped / tau)))
    rest = t - ramped
    return x + eps * rest + 0.5 * G * (np.sin(SLOPE) - mu * np.cos(SLOPE)) * rest**2


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("mu", [0.2, 0.6])  # tan(0.3) = 0.309: slides, creeps
def test_a_block_on_a_slope(mu, planar):
    along, across = G * np.sin(SLOPE), G * np.cos(SLOPE)
    world = ds.World(planar=planar, gravity=(along, -across) if planar else (along, 0, -across))
    friction = (1.5 * mu, mu)  # it is the dynamic coefficient that is ramped
    world.add_ground(friction=friction)
    shape, at = (
        (ds.Rectangle(0.4, 0.2), (0, 0.1)) if planar else (ds.Box(0.4, 0.3, 0.2), (0, 0, 0.1))
    )
    world.add_body(shape, name="block", density=100, friction=friction, position=at)
    method = ds.EventDriven(dt=0.02, contact_forces=("ramp", {"ramp_speed": 0.05}))
    sim = ds.Simulation(world, method=method)
    for _ in range(5):
        report = sim.step()
        assert report.ok or report.status is ds.Status.APPROXIMATE, "not Coulomb's law"
        assert abs(report.energy.constraint) < 1e-9, "what creeps is not stopped"
        wanted = slid(mu, 0.05, sim.time)
        assert sim.body("block").position[0] == pytest.approx(wanted, abs=1e-8)
    assert (sim.contacts["state"] != "stick").all()
