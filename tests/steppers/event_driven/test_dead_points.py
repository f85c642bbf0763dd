"""Linkages that fall through a configuration in which their joints say too little: by energy.

A parallelogram of equal opposite bars has one degree of freedom, the angle of its cranks. Flat, it
could go on as a parallelogram or fold; by inertia it goes on as it moves.
"""

from math import cos, sin

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.linkages import bennett, chain, sarrus

G = 9.81


def parallelogram(angle, masses, crank=1.0, coupler=2.0):
    world = ds.World(planar=True, gravity=(0, -G))
    c, s = crank * cos(angle), crank * sin(angle)
    left, right, bar = masses
    for name, mass, x in (("left", left, 0.0), ("right", right, coupler)):
        at = (x + c / 2, s / 2)
        shape = ds.Rectangle(crank, 0.02)
        world.add_body(shape, name=name, mass=mass, position=at, orientation=angle, layer=())
    world.add_body(
        ds.Rectangle(coupler, 0.02), name="bar", mass=bar, position=(c + coupler / 2, s), layer=()
    )
    world.add_joint(ds.Pin("left", "world", anchor=(0, 0), name="a"))
    world.add_joint(ds.Pin("right", "world", anchor=(coupler, 0), name="b"))
    world.add_joint(ds.Pin("bar", "left", anchor=(c, s), name="c"))
    world.add_joint(ds.Pin("bar", "right", anchor=(c + coupler, s), name="d"))
    return world


@pytest.mark.parametrize(
    ("masses", "angle", "crank", "dt"),
    [((1, 1, 1), 1.0, 1.0, 0.02), ((1, 3, 2), 1.0, 1.0, 0.05), ((1, 2, 1), 0.3, 0.1, 0.02)],
)
def test_a_passive_parallelogram_passes_its_flat_configuration(masses, angle, crank, dt):
    """Speeds by energy on the way, both cranks alike, and a bound on the work of a frame."""
    sim = ds.Simulation(parallelogram(angle, masses, crank), method=ds.EventDriven(dt=dt))
    left, right, bar = masses
    inertia = crank**2 * ((left + right) * 0.25 + bar)
    inertia += (left + right) * (crank**2 + 0.02**2) / 12
    height = crank * ((left + right) * 0.5 + bar)
    passed = 0.0
    while sim.time < 1.0 * np.sqrt(crank):
        report = sim.step()
        a, b = sim.body("left"), sim.body("right")
        assert a.orientation == pytest.approx(b.orientation, abs=1e-8)
        fallen = G * height * (sin(angle) - sin(a.orientation))
        speed = np.sqrt(2 * fallen / inertia)
        assert abs(a.angular_velocity) == pytest.approx(speed, rel=1e-5, abs=1e-6)
        assert report.evaluations < 120
        assert report.joint_error < 1e-10
        passed = min(passed, a.orientation)
    assert passed < -0.5, "through the flat one"


def test_a_parallelogram_let_go_where_it_is_flat():
    """One row of its joints follows from the others there, and no longer when it has moved."""
    sim = ds.Simulation(parallelogram(0.0, (1, 2, 1)), method=ds.EventDriven(dt=0.05))
    before = sum(sim.energy)
    kinds = set()
    for _ in range(8):
        report = sim.step()
        kinds |= {event.kind for event in report.events}
        assert report.evaluations < 20000
    assert sum(sim.energy) == pytest.approx(before, abs=1e-3)
    assert sim.body("left").orientation < -0.2
    assert "joints" in kinds


