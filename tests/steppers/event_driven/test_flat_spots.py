"""Surfaces without curvature (Baraff 1992, 6.7), by the equations of a superquadric that rocks on a
plane.

Its height is the support function h(theta), so energy gives theta', and time is an integral of
theta alone, computed with 50 digits.
"""

from functools import cache

import mpmath as mp
import numpy as np
import pytest

import drystone as ds
from tests.scenes.test_rocking_scenes import G, reaction, superquadric

INERTIA, START = 0.5, 30.0  # [kg m^2], [degrees]


def height(theta):
    """Support function of x^4 + z^4 = 1 and its slope, theta >= 0."""
    s, c = mp.sin(theta), mp.cos(theta)
    q = mp.cbrt(s) ** 4 + mp.cbrt(c) ** 4
    return q ** mp.mpf("0.75"), (mp.cbrt(s) * c - mp.cbrt(c) * s) / q ** mp.mpf("0.25")


@cache
def fall(degrees):
    """Time from rest at START to an angle above zero, and the speed there."""
    with mp.workdps(50):
        top = height(mp.radians(START))[0]

        def speed(theta):
            h, slope = height(theta)
            return mp.sqrt(2 * G * (top - h) / (slope**2 + INERTIA))

        a, b = mp.radians(degrees), mp.radians(START)
        middle = mp.radians(15)  # above, theta = b - u^2 has no root in it; below, theta = u^3
        high = mp.quad(lambda u: 2 * u / speed(b - u * u), [0, mp.sqrt(b - max(a, middle))])
        low = 0
        if a < middle:
            low = mp.quad(lambda u: 3 * u * u / speed(u**3), [mp.cbrt(a), mp.cbrt(middle)])
        return float(high + low), float(speed(a))


def rocking(shape=None, degrees=START, mu=0.0, **more):
    """World of a body of unit mass on the ground."""
    t = np.radians(degrees)
    world = ds.World(gravity=(0, 0, -G))
    world.add_ground(friction=mu)
    at = {"orientation": (np.cos(t / 2), 0.0, np.sin(t / 2), 0.0)}
    world.add_body(
        shape or ds.Superquadric(1, 1, 1, 0.5, 0.5),
        name="body",
        mass=1.0,
        inertia=(INERTIA,) * 3,
        friction=mu,
        **{"position": (0, 0, superquadric(t)[0] if degrees else 1.0), **at, **more},
    )
    return world


def angle(sim):
    w, _, y, _ = sim.body("body").orientation
    return 2 * np.arctan2(y, w)


def test_angles_after_three_flat_spots_to_the_tolerance():
    """Exact angles and speeds; the error falls with rtol; every crossing is reported in time."""
    quarter = fall(0)[0]
    t, speed = 6 * quarter - fall(10)[0], fall(10)[1]  # -10 degrees, on the way back up
    errors = []
    for rtol in (1e-8, 1e-10):
        method = ds.EventDriven(dt=t / 60, rtol=rtol, atol=rtol / 100)
        sim = ds.Simulation(rocking(), method=method)
        events = []
        for _ in range(60):
            events += [e for e in sim.step().events if e.kind == "curvature"]
        errors.append(abs(angle(sim) + np.radians(10)))
    assert errors[1] < 5e-8
    assert errors[1] < 0.05 * errors[0] < 5e-7
    assert sim.body("body").angular_velocity[1] == pytest.approx(-speed, abs=1e-6)
    assert [event.names[0].split(" ")[0] for event in events] == ["body/ground"] * 3
    for k, event in enumerate(events):
        assert 0.0 < (2 * k + 1) * quarter - event.time < 0.1
    assert abs(sim.report.energy.unexplained) < 1e-9


def test_the_force_diverges_and_its_impulse_vanishes():
    """Figure 6.8 and (6-40): R grows like d^(-2/3) at t0 - d, and the momentum that it gives from
    t0 - d to t0 + d falls like d^(1/3)."""
    quarter, speed = fall(0)
    forces, impulses, gaps = [], [], (1e-3, 1e-5, 1e-7)
    for d in gaps:
        sim = ds.Simulation(rocking(), method=ds.EventDriven(rtol=1e-10, atol=1e-12))
        before, _ = sim.stepper.step(sim.state, quarter - d)
        forces.append(sim.stepper.contact_table()["force"][:, 2].sum())
        after, _ = sim.stepper.step(before, 2 * d)
        impulses.append(after.velocity[1, 2] - before.velocity[1, 2] + G * 2 * d)
        theta = speed * d  # nearly: the speed is level there
        assert forces[-1] == pytest.approx(reaction(superquadric, INERTIA, theta, -speed), rel=0.03)
    assert forces[2] > 4000
    for k in (0, 1):
        assert forces[k + 1] / forces[k] == pytest.approx(100 ** (2 / 3), rel=0.1)
        assert impulses[k + 1] / impulses[k] == pytest.approx(100 ** (-1 / 3), rel=0.05)
    # z' = h' theta' on both sides, h' = theta^(1/3)
    assert impulses[2] == pytest.approx(2 * speed * (speed * gaps[2]) ** (1 / 3), rel=1e-2)


def test_the_angular_velocity_does_not_jump():
    """A discontinuity of the acceleration, not of the velocity (Baraff 1992, 6.7)."""
    quarter, speed = fall(0)
    sim = ds.Simulation(rocking(), method=ds.EventDriven(rtol=1e-10, atol=1e-12))
    before, _ = sim.stepper.step(sim.state, quarter - 1e-7)
    after, _ = sim.stepper.step(before, 2e-7)
    assert before.velocity[1, 4] == pytest.approx(-speed, rel=1e-4)
    assert after.velocity[1, 4] == pytest.approx(before.velocity[1, 4], abs=1e-7)


