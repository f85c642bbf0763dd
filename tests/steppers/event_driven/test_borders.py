"""Where curvature jumps (Baraff 1992, 6.7): a round-ended plank slides over a drum, off its flat
side onto its round end. The reference is the distance of the drum's centre from a segment,
differentiated by hand on either piece, and integrated piece by piece."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

DRUM, HALF, ROUND, INERTIA, G, SPEED = 0.5, 0.1, 0.25, 0.2, 9.81, 0.9
REACH = DRUM + ROUND


def pushed(q, v, side):
    """Accelerations (3,) of the plank without friction, mass 1: q = (x, y, angle)."""
    along = np.array([np.cos(q[2]), np.sin(q[2])])
    across = np.array([-along[1], along[0]])
    w = v[2]
    if side:  # C = across.x - REACH
        J = np.array([*across, -along @ q[:2]])
        bias = -2 * w * (along @ v[:2]) - w**2 * (across @ q[:2])
    else:  # C = |x - HALF along| - REACH
        end, speed = q[:2] - HALF * along, v[:2] - HALF * w * across
        k = end / np.linalg.norm(end)
        J = np.array([*k, -HALF * (across @ k)])
        bias = (speed @ speed - (k @ speed) ** 2) / np.linalg.norm(end)
        bias += HALF * w**2 * (along @ k)
    inverse, load = np.array([1, 1, 1 / INERTIA]), np.array([0, -G, 0])
    return load - inverse * J * (J @ load + bias) / (J @ (inverse * J))


def reference(until):
    """q, v at a time and the instant of the border."""

    def border(_, y):
        return HALF - y[0] * np.cos(y[2]) - y[1] * np.sin(y[2])

    border.terminal = True
    y, t, instant = [0, REACH, 0, SPEED, 0, 0], 0.0, None
    for side in (True, False):
        found = solve_ivp(
            lambda _, y, side=side: np.concatenate([y[3:], pushed(y[:3], y[3:], side)]),
            (t, until), y, method="DOP853", rtol=1e-13, atol=1e-14,
            events=border if side else None,
        )  # fmt: skip
        y, t = found.y[:, -1], found.t[-1]
        instant = t if side else instant
    return y, instant


def plank():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(DRUM), name="drum", fixed=True, friction=0.0)
    world.add_body(
        ds.Capsule2D(2 * HALF, ROUND), name="plank", mass=1.0, inertia=INERTIA, friction=0.0,
        position=(0, REACH), velocity=(SPEED, 0),
    )  # fmt: skip
    return world


def motion(method):
    """q and v after 0.4 s, and the events."""
    sim = ds.Simulation(plank(), method=method)
    events = []
    for _ in range(round(0.4 / method.dt)):
        events += sim.step().events
    body = sim.body("plank")
    return np.array([
        *body.position, body.orientation, *body.velocity, body.angular_velocity
    ]), events  # fmt: skip


@pytest.mark.parametrize("integrator", ["dop853", "rk45", "adams"])
def test_the_order_is_kept_across_a_jump_of_curvature(integrator):
    exact, instant = reference(0.4)
    errors = []
    for rtol in (1e-7, 1e-9, 1e-11):
        method = ds.EventDriven(dt=0.05, integrator=integrator, rtol=rtol, atol=rtol / 100)
        end, events = motion(method)
        errors.append(np.abs(end - exact).max())
        assert {event.kind for event in events} == {"border"}
    assert errors[2] < 1e-11
    assert errors[1] < 0.2 * errors[0] or errors[1] < 1e-11
    assert events[-1].time == pytest.approx(instant, abs=1e-10)
    assert events[-1].names == ("drum/plank (0.1.0)",)


def test_forces_jump_at_the_border():
    """On its end the plank is carried by a point of another curvature: R differs, v does not."""
    instant = reference(0.4)[1]
    sim = ds.Simulation(plank(), method=ds.EventDriven(rtol=1e-10, atol=1e-12))
    before, _ = sim.stepper.step(sim.state, instant - 1e-6)
    flat = sim.stepper.contact_table()["force"]
    after, report = sim.stepper.step(before, 2e-6)
    bent = sim.stepper.contact_table()["force"]
    assert [event.kind for event in report.events] == ["border"]
    assert np.abs(after.velocity - before.velocity).max() < 1e-4
    assert np.linalg.norm(flat) > 1.05 * np.linalg.norm(bent)


def test_a_capsule_on_a_ball_in_space():
    """The same in space: a capsule slides along a fixed ball and off its cylinder."""
    world = ds.World(gravity=(0, 0, -G))
    world.add_body(ds.Sphere(DRUM), name="ball", fixed=True, friction=0.0)
    half = np.sqrt(0.5)
    world.add_body(
        ds.Capsule(2 * HALF, ROUND), name="plank", mass=1.0, inertia=(INERTIA,) * 3,
        friction=0.0, position=(0, 0, REACH), orientation=(half, 0, half, 0),
        velocity=(SPEED, 0, 0),
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    events = []
    for _ in range(8):
        events += sim.step().events
    exact, instant = reference(0.4)
    assert [event.kind for event in events] == ["border"]
    assert events[0].time == pytest.approx(instant, abs=1e-9)
    body = sim.body("plank")
    assert body.position[[0, 2]] == pytest.approx(exact[:2], abs=1e-7)
    assert body.velocity[[0, 2]] == pytest.approx(exact[3:5], abs=1e-7)
