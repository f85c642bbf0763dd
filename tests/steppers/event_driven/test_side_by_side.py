"""Time stepping beside the event-driven method on `ellipse-drop`, and both beside the exact
law of impact, followed by hand."""

import numpy as np
import pytest
from scipy.optimize import brentq

import drystone as ds

SEMI, SMALL, SPIN, MU, G = 4.0, 2.0, 3.0, 0.3, 9.81
MASS = 10.0 * np.pi * SEMI * SMALL
INERTIA = MASS * (SEMI**2 + SMALL**2) / 4


def lowest(turn):
    """Lowest point of the ellipse relative to its centre, from its support function."""
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    n = R.T @ [0.0, -1.0]
    point = np.array([SEMI**2, SMALL**2]) * n / np.sqrt((SEMI * n[0]) ** 2 + (SMALL * n[1]) ** 2)
    return R @ point


def first_impact():
    """(time, (vx, vy, spin) after) of the plastic impact with friction, by hand."""
    t = brentq(lambda t: 8.0 - 0.5 * G * t * t + lowest(SPIN * t)[1], 0.5, 1.25, xtol=1e-15)
    x, y = lowest(SPIN * t)
    J = np.array([[0.0, 1.0, x], [1.0, 0.0, -y]])  # normal, tangent at the contact
    inverse = np.diag([1 / MASS, 1 / MASS, 1 / INERTIA])
    W, v = J @ inverse @ J.T, np.array([0.0, -G * t, SPIN])
    u = J @ v
    r = -np.linalg.solve(W, u)
    if abs(r[1]) > MU * r[0]:  # it slips, and friction opposes the slip that is left
        way = np.sign(r[1])
        n = -u[0] / (W[0, 0] + MU * way * W[0, 1])
        r = np.array([n, MU * way * n])
        assert (u + W @ r)[1] * way <= 0
    return t, v + inverse @ J.T @ r


def motion(sim):
    body = sim.body("ellipse")
    return np.array([*body.velocity, body.angular_velocity])


@pytest.mark.parametrize("collisions", ["simultaneous", "routh"])
def test_the_first_impact_is_that_of_the_exact_law(collisions):
    """A plastic impact whose slip does not turn back: both laws agree with the closed form."""
    time, after = first_impact()
    method = ds.EventDriven(dt=time, rtol=1e-11, atol=1e-12, collisions=collisions)
    sim = ds.scene("ellipse-drop").simulation(method=method)
    events = []
    while not events:
        events = [e for e in sim.step().events if e.kind == "impact"]
        assert sim.time < 3 * time
    assert events[0].time == pytest.approx(time, abs=1e-10)
    before = MASS * (G * time) ** 2 / 2 + INERTIA * SPIN**2 / 2
    energy = MASS * (after[:2] ** 2).sum() / 2 + INERTIA * after[2] ** 2 / 2
    assert events[0].energy == pytest.approx(energy - before, rel=1e-8)


def test_time_stepping_meets_the_law_of_impact_at_first_order():
    """The step that meets the impact acts within h of it; its velocities are off by O(h)."""
    time, after = first_impact()
    errors = []
    steps = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4])
    for h in steps:
        sim = ds.scene("ellipse-drop").simulation(method=ds.TimeStepping(dt=h))
        sim.run(h * np.floor(time / h))
        while sim.time < time + h:
            sim.step()
        errors.append(np.abs(motion(sim) - after).max() / np.abs(after).max())
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.75 < slope < 1.25
    assert errors[-1] < 5e-3


def test_positions_converge_at_first_order_through_the_impact():
    """Slope of the error over the step: one. Where in its step the impact falls scatters it."""
    until = 1.6
    exact = ds.scene("ellipse-drop").simulation(
        method=ds.EventDriven(dt=0.1, rtol=1e-10, atol=1e-12)
    )
    exact.run(until)
    steps = np.array([8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4])
    errors = []
    for h in steps:
        sim = ds.scene("ellipse-drop").simulation(method=ds.TimeStepping(dt=h))
        sim.run(until)
        errors.append(np.abs(sim.state.position - exact.state.position).max())
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.75 < slope < 1.25
    assert errors[-1] < 0.02
