"""Public names that changed still work, and say which name replaced them."""

import pytest

import drystone as ds
from drystone.sweeps.measures import read_measure


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Three steps of a disk that lies 1 mm deep in the ground, in memory and in a file."""
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.099))
    sim = ds.Simulation(world, ds.Penalty(dt=0.001))
    path = tmp_path_factory.mktemp("former") / "ball.h5"
    kept = sim.run(0.003, record=True)
    sim.reset()
    return sim, kept, sim.run(0.003, record=path)


def test_penetration_was_called_infeasibility(recorded):
    sim, kept, file = recorded
    report = kept.reports[-1]
    with pytest.warns(DeprecationWarning, match="'infeasibility' is now called 'penetration'"):
        assert report.infeasibility == report.penetration > 0
    with pytest.warns(DeprecationWarning, match="penetration"):
        assert sim.infeasibility == sim.penetration
    for run in (kept, file):
        with pytest.warns(DeprecationWarning, match="penetration"):
            old = run.series("infeasibility")
        assert (old == run.series("penetration")).all()
        assert old[0] == pytest.approx(1e-3, rel=0.1)


def test_rows_of_comparisons_and_measures_of_sweeps_know_the_former_name():
    found = ds.compare("rolling-ball", ["time-stepping"], duration=0.02)
    with pytest.warns(DeprecationWarning, match="penetration"):
        assert found.rows[0].infeasibility == found.rows[0].penetration
    with pytest.warns(DeprecationWarning, match="penetration"):
        assert read_measure("max:infeasibility").name == "penetration"
    assert read_measure("end:infeasibility.x").body == "infeasibility"  # a body may be called so
