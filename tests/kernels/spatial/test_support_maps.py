"""Pieces of the support-map contacts, each against something that shares no code with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.geometry import shapes
from drystone.kernels import kinds as K
from drystone.kernels.spatial import cutting_planes, directions, support, support_pairs
from tests.geometry import pair_calls
from tests.geometry.kind_tables import NAMES, SPATIAL, UNBOUNDED
from tests.geometry.support_bodies import Solid, random_solid, sphere_of_directions

pytestmark = pytest.mark.kernels
KINDS = [k for k in SPATIAL if k not in UNBOUNDED]


def pair(a, b, at, R):
    """Cores of solids a at the origin and b."""
    geoms = pair_calls.posed(
        np.array([[0.0, 0, 0], at]), R, [a.kind, b.kind], np.array([0, a.floats.size]),
        np.concatenate([a.floats, b.floats]), np.array([0, a.ints.size]),
        np.concatenate([a.ints, b.ints, [0]]).astype(np.int64),
    )  # fmt: skip
    cores = support.cores_of(geoms)
    support.set_pair(cores, geoms, 0, 1)
    return cores


@pytest.mark.parametrize("kind", KINDS, ids=NAMES.get)
def test_support_point_reaches_the_support_function(kind):
    rng = np.random.default_rng(kind)
    for _ in range(20):
        a, b = random_solid(kind, rng), random_solid(kind, rng)
        R = Rotation.random(2, random_state=rng).as_matrix()
        at = rng.normal(size=3)
        cores = pair(a, b, at, R)
        ab, label, size = cores.ab, cores.label, cores.size
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        value = support.both(cores, *n)
        h = n @ -at - a.h(-n @ R[0]) - b.h(n @ R[1])
        assert value - size[2] - size[3] == pytest.approx(h, abs=1e-13)
        assert a.level((ab[0] - size[2] * n) @ R[0]) < 1e-12
        assert b.level((ab[1] + size[3] * n - at) @ R[1]) < 1e-12
        # the piece by itself is the same point
        known = ab.copy()
        ab[:] = 0.0
        for s in range(2):
            support.support(cores, s, label[s], *n)
        assert np.array_equal(known, ab)


@pytest.mark.parametrize("kind", [K.CYLINDER, K.CONE, K.SUPERQUADRIC, K.ELLIPSOID], ids=NAMES.get)
def test_support_along_the_axes(kind):
    """Directions where a formula could divide by nothing."""
    solid = random_solid(kind, np.random.default_rng(0))
    cores = pair(solid, solid, np.zeros(3), np.array([np.eye(3)] * 2))
    ab = cores.ab
    for d in np.vstack([np.eye(3), -np.eye(3)]):
        support.both(cores, *d)
        assert d @ ab[1] == pytest.approx(solid.h(d), abs=1e-14)
        assert solid.level(ab[1]) < 1e-12


def test_climbing_finds_the_furthest_vertex():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(200, 3))
    solid = Solid(shapes.ConvexPolyhedron(points / np.linalg.norm(points, axis=1)[:, None]))
    hint = 0
    for d in rng.normal(size=(50, 3)):
        hint = support.best_vertex(solid.floats, 0, solid.ints, 0, *d, hint)
        assert solid.vertices[hint] @ d == pytest.approx(np.max(solid.vertices @ d), abs=1e-14)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 4), shift=st.floats(0, 3))
def test_nearest_point_of_a_simplex(seed, m, shift):
    rng = np.random.default_rng(seed)
    P, lam = rng.normal(size=(4, 3)) + shift, np.zeros(4)
    square = directions.nearest(P, m, lam, np.zeros((2, 4)))
    # min |P^T lam| with sum lam = 1 by non-negative least squares, the sum as a heavy row
    weights = nnls(np.vstack([P[:m].T, 1e6 * np.ones(m)]), [0, 0, 0, 1e6])[0]
    assert square == pytest.approx(np.sum((P[:m].T @ weights) ** 2), abs=1e-5)
    if square > 0:
        assert lam.sum() == pytest.approx(1)
        assert np.sum((P.T @ lam) ** 2) == pytest.approx(square, abs=1e-12)


def hull_pair(seed, at):
    rng = np.random.default_rng(seed)
    a, b = (Solid(shapes.ConvexPolyhedron.hull(rng.normal(size=(9, 3)))) for _ in range(2))
    R = Rotation.random(2, random_state=rng).as_matrix()
    return a, b, R, pair(a, b, np.asarray(at, float), R)


def differences(a, b, R, at):
    """All a - b of vertices: their hull is the Minkowski difference."""
    va, vb = a.vertices @ R[0].T, b.vertices @ R[1].T + at
    return (va[:, None] - vb[None]).reshape(-1, 3)


@pytest.mark.parametrize("seed", range(8))
def test_distance_of_polyhedra(seed):
    at = np.array([4.5, 1.0, -0.5])
    a, b, R, cores = hull_pair(seed, at)
    n, P, labels, lam = (
        -at / np.linalg.norm(at),
        np.zeros((4, 3)),
        np.zeros((4, 2), int),
        np.zeros(4),
    )
    stats = np.zeros(8, np.int64)
    state, m = directions.distance(
        cores, 10.0, 1e-3, 1e-12, n, P, labels, lam, np.zeros((2, 4)), stats
    )
    C = differences(a, b, R, at)
    planes = minimize(
        lambda v: 0.5 * v @ v - np.min(C @ v), np.min(C @ n) * n, method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000},
    )  # fmt: skip
    assert state == directions.DISTANCE_FOUND
    assert 1 <= m <= 3
    # max over n of min n . c, squared over 2, is the dual of the distance
    assert np.min(C @ n) ** 2 / 2 == pytest.approx(-planes.fun, abs=1e-7)


def greatest_points(cores, tol, n, mid):
    bundle = np.empty((cutting_planes.BUNDLE, 6))
    _, kept, _ = cutting_planes.greatest_separation(cores, tol, n, bundle)
    return cutting_planes.facing_points(cores, bundle, kept, tol, n, mid)


@pytest.mark.parametrize("seed", range(8))
def test_depth_of_polyhedra(seed):
    """Least distance from the origin to the faces of the Minkowski difference, by Qhull."""
    at = np.array([0.6, -0.4, 0.5])
    a, b, R, cores = hull_pair(seed, at)
    depth = -ConvexHull(differences(a, b, R, at)).equations[:, 3].max()
    n, mid = -at / np.linalg.norm(at), np.zeros(3)
    g, loss = greatest_points(cores, 1e-9, n, mid)
    assert -g == pytest.approx(depth, abs=1e-9)  # the tolerance
    assert loss < 1e-9
    labels = np.zeros((4, 2), int)
    good, _, g = directions.polish(cores, 0, n, labels, mid, np.zeros(8, int))
    assert good
    assert -g == pytest.approx(depth, abs=1e-12)


@pytest.mark.parametrize("kind", [K.ELLIPSOID, K.SUPERQUADRIC, K.CONE, K.POLYHEDRON], ids=NAMES.get)
def test_of_many_maxima_in_penetration_the_greatest_is_found(kind):
    """Thin bodies deep in each other, from any first direction; by 4000 directions all around."""
    rng, all_around = np.random.default_rng(8), sphere_of_directions(4000)
    for _ in range(10):
        f = 10 ** rng.uniform(-2, 0, 3)
        a = {
            K.ELLIPSOID: shapes.Ellipsoid(*f), K.SUPERQUADRIC: shapes.Superquadric(*f, 0.4, 0.7),
            K.CONE: shapes.Cone(*f[:2]), K.POLYHEDRON: shapes.Box(*f),
        }[kind]  # fmt: skip
        a, b = Solid(a), Solid(shapes.Ellipsoid(0.7, 0.5, 0.02))
        R, at = Rotation.random(2, random_state=rng).as_matrix(), 0.2 * rng.normal(size=3)
        cores, found = pair(a, b, at, R), []
        around = cores.size[2] + cores.size[3]
        for n in rng.normal(size=(4, 3)):
            n /= np.linalg.norm(n)
            bundle = np.empty((cutting_planes.BUNDLE, 6))
            g, _, spent = cutting_planes.greatest_separation(cores, 1e-10, n, bundle)
            assert spent < 2000
            found.append(g - around)
        assert np.ptp(found) < 1e-9
        others = all_around @ -at - a.h(-all_around @ R[0]) - b.h(all_around @ R[1])
        assert found[0] >= others.max() - 1e-9


@pytest.mark.parametrize("kind", [K.CYLINDER, K.CONE, K.SUPERQUADRIC, K.POLYHEDRON], ids=NAMES.get)
def test_a_maximum_that_is_called_the_greatest_is(kind):
    """Local maxima of pairs deep and shallow in each other: what is proved by a few support points
    agrees with cutting planes; shallow ones are proved, but for corners on corners."""
    rng, asked, proved = np.random.default_rng(3), 0, 0
    bundle = np.empty((cutting_planes.BUNDLE, 6))
    for i in range(60):
        a, b = random_solid(kind, rng), random_solid(K.CYLINDER, rng)
        R = Rotation.random(2, random_state=rng).as_matrix()
        if i % 3 == 0:
            R[1] = R[0]
        way, depth = rng.normal(size=3), 10 ** rng.uniform(-9, -0.5)
        way /= np.linalg.norm(way)
        at = -way * (a.h(-way @ R[0]) + b.h(way @ R[1]) + 0.1)
        cores = pair(a, b, at, R)
        tol = cutting_planes.SAME_DEPTH * cores.size[:2].min()
        g, _, _ = cutting_planes.greatest_separation(cores, tol, way, bundle)
        cores = pair(a, b, at + (g + depth) * way, R)
        most, _, _ = cutting_planes.greatest_separation(cores, tol, way.copy(), bundle)
        for n in [way, *rng.normal(size=(6, 3))]:
            n, mid = n / np.linalg.norm(n), np.zeros(3)
            good, _, g = directions.polish(
                cores, 0, n, np.zeros((4, 2), int), mid, np.zeros(8, int)
            )
            if not good or g >= 0.0:
                continue
            if directions.is_greatest(cores, n, g):
                assert g >= most - 2.0 * tol
                proved += most > -1e-4
            asked += most > -1e-4 and g >= most - 2.0 * tol
    assert proved >= 0.9 * asked > 0


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 4))
def test_model_step_is_the_maximum(seed, m):
    rng = np.random.default_rng(seed)
    g, q = rng.normal(size=4), rng.normal(size=(4, 2))
    A = rng.normal(size=(2, 2))
    A = A @ A.T + 0.1 * np.eye(2)
    lam, step = np.zeros(4), np.zeros(2)
    H = np.array([A[0, 0], A[0, 1], A[1, 1]])
    assert directions.best_step(m, g, q, H, lam, step)
    np.testing.assert_allclose(A @ step, q[:m].T @ lam[:m], atol=1e-9)  # stationary
    heights = g[:m] + q[:m] @ step
    np.testing.assert_allclose(heights[lam[:m] > 1e-9], heights.min(), atol=1e-9)
    assert lam[:m].sum() == pytest.approx(1)


def test_cutting_planes_at_a_kink_and_on_a_smooth_body():
    """A cone's apex against an ellipsoid, and two ellipsoids: conditions of the nearest points."""
    rng = np.random.default_rng(5)
    for kinds in ((K.ELLIPSOID, K.CONE), (K.ELLIPSOID, K.ELLIPSOID), (K.CYLINDER, K.POLYHEDRON)):
        a, b = (random_solid(k, rng) for k in kinds)
        R, at = Rotation.random(2, random_state=rng).as_matrix(), np.array([2.0, 1.0, 1.5])
        cores = pair(a, b, at, R)
        n, mid = rng.normal(size=3), np.zeros(3)
        n /= np.linalg.norm(n)
        g, loss = greatest_points(cores, 1e-9, n, mid)
        assert loss < 1e-9
        assert a.level((mid + 0.5 * g * n) @ R[0]) < 1e-9
        assert b.level((mid - 0.5 * g * n - at) @ R[1]) < 1e-9
        assert n @ -at - a.h(-n @ R[0]) - b.h(n @ R[1]) == pytest.approx(g, abs=1e-13)


