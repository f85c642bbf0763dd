"""Bodies for the tests of support-map contacts, with formulas that share nothing with the kernels:
support functions as values (no points), and level functions that are <= 0 inside."""

import numpy as np
from scipy.spatial.transform import Rotation

from drystone.geometry import shapes
from drystone.kernels import kinds as K
from tests.geometry import pair_calls
from tests.geometry.kind_tables import GENERAL as ENTRIES
from tests.geometry.kind_tables import NAMES

PAIRS = sorted(ENTRIES)
IDS = [f"{NAMES[a]}-{NAMES[b]}" for a, b in PAIRS]


class Solid:
    """A geom of one kind: floats and ints as in ``geometry.kinds``."""

    def __init__(self, shape):
        (piece,) = shape.pieces()
        self.kind = int(piece.kind)
        self.floats, self.ints = np.asarray(piece.floats, float), np.asarray(piece.ints, np.int64)
        if self.kind == K.POLYHEDRON:
            nv, nf = self.ints[0], self.ints[1]
            self.vertices = self.floats[: 3 * nv].reshape(-1, 3)
            self.planes = self.floats[3 * nv : 3 * nv + 4 * nf].reshape(-1, 4)

    def h(self, d):
        """Support function of directions d (..., 3), local axes."""
        x, y, z = np.moveaxis(d, -1, 0)
        across, f = np.hypot(x, y), self.floats
        if self.kind == K.SPHERE:
            return f[0] * np.linalg.norm(d, axis=-1)
        if self.kind == K.ELLIPSOID:
            return np.linalg.norm(d * f, axis=-1)
        if self.kind == K.SUPERQUADRIC:
            q1, q2 = 2 / (2 - f[3]), 2 / (2 - f[4])
            s = (np.abs(f[0] * x) ** q2 + np.abs(f[1] * y) ** q2) ** (1 / q2)
            return (s**q1 + np.abs(f[2] * z) ** q1) ** (1 / q1)
        if self.kind == K.CAPSULE:
            return f[0] * np.abs(z) + f[1] * np.linalg.norm(d, axis=-1)
        if self.kind == K.CYLINDER:
            return f[0] * np.abs(z) + f[1] * across
        if self.kind == K.CONE:
            return np.maximum(0.75 * f[0] * z, f[1] * across - 0.25 * f[0] * z)
        return np.max(d @ self.vertices.T, axis=-1)

    def level(self, p):
        """<= 0 inside, of the order of the distance, for p (..., 3) in local axes."""
        x, y, z = np.moveaxis(p, -1, 0)
        across, f = np.hypot(x, y), self.floats
        if self.kind == K.SPHERE:
            return np.linalg.norm(p, axis=-1) - f[0]
        if self.kind == K.ELLIPSOID:
            return (np.linalg.norm(p / f, axis=-1) - 1) * f.min()
        if self.kind == K.SUPERQUADRIC:
            s = (np.abs(x / f[0]) ** (2 / f[4]) + np.abs(y / f[1]) ** (2 / f[4])) ** (f[4] / 2)
            r = (s ** (2 / f[3]) + np.abs(z / f[2]) ** (2 / f[3])) ** (f[3] / 2)
            return (r - 1) * f[:3].min()
        if self.kind == K.CAPSULE:
            return np.hypot(across, np.maximum(np.abs(z) - f[0], 0)) - f[1]
        if self.kind == K.CYLINDER:
            return np.maximum(np.abs(z) - f[0], across - f[1])
        if self.kind == K.CONE:
            side = across - f[1] * (0.75 - z / f[0])
            return np.maximum(-0.25 * f[0] - z, side * f[0] / np.hypot(f[0], f[1]))
        return np.max(p @ self.planes[:, :3].T - self.planes[:, 3], axis=-1)

    def inequalities(self, p):
        """Smooth functions that are >= 0 inside, of one point."""
        f, square = self.floats, p[0] ** 2 + p[1] ** 2
        if self.kind == K.CYLINDER:
            return np.array([f[0] - p[2], f[0] + p[2], f[1] ** 2 - square])
        if self.kind == K.CONE:
            rest = 0.75 - p[2] / f[0]
            return np.array([0.25 * f[0] + p[2], rest, (f[1] * rest) ** 2 - square])
        if self.kind == K.POLYHEDRON:
            return self.planes[:, 3] - self.planes[:, :3] @ p
        return np.atleast_1d(-self.level(p))


