"""In space: slip that keeps its direction, contacts that meet other features, slow levers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds
from drystone.steppers.event_driven.frame_log import FrameLog
from drystone.steppers.event_driven.projection import close

G, MU = 9.81, 0.5


def puck(speed, push=None):
    world = ds.World()
    world.add_ground(friction=MU)
    world.add_body(
        ds.Box(0.4, 0.4, 0.1), name="puck", mass=1.0, inertia=(1e3, 1e3, 1e3), friction=MU,
        position=(0, 0, 0.05), velocity=speed,
    )  # fmt: skip
    if push is not None:

        def force(model, state):
            out = np.zeros((2, 6))
            out[1, :2] = push(state.time)
            out[1, 3:5] = 0.05 * out[1, 1], -0.05 * out[1, 0]  # where friction acts: no tilting
            return out

        world.add_force(ds.Callback(force))
    return ds.Simulation(world, method=ds.EventDriven())


def test_slow_straight_slip_takes_no_short_steps():
    """What is across the slip dies out within 0.2 ms: followed, it takes steps of that length;
    taken for the direction at the beginning of every frame, it grows eightyfold in each."""
    a = 1e-3
    sim = puck((1e-3, 0, 0), lambda t: (MU * G + a, 0.0))
    reports = [sim.step() for _ in range(12)]
    assert max(r.outer for r in reports) <= 3
    assert not [e for r in reports for e in r.events]
    assert sim.body("puck").velocity[0] == pytest.approx(1e-3 + a * sim.time, abs=1e-11)
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-12


def test_slip_that_is_pushed_aside_turns():
    """By a force across it that grows; against a stiff integration of a point with friction."""

    def push(t):
        return MU * G, 20.0 * t

    sim = puck((0.2, 0, 0), push)
    events = [e.kind for _ in range(6) for e in sim.step().events]
    assert "turn" in events

    def rate(t, v):
        return np.array(push(t)) - MU * G * v / np.linalg.norm(v)

    path = solve_ivp(rate, (0, sim.time), [0.2, 0.0], method="Radau", rtol=1e-10, atol=1e-12)
    assert sim.body("puck").velocity[:2] == pytest.approx(path.y[:, -1], abs=1e-7)


def test_only_contacts_that_are_nearly_closed_are_closed():
    sim = puck((0, 0, 0))
    loop, state = sim.stepper.loop, sim.state.copy()
    mode = loop.resolver.resolve(state, FrameLog())
    none = np.zeros(mode.closed.size)
    z = state.position[1, 2]
    for gap, left in ((0.5, 0.0), (2.0, 2.0)):
        state.position[1, 2] = z + gap * loop.mechanics.jump
        close(mode, state, none)
        assert state.position[1, 2] - z == pytest.approx(left * loop.mechanics.jump, abs=1e-14)


def test_closed_contacts_that_jump_end_their_phase():
    sim = puck((0.1, 0, 0))
    sim.step()
    events, mechanics = sim.stepper.loop.phase.events, sim.stepper.loop.mechanics
    state, margin = sim.state.copy(), np.full(2, 0.01)
    assert not events.sample(state, margin).violated()
    state.position[1, 2] += 2.0 * mechanics.jump
    assert {name[0] for name in events.sample(state, margin).violated()} == {"set"}
