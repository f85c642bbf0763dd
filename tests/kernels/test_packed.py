"""Arrays read by name through one pointer."""

import numpy as np
import pytest

from drystone.kernels._calls import address, call
from drystone.kernels._jit import MODE, kernel
from drystone.kernels._packed import Packed


@kernel
def weigh(pack):
    """Sum of rows of `table` by `which` into `out`; -> how many."""
    for i in range(pack.which.size):
        for k in range(pack.table.shape[1]):
            pack.out[0] += pack.table[pack.which[i], k]
    return pack.which.size


@kernel
def weigh_at(at, pack):
    return call(at, (pack,))


def make(n: int = 3) -> Packed:
    table = np.arange(2.0 * n).reshape(n, 2)
    return Packed(out=np.zeros(1), table=table, which=np.array([0, n - 1]), on=np.ones(2, bool))


@pytest.mark.kernels
def test_kernels_read_and_write_the_arrays() -> None:
    pack = make()
    assert weigh(pack) == 2
    assert pack.out[0] == 0.0 + 1.0 + 4.0 + 5.0
    assert weigh_at(address(weigh, pack), pack) == 2
    assert pack.out[0] == 20.0


@pytest.mark.kernels
def test_arrays_can_be_replaced_by_larger_ones_without_compiling() -> None:
    pack = make()
    weigh(pack)
    pack.put(table=np.full((50, 2), 0.5), which=np.arange(50))
    pack.out[0] = 0.0
    assert weigh(pack) == 50
    assert pack.out[0] == 50.0
    if MODE != "off":
        assert sum(type(pack._numba_type_) is type(s[0]) for s in weigh.signatures) == 1


def test_wrong_arrays_are_refused_by_name() -> None:
    pack = make()
    with pytest.raises(TypeError, match="which"):
        pack.put(which=np.zeros(3))
    with pytest.raises(TypeError, match="table"):
        pack.put(table=np.zeros((4, 4))[:, ::2])
    with pytest.raises(AttributeError, match="nothing"):
        _ = pack.nothing
