"""Motors and joint friction with the convex formulation: the force limit holds there too."""

import numpy as np
import pytest

import drystone as ds

WEIGHT = 0.2 * 2000 * 9.81  # of the arm's base


def wheel(formulation, **options):
    """A wheel on a hinge along y, without gravity; inertia 0.25 about it."""
    world = ds.World(gravity=(0, 0, 0))
    lying = (0.5**0.5, 0.5**0.5, 0, 0)
    world.add_body(ds.Cylinder(0.2, 0.5), name="wheel", mass=2.0, orientation=lying)
    world.add_joint(ds.Hinge("wheel", "world", anchor=(0, 0, 0), axis=(0, 1, 0), **options))
    return ds.Simulation(world, ds.TimeStepping(formulation=formulation))


def spin(sim):
    return sim.body("wheel").angular_velocity[1]


def test_a_motor_never_exceeds_its_torque():
    sim = wheel("convex", motor=ds.Motor(speed=3.0, max_force=0.5))
    for _ in range(240):
        assert sim.step().ok
        assert np.linalg.norm(sim.joints["torque"][0]) <= 0.5 * (1 + 1e-9)
    assert spin(sim) == pytest.approx(0.5 / 0.25, rel=1e-8), "torque times time by inertia"
    sim.run(1.0)
    assert spin(sim) == pytest.approx(3.0, abs=1e-8)


def test_joint_friction_stops_a_wheel_after_a_known_time():
    sim = wheel("convex", friction=0.25)
    sim.body("wheel").angular_velocity = (0, 2.0, 0)
    sim.run(1.0)
    assert spin(sim) == pytest.approx(1.0, rel=1e-8)
    sim.run(1.5)
    assert abs(spin(sim)) < 1e-9


def arm(formulation, solver="auto"):
    """Two links with friction and motors, on a block that sticks to the ground: joints and
    contacts in one island, all contacts sticking, where both laws have the same solution."""
    world = ds.World()
    world.add_ground(friction=0.8)
    world.add_body(ds.Box(1.0, 1.0, 0.2), name="base", position=(0, 0, 0.1), density=2000)
    place = {"density": 300}
    world.add_body(ds.Box(0.4, 0.05, 0.05), name="upper", position=(0.2, 0, 1.4), **place)
    world.add_body(ds.Box(0.4, 0.05, 0.05), name="fore", position=(0.6, 0, 1.4), **place)
    axis = {"axis": (0, 1, 0)}
    world.add_joint(ds.Hinge("upper", "base", anchor=(0, 0, 1.4), friction=0.4, **axis))
    motor = ds.Motor(speed=-2.0, max_force=0.3)
    world.add_joint(ds.Hinge("fore", "upper", anchor=(0.4, 0, 1.4), motor=motor, **axis))
    return ds.Simulation(world, ds.TimeStepping(formulation=formulation, solver=solver))


def test_where_contacts_stick_both_formulations_agree():
    runs = [arm("coulomb"), arm("convex")]
    most = np.array([0.4, 0.3]) + 1e-10 * WEIGHT  # the solve's tolerance, of the island's forces
    fastest = 0.0
    for _ in range(60):
        for sim in runs:
            report = sim.step()
            assert report.ok
            torque = np.linalg.norm(sim.joints["torque"] * (0, 1, 0), axis=1)
            assert (torque <= most).all()
            assert abs(report.energy.unexplained) < 1e-11
            fastest = max(fastest, np.abs(sim.body("fore").velocity).max())
    assert fastest > 0.5, "it moves: friction and motor are overcome"
    a, b = (sim.state for sim in runs)
    np.testing.assert_allclose(a.position, b.position, atol=1e-8)
    np.testing.assert_allclose(a.velocity, b.velocity, atol=1e-7)


def test_another_solver_by_name_keeps_the_limit_too():
    sim, reference = arm("convex", "interior-point"), arm("convex")
    for _ in range(5):
        assert sim.step().ok
        reference.step()
        torque = np.linalg.norm(sim.joints["torque"] * (0, 1, 0), axis=1)
        assert (torque <= np.array([0.4, 0.3]) * (1 + 1e-6)).all()
    np.testing.assert_allclose(sim.state.velocity, reference.state.velocity, atol=1e-5)


def test_a_motor_against_a_sliding_contact():
    """The lift of contacts stays, only the joint's own load is not lifted. Exact Coulomb friction
    gives v = (F - mu m g) t / m; the relaxation comes to that as h falls."""
    exact = (4.0 - 0.2 * 9.81) * 0.1

    def error(formulation, h):
        world = ds.World(planar=True)
        world.add_ground(friction=0.2)
        block = ds.Rectangle(1.0, 0.2)
        world.add_body(block, name="block", mass=1.0, position=(0, 0.1), friction=0.2)
        motor = ds.Motor(speed=1.0, max_force=4.0)
        world.add_joint(ds.Distance("block", "world", anchor_b=(-9, 0.1), motor=motor))
        sim = ds.Simulation(world, ds.TimeStepping(dt=h, formulation=formulation))
        for _ in range(round(0.1 / h)):
            assert sim.step().ok
            assert np.linalg.norm(sim.joints["force"][0]) <= 4.0 * (1 + 1e-9)
        return abs(sim.body("block").velocity[0] - exact)

    assert error("coulomb", 1 / 240) < 1e-6
    coarse, fine = (error("convex", h) for h in (1 / 240, 1 / 960))
    assert 0 < fine < 0.5 * coarse < 0.01
