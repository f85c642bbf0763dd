"""Balls in a row: the values of the simultaneous model and of propagation (Baraff 1989, 8)."""

import numpy as np
import pytest

from drystone.problems.lcp import LCP
from drystone.solvers.solve import solve
from tests.scenes.running import run

LAWS = ("newton", "poisson", "poisson-shortcut")


def at_once(v, eps):
    """Equal balls in a row at once, by Lemke: u+ >= -eps u-, complementary to j >= 0."""
    n = len(v)
    J = np.zeros((n - 1, n))
    for i in range(n - 1):
        J[i, i], J[i, i + 1] = -1.0, 1.0
    j = solve(LCP(J @ J.T, (1 + eps) * J @ v), "lemke").value
    return v + J.T @ j


def one_by_one(v, eps):
    """Propagation: one contact at a time until none approaches."""
    v = np.array(v, float)
    while (np.diff(v) < -1e-12).any():
        i = int(np.argmin(np.diff(v)))
        mean, half = 0.5 * (v[i] + v[i + 1]), 0.5 * eps * (v[i] - v[i + 1])
        v[i], v[i + 1] = mean - half, mean + half
    return v


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("planar", [False, True])
def test_three_balls_that_touch(law, planar):
    done = run("billiard-three", law=law, planar=planar)
    v = done.sim.state.velocity[1:, 0]
    assert v == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-7)
    assert done.sim.energy[0] == pytest.approx(0.5 * done.sim.body("ball0").mass, rel=1e-7)


@pytest.mark.parametrize("law", LAWS)
def test_three_balls_nearly_touching(law):
    done = run("billiard-three", law=law, gap=1e-5)
    assert done.sim.state.velocity[1:, 0] == pytest.approx([0, 0, 1], abs=1e-7)


@pytest.mark.parametrize(("n", "incoming"), [(5, 1), (5, 2), (5, 3), (7, 3)])
@pytest.mark.parametrize("law", LAWS)
def test_the_cradle_sends_out_as_many_as_came_in(n, incoming, law):
    done = run("newton-cradle", n=n, incoming=incoming, law=law)
    v = done.sim.state.velocity[1:, 0]
    expected = one_by_one([1.0] * incoming + [0.0] * (n - incoming), 1.0)
    assert expected == pytest.approx([0.0] * (n - incoming) + [1.0] * incoming)
    assert v == pytest.approx(expected, abs=1e-7)
    assert np.abs(done.sim.state.velocity[1:, 1:]).max() < 1e-10


@pytest.mark.parametrize(("n", "incoming"), [(5, 1), (5, 2), (5, 4), (3, 1)])
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_the_cradle_all_at_once(n, incoming, law):
    done = run("newton-cradle", n=n, incoming=incoming, gap=0.0, law=law)
    v = done.sim.state.velocity[1:, 0]
    before = np.array([1.0] * incoming + [0.0] * (n - incoming))
    assert v == pytest.approx(at_once(before, 1.0), abs=1e-6)
    assert v == pytest.approx(2 * incoming / n - before, abs=1e-6)
    assert v.sum() == pytest.approx(incoming, abs=1e-12)


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.7])
def test_less_than_full_restitution(eps):
    v = run("billiard-three", restitution=eps).sim.state.velocity[1:, 0]
    assert v == pytest.approx(at_once(np.array([1.0, 0.0, 0.0]), eps), abs=1e-6)
    apart = run("billiard-three", restitution=eps, targets=1).sim.state.velocity[1:, 0]
    assert apart == pytest.approx([(1 - eps) / 2, (1 + eps) / 2], abs=1e-6)
