"""Extremal points: prediction, spurious roots, flat faces, and the way out when Newton fails."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from drystone.kernels import kinds
from drystone.kernels.spatial.cutting_planes import greatest_separation_of_pair
from drystone.kernels.spatial.smooth_smooth import extremal_points
from tests.kernels.spatial.smooth_bodies import (
    Bench,
    Solid,
    certificate,
    nearest_of_each,
    outside,
    polyhedron,
    random_bench,
)

BOX = np.array(np.meshgrid([-1.0, 1.0], [-0.7, 0.7], [-0.4, 0.4])).reshape(3, 8).T


def superquadric(*numbers):
    return Solid(kinds.SUPERQUADRIC, np.array(numbers, float))


def pair_arrays(bench, i):
    a, b = bench.pairs[i]
    S = np.ones((2, 5))
    for row, g in zip(S, (a, b), strict=True):
        numbers = bench.solids[g].numbers
        row[: numbers.size] = numbers
    return S, bench.x[[a, b]].copy(), bench.R[[a, b]].copy()


def solve(S, C, R, P):
    G, H = np.empty((2, 3)), np.empty((3, 3, 3))
    return extremal_points(S, C, R, P, G, H[:2], np.empty(3), H[2], np.empty((5, 6)))


@pytest.mark.parametrize(
    "other",
    [Solid(kinds.ELLIPSOID, np.array([0.8, 0.5, 1.1])), superquadric(1, 0.6, 0.8, 0.5, 0.7)],
)
def test_prediction_saves_iterations(other):
    """Cached points beat the centre line, points with rates beat points alone."""
    bench = Bench(
        [Solid(other.kind, 0.9 * other.numbers ** (np.arange(other.numbers.size) < 3)), other]
    )
    counts = {}
    for way in ("cold", "cached", "predicted"):
        bench.stats[:] = 0
        bench.cache[:] = 0
        for step in range(240):
            t = step / 240
            bench.x[1] = [0.3 * t, 0.1 * np.sin(3 * t), -1.6]  # no deeper than balls can roll
            bench.R[0] = Rotation.from_rotvec([2 * t, t, 0.3]).as_matrix()
            bench.R[1] = Rotation.from_rotvec([0.2, -1.5 * t, t]).as_matrix()
            if way == "cached" and step:
                bench.cache[:, 0], bench.cache[:, 7:] = 1.0, 0.0
            contact = bench.run(fresh=way == "cold")
            assert max(certificate(bench, nearest_of_each(bench, contact)[0])) < 1e-10
        counts[way] = bench.counters()
    iterations = {way: c["iterations"] / c["solves"] for way, c in counts.items()}
    assert iterations["predicted"] < 0.85 * iterations["cached"]  # measured: 2.0, 2.6, 4.2
    assert iterations["cached"] < 0.7 * iterations["cold"]
    assert counts["predicted"]["predicted"] == 238
    assert counts["predicted"]["fallbacks"] == 0


@pytest.mark.kernels
def test_the_root_of_greatest_distance_is_refused():
    """Started behind both centres, Newton finds it; the gap is the one that cold starts give."""
    bench = random_bench(np.random.default_rng(2), kinds.ELLIPSOID, kinds.ELLIPSOID, 12, -0.1, 0.5)
    cold = nearest_of_each(bench, bench.run())
    false = 0
    for i in range(len(cold)):
        S, C, R = pair_arrays(bench, i)
        d = C[1] - C[0]
        P = np.array([C[0] - 0.1 * d, C[1] + 0.1 * d])
        bench.cache[i] = [1.0, *P.ravel(), *np.zeros(6)]
        false += solve(S, C, R, P) >= 0 and np.linalg.norm(P[0] - P[1]) > abs(cold[i][3]) + 0.1
    assert false > 6
    bench.stats[:] = 0
    for c, other in zip(nearest_of_each(bench, bench.run(fresh=False)), cold, strict=True):
        assert c[3] == pytest.approx(other[3], abs=1e-10)
        np.testing.assert_allclose(c[2], other[2], atol=1e-9)
    assert bench.counters()["fallbacks"] >= false


@pytest.mark.kernels
def test_cutting_planes_agree_with_newton():
    rng = np.random.default_rng(4)
    for pair in [(kinds.ELLIPSOID, kinds.ELLIPSOID), (kinds.SUPERQUADRIC, kinds.SUPERQUADRIC)]:
        bench = random_bench(rng, *pair, 10, -0.1, 0.5)
        geoms = bench.geoms()
        for i, c in enumerate(nearest_of_each(bench, bench.run())):
            P, n, gap = np.empty((2, 3)), np.empty(3), np.empty(1)
            greatest_separation_of_pair(geoms, *bench.pairs[i], n, P, gap)
            assert gap[0] == pytest.approx(c[3], abs=1e-12)
            np.testing.assert_allclose(n, c[2], atol=1e-6)  # the square root of the gap's error
            np.testing.assert_allclose(P[0] - P[1], gap[0] * n, atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("e", [1.0, 0.5, 0.2, 0.05])
@pytest.mark.parametrize("shift", [0.0, 1e-9, 1e-3, 0.3])
def test_flat_faces_face_to_face(e, shift):
    """Curvature is zero on both faces when e < 1: Newton's matrix is singular there."""
    bench = Bench([superquadric(1, 1, 1, e, e), superquadric(1, 1, 1, e, e)])
    bench.x[0] = [shift, 0, 2.01]
    bench.R[0] = Rotation.from_rotvec([0, 0, 0.3]).as_matrix()
    contact = nearest_of_each(bench, bench.run())[0]
    assert max(certificate(bench, contact)) < 1e-10
    if shift == 0.0:
        assert contact[3] == pytest.approx(0.01, abs=1e-14)
        np.testing.assert_allclose(contact[2], [0, 0, 1], atol=1e-14)
    again = nearest_of_each(bench, bench.run(fresh=False))[0]
    assert again[3] == pytest.approx(contact[3], abs=1e-14)


