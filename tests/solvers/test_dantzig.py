"""Dantzig's method without friction: independent answers, the paper's theorems, rays, limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import drystone as ds
from drystone.kernels.pivoting import dantzig as kernels
from drystone.solvers.certificates import ray_certificate

many = settings(deadline=None, max_examples=300, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(["normal", "integer", "repeated", "scaled"])


def rows(rng, n, rank, kind):
    """J (n, rank): generic, degenerate by small integers, with equal rows, or badly scaled."""
    if kind == "integer":
        return rng.integers(-1, 2, size=(n, rank)).astype(float)
    J = rng.normal(size=(n, rank))
    if kind == "repeated":
        return J[rng.integers(0, max(1, n // 2), size=n)]
    if kind == "scaled":
        J *= 10.0 ** rng.uniform(-3, 3, size=(n, 1))
    return J


def nonnegative_least_squares(J, v, free):
    """J'f for min |J'f + v| with f >= 0 (any sign on free rows): the LCP's QP, by SciPy."""
    columns = np.vstack([J, -J[free]]).T
    f, _ = nnls(columns, -v, maxiter=10_000)
    return columns @ f


@many
@given(seeds, st.integers(1, 14), st.integers(1, 14), kinds)
def test_agrees_with_least_squares_for_any_rank(seed, n, rank, kind):
    rng = np.random.default_rng(seed)
    J = rows(rng, n, min(rank, n), kind)
    v = rng.integers(-2, 3, size=J.shape[1]) if kind == "integer" else rng.normal(size=J.shape[1])
    sol = ds.solve(ds.LCP(J @ J.T, J @ v), "dantzig")
    assert sol.ok
    assert max(sol.residual, sol.residual_unit) < 1e-12 * 10 ** (4 * (kind == "scaled"))
    free = np.zeros(n, bool)
    expected = J @ nonnegative_least_squares(J, v.astype(float), free)
    size = np.abs(J) @ np.abs(J.T) @ np.abs(sol.value) + np.abs(J @ v)
    np.testing.assert_array_less(np.abs(J @ (J.T @ sol.value) - expected), 1e-10 * size + 1e-13)


@many
@given(seeds, st.integers(1, 10), st.integers(0, 6), kinds)
def test_agrees_with_lemke_through_the_accelerations(seed, n, free, kind):
    rng = np.random.default_rng(seed)
    J = rows(rng, n, int(rng.integers(1, n + 1)), "normal" if kind == "scaled" else kind)
    problem = ds.MixedLCP(J @ J.T, J @ rng.normal(size=J.shape[1]), min(free, n))
    a, b = ds.solve(problem, "dantzig"), ds.solve(problem, "lemke")
    assert a.ok
    assert b.ok
    np.testing.assert_allclose(a.dual, b.dual, atol=1e-10 * np.abs(problem.q).max())


@many
@given(seeds, st.integers(1, 10), st.integers(1, 8), st.booleans())
def test_bilateral_rows_of_any_rank(seed, n, free, repeat):
    rng = np.random.default_rng(seed)
    free = min(free, n)
    J = rng.normal(size=(n, 6))
    if repeat:
        J[:free] = J[rng.integers(0, max(1, free // 2), size=free)]
    v = rng.normal(size=6)
    mask = rng.permutation(np.arange(n) < free)
    J = J[np.argsort(np.argsort(~mask, kind="stable"), kind="stable")]
    sol = ds.solve(ds.MixedLCP(J @ J.T, J @ v, mask), "dantzig")
    assert sol.ok
    assert sol.residual < 1e-11
    expected = nonnegative_least_squares(J, v, mask)
    np.testing.assert_allclose(J.T @ sol.value, expected, atol=1e-8)


def test_inconsistent_bilateral_rows_have_no_solution():
    J = np.array([[1.0, 0.0], [1.0, 0.0]])
    sol = ds.solve(ds.MixedLCP(J @ J.T, [1.0, 2.0], 2), "dantzig")
    assert sol.status is ds.Status.INFEASIBLE


@pytest.mark.kernels
def test_saddle_point_block_of_bilateral_rows_is_one_linear_system():
    M = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 2.0]])
    sol = ds.solve(ds.MixedLCP(M, [-3.0, 1.0, -8.0], 2), "dantzig")
    assert sol.ok  # z2 = 3 from the first row, then 2 z3 = 5, z1 = -1 - z3
    np.testing.assert_allclose(sol.value, [-3.5, 3.0, 2.5])


