"""What makes events follow events, or equations singular: finite time, and a clear report."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

G = 9.81


MOST = 100_000  # evaluations of all forces: a minute's worth


def stepped(world, duration, **options):
    """The simulation at its end and all reports; fails if it takes more than MOST evaluations."""
    options.setdefault("dt", 0.05)
    sim = ds.Simulation(world, method=ds.EventDriven(**options))
    reports = []
    while sim.time < duration - 1e-9:
        reports.append(sim.step())
        assert sum(report.evaluations for report in reports) < MOST
    return sim, reports


def kinds(reports):
    return [event.kind for report in reports for event in report.events]


# --- singular mass matrices ------------------------------------------------------------------


def test_a_rod_with_hardly_any_inertia_about_itself_swings_as_a_pendulum():
    """Inertia of 1e-12 beside 1/12: nothing turns the rod about itself, so it may not matter."""
    world = ds.World(gravity=(0, 0, -G))
    world.add_body(
        ds.Capsule(1.0, 1e-3), name="rod", mass=1.0, inertia=np.diag([1 / 12, 1 / 12, 1e-12]),
        position=(0, 0, 0), orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
    )  # fmt: skip
    world.add_joint(ds.Ball("rod", "world", anchor=(-0.5, 0, 0)))
    sim, reports = stepped(world, 0.3, rtol=1e-9, atol=1e-11)
    # a uniform rod about its end: the pendulum theta'' = 3/2 g cos(theta), theta below horizontal
    run = solve_ivp(
        lambda _, y: [y[1], 1.5 * G * np.cos(y[0])], (0, 0.3), [0.0, 0.0], rtol=1e-12, atol=1e-13
    )
    fall = -0.5 * np.sin(run.y[0, -1])
    assert sim.body("rod").position[2] == pytest.approx(fall, abs=1e-7)
    assert all(np.isfinite(r.energy.total) for r in reports)


def test_a_point_on_a_wire_of_joints():
    """A body with hardly any inertia, as a bead: its rows are dependent but for its mass."""
    world = ds.World(planar=True)
    world.add_body(ds.Disk(1e-3), name="bead", mass=1.0, inertia=1e-14, position=(0.3, 0.0))
    world.add_joint(ds.Distance("bead", "world", anchor_a=(0, 0), anchor_b=(0, 0)))
    sim, reports = stepped(world, 0.4, rtol=1e-9, atol=1e-11)
    run = solve_ivp(
        lambda _, y: [y[1], -G / 0.3 * np.sin(y[0])], (0, 0.4), [np.pi / 2, 0.0], rtol=1e-12,
        atol=1e-13,
    )  # fmt: skip
    angle = run.y[0, -1]
    place = 0.3 * np.array([np.sin(angle), -np.cos(angle)])
    assert sim.body("bead").position == pytest.approx(place, abs=1e-7)
    assert max(r.joint_error for r in reports) < 1e-9


def test_redundant_joints_share_the_load_and_the_motion_is_that_of_one():
    """Three pins at one place, and a bar welded twice: W is singular, the motion is not."""

    def end(copies):
        world = ds.World(planar=True)
        world.add_body(ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0))
        world.add_body(ds.Rectangle(1, 0.1), name="b", mass=1, inertia=1 / 12, position=(1.5, 0))
        for _ in range(copies):
            world.add_joint(ds.Pin("a", "world", anchor=(0, 0)))
            world.add_joint(ds.Pin("a", "b", anchor=(1, 0)))
        sim, reports = stepped(world, 0.5, rtol=1e-9, atol=1e-11)
        assert max(r.joint_error for r in reports) < 1e-10
        return np.array([[*sim.body(n).position, sim.body(n).orientation] for n in "ab"])

    assert np.abs(end(3) - end(1)).max() < 1e-8


def hinged_arm(copies, planar):
    """A bar on a hinge at each of its two cheeks in space (five rows each, one freedom), or on
    one pin in the plane."""
    world = ds.World(planar=planar)
    at = (0.5, 0) if planar else (0.5, 0, 0)
    shape = ds.Rectangle(1, 0.1) if planar else ds.Box(1, 0.2, 0.1)
    inertia = 1 / 12 if planar else np.diag([0.01, 1 / 12, 1 / 12])
    world.add_body(shape, name="a", mass=1, inertia=inertia, position=at)
    for k in range(copies):
        if planar:
            world.add_joint(ds.Pin("a", "world", anchor=(0, 0)))
        else:
            side = 0.1 - 0.2 * k
            world.add_joint(ds.Hinge("a", "world", anchor=(0, side, 0), axis=(0, 1, 0)))
    return world


def test_a_bar_on_two_hinges_in_line_swings_as_on_one_pin():
    """Five of its ten rows are redundant."""
    flat, _ = stepped(hinged_arm(1, True), 0.5, rtol=1e-9, atol=1e-11)
    deep, reports = stepped(hinged_arm(2, False), 0.5, rtol=1e-9, atol=1e-11)
    place = deep.body("a").position
    assert place[[0, 2]] == pytest.approx(flat.body("a").position, abs=1e-8)
    assert abs(place[1]) < 1e-10
    assert max(r.joint_error for r in reports) < 1e-10


# --- joints that cannot be met -----------------------------------------------------------------


def test_motions_that_contradict_a_joint_are_named():
    """Two prescribed bodies drift apart, and two rods in line between them cannot stretch."""
    world = ds.World(planar=True)
    for name, x in (("left", -1.0), ("right", 1.0)):
        motion = ds.ConstantVelocity(velocity=(x, 0.0))
        world.add_body(ds.Disk(0.1), name=name, position=(x, 0), motion=motion)
    world.add_body(ds.Disk(0.1), name="between", mass=1.0)
    ends = {"anchor_a": (0, 0), "anchor_b": (0, 0)}
    world.add_joint(ds.Distance("left", "between", **ends))
    world.add_joint(ds.Distance("between", "right", **ends))
    with pytest.raises(ds.SimulationError, match=r"joint 'joint\d' is open by .* between"):
        stepped(world, 0.5)
    with pytest.raises(ds.ModelError, match="neither end can move"):
        world.add_joint(ds.Distance("left", "right", **ends))


def test_a_limit_that_a_motor_pushes_against_holds():
    """Not a contradiction: the limit's force grows until the motor gives no more."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0))
    motor = ds.Motor(speed=2.0, max_force=1.0)
    world.add_joint(ds.Pin("a", "world", anchor=(0, 0), motor=motor, limits=(-0.5, 0.5)))
    sim, reports = stepped(world, 1.5)
    assert sim.body("a").orientation == pytest.approx(0.5, abs=1e-9)
    assert all(r.ok for r in reports)


