"""Independent groups of contacts: labels by union-find, and the extraction of a group."""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def label_islands(indptr, indices, label):
    """label (nb,): number of the island of each block, in order of first member; returns count."""
    nb = label.size
    root = np.arange(nb)
    for i in range(nb):
        for k in range(indptr[i], indptr[i + 1]):
            a, b = i, indices[k]
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            if a < b:
                root[b] = a
            else:
                root[a] = b
    count = 0
    for i in range(nb):
        a = i
        while root[a] != a:
            a = root[a]
        if a == i:
            label[i] = count
            count += 1
        else:
            label[i] = label[a]
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
            sub_blocks[at] = blocks[k]
            at += 1
        sub_indptr[j + 1] = at
    return sub_indptr, sub_indices, sub_blocks
