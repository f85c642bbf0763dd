"""Geometric stiffness of joints against finite differences and NumPy's eigenvalues."""

import numpy as np
import pytest

from drystone.kernels import joint_stiffness as kernels
from drystone.kernels.joints import LENGTH, POINT

pytestmark = pytest.mark.kernels
RNG = np.random.default_rng(7)


def rotation(v):
    """exp of a rotation vector (Rodrigues)."""
    angle = np.linalg.norm(v)
    if angle == 0.0:
        return np.eye(3)
    K = np.cross(np.eye(3), v / angle)
    return np.eye(3) - np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def lever(kind=POINT):
    """One joint of one row between bodies 0 and 1: arms, gap, and the row at those."""
    arms, gap = RNG.normal(size=(1, 2, 3)), np.zeros((1, 3))
    f = RNG.normal(size=3)
    if kind == LENGTH:
        gap = RNG.normal(size=(1, 3))
        f = gap[0] / np.linalg.norm(gap[0])
    J = np.zeros((1, 2, 6))
    J[0, 0] = np.concatenate([f, np.cross(arms[0, 0], f)])
    J[0, 1] = -np.concatenate([f, np.cross(arms[0, 1], f)])
    code = np.array([[kind, 0, 0, 0]])
    return kernels.Levers(np.array([[0, 1]]), arms, gap, np.array([0, 1]), code, J)


def stiffness(args, r, scale=1.0):
    S = np.zeros((2, 2, 3, 3))
    kernels.stiffness(args, np.array([r]), scale, S)
    return S


def test_stiffness_is_minus_the_hessian_of_the_work_of_a_force():
    args = lever()
    S = stiffness(args, 1.7)
    assert not S[:, 0].any()
    for s in range(2):
        arm, f = args[1][0, s], 1.7 * args[5][0, s, :3]
        e, hessian = 1e-4, np.empty((3, 3))

        def work(v, arm=arm, f=f):
            return f @ (rotation(v) @ arm)

        for p in range(3):
            for q in range(3):
                a, b = e * np.eye(3)[p], e * np.eye(3)[q]
                total = work(a + b) - work(a - b) - work(b - a) + work(-a - b)
                hessian[p, q] = total / (4 * e * e)
        np.testing.assert_allclose(S[s, 1], -hessian, atol=1e-6)


def test_a_length_under_tension_is_majorised_and_one_under_pressure_is_not():
    """v'K v of the pair, by finite differences of r |d|, is at most that of both bodies."""
    args = lever(LENGTH)
    gap, arms = args[2][0], args[1][0]

    def work(r, x):
        ends = [x[6 * s : 6 * s + 3] + rotation(x[6 * s + 3 : 6 * s + 6]) @ arms[s] for s in (0, 1)]
        return r * np.linalg.norm(gap + ends[0] - arms[0] - ends[1] + arms[1])

    S = stiffness(args, -2.0)
    for _ in range(30):
        x = RNG.normal(size=12)
        e = 1e-4
        rest = np.zeros(12)
        bent = work(-2.0, e * x) - 2 * work(-2.0, rest) + work(-2.0, -e * x)
        both = sum(x[6 * s + 3 * k :][:3] @ S[s, k] @ x[6 * s + 3 * k :][:3]
                   for s in (0, 1) for k in (0, 1))  # fmt: skip
        assert both >= -bent / e**2 - 1e-5
    assert not stiffness(args, 2.0)[:, 0].any()


