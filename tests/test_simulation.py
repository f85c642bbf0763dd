"""Simulation: what a user does with a running world."""

import math
import warnings

import numpy as np
import pytest

import drystone as ds
from drystone.errors import IgnoredWarning


def world(planar=False):
    out = ds.World(planar=planar)
    out.add_ground(friction=0.6)
    if planar:
        out.add_body(ds.Rectangle(0.4, 0.2), name="b", position=(0, 0.1))
    else:
        out.add_body(ds.Box(0.4, 0.3, 0.2), name="b", position=(0, 0, 0.1))
    return out


def test_what_it_takes():
    with pytest.raises(ds.OptionError, match=r"needs a ds\.World, not str"):
        ds.Simulation("scene")
    with pytest.raises(ds.OptionError, match="unknown method 'magic'"):
        ds.Simulation(world(), "magic")
    with pytest.raises(ds.OptionError, match="method = 3"):
        ds.Simulation(world(), 3)
    assert ds.Simulation(world(), "time-stepping").method == ds.TimeStepping()


def test_stages_are_timed_when_asked_for_to_the_same_bits():
    plain, timed = (ds.Simulation(world(), ds.TimeStepping(dt=0.1)) for _ in range(2))
    timed.profile = True
    assert not plain.profile
    for sim in (plain, timed):
        sim.run(2.0)
    assert plain.report.seconds == {}
    assert set(timed.report.seconds) >= {"forces", "contacts", "rows", "solve", "drift"}
    assert np.array_equal(plain.state.position, timed.state.position)
    assert np.array_equal(plain.state.velocity, timed.state.velocity)


def test_steps_and_time():
    sim = ds.Simulation(world(), ds.TimeStepping(dt=0.1))
    assert sim.report is None
    assert len(sim.contacts) == 0
    assert sim.problem() is None
    report = sim.step()
    assert report is sim.report
    assert report.time == sim.time == 0.1
    sim.run(0.9)
    assert sim.time == 10 * 0.1, "multiples of dt, not sums"
    with pytest.raises(ds.OptionError, match="duration = -1"):
        sim.run(-1)
    with pytest.raises(ds.OptionError, match=r"record = 3"):
        sim.run(1, record=3)
    with pytest.raises(ds.OptionError, match="every = 0"):
        sim.run(1, record=True, every=0)


def test_recording_and_callback():
    sim = ds.Simulation(world())
    kept = sim.run(0.5, record=True, every=10)
    assert len(kept) == 13
    assert np.allclose(np.diff(kept.time), 10 / 240)
    assert kept.position.shape == (13, 2, 3)
    assert kept.orientation.shape == (13, 2, 4)
    assert kept.velocity.shape == (13, 2, 6)
    assert kept.series("contacts").tolist() == [4] * 12
    assert kept.series("friction").shape == kept.series("dissipation").shape == (12,)
    assert kept.state(0).time == 0
    with pytest.raises(AttributeError, match="no 'colour'"):
        kept.series("colour")
    seen = []

    def watch(sim):
        seen.append(sim.time)
        return len(seen) < 5

    assert sim.run(1.0, callback=watch) is None
    assert len(seen) == 5, "False stops the run"


@pytest.mark.parametrize("planar", [True, False])
def test_views_read_and_write(planar):
    sim = ds.Simulation(world(planar))
    body = sim.body("b")
    up = (0.0, 1.0) if planar else (0.0, 0.0, 1.0)
    body.position = np.array(up)
    body.velocity = 2 * np.array(up)
    body.angular_velocity = 3.0 if planar else (0, 0, 3.0)
    body.orientation = 0.5 if planar else (math.cos(0.25), 0, 0, math.sin(0.25))
    assert np.allclose(body.position, up)
    assert np.allclose(body.velocity, 2 * np.array(up))
    sim.step()
    h = 1 / 240
    assert np.allclose(body.position[-1], 1 + h * (2 - 9.81 * h))
    if planar:
        assert np.isclose(body.orientation, 0.5 + 3 * h)
    else:
        assert np.allclose(body.orientation[3], math.sin(0.25 + 1.5 * h))
    assert np.allclose(body.angular_velocity, 3.0 if planar else (0, 0, 3))
    assert body.mass > 0
    assert "'b'" in repr(body)


def test_views_speak_of_the_bodys_own_frame():
    """A body whose centre of mass is 0.5 m from its origin, turned by 90 degrees."""
    out = ds.World(gravity=(0, 0, 0))
    half = math.sqrt(0.5)
    out.add_body(
        [(ds.Sphere(0.1), (0.5, 0, 0), (1, 0, 0, 0))], name="s", position=(1, 0, 0),
        orientation=(half, 0, 0, half), angular_velocity=(0, 0, 2.0),
    )  # fmt: skip
    sim = ds.Simulation(out)
    body = sim.body("s")
    assert np.allclose(body.centre_of_mass, [1, 0.5, 0])
    assert np.allclose(body.position, [1, 0, 0])
    assert np.allclose(body.velocity, 0, atol=1e-15), "the origin is at rest, the centre is not"
    assert np.allclose(sim.state.velocity[0, :3], [-1.0, 0, 0])
    body.angular_velocity = (0, 0, 4.0)
    assert np.allclose(sim.state.velocity[0, :3], [-2.0, 0, 0]), "spun about the origin"
    body.orientation = (1, 0, 0, 0)
    assert np.allclose(body.centre_of_mass, [1.5, 0, 0])
    assert np.allclose(body.position, [1, 0, 0])


