"""sim.solutions(): names, vectors of the world, contacts that collide, static friction in space."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import drystone as ds

G = 9.81


def disk(speed):
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    world.add_body(ds.Disk(0.1), name="disk", mass=2.0, position=(0, 0.1), velocity=(0, speed))
    return ds.Simulation(world, method=ds.EventDriven(dt=0.01))


@pytest.mark.parametrize("speed", [-1.0, -1e-3, -20.0])
def test_contacts_that_collide_are_named(speed):
    with pytest.raises(ds.CollidingContactsError, match="disk") as caught:
        disk(speed).solutions()
    ((name, approach),) = caught.value.contacts.items()
    assert "disk" in name
    assert approach == pytest.approx(-speed)
    again = copy.deepcopy(caught.value)
    assert again.contacts == caught.value.contacts


def test_a_box_falling_flat_names_every_contact_in_space():
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(
        ds.Box(1, 1, 1), name="box", density=1000, position=(0, 0, 0.5), velocity=(0, 0, -2)
    )
    with pytest.raises(ds.CollidingContactsError) as caught:
        ds.Simulation(world, method=ds.EventDriven(dt=0.01)).solutions()
    assert len(caught.value.contacts) == 4
    assert set(np.round(list(caught.value.contacts.values()), 9)) == {2.0}


def test_a_contact_that_separates_has_no_forces():
    (way,) = disk(1.0).solutions()
    assert way.after == ("separates",) or way.f.size == 0
    np.testing.assert_allclose(way.motion[-1, :2], [0.0, -G])


def test_names_and_vectors_of_the_world():
    """A block at rest on a slope: the forces add up to its weight."""
    slope = 0.3
    world = ds.World(planar=True)
    normal = np.array([-np.sin(slope), np.cos(slope)])
    world.add_body(ds.HalfPlane(normal, 0.0), name="slope", fixed=True, friction=0.9)
    world.add_body(ds.Rectangle(0.4, 0.2), name="block", mass=3.0, friction=0.9,
                   position=tuple(0.1 * normal), orientation=slope)  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.01))
    (way,) = sim.solutions()
    assert way.kind == "forces"
    assert len(way.contacts) == 2
    assert all("block" in name and "slope" in name for name in way.contacts)
    assert way.bodies[way.motion.shape[0] - 1]
    sign = 1.0 if way.contacts[0].startswith("block") else -1.0
    np.testing.assert_allclose(sign * way.force.sum(axis=0), [0.0, 3.0 * G], atol=1e-9)
    np.testing.assert_allclose(np.abs(way.point @ normal), 0.0, atol=1e-9)
    index = way.bodies.index("block")
    np.testing.assert_allclose(way.motion[index], 0.0, atol=1e-8)


@pytest.mark.parametrize("push", [0.0, 2.0, 8.0])
def test_static_friction_in_space(push):
    """A cube on the floor, pulled sideways: at rest below mu m g, else the rest accelerates it."""
    mu, mass = 0.5, 1.0
    world = ds.World()
    world.add_ground(friction=mu)
    world.add_body(ds.Box(0.2, 0.2, 0.1), name="cube", mass=mass, friction=mu,
                   position=(0, 0, 0.05))  # fmt: skip
    world.add_force(ds.ConstantForce("cube", force=(push, 0, 0), point=(0, 0, -0.05)))
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.01))
    ways = sim.solutions()
    expected = max(0.0, push - mu * mass * G) / mass
    assert ways
    for way in ways:
        index = way.bodies.index("cube")
        np.testing.assert_allclose(way.motion[index, :3], [expected, 0, 0], atol=1e-6)
        sign = 1.0 if way.contacts[0].startswith("cube") else -1.0
        total = sign * way.force.sum(axis=0)
        np.testing.assert_allclose(total, [expected * mass - push, 0, mass * G], atol=1e-6)
        assert (way.f[:, 0] >= 0).all()
        assert (np.linalg.norm(way.f[:, 1:], axis=1) <= mu * way.f[:, 0] + 1e-9).all()


def test_too_many_contacts_in_space_are_refused_by_number():
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(3):
        world.add_body(ds.Box(0.2, 0.2, 0.1), name=f"cube{k}", density=1000, friction=0.5,
                       position=(k, 0, 0.05))  # fmt: skip
    with pytest.raises(ds.UnsupportedProblemError, match="12 contacts"):
        ds.Simulation(world, method=ds.EventDriven(dt=0.01)).solutions()
