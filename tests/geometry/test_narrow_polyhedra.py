"""Polyhedra against brute force, on thousands of random poses (Baraff 1992, 5.1)."""

from itertools import pairwise

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

from drystone.kernels.kinds import HALF_SPACE, POLYHEDRON
from tests.geometry.kind_tables import ENTRIES
from tests.kernels.spatial import polyhedra_bodies as pb

ENTRY = ENTRIES[POLYHEDRON, POLYHEDRON]
KERNEL = ENTRY.load()
RNG = np.random.default_rng(3)
SHAPES = {
    "cube": pb.box(1, 1, 1),
    "plank": pb.box(2, 0.5, 0.2),
    "tetrahedron": pb.tetrahedron(),
    "prism": pb.prism(),
    "icosahedron": pb.icosahedron(),
    "hull": pb.random_hull(RNG),
    "stone": pb.random_hull(RNG, 40),
}
NAMES = list(SHAPES)
SEEDS = st.integers(0, 2**31)


def case(seed, low=-0.15, high=0.3):
    rng = np.random.default_rng(seed)
    bodies = [SHAPES[NAMES[i]] for i in rng.integers(len(NAMES), size=2)]
    return bodies, *pb.placed(rng, bodies, rng.uniform(low, high)), rng


def check(bodies, x, R, answer, true):
    """Everything that must hold of contacts with a margin beyond the gap."""
    _, point, normal, gap, feature = answer
    assert len(gap) > 0
    assert gap.min() == pytest.approx(true, abs=1e-9)
    n = normal[0]
    assert np.all(normal == n)
    assert np.linalg.norm(n) == pytest.approx(1, abs=1e-14)
    # a direction along which the bodies are as far apart as they are at all
    assert pb.separation(bodies, x, R, n) == pytest.approx(true, abs=1e-9)
    assert len(set(feature)) == len(feature)
    for i, sign in ((0, 0.5), (1, -0.5)):
        on = point + sign * gap[:, None] * n
        # clipping puts up with 5e-10 of the smaller body sideways
        assert np.abs(pb.outside(bodies[i], x[i], R[i], on)).max() < 5e-9


@pytest.mark.parametrize("start", range(0, 2000, 200))
def test_gap_normal_and_points_on_random_poses(start):
    for seed in range(start, start + 200):
        bodies, x, R, _ = case(seed)
        run = pb.Run(KERNEL, bodies, ENTRY.width)
        check(bodies, x, R, run.contacts(x, R, margin=2.0), pb.distance(bodies, x, R))


def test_distance_of_the_brute_force_is_that_of_the_quadratic_program():
    for seed in range(40):
        bodies, x, R, _ = case(seed, 0.01, 0.3)
        assert pb.distance(bodies, x, R) == pytest.approx(pb.qp_distance(bodies, x, R), abs=1e-8)


@pytest.mark.parametrize("seed", range(30))
def test_coal_agrees(seed):
    bodies, x, R, _ = case(seed, 0.01, 0.3)
    shapes = []
    for body in bodies:
        points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        points.extend(list(body.vertices))
        for loop in body.loops:
            for v, w in pairwise(loop[1:]):
                faces.append(coal.Triangle(loop[0], v, w))
        shapes.append(coal.Convex(points, faces))
    poses = [coal.Transform3s(R[i], x[i]) for i in range(2)]
    result = coal.DistanceResult()
    coal.distance(shapes[0], poses[0], shapes[1], poses[1], coal.DistanceRequest(), result)
    gap = pb.Run(KERNEL, bodies, ENTRY.width).contacts(x, R, margin=2.0)[3]
    assert gap.min() == pytest.approx(result.min_distance, abs=1e-6)  # coal's own tolerance


@given(SEEDS)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_swapping_the_bodies_turns_the_normal(seed):
    bodies, x, R, _ = case(seed)
    one = pb.Run(KERNEL, bodies, ENTRY.width).contacts(x, R, margin=1.0)
    other = pb.Run(KERNEL, bodies[::-1], ENTRY.width).contacts(x[::-1], R[::-1], margin=1.0)
    assert one[3].min() == pytest.approx(other[3].min(), abs=1e-10)
    np.testing.assert_allclose(one[2][0], -other[2][0], atol=1e-8)
    assert len(one[3]) == len(other[3])
    deepest = one[1][one[3].argmin()]
    assert np.linalg.norm(other[1] - deepest, axis=1).min() < 1e-7


