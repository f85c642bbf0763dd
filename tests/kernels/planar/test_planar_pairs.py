"""The kernels of planar pairs in all modes: a few poses of each, with a history and without."""

import numpy as np
import pytest

from drystone.kernels.kinds import HALF_PLANE
from drystone.kernels.planar.ellipses import everywhere, line_of_centres, newton, separation, turned
from tests.geometry.kind_tables import NAMES
from tests.geometry.planar_pairs import (
    PAIRS,
    Batch,
    deepest,
    random_batch,
    rotation,
    signed_distance,
)


@pytest.mark.kernels
@pytest.mark.parametrize("kinds", PAIRS, ids=lambda p: f"{NAMES[p[0]]}-{NAMES[p[1]]}")
@pytest.mark.parametrize("low", [-0.1, -1.0], ids=["shallow", "deep"])
def test_gap_of_a_few_poses(kinds, low):
    batch, x, angle = random_batch(kinds, 31, 12, low, 0.3)
    for step in range(3):
        x, angle = x + 1e-3, angle * (1.0 + 1e-3 * step)
        a, b = batch.bodies(x, angle)
        if HALF_PLANE in kinds:
            up = rotation(angle[1::2])[:, :, 1]
            expected = -a.height(-up[:, None])[:, 0] - (up * x[1::2]).sum(1)
        else:
            expected, _ = signed_distance(a, b)
        gap, _, _ = deepest(batch.raw(x, angle), batch.n)
        np.testing.assert_allclose(gap, expected, rtol=0, atol=1e-13)


@pytest.mark.kernels
@pytest.mark.parametrize("kinds", PAIRS, ids=lambda p: f"{NAMES[p[0]]}-{NAMES[p[1]]}")
def test_coinciding_poses_are_finite(kinds):
    """Divisions by nothing are where plain Python raises and compiled code is silent."""
    batch, x, angle = random_batch(kinds, 1, 6)
    for turn in (0.0, 0.5 * np.pi, np.pi):
        same = Batch(kinds, *batch.shapes)
        for _ in range(2):
            out = same.raw(np.zeros_like(x), np.resize([0.0, turn], angle.shape))
            assert all(np.isfinite(field).all() for field in out)
            assert set(out[0]) == set(range(batch.n))


def example(distance=(1.4, 0.9)):
    """pair (10,) of two ellipses as ``separation`` takes it."""
    c, s = np.cos(0.7), np.sin(0.7)
    return np.array([*distance, 1.0, 0.4, c, s, 0.8, 0.3, 1.0, 0.0])


@pytest.mark.kernels
def test_slope_and_curvature_of_the_separation():
    pair, h = example(), 1e-5
    for angle in np.linspace(0, 2 * np.pi, 17):
        g, slope, rho = separation(pair, np.cos(angle), np.sin(angle))
        less, _, _ = separation(pair, np.cos(angle - h), np.sin(angle - h))
        more, _, _ = separation(pair, np.cos(angle + h), np.sin(angle + h))
        assert slope == pytest.approx((more - less) / (2 * h), abs=1e-8)
        assert -(g + rho) == pytest.approx((more - 2 * g + less) / h**2, abs=1e-4)


@pytest.mark.kernels
def test_newton_refuses_the_spurious_root():
    """Seen from the far side the points of greatest distance are extremal too."""
    pair = example()
    arrived, nx, ny, _ = newton(pair, *line_of_centres(pair))
    assert arrived
    g, slope, _ = separation(pair, nx, ny)
    assert g > 0
    assert abs(slope) < 1e-15
    arrived, mx, my, _ = newton(pair, -nx, -ny)
    assert not arrived or separation(pair, mx, my)[0] == pytest.approx(g)
    found, mx, my = everywhere(pair, 0.0, 0.0, 0.0, 0.0)
    assert found
    np.testing.assert_allclose([mx, my], [nx, ny], atol=1e-12)


@pytest.mark.kernels
def test_turning_keeps_the_length():
    x, y = 0.6, 0.8
    for _ in range(1000):
        x, y = turned(x, y, 0.01)
    assert np.hypot(x, y) == pytest.approx(1.0, abs=1e-15)
    step = 2 * np.arctan(0.005)
    np.testing.assert_allclose([x, y], rotation(1000 * step) @ [0.6, 0.8], atol=1e-12)
