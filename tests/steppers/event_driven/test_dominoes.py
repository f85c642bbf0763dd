"""Dominoes with friction, by events: what is symmetric stays so, slip that ends has ended."""

from collections import Counter

import numpy as np
import pytest

import drystone as ds
from drystone.scenes.stacks import dominoes
from drystone.steppers.event_driven.forces import ContactState
from drystone.steppers.event_driven.impulses import collide
from tests.steppers.event_driven.instants import spatial_rows


def falling(n, duration):
    sim = ds.Simulation(dominoes(n=n).world, method=ds.EventDriven())
    reports = []
    while sim.time < duration:
        sim.step()
        reports.append(sim.report)
    return sim, reports


def test_three_dominoes_fall_in_their_plane():
    """Nothing pushes them aside: both corners of an edge meet, give way and stop together. In the
    last frame but two contacts meet other features a sixteenth into a step."""
    sim, reports = falling(3, 0.91)
    kinds = Counter(event.kind for r in reports for event in r.events)
    assert sum(kinds.values()) < 40, kinds
    for i in range(3):
        body = sim.body(f"domino{i}")
        assert abs(body.position[1]) < 1e-9
        assert np.abs(body.orientation[[1, 3]]).max() < 1e-9  # turned about y alone
    assert max(r.penetration for r in reports) < 1e-9
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-9
    assert sum(r.energy.friction for r in reports) < 0.0


def test_eight_dominoes_fall_in_their_plane():
    """After 1.378 s impacts and forces have several answers by Coulomb's law, most of which turn
    dominoes out of their plane; it lasts until each corner has events of its own."""
    sim, reports = falling(8, 1.4)
    assert sum(len(r.events) for r in reports) < 200
    for i in range(8):
        body = sim.body(f"domino{i}")
        assert abs(body.position[1]) < 1e-9
        assert np.abs(body.orientation[[1, 3]]).max() < 1e-9
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-9


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_friction_of_an_impact_opposes_the_slip_after_it(mu):
    """A plate that comes down askew on four feet, sliding and turning: by Coulomb's law."""
    state = plate(mu)
    hit = collide(state)
    u = state.u + np.einsum("cdk,k->cd", state.J[:, :, 0], hit.velocity_change[0])
    f, slip = hit.impulse, u[:, 1:]
    assert u[:, 0].min() > -1e-9
    assert f[:, 0].min() >= -1e-12
    speed, push = np.linalg.norm(slip, axis=1), np.linalg.norm(f[:, 1:], axis=1)
    moving = (speed > 1e-6) & (f[:, 0] > 1e-9)
    assert moving.any()
    np.testing.assert_allclose(push[moving], mu * f[moving, 0], rtol=1e-7)
    against = np.einsum("ij,ij->i", f[moving, 1:], slip[moving])
    np.testing.assert_allclose(against, -push[moving] * speed[moving], rtol=1e-7)


def plate(mu):
    feet = [(x, y, -0.3) for x in (-1, 1) for y in (-0.7, 0.8)]
    v = np.array([1.0, 0.3, -1.0, 0.2, 0.1, 0.9])
    J = np.zeros((4, 3, 2, 6))
    for i, foot in enumerate(feet):
        J[i, :, 0] = spatial_rows(foot, (0, 0, 1))
    return ContactState(
        body=[[0, -1]] * 4, J=J, u=np.einsum("cdk,k->cd", J[:, :, 0], v), mu=mu,
        inverse_mass=[1.0], inverse_inertia=[np.diag([3.0, 2.0, 1.5])],
    )  # fmt: skip
