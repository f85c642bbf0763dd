"""Shapes: what their constructors refuse, the numbers of their geoms, pictures, membership."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.errors import ModelError, ShapeError
from drystone.geometry.poses import rotation
from drystone.geometry.shapes import (
    Box,
    Capsule,
    Capsule2D,
    Compound,
    Cone,
    ConvexPolyhedron,
    Cylinder,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HalfSpace,
    Polygon,
    Rectangle,
    RegularPolygon,
    Sphere,
    Superquadric,
    TriangleMesh,
)
from drystone.kernels import kinds

STAR = [(math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)) for k in range(5)]
CUBE = np.array(list(np.ndindex(2, 2, 2)), dtype=float)

BAD = [
    (lambda: Disk(-1), "Disk: radius must be positive and finite, got -1"),
    (lambda: Disk(0.0), "Disk: radius must be positive and finite, got 0.0"),
    (lambda: Disk(math.nan), "Disk: radius must be positive and finite, got nan"),
    (lambda: Disk("1"), "Disk: radius must be a number, got '1'"),
    (lambda: Disk(None), "Disk: radius must be a number, got None"),
    (lambda: Disk(True), "Disk: radius must be a number, got True"),
    (lambda: Ellipse(1, -2), "Ellipse: b must be positive and finite, got -2"),
    (lambda: Capsule2D(0, 1), "Capsule2D: length must be positive"),
    (lambda: Rectangle(1, math.inf), "Rectangle: height must be positive and finite, got inf"),
    (lambda: RegularPolygon(2, 1), "RegularPolygon: n must be from 3 to 10000, got 2"),
    (lambda: RegularPolygon(3.0, 1), "RegularPolygon: n must be an integer, got 3.0"),
    (lambda: HalfPlane((0, 0)), r"HalfPlane: normal must not be zero, got \[0.0, 0.0\]"),
    (lambda: HalfPlane((0, 1), math.nan), "HalfPlane: offset must be a finite number, got nan"),
    (lambda: HalfPlane((0, 0, 1)), r"HalfPlane: normal must be 2 numbers, got \(0, 0, 1\)"),
    (lambda: Sphere(1e400), "Sphere: radius must be positive and finite, got inf"),
    (lambda: Box(1, 2, -3), "Box: lz must be positive and finite, got -3"),
    (lambda: Capsule(1, 0), "Capsule: radius must be positive"),
    (lambda: Cylinder(-1, 1), "Cylinder: length must be positive"),
    (lambda: Cone(0, 1), "Cone: height must be positive"),
    (lambda: Ellipsoid(1, 1, math.nan), "Ellipsoid: c must be positive and finite, got nan"),
    (lambda: Superquadric(1, 1, 1, 1.5, 1), "Superquadric: e1 must be from 0.1 to 1, got 1.5"),
    (lambda: Superquadric(1, 1, 1, 1, 0.01), "Superquadric: e2 must be from 0.1 to 1, got 0.01"),
    (
        lambda: HalfSpace((0, math.inf, 1)),
        r"HalfSpace: normal must be finite, got \[0.0, inf, 1.0\]",
    ),
    (lambda: Polygon([(0, 0), (1, 0)]), "Polygon: points must be at least 3 points, got 2"),
    (lambda: Polygon([(0, 0, 0)] * 3), r"Polygon: points must have shape \(k, 2\), got \(3, 3\)"),
    (lambda: Polygon("square"), "Polygon: points must"),
    (lambda: Polygon([(0, 0), (1, 0), (math.nan, 1)]), r"points\[2\] must be finite, got \[nan"),
    (lambda: Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]), "vertices 1 and 2 coincide"),
    (lambda: Polygon([(0, 0), (1, 0), (2, 0), (0, 1)]), "vertex 1 at .* line through its neigh"),
    (
        lambda: Polygon([(0, 0), (2, 0), (2, 2), (1.5, 0.5)]),
        r"not convex at vertex 3 at \[1.5, 0.5\]; cut .* ds.decompose_polygon",
    ),
    (
        lambda: Polygon([(1.5, 0.5), (2, 2), (2, 0), (0, 0)]),
        r"not convex at vertex 0 at \[1.5, 0.5\]",
    ),
    (lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]), "crosses itself: edge 0-1 meets edge 2-3"),
    (lambda: Polygon(STAR), "crosses itself: edge 0-1 meets edge 2-3"),
    (lambda: Polygon([(0, 0), (2, 0), (1, 0)]), "boundary turns back on itself at vertex"),
    (
        lambda: ConvexPolyhedron([*CUBE, (0.5, 0.5, 0.02)]),
        r"not convex: point 8 at .* lies 0.02 inside the hull .* use ds.ConvexPolyhedron.hull\(",
    ),
    (lambda: ConvexPolyhedron([*CUBE, (0.5, 0, 0)]), "point 8 at .* lies on its surface"),
    (lambda: ConvexPolyhedron([*CUBE, (1, 1, 0)]), "points 6 and 8 coincide, at"),
    (lambda: ConvexPolyhedron(CUBE[:4]), "the points lie in a plane"),
    (lambda: ConvexPolyhedron(CUBE[:3]), "at least 4 points, got 3"),
    (lambda: Compound([]), "Compound: parts must not be empty"),
    (lambda: Compound(Sphere(1)), "parts must be a list of shapes"),
    (lambda: Compound([(1.0, (0, 0))]), "part 0 must begin with a shape, got 1.0"),
    (lambda: Compound([3]), "part 0 must be a shape or a tuple, got 3"),
    (lambda: Compound([Sphere(1), Disk(1)]), "part 1, Disk.* is planar, but part 0 is spatial"),
    (lambda: Compound([(Disk(1), (0, math.nan))]), "part 0: position must be finite"),
    (lambda: Compound([(Disk(1), (0, 0, 0))]), "part 0: position must be 2 numbers"),
    (lambda: Compound([(Disk(1), (0, 0), (1, 0, 0, 0))]), "part 0: angle must be 1 numbers"),
    (lambda: Compound([(Sphere(1), (0, 0, 0), 0.3)]), "part 0: orientation must be 4 numbers"),
    (lambda: Compound([(Sphere(1), (0, 0, 0), (0, 0, 0, 0))]), "part 0: orientation must be a"),
    (lambda: Compound([(Sphere(1), (0, 0, 0), (1, 0, 0, 0), 1)]), "got 4 items"),
    (lambda: TriangleMesh(CUBE, [[0, 1]]), r"faces must have shape \(k, 3\), k > 0, got \(1, 2\)"),
    (lambda: TriangleMesh(CUBE, [[0, 1, 8]]), r"faces\[0\] = \[0, 1, 8\] names a vertex"),
    (lambda: TriangleMesh(CUBE, [[0, 1, 1]]), r"faces\[0\] = \[0, 1, 1\] has no area"),
    (lambda: TriangleMesh(CUBE, [[0.5, 1, 2]]), "faces must be integers"),
    (lambda: TriangleMesh(CUBE, [[0, 1, 2], [0, 1, 3]]), "faces 0 and 1 both run along the edge"),
    (lambda: TriangleMesh(CUBE, [[0, 1, 2]], -1.0), "thickness must be positive"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_shapes_that_make_no_sense(make, message):
    with pytest.raises(ShapeError, match=message) as caught:
        make()
    assert isinstance(caught.value, ModelError)


BOUNDED = [
    Disk(0.7),
    Ellipse(1.0, 0.3),
    Capsule2D(1.0, 0.2),
    Rectangle(1.0, 2.0),
    RegularPolygon(7, 0.5),
    Polygon([(0, 0), (2, 0.1), (2.2, 1.0), (0.7, 1.5)]),
    Sphere(0.7),
    Ellipsoid(1.0, 0.5, 0.2),
    Superquadric(1.0, 0.5, 0.7, 0.5, 0.5),
    Superquadric(1.0, 1.0, 1.0, 0.2, 1.0),
    Capsule(1.0, 0.2),
    Cylinder(1.0, 0.3),
    Cone(1.0, 0.3),
    Cone(0.2, 1.0),
    Box(1.0, 0.5, 0.2),
    ConvexPolyhedron(CUBE),
    Compound([(Box(1, 1, 1), (1, 0, 0)), (Sphere(0.3), (0, 2, 0), (0, 1, 0, 0))]),
]
names = [type(shape).__name__ for shape in BOUNDED]


def surface(shape, n=64):
    return shape.outline(n) if shape.dim == 2 else shape.mesh(n)[0]


@pytest.mark.parametrize("shape", BOUNDED[:-1], ids=names[:-1])
def test_surfaces_lie_on_the_boundary(shape):
    """Points of pictures are just inside when drawn in, just outside when blown up."""
    points = surface(shape)
    centre = shape.mass_properties(1.0).centre
    assert shape.contains(centre + (1 - 1e-9) * (points - centre)).all()
    assert not shape.contains(centre + (1 + 1e-9) * (points - centre)).any()
    assert shape.contains(points[:3]).shape == (3,)
    assert shape.contains(points[0]).shape == ()


@pytest.mark.parametrize("shape", BOUNDED, ids=names)
def test_radii_are_the_least_about_each_geom(shape):
    """The radius of a geom is reached by its surface (to the square of the samples' spacing)."""
    if isinstance(shape, Compound):
        assert shape.bounding_radius >= np.linalg.norm(surface(shape), axis=1).max() - 1e-12
        return
    (piece,) = shape.pieces()
    reach = np.linalg.norm(surface(shape, 400) - piece.offset, axis=1).max()
    assert reach <= piece.radius * (1 + 1e-14)
    assert reach >= piece.radius * (1 - 1e-3)


@pytest.mark.parametrize("shape", [s for s in BOUNDED if s.dim == 3], ids=repr)
def test_meshes_are_closed_and_face_outwards(shape):
    vertices, faces = shape.mesh(16)
    directed = {(int(a), int(b)) for f in faces for a, b in zip(f, np.roll(f, -1), strict=True)}
    assert len(directed) == 3 * len(faces)
    assert all((b, a) in directed for a, b in directed)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    volume = np.einsum("ti,ti->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(shape.mass_properties(1.0).mass, rel=0.15)


@pytest.mark.parametrize("shape", [s for s in BOUNDED if s.dim == 2], ids=repr)
def test_outlines_go_round_counter_clockwise(shape):
    p = shape.outline(200)
    q = np.roll(p, -1, axis=0)
    area = 0.5 * (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum()
    assert area == pytest.approx(shape.mass_properties(1.0).mass, rel=1e-3)
    assert [o.shape for o in shape.outlines(200)] == [p.shape]


def test_the_numbers_of_each_kind():
    table = [
        (Disk(2), kinds.DISK, [2]),
        (Ellipse(2, 1), kinds.ELLIPSE, [2, 1]),
        (Capsule2D(2, 3), kinds.CAPSULE_2D, [1, 3]),
        (Rectangle(2, 4), kinds.POLYGON, [-1, -2, 1, -2, 1, 2, -1, 2]),
        (Sphere(2), kinds.SPHERE, [2]),
        (Ellipsoid(1, 2, 3), kinds.ELLIPSOID, [1, 2, 3]),
        (Superquadric(1, 2, 3, 0.5, 0.7), kinds.SUPERQUADRIC, [1, 2, 3, 0.5, 0.7]),
        (Capsule(2, 3), kinds.CAPSULE, [1, 3]),
        (Cylinder(2, 3), kinds.CYLINDER, [1, 3]),
        (Cone(2, 3), kinds.CONE, [2, 3]),
    ]
    for shape, kind, floats in table:
        (piece,) = shape.pieces()
        assert piece.kind == kind
        np.testing.assert_array_equal(piece.floats, floats)
        np.testing.assert_array_equal(piece.offset, np.zeros(shape.dim))
        np.testing.assert_array_equal(piece.turn, np.eye(shape.dim))
        assert piece.ints.size == 0
        assert piece.floats.dtype == np.float64
        assert piece.ints.dtype == np.int64


def test_polygons_stand_at_their_centroids():
    (piece,) = Polygon([(1, 1), (1, 3), (5, 3), (5, 1)]).pieces()  # clockwise: turned round
    np.testing.assert_array_equal(piece.offset, [3, 2])
    v = piece.floats.reshape(-1, 2)
    assert {tuple(p) for p in v.tolist()} == {(-2, -1), (2, -1), (2, 1), (-2, 1)}
    w = np.roll(v, -1, axis=0)
    assert (v[:, 0] * w[:, 1] - v[:, 1] * w[:, 0] > 0).all()


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 2, 3), (-1, 0, 0), (3, -4, -1e-9)])
def test_half_spaces_stand_on_their_normals(normal):
    shape = HalfSpace(normal, 2.0)
    (piece,) = shape.pieces()
    n = np.array(normal) / np.linalg.norm(normal)
    np.testing.assert_allclose(piece.turn[:, 2], n, atol=1e-15)
    np.testing.assert_allclose(piece.turn.T @ piece.turn, np.eye(3), atol=1e-15)
    assert np.linalg.det(piece.turn) == pytest.approx(1)
    assert n @ piece.offset == pytest.approx(2.0)
    assert piece.radius == shape.bounding_radius == math.inf
    np.testing.assert_array_equal(shape.contains([1.9 * n, 2.1 * n]), [True, False])
    vertices, faces = shape.mesh()
    np.testing.assert_allclose(vertices @ n, 2.0)
    a, b, c = vertices[faces[0]]
    assert np.cross(b - a, c - a) @ n > 0


