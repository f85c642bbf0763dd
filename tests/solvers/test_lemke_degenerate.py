"""Lemke on degenerate LCPs of every class for which theory promises an end, full of ties.

A sample in every run; `pytest -m fuzz` takes 1000 of each class, up to 200 rows.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import drystone as ds
from drystone.problems import classic


def feasible(rng, M):
    """q of a solvable LCP, many of whose rows have z = w = 0."""
    n = M.shape[0]
    z, w = rng.integers(0, 2, (2, n)) * rng.integers(0, 3, (2, n))
    return M, (np.where(z > 0, 0, w) - M @ z).astype(float)


def semidefinite(rng, n):
    G = rng.integers(-2, 3, (n, int(rng.integers(max(1, n // 4), n + 1)))).astype(float)
    return feasible(rng, G @ G.T)


def copositive_plus(rng, n):
    """Semidefinite and not symmetric: a sum of squares and a skew part."""
    M, _ = semidefinite(rng, n)
    skew = np.triu(rng.integers(-1, 2, (n, n)), 1)
    return feasible(rng, M + skew - skew.T)


def p_matrix(rng, n):
    if rng.random() < 0.5:  # strictly diagonally dominant rows
        M = rng.integers(-1, 2, (n, n)) * (rng.random((n, n)) < 6.0 / n)
        np.fill_diagonal(M, 0)
        np.fill_diagonal(M, np.abs(M).sum(axis=1) + 1)
    else:
        skew = np.triu(rng.integers(-2, 3, (n, n)), 1)
        M = skew - skew.T + np.eye(n) * rng.integers(1, 3)
    return M.astype(float), rng.integers(-2, 2, n).astype(float)


def strictly_copositive(rng, n):
    M = rng.integers(0, 4, (n, n)) * (rng.random((n, n)) < rng.random())
    np.fill_diagonal(M, rng.integers(1, 3, n))
    return M.astype(float), rng.integers(-3, 2, n).astype(float)


def game(rng, n):
    """Costs of small integers, in any order of the strategies."""
    n = max(n, 2)
    m, most = n // 2, int(rng.integers(2, 9))
    M = np.zeros((n, n))
    M[:m, m:], M[m:, :m] = rng.integers(1, most, (m, n - m)), rng.integers(1, most, (n - m, m))
    order = rng.permutation(n) if rng.random() < 0.5 else np.arange(n)
    return M[np.ix_(order, order)], -np.ones(n)


def friction(rng, n, turned=False):
    """A time step (Anitescu and Potra 1997) of boxes on corners they do not need."""
    k = int(rng.choice([4, 6, 8]))
    nc = max(1, n // (k + 2))
    nb = 1 + nc // 5
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0] if turned else np.eye(3)
    angle = 2.0 * np.pi * np.arange(k) / k
    wrenches = np.zeros((nc, k + 1, nb, 6))
    for c, b in enumerate(rng.integers(0, nb, nc)):
        axes = frame[:, rng.permutation(3)]
        vectors = np.vstack([axes[:, 0], np.outer(np.cos(angle), axes[:, 1])])
        vectors[1:] += np.outer(np.sin(angle), axes[:, 2])
        for body, sign in ((b, 1.0), (b - 1, -1.0)) if c % 2 and b else ((b, 1.0),):
            arm = frame @ rng.integers(-1, 2, 3)
            wrenches[c, :, body, :3] = sign * vectors
            wrenches[c, :, body, 3:] = sign * np.cross(arm, vectors)
    J = wrenches.reshape(nc, k + 1, 6 * nb)
    J = np.vstack([J[:, 0], J[:, 1:].reshape(-1, 6 * nb)])
    mass = np.repeat(rng.integers(1, 4, 2 * nb), 3)
    E = np.kron(np.eye(nc), np.ones((k, 1)))
    mu = np.diag(rng.integers(0, 3, nc) / 2.0)
    W, zero = J @ (J / mass).T, np.zeros((nc, nc))
    M = np.block([[W, np.vstack([zero, E])], [mu, -E.T, zero]])
    v = (frame @ rng.integers(-2, 2, (3, 2 * nb))).T.ravel()
    return M, np.concatenate([J @ v, np.zeros(nc)])


def turned_friction(rng, n):
    """The same in a frame where what ties exactly does so only to rounding."""
    return friction(rng, n, turned=True)


CLASSES = (
    semidefinite,
    copositive_plus,
    p_matrix,
    strictly_copositive,
    game,
    friction,
    turned_friction,
)


def failures(kind, count, largest, seed):
    """Problems of one class that are not solved; each z is judged here, by its own arithmetic."""
    rng = np.random.default_rng(seed)
    out = []
    for trial in range(count):
        M, q = kind(rng, int(rng.integers(2, largest + 1)))
        solution = ds.Lemke(max_pivots=20_000).solve(ds.LCP(M, q))
        z = solution.value
        w = M @ z + q
        error = np.linalg.norm(np.minimum(z, w)) / max(np.linalg.norm(q), 1e-300)
        if not (solution.ok and error <= 1e-8 and (z >= 0.0).all()):
            out.append((trial, q.size, solution.status, error))
    return out


@pytest.mark.parametrize("kind", CLASSES)
def test_theory_promises_an_end(kind):
    assert failures(kind, 25, 60, 1) == []
    assert failures(kind, 3, 200, 2) == []


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", CLASSES)
def test_theory_promises_an_end_a_thousand_times(kind):
    assert failures(kind, 1000, 200, 3) == []


def lemke_in_fractions(M, q):
    """The textbook: a tableau of fractions, covering vector 1, lexicographic ratios.

    (mask of basic z or None for a ray, pivots)
    """
    n = q.size
    # columns w, z, z0, then q: w - M z - z0 = q
    T = [
        [Fraction(int(i == j)) for j in range(n)]
        + [-Fraction(M[i, j]) for j in range(n)]
        + [Fraction(-1), Fraction(q[i])]
        for i in range(n)
    ]
    basic, entering, pivots = list(range(n)), 2 * n, 0

    def row_ratio(i):
        return [T[i][-1] / T[i][entering]] + [T[i][j] / T[i][entering] for j in range(n)]

    if (q >= 0).all():
        return np.zeros(n, bool), 0
    row = min(range(n), key=lambda i: [T[i][-1], *T[i][:n]])
    while True:
        pivots += 1
        p = T[row][entering]
        T[row] = [t / p for t in T[row]]
        for i in range(n):
            f = T[i][entering]
            if i != row and f:
                T[i] = [t - f * s for t, s in zip(T[i], T[row], strict=True)]
        leaving, basic[row] = basic[row], entering
        if leaving == 2 * n:
            return np.array([n + i in basic for i in range(n)]), pivots
        entering = leaving + n if leaving < n else leaving - n
        blocking = [i for i in range(n) if T[i][entering] > 0]
        if not blocking:
            return None, pivots
        row = min(blocking, key=row_ratio)
        z0 = basic.index(2 * n)
        if z0 in blocking and row_ratio(z0)[0] == row_ratio(row)[0]:
            row = z0  # it may leave any tie


@pytest.mark.parametrize(
    "kind", [semidefinite, copositive_plus, p_matrix, strictly_copositive, friction]
)
def test_the_path_is_that_of_rational_arithmetic(kind):
    """Pivot for pivot, on integer data (cone=4: directions of the axes) full of ties."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        n = int(rng.integers(4, 15))
        M, q = kind(rng, n)
        if kind is friction:
            M, q = np.round(2.0 * M) / 2.0, np.round(q)
        mask, pivots = lemke_in_fractions(M, q)
        found = ds.Lemke(covering=1.0, max_pivots=500).solve(ds.LCP(M, q))
        if mask is None:
            assert found.status in (ds.Status.RAY, ds.Status.INFEASIBLE)
            continue
        assert found.iterations == pivots
        np.testing.assert_array_equal(found.basis, mask)


