"""Contacts of polyhedra where exactness shows: stacks, rows, corners, caches, room."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.kernels.spatial.halfspace import contact_polyhedron_half_space
from drystone.kernels.spatial.polyhedra import contact_polyhedron_polyhedron
from drystone.kernels.spatial.polyhedra_shape import WIDTH
from tests.kernels.spatial import polyhedra_bodies as pb

pytestmark = pytest.mark.kernels

CUBE = pb.box(1, 1, 1)
UP = np.array([0, 0, 1.0])


def boxes(offset, turn=(0, 0, 0), size=(1, 1, 1), margin=0.01, base=(0, 0, 0)):
    """Contacts of a box at `offset` over a unit cube, turned by a rotation vector."""
    run = pb.Run(contact_polyhedron_polyhedron, [pb.box(*size), CUBE], WIDTH)
    x = np.array([offset, [0, 0, 0]], float) + base
    R = np.array([Rotation.from_rotvec(turn).as_matrix(), np.eye(3)])
    first = run.contacts(x, R, margin)
    again = run.contacts(x, R, margin)
    for one, other in zip(first, again, strict=True):  # the cached witness says the same
        np.testing.assert_array_equal(one, other)
    return first[1:]


def spread(points):
    """Sorted x, y of contact points."""
    return sorted(map(tuple, np.round(points[:, :2], 9)))


@pytest.mark.parametrize("gap", [0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-3, -1e-3, -0.1])
def test_equal_cubes_stacked_exactly(gap):
    """No vertex lies inside the other body and no edge runs through a face."""
    point, normal, gaps, _ = boxes([0, 0, 1 + gap])
    assert spread(point) == [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)]
    np.testing.assert_array_equal(normal, np.tile(UP, (4, 1)))
    np.testing.assert_allclose(gaps, gap, atol=1e-15)
    np.testing.assert_allclose(point[:, 2], 0.5 + gap / 2, atol=1e-15)


@pytest.mark.parametrize("gap", [0, 1e-12, -1e-12, -1e-6])
@pytest.mark.parametrize("turn", [(1e-9, 0, 0), (0, 0, 1e-9), (1e-9, -2e-9, 3e-9), (0, 0, 1e-13)])
@pytest.mark.parametrize("shift", [(0, 0), (0.5, 0), (0.5, 0.25), (0.3, -0.4)])
def test_faces_that_are_all_but_parallel_have_a_face_normal(gap, turn, shift):
    point, normal, gaps, _ = boxes([*shift, 1 + gap], turn)
    faces = (UP, Rotation.from_rotvec(turn).as_matrix()[:, 2])
    assert min(np.abs(normal - n).max() for n in faces) < 1e-15
    corners = {(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)}
    wanted = [(max(x, x + shift[0]) if x < 0 else min(x, x + shift[0]), y) for x, y in corners]
    wanted = {(x, max(y, y + shift[1]) if y < 0 else min(y, y + shift[1])) for x, y in wanted}
    for w in wanted:  # every corner of the overlap has a contact
        assert np.abs(point[:, :2] - w).max(axis=1).min() < 1e-8
    assert len(gaps) <= 8
    np.testing.assert_allclose(gaps, gap, atol=3e-9)


def test_bricks_that_overlap_half():
    point, normal, _gaps, _ = boxes([0.5, 0, 0.8 - 1e-12], size=(1, 0.6, 0.6))
    assert spread(point) == [(0, -0.3), (0, 0.3), (0.5, -0.3), (0.5, 0.3)]
    np.testing.assert_array_equal(normal, np.tile(UP, (4, 1)))


def test_boxes_in_a_row_touch_by_their_sides():
    point, normal, gaps, _ = boxes([1, 0, 0])
    np.testing.assert_array_equal(normal, np.tile([1.0, 0, 0], (4, 1)))
    np.testing.assert_array_equal(gaps, 0)
    np.testing.assert_array_equal(np.sort(point[:, 1]), [-0.5, -0.5, 0.5, 0.5])


def test_far_from_the_origin_the_answer_is_the_same():
    _point, _normal, gaps, feature = boxes([0.2, 0.1, 1 - 1e-6])
    there = boxes([0.2, 0.1, 1 - 1e-6], base=(1000, -2000, 500))
    np.testing.assert_array_equal(there[3], feature)
    np.testing.assert_allclose(there[2], gaps, atol=1e-12)  # 1000 m carry 1e-13 m of rounding


def test_octagon_of_a_turned_cube():
    point, _, gaps, feature = boxes([0, 0, 1], (0, 0, np.pi / 4))
    assert len(gaps) == 8
    assert len(set(feature)) == 8
    inside = 1 / np.sqrt(2) - 0.5
    np.testing.assert_allclose(np.sort(np.abs(point[:, :2]), axis=1)[:, 0], inside, atol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-3, -1e-3])
def test_cube_on_its_edge(gap):
    point, normal, gaps, _ = boxes([0, 0, 0.5 + np.sqrt(0.5) + gap], (np.pi / 4, 0, 0))
    assert spread(point) == [(-0.5, 0), (0.5, 0)]
    np.testing.assert_allclose(normal, np.tile(UP, (2, 1)), atol=1e-15)
    np.testing.assert_allclose(gaps, gap, atol=1e-15)


def test_cube_on_its_corner():
    """One point; the gap is to the corner."""
    turn = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_rotvec()
    point, normal, gaps, _ = boxes([0.1, 0.2, 0.5 + np.sqrt(0.75)], turn)
    assert len(gaps) == 1
    np.testing.assert_allclose(point[0], [0.1, 0.2, 0.5], atol=1e-14)
    np.testing.assert_allclose(normal[0], UP, atol=1e-14)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, -1e-3, -1e-6, 0.0])
def test_crossed_edges(gap):
    """The normal is the edges' product; the point lies where they cross."""
    first = pb.Run(contact_polyhedron_polyhedron, [CUBE, CUBE], WIDTH)
    R = Rotation.from_rotvec([[np.pi / 4, 0, 0], [0, np.pi / 4, 0]]).as_matrix()
    x = np.array([[0.1, 0.2, np.sqrt(2) + gap], [0, 0, 0]])
    _, point, normal, gaps, _ = first.contacts(x, R, 0.01)
    assert len(gaps) == 1
    assert gaps[0] == pytest.approx(gap, abs=1e-14)
    np.testing.assert_allclose(normal[0], UP, atol=1e-15)
    np.testing.assert_allclose(point[0], [0, 0.2, np.sqrt(0.5) + gap / 2], atol=1e-14)


