"""C, C', C'' and slip of moving, accelerating bodies against distances solved with 34 digits."""

import numpy as np
import pytest

mp = pytest.importorskip("mpmath")

from drystone.constraints.kinematics import Feature, contact_kinematics  # noqa: E402
from drystone.constraints.rows import select  # noqa: E402
from drystone.geometry import shapes as sh  # noqa: E402
from drystone.geometry.detector import Detector  # noqa: E402
from tests.constraints.kinematics import moving  # noqa: E402

BOX = sh.Box(0.9, 0.7, 0.5)
TETRA = sh.ConvexPolyhedron([(1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1)])
EGG, DICE = sh.Ellipsoid(0.9, 0.5, 0.4), sh.Superquadric(0.7, 0.5, 0.6, 0.6, 0.8)
POLY, WEDGE = sh.RegularPolygon(5, 0.5), sh.Polygon([(0.0, 0.0), (1.0, 0.1), (0.2, 0.7)])

S, F, E, V, R = Feature.SMOOTH, Feature.FACE, Feature.EDGE, Feature.VERTEX, Feature.RIM
SPATIAL = [
    (sh.Sphere(0.6), sh.Sphere(0.4), S, S),
    (sh.Sphere(0.5), EGG, S, S),
    (EGG, sh.Ellipsoid(0.3, 0.8, 0.5), S, S),
    (EGG, DICE, S, S),
    (DICE, sh.Superquadric(0.4, 0.5, 0.8, 0.7, 0.5), S, S),
    (EGG, sh.HalfSpace((0.3, 0.2, 0.9)), S, F),
    (DICE, sh.HalfSpace(), S, F),
    (EGG, BOX, S, F),
    (EGG, BOX, S, E),
    (EGG, TETRA, S, V),
    (sh.Sphere(0.4), BOX, S, V),
    (sh.Sphere(0.4), BOX, S, E),
    (BOX, TETRA, V, F),
    (BOX, TETRA, F, V),
    (BOX, TETRA, E, E),
    (BOX, BOX, V, V),
    (BOX, BOX, V, E),
    (BOX, sh.HalfSpace(), V, F),
    (sh.Capsule(0.8, 0.2), BOX, S, E),
    (sh.Capsule(0.8, 0.2), sh.Capsule(0.9, 0.3), S, S),
    (EGG, sh.Capsule(0.8, 0.2), S, S),
    (sh.Cylinder(0.8, 0.3), sh.HalfSpace(), R, F),
    (EGG, sh.Cylinder(0.8, 0.3), S, R),
    (EGG, sh.Cylinder(0.8, 0.3), S, S),
    (EGG, sh.Cylinder(0.3, 0.9), S, F),
    (EGG, sh.Cone(0.8, 0.4), S, S),
    (sh.Cylinder(0.8, 0.3), BOX, R, E),
    (sh.Cone(0.8, 0.4), sh.HalfSpace(), V, F),
]
PLANAR = [
    (sh.Disk(0.5), sh.Ellipse(0.7, 0.3), S, S),
    (sh.Ellipse(0.4, 0.6), sh.Ellipse(0.7, 0.3), S, S),
    (sh.Ellipse(0.4, 0.6), sh.HalfPlane(), S, F),
    (sh.Ellipse(0.4, 0.6), POLY, S, F),
    (sh.Ellipse(0.4, 0.6), POLY, S, V),
    (POLY, WEDGE, V, F),
    (POLY, WEDGE, F, V),
    (POLY, WEDGE, V, V),
    (POLY, sh.HalfPlane((0.2, 1.0)), V, F),
    (sh.Capsule2D(0.8, 0.2), WEDGE, F, V),
    (sh.Capsule2D(0.8, 0.2), WEDGE, S, F),
]


def poses(geoms, position, turn):
    x = position + np.einsum("gij,gj->gi", turn, geoms.offset)
    return x, np.einsum("gij,gjk->gik", turn, geoms.turn)


