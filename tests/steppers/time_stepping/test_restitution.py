"""Laws of impact: single balls, rows of balls, superballs, energy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.steppers.time_stepping.worlds import G, run, tumble

LAWS = ("newton", "poisson", "poisson-shortcut")
laws = pytest.mark.parametrize("law", LAWS)


def dropped(e, planar=True, height=1.0):
    world = ds.World(planar=planar)
    world.add_ground(friction=0.3)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    place = (0, 0.1 + height) if planar else (0, 0, 0.1 + height)
    world.add_body(shape, name="b", position=place, restitution=e, friction=0.3)
    return world


def peak(e, law, dt, planar=True):
    """Height of the first bounce."""
    fall = math.sqrt(2 / G)
    _, kept = run(dropped(e, planar), fall * (1 + 1.5 * e), dt, restitution=law)
    heights = kept.position[:, 1, -1] - 0.1
    return heights[int(fall / dt) + 3 :].max()


@laws
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("e", [0.3, 0.5, 0.8, 1.0])
def test_a_ball_bounces_to_e_squared(law, planar, e):
    """The bounce happens where the ball is when the step begins, up to h v above the ground, so
    the peak is too high by (1 - e^2) of that at most; never too low."""
    for dt in (1 / 240, 1 / 960):
        high = peak(e, law, dt, planar) - e * e
        assert -1e-9 - 2 * G * dt**2 <= high <= (1 - e * e) * dt * math.sqrt(2 * G) + 1e-9


@laws
def test_an_elastic_ball_keeps_its_height_for_ever(law):
    _, kept = run(dropped(1.0), 10.0, restitution=law)
    tops = kept.position[-240:, 1, 1] - 0.1
    assert np.isclose(tops.max(), 1.0, atol=1e-4)
    assert kept.series("collisions").sum() == 11
    assert np.abs(kept.series("impact_energy")).max() < 1e-10
    assert np.abs(kept.series("unexplained")).max() < 1e-10


@laws
def test_a_ball_with_restitution_comes_to_rest(law):
    sim, _ = run(dropped(0.6), 6.0, restitution=law)
    assert np.abs(sim.state.velocity).max() < 1e-9
    assert sim.report.collisions == 0


def row(n, speed, e, gap=0.0, mass=None):
    """n balls along x in free space, the first of which flies at the others."""
    world = ds.World(gravity=(0, 0, 0))
    for i in range(n):
        x = 0.2 * i + gap * i - (0.5 if i == 0 else 0.0)
        world.add_body(
            ds.Sphere(0.1), name=f"b{i}", position=(x, 0, 0), restitution=e, friction=0,
            mass=1.0 if mass is None else mass[i], velocity=(speed if i == 0 else 0, 0, 0),
        )  # fmt: skip
    return world


def speeds(sim, n):
    return np.array([sim.body(f"b{i}").velocity[0] for i in range(n)])


@laws
def test_three_balls_at_once(law):
    """At once: -1/3, 2/3, 2/3; kinetic energy kept with e = 1."""
    sim, _ = run(row(3, 1.0, 1.0), 1.0, restitution=law)
    assert np.allclose(speeds(sim, 3), [-1 / 3, 2 / 3, 2 / 3], atol=1e-9)
    assert np.isclose(sim.energy[0], 0.5)


@laws
@pytest.mark.parametrize("e", [0.0, 0.4, 0.9])
def test_simultaneous_collision_by_hand(law, e):
    """Simultaneously, on two balls at rest: v+ = ((1 - 2e) / 3, (1 + e) / 3, (1 + e) / 3)."""
    sim, kept = run(row(3, 1.0, e), 1.0, restitution=law)
    expected = [(1 - 2 * e) / 3, (1 + e) / 3, (1 + e) / 3]
    assert np.allclose(speeds(sim, 3), expected, atol=1e-9)
    if e:
        lost = kept.series("impact_energy").sum()
        assert np.isclose(lost, 0.5 * (np.square(expected).sum() - 1), atol=1e-12)
        assert np.isclose(kept.series("impact").sum(), lost, atol=1e-12)


@laws
def test_a_gap_makes_the_blow_travel(law):
    """One by one: 0, 0, 0, v, when the contacts meet one after the other."""
    sim, _ = run(row(4, 1.0, 1.0, gap=1e-4), 1.0, restitution=law)
    assert np.allclose(speeds(sim, 4), [0, 0, 0, 1], atol=1e-9)


def test_plastic_stack_is_at_rest_at_once():
    """9 : 1 stack that hits the floor, e = 0: the simultaneous model gives rest in one step."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_ground(friction=0)
    for k, mass in enumerate((1.0, 9.0)):
        world.add_body(
            ds.Disk(0.1), name=f"b{k}", mass=mass, position=(0, 0.1 + 0.2 * k), velocity=(0, -2.0)
        )
    sim, _ = run(world, 1 / 240, restitution="newton")
    assert np.abs(sim.state.velocity).max() < 2e-8, "the solver's tolerance, of 2 m/s"