def test_views_refuse_what_makes_no_sense():
    out = world()
    out.add_body(
        ds.Sphere(0.1), name="k", position=(5, 0, 1), motion=ds.ConstantVelocity((1, 0, 0))
    )
    sim = ds.Simulation(out)
    with pytest.raises(ds.ModelError, match="body 'ground': velocity cannot be set: it is fixed"):
        sim.body("ground").velocity = (1, 0, 0)
    with pytest.raises(ds.ModelError, match="body 'k': position cannot be set: its motion"):
        sim.body("k").position = (1, 0, 0)
    with pytest.raises(ds.ModelError, match=r"body 'b'.*position"):
        sim.body("b").position = (1, math.nan, 0)
    with pytest.raises(ds.ModelError, match=r"body 'b'.*velocity"):
        sim.body("b").velocity = (1, 0)
    with pytest.raises(ds.ModelError, match="no body 'c'"):
        sim.body("c")


def test_contacts_hold_the_weight():
    sim = ds.Simulation(world())
    sim.run(0.1)
    table = sim.contacts
    assert len(table) == 4
    assert set(map(frozenset, table["bodies"])) == {frozenset({"b", "ground"})}
    sign = np.where(table["bodies"][:, 0] == "b", 1.0, -1.0)
    weight = 9.81 * sim.body("b").mass
    assert np.allclose((sign[:, None] * table["force"]).sum(axis=0), [0, 0, weight], rtol=1e-6)
    assert np.allclose(sign[:, None] * table["normal"], [0, 0, 1])
    assert np.allclose(table["force"] / 240, table["impulse"])
    corners = np.abs(table["point"]) - [0.2, 0.15, 0]
    assert np.abs(corners).max() < 1e-6
    assert np.abs(table["gap"]).max() < 1e-8
    assert np.abs(table["velocity"]).max() < 1e-8
    assert set(table["state"]) == {"stick"}
    assert np.allclose(table["friction"], np.sqrt(0.6 * 0.5))


def test_editing_the_world_between_steps():
    scene = world()
    sim = ds.Simulation(scene)
    sim.run(0.1)
    start = sim.body("b").position
    scene.add_body(ds.Sphere(0.1), name="ball", position=(0, 0, 1.0))
    assert np.allclose(sim.body("b").position, start), "what was there goes on as it was"
    sim.run(1.0)
    assert np.isclose(sim.body("ball").position[2], 0.3, atol=1e-6), "it landed on the box"
    assert sim.time == pytest.approx(1.1)
    scene.remove_body("b")
    assert sim.bodies == ("ground", "ball")
    sim.run(1.0)
    assert np.isclose(sim.body("ball").position[2], 0.1, atol=1e-6), "and fell when it went"
    scene.gravity = (0, 0, 1.0)
    sim.run(0.5)
    assert sim.body("ball").velocity[2] > 0.4


def test_a_recording_ends_where_bodies_change():
    scene = world()
    sim = ds.Simulation(scene)

    def edit(sim):
        if sim.time > 0.1 and "new" not in scene:
            scene.add_body(ds.Sphere(0.1), name="new", position=(3, 0, 1))

    with pytest.raises(ValueError, match="record each part"):
        sim.run(0.5, record=True, callback=edit)


def test_energy_and_depth_now():
    sim = ds.Simulation(world())
    kinetic, potential = sim.energy
    assert kinetic == 0
    assert np.isclose(potential, 0.1 * 9.81 * sim.body("b").mass)
    assert sim.penetration < 1e-9
    sim.body("b").position = (0, 0, 0.09)
    assert np.isclose(sim.penetration, 0.01)


def test_prescribed_bodies_are_where_their_motion_says():
    out = world()
    out.add_body(
        ds.Box(1, 1, 0.1), name="k", position=(5, 0, 1), motion=ds.Oscillation((0, 0, 1), 0.2, 1.0)
    )
    sim = ds.Simulation(out, ds.TimeStepping(dt=0.01))
    sim.run(1.3)
    assert np.isclose(sim.body("k").position[2], 1 + 0.2 * math.sin(2 * math.pi * 1.3), atol=1e-12)


def test_a_restitution_that_is_left_out_is_said():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), position=(0, 1), restitution=0.5)
    with pytest.warns(IgnoredWarning, match="restitution"):
        ds.Simulation(world)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.Simulation(world, ds.TimeStepping(restitution="newton"))
        ds.Simulation(world, ds.EventDriven())


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("method", ["time-stepping", "event-driven", "penalty"])
def test_worlds_without_bodies(method, planar, tmp_path):
    """From the start, and once all bodies are gone."""
    world = ds.World(planar=planar)
    sim = ds.Simulation(world, method)
    sim.run(0.1)
    world.add_body(ds.Disk(1.0) if planar else ds.Sphere(1.0), name="a")
    sim.run(0.1)
    world.remove_body("a")
    sim.run(0.1, record=tmp_path / "a.h5").close()
    end = ds.resume(tmp_path / "a.h5", until=sim.time + 0.1).time
    with ds.read_recording(tmp_path / "a.h5") as rec:
        assert rec.time[-1] == end
        assert rec.position.shape == (len(rec), 0, world.dim)
    assert sim.bodies == ()
    assert sim.energy == (0.0, 0.0)
    assert sim.penetration == 0.0
    assert len(sim.contacts) == 0
