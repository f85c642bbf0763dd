"""A step may take several solves: where contacts break loose or are added, or with M at its end.
What is counted in steps is counted once, and the last solve says how the step ended."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.kernels import status
from drystone.kernels.step import codes, policy
from drystone.steppers.time_stepping.stepper import TimeStepper


def heap(count, shape, spin, seed=0):
    rng, world = np.random.default_rng(seed), ds.World()
    world.add_ground(friction=0.5)
    for k in range(count):
        turn = rng.normal(size=4)
        world.add_body(
            shape, name=f"b{k}", density=1000, friction=0.5,
            orientation=turn / np.linalg.norm(turn),
            position=(0.3 * (k % 3), 0.3 * (k // 3 % 3), 0.2 + 0.3 * (k // 9)),
            angular_velocity=spin * rng.normal(size=3),
        )  # fmt: skip
    return world


def numbers(sim):
    return sim._stepper.buffers.s


def test_counters_of_steps_do_not_count_the_solves_of_one():
    sim = ds.Simulation(heap(3, ds.Ellipsoid(0.1, 0.07, 0.05), 20.0), ds.TimeStepping(mass="end"))
    most = 0
    for _ in range(60):
        numbers(sim).tight_steps = 50
        most = max(most, sim.step().outer)
        assert numbers(sim).tight_steps == 49
    assert most >= 4


def test_large_islands_wait_for_steps_not_for_solves():
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(20):
        world.add_body(
            ds.Box(0.2, 0.2, 0.1), name=f"b{k}", density=1000, position=(0, 0, 0.05 + 0.1 * k)
        )
    sim = ds.Simulation(world)
    sim.step()
    s, scan = numbers(sim), sim._stepper.detector.scan
    assert s.rows == 80
    for solve, waits in ((1, 4), (2, 4), (3, 4)):  # none of them reached its tolerance
        s.solves, s.ended[0] = solve, status.MAX_ITERATIONS
        s.newton_wait = 5 if solve == 1 else s.newton_wait
        s.newton_refused = 1280
        policy.plan(s, scan)
        assert s.newton_wait == waits
        assert s.newton_refused == (1290 if solve == 1 else 1280)
        assert s.plan[0] == codes.SWEEP
    for solve in (1, 2, 3):  # its turn comes, in every solve of a step that asks; one counts
        s.solves, s.newton_wait = solve, 0
        s.newton_interval = 1 if solve == 1 else s.newton_interval
        assert policy.plan(s, scan) == codes.NEWTON
        assert (s.newton_tried, s.newton_interval) == (1, 4)


def imbalance(sim, before):
    """Of the last step's angular momentum, with the inertia at its end: the angular velocity that
    is lacking, of the greatest velocity. before: the state at its start."""
    names, v = list(sim.model.names), numbers(sim).v.copy()
    twist, worst = np.zeros((len(names), 3)), 0.0
    for contact in sim.contacts:
        for name, sign in zip(contact["bodies"], (1.0, -1.0), strict=True):
            b = names.index(name)
            arm = contact["point"] - before.position[b]
            twist[b] += sign * np.cross(arm, contact["impulse"])
    for b in np.flatnonzero(sim.model.inverse_mass > 0):
        start = Rotation.from_quat(np.roll(before.orientation[b], -1))
        R = (Rotation.from_rotvec(sim.method.dt * v[b, 3:]) * start).as_matrix()
        gain = np.linalg.solve(R @ sim.model.inertia[b] @ R.T, twist[b])
        worst = max(worst, np.abs(v[b, 3:] - before.velocity[b, 3:] - gain).max())
    return worst / np.abs(v).max()


@pytest.mark.parametrize("spin", [20.0, 1000.0])
def test_a_step_whose_inertia_did_not_settle_is_not_solved(spin):
    """Ellipsoids turn by radians in a step: the iteration for M at its end may not converge."""
    world = heap(5, ds.Ellipsoid(0.1, 0.07, 0.05), spin)
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 60, mass="end"))
    found = {True: [], False: []}
    for _ in range(40):
        before = sim.state.copy()
        report = sim.step()
        found[report.ok].append(imbalance(sim, before))
        if not report.ok:
            assert report.status is ds.Status.MAX_ITERATIONS
            assert report.residual > sim.method.tol
    assert max(found[True]) < 2e-8, "the tolerance"
    assert min(found[False], default=1.0) > 1e-9
    assert len(found[False]) == sim.summary.unsolved
    assert bool(found[False]) == (spin > 100)


def wedge(static, dynamic, angle, speed):
    """A wedge that a head drives between two blocks. With static friction nothing gives way; but
    then contacts slide, and with dynamic friction the blocks are pushed apart."""
    mu, t = (static, dynamic), np.tan(angle)
    world = ds.World(planar=True)
    world.add_ground(friction=mu)
    for name, x in (("left", -0.17), ("right", 0.17)):
        world.add_body(
            ds.Rectangle(0.3, 0.3), name=name, position=(x, 0.15), density=1000, friction=mu
        )
    low, wide = 0.451 - 0.009 / t, 0.005 + 0.3 * t
    shape = ds.Polygon([(-0.005, -0.15), (0.005, -0.15), (wide, 0.15), (-wide, 0.15)])
    world.add_body(shape, name="wedge", position=(0, low), density=1000, friction=mu)
    down = ds.ConstantVelocity(velocity=(0, -speed))
    world.add_body(
        ds.Rectangle(0.5, 0.05), name="head", position=(0, low + 0.178), motion=down, friction=mu
    )
    return world


@pytest.mark.parametrize(
    ("static", "dynamic", "angle", "speed"),
    [(1.06, 0.06, 0.4, 1.0), (0.7, 0.1, 0.534, 0.6), (2.0, 0.15, 0.6, 1.0)],
)
def test_a_jam_that_ends_once_contacts_slide_is_none(static, dynamic, angle, speed, monkeypatch):
    noted = []
    note = TimeStepper._note_jam
    monkeypatch.setattr(TimeStepper, "_note_jam", lambda *a: (noted.append(a[1]), note(*a)))
    world = wedge(static, dynamic, angle, speed)
    method = ds.TimeStepping(overlap="allow")
    sim = ds.Simulation(world, method)
    for _ in range(12):
        report = sim.step()
        assert bool(report.jammed) == (report.status is ds.Status.JAMMED)
        assert ("stall" in report.methods) == bool(report.jammed)
    assert noted, "with static friction there is a jam"
    whole = ds.Simulation(world, method)
    whole.run(12 * method.dt, on_failure="ignore")
    assert np.array_equal(whole.state.position, sim.state.position)
    assert whole.summary == sim.summary
