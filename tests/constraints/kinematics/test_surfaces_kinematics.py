"""Black-box surfaces and bowls: implicit and parametric give the same C''."""

import math

import numpy as np
import pytest

from drystone.constraints.kinematics import Feature, contact_kinematics
from drystone.constraints.rows import select
from drystone.geometry import shapes as sh
from drystone.geometry.detector import Detector

A, B, C, E1, E2 = 0.7, 0.5, 0.6, 0.6, 0.8
DICE = sh.Superquadric(A, B, C, E1, E2)


def level(x, y, z):
    across = np.abs(x / A) ** (2 / E2) + np.abs(y / B) ** (2 / E2)
    return across ** (E2 / E1) + np.abs(z / C) ** (2 / E1) - 1.0


def radial(u, v):
    """The sphere's directions, each as long as the surface is far: smooth, unlike Barr's chart."""
    x, y, z = np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)
    far = (level(x, y, z) + 1.0) ** (-0.5 * E1)
    return x * far, y * far, z * far


def gradient_of_ellipsoid(x, y, z):
    return [2 * x / 0.81, 2 * y / 0.25, 2 * z / 0.16]


def hessian_of_ellipsoid(x, y, z):
    return [[2 / 0.81, 0, 0], [0, 2 / 0.25, 0], [0, 0, 2 / 0.16]]


def ellipsoid(x, y, z):
    return x * x / 0.81 + y * y / 0.25 + z * z / 0.16 - 1.0


def ellipsoid_by_math(x, y, z):
    return math.pow(x / 0.9, 2) + math.pow(y / 0.5, 2) + math.pow(z / 0.4, 2) - 1.0


def ellipsoid_by_complex_steps(x, y, z):
    """arcsin has no symbol, but takes complex numbers."""
    return np.sin(np.arcsin(0.01 * x)) ** 2 / 8.1e-5 + y * y / 0.25 + z * z / 0.16 - 1.0


def chart(u, v):
    cu, su, cv, sv = math.cos(u), math.sin(u), math.cos(v), math.sin(v)
    return 0.9 * cv * cu, 0.5 * cv * su, 0.4 * sv


def chart_first(u, v):
    cu, su, cv, sv = math.cos(u), math.sin(u), math.cos(v), math.sin(v)
    return (-0.9 * cv * su, 0.5 * cv * cu, 0.0), (-0.9 * sv * cu, -0.5 * sv * su, 0.4 * cv)


def chart_second(u, v):
    cu, su, cv, sv = math.cos(u), math.sin(u), math.cos(v), math.sin(v)
    uu, uv = (-0.9 * cv * cu, -0.5 * cv * su, 0.0), (0.9 * sv * su, -0.5 * sv * cu, 0.0)
    return uu, uv, (-0.9 * cv * cu, -0.5 * cv * su, -0.4 * sv)


def level_with_branches(x, y, z):
    across = 0.0
    for part in (x / A, y / B):
        across += (part if part > 0 else -part) ** (2 / E2)
    return across ** (E2 / E1) + np.where(z < 0, -z / C, z / C) ** (2 / E1) - 1.0


def radial_with_branches(u, v):
    x, y, z = np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)
    far = (level_with_branches(x, y, z) + 1.0) ** (-0.5 * E1)
    return x * far, y * far, z * far