def equilibria(M, q):
    """All z of a small game by its supports."""
    n = q.size
    for choice in product((False, True), repeat=n):
        S = np.array(choice)
        z = np.zeros(n)
        if S.any() and abs(np.linalg.det(M[np.ix_(S, S)])) > 1e-9:
            z[S] = np.linalg.solve(M[np.ix_(S, S)], -q[S])
            if (z >= -1e-12).all() and (M @ z + q >= -1e-12).all():
                yield z


def test_games_whose_payoffs_have_any_sign():
    """Solved where an equilibrium of positive costs is found; a false one is never returned."""
    rng = np.random.default_rng(5)
    solved = 0
    for _ in range(60):
        M = np.zeros((6, 6))
        M[:3, 3:], M[3:, :3] = rng.integers(-1, 4, (2, 3, 3))
        q = -rng.integers(1, 3, 6).astype(float)
        found = ds.solve(ds.LCP(M, q))
        if next(equilibria(M, q), None) is not None:
            assert found.ok
        if found.ok:
            solved += 1
            w = M @ found.value + q
            assert np.abs(np.minimum(found.value, w)).max() <= 1e-9
    assert solved > 15


def test_auto_solves_games_by_lemke():
    """20 + 20 strategies of small integer payoffs."""
    for seed in range(10):
        M, q = game(np.random.default_rng(seed), 40)
        found = ds.solve(ds.LCP(M, q))
        assert found.ok
        assert found.methods == ("lemke",)
        assert found.residual <= 1e-12
    assert ds.solve(classic.bimatrix_game(), "lemke").ok


