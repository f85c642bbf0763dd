"""The step to the friction cone, against sampling along the direction; and turned frames."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.kernels.pivoting import dantzig
from drystone.kernels.pivoting.dantzig import cone_step

pytestmark = pytest.mark.kernels
cases = settings(deadline=None, max_examples=200, derandomize=True)


def arrays(d):
    V = np.zeros((dantzig.V_ROWS, d))
    reg, num = np.zeros(dantzig.REGISTERS, np.int64), np.zeros(dantzig.NUMBERS)
    reg[dantzig.DIM], num[dantzig.DF_TOL] = d, 1e-12
    return V, reg, num


def slack(V, s, mu):
    """mu f_N - |f_t| at the steps s, (len(s),)."""
    f = V[dantzig.F] + np.asarray(s)[:, None] * V[dantzig.DF]
    return mu * f[:, 0] - np.linalg.norm(f[:, 1:], axis=1)


@cases
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.sampled_from([0.0, 0.5, 0.99, 1.0]))
def test_step_ends_on_the_cone_and_not_before(seed, d, fill):
    rng = np.random.default_rng(seed)
    V, reg, num = arrays(d)
    mu, heading = rng.uniform(0.1, 2.0), rng.normal(size=d - 1)
    V[dantzig.MU, 0], V[dantzig.F, 0] = mu, rng.uniform(0.5, 2.0)
    V[dantzig.F, 1:] = fill * mu * V[dantzig.F, 0] * heading / np.linalg.norm(heading)
    V[dantzig.DF] = rng.normal(size=d)
    s = cone_step(V, reg, num, 0)
    far = 50.0 if V[dantzig.DF, 0] >= 0 else V[dantzig.F, 0] / -V[dantzig.DF, 0]  # up to the apex
    end = min(s, far)
    assert s >= 0
    assert (slack(V, np.linspace(0.0, end, 400), mu) >= -1e-9).all()
    if s < far:
        assert abs(slack(V, [s], mu)[0]) < 1e-9
        beyond = s + np.array([1e-6, 1e-4])
        assert (slack(V, beyond, mu) < 0).all()


def test_direction_along_the_cone_never_leaves_it():
    V, reg, num = arrays(3)
    V[dantzig.MU, 0] = 0.5
    V[dantzig.F, :], V[dantzig.DF, :] = [2.0, 0.6, 0.8], [1.0, 0.3, 0.4]
    assert cone_step(V, reg, num, 0) == np.inf


@cases
@given(st.integers(0, 2**32 - 1))
def test_turned_frame_states_the_same_contact(seed):
    """a = A f + b holds in the turned frame, and the stored turn leads back."""
    rng = np.random.default_rng(seed)
    V, reg, _ = arrays(3)
    V = np.zeros((dantzig.V_ROWS, 6))
    A = rng.normal(size=(6, 6))
    f, b = rng.normal(size=6), rng.normal(size=6)
    V[dantzig.F], V[dantzig.B], V[dantzig.A] = f, b, A @ f + b
    V[dantzig.COS, 3] = 1.0
    At = np.ascontiguousarray(A.T)
    dantzig.turn_to(At, V, reg, 3, V[dantzig.A], -1.0)
    dantzig.turn_to(At, V, reg, 3, V[dantzig.F], 1.0)
    np.testing.assert_allclose(At.T @ V[dantzig.F] + V[dantzig.B], V[dantzig.A], atol=1e-12)
    assert V[dantzig.F, 4] == pytest.approx(np.hypot(f[4], f[5]))
    assert V[dantzig.F, 5] == 0.0
    c, s = V[dantzig.COS, 3], V[dantzig.SIN, 3]
    np.testing.assert_allclose(V[dantzig.F, 4] * np.array([c, s]), f[4:], atol=1e-12)
