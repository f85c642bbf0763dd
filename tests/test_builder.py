"""Descriptions into arrays: frames, mass, geoms and rules against hand computations."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.builder.arrays import carry_over
from drystone.dynamics.frames import frame_position, frame_velocity
from drystone.dynamics.motions import ConstantVelocity, MotionFunction, Oscillation
from drystone.geometry.shapes import (
    Box,
    Capsule,
    Compound,
    Disk,
    HalfPlane,
    Polygon,
    Rectangle,
    Sphere,
)
from drystone.kernels import kinds
from drystone.world import World

thorough = settings(deadline=None, derandomize=True, max_examples=60)
TRIANGLE = Polygon([(0, 0), (3, 0), (0, 3)])  # centre of mass (1, 1)


def corners(model, g):
    """Vertices of a polygon geom, seen from its body's centre of mass."""
    geoms = model.geoms
    local = geoms.numbers[geoms.first[g] : geoms.first[g + 1]].reshape(-1, 2)
    return local @ geoms.turn[g].T + geoms.offset[g]


def test_frame_and_centre_of_mass_in_the_plane_by_hand():
    """Turned by 90 degrees, the centre (1, 1) is at (-1, 1) from the frame's origin."""
    world = World(planar=True)
    world.add_body(
        TRIANGLE, position=(5, 7), orientation=np.pi / 2, velocity=(1, 2), angular_velocity=3
    )
    model, state = world.build()
    assert np.allclose(model.centre, [[1, 1]])
    assert np.allclose(state.position, [[4, 8]])
    assert np.allclose(state.velocity, [[1 - 3, 2 - 3, 3]])
    assert np.allclose(state.orientation, [np.pi / 2])
    assert np.allclose(corners(model, 0), [(-1, -1), (2, -1), (-1, 2)]), "seen from the centre"


def test_frame_and_centre_of_mass_in_space_by_hand():
    """Turned by 90 degrees about z, the centre (0, 2, 0) is at (-2, 0, 0)."""
    world = World()
    half = np.sqrt(0.5)
    world.add_body(
        Compound([(Box(1, 1, 1), (0, 2, 0))]),
        position=(1, 1, 1),
        orientation=(half, 0, 0, half),
        velocity=(0, 0, 5),
        angular_velocity=(0, 3, 0),
    )
    model, state = world.build()
    assert np.allclose(state.position, [[-1, 1, 1]])
    assert np.allclose(state.velocity, [[0, 0, 5 + 6, 0, 3, 0]])
    assert np.allclose(model.geoms.offset, 0, atol=1e-15)


@pytest.mark.parametrize("dim", [2, 3])
@thorough
@given(seed=st.integers(0, 2**32 - 1))
def test_world_points_of_a_body_do_not_depend_on_its_centre(dim, seed):
    """A point of the body, and its velocity, from the user's numbers and from the arrays."""
    rng = np.random.default_rng(seed)
    place, centre, point, v = (rng.normal(size=dim) for _ in range(4))
    turn = rng.normal(size=3) * ([0, 0, 1] if dim == 2 else 1)
    spin = rng.normal(size=3) * ([0, 0, 1] if dim == 2 else 1)
    R = Rotation.from_rotvec(turn)
    world = World(planar=dim == 2)
    world.add_body(
        mass=1,
        inertia=1 if dim == 2 else (1, 1, 1),
        centre_of_mass=centre,
        position=place,
        orientation=turn[2] if dim == 2 else R.as_quat(scalar_first=True),
        velocity=v,
        angular_velocity=spin[2] if dim == 2 else spin,
    )
    model, state = world.build()
    full = R.as_matrix()[:dim, :dim]
    cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
    cross = cross[:dim, :dim]
    arm = full @ (point - centre)
    assert np.allclose(place + full @ point, state.position[0] + arm, atol=1e-13)
    linear = state.velocity[0, :dim]
    assert np.allclose(v + cross @ full @ point, linear + cross @ arm, atol=1e-12)
    assert np.allclose(frame_position(model, state)[0], place, atol=1e-13)
    assert np.allclose(frame_velocity(model, state)[0, :dim], v, atol=1e-12)
    assert np.array_equal(frame_velocity(model, state)[0, dim:], state.velocity[0, dim:])


def test_positions_stay_to_the_bit_when_the_centre_is_the_frame():
    world = World()
    world.add_body(Box(1, 2, 3), position=(0.1, 0.2, 0.3), velocity=(0.7, 0, 0))
    _, state = world.build()
    assert state.position.tolist() == [[0.1, 0.2, 0.3]]
    assert state.velocity.tolist() == [[0.7, 0, 0, 0, 0, 0]]


