"""First hits of rays against closed forms."""

import math

import numpy as np
import pytest

from drystone.geometry.shapes import Box, ConvexPolyhedron
from drystone.kernels.mesh_rays import first_hits

pytestmark = pytest.mark.kernels


def hits(shape, start, direction, least=0.0):
    vertices, faces = shape.mesh()
    out = np.empty(len(start))
    triangles = vertices[faces]
    first_hits(np.array(start, float), np.array(direction, float), triangles, least, out)
    return out


def test_rays_at_a_box():
    """From inside, from outside, past it, along a face, away from it; t scales with direction."""
    box = Box(2, 4, 6)
    start = [(0.1, 0.2, 0.3), (5, 0.2, 0.3), (5, 3, 0), (0.3, 5, 3), (5, 0.2, 0.3), (0.1, 0.2, 0)]
    direction = [(0, 0, 1), (-1, 0, 0), (-1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 10)]
    np.testing.assert_allclose(
        hits(box, start, direction), [2.7, 4, math.inf, math.inf, math.inf, 0.3], rtol=1e-15
    )


def test_hits_nearer_than_asked_are_passed_over():
    np.testing.assert_allclose(
        hits(Box(2, 2, 2), [(5, 0.2, 0.3)], [(-1, 0, 0)], least=4.5), [6.0], rtol=1e-15
    )


def test_rays_from_inside_a_hull_leave_by_the_nearest_plane():
    rng = np.random.default_rng(2)
    hull = ConvexPolyhedron.hull(rng.normal(size=(15, 3)))
    start = np.tile(hull.mass_properties(1.0).centre, (30, 1))
    direction = rng.normal(size=(30, 3))
    planes = hull.topology.planes
    rate = direction @ planes[:, :3].T
    with np.errstate(divide="ignore"):
        t = np.where(rate > 0, (planes[:, 3] - start @ planes[:, :3].T) / rate, math.inf)
    np.testing.assert_allclose(hits(hull, start, direction), t.min(axis=1), rtol=1e-12)
