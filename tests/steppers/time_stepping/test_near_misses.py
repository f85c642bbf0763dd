"""Bodies that pass each other exchange nothing; bodies that meet push in the step of the meeting.

``flights`` makes random flights and judges them independently of the library.
"""

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.flights import flight, meeting, simulation

FEW, MANY = range(60), range(1000, 11000)
EXACT = 1e-12  # of the greatest velocity, that bodies which pass may change
SEEN = 1e-7  # of the size: nearer than this the judge says that bodies meet
EDGE = 1e-3  # of a step: a meeting this near its ends may be found in the step beside it


def change(sim, before):
    """Of velocities, as part of the greatest."""
    return np.abs(sim.state.velocity - before).max() / np.abs(before).max()


def passes(seed, **options):
    made = flight(np.random.default_rng(seed))
    sim = simulation(made, **options)
    before = sim.state.velocity.copy()
    sim.run(made.end, on_failure="raise")
    assert sim.time >= made.end - 1e-9
    assert change(sim, before) <= EXACT, (seed, made.clearance / made.size)


def meets(seed):
    """A body flies into another: they push each other in the step of the meeting, not before."""
    made = flight(np.random.default_rng(seed), hits=True)
    when = meeting(made.a, made.b, made.end, SEEN * made.size) / made.dt
    if not np.isfinite(when):
        return False
    sim = simulation(made)
    before = sim.state.velocity.copy()
    first = None
    for k in range(round(made.end / made.dt)):
        sim.step()
        if change(sim, before) > EXACT:
            first = k
            break
    assert first is not None, (seed, when)
    # a body that turns may be found a step late: by what its planes say, it was still open
    turns = np.linalg.norm(made.a.w) + np.linalg.norm(made.b.w) > 0
    assert np.floor(when - EDGE) <= first <= np.floor(when + EDGE) + turns, (seed, first, when)
    pushes = sim.contacts[sim.contacts["force"].any(axis=1)]
    assert len(pushes)
    assert all(set(row["bodies"]) == {"a", "b"} for row in pushes)
    total = sim.state.velocity[:, : 2 if made.planar else 3].sum(axis=0)
    if not made.b.fixed:  # both have one kilogram
        was = before[:, : 2 if made.planar else 3].sum(axis=0)
        assert np.allclose(total, was, rtol=0, atol=1e-12 * np.abs(before).max())
    return True


@pytest.mark.parametrize("seed", FEW)
def test_bodies_that_pass_exchange_nothing(seed):
    passes(seed)


@pytest.mark.parametrize("seed", range(0, 60, 3))
@pytest.mark.parametrize(
    "options",
    [{"formulation": "convex"}, {"order": 2}, {"restitution": "newton"}, {"cone": 4}],
    ids=str,
)
def test_bodies_that_pass_exchange_nothing_with_other_options(seed, options):
    passes(seed, **options)


def test_bodies_that_meet_push_in_that_step():
    assert sum(meets(seed) for seed in FEW) > 40


@pytest.mark.judges
def test_ten_thousand_flights_past_bodies():
    for seed in MANY:
        passes(seed)