def test_a_motor_without_a_greatest_force_is_refused_by_name():
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0))
    world.add_joint(ds.Pin("a", "world", anchor=(0, 0), motor=ds.Motor(speed=1.0), name="drive"))
    with pytest.raises(ds.ModelError, match=r"'drive': its motor has max_force = inf"):
        ds.Simulation(world, method=ds.EventDriven())


# --- many events -------------------------------------------------------------------------------


def test_zeno_of_two_bodies_ends_and_says_when():
    """A ball between the floor and a lid that sinks on it: impacts pile up without a limit in
    time; the run goes on, and both are at rest."""
    world = ds.World(planar=True)
    world.add_ground(restitution=0.7)
    world.add_body(
        ds.Disk(0.05), name="ball", mass=0.1, position=(0, 0.06), restitution=0.7, friction=0
    )
    world.add_body(
        ds.Rectangle(0.5, 0.05), name="lid", mass=1.0, inertia=1.0, position=(0, 0.15),
        restitution=0.7, friction=0,
    )  # fmt: skip
    world.add_joint(ds.Slider("lid", "world", axis=(0, 1)))
    sim, reports = stepped(world, 1.5)
    assert kinds(reports).count("impact") > 20
    assert np.abs(sim.state.velocity).max() < 1e-5
    assert sim.body("lid").position[1] == pytest.approx(0.125, abs=1e-6)
    force = sum(
        sim.contacts["force"][k, 1]
        for k in range(len(sim.contacts))
        if "ground" in sim.contacts["bodies"][k]
    )
    assert abs(force) == pytest.approx(1.1 * G, rel=1e-6)
    assert max(r.penetration for r in reports) < 1e-9


