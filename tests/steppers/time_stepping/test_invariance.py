"""What must not matter: order of bodies, direction of the world, warm start, another run."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.kernels.step import codes
from drystone.kernels.step.loop import loop
from tests.steppers.time_stepping.worlds import block, run, tumble


def bodies_of(seed, n=4):
    """Descriptions of bodies, to be added in any order and any frame."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(n):
        q = rng.normal(size=4)
        out.append(
            {
                "shape": ds.Box(*rng.uniform(0.2, 0.5, 3)) if k % 2 else ds.Sphere(0.2),
                "name": f"b{k}",
                "position": np.array([0.1 * k, 0.05 * k, 0.6 + 0.7 * k]),
                "orientation": q / np.linalg.norm(q),
                "velocity": rng.normal(size=3),
                "angular_velocity": 3 * rng.normal(size=3),
                "friction": rng.uniform(0.2, 0.8),
            }
        )
    return out


def assembled(bodies, turn=None, up=(0, 0, 1.0)):
    R = Rotation.identity() if turn is None else turn
    world = ds.World(gravity=tuple(R.apply(-9.81 * np.array(up))))
    world.add_ground(normal=R.apply(up), friction=0.5)
    for body in bodies:
        given = dict(body)
        shape = given.pop("shape")
        for field in ("position", "velocity", "angular_velocity"):
            given[field] = R.apply(given[field])
        q = R * Rotation.from_quat(given["orientation"], scalar_first=True)
        given["orientation"] = q.as_quat(scalar_first=True)
        world.add_body(shape, **given)
    return world


def poses(sim):
    return {n: (sim.body(n).position, sim.body(n).velocity) for n in sim.bodies if n != "ground"}


@settings(deadline=None, derandomize=True, max_examples=5)
@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_order_of_bodies_does_not_matter(seed, shuffler):
    """0.5 s with impacts; orders of solves differ, so the tolerance is that of the solver, grown by
    the motion."""
    bodies = bodies_of(seed)
    mixed = list(bodies)
    shuffler.shuffle(mixed)
    options = {"tol": 1e-12}
    first, second = (run(assembled(b), 0.5, **options)[0] for b in (bodies, mixed))
    other = poses(second)
    for name, (x, v) in poses(first).items():
        assert np.allclose(x, other[name][0], atol=1e-6)
        assert np.allclose(v, other[name][1], atol=1e-5)


@settings(deadline=None, derandomize=True, max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_direction_of_the_world_does_not_matter(seed):
    """The whole scene turned, gravity and ground too: the motion turns with it; so tangent frames,
    which follow other rules in the turned world, do not matter either."""
    turn = Rotation.random(random_state=seed % 1000)
    bodies = bodies_of(seed)
    straight, _ = run(assembled(bodies), 0.5, tol=1e-12)
    turned, _ = run(assembled(bodies, turn), 0.5, tol=1e-12)
    other = poses(turned)
    for name, (x, v) in poses(straight).items():
        assert np.allclose(turn.apply(x), other[name][0], atol=1e-6)
        assert np.allclose(turn.apply(v), other[name][1], atol=1e-5)


def test_polyhedral_cones_do_prefer_directions_and_circular_ones_do_not():
    """The error that a pyramid makes, seen: a puck pushed at 45 degrees to its four directions."""

    def end(cone, heading):
        world = ds.World()
        world.add_ground(friction=0.5)
        world.add_body(
            ds.Sphere(0.1), name="p", mass=1.0, inertia=(1e9,) * 3, position=(0, 0, 0.1),
            velocity=(2 * math.cos(heading), 2 * math.sin(heading), 0), friction=0.5,
        )  # fmt: skip
        return np.linalg.norm(run(world, 1.0, cone=cone)[0].body("p").position[:2])

    assert abs(end("circular", 0.0) - end("circular", 0.7)) < 1e-6
    assert abs(end(4, 0.0) - end(4, 0.7)) > 0.01
    assert abs(end(64, 0.0) - end(64, 0.7)) < 0.01 * end("circular", 0)


@pytest.mark.parametrize("planar", [True, False])
def test_warm_start_does_not_change_the_motion(planar):
    cold, _ = run(tumble(3, planar), 0.6, warm_start=False, tol=1e-11)
    warm, _ = run(tumble(3, planar), 0.6, tol=1e-11)
    assert np.allclose(cold.state.position, warm.state.position, atol=1e-6)


def test_warm_start_spares_a_stack_most_of_its_effort():
    effort = {}
    for warm_start in (False, True):
        sim = ds.scene("pyramid", rows=4).simulation(warm_start=warm_start)
        effort[warm_start] = sim.run(0.1, record=True).series("iterations")[4:].mean()
    assert effort[True] < 0.2 * effort[False]


def test_a_body_at_rest_starts_from_its_own_answer():
    """The guess is the last step's impulse, in proportion to the step, turned into new frames."""
    sim, _ = run(block(0.2), 0.1)
    stepper = sim._stepper
    s, answer = stepper.buffers.s, stepper.solved.r.copy()
    assert answer.shape == (4, 3)
    assert answer[:, 0].min() > 0
    for part in (1.0, 0.5):
        stepper.buffers.set_state(sim.state, sim.time, 0)
        stepper.buffers.set_step(part / 240, 1)
        for stage in range(s.solve_stage):
            assert loop(stepper.job, stage, 1, True) == codes.GO_ON
        assert np.array_equal(s.source[:4], [0, 1, 2, 3])
        assert np.allclose(s.r[:4], part * answer, atol=1e-12)


def digest(sim):
    parts = (sim.state.position, sim.state.orientation, sim.state.velocity)
    return hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest()


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("options", [{}, {"restitution": "poisson"}, {"cone": 8}], ids=str)
def test_the_same_run_twice_gives_the_same_bits(planar, options):
    first, second = (run(tumble(11, planar, restitution=0.3), 0.6, **options)[0] for _ in range(2))
    assert digest(first) == digest(second)


def test_looking_does_not_touch():
    """Reading contacts, energies, depths and problems between steps changes no bit."""
    quiet, watched = (ds.Simulation(tumble(4)) for _ in range(2))
    for _ in range(120):
        quiet.step()
        watched.step()
        _ = watched.contacts, watched.energy, watched.penetration, watched.problem()
        _ = watched.detection, watched.body("b0").velocity
    assert digest(quiet) == digest(watched)
