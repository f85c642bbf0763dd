"""Dantzig's method with friction: closed forms, enumeration, rods, mixtures, frames, files."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.problems.convert import fold
from drystone.solvers.certificates import ray_certificate

few = settings(deadline=None, max_examples=60, derandomize=True)
many = settings(deadline=None, max_examples=300, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
G = 9.81


def contacts(rng, nc, dim, bodies=2, grid=False):
    """(W, q): contacts of bodies with each other and the ground, at random or on a grid."""
    dof = 3 if dim == 2 else 6
    J = np.zeros((dim * nc, dof * bodies))
    for c in range(nc):
        first, second = rng.permutation(bodies + 1)[:2]
        frame = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
        if grid:
            frame = np.eye(dim)[rng.permutation(dim)]
        for body, sign in ((first, 1.0), (second, -1.0)):
            if body == bodies:
                continue
            arm = rng.integers(-1, 2, size=dim) if grid else rng.uniform(-1, 1, size=dim)
            for a in range(dim):
                torque = np.cross(arm, frame[a]) if dim == 3 else _cross(arm, frame[a])
                row = sign * np.append(frame[a], torque)
                J[dim * c + a, dof * body : dof * (body + 1)] += row
    mass = np.repeat(10.0 ** rng.uniform(-0.5, 0.5, size=bodies), dof)
    return (J / mass) @ J.T, J @ rng.normal(size=dof * bodies)


def _cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


@pytest.mark.kernels
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("angle", [0.1, 0.4, 0.6, 1.1])
def test_particle_on_an_incline(dim, angle):
    """Sticks while tan(angle) <= mu, else slides with g (sin - mu cos)."""
    m, mu = 2.0, 0.5
    heading = np.array([1.0]) if dim == 2 else np.array([np.cos(0.7), np.sin(0.7)])
    q = np.append(-G * np.cos(angle), G * np.sin(angle) * heading)
    sol = ds.solve(ds.FrictionProblem(np.eye(dim) / m, q, mu, dim=dim, law="static"), "dantzig")
    assert sol.ok
    push = m * G * min(np.sin(angle), mu * np.cos(angle))
    expected = np.append(m * G * np.cos(angle), -push * heading)
    np.testing.assert_allclose(sol.value, expected, rtol=1e-12)
    slide = max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    np.testing.assert_allclose(sol.dual[1:], slide * heading, atol=1e-12)
    assert list(sol.index_sets["slip" if np.tan(angle) > mu else "stick"]) == [0]


@pytest.mark.kernels
@pytest.mark.parametrize("mu", [0.2, 0.9])
def test_particle_jammed_between_two_rough_walls(mu):
    """A wedge of half angle 30 degrees: at rest for every mu, and the total force is the weight."""
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    J = np.array([[c, s], [-s, c], [-c, s], [s, c]])
    problem = ds.FrictionProblem(J @ J.T, J @ [0.0, -G], mu, dim=2)
    sol = ds.solve(problem, "dantzig")
    assert sol.ok
    np.testing.assert_allclose(J.T @ sol.value, [0.0, G], atol=1e-12)


def every_solution(W, q, mu):
    """All (r, u) of a planar problem: open, stick, and slip with either sign, by brute force."""
    nc, found = mu.size, []
    for states in itertools.product("osud", repeat=nc):
        E, rows = np.zeros((2 * nc, 0)), []
        for i, state in enumerate(states):
            if state != "o":
                column = np.zeros((2 * nc, 1))
                column[2 * i] = 1.0
                column[2 * i + 1] = {"s": 0.0, "u": mu[i], "d": -mu[i]}[state]
                E, rows = np.hstack([E, column]), [*rows, 2 * i]
            if state == "s":
                E, rows = np.hstack([E, np.eye(2 * nc)[:, [2 * i + 1]]]), [*rows, 2 * i + 1]
        K = W[rows] @ E
        if rows and np.linalg.cond(K) > 1e10:
            continue
        r = E @ np.linalg.solve(K, -q[rows]) if rows else np.zeros(2 * nc)
        u = W @ r + q
        tol = 1e-9 * max(1.0, np.abs(r).max())
        n, t, un, ut = r[::2], r[1::2], u[::2], u[1::2]
        holds = (n >= -tol) & (un >= -tol) & (np.abs(t) <= mu * n + tol) & (t * ut <= tol)
        if holds.all():
            found.append(u)
    return found


@many
@given(seeds, st.integers(1, 4), st.floats(0.05, 1.5))
def test_planar_static_friction_is_among_the_enumerated_solutions(seed, nc, mu):
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, 2, bodies=nc)
    W += 1e-3 * np.eye(2 * nc)
    mus = mu * rng.uniform(0.5, 1.5, size=nc)
    sol = ds.solve(ds.FrictionProblem(W, q, mus, dim=2), "dantzig")
    assert sol.ok
    assert max(sol.residual, sol.residual_unit) < 1e-11
    gaps = [np.abs(sol.dual - u).max() for u in every_solution(W, q, mus)]
    assert min(gaps) < 1e-8 * np.abs(q).max()


@many
@given(seeds, st.sampled_from([2, 3]), st.integers(1, 10), st.booleans(), st.integers(0, 4))
def test_static_friction_with_bilateral_rows_and_redundant_contacts(seed, dim, nc, grid, blocks):
    """More contacts than freedoms, repeated geometry, rows without friction, joints."""
    rng = np.random.default_rng(seed)
    blocks = min(blocks, nc - 1)
    W, q = contacts(rng, nc, dim, bodies=1 + nc // 4, grid=grid)
    mu = rng.choice([0.0, 0.2, 0.5, 1.0], size=nc - blocks)
    problem = ds.FrictionProblem(W, q, mu, dim=dim, law="static", bilateral=dim * blocks)
    sol = ds.solve(problem, "dantzig")
    assert sol.ok
    assert max(sol.residual, sol.residual_unit) < 1e-11


def turned(W, q, nc, angles):
    """The same spatial contacts with tangent frames turned by the angles; also the turn R."""
    R = np.eye(3 * nc)
    for i, angle in enumerate(angles):
        c, s = np.cos(angle), np.sin(angle)
        R[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3] = [[c, s], [-s, c]]
    return R @ W @ R.T, R @ q, R


@many
@given(seeds, st.integers(1, 5))
def test_tangent_frames_do_not_matter(seed, nc):
    """The frame turns with the force: even the freedom that (14-1) leaves is the same."""
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, 3, bodies=nc)
    W += 1e-2 * np.eye(3 * nc)
    mu = rng.uniform(0.1, 0.8, size=nc)
    Wt, qt, R = turned(W, q, nc, rng.uniform(0, 6, size=nc))
    a = ds.solve(ds.FrictionProblem(W, q, mu, law="static"), "dantzig")
    b = ds.solve(ds.FrictionProblem(Wt, qt, mu, law="static"), "dantzig")
    assert a.ok
    assert b.ok
    np.testing.assert_allclose(R @ a.value, b.value, atol=1e-8 * np.abs(a.value).max())


@many
@given(seeds, st.sampled_from([2, 3]), st.integers(2, 5))
def test_order_of_contacts_does_not_matter_where_the_solution_is_unique(seed, dim, nc):
    """Weak coupling against the friction cone: W r + q with one solution in the plane; in space
    contacts that stick."""
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, dim, bodies=nc)
    W = 0.1 * W + np.eye(dim * nc)
    mu = np.full(nc, 0.1 if dim == 2 else 50.0)
    p = rng.permutation(nc)
    rows = (dim * p[:, None] + np.arange(dim)).ravel()
    a = ds.solve(ds.FrictionProblem(W, q, mu, dim=dim, law="static"), "dantzig")
    moved = ds.FrictionProblem(W[np.ix_(rows, rows)], q[rows], mu, dim=dim, law="static")
    b = ds.solve(moved, "dantzig")
    np.testing.assert_allclose(a.value[rows], b.value, atol=1e-9 * np.abs(q).max())


@few
@given(seeds, st.integers(1, 5))
def test_plane_agrees_with_exact_coulomb_solvers(seed, nc):
    """With little coupling the planar solution is unique, whatever finds it."""
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, 2, bodies=nc)
    problem = ds.FrictionProblem(0.1 * W + np.eye(2 * nc), q, 0.3, dim=2)
    a, b = ds.solve(problem, "dantzig"), ds.solve(problem, "nsgs", tol=1e-11)
    assert b.ok
    np.testing.assert_allclose(a.value, b.value, atol=1e-8)


def rod(omega, gravity, m=1.5):
    """The sliding rod of Baraff 1992, figure 10.1: angle 72 degrees, I = m/16, mu from the
    figure."""
    c, s = np.cos(np.radians(72)), np.sin(np.radians(72))
    mu = (16 * c * c + 2) / (16 * c * s)
    J = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])  # tip at (-c, -s) from the centre
    W = J @ np.diag([1 / m, 1 / m, 16 / m]) @ J.T
    q = np.array([omega**2 * s - gravity, omega**2 * c])
    return ds.FrictionProblem(W, q, mu, dim=2, law="static", slip=[[-1.0]]), mu, m


@pytest.mark.kernels
def test_indeterminate_rod_has_one_of_its_two_forces():
    """omega^2 sin - g = 1, so a_N = 1 - f_N / m and f_N is 0 or m."""
    problem, mu, m = rod(np.sqrt((1 + G) / np.sin(np.radians(72))), G)
    assert (problem.dense @ [1.0, mu])[0] == pytest.approx(-1 / m)  # (10-11)
    sol = ds.solve(problem, "dantzig")
    assert sol.ok
    assert min(abs(sol.value[0]), abs(sol.value[0] - m)) < 1e-12
    assert problem.residual([m, mu * m]) < 1e-12


@pytest.mark.kernels
def test_inconsistent_rod_ends_in_the_impulse_direction():
    """a_N = -f_N / m - g < 0 for all f_N; the ray is one unit of f_N with its friction."""
    problem, mu, m = rod(0.0, G)
    sol = ds.solve(problem, "dantzig")
    assert sol.status is ds.Status.RAY
    z = sol.ray / sol.ray[0]
    np.testing.assert_allclose(z, [1.0, mu], rtol=1e-12)
    assert (problem.dense @ z)[0] == pytest.approx(-1 / m)  # z_N > 0 and (W z)_N <= 0: (13-1)
    resting, _, _ = rod(0.0, 0.0)
    assert (ds.solve(resting, "dantzig").value == 0).all()


def test_inconsistent_rod_gives_lemke_s_ray():
    problem, _, _ = rod(0.0, G)
    a, b = ds.solve(problem, "dantzig"), ds.solve(problem, "lemke")
    assert b.status is ds.Status.RAY
    np.testing.assert_allclose(a.ray / a.ray[0], b.ray / b.ray[0], atol=1e-10)


@many
@given(seeds, st.sampled_from([2, 3]), st.integers(1, 8), st.floats(0.0, 2.0))
def test_mixtures_end_in_a_solution_or_a_valid_ray(seed, dim, nc, top):
    """Frictionless, static and sliding contacts and joints together; the ray obeys (13-1) in the
    folded form, and some sliding contact takes part in it (theorem 5)."""
    rng = np.random.default_rng(seed)
    joints = dim * int(rng.integers(0, 2)) if nc > 2 else 0
    W, q = contacts(rng, nc, dim, bodies=1 + nc // 3)
    left = nc - joints // dim
    slip = rng.normal(size=(left, dim - 1)) * (rng.random((left, 1)) < 0.5)
    mu = rng.choice([0.0, 0.5 * top, top], size=left)
    problem = ds.FrictionProblem(W, q, mu, dim=dim, law="static", bilateral=joints, slip=slip)
    sol = ds.solve(problem, "dantzig")
    if sol.status is not ds.Status.RAY:
        assert sol.ok
        assert max(sol.residual, sol.residual_unit) < 1e-10
        return
    size = np.abs(sol.ray).max()
    normal = sol.ray[: dim * left].reshape(left, dim)[:, 0]
    growth = (problem.dense @ sol.ray)[: dim * left].reshape(left, dim)[:, 0]
    scale = (np.abs(W) @ np.abs(sol.ray)).max()
    assert (normal >= -1e-10 * size).all()
    assert (growth[normal > 1e-10 * size] <= 1e-9 * scale).all()
    assert (normal[problem.sliding] > 1e-10 * size).any()


@many
@given(seeds, st.integers(1, 6), st.floats(0.0, 3.0))
def test_dynamic_friction_is_the_folded_lcp(seed, nc, mu):
    """Sliding contacts only: an answer of either statement holds in the other, the unsymmetric
    LCP of known slip, and they are equal where that has one solution (a P-matrix)."""
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, 3, bodies=nc)
    problem = ds.FrictionProblem(W, q, mu, dim=3, slip=rng.normal(size=(nc, 2)))
    folded = fold(problem)
    lcp = ds.LCP(folded.A, folded.b)
    a, b = ds.solve(problem, "dantzig"), ds.solve(lcp, "dantzig")
    for sol in (a, b):
        assert sol.ok or sol.status is ds.Status.RAY
    if a.ok:
        assert lcp.residual(a.value[::3]) < 1e-10
    else:
        assert ray_certificate(folded.A, np.maximum(a.ray[::3], 0.0), tol=1e-8)
    if b.ok:
        assert problem.residual(folded.value(b.value)) < 1e-10
    minors = [
        np.linalg.det(folded.A[np.ix_(rows, rows)])
        for k in range(1, nc + 1)
        for rows in itertools.combinations(range(nc), k)
    ]
    if min(minors) > 1e-6:
        np.testing.assert_allclose(a.value, folded.value(b.value), atol=1e-7)


@few
@given(seeds, st.sampled_from([2, 3]), st.integers(1, 6))
def test_index_sets_never_repeat_within_a_drive(seed, dim, nc):
    rng = np.random.default_rng(seed)
    W, q = contacts(rng, nc, dim, bodies=nc)
    W += 1e-2 * np.eye(dim * nc)
    problem = ds.FrictionProblem(W, q, 0.4, dim=dim, law="static")
    sol = ds.solve(problem, ds.Dantzig(trace=True))
    trace = sol.info["trace"]
    for number in np.unique(trace["drive"]):
        states = [bytes(row) for row in trace["sets"][trace["drive"] == number]]
        assert len(set(states)) == len(states)


@pytest.mark.parametrize("dim", [2, 3])
def test_basis_is_reused_while_it_holds(dim):
    rng = np.random.default_rng(11)
    W, q = contacts(rng, 6, dim, bodies=6)
    W += 0.1 * np.eye(dim * 6)
    slip = np.zeros((6, dim - 1))
    slip[5, 0] = 1.0
    statement = {"dim": dim, "law": "static", "slip": slip}
    first = ds.solve(ds.FrictionProblem(W, q, 0.3, **statement), "dantzig")
    assert first.index_sets["slip"].size
    near = ds.FrictionProblem(W, q * (1 + 1e-7), 0.3, **statement)
    again = ds.solve(near, "dantzig", guess=first)
    assert again.ok
    assert again.info["reused"]
    np.testing.assert_allclose(again.value, ds.solve(near, "dantzig").value, atol=1e-9)
    far = ds.solve(ds.FrictionProblem(W, -q, 0.3, **statement), "dantzig", guess=first)
    assert far.ok
    assert not far.info["reused"]


def test_global_form_and_refusals():
    H = np.eye(3)
    statement = ds.GlobalFrictionProblem(np.eye(3), H, [1.0, 0.0, -1.0], np.zeros(3), 0.5)
    with pytest.raises(ds.UnsupportedProblemError, match="law='static'"):
        ds.solve(statement, "dantzig")
    stated = ds.GlobalFrictionProblem(
        np.eye(3), H, [-1.0, 0.3, 0.0], np.zeros(3), 0.5, law="static"
    )
    sol = ds.solve(stated, "dantzig")
    np.testing.assert_allclose(sol.value, [1.0, -0.3, 0.0], atol=1e-14)
    frictionless = ds.FrictionProblem(np.eye(3), [-1.0, 0.0, 1.0], 0.0)
    assert ds.solve(frictionless, "dantzig").ok  # nothing is frozen, so Coulomb is exact
    for cone, law, words in (
        (ds.EllipticCone((1.0, 0.5)), "static", "circular"),
        (None, "convex", "convex relaxation"),
    ):
        problem = ds.FrictionProblem(np.eye(3), -np.ones(3), 0.5, law=law, cone=cone)
        with pytest.raises(ds.UnsupportedProblemError, match=words):
            ds.solve(problem, "dantzig")


def shared_problems():
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "problems").is_dir():
            return folder / "shared" / "problems"
    return None


@pytest.mark.problems
@pytest.mark.parametrize(
    "name",
    [
        "Box_Stacks-i0122-82-5.hdf5",
        "Confeti-ex13-Fc3D-SBM.dat",
        "FrictionContactProblem00374.dat",
        "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
        "OneObject-i100000-316.hdf5.dat",
        "Rover1041.dat",
        "gfc2d_granularflowonwall_00069_00350.dat",
    ],
)
def test_third_party_problems_under_the_static_law(name):
    folder = shared_problems()
    if folder is None:
        pytest.skip("the third-party problems are not beside the project")
    problem = ds.read_problem(folder / name)
    problem = getattr(problem, "local", problem)
    static = ds.FrictionProblem(problem.W, problem.q, problem.mu, dim=problem.dim, law="static")
    sol = ds.solve(static, "dantzig")
    assert sol.ok
    assert max(sol.residual, sol.residual_unit) < 1e-11
