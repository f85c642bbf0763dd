"""A joint to read: angle, speed, force, by every method."""

import numpy as np
import pytest

import drystone as ds
from drystone.errors import ModelError

METHODS = [
    ds.TimeStepping(), ds.TimeStepping(order=2), ds.EventDriven(), ds.Penalty(stiffness=1e6),
]  # fmt: skip


def wheel(planar, speed=10.0):
    """A wheel on a hinge without load: its angle is speed t, for more than a turn."""
    world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
    if planar:
        world.add_body(ds.Disk(0.1), name="w", mass=2.0, angular_velocity=speed)
        world.add_joint(ds.Pin("w", "world", anchor=(0, 0), name="axle"))
    else:
        world.add_body(ds.Cylinder(0.1, 0.05), name="w", mass=2.0, angular_velocity=(0, 0, speed))
        world.add_joint(ds.Hinge("w", "world", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    return world


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("planar", [True, False])
def test_an_angle_is_counted_on_over_full_turns(planar, method):
    sim = ds.Simulation(wheel(planar), method=method)
    axle = sim.joint("axle")
    while sim.time < 1.0 - 1e-9:
        sim.step()
    turned = abs(float(axle.position[0]))
    assert turned == pytest.approx(10.0 * sim.time, rel=1e-6)
    assert abs(float(axle.velocity[0])) == pytest.approx(10.0, rel=1e-9)
    assert np.sign(axle.position[0]) == np.sign(axle.velocity[0])
    assert len(axle.coordinates) == 1


def test_a_hanging_joint_bears_the_weight_and_a_slider_tells_its_length():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="bob", mass=2.0, position=(0, -1))
    world.add_joint(ds.Pin("bob", "world", anchor=(0, 0), name="pivot"))
    world.add_body(ds.Disk(0.1), name="lift", mass=1.0, position=(3, 0))
    world.add_joint(ds.Slider("lift", "world", axis=(0, 1), name="rail"))
    sim = ds.Simulation(world)
    sim.run(0.5)
    np.testing.assert_allclose(sim.joint("pivot").force, [0.0, 2.0 * 9.81], atol=1e-6)
    fall = 0.5 * 9.81 * 0.5**2
    assert abs(float(sim.joint("rail").position[0])) == pytest.approx(fall, rel=1e-2)
    assert abs(float(sim.joint("rail").velocity[0])) == pytest.approx(9.81 * 0.5, rel=1e-9)


def test_an_unknown_joint_is_named_with_those_there_are():
    sim = ds.Simulation(wheel(True))
    with pytest.raises(ModelError, match=r"joint 'axel'.*axle"):
        sim.joint("axel")
    with pytest.raises(ModelError, match="no step"):
        _ = sim.joint("axle").force
