"""Faces, edges and stars of polyhedra: what must hold of every one, and of some that are known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.geometry.poses import rotation
from drystone.geometry.shapes import Box, ConvexPolyhedron, TriangleMesh
from drystone.kernels import kinds

CUBE = np.array(list(np.ndindex(2, 2, 2)), dtype=float) - 0.5
G = (1 + math.sqrt(5)) / 2
SIGNS = (-1, 1)
ICOSAHEDRON = [
    np.roll((0, s, t * G), k) for k in range(3) for s, t in itertools.product(SIGNS, SIGNS)
]
DODECAHEDRON = [
    *itertools.product(SIGNS, SIGNS, SIGNS),
    *(np.roll((0, s / G, t * G), k) for k in range(3) for s, t in itertools.product(SIGNS, SIGNS)),
]
# corners, edges, faces, corners of a face
SOLIDS = {
    "tetrahedron": ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], 4, 6, 4, 3),
    "cube": (CUBE, 8, 12, 6, 4),
    "octahedron": ([*np.eye(3), *-np.eye(3)], 6, 12, 8, 3),
    "icosahedron": (ICOSAHEDRON, 12, 30, 20, 3),
    "dodecahedron": (DODECAHEDRON, 20, 30, 12, 5),
}


def parse(piece):
    """The ints and floats of a POLYHEDRON, read by the words of ``geometry.kinds``."""
    assert piece.kind == kinds.POLYHEDRON
    ints = piece.ints.tolist()
    nv, nf, ne = ints[:3]
    at = 3
    face_start, at = ints[at : at + nf + 1], at + nf + 1
    face_vertex, at = ints[at : at + face_start[-1]], at + face_start[-1]
    edges, at = np.reshape(ints[at : at + 4 * ne], (ne, 4)), at + 4 * ne
    star_start, at = ints[at : at + nv + 1], at + nv + 1
    star, at = ints[at : at + 2 * ne], at + 2 * ne
    assert at == len(ints)
    assert piece.floats.size == 3 * nv + 4 * nf
    return {
        "vertices": piece.floats[: 3 * nv].reshape(nv, 3),
        "planes": piece.floats[3 * nv :].reshape(nf, 4),
        "loops": [face_vertex[a:b] for a, b in itertools.pairwise(face_start)],
        "edges": edges.tolist(),
        "stars": [star[a:b] for a, b in itertools.pairwise(star_start)],
    }


def check_piece(piece):
    """All that the contract says about a polyhedron."""
    p = parse(piece)
    vertices, planes, loops = p["vertices"], p["planes"], p["loops"]
    size = np.ptp(vertices, axis=0).max()
    assert len(vertices) - len(p["edges"]) + len(planes) == 2  # Euler
    np.testing.assert_allclose(np.linalg.norm(planes[:, :3], axis=1), 1, atol=1e-14)
    height = vertices @ planes[:, :3].T - planes[:, 3]
    assert height.max() <= 1e-9 * size  # convex: nothing in front of a face
    left = {}
    for f, loop in enumerate(loops):
        assert len(loop) >= 3
        assert np.abs(height[loop, f]).max() <= 1e-9 * size  # planes hold their loops
        corners = vertices[loop]
        for i, (a, b) in enumerate(zip(loop, [*loop[1:], loop[0]], strict=True)):
            ahead = corners[(i + 1) % len(loop)] - corners[i]
            behind = corners[i] - corners[i - 1]
            assert np.cross(behind, ahead) @ planes[f, :3] > 0  # counter-clockwise
            assert (a, b) not in left
            left[a, b] = f
    assert all(v0 < v1 for v0, v1, _, _ in p["edges"])
    assert p["edges"] == sorted(p["edges"])
    assert {(a, b): (left[a, b], left[b, a]) for a, b in left if a < b} == {
        (v0, v1): (f, g) for v0, v1, f, g in p["edges"]
    }
    near = {v: set() for v in range(len(vertices))}
    for v0, v1, _, _ in p["edges"]:
        near[v0].add(v1)
        near[v1].add(v0)
    assert p["stars"] == [sorted(near[v]) for v in range(len(vertices))]
    assert min(map(len, p["stars"])) >= 3
    radius = np.linalg.norm(vertices, axis=1).max()
    assert piece.radius == pytest.approx(radius, rel=1e-14)
    return p


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_platonic_solids_have_the_right_faces(name, seed):
    """Also turned, scaled and far away, where no face is flat to the last bit."""
    points, nv, ne, nf, corners = SOLIDS[name]
    points = np.array(points, dtype=float)
    if seed is not None:
        rng = np.random.default_rng(seed)
        points = points @ rotation("", rng.normal(size=4), 3).T * 10.0 ** rng.uniform(-3, 3)
        points = points + 100 * np.abs(points).max() * rng.normal(size=3)
    shape = ConvexPolyhedron(points)
    p = check_piece(shape.pieces()[0])
    assert (len(p["vertices"]), len(p["edges"]), len(p["planes"])) == (nv, ne, nf)
    assert {len(loop) for loop in p["loops"]} == {corners}
    np.testing.assert_array_equal(shape.topology.edges, p["edges"])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 100_000), st.integers(4, 40))
def test_hulls_of_random_points(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    shape = ConvexPolyhedron.hull(points)
    check_piece(shape.pieces()[0])
    assert shape.contains(shape.points.mean(axis=0))
    planes = shape.topology.planes  # no point was left outside
    assert (points @ planes[:, :3].T - planes[:, 3]).max() < 1e-12


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 100_000))
def test_points_on_a_coarse_grid_give_polygonal_faces(seed):
    """Many coplanar and collinear points: faces are merged, and only true corners are left."""
    points = np.unique(np.random.default_rng(seed).integers(0, 4, size=(40, 3)), axis=0)
    turn = rotation("", np.random.default_rng(seed).normal(size=4), 3)
    plain, turned = ConvexPolyhedron.hull(points), ConvexPolyhedron.hull(points @ turn.T)
    check_piece(plain.pieces()[0])
    check_piece(turned.pieces()[0])
    np.testing.assert_allclose(plain.points @ turn.T, turned.points, atol=1e-12)
    assert len(plain.topology.loops) == len(turned.topology.loops)
    normals = plain.topology.planes[:, :3]
    same = normals @ normals.T > 1 - 1e-9
    assert same.sum() == len(normals)  # no two faces in one plane


def test_boxes_are_laid_out_as_said():
    """Vertex i by its bits, faces -x, +x, -y, +y, -z, +z."""
    p = check_piece(Box(2, 4, 6).pieces()[0])
    np.testing.assert_array_equal(p["vertices"][5], [1, -2, 3])
    np.testing.assert_array_equal(p["planes"][:, 3], [1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(p["planes"][:, :3] @ [1, 2, 3], [-1, 1, -2, 2, -3, 3])
    assert {len(loop) for loop in p["loops"]} == {4}


def test_a_box_and_the_polyhedron_of_its_corners_agree():
    box = Box(0.2, 0.1, 0.06)
    hull = ConvexPolyhedron(box.mesh()[0])
    a, b = parse(box.pieces()[0]), parse(hull.pieces()[0])
    np.testing.assert_array_equal(a["vertices"], b["vertices"])
    assert {frozenset(loop) for loop in a["loops"]} == {frozenset(loop) for loop in b["loops"]}
    assert [e[:2] for e in a["edges"]] == [e[:2] for e in b["edges"]]
    assert a["stars"] == b["stars"]
    one, other = box.mass_properties(2.0), hull.mass_properties(2.0)
    assert one.mass == pytest.approx(other.mass, rel=1e-14)
    np.testing.assert_allclose(one.inertia, other.inertia, atol=1e-18)


def test_the_numbering_follows_the_points():
    points = np.array(SOLIDS["icosahedron"][0], dtype=float)
    shape = ConvexPolyhedron(points)
    np.testing.assert_array_equal(shape.points, points)
    np.testing.assert_allclose(shape.pieces()[0].floats[:36].reshape(12, 3), points, atol=1e-15)


def test_a_hull_on_request():
    inside = np.vstack((CUBE, [(0, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0), (0.1, 0.2, 0.3)]))
    shape = ConvexPolyhedron.hull(inside)
    assert len(shape.points) == 8
    assert shape == ConvexPolyhedron(CUBE)
    assert repr(shape) == "ConvexPolyhedron(8 corners, 6 faces)"


def test_many_corners():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    p = check_piece(ConvexPolyhedron(points).pieces()[0])
    assert len(p["vertices"]) == 2000


def test_prisms_of_a_mesh_are_polyhedra():
    vertices, faces = ConvexPolyhedron(ICOSAHEDRON).mesh()
    for piece in TriangleMesh(vertices, faces).pieces():
        p = check_piece(piece)
        assert sorted(map(len, p["loops"])) == [3, 3, 4, 4, 4]
