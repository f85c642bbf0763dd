"""Sliding rods: the worlds are the problems of the thesis, and what the methods make of them."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.kinematics import contact_kinematics
from drystone.dynamics.frames import rotations, turned
from drystone.geometry.detector import Detector
from drystone.problems import classic
from drystone.scenes import scene


def instant(world):
    """Contact kinematics of a world's start, and the acceleration of its free bodies."""
    model, state = world.build()
    g = model.geoms
    R = rotations(state.orientation)[g.body]
    x = state.position[g.body] + turned(R, g.offset)
    found = Detector(g, model.inverse_mass > 0, model.layer, model.rules.ignored)
    contacts = found.contacts(x, R @ g.turn, np.full(len(g), 1e-9))
    k = contact_kinematics(g, x, R @ g.turn, state.position, state.velocity, contacts)
    force = np.zeros((model.nb, 3))
    for item in model.forces:
        item.add(model, state, force)
    free = model.inverse_mass > 0
    a = np.zeros((model.nb, 3))
    a[:, :2] = model.inverse_mass[:, None] * force[:, :2] + free[:, None] * model.gravity
    return model, k, a


def system(model, k, a):
    """A, b and velocities of the contacts with the height and angle of a block held: rods on it
    from left to right, then E1, E2."""
    names = list(model.names)
    inverse = np.repeat(model.inverse_mass[:, None], 3, axis=1)
    inverse[:, 2] = model.inverse_inertia
    if "block" in names:
        inverse[names.index("block"), 1:] = 0.0
        a[names.index("block"), 1:] = 0.0
    nc = k.gap.size
    J = np.zeros((nc, 2, model.nb, 3))
    for i, (first, second) in enumerate(k.body):
        J[i, :, first] += k.J[i, :, 0]
        J[i, :, second] += k.J[i, :, 1]
    rods = [next(names[b] for b in pair if names[b][0] in "REr") for pair in k.body]
    order = sorted(range(nc), key=lambda i: ("E" in rods[i], rods[i]))
    J = J[order].reshape(2 * nc, -1)
    b = J @ a.ravel() + k.bias[order].ravel()
    return (J * inverse.ravel()) @ J.T, b, k.velocity[order]


def lcp(A, b, u):
    """The normal rows, with friction of the sliding contacts folded in."""
    normal, tangent = slice(0, None, 2), slice(1, None, 2)
    M = A[normal, normal] - classic.MU * np.sign(u[:, 1]) * A[normal, tangent]
    return M, b[normal]


@pytest.mark.parametrize("excess", [1.0, 0.4])
def test_the_rods_world_is_the_equation_of_the_thesis(excess):
    """(10-11): a_N = -f_N / m + excess."""
    model, k, a = instant(scene("rod-indeterminate", excess=excess, mass=2.0).world)
    M, q = lcp(*system(model, k, a))
    assert abs(k.velocity[0, 0]) < 1e-12
    assert abs(abs(k.velocity[0, 1]) - 1.0) < 1e-12
    assert np.allclose(M, -1 / 2.0, rtol=1e-9)
    assert np.allclose(q, excess, rtol=1e-9)


@pytest.mark.parametrize("gravity", [9.81, 0.0])
def test_the_rod_that_does_not_turn_has_no_force(gravity):
    """(10-13): a_N = -f_N / m - g."""
    model, k, a = instant(scene("rod-inconsistent", gravity=gravity).world)
    M, q = lcp(*system(model, k, a))
    assert np.allclose(M, -1.0, rtol=1e-9)
    assert np.allclose(q, -gravity, atol=1e-9)


def test_the_puzzles_world_is_its_lcp():
    """The world against the matrix that the classic problem states."""
    M, q = lcp(*system(*instant(scene("subset-sum", a=3, b=5, c=7, target=9).world)))
    known = classic.subset_sum_lcp([3.0, 5.0, 7.0], 9.0)
    assert np.allclose(M, known.M, atol=1e-9)
    assert np.allclose(q, known.q, atol=1e-9)


@pytest.mark.parametrize(("target", "consistent"), [(8, True), (9, False), (15, True), (1, False)])
def test_forces_exist_exactly_if_masses_sum_to_the_target(target, consistent):
    M, q = lcp(*system(*instant(scene("subset-sum", target=target).world)))
    found = ds.solve(ds.LCP(M, q), solver="enumerative")
    assert bool(found.solutions) is consistent


def test_one_rod_and_one_end_have_one_force_and_an_impulse():
    """f = 0 alone solves the LCP; the ray at the end rod is as valid."""
    M, q = lcp(*system(*instant(scene("indeterminate-impulse").world)))
    found = ds.solve(ds.LCP(M, q), solver="enumerative")
    assert len(found.solutions) == 1
    assert np.allclose(found.solutions[0], 0.0, atol=1e-9)
    z = np.array([0.0, 1.0])
    assert (M @ z)[1] < 0


def test_time_stepping_stops_the_tip_where_no_force_exists():
    """One step, one impulse: slip is gone, the tip stays, energy falls."""
    sim = scene("rod-inconsistent").simulation(method=ds.TimeStepping(dt=1e-4))
    before = sum(sim.energy)
    sim.run(2e-3)
    tip = tip_velocity(sim)
    assert np.abs(tip).max() < 1e-4  # one step's turn of the rod
    assert sum(sim.energy) < before
    assert sim.penetration < 1e-9


def test_without_gravity_it_skims_along():
    sim = scene("rod-inconsistent", gravity=0).simulation(method=ds.TimeStepping(dt=1e-3))
    sim.run(0.1)
    assert np.allclose(tip_velocity(sim), (-1.0, 0.0), atol=1e-9)


def tip_velocity(sim):
    rod = sim.body("rod")
    s, c = np.sin(rod.orientation), np.cos(rod.orientation)
    return rod.velocity + rod.angular_velocity * np.array([s, -c])
