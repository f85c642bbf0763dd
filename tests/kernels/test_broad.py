"""Kernels of the broad phase and of the detector, one by one, on small cases."""

import numpy as np
import pytest

from drystone.geometry.broad_phase import GRID_LEVELS
from drystone.kernels import broad, detect
from drystone.kernels.bounds import bounds_planar
from drystone.kernels.broad import MIDDLE, best_span, median
from drystone.kernels.pairs import PosedGeoms

pytestmark = pytest.mark.kernels


def key(i, j):
    return (min(i, j) << 32) | max(i, j)


def random_boxes(rng, n, dim):
    x = rng.uniform(0, n ** (1 / dim), (n, dim))
    half = rng.uniform(0.1, 0.7, (n, dim))
    return x - half, x + half


def overlapping_keys(lower, upper):
    n = lower.shape[0]
    return sorted(
        key(i, j)
        for i in range(n)
        for j in range(i)
        if (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_sort_ends_leaves_sorted_lists_and_names_what_changed(dim):
    rng = np.random.default_rng(dim)
    n = 12
    lower, upper = random_boxes(rng, n, dim)
    ends = np.concatenate((lower, upper)).T
    order = np.argsort(ends, axis=1, kind="stable")
    value = np.take_along_axis(ends, order, axis=1)
    was_lower, was_upper = lower.copy(), upper.copy()
    toggled, count = np.empty(400, np.int64), np.zeros(3, np.int64)
    before = overlapping_keys(lower, upper)
    for _ in range(5):
        move = 0.3 * rng.normal(size=(n, dim))
        lower, upper = lower + move, upper + move
        status = broad.sort_ends(
            lower, upper, 10**6, was_lower, was_upper, order, value, toggled, count
        )
        assert status == 0
        now = overlapping_keys(lower, upper)
        assert set(toggled[: count[1]].tolist()) == set(before) ^ set(now)
        assert (np.diff(value, axis=1) >= 0).all()
        np.testing.assert_array_equal(was_lower, lower)
        ends = np.concatenate((lower, upper)).T
        np.testing.assert_array_equal(value, np.take_along_axis(ends, order, axis=1))
        before = now


def test_sort_ends_gives_up_when_told_to():
    lower = np.array([[0.0, 0.0], [10.0, 0.0]])
    order = np.array([[0, 2, 1, 3], [0, 1, 2, 3]])
    value = np.array([[0.0, 1.0, 10.0, 11.0], [0.0, 0.0, 1.0, 1.0]])
    passed, together = np.array([[10.0, 0.0], [0.0, 0.0]]), np.zeros((2, 2))
    for now, most, room in ((passed, 1, 9), (together, 100, 0)):
        status = broad.sort_ends(
            now, now + 1, most, lower.copy(), lower + 1, order.copy(), value.copy(),
            np.empty(room, np.int64), np.zeros(3, np.int64),
        )  # fmt: skip
        assert status == 1


def test_toggle_is_the_symmetric_difference():
    rng = np.random.default_rng(0)
    for _ in range(20):
        keys = np.unique(rng.integers(0, 30, rng.integers(0, 15)))
        toggled = np.sort(rng.integers(0, 30, rng.integers(0, 15)))
        out = np.empty(40, np.int64)
        size = broad.toggle(keys, toggled, out)
        assert out[:size].tolist() == sorted(set(keys.tolist()) ^ set(toggled.tolist()))


def test_sweep_counts_what_has_no_room():
    rng = np.random.default_rng(1)
    lower, upper = random_boxes(rng, 25, 3)
    order = np.argsort(np.concatenate((lower, upper))[:, 1], kind="stable")
    expected = overlapping_keys(lower, upper)
    work = np.empty((2, 25), np.int64)
    for room in (0, 3, 300):
        keys = np.full(room, -1)
        assert broad.sweep(lower, upper, order, work[0], work[1], keys) == len(expected)
        if room == 300:
            assert sorted(keys[: len(expected)].tolist()) == expected


def grid_of(lower, upper, typical):
    n = lower.shape[0]
    inverse = 1.0 / (typical * 2.0 ** np.arange(-MIDDLE, GRID_LEVELS - MIDDLE))
    inverse[-1] = 0.0
    origin = np.median(lower, axis=0)
    level, order, keys = np.empty((3, n), np.int64)
    cell, start = np.empty((n, 3), np.int64), np.empty(GRID_LEVELS + 1, np.int64)
    least, size = np.empty((2, GRID_LEVELS, 3), np.int64)
    broad.place_boxes(lower, upper, origin, inverse, level, cell, start, least, size)
    broad.sort_boxes(
        level, cell, start, least, size, keys, order, *np.empty((2, n), np.int64),
        np.empty(2049, np.int64),
    )  # fmt: skip
    return level, cell, start, keys, order


@pytest.mark.parametrize("dim", [2, 3])
def test_grid_sorts_boxes_into_cells_of_their_size(dim):
    """One huge box and one far away leave the cells of the others as sparse as they were."""
    rng = np.random.default_rng(2)
    n = 300
    x = rng.uniform(0, n ** (1 / dim), (n, dim))
    half = np.full((n, dim), 0.5)
    half[:20] /= 64
    x[0], half[0], x[1] = 3.0, 500.0, 1e12
    lower, upper = x - half, x + half
    typical = 1.0 + 2e-6
    level, cell, start, keys, order = grid_of(lower, upper, typical)
    width = (upper - lower).max(axis=1)
    cells = typical * 2.0 ** (level - MIDDLE)
    assert (width <= (1 - 1e-6) * cells).all()
    far = np.arange(n) == 1  # there, doubles are 1e-4 apart
    assert (width > 0.49 * cells)[~far].all()
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert (np.diff(level[order]) >= 0).all()
    for m in range(GRID_LEVELS):
        assert (np.diff(keys[start[m] : start[m + 1]]) >= 0).all()
    address = np.column_stack((level, cell))
    assert np.unique(address, axis=0, return_counts=True)[1].max() <= 8


def test_overlapping_keeps_order_and_meet_finds_all():
    rng = np.random.default_rng(3)
    lower, upper = random_boxes(rng, 40, 3)
    expected = overlapping_keys(lower, upper)
    everything = np.array(sorted(key(i, j) for i in range(40) for j in range(i)))
    out = np.empty(everything.size, np.int64)
    for room in (everything.size, len(expected) + 1, len(expected), 3, 0):
        size = broad.overlapping(everything, lower, upper, out[:room])
        if room > len(expected):
            assert out[:size].tolist() == expected
        else:
            assert size >= room
    which = np.array([3, 17, 29])
    marked = np.isin(np.arange(40), which)
    mine = [k for k in expected if marked[k >> 32] or marked[k & 0xFFFFFFFF]]
    for room in (0, 200):
        found = np.empty(room, np.int64)
        assert broad.meet(which, marked, lower, upper, found) == len(mine)
    assert sorted(found[: len(mine)].tolist()) == mine
    others = np.array([k for k in expected if k not in mine] + [key(3, 39)])
    out = np.empty(others.size + len(mine), np.int64)
    size = broad.replace(np.sort(others), marked, np.array(mine), out)
    assert out[:size].tolist() == expected


def test_sort_pairs_is_lexicographic():
    rng = np.random.default_rng(4)
    keys = np.array([key(i, j) for i, j in rng.integers(0, 50, (200, 2)) if i != j])
    expected = np.sort(keys)
    broad.sort_pairs(keys, np.empty_like(keys), np.empty(51, np.int64))
    np.testing.assert_array_equal(keys, expected)


def test_boxes_that_left_are_found_and_enlarged():
    lower = np.array([[0.0, 0.0], [5.0, 5.0]])
    upper = lower + 1.0
    fat_lower, fat_upper = np.empty((2, 2)), np.empty((2, 2))
    both, left = np.arange(2), np.empty(2, np.int64)
    speed = np.array([0.0, 0.1])
    broad.enlarge(lower, upper, both, 0.01, 1.0, 3.0, speed, fat_lower, fat_upper)
    np.testing.assert_allclose(fat_lower, [[-0.01, -0.01], [4.69, 4.69]])
    np.testing.assert_allclose(fat_upper, [[1.01, 1.01], [6.31, 6.31]])
    assert broad.find_left(lower, upper, fat_lower, fat_upper, left) == 0
    moved = lower + np.array([[0.0, -0.2], [0.2, 0.2]])
    assert broad.find_left(moved, moved + 1, fat_lower, fat_upper, left) == 1
    assert left[0] == 0
    mean = broad.measure_motion(moved, 2, 1.0, lower, speed)
    np.testing.assert_allclose(speed, [0.1, 0.1])
    assert mean == pytest.approx(0.1)
    np.testing.assert_array_equal(lower, moved)


@pytest.mark.parametrize("dim", [2, 3])
def test_reach_below_finds_all_that_touch_and_no_ball_above(dim):
    rng = np.random.default_rng(5)
    n, planes = 30, 3
    order = rng.permutation(n + planes)
    x = rng.uniform(-2, 2, (n + planes, dim))
    R = np.linalg.qr(rng.normal(size=(n + planes, dim, dim)))[0]
    radius = rng.uniform(0.1, 0.5, n + planes)
    margin = rng.uniform(0, 0.2, n + planes)
    ball = order[:n]
    reach = (radius + margin)[ball, None]
    keys = np.empty(n * planes, np.int64)
    size = detect.reach_below(order, radius, x, R, margin, x[ball] - reach, x[ball] + reach, keys)
    expected = [
        key(i, r)
        for i in range(n)
        for r in range(n, n + planes)
        if R[order[r], :, -1] @ (x[order[i]] - x[order[r]]) - radius[order[i]]
        <= margin[order[i]] + margin[order[r]]
    ]
    assert keys[:size].tolist() == expected
    # with balls that say nothing, boxes decide: a box is below if one of its corners is
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * dim), -1).reshape(-1, dim)
    size = detect.reach_below(
        order, radius + 99.0, x, R, margin, x[ball] - reach, x[ball] + reach, keys
    )
    expected = [
        key(i, r)
        for i in range(n)
        for r in range(n, n + planes)
        if ((x[ball[i]] + corners * reach[i] - x[order[r]]) @ R[order[r], :, -1]).min()
        <= margin[order[r]]
    ]
    assert keys[:size].tolist() == expected


