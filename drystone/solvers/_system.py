"""Linear systems W + D with W constant and D block diagonal and changing.

The order that keeps the factors sparse is found once. Friction problems use the block LU of our
own; scalar rows, very large and nearly full matrices go to SuperLU and LAPACK, which pivot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from drystone.kernels.linalg import block_lu
from drystone.kernels.linalg.ordering import minimum_degree
from drystone.problems.delassus import BlockMatrix
from drystone.types import Floats, Ints

# scalar rows up to which a full factorisation beats a sparse one, whatever the pattern
FULL_ROWS = 100

FULL_SHARE = 0.3  # share of entries above which it does so at any size
BLOCK_LU_BLOCKS = 100_000  # blocks up to which the block LU is tried
LAPACK_BLOCKS = 300  # blocks up to which LAPACK gains nothing over the block LU, however full W is
FACTOR_BLOCKS = 3_000_000  # blocks in the factors


class System:
    """(W + D) x = b; D: (nb, d, d) diagonal blocks, b and x: (nb, d)."""

    def factorise(self, D: Floats) -> bool:
        """Factorise W + D; False if it is singular to rounding."""
        raise NotImplementedError

    def solve(self, b: Floats) -> Floats:
        """x of the last factorisation."""
        raise NotImplementedError


def shifted_system(W: BlockMatrix) -> System:
    """The cheapest way to factorise W + D."""
    nnz, nb, d = W.indices.size, W.nb, W.d
    full = nnz > FULL_SHARE * nb * nb
    if d == 1:
        return FullSystem(W) if full or nb <= FULL_ROWS else SparseSystem(W)
    if full and nb > LAPACK_BLOCKS:
        return FullSystem(W)
    if nb <= BLOCK_LU_BLOCKS:
        system = BlockSystem(W)
        if system.fits:
            return system
    return SparseSystem(W)


class BlockOrder(NamedTuple):
    """How the block LU of a symmetric pattern is laid out, in an order of little fill: place (n,)
    of each row; panels of supernodes; offset, stride of each block; size of the factors."""

    place: Ints
    panels: tuple[Any, ...]
    offset: Ints
    stride: Ints
    size: int

    @classmethod
    def of(cls, d: int, indptr: Any, indices: Any, room: int) -> BlockOrder | None:
        """Of n x n blocks of size d; None if the factors need more than `room` of them."""
        m = indptr.size - 1
        back, start, node, first, below, lower, upper = np.zeros((7, m + 1), np.int64)
        keep, room = np.ones(m, bool), min(room, m * (m + 1) // 2 + 1)
        n, rows = minimum_degree(indptr, indices, keep, back, start, room)
        if n != m:
            return None
        node = node[:m]
        count, rows, size = block_lu.supernodes(d, n, start, rows, node, first, below, lower, upper)
        panels = (count, node, first, below, rows, lower, upper)
        place = np.empty(m, np.int64)
        place[back[:m]] = np.arange(m)
        offset, stride = np.empty((2, indices.size), np.int64)
        block_lu.locate(d, indptr, indices, place, panels, offset, stride)
        return cls(place, panels, offset, stride, size)


class BlockSystem(System):
    """Sparse supernodal LU in minimum-degree order, pivoting within panels only.

    The pattern of W must be symmetric; `fits` is False where the factors would not fit.
    """

    def __init__(self, W: BlockMatrix) -> None:
        order = BlockOrder.of(W.d, W.indptr, W.indices, FACTOR_BLOCKS)
        self.fits = order is not None
        if order is not None:
            self._W, self._order = W, order
            self._buffer, self._work = np.empty(order.size), np.empty((W.nb, W.d))

    def factorise(self, D: Floats) -> bool:
        W, order = self._W, self._order
        return bool(
            block_lu.factorise_sum(
                W.key, W.indptr, W.indices, W.blocks, D,
                order.offset, order.stride, order.panels, self._buffer,
            )
        )  # fmt: skip

    def solve(self, b: Floats) -> Floats:
        x, order = np.empty_like(b), self._order
        block_lu.solve(self._W.key, order.place, order.panels, self._buffer, b, x, self._work)
        return x


class FullSystem(System):
    """LU by LAPACK."""

    def __init__(self, W: BlockMatrix) -> None:
        self._base, nb, d = W.dense, W.nb, W.d
        self._buffer = np.empty((nb * d, nb * d))
        self._blocks = self._buffer.reshape(nb, d, nb, d)
        self._index = np.arange(nb)

    def factorise(self, D: Floats) -> bool:
        self._buffer[:] = self._base
        self._blocks[self._index, :, self._index, :] += D
        # LAPACK reads rows as columns: it factorises the transpose
        self._lu, self._pivots, failed = lapack.dgetrf(self._buffer.T, overwrite_a=True)
        return bool(failed == 0)

    def solve(self, b: Floats) -> Floats:
        x, _ = lapack.dgetrs(self._lu, self._pivots, b.ravel(), trans=1)
        return np.asarray(x).reshape(b.shape)


class SparseSystem(System):
    """LU by SuperLU, columns ordered once."""

    def __init__(self, W: BlockMatrix) -> None:
        n, d = W.nb * W.d, W.d
        base = sp.csc_array(W.scipy)
        base.eliminate_zeros()  # sums below drop them, and would leave them without a slot
        span = np.arange(n)
        rows, columns = np.repeat(span, d), (span[:, None] // d * d + np.arange(d)).ravel()
        diagonal = sp.csc_array((np.ones(n * d), (rows, columns)), shape=(n, n))
        pattern = sp.csc_array(abs(base) + diagonal)
        dominant = pattern + sp.eye_array(n) * pattern.sum()
        self._place = splu(sp.csc_array(dominant), permc_spec="MMD_AT_PLUS_A").perm_c
        self._order = np.argsort(self._place)  # row i of the permuted matrix is row order[i] of W
        self._matrix = sp.csc_array(pattern[self._order][:, self._order])
        self._matrix.sort_indices()
        triplets = base.tocoo()
        self._base = np.zeros(self._matrix.nnz)
        self._base[self._slots(*triplets.coords)] = triplets.data
        self._diagonal = self._slots(rows, columns)

    def _slots(self, rows: Any, columns: Any) -> Any:
        """Where entries of W lie in the permuted matrix."""
        n, matrix = self._matrix.shape[0], self._matrix
        owner = np.repeat(np.arange(n, dtype=np.int64), np.diff(matrix.indptr))
        wanted = self._place[columns].astype(np.int64) * n + self._place[rows]
        return np.searchsorted(owner * n + matrix.indices, wanted)

    def factorise(self, D: Floats) -> bool:
        self._matrix.data[:] = self._base
        self._matrix.data[self._diagonal] += D.ravel()
        options = {"SymmetricMode": True}
        try:
            self._lu = splu(
                self._matrix, permc_spec="NATURAL", diag_pivot_thresh=0.01, options=options
            )
        except RuntimeError:  # SuperLU met an exactly singular column
            return False
        return True

    def solve(self, b: Floats) -> Floats:
        return np.asarray(self._lu.solve(b.ravel()[self._order])[self._place].reshape(b.shape))
