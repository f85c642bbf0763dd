"""Mechanisms that only loads move: their joints are not held against a weight that is not there."""

import numpy as np

import drystone as ds


def test_a_loaded_mechanism_at_rest_takes_whole_steps():
    """A toggle pressed on a block without gravity: P / (2 tan) by statics, and no halved steps."""
    length, push, angle = 0.2, 100.0, np.deg2rad(5)
    world = ds.World(planar=True, gravity=(0, 0))
    knee = length * np.array([np.sin(angle), -np.cos(angle)])
    foot = np.array([0.0, 2 * knee[1]])
    for name, a, b in (("upper", np.zeros(2), knee), ("lower", knee, foot)):
        turn = np.arctan2(*(b - a)[::-1])
        bar = ds.Capsule2D(length, 0.01)
        world.add_body(bar, name=name, mass=0.5, position=(a + b) / 2, orientation=turn)
    world.add_body(ds.Rectangle(0.06, 0.08), name="ram", mass=1, position=foot - (0, 0.04))
    world.add_body(ds.Rectangle(0.3, 0.1), name="anvil", position=foot - (0, 0.13), fixed=True)
    world.add_joint(ds.Pin("upper", "world", anchor=(0, 0)))
    world.add_joint(ds.Pin("upper", "lower", anchor=knee))
    world.add_joint(ds.Pin("lower", "ram", anchor=foot))
    world.add_joint(ds.Slider("ram", "world", axis=(0, 1)))
    world.add_force(ds.ConstantForce("upper", force=(-push, 0), point=(length / 2, 0)))
    sim = ds.Simulation(world, ds.TimeStepping(dt=1e-3))
    for _ in range(20):
        assert sim.step().retries == 0
    pressed = sim.contacts["force"][:, 1].sum()
    np.testing.assert_allclose(pressed, push / (2 * np.tan(angle)), rtol=1e-6)
