"""Flat ends of cylinders and cones fall onto planes: by energy, and by the impulse that stops them.

A cylinder on one point of its rim without friction has one degree of freedom, its tilt: energy
gives the speed at which the end is flush. There the points ahead and behind take impulses, and the
plastic impact is a linear complementarity problem of two contacts: the cylinder stops where
I <= m r^2, and rocks on about the other side of its rim where it does not.
"""

from math import cos, sin

import numpy as np
import pytest

import drystone as ds

G = 9.81


def tipping(shape, low, tilt=0.3, heading=0.2, spin=0.0, mu=0.0, base=None, **more):
    """World of a body of 1 kg, turned about its axis by `heading` and then about y by `tilt`, whose
    origin is at a height `low`; base: what it stands on, 0.6 m high, instead of the ground."""
    world = ds.World(gravity=(0, 0, -G))
    if base is None:
        world.add_ground(friction=mu)
    else:
        at = (0.1, 0.05, 0.5)
        world.add_body(base, name="base", position=at, friction=mu, fixed=True)
    a, b, c, d = cos(tilt / 2), sin(tilt / 2), cos(heading / 2), sin(heading / 2)
    axis = np.array([sin(tilt), 0.0, cos(tilt)])
    world.add_body(
        shape, name="body", mass=1.0, friction=mu, orientation=(a * c, b * d, b * c, a * d),
        position=(0, 0, low + (0.6 if base else 0.0)), angular_velocity=tuple(spin * axis), **more,
    )  # fmt: skip
    return world


def height(h, r, t):
    """Of the centre of a cylinder whose rim touches the ground."""
    return r * sin(t) + h / 2 * cos(t)


def frames(world, time, dt=0.02, **options):
    sim = ds.Simulation(world, method=ds.EventDriven(dt=dt, **options))
    reports = [sim.step() for _ in range(round(time / dt))]
    return sim, reports


@pytest.mark.parametrize("base", [None, ds.Box(2, 2, 0.2)])
def test_a_wide_cylinder_stops_when_its_end_is_flush(base):
    h, r, t = 0.8, 0.4, 0.3
    sim, reports = frames(tipping(ds.Cylinder(h, r), height(h, r, t), t, base=base), 0.4)
    lost = -sum(report.energy.impact for report in reports)
    assert lost == pytest.approx(G * (height(h, r, t) - h / 2), rel=1e-9), "all of its motion"
    assert not np.abs(sim.state.velocity).max() > 1e-12
    assert abs(sum(report.energy.constraint for report in reports)) < 1e-9
    assert max(report.evaluations for report in reports) < 200
    kinds = [event.kind for report in reports for event in report.events]
    assert kinds == ["touch", "impact"]


@pytest.mark.parametrize("heading", [0.0, np.pi / 8])
def test_a_slender_cylinder_rocks_on(heading):
    """About the point across, wherever the detector's points of the rim are."""
    h, r, t = 2.0, 0.2, 0.15
    mass = (3 * r**2 + h**2) / 12  # transverse inertia of 1 kg
    assert mass > r**2
    # before: v = -w r, after: an impulse p at the other side alone stops that side
    w = np.sqrt(2 * G * (height(h, r, t) - h / 2) / (mass + r**2))
    p = 2 * w * r / (1 + r**2 / mass)
    after = 0.5 * (p - w * r) ** 2 + 0.5 * mass * (w - r * p / mass) ** 2
    _, reports = frames(tipping(ds.Cylinder(h, r), height(h, r, t), t, heading), 0.5)
    hits = [e for report in reports for e in report.events if e.kind == "impact"]
    assert len(hits) == 1
    assert hits[0].energy == pytest.approx(after - 0.5 * (mass + r**2) * w**2, rel=1e-7)


def test_a_spinning_cylinder_keeps_its_energy():
    """With spin the end is never flush: its contact point runs round the rim, it rises again."""
    h, r, t = 0.8, 0.4, 0.3
    for spin in (1.0, 1e-3):
        sim, reports = frames(tipping(ds.Cylinder(h, r), height(h, r, t), t, spin=spin), 0.4)
        start = G * height(h, r, t) + 0.25 * r**2 * spin**2
        assert sum(sim.energy) == pytest.approx(start, rel=1e-6)
        assert max(report.evaluations for report in reports) < 3000
        assert not any(e.kind == "impact" for report in reports for e in report.events)


@pytest.mark.parametrize(
    ("shape", "low", "tilt", "rest", "mu"),
    [
        (ds.Cylinder(0.1, 0.5), height(0.1, 0.5, 0.4), 0.4, 0.05, 0.4),
        (ds.Cylinder(2.0, 0.2), height(2.0, 0.2, 1.0), 1.0, 0.2, 0.0),
        (ds.Cone(1.0, 0.4), 0.4 * sin(0.2) + 0.25 * cos(0.2), 0.2, 0.25, 0.4),
        (ds.Cone(1.0, 0.4), -0.75 * cos(2.0), 2.0, None, 0.4),
        (ds.Capsule(1.0, 0.2), 0.5 * cos(1.2) + 0.2, 1.2, 0.2, 0.0),
    ],
)
def test_round_bodies_dropped_come_to_rest(shape, low, tilt, rest, mu):
    """On an end, a side or a slant: in bounded work, without gaining energy, the ledger closed."""
    world = tipping(shape, low + 0.1, tilt, mu=mu, restitution=0.1)
    sim, reports = frames(world, 0.9, dt=0.05)
    energies = [r.energy.kinetic + r.energy.potential for r in reports]
    assert max(np.diff(energies), default=0.0) < 1e-10
    for report in reports:
        assert report.evaluations < 2500
        assert abs(report.energy.unexplained) < 1e-8
        assert abs(report.energy.constraint) < 1e-6
        assert report.penetration < 1e-9
    if rest is not None:
        assert sim.body("body").position[2] == pytest.approx(rest, abs=1e-9)
        assert np.abs(sim.state.velocity[-1, 2:5]).max() < 1e-6
