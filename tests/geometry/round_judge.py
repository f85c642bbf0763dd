"""A judge of contacts of spheres, ellipsoids, superquadrics, capsules, cylinders, cones, polyhedra.

Bodies touch with a feature of each (face, end, side, rim, edge, corner) at a gap that is known from
above, by the two points that were put there, and from below, by the separation along their normal.
The normal of a contact is a lower bound, too, by supports in extended precision; its points on both
surfaces are an upper bound.
"""

import numpy as np

import drystone as ds
from drystone.kernels import kinds as K
from tests.geometry import pair_calls
from tests.geometry.kind_tables import ENTRIES
from tests.geometry.polyhedra_judge import _frame, _turn
from tests.geometry.support_bodies import Solid

LONG = np.longdouble
KINDS = (
    K.SPHERE, K.ELLIPSOID, K.SUPERQUADRIC, K.CAPSULE, K.CYLINDER, K.CONE, K.POLYHEDRON
)  # fmt: skip
PAIRS = [(a, b) for a in KINDS for b in KINDS if a <= b and a != K.POLYHEDRON]
MARGINS = (1e-6, 1e-3, 0.02, 0.5)  # of the smaller body


def solid(rng, kind, size):
    """A body of this size, aspect 1 to 1000."""
    aspect = 10 ** rng.choice([0, rng.uniform(0, 1), rng.uniform(0, 3)], size=2)
    stretch = size / np.array([1, *aspect])[rng.permutation(3)]
    if kind == K.SPHERE:
        return Solid(ds.Sphere(size / 2))
    if kind == K.ELLIPSOID:
        return Solid(ds.Ellipsoid(*(stretch / 2)))
    if kind == K.SUPERQUADRIC:
        return Solid(ds.Superquadric(*(stretch / 2), *rng.choice([1, rng.uniform(0.1, 1)], size=2)))
    if kind == K.POLYHEDRON:
        if rng.random() < 0.5:
            return Solid(ds.Box(*stretch))
        points = rng.normal(size=(rng.integers(4, 20), 3))
        points *= 0.5 * stretch / np.linalg.norm(points, axis=1)[:, None]
        return Solid(ds.ConvexPolyhedron.hull(points))
    make = {K.CAPSULE: ds.Capsule, K.CYLINDER: ds.Cylinder, K.CONE: ds.Cone}[kind]
    return Solid(make(stretch[0], stretch[1] / 2))


def feature(rng, body):
    """A point of the surface and an outer normal there."""
    f, how = body.floats, rng.integers(4)
    if body.kind == K.POLYHEDRON:
        weight = rng.dirichlet(np.full(len(body.planes), rng.choice([0.02, 0.1, 1.0])))
        m = weight @ body.planes[:, :3]
        m = m / np.linalg.norm(m) if np.linalg.norm(m) > 1e-3 else body.planes[0, :3]
        h = body.vertices @ m
        on = body.vertices[h > h.max() - 1e-9 * np.ptp(body.vertices, axis=0).max()]
        return rng.dirichlet(np.ones(len(on))) @ on, m
    if body.kind in (K.SPHERE, K.ELLIPSOID):
        m = rng.normal(size=3) if how else np.eye(3)[rng.integers(3)]
        m, a = m / np.linalg.norm(m), f * np.ones(3)
        return a * a * m / np.linalg.norm(a * m), m
    if body.kind == K.SUPERQUADRIC:
        m = rng.normal(size=3) if how else np.eye(3)[rng.integers(3)]
        m = m / np.linalg.norm(m)
        q, t = 2 / (2 - f[4]), 2 / (2 - f[3])
        u, w = np.abs(f[:2] * m[:2]), abs(f[2] * m[2])
        across = (u**q).sum() ** (1 / q)
        along = (across**t + w**t) ** (1 / t)
        u = (u / across) ** (q - 1) * (across / along) ** (t - 1) if across > 0 else 0 * u
        return f[:3] * np.copysign([*u, (w / along) ** (t - 1)], m), m
    angle, z, t = rng.uniform(0, 2 * np.pi), rng.choice([-1.0, 1.0]), rng.uniform(0, np.pi / 2)
    out = np.array([np.cos(angle), np.sin(angle), 0])
    up = np.array([0, 0, z])
    if body.kind == K.CAPSULE:
        m = out if how < 2 else np.cos(t) * out + np.sin(t) * up
        place = rng.uniform(-1, 1) if how < 2 else z
        return np.array([0, 0, f[0] * place]) + f[1] * m, m
    if body.kind == K.CYLINDER:
        if how == 0:
            return f[1] * out + f[0] * rng.uniform(-1, 1) * up, out
        if how == 1:
            return np.sqrt(rng.random()) * f[1] * out + f[0] * up, up
        return f[1] * out + f[0] * up, np.cos(t) * out + np.sin(t) * up
    low, slant = np.array([0, 0, -0.25 * f[0]]), np.hypot(*f)
    if how == 0:
        u = rng.random()
        return low + [0, 0, u * f[0]] + (1 - u) * f[1] * out, (f[0] * out + [0, 0, f[1]]) / slant
    if how == 1:
        return low + np.sqrt(rng.random()) * f[1] * out, np.array([0, 0, -1.0])
    if how == 2:
        return np.array([0, 0, 0.75 * f[0]]), np.array([0, 0, 1.0])
    t = rng.uniform(-np.pi / 2, np.arctan2(f[1], f[0]))
    return low + f[1] * out, np.cos(t) * out + [0, 0, np.sin(t)]


