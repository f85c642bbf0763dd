"""Which contacts are in a step (Hart and Anitescu 2003, (2.13)), and bodies that sleep."""

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.worlds import block, run


def falling(gap=0.05, speed=0.0):
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Sphere(0.1), name="s", position=(0, 0, 0.1 + gap), velocity=(0, 0, -speed))
    return world


def contacts(world, **options):
    sim = ds.Simulation(world, ds.TimeStepping(**options))
    return sim.step().contacts


def test_active_gap_is_a_distance():
    assert contacts(falling(0.05), active_gap=0.06) == 1
    assert contacts(falling(0.05), active_gap=0.04) == 0


def test_by_default_contacts_within_reach_are_in():
    """v h = 0.05: what the ball can travel in this step, after the forces."""
    assert contacts(falling(0.049, speed=12.0)) == 1
    assert contacts(falling(0.06, speed=12.0)) == 0
    assert contacts(falling(0.001, speed=0.0)) == 0


def test_predicted_gaps_are_those_of_1998():
    """gap + h n.v <= 0 with the velocity before the forces."""
    h = 1 / 240
    assert contacts(falling(0.99 * 2 * h, speed=2.0), active_gap="predicted") == 1
    assert contacts(falling(1.01 * 2 * h, speed=2.0), active_gap="predicted") == 0


@pytest.mark.parametrize("gap", [None, "predicted", 0.02, 0.3])
def test_all_choices_give_the_same_slide(gap):
    """A block on the ground. A larger gap takes in its upper corners, which changes nothing; the
    predicted one lets corners go that rounding lifts, for a step: an error of order h."""
    sim, kept = run(block(friction=0.3, velocity=1.0), 0.5, active_gap=gap)
    expected, _ = run(block(friction=0.3, velocity=1.0), 0.5)
    near = 1 / 240 if gap == "predicted" else 1e-7
    assert np.allclose(sim.body("b").position, expected.body("b").position, atol=near)
    points = kept.series("contacts")
    assert (points == (8 if gap == 0.3 else 4)).all() or gap == "predicted"


def test_a_small_active_gap_misses_collisions():
    """With a small eps a fast body gets deeper in before it is seen."""

    def depth(**options):
        _, kept = run(falling(0.5, speed=5.0), 0.3, dt=0.02, **options)
        return kept.series("penetration").max()

    assert depth(active_gap=1e-3) > 1e-2
    assert depth() < 1e-9


def test_a_blow_reaches_the_next_ball_within_the_step():
    """A fast ball, a slow one within its reach: the chain is solved in one step, no depth."""
    world = ds.World(gravity=(0, 0, 0))
    for k in range(3):
        world.add_body(
            ds.Sphere(0.1), name=f"b{k}", position=(0.22 * k, 0, 0), friction=0,
            velocity=(10.0 if k == 0 else 0.0, 0, 0),
        )  # fmt: skip
    _, kept = run(world, 0.1, dt=0.01)
    assert kept.series("penetration").max() < 1e-9
    assert np.allclose(kept.velocity[-1, :, 0], 10 / 3, atol=1e-6)


def stack(n=3):
    world = ds.World()
    world.add_ground()
    for k in range(n):
        world.add_body(ds.Box(0.3, 0.3, 0.2), name=f"b{k}", position=(0, 0, 0.1 + 0.2 * k))
    return world


SLEEP = ds.Sleeping(speed=1e-3, duration=0.1)


def test_sleeping_is_off_by_default():
    _, kept = run(stack(), 0.5)
    assert kept.series("asleep").max() == 0
    assert (kept.series("contacts") == 12).all()


def test_an_island_at_rest_falls_asleep_and_is_left_out():
    _, kept = run(stack(), 0.5, sleeping=SLEEP)
    asleep, points = kept.series("asleep"), kept.series("contacts")
    assert asleep[:20].max() == 0
    assert asleep[-1] == 3
    assert points[-1] == 0, "and says so: no contacts in the solve, three asleep"
    assert not kept.velocity[-1].any()


def test_touch_wakes():
    """A ball that falls on a sleeping stack wakes all of it, and the motion is as without sleep."""

    def world():
        out = stack()
        out.add_body(ds.Sphere(0.1), name="ball", position=(0.1, 0, 1.6), density=8000)
        return out

    slept, kept = run(world(), 1.2, sleeping=SLEEP)
    waking, _ = run(world(), 1.2)
    asleep = kept.series("asleep")
    assert asleep.max() >= 3
    assert asleep[int(0.45 * 240) : int(0.52 * 240)].min() == 0, "0.46 s is when the ball arrives"
    assert np.allclose(slept.state.position[1:4], waking.state.position[1:4], atol=1e-3)


def test_a_body_still_touched_by_a_moving_one_stays_awake():
    world = stack(1)
    world.add_body(
        ds.Sphere(0.05), name="ball", position=(0, 0, 0.25), angular_velocity=(0, 0, 9), friction=0
    )
    _, kept = run(world, 0.5, sleeping=SLEEP)
    assert kept.series("asleep").max() == 0


