"""Phases with friction and joints: who sticks, who slides, who lets go, and when."""

import numpy as np
import pytest

import drystone as ds
from drystone.errors import OptionError
from drystone.scenes.base import rough

G = 9.81


def run(world, duration, dt=0.05, **options):
    sim = ds.Simulation(world, method=ds.EventDriven(dt=dt, **options))
    reports = []
    while sim.time < duration - 1e-9:
        reports.append(sim.step())
    return sim, reports


def events(reports, kind):
    return [e for r in reports for e in r.events if e.kind == kind]


def test_a_sliding_block_stops_at_its_time_and_place():
    mu, speed = 0.4, 2.0
    world = ds.World(planar=True)
    world.add_ground(friction=mu)
    world.add_body(
        ds.Rectangle(1, 0.5), name="b", density=1, position=(0, 0.25), velocity=(speed, 0),
        friction=mu,
    )  # fmt: skip
    sim, reports = run(world, 0.7)
    (stop,) = events(reports, "stick")
    assert stop.time == pytest.approx(speed / (mu * G), abs=1e-9)
    assert len(stop.names) == 2, "both corners at once"
    assert sim.body("b").position == pytest.approx([speed**2 / (2 * mu * G), 0.25], abs=1e-9)
    assert sum(r.energy.friction for r in reports) == pytest.approx(-0.5 * 0.5 * speed**2, abs=1e-9)
    assert set(sim.contacts["state"]) == {"stick"}


def test_a_growing_pull_makes_a_block_slip_when_static_friction_ends():
    """F = k t passes mu_s m g at t1; then a = (k t - mu_d m g) / m."""
    static, dynamic, rate, mass = 0.5, 0.3, 10.0, 2.0

    def pull(model, state):
        return np.array([[0.0, 0.0, 0.0], [rate * state.time, 0.0, 0.0]])

    world = ds.World(planar=True)
    world.add_ground(friction=(static, dynamic))
    world.add_body(
        ds.Rectangle(1, 0.1), name="b", mass=mass, inertia=1.0, position=(0, 0.05),
        friction=(static, dynamic),
    )  # fmt: skip
    world.add_force(ds.Callback(pull))
    sim, reports = run(world, 1.5, rtol=1e-9, atol=1e-11)
    begin = static * mass * G / rate
    # a corner alone may reach its bound before: then the other bears more
    assert events(reports, "slip")[-1].time == pytest.approx(begin, abs=1e-6)
    t = 1.5
    speed = (0.5 * rate * (t**2 - begin**2) - dynamic * mass * G * (t - begin)) / mass
    assert sim.body("b").velocity[0] == pytest.approx(speed, abs=1e-6)


def test_a_disk_leaves_the_dome_it_rolls_off():
    """Without friction a small mass leaves a dome at cos = 2 / 3 of its first height."""
    world = ds.World(planar=True)
    world.add_body(ds.Disk(1.0), name="dome", fixed=True, position=(0, 0), friction=0)
    tilt, reach = 0.1, 1.05
    world.add_body(
        ds.Disk(0.05), name="ball", mass=1.0, friction=0,
        position=(reach * np.sin(tilt), reach * np.cos(tilt)),
    )  # fmt: skip
    sim, reports = run(world, 1.3, rtol=1e-9, atol=1e-11)
    (leave,) = events(reports, "release")
    world_at = ds.Simulation(sim.world, method=ds.EventDriven(dt=leave.time, rtol=1e-9, atol=1e-11))
    world_at.step()
    x, y = world_at.body("ball").position
    assert y / np.hypot(x, y) == pytest.approx(2 / 3 * np.cos(tilt), abs=1e-7)
    assert np.hypot(x, y) == pytest.approx(reach, abs=1e-9)
    assert np.hypot(*sim.body("ball").position) > reach + 0.01


def test_a_box_slides_spins_and_stops_in_space_without_gaining_energy():
    world = ds.World()
    world.add_ground(friction=0.3)
    world.add_body(
        ds.Box(0.4, 0.3, 0.1), name="b", density=1000, position=(0, 0, 0.05), friction=0.3,
        velocity=(0.5, 0.15, 0), angular_velocity=(0, 0, 1.5),
    )  # fmt: skip
    sim, reports = run(world, 0.3, rtol=1e-6, atol=1e-8)
    assert np.abs(sim.state.velocity[1]).max() < 1e-9
    assert max(r.energy.change for r in reports) < 1e-9
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-6
    assert max(r.penetration for r in reports) < 1e-9
    assert events(reports, "stick")


