"""Boxes of geoms against dense samples of their surfaces, poses against matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.geometry.poses import rotation
from drystone.geometry.shapes import (
    Box,
    Capsule,
    Capsule2D,
    Cone,
    ConvexPolyhedron,
    Cylinder,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HalfSpace,
    Polygon,
    Sphere,
    Superquadric,
)
from drystone.kernels.bounds import bounds_planar, bounds_spatial
from drystone.kernels.pairs import PosedGeoms
from drystone.kernels.poses import geom_poses_planar, geom_poses_spatial

pytestmark = pytest.mark.kernels

PLANAR = [
    Disk(0.7),
    Ellipse(1.0, 0.3),
    Capsule2D(1.0, 0.2),
    Polygon([(0, 0), (2, 0.1), (2.2, 1.0), (0.7, 1.5)]),
]
SPATIAL = [
    Sphere(0.7),
    Ellipsoid(1.0, 0.5, 0.2),
    Superquadric(1.0, 0.5, 0.7, 0.5, 0.5),
    Superquadric(1.0, 0.5, 0.7, 0.9, 0.3),
    Superquadric(1.0, 0.5, 0.7, 0.2, 1.0),
    Capsule(1.0, 0.2),
    Cylinder(1.0, 0.3),
    Cylinder(0.2, 0.7),
    Cone(1.0, 0.3),
    Cone(0.3, 1.0),
    Box(1.0, 0.5, 0.2),
    ConvexPolyhedron.hull(np.random.default_rng(1).normal(size=(20, 3)) + 3.0),
]


def boxes(shapes, position, turn, margin=0.0):
    """Boxes (n, dim) of the first piece of each shape, all with one pose of the shape's frame."""
    pieces = [shape.pieces()[0].moved(position, turn) for shape in shapes]
    n, dim = len(pieces), position.size
    first = np.cumsum([0, *(p.floats.size for p in pieces)])
    first_int = np.cumsum([0, *(p.ints.size for p in pieces)])
    lower, upper = np.empty((n, dim)), np.empty((n, dim))
    geoms = PosedGeoms(
        np.array([p.offset for p in pieces]),
        np.array([p.turn for p in pieces]),
        np.array([p.kind for p in pieces]),
        first,
        np.concatenate([p.floats for p in pieces]),
        first_int,
        np.concatenate([p.ints for p in pieces]),
    )
    fill = bounds_planar if geoms.x.shape[1] == 2 else bounds_spatial
    fill(np.arange(n), geoms, np.full(n, margin), lower, upper)
    return lower, upper


def surface(shape, n):
    return shape.outline(n) if shape.dim == 2 else shape.mesh(n)[0]


def check(shapes, position, turn, n, gap):
    """No sample is outside its box, and the box is no larger than the samples but for their
    spacing, whose square `gap` bounds."""
    lower, upper = boxes(shapes, position, turn)
    for shape, low, high in zip(shapes, lower, upper, strict=True):
        points = position + surface(shape, n) @ turn.T
        slack = 1e-12 * (1 + np.abs(position).max() + shape.bounding_radius)
        least, most = points.min(axis=0), points.max(axis=0)
        assert (low <= least + slack).all(), shape
        assert (high >= most - slack).all(), shape
        assert (least - low).max() <= gap * shape.bounding_radius, shape
        assert (high - most).max() <= gap * shape.bounding_radius, shape


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.floats(-4, 4), st.floats(-5, 5), st.floats(-5, 5))
def test_planar_boxes_hold_the_outlines_and_no_more(angle, x, y):
    check(PLANAR, np.array([x, y]), rotation("", angle, 2), n=500, gap=5e-5)


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.integers(0, 100_000))
def test_spatial_boxes_hold_the_surfaces_and_no_more(seed):
    rng = np.random.default_rng(seed)
    check(SPATIAL, rng.normal(size=3), rotation("", rng.normal(size=4), 3), n=200, gap=1e-3)


