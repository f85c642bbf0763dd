"""Mechanisms of the gallery that live by contact: gripper, vehicle, Geneva drive, falling chains
and figures; and where a chain must be after a while."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds
from drystone.constraints.joints.rows import free_coordinates, joint_rows

G = 9.81


def watched(sim, duration, callback=None, depth=2e-3):
    """Runs; asserts what every step must keep: joints closed, solved, energy accounted for."""

    def watch(sim):
        report = sim.report
        assert report.ok
        assert report.residual < 1e-6
        assert report.joint_error < 1e-6
        assert report.penetration < depth
        ledger = report.energy
        parts = (ledger.kinetic, ledger.potential, ledger.friction, ledger.impact, ledger.driving)
        assert abs(ledger.unexplained) < 1e-12 * max(1.0, *np.abs(parts))
        if callback is not None:
            callback(sim)

    sim.run(duration, callback=watch)
    return sim


def lifted(grip, **settings):
    """Height that the cube of the gripper ends above its start, and the simulation."""
    scene = ds.scene("gripper", grip=grip, **settings)
    sim = watched(scene.simulation(), scene.duration)
    return sim.body("cube").position[2] - 0.05, sim


def test_the_gripper_lifts_what_friction_can_hold():
    """5.77 height / lift^2 is the greatest acceleration of the hand's smooth rise."""
    rise, sim = lifted(1.5)
    assert rise == pytest.approx(0.2, abs=1e-9), "no creep"
    hold = 1 + 10 / math.sqrt(3) * 0.2 / G
    rise, _ = lifted(1.01 * hold)
    assert rise == pytest.approx(0.2, abs=1e-9)
    rise, _ = lifted(0.98 * hold)
    assert rise < 0.2 - 1e-4, "it slips where the hand accelerates most"
    fingers = {str(j["name"]): j["force"] for j in sim.joints}
    force = 1.5 * G / (2 * 0.5)
    assert fingers["left-slide"][0] == pytest.approx(force, rel=1e-6)
    assert fingers["right-slide"][0] == pytest.approx(-force, rel=1e-6)


def test_the_gripper_slips_below_the_force_it_needs():
    rise, _ = lifted(0.97)
    assert abs(rise) < 1e-9, "the cube stays on the ground"
    sim = ds.scene("gripper", grip=0.9).simulation()
    sim.run(0.75)  # the fingers slide up along the cube now
    load = [c["force"][2] for c in sim.contacts if "ground" in c["bodies"]]
    assert abs(sum(load)) == pytest.approx(0.1 * G, rel=1e-6), "what friction does not carry"


@pytest.mark.parametrize("part", [0.98, 1.05])
def test_a_cube_is_pulled_from_the_gripper_by_more_than_friction(part):
    """Held at rest with 2 mu F, pulled down by `part` of what is left of it. A guide keeps the cube
    upright: how the fingers' pressure is spread over their faces is not determined, and uneven
    friction would turn it."""
    scene = ds.scene("gripper", grip=2.0, mass=2.0)
    scene.world.add_joint(ds.Slider("cube", "world", axis=(0, 0, 1), name="guide"))
    sim = scene.simulation()
    sim.run(scene.duration + 0.1)
    holds = 2.0 * 2.0 * G
    pull = part * holds - 2.0 * G
    scene.world.add_force(ds.ConstantForce("cube", force=(0, 0, -pull)))
    before = sim.body("cube").position[2]
    watched(sim, 0.2)
    fallen = before - sim.body("cube").position[2]
    if part < 1:
        assert abs(fallen) < 1e-9
    else:
        steps = round(0.2 * 240)
        exact = (part - 1) * holds / 2.0 * (steps * (steps + 1) / 2) / 240**2
        assert fallen == pytest.approx(exact, rel=1e-6), "semi-implicit Euler's parabola"


@pytest.mark.parametrize("planar", [True, False])
def test_the_vehicle_rolls_at_its_wheels_speed_and_sags_as_its_springs_say(planar):
    scene = ds.scene("vehicle", bumps=0, planar=planar, speed=2.0, sag=0.03)
    sim = watched(scene.simulation(), 3.0)
    assert sim.body("chassis").velocity[0] == pytest.approx(2.0, abs=1e-6)
    assert sim.body("chassis").position[-1] == pytest.approx(0.24 - 0.03, abs=1e-6)
    joints = sim.model.joints
    values = free_coordinates(joints, sim.state, None).value
    slides = [v for v, n in zip(values, joints.coordinate_name, strict=True) if n == "slide"]
    np.testing.assert_allclose(slides, 0.03, atol=1e-6)
    load = sum(abs(c["force"][-1]) for c in sim.contacts)
    assert load == pytest.approx((20.0 + len(slides)) * G, rel=1e-6)
    forward = sim.body("rear" if planar else "rear-left").angular_velocity
    assert (-forward if planar else forward[1]) == pytest.approx(2.0 / 0.15, abs=1e-5)


