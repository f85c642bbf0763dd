"""Solids given by formulas, and bowls: what is refused, mass, meshes, contacts, a run."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.errors import ModelError, ShapeError
from drystone.geometry.detector import Detector
from drystone.geometry.mass_properties import of_mesh
from drystone.geometry.shapes.trace import Tape, results, trace
from drystone.kernels.surfaces.tape import run_tape
from tests.constraints.kinematics.test_properties import geoms_of


def quartic(x, y, z):
    return x**4 + 2 * y**4 + z**4 + 0.3 * x * x + 0.1 * x - 1.0


def egg(u, v):
    r = 1 + 0.1 * np.sin(v)
    return 0.5 * r * np.cos(v) * np.cos(u), 0.4 * r * np.cos(v) * np.sin(u), 0.7 * np.sin(v)


def given_sphere(first=2.0, second=2.0):
    """The unit sphere with derivatives by hand."""
    return ds.ImplicitSurface(
        lambda x, y, z: x * x + y * y + z * z - 1,
        gradient=lambda x, y, z: (first * x, 2 * y, 2 * z),
        hessian=lambda x, y, z: ((second, 0, 0), (0, 2, 0), (0, 0, 2)),
    )


@pytest.mark.kernels
@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y, z: x * y - z / (2 + x) + 3.0 - y**3,
        lambda x, y, z: np.sqrt(x * x + y * y + 1) * np.exp(-z) + np.log(2 + y),
        lambda x, y, z: np.sin(x) * np.cos(y) + np.tan(0.3 * z) + np.arctan(x * z),
        lambda x, y, z: np.sinh(x) + np.cosh(y) * np.tanh(z) + abs(y) ** 2.5,
        lambda x, y, z: np.hypot(x, y) + (2.0 + x) ** y + 2.0**z + np.square(-z),
        lambda x, y, z: np.maximum(x, y) * np.minimum(y, z) + (np.array([x, y]) * [z, 2]).sum(),
    ],
)  # fmt: skip
def test_tapes_against_differences(formula):
    tape = Tape()
    (at,) = results("t", "F", trace("t", "F", formula, 3, tape), 1, tape)
    numbers, W = np.ravel(tape.rows), np.empty((len(tape.rows), 10))
    p = np.array([0.31, 0.47, -0.23])

    def jet(q):
        run_tape(numbers, 0, len(tape.rows), q, W)
        return W[at].copy()

    here = jet(p)
    assert here[0] == pytest.approx(formula(*p), rel=1e-14)
    h = 1e-5
    k = 4
    for i in range(3):
        e = h * np.eye(3)[i]
        forth, back = jet(p + e), jet(p - e)
        assert here[1 + i] == pytest.approx((forth[0] - back[0]) / (2 * h), abs=1e-8)
        for j in range(i, 3):
            assert here[k] == pytest.approx((forth[1 + j] - back[1 + j]) / (2 * h), abs=1e-7)
            k += 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ds.ImplicitSurface(lambda x, y, z: x * x + y * y - z - 1), "closed"),
        (lambda: ds.ImplicitSurface(lambda x, y, z: x * x + y * y + z * z + 1), "negative inside"),
        (
            lambda: ds.ImplicitSurface(
                lambda x, y, z: (x * x + y * y + z * z + 0.7) ** 2 - 3.2 * (x * x + y * y) - 0.5
            ),
            "convex",
        ),
        (lambda: ds.ImplicitSurface(lambda x, y, z: x if x > 0 else y), "negative inside"),
        (  # it gives numbers, and derivatives of 0 between the jumps
            lambda: ds.ImplicitSurface(lambda x, y, z: np.floor(np.hypot(x, y) + z * z) - 0.5),
            "gradient of F vanishes",
        ),
        (lambda: ds.ImplicitSurface(lambda x, y: x), "takes 2 positional"),
        (lambda: ds.ImplicitSurface(3.0), "must be a function"),
        (lambda: ds.ImplicitSurface(lambda x, y, z: (x, y)), "must give 1 numbers, got 2"),
        (lambda: ds.ImplicitSurface(quartic, gradient=quartic), "both gradient and hessian"),
        (lambda: given_sphere(second=7.0), "hessian at .*, but that of F is .*2.0, 0.0, 0.0, 2.0"),
        (lambda: given_sphere(first=-2.0), "gradient at .*, but that of F is"),
        (
            lambda: ds.ImplicitSurface(lambda x, y, z: abs(x) ** 1.5 + y * y + z * z - 1),
            "no second derivatives at",
        ),
        (  # v from the north pole, not from the equator
            lambda: ds.ParametricSurface(
                lambda u, v: (np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), 1.5 * np.cos(v))
            ),
            "convex.*do u from 0 to 6.283 and v from -1.571 to 1.571 cover it once",
        ),
        (lambda: ds.ParametricSurface(egg, v=(-1.0, 1.5)), "closed"),
        (lambda: ds.ParametricSurface(egg, v=(1.0, -1.5)), "must ascend"),
        (lambda: ds.ParametricSurface(lambda u, v: (u, v)), "must give 3 numbers, got 2"),
        (
            lambda: ds.ParametricSurface(
                lambda u, v: (
                    (2 + np.cos(v)) * np.cos(u),
                    (2 + np.cos(v)) * np.sin(u),
                    np.sin(v),
                ),
                v=(0, 2 * math.pi),
            ),
            "convex",
        ),
        (lambda: ds.Bowl(1.0, 1.0, 1.0, rim=2.0), "rim must be above"),
        (lambda: ds.Bowl(1.0, -1.0, 1.0), "b must be positive"),
    ],
)
def test_what_is_not_a_closed_convex_surface_is_refused(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


def test_derivatives_by_hand_are_taken_if_they_are_those_of_the_formula():
    assert given_sphere().mass_properties(1.0).mass == pytest.approx(4 * np.pi / 3, rel=1e-12)


def test_mass_and_mesh():
    solid = ds.ImplicitSurface(quartic)
    g = 2.6 * (np.arange(140) + 0.5) / 140 - 1.3
    grid = np.stack(np.meshgrid(g, g, g, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = solid.contains(grid)
    of = solid.mass_properties(1.0)
    assert of.mass == pytest.approx(inside.mean() * 2.6**3, rel=1e-3)
    assert of.centre == pytest.approx(grid[inside].mean(axis=0), abs=1e-3)
    vertices, triangles = solid.mesh(60)
    meshed = of_mesh(vertices, triangles, 1.0)
    assert meshed.mass == pytest.approx(of.mass, rel=1e-2)
    assert meshed.inertia == pytest.approx(of.inertia, rel=3e-2, abs=1e-2)
    moved = ds.ImplicitSurface(lambda x, y, z: quartic(x - 3, y, z + 1), inside=(3, 0, -1))
    other = moved.mass_properties(1.0)
    assert other.centre == pytest.approx(of.centre + np.array([3, 0, -1]), abs=1e-9)
    assert other.inertia == pytest.approx(of.inertia, abs=1e-8)


def test_parametric_solid():
    solid = ds.ParametricSurface(egg)
    of = solid.mass_properties(2.0)
    vertices, triangles = solid.mesh(80)
    meshed = of_mesh(vertices, triangles, 2.0)
    assert meshed.mass == pytest.approx(of.mass, rel=5e-3)
    assert meshed.centre == pytest.approx(of.centre, abs=2e-3)
    x, y, z = egg(np.linspace(0, 6, 50), np.linspace(-1.4, 1.4, 50))
    surface = np.column_stack([x, y, z])
    assert solid.contains(0.99 * surface).all()
    assert not solid.contains(1.01 * surface).any()


def test_contacts_of_a_formula_against_minimisation():
    """The distance of two bodies as the least distance of points of them (scipy)."""
    solid, ball = ds.ImplicitSurface(quartic), ds.Sphere(0.3)
    rng = np.random.default_rng(2)
    q = Rotation.random(random_state=rng)
    centre = np.array([1.2, 0.9, 0.8])
    c = q.inv().apply(centre)
    best = min(
        (
            minimize(
                lambda p: np.linalg.norm(p - c),
                start,
                constraints={"type": "ineq", "fun": lambda p: -quartic(*p)},
                tol=1e-14,
            )
            for start in (0.5 * c, np.zeros(3))
        ),
        key=lambda found: found.fun,
    )
    geoms = geoms_of(solid, ball)
    x = np.array([np.zeros(3), centre])
    R = np.array([q.as_matrix(), np.eye(3)])
    found = Detector(geoms, np.ones(2, bool), np.ones(2, np.int64)).contacts(x, R, np.full(2, 2.0))
    assert found.gap[0] == pytest.approx(best.fun - 0.3, abs=1e-7)


def test_bowl_contacts_against_brute_force():
    """Nearest wall points by a fine grid of the wall; an egg across a narrow bowl touches twice."""
    bowl = ds.Bowl(1.0, 0.8, 0.5)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 1500), np.linspace(-np.pi / 2, 0, 700))
    wall = np.stack(
        [np.cos(v) * np.cos(u), 0.8 * np.cos(v) * np.sin(u), 0.5 * np.sin(v)], axis=-1
    ).reshape(-1, 3)
    box = ds.Box(0.4, 0.3, 0.2)
    R = np.array([np.eye(3), Rotation.from_rotvec([0.3, 0.2, 0.5]).as_matrix()])
    x = np.array([[0.0, 0, 0], [0.3, 0.2, -0.2]])

    def contacts(shape, margin):
        geoms = geoms_of(bowl, shape)
        detector = Detector(geoms, np.array([False, True]), np.ones(2, np.int64))
        return detector.contacts(x, R, np.full(2, 0.5 * margin))

    found = contacts(box, 0.15)
    corners = x[1] + box.pieces()[0].floats[:24].reshape(8, 3) @ R[1].T
    true = np.array([np.linalg.norm(wall - corner, axis=1).min() for corner in corners])
    inside = np.linalg.norm(corners / [1.0, 0.8, 0.5], axis=1) < 1.0
    true = np.where(inside, true, -true)
    assert set(found.feature.tolist()) == set(np.flatnonzero(true < 0.15).tolist())
    assert found.gap == pytest.approx(true[found.feature], abs=2e-3)
    x[1] = 0.0, 0.0, -0.02
    R[1] = np.eye(3)
    narrow = contacts(ds.Ellipsoid(0.95, 0.1, 0.1), 0.1)
    assert len(narrow) == 2  # both ends
    assert sorted(narrow.normal[:, 0].round(1).tolist()) == [-1.0, 1.0]
    x[1] = 0.0, 0.0, 0.4
    assert len(contacts(ds.Sphere(0.1), 0.2)) == 0  # above the rim there is no wall


def test_an_egg_comes_to_rest_in_a_bowl():
    world = ds.World()
    world.add_body(ds.Bowl(0.5, 0.4, 0.3), name="bowl", fixed=True, friction=0.5)
    shape = ds.ImplicitSurface(lambda x, y, z: x * x / 0.01 + y * y / 0.0064 + z * z / 0.0049 - 1)
    world.add_body(shape, name="egg", density=1000, position=(0.1, 0.05, -0.1), friction=0.5)
    sim = ds.Simulation(world, method=ds.TimeStepping(dt=0.005))
    sim.run(duration=1.5)
    height = sim.body("egg").position[2]
    assert -0.3 < height < -0.2
    assert np.linalg.norm(sim.body("egg").velocity) < 1.0
    assert sim.contacts["gap"].min() > -1e-3


def test_a_bowl_has_no_mass():
    world = ds.World()
    with pytest.raises(ModelError, match="Bowl has no mass"):
        world.add_body(ds.Bowl(1.0, 1.0, 1.0))
