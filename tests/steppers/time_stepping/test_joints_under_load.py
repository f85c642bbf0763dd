"""Mechanisms that only loads or motors move: at rest, their joints ask for no shorter steps."""

import numpy as np
import pytest

import drystone as ds

LENGTH, ANGLE = 0.2, np.deg2rad(5)


def press(motor=None):
    """A toggle on a block, without gravity: two links, a ram in a guide."""
    world = ds.World(planar=True, gravity=(0, 0))
    knee = LENGTH * np.array([np.sin(ANGLE), -np.cos(ANGLE)])
    foot = np.array([0.0, 2 * knee[1]])
    for name, a, b in (("upper", np.zeros(2), knee), ("lower", knee, foot)):
        turn = np.arctan2(*(b - a)[::-1])
        bar = ds.Capsule2D(LENGTH, 0.01)
        world.add_body(bar, name=name, mass=0.5, position=(a + b) / 2, orientation=turn)
    world.add_body(ds.Rectangle(0.06, 0.08), name="ram", mass=1, position=foot - (0, 0.04))
    world.add_body(ds.Rectangle(0.3, 0.1), name="anvil", position=foot - (0, 0.13), fixed=True)
    world.add_joint(ds.Pin("upper", "world", anchor=(0, 0), motor=motor))
    world.add_joint(ds.Pin("upper", "lower", anchor=knee))
    world.add_joint(ds.Pin("lower", "ram", anchor=foot))
    world.add_joint(ds.Slider("ram", "world", axis=(0, 1)))
    return world


@pytest.mark.parametrize("drive", ["load", "motor"])
def test_a_mechanism_at_rest_takes_whole_steps(drive):
    """The force of the ram by statics, P / (2 tan) or T / (2 l sin), and no halved steps."""
    if drive == "load":
        world, pressed = press(), 100 / (2 * np.tan(ANGLE))
        world.add_force(ds.ConstantForce("upper", force=(-100, 0), point=(LENGTH / 2, 0)))
    else:
        world = press(ds.Motor(speed=-1, max_force=20))
        pressed = 20 / (2 * LENGTH * np.sin(ANGLE))
    sim = ds.Simulation(world, ds.TimeStepping(dt=1e-3))
    halved = [sim.step().retries for _ in range(20)]
    assert halved == [0] * 20
    np.testing.assert_allclose(sim.contacts["force"][:, 1].sum(), pressed, rtol=1e-6)