class Pose:
    """Two bodies of these kinds that touch or are 1e-16 to 1e-3 of the smaller size apart."""

    def __init__(self, seed, kinds):
        rng = np.random.default_rng([*seed, *kinds])
        ratio = 10 ** rng.choice([0, rng.uniform(-1, 1), rng.uniform(-6, 6)], p=[0.5, 0.3, 0.2])
        sizes = np.clip(10 ** rng.uniform(-3, 3) * np.array([1, ratio]), 1e-3, 1e3)
        self.kinds = kinds
        self.bodies = [solid(rng, k, s) for k, s in zip(kinds, sizes, strict=True)]
        extents = [max(b.h(d) + b.h(-d) for d in np.eye(3)) for b in self.bodies]
        self.small, self.large = min(extents), max(extents)
        (p, m), (q, k) = (feature(rng, b) for b in self.bodies)
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        world = _frame(n, rng.normal(size=3)) if rng.random() < 0.85 else np.eye(3)
        spin = rng.choice([0.0, np.pi / 2, rng.uniform(0, 6)])
        R_b = world @ _frame(k, rng.normal(size=3)).T
        R_a = world @ _turn([spin, 0, 0]) @ np.diag([-1, 1, -1.0])
        R_a = R_a @ _frame(m, rng.normal(size=3)).T
        if rng.random() < 0.6:
            R_a = _turn(10 ** rng.uniform(-16, -4) * rng.normal(size=3)) @ R_a
        gap = 0.0 if rng.random() < 0.1 else 10 ** rng.uniform(-16, -3)
        x_b = np.zeros(3)
        if rng.random() < 0.5:
            x_b = rng.normal(size=3) * self.small * 10 ** rng.uniform(0, 6)
        self.x = np.array([x_b + R_b @ q + gap * self.small * world[:, 0] - R_a @ p, x_b])
        self.R, self.normal = np.array([R_a, R_b]), world[:, 0]
        self.margin = rng.choice(MARGINS) * self.small
        away = LONG(1) * self.x[0] - self.x[1] + R_a.astype(LONG) @ p - R_b.astype(LONG) @ q
        self.upper = float(np.sqrt((away * away).sum()))
        step = 10 ** rng.uniform(-16, -0.5)
        self.before = self.x.copy(), self.R.copy()
        self.before[0][0] += step * self.small * rng.normal(size=3)
        self.before[1][0] = _turn(step * rng.normal(size=3)) @ R_a
        self.cached = rng.random() < 0.5

    def contacts(self):
        """which, point, normal, gap, feature; with the cache of a pose before, if it is cached."""
        entry = ENTRIES[self.kinds]
        floats, ints = [b.floats for b in self.bodies], [b.ints for b in self.bodies]
        first = np.cumsum([0, *map(len, floats)])
        first_int = np.cumsum([0, *map(len, ints)])
        cache = np.zeros((1, entry.width))
        for x, R in [self.before, (self.x, self.R)] if self.cached else [(self.x, self.R)]:
            geoms = pair_calls.posed(
                x, R, self.kinds, first, np.concatenate(floats), first_int, np.concatenate(ints)
            )
            room = pair_calls.room_for(600, 3)
            count = pair_calls.run(
                entry.load(), [[0, 1]], self.margin, geoms, cache, room, calls=entry.calls()
            )
            assert count >= 0
        return pair_calls.found(room, count)

    def fault(self):
        """What is wrong with the contacts, "" if nothing is."""
        _, point, normal, gap, _ = self.contacts()
        far = 1e-15 * np.abs(self.x).max()
        tol = 1e-9 * self.small + 1e-14 * self.large + far
        if len(gap) == 0:
            return "missing" if self.upper <= self.margin - tol else ""
        i, Q = gap.argmin(), self.R.astype(LONG)
        n, shift = normal[i].astype(LONG), LONG(1) * self.x[0] - self.x[1]

        def separation(n):
            return n @ shift - self.bodies[0].h(-n @ Q[0]) - self.bodies[1].h(n @ Q[1])

        if abs(separation(n) - gap[i]) > tol:
            return "gap is not that of the normal"
        if separation(self.normal.astype(LONG)) > gap[i] + tol:
            return "another axis is better"
        for k, sign in ((0, 0.5), (1, -0.5)):
            on = point[i] - self.x[1] + sign * gap[i] * n - (shift if k == 0 else 0)
            if self.bodies[k].level(on @ Q[k]) > 1e-7 * self.small + 1e-14 * self.large + 10 * far:
                return "not a point of the bodies"
        return ""
