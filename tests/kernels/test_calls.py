"""Kernels called by address give what calling them directly gives."""

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from drystone.kernels._calls import address, answer, ask, call, enter
from drystone.kernels._jit import MODE, kernel

Pair = namedtuple("Pair", "a b")


@kernel
def add_one(pair, n):
    pair.a[0] += 1.0
    return 0


@kernel
def scale(pair, n):
    for i in range(pair.b.shape[0]):
        pair.b[i, 0] *= 2.0
    return 7 if pair.a[0] >= n else 0


@kernel
def run(program, pair, n):
    while True:
        for at in program:
            code = call(at, (pair, n))
            if code != 0:
                return code


@kernel
def a_float(pair, n):
    return 0.5


@pytest.mark.kernels
def test_a_program_of_addresses_runs_in_order_and_stops_at_a_code() -> None:
    pair = Pair(np.zeros(1), np.ones((3, 2)))
    program = np.array([address(add_one, pair, 4), address(scale, pair, 4)])
    assert run(program, pair, 4) == 7
    np.testing.assert_array_equal(pair.a, [4.0])
    np.testing.assert_array_equal(pair.b, [[16.0, 1.0]] * 3)


@pytest.mark.kernels
def test_one_kernel_has_one_address() -> None:
    pair = Pair(np.zeros(1), np.ones((3, 2)))
    assert address(add_one, pair, 4) == address(add_one, pair, 5)
    assert address(add_one, pair, 4) != address(scale, pair, 4)


def test_only_integers_are_returned() -> None:
    from drystone.kernels._jit import MODE

    if MODE != "off":
        pair = Pair(np.zeros(1), np.ones((3, 2)))
        with pytest.raises(TypeError, match="a_float"):
            address(a_float, pair, 4)


@kernel
def first_of(a):
    return np.int64(a[0])


@pytest.mark.kernels
def test_addresses_are_told_apart_by_kinds_of_arguments():
    """One kernel has an address for each kind of arguments, and keeps it for other arrays."""
    kinds = np.arange(3), np.arange(3.0), np.arange(6)[::2], np.arange(4, dtype=np.uint8)
    found = [address(first_of, a) for a in kinds]
    assert found == [address(first_of, a.copy() if a.flags.c_contiguous else a) for a in kinds]
    assert len(set(found)) == (1 if MODE == "off" else 4)


@kernel
def ask_often(at, which, points, out):
    for i in range(points.shape[0]):
        ask(at, which, points[i], out[i])
    return 0


class Sums:
    def __call__(self, x, y, z):
        if x < 0:
            raise KeyError("below")
        return [x + y, y + z]


@pytest.mark.kernels
def test_kernels_ask_functions_of_python() -> None:
    """What the function raises passes through, and leaves it usable; it is not kept alive."""
    sums = Sums()
    which, points, out = enter(sums), np.arange(6.0).reshape(2, 3), np.zeros((2, 2))
    ask_often(id(answer), which, points, out)
    np.testing.assert_array_equal(out, [[1, 3], [7, 9]])
    with ThreadPoolExecutor(2) as pool:
        for ask_from in (pool.submit(ask_often, id(answer), which, -points, out).result, None):
            with pytest.raises(KeyError, match="below"):
                ask_from() if ask_from else ask_often(id(answer), which, -points, out)
    ask_often(id(answer), which, points[1:], out[1:])
    del sums
    with pytest.raises(ReferenceError, match="keep the surface"):
        ask_often(id(answer), which, points, out)
