"""Polyhedra for tests, packed as ``geometry.kinds`` says, and brute-force answers about them."""

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.kernels.kinds import POLYHEDRON
from tests.geometry import pair_calls


class Body:
    """Hull of points with merged faces: vertices, planes, loops, edges, stars."""

    def __init__(self, points):
        points = np.asarray(points, float)
        hull = ConvexHull(points)
        self.vertices = points[hull.vertices]
        index = {int(v): i for i, v in enumerate(hull.vertices)}
        groups = []  # equations of one plane, and the corners on it
        for equation, simplex in zip(hull.equations, hull.simplices, strict=True):
            for known, corners in groups:
                if np.abs(known - equation).max() < 1e-9:
                    corners.update(int(v) for v in simplex)
                    break
            else:
                groups.append((equation, {int(v) for v in simplex}))
        self.planes, self.loops = [], []
        for equation, corners in groups:
            n = equation[:3]
            ids = [index[v] for v in sorted(corners)]
            p = self.vertices[ids]
            t = np.linalg.svd(np.eye(3) - np.outer(n, n))[0][:, 0]
            u = np.cross(n, t)
            q = p - p.mean(axis=0)
            order = np.argsort(np.arctan2(q @ u, q @ t))
            self.loops.append([ids[i] for i in order])
            self.planes.append([*n, np.mean(p @ n)])
        self.planes = np.array(self.planes)
        self.wire()

    def wire(self):
        """Edges and stars from the loops."""
        sides = {}
        for f, loop in enumerate(self.loops):
            for v, w in zip(loop, loop[1:] + loop[:1], strict=True):
                sides[v, w] = f
        self.edges = [(v, w, sides[v, w], sides[w, v]) for v, w in sorted(sides) if v < w]
        self.star = [sorted(w for v, w in sides if v == u) for u in range(len(self.vertices))]

    @property
    def numbers(self):
        return np.concatenate([self.vertices.ravel(), self.planes.ravel()])

    @property
    def ints(self):
        starts = np.concatenate([[0], np.cumsum([len(loop) for loop in self.loops])])
        stars = np.concatenate([[0], np.cumsum([len(s) for s in self.star])])
        head = [len(self.vertices), len(self.loops), len(self.edges)]
        lists = [head, starts, *self.loops, *self.edges, stars, *self.star]
        return np.concatenate([np.asarray(x, np.int64) for x in lists])


def box(a, b, c):
    return Body(
        [[x, y, z] for x in (-a / 2, a / 2) for y in (-b / 2, b / 2) for z in (-c / 2, c / 2)]
    )


def tetrahedron(size=1.0):
    return Body(size * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / 2)


def prism(n=5, radius=0.6, height=0.8):
    angle = 2 * np.pi * np.arange(n) / n
    ring = radius * np.c_[np.cos(angle), np.sin(angle)]
    return Body([[x, y, z] for x, y in ring for z in (-height / 2, height / 2)])


def icosahedron(radius=0.6):
    g = (1 + 5**0.5) / 2
    points = [[0, s, t * g] for s in (-1, 1) for t in (-1, 1)]
    points = np.array([np.roll(p, k) for p in points for k in range(3)])
    return Body(radius * points / np.linalg.norm(points[0]))


def random_hull(rng, n=20, size=0.7):
    points = rng.normal(size=(n, 3))
    points *= size / np.linalg.norm(points, axis=1)[:, None] * rng.uniform(0.6, 1, (n, 1))
    return Body(points)


def ball(n, radius=0.5):
    """n vertices spread over a sphere."""
    i = np.arange(n) + 0.5
    z, angle = 1 - 2 * i / n, np.pi * (1 + 5**0.5) * i
    r = np.sqrt(1 - z * z)
    return Body(radius * np.c_[r * np.cos(angle), r * np.sin(angle), z])


def pack(bodies):
    first = np.cumsum([0] + [b.numbers.size for b in bodies])
    first_int = np.cumsum([0] + [b.ints.size for b in bodies])
    numbers = np.concatenate([b.numbers for b in bodies])
    return first, numbers, first_int, np.concatenate([b.ints for b in bodies])


class Run:
    """Bodies in an arena; ``contacts`` calls a kernel as the detector does."""

    def __init__(self, kernel, bodies, width, pairs=((0, 1),)):
        self.kernel = kernel
        self.arrays = pack(bodies)
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        self.cache = np.zeros((len(self.pairs), width))
        self.stats = np.zeros(8, np.int64)

    def contacts(self, x, R, margin=0.1, fresh=False, room=64):
        if fresh:
            self.cache[:] = 0
        while True:
            out = pair_calls.room_for(room, 3)
            x, R = np.ascontiguousarray(x, float), np.ascontiguousarray(R, float)
            geoms = pair_calls.posed(x, R, POLYHEDRON, *self.arrays)
            n = pair_calls.run(self.kernel, self.pairs, margin, geoms, self.cache, out, self.stats)
            if n >= 0:
                return pair_calls.found(out, n)
            room *= 2


