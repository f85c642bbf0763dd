"""All broad phases give the pairs that brute force gives, at every step of long motions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import OptionError
from drystone.geometry import broad_phase
from drystone.geometry.broad_phase import (
    BRUTE_FORCE_BOXES,
    METHODS,
    AllPairs,
    Grid,
    SortedLists,
    make_broad,
    overlaps,
)

OTHERS = [name for name in METHODS if name != "all-pairs"]


def brute_force(lower, upper):
    """Pairs i < j in lexicographic order, one by one."""
    n = lower.shape[0]
    return [
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()
    ]


def crowd(rng, n, dim, widths="like"):
    """Middles and half widths of boxes, about one per unit of volume."""
    x = rng.uniform(0, max(n, 1) ** (1 / dim), (n, dim))
    half = rng.uniform(0.2, 0.8, (n, dim))
    if widths == "mixed":  # over more than 10^3, most boxes small
        half *= np.exp(rng.uniform(np.log(2e-3), np.log(3.0), (n, 1)))
    elif widths == "equal":
        half[:] = 0.5
    return x, half


def ends_sorted(lower, upper, axis):
    """Place of every end in the sorted list: by value, lower ends first; equals as they come."""
    value = np.concatenate((lower[:, axis], upper[:, axis]))
    is_upper = np.repeat((False, True), lower.shape[0])
    return value, is_upper


def inversions(before, after, n, dim):
    """Pairs of ends of which the one that came first must now come second."""
    count = 0
    for k in range(dim):
        v0, u = ends_sorted(*before, k)
        v1, _ = ends_sorted(*after, k)
        first = (v0[:, None] < v0) | ((v0[:, None] == v0) & ~u[:, None] & u)
        second = (v1[:, None] > v1) | ((v1[:, None] == v1) & u[:, None] & ~u)
        count += int((first & second).sum())
    return count


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from(OTHERS), st.sampled_from((2, 3)), st.integers(0, 60),
    st.sampled_from(("like", "mixed", "equal")), st.sampled_from((1e-3, 0.05, 1.0)),
)  # fmt: skip
def test_equal_to_brute_force_at_every_step(seed, name, dim, n, widths, motion):
    rng = np.random.default_rng(seed)
    x, half = crowd(rng, n, dim, widths)
    velocity = rng.normal(size=(n, dim)) * motion
    broad = make_broad(name)
    for step in range(25):
        assert broad.keys(x - half, x + half).tolist() == [
            i << 32 | j for i, j in brute_force(x - half, x + half)
        ]
        x = x + velocity * rng.uniform(0, 2)
        if step % 8 == 7:
            x = np.round(4 * x) / 4  # ends that coincide: touching boxes overlap
            half = np.round(4 * half) / 4
        if step % 11 == 10 and n:
            x[rng.integers(n)] += rng.normal(size=dim) * 10.0 ** rng.integers(0, 12)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("widths", ["like", "mixed", "equal"])
def test_methods_agree_over_long_motions(dim, widths):
    """Many boxes for many steps in a closed room; every third step all stand still."""
    rng = np.random.default_rng(dim)
    n = 400
    x, half = crowd(rng, n, dim, widths)
    side = n ** (1 / dim)
    velocity = rng.normal(size=(n, dim)) * 0.02
    methods = [make_broad(name) for name in METHODS]
    for step in range(200):
        if step % 3:
            x = x + velocity
            velocity[(x < 0) | (x > side)] *= -1
        answers = [method.keys(x - half, x + half).copy() for method in methods]
        for method, answer in zip(methods[1:], answers[1:], strict=True):
            np.testing.assert_array_equal(answer, answers[0], err_msg=f"{method.name} {step}")
        assert (np.diff(answers[0]) > 0).all()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from((2, 3)), st.sampled_from((0.0, 0.01, 0.3)))
def test_swaps_are_the_inversions(seed, dim, motion):
    rng = np.random.default_rng(seed)
    n = 30
    x, half = crowd(rng, n, dim)
    lists = SortedLists(limit=1e9)
    lists.keys(x - half, x + half)
    for _ in range(3):
        before = x - half, x + half
        was = set(lists.keys(*before).tolist())
        x = x + rng.normal(size=x.shape) * motion
        if motion == 0.3:
            x = np.round(5 * x) / 5
        now = set(lists.keys(x - half, x + half).tolist())
        stats = lists.stats()
        assert stats["swaps"] == inversions(before, (x - half, x + half), n, dim)
        assert stats["changes"] == len(was ^ now) <= stats["meetings"] <= stats["swaps"]
    assert lists.rebuilds == 1


def test_extra_work_vanishes_with_coherence():
    """s - k: swaps that change no pair. In a row of boxes on a line each swap of a lower with an
    upper end is a change, as the paper says; in space a swap matters only if the boxes are close
    along the other axes, so s stays below the ends that pass each other, and none at rest."""
    rng = np.random.default_rng(5)
    n = 300
    x = np.column_stack((rng.uniform(0, n, n), np.zeros(n)))
    half = np.full((n, 2), 0.5)
    lists = SortedLists()
    lists.keys(x - half, x + half)
    for _ in range(50):
        x[:, 0] += 0.01 * rng.normal(size=n)
        lists.keys(x - half, x + half)
        assert lists.changes == lists.meetings
        assert lists.swaps - lists.changes <= 2 * lists.changes + 20
    lists.keys(x - half, x + half)
    assert lists.swaps == 0


def test_a_shared_motion_costs_nothing():
    rng = np.random.default_rng(6)
    x, half = crowd(rng, 200, 3)
    lists = SortedLists()
    lists.keys(x - half, x + half)
    for _ in range(20):
        x += 0.25  # a sum without rounding for most; others may swap equals, never many
        lists.keys(x - half, x + half)
        assert lists.swaps <= 2


def test_a_great_jump_starts_the_lists_anew():
    rng = np.random.default_rng(7)
    x, half = crowd(rng, 300, 3)
    lists = SortedLists(limit=5.0)
    lists.keys(x - half, x + half)
    for _ in range(3):
        x = rng.permutation(x)
        found = lists.keys(x - half, x + half)
        np.testing.assert_array_equal(found, AllPairs().keys(x - half, x + half))
    assert lists.rebuilds == 4


def test_more_changes_than_room_starts_anew():
    """All boxes come together at once: more pairs than the list of changes holds."""
    n = 120
    x = np.arange(2.0 * n).reshape(n, 2) * 10
    lists = SortedLists(limit=1e9)
    lists.keys(x - 1, x + 1)
    x = np.zeros((n, 2))
    assert lists.keys(x - 1, x + 1).size == n * (n - 1) // 2
    assert lists.rebuilds == 2


def test_lists_of_very_many_boxes_start_from_a_grid(monkeypatch):
    rng = np.random.default_rng(8)
    x, half = crowd(rng, 300, 3, "mixed")
    monkeypatch.setattr(broad_phase, "SWEEP_BOXES", 100)
    lists = SortedLists()
    for _ in range(3):
        np.testing.assert_array_equal(
            lists.keys(x - half, x + half), AllPairs().keys(x - half, x + half)
        )
        x += 0.01 * rng.normal(size=x.shape)


def test_a_grid_takes_one_huge_box_and_one_far_away():
    """A box 1000 times as wide, and one 10^12 widths away."""
    rng = np.random.default_rng(9)
    x, half = crowd(rng, 2000, 3, "equal")
    x[0], half[0] = 5.0, 500.0
    x[1] = 1e12
    for last in (1, 1000):  # the one in the middle of the list is no better an origin
        x[[1, last]] = x[[last, 1]]
        expected = AllPairs().keys(x - half, x + half)
        np.testing.assert_array_equal(overlaps(x - half, x + half), expected)


def test_the_grid_keeps_candidates_while_boxes_stay():
    rng = np.random.default_rng(10)
    x, half = crowd(rng, 500, 3)
    grid = Grid()
    for _ in range(300):
        grid.keys(x - half, x + half)
    assert grid.rebuilds <= 4
    assert grid.keep.motion == 0.0
    x[3] += 0.5
    grid.keys(x - half, x + half)
    assert grid.left == 1
    assert grid.rebuilds <= 4


def test_few_boxes_are_tested_each_with_each_and_many_by_the_grid():
    rng = np.random.default_rng(11)
    x, half = crowd(rng, 300, 3, "equal")
    for n, rebuilds in ((BRUTE_FORCE_BOXES, 0), (BRUTE_FORCE_BOXES + 1, 1), (300, 2)):
        chosen = make_broad("auto")
        for _ in range(1 + rebuilds):
            chosen.hold((n, 3))
            found = chosen.keys(x[:n] - half[:n], x[:n] + half[:n])
        np.testing.assert_array_equal(found, AllPairs().keys(x[:n] - half[:n], x[:n] + half[:n]))
        assert (chosen.rebuilds > 0) == (n > BRUTE_FORCE_BOXES)


def test_boxes_may_come_and_go():
    rng = np.random.default_rng(12)
    x, half = crowd(rng, 80, 3)
    for name in OTHERS:
        broad = make_broad(name)
        for n in (80, 30, 0, 31, 80, 1):
            lower, upper = x[:n] - half[:n], x[:n] + half[:n]
            np.testing.assert_array_equal(broad.keys(lower, upper), AllPairs().keys(lower, upper))


def test_unknown_methods_are_named():
    with pytest.raises(OptionError, match="broad='quick': expected one of 'auto', "):
        make_broad("quick")
