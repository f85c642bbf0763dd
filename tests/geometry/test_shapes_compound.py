"""Compounds, concave ground, and decompositions: the parts are convex and make up the whole."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import MissingExtraError, OptionError, ShapeError
from drystone.geometry.decomposition import decompose, decompose_polygon
from drystone.geometry.mass_properties import of_mesh, of_polygon
from drystone.geometry.shapes import (
    Box,
    Compound,
    ConvexPolyhedron,
    Disk,
    Polygon,
    Rectangle,
    Sphere,
    TriangleMesh,
)

L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def test_pieces_stand_where_the_parts_do():
    quarter = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))  # about z: x becomes y
    inner = Compound([(Box(1, 2, 3), (1, 0, 0))])
    outer = Compound([Sphere(0.5), (inner, (0, 0, 5), quarter)])
    ball, box = outer.pieces()
    np.testing.assert_array_equal(ball.offset, np.zeros(3))
    np.testing.assert_allclose(box.offset, [0, 1, 5], atol=1e-15)
    np.testing.assert_allclose(box.turn[:, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(
        outer.contains([(0, 0.4, 0), (0.9, 1, 5), (1.1, 1, 5), (0, 0.4, 5), (0, 1.6, 5)]),
        [True, True, False, False, False],
    )
    assert outer.dim == 3
    assert outer.bounding_radius == pytest.approx(math.hypot(1, 5) + math.sqrt(14) / 2)
    vertices, faces = outer.mesh(12)
    assert faces.max() == len(vertices) - 1
    with pytest.raises(ShapeError, match="is spatial and has no outline"):
        outer.outline()


def test_planar_compounds():
    cross = Compound([Rectangle(3, 1), (Rectangle(3, 1), (0, 0), math.pi / 2), (Disk(1), (5, 0))])
    assert cross.dim == 2
    assert len(cross.outlines()) == 3
    outline = cross.outline(16)
    assert np.isnan(outline).all(axis=1).sum() == 2
    np.testing.assert_array_equal(
        cross.contains([(0, 1.4), (1.4, 0), (1, 1), (5.5, 0)]), [True, True, False, True]
    )
    with pytest.raises(ShapeError, match="is planar and has no mesh"):
        cross.mesh()


def check_tiling(points, compound, max_parts=None):
    """Areas and moments add up; parts are convex (Polygon refuses others) and do not overlap."""
    exact = of_polygon(np.array(points, dtype=float), 1.0)
    got = compound.mass_properties(1.0)
    assert got.mass == pytest.approx(abs(exact.mass), rel=1e-12)
    np.testing.assert_allclose(got.centre, exact.centre, atol=1e-10)
    assert got.inertia == pytest.approx(abs(exact.inertia), rel=1e-10)
    assert all(isinstance(part.shape, Polygon) for part in compound.parts)
    corners = {tuple(p) for p in np.array(points, dtype=float).tolist()}
    assert {tuple(p) for part in compound.parts for p in part.shape.points.tolist()} <= corners
    if max_parts is not None:
        assert len(compound.parts) <= max_parts


def test_known_polygons():
    check_tiling(L_SHAPE, decompose_polygon(L_SHAPE), 2)
    check_tiling(L_SHAPE[::-1], decompose_polygon(L_SHAPE[::-1]), 2)
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    check_tiling(square, decompose_polygon(square), 1)
    straight = [(0, 0), (1, 0), (2, 0), (2, 2), (1, 2), (0, 2), (0, 1)]
    check_tiling(straight, decompose_polygon(straight), 1)
    comb = [(0, 0), (7, 0)]
    for k in range(3, -1, -1):
        comb += [(2 * k + 1, 3), (2 * k, 3)]
        comb += [(2 * k, 1), (2 * k - 1, 1)] if k else []
    check_tiling(comb, decompose_polygon(comb), 5)


def test_a_spiral():
    t = np.linspace(0, 6 * np.pi, 60)
    inner = (t + 1)[:, None] * np.column_stack((np.cos(t), np.sin(t)))
    outer = (t + 3)[:, None] * np.column_stack((np.cos(t), np.sin(t)))
    points = np.vstack((outer, inner[::-1]))
    check_tiling(points, decompose_polygon(points))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 100_000), st.integers(3, 25))
def test_random_star_shaped_polygons(seed, n):
    """Hertel and Mehlhorn: with r reflex corners, never more than 2 r + 1 parts."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.8, n)) / n
    radius = rng.uniform(0.3, 1.0, n)
    points = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    ahead, behind = np.roll(points, -1, 0) - points, points - np.roll(points, 1, 0)
    reflex = int((behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0] < 0).sum())
    check_tiling(points, decompose_polygon(points), 2 * reflex + 1)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([(0, 0), (2, 2), (2, 0), (0, 2)], "crosses itself: edge 0-1 meets edge 2-3"),
        ([(0, 0), (2, 0), (2, 0), (0, 2)], "vertices 1 and 2 coincide"),
        ([(0, 0), (2, 0), (1, 0), (1, 1)], "turns back on itself at vertex 1|meets edge"),
        ([(0, 0), (4, 0), (4, 2), (2, 0), (0, 2)], "meets edge"),
    ],
)
def test_polygons_that_cannot_be_cut(points, message):
    with pytest.raises(ShapeError, match=message):
        decompose_polygon(points)