@given(SEEDS)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_a_rigid_motion_of_both_moves_the_contacts(seed):
    bodies, x, R, rng = case(seed)
    shift, turn = rng.normal(size=3), Rotation.random(random_state=rng).as_matrix()
    one = pb.Run(KERNEL, bodies, ENTRY.width).contacts(x, R, margin=1.0)
    other = pb.Run(KERNEL, bodies, ENTRY.width).contacts(
        shift + x @ turn.T, np.einsum("ij,bjk->bik", turn, R), margin=1.0
    )
    np.testing.assert_array_equal(one[4], other[4])
    np.testing.assert_allclose(one[3], other[3], atol=1e-11)
    np.testing.assert_allclose(one[1] @ turn.T + shift, other[1], atol=1e-9)
    np.testing.assert_allclose(one[2] @ turn.T, other[2], atol=1e-11)


@given(SEEDS)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_the_normal_is_the_gradient_of_the_gap(seed):
    bodies, x, R, rng = case(seed)
    run = pb.Run(KERNEL, bodies, ENTRY.width)
    _, _, normal, gap, _ = run.contacts(x, R, margin=2.0)
    step = 1e-6 * rng.normal(size=3)
    ahead, behind = x.copy(), x.copy()
    ahead[0] += step
    behind[0] -= step
    rate = (run.contacts(ahead, R, 2.0)[3].min() - run.contacts(behind, R, 2.0)[3].min()) / 2
    # curved only where vertices are nearest: the error is step^3 over the distance
    if gap.min() < 0 or gap.min() > 1e-3:
        assert rate == pytest.approx(float(normal[0] @ step), abs=2e-11)


def polygon_area(points, n):
    t = np.linalg.svd(np.eye(3) - np.outer(n, n))[0][:, :2]
    return ConvexHull(points @ t).volume, t


def overlap_area(bodies, x, R, n, t, faces):
    """Area of the overlap of two faces' projections, from their half-planes."""
    rows = []
    for i, f in enumerate(faces):
        V = (x[i] + bodies[i].vertices @ R[i].T)[bodies[i].loops[f]] @ t
        c = V.mean(axis=0)
        for p, q in zip(V, np.roll(V, -1, axis=0), strict=True):
            m = np.array([q[1] - p[1], p[0] - q[0]])
            m *= np.sign(m @ (p - c)) / np.linalg.norm(m)
            rows.append([*m, -m @ p])
    rows = np.array(rows)
    ball = linprog(
        [0, 0, -1],
        A_ub=np.c_[rows[:, :2], np.ones(len(rows))],
        b_ub=-rows[:, 2],
        bounds=[(None, None)] * 3,
    )
    return ConvexHull(HalfspaceIntersection(rows, ball.x[:2]).intersections).volume


