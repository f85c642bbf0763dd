"""Independent groups of contacts: labels by union-find, and the extraction of a group."""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.union_find import root_of, unite


@kernel
def label_islands(indptr, indices, label):
    """label (nb,): number of the island of each block, in order of first member; returns count."""
    nb = label.size
    root = np.arange(nb)
    for i in range(nb):
        for k in range(indptr[i], indptr[i + 1]):
            unite(i, indices[k], root)
    count = 0
    for i in range(nb):
        a = root_of(i, root)
        if a == i:
            label[i] = count
            count += 1
        else:
            label[i] = label[a]
    return count


@kernel
def label_contacts(body, moves, root, label):
    """label (nc,): number of each contact's island, in order of first contact; returns how many.

    body (nc, 2); moves (nb,): bodies that an impulse can move; root (nb,): work.
    """
    for b in range(moves.size):
        root[b] = b
    for i in range(body.shape[0]):
        a, b = body[i, 0], body[i, 1]
        if moves[a] and moves[b]:
            unite(a, b, root)
    count = 0
    for i in range(body.shape[0]):
        a = body[i, 0] if moves[body[i, 0]] else body[i, 1]
        while root[a] >= 0 and root[a] != a:
            a = root[a]
        if root[a] >= 0:  # a root seen for the first time: keep its number below zero
            root[a] = -1 - count
            count += 1
        label[i] = -1 - root[a]
    return count


@kernel
def extract(indptr, indices, blocks, members, place):
    """Block rows of `members` (closed under coupling) on their own; place (nb,) is work."""
    total = 0
    for j in range(members.size):
        place[members[j]] = j
        total += indptr[members[j] + 1] - indptr[members[j]]
    sub_indptr = np.zeros(members.size + 1, indptr.dtype)
    sub_indices = np.empty(total, indices.dtype)
    sub_blocks = np.empty((total, blocks.shape[1], blocks.shape[2]))
    at = 0
    for j in range(members.size):
        for k in range(indptr[members[j]], indptr[members[j] + 1]):
            sub_indices[at] = place[indices[k]]
            for a in range(blocks.shape[1]):
                for b in range(blocks.shape[2]):
                    sub_blocks[at, a, b] = blocks[k, a, b]
            at += 1
        sub_indptr[j + 1] = at
    return sub_indptr, sub_indices, sub_blocks
