"""Contacts by support maps: every pair of bounded kinds, proved right from both sides.

For bodies apart, any direction bounds the distance from below and any two points of the bodies
bound it from above; when the answer's direction and its points give the same number, it is the
distance, whoever computed it. In penetration the same pair of facts says that the depth is
stationary, and directions all over the sphere say that no other is much less.
"""

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from drystone.geometry import shapes
from drystone.geometry.dispatch import GENERAL, find
from drystone.kernels import kinds as K
from tests.geometry.kind_tables import NAMES, SPATIAL, UNBOUNDED
from tests.geometry.support_bodies import (
    IDS,
    PAIRS,
    Batch,
    Solid,
    random_batch,
    random_solid,
    sphere_of_directions,
)

EXACT = 1e-9  # of bodies of size 1
SPHERE = sphere_of_directions()
every_pair = pytest.mark.parametrize("kinds", PAIRS, ids=IDS)


def test_every_pair_of_bounded_kinds_has_an_entry():
    bounded = [k for k in SPATIAL if k not in UNBOUNDED]
    assert [(a, b) for a in bounded for b in bounded if a <= b] == PAIRS


def proofs(batch, point, normal, gap):
    """How far the two bounds are from the gap, (np,) each: of the direction and of the points."""
    lower, outside = np.empty(batch.n), np.empty(batch.n)
    for i in range(batch.n):
        lower[i] = abs(batch.g(i, normal[i]) - gap[i])
        half = 0.5 * gap[i] * normal[i]
        outside[i] = batch.levels(i, point[i] + half, point[i] - half)
    return lower, outside


@every_pair
def test_signed_distance(kinds):
    batch = random_batch(kinds, 150, seed=1)
    point, normal, gap = batch.deepest()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-14)
    lower, outside = proofs(batch, point, normal, gap)
    assert lower.max() < EXACT
    assert outside.max() < EXACT
    _, _, _, _, newton, uncertain, fallbacks = batch.stats[:7]
    assert uncertain == 0
    # Newton's method does the work in a few steps; flat points of superquadrics may defeat it
    assert newton < 10 * batch.n
    assert fallbacks < (0.15 if K.SUPERQUADRIC in kinds else 0.05) * batch.n


@every_pair
@pytest.mark.parametrize("depth", [0.0, 1e-8, 1e-4, 1e-2])
def test_penetration(kinds, depth):
    """B moved along the normal: the direction stays stationary, so the depth is known."""
    batch = random_batch(kinds, 60, seed=2)
    _, normal, gap = batch.deepest()
    apart = gap > 0
    batch.bring(gap, normal, np.where(apart, -depth, gap))
    batch.stats[:] = 0
    point, normal, gap = batch.deepest()
    lower, outside = proofs(batch, point, normal, gap)
    assert lower.max() < EXACT
    # at a saddle of the depth the points need not face each other, and the pair is counted
    assert np.sum(outside > 1e-7) <= batch.stats[5] <= 0.1 * batch.n
    assert gap[apart].min() > -depth - 1e-7
    for i in range(batch.n):
        assert batch.g(i, SPHERE).max() < gap[i] + 2e-4


@every_pair
def test_deep_penetration(kinds):
    """Centres close together: the least depth."""
    batch = random_batch(kinds, 30, seed=3)
    batch.x[1::2] *= 0.3
    point, normal, gap = batch.deepest()
    assert gap.max() < 0
    lower, _ = proofs(batch, point, normal, gap)
    assert lower.max() < EXACT
    for i in range(batch.n):
        assert batch.g(i, SPHERE).max() < gap[i] + 5e-4


@every_pair
def test_gradient_of_the_gap_is_the_normal(kinds):
    batch = random_batch(kinds, 40, seed=4)
    _, normal, gap = batch.deepest()
    batch.bring(gap, normal, np.where(gap > 0, -1e-3, gap))  # small penetration
    _, normal, gap = batch.deepest()
    shift = 1e-6
    gradient = np.empty_like(normal)
    for c in range(3):
        moved = []
        for sign in (1, -1):
            batch.x[::2, c] += sign * shift
            moved.append(batch.deepest(fresh=False)[2])
            batch.x[::2, c] -= sign * shift
        gradient[:, c] = (moved[0] - moved[1]) / (2 * shift)
    # kinks of the signed distance (two normals equally deep) and sharp edges are the exception:
    # the third derivative of the gap, about 1/(radius + gap)^2, sets what differences can show
    error = np.linalg.norm(gradient - normal, axis=1)
    assert np.median(error) < 1e-8
    assert np.mean(error < 1e-5) > 0.9


