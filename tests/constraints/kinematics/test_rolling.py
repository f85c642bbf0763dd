"""How fast the normal turns in bodies and what that adds to C'': closed forms."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.kinematics import contact_kinematics, rolling
from drystone.geometry.detector import Detector

pytestmark = pytest.mark.kernels


def measured(world):
    """Turning, speed and kinematics of the only contact of a world whose bodies are not turned."""
    model, state = world.build()
    geoms = model.geoms
    R = np.tile(np.eye(model.dim), (len(geoms), 1, 1))
    x = state.position[geoms.body]
    detector = Detector(geoms, np.ones(model.nb, bool), np.ones(model.nb, np.int64))
    found = detector.contacts(x, R, np.full(len(geoms), 0.1))
    kin = contact_kinematics(geoms, x, R, state.position, state.velocity, found)
    assert len(kin) == 1
    turning, speed = rolling(kin, state.velocity)
    return float(turning[0]), float(speed[0]), kin


def test_an_ellipsoid_that_turns_on_a_plane():
    """About x the radius of curvature at the lowest point is b^2 / c, about y a^2 / c; spin about
    the normal and sliding do not count."""
    world = ds.World()
    world.add_ground()
    a, b, c, w = 3.0, 2.0, 1.0, (0.4, 0.7, 5.0)
    shape = ds.Ellipsoid(a, b, c)
    world.add_body(shape, name="e", position=(0, 0, c), velocity=(1, 2, 0), angular_velocity=w)
    turning, speed, _ = measured(world)
    assert turning == pytest.approx(np.hypot(w[0], w[1]))
    assert speed * turning == pytest.approx(w[0] ** 2 * b**2 / c + w[1] ** 2 * a**2 / c)


def test_balls_that_slide_past_each_other_bend_by_their_radii():
    """Without turning n' = v / (r + s), and both normals run over their balls."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Sphere(2.0), name="r", position=(0, 0, 3), velocity=(1.5, 0, 0))
    world.add_body(ds.Sphere(1.0), name="s")
    turning, speed, _ = measured(world)
    rate = 1.5 / 3
    assert turning == pytest.approx(np.sqrt(2) * rate)
    assert speed * turning == pytest.approx(rate**2 * 2 + rate**2 * 1)


def test_in_the_plane():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Ellipse(2.0, 1.0), name="e", position=(0, 1), angular_velocity=-0.5)
    turning, speed, kin = measured(world)
    assert turning == pytest.approx(0.5)
    assert speed == pytest.approx(0.5 * 4.0)
    assert np.abs(kin.slide[0, 0]).max() == pytest.approx(2.0)


def test_a_body_at_rest_turns_no_slower_than_the_floor():
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Superquadric(1, 1, 1, 0.5, 0.5), name="flat", position=(0, 0, 1))
    turning, speed, _ = measured(world)
    assert turning == 1e-6
    assert speed == 0.0
