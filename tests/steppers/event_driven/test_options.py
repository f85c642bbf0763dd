"""Options of ``ds.EventDriven`` are checked where they are given."""

import pytest

import drystone as ds
from drystone.errors import ModelError, OptionError


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dt": 0}, "dt = 0"),
        ({"rtol": -1.0}, "rtol = -1.0"),
        ({"integrator": "euler"}, "integrator = 'euler'"),
        ({"collisions": "soft"}, "collisions = 'soft'"),
        ({"contact_forces": 3}, "contact_forces = 3"),
        ({"contact_forces": ("dantzig", {"preferr": 1})}, "unknown option 'preferr'.*prefer"),
        ({"overlap": "maybe"}, "overlap = 'maybe'"),
    ],
)
def test_wrong_options_are_named(options, text):
    with pytest.raises(OptionError, match=text):
        ds.EventDriven(**options)


def test_laws_by_name_and_by_object():
    assert ds.EventDriven(collisions="propagation").law.order == "propagation"
    assert ds.EventDriven(collisions="keller").law.law == "keller"
    law = ds.CollisionLaw(law="routh", restitution="newton")
    assert ds.EventDriven(collisions=law).law is law
    forces = ds.EventDriven(contact_forces=("lemke", {"prefer": "force"})).forces()
    assert forces.options.prefer == "force"
    assert forces.solver.name == "lemke"


def test_bodies_that_start_in_each_other_are_refused_by_name():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", density=1, position=(0, 0.05))
    with pytest.raises(ModelError, match="'ball' and 'ground' overlap"):
        ds.Simulation(world, method=ds.EventDriven())
    sim = ds.Simulation(world, method=ds.EventDriven(overlap="allow"))
    assert sim.body("ball").position == pytest.approx([0, 0.1], abs=1e-9)
    assert sim.step().penetration < 1e-9