def test_rules_of_bodies():
    """Four geoms of four bodies, and a fifth of the first body."""
    body = np.array([0, 1, 2, 3, 0])
    movable = np.array([1, 0, 0, 1])
    layer = np.array([1, 1, 3, 2])
    geom = np.column_stack((np.arange(5), np.zeros(5), body, layer[body], movable[body]))
    geom = geom.astype(np.int64)
    ignored = np.array([0 * 4 + 2, 2 * 4 + 3])

    def may(a, b, without=ignored):
        """In either order, which a table of pairs never has: the rules do not care."""
        answers = []
        for found in (a << 32 | b, b << 32 | a):
            start, work = np.zeros(2, np.int64), np.empty((3, 1), np.int64)
            detect.split(
                geom, 4, without, np.zeros(1, np.int64), np.zeros(5), np.array([found]), work[0],
                start, np.zeros(2, np.int64), work[1], np.empty((1, 2), np.int64), np.empty(1),
            )  # fmt: skip
            answers.append(int(start[1]))
        assert answers[0] == answers[1]
        return answers[0] == 1

    assert may(0, 1)
    assert may(1, 4)
    assert not may(0, 4)  # the same body
    assert not may(1, 2)  # neither can move
    assert not may(0, 3)  # no layer in common
    assert not may(0, 2)  # ignored
    assert not may(2, 3)
    nothing = np.empty(0, np.int64)
    assert may(0, 2, nothing)
    assert may(2, 3, nothing)