def test_a_body_may_start_on_its_flat_spot():
    """The curvature is zero there to the last bit; energy says how fast it turns later."""
    spin = 1.5
    world = rocking(degrees=0.0, angular_velocity=(0, spin, 0))
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    assert sim.step().events[0].kind == "curvature"
    sim.run(0.15)
    h, slope, _ = superquadric(angle(sim))
    expected = np.sqrt((INERTIA * spin**2 - 2 * G * (h - 1)) / (INERTIA + slope**2))
    assert sim.body("body").angular_velocity[1] == pytest.approx(expected, abs=1e-7)
    assert sim.penetration < 1e-12


@pytest.mark.parametrize("integrator", ["rk45", "adams"])
def test_other_integrators_get_across(integrator):
    t = 2 * fall(0)[0] - fall(10)[0]
    method = ds.EventDriven(dt=t / 20, integrator=integrator, rtol=1e-7, atol=1e-9)
    sim = ds.Simulation(rocking(), method=method)
    for _ in range(20):
        sim.step()
    assert angle(sim) == pytest.approx(-np.radians(10), abs=1e-5)


def test_flat_spots_on_each_other():
    """A superquadric rocks on one three times its size: over both flat spots at once."""
    world = ds.World(gravity=(0, 0, -G))
    world.add_body(ds.Superquadric(3, 3, 3, 0.5, 0.5), name="base", fixed=True, friction=0.0)
    t = np.radians(START)
    world.add_body(
        ds.Superquadric(1, 1, 1, 0.5, 0.5), name="body", mass=1.0, inertia=(INERTIA,) * 3,
        friction=0.0, position=(0, 0, 3 + superquadric(t)[0]),
        orientation=(np.cos(t / 2), 0.0, np.sin(t / 2), 0.0),
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    energy, kinds, unexplained = sum(sim.energy), [], 0.0
    for _ in range(14):
        report = sim.step()
        kinds += [event.kind for event in report.events]
        unexplained += report.energy.unexplained
    assert "curvature" in kinds
    assert angle(sim) < 0
    assert abs(unexplained) < 1e-8
    assert 0 <= energy - sum(sim.energy) < 2e-3  # it falls by 20 um at the start
    assert sim.penetration < 1e-9


def test_a_die_that_tumbles_with_friction_keeps_its_books():
    """In all directions at once, near its flat spots; slip and stick on the way."""
    world = rocking(mu=0.5, angular_velocity=(0.7, 0.3, 0.2))
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.02))
    kinds, unexplained = set(), 0.0
    for _ in range(50):
        report = sim.step()
        kinds |= {event.kind for event in report.events}
        unexplained += report.energy.unexplained
        assert report.penetration < 1e-9
    assert {"curvature", "stick"} <= kinds
    assert abs(unexplained) < 1e-7


def section(exponent, t=0.3):
    """World of a superquadric of semi-axes 1, 0.8, 0.6 that stands on |x|^n + |z / 0.6|^n = 1,
    n = 2 / exponent, turned by t: its height is the support function of that section."""
    n = 2 / exponent
    q = n / (n - 1)
    high = (np.sin(t) ** q + (0.6 * np.cos(t)) ** q) ** (1 / q)
    world = ds.World(gravity=(0, 0, -G))
    world.add_ground(friction=0)
    world.add_body(
        ds.Superquadric(1, 0.8, 0.6, exponent, 0.7), name="body", mass=1.0, inertia=(0.3,) * 3,
        friction=0, position=(0, 0, high), orientation=(np.cos(t / 2), 0, -np.sin(t / 2), 0),
    )  # fmt: skip
    return world, G * high


@pytest.mark.parametrize("exponent", [0.5, 0.35, 0.1])
def test_flat_spots_are_crossed_with_all_energy_or_refused(exponent):
    """Flatter than x^4 an angle of 1e-16 does not tell where on it the contact point is."""
    world, before = section(exponent)
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    if exponent == 0.5:
        for _ in range(7):
            sim.step()
        assert sum(sim.energy) == pytest.approx(before, rel=1e-6)
        return
    with pytest.raises(ds.SimulationError, match=r"contact body/ground.* crosses a spot that is"):
        sim.run(0.35)
    assert sum(sim.energy) == pytest.approx(before, rel=1e-6), "nothing moved wrongly"
    assert angle(sim) < 0, "it is where the last frame ended"


@pytest.mark.parametrize(
    ("seed", "exponents", "size", "mu"),
    [(8, (0.47, 0.33), 0.06, 0.3), (11, (0.2, 0.2), 0.3, 0.3), (12, (0.8, 0.3), 0.02, 0.0)],
)
def test_a_spot_that_is_too_flat_is_refused_at_once(seed, exponents, size, mu):
    """Dice that fall on it and roll with friction or spin: a contact point that stays on it while
    nothing turns made ten thousands of steps of no length, and in one that follows SciPy refused
    to begin."""
    rng = np.random.default_rng(seed)
    world = ds.World(gravity=(0, 0, -G))
    world.add_ground(friction=mu)
    q = rng.normal(size=4)
    world.add_body(
        ds.Superquadric(*(size * rng.uniform(0.4, 1.0, 3)), *exponents), name="body", density=1000,
        friction=mu, position=(0, 0, 2 * size), orientation=q / np.linalg.norm(q),
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven())
    before = sum(sim.energy)
    with pytest.raises(ds.SimulationError, match="crosses a spot that is too flat"):
        sim.run(2.0)
    assert sim.stepper.loop.log.evaluations < 1500
    assert sum(sim.energy) <= before * (1 + 1e-6)