def test_boxes_along_the_axes_are_exact():
    lower, upper = boxes(SPATIAL[:-1], np.array([1.0, 2.0, 3.0]), np.eye(3))
    half = np.array(
        [
            [0.7, 0.7, 0.7],
            [1.0, 0.5, 0.2],
            [1.0, 0.5, 0.7],
            [1.0, 0.5, 0.7],
            [1.0, 0.5, 0.7],
            [0.2, 0.2, 0.7],
            [0.3, 0.3, 0.5],
            [0.7, 0.7, 0.1],
            [0.3, 0.3, 0.75],
            [1.0, 1.0, 0.225],
            [0.5, 0.25, 0.1],
        ]
    )
    below = half.copy()
    below[8:10, 2] /= 3.0  # cones stand a quarter of their height below the centroid
    np.testing.assert_allclose(upper - [1.0, 2.0, 3.0], half, atol=1e-14)
    np.testing.assert_allclose(lower - [1.0, 2.0, 3.0], -below, atol=1e-14)


@pytest.mark.parametrize("shapes", [PLANAR, SPATIAL], ids=["planar", "spatial"])
def test_margins_inflate(shapes):
    dim = shapes[0].dim
    turn = rotation("", 0.4 if dim == 2 else (0.9, 0.1, -0.3, 0.4), dim)
    lower, upper = boxes(shapes, np.zeros(dim), turn)
    low, high = boxes(shapes, np.zeros(dim), turn, margin=0.25)
    np.testing.assert_allclose(low, lower - 0.25, rtol=0, atol=1e-15 * 16)
    np.testing.assert_allclose(high, upper + 0.25, rtol=0, atol=1e-15 * 16)


def test_ground_has_no_bounds():
    for shape in (HalfPlane((1, 2), 3.0), HalfSpace((0, 0, 1))):
        lower, upper = boxes([shape], np.zeros(shape.dim), np.eye(shape.dim), margin=0.1)
        assert (lower == -math.inf).all()
        assert (upper == math.inf).all()


def test_superquadrics_of_exponent_one_are_ellipsoids():
    turn = rotation("", (0.3, 0.5, -0.2, 0.8), 3)
    shapes = [Superquadric(1.0, 0.5, 0.2, 1.0, 1.0), Ellipsoid(1.0, 0.5, 0.2)]
    lower, upper = boxes(shapes, np.zeros(3), turn)
    np.testing.assert_allclose(lower[0], lower[1], rtol=1e-14)
    np.testing.assert_allclose(upper[0], upper[1], rtol=1e-14)


def test_poses_are_those_of_matrices():
    rng = np.random.default_rng(5)
    body = np.array([2, 0, 2, 1])
    for dim, fill in ((2, geom_poses_planar), (3, geom_poses_spatial)):
        position, offset = rng.normal(size=(3, dim)), rng.normal(size=(4, dim))
        orientation = rng.normal(size=3) if dim == 2 else rng.normal(size=(3, 4))
        if dim == 3:
            orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
        turn = np.array(
            [rotation("", rng.normal(size=4) if dim == 3 else rng.normal(), dim) for _ in body]
        )
        x, R = np.empty((4, dim)), np.empty((4, dim, dim))
        fill(body, offset, turn, position, orientation, x, R)
        for g, b in enumerate(body):
            Q = rotation("", orientation[b], dim)
            np.testing.assert_allclose(x[g], position[b] + Q @ offset[g], atol=1e-14)
            np.testing.assert_allclose(R[g], Q @ turn[g], atol=1e-14)


def test_unturned_bodies_keep_their_numbers_to_the_bit():
    body, offset = np.array([0]), np.array([[0.1, 0.2, 0.3]])
    x, R = np.empty((1, 3)), np.empty((1, 3, 3))
    turn = rotation("", (0.3, 0.5, -0.2, 0.8), 3)[None]
    still = np.array([[1.0, 0.0, 0.0, 0.0]])
    geom_poses_spatial(body, offset, turn, np.zeros((1, 3)), still, x, R)
    np.testing.assert_array_equal(x, offset)
    np.testing.assert_array_equal(R, turn)
