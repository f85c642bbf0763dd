"""The penalty method: closed forms of springs, convergence to constraints, its cost."""

import numpy as np
import pytest

import drystone as ds


def ball(planar, height=0.0, mass=2.0, mu=0.0, **more):
    world = ds.World(planar=planar)
    world.add_ground(friction=mu)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    at = (0, 0.1 + height) if planar else (0, 0, 0.1 + height)
    world.add_body(shape, name="ball", mass=mass, friction=mu, position=at, **more)
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_a_ball_put_on_the_ground_swings_about_its_sinkage(planar):
    """x = -(m g / k)(1 - cos(t sqrt(k / m))): heavier bodies sink deeper (1989, figure 2)."""
    m, k = 2.0, 1e4
    sim = ds.Simulation(ball(planar, mass=m), ds.Penalty(dt=0.01, stiffness=k, rtol=1e-9))
    for _ in range(20):
        sim.step()
        expected = -m * 9.81 / k * (1 - np.cos(sim.time * np.sqrt(k / m)))
        assert sim.body("ball").position[-1] - 0.1 == pytest.approx(expected, abs=1e-8)
    assert sim.report.energy.integration == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_a_fall_returns_with_the_restitution_of_its_damper(damping):
    """Half a swing of m x'' + c x' + k x = 0 with the force cut where it would pull."""
    m, k, v = 2.0, 1e6, 1.0
    world = ball(True, height=1e-9, mass=m, velocity=(0, -v))
    world.gravity = (0, 0)
    sim = ds.Simulation(world, ds.Penalty(dt=1e-3, stiffness=k, damping=damping, rtol=1e-9))
    sim.run(0.02)
    d, w = damping / (2 * m), np.sqrt(k / m - (damping / (2 * m)) ** 2)
    # x = exp(-d t) sin(w t) v / w until k x + c x' = 0, a little before it is out
    t = (np.pi - np.arctan2(2 * d * w, w**2 - d**2)) / w
    x1 = np.exp(-d * t) * (np.cos(w * t) - d / w * np.sin(w * t)) * v
    assert sim.body("ball").velocity[1] == pytest.approx(-x1, rel=1e-5)


def test_friction_slows_and_rolls():
    """Slides with mu g, then rolls at 5/7 of its speed."""
    world = ball(False, height=-2 * 9.81 / 1e4, mu=0.2, velocity=(1.0, 0, 0))
    sim = ds.Simulation(world, ds.Penalty(dt=0.05, stiffness=1e4, slip_speed=1e-2))
    sim.step()
    assert sim.body("ball").velocity[0] == pytest.approx(1.0 - 0.2 * 9.81 * 0.05, rel=1e-3)
    sim.run(0.4)
    assert sim.body("ball").velocity[0] == pytest.approx(5 / 7, rel=0.01)
    table = sim.contacts
    assert table["bodies"].tolist() == [["ball", "ground"]] or len(table) == 1
    assert table["force"][0, 2] == pytest.approx(2 * 9.81, rel=1e-3)


def pendulum(planar):
    world = ds.World(planar=planar)
    if planar:
        world.add_body(ds.Rectangle(1, 0.1), name="rod", mass=1.0, position=(0.5, 0))
        world.add_joint(ds.Pin("rod", "world", anchor=(0, 0)))
    else:
        world.add_body(ds.Box(1, 0.1, 0.1), name="rod", mass=1.0, position=(0.5, 0, 0))
        world.add_joint(ds.Hinge("rod", "world", anchor=(0, 0, 0), axis=(0, 1, 0)))
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_joints_converge_to_the_pendulum_as_stiffness_grows(planar):
    """Error of the angle like 1 / k against theta'' = -m g (l / 2) cos / I."""
    from scipy.integrate import solve_ivp

    inertia = (1 + 0.01) / 12 + 0.25
    exact = solve_ivp(
        lambda _, y: [y[1], -9.81 * 0.5 * np.cos(y[0]) / inertia],
        (0, 0.4),
        [0.0, 0.0],
        rtol=1e-11,
        atol=1e-13,
    ).y[0, -1]
    errors, steps = [], []
    for k in (1e3, 1e4, 1e5):
        sim = ds.Simulation(pendulum(planar), ds.Penalty(dt=0.1, stiffness=k))
        count = 0
        for _ in range(4):
            count += sim.step().iterations
        place = sim.body("rod").position
        errors.append(abs(np.arctan2(place[-1], place[0]) - exact))
        steps.append(count)
        assert sim.report.joint_error < 50.0 / k
    assert errors[0] > 5 * errors[1] > 25 * errors[2]
    assert errors[2] < 50.0 / 1e5
    # steps like sqrt(k)
    assert steps[2] > 5 * steps[0]
    joints = sim.joints
    assert np.linalg.norm(joints["force"][0]) > 5.0


@pytest.mark.parametrize("restored", [False, True])
def test_a_joint_that_is_added_with_its_anchors_apart_is_refused_by_name(restored):
    """Its spring would throw the bodies: 0.1 m are 10^4 times what it is open by under gravity."""
    world = ds.World(planar=True)
    for name, x in (("a", 0.0), ("b", 0.4)):
        world.add_body(ds.Disk(0.1), name=name, mass=1.0, position=(x, 0))
    sim = ds.Simulation(world, ds.Penalty())
    sim.run(0.05)
    before = sim.state
    if restored:
        known, sim = sim.snapshot(), ds.Simulation(world, ds.Penalty())
        sim.restore(known)
    world.add_joint(ds.Pin("a", "b", anchor_a=(0.15, 0), anchor_b=(-0.15, 0), name="late"))
    for k in range(2):  # an edit of something else does not let it pass
        world.add_body(ds.Disk(0.1), name=f"other{k}", mass=1.0, position=(5, k))
        with pytest.raises(ds.ModelError, match=r"'late' was added at t = 0\.05 s while .* 0\.1 m"):
            sim.step()
    assert np.array_equal(sim.state.position[:2], before.position)
    sim.body("b").position = sim.body("a").position + np.array([0.3, 0.0])
    sim.run(0.1)
    assert sim.report.joint_error < 1e-6
    assert np.abs(sim.state.velocity[:, 0]).max() < 1e-6


