"""Bodies that touch along lines and circles: how many points, where, and that they persist."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.kernels import kinds
from tests.kernels.spatial.smooth_bodies import (
    Bench,
    Solid,
    certificate,
    nearest_of_each,
    outside,
    polyhedron,
    random_solid,
    signed_distance,
)

BOX = np.array(np.meshgrid([-1.0, 1.0], [-0.7, 0.7], [-0.4, 0.4])).reshape(3, 8).T
GROUND = Solid(kinds.HALF_SPACE, np.empty(0))


def solid(kind, *numbers):
    return Solid(kind, np.array(numbers, float))


def on_ground(body, x, turn):
    bench = Bench([body, GROUND])
    bench.x[0] = x
    bench.R[0] = turn.as_matrix()
    return bench


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("body", "height", "side"),
    [(solid(kinds.CYLINDER, 0.5, 0.3), 0.5, 0), (solid(kinds.CONE, 0.8, 0.3), 0.2, 0)],
    ids=["cylinder", "cone"],
)
def test_upright_bodies_stand_on_a_ring(body, height, side):
    for spin in (0.0, 0.4):
        bench = on_ground(body, [1, 2, height], Rotation.from_rotvec([0, 0, spin]))
        _, point, normal, gap, feature = bench.run(0.01)
        assert sorted(feature[:8]) == list(range(8))
        np.testing.assert_allclose(gap, 0, atol=1e-15)
        np.testing.assert_allclose(normal, [[0, 0, 1]] * len(gap), atol=0)
        np.testing.assert_allclose(np.hypot(*(point[:, :2] - [1, 2]).T), 0.3, atol=1e-15)
        np.testing.assert_allclose(point[:8].mean(axis=0), [1, 2, 0], atol=1e-15)


@pytest.mark.kernels
def test_an_upside_down_cylinder_stands_on_its_other_cap():
    bench = on_ground(solid(kinds.CYLINDER, 0.5, 0.3), [0, 0, 0.5], Rotation.from_euler("x", np.pi))
    feature = bench.run(0.01)[4]
    assert set(range(16, 24)) <= set(feature.tolist())
    assert (feature >= 16).all()


@pytest.mark.kernels
@pytest.mark.parametrize("tilt", [1e-9, 1e-3, 0.3, 1.0, np.pi / 2])
@pytest.mark.parametrize("kind", [kinds.CYLINDER, kinds.CONE])
def test_tilted_bodies_roll_without_bumps(kind, tilt):
    """The lowest point of the rim is exact at every angle of roll, so the least gap is constant."""
    body, gaps = solid(kind, 0.5, 0.3), []
    base = -0.5 if kind == kinds.CYLINDER else -0.125
    apex = 0.375 if kind == kinds.CONE else -1.0
    for roll in np.linspace(0, 2 * np.pi, 97):
        turn = Rotation.from_euler("x", tilt) * Rotation.from_euler("z", roll)
        bench = on_ground(body, [0, 0, 1], turn)
        gap = bench.run(1e3)[3]
        gaps.append(gap.min())
    lowest = 1 + base * np.cos(tilt) - 0.3 * np.sin(tilt)
    if kind == kinds.CONE:
        lowest = min(lowest, 1 + apex * np.cos(tilt))
    np.testing.assert_allclose(gaps, lowest, atol=1e-15)


@pytest.mark.kernels
@pytest.mark.parametrize("roll", [0.0, 0.3, np.pi / 4, 2.0])
def test_lying_bodies_touch_in_two_points(roll):
    side = Rotation.from_euler("y", np.pi / 2) * Rotation.from_euler("z", roll)
    _, point, _, gap, feature = on_ground(solid(kinds.CYLINDER, 0.5, 0.3), [0, 0, 0.3], side).run(
        0.01
    )
    assert feature.tolist() == [8, 24]
    np.testing.assert_allclose(gap, 0, atol=1e-15)
    np.testing.assert_allclose(np.abs(point), [[0.5, 0, 0]] * 2, atol=1e-15)
    _, point, _, gap, feature = on_ground(solid(kinds.CAPSULE, 0.5, 0.3), [0, 0, 0.3], side).run(
        0.01
    )
    assert feature.tolist() == [0, 1]
    np.testing.assert_allclose(gap, 0, atol=1e-15)
    # a cone lies on its side when its axis falls by half its opening angle
    H, r = 0.8, 0.3
    lean = Rotation.from_euler("y", np.pi / 2 + np.arctan(r / H)) * Rotation.from_euler("z", roll)
    height = 0.75 * H * np.sin(np.arctan(r / H))
    _, _, _, gap, feature = on_ground(solid(kinds.CONE, H, r), [0, 0, height], lean).run(0.01)
    assert feature.tolist() == [8, 16]
    np.testing.assert_allclose(gap, 0, atol=1e-15)


@pytest.mark.kernels
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3])
def test_parallel_capsules_touch_at_both_ends_of_the_overlap(angle):
    bench = Bench([solid(kinds.CAPSULE, 1.0, 0.2), solid(kinds.CAPSULE, 0.6, 0.3)])
    bench.x[0] = [0.5, 0, 0.6]
    bench.R[0] = Rotation.from_rotvec([0, angle, 0]).as_matrix()
    _, point, normal, gap, feature = bench.run(0.01)
    assert feature.tolist() == [1, 4]
    np.testing.assert_allclose(gap, 0, atol=2 * angle + 1e-15)
    np.testing.assert_allclose(normal, [[1, 0, 0]] * 2, atol=2 * angle + 1e-15)
    np.testing.assert_allclose(point[:, 2], [-0.4, 0.6], atol=2 * angle + 1e-15)


@pytest.mark.kernels
def test_capsules_end_to_end_and_crossing():
    bench = Bench([solid(kinds.CAPSULE, 1.0, 0.2), solid(kinds.CAPSULE, 0.6, 0.3)])
    bench.x[0] = [0.1, 0, 2.1]
    _, _, normal, gap, feature = bench.run(0.1)
    assert feature.tolist() == [5]
    assert gap[0] == pytest.approx(np.hypot(0.1, 0.5) - 0.5)
    np.testing.assert_allclose(normal[0], np.array([0.1, 0, 0.5]) / np.hypot(0.1, 0.5))
    bench.x[0] = [0.55, 0.1, 0.2]
    bench.R[0] = Rotation.from_euler("x", np.pi / 2).as_matrix()
    _, point, normal, gap, feature = bench.run(0.1)
    assert feature.tolist() == [0]
    assert gap[0] == pytest.approx(0.05)
    np.testing.assert_allclose(normal[0], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(point[0], [0.325, 0, 0.2], atol=1e-15)
    bench.x[0] = 0  # axes that meet: out across both
    _, _, normal, gap, feature = bench.run(0.1)
    assert gap.min() == pytest.approx(-0.5)
    assert abs(normal[gap.argmin(), 0]) == pytest.approx(1.0)


@pytest.mark.kernels
@pytest.mark.parametrize(("half", "ends"), [(0.5, [-0.5, 0.5]), (3.0, [-1.0, 1.0])])
@pytest.mark.parametrize("angle", [0.0, 1e-9, -1e-4])
def test_a_capsule_on_a_box_has_both_ends(half, ends, angle):
    """Shorter than the box: its ends; longer: where it leaves the face."""
    bench = Bench([solid(kinds.CAPSULE, half, 0.2), polyhedron(BOX)])
    bench.x[0] = [0, 0.1, 0.6]
    turn = Rotation.from_euler("y", angle) * Rotation.from_euler("y", np.pi / 2)
    bench.R[0] = turn.as_matrix()
    _, point, normal, gap, feature = bench.run(0.01)
    assert len(gap) == 2
    assert len(set(feature.tolist())) == 2
    np.testing.assert_allclose(np.sort(point[:, 0]), ends, atol=1e-3)
    np.testing.assert_allclose(gap, 0, atol=4 * abs(angle) + 1e-15)
    np.testing.assert_allclose(normal, [[0, 0, 1]] * 2, atol=2 * abs(angle) + 1e-15)
    assert gap.min() == pytest.approx(-abs(np.sin(angle)) * (half if half < 1 else 1.0), abs=2e-8)


@pytest.mark.kernels
def test_a_capsule_through_a_box_comes_out_the_short_way():
    bench = Bench([solid(kinds.CAPSULE, 2.0, 0.1), polyhedron(BOX)])
    bench.x[0] = [0.2, 0, 0.3]
    bench.R[0] = Rotation.from_euler("x", np.pi / 2).as_matrix()
    _, _, normal, gap, _ = bench.run(0.01)
    assert gap.min() == pytest.approx(-0.2)
    np.testing.assert_allclose(normal[gap.argmin()], [0, 0, 1], atol=1e-15)


def test_points_of_lines_stay_on_both_surfaces_while_rolling():
    """Contacts beside the nearest one are true as well, to the tilt that the margin lets pass."""
    bench = Bench([solid(kinds.CAPSULE, 0.8, 0.2), polyhedron(BOX)])
    for step in range(60):
        bench.x[0] = [0.3, 0.02 * step, 0.6 + 1e-4 * np.sin(step)]
        turn = Rotation.from_euler("zy", [0.05 * step, np.pi / 2 + 1e-3 * np.cos(step)])
        bench.R[0] = turn.as_matrix()
        _, point, normal, gap, feature = bench.run(0.02, fresh=False)
        assert len(set(feature.tolist())) == len(gap)
        for p, n, g in zip(point, normal, gap, strict=True):
            a = outside(bench.solids[0], (p + 0.5 * g * n - bench.x[0]) @ bench.R[0])
            b = outside(bench.solids[1], p - 0.5 * g * n)
            assert abs(a) < 1e-5
            assert abs(b) < 1e-12


def test_thin_capsules_deep_in_polyhedra():
    """The axis itself overlaps: faces and edges across it bound the least way out."""
    rng = np.random.default_rng(15)
    bodies = []
    for _ in range(40):
        bodies += [solid(kinds.CAPSULE, rng.uniform(0.3, 1.0), 0.05)]
        bodies += [random_solid(rng, kinds.POLYHEDRON)]
    bench = Bench(bodies)
    bench.R[:] = Rotation.random(80, rng=rng).as_matrix()
    bench.x[::2] = 0.4 * rng.normal(size=(40, 3))
    contacts = nearest_of_each(bench, bench.run())
    assert bench.counters()["deep"] > 20
    for c in contacts:
        assert certificate(bench, c)[0] < 1e-11
        assert signed_distance(bench, *bench.pairs[c[0]]) < c[3] + 1e-11
