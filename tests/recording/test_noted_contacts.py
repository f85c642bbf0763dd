"""Contacts that the compiled loop notes against those computed row by row."""

import numpy as np
import pytest

import drystone as ds
from drystone.steppers.time_stepping.readout import Readout


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
    fast, slow = sim.contacts, Readout.contact_table(sim.stepper)
    assert len(fast) == 3
    for name in fast.dtype.names:
        if fast[name].dtype.kind == "f":
            assert np.allclose(fast[name], slow[name], rtol=0, atol=1e-14), name
        else:
            assert np.array_equal(fast[name], slow[name]), name
