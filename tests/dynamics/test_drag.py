"""A hand in the simulation: springs by closed forms, in all methods; limits; grips that hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.dynamics.drag import Drag, grip

METHODS = {
    "time-stepping": ds.TimeStepping(dt=1 / 1000),
    "event-driven": ds.EventDriven(),
    "penalty": ds.Penalty(),
}


def ball(planar: bool = False, **options):
    world = ds.World((0, 0) if planar else (0, 0, 0), planar=planar)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    world.add_body(shape, name="ball", mass=2.0, **options)
    return world


@pytest.mark.parametrize("method", METHODS)
def test_a_dragged_mass_is_a_damped_oscillator(method):
    """m x'' = k (b - x) - c x', by its closed form."""
    world = ball()
    world.add_force(Drag("ball", target=(0.3, 0, 0), stiffness=50.0, damping=4.0))
    sim = ds.Simulation(world, METHODS[method])
    sim.run(0.7)
    decay, rate = 4.0 / (2 * 2.0), np.sqrt(50.0 / 2.0 - 1.0)
    t = sim.time
    x = 0.3 * (1 - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t)))
    tolerance = 2e-3 if method == "time-stepping" else 1e-6  # of order h
    assert sim.body("ball").position == pytest.approx([x, 0, 0], abs=tolerance)


@pytest.mark.parametrize("method", METHODS)
def test_the_force_stays_within_its_limit(method):
    """Far from the target a free mass is pulled evenly: x = F t^2 / 2 m."""
    world = ball()
    world.add_force(Drag("ball", target=(0, 1e6, 0), stiffness=1e3, damping=1.0, limit=6.0))
    sim = ds.Simulation(world, METHODS[method])
    sim.run(0.5)
    tolerance = 1e-3 if method == "time-stepping" else 1e-9
    assert sim.body("ball").position[1] == pytest.approx(6.0 / 2.0 * 0.5**2 / 2, rel=tolerance * 4)
    assert sim.body("ball").velocity[1] == pytest.approx(6.0 / 2.0 * 0.5, rel=1e-9)


@pytest.mark.parametrize("planar", [True, False])
def test_force_and_torque_by_hand(planar):
    """The pull at a point off the centre turns the body: r x F about the centre of mass."""
    world = ball(planar, velocity=(0.4, -0.2) if planar else (0.4, -0.2, 0.1))
    dim = 2 if planar else 3
    point, target = np.array([0.05, 0.02, -0.03][:dim]), np.array([0.2, -0.1, 0.4][:dim])
    world.add_force(Drag("ball", tuple(target), tuple(point), stiffness=30.0, damping=3.0))
    model, state = world.build()
    out = np.zeros((1, model.dof))
    for force in model.forces:
        force.add(model, state, out)
        assert force.potential(model, state) == 0.0
    pull = 30.0 * (target - point) - 3.0 * state.velocity[0, :dim]
    turn = np.cross(np.append(point, [0.0][: 3 - dim]), np.append(pull, [0.0][: 3 - dim]))
    wanted = np.append(pull, turn[2] if planar else turn)
    np.testing.assert_allclose(out[0], wanted, rtol=1e-12)


def test_the_target_may_move_while_it_runs():
    """No rebuilt model, no lost warm start: the same object, read at every step."""
    world = ball()
    drag = Drag("ball", target=(0, 0, 0), stiffness=200.0, damping=40.0)
    world.add_force(drag)
    sim = ds.Simulation(world, METHODS["time-stepping"])
    sim.run(0.1)
    model = sim.model
    drag.target = (0, 0, 0.5)
    sim.run(2.0)
    assert sim.model is model
    assert sim.body("ball").position == pytest.approx([0, 0, 0.5], abs=1e-6)


def test_what_the_hand_does_is_work_of_the_loads():
    world = ball()
    world.add_force(Drag("ball", target=(0.3, 0, 0), stiffness=50.0, damping=4.0))
    sim = ds.Simulation(world, METHODS["time-stepping"])
    run = sim.run(0.4, record=True)
    kinetic = run.series("kinetic")
    assert run.series("loads").sum() == pytest.approx(kinetic[-1], rel=0.02)  # of order h
    assert kinetic[-1] > 0


@given(
    mass=st.floats(0.01, 1000),
    half=st.floats(0.02, 0.5),
    dt=st.sampled_from([1 / 30, 1 / 60, 1 / 240, 1 / 1000]),
    strength=st.floats(0.1, 10),
    planar=st.booleans(),
)
@settings(deadline=None, derandomize=True, max_examples=12)
def test_a_grip_is_never_too_stiff_for_the_steps(mass, half, dt, strength, planar):
    """Held at a corner, where it is lightest, a block comes to the hand and stays there."""
    dim = 2 if planar else 3
    world = ds.World((0,) * dim, planar=planar)
    shape = ds.Rectangle(2 * half, half) if planar else ds.Box(2 * half, half, half)
    world.add_body(shape, name="block", mass=mass)
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt))
    corner = np.array([half, half / 2, half / 2][:dim])
    drag = grip(sim.model, sim.state, 0, corner, dt, strength)
    world.add_force(drag)
    drag.target = tuple(corner + 0.1)
    speeds = []
    for _ in range(int(6.0 / dt) if dt > 1 / 100 else 600):
        sim.step()
        speeds.append(float(np.abs(sim.state.velocity).max()))
    assert max(speeds) < 50 * (0.1 + 0.1 / half)
    if len(speeds) * dt > 5 and strength > 0.5:
        held = sim.body("block")
        turn = held.orientation if planar else None
        if planar:
            c, s = np.cos(turn), np.sin(turn)
            place = held.position + np.array([[c, -s], [s, c]]) @ corner
            assert np.linalg.norm(place - drag.target) < 0.02


def test_a_grip_lifts_what_is_jointed_to_the_body():
    """Its force is limited by the weight of the whole chain, not of the link that is held."""
    world = ds.World(planar=True)
    for k in range(5):
        world.add_body(ds.Disk(0.05), name=f"link{k}", mass=1.0, position=(0, -0.2 * k))
        if k:
            world.add_joint(ds.Pin(f"link{k - 1}", f"link{k}", anchor=(0, -0.2 * k + 0.1)))
    sim = ds.Simulation(world, "time-stepping")
    drag = grip(sim.model, sim.state, 0, (0, 0), sim.method.dt)
    assert drag.limit == pytest.approx(8 * 5 * 9.81)
    world.add_force(drag)
    sim.run(4.0)
    assert sim.body("link0").position[1] == pytest.approx(-5 * 9.81 / drag.stiffness, rel=0.01)


def test_wrong_input_is_refused():
    world = ball()
    with pytest.raises(ds.ModelError, match="Drag of 'ball': limit = -1"):
        world.add_force(Drag("ball", (0, 0, 0), limit=-1.0))
    with pytest.raises(ds.ModelError, match="target"):
        world.add_force(Drag("ball", (0, 0)))
    world.add_ground()
    model, state = world.build()
    with pytest.raises(ds.ModelError, match="'ground': cannot be dragged"):
        grip(model, state, 1, (0, 0, 0), 0.01)
