"""Convex bodies for tests, known by their support points only, and signed distances from these.

The signed distance of two convex bodies is the greatest separation over all directions n,
max n.(lowest point of A) - n.(highest point of B): a search over the sphere of directions finds
it without any of the reasoning of the kernels.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.geometry.shapes import ConvexPolyhedron
from drystone.kernels import kinds
from tests.geometry import pair_calls
from tests.geometry.kind_tables import SMOOTH as ENTRIES


@dataclass
class Solid:
    """A kind, its numbers, and for polyhedra the ints and vertices."""

    kind: int
    numbers: np.ndarray
    ints: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    vertices: np.ndarray | None = None

    @property
    def size(self):
        if self.kind == kinds.POLYHEDRON:
            return np.abs(self.vertices).min(axis=0).max()
        if self.kind == kinds.HALF_SPACE:
            return np.inf
        return self.numbers[:3].min()

    def support(self, n):
        """Farthest points along directions n (..., 3), in the body's frame."""
        n = np.asarray(n, float)
        x, y, z = np.moveaxis(n, -1, 0)
        s = self.numbers
        if self.kind == kinds.POLYHEDRON:
            return self.vertices[(n @ self.vertices.T).argmax(axis=-1)]
        if self.kind == kinds.SPHERE:
            return s[0] * n / np.linalg.norm(n, axis=-1, keepdims=True)
        if self.kind == kinds.ELLIPSOID:
            return s**2 * n / np.linalg.norm(s * n, axis=-1, keepdims=True)
        if self.kind == kinds.SUPERQUADRIC:  # Barr: angles of the normal give those of the point
            a, b, c, e1, e2 = s
            azimuth = np.arctan2(_power(b * y, 1 / (2 - e2)), _power(a * x, 1 / (2 - e2)))
            flat = (a * np.abs(x)) ** (2 / (2 - e2)) + (b * np.abs(y)) ** (2 / (2 - e2))
            flat = flat ** ((2 - e2) / 2)
            height = np.arctan2(_power(c * z, 1 / (2 - e1)), _power(flat, 1 / (2 - e1)))
            round_ = _power(np.cos(height), e1)
            return np.stack(
                [
                    a * round_ * _power(np.cos(azimuth), e2),
                    b * round_ * _power(np.sin(azimuth), e2),
                    c * _power(np.sin(height), e1),
                ],
                axis=-1,
            )
        if self.kind == kinds.CAPSULE:
            ball = s[1] * n / np.linalg.norm(n, axis=-1, keepdims=True)
            return ball + np.stack([0 * x, 0 * x, s[0] * np.sign(z)], axis=-1)
        flat = np.maximum(np.hypot(x, y), 1e-300)
        rim = np.stack([s[1] * x / flat, s[1] * y / flat, 0 * z], axis=-1)
        up = np.array([0.0, 0.0, 1.0])
        if self.kind == kinds.CYLINDER:
            return rim + s[0] * np.sign(z)[..., None] * up
        rim = rim - 0.25 * s[0] * up
        apex = 0.75 * s[0] * up
        return np.where(((n * rim).sum(-1) >= n @ apex)[..., None], rim, apex + 0 * rim)


def _power(x, e):
    return np.sign(x) * np.abs(x) ** e