def found(pair, expected, gap, rng):
    """A pose of the pair with one contact at about `gap` between the features expected."""
    geoms = moving.geoms_of(pair, rng)
    dim, nb = geoms.dim, 2
    detector = Detector(geoms, np.ones(nb, bool), np.ones(nb, np.int64))
    dof = 3 * (dim - 1)
    for _ in range(400):
        turn = np.array([moving.random_turn(rng, dim) for _ in range(nb)])
        direction = rng.normal(size=dim)
        position = np.zeros((nb, dim))
        position[0] = 4.0 * direction / np.linalg.norm(direction)
        velocity = rng.normal(size=(nb, dof))
        for _ in range(40):  # closer along the normal until the gap is as wanted
            x, Q = poses(geoms, position, turn)
            c = detector.contacts(x, Q, np.full(nb, 10.0))
            c = select(c, np.array([np.argmin(c.gap)]))
            if abs(c.gap[0] - gap) < 1e-12:
                break
            position[0] += (gap - c.gap[0]) * c.normal[0]
        if abs(c.gap[0] - gap) > 1e-9:
            continue
        k = contact_kinematics(geoms, x, Q, position, velocity, c)
        if tuple(k.feature[0]) == expected and k.flag[0] == 0:
            return geoms, x, Q, position, turn, velocity, c, k
    pytest.fail(f"no pose with features {expected}")


GAPS = (0.0, 0.02, -0.01)  # touching, apart, penetrating: in turn, as each takes half a second
CASES = [
    # two points, or a point and a line, have a distance but no depth
    (*case, 0.02 if case[2:] in ((V, V), (V, E)) else GAPS[i % 3])
    for i, case in enumerate(SPATIAL + PLANAR)
]


@pytest.mark.parametrize(
    ("a", "b", "fa", "fb", "gap"),
    CASES,
    ids=lambda v: v.name.lower() if isinstance(v, Feature) else str(v).partition("(")[0].lower(),
)
def test_against_distances_solved_anew(a, b, fa, fb, gap):
    rng = np.random.default_rng(7)
    geoms, x, Q, position, turn, velocity, c, k = found((a, b), (fa, fb), gap, rng)
    accel = rng.normal(size=velocity.shape)
    sides = []
    for s, shape in enumerate((a, b)):
        p = c.point[0] + (0.5 - s) * c.gap[0] * c.normal[0]
        q, m = (p - x[s]) @ Q[s], (2 * s - 1) * c.normal[0] @ Q[s]
        chart, start = moving.chart_of(shape, q, m, Feature(k.feature[0, s]))
        motion = moving.Motion(position[s], turn[s], velocity[s], accel[s])
        sides.append(moving.Side(motion, geoms.offset[s], geoms.turn[s], chart, start))
    true = moving.derivatives(*sides, c.normal[0].tolist(), c.gap[0])
    near = {"rel": 1e-8, "abs": 1e-8}
    frame = k.frame[0]
    assert k.gap[0] == pytest.approx(float(true["gap"]), **near)
    assert k.velocity[0, 0] == pytest.approx(float(true["rate"]), **near)
    assert k.accel(accel)[0, 0] == pytest.approx(float(true["accel"]), **near)
    vectors = {name: np.array(list(map(float, true[name]))) for name in list(true)[3:]}
    assert k.normal_rate[0] == pytest.approx(vectors["normal_rate"], **near)
    assert k.point_rate[0] == pytest.approx(vectors["point_rate"], **near)
    assert k.slip[0] == pytest.approx(frame[1:] @ vectors["slip"], **near)
    assert k.accel(accel)[0, 1:] == pytest.approx(frame[1:] @ vectors["slip_rate"], **near)
    rolling = k.accel(accel)[0] - k.bias[0] + k.rolling_bias[0]
    assert rolling == pytest.approx(frame @ vectors["slip_rate"], **near)