def test_the_vehicle_climbs_its_bumps_and_goes_on():
    scene = ds.scene("vehicle", planar=True)
    high = []
    sim = watched(scene.simulation(), scene.duration, lambda s: high.append(s.state.position[2, 1]))
    assert sim.body("chassis").position[0] > 4.8, "beyond the last bump"
    assert max(high) > 0.15 + 0.03, "the wheel went over them"
    assert abs(sim.body("chassis").orientation) < 0.05


@pytest.mark.parametrize(("slots", "turns"), [(4, 2), (6, 1), (3, 1)])
def test_the_geneva_drive_indexes_by_one_slot_a_turn(slots, turns):
    """tan(b) = a sin(t) / (d - a cos(t)) while the pin is in a slot, within its play; else rest."""
    distance, play = 0.2, 0.002 * 0.2
    half = math.pi / slots
    arm = distance * math.sin(half)
    scene = ds.scene("geneva", slots=slots)
    dwells = []

    def check(sim):
        drive, wheel = sim.state.orientation[1], sim.state.orientation[0]
        turn = math.remainder(drive - math.pi, 2 * math.pi)  # of the pin from the line of axes
        done = round((drive - math.pi - turn) / (2 * math.pi))
        away = math.hypot(distance - arm * math.cos(turn), arm * math.sin(turn))
        loose = (play + sim.penetration) / away
        if abs(turn) < math.pi / 2 - half - 0.1:  # not in the chamfered mouth
            b = math.atan2(arm * math.sin(turn), distance - arm * math.cos(turn))
            assert abs(wheel + 2 * half * done + half + b) < 1.01 * loose
        elif abs(turn) > math.pi / 2 - half + 0.4:  # the brake has stopped it by then
            dwells.append(abs(sim.state.velocity[0, 2]))
            step = done + (turn > 0)
            assert abs(wheel + 2 * half * step) < 2 * play / (distance * math.cos(half))

    sim = watched(scene.simulation(), turns * scene.duration / 2, check, depth=1e-4)
    assert max(dwells) < 1e-9
    assert sim.state.orientation[0] == pytest.approx(-2 * half * turns, abs=0.005)


@pytest.mark.parametrize("planar", [True, False])
def test_a_chain_falls_on_the_ground(planar):
    scene = ds.scene("chain-drop", planar=planar)
    sim = watched(scene.simulation(), 2.0)
    assert np.abs(sim.state.velocity[1:]).max() < 0.1, "it lies"
    load = sum(abs(c["force"][-1]) for c in sim.contacts if "ground" in c["bodies"])
    assert load == pytest.approx(scene.world.total_mass * G, rel=0.02)


def test_a_ragdoll_falls_down_stairs():
    scene = ds.scene("ragdoll")
    names = scene.world.bodies
    assert sum(not n.startswith(("step", "ground")) for n in names) == 15
    assert len(scene.world.joints) == 14
    sim = watched(scene.simulation(), 1.5)
    joints = sim.model.joints
    knees = [n for n in joints.names if "shin" in n]
    assert len(knees) == 2
    values = free_coordinates(joints, sim.state, None).value
    for k in np.flatnonzero([n in knees for n in np.array(joints.names)[joints.coordinate_joint]]):
        assert -1e-3 < values[k] < math.radians(140) + 1e-3
    assert sim.body("pelvis").position[0] > 0.5
    assert sum(sim.energy) < sum(ds.Simulation(scene.world).energy)


def test_the_ragdoll_is_symmetric():
    """Poses and joints of left and right are mirror images."""
    world = ds.scene("ragdoll", speed=0.0).world
    model, state = world.build()
    place = dict(zip(model.names, state.position, strict=True))
    for name in model.names:
        if name.startswith("right-"):
            other = place[name.replace("right", "left")]
            np.testing.assert_allclose(place[name] * (1, -1, 1), other, atol=1e-12)
    sim = ds.Simulation(world)
    sim.run(0.2)  # free fall: nothing bends
    np.testing.assert_allclose(sim.state.velocity[:, 3:], 0.0, atol=1e-9)


