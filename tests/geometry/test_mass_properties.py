"""Mass properties against quadrature that knows only which points a shape contains, against
other decompositions of the same body, and against numbers worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from drystone.errors import ModelError
from drystone.geometry.mass_properties import (
    MassProperties,
    check_inertia,
    combined,
    of_mesh,
    of_polygon,
    rotated_inertia,
)
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

# Shapes that hold their origin, and how far the radial quadrature below can be trusted: it is
# spectral where the surface is smooth, of second order in the grid across edges and ridges, and
# of an order below four where only the third derivatives jump (capsules, small exponents).
SPATIAL = [
    (Sphere(0.7), 1e-12),
    (Ellipsoid(1.0, 0.8, 0.6), 1e-10),
    (Superquadric(1.0, 0.8, 0.6, 1.0, 1.0), 1e-10),
    (Superquadric(1.0, 0.8, 0.6, 0.5, 0.5), 1e-6),
    (Superquadric(0.6, 0.8, 0.7, 0.8, 0.3), 1e-4),
    (Superquadric(0.6, 0.8, 0.7, 0.3, 0.9), 1e-4),
    (Capsule(1.0, 0.4), 1e-4),
    (Cylinder(1.0, 0.4), 1e-3),
    (Cone(1.0, 0.5), 1e-3),
    (Box(1.0, 0.7, 0.5), 1e-3),
]
PLANAR = [
    (Disk(0.7), 1e-12),
    (Ellipse(1.0, 0.6), 1e-12),
    (Capsule2D(1.0, 0.4), 1e-7),
    (Rectangle(1.0, 0.6), 1e-6),
    (RegularPolygon(5, 0.8), 1e-6),
    (Polygon([(-1, -1), (0.6, -0.5), (0.9, 0.4), (0.1, 1.0)]), 1e-6),
]


def name(value):
    return type(value).__name__ if not isinstance(value, float) else ""


def surface_distance(shape, directions):
    """How far the surface is from the origin along unit directions, by bisection."""
    low = np.zeros(directions.shape[:-1])
    high = np.full(directions.shape[:-1], 1.001 * shape.bounding_radius)
    for _ in range(52):
        middle = 0.5 * (low + high)
        inside = shape.contains(middle[..., None] * directions)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


@pytest.mark.parametrize(("shape", "rtol"), SPATIAL, ids=name)
def test_spatial_shapes_against_quadrature(shape, rtol):
    z, weight = np.polynomial.legendre.leggauss(120)
    angle = 2 * np.pi * (np.arange(240) + 0.5) / 240
    across = np.sqrt(1 - z * z)[:, None]
    d = np.stack(
        (across * np.cos(angle), across * np.sin(angle), np.broadcast_to(z[:, None], (120, 240))),
        axis=-1,
    )
    w = weight[:, None] * (2 * np.pi / 240)
    r = surface_distance(shape, d)
    volume = (w * r**3 / 3).sum()
    first = np.einsum("ij,ijk->k", w * r**4 / 4, d)
    second = np.einsum("ij,ijk,ijl->kl", w * r**5 / 5, d, d)
    got = shape.mass_properties(3.0)
    size = shape.bounding_radius
    assert got.mass == pytest.approx(3.0 * volume, rel=rtol)
    np.testing.assert_allclose(got.centre, first / volume, atol=rtol * size)
    expected = 3.0 * (np.trace(second) * np.eye(3) - second)
    np.testing.assert_allclose(got.inertia, expected, atol=3 * rtol * np.abs(expected).max())


@pytest.mark.parametrize(("shape", "rtol"), PLANAR, ids=name)
def test_planar_shapes_against_quadrature(shape, rtol):
    angle = 2 * np.pi * (np.arange(20_000) + 0.5) / 20_000
    d = np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    r, w = surface_distance(shape, d), 2 * np.pi / 20_000
    area = w * (r**2 / 2).sum()
    centre = w * (r**3 / 3) @ d / area
    about_origin = w * (r**4 / 4).sum()
    got = shape.mass_properties(3.0)
    assert got.mass == pytest.approx(3.0 * area, rel=rtol)
    np.testing.assert_allclose(got.centre, centre, atol=rtol)
    assert got.inertia == pytest.approx(3.0 * (about_origin - area * centre @ centre), rel=3 * rtol)


def test_numbers_by_hand():
    """Textbook values for 12 kg each."""
    box = Box(1.0, 2.0, 3.0).mass_properties(2.0)
    assert box.mass == 12.0
    np.testing.assert_allclose(np.diag(box.inertia), [4 + 9, 1 + 9, 1 + 4], rtol=1e-15)
    rod = Cylinder(2.0, 1.0).mass_properties(6.0 / math.pi)
    np.testing.assert_allclose(np.diag(rod.inertia), [3 + 4, 3 + 4, 6], rtol=1e-15)
    ball = Sphere(1.0).mass_properties(9.0 / math.pi)
    np.testing.assert_allclose(np.diag(ball.inertia), [4.8] * 3, rtol=1e-15)
    cone = Cone(2.0, 1.0).mass_properties(18.0 / math.pi)
    np.testing.assert_allclose(np.diag(cone.inertia), [3.6, 3.6, 3.6], rtol=1e-15)
    plate = Rectangle(1.0, 2.0).mass_properties(6.0)
    assert plate.inertia == pytest.approx(5.0, rel=1e-15)
    disk = Disk(2.0).mass_properties(3.0 / math.pi)
    assert disk.inertia == pytest.approx(24.0, rel=1e-15)


def delaunay_moments(points):
    """Volume, centre and inertia from Delaunay tetrahedra, each by the rule with its corners and
    centroid, which is exact for quadratic functions: (sum of corners / 20 + 4/5 centroid)."""
    corners = points[Delaunay(points).simplices]
    edge = corners[:, 1:] - corners[:, :1]
    volume = np.abs(np.linalg.det(edge)) / 6
    middle = corners.mean(axis=1)
    centre = volume @ middle / volume.sum()
    at = np.concatenate((corners, middle[:, None]), axis=1) - centre
    weight = np.outer(volume, [0.05] * 4 + [0.8])
    second = np.einsum("tk,tki,tkj->ij", weight, at, at)
    return volume.sum(), centre, np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("seed", range(5))
def test_polyhedra_against_delaunay_tetrahedra(seed):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(30, 3))
    points = directions / np.linalg.norm(directions, axis=1, keepdims=True) * [1.0, 0.6, 0.3]
    points += rng.normal(size=3) * 5
    volume, centre, inertia = delaunay_moments(points)
    got = ConvexPolyhedron(points).mass_properties(2.5)
    assert got.mass == pytest.approx(2.5 * volume, rel=1e-12)
    np.testing.assert_allclose(got.centre, centre, rtol=1e-12)
    np.testing.assert_allclose(got.inertia, 2.5 * inertia, rtol=1e-9, atol=1e-12)


def test_polyhedra_against_trimesh():
    trimesh = pytest.importorskip("trimesh")
    points = np.random.default_rng(3).normal(size=(40, 3))
    shape = ConvexPolyhedron.hull(points)
    mesh = trimesh.convex.convex_hull(points)
    got = shape.mass_properties(1.0)
    assert got.mass == pytest.approx(mesh.volume, rel=1e-12)
    np.testing.assert_allclose(got.centre, mesh.center_mass, atol=1e-12)
    np.testing.assert_allclose(got.inertia, mesh.moment_inertia, atol=1e-11)


@pytest.mark.parametrize(
    "shape", [s for s, _ in SPATIAL if not isinstance(s, Box)], ids=lambda s: type(s).__name__
)
def test_meshes_of_curved_shapes_converge_to_them(shape):
    """Pictures and mass agree: the error of an inscribed mesh falls with the square of its size."""
    exact = shape.mass_properties(1.0)
    errors = []
    for n in (24, 48, 96):
        got = of_mesh(*shape.mesh(n), 1.0)
        errors.append(
            max(
                abs(got.mass / exact.mass - 1),
                np.abs(
                    got.inertia / exact.inertia[0, 0] - exact.inertia / exact.inertia[0, 0]
                ).max(),
            )
        )
    assert errors[2] < 0.01
    assert errors[0] / errors[1] > 2.5
    assert errors[1] / errors[2] > 2.5


angles = st.floats(-3, 3)
shifts = st.lists(st.floats(-10, 10), min_size=3, max_size=3)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 10_000), shifts)
def test_polyhedra_move_with_their_frames(seed, shift):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 3))
    shift, turn = np.array(shift), rotation("test", rng.normal(size=4), 3)
    here = ConvexPolyhedron.hull(points).mass_properties(1.0)
    there = ConvexPolyhedron.hull(points @ turn.T + shift).mass_properties(1.0)
    moved = here.moved(shift, turn)
    assert there.mass == pytest.approx(moved.mass, rel=1e-9)
    np.testing.assert_allclose(there.centre, moved.centre, atol=1e-9)
    np.testing.assert_allclose(there.inertia, moved.inertia, atol=1e-9)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(angles, shifts)
def test_polygons_move_with_their_frames(angle, shift):
    points = np.array([(0, 0), (2, 0.1), (2.2, 1.0), (0.7, 1.5)])
    turn = rotation("test", angle, 2)
    here = Polygon(points).mass_properties(1.0).moved(np.array(shift[:2]), turn)
    there = Polygon(points @ turn.T + shift[:2]).mass_properties(1.0)
    np.testing.assert_allclose(there.centre, here.centre, atol=1e-12)
    assert there.inertia == pytest.approx(here.inertia, rel=1e-11)


def test_far_from_the_origin_nothing_cancels():
    near = Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]).mass_properties(1.0)
    far = Polygon([(1e6, 1e6), (1e6 + 1, 1e6), (1e6 + 1, 1e6 + 1), (1e6, 1e6 + 1)])
    assert far.mass_properties(1.0).inertia == pytest.approx(near.inertia, rel=1e-9)


def test_a_box_cut_in_two_is_the_same_box():
    whole = Box(1.0, 2.0, 3.0).mass_properties(7.0)
    halves = Compound([(Box(1.0, 2.0, 1.0), (0, 0, -1)), (Box(1.0, 2.0, 2.0), (0, 0, 0.5))])
    got = halves.mass_properties(7.0)
    assert got.mass == pytest.approx(whole.mass, rel=1e-14)
    np.testing.assert_allclose(got.centre, whole.centre, atol=1e-14)
    np.testing.assert_allclose(got.inertia, whole.inertia, atol=1e-12)


def test_a_capsule_is_a_cylinder_and_a_cut_ball():
    """Parallel axes: half balls have their centres 3/8 r off their flat sides."""
    r, length, rho = 0.3, 0.9, 2.0
    half = 2 / 3 * math.pi * r**3 * rho
    own = np.diag([83 / 320, 83 / 320, 2 / 5]) * half * r**2
    ends = [
        MassProperties(half, np.array([0, 0, s * (length / 2 + 0.375 * r)]), own) for s in (1, -1)
    ]
    expected = combined([Cylinder(length, r).mass_properties(rho), *ends])
    got = Capsule(length, r).mass_properties(rho)
    assert got.mass == pytest.approx(expected.mass, rel=1e-14)
    np.testing.assert_allclose(got.inertia, expected.inertia, atol=1e-15)


def test_overlapping_parts_count_twice():
    assert Compound([Sphere(1.0), Sphere(1.0)]).mass_properties(1.0).mass == pytest.approx(
        2 * Sphere(1.0).mass_properties(1.0).mass
    )


def test_inertia_about_another_point():
    box = Box(1.0, 2.0, 3.0).mass_properties(2.0)
    corner = np.array([0.5, 1.0, 1.5])
    about = box.inertia_about(corner)  # of a box about its corner: m/3 (b^2 + c^2), -m/4 ab
    np.testing.assert_allclose(np.diag(about), [4 * 13, 4 * 10, 4 * 5], rtol=1e-14)
    assert about[0, 1] == pytest.approx(-12 / 4 * 2)
    assert box.scaled_to(6.0).inertia[0, 0] == pytest.approx(6.5)


def test_rotated_inertia_is_that_of_the_rotated_box():
    inertia = np.diag([1.0, 2.0, 2.5])
    quarter = rotation("test", (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), 3)  # x to y
    np.testing.assert_allclose(rotated_inertia(inertia, quarter), np.diag([2, 1, 2.5]), atol=1e-15)


def test_a_polygon_given_by_hand():
    triangle = of_polygon(np.array([(0.0, 0.0), (3.0, 0.0), (0.0, 6.0)]), 2.0)
    assert triangle.mass == 18.0
    np.testing.assert_allclose(triangle.centre, [1.0, 2.0])
    assert triangle.inertia == pytest.approx(18.0 * (9 + 36) / 18)  # m (a^2 + b^2)/18


@pytest.mark.parametrize(
    "shape",
    [HalfPlane(), HalfSpace(), TriangleMesh(np.eye(3), [[0, 1, 2]]), Compound([HalfSpace()])],
    ids=lambda s: type(s).__name__,
)
def test_what_has_no_mass(shape):
    with pytest.raises(ModelError, match="has no mass: fixed bodies only"):
        shape.mass_properties(1.0)


@pytest.mark.parametrize("density", [0.0, -1.0, math.nan, math.inf, "dense", None, True])
def test_densities_are_checked(density):
    with pytest.raises(ModelError, match=r"Sphere: density must be positive and finite, got "):
        Sphere(1.0).mass_properties(density)


@pytest.mark.parametrize(("radius", "density"), [(1e40, 1e200), (1e-40, 1e-210)])
def test_masses_beyond_floats_are_errors(radius, density):
    with pytest.raises(ModelError, match=r"Sphere\(radius=1e.*its mass leaves the range of floats"):
        Sphere(radius).mass_properties(density)


@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9, 1e12])
def test_the_small_moment_of_a_needle_is_exact(ratio):
    """I_xx = m (ly^2 + lz^2) / 12 has nothing to do with lx, however long it is."""
    needle = Box(ratio, 2.0, 3.0).mass_properties(1.0)
    assert needle.inertia[0, 0] == pytest.approx(needle.mass * 13.0 / 12.0, rel=1e-14)
    long = Ellipsoid(ratio, 2.0, 3.0).mass_properties(1.0)
    assert long.inertia[0, 0] == pytest.approx(long.mass * 13.0 / 5.0, rel=1e-14)


def test_inertias_that_are_fine():
    assert check_inertia(2, "wheel", 2) == 2.0
    np.testing.assert_array_equal(check_inertia((1, 2, 3), "thin", 3), np.diag([1.0, 2.0, 3.0]))
    disk = rotated_inertia(np.diag([1.0, 1.0, 2.0]), rotation("", (0.3, 0.5, -0.2, 0.8), 3))
    np.testing.assert_allclose(check_inertia(disk, "disk"), disk)  # flat, but for rounding


@pytest.mark.parametrize(
    ("inertia", "dim", "message"),
    [
        (-1.0, 2, "'b': inertia of a planar body must be one positive number .* got -1.0"),
        ((1.0, 2.0), 2, "one positive number"),
        (math.nan, 2, "must be finite, got nan"),
        ("heavy", 3, "'b': inertia is not made of numbers: 'heavy'"),
        (1.0, 3, r"3 principal moments or a 3 x 3 matrix, got shape \(\)"),
        ((1.0, math.inf, 1.0), 3, "must be finite"),
        ((1.0, -1.0, 1.0), 3, "positive definite, its principal moments are -1, 1, 1"),
        ((1.0, 1.0, 2.1), 3, "principal moments 1, 1, 2.1: the largest exceeds the sum .*, 2$"),
        ((1e308, 1e-308, 1e308), 3, r"at most 1e\+200 kg m\^2"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], 3, r"symmetric, but \[0, 1\] = 0.5 and \[1, 0\] = 0"),
    ],
)
def test_inertias_that_no_body_has(inertia, dim, message):
    with pytest.raises(ModelError, match=message):
        check_inertia(inertia, "b", dim)
