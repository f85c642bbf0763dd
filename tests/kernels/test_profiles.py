"""The profiles by which kernels know bodies of revolution, against meshes of the shapes."""

import numpy as np
import pytest

from drystone.geometry import shapes
from drystone.kernels.kinds import PROFILES, REVOLVED
from drystone.kernels.pairs import PosedGeoms
from drystone.kernels.profiles import is_revolved, profile_of
from drystone.kernels.spatial.support import cores_of, set_pair, support
from tests.geometry.pair_calls import posed

pytestmark = pytest.mark.kernels
BODIES = [
    shapes.Capsule(0.7, 0.2),
    shapes.Cylinder(0.7, 0.2),
    shapes.Cylinder(0.1, 0.9),
    shapes.Cone(0.7, 0.2),
    shapes.Cone(0.1, 0.9),
]


def test_every_kind_that_turns_about_z_between_two_ends_has_one():
    family = {REVOLVED + k for k in range(len(PROFILES))}
    assert family == {shape.geom.code for shape in BODIES}
    for code, kind in shapes.KINDS.items():
        assert is_revolved(code) == (code in family), kind.name
        assert kind.about_z or code not in family


@pytest.mark.parametrize("shape", BODIES, ids=repr)
def test_ends_are_those_of_the_mesh(shape):
    piece = shape.pieces()[0]
    p = profile_of(piece.kind, piece.floats, 0)
    points = shape.mesh(96)[0]
    wide = np.hypot(points[:, 0], points[:, 1])
    assert p.low - p.around == pytest.approx(points[:, 2].min())
    assert p.high + p.around == pytest.approx(points[:, 2].max())
    assert p.high - p.low == pytest.approx(p.height)
    assert max(p.wide_low, p.wide_high) + p.around == pytest.approx(wide.max())
    if p.around == 0.0:
        for z, r in ((p.low, p.wide_low), (p.high, p.wide_high)):
            assert wide[np.isclose(points[:, 2], z)].max() == pytest.approx(r)
    ends = [sign for sign, r in ((p.low, p.wide_low), (p.high, p.wide_high)) if r > 0.0]
    np.testing.assert_allclose(ends, np.array(shapes.KINDS[piece.kind].ends) * piece.floats[0])


@pytest.mark.parametrize("shape", BODIES, ids=repr)
def test_support_points_are_the_furthest_of_the_mesh(shape):
    """To what a mesh of many sides lacks."""
    piece = shape.pieces()[0]
    numbers, first = np.tile(piece.floats, 2), np.array([0, 2, 4])
    R = np.tile(np.eye(3), (2, 1, 1))
    geoms: PosedGeoms = posed(np.zeros((2, 3)), R, piece.kind, first, numbers)
    cores = cores_of(geoms)
    set_pair(cores, geoms, 0, 1)
    points = shape.mesh(360)[0]
    for d in np.random.default_rng(1).normal(size=(40, 3)):
        d /= np.linalg.norm(d)
        support(cores, 1, -1, *d)
        far = cores.ab[1] @ d + cores.size[3]
        assert 0.0 <= far - (points @ d).max() + 1e-12 <= 1e-4