EGG = sh.Ellipsoid(0.9, 0.5, 0.4)
FORMS = {
    "implicit egg": (sh.ImplicitSurface(ellipsoid), EGG),
    "given derivatives": (
        sh.ImplicitSurface(ellipsoid, gradient_of_ellipsoid, hessian_of_ellipsoid),
        EGG,
    ),
    "parametric egg": (
        sh.ParametricSurface(
            lambda u, v: (
                0.9 * np.cos(v) * np.cos(u),
                0.5 * np.cos(v) * np.sin(u),
                0.4 * np.sin(v),
            )
        ),
        EGG,
    ),
    "turned round": (  # the same with S_u x S_v inwards and the poles elsewhere
        sh.ParametricSurface(
            lambda u, v: (0.9 * np.sin(v), 0.4 * np.cos(v) * np.sin(u), 0.5 * np.cos(v) * np.cos(u))
        ),
        sh.Ellipsoid(0.9, 0.4, 0.5),
    ),
    "implicit dice": (sh.ImplicitSurface(level), DICE),
    "parametric dice": (
        sh.ParametricSurface(radial),
        DICE,
    ),
    "math egg": (
        sh.ImplicitSurface(ellipsoid_by_math, gradient_of_ellipsoid, hessian_of_ellipsoid),
        EGG,
    ),
    "math chart": (sh.ParametricSurface(chart, first=chart_first, second=chart_second), EGG),
    "complex steps": (sh.ImplicitSurface(ellipsoid_by_complex_steps), EGG),
    "branchy dice": (sh.ImplicitSurface(level_with_branches), DICE),
    "branchy chart": (sh.ParametricSurface(radial_with_branches), DICE),
}
OTHERS = [sh.Sphere(0.4), sh.Ellipsoid(0.3, 0.8, 0.5), sh.Capsule(0.8, 0.2), sh.Box(0.9, 0.7, 0.5),
          sh.Cylinder(0.6, 0.3), sh.HalfSpace()]  # fmt: skip


def one_contact(shapes, position, turn, velocity, moving):
    geoms = moving.geoms_of(shapes, np.random.default_rng(1))
    x = position + np.einsum("gij,gj->gi", turn, geoms.offset)
    R = np.einsum("gij,gjk->gik", turn, geoms.turn)
    found = Detector(geoms, np.ones(2, bool), np.ones(2, np.int64)).contacts(x, R, np.full(2, 3.0))
    found = select(found, np.array([np.argmin(found.gap)]))
    return found, contact_kinematics(geoms, x, R, position, velocity, found), x, R, geoms


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", OTHERS, ids=lambda s: type(s).__name__)
def test_a_formula_moves_like_the_shape_it_describes(form, other):
    moving = pytest.importorskip("tests.constraints.kinematics.moving")
    black_box, known = FORMS[form]
    rng = np.random.default_rng(5)
    for _ in range(8):
        turn = np.array([moving.random_turn(rng, 3) for _ in range(2)])
        direction = rng.normal(size=3)
        position = np.array([1.1 * direction / np.linalg.norm(direction), np.zeros(3)])
        velocity = rng.normal(size=(2, 6))
        c, k, *_ = one_contact((known, other), position, turn, velocity, moving)
        d, m, *_ = one_contact((black_box, other), position, turn, velocity, moving)
        sign = 1.0 if d.geom_a[0] == c.geom_a[0] else -1.0
        assert d.gap == pytest.approx(c.gap, abs=1e-9)
        assert sign * d.normal == pytest.approx(c.normal, abs=1e-7)
        assert m.bias[:, 0] == pytest.approx(k.bias[:, 0], rel=1e-6, abs=1e-6)
        assert m.velocity[:, 0] == pytest.approx(k.velocity[:, 0], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "form",
    ["implicit dice", "parametric dice", "branchy dice", "branchy chart", "math egg", "math chart",
     "complex steps"],
)  # fmt: skip
@pytest.mark.parametrize(
    "other", [sh.HalfSpace(), sh.Ellipsoid(0.3, 0.8, 0.5)], ids=["plane", "egg"]
)
def test_formulas_against_distances_solved_anew(form, other):
    moving = pytest.importorskip("tests.constraints.kinematics.moving")
    black_box, known = FORMS[form]
    rng = np.random.default_rng(8)
    turn = np.array([moving.random_turn(rng, 3) for _ in range(2)])
    position, velocity = np.array([[0.4, 0.9, 0.7], [0.0, 0, 0]]), rng.normal(size=(2, 6))
    accel = rng.normal(size=(2, 6))
    c, k, x, R, geoms = one_contact((black_box, other), position, turn, velocity, moving)
    assert c.geom_a[0] == 0
    sides = []
    for s, shape in enumerate((known, other)):
        p = c.point[0] + (0.5 - s) * c.gap[0] * c.normal[0]
        q, m = (p - x[s]) @ R[s], (2 * s - 1) * c.normal[0] @ R[s]
        chart, start = moving.chart_of(shape, q, m, Feature(k.feature[0, s]))
        motion = moving.Motion(position[s], turn[s], velocity[s], accel[s])
        sides.append(moving.Side(motion, geoms.offset[s], geoms.turn[s], chart, start))
    true = moving.derivatives(*sides, c.normal[0].tolist(), c.gap[0])
    assert k.velocity[0, 0] == pytest.approx(float(true["rate"]), rel=1e-8)
    assert k.accel(accel)[0, 0] == pytest.approx(float(true["accel"]), rel=1e-8)