def joined(*meshes):
    vertices, faces, count = [], [], 0
    for v, f in meshes:
        vertices.append(v)
        faces.append(f + count)
        count += len(v)
    return np.vstack(vertices), np.vstack(faces)


def extruded(points, height):
    """A closed mesh over a polygon that the origin sees whole."""
    n = len(points)
    low = np.column_stack((points, np.zeros(n)))
    v = np.vstack((low, low + np.array([0, 0, height]), [(0.5, 0.5, 0), (0.5, 0.5, height)]))
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + j), (i, n + j, n + i), (2 * n, j, i), (2 * n + 1, n + i, n + j)]
    return v, np.array(faces)


def test_convex_components_are_taken_exactly():
    box, ball = Box(1, 1, 1).mesh(), Sphere(0.5).mesh(8)
    vertices, faces = joined(box, (ball[0] + (3, 0, 0), ball[1]))
    soup = vertices[faces].reshape(-1, 3)  # as in an STL file: each triangle has its own corners
    for v, f in ((vertices, faces), (soup, np.arange(len(soup)).reshape(-1, 3))):
        compound = decompose(v, f, method="components")
        assert len(compound.parts) == 2
        got, exact = compound.mass_properties(1.0), of_mesh(v, f, 1.0)
        assert got.mass == pytest.approx(exact.mass, rel=1e-12)
        np.testing.assert_allclose(got.inertia, exact.inertia, atol=1e-12)


def test_what_is_not_made_of_convex_components():
    vertices, faces = extruded(L_SHAPE, 1.0)
    with pytest.raises(ShapeError, match=r"component 0 is not convex: vertex \d+ lies .* in front"):
        decompose(vertices, faces, method="components")
    with pytest.raises(ShapeError, match=r"component 0 is inside out"):
        decompose(*[Box(1, 1, 1).mesh()[0], Box(1, 1, 1).mesh()[1][:, ::-1]], method="components")
    with pytest.raises(ShapeError, match=r"the mesh is open at the edge \d-\d of face \d"):
        decompose(vertices, faces[1:])
    with pytest.raises(OptionError, match="method must be one of auto, components, cuts"):
        decompose(vertices, faces, method="magic")


def test_without_the_extra_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        decompose(*extruded(L_SHAPE, 1.0))


def hills(n=6):
    """A bumpy open ground."""
    x, y = np.meshgrid(np.arange(n, dtype=float), np.arange(n, dtype=float), indexing="ij")
    z = 0.4 * np.sin(1.3 * x) * np.cos(0.9 * y)
    vertices = np.column_stack((x.ravel(), y.ravel(), z.ravel()))
    faces = []
    for i in range(n - 1):
        for j in range(n - 1):
            a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
            faces += [(a, b, c), (a, c, d)]
    return vertices, np.array(faces)


