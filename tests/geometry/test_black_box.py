"""Surfaces by functions that cannot be noted down as formulas: branches, math, tables."""

import gc
import math

import numpy as np
import pytest

import drystone as ds
from drystone.errors import ShapeError
from drystone.geometry.shapes.trace import jets_at
from drystone.recording.models import difference, model_arrays

R = 0.1
EDGES = np.linspace(0.0, 1.0, 65)  # of squared distance; the table is exact for its nodes
TABLE = EDGES - R * R


def by_math(x, y, z):
    return math.hypot(x, y, z) ** 2 - R * R


def gradient(x, y, z):
    return 2 * x, 2 * y, 2 * z


def hessian(x, y, z):
    return ((2, 0, 0), (0, 2, 0), (0, 0, 2))


def by_table(x, y, z):
    """x^2 + y^2 + z^2 - R^2 looked up and joined by straight lines."""
    t = (x * x + y * y + z * z) * 64
    k = min(int(t), 63)
    return TABLE[k] + (t - k) * (TABLE[k + 1] - TABLE[k])


def with_branches(x, y, z):
    squares = [part * part if part > 0 else (-part) ** 2 for part in (x, y, z)]
    return max(sum(squares) - R * R, -1.0)


def by_steps(x, y, z):
    """No symbol for arccosh; complex numbers do."""
    return np.arccosh(1.0 + x * x + y * y + z * z) - np.arccosh(1.0 + R * R)


SPHERES = {
    "math": lambda: ds.ImplicitSurface(by_math, gradient, hessian),
    "table": lambda: ds.ImplicitSurface(by_table),
    "branches": lambda: ds.ImplicitSurface(with_branches),
    "complex steps": lambda: ds.ImplicitSurface(by_steps),
}


@pytest.mark.parametrize("name", SPHERES)
def test_a_sphere_by_a_function_is_a_sphere(name):
    solid = SPHERES[name]()
    of, ball = (shape.mass_properties(1000.0) for shape in (solid, ds.Sphere(R)))
    assert of.mass == pytest.approx(ball.mass, rel=1e-10)
    assert of.inertia == pytest.approx(ball.inertia, rel=1e-10, abs=1e-12)
    vertices, _ = solid.mesh(24)
    assert np.linalg.norm(vertices, axis=1) == pytest.approx(R, rel=1e-12)
    assert solid.contains([(0, 0, 0.0999), (0, 0, 0.1001)]).tolist() == [True, False]


@pytest.mark.parametrize("name", SPHERES)
@pytest.mark.parametrize("method", ["events", "steps"])
def test_it_rolls_down_a_slope_as_a_sphere_does(name, method):
    """5/7 g sin(a) along the slope, for a homogeneous ball that does not slip."""
    slope, g, t = 0.2, 9.81, 0.3
    world = ds.World(gravity=(g * math.sin(slope), 0, -g * math.cos(slope)))
    world.add_ground(friction=0.8)
    inertia = (0.4 * R * R,) * 3
    world.add_body(
        SPHERES[name](), name="ball", mass=1.0, inertia=inertia, friction=0.8, position=(0, 0, R)
    )
    gc.collect()  # the world keeps the surface, and the surface its function
    far = 0.5 * 5 / 7 * g * math.sin(slope) * t * t
    if method == "events":
        sim = ds.Simulation(world, ds.EventDriven(dt=0.05))
        sim.run(t)
        assert sim.body("ball").position == pytest.approx((far, 0, R), abs=1e-7)
    else:
        h = 1 / 200
        sim = ds.Simulation(world, ds.TimeStepping(dt=h))
        sim.run(t)
        assert sim.body("ball").position[0] == pytest.approx(far * (1 + h / t), rel=1e-4)
    assert sim.body("ball").angular_velocity[1] == pytest.approx(
        sim.body("ball").velocity[0] / R, rel=1e-6
    )


def test_the_curvature_jumps_where_branches_meet():
    """Half an ellipsoid on half a ball (Baraff 1992, 6.7), let go on the egg's side: once it rolls
    on the ball's, whose centre is the centre of mass, its speed is that of the energy it had."""

    def acorn(x, y, z):
        return (x / 0.15 if x > 0 else x / R) ** 2 + (y * y + z * z) / (R * R) - 1

    tilt, inertia, g = 0.3, 0.005, 9.81
    height = math.hypot(R * math.cos(tilt), 0.15 * math.sin(tilt))
    world = ds.World(gravity=(0, 0, -g))
    world.add_ground(friction=0.5)
    world.add_body(
        ds.ImplicitSurface(acorn), name="acorn", mass=1.0, inertia=(inertia,) * 3, friction=0.5,
        centre_of_mass=(0, 0, 0), position=(0, 0, height),
        orientation=(math.cos(tilt / 2), 0, math.sin(tilt / 2), 0),
    )  # fmt: skip
    sim = ds.Simulation(world, ds.EventDriven(dt=0.02))
    sim.run(0.7)
    body = sim.body("acorn")
    assert body.orientation[2] < 0  # over the border
    speed = math.sqrt(2 * g * (height - R) / (R * R + inertia))
    assert body.angular_velocity == pytest.approx((0, -speed, 0), abs=1e-7)
    assert body.position[2] == pytest.approx(R, abs=1e-9)


