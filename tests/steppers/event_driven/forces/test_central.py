"""Many contacts at once: Coulomb's law to rounding, and answers alike for images of a problem."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.problems import FrictionProblem
from drystone.steppers.event_driven.forces import ContactForces, ContactState
from drystone.steppers.event_driven.forces.coulomb import central_answer, coulomb_forces
from drystone.steppers.event_driven.forces.methods import acting
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.impulses import collide
from tests.steppers.event_driven.instants import spatial_rows

G = 9.81
ASIDE = [1, 3, 5]  # motion that leaves the plane y = 0: along y, about x, about z
seeds = st.integers(0, 10**6)


def row(seed, n=4, mu=0.5, speed=1.0):
    """n boxes that lean on each other, edge on face, with a corner at either side of the plane
    y = 0 wherever they touch, and that move in this plane at random: 4 n - 2 contacts."""
    rng = np.random.default_rng(seed)
    v = np.zeros((n, 6))
    v[:, [0, 2, 4]] = speed * rng.normal(size=(n, 3))
    place = np.column_stack([0.2 * np.arange(n), np.zeros(n), 0.15 + 0.05 * rng.random(n)])
    lean = 0.3 + 0.8 * rng.random(n - 1)
    body, J, u = [], [], []
    for i in range(n):
        spots = [((i, -1), (place[i, 0] - 0.1, 0.0, 0.0), (0.0, 0.0, 1.0))]
        if i + 1 < n:
            push = (-np.cos(lean[i]), 0.0, np.sin(lean[i]))
            spots.append(((i, i + 1), (place[i, 0] + 0.12, 0.0, 0.2 + 0.1 * rng.random()), push))
        for pair, point, normal in spots:
            for side in (-0.125, 0.125):
                at = np.array([point[0], side, point[2]])
                rows = np.zeros((3, 2, 6))
                rows[:, 0] = spatial_rows(at - place[i], normal)
                if pair[1] >= 0:
                    rows[:, 1] = -spatial_rows(at - place[pair[1]], normal)
                body.append(pair)
                J.append(rows)
                u.append(rows[:, 0] @ v[i] + (rows[:, 1] @ v[pair[1]] if pair[1] >= 0 else 0.0))
    inertia = np.diag([160.0, 120.0, 400.0])
    return ContactState(
        body=body, J=np.array(J), u=np.array(u), mu=mu, inverse_mass=np.ones(n),
        inverse_inertia=[inertia] * n, acceleration=[[0.0, 0.0, -G, 0.0, 0.0, 0.0]] * n,
    )  # fmt: skip


def impact(state):
    """All contacts as one system, and the impact of its velocities by Coulomb's law."""
    system = System(state, np.arange(state.nc), np.arange(0))
    return system, FrictionProblem(system.W, system.u, state.mu[:, 0], dim=3)


def motion(system, r):
    out = np.zeros((system.state.nb, 6))
    system.add_motion(r, out)
    return out