def test_friction_pyramids_of_disk_piles():
    """The steps of a pile that once ran to the limit of pivots, by the stepper itself."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for row in range(4):
        for column in range(4 - row):
            x = 0.2 * column + 0.1 * row
            world.add_body(
                ds.Disk(0.1), density=1000, friction=0.5, position=(x, 0.1 + 0.1732 * row)
            )
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=0.005, solver="lemke", cone=4))
    for _ in range(20):
        report = sim.step()
        assert report.status is ds.Status.SOLVED
        assert report.iterations < 2000


def stacked_cubes(seed):
    """Cubes of 1e-3 to 1e3 kg, on each other and on the floor by their corners, in any frame."""
    rng = np.random.default_rng(seed)
    count, k = int(rng.integers(2, 5)), int(rng.choice([4, 6, 8]))
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0] if seed % 2 else np.eye(3)
    inverse = np.repeat(np.outer(10.0 ** rng.integers(-3, 4, count), [1.0, 6.0]), 3)
    J = np.zeros((count, 2, 2, 3, count, 6))
    for body, i, j in np.ndindex(count, 2, 2):
        for side, height in ((body, -0.5), (body - 1, 0.5)):
            if side >= 0:
                sign = 1.0 if side == body else -1.0
                arm = frame @ [i - 0.5, j - 0.5, height]
                axes = sign * frame.T[[2, 0, 1]]
                J[body, i, j, :, side] = np.hstack([axes, np.cross(arm, axes)])
    J = J.reshape(12 * count, 6 * count)
    v = np.zeros((count, 6))
    v[:, :3] = 0.05 * frame @ [rng.choice([0.0, 0.1, 0.5]), 0.0, -1.0]
    mu = rng.integers(0, 3, 4 * count) / 2.0
    return ds.FrictionProblem((J * inverse) @ J.T, J @ v.ravel(), mu, cone=k)


@pytest.mark.parametrize("seed", [157, 185, 378, 431, 443, 616, 735])
def test_a_ray_of_rounded_data_is_not_believed(seed):
    """A step always has a solution; the rounded matrix may have a ray, of multipliers alone."""
    problem = stacked_cubes(seed)
    found = ds.solve(problem, "lemke")
    assert found.ok
    assert max(problem.residuals(found.value)) <= 1e-11