def test_parallel_edges_apart_touch_along_a_segment():
    point, normal, gaps, _ = boxes([1.003, 0.2, 1.004])
    np.testing.assert_allclose(normal, np.tile([0.6, 0, 0.8], (2, 1)), atol=1e-12)
    np.testing.assert_allclose(gaps, 0.005, atol=1e-14)
    np.testing.assert_allclose(np.sort(point[:, 1]), [-0.3, 0.5], atol=1e-9)


def test_corners_apart():
    _point, normal, gaps, _ = boxes([1.001, 1.002, 1.002])
    np.testing.assert_allclose(gaps, [0.003], atol=1e-15)
    np.testing.assert_allclose(normal, [[1 / 3, 2 / 3, 2 / 3]], atol=1e-12)


@pytest.mark.parametrize(
    ("offset", "mean", "count"),
    [((1, 0.2, 1), (1, 0, 1), 2), ((1, 1, 1), (1, 1, 1), 1), ((1, 1, 0), (1, 1, 0), 2)],
)
def test_corners_that_touch_share_the_mean_normal(offset, mean, count):
    """Edge on edge, vertex on vertex."""
    _, normal, gaps, _ = boxes(offset)
    np.testing.assert_allclose(normal, np.tile(mean / np.linalg.norm(mean), (count, 1)), atol=1e-15)
    np.testing.assert_allclose(gaps, 0, atol=1e-15)


def test_no_ghosts_beyond_the_overlap():
    """Side by side with a margin: contacts only where the faces are over each other."""
    point, _, _, _ = boxes([0.9, 0, 1.005], margin=0.05)
    assert point[:, 0].min() > 0.4 - 1e-9
    assert point[:, 0].max() < 0.5 + 1e-9
    assert len(boxes([1.2, 0, 1.005], margin=0.05)[2]) == 0