def test_extreme_shapes_need_the_fallback_and_get_the_answer():
    rng = np.random.default_rng(6)
    solids = []
    for _ in range(600):
        numbers = [*np.exp(rng.uniform(np.log(0.1), np.log(3), 3)), *rng.uniform(0.05, 1, 2)]
        solids.append(superquadric(*numbers))
    bench = Bench(solids)
    bench.R[:] = Rotation.random(600, rng=rng).as_matrix()
    bench.x[1::2] = 2.5 * rng.normal(size=(300, 3))
    contacts = nearest_of_each(bench, bench.run())
    shallow = [c for c in contacts if c[3] > -0.05]  # half the thinnest body
    assert len(shallow) > 200
    worst = np.max([certificate(bench, c) for c in shallow], axis=0)
    assert worst[0] < 1e-11
    assert max(worst[1:]) < 1e-10
    assert 0 < bench.counters()["fallbacks"] < 100


def test_coincident_centres_still_get_a_direction():
    bench = Bench([Solid(kinds.ELLIPSOID, np.array([1.0, 2.0, 3.0]))] * 2)
    (_, _, n, gap, _) = nearest_of_each(bench, bench.run())[0]
    assert np.linalg.norm(n) == pytest.approx(1.0)
    assert -6 <= gap <= -2
    ball = Bench(
        [Solid(kinds.SPHERE, np.array([0.5])), Solid(kinds.ELLIPSOID, np.array([1.0, 2, 3]))]
    )
    (_, _, n, gap, _) = nearest_of_each(ball, ball.run())[0]
    assert np.linalg.norm(n) == pytest.approx(1.0)
    assert gap <= -1.5


@pytest.mark.parametrize("kind", [kinds.ELLIPSOID, kinds.SUPERQUADRIC])
def test_nearest_points_by_scipy(kind):
    """min |a - b|^2 over both bodies, by sequential quadratic programming."""
    bench = random_bench(np.random.default_rng(12), kind, kind, 8, 0.1, 0.5)
    for i, c in enumerate(nearest_of_each(bench, bench.run())):
        a, b = bench.pairs[i]
        inside = [
            {
                "type": "ineq",
                "fun": lambda z, g=g, k=k: (
                    -outside(bench.solids[g], (z[k] - bench.x[g]) @ bench.R[g])
                ),
            }
            for g, k in ((a, slice(0, 3)), (b, slice(3, 6)))
        ]
        start = np.r_[bench.x[a], bench.x[b]]
        best = minimize(
            lambda z: ((z[:3] - z[3:]) ** 2).sum(), start, constraints=inside,
            method="SLSQP", options={"ftol": 1e-15, "maxiter": 300},
        )  # fmt: skip
        assert np.sqrt(best.fun) == pytest.approx(c[3], abs=1e-6)  # SLSQP's own accuracy


def test_a_walk_over_a_box_keeps_its_feature():
    """An ellipsoid slides over a face, an edge and a corner; the cached feature answers."""
    bench = Bench([Solid(kinds.ELLIPSOID, np.array([0.3, 0.2, 0.25])), polyhedron(BOX)])
    gaps = []
    for step in range(400):
        t = step / 400
        bench.x[0] = [-0.5 + 2.2 * t, -0.2 + 1.2 * t, 0.66 - 0.2 * t * t]
        bench.R[0] = Rotation.from_rotvec([t, 2 * t, 0.1]).as_matrix()
        c = nearest_of_each(bench, bench.run(fresh=False))[0]
        assert max(certificate(bench, c)) < 1e-10
        gaps.append(c[3])
    counters = bench.counters()
    assert counters["kept"] > 390
    assert counters["visits"] < 420
    assert counters["fallbacks"] == 0
    assert np.abs(np.diff(gaps)).max() < 0.007  # no jump where the feature changes
    assert min(gaps) < -0.01
    assert max(gaps) > 0.3