def test_a_jammed_rod_is_stopped_by_an_impulse_and_goes_on():
    """No forces exist; the tip stops at once (Baraff 1992, 13.1) and the run goes on."""
    turn, radius, mu = np.deg2rad(72), 0.01, 0.77
    world = ds.World(planar=True)
    world.add_ground(friction=mu)
    world.add_body(
        ds.Capsule2D(2.0, radius), name="rod", mass=1.0, inertia=1 / 16, orientation=turn,
        position=(0, np.sin(turn) + radius), velocity=(-0.5, 0), friction=mu,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.01))
    (way,) = sim.solutions()
    assert way.kind == "impulse"
    report = sim.step()
    (jam,) = [e for e in report.events if e.kind == "jam"]
    assert jam.time == 0.0
    assert jam.energy < 0
    assert any("no forces exist" in line for line in report.log)
    assert report.ok
    assert sim.contacts["state"].tolist() == ["stick"]
    assert sim.contacts["impulse"][0, 1] > 0


def test_solutions_are_a_question_for_this_method():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(1), name="d", density=1)
    with pytest.raises(OptionError, match="EventDriven"):
        ds.Simulation(world).solutions()


def test_a_pin_stops_at_its_limit():
    limit = 0.5
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0))
    world.add_joint(ds.Pin("a", "world", anchor=(0, 0), limits=(-limit, limit)))
    sim, reports = run(world, 1.0)
    assert sim.body("a").orientation == pytest.approx(-limit, abs=1e-9)
    (hit,) = events(reports, "limit")
    drop = 0.5 * G * np.sin(limit)  # all of it is lost
    assert hit.energy == pytest.approx(-drop, rel=1e-6)
    torque = abs(sim.joints["torque"][0, 0])
    assert torque == pytest.approx(0.5 * G * np.cos(limit), rel=1e-6)


def test_a_motor_reaches_its_speed_and_friction_its_rest():
    def arm(**joint):
        world = ds.World(planar=True, gravity=(0, 0))
        spin = joint.pop("spin", 0.0)
        world.add_body(
            ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0),
            velocity=(0, 0.5 * spin), angular_velocity=spin,
        )  # fmt: skip
        world.add_joint(ds.Pin("a", "world", anchor=(0, 0), **joint))
        return world

    sim, reports = run(arm(motor=ds.Motor(speed=2.0, max_force=1.0)), 1.0)
    (held,) = events(reports, "stick")
    assert held.time == pytest.approx(2.0 / 3.0, abs=1e-9)
    assert sim.body("a").angular_velocity == pytest.approx(2.0, abs=1e-9)
    assert sum(r.energy.loads for r in reports) == pytest.approx(2.0 / 3.0, abs=1e-9)
    sim, reports = run(arm(friction=0.2, spin=1.0), 2.0)
    assert sim.body("a").orientation == pytest.approx(1 / 1.2, abs=1e-9)
    assert sim.body("a").angular_velocity == pytest.approx(0, abs=1e-12)


def test_a_joint_breaks_under_its_load():
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(1, 0.1), name="a", mass=1, inertia=1 / 12, position=(0.5, 0))
    joint = ds.Pin("a", "world", anchor=(0, 0), breaks_at=12.0)
    world.add_joint(joint)
    sim, reports = run(world, 1.0)
    assert [r.broken for r in reports if r.broken] == [("joint0",)]
    assert sim.body("a").position[1] < -1.0


def test_joints_that_motions_drive_apart_end_with_a_message():
    world = ds.World(planar=True)
    away = ds.ConstantVelocity(velocity=(1.0, 0.0))
    world.add_body(ds.Disk(0.1), name="goes", position=(1, 0), motion=away)
    world.add_body(ds.Disk(0.1), name="stays", fixed=True, position=(-1, 0))
    world.add_body(ds.Rectangle(2, 0.1), name="rod", mass=1, inertia=1, position=(0, 0))
    world.add_joint(ds.Pin("rod", "goes", anchor=(1, 0)))
    world.add_joint(ds.Pin("rod", "stays", anchor=(-1, 0)))
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    with pytest.raises(ds.SimulationError, match=r"is open by .* between 'rod' and"):
        sim.run(0.5)


