"""Whole runs in space: corners of a puck share its load alike."""

import numpy as np
from scipy.integrate import solve_ivp

import drystone as ds

G, MU = 9.81, 0.5
SIDE, HEIGHT, START = 0.4, 0.1, (0.5, 0.1, 2.0)  # of a puck [m]; its velocity [m/s, rad/s]


def block(size, mu, velocity, spin=0.0):
    world = ds.World()
    world.add_ground(friction=mu)
    world.add_body(
        ds.Box(*size), name="block", mass=1.0, position=(0, 0, size[2] / 2), friction=mu,
        velocity=velocity, angular_velocity=(0, 0, spin),
    )  # fmt: skip
    return ds.Simulation(world, method=ds.EventDriven())


def spinning(_, z):
    """Of a puck on four corners that slide: of the loads that carry it the least ones."""
    angle, v, spin = z[2], z[3:5], z[5]
    c, s = np.cos(angle), np.sin(angle)
    at = 0.5 * SIDE * np.array([(x, y) for x in (-1, 1) for y in (-1, 1)]) @ [[c, s], [-s, c]]
    slip = v + spin * np.stack([-at[:, 1], at[:, 0]], axis=1)
    rub = -MU * slip / np.linalg.norm(slip, axis=1)[:, None]  # of a load of 1 N, HEIGHT / 2 below
    carries = np.stack([np.ones(4), at[:, 1] + HEIGHT / 2 * rub[:, 1],
                        at[:, 0] + HEIGHT / 2 * rub[:, 0]])  # fmt: skip
    load = np.linalg.lstsq(carries, [G, 0.0, 0.0], rcond=None)[0]
    push = load[:, None] * rub
    turn = (at[:, 0] * push[:, 1] - at[:, 1] * push[:, 0]).sum() / (SIDE**2 / 6)
    return [*v, spin, *push.sum(axis=0), turn]


def test_corners_of_a_sliding_puck_share_its_load():
    """Three corners would carry it; which of them a method picks turns the puck, and the fourth
    would come into play one event after the other."""
    sim = block((SIDE, SIDE, HEIGHT), MU, (*START[:2], 0), START[2])
    events = [event.kind for _ in range(4) for event in sim.step().events]
    assert events == []
    path = solve_ivp(spinning, (0.0, sim.time), [0, 0, 0, *START], rtol=1e-11, atol=1e-13)
    body = sim.body("block")
    np.testing.assert_allclose(body.position[:2], path.y[:2, -1], atol=1e-7)
    np.testing.assert_allclose(body.velocity[:2], path.y[3:5, -1], atol=1e-6)
    np.testing.assert_allclose(body.angular_velocity[2], path.y[5, -1], atol=1e-6)
    events = [event.kind for _ in range(20) for event in sim.step().events]
    assert events in (["stick"], ["stick", "stick"])
