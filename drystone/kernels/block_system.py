"""W + D in the panels of ``block_lu``: where each block of W goes, filling it in, solving."""

from drystone.kernels import block_lu
from drystone.kernels._jit import kernel

_slot = block_lu.slot
_factorise = block_lu.factorise
_substitute = block_lu.substitute


@kernel
def locate(d, indptr, indices, place, node, first, below, rows, lower, upper, offset, stride):
    """offset, stride (nnz,): place in the buffer of each block of W; place (nb,): its order."""
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            offset[e], stride[e] = _slot(
                d, place[i], place[j], node, first, below, rows, lower, upper
            )


@kernel
def factorise(shape, indptr, indices, blocks, added, offset, stride, panels, buffer):
    """Factorise W + added (nb, d, d); False if singular. panels: count, node, first, ..."""
    d = len(shape)
    count, node, first, below, rows, lower, upper = panels
    for k in range(buffer.size):
        buffer[k] = 0.0
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for a in range(d):
                at = offset[e] + a * stride[e]
                for b in range(d):
                    buffer[at + b] = blocks[e, a, b]
                    if indices[e] == i:
                        buffer[at + b] += added[i, a, b]
    return _factorise(shape, count, node, first, below, rows, lower, upper, buffer)


@kernel
def solve(shape, place, panels, buffer, b, x, work):
    """x = (W + D)^-1 b by the factors; b, x, work (nb, d)."""
    count, _node, first, below, rows, lower, upper = panels
    for i in range(place.size):
        for a in range(len(shape)):
            work[place[i], a] = b[i, a]
    _substitute(shape, count, first, below, rows, lower, upper, buffer, work)
    for i in range(place.size):
        for a in range(len(shape)):
            x[i, a] = work[place[i], a]