@every_pair
def test_rigid_motion_of_both(kinds):
    batch = random_batch(kinds, 20, seed=5)
    point, normal, gap = batch.deepest()
    turn = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    batch.x = batch.x @ turn.T + [5.0, -3.0, 2.0]
    batch.R = turn @ batch.R
    moved_point, moved_normal, moved_gap = batch.deepest()
    np.testing.assert_allclose(moved_gap, gap, atol=EXACT)
    # a face on a face has many deepest points, any of them an answer
    np.testing.assert_allclose(moved_normal, normal @ turn.T, atol=1e-6)
    unique = np.linalg.norm(moved_point - (point @ turn.T + [5.0, -3.0, 2.0]), axis=1) < 1e-6
    assert unique.mean() > 0.7


@pytest.mark.parametrize("kind", [a for a, b in PAIRS if a == b], ids=NAMES.get)
def test_swapping_the_bodies(kind):
    batch = random_batch((kind, kind), 40, seed=6)
    _, normal, gap = batch.deepest()
    order = np.arange(2 * batch.n).reshape(-1, 2)[:, ::-1].ravel()
    swapped = Batch(batch.b, batch.a, batch.x[order], batch.R[order])
    _, other_normal, other_gap = swapped.deepest()
    np.testing.assert_allclose(other_gap, gap, atol=EXACT)
    np.testing.assert_allclose(other_normal, -normal, atol=1e-6)


@every_pair
def test_distance_by_nonlinear_programming(kinds):
    """min |a - b|^2 over points of both bodies by SLSQP, each body as smooth inequalities."""
    batch = random_batch(kinds, 4, seed=7, aligned=False)
    gap = batch.deepest()[2]
    solved = 0
    for i in np.flatnonzero(gap > 1e-2):
        a, b = 2 * i, 2 * i + 1

        def inside(z, i=i, a=a, b=b):
            pa, pb = (z[:3] - batch.x[a]) @ batch.R[a], (z[3:] - batch.x[b]) @ batch.R[b]
            return np.concatenate([batch.a[i].inequalities(pa), batch.b[i].inequalities(pb)])

        found = minimize(
            lambda z: np.sum((z[:3] - z[3:]) ** 2),
            np.concatenate([batch.x[a], batch.x[b]]) + 1e-3,
            constraints={"type": "ineq", "fun": inside},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 200},
        )
        if found.success and inside(found.x).min() > -1e-9:
            solved += 1
            assert np.sqrt(found.fun) == pytest.approx(gap[i], abs=1e-5)
    assert solved > 0


COAL = [pair for pair in PAIRS if K.SUPERQUADRIC not in pair]  # coal has none


@pytest.mark.parametrize("kinds", COAL, ids=[IDS[PAIRS.index(pair)] for pair in COAL])
def test_against_coal(kinds):
    batch = random_batch(kinds, 60, seed=8, aligned=False)
    gap = batch.deepest()[2]
    for i in range(batch.n):
        objects = []
        for solid, g in ((batch.a[i], 2 * i), (batch.b[i], 2 * i + 1)):
            shape, at = coal_shape(solid), batch.x[g]
            if solid.kind == K.CONE:  # theirs has the middle of its height as origin
                at = at + batch.R[g] @ [0, 0, 0.25 * solid.floats[0]]
            objects += [shape, coal.Transform3s(batch.R[g], at)]
        request = coal.DistanceRequest()
        request.gjk_tolerance = request.epa_tolerance = 1e-8
        request.gjk_max_iterations = request.epa_max_iterations = 1000
        distance = coal.distance(*objects, request, coal.DistanceResult())
        assert gap[i] == pytest.approx(distance, abs=2e-5)  # smooth shapes are hard on theirs


