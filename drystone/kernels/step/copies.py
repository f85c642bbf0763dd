"""Copies of arrays in stages."""

from drystone.kernels._jit import stage


@stage
def copy_all(a, b):
    """b = a, of any shape: they are contiguous."""
    a, b = a.reshape(a.size), b.reshape(b.size)
    for i in range(a.size):
        b[i] = a[i]


@stage
def copy_row(a, i, b, j):
    """b[j] = a[i], whatever the shape of their rows."""
    wide = b.size // b.shape[0]
    a, b = a.reshape(a.size), b.reshape(b.size)
    for e in range(wide):
        b[wide * j + e] = a[wide * i + e]
