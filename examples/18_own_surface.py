"""A body of your own: give a formula, drop it, watch it rock to the last digit.

A pebble is the solid F(x, y, z) <= 0. F is called once, with symbols; its derivatives follow
exactly, so contact points, curvatures and forces are those of the formula, not of a mesh. The same
pebble is also given as a surface S(u, v). Both are simulated by events and by time stepping.
"""

import numpy as np

import drystone as ds

A, B, C = 0.30, 0.20, 0.12  # half axes [m]


def F(x, y, z):
    """An ellipsoid, squarer along x: negative inside, zero on the surface."""
    return (x / A) ** 4 + (x / A) ** 2 + (y / B) ** 2 + (z / C) ** 2 - 1


def S(u, v):
    """The same: at x = A t the section is an ellipse of radius sqrt(1 - t^2 - t^4)."""
    s = np.sin(v)
    t2 = s * s * END
    r = np.cos(v) * np.sqrt(1 + END + t2) * np.sqrt(END)
    return A * s * np.sqrt(END), B * r * np.cos(u), C * r * np.sin(u)


END = (np.sqrt(5.0) - 1) / 2  # t^2 + t^4 = 1 at both ends


def world(shape):
    out = ds.World()
    out.add_ground(friction=0.5)
    out.add_body(
        shape, name="pebble", density=2600, friction=0.5, restitution=0.3,
        position=(0, 0, 0.5), orientation=(0.9, 0.2, 0.35, 0.0), velocity=(0.5, 0, 0),
    )  # fmt: skip
    return out


pebbles = {"F(x, y, z)": ds.ImplicitSurface(F), "S(u, v)": ds.ParametricSurface(S)}
ends, books, steps = {}, {}, {}
for name, shape in pebbles.items():
    sim = ds.Simulation(world(shape), method=ds.EventDriven(dt=0.02))
    lost = 0.0
    for _ in range(30):
        report = sim.step()
        lost += report.energy.unexplained
    body = sim.body("pebble")
    ends[name], books[name] = np.concatenate([body.position, body.velocity]), lost
    for dt in (1 / 500, 1 / 2000):
        coarse = ds.Simulation(world(shape), method=ds.TimeStepping(dt=dt, restitution="newton"))
        coarse.run(0.6)
        steps[name, dt] = np.abs(coarse.body("pebble").position - body.position).max()
    print(f"{name:10} mass {sim.model.mass[1]:.6f} kg, at {body.position.round(6)} after 0.6 s")

first, second = ends.values()
print(f"the two formulas differ by {np.abs(first - second).max():.1e}")
print(
    "time stepping is off by",
    ", ".join(f"{steps['S(u, v)', dt]:.1e} m" for dt in (1 / 500, 1 / 2000)),
)
vertices, triangles = pebbles["F(x, y, z)"].mesh(48)
print(f"for pictures: {len(vertices)} points, {len(triangles)} triangles")


def check():
    assert np.abs(first - second).max() < 1e-6
    assert max(abs(x) for x in books.values()) < 1e-6
    for name in pebbles:
        assert steps[name, 1 / 2000] < steps[name, 1 / 500] < 0.05
    assert np.abs(F(*vertices.T)).max() < 1e-9


check()
