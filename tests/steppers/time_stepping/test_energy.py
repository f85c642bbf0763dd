"""The energy ledger: every joule of random scenes, with everything that can do work."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.steppers.time_stepping.worlds import block, run, tumble

OPTIONS = (
    {},
    {"formulation": "convex"},
    {"stabilize": False},
    {"mass": "end"},
    {"rotation": "explicit"},
    {"restitution": "newton"},
    {"restitution": "poisson"},
    {"restitution": "poisson-shortcut"},
    {"sleeping": ds.Sleeping(0.05, 0.1)},
)


def busy_world(seed, planar):
    """A tumble with springs, drag, a pushing plate, a callback and a follower force."""
    dim = 2 if planar else 3
    world = tumble(seed, planar, restitution=0.5)
    world.add_force(ds.Spring("b0", "b1", stiffness=200, rest_length=0.6, damping=2))
    world.add_force(ds.Spring("b2", anchor_b=(0,) * (dim - 1) + (2,), stiffness=50))
    world.add_force(ds.Damper("b2", linear=1.0, angular=0.1))
    world.add_force(ds.ConstantForce("b3", (3.0,) + (0.0,) * (dim - 1), follows=True))
    world.add_force(ds.Callback(lambda model, state: -0.1 * state.velocity * model.mass[:, None]))
    plate = ds.Rectangle(0.2, 1) if planar else ds.Box(0.2, 1, 1)
    side = (1.5,) + (0.0,) * (dim - 2) + (0.6,)
    motion = ds.Oscillation((1,) + (0,) * (dim - 1), 0.6, 0.8, phase=1.6)
    world.add_body(plate, name="plate", position=side, motion=motion)
    return world


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(deadline=None, derandomize=True, max_examples=3)
@given(seed=st.integers(0, 2**32 - 1), planar=st.booleans())
def test_every_joule_is_explained(options, seed, planar):
    """To rounding: the ledger is an identity, computed from its parts one by one."""
    sim = ds.Simulation(busy_world(seed, planar), ds.TimeStepping(overlap="allow", **options))
    before = sum(sim.energy)
    for _ in range(120):
        book = sim.step().energy
        scale = abs(book.kinetic) + abs(book.potential) + 1.0
        assert abs(book.unexplained) < 1e-11 * scale
        assert np.isclose(book.total, sum(sim.energy), rtol=1e-12), "totals are those of the state"
        assert np.isclose(book.change, book.total - before, atol=1e-9 * scale)
        before = book.total
        assert book.friction <= 1e-7 * scale
        if sim.report.collisions == 0:
            assert book.impact <= 1e-3 * scale, "gains of order h^2 where forces act"


@pytest.mark.parametrize("planar", [True, False])
@settings(deadline=None, derandomize=True, max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_friction_and_impact_only_take(planar, seed):
    """Contacts alone, no weight: both are never positive, at any step."""
    world = tumble(seed, planar, ground=False, speed=2.0)
    _, kept = run(world, 1.0, stabilize=False)
    scale = kept.series("kinetic").max()
    assert (kept.series("friction") <= 1e-9 * scale).all()
    assert (kept.series("impact") <= 1e-9 * scale).all()
    assert np.abs(kept.series("constraint")).max() <= 1e-7 * scale, "r_n u_n = 0 without gap terms"
    assert np.abs(kept.series("loads")).max() == 0
    assert np.abs(kept.series("driving")).max() == 0


def test_sliding_block_turns_its_energy_into_friction():
    sim, kept = run(block(friction=0.3, velocity=5.0), 2.0)
    lost = kept.series("friction").sum() + kept.series("impact").sum()
    assert np.isclose(lost, -0.5 * sim.body("b").mass * 25, rtol=1e-9)
    assert kept.series("friction").sum() < 0.98 * lost, "by far the most is friction"


def test_conveyor_work_is_driving():
    """A belt at 2 m/s brings a block up to speed: work 2 x the kinetic energy, half of it lost."""
    world = ds.World()
    world.add_body(
        ds.Box(20, 2, 0.2), name="belt", position=(0, 0, -0.1), friction=0.5,
        motion=ds.ConstantVelocity((2, 0, 0)),
    )  # fmt: skip
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="b", position=(0, 0, 0.1), friction=0.5)
    sim, kept = run(world, 1.0)
    assert np.allclose(sim.body("b").velocity, [2, 0, 0], atol=1e-7)
    gained = 0.5 * sim.body("b").mass * 4
    assert np.isclose(kept.series("driving").sum(), 2 * gained, rtol=1e-6)
    lost = kept.series("friction").sum() + kept.series("impact").sum()
    assert np.isclose(lost, -gained, rtol=1e-6)


def test_damper_work_is_in_the_loads():
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.1), name="d", mass=1.0, velocity=(2, 0))
    world.add_force(ds.Damper("d", linear=3.0))
    sim, kept = run(world, 1.0)
    assert np.isclose(sim.body("d").velocity[0], 2 * (1 - 3 / 240) ** 240)
    taken = 0.5 * sim.body("d").velocity[0] ** 2 - 2.0
    assert np.isclose(kept.series("loads").sum(), taken, rtol=1e-12)


def test_spring_energy_goes_back_and_forth():
    """What a spring stores is potential; its order-h^2 error of each step is in the loads."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.1), name="d", mass=1.0, position=(1, 0))
    world.add_force(ds.Spring("d", stiffness=40))
    _, kept = run(world, 2.0)
    assert np.isclose(kept.series("total")[0], 20.0, rtol=1e-2)
    # k^2 x^2 h^2 / 2 m at most, which the speed's part k h^2 v^2 / 2 gives back
    assert np.abs(kept.series("loads")).max() < 1.01 * 0.5 * 40**2 / 240**2
    assert abs(kept.series("loads").sum()) < 0.02 * 20
    assert np.abs(kept.series("total") - 20).max() < 0.2 * np.sqrt(40) / 2
