"""The table of smooth pairs: complete, and in agreement with another library where installed."""

import coal
import numpy as np
import pytest

from drystone.geometry.dispatch import GENERAL
from drystone.kernels import kinds
from tests.geometry.kind_tables import NAMES, SPATIAL
from tests.geometry.kind_tables import SMOOTH as ENTRIES
from tests.kernels.spatial.smooth_bodies import nearest_of_each, random_bench

SMOOTH = (kinds.ELLIPSOID, kinds.SUPERQUADRIC)


def test_the_table_is_complete():
    """Spheres with all, smooth bodies among themselves and with polyhedra, all on half-spaces."""
    for kind in SPATIAL:
        assert (kinds.SPHERE, kind) in ENTRIES
        if kind not in (kinds.POLYHEDRON, kinds.HALF_SPACE):
            assert (kind, kinds.HALF_SPACE) in ENTRIES
    for a in SMOOTH:
        assert (a, kinds.POLYHEDRON) in ENTRIES
        assert all((a, b) in ENTRIES for b in SMOOTH if a <= b)
    assert (kinds.CAPSULE, kinds.CAPSULE) in ENTRIES
    assert (kinds.CAPSULE, kinds.POLYHEDRON) in ENTRIES


@pytest.mark.parametrize("pair", sorted(ENTRIES), ids=str)
def test_entries_are_in_order_and_load(pair):
    entry = ENTRIES[pair]
    assert pair[0] <= pair[1]
    assert callable(entry.load())
    assert entry is not GENERAL
    assert len(entry.counters) <= 8


def coal_geometry(solid):
    """The shape in coal, and where our origin lies in its frame (along z)."""
    s = solid.numbers
    if solid.kind == kinds.SPHERE:
        return coal.Sphere(s[0]), 0.0
    if solid.kind == kinds.ELLIPSOID:
        return coal.Ellipsoid(*s), 0.0
    if solid.kind == kinds.CAPSULE:
        return coal.Capsule(s[1], 2 * s[0]), 0.0
    if solid.kind == kinds.CYLINDER:
        return coal.Cylinder(s[1], 2 * s[0]), 0.0
    if solid.kind == kinds.CONE:
        return coal.Cone(s[1], s[0]), -0.25 * s[0]
    if solid.kind == kinds.HALF_SPACE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), 0.0
    points = coal.StdVec_Vec3s()
    points.extend(list(solid.vertices))
    return coal.Convex.convexHull(points, False, "Qt"), 0.0


COAL = [p for p in sorted(ENTRIES) if kinds.SUPERQUADRIC not in p]


@pytest.mark.parametrize("pair", COAL, ids=[f"{NAMES[a]}-{NAMES[b]}" for a, b in COAL])
def test_gaps_and_normals_of_coal(pair):
    bench = random_bench(np.random.default_rng(21), *pair, 60, -0.05, 0.5)
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    for c in nearest_of_each(bench, bench.run()):
        i, _, n, gap, _ = c
        sides = []
        for g in bench.pairs[i]:
            shape, shift = coal_geometry(bench.solids[g])
            origin = bench.x[g] - shift * bench.R[g][:, 2]
            sides += [shape, coal.Transform3s(bench.R[g], origin)]
        result = coal.DistanceResult()
        coal.distance(*sides, request, result)
        assert result.min_distance == pytest.approx(gap, abs=1e-8)
        if abs(gap) > 1e-2:
            np.testing.assert_allclose(-result.normal, n, atol=1e-4)
