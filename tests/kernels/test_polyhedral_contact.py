"""One contact with a polyhedral cone: judged by the residual of the problem, which is another code,
and held against pivoting."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.contact.one_contact import solve_contact
from drystone.kernels.contact.residual import contact_residuals
from drystone.problems.friction import LAWS

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("k", [4, 6, 8, 12])
def test_random_contacts_are_solved_exactly(law: str, k: int) -> None:
    rng = np.random.default_rng(k)
    cone = ds.PolyhedralCone(k)
    corners = np.ascontiguousarray(cone.directions().T)
    slips = 0
    for _ in range(100):
        A = rng.normal(size=(3, 4))
        W, q = A @ A.T * 10 ** rng.uniform(-2, 2), rng.normal(size=3) - (0.5, 0, 0)
        mu = float(rng.choice([0.0, 0.05, 0.3, 0.8, 1.5]))
        rows, work = np.zeros((1, 3)), np.empty((5, 3))
        solve_contact((0, 0, 0), W[None], 0, q, mu, LAWS[law], 0.0, work, rows, 0, corners)
        r = rows[0]
        problem = ds.FrictionProblem(W, q, np.array([mu]), dim=3, law=law, cone=cone)
        assert max(problem.residuals(r)) <= 1e-12
        u = W @ r + q
        slips += bool(r[0] > 0 and np.abs(u[1:]).max() > 1e-9)
        if law == "convex":  # its answer is unique
            assert np.allclose(ds.solve(problem, "lemke").value, r, atol=1e-8 * (1 + abs(r).max()))
        off = r + rng.normal(size=3)
        unit = np.sqrt(np.array([np.trace(W) / 3]))
        args = off[None], (W @ off + q)[None], q[None], np.array([mu]), unit
        assert np.allclose(
            contact_residuals((0, 0, 0), *args, LAWS[law], corners),
            problem.residuals(off),
            rtol=1e-9,
        )
    assert slips > 20
