"""Sets joined step by step, beside SciPy's connected components."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from drystone.kernels.islands import label_contacts, label_islands
from drystone.kernels.union_find import root_of, unite

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize(("n", "links"), [(1, 0), (2, 1), (30, 12), (30, 25), (60, 200)])
def test_sets_are_connected_components_named_by_their_smallest(n, links):
    rng = np.random.default_rng(n + links)
    pairs = rng.integers(0, n, (links, 2))
    root = np.arange(n)
    for a, b in pairs:
        unite(a, b, root)
    found = [root_of(i, root) for i in range(n)]
    graph = sp.csr_array((np.ones(links), (pairs[:, 0], pairs[:, 1])), (n, n))
    _, label = connected_components(graph, directed=False)
    assert found == [int(np.flatnonzero(label == label[i])[0]) for i in range(n)]

    both = sp.csr_array(graph + graph.T)
    islands = np.empty(n, np.int64)
    count = label_islands(both.indptr, both.indices, islands)
    assert count == label.max() + 1
    assert all((islands == islands[i]).tolist() == (label == label[i]).tolist() for i in range(n))


def test_islands_of_contacts_do_not_pass_through_what_does_not_move():
    rng = np.random.default_rng(3)
    n, nc = 40, 45
    moves = rng.random(n) < 0.8
    moves[0] = False
    body = rng.integers(0, n, (nc, 2))
    body = body[(body[:, 0] != body[:, 1]) & moves[body].any(axis=1)]
    label = np.empty(len(body), np.int64)
    count = label_contacts(body, moves, np.empty(n, np.int64), label)
    inner = body[moves[body].all(axis=1)]
    graph = sp.csr_array((np.ones(len(inner)), (inner[:, 0], inner[:, 1])), (n, n))
    _, part = connected_components(graph, directed=False)
    own = np.where(moves[body[:, 0]], part[body[:, 0]], part[body[:, 1]])
    order = list(dict.fromkeys(own.tolist()))
    assert count == len(order)
    assert label.tolist() == [order.index(k) for k in own]
