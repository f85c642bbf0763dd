"""Springs at contacts: numbers by hand, momentum, power."""

import numpy as np
import pytest

from drystone.kernels.penalty import (
    DAMPER,
    DRIVEN,
    RUBBING,
    SPRING,
    SpringContacts,
    SpringLaw,
    contact_springs,
)

pytestmark = pytest.mark.kernels


def springs(dim, gap, x, v, point, normal, moves=(True, True), k=100.0, c=1.0, slip=1e-3):
    n, dof = len(gap), 3 * (dim - 1)
    f, force, power = np.empty((n, dim)), np.zeros((2, dof)), np.zeros(4)
    body = np.tile([0, 1], (n, 1))
    mu = np.full(n, 0.5)
    args = (np.asarray(point, float), np.asarray(normal, float), np.asarray(gap, float), mu)
    contacts, law = SpringContacts(body, *args), SpringLaw(k, c, slip)
    contact_springs(contacts, law, np.array(moves), x, v, force, f, power)
    return f, force, power


def test_one_contact_by_hand():
    """Depth 0.01, approaching at 1, slipping at 2: f_n = 1 + 1, f_t = -0.5 f_n."""
    x, v = np.array([[0, 0, 1.0], [0, 0, 0]]), np.zeros((2, 6))
    v[0, :3] = 2, 0, -1
    f, force, power = springs(3, [-0.01], x, v, [[0, 0, 0]], [[0, 0, 1]], (True, False))
    assert np.allclose(f, [[-1, 0, 2]])
    assert np.allclose(force, [[-1, 0, 2, 0, 1, 0], [1, 0, -2, 0, 0, 0]])
    assert np.allclose(power[[SPRING, DAMPER, RUBBING, DRIVEN]], [-1, -1, -2, 0])


def test_open_contacts_and_parting_dampers_give_nothing():
    x, v = np.zeros((2, 2)), np.zeros((2, 3))
    v[0, 1] = 5.0
    f, force, _ = springs(2, [0.01, -0.01], x, v, np.zeros((2, 2)), [[0, 1], [0, 1]])
    assert not f.any()
    assert not force.any()


@pytest.mark.parametrize("dim", [2, 3])
def test_forces_keep_momentum_and_their_power_is_counted(dim):
    rng = np.random.default_rng(7)
    dof, n = 3 * (dim - 1), 5
    x, v = rng.normal(size=(2, dim)), rng.normal(size=(2, dof))
    point, normal = rng.normal(size=(n, dim)), rng.normal(size=(n, dim))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    gap = -rng.random(n)
    for moves in ((True, True), (True, False)):
        f, force, power = springs(dim, gap, x, v, point, normal, moves)
        assert np.allclose(force[0, :dim] + force[1, :dim], 0)
        if dim == 3:
            about = force[:, 3:] + np.cross(x, force[:, :3])
            assert np.allclose(about.sum(axis=0), 0)
        given = (force * v).sum(axis=1)
        assert power[:3].sum() == pytest.approx(given.sum())
        assert power[DRIVEN] == pytest.approx(0.0 if all(moves) else -given[1])
        assert (np.einsum("ij,ij->i", f, normal) >= 0).all()
        assert power[RUBBING] <= 0
