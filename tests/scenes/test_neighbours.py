"""Every scene of the gallery beside its defaults: what must hold there needs no reference."""

import warnings
from functools import cache

import numpy as np
import pytest

import drystone as ds
from drystone.scenes.registry import SCENES
from tests.scenes.known_neighbours import KNOWN
from tests.scenes.neighbours import COUNT, RANGES, RESTING, Frame, neighbours, run, shortfalls
from tests.scenes.rebuilt import rebuilt

A_FEW = (
    "incline", "sliding-block", "mass-ratio", "wall", "card-house", "arch", "dominoes", "spheres",
    "hopper", "newton-cradle", "billiard-three", "ellipse-drop", "double-pendulum", "chain",
    "four-bar", "gripper", "geneva", "struck-block", "collapse",
)  # fmt: skip


@cache
def all_of(name, count=COUNT):
    return neighbours(name, count)


def check(neighbour):
    known = KNOWN.get(neighbour.name, {}).get(neighbour.number, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # sizes of kilometres among them
        found = shortfalls(neighbour)
    new = {name: value for name, value in found.items() if name not in known}
    assert new == {}, neighbour
    mended = set(known) - set(found)
    assert mended == set(), f"{neighbour}: holds now, take it off the list"


@pytest.mark.parametrize("name", A_FEW)
def test_a_neighbour_of_a_scene(name):
    check(all_of(name, 1)[0])


@pytest.mark.neighbours
@pytest.mark.parametrize("number", range(COUNT))
@pytest.mark.parametrize("name", SCENES)
def test_every_neighbour(name, number):
    check(all_of(name)[number])


def test_the_lists_speak_of_scenes_and_settings_that_there_are():
    assert set(RANGES) | set(RESTING) | set(KNOWN) <= set(SCENES)
    for name, ranges in RANGES.items():
        assert set(ranges) <= set(SCENES[name].settings), name
    for name, known in KNOWN.items():
        assert all(0 <= number < COUNT for number in known), name


def test_neighbours_are_the_same_every_time():
    assert neighbours("arch", 3) == neighbours("arch", 3)
    assert neighbours("arch", 3) == neighbours("arch", 5)[:3]
    assert len({str(n.settings) for n in all_of("arch", 3)}) == 3


def thrown(planar):
    world = ds.World(planar=planar)
    if planar:
        world.add_body(ds.Disk(0.1), name="a", position=(1, 2), velocity=(3, 4), angular_velocity=2)
    else:
        world.add_body(
            ds.Box(0.1, 0.2, 0.3), name="a", position=(1, 2, 3), velocity=(3, 4, 5),
            angular_velocity=(1, 2, 3), orientation=(1, 0.1, 0.2, 0.3),
        )  # fmt: skip
    return world


@pytest.mark.parametrize("planar", [True, False])
def test_a_thrown_body_in_other_frames_and_units(planar):
    """x(t) = x0 + v t + g t^2 / 2 in each, by hand."""
    world, dim = thrown(planar), 2 if planar else 3
    turn = 0.7 if planar else (0.5, 0.5, -0.5, 0.5)
    frame = Frame(dim, turn, shift=(1.0, 2.0, 3.0)[:dim], length=1000.0, time=2.0, mass=5.0)
    other = rebuilt(world, frame)
    sim = ds.Simulation(other, ds.TimeStepping(dt=0.02, order=2))
    for _ in range(10):
        sim.step()
    t, x, v = 0.1, np.array((1, 2, 3)[:dim], float), np.array((3, 4, 5)[:dim], float)
    g = np.array((0, 0, -9.81)[-dim:])
    expected = frame.point(x + v * t + 0.5 * g * t**2)
    np.testing.assert_allclose(sim.state.position[0], expected, rtol=1e-12)
    assert sim.body("a").mass == pytest.approx(5.0 * ds.Simulation(world).body("a").mass)


def test_what_falls_short_is_seen():
    """A tower that leans too far does not rest; one with another friction is not the same."""
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(1, 1, 4), position=(0, 0, 2.3), orientation=(1, 0, 0.2, 0))
    assert run(world, ds.TimeStepping(dt=1 / 60), 40).moved > 1e-3
