"""Every pair of kinds on random poses: gap, normal and points against supporting planes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.kernels import kinds
from drystone.kernels._jit import MODE
from tests.geometry.kind_tables import NAMES
from tests.geometry.kind_tables import SMOOTH as ENTRIES
from tests.kernels.spatial.smooth_bodies import (
    certificate,
    nearest_of_each,
    random_bench,
    signed_distance,
)

PAIRS = sorted(ENTRIES)
IDS = [f"{NAMES[a]}-{NAMES[b]}" for a, b in PAIRS]
EQUAL = [(a, b) for a, b in PAIRS if a == b]
POSES = 250 if MODE == "on" else 20


@pytest.mark.kernels
@pytest.mark.parametrize("pair", PAIRS, ids=IDS)
def test_every_contact_is_certified(pair):
    """Points on both surfaces, joined by the normal, and planes that separate just as much."""
    bench = random_bench(np.random.default_rng(11), *pair, POSES)
    contacts = nearest_of_each(bench, bench.run())
    assert len(contacts) == POSES
    worst = np.max([certificate(bench, c) for c in contacts], axis=0)
    assert worst[0] < 1e-11  # the gap: the method is exact
    assert max(worst[1:]) < 1e-10
    assert np.allclose([np.linalg.norm(c[2]) for c in contacts], 1.0, atol=1e-14)
    apart = [c[3] > 0 for c in contacts]
    assert 0.3 < np.mean(apart) < 1.0  # both signs were there


@pytest.mark.kernels
@pytest.mark.parametrize("pair", [p for p in PAIRS if p[1] != kinds.HALF_SPACE], ids=str)
def test_no_direction_separates_more(pair):
    """In penetration too: with the certificate, the gap is the signed distance."""
    poses = 12 if MODE == "on" else 3
    bench = random_bench(np.random.default_rng(3), *pair, poses, -0.25, 0.1)
    for c in nearest_of_each(bench, bench.run()):
        found = signed_distance(bench, *bench.pairs[c[0]])
        assert -1e-4 < found - c[3] < 1e-11


@pytest.mark.parametrize("pair", PAIRS, ids=IDS)
def test_the_normal_is_the_gradient(pair):
    """Moving and turning A changes the gap by n.dx + (r x n).dtheta."""
    bench = random_bench(np.random.default_rng(29), *pair, 80, -0.1, 0.5)
    before = nearest_of_each(bench, bench.run())
    rng, h = np.random.default_rng(1), 1e-6
    x, R = bench.x.copy(), bench.R.copy()
    v, w = rng.normal(size=(2, 80, 3))
    gaps = []
    for sign in (1, -1):
        bench.x[::2] = x[::2] + sign * h * v
        bench.R[::2] = Rotation.from_rotvec(sign * h * w).as_matrix() @ R[::2]
        gaps.append([c[3] for c in nearest_of_each(bench, bench.run())])
    slope = (np.array(gaps[0]) - gaps[1]) / (2 * h)
    for i, (_, point, n, gap, _) in enumerate(before):
        r = point + 0.5 * gap * n - x[2 * i]
        expected = n @ v[i] + np.cross(r, n) @ w[i]
        # error: curvature of the gap times h, and rounding of the gap over h
        assert slope[i] == pytest.approx(expected, abs=2e-5), i


@pytest.mark.parametrize("pair", EQUAL, ids=str)
def test_swapping_equal_kinds_turns_the_normal(pair):
    bench = random_bench(np.random.default_rng(8), *pair, 100)
    one = nearest_of_each(bench, bench.run())
    bench.pairs = np.ascontiguousarray(bench.pairs[:, ::-1])
    two = nearest_of_each(bench, bench.run())
    for c, d in zip(one, two, strict=True):
        assert c[3] == pytest.approx(d[3], abs=1e-12)
        np.testing.assert_allclose(c[2], -d[2], atol=1e-9)


@pytest.mark.kernels
@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.sampled_from(PAIRS), st.integers(0, 10**6))
def test_moving_both_moves_the_contact(pair, seed):
    rng = np.random.default_rng(seed)
    bench = random_bench(rng, *pair, 1)
    one = nearest_of_each(bench, bench.run())[0]
    Q, t = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    bench.x[:] = bench.x @ Q.T + t
    bench.R[:] = Q @ bench.R
    two = nearest_of_each(bench, bench.run())[0]
    assert one[3] == pytest.approx(two[3], abs=1e-12)
    np.testing.assert_allclose(one[2] @ Q.T, two[2], atol=1e-8)  # of flats: less than the gap
    assert max(certificate(bench, two)) < 1e-10


@pytest.mark.kernels
@pytest.mark.parametrize("pair", PAIRS, ids=IDS)
def test_margins_room_and_caches(pair):
    """No contact beyond the margin; a lack of room and a second look change no answer."""
    bench = random_bench(np.random.default_rng(17), *pair, 30, -0.1, 0.3)
    everything = bench.run()
    gaps = [c[3] for c in nearest_of_each(bench, everything)]
    margin = float(np.median(gaps)) + 1e-6
    which, _, _, gap, _ = bench.run(margin)
    assert (np.diff(which) >= 0).all()
    assert (gap <= margin).all()
    assert set(which) == {i for i, g in enumerate(gaps) if g <= margin}
    one, two = bench.run(margin, room=1), bench.run(margin, fresh=False)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)
    np.testing.assert_allclose(one[3], two[3], atol=1e-12)
