"""Contacts against the prisms of a mesh: inner edges do not show, ridges and rims do."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.kernels.kinds import POLYHEDRON
from drystone.kernels.pairs import FoundContacts
from drystone.kernels.spatial.mesh_filter import filter_mesh_contacts
from drystone.kernels.spatial.polyhedra import contact_polyhedron_polyhedron
from drystone.kernels.spatial.polyhedra_shape import WIDTH
from tests.geometry import pair_calls
from tests.kernels.spatial import polyhedra_bodies as pb

pytestmark = pytest.mark.kernels


class Prism(pb.Body):
    """A triangle over a copy of itself: corners 0, 1, 2 and face 0 are the triangle's."""

    def __init__(self, top, depth=0.3):
        top = np.asarray(top, float)
        n = np.cross(top[1] - top[0], top[2] - top[0])
        n /= np.linalg.norm(n)
        self.vertices = np.vstack((top, top - depth * n))
        self.loops = [[0, 1, 2], [3, 5, 4], [1, 0, 3, 4], [2, 1, 4, 5], [0, 2, 5, 3]]
        self.planes = []
        for loop in self.loops:
            p = self.vertices[loop]
            m = np.cross(p[1] - p[0], p[2] - p[0])
            m /= np.linalg.norm(m)
            self.planes.append([*m, m @ p[0]])
        self.planes = np.array(self.planes)
        self.wire()


class Mesh:
    """Triangles as geoms 1, 2, ...; geom 0 is a body that touches them."""

    def __init__(self, body, vertices, faces):
        V, self.faces = np.asarray(vertices, float), np.asarray(faces)
        tops = V[self.faces]
        self.bodies = [body, *(Prism(top) for top in tops)]
        self.tile = np.arange(-1, len(faces))
        self.bend = np.full((len(faces), 3), np.inf)
        normal = np.array([p.planes[0, :3] for p in self.bodies[1:]])
        side = {(f[i], f[(i + 1) % 3]): (t, i) for t, f in enumerate(faces) for i in range(3)}
        for (v, w), (t, i) in side.items():
            if (w, v) in side:
                other = side[w, v][0]
                turn = np.cross(normal[t], normal[other]) @ (V[w] - V[v])
                angle = np.arccos(np.clip(normal[t] @ normal[other], -1, 1))
                self.bend[t, i] = np.sign(turn) * angle

    def contacts(self, x, R, margin=0.05):
        n = len(self.bodies)
        run = pb.Run(
            contact_polyhedron_polyhedron, self.bodies, WIDTH, [(0, g) for g in range(1, n)]
        )
        xs, Rs = np.zeros((n, 3)), np.array([np.eye(3)] * n)
        xs[0], Rs[0] = x, R
        which, point, normal, gap, feature = run.contacts(xs, Rs, margin)
        a, b = np.zeros(len(gap), np.int64), which + 1
        raw = normal.copy()
        k = filter_mesh_contacts(
            self.tile, self.bend, pair_calls.posed(xs, Rs, POLYHEDRON, *run.arrays), a, b,
            FoundContacts(which, point, normal, gap, feature),
        )  # fmt: skip
        return raw, b[:k], point[:k], normal[:k], gap[:k]


FLOOR = ([[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]], [[0, 1, 2], [0, 2, 3]])
BOX = pb.box(0.4, 0.3, 0.2)


def test_a_box_slides_over_a_flat_floor_of_triangles():
    mesh, leaning = Mesh(BOX, *FLOOR), 0
    for step in np.linspace(-0.6, 0.6, 25):
        for depth in (0.004, 1e-9, -1e-9, -0.004):
            R = Rotation.from_rotvec([0, 0, 0.3]).as_matrix()
            x = [step, -0.3 * step, 0.1 + depth]
            raw, _, point, normal, gap = mesh.contacts(x, R)
            leaning += np.any(np.abs(raw - [0, 0, 1]) > 1e-6)
            np.testing.assert_allclose(normal, np.tile([0, 0, 1.0], (len(gap), 1)), atol=1e-9)
            np.testing.assert_allclose(gap, depth, atol=1e-12)
            corners = np.asarray(x) + BOX.vertices @ R.T
            low = corners[corners[:, 2] < x[2]][:, :2]
            for corner in low:  # the whole box is held
                assert np.linalg.norm(point[:, :2] - corner, axis=1).min() < 1e-6
    assert leaning > 3  # without the filter, the diagonal shows