def hinged(heading, angle=1.0):
    """The same of hinges in space, where three rows follow from the others anyway; its plane turned
    about z by a heading."""
    world = ds.World(gravity=(0, 0, -G))
    c, s = cos(angle), sin(angle)
    along = np.array([cos(heading), sin(heading), 0.0])

    def at(x, z):
        return x * along + (0, 0, z)

    def turned(t):
        a, b, half = cos(t / 2), -sin(t / 2), heading / 2
        return (a * cos(half), -b * sin(half), b * cos(half), a * sin(half))

    bars = ("left", 1.0, (c / 2, s / 2), angle), ("right", 2.0, (2 + c / 2, s / 2), angle)
    for name, mass, place, t in (*bars, ("bar", 1.0, (c + 1, s), 0.0)):
        shape = ds.Box(2.0 if name == "bar" else 1.0, 0.02, 0.02)
        where = {"position": at(*place), "orientation": turned(t)}
        world.add_body(shape, name=name, mass=mass, layer=(), **where)
    axis = (-sin(heading), cos(heading), 0)
    pins = (("left", "world", (0, 0)), ("right", "world", (2, 0)), ("bar", "left", (c, s)))
    for a, b, place in (*pins, ("bar", "right", (2 + c, s))):
        world.add_joint(ds.Hinge(a, b, anchor=at(*place), axis=axis))
    return world


def test_hinges_in_space_pass_it_whatever_their_heading():
    heights = []
    for heading in (0.0, 0.3):
        sim = ds.Simulation(hinged(heading), method=ds.EventDriven(dt=0.05))
        before = sum(sim.energy)
        for _ in range(16):
            assert sim.step().evaluations < 120
        heights.append(sim.body("bar").position[2])
        assert sum(sim.energy) == pytest.approx(before, abs=1e-6)
    assert heights[0] < -0.2
    assert heights[1] == pytest.approx(heights[0], abs=1e-8)


def passing(linkage, duration):
    """A loop of hinges in space along its way: the simulation, reports, energies."""
    sim = ds.Simulation(chain(*linkage, np.eye(3)), method=ds.EventDriven())
    reports, energies = [], []
    while sim.time < duration - 1e-9:
        reports.append(sim.step())
        energies.append(sum(sim.energy))
    return sim, reports, np.array(energies)


def test_a_loop_with_redundant_rows_is_one_phase():
    """Three of the 20 rows of Bennett's linkage follow from the others, and which of them can bear
    the load changes as it moves: at 1.44 s those that were chosen by their forces were nearly
    dependent, with forces of 4e5 N, and their rounding ended phase after phase."""
    _, reports, energies = passing(bennett(), 1.6)
    assert not [e.kind for r in reports for e in r.events]
    assert max(r.evaluations for r in reports) < 60
    assert np.ptp(energies) < 1e-11 * 1.6 * G  # of about the weight times the height of the bars


@pytest.mark.parametrize(
    ("angle", "length", "duration"), [(0.8, 0.5, 0.6), (0.3, 0.5, 0.5), (1.2, 0.5, 0.9)]
)
def test_sarrus_linkage_goes_straight_through_its_flat_states(angle, length, duration):
    """Where it is flat two more rows are dependent, and on the way back those that were chosen to
    bear the load. By energy alone, with one degree of freedom: the plate's speed at the height
    where it is."""
    sim, reports, energies = passing(sarrus(angle, length), duration)
    assert not [e.kind for r in reports for e in r.events]
    assert max(r.evaluations for r in reports) < 150
    assert max(r.joint_error for r in reports) < 1e-12
    assert np.abs(energies - energies[0]).max() < 1e-6
    plate = sim.body("bar2")
    assert plate.position[:2] == pytest.approx((0.25, 0.25), abs=1e-8)
    # bars of their length in mass at a quarter and three quarters of the plate's height; across
    # they move by cos, so that each has the kinetic energy of a rod on a knee
    now = np.arcsin(plate.position[2] / (2 * length))
    mass, top = np.sqrt(0.5), 2 * length
    rod = length * (length**2 + 0.05**2) / 12
    across, up = 0.5 * length * np.sin(now), 0.5 * length * np.cos(now)
    inertia = 4 * rod + mass * (top * np.cos(now)) ** 2
    inertia += 2 * length * ((across**2 + up**2) + (across**2 + 9 * up**2))
    weight = G * (mass * top + 2 * length * (0.25 + 0.75) * top)
    fallen = weight * (np.sin(angle) - np.sin(now))
    rate = np.sqrt(2 * fallen / inertia)
    assert abs(plate.velocity[2]) == pytest.approx(rate * top * np.cos(now), rel=1e-5)
