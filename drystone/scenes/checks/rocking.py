"""Rocking bodies against the equation of their one freedom, and the flat spot of figure 6.8.

The centre's height is the support function h(theta); with g the acceleration of gravity
(m h'^2 + I) theta'' = -m h' (h'' theta'^2 + g) and R = m (g + h'' theta'^2 + h' theta'').
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp

from drystone.scenes.checks.claims import Claim, watched
from drystone.types import GRAVITY

EVENT_DRIVEN_TOL = 1e-7  # [rad] that an event-driven run may be away
ROUGH = 5e-3  # by other methods


def angle(sim: Any) -> float:
    """About y, from upright [rad]."""
    w, _, y, _ = sim.body("body").orientation
    return float(2 * np.arctan2(y, w))


def force(sim: Any) -> float:
    """R, of all contacts [N]."""
    return float(sim.contacts["force"][:, 2].sum())


def ellipsoid(a: float, c: float) -> Callable[[Any], tuple[Any, Any, Any]]:
    """h, h', h'' of an ellipsoid that turns about y."""

    def heights(t: Any) -> tuple[Any, Any, Any]:
        s, k = np.sin(t), np.cos(t)
        h = np.sqrt(a**2 * s**2 + c**2 * k**2)
        slope = (a**2 - c**2) * s * k / h
        return h, slope, (a**2 - c**2) * (k**2 - s**2) / h - slope**2 / h

    return heights


def ellipsoid_rock(scene: Any, method: Any) -> Iterator[Claim]:
    """Angle and reaction, frame by frame, against the equation."""
    s = scene.settings
    heights, mass = ellipsoid(s["a"], s["c"]), s["mass"]
    model, _ = scene.world.build()
    inertia = float(model.inertia[1, 1, 1])

    def turning(theta: Any, rate: Any) -> Any:
        _, d1, d2 = heights(theta)
        return -mass * d1 * (d2 * rate**2 + GRAVITY) / (mass * d1**2 + inertia)

    kept: list[tuple[float, float, float]] = []
    duration = min(scene.duration, 2.0)
    run = watched(
        scene, method, lambda sim: kept.append((sim.time, angle(sim), force(sim))), duration
    )
    t, theta, R = np.array(kept).T
    start = [np.radians(s["tilt"]), 0.0]
    exact = solve_ivp(
        lambda _, y: [y[1], turning(*y)], (0, t[-1]), start, rtol=1e-11, atol=1e-13, t_eval=t
    ).y
    _, d1, d2 = heights(exact[0])
    wanted = mass * (GRAVITY + d2 * exact[1] ** 2 + d1 * turning(*exact))
    sharp = hasattr(method, "touch")
    away = float(np.abs(theta - exact[0]).max())
    yield Claim(
        "angle away from its equation [rad]", away, high=EVENT_DRIVEN_TOL if sharp else ROUGH
    )
    if sharp:
        off = float((np.abs(R - wanted) / wanted).max())
        yield Claim("R(t) away from its equation, relative", off, high=1e-5)
        yield Claim("largest R(t) over the weight", float(R.max() / (mass * GRAVITY)), low=1.0)
    yield from run.claims()


def eccentric_ellipsoid_rock(scene: Any, method: Any) -> Iterator[Claim]:
    """The same; its peaks are those of a flat body."""
    yield from ellipsoid_rock(scene, method)


def superquadric(size: float) -> Callable[[float], tuple[float, float]]:
    """h, h' of x^4 + y^4 + z^4 = size^4: size times the 4/3-norm of (sin, cos)."""

    def heights(t: float) -> tuple[float, float]:
        s, k = abs(np.sin(t)), abs(np.cos(t))
        q = s ** (4 / 3) + k ** (4 / 3)
        p = np.sign(np.tan(t)) * (s ** (1 / 3) * k - k ** (1 / 3) * s)
        return size * q**0.75, size * p * q**-0.25

    return heights


def passing(scene: Any) -> Callable[[float], float]:
    """Time at which the body gets from its tilt down to an angle, by its energy [s]."""
    s = scene.settings
    heights, mass = superquadric(s["size"]), s["mass"]
    model, _ = scene.world.build()
    inertia = float(model.inertia[1, 1, 1])
    start = np.radians(s["tilt"])
    top = heights(start)[0]

    def slowness(u: float, end: float) -> float:  # theta = start - (start - end) u^2
        theta = start - (start - end) * u * u
        h, d1 = heights(theta)
        speed2 = 2 * mass * GRAVITY * (top - h) / (mass * d1**2 + inertia)
        return 2 * (start - end) * u / np.sqrt(speed2)

    def when(end: float) -> float:
        flat = np.sqrt(start / (start - end)) if end < 0 else 1.0
        out = quad(slowness, 1e-9, flat, args=(end,), epsabs=1e-12, limit=400)[0]
        if flat < 1.0:
            out += quad(slowness, flat, 1.0, args=(end,), epsabs=1e-12, limit=400)[0]
        return float(out)

    return when


def superquadric_rock(scene: Any, method: Any) -> Iterator[Claim]:
    """Over the flat spot at its time; R diverges as delta^(-2/3), its impulse vanishes as
    delta^(1/3)."""
    when = passing(scene)
    crossed: list[float] = []

    def look(sim: Any) -> None:
        if angle(sim) < 0 and not crossed:
            crossed.append(abs(sim.time - when(angle(sim))))

    flat = when(0.0)
    run = watched(scene, method, look, flat + 3 * method.dt)
    sharp = hasattr(method, "touch")
    late = crossed[0] if crossed else np.nan
    yield Claim(
        "time of the crossing, away from the energy's [s]", late, high=1e-5 if sharp else 5e-3
    )
    if sharp:
        seen = sum(event.kind == "curvature" for event in run.events)
        yield Claim("flat spots that were reported", seen, low=1)
        yield from _divergence(scene, method, flat)
    yield from run.claims()


def _divergence(scene: Any, method: Any, flat: float) -> Iterator[Claim]:
    """R at delta before the spot, and what it gives from there to as long after it."""
    mass, forces, gives = scene.settings["mass"], [], []
    for delta in (1e-3, 1e-5):
        sim = scene.simulation(method, dt=flat - delta)
        sim.step()
        forces.append(force(sim))
        before = float(sim.body("body").velocity[2])
        sim = scene.simulation(method, dt=flat + delta)
        sim.step()
        after = float(sim.body("body").velocity[2])
        gives.append(mass * (after - before + 2 * delta * GRAVITY))
    grows, falls = 100 ** (2 / 3), 100 ** (-1 / 3)
    ratio = (forces[1] / forces[0]) / grows
    yield Claim("growth of R over that of a -2/3 power", ratio, 0.9, 1.1)
    ratio = (gives[1] / gives[0]) / falls
    yield Claim("fall of its impulse over that of a 1/3 power", ratio, 0.9, 1.1)
