"""Contacts of planar pairs against references that share no code with the kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.kinds import (
    CAPSULE_2D,
    DISK,
    ELLIPSE,
    HALF_PLANE,
    POLYGON,
)
from tests.geometry.kind_tables import NAMES, PLANAR
from tests.geometry.planar_pairs import (
    BOUNDED,
    PAIRS,
    Batch,
    deepest,
    random_batch,
    rotation,
    separation,
    shape,
    signed_distance,
)

SQUARE = np.array([-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5])
ROUND_OFF = 1e-13  # sizes are about 1, positions about 3


def names(pair):
    return f"{NAMES[pair[0]]}-{NAMES[pair[1]]}"


def test_every_pair_has_a_kernel():
    expected = [(a, b) for a in PLANAR for b in PLANAR if a <= b and a != HALF_PLANE]
    assert expected == PAIRS


@pytest.mark.parametrize("low", [-0.2, -2.0], ids=["shallow", "deep"])
@pytest.mark.parametrize("kinds", BOUNDED, ids=names)
def test_signed_distance_of_random_poses(kinds, low):
    """Gap, normal and both surface points; two thousand poses of each pair in all."""
    batch, x, angle = random_batch(kinds, 17, 1000, low, 0.5 if low > -1 else 0.0)
    a, b = batch.bodies(x, angle)
    expected, normal = signed_distance(a, b)
    gap, n, point = deepest(batch.raw(x, angle), batch.n)
    if low == -2.0 and ELLIPSE in kinds:  # deep, a maximum that is not quite the greatest will do
        miss = expected - gap > ROUND_OFF
        assert miss.mean() < 0.005
        assert (expected - gap).max() < 0.01
        expected[miss] = gap[miss]
    np.testing.assert_allclose(gap, expected, rtol=0, atol=ROUND_OFF)
    # the direction gives the greatest separation; the reference direction of ellipses is known
    # to the root of the rounding only, and two faces of one depth are equally right
    np.testing.assert_allclose(separation(a, b, n[:, None])[:, 0], expected, rtol=0, atol=ROUND_OFF)
    assert np.median(np.abs(n - normal)) < 1e-7
    p_a, p_b = point + 0.5 * gap[:, None] * n, point - 0.5 * gap[:, None] * n
    np.testing.assert_allclose(a.outside(p_a), 0.0, atol=ROUND_OFF)
    np.testing.assert_allclose(b.outside(p_b), 0.0, atol=ROUND_OFF)


@pytest.mark.parametrize("kind", [k for k in PLANAR if k != HALF_PLANE], ids=NAMES.get)
def test_half_plane(kind):
    rng, n = np.random.default_rng(3), 500
    batch = Batch((kind, HALF_PLANE), [shape(kind, rng) for _ in range(n)], [[]] * n)
    x, angle = rng.uniform(-1, 1, (2 * n, 2)), rng.uniform(-np.pi, np.pi, 2 * n)
    a, _ = batch.bodies(x, angle)
    up = rotation(angle[1::2])[:, :, 1]
    expected = -a.height(-up[:, None])[:, 0] - (up * x[1::2]).sum(1)
    which, gap, normal, point, feature = batch.raw(x, angle)
    np.testing.assert_array_equal(normal, up[which])
    np.testing.assert_allclose(
        deepest((which, gap, normal, point, feature), n)[0], expected, rtol=0, atol=ROUND_OFF
    )
    foot = point - 0.5 * gap[:, None] * normal
    np.testing.assert_allclose((normal * (foot - x[1::2][which])).sum(1), 0.0, atol=ROUND_OFF)
    p_a = point + 0.5 * gap[:, None] * normal
    if kind in (DISK, ELLIPSE):
        np.testing.assert_allclose(a.outside(p_a), 0.0, atol=ROUND_OFF)
    else:  # without a margin all ends or vertices are contacts, each its own feature
        for k in range(n):
            own = a.corners[k, : a.sides[k]] - a.radius[k] * up[k]
            assert list(feature[which == k]) == list(range(len(own)))
            np.testing.assert_allclose(p_a[which == k], own, atol=ROUND_OFF)


@pytest.mark.parametrize("kinds", PAIRS, ids=names)
def test_margin_decides_which_contacts_are_kept(kinds):
    batch, x, angle = random_batch(kinds, 5, 200, -0.1, 0.5)
    everything = batch.raw(x, angle)
    for margin in (-0.02, 0.0, 0.2):
        fresh = Batch(kinds, *batch.shapes)
        which, gap, _, point, feature = fresh.raw(x, angle, margin)
        keep = everything[1] <= margin
        np.testing.assert_array_equal(which, everything[0][keep])
        np.testing.assert_array_equal(feature, everything[4][keep])
        np.testing.assert_allclose(gap, everything[1][keep], rtol=0, atol=ROUND_OFF)
        np.testing.assert_allclose(point, everything[3][keep], rtol=0, atol=1e-7)


@pytest.mark.parametrize("kinds", PAIRS, ids=names)
def test_gradient_of_the_gap_is_the_normal(kinds):
    """The gradient of the gap, in all six coordinates of the pair: -n, n and their moments about
    the centres."""
    batch, x, angle = random_batch(kinds, 11, 200, -0.05, 0.4)
    gap, n, point = deepest(batch.raw(x, angle), batch.n)
    h = 1e-6
    for w, sign in ((0, 1.0), (1, -1.0)):
        arm = point - x[w::2]
        moment = arm[:, 0] * n[:, 1] - arm[:, 1] * n[:, 0]
        for axis, expected in ((0, n[:, 0]), (1, n[:, 1]), (2, moment)):
            moved = []
            for step in (-h, h):
                x1, angle1 = x.copy(), angle.copy()
                if axis < 2:
                    x1[w::2, axis] += step
                else:
                    angle1[w::2] += step
                moved.append(deepest(batch.raw(x1, angle1), batch.n)[0])
            slope = (moved[1] - moved[0]) / (2 * h)
            smooth = np.abs(moved[1] - 2 * gap + moved[0]) < 1e-8  # not across a kink
            assert smooth.mean() > 0.98
            np.testing.assert_allclose(slope[smooth], sign * expected[smooth], atol=1e-6)


@pytest.mark.parametrize("kind", [k for k in PLANAR if k != HALF_PLANE], ids=NAMES.get)
def test_swapping_equal_kinds_turns_the_normal(kind):
    batch, x, angle = random_batch((kind, kind), 23, 300)
    gap, n, point = deepest(batch.raw(x, angle), batch.n)
    other = Batch((kind, kind), batch.shapes[1], batch.shapes[0])
    flip = np.arange(2 * batch.n).reshape(-1, 2)[:, ::-1].ravel()
    gap2, n2, point2 = deepest(other.raw(x[flip], angle[flip]), batch.n)
    np.testing.assert_allclose(gap2, gap, rtol=0, atol=ROUND_OFF)
    np.testing.assert_allclose(n2, -n, rtol=0, atol=1e-7)
    np.testing.assert_allclose(point2, point, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kinds", PAIRS, ids=names)
@settings(deadline=None, derandomize=True, max_examples=20)
@given(seed=st.integers(0, 10**6), turn=st.floats(-3, 3), dx=st.floats(-9, 9))
def test_a_rigid_motion_of_both_moves_the_contacts_along(kinds, seed, turn, dx):
    batch, x, angle = random_batch(kinds, seed, 10)
    Q, shift = rotation(turn), np.array([dx, 2.0])
    which, gap, n, point, feature = batch.raw(x, angle)
    moved = Batch(kinds, *batch.shapes).raw(x @ Q.T + shift, angle + turn)
    np.testing.assert_array_equal(moved[0], which)
    np.testing.assert_allclose(moved[1], gap, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved[2], n @ Q.T, rtol=0, atol=1e-7)
    np.testing.assert_allclose(moved[3], point @ Q.T + shift, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(moved[4], feature)


def drifting(kinds, steps, seed=2, n=40, speed=0.003):
    """Pairs in slow motion, to and fro: yields the batch with its cache, and the poses."""
    batch, x, angle = random_batch(kinds, seed, n, -0.01, 0.15)
    rng = np.random.default_rng(seed)
    v, w = rng.normal(size=x.shape), rng.normal(size=angle.shape)
    for k in range(steps):
        sway = 0.03 * np.sin(k * speed / 0.03)
        yield batch, x + sway * v, angle + sway * w


@pytest.mark.parametrize("kinds", BOUNDED, ids=names)
def test_what_is_cached_changes_no_answer(kinds):
    """A pair with a history answers as a new one does, and mostly from its cache."""
    for batch, x, angle in drifting(kinds, 60):
        warm = deepest(batch.raw(x, angle), batch.n)
        cold = deepest(Batch(kinds, *batch.shapes).raw(x, angle), batch.n)
        np.testing.assert_allclose(warm[0], cold[0], rtol=0, atol=ROUND_OFF)
        tie = np.abs(warm[1] - cold[1]).max(1) > 1e-6  # faces of equal depth
        assert tie.sum() <= 1
    counters = batch.counters
    if "searches" in counters:
        asked = counters["hits"] + counters["neighbours"] + counters["searches"]
        assert asked == 60 * batch.n
        assert counters["hits"] > 0.85 * asked
    if kinds in ((DISK, ELLIPSE), (ELLIPSE, ELLIPSE)):
        assert counters["predicted"] > 0.9 * 60 * batch.n


PLATE = np.array([-1.0, -0.01, 1.0, -0.01, 1.0, 0.01, -1.0, 0.01])
FLAT = {POLYGON: PLATE, ELLIPSE: np.array([1.0, 0.05]), CAPSULE_2D: np.array([1.0, 0.01])}


@pytest.mark.parametrize("kinds", [p for p in BOUNDED if DISK not in p], ids=names)
@pytest.mark.parametrize("upright", [False, True])
def test_flat_bodies_pushed_through_each_other(kinds, upright):
    """Halfway the other side becomes the way out, though the cached side is a way out as well."""
    other = FLAT[kinds[1]] * 0.05 if upright else FLAT[kinds[1]]  # then its end touches first
    batch = Batch(kinds, [FLAT[kinds[0]]], [other])
    for height in np.linspace(0.13, -0.13, 53):
        x, angle = [(0.03, height), (0.0, 0.0)], [0.001, 1.5 if upright else 0.0]
        expected, _ = signed_distance(*batch.bodies(x, angle), size=2880)
        gap, _, _ = deepest(batch.raw(x, angle), 1)
        np.testing.assert_allclose(gap, expected, rtol=0, atol=ROUND_OFF)


@pytest.mark.parametrize(
    "kinds", [(DISK, POLYGON), (ELLIPSE, POLYGON), (POLYGON, POLYGON)], ids=names
)
def test_a_body_carried_round_a_square_goes_from_feature_to_feature(kinds):
    """Neighbours of the cached feature are tried before everything is searched."""
    own = {DISK: [0.3], ELLIPSE: [0.5, 0.3], POLYGON: 0.6 * SQUARE}[kinds[0]]
    batch = Batch(kinds, [own], [SQUARE])
    for turn in np.linspace(0, 2 * np.pi, 400):
        x = [(2 * np.cos(turn), 2 * np.sin(turn)), (0.0, 0.0)]
        expected, _ = signed_distance(*batch.bodies(x, [0.4, 0.0]))
        gap, _, _ = deepest(batch.raw(x, [0.4, 0.0]), 1)
        np.testing.assert_allclose(gap, expected, rtol=0, atol=ROUND_OFF)
    assert batch.counters["searches"] == 1
    assert batch.counters["neighbours"] >= 4


@pytest.mark.parametrize("kinds", [(DISK, ELLIPSE), (ELLIPSE, ELLIPSE)], ids=names)
def test_the_predictor_saves_iterations(kinds):
    """Newton from p + dp takes fewer steps than from p, and from p fewer than from nothing."""
    spent = {"predicted": 0, "cached": 0, "new": 0}
    batches = {}
    for batch, x, angle in drifting(kinds, 60):
        for name in spent:
            held = batches.setdefault(name, Batch(kinds, *batch.shapes))
            if name == "cached":
                held.cache[:, 3:] = [1.0, 0.0]
            elif name == "new":
                held.cache[:] = 0.0
            held.raw(x, angle)
            spent[name] = held.counters["iterations"]
    assert spent["predicted"] < 0.9 * spent["cached"]
    assert spent["cached"] < spent["new"]


def test_no_room_leaves_the_cache_as_it_was():
    for kinds in PAIRS:
        batch, x, angle = random_batch(kinds, 8, 30)
        small = Batch(kinds, *batch.shapes, room=1)
        for step in range(3):
            a = batch.raw(x + 0.01 * step, angle + 0.01 * step)
            small.room = 1
            b = small.raw(x + 0.01 * step, angle + 0.01 * step)
            for one, two in zip(a, b, strict=True):
                np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(batch.cache, small.cache)


def squares(*poses):
    """The contacts of two unit squares, for poses (x, y, angle) of A above B at the origin."""
    batch = Batch((POLYGON, POLYGON), [SQUARE], [SQUARE])
    for x, y, angle in poses:
        yield batch([(x, y), (0.0, 0.0)], [angle, 0.0], margin=0.01)[0]


@pytest.mark.parametrize("height", [1.0, 1.005, 0.995])
def test_equal_squares_stacked_exactly(height):
    """The hard case: no vertex inside the other, no edge through a face."""
    (contacts,) = squares((0.0, height, 0.0))
    assert len(contacts) == 2
    for gap, normal, point, _ in contacts:
        assert gap == pytest.approx(height - 1.0, abs=1e-15)
        np.testing.assert_allclose(normal, [0, 1], atol=1e-15)
        assert abs(point[0]) == pytest.approx(0.5)
        assert point[1] == pytest.approx(0.5 * height)
    assert contacts[0][3] != contacts[1][3]


def test_names_of_contacts_stay_under_rounding_rocking_and_sliding():
    tiny = (-1e-13, 1e-13)
    jitter = [(dx, 1.0 + dy, turn) for dx in tiny for dy in tiny for turn in tiny]
    rocking = [(0.0, 1.0, turn) for turn in (1e-4, -1e-4, 1e-7)]
    seen = [[c[3] for c in contacts] for contacts in squares(*jitter, *rocking)]
    assert all(s == seen[0] for s in seen)
    poses = [(dx, 1.0, 0.0) for dx in (0.1, 0.3, 0.7)]
    seen = [[c[3] for c in contacts] for contacts in squares(*poses)]
    assert all(s == seen[0] for s in seen)


def test_one_contact_once_the_edges_are_not_parallel_within_the_margin():
    level, tilted = squares((0.3, 1.0, 0.005), (0.3, 1.13, 0.3))
    assert len(level) == 2
    assert len(tilted) == 1


def test_vertex_against_vertex():
    """Along the line between them when apart; a face when they touch or overlap."""
    for apart in (1e-3, 1e-7):
        ((contact,),) = squares((1.0 + 0.6 * apart, 1.0 + 0.8 * apart, 0.0))
        assert contact[0] == pytest.approx(apart, abs=1e-15)
        np.testing.assert_allclose(contact[1], [0.6, 0.8], atol=1e-15 / apart)
    for overlap in (0.0, 1e-12, 1e-3):
        (contacts,) = squares((1.0 - overlap, 1.0 - 2 * overlap, 0.0))
        for gap, normal, point, _ in contacts:
            assert gap == pytest.approx(-overlap, abs=1e-14)
            assert {abs(normal[0]), abs(normal[1])} == {0.0, 1.0}
            np.testing.assert_allclose(point, [0.5, 0.5], atol=2e-3)


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-9])
def test_blocks_on_a_grid(noise):
    """Edges in one line, corners that meet, faces that coincide: with and without rounding."""
    rng, n = np.random.default_rng(0), 1000

    def block():
        w, h = rng.choice([0.25, 0.5, 1.0], 2)
        return np.array([-w, -h, w, -h, w, h, -w, h])

    batch = Batch((POLYGON, POLYGON), [block() for _ in range(n)], [block() for _ in range(n)])
    for _ in range(3):
        x = 0.25 * rng.integers(-8, 9, (2 * n, 2)) + noise * rng.normal(size=(2 * n, 2))
        angle = 0.5 * np.pi * rng.integers(0, 4, 2 * n) + noise * rng.normal(size=2 * n)
        a, b = batch.bodies(x, angle)
        expected, _ = signed_distance(a, b)
        gap, normal, point = deepest(batch.raw(x, angle), n)
        np.testing.assert_allclose(gap, expected, rtol=0, atol=1e-14)
        # where an edge and its end tie within rounding, the direction is known to its root
        value = separation(a, b, normal[:, None])[:, 0]
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-14 + 20 * noise)
        for body, sign in ((a, 0.5), (b, -0.5)):
            p = point + sign * gap[:, None] * normal
            np.testing.assert_allclose(body.outside(p), 0.0, atol=1e-14)


def test_a_polygon_with_many_sides_is_climbed():
    turn = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    wheel = np.stack([np.cos(turn), np.sin(turn)], 1).ravel()
    batch = Batch((POLYGON, HALF_PLANE), [wheel], [[]])
    ball = Batch((POLYGON, POLYGON), [wheel], [wheel])
    for step in range(50):
        (contacts,) = batch([(0, 1.0), (0, 0)], [0.02 * step, 0.0], 1e-3)
        low = np.sin(turn + 0.02 * step) + 1.0
        assert [c[3] for c in contacts if c[3] < 200] == [c[3] for c in contacts]
        assert {c[3] for c in contacts} == set(np.flatnonzero(low <= 1e-3))
        ball([(0, 2.0), (0, 0)], [0.02 * step, 0.0], 0.1)
    assert ball.counters["searches"] <= 25


def test_segments_in_one_line_and_crossing():
    batch = Batch((CAPSULE_2D, CAPSULE_2D), [[1.0, 0.1]], [[0.5, 0.2]])
    for _ in range(2):  # with and without a history
        ((gap, n, point, _),) = batch([(0, 0), (2.0, 0)], [0, np.pi])[0]
        assert gap == pytest.approx(0.2)
        np.testing.assert_allclose(n, [-1, 0], atol=1e-15)
        np.testing.assert_allclose(point, [1.2, 0], atol=1e-15)
    side_by_side = batch([(0, 0), (0.2, 0.5)], [0, 0])[0]
    assert sorted(round(c[2][0], 12) for c in side_by_side) == [-0.3, 0.7]
    for gap, n, _, _ in batch([(0.1, 0), (0, 0.1)], [0, np.pi / 2])[0]:
        assert gap == pytest.approx(-0.7)  # least way out: along the longer one's normal
        np.testing.assert_allclose(np.abs(n), [0, 1], atol=1e-15)


def test_a_disk_on_the_axis_of_a_capsule():
    batch = Batch((DISK, CAPSULE_2D), [[0.5]], [[1.0, 0.25]])
    ((gap, n, _, _),) = batch([(3.0, 0.0), (0.0, 0.0)], [0.0, 0.0])[0]
    assert gap == pytest.approx(1.25)
    np.testing.assert_allclose(n, [1, 0], atol=1e-15)
    ((gap, n, _, _),) = batch([(0.2, 0.0), (0.0, 0.0)], [0.0, 0.0])[0]
    assert gap == pytest.approx(-0.75)
    np.testing.assert_allclose(np.abs(n), [0, 1], atol=1e-15)


def test_centres_that_coincide():
    """No direction is better than another: any will do, but one that separates."""
    for kinds in BOUNDED:
        batch, x, angle = random_batch(kinds, 4, 20)
        x[0::2] = x[1::2]
        a, b = batch.bodies(x, angle)
        gap, n, _ = deepest(batch.raw(x, angle), batch.n)
        np.testing.assert_allclose(separation(a, b, n[:, None])[:, 0], gap, rtol=0, atol=ROUND_OFF)
        assert (gap < 0).all()


@pytest.mark.parametrize("aspect", [10.0, 100.0])
def test_thin_ellipses(aspect):
    """Newton alone would not arrive; the bracket does."""
    rng, n = np.random.default_rng(6), 200
    thin = [np.array([1.0, 1.0 / aspect])] * n
    x, angle = rng.uniform(-1.2, 1.2, (2 * n, 2)), rng.uniform(-np.pi, np.pi, 2 * n)
    x[1::2] = 0.0
    batch = Batch((ELLIPSE, ELLIPSE), thin, thin)
    a, b = batch.bodies(x, angle)
    # the grid of the reference must see peaks as narrow as 1 / aspect
    expected, _ = signed_distance(a, b, size=int(720 * aspect / 4))
    gap, normal, _ = deepest(batch.raw(x, angle), n)
    apart = expected > -1.0 / aspect**2
    np.testing.assert_allclose(gap[apart], expected[apart], rtol=0, atol=1e-12)
    np.testing.assert_allclose(gap, separation(a, b, normal[:, None])[:, 0], rtol=0, atol=1e-12)
    assert np.mean(gap < expected - 1e-9) < 0.02
    assert batch.counters["fallbacks"] > 0