def test_forces_pushers_and_assignments_wake():
    sim, _ = run(stack(1), 0.5, sleeping=SLEEP)
    assert sim.report.asleep == 1
    sim.body("b0").velocity = (1.0, 0, 0)
    assert sim.step().asleep == 0
    assert sim.body("b0").velocity[0] > 0.9
    sim.run(1.0)
    assert sim.report.asleep == 1
    sim.body("b0").position = (0, 0, 0.5)
    sim.run(0.1)
    assert sim.body("b0").velocity[2] < -0.5, "it falls: nothing hangs in the air"
    world = stack(1)
    world.add_force(
        ds.Callback(lambda m, s: {"b0": (50.0 if s.time > 0.4 else 0.0, 0, 0, 0, 0, 0)})
    )
    sim, kept = run(world, 0.5, sleeping=SLEEP)
    assert kept.series("asleep")[80] == 1
    assert sim.report.asleep == 0


def test_a_pusher_wakes_what_it_reaches():
    world = stack(1)
    world.add_body(
        ds.Box(0.1, 0.5, 0.2), name="plate", position=(-0.6, 0, 0.15),
        motion=ds.ConstantVelocity((1, 0, 0)),
    )  # fmt: skip
    sim, kept = run(world, 0.6, sleeping=SLEEP)
    assert kept.series("asleep").max() == 1
    assert sim.report.asleep == 0
    assert sim.body("b0").position[0] > 0.15


def test_editing_the_world_wakes():
    sim, _ = run(stack(2), 0.5, sleeping=SLEEP)
    assert sim.report.asleep == 2
    sim.world.remove_body("b0")
    sim.run(0.1)
    assert sim.body("b1").velocity[2] < -0.5


def test_energy_of_sleepers_is_explained():
    _, kept = run(stack(), 0.5, sleeping=ds.Sleeping(0.1, 0.05))
    assert np.abs(kept.series("unexplained")).max() < 1e-9


def struck(planar):
    """A fast ball, one in its way that creeps, two behind it that have fallen asleep."""
    world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    for k, (x, speed) in enumerate([(-4.21, 10.0), (0.0, 0.002), (0.21, 0.0), (0.41, 0.0)]):
        at, v = ((x, 0), (speed, 0)) if planar else ((x, 0, 0), (speed, 0, 0))
        world.add_body(shape, name=f"b{k}", position=at, velocity=v, friction=0, mass=1.0)
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_a_sleeper_is_no_wall(planar):
    """A blow that reaches sleepers through another body wakes them in that step: no momentum is
    lost, and the motion is that of bodies which never slept."""
    slept, kept = run(struck(planar), 0.5, dt=0.01, sleeping=SLEEP)
    waking, _ = run(struck(planar), 0.5, dt=0.01)
    assert kept.series("asleep").max() == 2
    assert np.allclose(kept.velocity[:, :, 0].sum(axis=1), 10.002, rtol=1e-12)
    assert np.allclose(slept.state.velocity, waking.state.velocity, atol=1e-9)


@pytest.mark.parametrize("planar", [True, False])
def test_sleep_is_the_same_step_by_step_and_across_snapshots(planar):
    def made():
        return ds.Simulation(struck(planar), ds.TimeStepping(dt=0.01, sleeping=SLEEP))

    whole, single, later = made(), made(), made()
    kept = whole.run(0.5, record=True)
    asleep = []
    for k in range(50):
        if k == 20:
            later.restore(single.snapshot())
            assert later.step().asleep == 2
        asleep.append(single.step().asleep)
    for _ in range(29):
        later.step()
    assert kept.series("asleep").tolist() == asleep
    for sim in (single, later):
        assert np.array_equal(sim.state.position, whole.state.position)
        assert np.array_equal(sim.state.velocity, whole.state.velocity)


def test_checkpoints_of_steps_in_python_know_who_sleeps():
    """Steps of sleeping worlds were once made in Python, and kept their memory in other parts."""
    sim, before = (ds.Simulation(stack(), ds.TimeStepping(sleeping=SLEEP)) for _ in range(2))
    for steps in (10, 40):
        for _ in range(steps):
            report = before.step()
        sim.state = before.state.copy()
        known = before.stepper.snapshot()
        own = known.pop("buffers")
        known["warm"] = {name.removeprefix("old_"): own[name] for name in own if "old_" in name}
        known["sleepers"] = {"asleep": own["asleep"], "slow": own["slow_time"]}
        sim.stepper.restore(known, sim.model)
        assert sim.step().asleep == report.asleep == (0 if steps == 10 else 3)
        assert np.allclose(sim.state.position, before.state.position, atol=1e-9)


def test_sleepers_cost_no_contacts_and_rest_in_each_other():
    """Depth that bodies fell asleep with is no reason to solve their contacts again."""
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.3, 0.3, 0.2), name="b0", position=(0, 0, 0.099))
    world.add_body(ds.Box(0.3, 0.3, 0.2), name="b1", position=(0, 0, 0.298))
    sim, _ = run(world, 0.5, sleeping=SLEEP, overlap="allow", stabilize=False)
    assert sim.report.asleep == 2
    assert sim.report.contacts == 0
    assert sim.report.ok
