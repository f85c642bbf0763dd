"""Scenes of 1989 and 1992 by the method they were made for, against closed forms and steps."""

import numpy as np
import pytest

import drystone as ds
from drystone.problems.classic import COS, MU, SIN
from drystone.scenes import scene
from tests.scenes.test_rocking_scenes import (
    angle,
    ellipsoid,
    inertia_of,
    reaction,
    reference,
)

SLOWS = MU * (1 + 16 * SIN**2) - 16 * SIN * COS  # slip that a unit normal impulse takes, m = 1
LIFTS = 1 + 16 * COS**2 - 16 * MU * COS * SIN  # normal speed that it gives: -1


def kinds(sim):
    return [event.kind for event in sim.report.events]


def test_an_impulse_stops_the_rod_without_a_force():
    """Slip stops after 1 / SLOWS, which drives the tip in at 1 / SLOWS; a second impulse at
    the sticking tip takes that away. Afterwards the rod falls about its tip."""
    sim = scene("rod-inconsistent").simulation(dt=1e-3)
    only = sim.solutions()
    assert [found.kind for found in only] == ["impulse"]
    assert only[0].f[0, 0] == pytest.approx(1 / SLOWS, rel=1e-9)
    sim.step()
    assert kinds(sim) == ["jam"]
    # momentum about the tip is kept by both impulses: m (r x v) + I w with v = (-1, 0)
    w = SIN / (1 + 1 / 16)
    b = 9.81 * COS / (1 + 1 / 16)  # it falls to the right: clockwise
    assert sim.body("rod").angular_velocity == pytest.approx(w - b * 1e-3, abs=1e-5)
    lost = 0.5 - 0.5 * (1 + 1 / 16) * w**2
    assert sim.report.impact_energy == pytest.approx(-lost, rel=1e-9)
    sim.run(0.05)
    assert sim.contacts["state"].tolist() == ["stick"]
    assert sim.penetration < 1e-9


def test_two_forces_and_an_impulse_are_offered():
    """10.2: f_N = 0, f_N = m, and the impulse of 12.1; which one was taken is in the log."""
    sim = scene("rod-indeterminate").simulation()
    found = sim.solutions()
    assert [x.kind for x in found] == ["forces", "forces", "impulse"]
    assert np.allclose([x.f[0, 0] for x in found], [0.0, 1.0, 1 / SLOWS], atol=1e-9)
    report = sim.step()
    assert any("several solutions" in text for text in report.log)
    assert sim.contacts["force"][0, 1] in (pytest.approx(0.0), pytest.approx(1.0, abs=0.2))


@pytest.mark.parametrize(("target", "sums"), [(8, [(3, 5, 0)]), (9, []), (15, [(3, 5, 7)])])
def test_the_puzzle_is_solved_by_forces_or_by_an_impulse(target, sums):
    """Forces exist exactly for sums; Dantzig's answer, force or impulse, needs no search."""
    sim = scene("subset-sum", target=target).simulation()
    found = [x.f[:3, 0].round(9).tolist() for x in sim.solutions() if x.kind == "forces"]
    assert found == [list(map(float, x)) for x in sums]
    report = sim.step()
    assert report.ok
    if not sums:
        assert "jam" in kinds(sim)


def test_forces_can_be_preferred_to_impulses():
    """12.4: Dantzig's method ends in an impulse here; the forces 3, 5, 0 are as valid,
    for an instant: they are not stable."""
    built = scene("subset-sum", target=8)
    sim = built.simulation(dt=1e-8)
    sim.step()
    assert kinds(sim) == ["jam"]
    sim = built.simulation(dt=1e-8, contact_forces=("dantzig", {"prefer": "force"}))
    report = sim.step()
    assert not report.events
    assert any("prefer='force'" in line for line in report.log)
    normal = [float(row["force"] @ row["normal"]) for row in sim.contacts]
    assert np.allclose(normal[:3], [3.0, 5.0, 0.0], atol=1e-3)


def test_an_impulse_is_as_valid_as_no_force():
    """12.4."""
    found = scene("indeterminate-impulse").simulation().solutions()
    assert [x.kind for x in found if not x.f.any()] == ["forces"]
    assert any(x.kind == "impulse" and x.f[1, 0] > 0 and x.f[0, 0] == 0 for x in found)


