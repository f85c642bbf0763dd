"""The problem that methods on cones share: u = W r + q in blocks, and a law for each block."""

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