def random_solid(kind, rng):
    def u(low=0.3, high=1.0):
        return rng.uniform(low, high)

    if kind == K.SPHERE:
        return Solid(shapes.Sphere(u()))
    if kind == K.ELLIPSOID:
        return Solid(shapes.Ellipsoid(u(), u(), u()))
    if kind == K.SUPERQUADRIC:
        return Solid(shapes.Superquadric(u(), u(), u(), u(0.2), u(0.2)))
    if kind == K.CAPSULE:
        return Solid(shapes.Capsule(2 * u(), u(0.1, 0.6)))
    if kind == K.CYLINDER:
        return Solid(shapes.Cylinder(2 * u(), u(0.1, 0.6)))
    if kind == K.CONE:
        return Solid(shapes.Cone(u(0.5, 1.5), u()))
    if rng.random() < 0.5:
        return Solid(shapes.Box(u(0.5, 2), u(0.5, 2), u(0.5, 2)))
    points = rng.normal(size=(rng.integers(5, 50), 3))
    points *= 0.7 / np.linalg.norm(points, axis=1)[:, None]
    return Solid(shapes.ConvexPolyhedron(points))


class Batch:
    """Pairs of solids, one geom each, with poses: x (2 np, 3), R (2 np, 3, 3), A and B in turn."""

    def __init__(self, solids_a, solids_b, x, R, entry=None):
        self.a, self.b, self.n = solids_a, solids_b, len(solids_a)
        self.x, self.R = np.array(x, float), np.array(R, float)
        geoms = [g for pair in zip(solids_a, solids_b, strict=True) for g in pair]
        self.kind = np.array([g.kind for g in geoms])
        self.first = np.cumsum([0] + [g.floats.size for g in geoms])
        self.first_int = np.cumsum([0] + [g.ints.size for g in geoms])
        self.numbers = np.concatenate([g.floats for g in geoms])
        self.ints = np.concatenate([g.ints for g in geoms] + [np.zeros(1, np.int64)])
        self.pairs = np.arange(2 * self.n).reshape(-1, 2)
        self.entry = entry or ENTRIES[geoms[0].kind, geoms[1].kind]
        self.cache = np.zeros((self.n, self.entry.width))
        self.stats = np.zeros(8, np.int64)

    def __call__(self, margin=10.0, room=None, fresh=True):
        """Contacts: which, point, normal, gap, feature."""
        if fresh:
            self.cache[:] = 0
        room = 100 * self.n if room is None else room
        room = pair_calls.room_for(room, 3)
        geoms = pair_calls.posed(
            self.x, self.R, self.kind, self.first, self.numbers, self.first_int, self.ints
        )
        kernel, calls = self.entry.load(), self.entry.calls()
        count = pair_calls.run(
            kernel, self.pairs, margin, geoms, self.cache, room, self.stats, calls
        )
        return None if count < 0 else pair_calls.found(room, count)

    def deepest(self, **settings):
        """point (np, 3), normal (np, 3), gap (np,) of each pair's deepest contact."""
        which, point, normal, gap, _ = self(**settings)
        order = np.lexsort((gap, which))
        rows = order[np.searchsorted(which[order], np.arange(self.n))]
        assert np.array_equal(which[rows], np.arange(self.n)), "a pair has no contact"
        return point[rows], normal[rows], gap[rows]

    def g(self, i, n):
        """min over A of n . a - max over B of n . b, for unit n (..., 3): a lower bound of the
        signed distance whatever n is."""
        a, b = 2 * i, 2 * i + 1
        apart = n @ (self.x[a] - self.x[b])
        return apart - self.a[i].h(-n @ self.R[a]) - self.b[i].h(n @ self.R[b])

    def levels(self, i, pa, pb):
        a, b = 2 * i, 2 * i + 1
        inside_a = self.a[i].level((pa - self.x[a]) @ self.R[a])
        return max(inside_a, self.b[i].level((pb - self.x[b]) @ self.R[b]))

    def bring(self, gap, normal, wanted):
        """Move each B along the normal until the pair's gap is `wanted` (np,)."""
        self.x[1::2] += (gap - wanted)[:, None] * normal


def random_batch(kinds, n, seed, aligned=True):
    """Poses apart or just touching; if aligned, a third are alike in their axes."""
    rng = np.random.default_rng(seed)
    a = [random_solid(kinds[0], rng) for _ in range(n)]
    b = [random_solid(kinds[1], rng) for _ in range(n)]
    R = Rotation.random(2 * n, random_state=rng).as_matrix()
    if aligned:
        R[::6] = R[1::12] = np.eye(3)
    x = np.zeros((2 * n, 3))
    batch = Batch(a, b, x, R)
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    near = np.where(rng.random(n) < 0.5, rng.uniform(-0.003, 0.003, n), rng.uniform(0, 0.3, n))
    for i in range(n):
        batch.x[2 * i + 1] = -way[i] * (near[i] - batch.g(i, way[i]))
    return batch


def sphere_of_directions(n=3000):
    i = np.arange(n) + 0.5
    polar, turn = np.arccos(1 - 2 * i / n), np.pi * (1 + 5**0.5) * i
    return np.stack(
        [np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)], axis=-1
    )