def bob_path(links, bob, angle, T, planar, length=0.1, mass=0.1):
    """Where the chain's bob is after T, by Lagrange's equations in the links' angles."""
    radius, ball = 0.1 * length, 0.45 * length
    rod = (ds.Capsule2D if planar else ds.Capsule)(length - 2 * radius, radius)
    unit = rod.mass_properties(1.0)
    own = mass * (unit.inertia if planar else unit.inertia[0, 0]) / unit.mass
    m, c, inertia = np.full(links, mass), np.full(links, 0.5 * length), np.full(links, own)
    heavy = bob * mass
    m[-1] += heavy
    c[-1] = (0.5 * length * mass + length * heavy) / m[-1]
    inertia[-1] += mass * (c[-1] - 0.5 * length) ** 2 + heavy * (length - c[-1]) ** 2
    inertia[-1] += (0.5 if planar else 0.4) * heavy * ball**2
    arm = length * np.tril(np.ones((links, links)), -1) + np.diag(c)  # of body k about joint i
    both = arm.T @ (m[:, None] * arm)

    def rate(t, y):
        q, v = y[:links], y[links:]
        away = q[:, None] - q
        force = -(both * np.sin(away)) @ v**2 - G * (arm.T @ m) * np.sin(q)
        return np.concatenate([v, np.linalg.solve(both * np.cos(away) + np.diag(inertia), force)])

    start = np.concatenate([np.full(links, np.radians(angle)), np.zeros(links)])
    q = solve_ivp(rate, (0, T), start, rtol=1e-10, atol=1e-10).y[:links, -1]
    return length * np.array([np.sin(q).sum(), -np.cos(q).sum()])


@pytest.mark.parametrize(("name", "angle"), [("chain", 45), ("chain-whip", 90)])
@pytest.mark.parametrize("planar", [True, False])
def test_short_chains_move_as_lagrange_says(name, angle, planar):
    scene = ds.scene(name, links=5, bob=10, planar=planar)
    assert len(scene.world.joints) == 5
    assert scene.world.total_mass == pytest.approx(1.5)
    expected = bob_path(5, 10, angle, 0.5, planar)
    errors = []
    for dt in (1 / 240, 1 / 480):
        sim = watched(scene.simulation(dt=dt), 0.5)
        last = sim.body("link4")
        q = last.orientation
        turn = q if planar else -2 * math.atan2(q[2], q[0])
        end = last.position[[0, -1]] + 0.05 * np.array([math.sin(turn), -math.cos(turn)])
        errors.append(np.linalg.norm(end - expected))
        assert planar or np.abs(sim.state.position[:, 1]).max() < 1e-9
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15), "first order in dt"


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("chain", {"links": 0}, ["links = 0"]),
        ("chain", {"bob": -1}, ["bob = -1"]),
        ("chain-drop", {"angle": 90}, ["angle = 90"]),
        ("four-bar", {"crank": 2.0}, ["angle = 60 degrees", "do not meet"]),
        ("slider-crank", {"rod": 0.05}, ["rod = 0.05", "more than the crank's 0.1"]),
        ("gripper", {"grip": 0}, ["grip = 0"]),
        ("vehicle", {"sag": -1}, ["sag = -1"]),
        ("geneva", {"slots": 2}, ["slots = 2"]),
        ("ragdoll", {"steps": 0}, ["steps = 0"]),
    ],
)
def test_wrong_settings_are_refused_by_name(name, settings, words):
    with pytest.raises(ds.OptionError) as caught:
        ds.scene(name, **settings)
    for word in [f"scene {name!r}", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
@pytest.mark.parametrize("planar", [True, False])
def test_linkages_start_closed_and_in_motion(name, planar):
    """C = 0 and J v = 0: the motor kicks nobody."""
    model, state = ds.scene(name, planar=planar).world.build()
    rows = joint_rows(model.joints, state)
    assert np.abs(rows.error).max() < 1e-14
    body = model.joints.row_body
    speeds = np.where(body[:, :, None] >= 0, state.velocity[body], 0.0)
    rate = np.einsum("rse,rse->r", rows.J, speeds)
    assert np.abs(rate).max() < 1e-12
    assert np.abs(state.velocity).max() > 1
