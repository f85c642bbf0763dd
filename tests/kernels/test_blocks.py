"""Block kernels against NumPy; small enough to run without the compiler."""

import numpy as np
import pytest

from drystone.kernels.blocks import CONVEX, COULOMB, STATIC, block_product
from drystone.kernels.contact.residual import contact_residuals
from drystone.problems.residual import FrictionMeasures

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_block_product(d):
    rng = np.random.default_rng(d)
    indptr = np.array([0, 2, 2, 5], dtype=np.int32)
    indices = np.array([0, 2, 0, 1, 2], dtype=np.int32)
    blocks = rng.normal(size=(5, d, d))
    dense = np.zeros((3 * d, 3 * d))
    for row in range(3):
        for k in range(indptr[row], indptr[row + 1]):
            column = indices[k]
            dense[d * row : d * row + d, d * column : d * column + d] = blocks[k]
    r, q, u = rng.normal(size=(3, d)), rng.normal(size=(3, d)), np.full((3, d), np.nan)
    block_product((0,) * d, indptr, indices, blocks, r, q, u)
    assert np.allclose(u.ravel(), dense @ r.ravel() + q.ravel())


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize(
    ("code", "law"), [(COULOMB, "coulomb"), (CONVEX, "convex"), (STATIC, "static")]
)
def test_residual_kernel_equals_the_array_form(d, code, law):
    """The array form itself is tested against projections by least squares."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        r, u, q = rng.normal(size=(3, 6, d))
        mu = np.array([0.0, 0.2, 0.7, 1.5, -1.0, 0.0])
        r[rng.random((6, d)) < 0.2] = 0.0
        u[rng.random((6, d)) < 0.2] = 0.0
        u[5] = np.eye(d)[0]  # an open contact without friction: straight up, no force
        r[5] = 0.0
        unit = rng.uniform(0.1, 3.0, 6)
        got = contact_residuals((0,) * d, r, u, q, mu, unit, code)
        expected = FrictionMeasures(q, mu, unit, law).residuals(r, u)
        assert got == pytest.approx(expected, rel=1e-12)


def test_nothing_to_judge():
    zeros, ones = np.zeros((2, 3)), np.ones(2)
    assert contact_residuals((0, 0, 0), zeros, zeros, zeros, ones, ones, COULOMB) == (0.0, 0.0)


def test_error_below_machine_scale_is_not_divided():
    tiny = np.array([[-1e-20, 0.0]])
    zeros, ones = np.zeros((1, 2)), np.ones(1)
    plain, unit = contact_residuals((0, 0), tiny, zeros, zeros, ones, ones, COULOMB)
    assert plain == unit == pytest.approx(1e-20)


def test_not_a_number_is_not_zero():
    """A judge that met NaN must not call the answer good."""
    r, zeros, ones = np.full((1, 3), np.nan), np.zeros((1, 3)), np.ones(1)
    plain, _ = contact_residuals((0, 0, 0), r, zeros, zeros, ones, ones, COULOMB)
    assert not plain <= 1e-8
