"""A planar double pendulum on two pins, against its equations of motion in two angles.

Joints are rows of the same problem as contacts; they are closed at the end of every step.
"""

import numpy as np
from scipy.integrate import solve_ivp

import drystone as ds

LENGTH, MASS, G, T = 1.0, 1.0, 9.81, 1.0
START = np.array([1.2, 0.4])  # [rad] from the vertical


def simulated(dt):
    """Angles of both rods after T, and the greatest opening of a joint on the way."""
    world = ds.World(planar=True)
    pin = np.zeros(2)
    for k, angle in enumerate(START):
        way = np.array([np.sin(angle), -np.cos(angle)])
        world.add_body(
            ds.Rectangle(0.02, LENGTH),
            name=f"rod{k}",
            mass=MASS,
            position=pin + 0.5 * LENGTH * way,
            orientation=angle,
        )
        world.add_joint(ds.Pin(f"rod{k}", "world" if k == 0 else "rod0", anchor=tuple(pin)))
        pin = pin + LENGTH * way
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt))
    opening = 0.0
    for _ in range(round(T / dt)):
        sim.step()
        c, s = np.cos(sim.state.orientation), np.sin(sim.state.orientation)
        half = 0.5 * LENGTH * np.stack([s, -c], axis=1)
        opening = max(opening, np.abs(sim.state.position[0] - half[0]).max())
    return sim.state.orientation.copy(), opening


def exact():
    """The same by Lagrange's equations, M(q) q'' = f(q, q'), integrated to 1e-10."""
    inertia = MASS * (LENGTH**2 + 0.02**2) / 12

    def rate(t, y):
        a, b, u, v = y
        half = 0.5 * LENGTH
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array(
            [
                [inertia + MASS * (half**2 + LENGTH**2), MASS * LENGTH * half * c],
                [MASS * LENGTH * half * c, inertia + MASS * half**2],
            ]
        )
        f = [
            -MASS * LENGTH * half * s * v * v - 1.5 * MASS * G * LENGTH * np.sin(a),
            MASS * LENGTH * half * s * u * u - MASS * G * half * np.sin(b),
        ]
        return [u, v, *np.linalg.solve(M, f)]

    return solve_ivp(rate, (0, T), [*START, 0, 0], rtol=1e-10, atol=1e-10).y[:2, -1]


reference = exact()
errors = []
for dt in (1 / 240, 1 / 480, 1 / 960):
    angles, opening = simulated(dt)
    errors.append(np.abs(angles - reference).max())
    print(
        f"dt = 1/{1 / dt:.0f} s: angles {angles}, error {errors[-1]:.1e} rad, open {opening:.0e} m"
    )


def check():
    assert errors[0] < 0.02
    assert np.allclose(np.array(errors[:-1]) / errors[1:], 2.0, rtol=0.15), "first order in dt"
    assert opening < 1e-9


check()