def test_a_deep_box_is_pushed_up_by_a_sliver_too():
    """Sunk deeper than it reaches over the diagonal: the side of the prism is the short way."""
    mesh = Mesh(BOX, *FLOOR)
    _, _, _, normal, gap = mesh.contacts([-0.21, 0.21, 0.08], np.eye(3))
    np.testing.assert_allclose(normal, np.tile([0, 0, 1.0], (len(gap), 1)), atol=1e-9)
    assert gap.min() == pytest.approx(-0.02)


RIDGE = ([[-1, -1, -1], [1, -1, -1], [1, 0, 0], [-1, 0, 0], [1, 1, -1], [-1, 1, -1]],
         [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]])  # fmt: skip


def test_a_ridge_pushes_between_the_slopes():
    """A box balanced on a ridge touches its edge with an upright normal, kept as it is."""
    mesh = Mesh(BOX, *RIDGE)
    _, _, point, normal, gap = mesh.contacts([0.1, 0, 0.1005], np.eye(3), margin=0.01)
    np.testing.assert_allclose(normal, np.tile([0, 0, 1.0], (len(gap), 1)), atol=1e-9)
    np.testing.assert_allclose(gap, 0.0005, atol=1e-12)
    np.testing.assert_allclose(point[:, 1], 0, atol=1e-9)
    assert {-0.1, 0.3} <= set(np.round(point[:, 0], 6))


def test_a_valley_pushes_along_its_slopes_only():
    V = np.array(RIDGE[0], float) * [1, 1, -1]
    tip = pb.tetrahedron(0.5)
    mesh = Mesh(tip, V, RIDGE[1])
    up = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix()
    for y in np.linspace(-0.05, 0.05, 11):
        _, _, _, normal, gap = mesh.contacts([0.1, y, 0.45], up, margin=0.1)
        slopes = np.array([[0, 1, 1], [0, -1, 1]]) / np.sqrt(2)
        assert len(gap) > 0
        assert np.abs(normal[:, None] - slopes[None]).max(axis=2).min(axis=1).max() < 1e-9


def test_the_rim_of_an_open_mesh_is_real():
    mesh = Mesh(BOX, *FLOOR)
    _, _, _, normal, gap = mesh.contacts([2.22, 0, -0.02], np.eye(3))
    np.testing.assert_allclose(normal, np.tile([1.0, 0, 0], (len(gap), 1)), atol=1e-9)
    np.testing.assert_allclose(gap, 0.02, atol=1e-12)


@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_prisms_on_either_side_of_a_pair(flip):
    """The rules by hand, with the prism as B and as A; geoms that are no tiles are left alone."""
    mesh = Mesh(BOX, *FLOOR)
    x, R = np.zeros((3, 3)), np.array([np.eye(3)] * 3)
    geoms = pair_calls.posed(x, R, POLYHEDRON, *pb.pack(mesh.bodies))
    over = np.array([-1, 1, 1]) / np.sqrt(3)  # from the first triangle over the diagonal
    side = np.array([-1, 1, 0]) / np.sqrt(2)
    tile = np.array([-1, 0, -1])  # geom 2 is no tile here
    other = np.array([1, 2, 1, 1])
    normal = np.array([over, over, side, [0, 0, -1]])
    gap = np.array([0.02, 0.02, -0.02, -0.1])
    on_prism = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0.5, -0.1], [0.5, 0, -0.3]])
    point = on_prism + 0.5 * gap[:, None] * normal
    a, b = np.zeros(4, np.int64), other
    if flip < 0:
        a, b = b, a
    normal *= flip
    feature = np.arange(4)
    room = FoundContacts(np.zeros(4, np.int64), point, normal, gap, feature)
    k = filter_mesh_contacts(tile, mesh.bend, geoms, a, b, room)
    # gone: the neighbour has it; kept; turned upright: a side and the bottom under the triangle
    np.testing.assert_array_equal(feature[:k], [1, 2, 3])
    np.testing.assert_allclose(normal[:k], flip * np.array([over, [0, 0, 1], [0, 0, 1]]))
    reach = on_prism[2] - 0.02 * side  # the other body's points
    np.testing.assert_allclose(gap[:k], [0.02, reach[2], -0.2], atol=1e-15)
    np.testing.assert_allclose(point[1], [reach[0], reach[1], reach[2] / 2], atol=1e-15)
    np.testing.assert_allclose(point[2], [0.5, 0, -0.1], atol=1e-15)