def test_the_world_may_be_edited_between_frames():
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    world.add_body(ds.Rectangle(0.4, 0.2), name="a", density=10, position=(0, 0.1), friction=0.5)
    sim = ds.Simulation(world, method="event-driven")
    sim.step()
    world.add_body(ds.Rectangle(0.4, 0.2), name="b", density=10, position=(0, 0.3), friction=0.5)
    sim.body("a").velocity = (0.0, 0.0)
    report = sim.step()
    assert report.ok
    assert report.contacts == 4
    assert np.abs(sim.contacts["force"][:, 1]).sum() == pytest.approx(3 * 0.8 * G, rel=1e-9)


@pytest.mark.parametrize("method", ["lemke", "qp-signs", "lotstedt", "jacobi"])
def test_every_method_of_forces_moves_a_block_alike(method):
    def final(forces):
        world = ds.World(planar=True, gravity=(2.0, -G))
        world.add_ground(friction=0.1)
        world.add_body(ds.Rectangle(1, 0.2), name="b", density=1, position=(0, 0.1), friction=0.1)
        sim, reports = run(world, 0.2, contact_forces=forces)
        return sim.body("b").position, reports

    place, reports = final(method)
    assert place == pytest.approx(final("dantzig")[0], abs=1e-8)
    assert reports[-1].methods == ("dop853", method)


def test_stacked_bricks_reuse_their_index_set():
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(4):
        world.add_body(
            ds.Rectangle(0.3, 0.2), name=f"b{k}", density=100, position=(0.03 * k, 0.1 + 0.2 * k),
            friction=0.5,
        )  # fmt: skip
    sim, reports = run(world, 0.3)
    assert all(r.reuse == 1.0 for r in reports)
    assert np.abs(sim.state.velocity).max() < 1e-9


@pytest.mark.parametrize("frames", [0, 1, 2, 3])
def test_bodies_at_rest_that_somebody_moves(frames):
    """Whether they sleep, are about to, or were not looked at yet: by Coulomb's and Galilei's
    laws from the frame on in which they were moved."""
    h, g, mu = 1 / 60, 9.81, 0.4

    def rested():
        world = ds.World(planar=True, gravity=(0, -g))
        world.add_ground(friction=mu)
        world.add_body(ds.Rectangle(0.2, 0.1), name="brick", position=(0, 0.05), friction=mu)
        sim = ds.Simulation(world, ds.EventDriven(dt=h))
        for _ in range(frames):
            sim.step()
        return sim, sim.body("brick")

    sim, brick = rested()
    brick.velocity = (1.0, 0.0)
    sim.step()
    assert brick.velocity == pytest.approx([1.0 - mu * g * h, 0.0], abs=1e-8)
    assert brick.position == pytest.approx([h - 0.5 * mu * g * h**2, 0.05], abs=1e-8)
    sim, brick = rested()
    brick.position = (0.0, 1.0)
    sim.step()
    sim.step()
    assert brick.position == pytest.approx([0.0, 1.0 - 2 * g * h**2], abs=1e-8)


def test_blocks_on_two_corners_do_not_give_way_corner_by_corner():
    """The lowest block of a magazine is pushed out under seven others, which stick to each other
    on two corners each; corner by corner there were sixty slips in one frame."""
    scene = ds.scene("block-feeder")
    sim = scene.simulation(rough())
    reports = []
    while sim.time < 0.75:
        reports.append(sim.step())
    assert len(events(reports, "slip")) < 40
    assert max(r.penetration for r in reports) <= 1e-9
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-3


def test_what_parts_slowly_is_not_brought_back_onto_what_comes_slowly():
    """A brick turns into its neighbour on an overlap of a tenth of a millimetre: one end of it
    presses while the other comes at 0.3 mm/s, below the speed of rest, three thousand times."""
    sim = ds.scene("destructive-chain").simulation(rough())
    reports = []
    while sim.time < 0.68:
        reports.append(sim.step())
    assert len(events(reports, "impact")) < 200
    assert max(r.penetration for r in reports) <= 1e-9
