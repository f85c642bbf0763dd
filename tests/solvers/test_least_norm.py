"""min |x|, A x = b, x in a product of cones: against projections, and a general minimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drystone.kernels.cones.least_norm import Blocks, Work, minimise, project


def blocks(rng, k, d, groups, sides=0, width=6):
    """Blocks that meet one group of rows, or two."""
    at = rng.integers(-1, groups, (k, 2))
    at[:, 0] = np.arange(k) % groups
    at[at[:, 0] == at[:, 1], 1] = -1
    size, mu = np.full(k, d), rng.uniform(0.2, 1.0, k)
    G = rng.normal(size=(k, 2, width, d))
    return Blocks(size, mu, np.where(at >= 0, width * at, -1), G, sides)


def projected(given, z):
    x, D = np.empty_like(z), np.empty((*z.shape, z.shape[1]))
    project(given, np.ascontiguousarray(z), x, D)
    return x, D


def least_norm(given, x):
    """The point of least norm with the A x of a given one, and whether A x was reached."""
    k, d = x.shape
    b = matrix(given, k, d) @ x.ravel()
    n = b.size
    z, found, best = np.empty((3, k, d))
    y, new, left, step = np.empty((4, n))
    first, begin = np.zeros(n, np.int64), np.arange(n + 1) * np.arange(1, n + 2) // 2  # all of it
    work = Work(
        z, found, best, np.empty((k, d, d)), y, new, left, step, first, begin, np.empty(begin[-1])
    )
    return best, minimise(given, b, work) <= 1e-10


def matrix(given, k, d):
    width = given.G.shape[2]
    A = np.zeros((given.at.max() + width, k * d))
    for i in range(k):
        for side in (0, 1):
            at = given.at[i, side]
            if at >= 0:
                A[at : at + width, d * i : d * i + d] = given.G[i, side]
    return A


@pytest.mark.parametrize(("d", "sides"), [(2, 0), (3, 0), (4, 0), (3, 4), (3, 8)])
def test_projections_and_their_derivatives(d, sides):
    rng = np.random.default_rng(d + sides)
    given, z, e = blocks(rng, 200, d, 1, sides), rng.normal(size=(200, d)), 1e-7
    x, D = projected(given, z)
    assert np.allclose(projected(given, x)[0], x, atol=1e-15)
    assert np.allclose(((z - x) * x).sum(axis=1), 0.0, atol=1e-14)  # z - x in the polar cone
    for other in (projected(given, rng.normal(size=z.shape))[0] for _ in range(20)):
        assert (((z - x) * other).sum(axis=1) <= 1e-14).all()
    for c, unit in enumerate(np.eye(d)):
        slope = (projected(given, z + e * unit)[0] - projected(given, z - e * unit)[0]) / (2 * e)
        assert np.allclose(slope, D[:, :, c], atol=1e-7)


@pytest.mark.parametrize("sides", [0, 6])
@pytest.mark.parametrize("seed", range(4))
def test_against_a_general_minimiser(seed, sides):
    rng = np.random.default_rng(seed)
    k, d = 7, 3
    given = blocks(rng, k, d, 2, sides, width=4)
    start = projected(given, rng.normal((0.4, 0, 0), size=(k, d)))[0]
    x, good = least_norm(given, start)
    A = matrix(given, k, d)
    b = A @ start.ravel()
    assert good
    assert np.abs(A @ x.ravel() - b).max() <= 1e-10 * np.abs(b).max()
    assert np.allclose(projected(given, x)[0], x, atol=1e-12)

    def inside(v):
        v = v.reshape(k, d)
        if not sides:
            return given.mu**2 * v[:, 0] ** 2 - (v[:, 1:] ** 2).sum(axis=1)
        angle = 2 * np.pi * (np.arange(sides) + 0.5) / sides
        out = v[:, 1:] @ np.array([np.cos(angle), np.sin(angle)])
        return (given.mu[:, None] * v[:, :1] * np.cos(np.pi / sides) - out).ravel()

    rules = [
        {"type": "eq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        {"type": "ineq", "fun": inside},
        {"type": "ineq", "fun": lambda v: v.reshape(k, d)[:, 0]},
    ]
    found = minimize(
        lambda v: 0.5 * v @ v, start.ravel(), jac=lambda v: v, constraints=rules, method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    assert x.ravel() @ (start - x).ravel() >= -1e-12  # no way on to it is downhill
    feasible = inside(found.x).min() > -1e-8 and np.abs(A @ found.x - b).max() < 1e-8
    assert feasible or sides == 0  # round cones are not smooth at their tips
    mine, other = x.ravel() @ x.ravel(), found.x @ found.x
    if feasible:
        assert mine <= other * (1 + 1e-6)
    if found.success and (sides or other <= mine * (1 + 1e-6)):  # it may be stuck at a tip
        assert np.allclose(x.ravel(), found.x, atol=2e-4)


def test_where_the_plain_solution_lies_in_the_cones_it_is_that_one():
    rng = np.random.default_rng(3)
    given = blocks(rng, 6, 3, 2)._replace(mu=np.full(6, 1e3))
    A = matrix(given, 6, 3)
    plain = np.linalg.pinv(A) @ (A @ rng.normal(size=18))
    given.G[plain.reshape(6, 3)[:, 0] < 0] *= -1.0
    plain = np.linalg.pinv(matrix(given, 6, 3)) @ (A @ plain)
    assert (plain.reshape(6, 3)[:, 0] > 0).all()
    x, good = least_norm(given, plain.reshape(6, 3).copy())
    assert good
    assert np.allclose(x.ravel(), plain, atol=1e-12)


def test_long_chains_and_dependent_rows():
    """Two hundred groups in a row, each row twice."""
    rng = np.random.default_rng(0)
    k = 800
    given = blocks(rng, k, 3, 200)
    shuffled = rng.permutation(200)
    first = np.arange(k) % 200
    at = np.stack([shuffled[first], shuffled[np.minimum(first + 1, 199)]], axis=1)
    at[at[:, 0] == at[:, 1], 1] = -1
    G = given.G
    G[:, :, 3:] = G[:, :, :3]
    given = given._replace(at=np.where(at >= 0, 6 * at, -1), G=G)
    start = projected(given, rng.normal((1, 0, 0), size=(k, 3)))[0]
    x, good = least_norm(given, start)
    assert good
    assert (x**2).sum() < (start**2).sum()
