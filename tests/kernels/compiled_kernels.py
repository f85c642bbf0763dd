"""Kernels for the tests of how kernels are compiled: in a module, so that they are kept on disk."""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel, stage


@kernel
def twice(x):
    return 2.0 * x


@kernel
def total(values, n):
    """Allocates, and calls a kernel and functions of Numba's own."""
    kept = np.zeros(n)
    for i in range(n):
        kept[i] = twice(values[i])
    return kept.sum() + np.sort(values)[0]


@stage
def mark(values):
    values[0] = twice(values[0]) + 1.0
    return 7


@kernel
def mark_at(at, values):
    return call(at, (values,))


@kernel
def halves(values):
    """Its results need objects of Python's where Python calls it."""
    return values[:1].copy(), values[1:].astype(np.int64)


@kernel
def count_halves(values):
    first, second = halves(values)
    return first.size + 10 * second.size
