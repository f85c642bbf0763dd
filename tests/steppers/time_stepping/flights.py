"""Random flights of one body past another, or into it, and a judge of how near the two come.

The judge knows nothing of the library: a body is a core (corners, edges, triangles) within a round
skin, two cores that do not overlap are as far apart as the nearest of their edges, corners and
triangles, and no distance changes faster than the bodies move (so its least value over a time is
found to any tolerance by dividing intervals).
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

import drystone as ds

NO_EDGE = np.zeros((1, 2), int)  # of a core that is a point: from it to itself


@dataclass
class Flyer:
    """A body that moves uniformly: its shape, its core (n, 3) with edges (m, 2) and triangles
    (k, 3), the radius of its skin; x, R: its pose at the start; v, w: its velocities."""

    shape: object
    corners: np.ndarray
    edges: np.ndarray
    triangles: np.ndarray
    skin: float = 0.0
    fixed: bool = False
    x: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    v: np.ndarray = field(default_factory=lambda: np.zeros(3))
    w: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def radius(self):
        return np.linalg.norm(self.corners, axis=1).max() + self.skin

    def places(self, t):
        """(nt, n, 3) corners at times t."""
        R = Rotation.from_rotvec(np.multiply.outer(t, self.w)).as_matrix() @ self.R
        return (
            np.einsum("tij,nj->tni", R, self.corners)
            + (self.x + np.multiply.outer(t, self.v))[:, None]
        )


def sphere(r, planar):
    shape = ds.Disk(r) if planar else ds.Sphere(r)
    return Flyer(shape, np.zeros((1, 3)), NO_EDGE, np.empty((0, 3), int), r)


def capsule(length, r, planar):
    along = np.array([1.0, 0, 0]) if planar else np.array([0, 0, 1.0])
    shape = ds.Capsule2D(length, r) if planar else ds.Capsule(length, r)
    ends = np.stack([-0.5 * length * along, 0.5 * length * along])
    return Flyer(shape, ends, np.array([[0, 1]]), np.empty((0, 3), int), r)


def box(sides):
    half = 0.5 * np.asarray(sides, float)
    if half.size == 2:
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        corners = np.concatenate([signs * half, np.zeros((4, 1))], axis=1)
        edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
        return Flyer(ds.Rectangle(*sides), corners, edges, np.empty((0, 3), int))
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    near = [(i, j) for i, j in combinations(range(8), 2) if (signs[i] != signs[j]).sum() == 1]
    triangles = []
    for axis in range(3):
        for side in (-1, 1):
            face = np.flatnonzero(signs[:, axis] == side)
            triangles += [[face[0], face[1], face[2]], [face[3], face[2], face[1]]]
    return Flyer(ds.Box(*sides), signs * half, np.array(near), np.array(triangles))


def mesh(rng, r):
    """A dented octahedron, as a mesh: it is not convex."""
    corners = r * np.concatenate([np.eye(3), -np.eye(3)])
    triangles = []
    for a in (0, 3):
        for b in (1, 4):
            for c in (2, 5):
                odd = (a > 2) ^ (b > 2) ^ (c > 2)
                triangles.append([a, c, b] if odd else [a, b, c])
    corners *= rng.uniform(0.5, 1.0, (6, 1))
    # a dent in the middle of the first face
    dent = corners[triangles[0]].mean(axis=0) * 0.6
    corners = np.concatenate([corners, [dent]])
    a, b, c = triangles.pop(0)
    triangles += [[a, b, 6], [b, c, 6], [c, a, 6]]
    edges = sorted({tuple(sorted(e)) for t in triangles for e in combinations(t, 2)})
    shape = ds.TriangleMesh(corners, triangles)
    return Flyer(shape, corners, np.array(edges), np.array(triangles), fixed=True)


def between(a, b, t):
    """(nt,) distances of two flyers whose cores do not overlap."""
    A, B = a.places(t), b.places(t)
    out = _edges(A, a.edges, B, b.edges)
    out = np.minimum(out, _faces(A, B, b.triangles))
    out = np.minimum(out, _faces(B, A, a.triangles))
    return out - a.skin - b.skin


def _edges(A, ea, B, eb):
    """Of the nearest edges (Ericson, Real-Time Collision Detection, 5.1.9)."""
    p, q = A[:, ea[:, 0], None], B[:, None, eb[:, 0]]
    d1, d2 = A[:, ea[:, 1], None] - p, B[:, None, eb[:, 1]] - q
    r = p - q
    aa, ee = (d1 * d1).sum(-1), (d2 * d2).sum(-1)
    f, c, b = (d2 * r).sum(-1), (d1 * r).sum(-1), (d1 * d2).sum(-1)
    det = aa * ee - b * b
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(det > 1e-14 * aa * ee, np.clip((b * f - c * ee) / det, 0, 1), 0.0)
        t = np.where(ee > 0, np.clip((b * s + f) / ee, 0, 1), 0.0)
        s = np.where(aa > 0, np.clip((b * t - c) / aa, 0, 1), 0.0)
    gap = r + s[..., None] * d1 - t[..., None] * d2
    return np.sqrt((gap * gap).sum(-1)).min(axis=(1, 2))


def _faces(A, B, triangles):
    """Of corners A and the insides of triangles of B."""
    if not len(triangles):
        return np.full(len(A), np.inf)
    o, p, q = (B[:, None, triangles[:, k]] for k in range(3))
    u, v, r = p - o, q - o, A[:, :, None] - o
    n = np.cross(u, v)
    square = (n * n).sum(-1)
    beta = (np.cross(r, v) * n).sum(-1) / square
    gamma = (np.cross(u, r) * n).sum(-1) / square
    inside = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1)
    height = np.abs((r * n).sum(-1)) / np.sqrt(square)
    return np.where(inside, height, np.inf).min(axis=(1, 2))


def _fastest(a, b):
    turns = np.linalg.norm(a.w) * a.radius + np.linalg.norm(b.w) * b.radius
    return np.linalg.norm(a.v - b.v) + turns


def nearest(a, b, end, tol):
    """The least distance from time 0 to `end`, to within tol; they must not meet before."""
    fast = _fastest(a, b)
    t = np.linspace(0.0, end, 65)
    d = between(a, b, t)
    lo, hi, dl, dh = t[:-1], t[1:], d[:-1], d[1:]
    best = d.min()
    while True:
        left = 0.5 * (dl + dh - fast * (hi - lo)) < best - tol
        lo, hi, dl, dh = lo[left], hi[left], dl[left], dh[left]
        if not lo.size:
            return best
        mid = 0.5 * (lo + hi)
        dm = between(a, b, mid)
        best = min(best, dm.min())
        lo, hi = np.concatenate([lo, mid]), np.concatenate([mid, hi])
        dl, dh = np.concatenate([dl, dm]), np.concatenate([dm, dh])


def meeting(a, b, end, tol):
    """When they are first within tol, by steps in which they cannot meet; inf: not before end."""
    fast, t = _fastest(a, b), 0.0
    while t <= end:
        d = between(a, b, np.array([t]))[0]
        if d <= tol:
            return t
        t += (d - 0.5 * tol) / fast
    return np.inf


@dataclass
class Flight:
    """Two bodies, the step [s], how long they fly [s], how near they come [m] (0: they meet)."""

    a: Flyer
    b: Flyer
    dt: float
    end: float
    clearance: float
    size: float
    planar: bool


def _body(rng, size, planar):
    kind = rng.integers(3)
    if kind == 0:
        return sphere(size * rng.uniform(0.3, 1.0), planar)
    if kind == 1:
        return capsule(size * rng.uniform(0.3, 1.2), size * rng.uniform(0.1, 0.4), planar)
    return box(size * rng.uniform(0.2, 1.2, 2 if planar else 3))


def _turned(rng, planar):
    if planar:
        return Rotation.from_rotvec([0, 0, rng.uniform(-np.pi, np.pi)]).as_matrix()
    return Rotation.random(random_state=rng).as_matrix()


def flight(rng, hits=False):
    """A random flight past a body, or into it."""
    planar = bool(rng.integers(2))
    size, dt = 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-3, np.log10(1 / 60))
    a = _body(rng, size, planar)
    b = mesh(rng, size) if not planar and rng.integers(4) == 0 else _body(rng, size, planar)
    b.fixed = b.fixed or bool(rng.integers(2))
    for flyer in (a, b):
        flyer.R = _turned(rng, planar)
        if rng.integers(2) and not flyer.fixed:
            w = rng.normal(size=3) * ([0, 0, 1] if planar else [1, 1, 1])
            flyer.w = w * 10 ** rng.uniform(-3, -0.8) / (np.linalg.norm(w) * dt)
    way = rng.normal(size=3) * ([1, 1, 0] if planar else [1, 1, 1])
    way /= np.linalg.norm(way)
    side = np.cross(way, [0, 0, 1.0] if planar else rng.normal(size=3))
    side /= np.linalg.norm(side)
    speed = 10 ** rng.uniform(-1.5, 0.5) * size / dt
    a.v = speed * way
    start = 1.2 * (a.radius + b.radius) + 2.0 * size * rng.uniform(0, 1)
    end = dt * np.ceil(2.0 * start / (speed * dt))
    clear = size * 10 ** rng.uniform(-4, 0)
    off, near = a.radius + b.radius + clear, np.inf
    for _ in range(30):  # inwards, by less than what is left
        a.x = off * side - start * way
        near = nearest(a, b, end, 0.02 * clear)
        if near < 1.5 * clear:
            break
        off -= near - 1.02 * clear
    if not hits:
        return Flight(a, b, dt, end, near, size, planar)
    a.x -= rng.uniform(0.05, 0.6) * size * side
    return Flight(a, b, dt, end, 0.0, size, planar)


def simulation(made, **options):
    """The flight as the library makes it."""
    world = ds.World(planar=made.planar, gravity=(0,) * (2 if made.planar else 3))
    dim = 2 if made.planar else 3
    for name, flyer in (("a", made.a), ("b", made.b)):
        q = Rotation.from_matrix(flyer.R).as_quat()[[3, 0, 1, 2]]
        turn = 2 * np.arctan2(q[3], q[0]) if made.planar else q
        given = {"position": flyer.x[:dim], "orientation": turn, "name": name}
        if flyer.fixed:
            world.add_body(flyer.shape, fixed=True, **given)
            continue
        inertia = 0.4 * flyer.radius**2
        world.add_body(
            flyer.shape, mass=1.0, velocity=flyer.v[:dim], **given,
            inertia=inertia if made.planar else (inertia,) * 3,
            angular_velocity=flyer.w[2] if made.planar else flyer.w,
        )  # fmt: skip
    return ds.Simulation(world, ds.TimeStepping(dt=made.dt, **options))
