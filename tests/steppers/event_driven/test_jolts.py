"""Velocities that joints forbid end in an impulse, and contacts take part in it: closed forms."""

import math

import numpy as np
import pytest

import drystone as ds
from tests.scenes.rebuilt import Frame, rebuilt

LIGHT, HEAVY, MU = 2.0, 3.0, 0.3
TURNS = {2: (0.0, 0.3, 2.5), 3: ((1, 0, 0, 0), (0.9, 0.1, -0.3, 0.2), (0.2, 0.5, 0.7, -0.4))}
LAWS = (ds.CollisionLaw(), ds.CollisionLaw(order="propagation"))


def pinned(dim, velocity):
    """A block at rest on the floor; in its middle hangs a weight of another layer, that moves."""
    world = ds.World(planar=dim == 2)
    world.add_ground(friction=MU, layer=0)
    shape = ds.Rectangle(2, 0.2) if dim == 2 else ds.Box(2, 2, 0.2)
    place = (0, 0.1) if dim == 2 else (0, 0, 0.1)
    world.add_body(shape, name="block", mass=LIGHT, position=place, friction=MU, layer=0)
    shape = ds.Disk(0.05) if dim == 2 else ds.Sphere(0.05)
    world.add_body(shape, name="weight", mass=HEAVY, position=place, velocity=velocity, layer=1)
    joint = ds.Pin if dim == 2 else ds.Ball
    world.add_joint(joint("block", "weight", anchor=place, name="pin"))
    return world


def after(world, frame, law):
    """Velocity of the block in our own frame, and the report, as soon as the jolt is over."""
    sim = ds.Simulation(rebuilt(world, frame), ds.EventDriven(dt=1e-9, collisions=law))
    report = sim.step()
    return frame.R.T @ np.array(sim.body("block").velocity), report


@pytest.mark.parametrize("law", LAWS, ids=["simultaneous", "propagation"])
@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("fall", [0.0, 1.0, 20.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_weight_that_falls_and_slides_takes_the_block_along(dim, fall, turn, law):
    """The floor bears HEAVY fall [N s] and rubs with MU times that, at most until all stands."""
    along = np.array((4.0,) if dim == 2 else (2.4, 3.2))
    world = pinned(dim, (*along.tolist(), -fall))
    way = np.array(TURNS[dim][turn], float)
    frame = Frame(dim, float(way) if dim == 2 else tuple(way / np.linalg.norm(way)))
    velocity, report = after(world, frame, law)
    speed = max(4.0 - MU * fall, 0.0) * HEAVY / (HEAVY + LIGHT)
    np.testing.assert_allclose(velocity, (*(0.25 * speed * along).tolist(), 0.0), atol=1e-7)
    lost = 0.5 * (HEAVY + LIGHT) * speed**2 - 0.5 * HEAVY * (16.0 + fall**2)
    assert report.energy.impact == pytest.approx(lost, abs=1e-6)
    assert report.energy.unexplained == pytest.approx(0.0, abs=1e-9)
    if fall:
        assert all("block" in name for name in report.events[0].names)
    else:
        assert report.events[0].names == ("pin",)
    sources = {impulse.source for impulse in report.events[0].impulses}
    assert sources == ({"contact", "joint"} if fall else {"joint"})


def test_a_weight_that_rises_lifts_the_block():
    velocity, report = after(pinned(2, (0.0, 5.0)), Frame(2), ds.CollisionLaw())
    np.testing.assert_allclose(velocity, (0.0, 5.0 * HEAVY / (HEAVY + LIGHT)), atol=1e-7)
    assert report.ok


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.5, math.pi / 2])
def test_a_lever_that_begins_to_rock_moves_pawls_alike_in_every_frame(angle):
    """The jack's pawls touch its bar when the lever starts at full speed."""
    scene = ds.scene("double-action-jack", teeth=3, swing=22.0, mu=0.14)
    runs = []
    for frame in (Frame(2), Frame(2, angle)):
        sim = ds.Simulation(rebuilt(scene.world, frame), ds.EventDriven())
        for _ in range(3):
            assert sim.step().ok
        runs.append(sim.state.position @ frame.R)
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-9)