@pytest.mark.kernels
@pytest.mark.parametrize("angle", [0.2, 0.7, 1.2])
def test_particle_in_a_frictionless_wedge(angle):
    """Normals (+-sin, cos): each wall carries m g / (2 cos) (Baraff 1989, 5)."""
    m, g = 2.0, 9.81
    J = np.array([[np.sin(angle), np.cos(angle)], [-np.sin(angle), np.cos(angle)]])
    sol = ds.solve(ds.LCP(J @ J.T / m, J @ [0.0, -g]), "dantzig")
    np.testing.assert_allclose(sol.value, m * g / (2 * np.cos(angle)), rtol=1e-13)


@pytest.mark.kernels
def test_block_on_a_floor_and_a_chair_on_four_legs():
    """Two contacts share the weight by their levers (Baraff 1989, figure 8); four legs are
    indeterminate, yet the acceleration is not."""
    m, g, inertia = 3.0, 9.81, 0.4
    for left, right in ((1.0, 1.0), (0.5, 1.5)):
        J = np.array([[1.0, -left], [1.0, right]])
        W = J @ np.diag([1 / m, 1 / inertia]) @ J.T
        sol = ds.solve(ds.LCP(W, J @ [-g, 0.0]), "dantzig")
        np.testing.assert_allclose(sol.value, m * g * np.array([right, left]) / (left + right))
    J = np.array([[1.0, x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    sol = ds.solve(ds.LCP(J @ J.T, J @ [-g, 0.0, 0.0]), "dantzig")
    assert sol.ok
    assert sol.value.sum() == pytest.approx(g)
    np.testing.assert_allclose(sol.dual, 0.0, atol=1e-12)


def drives(sol):
    trace = sol.info["trace"]
    for number in np.unique(trace["drive"]):
        where = trace["drive"] == number
        yield {key: array[where] for key, array in trace.items()}


@many
@given(seeds, st.integers(2, 16), st.sampled_from(["normal", "integer", "repeated"]))
def test_theorems_hold_in_every_drive(seed, n, kind):
    """No index set repeats, the driven acceleration rises with every step that is not zero, and
    nothing is ever given up."""
    rng = np.random.default_rng(seed)
    J = rows(rng, n, int(rng.integers(1, n + 1)), kind)
    problem = ds.LCP(J @ J.T, J @ rng.integers(-2, 3, size=J.shape[1]))
    sol = ds.solve(problem, ds.Dantzig(trace=True))
    assert sol.ok
    assert sol.info["drops"] == 0
    for drive in drives(sol):
        seen = {bytes(state) for state in drive["sets"]}
        assert len(seen) == len(drive["step"])
        force, rise = drive["force"], np.diff(drive["acceleration"])
        moved = np.diff(force) > 1e-12 * max(1.0, force.max())
        assert (rise[moved] > 0).all()
        assert (drive["step"] >= 0).all()
        assert np.isin(drive["sets"], [kernels.OUT, kernels.C, kernels.NC]).all()


@many
@given(seeds, st.integers(3, 12))
def test_no_zero_steps_without_degeneracy(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n))
    sol = ds.solve(ds.LCP(J @ J.T, rng.normal(size=n)), "dantzig")
    assert sol.info["zero_steps"] == 0


@many
@given(seeds, st.integers(2, 9))
def test_outside_the_range_of_a_semidefinite_matrix_it_ends_in_a_ray(seed, n):
    """A z = 0, q'z < 0, z >= 0: then no f makes A f + q >= 0."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n - 1))
    J -= J.mean(axis=0)  # rows sum to zero: z = (1, ..., 1) is in the kernel
    q = rng.normal(size=n)
    q -= q.mean() + abs(rng.normal()) + 0.1
    problem = ds.LCP(J @ J.T, q)
    sol = ds.solve(problem, "dantzig")
    assert sol.status is ds.Status.RAY
    z = sol.ray
    assert (z >= 0).all()
    np.testing.assert_allclose(z / z.max(), 1.0, atol=1e-8)
    assert q @ z < 0


@many
@given(seeds, st.integers(1, 7))
def test_unsymmetric_matrices_end_in_a_solution_or_a_valid_ray(seed, n):
    """Dynamic friction folded into the matrix: negative diagonals as in Baraff 1992, chapter 10."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, n))
    M = J @ J.T - np.abs(rng.normal(size=n)) * rng.normal(size=(n, n))
    sol = ds.solve(ds.LCP(M, rng.normal(size=n)), "dantzig")
    if sol.status is ds.Status.RAY:
        assert ray_certificate(M, np.maximum(sol.ray, 0.0))
        assert sol.ray.min() > -1e-9 * sol.ray.max()
    else:
        assert sol.ok
        assert sol.residual < 1e-11


@pytest.mark.kernels
def test_murty_s_exponential_example():
    """M lower triangular with 2 below a unit diagonal, q = -1: z = (1, 0, ..., 0)."""
    for n in (1, 4, 8):
        M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
        sol = ds.solve(ds.LCP(M, -np.ones(n)), "dantzig")
        assert sol.ok
        np.testing.assert_allclose(sol.value, np.eye(n)[0], atol=1e-12)


@many
@given(seeds, st.integers(2, 12))
def test_order_of_rows_does_not_matter(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, int(rng.integers(1, n + 1))))
    A, q = J @ J.T, J @ rng.normal(size=J.shape[1])
    p = rng.permutation(n)
    a, b = ds.solve(ds.LCP(A, q), "dantzig"), ds.solve(ds.LCP(A[np.ix_(p, p)], q[p]), "dantzig")
    np.testing.assert_allclose(a.dual[p], b.dual, atol=1e-10 * np.abs(q).max())


def test_basis_is_reused_while_it_holds():
    rng = np.random.default_rng(3)
    J = rng.normal(size=(12, 12))
    A, q = J @ J.T, rng.normal(size=12)
    first = ds.solve(ds.LCP(A, q), "dantzig")
    near = ds.LCP(A, q * (1 + 1e-6 * rng.normal(size=12)))
    again = ds.solve(near, "dantzig", guess=first)
    assert again.ok
    assert again.info["reused"]
    assert again.iterations == 0
    np.testing.assert_allclose(again.value, ds.solve(near, "dantzig").value, atol=1e-10)
    other = ds.solve(ds.LCP(A, -q), "dantzig", guess=first)
    assert other.ok
    assert not other.info["reused"]
    assert set(first.index_sets["contact"]) == set(np.flatnonzero(first.value > 0))


def test_limits_end_a_solve_with_a_status():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(60, 60))
    problem = ds.LCP(J @ J.T, -np.ones(60))
    assert ds.solve(problem, ds.Dantzig(max_pivots=3)).status is ds.Status.MAX_ITERATIONS
    slow = ds.LCP(np.kron(np.eye(10), problem.M), np.tile(problem.q, 10))
    assert ds.solve(slow, ds.Dantzig(time_limit=1e-9)).status is ds.Status.TIME_LIMIT


@pytest.mark.kernels
def test_empty_and_trivial_problems():
    assert ds.solve(ds.LCP(np.zeros((0, 0)), []), "dantzig").ok
    assert ds.solve(ds.LCP(np.zeros((2, 2)), [0.0, 1.0]), "dantzig").ok
    assert ds.solve(ds.LCP([[0.0]], [-1.0]), "dantzig").status is ds.Status.RAY
    sol = ds.solve(ds.LCP([[4.0]], [-2.0]), "dantzig")
    assert sol.value[0] == 0.5


def test_what_it_does_not_take_is_refused():
    boxed = ds.BoxedLCP(np.eye(2), [1.0, 1.0], 0.0, 1.0)
    with pytest.raises(ds.UnsupportedProblemError, match="upper bounds"):
        ds.solve(boxed, "dantzig")
    with pytest.raises(ds.UnsupportedProblemError, match="max_size"):
        ds.solve(ds.LCP(np.eye(3), np.ones(3)), ds.Dantzig(max_size=2))
    for options in ({"max_pivots": 0}, {"max_size": 0}):
        with pytest.raises(ds.OptionError):
            ds.Dantzig(**options)
