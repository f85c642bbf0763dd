"""Several solutions of one instant: the rods and the block of Baraff 1992, chapters 10 to 12."""

import numpy as np
import pytest

import drystone as ds
from drystone.problems import classic
from drystone.steppers.event_driven.forces import ContactForces, ContactState, Kind, solutions
from drystone.types import Status
from tests.steppers.event_driven.instants import planar_rows, random_state, rod

THETA, MU = np.radians(72.0), classic.MU
SPIN = float(np.sqrt((1.0 + 9.81) / np.sin(THETA)))  # spin^2 sin - g = 1


def the_rod(spin=SPIN, g=9.81):
    return rod(MU, angle=THETA, inertia=1 / 16, spin=spin, g=g)


def test_the_indeterminate_rod_has_two_forces_and_an_impulse():
    """The rod: f_N = 0 or f_N = m, and friction that stops the tip at once."""
    ways = solutions(the_rod())
    assert [way.kind for way in ways] == ["forces", "forces", "impulse"]
    np.testing.assert_allclose([way.f[0, 0] for way in ways[:2]], [0.0, 1.0], atol=1e-9)
    assert [way.after[0] for way in ways[:2]] == ["separates", "slides more slowly"]
    assert ways[2].after[0].startswith("stops sliding and collides")


def test_the_inconsistent_rod_has_an_impulse_only():
    ways = solutions(the_rod(spin=0.0))
    assert [way.kind for way in ways] == ["impulse"]
    np.testing.assert_allclose(ways[0].contact_motion[0, 1], 1.0)  # from -1 m/s to rest
    assert [way.kind for way in solutions(the_rod(spin=0.0, g=0.0))] == ["forces", "impulse"]


@pytest.mark.parametrize("method", ["dantzig", "lemke", "lp", "jacobi"])
def test_the_choice_is_the_same_every_time_and_logged(method):
    results = [ContactForces(method).solve(the_rod()) for _ in range(3)]
    assert all(np.array_equal(r.f, results[0].f) for r in results)
    assert "several solutions (by forces 2, by impulses 1)" in results[0].log[-1]
    assert f"{method} took forces no." in results[0].log[-1]
    forces = ContactForces(method)
    forces.solve(the_rod())
    assert forces.statistics.several == 1


def test_an_index_set_keeps_the_choice():
    """13.3: the other force is taken as long as its index set holds."""
    forces = ContactForces("lp")
    pressed = forces.solve(the_rod())
    assert pressed.states == (Kind.SLIDING,)
    forces.commit(pressed)
    for spin in (SPIN, 1.01 * SPIN, 1.1 * SPIN):
        again = forces.solve(the_rod(spin))
        assert again.islands[0].reused
        np.testing.assert_allclose(again.f[0, 0], spin**2 * np.sin(THETA) - 9.81, rtol=1e-9)


def test_static_rod_with_a_tangential_load_has_three_solutions():
    """Open, stick and slip, once something drives the tip sideways."""
    kinds = set()
    for load in np.linspace(-30.0, 30.0, 61):
        state = rod(1.2, angle=THETA, inertia=1 / 16, slip=0.0)
        pushed = ContactState(
            body=state.body, J=state.J, u=state.u, mu=state.mu, inverse_mass=[1.0],
            inverse_inertia=[16.0], acceleration=[[load, 0.5, 0.0]],
        )  # fmt: skip
        words = [way.after[0] for way in solutions(pushed)]
        kinds.add((len(words), *sorted(words)))
    assert any(row[0] == 3 and "separates" in row and "sticks" in row for row in kinds)
    resting = rod(1.2, angle=THETA, inertia=1 / 16, slip=0.0)
    assert len(solutions(resting)) == 1


