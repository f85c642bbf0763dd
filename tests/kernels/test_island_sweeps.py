"""Islands against a graph library; sweeps against the solver library's residual and Lemke."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import drystone as ds
from drystone.kernels import blocks, status
from drystone.kernels.contact.sweeps import solve_block_islands
from drystone.kernels.islands import label_contacts
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows, solve_record

pytestmark = pytest.mark.kernels
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=seeds, nb=st.integers(2, 12), nc=st.integers(1, 15), fixed=st.integers(0, 1))
def test_labels_are_connected_components(seed, nb, nc, fixed):
    rng = np.random.default_rng(seed)
    moves = np.arange(nb) >= fixed
    body = np.array([rng.choice(nb, 2, replace=False) for _ in range(nc)])
    label = np.empty(nc, np.int64)
    count = label_contacts(body, moves, np.empty(nb, np.int64), label)
    links = body[moves[body].all(axis=1)]
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(nb, nb))
    group = connected_components(graph, directed=False)[1]
    of = group[np.where(moves[body[:, 0]], body[:, 0], body[:, 1])]
    assert count == np.unique(of).size
    for i in range(nc):
        assert ((label == label[i]) == (of == of[i])).all()
    first = [int(np.flatnonzero(label == k)[0]) for k in range(count)]
    assert first == sorted(first), "numbered in order of first contact"


@pytest.mark.parametrize(("dim", "soft"), [(2, False), (3, False), (3, True)])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
@settings(deadline=None, derandomize=True, max_examples=8)
@given(seed=seeds)
def test_solved_islands_meet_the_law(dim, soft, law, seed):
    """Judged by the statement of ds.FrictionProblem with W formed by dense algebra."""
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 6, 4, 1, soft)
    nc, d, nb = 4, a["d"], 6
    mu, bias = rng.uniform(0, 0.6, nc), rng.normal(size=(nc, d))
    unit = np.sqrt(np.einsum("iaa->i", a["D"]) / d)
    v, r, q = np.zeros((nb, a["dof"])), np.zeros((nc, d)), bias.copy()
    code = blocks.COULOMB if law == "coulomb" else blocks.CONVEX
    # slip of a convex soft finger is a root of polynomials of degree 4: they lose some digits
    tol = 1e-9 if soft and law == "convex" else 1e-10
    s = solve_record(a, [0, nc], bias, mu, code, tol, 3000, v, r, q)
    solve_block_islands((0,) * d, s, np.zeros_like(bias), unit, None)
    J, inverse = dense_J(a), inverse_mass_matrix(a)
    assert np.allclose(v.ravel(), inverse @ J.T @ r.ravel(), atol=1e-9), "v follows r"
    cone = ds.SoftFingerCone(1.0) if soft else "circular"
    problem = ds.FrictionProblem(J @ inverse @ J.T, q.ravel(), mu, dim=dim, law=law, cone=cone)
    judged = problem.residuals(r.ravel())
    assert np.allclose(s.residual[0], judged, rtol=1e-4, atol=1e-13)
    assert s.ended[0] == status.SOLVED
    assert max(judged) <= 1.001 * tol


def test_islands_do_not_touch_each_other():
    """Only the chosen island's impulses and velocities change."""
    a = random_rows(np.random.default_rng(1), 3, 5, 2, 1)
    a["body"][:] = [[1, 2], [3, 4]]
    r, v = np.zeros((2, 3)), np.zeros((5, 6))
    bias = np.array([[-1.0, 0.3, 0], [-1.0, 0.2, 0.1]])
    mu, q = np.full(2, 0.5), bias.copy()
    s = solve_record(a, [0, 1, 2], bias, mu, blocks.COULOMB, 1e-12, 50, v, r, q, [1])
    solve_block_islands((0,) * 3, s, np.zeros_like(bias), np.ones(2), None)
    assert not r[0].any()
    assert not v[:3].any()
    assert r[1, 0] > 0
    assert v[3:].any()


def test_one_sweep_of_one_contact_is_exact():
    """A particle of mass 2 falls on the ground at (-1, 3): r_n = 2, friction takes mu r_n."""
    J = np.zeros((1, 2, 2, 3))
    J[0, 0, 0, 1], J[0, 1, 0, 0] = 1.0, -1.0
    a = {"body": np.array([[1, 0]]), "J": J, "P": J / 2, "D": 0.5 * np.eye(2)[None]}
    v, r = np.array([[0.0, 0, 0], [3.0, -1.0, 0]]), np.zeros((1, 2))
    mu, zero, q = np.array([0.5]), np.zeros((1, 2)), np.array([[-1.0, -3.0]])
    s = solve_record(a, [0, 1], zero, mu, blocks.COULOMB, 1e-14, 1, v, r, q)
    solve_block_islands((0, 0), s, zero, np.array([2.0]), None)
    assert s.ended[0] == status.SOLVED
    assert np.allclose(r, [[2.0, 1.0]])
    assert np.allclose(v[1], [2.5, 0, 0])
