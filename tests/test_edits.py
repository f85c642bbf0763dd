"""Bodies in each other: refused or moved apart, at the start and after edits of a running world."""

import numpy as np
import pytest

import drystone as ds

METHODS = {
    "time-stepping": lambda **o: ds.TimeStepping(dt=0.01, **o),
    "order 2": lambda **o: ds.TimeStepping(dt=0.01, order=2, **o),
    "event-driven": lambda **o: ds.EventDriven(dt=0.01, **o),
}


def cube(planar, size=0.2):
    return ds.Rectangle(size, size) if planar else ds.Box(size, size, size)


def at(planar, x, z):
    return (x, z) if planar else (x, 0.0, z)


def floor_and_cube(planar=False, method=None):
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    world.add_body(cube(planar), name="a", density=1000, position=at(planar, 0, 0.1))
    return world, ds.Simulation(world, method or ds.TimeStepping(dt=0.01))


@pytest.mark.parametrize("kind", list(METHODS))
@pytest.mark.parametrize("planar", [True, False])
def test_a_body_that_is_added_inside_another_is_refused_until_it_is_mended(planar, kind):
    world, sim = floor_and_cube(planar, METHODS[kind]())
    sim.run(0.05)
    world.add_body(cube(planar), name="b", density=1000, position=at(planar, 0.15, 0.1))
    for go_on in (sim.step, lambda: sim.run(0.1), sim.step):
        with pytest.raises(ds.ModelError, match=r"bodies 'a' and 'b' overlap by 0\.05 m after"):
            go_on()
    assert sim.time == pytest.approx(0.05)
    assert sim.body("a").position == pytest.approx(at(planar, 0, 0.1), abs=1e-9)
    sim.body("b").position = at(planar, 0.5, 0.1)
    sim.run(0.05)
    assert sim.time == pytest.approx(0.1)
    assert np.abs(sim.state.velocity).max() < 1e-6


@pytest.mark.parametrize("kind", list(METHODS))
def test_a_body_with_a_larger_shape_is_looked_at_too(kind):
    """A body is resized by describing it anew under its name."""
    world, sim = floor_and_cube(True, METHODS[kind]())
    sim.run(0.02)
    world.remove_body("a")
    world.add_body(cube(True, 0.3), name="a", density=1000, position=(0, 0.1))
    with pytest.raises(ds.ModelError, match=r"overlap by 0\.05 m after an edit at t = 0\.02 s"):
        sim.step()
    sim.body("a").position = (0, 0.15)
    sim.step()


def test_it_can_be_taken_away_again():
    world, sim = floor_and_cube()
    world.add_body(cube(False), name="b", density=1000, position=(0.05, 0, 0.1))
    with pytest.raises(ds.ModelError, match="overlap"):
        sim.step()
    world.remove_body("b")
    sim.step()
    assert sim.bodies == ("ground", "a")


@pytest.mark.parametrize("kind", list(METHODS))
def test_a_body_that_is_moved_or_turned_into_another_is_refused(kind):
    world, sim = floor_and_cube(True, METHODS[kind]())
    sim.step()
    sim.body("a").position = (0, 0.08)
    with pytest.raises(ds.ModelError, match=r"'a' and 'ground'|'ground' and 'a'"):
        sim.step()
    sim.body("a").position = (0, 0.1)
    sim.step()
    sim.body("a").orientation = 0.3
    with pytest.raises(ds.ModelError, match="overlap"):
        sim.step()
    sim.body("a").position = (0, 0.2)
    sim.step()
    assert len(world) == 2


def test_bodies_may_change_places_between_two_steps():
    world, sim = floor_and_cube(True)
    world.add_body(cube(True), name="b", density=1000, position=(1, 0.1))
    sim.step()
    a, b = sim.body("a").position, sim.body("b").position
    sim.body("a").position, sim.body("b").position = b, a
    sim.run(0.1)
    assert sim.summary.ok


def test_what_steps_left_in_each_other_is_no_fault_of_an_edit():
    """A ball that tunnelled half into the floor stays the method's affair."""
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.13), velocity=(0, -5))
    method = ds.TimeStepping(dt=0.01, stabilize=False, active_gap=1e-9)
    sim = ds.Simulation(world, method)
    sim.step()
    assert sim.penetration > 0.01
    world.add_body(ds.Disk(0.1), name="other", position=(1, 0.1))
    sim.step()
    assert "other" in sim.bodies