@pytest.mark.kernels
def test_jets_of_functions_that_look_at_numbers():
    """Against derivatives by hand, in each branch."""

    def looks(x, y, z):
        if x > 1:
            return y**3 + x % 0.5
        first = np.arctan2(y, x) * np.where(z >= 0, z, -2 * z)
        return first + math.floor(y) + np.sqrt(np.array([z * z, x * x]))[0]

    (jet,) = jets_at("t", "F", looks, (1.7, 2.0, 3.0), 1)
    assert jet == pytest.approx([8.2, 1, 12, 0, 0, 0, 0, 12, 0, 0])
    x, y, z = -0.6, 0.8, -0.5
    (jet,) = jets_at("t", "F", looks, (x, y, z), 1)
    angle, du, dv = math.atan2(y, x), -y, x  # on the unit circle
    second = 2 * x * y, y * y - x * x, -2 * x * y  # xx, xy, yy of the angle there
    w, slope = -2 * z, -2.0
    expected = [
        angle * w + 0.5, du * w, dv * w, angle * slope - 1,
        second[0] * w, second[1] * w, du * slope, second[2] * w, dv * slope, 0,
    ]  # fmt: skip
    assert jet == pytest.approx(expected, abs=1e-14)


def circle(u, v):
    return R * math.cos(v) * math.cos(u), R * math.cos(v) * math.sin(u), R * math.sin(v)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ds.ImplicitSurface(by_math), "ImplicitSurface: F: .*give gradient and hessian"),
        (lambda: ds.ParametricSurface(circle), "ParametricSurface: S: .*give first and second"),
        (
            lambda: ds.ImplicitSurface(by_math, lambda x, y, z: (2 * x, y, 2 * z), hessian),
            "ImplicitSurface: gradient at .*, but that of F is",
        ),
        (
            lambda: ds.ImplicitSurface(by_math, gradient, lambda x, y, z: np.eye(3)),
            "ImplicitSurface: hessian at .*, but that of F is",
        ),
        (
            lambda: ds.ImplicitSurface(with_branches, lambda x, y, z: (2 * x, y, 2 * z), hessian),
            "ImplicitSurface: gradient at .*, but that of F is",
        ),
        (
            lambda: ds.ParametricSurface(
                lambda u, v: (np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)),
                first=lambda u, v: np.ones((2, 3)),
                second=lambda u, v: np.ones((3, 3)),
            ),
            "ParametricSurface: first at .*, but that of S is",
        ),
        (lambda: ds.ParametricSurface(circle, first=circle), "both first and second"),
        (lambda: ds.ImplicitSurface(by_math, 1, 2), "gradient must be a function"),
        (
            lambda: ds.ImplicitSurface(by_math, gradient, gradient),
            "hessian must give 9 numbers, got 3",
        ),
        (lambda: ds.ImplicitSurface(lambda x, y, z: math.sqrt(x - 1)), "F: ValueError: math dom"),
        (lambda: ds.ImplicitSurface(lambda x, y, z: "no" if x < 1 else 0), "F gave 'no' at"),
        (  # complex numbers pass through, but abs of one is not the abs of a number
            lambda: ds.ImplicitSurface(lambda x, y, z: abs(np.arcsinh(x + y + z)) - 1),
            "F: no derivatives at .*np.arcsinh",
        ),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


class Spoiled(Exception):
    pass


@pytest.mark.parametrize(
    "method", [ds.EventDriven(dt=0.02), ds.TimeStepping(dt=0.01)], ids=["events", "steps"]
)
def test_what_the_function_raises_in_a_run_comes_out_with_its_name(method):
    spoilt = []

    def fragile(x, y, z):
        if spoilt:
            raise Spoiled("the table is gone")
        return by_math(x, y, z)

    world = ds.World()
    world.add_ground(friction=0.5)
    shape = ds.ImplicitSurface(fragile, gradient, hessian)
    world.add_body(shape, name="ball", mass=1.0, inertia=(0.004,) * 3, position=(0, 0, R))
    sim = ds.Simulation(world, method)
    sim.run(0.1)
    spoilt.append(True)
    with pytest.raises(ShapeError, match="ImplicitSurface: F: Spoiled: the table is gone, at"):
        sim.run(0.1)
    spoilt.clear()
    sim.run(0.1)
    assert sim.body("ball").position == pytest.approx((0, 0, R), abs=1e-4)


@pytest.mark.parametrize("name", ["math", "complex steps"])
def test_addresses_stay_in_this_process(name):
    """Neither copies nor recordings hold what only this process can follow."""
    solid = SPHERES[name]()
    piece = solid.pieces()[0]
    again = object.__new__(type(solid))  # as it travels to another process
    again.__setstate__(solid.__getstate__())
    assert not {"_piece", "_program"} & set(vars(again))
    assert again.pieces()[0].floats[16:] == pytest.approx(piece.floats[16:], abs=0)

    points = np.array([(0.02, 0.04, 0.08), (-0.06, 0.08, 0.0)])
    np.testing.assert_array_equal(again._jets(points)[0][:, 0], solid._jets(points)[0][:, 0])

    def model(shape):
        world = ds.World()
        world.add_body(shape, mass=1.0, inertia=(1, 1, 1))
        return world.build()[0]

    assert difference(model(solid), model(again)) is None
    numbers = model_arrays(model(solid))["geoms.numbers"]
    assert numbers[[0, 5, 6, 7]].tolist() == [0, 0, 0, 0]