def test_mass_from_density_and_from_mass():
    world = World()
    world.add_body(Sphere(0.5), name="default")
    world.add_body(Sphere(0.5), name="dense", density=3000)
    world.add_body(Sphere(0.5), name="given", mass=2)
    world.add_body(Sphere(0.5), name="shell", mass=2, inertia=(1 / 3, 1 / 3, 1 / 3))
    model, _ = world.build()
    volume = 4 / 3 * np.pi * 0.125
    assert np.allclose(model.mass, [1000 * volume, 3000 * volume, 2, 2])
    moments = np.array([0.4, 0.4, 0.4, 2 / 3]) * model.mass * 0.25
    assert np.allclose(model.inertia, moments[:, None, None] * np.eye(3))
    assert np.allclose(model.inverse_mass * model.mass, 1)
    assert np.allclose(model.inverse_inertia @ model.inertia, np.eye(3))
    assert world.total_mass == pytest.approx(4000 * volume + 4)


def test_inertia_in_any_frame():
    """Principal moments along x, y, z of a frame turned by 90 degrees about z: x and y swap."""
    world = World()
    half = np.sqrt(0.5)
    world.add_body(name="turned", mass=1, inertia=(1, 2, 2.5), inertia_frame=(half, 0, 0, half))
    full = Rotation.from_rotvec([0.3, -0.2, 0.9])
    tensor = full.as_matrix() @ np.diag([1, 2, 2.5]) @ full.as_matrix().T
    world.add_body(name="full", mass=1, inertia=tensor)
    world.add_body(
        name="same", mass=1, inertia=(1, 2, 2.5), inertia_frame=full.as_quat(scalar_first=True)
    )
    model, _ = world.build()
    assert np.allclose(model.inertia[0], np.diag([2, 1, 2.5]))
    assert np.allclose(model.inertia[1], tensor)
    assert np.allclose(model.inertia[2], tensor)
    assert np.array_equal(model.inverse_inertia, model.inverse_inertia.transpose(0, 2, 1))


def test_bodies_that_do_not_fall_have_no_inverse_mass_and_keep_their_frame():
    world = World(planar=True)
    world.add_body(TRIANGLE, name="fixed", fixed=True, position=(1, 2), orientation=0.3)
    world.add_body(TRIANGLE, name="moved", motion=ConstantVelocity((1, 0), 2.0), position=(3, 4))
    world.add_body(TRIANGLE, name="free")
    model, state = world.build(time=2.0)
    assert model.mass[:2].tolist() == [0, 0]
    assert model.inverse_inertia[:2].tolist() == [0, 0]
    assert model.inverse_mass[2] > 0
    assert state.position[:2].tolist() == [[1, 2], [5, 4]]
    assert state.velocity[1].tolist() == [1, 0, 2]
    assert state.orientation[:2].tolist() == [0.3, 4.0]
    assert [i for i, _ in model.motions] == [1]
    for g, origin in enumerate([(0, 0), (0, 0), (1, 1)]):
        assert np.allclose(corners(model, g), np.subtract([(0, 0), (3, 0), (0, 3)], origin))
    assert state.time == 2.0


def test_a_motion_function_places_its_body():
    world = World()
    world.add_body(Box(1, 1, 1), motion=MotionFunction(lambda t: ((t, 1, 2), (0, 2, 0, 0))))
    _, state = world.build(time=3.0)
    assert state.position.tolist() == [[3, 1, 2]]
    assert state.orientation.tolist() == [[0, 1, 0, 0]], "made a unit quaternion"
    assert np.allclose(state.velocity, [[1, 0, 0, 0, 0, 0]], atol=1e-8)


def test_geoms_are_laid_out_as_the_kinds_say():
    world = World(planar=True)
    world.add_ground()
    world.add_body([(Disk(0.5), (0, 1)), Rectangle(2, 1)], name="both", mass=1)
    world.add_body(name="point", mass=1, inertia=1)
    world.add_body(Disk(0.25), name="disk")
    geoms = world.build()[0].geoms
    assert geoms.kind.tolist() == [kinds.HALF_PLANE, kinds.DISK, kinds.POLYGON, kinds.DISK]
    assert geoms.body.tolist() == [0, 1, 1, 3]
    assert geoms.uid.tolist() == [0, 1, 2, 3]
    assert geoms.first.tolist() == [0, 0, 1, 9, 10]
    assert geoms.numbers[[0, 9]].tolist() == [0.5, 0.25]
    corners = geoms.numbers[1:9].reshape(4, 2)
    assert sorted(map(tuple, np.abs(corners))) == [(1.0, 0.5)] * 4
    assert np.isinf(geoms.radius[0])
    area = np.pi / 4, 2.0
    centre = area[0] * 1.0 / sum(area)  # of the disk at height 1 and the rectangle at 0
    assert np.allclose(geoms.offset[1:3], [[0, 1 - centre], [0, -centre]])
    assert len(geoms) == 4


