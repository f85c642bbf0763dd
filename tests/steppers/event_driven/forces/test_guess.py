"""Contacts treated alike: symmetric bodies bear symmetric forces; laws and limits of the guess."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind
from drystone.steppers.event_driven.forces.sharing import GUESS, held_together
from drystone.steppers.event_driven.forces.system import islands
from tests.steppers.event_driven.instants import random_state, spatial_rows

G = 9.81


def slider(mu, height=0.5, speed=1.0):
    """A body of 1 kg that slides along x on feet at (+-1, +-1), its centre `height` above them."""
    feet = [(x, y, -height) for x in (-1, 1) for y in (-1, 1)]
    J = np.zeros((4, 3, 2, 6))
    u = np.zeros((4, 3))
    for i, foot in enumerate(feet):
        J[i, :, 0] = spatial_rows(foot, (0, 0, 1))
        u[i] = J[i, :, 0] @ [speed, 0, 0, 0, 0, 0]
    return ContactState(
        body=[[0, -1]] * 4, J=J, u=u, mu=mu, inverse_mass=[1.0],
        inverse_inertia=[np.eye(3)], acceleration=[[0, 0, -G, 0, 0, 0]],
    )  # fmt: skip


def system_of(state):
    (system,) = islands(state, np.ones(state.nc, bool))
    return system


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_feet_of_a_slider_bear_what_balances_the_moment_of_friction(mu):
    """Moments about the centre: sum f_i x_i = -height mu m g, the feet in front bear more."""
    found = held_together(system_of(slider(mu)))
    words, _, r, a, _ = found
    assert words == (Kind.SLIDING,) * 4
    f = r.reshape(4, 3)[:, 0]
    back, front = G / 4 * (1 - 0.5 * mu), G / 4 * (1 + 0.5 * mu)
    np.testing.assert_allclose(f, [back, back, front, front], rtol=1e-12)
    np.testing.assert_allclose(a.reshape(4, 3)[:, 0], 0.0, atol=1e-12)


def test_feet_that_would_pull_open_together():
    """The friction of a high slider lifts its rear feet: both, and the front ones bear alike."""
    words, _, r, a, _ = held_together(system_of(slider(0.6, height=2.0)))
    assert words == (Kind.OPEN, Kind.OPEN, Kind.SLIDING, Kind.SLIDING)
    f = r.reshape(4, 3)[:, 0]
    assert f[2] == pytest.approx(f[3], rel=1e-12)
    assert f[2] > 0.0
    assert (a.reshape(4, 3)[:2, 0] > 0.0).all()


def test_what_friction_pulls_together_is_left_to_the_method():
    """1 + h^2 - mu h x of the foot in front is negative: it can jam (Baraff 1992, chapter 10)."""
    assert held_together(system_of(slider(4.0, height=1.0, speed=-1.0))) is None


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, 0.6]), st.sampled_from([0.0, 0.5, 1.0]))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_what_is_found_obeys_the_laws(seed, mu, slides):
    state = random_state(seed, dim=3, bodies=2, contacts=5, mu=mu, slides=slides, lean=0.2)
    for system in islands(state, np.ones(state.nc, bool)):
        found = held_together(system)
        if found is None:
            continue
        words, _, r, _, _ = found
        a = (system.W @ r + system.q)[: 3 * len(words)].reshape(-1, 3)
        f = r[: 3 * len(words)].reshape(-1, 3)
        size = max(np.abs(f).max(), np.abs(system.q).max(), 1.0)
        assert f[:, 0].min() >= -1e-9 * size
        assert a[:, 0].min() >= -1e-9 * size
        assert np.abs(f[:, 0] * a[:, 0]).max() <= 1e-8 * size**2
        bound = state.mu[system.contacts, 0] * f[:, 0]
        assert (np.linalg.norm(f[:, 1:], axis=1) <= bound + 1e-8 * size).all()
        rests = [i for i, word in enumerate(words) if word == Kind.STICKING and mu > 0.0]
        assert np.abs(a[rests, 1:]).max(initial=0.0) <= 1e-8 * size


def test_the_run_says_how_it_was_found():
    forces = ContactForces().solve(slider(0.3))
    assert forces.islands[0].solution.methods == (GUESS,)
    assert ContactForces("lemke").solve(slider(0.3)).islands[0].solution.methods != (GUESS,)
