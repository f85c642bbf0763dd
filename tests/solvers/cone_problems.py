"""Random friction problems and independent answers to them, for the tests of the cone methods."""

from pathlib import Path

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

METHODS = ("apgd", "admm", "interior-point")
FRICTION = {2: {"dim": 2}, 3: {"dim": 3}, 4: {"dim": 3, "cone": ds.SoftFingerCone(0.3)}}


def random_problem(seed, nc=4, d=3, *, law="convex", rank=None, bilateral=0, smooth=0):
    """W = A A' of the given rank with q in its range (so that u = 0 is feasible).

    The nonzero eigenvalues of W lie in (0.25, 4): what differs is then not the data's condition.
    """
    rng = np.random.default_rng(seed)
    m = d * nc + bilateral
    rank = m if rank is None else rank
    A = np.linalg.qr(rng.standard_normal((m, rank)))[0] * rng.uniform(0.5, 2.0, rank)
    q = A @ rng.standard_normal(A.shape[1])
    mu = rng.uniform(0.1, 1.0, nc)
    mu[:smooth] = 0.0
    return ds.FrictionProblem(A @ A.T, q, mu, law=law, bilateral=bilateral, **FRICTION[d])


def operator_problem(seed, nc=5, bodies=4, d=3, law="convex"):
    """The same problem with W as J M^-1 J' and formed; M has full blocks of 3 or 6."""
    rng = np.random.default_rng(seed)
    size = 3 if d == 2 else 6
    J = sp.random_array((d * nc, size * bodies), density=0.6, rng=rng, data_sampler=rng.normal)
    blocks = [_spd(rng, size) for _ in range(bodies)]
    W = ds.DelassusOperator(J, sp.block_diag(blocks))
    q = J @ rng.standard_normal(size * bodies)
    mu = rng.uniform(0.1, 1.0, nc)
    formed = J.toarray() @ sp.block_diag(blocks).toarray() @ J.toarray().T
    statement = {"law": law, **FRICTION[d]}
    return ds.FrictionProblem(W, q, mu, **statement), ds.FrictionProblem(formed, q, mu, **statement)


def _spd(rng, size):
    A = rng.standard_normal((size, size))
    return A @ A.T + np.eye(size)


def by_clarabel(problem):
    """u of the convex law, from a conic solver that shares no code with ours."""
    program = ds.to_conic(problem)
    kinds = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
    }
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    cones = [kinds[name](rows) for name, rows in program.cones]
    triangle = sp.csc_matrix(sp.triu(program.P))
    found = clarabel.DefaultSolver(
        triangle, program.c, sp.csc_matrix(program.G), program.h, cones, settings
    ).solve()
    assert str(found.status) == "Solved"
    form = problem.form
    return problem.dual(form.value(np.array(found.x).reshape(form.nb, problem.d)))


def check_coulomb(problem, r, tol):
    """Coulomb's law contact by contact, as a textbook states it."""
    u = problem.dual(r)
    d, nc = problem.d, problem.nc
    scale = max(1.0, np.abs(r).max(), np.abs(u).max())
    for i in range(nc):
        rn, rt = r[d * i], r[d * i + 1 : d * i + d]
        un, ut = u[d * i], u[d * i + 1 : d * i + d]
        assert rn >= -tol * scale
        assert un >= -tol * scale
        assert abs(rn * un) <= tol * scale**2
        assert np.linalg.norm(rt) <= problem.mu[i] * rn + tol * scale
        # maximal dissipation: r_t . u_t = -mu r_n |u_t|
        assert abs(rt @ ut + problem.mu[i] * rn * np.linalg.norm(ut)) <= tol * scale**2
    assert np.abs(u[d * nc :]).max(initial=0.0) <= tol * scale


def third_party(name):
    """A file of the third-party problems beside the project; skips where they are not."""
    for parent in Path(__file__).resolve().parents:
        for root in (parent, parent.parent):
            path = root / "shared" / "problems" / name
            if path.exists():
                return ds.read_problem(path)
    pytest.skip("the third-party problems are not here")