@pytest.mark.judges
def test_ten_thousand_flights_into_bodies():
    assert sum(meets(seed) for seed in MANY) > 7000


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("phase", np.arange(6) / 6)
def test_a_ball_flies_past_a_post(dt, phase):
    """3 mm beside it, at 5 m/s."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Capsule(1.0, 0.02), name="post", fixed=True)
    place = (-0.3 + phase * 5.0 * dt, 0.043, 0)
    world.add_body(ds.Sphere(0.02), name="ball", position=place, velocity=(5, 0, 0))
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt))
    sim.run(0.12)
    assert np.array_equal(sim.body("ball").velocity, (5, 0, 0))
    assert np.array_equal(sim.body("ball").angular_velocity, (0, 0, 0))


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 1000])
def test_a_ball_flies_through_a_gate_into_a_block(dt):
    """Between pairs of free balls, 1 mm beside each: it pushes the block behind them alone."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Sphere(0.02), name="ball", position=(-0.2, 0, 0), velocity=(6, 0, 0))
    for k in range(8):
        place = (0.065 * (k // 2), 0.051 * (-1) ** k, 0)
        world.add_body(ds.Sphere(0.03), name=f"gate{k}", position=place)
    world.add_body(ds.Box(0.1, 0.2, 0.2), name="block", position=(0.4, 0, 0))
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt))
    sim.run(0.15)
    for k in range(8):
        assert not sim.body(f"gate{k}").velocity.any()
    assert sim.body("block").velocity[0] > 0.01


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_pendulum_swings_past_a_post_as_if_there_was_none(dt):
    """1 mm outside of its circle, in a world with joints."""
    ends = []
    for post in (True, False):
        world = ds.World(planar=True)
        world.add_body(ds.Disk(0.05), name="bob", position=(1.0, 0), velocity=(0, -3.0), friction=0)
        if post:
            world.add_body(ds.Disk(0.02), name="post", fixed=True, position=(0, -1.071), friction=0)
        world.add_joint(ds.Pin("bob", "world", anchor=(0, 0)))
        sim = ds.Simulation(world, ds.TimeStepping(dt=dt))
        sim.run(0.5)
        ends.append(sim.body("bob").velocity)
    assert np.abs(ends[0] - ends[1]).max() < 1e-12


def test_what_a_third_body_turns_away_meets_nobody():
    """The first ball would pass the post; a second knocks it into it: then it must not pass."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.02), name="post", fixed=True, friction=0)
    world.add_body(ds.Disk(0.02), name="ball", position=(-0.06, 0.045), velocity=(5, 0), friction=0)
    world.add_body(
        ds.Disk(0.02), name="striker", position=(-0.06, 0.0855), velocity=(5, -5), friction=0
    )
    sim = ds.Simulation(world, ds.TimeStepping())
    for _ in range(20):
        sim.step()
        gap = np.linalg.norm(sim.body("ball").position) - 0.04
        assert gap > -2e-3
    assert sim.body("ball").velocity[1] != 0


def roof(planar, kind):
    """A fixed body and one that comes down on it, both on a corner, or on an edge."""
    if planar:
        return ds.Rectangle(0.2, 0.2), np.pi / 4, np.pi / 4
    half = np.pi / 8
    along_x, along_y = (np.cos(half), np.sin(half), 0, 0), (np.cos(half), 0, np.sin(half), 0)
    tip = 0.5 * np.arccos(1 / np.sqrt(3))
    corner = (np.cos(tip), np.sin(tip) / np.sqrt(2), -np.sin(tip) / np.sqrt(2), 0)
    one, other = {
        "corner": (corner, corner), "edge": (along_x, along_x), "edges": (along_x, along_y),
    }[kind]  # fmt: skip
    return ds.Box(0.2, 0.2, 0.2), one, other


@pytest.mark.parametrize("speed", [0.0, 2.0, 50.0])
@pytest.mark.parametrize(
    ("planar", "kind"), [(True, "corner"), (False, "corner"), (False, "edge"), (False, "edges")]
)
def test_what_comes_down_symmetrically_does_not_turn_sideways(planar, kind, speed):
    """Corner on corner and edge on edge: the normal is the symmetric one."""
    shape, one, other = roof(planar, kind)
    height = 0.6 if speed < 10 else 2.6
    place = (0, height) if planar else (0, 0, height)
    world = ds.World(planar=planar)
    world.add_body(shape, name="below", fixed=True, orientation=one)
    world.add_body(
        shape, name="above", orientation=other, position=place,
        velocity=np.multiply(place, -speed / height),
    )  # fmt: skip
    sim = ds.Simulation(world, ds.TimeStepping())
    while not len(sim.contacts) or not sim.contacts["force"].any():
        sim.step()
        assert sim.time < 1.0
    for _ in range(5):
        sim.step()
        velocity, turning = sim.body("above").velocity, sim.body("above").angular_velocity
        assert np.abs(velocity[:-1]).max() < 1e-9 * max(1.0, speed)
        assert np.abs(turning).max() < 1e-8 * max(1.0, speed)