def random_pose(rng, spread=1.0):
    return rng.normal(size=3) * spread, Rotation.random(random_state=rng).as_matrix()


def faces_and_edges(body, x, R):
    """Vertices, outer normals and edge vectors in the world."""
    V = x + body.vertices @ R.T
    edges = np.array([V[e[1]] - V[e[0]] for e in body.edges])
    return V, body.planes[:, :3] @ R.T, edges


def depth(bodies, x, R):
    """Greatest separation over all face normals and all cross products of edges, both signs."""
    (VA, NA, EA), (VB, NB, EB) = (faces_and_edges(b, x[i], R[i]) for i, b in enumerate(bodies))
    C = np.cross(EA[:, None], EB[None]).reshape(-1, 3)
    length = np.linalg.norm(C, axis=1)
    scale = np.sqrt((EA**2).sum(1)[:, None] * (EB**2).sum(1)[None]).ravel()
    C = C[length > 1e-7 * scale] / length[length > 1e-7 * scale, None]
    axes = np.concatenate([-NA, NB, C, -C])
    s = (axes @ VA.T).min(axis=1) - (axes @ VB.T).max(axis=1)
    return s.max(), axes[s.argmax()]


def segment_distances(P, E, Q, F):
    """Distances of all segments p + s e from all q + t f, 0 <= s, t <= 1: (len(P), len(Q))."""
    d = P[:, None] - Q[None]
    a, c = (E**2).sum(1)[:, None], (F**2).sum(1)[None]
    b = E @ F.T
    e, f = (E[:, None] * d).sum(-1), (F[None] * d).sum(-1)
    det = np.maximum(a * c - b * b, 1e-300)
    s = np.clip((b * f - c * e) / det, 0, 1)
    t = np.clip((b * s + f) / c, 0, 1)
    s = np.clip((b * t - e) / a, 0, 1)
    gap = d + s[..., None] * E[:, None] - t[..., None] * F[None]
    return np.linalg.norm(gap, axis=-1)


def vertex_face_distance(P, body, x, R):
    """Least distance of points P from the faces of a body that they lie over."""
    V, normals, _ = faces_and_edges(body, x, R)
    best = np.inf
    for loop, n in zip(body.loops, normals, strict=True):
        h = (P - V[loop[0]]) @ n
        inside = h > 0
        for v, u in zip(loop, loop[1:] + loop[:1], strict=True):
            inside &= (P - V[v]) @ np.cross(n, V[u] - V[v]) >= 0
        best = min(best, h[inside].min(initial=np.inf))
    return best


def distance(bodies, x, R):
    """Signed distance by brute force over all features."""
    s, _ = depth(bodies, x, R)
    if s <= 0:
        return s
    VA, VB = (x[i] + b.vertices @ R[i].T for i, b in enumerate(bodies))
    EA, EB = (np.array([e[:2] for e in b.edges]) for b in bodies)
    edges = segment_distances(
        VA[EA[:, 0]], VA[EA[:, 1]] - VA[EA[:, 0]], VB[EB[:, 0]], VB[EB[:, 1]] - VB[EB[:, 0]]
    )
    faces = vertex_face_distance(VA, bodies[1], x[1], R[1])
    return min(edges.min(), faces, vertex_face_distance(VB, bodies[0], x[0], R[0]))


def qp_distance(bodies, x, R):
    """min |a - b| over both hulls, as non-negative least squares on the Minkowski difference."""
    VA, VB = (x[i] + b.vertices @ R[i].T for i, b in enumerate(bodies))
    D = (VA[:, None] - VB[None]).reshape(-1, 3).T
    big = 1e3 * np.abs(D).max()
    w, _ = nnls(np.vstack([D, np.full((1, D.shape[1]), big)]), np.array([0, 0, 0, big]))
    return float(np.linalg.norm(D @ (w / w.sum())))


def separation(bodies, x, R, n):
    """min n.a - max n.b over all vertices."""
    VA, VB = (x[i] + b.vertices @ R[i].T for i, b in enumerate(bodies))
    return (VA @ n).min() - (VB @ n).max()


def outside(body, x, R, points):
    """How far points are from the surface: greatest signed distance from the faces' planes."""
    local = (points - x) @ R
    return (local @ body.planes[:, :3].T - body.planes[:, 3]).max(axis=1)


def placed(rng, bodies, want):
    """Random poses, B moved along the axes of greatest separation until it is about `want`."""
    x, R = rng.normal(size=(2, 3)), Rotation.random(2, random_state=rng).as_matrix()
    x[1] = x[0] + rng.normal(size=3)
    for _ in range(4):
        s, n = depth(bodies, x, R)
        x[1] += (s - want) * n
    x[1] += 0.003 * rng.normal(size=3)  # away from equal depths along several axes
    return x, R
