"""Steps that close their gaps: a corner that rolls over the floor stays on it."""

import numpy as np
import pytest

import drystone as ds
from drystone.steppers.time_stepping.stepper import TimeStepper

H, CLOSED = 1e-3, 1e-10
OPTIONS = ds.TimeStepping(dt=H, order=2, tol=1e-9, slop=1e-11)


def tipping(planar, mu=0.8):
    """A tall block that turns over one edge, 2 rad/s."""
    world = ds.World(planar=planar)
    world.add_ground(friction=mu)
    w, a, b = 2.0, 0.1, 0.5
    if planar:
        shape, place, v, turn = ds.Rectangle(2 * a, 2 * b), (0, b), (w * b, w * a), -w
    else:
        shape, place = ds.Box(2 * a, 0.3, 2 * b), (0, 0, b)
        v, turn = (w * b, 0, w * a), (0, w, 0)
    world.add_body(
        shape, name="block", mass=3.0, position=place, velocity=v, angular_velocity=turn,
        friction=mu,
    )  # fmt: skip
    return ds.Simulation(world, method=OPTIONS)


def lowest(sim, state):
    """Height of the block's lowest corner, by its pose alone."""
    a, b = 0.1, 0.5
    if state.position.shape[1] == 2:
        angle = float(state.orientation[1])
        corners = np.array([(x, y) for x in (-a, a) for y in (-b, b)])
        up = np.sin(angle) * corners[:, 0] + np.cos(angle) * corners[:, 1]
        return state.position[1, 1] + up.min()
    w, x, y, z = state.orientation[1]
    row = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    corners = np.array(
        [(i * a, j * 0.15, k * b) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    )
    return state.position[1, 2] + (corners @ row).min()


def heights(kind, planar, *more):
    sim = tipping(planar)
    stepper = kind(OPTIONS, sim.stepper.model, *more)
    state, out, books = sim.state.copy(), [], []
    for _ in range(150):
        state, report = stepper.step(state, H)
        out.append(lowest(sim, state))
        books.append(report.energy.unexplained)
    return np.array(out), np.array(books), state


@pytest.mark.parametrize("planar", [True, False])
def test_the_edge_stays_on_the_floor(planar):
    plain, _, _ = heights(TimeStepper, planar)
    closed, books, _ = heights(TimeStepper, planar, CLOSED)
    assert np.abs(plain).max() > 1e-7, "order h^2: w^2 b h^2 / 2"
    assert np.abs(closed).max() <= 2 * CLOSED
    assert np.abs(books).max() < 1e-12


@pytest.mark.parametrize("planar", [True, False])
def test_the_motion_is_that_of_a_pendulum_on_its_edge(planar):
    """I theta'' = m g r sin(theta) about the edge, while friction holds it: energy."""
    _, _, state = heights(TimeStepper, planar, CLOSED)
    m, a, b, w = 3.0, 0.1, 0.5, 2.0
    inertia = m * (4 * a * a + 4 * b * b) / 12 + m * (a * a + b * b)
    rate = np.abs(state.velocity[1, 2 if planar else 4])
    height = state.position[1, 1 if planar else 2]
    energy = 0.5 * inertia * rate**2 + m * 9.81 * height
    start = 0.5 * inertia * w**2 + m * 9.81 * b
    assert energy == pytest.approx(start, abs=0.1 * H)


def test_what_is_apart_stays_apart():
    """A block that rises from the floor, within reach of it: no halved steps, no force."""
    sim = tipping(True)
    stepper = TimeStepper(OPTIONS, sim.stepper.model, CLOSED)
    state = sim.state.copy()
    state.position[1, 1] += 1e-5
    state.velocity[1] = (0.0, 0.02, 0.0)
    after, report = stepper.step(state, H)
    assert report.contacts == 2
    assert report.retries == 0
    assert report.energy.friction == 0.0
    assert after.velocity[1, 1] == pytest.approx(0.02 - 9.81 * H, rel=1e-12)
    assert lowest(sim, after) == pytest.approx(1e-5 + 0.02 * H - 0.5 * 9.81 * H**2, abs=1e-12)


def test_stage_by_stage_it_is_the_same_to_the_bit():
    """Timed stages are called from Python, and contacts of the start are still there after those
    of the end were detected."""
    _, _, looped = heights(TimeStepper, False, CLOSED)
    _, _, timed = heights(Timed, False, CLOSED)
    assert np.array_equal(looped.position, timed.position)
    assert np.array_equal(looped.velocity, timed.velocity)


class Timed(TimeStepper):
    profile = True
