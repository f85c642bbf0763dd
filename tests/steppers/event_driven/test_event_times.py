"""Events that lie well inside a step: their times against closed forms and another integration."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

G = 9.81
SPEED, HALF, AWAY, THICK = 1.5, 0.3, 0.7, 0.1  # of a rod on a ledge [m/s, m]


def over_the_ledge(**options):
    """A rod slides over the end of a ledge, without friction, in long frames."""
    world = ds.World(planar=True)
    world.add_body(
        ds.Rectangle(2.0, 1.0), name="ledge", fixed=True, position=(-1.0, -0.5), friction=0
    )
    world.add_body(
        ds.Rectangle(2 * HALF, THICK), name="rod", mass=1.0, position=(-AWAY, THICK / 2),
        velocity=(SPEED, 0.0), friction=0,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.25, **options))
    return [sim.step() for _ in range(3)]


def leaves_the_edge():
    """When the rod's rear end passes the ledge's: s, from its centre to the edge along its lower
    face, and its angle, by Lagrange's equations from the moment it tips."""
    b, inertia = THICK / 2, ((2 * HALF) ** 2 + THICK**2) / 12

    def rates(_, z):
        s, angle, ps, pa = z  # ps = s' + b angle', pa = b ps + (s^2 + inertia) angle'
        turn = (pa - b * ps) / (s * s + inertia)
        along = ps - b * turn
        push = G * (s * np.cos(angle) + b * np.sin(angle))
        return [along, turn, s * turn**2 + G * np.sin(angle), push]

    def end(_, z):
        return z[0] + HALF

    end.terminal = True
    start = [0.0, 0.0, -SPEED, -b * SPEED]
    path = solve_ivp(rates, (0.0, 1.0), start, rtol=1e-12, atol=1e-13, events=end)
    return AWAY / SPEED + path.t_events[0][0]


@pytest.mark.parametrize("integrator", ["rk45", "dop853", "adams"])
def test_a_rod_that_leaves_a_ledge(integrator):
    """Its front end passes the edge, it tips when its centre does, its rear end leaves: up to
    1e-6 of a size a contact has its old name, and L is let be violated by 3e-8."""
    reports = over_the_ledge(integrator=integrator, rtol=1e-6, atol=1e-8)
    events = [(event.kind, event.time) for r in reports for event in r.events]
    assert [kind for kind, _ in events] == ["contacts", "release", "contacts"]
    front, tips, rear = (t for _, t in events)
    assert front == pytest.approx((AWAY - HALF) / SPEED, abs=2e-6)
    assert tips == pytest.approx(AWAY / SPEED, abs=1e-7)
    assert rear == pytest.approx(leaves_the_edge(), abs=2e-6)
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-6 * G


@pytest.mark.parametrize("integrator", ["rk45", "dop853", "adams"])
def test_a_ball_in_frames_longer_than_its_bounces(integrator):
    speed, eps = 2.0, 0.8
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(
        ds.Disk(0.1), name="ball", mass=1.0, position=(0, 0.1), velocity=(0, speed), restitution=eps
    )
    sim = ds.Simulation(
        world, method=ds.EventDriven(dt=1.0, integrator=integrator, rtol=1e-6, atol=1e-8)
    )
    times = [event.time for event in sim.step().events if event.kind == "impact"]
    expected = np.cumsum(2 * speed / G * eps ** np.arange(4))
    expected = expected[expected < 1.0]
    assert expected.size == 3
    np.testing.assert_allclose(times, expected, rtol=1e-6)