@pytest.mark.parametrize("seed", range(60))
def test_the_contact_polygon_is_the_overlap_of_the_faces(seed):
    rng = np.random.default_rng(seed)
    bodies = [pb.box(*rng.uniform(0.5, 1.5, 3)), pb.prism(rng.integers(3, 9), 0.6, 0.5)]
    top = bodies[0].vertices[:, 2].max()
    gap = rng.choice([0.0, 1e-12, -1e-12, 1e-3, -1e-3])
    x = np.array([[*rng.uniform(-0.3, 0.3, 2), 0.25 + top + gap], [0, 0, 0]])
    turn = Rotation.from_rotvec([0, 0, rng.uniform(0, 6)]).as_matrix()
    R = np.array([turn, np.eye(3)])
    _, point, normal, gaps, _ = pb.Run(KERNEL, bodies, ENTRY.width).contacts(x, R, 0.01)
    np.testing.assert_allclose(normal, np.tile([0, 0, 1.0], (len(gaps), 1)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(gaps, gap, atol=1e-14)
    area, t = polygon_area(point, normal[0])
    down = int(bodies[0].planes[:, 2].argmin()), int(bodies[1].planes[:, 2].argmax())
    assert area == pytest.approx(overlap_area(bodies, x, R, normal[0], t, down), rel=1e-7)


def moving(bodies, seed, steps, speed):
    """Poses of a slow motion: a body turns around and along another, just over and in it."""
    rng = np.random.default_rng(seed)
    axis, way = rng.normal(size=3), Rotation.random(random_state=rng)
    start = Rotation.random(random_state=rng)
    for k in range(steps):
        time = speed * k
        d = (Rotation.from_rotvec(time * axis[::-1]) * way).apply([1, 0, 0])
        x = np.array([2 * d, [0, 0, 0]])
        R = np.array([(Rotation.from_rotvec(time * axis) * start).as_matrix(), np.eye(3)])
        low, high = 0.0, 2.0
        for _ in range(6):
            x[0] = (low + high) / 2 * d
            near = pb.depth(bodies, x, R)[0] < 0.02 + 0.04 * np.sin(10 * time)
            low, high = ((low + high) / 2, high) if near else (low, (low + high) / 2)
        yield x, R


@pytest.mark.parametrize("names", [("cube", "cube"), ("plank", "stone"), ("icosahedron", "hull")])
def test_the_cache_changes_the_cost_but_not_the_answer(names):
    """Same answers, a hit rate that grows with coherence."""
    bodies = [SHAPES[name] for name in names]
    rates = []
    for speed in (0.1, 0.01, 0.001):
        kept, fresh = (pb.Run(KERNEL, bodies, ENTRY.width) for _ in range(2))
        for x, R in moving(bodies, 1, 120, speed):
            a, b = kept.contacts(x, R, 0.3), fresh.contacts(x, R, 0.3, fresh=True)
            assert len(a[3]) == len(b[3])
            np.testing.assert_allclose(a[3], b[3], atol=1e-12)
            np.testing.assert_allclose(a[1], b[1], atol=1e-12)
            np.testing.assert_allclose(a[2], b[2], atol=1e-12)
            np.testing.assert_array_equal(a[4], b[4])
        hits, neighbours, searches, _ = kept.stats[:4]
        assert hits + neighbours + searches == 120
        rates.append(hits / 120)
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > 0.98


@pytest.mark.parametrize("seed", range(20))
def test_the_cache_is_right_when_bodies_pass_through_each_other(seed):
    """Old witnesses of deep overlaps are believed only where they prove the least depth."""
    rng = np.random.default_rng(seed)
    bodies = [SHAPES[NAMES[i]] for i in rng.integers(len(NAMES), size=2)]
    run = pb.Run(KERNEL, bodies, ENTRY.width)
    way = rng.normal(size=(2, 3)) * 0.7
    R = Rotation.random(2, random_state=rng).as_matrix()
    for t in np.linspace(-1, 1, 40):
        x = np.array([t * way[0] + 0.2 * way[1], [0, 0, 0]])
        gap = run.contacts(x, R, margin=3.0)[3].min()
        assert gap == pytest.approx(pb.distance(bodies, x, R), abs=1e-9)


def test_polyhedra_on_a_half_space():
    entry = ENTRIES[POLYHEDRON, HALF_SPACE]
    kernel = entry.load()
    rng = np.random.default_rng(0)
    for body in [*SHAPES.values(), pb.ball(300)]:
        run = pb.Run(kernel, [body, body], entry.width)
        for k in range(50):
            x, R = rng.normal(size=(2, 3)) * 0.3, Rotation.random(2, random_state=rng).as_matrix()
            which, point, normal, gap, feature = run.contacts(x, R, 0.1, room=1, fresh=k % 2 == 0)
            n = R[1][:, 2]
            V = x[0] + body.vertices @ R[0].T
            h = (V - x[1]) @ n
            wanted = np.flatnonzero(h <= 0.1)
            np.testing.assert_array_equal(feature, wanted)
            np.testing.assert_allclose(gap, h[wanted], atol=1e-14)
            np.testing.assert_allclose(point, V[wanted] - 0.5 * h[wanted, None] * n, atol=1e-14)
            np.testing.assert_array_equal(normal, np.tile(n, (len(wanted), 1)))
            assert np.all(which == 0)
