"""Kernels of the event-driven method against closed forms and plain sums."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.event_margins import (
    Conditions,
    ContactRows,
    relative_margins,
    row_accelerations,
    violation,
)
from drystone.steppers.event_driven.joint_acceleration_rows import JointRates


@pytest.mark.kernels
def test_margins_are_relative_to_the_islands_largest_force():
    rng = np.random.default_rng(5)
    nc, d = 7, 3
    island = np.array([0, 0, 0, 1, 1, -1, 1])
    closed = np.array([True, True, False, True, False, True, True])
    stick = np.array([True, False, False, True, False, True, False])
    mu, own = rng.uniform(0.2, 0.8, nc), rng.uniform(0.5, 2.0, (nc, d))
    f, a, free = rng.normal(size=(3, nc, d))
    pull, press, cone = out = np.empty((3, nc))
    relative_margins(Conditions(island, closed, stick, mu), own, f, a, free, out)
    unit = np.sqrt(own.mean(axis=1))
    for i in range(nc):
        mates = island == island[i]
        size = max(
            np.abs(f[mates] * unit[mates, None]).max(),
            np.abs(free[mates] / unit[mates, None]).max(),
        )
        force = f[i] * unit[i] / size
        slack = mu[i] * force[0] - np.linalg.norm(force[1:])
        real = island[i] >= 0
        expected = (
            force[0] if real and closed[i] else np.inf,
            a[i, 0] / unit[i] / size if real and not closed[i] else np.inf,
            slack if real and stick[i] else np.inf,
        )
        np.testing.assert_allclose((pull[i], press[i], cone[i]), expected, rtol=1e-13)


@pytest.mark.kernels
@pytest.mark.parametrize("d", [2, 3])
def test_violation_is_the_worst_of_all_conditions(d):
    """Each of them in turn is the only one that fails, by a known amount."""
    nc, nj = 3, 2
    m = d * nc + nj
    closed, stick = np.array([True, True, False]), np.array([True, False, False])
    direction = np.zeros((nc, d - 1))
    direction[1, 0] = -1.0
    diagonal = np.repeat([4.0, 9.0, 1.0, 16.0, 0.25], [d, d, d, 1, 1])
    r, a, q = np.zeros(m), np.zeros(m), np.zeros(m)
    r[[0, d]] = 10.0, 2.0  # scaled forces of 20 and 6
    q[2 * d] = 50.0  # the largest acceleration
    a[2 * d] = 3.0
    mu = np.full(nc, 0.5)

    def judged(array, i, value):
        before, array[i] = array[i], value
        found = violation(d, diagonal, r, a, q, mu, closed, stick, direction)
        array[i] = before
        return found

    assert judged(r, 0, 10.0) == 0.0
    assert judged(a, 0, -1.0) == pytest.approx(0.5 / 50)  # a pressing contact moves
    assert judged(a, 0, 1.0) == pytest.approx(0.5 / 50)
    assert judged(a, 1, 2.0) == pytest.approx(1.0 / 50)  # a sticking one slips
    assert judged(r, 1, -7.0) == pytest.approx(4.0 / 50)  # beyond its cone: 14 > 10
    assert judged(r, d, -2.0) == pytest.approx(6.0 / 50)  # pulls
    assert judged(a, d + 1, -3.0) == pytest.approx(1.0 / 50)  # friction drives it on
    assert judged(a, d + 1, 3.0) == 0.0
    assert judged(a, 2 * d, -5.0) == pytest.approx(5.0 / 50)  # an open one approaches
    assert judged(a, m - 2, -8.0) == pytest.approx(2.0 / 50)  # a joint gives
    assert judged(r, m - 1, 200.0) == 0.0
    assert judged(r, 0, 100.0) == 0.0
    nothing = np.zeros(m)
    assert violation(d, diagonal, nothing, nothing, nothing, mu, closed, stick, direction) == 0.0


@pytest.mark.kernels
@pytest.mark.parametrize("dim", [2, 3])
def test_row_accelerations_are_those_of_dense_rows(dim):
    rng = np.random.default_rng(dim)
    nb, n, dof = 4, 6, 3 * (dim - 1)
    k = dof - dim
    body = np.array([[0, 1], [1, 2], [2, -1], [-1, 3], [3, 0], [1, 3]])
    J = rng.normal(size=(n, 2, dof))
    inverse_mass = rng.uniform(0.0, 1.0, nb)
    root = rng.normal(size=(nb, k, k))
    inverse_inertia = np.einsum("bij,bkj->bik", root, root)
    bias, soft, r = rng.normal(size=(3, n))
    a, free = rng.normal(size=(2, nb, dof))
    own, out, out_free = np.empty((3, n))
    rows = ContactRows(body, J, bias, soft)
    row_accelerations(rows, inverse_mass, inverse_inertia, a, free, r, own, out, out_free)
    dense, M = np.zeros((n, nb * dof)), np.zeros((nb * dof, nb * dof))
    for i in range(n):
        for s in range(2):
            if body[i, s] >= 0:
                at = body[i, s] * dof
                dense[i, at : at + dof] += J[i, s]
    for b in range(nb):
        at = b * dof
        M[at : at + dim, at : at + dim] = inverse_mass[b] * np.eye(dim)
        M[at + dim : at + dof, at + dim : at + dof] = inverse_inertia[b]
    np.testing.assert_allclose(out, dense @ a.ravel() + bias + soft * r, rtol=1e-12)
    np.testing.assert_allclose(out_free, dense @ free.ravel() + bias, rtol=1e-12)
    np.testing.assert_allclose(own, np.abs((dense @ M @ dense.T).diagonal() + soft), rtol=1e-12)


@pytest.mark.kernels
def test_bias_of_a_pin_is_the_centripetal_acceleration():
    """Two bars on a pin, both turning: along the axes of B the anchors part by w^2 r, and by the
    Coriolis and centrifugal terms of axes that turn with B; at a closed pin only w^2 r is left."""
    world = ds.World(planar=True)
    for name, x in (("a", 0.5), ("b", -0.5)):
        world.add_body(ds.Rectangle(1.0, 0.1), name=name, position=(x, 0.0), density=1.0)
    world.add_joint(ds.Pin("a", "b", anchor=(0.0, 0.0)))
    sim = ds.Simulation(world, method=ds.EventDriven())
    model, state = sim.model, sim.state.copy()
    wa, wb = 3.0, -2.0
    # anchors at -0.5 of a's centre and +0.5 of b's: without speed themselves
    state.velocity[:] = [[0.0, 0.5 * wa, wa], [0.0, -0.5 * wb, wb]]
    ties, *_ = JointRates(model, model.joints).at(state, None)
    np.testing.assert_allclose(np.abs(ties.u), 0.0, atol=1e-13)
    expected = 0.5 * wa**2 + 0.5 * wb**2  # a's anchor is drawn to +x, b's to -x
    np.testing.assert_allclose(np.sort(np.abs(ties.bias)), [0.0, expected], atol=1e-9)