@pytest.mark.parametrize("normal", [(0, 1), (0, -1), (3, 4), (-1, 0)])
def test_half_planes_stand_on_their_normals(normal):
    shape = HalfPlane(normal, -2.0)
    (piece,) = shape.pieces()
    n = np.array(normal) / np.linalg.norm(normal)
    np.testing.assert_allclose(piece.turn[:, 1], n, atol=1e-15)
    assert np.linalg.det(piece.turn) == pytest.approx(1)
    assert n @ piece.offset == pytest.approx(-2.0)
    np.testing.assert_array_equal(shape.contains([-2.1 * n, -1.9 * n]), [True, False])
    assert shape.contains(shape.outline() - 1e-9 * n).all()


def test_upright_ground_has_the_axes_of_the_world():
    np.testing.assert_array_equal(HalfSpace().pieces()[0].turn, np.eye(3))
    np.testing.assert_array_equal(HalfPlane().pieces()[0].turn, np.eye(2))


def test_equal_shapes_are_equal_and_immutable():
    assert Box(1, 2, 3) == Box(1.0, 2.0, np.float64(3))
    assert hash(Box(1, 2, 3)) == hash(Box(1.0, 2.0, 3.0))
    assert Box(1, 2, 3) != Box(1, 2, 4)
    assert Sphere(1) != Disk(1)
    assert ConvexPolyhedron(CUBE) == ConvexPolyhedron(CUBE.copy())
    assert Compound([(Disk(1), (0, 1), 0.5)]) == Compound([(Disk(1.0), [0, 1], 0.5)])
    assert len({HalfSpace(), HalfSpace((0, 0, 2)), Sphere(1)}) == 2
    with pytest.raises(AttributeError):
        Sphere(1).radius = 2
    with pytest.raises(ValueError, match="read-only"):
        ConvexPolyhedron(CUBE).points[0] = 7


def test_constructors_do_not_keep_the_callers_array():
    points = CUBE.copy()
    shape = ConvexPolyhedron(points)
    points[:] = 0
    assert shape.mass_properties(1).mass == pytest.approx(1)


def test_points_to_ask_about_are_checked():
    with pytest.raises(ShapeError, match=r"points must have shape \(..., 3\), got \(2,\)"):
        Sphere(1).contains([0, 0])


def test_rotations_against_scipy():
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(20, 4)):
        expected = Rotation.from_quat(q, scalar_first=True).as_matrix()
        np.testing.assert_allclose(rotation("", q, 3), expected, atol=1e-14)
    np.testing.assert_allclose(rotation("", math.pi / 2, 2), [[0, -1], [1, 0]], atol=1e-15)


def test_large_convex_polygons_are_cheap_to_check():
    assert len(Polygon(RegularPolygon(5000, 1.0).vertices).points) == 5000