@pytest.mark.parametrize(
    ("shape", "direction", "points"),
    [
        (shapes.Box(1, 2, 3), (0, 0.03, 1), 4),
        (shapes.Box(1, 2, 3), (0, 1, 1), 2),
        (shapes.Box(1, 2, 3), (1, 1, 1), 1),
        (shapes.Cylinder(1, 0.5), (0, 0.05, -1), support_pairs.CAP_RING),
        (shapes.Cylinder(1, 0.5), (1, 0, 0.05), 2),
        (shapes.Cylinder(1, 0.5), (1, 0, 1), 1),
        (shapes.Cone(2, 0.5), (0.02, 0, -1), support_pairs.CAP_RING),
        (shapes.Cone(2, 0.5), (2, 0, 0.5), 2),
        (shapes.Cone(2, 0.5), (0, 0, 1), 1),
        (shapes.Capsule(1, 0.5), (0, 1, 0.01), 2),
        (shapes.Capsule(1, 0.5), (0, 1, 1), 1),
        (shapes.Sphere(1), (0, 1, 1), 1),
    ],
)
def test_support_features(shape, direction, points):
    solid = Solid(shape)
    cores = pair(solid, solid, np.zeros(3), np.array([np.eye(3)] * 2))
    n = np.array(direction, float)
    n /= np.linalg.norm(n)
    room = support_pairs.ROOM
    P, ids, across = np.empty((room, 3)), np.empty(room, int), np.empty(room)
    out = support_pairs.Feature(P, ids, across)
    k, several = support_pairs.feature_of(cores, 1, n, support_pairs.SINE, out)
    assert k == points
    assert not several
    assert np.unique(ids[:k]).size == k
    core = solid.h(n) - cores.size[3]
    assert np.all(P[:k] @ n <= core + 1e-12)
    assert np.all(solid.level(P[:k]) < 1e-12)
    assert core - (P[:k] @ n).min() <= 2 * support_pairs.SINE * 1.9  # all within the angle


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 10**6), ka=st.integers(2, 6), kb=st.integers(3, 6))
def test_clipping_against_linear_programs(seed, ka, kb):
    """Extreme points of the overlap in random directions: the clipped points reach them."""
    rng = np.random.default_rng(seed)

    def polygon(k):
        angle = (
            np.sort(rng.uniform(0, 2 * np.pi, k))
            if k > 2
            else rng.uniform(0, np.pi) + np.array([0, np.pi])
        )
        uv = np.stack([np.cos(angle), 0.7 * np.sin(angle)], axis=1) + 0.5 * rng.normal(size=2)
        slope = 0.05 * rng.normal(size=2)
        return np.column_stack([uv, uv @ slope])

    A, B = polygon(ka), polygon(kb)
    found, names = np.empty((200, 4)), np.empty(200, np.int64)
    ids = np.arange(10)
    m = support_pairs.clip(ka, kb, A, B, ids, ids, np.zeros(10), np.zeros(10), 1e-9, found, names)
    assert np.unique(names[:m]).size == m
    for d in rng.normal(size=(4, 2)):
        # A's point and B's point as mixtures of corners, the same place
        matrix = np.vstack([
            np.column_stack([A[:, :2].T, -B[:, :2].T]),
            np.repeat([1.0, 0.0], [ka, kb]),
            np.repeat([0.0, 1.0], [ka, kb]),
        ])  # fmt: skip
        cost = -np.concatenate([A[:, :2] @ d, np.zeros(kb)])
        best = linprog(cost, A_eq=matrix, b_eq=[0, 0, 1, 1], bounds=(0, None))
        if best.status == 2:
            assert m == 0
        else:
            assert (found[:m, :2] @ d).max() == pytest.approx(-best.fun, abs=1e-8)


def test_a_polygon_below_rounding_does_not_outgrow_its_room():
    """A cut of a convex one adds a corner at most; a zigzag would have one for each side."""
    k = cutting_planes.CORNERS - 1
    zigzag = np.stack([np.arange(k), (-1.0) ** np.arange(k)], axis=-1)
    kept = np.empty((cutting_planes.CORNERS, 2))
    assert cutting_planes.cut(zigzag, k, 0.0, 0.0, 0.0, 0.0, 1.0, kept) == 0
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    assert cutting_planes.cut(square, 4, 0.0, 0.0, 0.5, 1.0, 0.0, kept) == 4
    assert kept[:4, 0].min() == -0.5