def coal_shape(solid):
    f = solid.floats
    if solid.kind == K.SPHERE:
        return coal.Sphere(f[0])
    if solid.kind == K.ELLIPSOID:
        return coal.Ellipsoid(*f)
    if solid.kind == K.CAPSULE:
        return coal.Capsule(f[1], 2 * f[0])
    if solid.kind == K.CYLINDER:
        return coal.Cylinder(f[1], 2 * f[0])
    if solid.kind == K.CONE:
        return coal.Cone(f[1], f[0])
    points = coal.StdVec_Vec3s()
    for v in solid.vertices:
        points.append(v)
    return coal.Convex.convexHull(points, False, "")


@every_pair
def test_next_step_starts_from_the_last(kinds):
    """Slow motion: the cached direction answers, and says what a fresh search says."""
    batch = random_batch(kinds, 40, seed=9)
    batch.deepest()
    rng = np.random.default_rng(0)
    batch.stats[:] = 0
    for _ in range(3):
        batch.x += 1e-4 * rng.normal(size=batch.x.shape)
        warm = batch.deepest(fresh=False)
    assert batch.stats[0] > 0.8 * 3 * batch.n  # hits
    np.testing.assert_allclose(warm[2], batch.deepest()[2], atol=1e-7)


@every_pair
def test_manifold_points_are_on_both_features(kinds):
    """No point is deeper than the signed distance, and each is its own place on both surfaces."""
    batch = random_batch(kinds, 60, seed=10)
    gap = batch.deepest()[2]
    which, _, normal, gaps, feature = batch(margin=0.1)
    assert np.all(np.diff(which) >= 0)
    assert np.all(gaps <= 0.1)
    assert np.all(gaps >= gap[which] - 1e-12)
    for i in np.unique(which):
        rows = which == i
        assert np.unique(feature[rows]).size == rows.sum()
        assert np.ptp(normal[rows], axis=0).max() == 0
    assert set(np.unique(which)) == set(np.flatnonzero(gap <= 0.1))


@pytest.mark.parametrize(
    "kinds", [p for p in PAIRS if find(*p) is not GENERAL], ids=lambda p: IDS[PAIRS.index(p)]
)
def test_agrees_with_the_pairs_own_kernel(kinds):
    batch = random_batch(kinds, 60, seed=13)
    _, normal, gap = batch.deepest()
    batch.bring(gap, normal, np.linspace(-1e-3, 0.05, batch.n))
    _, normal, gap = batch.deepest(margin=1.0)
    other = Batch(batch.a, batch.b, batch.x, batch.R, entry=find(*kinds))
    _, other_normal, other_gap = other.deepest(margin=1.0)
    np.testing.assert_allclose(other_gap, gap, atol=1e-8)
    defined = gap > 1e-3  # two sharp edges that touch have no normal
    np.testing.assert_allclose(other_normal[defined], normal[defined], atol=1e-5)


def test_no_room_and_no_contact():
    batch = random_batch((K.CYLINDER, K.POLYHEDRON), 10, seed=11)
    whole = batch()
    batch.cache[:] = 0
    assert batch(room=5) is None
    again = batch(fresh=False)
    assert again[0].size == whole[0].size
    np.testing.assert_allclose(again[3], whole[3], atol=EXACT)
    assert batch(margin=-1.0)[0].size == 0


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 10**6), stretch=st.floats(1.0, 30.0), scale=st.floats(1e-3, 1e3))
def test_long_thin_small_and_large(seed, stretch, scale):
    """Sizes from millimetres to kilometres and slender bodies, far from the origin."""
    rng = np.random.default_rng(seed)
    a, b = (scale * np.array([1, 1, stretch]) * rng.uniform(0.5, 1, 3) for _ in range(2))
    pairs = [
        (shapes.Cylinder(2 * a[2], a[0]), shapes.Cone(b[2], b[0])),
        (shapes.Ellipsoid(*a), shapes.Cylinder(2 * b[2], b[0])),
        (shapes.Cylinder(2 * a[2], a[0]), shapes.Box(*b)),
    ]
    for first, second in pairs:
        R = Rotation.random(2, random_state=rng).as_matrix()
        batch = Batch([Solid(first)], [Solid(second)], np.zeros((2, 3)), R)
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        batch.x += 10 * scale
        batch.x[1] += way * batch.g(0, way)
        point, normal, gap = batch.deepest(margin=np.inf)
        lower, outside = proofs(batch, point, normal, gap)
        assert lower.max() < EXACT * scale * stretch
        assert outside.max() < 1e-7 * scale * stretch