def test_each_point_has_its_own_gap_up_to_the_margin():
    turn = 0.02
    low = 0.5 + 0.5 * np.cos(turn) + 0.5 * np.sin(turn)
    _, _, gaps, _ = boxes([0, 0, low], (0, turn, 0), margin=0.03)
    np.testing.assert_allclose(np.sort(gaps)[:2], 0, atol=1e-15)
    np.testing.assert_allclose(np.sort(gaps)[2:], np.tan(turn) * 1.0, atol=5e-4)
    assert len(boxes([0, 0, low], (0, turn, 0), margin=0.01)[2]) == 2


def test_features_stay_while_a_box_slides_and_turns():
    run = pb.Run(contact_polyhedron_polyhedron, [pb.box(0.5, 0.4, 0.3), CUBE], WIDTH)
    seen = set()
    for k in range(40):
        R = np.array([Rotation.from_rotvec([1e-7 * (-1) ** k, 0, 0.02 * k]).as_matrix(), np.eye(3)])
        x = np.array([[0.003 * k, -0.002 * k, 0.65], [0, 0, 0]])
        seen.add(tuple(sorted(run.contacts(x, R, 0.01)[4])))
    assert len(seen) == 1


def test_penetration_beyond_half_still_pushes_out_the_short_way():
    _, normal, gaps, _ = boxes([0.1, 0.2, 0.7])
    assert gaps.min() == pytest.approx(-0.3)
    np.testing.assert_array_equal(normal[0], UP)


def test_a_cube_sinks_through_a_plate():
    """An old witness goes when another way out becomes shorter: down, or over the rim."""
    for rim in (0.0, 1.2):
        run = pb.Run(contact_polyhedron_polyhedron, [CUBE, pb.box(2, 2, 0.2)], WIDTH)
        for depth in np.linspace(0.01, 1.19, 60):
            x = np.array([[rim, 0, 0.6 - depth], [0, 0, 0]])
            _, _, normal, gaps, _ = run.contacts(x, np.array([np.eye(3)] * 2), 0.01)
            ways = {depth: [0, 0, 1], 1.2 - depth: [0, 0, -1], 1.5 - rim: [1, 0, 0]}
            least = min(ways)
            assert gaps.min() == pytest.approx(-least, abs=1e-12)
            if sorted(ways)[1] > least + 1e-9:
                np.testing.assert_allclose(normal[0], ways[least], atol=1e-15)


def test_no_room_is_said_and_the_cache_survives():
    run = pb.Run(contact_polyhedron_polyhedron, [CUBE, CUBE], WIDTH, [(0, 1), (0, 1)])
    x, R = np.array([[0.2, 0.1, 1], [0, 0, 0]]), np.array([np.eye(3)] * 2)
    which, _, _, _gaps, _ = run.contacts(x, R, 0.01, room=1)  # the helper doubles it until it fits
    np.testing.assert_array_equal(which, np.repeat([0, 1], 4))
    assert run.stats[0] > 0


def test_half_space_takes_a_boxs_corners():
    run = pb.Run(contact_polyhedron_half_space, [CUBE, CUBE], 1)
    x = np.array([[3, 4, 0.7], [0, 0, 0.2]])
    _, point, normal, gaps, feature = run.contacts(x, np.array([np.eye(3)] * 2), 0.01)
    np.testing.assert_allclose(gaps, 0, atol=1e-15)
    np.testing.assert_array_equal(feature, np.flatnonzero(CUBE.vertices[:, 2] < 0))
    np.testing.assert_array_equal(normal, np.tile(UP, (4, 1)))
    assert spread(point) == [(2.5, 3.5), (2.5, 4.5), (3.5, 3.5), (3.5, 4.5)]


def test_half_space_climbs_down_a_large_body():
    body = pb.ball(100)
    run = pb.Run(contact_polyhedron_half_space, [body, body], 1)
    for angle in np.linspace(0, 0.5, 6):
        R = np.array([Rotation.from_rotvec([angle, 0, 0]).as_matrix(), np.eye(3)])
        x = np.array([[0, 0, 0.45], [0, 0, 0]])
        h = x[0, 2] + body.vertices @ R[0][2]
        np.testing.assert_array_equal(run.contacts(x, R, 0.02)[4], np.flatnonzero(h <= 0.02))
    assert run.stats[:2].sum() == 6
