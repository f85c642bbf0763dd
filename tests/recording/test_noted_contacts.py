"""Contacts that the compiled loop notes against those computed row by row."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.step.contacts import note_contacts
from drystone.steppers.tables import as_bodies, bodies_kind, spread
from tests.tables_by_rows import contacts_by_rows


@pytest.mark.kernels
@pytest.mark.parametrize("planar", [True, False])
def test_noted_contacts_are_those_of_the_rows(planar):
    world = ds.World(planar=planar)
    world.add_ground(friction=0.3)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    cone = None if planar else ds.EllipticCone((1.0, 0.5))
    for k in range(3):
        place = (0.25 * k, 0.1) if planar else (0.25 * k, 0.0, 0.1)
        extra = {} if cone is None else {"cone": cone, "cone_axis": (1, 0, 0)}
        speed = (0.3, 0.0) if planar else (0.3, 0.1, 0.0)
        world.add_body(shape, position=place, velocity=speed, **extra)
    sim = ds.Simulation(world)
    sim.step()
    sim.forces = "raw"
    fast, slow = sim.contacts, contacts_by_rows(sim.stepper)
    assert len(fast) == 3
    for name in fast.dtype.names:
        if fast[name].dtype.kind == "f":
            assert np.allclose(fast[name], slow[name], rtol=0, atol=1e-14), name
        else:
            assert np.array_equal(fast[name], slow[name]), name


@pytest.mark.kernels
@pytest.mark.parametrize("many", [3, 300, 70_000])
@pytest.mark.parametrize("rough", [(0.3, 0.3, 0.3), (0.3, 0.3, 0.7)])
def test_what_contacts_share_is_noted_once(many, rough):
    """Two frames, against the table; numbers of bodies in one, two and four bytes."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.9)
    for k, friction in enumerate(rough):
        world.add_body(
            ds.Disk(0.1), position=(0.25 * k, 0.1), velocity=(0.3, 0.0), friction=friction
        )
    sim = ds.Simulation(world)
    sim.step()
    table, kind = sim.contacts, bodies_kind(many)
    shared = len(set(rough)) == 1
    assert len(set(table["friction"])) == (1 if shared else 2)
    laws, features, ends = np.full((9, 2), np.nan), np.zeros(9, np.int64), np.zeros(3, np.int64)
    numbers, bodies = np.zeros((9, 9)), np.zeros((9, kind.itemsize), np.uint8)
    before = [0, 0, 0]
    for said in ([3, 1 if shared else 3], [6, 1 if shared else 6]):
        note_contacts(sim.stepper.buffers.s, numbers, bodies, laws, features, ends)
        assert ends[:2].tolist() == said
        pairs = as_bodies(bodies, many)[before[0] : ends[0]]
        assert np.array_equal(np.array(sim.bodies)[pairs["bodies"]], table["bodies"])
        assert np.array_equal(pairs["island"], table["island"])
        assert np.array_equal(numbers[before[0] : ends[0], :2], table["point"])
        assert np.array_equal(spread(laws, before[1], ends[1], 3)[:, 0], table["friction"])
        assert np.array_equal(spread(features, before[2], ends[2], 3), table["feature"])
        before = ends.tolist()
