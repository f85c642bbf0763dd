"""All bases of a handful of rows, against enumeration and by the law itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.pivoting.enumerate import first_basis


@pytest.mark.kernels
@settings(deadline=None, max_examples=200, derandomize=True)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), integer=st.booleans())
def test_finds_a_solution_exactly_when_a_nonsingular_basis_has_one(seed, n, integer):
    rng = np.random.default_rng(seed)
    M, q = rng.normal(size=(n, n)), rng.normal(size=n)
    if integer:  # ties and singular blocks
        M, q = np.round(M), np.round(q)
    z, basis = np.zeros(n), np.zeros(n, dtype=bool)
    found = first_basis(M, q, 1e-12, z, basis)
    exists = False
    for mask in range(2**n):
        L = np.flatnonzero([(mask >> i) & 1 for i in range(n)])
        block = M[np.ix_(L, L)]
        if L.size and np.linalg.matrix_rank(block) < L.size:
            continue
        y = np.zeros(n)
        y[L] = np.linalg.solve(block, -q[L]) if L.size else 0.0
        exists = exists or min(y.min(), (M @ y + q).min()) >= -1e-12
    assert found == exists
    if found:
        w = M @ z + q
        assert min(z.min(), w.min()) >= -1e-9
        assert abs(z @ w) <= 1e-9 * max(1.0, np.abs(z).max())
        assert not z[~basis].any()
