"""Impulses stay with their contacts: against a dictionary, and against all pairs of points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import ArrayError
from drystone.geometry.matching import Tags, guesses, sources
from drystone.kernels.matching import match, match_contacts, places

pytestmark = pytest.mark.kernels


def random_tags(rng, count, pairs, features, dim=3):
    pair = rng.integers(0, pairs, (count, 2))
    return Tags(
        pair[:, 0], pair[:, 1] + 10**12, rng.integers(-5, features, count),
        rng.uniform(-1, 1, (count, dim)),
    )  # fmt: skip


def keys(tags):
    return list(zip(tags.a.tolist(), tags.b.tolist(), tags.feature.tolist(), strict=True))


def pick(tags, rows):
    local = None if tags.local is None else tags.local[rows]
    return Tags(tags.a[rows], tags.b[rows], tags.feature[rows], local)


def plain(tags):
    return Tags(tags.a, tags.b, tags.feature)


def expected_sources(old, new, reach):
    """By the rules as they are told: a queue for each key, then all distances."""
    queues, result = {}, []
    for i, key in enumerate(keys(old)):
        queues.setdefault(key, []).append(i)
    for key in keys(new):
        result.append(queues[key].pop(0) if queues.get(key) else -1)
    left = [i for i in range(len(old)) if i not in result]
    for j, (a, b, _) in enumerate(keys(new)):
        near = [i for i in left if (old.a[i], old.b[i]) == (a, b)]
        far = [np.linalg.norm(old.local[i] - new.local[j]) for i in near]
        if result[j] < 0 and near and min(far) <= reach:
            result[j] = near[int(np.argmin(far))]
            left.remove(result[j])
    return result


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(0, 25), st.integers(0, 25), st.integers(1, 4),
    st.sampled_from((0.0, 0.7, np.inf)),
)  # fmt: skip
def test_sources_follow_the_rules(seed, before, after, pairs, reach):
    rng = np.random.default_rng(seed)
    old = random_tags(rng, before, pairs, 4)
    new = random_tags(rng, after, pairs, 4)
    found = sources(old, new, reach=reach)
    assert found.tolist() == expected_sources(old, new, reach)
    taken = found[found >= 0]
    assert np.unique(taken).size == taken.size
    far_away = Tags(old.a, old.b, old.feature, old.local + 100.0)
    strict = sources(far_away, new, reach=1.0)
    assert strict.tolist() == sources(plain(old), plain(new)).tolist()


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 10**6))
def test_order_does_not_matter(seed):
    """With distinct features the contact found is the same one, however both sides are listed."""
    rng = np.random.default_rng(seed)
    old = random_tags(rng, 30, 3, 100)
    _, distinct = np.unique(np.array(keys(old)), axis=0, return_index=True)
    old = pick(old, distinct)
    new = pick(old, rng.permutation(len(old))[: len(old) // 2])
    found = keys(pick(old, sources(plain(old), plain(new))))
    assert found == keys(new)
    turn = rng.permutation(len(old))
    turned = pick(old, turn)
    assert keys(pick(turned, sources(plain(turned), plain(new)))) == keys(new)


def test_guesses_carry_rows_and_zeros():
    old = Tags([1, 1, 2], [5, 5, 5], [0, 1, 0])
    new = Tags([1, 2, 3, 1], [5, 5, 5, 5], [1, 0, 0, 2])
    rows = np.array([[1.0, 0.1, 0.2], [2.0, 0.3, 0.4], [3.0, 0.5, 0.6]])
    expected = [rows[1], rows[2], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(guesses(old, rows, new), expected)


def test_a_point_that_slid_takes_the_nearest_impulse_once():
    old = Tags([1, 1], [2, 2], [10, 11], np.array([[0.0, 0.0], [1.0, 0.0]]))
    new = Tags([1, 1, 1], [2, 2, 2], [20, 21, 22], np.array([[0.9, 0.0], [0.1, 0.0], [0.95, 0.0]]))
    assert sources(old, new).tolist() == [1, 0, -1]
    assert sources(old, new, reach=0.05).tolist() == [-1, -1, -1]


def test_nothing_before_and_nothing_now():
    none = Tags([], [], [])
    some = Tags([1], [2], [3])
    assert guesses(none, np.zeros((0, 3)), some).tolist() == [[0.0, 0.0, 0.0]]
    assert guesses(some, np.ones((1, 2)), none).shape == (0, 2)


def test_wrong_shapes_are_named():
    with pytest.raises(ArrayError, match="b: shape"):
        Tags([1], [2, 3], [3])
    with pytest.raises(ArrayError, match="local: shape"):
        Tags([1], [2], [3], np.zeros((2, 3)))
    with pytest.raises(ArrayError, match="rows: shape"):
        guesses(Tags([1], [2], [3]), np.zeros((2, 3)), Tags([1], [2], [3]))


@pytest.mark.parametrize("step", [1, 2, 8, 64, 1 << 20])
def test_pairs_spread_over_the_table(step):
    """The cost is linear if no stretch of taken places is long: also for the pairs of a pile,
    whose geoms are numbered one after the other. Random places would give runs of about 20."""
    count = 2000
    a = step * (np.arange(count) // 4)
    b = a + step * (1 + np.arange(count) % 4)
    head, source = np.empty(8192, np.int64), np.empty(count, np.int64)
    zero = np.zeros(count, np.int64)
    match_contacts(a, b, zero, a, b, zero, head, np.empty((3, count), np.int64), source)
    np.testing.assert_array_equal(source, np.arange(count))
    taken = head >= 0
    assert taken.sum() == count
    ends = np.flatnonzero(~taken)
    assert np.diff(ends).max() <= 40


def test_arrays_with_room_for_more():
    """The stage looks at the first contacts only, and says so if its work arrays are too short."""
    rng = np.random.default_rng(8)
    old, new = (plain(random_tags(rng, count, 12, 3)) for count in (60, 80))
    for m, n in ((0, 0), (0, 80), (40, 70), (60, 0), (60, 80)):
        args = m, old.a, old.b, old.feature, n, new.a, new.b, new.feature
        head, tail = np.empty(places(60), np.int64), np.empty((3, 60), np.int64)
        source = np.full(80, 5)
        expected = sources(pick(old, slice(m)), pick(new, slice(n)))
        assert match(*args, head, tail, source) == np.count_nonzero(expected >= 0)
        np.testing.assert_array_equal(source[:n], expected)
        assert (source[n:] == 5).all()
    assert match(*args, head[:64], tail, source) == -1
    assert match(*args, head, tail[:, :59].copy(), source) == -1
    assert match(*args, head, tail, source[:79]) == -1