def turned(state, seed):
    """(the same instant with its contacts in another order and other tangents, that order)."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(state.nc)
    angle = rng.uniform(0.0, 2.0 * np.pi, state.nc)
    turn = np.zeros((state.nc, 3, 3))
    turn[:, 0, 0] = 1.0
    turn[:, 1, 1] = turn[:, 2, 2] = np.cos(angle)
    turn[:, 1, 2], turn[:, 2, 1] = np.sin(angle), -np.sin(angle)
    J = np.einsum("iab,ibsk->iask", turn, state.J[order])
    u = np.einsum("iab,ib->ia", turn, state.u[order])
    return replace(state, body=state.body[order], J=J, u=u, mu=state.mu[order]), order


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seeds, st.sampled_from([2, 3, 5, 8]), st.sampled_from([0.2, 0.5, 0.8]))
def test_impulses_of_mirror_images_are_mirror_images(seed, n, mu):
    system, problem = impact(row(seed, n, mu))
    r = central_answer(problem)
    assert r is not None
    assert max(problem.residuals(r)) < 1e-12
    v = motion(system, r)
    assert np.abs(v[:, ASIDE]).max() <= 1e-10 * np.abs(v).max()
    f = r.reshape(-1, 2, 3)  # both corners press alike
    np.testing.assert_allclose(f[:, 0, 0], f[:, 1, 0], atol=1e-8 * np.abs(r).max())


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seeds, seeds, st.sampled_from([2, 3, 5]))
def test_neither_the_order_of_contacts_nor_their_tangents_matter(seed, other, n):
    state = row(seed, n)
    again, order = turned(state, other)
    (system, problem), (second, same) = impact(state), impact(again)
    r, s = central_answer(problem), central_answer(same)
    v, w = motion(system, r), motion(second, s)
    np.testing.assert_allclose(w, v, atol=1e-9 * np.abs(v).max())
    normal = r.reshape(-1, 3)[order, 0]
    np.testing.assert_allclose(s.reshape(-1, 3)[:, 0], normal, atol=1e-8 * np.abs(r).max())


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seeds, st.sampled_from([2, 4, 6]))
def test_collisions_leave_a_row_in_its_plane(seed, n):
    state = row(seed, n)
    hit = collide(state)
    change = hit.velocity_change
    assert np.abs(change[:, ASIDE]).max() <= 1e-10 * max(np.abs(change).max(), 1.0)
    assert hit.u[:, 0].min() > -1e-8


def resting(seed, n, mu):
    """The row at rest, or with some pairs of contacts sliding: forces that begin a motion."""
    state = row(seed, n, mu, speed=0.0)
    rng = np.random.default_rng(seed)
    along = np.repeat(rng.integers(-1, 2, state.nc // 2), 2)
    ahead = state.J[:, 1:, 0, 0]  # tangents by their part along x
    size = np.linalg.norm(ahead, axis=1, keepdims=True)
    pull = np.zeros((n, 6))
    pull[:, [0, 2]] = rng.normal(size=(n, 2)) * [5.0, 1.0] - [0.0, G]
    return replace(state, slip=ahead / size * along[:, None], acceleration=pull)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seeds, st.sampled_from([2, 3, 5]), st.sampled_from([0.2, 0.5]))
def test_forces_of_mirror_images_are_mirror_images(seed, n, mu):
    """Friction against given slip to the bound, elsewhere by Coulomb's law for accelerations."""
    state = resting(seed, n, mu)
    system = System(state, np.arange(state.nc), np.arange(0))
    slip, coefficient = acting(system)
    problem = FrictionProblem(system.W, system.q, coefficient, dim=3)
    r = central_answer(problem, slip)
    if r is None:  # friction that pulls contacts together may leave no forces at all
        return
    f, a = r.reshape(-1, 3), (system.W @ r + system.q).reshape(-1, 3)
    size = max(np.abs(a).max(), np.abs(system.q).max())
    assert f[:, 0].min() >= -1e-10 * np.abs(f).max()
    assert a[:, 0].min() >= -1e-9 * size
    assert np.abs(f[:, 0] * a[:, 0]).max() <= 1e-9 * size * np.abs(f).max()
    moving = slip.any(axis=1)
    np.testing.assert_allclose(
        f[moving, 1:], -mu * slip[moving] * f[moving, :1], atol=1e-9 * np.abs(f).max()
    )
    rest, pull = f[~moving], a[~moving, 1:]
    rub, speed = np.linalg.norm(rest[:, 1:], axis=1), np.linalg.norm(pull, axis=1)
    assert (rub <= mu * rest[:, 0] + 1e-9 * np.abs(f).max()).all()
    work = np.einsum("ij,ij->i", rest[:, 1:], pull)
    np.testing.assert_allclose(work, -mu * rest[:, 0] * speed, atol=1e-8 * size * np.abs(f).max())
    body = motion(system, r)
    assert np.abs(body[:, ASIDE]).max() <= 1e-9 * max(np.abs(body).max(), size)


@pytest.mark.parametrize("seed", range(8))
def test_what_a_run_goes_on_with_is_symmetric(seed):
    """Where the guess that all contacts are alike fails: one by one Dantzig's method takes them."""
    state = resting(seed, 4, 0.5)
    forces = ContactForces().solve(state)
    if forces.ray is not None:
        return
    again = coulomb_forces(state, forces)
    assert again is not None
    assert np.abs(again.acceleration[:, ASIDE]).max() <= 1e-8 * np.abs(again.acceleration).max()
