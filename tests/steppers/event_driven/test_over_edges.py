"""Bodies that leave a face over its edge: other features of the two meet there, and forces jump."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

G, R, TOP, EDGE = 9.81, 0.12, 0.5, 0.5  # [m/s^2], [m]


def over_the_edge(speed, time, start=0.3):
    """(x, z) of a ball that slides over the edge of a table: about it, then in free flight."""
    t, angle, turn = (EDGE - start) / speed, 0.0, speed / R
    if R * turn**2 < G:

        def leaves(t, y):
            return G * np.cos(y[0]) - R * y[1] ** 2

        leaves.terminal = True
        way = solve_ivp(
            lambda t, y: [y[1], G / R * np.sin(y[0])], (t, time), [angle, turn], events=leaves,
            rtol=1e-12, atol=1e-13,
        )  # fmt: skip
        t, (angle, turn) = way.t[-1], way.y[:, -1]
    s, c, h = np.sin(angle), np.cos(angle), time - t
    return EDGE + R * s + R * turn * c * h, TOP + R * c - R * turn * s * h - 0.5 * G * h**2


@pytest.mark.parametrize("speed", [0.9, 2.1, 5.0, 20.0])
@pytest.mark.parametrize("shape", [ds.Sphere(R), ds.Capsule(0.5, R)])
def test_a_body_that_slides_off_a_table_leaves_it_at_its_edge(shape, speed):
    world = ds.World(gravity=(0, 0, -G))
    world.add_body(ds.Box(1, 1, 1), name="table", fixed=True, friction=0)
    across = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    world.add_body(
        shape, name="body", mass=1, friction=0, position=(0.3, 0.03, TOP + R),
        velocity=(speed, 0, 0), orientation=across,
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    before, time = sum(sim.energy), 0.2 / speed + 0.1
    sim.run(time)
    x, _, z = sim.body("body").position
    assert (x, z) == pytest.approx(over_the_edge(speed, time), abs=1e-7)
    assert sum(sim.energy) == pytest.approx(before, abs=1e-6)
    border = [event.time for event in sim.events if event.kind == "border"]
    assert border == pytest.approx([0.2 / speed], abs=1e-5)


SHAPES = {
    "capsule": (ds.Capsule(0.6, 0.13), 0.5),
    "slender": (ds.Cylinder(0.9, 0.11), 0.5),
    "cone": (ds.Cone(0.15, 0.4), 0.45),
    "stone": (ds.ConvexPolyhedron.hull(np.random.default_rng(3).normal(size=(14, 3)) * 0.2), 0.6),
    "cylinder": (ds.Cylinder(0.5, 0.25), 0.4),
}
BASES = {
    "disk": (ds.Cylinder(0.2, 0.5), (1, 0, 0, 0), 0.7),
    "post": (ds.Box(0.3, 0.3, 0.2), (1, 0, 0, 0), 0.7),
    "slope": (ds.Box(1.5, 1.5, 0.2), (np.cos(0.15), np.sin(0.15), 0, 0), 0.95),
    "box": (ds.Box(1.0, 0.8, 0.2), (1, 0, 0, 0), 0.7),
}


@pytest.mark.parametrize(
    ("shape", "base", "seed", "mu", "spin"),
    [
        ("capsule", "disk", 62, 0.0, 0.0),
        ("slender", "post", 14, 0.0, 0.0),
        ("slender", "slope", 18, 0.0, 0.0),
        ("stone", "post", 104, 0.0, 0.0),
        ("cone", "slope", 58, 0.0, 0.0),
        ("cylinder", "slope", 29, 0.4, 2.0),
        ("capsule", "box", 61, 0.4, 2.0),
    ],
)
def test_bodies_dropped_onto_small_ones_lose_energy_in_impacts_and_friction_alone(
    shape, base, seed, mu, spin
):
    """They slide over rims and edges, where their contact has another normal from one instant to
    the next, or another name."""
    rng, (body, size) = np.random.default_rng([7, seed]), SHAPES[shape]
    under, turn, top = BASES[base]
    world = ds.World(gravity=(0, 0, -G))
    world.add_ground(friction=mu)
    at = (0.05, 0.03, 0.6)
    world.add_body(under, name="base", position=at, orientation=turn, friction=mu, fixed=True)
    omega, q = spin * rng.normal(size=3), rng.normal(size=4)
    v = 0.5 * rng.normal(size=3) if spin else np.zeros(3)
    world.add_body(
        body, name="body", density=700, friction=mu, restitution=0.1 * spin,
        orientation=tuple(q / np.linalg.norm(q)), angular_velocity=tuple(omega),
        velocity=tuple(v), position=(0.02, -0.04, top + size + 0.02),
    )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.05))
    whole = sum(sim.energy)
    for _ in range(24):
        report = sim.step()
        assert report.status is ds.Status.SOLVED
        assert report.evaluations < 4000
        assert report.penetration < 2e-9
        assert abs(report.energy.constraint) < 1e-6 * whole
        assert abs(report.energy.unexplained) < 1e-6 * whole
        assert report.energy.change < 1e-7 * whole
