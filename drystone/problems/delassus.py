"""The matrix W of a friction problem in the forms solvers ask for.

``BlockMatrix``: block compressed rows, the form of direct and block methods.
``DelassusOperator``: W = J M^-1 J', never formed by matrix-free methods.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.kernels.blocks import block_product
from drystone.problems import _check
from drystone.problems.mass import check_inverse_mass
from drystone.types import Floats


class BlockMatrix:
    """Square matrix of (d, d) blocks in compressed rows; the diagonal blocks are always stored.

    indptr (nb + 1,), indices (nnz,) int32 sorted in each row; blocks (nnz, d, d) float64;
    diagonal (nb,) int32: place of each diagonal block.
    """

    def __init__(self, indptr: Any, indices: Any, blocks: Floats) -> None:
        self.indptr = np.ascontiguousarray(indptr, dtype=np.int32)
        self.indices = np.ascontiguousarray(indices, dtype=np.int32)
        self.blocks = np.ascontiguousarray(blocks, dtype=np.float64)
        rows = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        self.diagonal = np.flatnonzero(rows == self.indices).astype(np.int32)
        self.d = int(self.blocks.shape[1])
        self.key = (0,) * self.d  # tells kernels the block size at compile time

    @classmethod
    def of(cls, matrix: _check.Matrix, d: int) -> BlockMatrix:
        """Blocks of a dense or sparse matrix whose size is a multiple of d.

        The pattern is made symmetric, as factorisations take it to be: block (i, j) is stored
        where (j, i) is, of zeros if need be.
        """
        n = matrix.shape[0] // d
        if isinstance(matrix, np.ndarray):
            cells = matrix.reshape(n, d, n, d).transpose(0, 2, 1, 3)
            filled = np.asarray(cells.any(axis=(2, 3)))
            np.fill_diagonal(filled, True)
            filled |= filled.T
            rows, columns = np.nonzero(filled)
            return cls(np.searchsorted(rows, np.arange(n + 1)), columns, cells[rows, columns])
        ones = sp.eye_array(matrix.shape[0], format="csr")
        padded = sp.bsr_array(matrix + ones, blocksize=(d, d))  # keeps every diagonal block
        padded.sort_indices()
        out = cls(padded.indptr, padded.indices, padded.data.copy())
        # subtracting the identity again would round; put the true diagonal back instead
        span = np.arange(d)
        out.blocks[out.diagonal[:, None], span, span] = matrix.diagonal().reshape(n, d)
        return out._with_symmetric_pattern()

    def _with_symmetric_pattern(self) -> BlockMatrix:
        n = self.nb
        rows = np.repeat(np.arange(n), np.diff(self.indptr))
        columns = self.indices.astype(np.int64)
        missing = np.setdiff1d(columns * n + rows, rows * n + columns)
        if missing.size == 0:
            return self
        place = np.concatenate([rows * n + columns, missing])
        blocks = np.concatenate([self.blocks, np.zeros((missing.size, self.d, self.d))])
        order = np.argsort(place)
        rows, columns = np.divmod(place[order], n)
        return BlockMatrix(np.searchsorted(rows, np.arange(n + 1)), columns, blocks[order])

    def with_blocks(self, blocks: Floats) -> BlockMatrix:
        """The same pattern with other blocks."""
        out = object.__new__(BlockMatrix)
        out.indptr, out.indices, out.diagonal = self.indptr, self.indices, self.diagonal
        out.blocks, out.d, out.key = np.ascontiguousarray(blocks), self.d, self.key
        return out

    @property
    def nb(self) -> int:
        return int(self.indptr.size - 1)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.nb * self.d, self.nb * self.d)

    @cached_property
    def scipy(self) -> sp.csr_array:
        n = self.nb * self.d
        data = (self.blocks, self.indices, self.indptr)
        return sp.csr_array(sp.bsr_array(data, shape=(n, n)))

    @cached_property
    def dense(self) -> Floats:
        return np.ascontiguousarray(self.scipy.toarray())

    @cached_property
    def unit(self) -> Floats:
        """(nb,) sqrt of each diagonal block's mean diagonal; 1 where it is not positive."""
        mean = np.trace(self.blocks[self.diagonal], axis1=1, axis2=2) / self.d
        return np.sqrt(np.where(mean > 0, mean, 1.0))

    def product(self, r: Floats, q: Floats) -> Floats:
        """W r + q for r, q of shape (nb, d)."""
        u = np.empty_like(q)
        block_product(self.key, self.indptr, self.indices, self.blocks, r, q, u)
        return u


class DelassusOperator:
    """W = J M^-1 J', given by its factors and applied without being formed.

    J: (m, ndof) constraint rows; inverse_mass: (ndof, ndof) symmetric, block diagonal per body.
    """

    def __init__(self, J: Any, inverse_mass: Any) -> None:
        self.J = sp.csr_array(_check.matrix("J", J))
        ndof = self.J.shape[1]
        self.inverse_mass = sp.csr_array(_check.matrix("inverse_mass", inverse_mass, (ndof, ndof)))
        check_inverse_mass("inverse_mass", self.inverse_mass)
        self.shape = (self.J.shape[0], self.J.shape[0])

    @cached_property
    def P(self) -> sp.csr_array:
        """J M^-1, (m, ndof): row i is the velocity that a unit impulse in row i gives."""
        product = sp.csr_array(self.J @ self.inverse_mass)
        product.sort_indices()
        return product

    def __matmul__(self, r: Floats) -> Floats:
        return np.asarray(self.J @ (self.inverse_mass @ (self.J.T @ r)))

    def diagonal(self) -> Floats:
        return np.asarray(self.J.multiply(self.P).sum(axis=1)).ravel()

    def formed(self) -> sp.csr_array:
        return sp.csr_array(self.P @ self.J.T)
