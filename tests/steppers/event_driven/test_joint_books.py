"""Friction and motors of joints by events: closed forms of the motion and of the books."""

import pytest

import drystone as ds

INERTIA, SPIN, TORQUE = 0.5, 3.0, 2.0


def spinning(speed, **joint):
    """An arm on a pin, without gravity."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.1), name="arm", mass=1.0, inertia=INERTIA, angular_velocity=speed)
    world.add_joint(ds.Pin("arm", "world", anchor=(0, 0), **joint))
    return ds.Simulation(world, ds.EventDriven(dt=0.25))


@pytest.mark.parametrize("speed", [SPIN, -SPIN])
def test_friction_of_a_pin_stops_the_arm(speed):
    """It loses its energy at a constant torque, which the books count as a load, as all that acts
    in joints, and stays where it stopped."""
    sim = spinning(speed, friction=TORQUE)
    stop = INERTIA * SPIN / TORQUE  # 0.75 s
    spent = 0.0
    for _ in range(5):
        report = sim.step()
        spent += report.energy.loads
        t = min(sim.time, stop)
        left = SPIN - TORQUE / INERTIA * t
        turned = SPIN * t - 0.5 * TORQUE / INERTIA * t * t
        assert abs(sim.body("arm").angular_velocity) == pytest.approx(left, abs=1e-8)
        assert abs(sim.body("arm").orientation) == pytest.approx(turned, abs=1e-8)
        assert spent == pytest.approx(-TORQUE * turned, abs=1e-8)
        assert report.energy.unexplained == pytest.approx(0, abs=1e-8)
        assert report.energy.friction == pytest.approx(0, abs=1e-12), "of contacts only"


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_motor_brings_its_torque_times_the_angle(way):
    """At rest at first; after 0.5 s at its speed, which needs no torque any more."""
    motor = ds.Motor(speed=2.0 * way, max_force=TORQUE)
    sim = spinning(0.0, motor=motor)
    full = INERTIA * 2.0 / TORQUE
    brought = 0.0
    for _ in range(4):
        report = sim.step()
        brought += report.energy.loads
        t = min(sim.time, full)
        speed = TORQUE / INERTIA * t
        turned = 0.5 * TORQUE / INERTIA * t * t
        assert way * sim.body("arm").angular_velocity == pytest.approx(speed, abs=1e-8)
        assert brought == pytest.approx(TORQUE * turned, abs=1e-8)
        assert report.energy.friction == pytest.approx(0, abs=1e-8)
        assert report.energy.unexplained == pytest.approx(0, abs=1e-8)