def test_all_of_many_impacts_in_a_long_frame_are_followed():
    """A box of balls without loss, shaken: hundreds of impacts a frame."""
    rng = np.random.default_rng(4)
    world = ds.World(planar=True, gravity=(0, 0))
    for name, size, at in (
        ("left", (0.1, 1.2), (-0.55, 0)), ("right", (0.1, 1.2), (0.55, 0)),
        ("low", (1.2, 0.1), (0, -0.55)), ("top", (1.2, 0.1), (0, 0.55)),
    ):  # fmt: skip
        world.add_body(
            ds.Rectangle(*size), name=name, fixed=True, position=at, restitution=1, friction=0
        )
    places = [(x, y) for x in (-0.3, 0.0, 0.3) for y in (-0.3, 0.0, 0.3)]
    for k, place in enumerate(places):
        world.add_body(
            ds.Disk(0.1), name=f"b{k}", mass=1.0, position=place, restitution=1, friction=0,
            velocity=5 * rng.normal(size=2),
        )  # fmt: skip
    sim, reports = stepped(world, 0.4, dt=0.2)
    start = reports[0].energy.total - reports[0].energy.change
    assert kinds(reports).count("impact") > 60
    assert sim.report.energy.total == pytest.approx(start, rel=1e-8), "no impact loses energy"
    assert max(r.penetration for r in reports) < 1e-9
    assert not any(r.log for r in reports), "no guard acts"


def test_many_impacts_at_one_instant_are_one_event():
    """Twelve equal balls fall on the floor side by side: simultaneous, and resolved at once."""
    world = ds.World(planar=True)
    world.add_ground(restitution=0.5, friction=0)
    for k in range(12):
        world.add_body(
            ds.Disk(0.1), name=f"b{k}", mass=1.0, position=(0.3 * k, 0.6), restitution=0.5,
            friction=0,
        )  # fmt: skip
    sim, reports = stepped(world, 0.35, dt=0.35)
    hits = [event for event in reports[0].events if event.kind == "impact"]
    assert len({round(event.time, 12) for event in hits}) == 1
    assert sum(len(event.names) for event in hits) == 12
    t = np.sqrt(2 * 0.5 / G)
    left = 0.35 - t
    height = 0.1 + 0.5 * G * t * left - 0.5 * G * left**2
    assert sim.state.position[1:, 1] == pytest.approx(np.full(12, height), abs=1e-10)


def test_a_disk_that_grazes_many_posts_touches_those_it_must():
    """Posts whose tops alternately reach 1e-6 into its path and stay 1e-6 below it."""
    world = ds.World(planar=True, gravity=(0, 0))
    for k in range(8):
        top = 1e-6 if k % 2 else -1e-6
        world.add_body(
            ds.Disk(0.1), name=f"post{k}", fixed=True, position=(0.5 * (k + 1), -0.2 + top),
            friction=0, restitution=0,
        )  # fmt: skip
    world.add_body(
        ds.Disk(0.1), name="d", mass=1.0, position=(0, 0.0), velocity=(1.0, 0.0), friction=0
    )
    sim, reports = stepped(world, 1.0)
    touched = {n for r in reports for e in r.events for n in e.names if "post" in n}
    assert any("post1" in name for name in touched), "the first that reaches into its path"
    assert not any("post0" in name for name in touched)
    assert sim.body("d").velocity[1] > 0.0
    assert max(r.penetration for r in reports) < 1e-9


def test_sliding_stops_and_starts_with_a_shaken_table_without_end():
    """Stick and slip alternate twice a period; each is an event, and no more than those."""
    world = ds.World(planar=True)
    shake = ds.Oscillation(direction=(1, 0), amplitude=0.05, frequency=2.0)
    world.add_body(
        ds.Rectangle(2, 0.2), name="table", position=(0, -0.1), motion=shake, friction=0.3
    )
    world.add_body(
        ds.Rectangle(0.4, 0.2), name="block", density=100, position=(0, 0.1), friction=0.3
    )
    _, reports = stepped(world, 2.0)
    found = kinds(reports)
    assert 8 <= found.count("slip") + found.count("stick") <= 40
    assert all(r.ok for r in reports)