def standing(shape_a, shape_b, at_a, at_b, turn_a=None, turn_b=None, margin=0.02):
    R = np.array([np.eye(3) if t is None else Rotation.from_rotvec(t).as_matrix()
                  for t in (turn_a, turn_b)])  # fmt: skip
    batch = Batch([Solid(shape_a)], [Solid(shape_b)], np.array([at_a, at_b], float), R)
    _, point, normal, gap, feature = batch(margin=margin)
    return point, normal, gap, feature, batch


CYLINDER = shapes.Cylinder(1.0, 0.3)
TABLE = shapes.Box(4.0, 4.0, 1.0)


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-4])
def test_upright_cylinder_on_a_box(tilt):
    height = 1.0 + (0.5 * np.cos(tilt) + 0.3 * np.sin(tilt)) - 0.5
    at = (0.2, 0.1, height)
    point, normal, gap, _, _ = standing(CYLINDER, TABLE, at, (0, 0, 0), (tilt, 0, 0))
    np.testing.assert_allclose(normal, np.broadcast_to([0, 0, 1], normal.shape), atol=1e-12)
    assert gap.min() == pytest.approx(0, abs=1e-9)
    assert len(gap) >= 8
    assert gap.max() < 2.1 * 0.3 * tilt + 1e-9
    spread = point[:, :2] - at[:2]
    assert np.linalg.matrix_rank(spread, tol=0.2) == 2
    # the points hold the weight whichever way it leans: the centre is well inside
    angles = np.sort(np.arctan2(spread[:, 1], spread[:, 0]))
    assert np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() < 0.6


def test_cylinder_overhanging_the_edge():
    point, _, gap, _, _ = standing(CYLINDER, TABLE, (2.0, 0, 1.0), (0, 0, 0))
    assert np.all(np.abs(gap) < 1e-12)
    assert point[:, 0].max() == pytest.approx(2.0, abs=1e-9)  # none over the void
    assert np.sum(np.abs(point[:, 0] - 2.0) < 1e-9) == 2  # where the edge cuts the rim


def test_tilted_cylinder_stands_on_its_rim_point():
    tilt = 0.3
    height = 0.5 + 0.5 * np.cos(tilt) + 0.3 * np.sin(tilt)
    point, normal, gap, feature, _ = standing(
        CYLINDER, TABLE, (0, 0, height), (0, 0, 0), (tilt, 0, 0)
    )
    assert len(gap) == 1
    assert feature[0] == 0
    np.testing.assert_allclose(normal[0], [0, 0, 1], atol=1e-12)
    low = Rotation.from_rotvec([tilt, 0, 0]).apply([0, -0.3, -0.5])
    low[2] += height
    np.testing.assert_allclose(point[0], low, atol=1e-9)


def test_lying_cylinder_has_two_points():
    turn = (np.pi / 2, 0, 0)
    point, _, gap, feature, batch = standing(CYLINDER, TABLE, (0, 0, 0.8), (0, 0, 0), turn)
    assert len(gap) == 2
    np.testing.assert_allclose(gap, 0, atol=1e-12)
    np.testing.assert_allclose(np.sort(point[:, 1]), [-0.5, 0.5], atol=1e-12)
    batch.x[0] += [0.1, 0, 1e-3]  # rolls on: the same two features
    batch.R[0] = Rotation.from_rotvec((0, 0.3, 0)).as_matrix() @ batch.R[0]
    assert np.array_equal(batch(margin=0.02, fresh=False)[4], feature)


