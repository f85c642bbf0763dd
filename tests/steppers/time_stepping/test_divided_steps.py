"""Steps that are too long for their joints are divided, whatever else acts in them."""

import numpy as np
import pytest

import drystone as ds

STEPS = 20


def whip(restitution):
    """Links that crack over a ground, with a spring, a prescribed body and a pin that may break."""
    world = ds.World(planar=True)
    world.add_ground(restitution=restitution, friction=0.3)
    before = "world"
    for k in range(6):
        world.add_body(
            ds.Rectangle(0.1, 0.02), name=f"link{k}", mass=0.6**k, position=(0.1 * k + 0.05, 0.4),
            velocity=(0, -3.0 * k), layer=k,
        )  # fmt: skip
        more = {"breaks_at": 60.0} if k == 4 else {}
        world.add_joint(ds.Pin(f"link{k}", before, anchor=(0.1 * k, 0.4), name=f"pin{k}", **more))
        before = f"link{k}"
    world.add_force(ds.Spring(before, anchor_b=(0, 0), stiffness=30.0, rest_length=0.3))
    ram = ds.ConstantVelocity((-0.5, 0))
    world.add_body(ds.Disk(0.05), name="ram", position=(0.6, 0.05), motion=ram)
    return world


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": 2},
        {"restitution": "newton", "on_failure": "retry"},
        {"sleeping": ds.Sleeping(), "formulation": "convex"},
    ],
    ids=str,
)
def test_parts_of_steps_explain_their_energy_and_repeat_to_the_bit(options):
    method = ds.TimeStepping(dt=1 / 60, **options)
    bounce = 0.5 if "restitution" in options else 0.0
    one, many, later = (ds.Simulation(whip(bounce), method) for _ in range(3))
    reports = [one.step() for _ in range(STEPS // 2)]
    known = one.snapshot()
    reports += [one.step() for _ in range(STEPS // 2)]
    many.run(STEPS * method.dt)
    later.restore(known)
    for _ in range(STEPS // 2):
        later.step()
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(one.state, name), getattr(many.state, name)), name
        assert np.array_equal(getattr(one.state, name), getattr(later.state, name)), name
    assert sum(report.retries for report in reports) > STEPS
    assert [name for report in reports for name in report.broken] == ["pin4"]
    assert max(report.joint_error for report in reports) < 1e-9
    for report in reports:
        assert report.dt == method.dt
        assert abs(report.energy.unexplained) < 1e-12 * max(1.0, report.energy.kinetic)
