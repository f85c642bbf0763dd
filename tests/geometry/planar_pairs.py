"""Random pairs of planar geoms, and what they should answer, found without the kernels.

The signed distance is the maximum over unit n of g(n) = -h_A(-n) - h_B(n), with the support
functions h. For bodies of vertices and radii g is piecewise a cosine, so its maximum is at one of
finitely many directions: normals of edges and lines between vertices. With ellipses a fine grid
of directions is refined by golden sections.
"""

import numpy as np

from drystone.kernels.kinds import CAPSULE_2D, DISK, ELLIPSE, HALF_PLANE, POLYGON
from tests.geometry import pair_calls
from tests.geometry.kind_tables import ENTRIES, PLANAR

PAIRS = sorted(pair for pair in ENTRIES if set(pair) <= set(PLANAR))
BOUNDED = [pair for pair in PAIRS if HALF_PLANE not in pair]
ROOM = 9  # vertices of the largest random polygon, and one


def rotation(angle):
    """(..., 2, 2) of angles (...)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)


def shape(kind, rng):
    """Floats of a random geom of the kind, of size about 1."""
    if kind == DISK:
        return np.array([rng.uniform(0.3, 1.0)])
    if kind == ELLIPSE:
        return rng.uniform(0.25, 1.0, 2)
    if kind == CAPSULE_2D:
        return np.array([rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.4)])
    if kind == POLYGON:
        n = rng.integers(3, ROOM)
        while True:  # on an ellipse, so strictly convex; not too thin
            angle = np.sort(rng.uniform(0, 2 * np.pi, n))
            step = np.diff(np.append(angle, angle[0] + 2 * np.pi))
            if step.min() > 0.1 and step.max() < 2.8:
                break
        corner = np.stack([np.cos(angle), np.sin(angle)], 1) * rng.uniform(0.4, 1.0, 2)
        return (corner + rng.uniform(-0.1, 0.1, 2)).ravel()  # the frame need not be in the middle
    return np.zeros(0)


class Bodies:
    """n geoms of one kind at poses x (n, 2), angle (n,), as support functions."""

    def __init__(self, kind, floats, x, angle):
        n = len(floats)
        self.kind, self.x, self.R = kind, np.asarray(x, float), rotation(np.asarray(angle))
        self.radius, self.axes = np.zeros(n), np.zeros((n, 2))
        corners = np.zeros((n, 1, 2))
        if kind == DISK:
            self.radius = np.array([f[0] for f in floats])
        elif kind == ELLIPSE:
            self.axes = np.array(floats)
        elif kind == CAPSULE_2D:
            corners = np.array([[[-f[0], 0.0], [f[0], 0.0]] for f in floats])
            self.radius = np.array([f[1] for f in floats])
        elif kind == POLYGON:
            most = max(len(f) for f in floats) // 2
            corners = np.stack([np.resize(f, 2 * most).reshape(-1, 2) for f in floats])
        self.corners = self.x[:, None] + corners @ self.R.transpose(0, 2, 1)
        self.sides = [len(f) // 2 if kind == POLYGON else corners.shape[1] for f in floats]

    def height(self, n):
        """Greatest n.p over each body: (n, m) for directions (n, m, 2)."""
        top = (n @ self.corners.transpose(0, 2, 1)).max(-1) + self.radius[:, None]
        if self.kind == ELLIPSE:
            top += np.linalg.norm((n @ self.R) * self.axes[:, None], axis=-1)
        return top

    def edge_normals(self):
        """(n, m, 2) outer normals; repeated vertices give repeated normals."""
        n, m = self.corners.shape[:2]
        out = np.zeros((n, m, 2))
        for k in range(n):
            if self.kind not in (CAPSULE_2D, POLYGON):
                return np.zeros((n, 0, 2))
            c = self.corners[k, : self.sides[k]]
            e = np.roll(c, -1, 0) - c
            normal = np.stack([e[:, 1], -e[:, 0]], 1) / np.linalg.norm(e, axis=1)[:, None]
            out[k] = np.resize(normal, (m, 2))
        return out

    def outside(self, p):
        """How far points p (n, 2) are outside, negative inside; exact on the surface."""
        if self.kind == ELLIPSE:
            q = ((p - self.x)[:, None] @ self.R)[:, 0]
            f = np.sqrt(((q / self.axes) ** 2).sum(-1)) - 1.0
            return f / np.maximum(np.linalg.norm(q / self.axes**2, axis=-1), 1e-9)
        point = Bodies(DISK, [[0.0]] * len(p), p, np.zeros(len(p)))
        return signed_distance(point, self)[0]


def separation(a, b, n):
    return -a.height(-n) - b.height(n)


def signed_distance(a, b, size=720):
    """(gap (n,), normal (n, 2)): maximum over n of the separation of each pair."""
    count = len(a.x)
    kinks = np.concatenate([-a.edge_normals(), b.edge_normals()], 1)
    if ELLIPSE in (a.kind, b.kind):
        smooth = _grid_and_golden(a, b, count, size)
    else:
        d = (a.corners[:, :, None] - b.corners[:, None]).reshape(count, -1, 2)
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        smooth = np.where(length > 1e-12, d / np.maximum(length, 1e-12), [0.0, 1.0])
    n = np.concatenate([kinks, smooth], 1)  # a kink wins a tie
    g = separation(a, b, n)
    if kinks.shape[1]:
        g[:, : kinks.shape[1]] += 1e-13
    k = g.argmax(1)
    n = n[np.arange(count), k]
    return separation(a, b, n[:, None])[:, 0], n


def _grid_and_golden(a, b, count, size):
    """The best direction near each of the three best local maxima on a grid of angles."""

    def g(angle):
        return separation(a, b, np.stack([np.cos(angle), np.sin(angle)], -1))

    grid = np.broadcast_to(np.linspace(0, 2 * np.pi, size, endpoint=False), (count, size))
    value = g(grid)
    peak = (value >= np.roll(value, 1, 1)) & (value >= np.roll(value, -1, 1))
    top = np.argsort(np.where(peak, value, -np.inf), axis=1)[:, -3:]
    middle = np.take_along_axis(grid, top, 1)
    low, high, f = middle - 2 * np.pi / size, middle + 2 * np.pi / size, 0.5 * (np.sqrt(5) - 1)
    for _ in range(44):
        left, right = high - f * (high - low), low + f * (high - low)
        lower = g(left) < g(right)
        low, high = np.where(lower, left, low), np.where(lower, high, right)
    angle = 0.5 * (low + high)
    return np.stack([np.cos(angle), np.sin(angle)], -1)


class Batch:
    """Pairs of geoms with caches and room, and the call of their kernel."""

    def __init__(self, kinds, shapes_a, shapes_b, room=None):
        self.entry, self.kinds, self.n = ENTRIES[kinds], kinds, len(shapes_a)
        self.shapes = shapes_a, shapes_b
        shapes = [np.asarray(s, float) for ab in zip(shapes_a, shapes_b, strict=True) for s in ab]
        self.first = np.concatenate(([0], np.cumsum([s.size for s in shapes]))).astype(np.int64)
        self.numbers = np.concatenate([np.zeros(0), *[s.ravel() for s in shapes]])
        self.pairs = np.arange(2 * self.n, dtype=np.int64).reshape(-1, 2)
        self.cache = np.zeros((self.n, self.entry.width))
        self.stats = np.zeros(8, np.int64)
        self.room = room or self.entry.points * self.n

    def bodies(self, x, angle):
        """The bodies A and B of all pairs, for the reference answers."""
        return tuple(
            Bodies(self.kinds[w], self.shapes[w], np.asarray(x)[w::2], np.asarray(angle)[w::2])
            for w in range(2)
        )

    def raw(self, x, angle, margin=np.inf):
        """(which, gap, normal, point, feature) of geoms at x (2n, 2), angle (2n,), A and B by
        turns."""
        x, R = np.asarray(x, float), rotation(np.asarray(angle, float))
        geoms = pair_calls.posed(x, R, np.tile(self.kinds, self.n), self.first, self.numbers)
        while True:
            room = pair_calls.room_for(self.room, 2)
            for column in room:
                column.fill(-7 if column.dtype == np.int64 else np.nan)
            kernel = self.entry.load()
            count = pair_calls.run(kernel, self.pairs, margin, geoms, self.cache, room, self.stats)
            if count >= 0:
                break
            self.room *= 2
        which, point, normal, gap, feature = pair_calls.found(room, count)
        assert (np.diff(which) >= 0).all()
        np.testing.assert_allclose(np.hypot(*normal.T), 1.0, rtol=0, atol=1e-14)
        return which, gap, normal, point, feature

    def __call__(self, x, angle, margin=np.inf):
        """For each pair the list of its contacts (gap, normal, point, feature)."""
        answer = [[] for _ in range(self.n)]
        for k, *contact in zip(*self.raw(x, angle, margin), strict=True):
            answer[k].append(contact)
        return answer

    @property
    def counters(self):
        return dict(zip(self.entry.counters, self.stats.tolist(), strict=False))


def random_batch(kinds, seed, n, low=-0.2, high=0.5, span=2.2):
    """n random pairs with signed distances between low and high: (batch, x, angle)."""
    rng = np.random.default_rng(seed)
    kept = [], [], [], []
    while len(kept[0]) < n:
        fa, fb = ([shape(kind, rng) for _ in range(n)] for kind in kinds)
        xb, angle = rng.uniform(-3, 3, (n, 2)), rng.uniform(-np.pi, np.pi, (n, 2))
        away, far = rng.uniform(-np.pi, np.pi, n), rng.uniform(0, span, n)
        xa = xb + far[:, None] * np.stack([np.cos(away), np.sin(away)], -1)
        a, b = Bodies(kinds[0], fa, xa, angle[:, 0]), Bodies(kinds[1], fb, xb, angle[:, 1])
        turn = np.broadcast_to(np.linspace(0, 2 * np.pi, 90, endpoint=False), (n, 90))
        about = separation(a, b, np.stack([np.cos(turn), np.sin(turn)], -1)).max(1)
        for k in np.flatnonzero((about > low) & (about < high)):
            row = fa[k], fb[k], np.stack([xa[k], xb[k]]), angle[k]
            for held, value in zip(kept, row, strict=True):
                held.append(value)
    fa, fb, x, angle = (held[:n] for held in kept)
    return Batch(kinds, fa, fb), np.concatenate(x), np.concatenate(angle)


def deepest(raw, n):
    """Per pair the contact with the least gap: (gap, normal, point); nan without contact."""
    which, gap, normal, point, _ = raw
    order = np.lexsort((gap, which))
    _, first = np.unique(which[order], return_index=True)
    row = order[first]
    out = np.full(n, np.nan), np.full((n, 2), np.nan), np.full((n, 2), np.nan)
    for target, source in zip(out, (gap, normal, point), strict=True):
        target[which[row]] = source[row]
    return out