def superball(e, law, spin=0.0, mu=5.0):
    world = ds.World(gravity=(0, 0, 0))
    world.add_ground(friction=mu)
    world.add_body(
        ds.Sphere(0.1), name="s", mass=1.0, position=(0, 0, 0.1), velocity=(1.0, 0, -2.0),
        angular_velocity=(0, spin, 0), restitution=e, friction=mu,
    )  # fmt: skip
    return run(world, 0.05, restitution=law)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize(("e", "spin"), [((1.0, 1.0), 0.0), ((0.8, 0.5), 30.0), ((1.0, 0.0), -20)])
def test_superball(law, e, spin):
    """u_t+ = -e_t u_t-, with the impulse 2/7 m (1 + e_t) u_t of a sphere: in closed form."""
    sim, kept = superball(e, law, spin)
    slip = 1.0 - 0.1 * spin  # velocity of the contact point, omega x (0, 0, -R)
    impulse = -2 / 7 * (1 + e[1]) * slip
    v, w = sim.body("s").velocity, sim.body("s").angular_velocity
    assert np.allclose(v, [1.0 + impulse, 0, 2.0 * e[0]], atol=1e-9)
    assert np.isclose(w[1], spin - impulse * 0.1 / (0.4 * 0.1**2), atol=1e-8)
    if e == (1.0, 1.0):
        assert abs(kept.series("impact_energy").sum()) < 1e-12, "all is given back"


def test_friction_in_an_impact_by_hand():
    """A sphere that skids: friction mu r_n (1 + e) in all, of Newton's law; Poisson's gives back
    the normal impulse without friction of its own, so mu r_n."""
    mu, e = 0.05, 0.5
    newton, _ = superball((e, 0.0), "newton", 0.0, mu)
    poisson, _ = superball((e, 0.0), "poisson", 0.0, mu)
    assert np.isclose(newton.body("s").velocity[0], 1.0 - mu * 2.0 * (1 + e), atol=1e-9)
    assert np.isclose(poisson.body("s").velocity[0], 1.0 - mu * 2.0, atol=1e-9)
    for sim in (newton, poisson):
        assert np.isclose(sim.body("s").velocity[2], 2.0 * e)


@settings(deadline=None, derandomize=True, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.booleans())
def test_poisson_does_not_add_energy_with_equal_coefficients(seed, e, planar):
    """eps_N = eps_T and friction: T+ <= T-, at every collision of a random tumble."""
    world = tumble(seed, planar, n=3, friction=0.4, restitution=(e, e))
    _, kept = run(world, 0.7, restitution="poisson")
    scale = kept.series("kinetic").max()
    assert (kept.series("impact_energy") <= 1e-9 * scale).all()
    assert kept.series("collisions").sum() > 0 or e == 0


@laws
@settings(deadline=None, derandomize=True, max_examples=5)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_frictionless_impacts_do_not_add_energy(law, seed, e):
    world = tumble(seed, n=3, friction=0.0, restitution=e)
    _, kept = run(world, 0.6, restitution=law)
    assert (kept.series("impact_energy") <= 1e-9 * kept.series("kinetic").max()).all()


@laws
def test_a_stack_that_bounces_ends_as_a_stack(law):
    world = ds.World()
    world.add_ground(restitution=0.4)
    for k in range(3):
        world.add_body(
            ds.Box(0.3, 0.3, 0.2), name=f"b{k}", position=(0, 0, 0.4 + 0.25 * k), restitution=0.4
        )
    sim, kept = run(world, 3.0, restitution=law)
    assert np.allclose(sim.state.position[1:, 2], [0.1, 0.3, 0.5], atol=1e-6)
    assert np.abs(sim.state.velocity).max() < 1e-9
    assert (np.diff(kept.series("total")) <= 1e-9).all(), "no step gains energy"


def test_without_a_law_restitution_is_not_used():
    sim, kept = run(dropped(1.0), 1.0)
    assert np.abs(sim.state.velocity).max() < 1e-9
    assert kept.series("collisions").sum() == 0


def plate(e, law, amplitude=0.01, frequency=3.0):
    """A box at rest on a plate that swings up and down without lifting it, a < g; the swing starts
    at its lower end, where it has no speed."""
    world = ds.World()
    motion = ds.Oscillation((0, 0, 1), amplitude, frequency, phase=-math.pi / 2)
    world.add_body(ds.Box(1, 1, 0.2), name="plate", position=(0, 0, -0.1), motion=motion)
    world.add_body(
        ds.Box(0.2, 0.2, 0.2), name="b", mass=1.0, position=(0, 0, 0.1 - amplitude), restitution=e
    )
    return run(world, 1.0, restitution=law)