@pytest.mark.parametrize("kind", list(METHODS))
@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("depth", [0.05, 0.002])
def test_allowed_overlaps_are_moved_apart_without_velocity(planar, kind, depth):
    """A tower of cubes in each other: they end on each other, as high as they are, at rest."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    for k in range(3):
        z = 0.1 - depth + k * (0.2 - depth)
        world.add_body(cube(planar), name=f"c{k}", density=1000, position=at(planar, 0, z))
    sim = ds.Simulation(world, METHODS[kind](overlap="allow"))
    for _ in range(10):
        sim.step()
        assert np.abs(sim.state.velocity).max() < 1e-6
    for k in range(3):
        where = at(planar, 0, 0.1 + 0.2 * k)
        assert sim.body(f"c{k}").position == pytest.approx(where, abs=1e-8)
    assert sim.summary.ok


@pytest.mark.parametrize("mass", [1.0, 10.0])
def test_the_heavier_body_is_moved_less_and_velocities_stay(mass):
    """Two balls: each moves along the line of centres by its share of the depth, by 1 / m."""
    world = ds.World(gravity=(0, 0, 0))
    way = np.array([2.0, -1.0, 2.0]) / 3
    world.add_body(ds.Sphere(0.1), name="a", mass=1.0, position=(0, 0, 0), velocity=(0.3, 0, 0),
                   angular_velocity=(0, 1, 0))  # fmt: skip
    world.add_body(ds.Sphere(0.1), name="b", mass=mass, position=tuple(0.14 * way))
    sim = ds.Simulation(world, ds.TimeStepping(overlap="allow"))
    assert sim.body("a").position == pytest.approx(-0.06 * mass / (1 + mass) * way, abs=1e-9)
    assert sim.body("b").position == pytest.approx((0.14 + 0.06 / (1 + mass)) * way, abs=1e-9)
    assert sim.body("a").velocity == pytest.approx([0.3, 0, 0])
    assert sim.body("a").angular_velocity == pytest.approx([0, 1, 0])
    assert not sim.body("b").velocity.any()


def test_joints_stay_closed_where_jointed_bodies_are_moved():
    world = ds.World(planar=True)
    world.add_ground()
    for k in range(3):
        world.add_body(
            ds.Rectangle(0.4, 0.1), name=f"l{k}", density=100, position=(0.4 * k, 0.02 + 0.01 * k)
        )
    for k in range(2):
        world.add_joint(
            ds.Pin(f"l{k}", f"l{k + 1}", anchor_a=(0.2, 0), anchor_b=(-0.2, -0.01), name=f"p{k}")
        )
    sim = ds.Simulation(world, ds.TimeStepping(overlap="allow"))
    sim.run(0.2)
    assert sim.report.joint_error < 1e-8
    assert sim.penetration < 1e-8
    assert np.abs(sim.state.velocity).max() < 1e-3


def test_what_has_no_room_is_refused_by_name():
    world = ds.World(planar=True)
    for x in (-0.15, 0.15):
        world.add_body(ds.Rectangle(0.2, 2), name=f"wall{x}", fixed=True, position=(x, 0))
    world.add_body(ds.Rectangle(0.2, 0.2), name="box", density=100, position=(0, 0))
    with pytest.raises(ds.ModelError, match="no room to move them apart"):
        ds.Simulation(world, ds.TimeStepping(overlap="allow"))


@pytest.mark.parametrize("kind", ["time-stepping", "event-driven"])
def test_a_body_that_is_added_inside_another_is_moved_out_where_that_is_allowed(kind):
    world, sim = floor_and_cube(False, METHODS[kind](overlap="allow"))
    sim.run(0.05)
    world.add_body(cube(False), name="b", density=1000, position=(0, 0, 0.25))
    sim.run(0.05)
    assert sim.body("a").position == pytest.approx([0, 0, 0.1], abs=1e-8)
    assert sim.body("b").position == pytest.approx([0, 0, 0.3], abs=1e-8)
    assert np.abs(sim.state.velocity).max() < 1e-6


def test_a_copy_and_a_reset_start_from_where_bodies_were_moved():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.05))
    sim = ds.Simulation(world, ds.TimeStepping(overlap="allow"))
    start = sim.state.position.copy()
    assert start[1, 1] == pytest.approx(0.1, abs=1e-9)
    sim.run(0.1)
    sim.reset()
    assert (sim.state.position == start).all()


def test_springs_take_any_overlap():
    """The penalty method's depth is a force: nothing is refused, and nothing is moved."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.1), name="a", density=1, position=(0, 0))
    sim = ds.Simulation(world, ds.Penalty(stiffness=1e3))
    sim.step()
    world.add_body(ds.Disk(0.1), name="b", density=1, position=(0.15, 0))
    sim.step()
    assert sim.body("a").velocity[0] < 0 < sim.body("b").velocity[0]
