"""Joints in a step: closed forms, order, drift by each way of closing, actions, collisions."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds
from drystone.constraints import joints as J
from drystone.constraints.joints.rows import free_coordinates, joint_rows

G = 9.81


def pendulum(h, way="exact", duration=1.0):
    """A rod on a ball joint, let go from horizontal: angle, greatest error, ledger."""
    world = ds.World()
    turn = (np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0)
    rod = ds.Box(0.1, 0.1, 1.0)
    world.add_body(rod, name="rod", position=(0.5, 0, 2.0), orientation=turn, density=100)
    world.add_joint(J.Ball("rod", "world", anchor=(0, 0, 2.0)))
    sim = ds.Simulation(world, ds.TimeStepping(dt=h, joints=way))
    error, lost = 0.0, 0.0
    for _ in range(round(duration / h)):
        report = sim.step()
        lost = max(lost, abs(report.energy.unexplained))
        assert report.ok
        error = max(error, np.abs(joint_rows(sim.model.joints, sim.state).error).max())
    x = sim.state.position[0]
    return np.arctan2(x[0], 2.0 - x[2]), error, lost


def exact_angle(duration=1.0):
    """The same by SciPy, in its own coordinate."""
    m, inertia = 1.0, 1.0 / 12 * 1.01 + 0.25
    rate = m * G * 0.5 / inertia
    done = solve_ivp(
        lambda t, y: [y[1], -rate * np.sin(y[0])], (0, duration), [np.pi / 2, 0], rtol=1e-10,
        atol=1e-10,
    )  # fmt: skip
    return done.y[0, -1]


def test_a_pendulum_is_first_order_and_stays_on_its_joint():
    errors = []
    for h in (1 / 120, 1 / 240, 1 / 480):
        angle, error, lost = pendulum(h)
        errors.append(abs(angle - exact_angle()))
        assert error < 1e-9
        assert lost < 1e-12
    assert errors[0] < 3e-3
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 2.0, rtol=0.1)


def test_the_ways_of_closing_joints_drift_as_they_say():
    drift = {
        way: pendulum(1 / 240, way)[1] for way in ("exact", "stabilize", "project", "velocity")
    }
    assert drift["exact"] < 1e-9
    assert drift["project"] < 1e-9
    finer = pendulum(1 / 480, "stabilize")[1]
    assert drift["stabilize"] / finer == pytest.approx(4.0, rel=0.1), "of order h^2 v^2"
    assert drift["velocity"] > 20 * drift["stabilize"]


def test_a_planar_pendulum_is_the_same():
    world = ds.World(planar=True)
    rod = ds.Rectangle(1.0, 0.1)
    world.add_body(rod, name="rod", position=(0.5, 2.0), density=10)
    world.add_joint(J.Pin("rod", "world", anchor=(0, 2.0)))
    sim = ds.Simulation(world)
    sim.run(1.0)
    x = sim.state.position[0]
    assert np.arctan2(x[0], 2.0 - x[1]) == pytest.approx(exact_angle(), abs=2e-3)
    assert abs(np.hypot(x[0], x[1] - 2.0) - 0.5) < 1e-9


def hinged(**options):
    """A wheel on a hinge along y, without gravity."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(
        ds.Cylinder(0.2, 0.5), name="wheel", mass=2.0, orientation=(0.5**0.5, 0.5**0.5, 0, 0)
    )
    world.add_joint(J.Hinge("wheel", "world", anchor=(0, 0, 0), axis=(0, 1, 0), **options))
    return ds.Simulation(world)


def spin(sim):
    return sim.body("wheel").angular_velocity[1]


def test_a_motor_drives_with_its_greatest_torque_and_then_holds_its_speed():
    sim = hinged(motor=J.Motor(speed=3.0, max_force=0.5))
    inertia = 0.5 * 2.0 * 0.25
    sim.run(1.0)
    assert spin(sim) == pytest.approx(0.5 / inertia * 1.0, rel=1e-8)
    sim.run(1.0)
    assert spin(sim) == pytest.approx(3.0, abs=1e-8)


def test_joint_friction_stops_a_wheel_after_a_known_time():
    sim = hinged(friction=0.25)
    sim.body("wheel").angular_velocity = (0, 2.0, 0)
    sim.run(1.0)
    assert spin(sim) == pytest.approx(1.0, rel=1e-8)
    sim.run(1.5)
    assert abs(spin(sim)) < 1e-9


def test_limits_are_kept_on_both_sides():
    for way in (1.0, -1.0):
        sim = hinged(limits=(-0.5, 0.7))
        sim.body("wheel").angular_velocity = (0, way, 0)
        turned = []
        for _ in range(300):
            sim.step()
            turned.append(float(free_coordinates(sim.model.joints, sim.state).value[0]))
        assert min(turned) > -0.5 - 1e-6
        assert max(turned) < 0.7 + 1e-6
        assert abs(spin(sim)) < 1e-8, "it rests at the limit"


