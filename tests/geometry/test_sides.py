"""Sides of several faces that are nearly parallel carry as one face would: against closed forms.

Boxes, prisms and cylinders as a mesh in single precision has them, turned at random before they
were rounded; boxes with a bent bottom; a box that stands on such sides.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.kernels.kinds import POLYHEDRON
from tests.geometry import polyhedra_judge
from tests.geometry.kind_tables import ENTRIES

KERNEL = ENTRIES[POLYHEDRON, POLYHEDRON]
SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def polygon(k):
    angle = 2 * np.pi * np.arange(k) / k
    return 0.5 * np.stack((np.cos(angle), np.sin(angle)), 1)


def prism(outline):
    return np.array([[x, y, z] for x, y in outline for z in (-0.5, 0.5)])


def rounded(points, seed):
    """The shape of points that were turned and then rounded to single precision; the turn."""
    turn = Rotation.random(random_state=seed).as_matrix()
    return ds.ConvexPolyhedron((points @ turn.T).astype(np.float32)), turn


class Placed:
    """A shape turned upright, its axis through the origin and half of its height above it."""

    def __init__(self, shape, turn):
        self.body, self.R = polyhedra_judge.Stored(shape), turn.T
        V = self.body.vertices @ turn
        self.height = np.ptp(V[:, 2])
        self.middle = np.array([0, 0, 0.5 * (V[:, 2].max() + V[:, 2].min())])


def contacts(above, below, shift, gap=0.0, margin=0.01):
    """Points and gaps of one body on another, twice: of a new pair, and with its cache."""
    z = 0.5 * (above.height + below.height) + gap
    x = np.array([[*shift, z] - above.middle, -below.middle])
    R, cache = np.array([above.R, below.R]), np.zeros((1, KERNEL.width))
    for _ in range(2):
        _, point, normal, gaps, names = polyhedra_judge.call(
            KERNEL.load(), KERNEL.width, [(above.body, below.body)], x[None], R[None], [margin],
            cache,
        )  # fmt: skip
        assert len(set(names)) == len(names)
        assert np.abs(normal - [0, 0, 1]).max() < 1e-6
        yield point, gaps


def assert_at(point, wanted):
    for p in wanted:
        assert np.hypot(*(point[:, :2] - p).T).min() < 1e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sides", [3, 4, 5, 32])
def test_a_side_in_single_precision_lies_on_all_its_corners(sides, seed):
    outline = SQUARE if sides == 4 else polygon(sides)
    shape, turn = rounded(prism(outline), seed)
    assert len(shape.topology.loops) > sides + 2  # its sides are several faces
    body, floor = Placed(shape, turn), Placed(ds.Box(3, 3, 1), np.eye(3))
    for pair, shift, place in (((body, floor), (0.2, -0.1), 1), ((floor, body), (0.2, -0.1), 0)):
        for point, gap in contacts(*pair, shift):
            assert_at(point, outline + place * np.array(shift))
            assert len(gap) <= sides + 3
            assert np.abs(gap).max() < 5e-7


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 0.0, -1e-9, -1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_two_boxes_in_single_precision_carry_over_their_whole_overlap(seed, gap):
    above, below = (Placed(*rounded(prism(SQUARE), s)) for s in (seed, seed + 10))
    for point, gaps in contacts(above, below, (0.3, 0.25), gap):
        assert_at(point, [(x, y) for x in (-0.2, 0.5) for y in (-0.25, 0.5)])
        assert np.abs(gaps - gap).max() < 1e-6


@pytest.mark.parametrize("bend", [1e-9, 1e-7, 1e-5, 1e-3, 1e-2])
def test_a_box_with_a_bent_bottom_has_all_four_corners_with_their_gaps(bend):
    points = prism(SQUARE)
    points[0, 2] -= bend  # one corner stands out: two triangles
    body, floor = Placed(ds.ConvexPolyhedron(points), np.eye(3)), Placed(ds.Box(3, 3, 1), np.eye(3))
    for point, gap in contacts(body, floor, (0.1, 0.2), margin=0.02):
        assert len(gap) == 4
        order = np.lexsort(point[:, :2].T.round(3))
        np.testing.assert_allclose(gap[order], [0, bend, bend, bend], atol=1e-9)


def test_a_box_rests_on_a_side_in_single_precision_wherever_it_stands():
    """Beside the diagonal that parts the side's triangles, on either hand; nothing moves."""
    shape, turn = rounded(4 * prism(SQUARE), 5)
    table = Placed(shape, turn)
    for shift in ((1.2, 1.1), (-1.2, 1.1), (1.2, -1.1), (-1.2, -1.1), (0, 0)):
        world = ds.World()
        w, x, y, z = np.roll(Rotation.from_matrix(table.R).as_quat(), 1)
        world.add_body(
            shape, name="table", fixed=True, position=-table.middle, orientation=(w, x, y, z)
        )
        world.add_body(
            ds.Box(1, 1, 1), name="box", position=(*shift, 0.5 * table.height + 0.5), friction=0.5
        )
        sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 100))
        sim.run(0.3)
        assert_at(sim.contacts["point"], SQUARE + shift)
        assert np.abs(sim.state.velocity).max() < 1e-5


def lying(shape, table, position, orientation=(1, 0, 0, 0)):
    """Contacts of a body that lies still on a table whose upper side is at z = 0."""
    world = ds.World()
    world.add_body(
        table.shape, name="table", fixed=True, orientation=table.orientation,
        position=-table.middle - [0, 0, 0.5 * table.height],
    )  # fmt: skip
    world.add_body(shape, name="top", position=position, orientation=orientation, density=1000)
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 100))
    sim.step()
    found = sim.contacts["point"], sim.contacts["gap"]
    sim.run(0.3)
    assert np.abs(sim.state.velocity).max() < 1e-4
    return found


@pytest.fixture(params=range(3))
def table(request):
    """A plate of 1 x 1 m whose upper side is several triangles, in single precision."""
    points = prism(SQUARE) * [1, 1, 0.2]
    shape, turn = rounded(points, request.param)
    placed = Placed(shape, turn)
    placed.shape = shape
    placed.orientation = np.roll(Rotation.from_matrix(placed.R).as_quat(), 1)
    return placed


LYING = np.sqrt(0.5) * np.array([1, 0, 1, 0])  # the axis along x


@pytest.mark.parametrize("half", [0.3, 0.7])
@pytest.mark.parametrize("kind", [ds.Capsule, ds.Cylinder])
def test_a_body_that_lies_on_a_side_of_several_faces_has_both_ends_of_its_line(kind, half, table):
    """The ends of its own line, or those of the side that it overhangs."""
    point, gap = lying(kind(2 * half, 0.1), table, (0, 0.11, 0.1), LYING)
    end = min(half, 0.5)
    assert_at(point, [(-end, 0.11), (end, 0.11)])
    assert np.abs(gap).max() < 1e-6


@pytest.mark.parametrize("kind", [ds.Cylinder, ds.Cone])
def test_a_body_that_stands_on_a_side_of_several_faces_has_its_whole_rim(kind, table):
    z = 0.1 if kind is ds.Cylinder else 0.05
    point, gap = lying(kind(0.2, 0.3), table, (0.05, 0.02, z))
    angle = np.arange(12) * np.pi / 6
    assert_at(point, np.stack((0.05 + 0.3 * np.cos(angle), 0.02 + 0.3 * np.sin(angle)), 1))
    # heights are those of the true faces, so the side's own unevenness shows
    assert np.abs(gap).max() < 1e-6