def test_ground_is_solid_below_and_nothing_sticks_out_above():
    vertices, faces = hills()
    ground = TriangleMesh(vertices, faces, thickness=0.4)
    assert len(ground.pieces()) == len(faces)
    rng = np.random.default_rng(0)
    weights = rng.dirichlet((1, 1, 1), size=len(faces))
    on = np.einsum("tk,tki->ti", weights, vertices[faces])
    assert ground.contains(on - 1e-6 * ground.normals).all()
    assert not ground.contains(on + 1e-9 * ground.normals).any()
    assert (ground.depths <= 0.4).all()


def test_prisms_of_a_sharp_ridge_stay_inside_it():
    """A roof of 50 degrees: straight prisms would come out at the other side."""
    w = math.tan(math.radians(25))
    vertices = [(-w, 0, -1), (-w, 3, -1), (0, 0, 0), (0, 3, 0), (w, 0, -1), (w, 3, -1)]
    faces = [(0, 2, 1), (2, 3, 1), (2, 4, 3), (4, 5, 3)]
    roof = TriangleMesh(vertices, faces, thickness=1.0)
    ridge = math.pi - math.radians(50)
    np.testing.assert_allclose(np.sort(roof.bends.ravel())[-2:], ridge, rtol=1e-12)
    assert (roof.normals[:, 2] > 0).all()
    for piece in roof.pieces():
        points = piece.offset + piece.floats[:18].reshape(6, 3)
        assert (np.abs(points[:, 0]) <= -points[:, 2] * w + 1e-12).all()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 100_000), st.integers(5, 30), st.floats(0.05, 1.0))
def test_prisms_of_a_closed_convex_mesh_stay_inside_it(seed, n, flatness):
    """Knife edges, needles and flat bodies too."""
    points = np.random.default_rng(seed).normal(size=(n, 3)) * (1.0, flatness, 1.0)
    hull = ConvexPolyhedron.hull(points)
    planes = hull.topology.planes
    for piece in TriangleMesh(*hull.mesh()).pieces():
        corners = piece.offset + piece.floats[:18].reshape(6, 3)
        assert (corners @ planes[:, :3].T - planes[:, 3]).max() < 1e-12


def test_valleys_are_not_filled():
    vertices = [(-1, 0, 1), (-1, 3, 1), (0, 0, 0), (0, 3, 0), (1, 0, 1), (1, 3, 1)]
    faces = [(0, 2, 1), (2, 3, 1), (2, 4, 3), (4, 5, 3)]
    valley = TriangleMesh(vertices, faces, thickness=0.5)
    assert valley.bends.min() == pytest.approx(-math.pi / 2)
    assert valley.bends.max() == 0.0
    np.testing.assert_array_equal(
        valley.contains([(0, 1.5, 0.01), (0.5, 1.5, 0.51), (1e-3, 1.5, -0.01), (1e-3, 1.5, -0.3)]),
        [False, False, True, True],
    )
    np.testing.assert_array_equal(valley.neighbours, [[-1, 1, -1], [2, -1, 0], [-1, 3, 1],
                                                      [-1, -1, 2]])  # fmt: skip


def test_closed_thin_meshes_have_thin_prisms():
    """A plate: no prism reaches out of the other side."""
    plate = TriangleMesh(*Box(2.0, 1.0, 0.02).mesh())
    assert plate.depths.max() <= 0.5
    for piece in plate.pieces():
        points = piece.offset + piece.floats[:18].reshape(6, 3)
        assert Box(2.0, 1.0, 0.02).contains((1 - 1e-9) * points).all()


def test_triangles_that_repeat_their_corners_are_still_neighbours():
    vertices, faces = hills(3)
    soup = TriangleMesh(vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3))
    np.testing.assert_array_equal(soup.neighbours, TriangleMesh(vertices, faces).neighbours)
    assert repr(soup) == "TriangleMesh(24 vertices, 8 faces)"
    v, f = soup.mesh()
    assert (v.shape, f.shape) == ((24, 3), (8, 3))
