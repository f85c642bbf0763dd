"""The problem that methods on cones share, as kernels take it: u = W r + q in blocks, and a law for
each block; W as blocks, or as a product that is never formed."""

from typing import Any, NamedTuple


class FrictionBlocks(NamedTuple):
    """Find r (nb, d) with u = W r + q, each contact obeying its law; d rows in a block.

    W in block rows: indptr (nb + 1,), indices (nnz,), blocks (nnz, d, d). q (nb, d); mu (nb,),
    negative where a block is bilateral (u = 0); unit (nb,): root of the mean diagonal of its block
    of W, which makes residuals free of units; law: a code of ``kernels.blocks``.
    """

    indptr: Any
    indices: Any
    blocks: Any
    q: Any
    mu: Any
    unit: Any
    law: int


class Blocks(NamedTuple):
    """W in block rows: indptr (nb + 1,), indices (nnz,), blocks (nnz, d, d)."""

    indptr: Any
    indices: Any
    blocks: Any


class Factor(NamedTuple):
    """G of W = G G': contact i has the columns indptr[i]:indptr[i + 1], blocks (nnz, d) each."""

    indptr: Any
    columns: Any
    blocks: Any


class BodyRows(NamedTuple):
    """The same problem by the rows of J and of P = J M^-1, both in compressed rows; D (nb, d, d):
    diagonal blocks of W = P J'."""

    J_indptr: Any
    J_indices: Any
    J: Any
    P_indptr: Any
    P_indices: Any
    P: Any
    D: Any
    q: Any
    mu: Any
    law: int