def test_geoms_with_ints_match_their_shapes_one_by_one():
    """Boxes of two sizes between spheres: every geom's numbers are those of its own shape."""
    shapes = [Sphere(1), Box(1, 2, 3), Capsule(1, 0.5), Box(3, 2, 1), Sphere(2), Box(1, 2, 3)]
    world = World()
    for shape in shapes:
        world.add_body(shape)
    geoms = world.build()[0].geoms
    assert geoms.turn.shape == (6, 3, 3)
    for g, shape in enumerate(shapes):
        (piece,) = shape.pieces()
        assert geoms.kind[g] == piece.kind
        assert np.array_equal(geoms.numbers[geoms.first[g] : geoms.first[g + 1]], piece.floats)
        assert np.array_equal(geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]], piece.ints)
        assert geoms.radius[g] == piece.radius


def test_uids_are_never_reused():
    world = World(planar=True)
    world.add_body([Disk(1), Disk(2)], name="a")
    world.add_body(Disk(1), name="b")
    world.remove_body("a")
    world.add_body(Disk(1), name="a")
    model, _ = world.build()
    assert model.names == ("b", "a")
    assert model.uid.tolist() == [1, 2]
    assert model.geoms.uid.tolist() == [2, 3]


def test_rules_are_keyed_and_sorted():
    world = World(planar=True)
    for name in "abcd":
        world.add_body(Disk(1), name=name)
    world.set_pair("d", "b", friction=(0.4, 0.3))
    world.set_pair("b", "a", restitution=0.5)
    world.set_pair("b", "d", restitution=(0.2, 0.1))
    world.ignore("d", "c")
    world.ignore("a", "c")
    world.ignore("c", "a")
    rules = world.build()[0].rules
    assert rules.key.tolist() == [0 * 4 + 1, 1 * 4 + 3]
    assert np.array_equal(rules.friction, [[np.nan, np.nan], [0.4, 0.3]], equal_nan=True)
    assert rules.restitution.tolist() == [[0.5, 0], [0.2, 0.1]]
    assert rules.ignored.tolist() == [0 * 4 + 2, 2 * 4 + 3]
    world.remove_body("a")
    rules = world.build()[0].rules
    assert rules.key.tolist() == [0 * 3 + 2], "b and d are now 0 and 2 of 3"
    assert rules.ignored.tolist() == [1 * 3 + 2]


@pytest.mark.parametrize("planar", [True, False])
def test_an_empty_world_builds(planar):
    model, state = World(planar=planar).build()
    dim = 2 if planar else 3
    assert model.nb == 0
    assert model.centre.shape == (0, dim)
    assert model.geoms.turn.shape == (0, dim, dim)
    assert model.inertia.shape == ((0,) if planar else (0, 3, 3))
    assert model.rules.friction.shape == (0, 2)
    assert state.orientation.shape == ((0,) if planar else (0, 4))
    assert state.velocity.shape == (0, model.dof)
    assert len(model.geoms) == 0


def test_the_state_survives_an_edit_of_the_world():
    world = World(planar=True)
    for name in "abc":
        world.add_body(Disk(1), name=name, position=(0, 0))
    world.add_body(HalfPlane(), name="shaker", motion=Oscillation((0, 1), 0.1, 1.0))
    model, state = world.build()
    state.time = 1.25
    state.position[:] = [[1, 1], [2, 2], [3, 3], [0, 0.1]]
    state.velocity[:, 2] = [1, 2, 3, 0]
    world.remove_body("b")
    world.add_body(Disk(1), name="d", position=(9, 9))
    new, fresh = world.build(time=state.time)
    after = carry_over(model, state, new, fresh)
    assert new.names == ("a", "c", "shaker", "d")
    assert after.position.tolist() == [[1, 1], [3, 3], [0, 0.1], [9, 9]]
    assert after.velocity[:, 2].tolist() == [1, 3, 0, 0]
    assert after.time == 1.25
    assert fresh.position[0].tolist() == [0, 0], "what was built stays as it was"


def test_building_twice_gives_the_same_bits():
    world = World()
    world.add_ground()
    for k in range(5):
        world.add_body(Box(1, 0.3, 0.1 * (k + 1)), orientation=(1, 0.1, k, 0), position=(0, k, 1))
    (one, first), (two, second) = world.build(), world.build()
    assert first.orientation.tobytes() == second.orientation.tobytes()
    assert one.inverse_inertia.tobytes() == two.inverse_inertia.tobytes()
    assert one.geoms.numbers.tobytes() == two.geoms.numbers.tobytes()


def test_many_bodies_are_built_with_few_calls():
    """10^4 spheres: a few calls of Python for each, counted, as no clock can be trusted."""
    world = World()
    shape = Sphere(0.1)
    for k in range(10_000):
        world.add_body(shape if k % 2 else Sphere(0.2), position=(0.0, 0.0, 0.3 * k))
    calls = [0]

    def count(frame, event, argument):
        calls[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        model, _ = world.build()
    finally:
        sys.setprofile(None)
    assert calls[0] < 20 * 10_000
    assert len(model.geoms) == model.nb == 10_000
