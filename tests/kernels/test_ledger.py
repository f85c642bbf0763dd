"""Energies and the work of impulses against plain sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels import ledger as kernels
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows

pytestmark = pytest.mark.kernels


def test_kinetic_energies():
    v = np.array([[1.0, 2, 3], [9, 9, 9]])
    planar = kernels.kinetic_planar(np.array([2.0, 0]), np.array([0.5, 0]), v)
    assert np.isclose(planar, 0.5 * (2 * 5 + 0.5 * 9))
    inertia = np.array([np.diag([1.0, 2, 3]), np.full((3, 3), 7.0)])
    v = np.array([[1.0, 0, 0, 1, 1, 1], [9.0, 0, 0, 9, 9, 9]])
    spatial = kernels.kinetic_spatial(np.array([2.0, 0]), inertia, v)
    assert np.isclose(spatial, 0.5 * (2 + 6)), "a body without mass carries none"


@pytest.mark.parametrize("dim", [2, 3])
@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_work_of_impulses_is_the_kinetic_energy_gained(dim, seed):
    """v' = v + M^-1 J' r, with a body that moves as prescribed: the parts sum to T' - T."""
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 4, 5)
    inverse, J = inverse_mass_matrix(a), dense_J(a)
    r, before = rng.normal(size=(5, a["d"])), rng.normal(size=(4, a["dof"]))
    after = before + (inverse @ J.T @ r.ravel()).reshape(4, -1)
    out = np.zeros(4)
    kernels.contact_work(a["body"], a["moves"], a["J"], r, before, after, out)
    n = a["dof"]
    mass = np.linalg.solve(inverse[n:, n:], np.eye(3 * n))  # body 0 has none

    def kinetic(v):
        return 0.5 * v[1:].ravel() @ mass @ v[1:].ravel()

    assert np.isclose(out.sum(), kinetic(after) - kinetic(before), rtol=1e-9)
    u = (J @ before.ravel()).reshape(5, -1), (J @ after.ravel()).reshape(5, -1)
    assert np.isclose(out[0], (r[:, 1:] * u[1][:, 1:]).sum())
    assert np.isclose(out[2], (r[:, 0] * u[1][:, 0]).sum())