def random_solid(rng, kind):
    a, b, c = np.exp(rng.uniform(np.log(0.4), np.log(1.6), 3))
    if kind == kinds.SUPERQUADRIC:
        return Solid(kind, np.array([a, b, c, *rng.uniform(0.25, 1.0, 2)]))
    if kind == kinds.POLYHEDRON:
        if rng.random() < 0.5:
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
            return polyhedron(signs * [a, b, c])
        points = rng.normal(size=(int(rng.integers(4, 20)), 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return polyhedron(points * [a, b, c])
    count = {kinds.SPHERE: 1, kinds.ELLIPSOID: 3, kinds.HALF_SPACE: 0}.get(kind, 2)
    return Solid(kind, np.array([a, b, c][:count]))


def polyhedron(points):
    points = points[np.sort(ConvexHull(points).vertices)]
    piece = ConvexPolyhedron(points).pieces()[0]
    # the geom's frame has its own origin: take the vertices as the kernel sees them
    vertices = np.asarray(piece.floats[: 3 * piece.ints[0]]).reshape(-1, 3)
    return Solid(kinds.POLYHEDRON, np.asarray(piece.floats), np.asarray(piece.ints), vertices)


class Bench:
    """Pairs (2 i, 2 i + 1) of solids with poses; ``run`` calls the kernel as a detector does."""

    def __init__(self, solids):
        self.solids = solids
        self.entry = ENTRIES[solids[0].kind, solids[1].kind]
        self.kernel = self.entry.load()
        m = len(solids)
        self.pairs = np.arange(m).reshape(-1, 2)
        self.first = np.cumsum([0] + [s.numbers.size for s in solids])
        self.first_int = np.cumsum([0] + [s.ints.size for s in solids])
        self.numbers = np.concatenate([s.numbers for s in solids])
        self.ints = np.concatenate([s.ints for s in solids])
        self.x, self.R = np.zeros((m, 3)), np.tile(np.eye(3), (m, 1, 1))
        self.cache = np.zeros((m // 2, self.entry.width))
        self.stats = np.zeros(8, np.int64)

    def geoms(self):
        kind = [solid.kind for solid in self.solids]
        return pair_calls.posed(
            self.x, self.R, kind, self.first, self.numbers, self.first_int, self.ints
        )

    def run(self, margin=1e3, fresh=True, room=None):
        """which, point, normal, gap, feature of all contacts."""
        m = len(self.pairs)
        if fresh:
            self.cache[:] = 0.0
        room = m * self.entry.points if room is None else room
        out = pair_calls.room_for(room, 3)
        calls = self.entry.calls()
        count = pair_calls.run(
            self.kernel, self.pairs, margin, self.geoms(), self.cache, out, self.stats, calls
        )
        if count < 0:
            return self.run(margin, fresh=False, room=2 * room + 1)
        return pair_calls.found(out, count)

    def counters(self):
        return dict(zip(self.entry.counters, self.stats.tolist(), strict=False))


def random_bench(rng, kind_a, kind_b, m, low=-0.2, high=0.5):
    """Random solids and poses, about low..high sizes apart."""
    solids = [random_solid(rng, k) for _ in range(m) for k in (kind_a, kind_b)]
    bench = Bench(solids)
    bench.R[:] = Rotation.random(2 * m, rng=rng).as_matrix()
    bench.x[:] = rng.normal(size=(2 * m, 3))
    for a, b in bench.pairs:
        u = rng.normal(size=3)
        if kind_b == kinds.HALF_SPACE:
            u = bench.R[b] @ [0, 0, 1.0]
        u /= np.linalg.norm(u)
        s = float(separation(bench, a, b, u[None])[0])
        bench.x[b] += u * s  # they touch along u, but may be far apart along another direction
        if kind_b != kinds.HALF_SPACE:
            u = DIRECTIONS[separation(bench, a, b, DIRECTIONS).argmax()]
            s = float(separation(bench, a, b, u[None])[0])
            bench.x[b] += u * s
        bench.x[b] -= u * rng.uniform(low, high) * min(solids[a].size, solids[b].size)
    return bench


def separation(bench, a, b, n):
    """n.(lowest of A) - n.(highest of B) for world directions n (k, 3), unit."""
    A = bench.solids[a]
    low = (n * bench.x[a]).sum(-1) + (n * (A.support(-n @ bench.R[a]) @ bench.R[a].T)).sum(-1)
    return low - highest(bench, b, n)


def highest(bench, b, n):
    B = bench.solids[b]
    if B.kind == kinds.HALF_SPACE:
        up = bench.R[b][:, 2]
        return np.where(n @ up > 1 - 1e-12, n @ bench.x[b], np.inf)
    return (n * bench.x[b]).sum(-1) + (n * (B.support(n @ bench.R[b]) @ bench.R[b].T)).sum(-1)


def _spread(count):
    i = np.arange(count) + 0.5
    z, angle = 1 - 2 * i / count, np.pi * (1 + 5**0.5) * i
    return np.c_[np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z]


DIRECTIONS = _spread(600)
_ANGLE = np.pi * (1 + 5**0.5) * np.arange(48)
_DISC = (np.sqrt((np.arange(48) + 0.5) / 48) * np.exp(1j * _ANGLE)).view(float).reshape(-1, 2)


def signed_distance(bench, a, b, levels=60, starts=4):
    """Greatest separation found by refining the best of 600 directions on shrinking discs.

    A lower bound, exact to rounding where both bodies are smooth.
    """
    n, s = DIRECTIONS, separation(bench, a, b, DIRECTIONS)
    order = np.argsort(-s)[:starts]
    n, s, width = n[order], s[order], 0.2
    for level in range(levels):
        least = np.eye(3)[np.abs(n).argmin(axis=1)]
        e = np.cross(n, least)
        e /= np.linalg.norm(e, axis=1, keepdims=True)
        w = np.cross(n, e)
        c, d = np.cos(level), np.sin(level)
        disc = width * _DISC @ np.array([[c, -d], [d, c]])
        new = n[:, None] + disc[:, 0, None] * e[:, None] + disc[:, 1, None] * w[:, None]
        new /= np.linalg.norm(new, axis=-1, keepdims=True)
        t = separation(bench, a, b, new.reshape(-1, 3)).reshape(len(n), -1)
        k = t.argmax(axis=1)
        better = t[np.arange(len(n)), k] > s
        n = np.where(better[:, None], new[np.arange(len(n)), k], n)
        s = np.where(better, t[np.arange(len(n)), k], s)
        width *= 0.75
    return s.max()


def certificate(bench, contact):
    """Three numbers that vanish for a true contact (which, point, normal, gap, feature).

    How far the gap is from the separation along the normal (so the gap is not too large), and
    how far the two points are from the surfaces (apart, so it is not too small).
    """
    i, point, n, gap, _ = contact
    a, b = bench.pairs[i]
    own = separation(bench, a, b, n[None])[0] - gap
    stand_off = [
        outside(bench.solids[g], (point + sign * gap * n - bench.x[g]) @ bench.R[g])
        for g, sign in ((a, 0.5), (b, -0.5))
    ]
    return np.abs([own, *stand_off])


def nearest_of_each(bench, contacts):
    """The contact of least gap of every pair, in order."""
    which, _, _, gap, _ = contacts
    order = np.lexsort((gap, which))
    _, first = np.unique(which[order], return_index=True)
    rows = order[first]
    return [tuple(c[k] for c in contacts) for k in rows]


def outside(solid, p):
    """A function of points p (..., 3), in the body's frame: 0 on its surface, < 0 inside."""
    s = solid.numbers
    x, y, z = np.moveaxis(np.asarray(p), -1, 0)
    rho = np.hypot(x, y)
    if solid.kind == kinds.SPHERE:
        return np.linalg.norm(p, axis=-1) - s[0]
    if solid.kind == kinds.ELLIPSOID:
        return np.linalg.norm(p / s, axis=-1) - 1
    if solid.kind == kinds.SUPERQUADRIC:
        a, b, c, e1, e2 = s
        f = (np.abs(x / a) ** (2 / e2) + np.abs(y / b) ** (2 / e2)) ** (e2 / e1)
        return (f + np.abs(z / c) ** (2 / e1)) ** (e1 / 2) - 1
    if solid.kind == kinds.CAPSULE:
        return np.hypot(rho, z - np.clip(z, -s[0], s[0])) - s[1]
    if solid.kind == kinds.CYLINDER:
        return np.maximum(rho - s[1], np.abs(z) - s[0])
    if solid.kind == kinds.CONE:
        slant = np.hypot(s[0], s[1])
        side = (s[0] * rho + s[1] * (z - 0.75 * s[0])) / slant
        return np.maximum(side, -z - 0.25 * s[0])
    if solid.kind == kinds.HALF_SPACE:
        return z
    planes = s[solid.vertices.size :].reshape(-1, 4)
    return (np.asarray(p) @ planes[:, :3].T - planes[:, 3]).max(axis=-1)
