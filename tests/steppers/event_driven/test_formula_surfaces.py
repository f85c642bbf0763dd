"""Surfaces given by formulas in whole worlds, by both methods, against built-in shapes."""

import math

import numpy as np
import pytest

import drystone as ds


def ellipsoid(x, y, z):
    return (x / 0.3) ** 2 + (y / 0.2) ** 2 + (z / 0.1) ** 2 - 1


def ball_coordinates(u, v):
    return 0.3 * np.cos(v) * np.cos(u), 0.2 * np.cos(v) * np.sin(u), 0.1 * np.sin(v)


def by_math(x, y, z):
    """The same, by functions that know numbers alone."""
    return math.hypot(x / 0.3, y / 0.2, z / 0.1) ** 2 - 1


def with_branches(x, y, z):
    x = x if x > 0 else -x
    return np.where(y < 0, (-y / 0.2) ** 2, (y / 0.2) ** 2) + (x / 0.3) ** 2 + (z / 0.1) ** 2 - 1


def gradient(x, y, z):
    return 2 * x / 0.09, 2 * y / 0.04, 2 * z / 0.01


def hessian(x, y, z):
    return np.diag([2 / 0.09, 2 / 0.04, 2 / 0.01])


SHAPES = {
    "built-in": lambda: ds.Ellipsoid(0.3, 0.2, 0.1),
    "implicit": lambda: ds.ImplicitSurface(ellipsoid),
    "parametric": lambda: ds.ParametricSurface(ball_coordinates),
    "math": lambda: ds.ImplicitSurface(by_math, gradient, hessian),
    "branches": lambda: ds.ImplicitSurface(with_branches),
    "parametric branches": lambda: ds.ParametricSurface(
        lambda u, v: ball_coordinates(u if u > 3 else u + 2 * math.pi, v)
    ),
}

GIVEN = [name for name in SHAPES if name != "built-in"]


def tumbling(shape, **more):
    """A body dropped on a tilted box beside a fixed ball."""
    world = ds.World()
    world.add_ground(friction=0.4)
    world.add_body(ds.Sphere(0.2), name="ball", fixed=True, friction=0.4, position=(0.45, 0, 0.2))
    world.add_body(
        shape, name="body", mass=2.0, inertia=(0.02, 0.04, 0.05), friction=0.4,
        position=(0, 0, 0.3), orientation=(0.9, 0.1, 0.3, 0.2), velocity=(0.8, 0, 0), **more,
    )  # fmt: skip
    return world


def end(shape, method, duration):
    sim = ds.Simulation(tumbling(shape), method=method)
    sim.run(duration)
    return sim


@pytest.mark.parametrize("name", GIVEN)
def test_formulas_move_as_the_shape_they_describe_by_events(name):
    """Impacts, slip and rolling on the ground and on the ball: the same to the tolerance."""
    method = ds.EventDriven(dt=0.05)
    plain, given = (end(SHAPES[key](), method, 0.3) for key in ("built-in", name))
    assert len(plain.contacts) == len(given.contacts) > 0
    for what in ("position", "orientation", "velocity", "angular_velocity"):
        a, b = (getattr(sim.body("body"), what) for sim in (plain, given))
        assert a == pytest.approx(b, abs=1e-6), what
    assert given.penetration < 1e-9


@pytest.mark.parametrize("name", GIVEN)
def test_formulas_move_as_the_shape_they_describe_by_time_stepping(name):
    method = ds.TimeStepping(dt=1 / 240)
    plain, given = (end(SHAPES[key](), method, 0.5) for key in ("built-in", name))
    for what in ("position", "orientation"):
        a, b = (getattr(sim.body("body"), what) for sim in (plain, given))
        assert a == pytest.approx(b, abs=1e-6), what


def test_the_flat_spot_of_a_formula_is_crossed():
    """x^4 + y^4 + z^4 <= 1 by its formula and by its name; it tumbles over a flat spot."""
    quartic = ds.ImplicitSurface(lambda x, y, z: x**4 + y**4 + z**4 - 1)
    ends = []
    for shape in (quartic, ds.Superquadric(1, 1, 1, 0.5, 0.5)):
        world = ds.World()
        world.add_ground(friction=0.0)
        t = 0.3
        height = (np.sin(t) ** (4 / 3) + np.cos(t) ** (4 / 3)) ** 0.75
        world.add_body(
            shape, name="body", mass=1.0, inertia=(0.5, 0.5, 0.5), friction=0.0,
            position=(0, 0, height), orientation=(np.cos(t / 2), 0, np.sin(t / 2), 0),
            angular_velocity=(0.4, -2.0, 0.0),
        )  # fmt: skip
        sim = ds.Simulation(world, method=ds.EventDriven(dt=0.02))
        kinds = set()
        for _ in range(15):
            kinds |= {event.kind for event in sim.step().events}
        assert "curvature" in kinds
        body = sim.body("body")
        ends.append(np.concatenate([body.position, body.orientation, body.angular_velocity]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_meshes_for_pictures_lie_on_the_surface():
    for name in GIVEN:
        vertices, triangles = SHAPES[name]().mesh(32)
        assert np.abs(ellipsoid(*vertices.T)).max() < 1e-9
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
        assert volume == pytest.approx(4 / 3 * np.pi * 0.3 * 0.2 * 0.1, rel=0.03)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ds.ImplicitSurface(lambda x, y, z: x if x > 0 else y), "ImplicitSurface: F must"),
        (lambda: ds.ImplicitSurface(lambda x, y: x + y), "ImplicitSurface: F: TypeError"),
        (lambda: ds.ImplicitSurface(lambda x, y, z: x**2 + y**2 - 1), "ImplicitSurface: the surf"),
        (lambda: ds.ParametricSurface(lambda u, v: (u, v)), "ParametricSurface: S must give 3"),
        (lambda: ds.ParametricSurface(lambda u, v: (u, v, 0.0)), "ParametricSurface: the surface"),
    ],
)
def test_bad_formulas_are_named(make, words):
    with pytest.raises(ds.DrystoneError, match=words):
        make()