def test_a_joint_takes_part_in_a_collision():
    """Two balls on a bar-like fixed joint hit the ground with one: the other stops with it."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_ground(restitution=1.0, friction=0.0)
    for k, x in enumerate((0.0, 1.0)):
        place = {"position": (x, 0, 0.2), "velocity": (0, 0, -1.0)}
        world.add_body(ds.Sphere(0.1), name=f"ball{k}", mass=1.0, friction=0.0, **place)
    world.add_joint(J.Fixed("ball0", "ball1"))
    sim = ds.Simulation(world, ds.TimeStepping(restitution="newton"))
    sim.run(0.2)
    assert sim.body("ball0").velocity[2] == pytest.approx(1.0, abs=1e-9)
    assert sim.body("ball1").velocity[2] == pytest.approx(1.0, abs=1e-9)
    assert np.abs(joint_rows(sim.model.joints, sim.state).error).max() < 1e-9


def test_a_chain_of_hinges_on_the_ground_with_contacts():
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(6):
        world.add_body(
            ds.Box(0.2, 0.05, 0.05), name=f"link{k}", position=(0.22 * k, 0, 0.5), density=500
        )
    for k in range(5):
        world.add_joint(
            J.Hinge(f"link{k}", f"link{k + 1}", anchor=(0.22 * k + 0.11, 0, 0.5), axis=(0, 1, 0))
        )
    sim = ds.Simulation(world)
    worst = 0.0
    for _ in range(240):
        assert sim.step().ok
        worst = max(worst, np.abs(joint_rows(sim.model.joints, sim.state).error).max())
    assert worst < 1e-6
    assert sim.penetration < 1e-4
    assert np.abs(sim.state.velocity[1:]).max() < 1e-3, "it has come to rest"


def test_joints_say_what_they_bear():
    """A weight of 2 kg hangs on a hinge beside its centre: force and torque of statics."""
    world = ds.World()
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="weight", mass=2.0, position=(0.3, 0, 1))
    world.add_joint(J.Fixed("weight", "world", anchor=(0, 0, 1), name="bracket"))
    sim = ds.Simulation(world)
    sim.run(0.1)
    bracket = sim.joints[0]
    assert bracket["name"] == "bracket"
    assert list(bracket["bodies"]) == ["weight", "world"]
    np.testing.assert_allclose(bracket["force"], (0, 0, 2 * G), atol=1e-8)
    np.testing.assert_allclose(bracket["torque"], np.cross((0.3, 0, 0), (0, 0, 2 * G)), atol=1e-8)


def test_a_joint_breaks_beyond_its_strength_and_stays_broken():
    world = ds.World()
    world.add_body(ds.Sphere(0.1), name="weight", mass=2.0, position=(0, 0, 1))
    world.add_joint(J.Ball("weight", "world", anchor=(0, 0, 1.1), breaks_at=25.0, name="thread"))
    sim = ds.Simulation(world)
    sim.run(0.2)
    assert sim.body("weight").position[2] == pytest.approx(1.0, abs=1e-9), "19.6 N is borne"
    world.add_force(ds.ConstantForce("weight", force=(0, 0, -10.0)))
    assert sim.step().broken == ("thread",)
    sim.run(0.2)
    assert sim.body("weight").position[2] < 0.8
    assert sim.joints.size == 0


def test_a_chain_too_stiff_for_the_step_ends_in_an_error_that_names_the_joint():
    """Light links under a heavy bob: h omega > 2 with omega^2 = 12 T / (m l); "exact" copes."""
    world = ds.World()
    link, length = ds.Capsule(0.08, 0.01), 0.1
    lying = (0.5**0.5, 0, 0.5**0.5, 0)
    for k in range(10):
        place = {"position": ((k + 0.5) * length, 0, 0), "orientation": lying}
        world.add_body(link, name=f"link{k}", mass=0.1, layer=(), **place)
    world.add_body(ds.Sphere(0.2), name="bob", mass=200.0, position=(1.2, 0, 0), layer=())
    for k in range(11):
        a, b = f"link{k}" if k < 10 else "bob", f"link{k - 1}" if k else "world"
        world.add_joint(J.Ball(a, b, anchor=(k * length, 0, 0), name=f"joint{k}"))
    sim = ds.Simulation(world, ds.TimeStepping(joints="stabilize"))
    with pytest.raises(ds.SimulationError, match=r"joint 'joint\d+' is open by .* shorter"):
        sim.run(3.0)
