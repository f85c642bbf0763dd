"""The detector with every kind of shape: nothing the pair kernels find is lost on the way."""

import sys
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from drystone.geometry import dispatch, shapes
from drystone.geometry.detector import Detector
from drystone.model import Geoms
from tests.geometry import pair_calls
from tests.geometry.kind_tables import NAMES, PLANAR, SPATIAL, UNBOUNDED

SHAPES = {
    2: (
        shapes.Disk(0.4),
        shapes.Ellipse(0.6, 0.3),
        shapes.Capsule2D(0.8, 0.2),
        shapes.RegularPolygon(5, 0.5),
        shapes.HalfPlane(),
    ),
    3: (
        shapes.Sphere(0.4),
        shapes.Ellipsoid(0.6, 0.3, 0.4),
        shapes.Superquadric(0.5, 0.4, 0.3, 0.6, 0.8),
        shapes.Capsule(0.8, 0.2),
        shapes.Cylinder(0.6, 0.3),
        shapes.Cone(0.8, 0.4),
        shapes.Box(0.8, 0.5, 0.6),
        shapes.HalfSpace(),
    ),
}
ROOT = Path(__file__).parents[2]
KINDS = {2: PLANAR, 3: SPATIAL}


def geoms_of(dim, chosen):
    """One body for each shape."""
    pieces = [piece for shape in chosen for piece in shape.pieces()]
    assert len(pieces) == len(chosen)
    count = len(pieces)
    return Geoms(
        dim=dim,
        kind=np.array([p.kind for p in pieces]),
        body=np.arange(count),
        uid=np.arange(count),
        offset=np.zeros((count, dim)),
        turn=np.broadcast_to(np.eye(dim), (count, dim, dim)),
        first=np.cumsum([0, *(p.floats.size for p in pieces)]),
        numbers=np.concatenate([p.floats for p in pieces]),
        first_int=np.cumsum([0, *(p.ints.size for p in pieces)]),
        ints=np.concatenate([p.ints for p in pieces]).astype(np.int64),
        radius=np.array([p.radius for p in pieces]),
    )


def turns(rng, count, dim):
    Q = np.linalg.qr(rng.normal(size=(count, dim, dim)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def one_pair(geoms, a, b, x, R, margin):
    """Contacts of one pair from its kernel, with a fresh cache and nothing in between."""
    entry = dispatch.find(int(geoms.kind[a]), int(geoms.kind[b]))
    room, cache = pair_calls.room_for(40, geoms.dim), np.zeros((1, entry.width))
    posed = pair_calls.posed(
        x, R, geoms.kind, geoms.first, geoms.numbers, geoms.first_int, geoms.ints
    )
    count = pair_calls.run(entry.load(), [[a, b]], margin, posed, cache, room, calls=entry.calls())
    return room.gap[:count]


@pytest.mark.parametrize("dim", [2, 3])
def test_every_pair_of_kinds_has_a_kernel(dim):
    for i, a in enumerate(KINDS[dim]):
        for b in KINDS[dim][i:]:
            if a not in UNBOUNDED:
                assert dispatch.find(a, b) is not None, (NAMES[a], NAMES[b])


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
def test_all_kinds_together(dim):
    """Every pair's kernel asked alone finds the contacts that the detector found."""
    rng = np.random.default_rng(dim)
    chosen = [SHAPES[dim][k] for k in rng.permutation(np.arange(24) % (len(SHAPES[dim]) - 1))]
    chosen.insert(5, SHAPES[dim][-1])
    geoms = geoms_of(dim, chosen)
    ng = len(geoms)
    movable = np.arange(ng) != 5
    detector = Detector(geoms, movable, np.ones(ng, int))
    x, R = rng.uniform(0, 24 ** (1 / dim) * 0.8, (ng, dim)), turns(rng, ng, dim)
    x[5], R[5] = 0.0, np.eye(dim)
    margin = np.full(ng, 0.05)
    contacts = detector.contacts(x, R, margin)
    found = {}
    for a, b, gap in zip(contacts.geom_a, contacts.geom_b, contacts.gap, strict=True):
        found.setdefault((int(a), int(b)), []).append(gap)
    for i in range(ng):
        for j in range(i + 1, ng):
            a, b = sorted((i, j), key=lambda g: (geoms.kind[g], g))
            gaps = one_pair(geoms, a, b, x, R, 0.1)
            np.testing.assert_allclose(gaps, found.pop((a, b), []), atol=1e-10)
    assert not found
    # whatever was written where, points and normals are of the right size
    assert np.isfinite(contacts.point).all()
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)


def test_only_what_a_scene_needs_is_imported():
    """Spheres on a half-space load the kernels of spheres."""
    code = """
import sys, numpy as np
from tests.geometry.test_detector_kinds import geoms_of, shapes
from drystone.geometry.detector import Detector
geoms = geoms_of(3, [shapes.Sphere(0.5), shapes.Sphere(0.5), shapes.HalfSpace()])
detector = Detector(geoms, np.array([True, True, False]), np.ones(3, int))
x = np.array([[0, 0, 0.5], [0.9, 0, 0.5], [0, 0, 0]])
assert len(detector.contacts(x, np.stack([np.eye(3)] * 3), np.zeros(3))) == 3
print(*[m for m in sys.modules if m.startswith("drystone.kernels.")])
"""
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = done.stdout.split()
    assert "drystone.kernels.bounds" in loaded
    for word in ("polyhedra", "directions", "support", "ellipse", "disk"):
        assert not any(word in name for name in loaded), loaded