def block_and_rods(rods, push):
    """The block of Baraff 1992, figure 11.3 in guides, as an instant: rods are (mass, normal,
    load)."""
    c, s = np.cos(THETA), np.sin(THETA)
    nc = len(rods)
    J, bias = np.zeros((nc, 2, 2, 3)), np.zeros((nc, 2))
    for i, (_, normal, load) in enumerate(rods):
        n = np.array(normal)
        turn = np.array([[n[1], n[0]], [-n[0], n[1]]])
        J[i, :, 0] = planar_rows(turn @ (-c, -s), normal)
        J[i, :, 1] = -planar_rows(n + 0.1 * i * np.array([n[1], -n[0]]), normal)
        bias[i] = load
    masses = np.array([100.0] + [mass for mass, _, _ in rods])
    inertia = np.concatenate([[100.0], masses[1:] / 16])
    free = np.zeros((nc + 1, 3))
    free[0, 0] = push / 100.0
    joint_J = np.zeros((2, 2, 3))
    joint_J[0, 0, 1] = joint_J[1, 0, 2] = 1.0
    return ContactState(
        body=[[i + 1, 0] for i in range(nc)], J=J, u=[[0.0, -1.0]] * nc, mu=MU,
        inverse_mass=1 / masses, inverse_inertia=1 / inertia, acceleration=free, bias=bias,
        joint_body=[[0, -1], [0, -1]], joint_J=joint_J,
    )  # fmt: skip


RESTING = (1.0, (1.0 + 9.81) / np.sin(THETA) * np.cos(THETA))


@pytest.mark.parametrize("target", [5.0, 6.0, 4.0])
def test_subset_sum(target):
    """Forces exist exactly if some of 2, 3, 7 sum to the target."""
    rods = [(m, (0.0, 1.0), RESTING) for m in (2.0, 3.0, 7.0)]
    rods += [(1.0, (-1.0, 0.0), (0.0, 0.0)), (1.0, (1.0, 0.0), (0.0, 0.0))]
    ways = solutions(block_and_rods(rods, MU * target))
    forces = [way for way in ways if way.kind == "forces"]
    if target == 5.0:
        np.testing.assert_allclose(forces[0].f[:3, 0], [2.0, 3.0, 0.0], atol=1e-8)
        assert len(forces) == 1
    else:
        assert forces == []
        assert ways


def test_one_force_and_an_equally_valid_impulse():
    """Only f_N = 0 is free of impulses; the impulse at E1 is another way (12.4)."""
    rods = [(1.0, (0.0, 1.0), RESTING), (1.0, (-1.0, 0.0), (0.0, 0.0))]
    ways = solutions(block_and_rods(rods, 0.0))
    assert [way.kind for way in ways].count("forces") == 1
    np.testing.assert_allclose(ways[0].f, 0.0, atol=1e-9)
    at_end = [way for way in ways if way.kind == "impulse" and way.f[0, 0] == 0.0]
    assert len(at_end) == 1
    assert at_end[0].f[1, 0] > 0.0


def test_forces_can_be_preferred():
    """Sweeps stop at a contact that jams by itself; enumeration still finds the free motion."""
    state = the_rod(g=9.81 + 0.5)  # f_N = 0 and f_N = m / 2, and the jam
    ray = ContactForces("lemke", prefer="method").solve(the_rod(spin=0.0))
    assert ray.status is Status.RAY
    assert ContactForces(prefer="force").solve(the_rod(spin=0.0)).status is Status.RAY
    assert ContactForces(prefer="force").solve(state).status is Status.SOLVED


def test_large_systems_are_refused_by_name():
    state = random_state(3, bodies=3, contacts=12, mu=0.5)
    with pytest.raises(ds.UnsupportedProblemError, match="cannot be listed: 2\\^24 combinations"):
        solutions(state)


def test_nothing_touches():
    state = rod(0.5, angle=1.0, inertia=0.1)
    flying = ContactState(
        body=state.body, J=state.J, u=[[1.0, 0.0]], mu=0.5, inverse_mass=[1.0],
        inverse_inertia=[10.0], acceleration=[[0.0, -9.81, 0.0]],
    )  # fmt: skip
    result = ContactForces().solve(flying)
    assert result.ok
    assert result.states == (Kind.SEPARATING,)
    np.testing.assert_allclose(result.acceleration, [[0.0, -9.81, 0.0]])
    assert solutions(flying)[0].after == ("separates",)