def test_cone_standing_on_a_cylinder_and_lying_on_a_box():
    cone = shapes.Cone(0.8, 0.2)
    point, normal, gap, _, _ = standing(CYLINDER, cone, (0, 0, 0), (0.05, 0, 0.7))
    np.testing.assert_allclose(gap, 0, atol=1e-12)
    np.testing.assert_allclose(normal, np.broadcast_to([0, 0, -1], normal.shape), atol=1e-12)
    assert len(gap) >= 8
    np.testing.assert_allclose(np.linalg.norm(point - [0.05, 0, 0.5], axis=1), 0.2, atol=1e-12)
    slope = np.arctan2(0.2, 0.8)
    turn = (0, np.pi / 2 + slope, 0)  # the slant line on the table
    up = Rotation.from_rotvec(turn)
    ends = up.apply([[0, 0, 0.6], [0.2, 0, -0.2], [-0.2, 0, -0.2]])
    lowest = ends[:, 2].min()
    point, normal, gap, _, _ = standing(cone, TABLE, (0, 0, 0.5 - lowest), (0, 0, 0), turn)
    assert len(gap) == 2
    np.testing.assert_allclose(gap, 0, atol=1e-12)
    assert np.linalg.norm(point[0] - point[1]) == pytest.approx(np.hypot(0.8, 0.2), abs=1e-9)


def test_parallel_and_crossed_cylinders():
    lying = (np.pi / 2, 0, 0)
    _, normal, gap, _, _ = standing(CYLINDER, CYLINDER, (0, 0, 0.6), (0, 0.2, 0), lying, lying)
    assert len(gap) == 2
    np.testing.assert_allclose(gap, 0, atol=1e-12)
    np.testing.assert_allclose(normal[0], [0, 0, 1], atol=1e-9)
    across = (0, np.pi / 2, 0)
    point, _, gap, feature, _ = standing(CYLINDER, CYLINDER, (0, 0, 0.6), (0, 0, 0), lying, across)
    assert list(feature) == [0]
    np.testing.assert_allclose(point[0], [0, 0, 0.3], atol=1e-12)
    # a little askew, they touch where they cross and the ends are apart by y^2 / 2 (r_A + r_B)
    turn = (Rotation.from_rotvec([0, 0, 0.02]) * Rotation.from_rotvec(lying)).as_rotvec()
    point, _, gap, _, _ = standing(CYLINDER, CYLINDER, (0, 0, 0.6), (0, 0, 0), turn, lying)
    assert gap.min() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(point[np.argmin(gap)], [0, 0, 0.3], atol=1e-9)
    y = 0.5 * np.sin(0.02)
    np.testing.assert_allclose(np.sort(gap)[1:], y**2 / 1.2, rtol=0.05)


def test_capsule_along_a_box_and_round_bodies():
    lying = (np.pi / 2, 0, 0)
    capsule = shapes.Capsule(1.0, 0.2)
    point, _, gap, _, _ = standing(capsule, TABLE, (0, 0, 0.69), (0, 0, 0), lying)
    np.testing.assert_allclose(gap, -0.01, atol=1e-12)
    np.testing.assert_allclose(np.sort(point[:, 1]), [-0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(point[:, 2], 0.495, atol=1e-12)  # halfway between the surfaces
    ball = shapes.Sphere(0.5)
    point, normal, gap, _, _ = standing(ball, ball, (0, 0, 0), (0, 0, 0))  # concentric
    assert gap[0] == pytest.approx(-1.0)
    assert np.linalg.norm(normal[0]) == pytest.approx(1.0)


def test_equal_boxes_stacked_exactly():
    """No vertex inside, no edge through a face."""
    box = shapes.Box(1, 1, 1)
    point, normal, gap, _, _ = standing(box, box, (0, 0, 1), (0, 0, 0))
    np.testing.assert_allclose(gap, 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(normal[:, 2]), 1, atol=1e-12)
    corners = {(round(2 * p[0]), round(2 * p[1])) for p in point}
    assert corners == {(1, 1), (1, -1), (-1, 1), (-1, -1)}


def test_same_bits_every_time():
    batch = random_batch((K.CYLINDER, K.CONE), 50, seed=12)
    first, second = batch(), batch()
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other)
    rng = np.random.default_rng(0)
    assert random_solid(K.CONE, rng).floats.size == 2
