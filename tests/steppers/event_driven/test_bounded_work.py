"""Every method of forces ends its frames: after so many evaluations, and says what it did."""

import pytest

import drystone as ds


def sliding_stack(count, mu=0.3):
    """Rectangles of 20 kg, each sliding the other way than the one below it."""
    world = ds.World(planar=True)
    world.add_ground(friction=mu)
    for i in range(count):
        world.add_body(
            ds.Rectangle(1.0, 0.2), name=f"b{i}", density=100, friction=mu,
            position=(0.05 * i, 0.1 + 0.2 * i), velocity=((1 + 0.3 * i) * (-1) ** i, 0),
        )  # fmt: skip
    return world


def test_lotstedts_forces_that_jump_end_in_steps_with_impulses():
    method = ds.EventDriven(contact_forces="lotstedt", guards=ds.EventGuards(max_events=20))
    sim = ds.Simulation(sliding_stack(3), method=method)
    said = []
    for _ in range(17):
        report = sim.step()
        assert report.evaluations < 1000
        assert report.energy.change < 1e-9
        said += report.log
    assert any("lotstedt: forces jump from one evaluation to the next" in s for s in said)
    assert any("cluster" in s for s in said)


@pytest.mark.parametrize("method", ["dantzig", "lemke", "qp-signs", "jacobi", "ramp"])
def test_other_methods_end_too(method):
    sim = ds.Simulation(sliding_stack(3), method=ds.EventDriven(contact_forces=method, dt=0.02))
    work = 0
    for _ in range(2):
        report = sim.step()
        work += report.evaluations
        assert report.energy.change < 1e-9
    assert work < 6000