def bowl_contacts(bowl, shape, position, turn, velocity, moving, margin=0.5):
    geoms = moving.geoms_of((bowl, shape), np.random.default_rng(1))
    x = position + np.einsum("gij,gj->gi", turn, geoms.offset)
    R = np.einsum("gij,gjk->gik", turn, geoms.turn)
    found = Detector(geoms, np.ones(2, bool), np.ones(2, np.int64)).contacts(
        x, R, np.full(2, 0.5 * margin)
    )
    return found, contact_kinematics(geoms, x, R, position, velocity, found), x, R, geoms


def test_ball_in_a_spherical_bowl_is_a_pendulum():
    """C = R - r - |d|, so C'' = -n.a - |v_t|^2 / (R - r - C) for the ball's centre at d."""
    moving = pytest.importorskip("tests.constraints.kinematics.moving")
    rng = np.random.default_rng(0)
    geoms = moving.geoms_of((sh.Bowl(1.0, 1.0, 1.0, rim=1.0), sh.Sphere(0.3)), rng, False)
    position = np.array([[0.0, 0, 0], [0.3, -0.2, 0.5]])
    velocity, accel = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    velocity[0], accel[0] = 0.0, 0.0
    R = np.broadcast_to(np.eye(3), (2, 3, 3)).copy()
    found = Detector(geoms, np.array([False, True]), np.ones(2, np.int64)).contacts(
        position, R, np.full(2, 0.2)
    )
    assert len(found) == 1
    k = contact_kinematics(geoms, position, R, position, velocity, found)
    d = position[1]
    n = d / np.linalg.norm(d)
    v = velocity[1, :3] - n * (n @ velocity[1, :3])
    assert found.gap[0] == pytest.approx(0.7 - np.linalg.norm(d), abs=1e-13)
    assert found.normal[0] == pytest.approx(n, abs=1e-12)  # from the ball to the wall
    expected = -n @ accel[1, :3] - v @ v / np.linalg.norm(d)
    assert k.accel(accel)[0, 0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "shape",
    [sh.Sphere(0.2), sh.Ellipsoid(0.2, 0.15, 0.1), sh.Box(0.3, 0.2, 0.25)],
    ids=lambda s: type(s).__name__,
)
def test_bodies_in_an_ellipsoidal_bowl(shape):
    moving = pytest.importorskip("tests.constraints.kinematics.moving")
    rng = np.random.default_rng(4)
    bowl = sh.Bowl(1.2, 1.0, 0.8, rim=0.8)
    turn = np.array([moving.random_turn(rng, 3) for _ in range(2)])
    position = np.array([[0.0, 0, 0], [0.35, 0.2, -0.3]])
    velocity, accel = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    args = (bowl, shape, position, turn, velocity, moving)
    c, k, x, R, geoms = bowl_contacts(*args)
    i = int(np.argmin(c.gap))
    sides = []
    for s, solid in enumerate((bowl, shape)):
        p = c.point[i] + (0.5 - s) * c.gap[i] * c.normal[i]
        q, m = (p - x[s]) @ R[s], (2 * s - 1) * c.normal[i] @ R[s]
        chart, start = moving.chart_of(solid, q, m, Feature(k.feature[i, s]))
        motion = moving.Motion(position[s], turn[s], velocity[s], accel[s])
        sides.append(moving.Side(motion, geoms.offset[s], geoms.turn[s], chart, start))
    true = moving.derivatives(*sides, c.normal[i].tolist(), c.gap[i])
    assert c.gap[i] == pytest.approx(float(true["gap"]), abs=1e-12)
    assert k.velocity[i, 0] == pytest.approx(float(true["rate"]), rel=1e-8)
    assert k.accel(accel)[i, 0] == pytest.approx(float(true["accel"]), rel=1e-8)
