"""Generated piles: geometry by brute force, rows by finite differences of the gap."""

import numpy as np
import pytest

from drystone.errors import ProblemError
from drystone.problems.generated import disk_pile, sphere_pile, tangent_frames

PILES = [disk_pile(4), disk_pile(3, base=6), sphere_pile(3), sphere_pile(2, base=5)]


@pytest.mark.parametrize("pile", PILES)
def test_pairs_are_exactly_the_touching_ones(pile):
    distance = np.linalg.norm(pile.centres[:, None] - pile.centres[None], axis=2)
    i, j = np.nonzero(np.triu(distance < 2 * pile.radii[0] + 1e-9, 1))
    floor = np.flatnonzero(pile.centres[:, -1] < pile.radii[0] + 1e-9)
    expected = {(int(a), int(b)) for a, b in zip(i, j, strict=True)} | {(int(a), -1) for a in floor}
    assert {(b, a) if b >= 0 else (a, b) for a, b in pile.pairs.tolist()} == expected
    assert len(pile.pairs) == len(expected) == pile.problem.nc


@pytest.mark.parametrize("pile", PILES)
def test_normal_row_is_the_derivative_of_the_gap(pile):
    dim, nb = pile.centres.shape[1], len(pile.centres)
    dofs = 3 if dim == 2 else 6
    v = np.random.default_rng(1).standard_normal((nb, dofs))
    h = 1e-6

    def gaps(x):
        a, b = pile.pairs.T
        apart = np.linalg.norm(x[a] - x[b], axis=1) - 2 * pile.radii[a]
        return np.where(b < 0, x[a, -1] - pile.radii[a], apart)

    rate = (gaps(pile.centres + h * v[:, :dim]) - gaps(pile.centres - h * v[:, :dim])) / (2 * h)
    J = pile.problem.W.J
    np.testing.assert_allclose((J @ v.ravel())[::dim], rate, atol=1e-8)


@pytest.mark.parametrize("pile", PILES)
def test_a_rigid_turn_of_everything_slips_nowhere_inside(pile):
    """All bodies turning as one body: only contacts with the fixed floor may move."""
    dim, nb = pile.centres.shape[1], len(pile.centres)
    if dim == 2:
        spin = 0.7
        v = np.column_stack([-spin * pile.centres[:, 1], spin * pile.centres[:, 0]])
        whole = np.column_stack([v, np.full(nb, spin)])
    else:
        spin = np.array([0.3, -0.5, 0.7])
        whole = np.hstack([np.cross(spin, pile.centres), np.tile(spin, (nb, 1))])
    u = (pile.problem.W.J @ whole.ravel()).reshape(-1, dim)
    assert np.abs(u[pile.pairs[:, 1] >= 0]).max() < 1e-12
    assert np.abs(u[pile.pairs[:, 1] < 0]).max() > 1e-3


def test_formed_matches_the_operator():
    free, formed = sphere_pile(3, seed=4).problem, sphere_pile(3, seed=4, formed=True).problem
    x = np.random.default_rng(0).standard_normal(free.size)
    np.testing.assert_allclose(free.W @ x, formed.W @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(free.q, formed.q)


def test_frames_are_right_handed():
    normals = np.random.default_rng(2).standard_normal((50, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    frames = tangent_frames(normals)
    np.testing.assert_allclose(
        frames @ frames.transpose(0, 2, 1), np.tile(np.eye(3), (50, 1, 1)), atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.det(frames), 1.0)


@pytest.mark.parametrize(("layers", "base"), [(0, None), (3, 2)])
def test_impossible_piles_are_refused(layers, base):
    with pytest.raises(ProblemError, match="layers"):
        sphere_pile(layers, base=base)
