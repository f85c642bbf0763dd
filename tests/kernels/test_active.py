"""Which contacts a step takes in, and what pairs of bodies are made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.active import activate, body_reach, pair_materials

pytestmark = pytest.mark.kernels


def test_reach_of_bodies():
    velocity = np.array([[3.0, 4, 0, 0, 0, 2], [0, 0, 1, 0, 0, 0], [9, 0, 0, 0, 0, 0]])
    reach = np.empty(3)
    most = body_reach(velocity, np.array([0.5, np.inf, 1]), 0.1, reach)
    assert np.allclose(reach, [0.1 * (5 + 2 * 0.5), 0.1, 0.9])
    assert np.isclose(most, 0.9)
    planar = np.empty(1)
    body_reach(np.array([[3.0, 4, -2]]), np.array([0.5]), 1.0, planar)
    assert np.isclose(planar[0], 6.0)


def kept(body, gap, reach, moves):
    nb = len(reach)
    keep = np.empty(len(gap), bool)
    count = activate(
        np.array(body), np.array(gap, float), np.array(reach, float), np.array(moves),
        np.empty(nb, np.int64), np.empty(nb), keep,
    )  # fmt: skip
    assert count == keep.sum()
    return keep.tolist()


def test_a_blow_travels_through_its_island_and_no_further():
    moves = [False, True, True, True, True]
    body = [[1, 2], [2, 3], [3, 4]]
    reach = [0, 1.0, 0, 0, 0]
    assert kept(body, [0.5, 0.9, 0.9], reach, moves) == [True, True, True], "a row of balls"
    assert kept(body, [0.5, 1.1, 0.9], reach, moves) == [True, False, False]
    assert kept(body, [1.5, 0.9, 0.9], reach, moves) == [False, False, False]
    assert kept([[1, 0], [0, 2]], [0.5, 0.5], [0, 1, 0], [False, True, True]) == [True, False], (
        "the ground passes no blow on"
    )
    pushed = kept([[1, 0], [1, 2]], [0.5, 0.9], [1, 0, 0], [False, True, True])
    assert pushed == [True, True], "a pusher does, through what it strikes"


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_all_that_bodies_reach_by_themselves_is_kept(seed):
    rng = np.random.default_rng(seed)
    body = np.array([rng.choice(6, 2, replace=False) for _ in range(10)])
    gap, reach = rng.uniform(-0.1, 1, 10), rng.uniform(0, 0.5, 6)
    keep = np.array(kept(body, gap, reach, [False] + [True] * 5))
    assert keep[gap <= reach[body].sum(axis=1)].all()
    assert not keep[gap > max(reach.max(), reach[body].sum(axis=1).max())].any()


def test_materials_of_pairs():
    """Geometric mean of friction, larger restitution; rules of pairs win where they speak."""
    body = np.array([[0, 1], [2, 1], [0, 2]])
    friction = np.array([[0.4, 0.3], [0.9, 0.3], [0.1, 0.1]])
    restitution = np.array([[0.5, 0.0], [0.2, 0.6], [0.0, 0.0]])
    mu, eps = np.empty((3, 2)), np.empty((3, 2))
    key = np.array([0 * 3 + 2, 1 * 3 + 2])
    nan = np.nan
    pair_materials(
        body, friction, restitution, key, np.array([[nan, nan], [0.7, 0.2]]),
        np.array([[0.25, 0.125], [nan, nan]]), mu, eps,
    )  # fmt: skip
    assert np.allclose(mu, [[0.6, 0.3], [0.7, 0.2], [0.2, np.sqrt(0.03)]])
    assert np.allclose(eps, [[0.5, 0.6], [0.2, 0.6], [0.25, 0.125]])
