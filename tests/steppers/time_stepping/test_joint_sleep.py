"""Bodies that sleep in worlds with joints."""

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.test_compiled_joints import in_python
from tests.steppers.time_stepping.worlds import run

SLEEP = ds.Sleeping(speed=1e-3, duration=0.1)


def chain(n=4):
    """A chain that lies on the ground."""
    world = ds.World()
    world.add_ground(friction=0.6)
    for k in range(n):
        world.add_body(ds.Box(0.2, 0.1, 0.1), name=f"link{k}", position=(0.22 * k, 0, 0.05))
    for k in range(n - 1):
        anchor = (0.22 * k + 0.11, 0, 0.05)
        world.add_joint(ds.Hinge(f"link{k + 1}", f"link{k}", anchor=anchor, axis=(0, 1, 0)))
    return world


def test_a_chain_at_rest_falls_asleep_and_its_joints_leave_the_solve():
    sim, kept = run(chain(), 0.4, sleeping=SLEEP)
    assert kept.series("asleep")[-1] == 4
    assert sim.report.islands == 0
    assert not sim.state.velocity.any()
    assert sim.report.joint_error < 1e-9
    assert len(sim.joints) == 3


def test_a_blow_on_one_end_wakes_the_other_through_the_joints():
    """The ends do not touch each other or the ball: only joints can tell them."""

    def world():
        out = chain(5)
        out.add_body(ds.Sphere(0.05), name="ball", position=(0, 0, 1.4), density=9000)
        return out

    slept, kept = run(world(), 0.7, sleeping=SLEEP)
    asleep = kept.series("asleep")
    arrival = int(np.sqrt(2 * 1.25 / 9.81) * 240)
    assert asleep[arrival - 5] == 5
    assert asleep[arrival + 2] == 0
    waking, _ = run(world(), 0.7)
    assert np.allclose(slept.state.position[1:6], waking.state.position[1:6], atol=1e-4)


def test_assigned_velocities_and_pulled_bodies_wake_the_whole_chain():
    sim, _ = run(chain(), 0.4, sleeping=SLEEP)
    sim.body("link3").velocity = (0.5, 0, 0)
    assert sim.step().asleep == 0
    assert sim.body("link0").velocity[0] > 0.05, "pulled along by joints, in the same step"


def test_a_body_that_hangs_on_the_world_sleeps():
    """No contact at all: the joint is what supports it."""
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.1, 0.4), name="bob", position=(0, 0, -0.2))
    world.add_joint(ds.Ball("bob", "world", anchor=(0, 0, 0)))
    sim, kept = run(world, 0.5, sleeping=SLEEP)
    assert kept.series("asleep")[-1] == 1
    sim.run(0.5)
    assert sim.body("bob").position[2] == pytest.approx(-0.2, abs=1e-12)


def test_a_moving_prescribed_body_keeps_what_hangs_on_it_awake():
    world = ds.World()
    motion = ds.ConstantVelocity((1e-4, 0, 0))
    world.add_body(ds.Box(0.1, 0.1, 0.1), name="crane", motion=motion)
    world.add_body(ds.Box(0.1, 0.1, 0.4), name="bob", position=(0, 0, -0.3), velocity=(1e-4, 0, 0))
    world.add_joint(ds.Ball("bob", "crane", anchor=(0, 0, -0.1)))
    sim, kept = run(world, 1.0, sleeping=SLEEP)
    assert kept.series("asleep")[-20:].max() == 0
    assert sim.body("bob").position[0] == pytest.approx(1e-4, rel=0.2)


@pytest.mark.parametrize(
    ("motor", "sleeps"),
    [
        (ds.Motor(speed=5e-4, max_force=50.0), False),
        (ds.Motor(speed=0.0, max_force=50.0), True),
        (ds.Motor(position=0.0, max_force=50.0), True),
        (ds.Motor(position=0.3, max_force=1e-3), False),  # too weak to move, but it wants to
    ],
)
def test_motors_that_act_keep_awake(motor, sleeps):
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.1, 0.1), name="car")
    world.add_joint(ds.Slider("car", "world", axis=(1, 0, 0), motor=motor, limits=(-1, 1)))
    _, kept = run(world, 0.5, sleeping=SLEEP)
    assert (kept.series("asleep")[-1] == 1) == sleeps


