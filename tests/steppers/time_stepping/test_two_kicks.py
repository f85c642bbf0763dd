"""Steps of order 2 in the compiled loop: closed forms, energy, what is read."""

import numpy as np
import pytest

import drystone as ds
from drystone.steppers.time_stepping.stepper import TimeStepper

G = 9.81


def at(planar, x, z):
    return (x, z) if planar else (x, 0.3 * x, z)


def box(planar, side=0.2):
    return ds.Rectangle(side, side) if planar else ds.Box(side, side, side)


def gravity(planar):
    return (0, -G) if planar else (0, 0, -G)


@pytest.mark.parametrize("planar", [True, False])
def test_a_slide_is_the_closed_form_at_all_times(planar):
    """Constant deceleration: both kicks give half of it, positions and velocities are exact."""
    world = ds.World(planar=planar, gravity=gravity(planar))
    world.add_ground(friction=0.3)
    ahead = (2.0, 0) if planar else (2.0, 0, 0)
    start = (0, 0.1) if planar else (0, 0, 0.1)
    world.add_body(box(planar), name="b", position=start, velocity=ahead, friction=0.3, mass=2.0)
    sim = ds.Simulation(world, ds.TimeStepping(dt=0.01, order=2))
    assert isinstance(sim.stepper, TimeStepper)
    kept = sim.run(0.5, record=True, contacts=True)
    t = np.asarray(kept.time)
    expected = np.array([2.0 * t - 0.5 * 0.3 * G * t**2, 2.0 - 0.3 * G * t])
    assert np.allclose(kept.position[:, 1, 0], expected[0], atol=1e-8)
    assert np.allclose(kept.velocity[:, 1, 0], expected[1], atol=1e-7)
    for table in [kept.contacts(k) for k in (1, 20, -1)] + [sim.contacts]:
        force = table["force"].sum(axis=0)
        assert force[-1] == pytest.approx(2.0 * G, rel=1e-6), "impulses over half a step"
        assert force[0] == pytest.approx(-0.3 * 2.0 * G, rel=1e-6)
    assert np.abs(kept.series("unexplained")).max() < 1e-9
    work = sum(r.energy.friction + r.energy.impact for r in kept.reports)
    assert work == pytest.approx(-0.5 * 2.0 * (2.0**2 - expected[1, -1] ** 2), rel=1e-6)


def busy(planar, **more):
    """A stack that a ball strikes and a plate pushes, a body that tumbles, a force in Python."""
    world = ds.World(planar=planar, gravity=gravity(planar))
    world.add_ground(friction=0.4)
    for k in range(2):
        world.add_body(
            box(planar), name=f"b{k}", position=at(planar, 0, 0.1 + 0.2 * k), friction=0.4, **more
        )
    ball = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    fast = at(planar, 1.0, -1.0)
    world.add_body(ball, name="ball", position=at(planar, -0.5, 0.4), velocity=fast, **more)
    spin = 3.0 if planar else (1.0, 2.0, 3.0)
    world.add_body(
        ds.Rectangle(0.1, 0.3) if planar else ds.Box(0.1, 0.2, 0.3), name="fly",
        position=at(planar, 2, 3), angular_velocity=spin,
    )  # fmt: skip
    world.add_body(
        box(planar), name="plate", position=at(planar, 0.4, 0.12),
        motion=ds.ConstantVelocity(at(planar, -0.8, 0)),
    )  # fmt: skip
    none = (0,) * (2 if planar else 5)
    world.add_force(ds.Callback(lambda m, s: {"b1": (2.0 * np.sin(9 * s.time), *none)}))
    return world


CASES = [
    ({}, {}),
    ({"restitution": 0.6}, {"restitution": "newton"}),
    ({"restitution": 0.6}, {"restitution": "poisson", "rotation": "explicit"}),
    ({}, {"sleeping": ds.Sleeping(0.05, 0.05)}),
    ({}, {"stabilize": False, "active_gap": 0.02}),
    ({}, {"formulation": "convex"}),
    ({}, {"solver": "nsgs"}),
]


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize(("more", "options"), CASES)
def test_every_option_explains_its_energy_and_repeats_to_the_bit(planar, more, options):
    one, many = (
        ds.Simulation(busy(planar, **more), ds.TimeStepping(order=2, **options)) for _ in range(2)
    )
    reports = [one.step() for _ in range(50)]
    kept = many.run(50 * many.method.dt, record=True)
    assert np.array_equal(one.state.position, many.state.position)
    assert np.array_equal(one.state.velocity, many.state.velocity)
    assert [r.energy for r in kept.reports] == [r.energy for r in reports]
    assert all(r.ok for r in reports)
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-9
    assert (sum(r.collisions for r in reports) > 0) == bool(more)


@pytest.mark.parametrize("planar", [True, False])
def test_runs_single_steps_and_snapshots_have_the_same_bits(planar, tmp_path):
    def made():
        world = busy(planar, restitution=0.3)
        return ds.Simulation(world, ds.TimeStepping(order=2, restitution="newton"))

    whole, single, later = made(), made(), made()
    kept = whole.run(until=40 / 240, record=True, contacts=True)
    for k in range(40):
        if k == 25:
            later.restore(single.snapshot())
        single.step()
    for _ in range(15):
        later.step()
    for sim in (single, later):
        assert np.array_equal(sim.state.position, whole.state.position)
        assert np.array_equal(sim.state.velocity, whole.state.velocity)
        for name in ("force", "point", "velocity", "island"):
            assert np.array_equal(sim.contacts[name], kept.contacts(-1)[name])
    problem = single.problem()
    answer = ds.solve(problem, tol=1e-10)
    assert np.allclose(answer.dual, single.stepper.solved.u.ravel(), atol=1e-6)
    filed = made()
    filed.run(until=40 / 240, record=tmp_path / "run.h5")
    with ds.read_recording(tmp_path / "run.h5") as recording:
        assert np.array_equal(recording.contacts(-1)["force"], kept.contacts(-1)["force"])