@pytest.mark.parametrize("order", ["simultaneous", "propagation"])
def test_the_heavy_ball_comes_to_rest_both_ways(order):
    """Figure 12: one impact of both, or 0.9^n v after n rounds until it is within tolerance."""
    sim = scene("heavy-ball").simulation(dt=0.05, collisions=order)
    report = sim.step()
    for name in ("light", "heavy"):
        assert np.abs(sim.body(name).velocity).max() < 1e-5
    assert report.impact_energy == pytest.approx(-0.5 * 9.0, rel=1e-6)
    assert sim.penetration < 1e-9


@pytest.mark.parametrize(("mass", "restitution"), [(1.0, 0.5), (3.0, 0.0), (0.5, 1.0)])
def test_the_struck_board_leaves_as_if_free(mass, restitution):
    """Figure 13, to rounding."""
    sim = scene("struck-block", mass=mass, restitution=restitution).simulation(dt=1e-3)
    while "impact" not in kinds(sim) if sim.report else True:
        sim.step()
    (hit,) = [event for event in sim.report.events if event.kind == "impact"]
    assert not any("B-" in name for name in hit.names)
    free = sim.time - hit.time
    expected = (1 + restitution) * 2.0 / (1 + mass) - 9.81 * free
    assert sim.body("A").velocity[1] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "a"), [("ellipsoid-rock", 1.5), ("eccentric-ellipsoid-rock", 4.0)]
)
def test_rocking_bodies_and_their_reaction_to_eight_digits(name, a):
    """6.6 and 6.7: angle and R(t) through the sharp peak."""
    heights, inertia = ellipsoid(a, 1.0), inertia_of(name, {})
    exact = reference(heights, inertia, np.radians(30), 1.0)
    sim = scene(name).simulation(rtol=1e-10, atol=1e-12)
    for _ in range(60):
        sim.step()
        assert abs(angle(sim) - exact.sol(sim.time)[0]) < 1e-8
        force = sim.contacts["force"][:, 2].sum()
        assert force == pytest.approx(reaction(heights, inertia, *exact.sol(sim.time)), rel=1e-6)


def test_time_stepping_converges_to_the_falling_bricks_at_first_order():
    """Steps agree on a smooth phase; springs converge too, at the price of sqrt(k) steps."""
    built = scene("bricks", planar=True)

    def end(method):
        sim = built.simulation(method=method)
        work = 0
        for _ in range(round(0.15 / method.dt)):
            report = sim.step()
            work += report.evaluations or 1
        return sim.state.position, work

    exact, calls = end(ds.EventDriven(dt=0.05))
    errors = [np.abs(end(ds.TimeStepping(dt=h))[0] - exact).max() for h in (2e-3, 1e-3, 5e-4)]
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1)
    assert errors[2] == pytest.approx(errors[1] / 2, rel=0.1)
    soft, few = end(ds.Penalty(dt=0.05, stiffness=1e5))
    stiff, many = end(ds.Penalty(dt=0.05, stiffness=1e7))
    assert np.abs(stiff - exact).max() < 0.1 * np.abs(soft - exact).max()
    assert many > 5 * few > 5 * calls


def test_the_jack_falls_down_the_stairs_by_events():
    """D.1: to the floor, never deeper than the tolerance, energy never gained."""
    sim = scene("jack-stairs").simulation()
    energy = sum(sim.energy)
    for _ in range(150):
        report = sim.step()
        assert report.penetration < 1e-8
        assert abs(report.energy.unexplained) < 1e-5
        now = sum(sim.energy)
        assert now < energy + 1e-6
        energy = now
    assert sim.body("jack").position[0] > 2.0
    assert sim.body("jack").position[2] < 0.25


def test_the_dice_fall_through_the_lattice_by_events():
    """D.2, its first part: impacts on bars, no die in anything, energy explained, never gained."""
    sim = scene("dice-lattice").simulation()
    energy, seen, unexplained = sum(sim.energy), set(), 0.0
    for _ in range(48):
        report = sim.step()
        seen |= {event.kind for event in report.events}
        unexplained += report.energy.unexplained
        assert report.penetration < 1e-9
        now = sum(sim.energy)
        assert now < energy + 1e-3
        energy = now
    assert {"impact", "touch"} <= seen
    assert abs(unexplained) < 1e-3