def test_time_stepping_takes_one_step_where_springs_take_hundreds():
    """The same stack for a tenth of a second."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(3):
        world.add_body(ds.Rectangle(0.2, 0.1), name=f"b{k}", mass=1.0, position=(0, 0.05 + 0.1 * k))
    counts = []
    for stiffness in (1e4, 1e6):
        sim = ds.Simulation(world, ds.Penalty(dt=0.1, stiffness=stiffness, damping=20.0))
        counts.append(sim.step().iterations)
        assert abs(sim.body("b2").position[1] - 0.25) < 200.0 / stiffness
    assert counts[1] > 4 * counts[0] > 40
    exact = ds.Simulation(world, ds.TimeStepping(dt=0.1))
    exact.step()
    assert abs(exact.body("b2").position[1] - 0.25) < 1e-9


@pytest.mark.parametrize("integrator", ["rk45", "dop853", "lsoda", "radau", "bdf"])
def test_integrators_agree(integrator):
    sim = ds.Simulation(
        ball(False, height=0.05, velocity=(0.3, 0, 0)),
        ds.Penalty(dt=0.05, stiffness=1e4, integrator=integrator, rtol=1e-6, atol=1e-8),
    )
    sim.run(0.2)
    b = sim.body("ball")
    # falls 0.05 m, half a swing, flies: symmetric in time about the deepest point
    w, m, k = np.sqrt(1e4 / 2.0), 2.0, 1e4
    v = np.sqrt(2 * 9.81 * 0.05)
    swing = (np.pi + 2 * np.arctan(m * 9.81 / k * w / v)) / w
    t = 0.2 - v / 9.81 - swing
    assert b.position[2] - 0.1 == pytest.approx(v * t - 0.5 * 9.81 * t**2, abs=2e-5)
    assert b.position[0] == pytest.approx(0.06, abs=1e-6)


def test_a_free_body_keeps_energy_and_momentum_where_it_spins():
    world = ds.World((0, 0, 0))
    world.add_body(ds.Box(0.1, 0.2, 0.3), name="box", mass=1.0, angular_velocity=(0.1, 5.0, 0.2))
    sim = ds.Simulation(world, ds.Penalty(dt=0.5, rtol=1e-9, atol=1e-11))
    before = sim.energy[0]
    sim.run(2.0)
    assert sim.energy[0] == pytest.approx(before, rel=1e-7)
    assert abs(np.linalg.norm(sim.body("box").orientation) - 1) < 1e-12


def test_driven_bodies_and_limits():
    """A shaken floor's work is in the books; a slider's limit stops it like a spring."""
    world = ds.World(planar=True)
    world.add_body(
        ds.HalfPlane(), name="floor", friction=0.3, motion=ds.Oscillation((0, 1), 0.01, 2.0)
    )
    world.add_body(ds.Disk(0.1), name="ball", mass=1.0, friction=0.3, position=(0, 0.1))
    sim = ds.Simulation(world, ds.Penalty(dt=0.1, stiffness=1e4, damping=10.0))
    sim.step()
    book = sim.report.energy
    assert abs(book.integration) < 1e-5
    assert abs(book.driving) > 1e-3
    world = ds.World((5.0, 0), planar=True)
    world.add_body(ds.Disk(0.1), name="bead", mass=1.0)
    world.add_joint(ds.Slider("bead", "world", axis=(1, 0), limits=(-1, 0.1)))
    sim = ds.Simulation(world, ds.Penalty(dt=0.1, stiffness=1e4, damping=100.0))
    sim.run(1.5)
    assert sim.body("bead").position[0] == pytest.approx(0.1 + 5.0 / 1e4, abs=1e-5)


@pytest.mark.parametrize("late", [False, True])
def test_bodies_that_begin_in_each_other_are_named(late):
    """They are apart again, at 20 m/s and more, when the step ends."""
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.3, 0.2, 0.25), name="a", position=(0, 0, 0.125))
    sim = ds.Simulation(world, "penalty")
    if late:
        sim.run(0.05)
        assert sim.summary.deep == 0
    world.add_body(ds.Cylinder(0.3, 0.1), name="late", position=(0.05, 0.02, 0.2))
    with pytest.warns(ds.StepWarning, match="'late' in 'a'|'a' in 'late'"):
        sim.run(0.05)
    assert sim.summary.deep >= 1
    assert sim.summary.depth == pytest.approx(0.18, abs=0.03)


def test_wrong_options_are_refused_by_name():
    for bad in ({"stiffness": 0}, {"damping": -1}, {"integrator": "euler"}, {"max_steps": 0}):
        with pytest.raises(ds.OptionError, match=f"Penalty.{next(iter(bad))}"):
            ds.Penalty(**bad)
    with pytest.raises(ds.OptionError, match="unknown method"):
        ds.Simulation(ds.World(), "springs")
    assert isinstance(ds.Simulation(ds.World(), "penalty").method, ds.Penalty)


def test_too_many_steps_end_with_who_is_in_whom():
    sim = ds.Simulation(ball(True, height=-0.01), ds.Penalty(dt=1.0, stiffness=1e8, max_steps=5))
    with pytest.raises(ds.SimulationError, match=r"'ball' and 'ground'.* m in each other"):
        sim.step()
