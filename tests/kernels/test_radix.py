"""Sorting by whole numbers: against NumPy's stable sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.radix import PLACES, sort_by_keys

pytestmark = pytest.mark.kernels


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    seed=st.integers(0, 10**6), n=st.integers(0, 60), bits=st.integers(0, 40), lo=st.integers(0, 5)
)
def test_a_stretch_is_sorted_and_equal_ones_keep_their_order(seed, n, bits, lo):
    rng = np.random.default_rng(seed)
    most = 1 << bits
    keys = rng.integers(0, most + 1, n + 10)
    keys[::3] = keys[0]  # some are equal
    order, before = np.arange(n + 10), keys.copy()
    spare = np.empty((2, n + 10), np.int64)
    hi = lo + n
    sort_by_keys(lo, hi, most, keys, order, spare[0], spare[1], np.empty(PLACES, np.int64))
    expected = np.arange(n + 10)
    expected[lo:hi] = lo + np.argsort(before[lo:hi], kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(keys, before[expected])
