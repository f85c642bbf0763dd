"""Adams' methods: exact on polynomials, tolerances met, history handed on, corrections taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.steppers.event_driven.integrators import Adams, weights


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(1, 13), st.floats(0.1, 1.0))
def test_weights_integrate_polynomials_exactly(n, end):
    nodes = 1.0 - np.arange(n) * 0.37 - 0.05 * np.arange(n) ** 2
    w = weights(nodes, end)
    for power in range(n):
        assert w @ nodes**power == pytest.approx(
            end ** (power + 1) / (power + 1), abs=1e-9 * np.abs(w * nodes**power).sum() + 1e-13
        )


def orbit(t, y):
    r = np.hypot(y[0], y[1])
    return np.array([y[2], y[3], -y[0] / r**3, -y[1] / r**3])


def solve(rtol, end, correct=None, **more):
    y = np.array([1.0, 0, 0, 1.0])
    solver = Adams(orbit, 0.0, y, end, rtol=rtol, atol=np.full(4, rtol), **more)
    inside = 0.0
    while solver.status == "running":
        before = solver.t
        assert solver.step() is None
        middle = 0.5 * (before + solver.t)
        exact = [np.cos(middle), np.sin(middle), -np.sin(middle), np.cos(middle)]
        inside = max(inside, np.abs(solver.dense_output()(middle) - exact).max())
        if correct is not None:
            solver.y = correct(solver.y)
    exact = np.array([np.cos(end), np.sin(end), -np.sin(end), np.cos(end)])
    return solver, np.abs(solver.y - exact).max(), inside


def test_the_error_follows_the_tolerance_inside_steps_too():
    errors = []
    for rtol in (1e-4, 1e-7, 1e-10):
        solver, error, inside = solve(rtol, 6.0)
        errors.append(error)
        assert inside < 1e4 * rtol
        assert error < 1e4 * rtol
    assert errors[2] < 1e-3 * errors[1] < 1e-5 * errors[0] * 10
    assert solver.order >= 5
    assert solver.nfev < 500


def test_states_may_be_corrected_between_steps():
    def circle(y):
        return np.concatenate([y[:2] / np.hypot(*y[:2]), y[2:] / np.hypot(*y[2:])])

    _, error, _ = solve(1e-8, 6.0, correct=circle)
    assert error < 1e-5


def test_history_goes_on():
    first, _, _ = solve(1e-9, 3.0)
    more = Adams(
        orbit, first.t, first.y, 6.0, rtol=1e-9, atol=np.full(4, 1e-9),
        first_step=first.h_abs, past=first.past, order=first.order,
    )  # fmt: skip
    count = 0
    while more.status == "running":
        more.step()
        count += 1
    assert np.abs(more.y[:2] - [np.cos(6.0), np.sin(6.0)]).max() < 1e-6
    assert more.order >= 5
    assert count < 60
