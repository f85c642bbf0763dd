"""Rocking bodies against their own equation: height h(theta), theta the only freedom that moves."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import drystone as ds
from drystone.scenes import scene

G = 9.81


def ellipsoid(a, c):
    """h, h', h'' of an ellipsoid that rocks about y."""

    def heights(t):
        s, k = np.sin(t), np.cos(t)
        h = np.sqrt(a**2 * s**2 + c**2 * k**2)
        d1 = (a**2 - c**2) * s * k / h
        return h, d1, (a**2 - c**2) * (k**2 - s**2) / h - d1**2 / h

    return heights


def superquadric(t):
    """h, h', h'' of x^4 + z^4 = 1: the support function is the 4/3-norm of (sin, cos)."""
    s, k = np.abs(np.sin(t)), np.abs(np.cos(t))
    q = s ** (4 / 3) + k ** (4 / 3)
    sign = np.sign(np.tan(t))
    p = sign * (s ** (1 / 3) * k - k ** (1 / 3) * s)  # 3/4 of dq/dt
    slope = (s ** (-2 / 3) * k**2 + k ** (-2 / 3) * s**2) / 3 - (s ** (4 / 3) + k ** (4 / 3))
    h = q**0.75
    return h, p * q**-0.25, slope * q**-0.25 - p**2 * q**-1.25 / 3


def inertia_of(name, settings):
    model, _ = scene(name, **settings).world.build()
    return float(model.inertia[1, 1, 1])


def reference(heights, inertia, start, duration):
    """theta and theta' by the equation (m h'^2 + I) theta'' = -m h' (h'' theta'^2 + g), m = 1."""

    def rate(_, y):
        _, d1, d2 = heights(y[0])
        return [y[1], -d1 * (d2 * y[1] ** 2 + G) / (d1**2 + inertia)]

    return solve_ivp(rate, (0, duration), [start, 0.0], rtol=1e-11, atol=1e-13, dense_output=True)


def reaction(heights, inertia, theta, rate):
    _, d1, d2 = heights(theta)
    turn = -d1 * (d2 * rate**2 + G) / (d1**2 + inertia)
    return G + d2 * rate**2 + d1 * turn


def angle(sim):
    w, _, y, _ = sim.body("body").orientation
    return 2 * np.arctan2(y, w)


@pytest.mark.parametrize(
    ("name", "a"), [("ellipsoid-rock", 1.5), ("eccentric-ellipsoid-rock", 4.0)]
)
def test_ellipsoids_rock_as_their_equation_says(name, a):
    """Time stepping, first order: error halves with the step; R peaks at the lowest point."""
    heights, inertia = ellipsoid(a, 1.0), inertia_of(name, {})
    exact = reference(heights, inertia, np.radians(30), 0.5)
    errors = []
    for dt in (2e-3, 1e-3):
        sim = scene(name).simulation(method=ds.TimeStepping(dt=dt))
        sim.run(0.5)
        errors.append(abs(angle(sim) - exact.sol(0.5)[0]))
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 2e-3
    force = sim.contacts["force"][:, 2].sum()
    middle = exact.sol(0.5 - 0.5 * dt)
    assert force == pytest.approx(reaction(heights, inertia, *middle), rel=0.02)


def test_flatter_bodies_press_harder_at_their_lowest_point():
    """h''(0) = (a^2 - c^2) / c: 1.25 against 15; peaks of R(t) over its mean."""
    peaks = []
    for name, a in (("ellipsoid-rock", 1.5), ("eccentric-ellipsoid-rock", 4.0)):
        heights, inertia = ellipsoid(a, 1.0), inertia_of(name, {})
        exact = reference(heights, inertia, np.radians(30), 3.0)
        t = np.linspace(0, 3, 3001)
        peaks.append(reaction(heights, inertia, *exact.sol(t)).max() / G)
    assert peaks[1] > 3 * peaks[0]


def test_the_flat_spot_presses_without_bound_and_without_impulse():
    """R diverges like theta^(-2/3) and its integral over the time within theta < e vanishes like
    e^(1/3)."""
    inertia = inertia_of("superquadric-rock", {})
    top = superquadric(np.radians(30))[0]

    def speed(theta):
        h, d1, _ = superquadric(theta)
        return np.sqrt(2 * G * (top - h) / (d1**2 + inertia))

    def force(theta):
        return reaction(superquadric, inertia, theta, -speed(theta))

    ratio = force(1e-6) / force(1e-3)
    assert ratio == pytest.approx(1e-3 ** (-2 / 3), rel=0.05)
    impulses = [
        quad(lambda u: force(u**3) / speed(u**3) * 3 * u**2, 0, e ** (1 / 3))[0]
        for e in (1e-3, 1e-6)
    ]
    assert impulses[1] == pytest.approx(impulses[0] / 10, rel=0.1)


def test_time_stepping_goes_over_the_flat_spot():
    """The energy's integral says when: a quarter of a period. Impulses of a step stay finite."""
    inertia = inertia_of("superquadric-rock", {})
    start = np.radians(30)
    top = superquadric(start)[0]

    def slowness(u):  # theta = start (1 - u^2) takes the turning point out
        theta = start * (1 - u**2)
        h, d1, _ = superquadric(theta)
        return 2 * start * u / np.sqrt(2 * G * (top - h) / (d1**2 + inertia))

    quarter = quad(slowness, 1e-6, 1 - 1e-12)[0]
    sim = scene("superquadric-rock").simulation(method=ds.TimeStepping(dt=5e-4))
    last = angle(sim)
    while angle(sim) > 0 and sim.time < 2:
        last = angle(sim)
        sim.step()
    crossed = sim.time + 5e-4 * angle(sim) / (last - angle(sim))
    assert crossed == pytest.approx(quarter, abs=2e-3)
    sim.run(0.05)
    assert sim.penetration < 1e-6