@laws
def test_a_body_that_rides_on_a_plate_does_not_bounce(law):
    """The plate's acceleration is no impact: it is a kick like that of gravity."""
    sim, kept = plate(0.9, law)
    gap = kept.position[:, 1, 2] - kept.position[:, 0, 2] - 0.2
    assert np.abs(gap).max() < 1e-8
    assert kept.series("collisions").sum() == 0
    force = np.abs(sim.contacts["force"][:, 2].sum())
    mean = 0.01 * (6 * math.pi) ** 2  # the swing is at its lower end again, and accelerates up
    assert np.isclose(force, G + mean, rtol=1e-2)


@laws
def test_a_bat_gives_its_speed_twice(law):
    """A plate at 2 m/s meets a ball at rest, e = 1: it leaves at 4 m/s; the bat did the work."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(
        ds.Box(0.1, 1, 1), name="bat", position=(-0.5, 0, 0), motion=ds.ConstantVelocity((2, 0, 0))
    )
    world.add_body(ds.Sphere(0.1), name="ball", mass=1.0, restitution=1.0)
    sim, kept = run(world, 0.5, restitution=law)
    assert np.allclose(sim.body("ball").velocity, [4, 0, 0], atol=1e-9)
    assert np.isclose(kept.series("driving").sum(), 8.0)
    assert abs(kept.series("impact").sum()) < 1e-9


@pytest.mark.parametrize("order", [1, 2])
def test_blows_of_contacts_that_a_first_solve_missed_are_booked_with_those_before(order):
    """A heavy disk drives a light one into a third that was out of reach: two collisions, one after
    the other in one step."""
    world = ds.World(planar=True, gravity=(0, 0))
    for name, mass, x, v in (
        ("a", 100.0, -0.205, 1.0),
        ("b", 1.0, 0.0, 0.0),
        ("c", 1.0, 0.2125, 0.0),
    ):
        world.add_body(
            ds.Disk(0.1), name=name, mass=mass, position=(x, 0.0), velocity=(v, 0.0),
            restitution=0.7,
        )  # fmt: skip
    sim = ds.Simulation(world, ds.TimeStepping(dt=0.01, restitution="newton", order=order))
    for _ in range(4):
        report = sim.step()
        assert report.energy.closes
        assert report.ok
    momentum = sum(m * sim.body(n).velocity[0] for n, m in (("a", 100.0), ("b", 1.0), ("c", 1.0)))
    assert momentum == pytest.approx(100.0, rel=1e-12)


@laws
@pytest.mark.parametrize("planar", [True, False])
def test_impacts_with_friction_make_no_energy(law, planar):
    """Elastic boxes in a narrow box without gravity: nothing but impacts changes what they have.
    (With Newton's and Poisson's law as they are single impacts make up to a quarter.)"""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
        dim = 2 if planar else 3
        walls = [np.eye(dim)[axis] * way for axis in range(dim) for way in (-1, 1)]
        for normal in walls:
            shape = ds.HalfPlane() if planar else ds.HalfSpace()
            turn = math.atan2(-normal[0], normal[-1]) if planar else facing(normal)
            world.add_body(
                shape, fixed=True, position=-1.2 * normal, orientation=turn, friction=0.5,
                restitution=1.0,
            )  # fmt: skip
        for k in range(3):
            size = rng.uniform(0.2, 0.6, dim)
            place = np.zeros(dim)
            place[-1] = 0.7 * (k - 1)
            world.add_body(
                ds.Rectangle(*size) if planar else ds.Box(*size), density=1000, friction=0.5,
                restitution=1.0, position=place, velocity=rng.uniform(-3, 3, dim),
                angular_velocity=rng.uniform(-9, 9) if planar else rng.uniform(-9, 9, 3),
            )  # fmt: skip
        sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 500, restitution=law, rotation="flow"))
        before = sim.energy[0]
        collisions = 0
        for _ in range(250):
            report = sim.step()
            collisions += report.collisions
            now = report.energy.kinetic
            assert now <= before * (1 + 1e-7)
            before = now
        assert collisions > 2


def facing(normal):
    """The quaternion that turns z to a normal."""
    axis = np.cross([0.0, 0.0, 1.0], normal)
    if not axis.any():
        return (1, 0, 0, 0) if normal[2] > 0 else (0, 1, 0, 0)
    return (math.sqrt(0.5), *(math.sqrt(0.5) * axis))
