"""Packed contacts against rows: the same D, the same sweeps, the law of ds.FrictionProblem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.kernels import blocks, status
from drystone.kernels.contact import packed_planar, packed_spatial
from drystone.kernels.contact.sweeps import momentum, solve_block_islands, solve_packed_islands
from drystone.kernels.layout import BODY_2, BODY_3, CONTACT_2, CONTACT_3
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows, solve_record

pytestmark = pytest.mark.kernels
seeds = st.integers(0, 2**32 - 1)
CASES = [(2, blocks.COULOMB), (2, blocks.CONVEX), (3, blocks.COULOMB)]


def packed(a):
    dim, nc, nb = a["dim"], a["nc"], a["nb"]
    contact = np.full((nc, CONTACT_2.WIDTH if dim == 2 else CONTACT_3.WIDTH), np.nan)
    motion = np.full((nb, BODY_2.WIDTH if dim == 2 else BODY_3.WIDTH), np.nan)
    D = np.full((nc, dim, dim), np.nan)
    pack = packed_planar.pack_planar if dim == 2 else packed_spatial.pack_spatial
    done = pack(
        a["body"], a["frame"], a["point"], a["position"], a["inverse_mass"],
        a["inverse_inertia"], contact, motion, D,
    )  # fmt: skip
    assert done == 0
    return contact, motion, D


class Solve:
    """One solve by packed contacts, or by rows."""

    def __init__(self, a, start, bias, mu, law, tol, most, v=None, r=None, chosen=None, packs=True):
        nc, d = a["nc"], a["d"]
        self.v = np.zeros((a["nb"], a["dof"])) if v is None else v.copy()
        self.r = np.zeros((nc, d)) if r is None else r.copy()
        free = self.v.ravel() - inverse_mass_matrix(a) @ dense_J(a).T @ self.r.ravel()
        self.q = (dense_J(a) @ free).reshape(nc, d) + bias
        contact, motion, D = packed(a)
        a = a | {"D": D}
        s = solve_record(
            a, start, bias, mu, law, tol, most, self.v, self.r, self.q, chosen,
            contact=contact, motion=motion,
        )  # fmt: skip
        self.u, self.ended, self.sweeps, self.residual = s.u, s.ended, s.sweeps, s.residual
        if packs:
            assert solve_packed_islands(s, s.chosen, s.seen, s.mine, np.empty(nc, np.int64)) == 0
        else:
            unit = np.sqrt(np.einsum("iaa->i", D) / d)
            solve_block_islands((0,) * d, s, np.zeros_like(bias), unit, None)


def warm(rng, a):
    """Impulses in their cones, and the velocities that go with them plus some."""
    r = rng.normal(size=(a["nc"], a["d"]))
    r[:, 0] = np.abs(r[:, 0]) + 4.0
    v = rng.normal(size=(a["nb"], a["dof"]))
    v += (inverse_mass_matrix(a) @ dense_J(a).T @ r.ravel()).reshape(v.shape)
    return v, r


@pytest.mark.parametrize("dim", [2, 3])
@settings(deadline=None, derandomize=True, max_examples=20)
@given(seed=seeds)
def test_packed_diagonal_is_that_of_dense_algebra(dim, seed):
    a = random_rows(np.random.default_rng(seed), dim, 5, 4, 1)
    contact, motion, D = packed(a)
    J = dense_J(a)
    W = J @ inverse_mass_matrix(a) @ J.T
    for i in range(4):
        span = slice(dim * i, dim * i + dim)
        np.testing.assert_allclose(D[i], W[span, span], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(
        contact[:, CONTACT_2.UNIT2 if dim == 2 else CONTACT_3.UNIT2],
        np.einsum("iaa->i", D) / dim,
        rtol=1e-14,
    )
    assert (motion[:, BODY_2.MOVES if dim == 2 else BODY_3.MOVES] == a["moves"]).all()


@pytest.mark.parametrize(("dim", "law"), CASES)
@pytest.mark.parametrize("frictionless", [False, True])
@settings(deadline=None, derandomize=True, max_examples=15)
@given(seed=seeds, most=st.integers(1, 9))
def test_sweeps_are_those_of_rows(dim, law, frictionless, seed, most):
    """Same impulses, velocities and residuals after the same number of sweeps, warm or not."""
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 6, 8, 1)
    mu = np.zeros(8) if frictionless else rng.uniform(0.05, 0.9, 8)
    bias, (v, r) = rng.normal(size=(8, dim)), warm(rng, a)
    lines, rows = (
        Solve(a, [0, 8], bias, mu, law, 1e-300, most, v, r, packs=kind) for kind in (True, False)
    )
    if lines.residual.max() > 1e-14:  # else rounding says which of them meets the law exactly
        assert lines.sweeps[0] == rows.sweeps[0] == most
    for name in ("r", "v", "u", "residual"):
        got, expected = getattr(lines, name), getattr(rows, name)
        scale = max(1.0, np.abs(rows.r).max())
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-8 * scale, err_msg=name)


@pytest.mark.parametrize(("dim", "law"), CASES)
@settings(deadline=None, derandomize=True, max_examples=10)
@given(seed=seeds)
def test_solved_islands_meet_the_law(dim, law, seed):
    """Judged by the statement of ds.FrictionProblem with W formed by dense algebra."""
    rng = np.random.default_rng(seed)
    a = random_rows(rng, dim, 6, 4, 1)
    mu, bias = rng.uniform(0, 0.6, 4), rng.normal(size=(4, dim))
    done = Solve(a, [0, 4], bias, mu, law, 1e-10, 3000)
    J, inverse = dense_J(a), inverse_mass_matrix(a)
    assert np.allclose(done.v.ravel(), inverse @ J.T @ done.r.ravel(), atol=1e-9), "v follows r"
    assert np.allclose(done.u.ravel(), J @ done.v.ravel() + bias.ravel(), atol=1e-12)
    named = "convex" if law == blocks.CONVEX else "coulomb"
    problem = ds.FrictionProblem(J @ inverse @ J.T, done.q.ravel(), mu, dim=dim, law=named)
    judged = problem.residuals(done.r.ravel())
    assert np.allclose(done.residual[0], judged, rtol=1e-4, atol=1e-13)
    assert done.ended[0] == status.SOLVED
    assert max(judged) <= 1.001e-10


@pytest.mark.parametrize("dim", [2, 3])
def test_other_islands_and_bodies_that_do_not_move_are_left_alone(dim):
    a = random_rows(np.random.default_rng(1), dim, 5, 3, 1)
    a["body"][:] = [[1, 2], [3, 4], [4, 0]]
    rng = np.random.default_rng(2)
    v = rng.normal(size=(5, a["dof"]))
    bias = np.zeros((3, dim))
    bias[:, 0] = -9.0
    done = Solve(a, [0, 1, 3], bias, np.full(3, 0.5), blocks.COULOMB, 1e-12, 50, v, chosen=[1])
    assert not done.r[0].any()
    assert (done.r[1:, 0] > 0).all()
    assert (done.v[:3] == v[:3]).all()
    assert (done.v[3:] != v[3:]).all()


def test_a_particle_that_lands_sliding():
    """Mass 2 falls on the ground at (3, -4, -1): r_n = 2, friction takes mu r_n against slip."""
    a = {
        "body": np.array([[1, 0]]), "frame": np.eye(3)[[2, 0, 1]][None], "point": np.zeros((1, 3)),
        "position": np.zeros((2, 3)), "inverse_mass": np.array([0.0, 0.5]),
        "inverse_inertia": np.zeros((2, 3, 3)), "dim": 3, "d": 3, "dof": 6, "nc": 1, "nb": 2,
    }  # fmt: skip
    a["J"] = np.zeros((1, 3, 2, 6))
    a["J"][0, :, 0, :3], a["J"][0, :, 1, :3] = a["frame"][0], -a["frame"][0]
    v = np.zeros((2, 6))
    v[1, :3] = 3.0, -4.0, -1.0
    done = Solve(a, [0, 1], np.zeros((1, 3)), np.array([0.5]), blocks.COULOMB, 1e-14, 5, v)
    np.testing.assert_allclose(done.r, [[2.0, -0.6, 0.8]], rtol=1e-14)
    np.testing.assert_allclose(done.v[1, :3], [2.7, -3.6, 0.0], atol=1e-15)


def test_velocities_that_are_not_numbers_end_the_solve():
    a = random_rows(np.random.default_rng(3), 3, 4, 3, 1)
    bias = np.zeros((3, 3))
    bias[1, 0] = np.nan
    done = Solve(a, [0, 3], bias, np.full(3, 0.5), blocks.COULOMB, 1e-9, 100)
    assert done.ended[0] == status.RUNNING
    assert not np.isfinite(done.residual).all()


@settings(deadline=None, derandomize=True, max_examples=200)
@given(seed=seeds, mu=st.floats(0.0, 0.8), lam=st.floats(0.0, 50.0))
def test_one_contact_by_cases(seed, mu, lam):
    """Open, stick and slip written out, from any impulse before and any guess of lam.

    A step of 1e-4 of lam is the last one: it leaves 1e-8, as a coupled block shows at worst.
    """
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    W, q, before = root @ root.T + 0.05 * np.eye(3), rng.normal(size=3), rng.normal(size=3)
    f = W[1:, 0] / W[0, 0]
    T = W[1:, 1:] - np.outer(f, W[0, 1:])
    line = np.zeros((1, CONTACT_3.WIDTH))
    line[0, CONTACT_3.C : CONTACT_3.MU + 1] = (
        W[0, 0],
        1 / W[0, 0],
        *f,
        T[0, 0],
        T[0, 1],
        T[1, 1],
        1 / np.linalg.det(T),
        mu,
    )
    line[0, CONTACT_3.LAM] = lam
    r = np.array(packed_spatial.solve_line(line[0], *(W @ before + q), *before)[:3])
    u = W @ r + q
    eps = 1e-7 * max(1.0, np.abs(r).max())
    slip, friction = np.linalg.norm(u[1:]), np.linalg.norm(r[1:])
    assert r[0] >= 0
    assert u[0] >= -eps
    assert abs(r[0] * u[0]) <= eps
    assert friction <= mu * r[0] + 1e-14 * friction
    if slip > 1e-5 and r[0] > 0:
        assert friction == pytest.approx(mu * r[0], abs=eps)
        np.testing.assert_allclose(r[1:] * slip, -mu * r[0] * u[1:], atol=10 * eps)


def test_momentum_starts_again_where_changes_grow_little_by_little():
    """Each by less than RESTART: in large heaps |g| grew so for hundreds of sweeps."""
    old, low, t, betas = np.inf, np.inf, 1.0, []
    for k in range(60):
        new = 0.9**k if k < 20 else 0.9**20 * 1.03 ** (k - 20)
        beta, t, low = momentum(new, old, low, t)
        old = new
        betas.append(beta)
    again = [k for k in range(1, 60) if betas[k] < betas[k - 1]]
    assert again
    assert 1.03 ** (again[0] - 20) == pytest.approx(1.5, rel=0.05)
    falling = np.array(betas[:20])
    assert (np.diff(falling) > 0).all(), "it goes on while changes shrink"
