"""A factorised mass matrix: block by block where bodies decouple, sparse LU where they do not."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from drystone.errors import ProblemError
from drystone.problems._check import Matrix
from drystone.types import Floats

BODY = 12  # largest block inverted on its own; a rigid body has 3 or 6


class MassMatrix:
    """M of a global problem, ready to solve with; raises if M is not positive definite."""

    def __init__(self, M: Matrix) -> None:
        M = sp.csr_array(M)
        self._inverse = self._block_inverse(M)
        if self._inverse is None:
            self._lu = splu(sp.csc_array(M), options={"SymmetricMode": True}, diag_pivot_thresh=0.0)
            if (self._lu.U.diagonal() <= 0).any():
                raise ProblemError(
                    "M must be positive definite: its factorisation met a pivot <= 0"
                )

    @staticmethod
    def _block_inverse(M: sp.csr_array) -> sp.csr_array | None:
        """M^-1 as a sparse matrix if M decouples into blocks of at most BODY rows."""
        count, label = connected_components(M, directed=False)
        order = np.argsort(label, kind="stable")
        sizes = np.bincount(label, minlength=count)
        if sizes.size == 0 or sizes.max() > BODY:
            return None
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows, columns, entries = [], [], []
        for size in np.unique(sizes):
            # all blocks of one size at once: gather, factorise, scatter
            members = order[starts[:-1][sizes == size][:, None] + np.arange(size)]
            place = np.empty(M.shape[0], dtype=np.int64)
            place[members] = np.arange(size)
            group = np.full(M.shape[0], -1)
            group[members] = np.arange(members.shape[0])[:, None]
            triplets = M.tocoo()
            i, j = triplets.coords
            keep = group[i] >= 0
            cells = np.zeros((members.shape[0], size, size))
            cells[group[i[keep]], place[i[keep]], place[j[keep]]] = triplets.data[keep]
            try:
                np.linalg.cholesky(cells)
            except np.linalg.LinAlgError:
                for dofs, cell in zip(members, cells, strict=True):
                    smallest = np.linalg.eigvalsh(cell)[0]
                    if smallest <= 0:
                        raise ProblemError(
                            f"M must be positive definite: rows {dofs.tolist()} "
                            f"have the eigenvalue {smallest:.6g}"
                        ) from None
                raise
            inverse = np.linalg.solve(cells, np.broadcast_to(np.eye(size), cells.shape))
            inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
            rows.append(np.broadcast_to(members[:, :, None], cells.shape).ravel())
            columns.append(np.broadcast_to(members[:, None, :], cells.shape).ravel())
            entries.append(inverse.ravel())
        coords = (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_array(sp.coo_array((np.concatenate(entries), coords), shape=M.shape))

    def solve(self, right: Floats) -> Floats:
        """M^-1 x."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ right)
        return np.asarray(self._lu.solve(right))

    def congruence(self, H: sp.csr_array) -> Matrix:
        """H' M^-1 H, sparse where the blocks decouple."""
        if self._inverse is not None:
            return sp.csr_array(H.T @ self._inverse @ H)
        return np.ascontiguousarray(H.T @ self._lu.solve(H.toarray()))