def sprung(offset, damping):
    """A weight on a soft spring, `offset` below its balance: a period of 20 s."""
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.1, 0.1), name="weight", mass=1.0)
    k = (2 * np.pi / 20) ** 2
    rest = 9.81 / k + offset  # at balance -k (0 - rest) = m g
    world.add_joint(ds.Slider("weight", "world", axis=(0, 0, 1), spring=(k, damping, rest)))
    return world


def test_a_spring_that_its_load_does_not_balance_keeps_awake():
    """Near its turning point the weight is slower than the limit for longer than the duration."""
    sleep = ds.Sleeping(speed=0.05, duration=0.1)
    _, kept = run(sprung(0.5, 0.0), 0.6, sleeping=sleep)
    assert np.abs(kept.velocity[:100, 0, 2]).max() < 0.05
    assert kept.series("asleep").max() == 0
    _, kept = run(sprung(0.0, 0.0), 0.6, sleeping=sleep)
    assert kept.series("asleep")[-1] == 1, "in balance it may"


def test_energy_of_jointed_sleepers_is_explained():
    _, kept = run(chain(), 0.5, sleeping=ds.Sleeping(0.1, 0.05))
    assert kept.series("asleep")[-1] == 4
    assert np.abs(kept.series("unexplained")).max() < 1e-9


def pendulums(planar=False):
    """Two chains that hang beside each other, of which one swings out and wakes the other."""
    world = ds.World(planar=planar)
    up = (lambda x, z: (x, z)) if planar else (lambda x, z: (x, 0, z))
    joint = ds.Pin if planar else ds.Ball
    ball = ds.Disk(0.05) if planar else ds.Sphere(0.05)
    for k, x in enumerate((0.0, 0.3)):
        before = "world"
        for n in range(2):
            world.add_body(ball, name=f"b{k}{n}", mass=1.0, position=up(x, -0.3 * (n + 1)))
            world.add_joint(joint(f"b{k}{n}", before, anchor=up(x, -0.3 * n)))
            before = f"b{k}{n}"
    return world


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("order", [1, 2])
def test_a_woken_pendulum_swings_as_one_that_never_slept(planar, order):
    sims = []
    for sleeping in (SLEEP, None):
        sim = ds.Simulation(
            pendulums(planar), ds.TimeStepping(dt=0.005, sleeping=sleeping, order=order)
        )
        sim.run(0.3)
        assert sim.report.asleep == (4 if sleeping else 0)
        push = (2.0, 0) if planar else (2.0, 0, 0)
        sim.body("b01").velocity = push
        kept = sim.run(0.5, record=True)
        if sleeping:
            asleep = kept.series("asleep")
            assert asleep[-1] == 0
        assert sim.stepper.jointed
        sims.append(sim)
    slept, waking = sims
    assert np.allclose(slept.state.position, waking.state.position, atol=1e-6)
    assert np.abs(slept.state.velocity[2:]).max() > 0.1, "the other chain swings, too"
    assert slept.report.joint_error < 1e-9


@pytest.mark.parametrize("order", [1, 2])
def test_who_sleeps_is_the_same_in_the_loop_and_in_python(order):
    method = ds.TimeStepping(sleeping=SLEEP, order=order)
    for world in (chain(), sprung(0.5, 5.0), ds.scene("chain", links=4).world, pendulums()):
        sim, other = ds.Simulation(world, method), in_python(ds.Simulation(world, method))
        for _ in range(60):
            assert sim.step().asleep == other.step().asleep
            assert np.allclose(sim.state.position, other.state.position, atol=1e-7)


def test_sleepers_go_on_sleeping_from_a_snapshot():
    one, two = (ds.Simulation(pendulums(), ds.TimeStepping(sleeping=SLEEP)) for _ in range(2))
    one.run(0.3)
    two.restore(one.snapshot())
    assert two.step().asleep == one.step().asleep == 4
    assert np.array_equal(one.state.position, two.state.position)