def test_boxes_that_are_not_finite_are_reported():
    order, kind = np.array([2, 0, 1]), np.array([0, 4, 0])
    x, R, margin = np.zeros((3, 2)), np.stack([np.eye(2)] * 3), np.zeros(3)
    first, numbers = np.array([0, 1, 1, 2]), np.array([1.0, 2.0])
    none = np.zeros(4, np.int64)
    lower, upper = np.empty((2, 2, 2))

    def bad():
        geoms = PosedGeoms(x, R, kind, first, numbers, none, none)
        return bounds_planar(order[:2], geoms, margin, lower, upper)

    x[1] = np.nan  # a half-plane, whose box does not matter
    assert bad() == -1
    np.testing.assert_array_equal(upper, [[2.0, 2.0], [1.0, 1.0]])
    for value in (np.nan, np.inf, -np.inf):
        x[2, 1] = value
        assert bad() == 2


def test_split_and_carry_by_hand():
    """Three kinds; geoms 0 to 4 have ranks 4, 0, 2, 1, 3; one pair is dropped."""
    order = np.array([1, 3, 2, 4, 0])
    one = np.ones(5, np.int64)
    geom = np.column_stack((order, [0, 0, 1, 1, 2], order, one, one))
    ignored = np.array([1 * 5 + 2])
    width = np.array([2, 1, 0, 0, 3, 0, 0, 0, 0])
    margin = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    found = np.array([key(0, 1), key(0, 2), key(0, 3), key(1, 2), key(2, 3), key(1, 4)])
    start, offset = np.empty((2, 10), np.int64)
    batch, keys = np.empty((2, 6), np.int64)
    pairs, pair_margin = np.empty((6, 2), np.int64), np.empty(6)
    detect.split(
        geom, 5, ignored, width, margin, found, batch, start, offset, keys, pairs, pair_margin
    )
    assert start.tolist() == [0, 1, 3, 4, 4, 5, 5, 5, 5, 5]
    assert offset.tolist() == [0, 2, 4, 4, 4, 7, 7, 7, 7, 7]
    assert pairs[:5].tolist() == [[1, 3], [1, 4], [3, 2], [3, 0], [2, 4]]
    np.testing.assert_allclose(pair_margin[:5], [0.6, 0.7, 0.7, 0.5, 0.8])

    cache = np.arange(1.0, 8.0)
    new_start = np.array([0, 0, 2, 2, 2, 4, 4, 4, 4, 4])
    new_offset = np.array([0, 0, 2, 2, 2, 8, 8, 8, 8, 8])
    new_keys = np.array([key(0, 2), key(1, 2), key(2, 3), key(3, 4)])
    new_cache = np.full(8, np.nan)
    old = width, start, offset, keys, cache
    assert detect.carry(*old, new_start, new_offset, new_keys, new_cache) == 0
    assert new_cache.tolist() == [0.0, 4.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0]
    assert detect.carry(*old, start, offset, keys.copy(), new_cache) == 1


def test_median_is_the_middle_of_the_sorted():
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 10, 101):
        for values in (rng.normal(size=size), rng.integers(0, 3, size).astype(float)):
            assert median(np.append(values, -9.0), size) == np.sort(values)[size // 2]


def test_the_best_span_costs_least():
    """Against all spans, by the cost that is told; at most by what rounding it down makes."""
    t = np.arange(1, 129)
    for r in (0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 1.0):
        cost = np.append((1 + 3 * r * t) ** 3 * (1 + 5 / t), 6.0)
        chosen = best_span(r)
        assert (6.0 if chosen == 1 else cost[chosen - 1]) <= 1.05 * cost.min()
