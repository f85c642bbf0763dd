"""A factorised mass matrix: block by block where bodies decouple, sparse LU where they do not."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import SuperLU, splu

from drystone.errors import ProblemError
from drystone.problems import _check
from drystone.problems._check import Matrix
from drystone.types import Floats, Ints

BODY = 12  # largest block inverted on its own; a rigid body has 3 or 6
ARRAY_ROWS = 100  # rows; below, arrays beat sparse matrices by the cost of the calls


Blocks = list[tuple[Ints, Floats]]  # rows (count, size) and cells (count, size, size), by size


def decoupled(M: sp.csr_array, most: float = BODY) -> Blocks | None:
    """The parts of M that do not couple; None if one of them has more than `most` rows."""
    count, label = connected_components(M, directed=False)
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label, minlength=count)
    if sizes.size and sizes.max() > most:
        return None
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    triplets = M.tocoo()
    i, j = triplets.coords
    place = np.empty(M.shape[0], dtype=np.int64)
    out = []
    for size in np.unique(sizes):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        place[members] = np.arange(size)
        group = np.full(M.shape[0], -1)
        group[members] = np.arange(members.shape[0])[:, None]
        keep = group[i] >= 0
        cells = np.zeros((members.shape[0], size, size))
        cells[group[i[keep]], place[i[keep]], place[j[keep]]] = triplets.data[keep]
        out.append((members, cells))
    return out


def assembled(blocks: Blocks, shape: tuple[int, int]) -> sp.csr_array:
    """The matrix of such parts."""
    rows = [np.broadcast_to(members[:, :, None], cells.shape).ravel() for members, cells in blocks]
    columns = [np.broadcast_to(members[:, None], cells.shape).ravel() for members, cells in blocks]
    entries = np.concatenate([cells.ravel() for _, cells in blocks])
    coords = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(sp.coo_array((entries, coords), shape=shape))


class MassMatrix:
    """M of a global problem, ready to solve with; raises if M is not positive definite."""

    def __init__(self, M: Matrix) -> None:
        self._inverse: Matrix = _small_inverse(M) if M.shape[0] <= ARRAY_ROWS else None
        if self._inverse is not None:
            return
        M = sp.csr_array(M)
        self._inverse = self._block_inverse(M)
        if self._inverse is None:
            self._lu = _definite_lu(sp.csc_array(M))

    @staticmethod
    def _block_inverse(M: sp.csr_array) -> sp.csr_array | None:
        """M^-1 as a sparse matrix if M decouples into blocks of at most BODY rows."""
        blocks = decoupled(M)
        if blocks is None or not blocks:
            return M if blocks == [] else None
        inverses = []
        for members, cells in blocks:
            size = members.shape[1]
            try:
                np.linalg.cholesky(cells)
            except np.linalg.LinAlgError:
                smallest = np.linalg.eigvalsh(cells)[:, 0]
                worst = int(np.argmin(smallest))
                raise ProblemError(
                    f"M must be positive definite: rows {members[worst].tolist()} "
                    f"have the eigenvalue {smallest[worst]:.6g}"
                ) from None
            inverse = np.linalg.solve(cells, np.broadcast_to(np.eye(size), cells.shape))
            inverses.append((members, 0.5 * (inverse + inverse.transpose(0, 2, 1))))
        return assembled(inverses, M.shape)

    def solve(self, right: Floats) -> Floats:
        """M^-1 x."""
        if self._inverse is not None:
            return np.asarray(self._inverse @ right)
        return np.asarray(self._lu.solve(right))

    def congruence(self, H: Matrix) -> Matrix:
        """H' M^-1 H, sparse where the blocks decouple."""
        if isinstance(self._inverse, np.ndarray):
            return np.ascontiguousarray(H.T @ (self._inverse @ H))
        if self._inverse is not None:
            return sp.csr_array(H.T @ self._inverse @ H)
        return np.ascontiguousarray(H.T @ self._lu.solve(H.toarray()))


def _small_inverse(M: Matrix) -> Floats | None:
    """M^-1 as an array, or None if M is not definite: the slower ways then name the rows."""
    dense = M if isinstance(M, np.ndarray) else M.toarray()
    try:
        np.linalg.cholesky(dense)
    except np.linalg.LinAlgError:
        return None
    inverse = np.linalg.solve(dense, np.eye(dense.shape[0]))
    return 0.5 * (inverse + inverse.T)


def _definite_lu(M: sp.csc_array) -> SuperLU:
    """LU of a coupled matrix with the pivots on the diagonal: all positive iff M is definite."""
    message = "M must be positive definite: its factorisation met a pivot <= 0"
    try:
        lu = splu(M, options={"SymmetricMode": True}, diag_pivot_thresh=0.0)
    except RuntimeError:  # exactly singular
        raise ProblemError(message) from None
    on_diagonal = np.array_equal(lu.perm_r, lu.perm_c)  # it leaves it for a pivot of zero only
    if not on_diagonal or (lu.U.diagonal() <= 0).any():
        raise ProblemError(message)
    return lu


def check_inverse_mass(name: str, M: sp.csr_array, rtol: float = 1e-9) -> None:
    """Raise unless M is symmetric and, where its blocks decouple, positive semidefinite."""
    _check.positive_diagonal(name, M, strict=False)
    _check.symmetric(name, M)
    for members, cells in decoupled(M) or ():
        eigenvalues = np.linalg.eigvalsh(cells)
        excess = eigenvalues[:, 0] + rtol * np.abs(eigenvalues).max(axis=1)
        if (excess < 0).any():
            worst = int(np.argmin(excess))
            raise ProblemError(
                f"{name} must be positive semidefinite, but rows {members[worst].tolist()} "
                f"have the eigenvalue {eigenvalues[worst, 0]:.6g}"
            )
