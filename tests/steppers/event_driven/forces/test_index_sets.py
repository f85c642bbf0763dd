"""Index sets from instant to instant: one linear solve, continuous forces, known changes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind
from drystone.types import Status
from tests.steppers.event_driven.instants import particle_on_incline, random_state


def bricks(count, pull=0.0, mu=0.5):
    """A planar pile of bricks on two contacts each: more rows than the bodies need."""
    J, body = np.zeros((2 * count, 2, 2, 3)), []
    for k in range(count):
        for side in (0, 1):
            x = side - 0.5
            J[2 * k + side, :, 0] = [[0.0, 1.0, x], [1.0, 0.0, 0.1]]
            if k:
                J[2 * k + side, :, 1] = [[0.0, -1.0, -x], [-1.0, 0.0, 0.1]]
            body.append([k, k - 1])
    return ContactState(
        body=body, J=J, u=np.zeros((2 * count, 2)), mu=mu, inverse_mass=np.ones(count),
        inverse_inertia=np.full(count, 12.0), acceleration=np.tile([pull, -9.81, 0.0], (count, 1)),
    )  # fmt: skip


@pytest.mark.parametrize("method", ["dantzig", "lemke", "qp-signs", "jacobi"])
def test_redundant_contacts_keep_their_index_set(method):
    forces = ContactForces(method, tol=1e-11)
    first = forces.solve(bricks(3))
    assert not first.islands[0].reused
    forces.commit(first)
    for pull in np.linspace(0.0, 0.3, 7):
        again = forces.solve(bricks(3, pull))
        assert again.islands[0].reused
        np.testing.assert_allclose(again.acceleration, 0.0, atol=1e-9)
        fresh = ContactForces("dantzig").solve(bricks(3, pull))
        np.testing.assert_allclose(again.acceleration, fresh.acceleration, atol=1e-9)
    assert forces.statistics.hit_rate == 1.0


def test_forces_are_continuous_until_the_set_changes():
    """A growing pull on a block: friction grows with it up to mu m g, then it begins to slide."""
    forces = ContactForces()
    last, changes = None, []
    pulls = np.linspace(0.0, 8.0, 81)
    for pull in pulls:
        state = replace(particle_on_incline(0.0, 0.5), acceleration=[[pull, -9.81, 0.0]])
        result = forces.solve(state)
        if not result.islands[0].reused:
            changes.append(pull)
        elif last is not None:
            assert np.abs(result.f - last).max() <= 0.1 + 1e-12
        forces.commit(result)
        last = result.f
    assert changes[0] == 0.0
    assert changes[1] == pytest.approx(5.0)  # the first beyond mu g = 4.905
    assert len(changes) == 2


def test_solving_leaves_the_memory_alone():
    forces = ContactForces()
    forces.commit(forces.solve(particle_on_incline(0.1, 0.5)))
    trial = forces.solve(particle_on_incline(1.0, 0.5))
    assert not trial.islands[0].reused
    assert trial.states == (Kind.YIELDING,)
    assert forces.solve(particle_on_incline(0.1, 0.5)).islands[0].reused
    forces.forget()
    assert not forces.solve(particle_on_incline(0.1, 0.5)).islands[0].reused


def test_other_contacts_are_another_set():
    forces = ContactForces()
    state = bricks(2)
    forces.commit(forces.solve(state))
    fewer = forces.solve(state.take(np.array([0, 1, 2])))
    assert not any(part.reused for part in fewer.islands)
    renamed = replace(state, key=("a", "b", "c", "d"))
    assert not any(part.reused for part in forces.solve(renamed).islands)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(0, 2),
    st.sampled_from([2, 3]),
    st.sampled_from([0.0, 0.3]),
)
def test_a_committed_set_gives_the_forces_that_the_method_gives(
    seed, bodies, contacts, joints, dim, mu
):
    options = {"dim": dim, "bodies": bodies, "contacts": contacts, "joints": joints, "mu": mu}
    state = random_state(seed, slides=0.5, **options)
    forces = ContactForces()
    first = forces.solve(state)
    if first.status is not Status.SOLVED:
        return
    forces.commit(first)
    again = forces.solve(state)
    assert again.residual <= 1e-9
    scale = max(1.0, np.abs(first.acceleration).max())
    np.testing.assert_allclose(again.acceleration, first.acceleration, atol=1e-8 * scale)
    assert all(part.reused for part in again.islands)


def test_approximations_are_not_taken_for_the_exact_law():
    """ramp at rest has no friction: its index set must not be reused with static friction."""
    forces = ContactForces("ramp", ramp_speed=1e-3)
    state = particle_on_incline(0.3, 0.5)
    result = forces.solve(state)
    assert result.status is Status.APPROXIMATE
    assert result.status is not Status.SOLVED
    forces.commit(result)
    assert forces.solve(state).acceleration[0, 0] == pytest.approx(9.81 * np.sin(0.3))


def test_creep_of_the_ramp():
    """On the incline the ramp balances at the speed eps tan(angle) / mu."""
    eps, mu, angle = 1e-3, 0.5, 0.3
    state = particle_on_incline(angle, mu, speed=eps * np.tan(angle) / mu)
    calm = replace(state, slip=np.zeros((1, 1)))
    result = ContactForces("ramp", ramp_speed=eps).solve(calm)
    np.testing.assert_allclose(result.acceleration, 0.0, atol=1e-12)


def test_lotstedt_bounds_friction_by_the_step_before():
    forces = ContactForces("lotstedt")
    light = particle_on_incline(0.6, 0.5, g=5.0)
    forces.commit(forces.solve(light))
    heavy = particle_on_incline(0.6, 0.5, g=10.0)
    lagging = forces.solve(heavy)
    assert lagging.status is Status.APPROXIMATE
    np.testing.assert_allclose(lagging.f[0, 1], -0.5 * 5.0 * np.cos(0.6), rtol=1e-6)
    forces.commit(lagging)
    np.testing.assert_allclose(forces.solve(heavy).f[0, 1], -5.0 * np.cos(0.6), rtol=1e-6)


def test_options_that_make_no_sense():
    with pytest.raises(ds.OptionError, match="unknown solver 'dantsig'"):
        ContactForces("dantsig")
    with pytest.raises(ds.OptionError, match="explain = 'maybe'"):
        ContactForces(explain="maybe")
    with pytest.raises(ds.OptionError, match="ramp_speed = 0"):
        ContactForces(ramp_speed=0)
    with pytest.raises(ds.OptionError, match="prefer = 'both'"):
        ContactForces(prefer="both")


def test_lotstedts_bounds_are_those_of_the_contact_whatever_it_does_now():
    """A particle that rested begins to slide: one pass with the bound by its last normal force."""
    state = particle_on_incline(0.3, 0.5)
    forces = ContactForces("lotstedt")
    forces.commit(forces.solve(state))
    passes = forces.statistics.iterations
    found = forces.solve(replace(state, slip=np.ones((1, 1)), mu=np.full((1, 2), 0.4)))
    assert forces.statistics.iterations == passes + 1
    assert found.f[0] == pytest.approx(9.81 * np.cos(0.3) * np.array([1, -0.4]), rel=1e-9)
