"""The point of least norm of a product of cones on a linear manifold: min |x|, A x = b, x in K.

It is unique, and x = P_K(A'y) of any y that maximises the dual, b.y - |P_K(A'y)|^2 / 2: a concave
function with the gradient b - A P_K(A'y). Newton's method on it, with the derivative of the
projection and a line search, begins with the plain solution of least norm and ends there if that
lies in K. Whatever y it stops at, x is the point of least norm for its own A x: all that is left
to judge is A x = b.
"""

from __future__ import annotations

import numpy as np

from drystone.kernels.cones.least_norm import Blocks, Work, minimise
from drystone.types import Floats, Ints

ENOUGH = 1e-10  # of |b|: what may be left of A x - b
LARGEST = 100_000_000  # entries of a factor: 800 MB
FEW = 10  # groups of rows whose order does not matter


def least_norm(blocks: Blocks, x: Floats) -> tuple[Floats, bool]:
    """The point (k, d) of least norm with the A x of a given one (k, d), and whether it was found.

    There must be points of the cones with this A x. Not found: A x is not reached up to ENOUGH, or
    there is no room for the factors.
    """
    (k, d), width = x.shape, blocks.G.shape[2]
    groups = int(blocks.at.max(initial=-1)) // width + 1
    if groups == 0:
        return x, True
    order = _order(blocks.at // width, groups)
    place = np.empty(groups, np.int64)
    place[order] = np.arange(groups)
    blocks = blocks._replace(at=np.where(blocks.at >= 0, width * place[blocks.at // width], -1))
    n = width * groups
    first, begin = _envelope(blocks.at, n, width)
    if begin[-1] > LARGEST:
        return x, False
    b = np.zeros(n)
    for side in (0, 1):
        own = np.flatnonzero(blocks.at[:, side] >= 0)
        rows = blocks.at[own, side][:, None] + np.arange(width)
        np.add.at(b, rows, (blocks.G[own, side] * x[own, None]).sum(axis=2))
    if not b.any():
        return np.zeros_like(x), True
    z, found, best = np.empty((3, k, d))
    y, new, left, step = np.empty((4, n))
    factor = np.empty(int(begin[-1]))
    work = Work(z, found, best, np.empty((k, d, d)), y, new, left, step, first, begin, factor)
    error = minimise(blocks, b, work)
    return best, bool(error <= ENOUGH)


def _order(pairs: Ints, groups: int) -> Ints:
    """Groups of rows in an order that keeps the envelope narrow."""
    if groups <= FEW:
        return np.arange(groups)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    both = pairs[(pairs >= 0).all(axis=1)]
    near = csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(groups, groups))
    near = csr_array(near + near.T)
    near.indices, near.indptr = near.indices.astype(np.int32), near.indptr.astype(np.int32)
    return np.asarray(reverse_cuthill_mckee(near, symmetric_mode=True), dtype=np.int64)


def _envelope(at: Ints, n: int, width: int) -> tuple[Ints, Ints]:
    """first (n,) column of each row of A A' up to the diagonal, begin (n + 1,) of its entries."""
    low = width * np.arange(n // width)
    both = at[(at >= 0).all(axis=1)]
    np.minimum.at(low, both.max(axis=1, initial=0) // width, both.min(axis=1, initial=n))
    first = np.repeat(low, width)
    return first, np.concatenate([[0], np.cumsum(np.arange(n) - first + 1)])