def soften(S, mass, inertia):
    n = mass.size
    axes, values, bend = np.zeros((n, 2, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    inverse, stiff = np.zeros((n, 2, 3, 3)), np.zeros(n, bool)
    kernels.soften(np.int64(3), 1 / mass, mass, inertia, S, axes, values, bend, inverse, stiff)
    return axes, values, bend, inverse, stiff


def bodies():
    A = RNG.normal(size=(2, 3, 3))
    return np.array([1.0, 2.0]), np.einsum("bij,bkj->bik", A, A) + 0.1 * np.eye(3)


def test_softening_is_what_exceeds_the_threshold():
    mass, inertia = bodies()
    A = RNG.normal(size=(2, 2, 3, 3))
    given = 5.0 * (A + A.swapaxes(2, 3))
    S = given.copy()
    *_, inverse, stiff = soften(S, mass, inertia)
    assert stiff.all()
    for b in range(2):
        for k, M in enumerate((mass[b] * np.eye(3), inertia[b])):
            values, U = np.linalg.eigh(given[b, k] - 0.25 * kernels.THRESHOLD * M)
            bend = kernels.BEND * np.einsum("pc,pq,qc->c", U, M, U)
            round_ = 0.5 * np.maximum(values, 0.0) ** 2 / bend
            part = np.where(values > bend, values - 0.5 * bend, round_)
            np.testing.assert_allclose(S[b, k], (U * part) @ U.T, atol=1e-10)
            np.testing.assert_allclose(inverse[b, k] @ (M + S[b, k]), np.eye(3), atol=1e-9)
            # Newmark: no motion of these bodies has (w h)^2 = 4 S / (M + added) of 4 or more
            top = np.linalg.eigvals(np.linalg.solve(M + S[b, k], given[b, k])).real.max()
            assert top < 1.0


def test_little_load_changes_nothing():
    mass, inertia = bodies()
    S = 0.2 * kernels.THRESHOLD * np.stack([mass[:, None, None] * np.eye(3), inertia], axis=1)
    assert not soften(S, mass, inertia)[-1].any()


@pytest.mark.parametrize("kind", [POINT, LENGTH])
def test_mean_rows_are_the_derivative_of_softened_momentum(kind):
    """d/dr of J' r - S(r) change, by central differences."""
    args, (mass, inertia) = lever(kind), bodies()
    change, r, scale = RNG.normal(size=(2, 6)), -3.0, 0.8

    def momentum(r):
        S = stiffness(args, r, scale)
        soften(S, mass, inertia)
        out = args[5][0] * r
        for b in range(2):
            for k in range(2):
                out[b, 3 * k : 3 * k + 3] -= S[b, k] @ change[b, 3 * k : 3 * k + 3]
        return out

    axes, values, bend, _, stiff = soften(stiffness(args, r, scale), mass, inertia)
    out = np.empty((1, 2, 6))
    softened = kernels.Softened(axes, values, bend, stiff)
    kernels.mean_rows(args, np.array([r]), scale, softened, change, out)
    e = 1e-5
    numeric = (momentum(r + e) - momentum(r - e)) / (2 * e)
    # exact where all eigenvalues are rounded off alike; where not, what rounding off differs by
    np.testing.assert_allclose(out[0], numeric, atol=0.05 * np.abs(numeric).max())


def test_softening_work_closes_the_books():
    """(v + v0).M (v - v0)/2 = (v + v0).p / 2 + the work, for (M + S)(v - v0) = p."""
    mass, inertia = bodies()
    S = np.abs(RNG.normal()) * 5 * np.broadcast_to(np.eye(3), (2, 2, 3, 3)).copy()
    *_, inverse, stiff = soften(S, mass, inertia)
    v0, p = RNG.normal(size=(2, 2, 6))
    v = v0.copy()
    kernels.soft_kick(np.int64(3), mass, inertia, inverse, stiff, v0, v0, p, v)
    gained = 0.0
    for b in range(2):
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = mass[b] * np.eye(3), inertia[b]
        gained += 0.5 * (v[b] + v0[b]) @ M @ (v[b] - v0[b])
    pushed = 0.5 * ((v + v0) * p).sum()
    added = kernels.softening_work(np.int64(3), S, stiff, v0, v)
    np.testing.assert_allclose(gained, pushed + added, rtol=1e-12)


@pytest.mark.parametrize("stiffness", [0.0, 1.0, 1e8, 1e14, 1e20])
def test_the_inverse_of_any_stiffness_is_positive(stiffness):
    """NumPy's inverse where that means something; never a negative response."""
    for _ in range(20):
        n, A = RNG.normal(size=3), np.diag(RNG.uniform(0.5, 2.0, 3))
        A += stiffness * np.outer(n, n)
        out = np.empty((3, 3))
        kernels._inverse(A, out)
        assert np.linalg.eigvalsh(out).min() > -1e-14 * np.abs(out).max()
        if stiffness <= 1e8:
            np.testing.assert_allclose(out, np.linalg.solve(A, np.eye(3)), rtol=1e-6, atol=1e-8)
