"""Static and dynamic friction, anisotropic cones, soft fingers, the wedge."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds
from tests.steppers.time_stepping.worlds import G, block, run


@pytest.mark.parametrize("planar", [True, False])
def test_block_rests_below_the_static_angle_and_slides_with_the_dynamic_coefficient(planar):
    friction = (0.5, 0.3)
    resting, _ = run(block(math.atan(0.49), friction, planar), 2.0)
    start = block(math.atan(0.49), friction, planar).build()[1].position[1]
    assert np.abs(resting.state.position[1] - start).max() < 1e-9
    assert set(resting.contacts["state"]) == {"stick"}
    angle = math.atan(0.52)
    sliding, kept = run(block(angle, friction, planar), 1.0)
    along = np.array([math.cos(angle), math.sin(angle)])
    speed = kept.velocity[:, 1][:, [0, 1 if planar else 2]] @ along
    acceleration = -G * (math.sin(angle) - 0.3 * math.cos(angle))
    assert np.isclose(speed[-1], acceleration * 1.0, rtol=1e-6)
    assert set(sliding.contacts["state"]) == {"slip"}
    assert np.allclose(sliding.contacts["friction"], 0.3)


def test_a_sliding_block_goes_on_where_a_resting_one_would_not_start():
    """A push between mu_d N and mu_s N: rest stays rest, motion gains speed."""

    def world(velocity):
        out = block(0.0, (0.6, 0.2), velocity=velocity)
        mass = out.total_mass
        out.add_force(ds.ConstantForce("b", (0.4 * mass * G, 0, 0)))
        return out

    rest, _ = run(world(0.0), 1.0)
    assert np.abs(rest.body("b").velocity).max() < 1e-9
    moving, _ = run(world(0.5), 1.0)
    assert np.isclose(moving.body("b").velocity[0], 0.5 + 0.2 * G, rtol=1e-6)


def test_one_that_breaks_loose_leaves_the_others_as_they_slid():
    """One slides all the time, another is pushed off after 0.1 s: the first never notices."""
    world = ds.World()
    world.add_ground(friction=(0.6, 0.2))
    for name, y, speed in (("first", 0.0, 1.0), ("second", 2.0, 0.0)):
        world.add_body(
            ds.Box(0.2, 0.2, 0.1), name=name, mass=1.0, position=(0, y, 0.05),
            velocity=(speed, 0, 0), friction=(0.6, 0.2),
        )  # fmt: skip
    push = {"second": (0.7 * G, 0, 0, 0, 0, 0)}
    world.add_force(ds.Callback(lambda model, state: push if state.time > 0.1 else {}))
    sim, _ = run(world, 0.2)
    assert np.isclose(sim.body("first").velocity[0], 1.0 - 0.2 * G * 0.2, rtol=1e-6)
    pushed = (0.2 - 25 / 240) * 0.5 * G  # from the first step that begins after 0.1 s
    assert np.isclose(sim.body("second").velocity[0], pushed, rtol=1e-6)


def test_a_block_that_stops_has_its_static_friction_back():
    world = block(math.atan(0.4), (0.6, 0.5), velocity=1.0)
    sim, _ = run(world, 2.0)
    assert np.abs(sim.body("b").velocity).max() < 1e-9
    assert np.allclose(sim.contacts["friction"], 0.6)


def skate(heading, ratios=(0.05, 1.0), mu=0.5, speed=2.0):
    world = ds.World()
    world.add_ground(friction=mu)
    world.add_body(
        ds.Box(0.6, 0.2, 0.1), name="s", position=(0, 0, 0.05), friction=mu,
        cone=ds.EllipticCone(ratios), cone_axis=(1, 0, 0),
        velocity=(speed * math.cos(heading), speed * math.sin(heading), 0),
    )  # fmt: skip
    return world


def test_ice_skate_along_its_blade():
    """Deceleration mu a_1 g along the blade: closed form, without a turn."""
    sim, _ = run(skate(0.0), 1.0)
    v = sim.body("s").velocity
    assert np.isclose(v[0], 2.0 - 0.05 * 0.5 * G, rtol=1e-6)
    assert np.abs(v[1:]).max() < 1e-9
    sign = np.where(sim.contacts["bodies"][:, 0] == "s", 1.0, -1.0)
    assert np.allclose(sign[:, None] * sim.contacts["velocity"], v, atol=1e-9), "in true metres"
    push = (sign[:, None] * sim.contacts["force"]).sum(axis=0)
    assert np.allclose(push, sim.body("s").mass * G * np.array([-0.025, 0, 1]), rtol=1e-6)


def test_ice_skate_thrown_askew_goes_straight():
    """Maximal dissipation on an ellipse: r_t = -mu N A^2 u / |A u|, A = diag of the ratios. The
    sideways part dies, then the skate follows its blade. Compared with the law as an ODE, of a
    skate whose heading a heavy inertia keeps."""
    mu, a = 0.5, np.array([0.05, 1.0])
    world = ds.World()
    world.add_ground(friction=mu)
    world.add_body(
        ds.Box(0.6, 0.2, 1e-3), name="s", mass=1.0, inertia=(1e9, 1e9, 1e9), friction=mu,
        position=(0, 0, 5e-4), cone=ds.EllipticCone(tuple(a)), cone_axis=(1, 0, 0),
        velocity=(2.0, 1.0, 0),
    )  # fmt: skip
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 2000))

    def law(_, u):
        return -mu * G * a**2 * u / max(np.linalg.norm(a * u), 1e-12)

    exact = solve_ivp(law, (0, 0.15), [2.0, 1.0], rtol=1e-9, atol=1e-12).y[:, -1]
    sim.run(0.15)
    assert np.allclose(sim.body("s").velocity[:2], exact, atol=2e-3)
    sim.run(0.35)
    v = sim.body("s").velocity
    assert abs(v[1]) < 1e-6, "sideways: it dies like exp(-mu g t / (a_1 u_1))"
    assert v[0] > 1.8, "along: hardly braked"


def test_axis_of_a_turned_body_turns_with_it():
    """The same skate pointing along y: the motion turns too."""
    first, _ = run(skate(0.6), 0.5)
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(
        ds.Box(0.6, 0.2, 0.1), name="s", position=(0, 0, 0.05), friction=0.5,
        orientation=(math.cos(math.pi / 4), 0, 0, math.sin(math.pi / 4)),
        cone=ds.EllipticCone((0.05, 1.0)), cone_axis=(1, 0, 0),
        velocity=(-2 * math.sin(0.6), 2 * math.cos(0.6), 0),
    )  # fmt: skip
    second, _ = run(world, 0.5)
    v, w = first.body("s").velocity, second.body("s").velocity
    assert np.allclose(w, [-v[1], v[0], v[2]], atol=1e-6)


def test_cone_of_the_method_applies_in_world_axes():
    """ds.EllipticCone with an angle, for bodies that have no axis of their own."""
    cone = ds.EllipticCone((0.1, 1.0), angle=math.pi / 2)  # little friction along y
    sim, _ = run(block(0.0, 0.5, velocity=2.0, heading=math.pi / 2), 0.5, cone=cone)
    assert np.isclose(sim.body("b").velocity[1], 2.0 - 0.1 * 0.5 * G * 0.5, rtol=1e-6)
    sim, _ = run(block(0.0, 0.5, velocity=2.0), 0.25, cone=cone)
    assert np.isclose(sim.body("b").velocity[0], 2.0 - 0.5 * G * 0.25, rtol=1e-6)


def spinning_ball(spin=20.0):
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(
        ds.Sphere(0.1), name="s", mass=1.0, position=(0, 0, 0.1), friction=0.5,
        angular_velocity=(0, 0, spin),
    )  # fmt: skip
    return world


def test_soft_finger_stops_a_spin_and_a_point_does_not():
    """Torque mu m g rho against I = 2/5 m R^2: omega falls by 2.5 mu g rho / R^2 a second."""
    rho = 0.02
    rate = 2.5 * 0.5 * G * rho / 0.1**2
    sim, _ = run(spinning_ball(), 0.5, cone=ds.SoftFingerCone(rho))
    assert np.isclose(sim.body("s").angular_velocity[2], 20 - rate * 0.5, rtol=1e-6)
    assert np.isclose(abs(sim.contacts["spin"][0]), 0.5 * 1.0 * G * rho / 240, rtol=1e-6)
    sim.run(20 / rate - 0.5 + 0.05)
    assert np.abs(sim.body("s").angular_velocity).max() < 1e-9, "stopped, and stays"
    point, _ = run(spinning_ball(), 1.0)
    assert np.isclose(point.body("s").angular_velocity[2], 20.0, rtol=1e-12)


def wedge(velocity, mu=1.0):
    """A particle where two planes meet at 90 degrees; normals (0, -1, 1) and (0, 1, 1)."""
    world = ds.World(gravity=(0, 0, 0))
    for name, side in (("left", 1), ("right", -1)):
        world.add_ground(normal=(0, side, 1), friction=mu, name=name)
    world.add_body(
        ds.Sphere(0.1), name="p", mass=1.0, inertia=(1e12,) * 3, friction=mu,
        position=(0, 0, 0.1 * math.sqrt(2)), velocity=velocity,
    )  # fmt: skip
    return world


@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_wedge_whose_total_cone_is_not_closed(n, law):
    """(1, 0, 1 / 2n) lies in K1 + K2 for every n, with impulses that grow like n; (1, 0, 0)
    does not. A step has a solution for all of them, and none adds energy."""
    sim, _ = run(wedge((-1.0, 0, -0.5 / n)), 1 / 240, formulation=law, stabilize=False)
    report = sim.report
    assert report.ok
    assert report.energy.kinetic <= 0.5 * (1 + 0.25 / n**2) * (1 + 1e-9)
    v = sim.body("p").velocity
    assert -1 <= v[0] <= 1e-9, "friction brakes it, or stops it: both obey the law"
    assert v[2] >= -1e-9


@pytest.mark.parametrize("n", [1, 10, 100, 1000, 5000, 10**5])
def test_wedge_of_the_convex_law_comes_to_rest(n):
    """The momentum lies in the sum of the cones: at rest, by impulses that grow like n."""
    sim, _ = run(wedge((-1.0, 0, -0.5 / n)), 1 / 240, formulation="convex", stabilize=False)
    assert sim.report.ok
    assert np.abs(sim.body("p").velocity).max() <= 1e-6
    assert np.linalg.norm(sim.contacts["impulse"], axis=1).min() >= 0.499 * n


def test_wedge_without_load_has_no_friction():
    sim, _ = run(wedge((-1.0, 0, 0)), 0.1)
    assert np.allclose(sim.body("p").velocity, [-1, 0, 0], atol=1e-12)
