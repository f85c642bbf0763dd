"""Judges of contacts of polyhedra that share nothing with the kernels.

``signed_distance`` is exact: poses and vertices are floats, so dyadic numbers, and everything is
done in integers. ``verdicts`` is for millions of poses, in extended precision: a contact's normal
is a lower bound of the signed distance by its supports; apart, the contact's two surface points
are an upper bound; overlapping, all separating axes are asked.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt

import numpy as np
from scipy.spatial import ConvexHull

import drystone as ds
from drystone.kernels.kinds import POLYHEDRON
from tests.geometry import pair_calls

LONG = np.longdouble
LEAN, FLAT = 0.015, 1e-5  # the rule of the docs: faces of one side, and what counts as flat


# ---- exact ----------------------------------------------------------------------------------


def _integers(*arrays):
    """The arrays as nested lists of integers, all times the same power of two; that power."""
    bits = 0
    for array in arrays:
        for number in np.ravel(array):
            bits = max(bits, float(number).as_integer_ratio()[1].bit_length() - 1)
    scaled = [
        np.array([int(Fraction(float(v)) * 2**bits) for v in np.ravel(a)], object) for a in arrays
    ]
    return [s.reshape(np.shape(a)) for s, a in zip(scaled, arrays, strict=True)], bits


def placed_exactly(vertices, x, R, origin):
    """Integer vertices of a body at x + R v - origin, and the power of two they are scaled by."""
    (v, p, r, o), bits = _integers(vertices, x, R, origin)
    return v.dot(r.T) + (p - o) * 2**bits, 2 * bits


def _cross(u, v):
    return (
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    )


def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _minus(u, v):
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


def _root(square):
    """Square root of a fraction >= 0, to 30 digits."""
    shift = 10**60
    return float(Fraction(isqrt(square.numerator * shift * square.denominator), square.denominator)
                 / 10**30)  # fmt: skip


def signed_distance(bodies, x, R):
    """max_n min_A n.a - max_B n.b of two polyhedra, exact but for the last square root."""
    sets, powers = zip(
        *(placed_exactly(b.vertices, x[k], R[k], x[1]) for k, b in enumerate(bodies)), strict=True
    )
    bits = max(powers)
    A, B = (
        [tuple(int(c) << (bits - p) for c in v) for v in s]
        for s, p in zip(sets, powers, strict=True)
    )
    faces = []
    for V, body in ((A, bodies[0]), (B, bodies[1])):
        normals = []
        for loop in body.loops:
            n = (0, 0, 0)
            for i in range(1, len(loop) - 1):
                c = _cross(_minus(V[loop[i]], V[loop[0]]), _minus(V[loop[i + 1]], V[loop[0]]))
                n = tuple(p + q for p, q in zip(n, c, strict=True))
            normals.append(n)
        faces.append(normals)
    edges = [[(e[0], e[1]) for e in b.edges] for b in bodies]
    axes = [tuple(-c for c in n) for n in faces[0]] + list(faces[1])
    ways = []
    for V, pairs in ((A, edges[0]), (B, edges[1])):
        kept = {}
        for i, j in pairs:
            e = _minus(V[j], V[i])
            kept.setdefault(e if e > (0, 0, 0) else tuple(-c for c in e), e)
        ways.append(list(kept.values()))
    for e in ways[0]:
        for f in ways[1]:
            c = _cross(e, f)
            if any(c):
                axes += [c, tuple(-q for q in c)]
    best = None  # separation times its absolute value: a fraction that orders as the separation
    for n in axes:
        s = min(_dot(n, a) for a in A) - max(_dot(n, b) for b in B)
        value = Fraction(s * abs(s), _dot(n, n))
        if best is None or value > best:
            best = value
    unit = 2**bits
    if best <= 0:
        return -_root(-best / unit**2)
    return _root(_square_distance(A, B, bodies, edges, faces) / unit**2)


def _square_distance(A, B, bodies, edges, faces):
    """Least square distance over all pairs of features of bodies that are apart."""
    least = min(Fraction(_dot(d, d)) for a in A for b in B for d in [_minus(a, b)])
    for P, V, pairs in ((A, B, edges[1]), (B, A, edges[0])):
        for i, j in pairs:
            e = _minus(V[j], V[i])
            square = _dot(e, e)
            for p in P:
                d = _minus(p, V[i])
                t = _dot(d, e)
                if 0 < t < square:
                    least = min(least, Fraction(_dot(d, d) * square - t * t, square))
    for P, V, loops, normals in (
        (A, B, bodies[1].loops, faces[1]),
        (B, A, bodies[0].loops, faces[0]),
    ):
        for loop, n in zip(loops, normals, strict=True):
            sides = [
                _cross(n, _minus(V[w], V[v]))
                for v, w in zip(loop, loop[1:] + loop[:1], strict=True)
            ]
            for p in P:
                h = _dot(n, _minus(p, V[loop[0]]))
                if h > 0 and all(
                    _dot(c, _minus(p, V[v])) >= 0 for c, v in zip(sides, loop, strict=True)
                ):
                    least = min(least, Fraction(h * h, _dot(n, n)))
    for i, j in edges[0]:
        e = _minus(A[j], A[i])
        for k, m in edges[1]:
            f, d = _minus(B[m], B[k]), _minus(A[i], B[k])
            n = _cross(e, f)
            det = _dot(n, n)
            if det == 0:
                continue
            s, t = -_dot(_cross(d, f), n), -_dot(_cross(d, e), n)
            if 0 < s < det and 0 < t < det:
                h = _dot(n, d)
                least = min(least, Fraction(h * h, det))
    return least


# ---- bodies and poses -----------------------------------------------------------------------


class Stored:
    """A shape of the library as it is handed to the kernels, with lists for the judges."""

    def __init__(self, shape):
        piece = shape.pieces()[0]
        self.numbers, self.ints = np.asarray(piece.floats, float), np.asarray(piece.ints, np.int64)
        nv, nf, ne = self.ints[:3]
        self.vertices = self.numbers[: 3 * nv].reshape(-1, 3)
        self.planes = self.numbers[3 * nv :].reshape(-1, 4)
        starts = self.ints[3 : 4 + nf]
        loops = self.ints[4 + nf : 4 + nf + starts[-1]]
        self.loops = [loops[i:j].tolist() for i, j in pairwise(starts)]
        at = 4 + nf + starts[-1]
        self.edges = [tuple(e) for e in self.ints[at : at + 4 * ne].reshape(-1, 4).tolist()]
        self.size = float(np.ptp(self.vertices, axis=0).max())
        # faces are merged where corners are within 1e-10 of the size of one plane
        self.thick = max(
            float(np.abs(self.vertices[loop] @ p[:3] - p[3]).max())
            for loop, p in zip(self.loops, self.planes, strict=True)
        )
        m = self.planes[:, :3]
        apart = np.linalg.norm(m[:, None] - m[None], axis=-1) + 2 * np.eye(len(m))
        self.sided = bool((apart < 2 * LEAN).any())
        e = np.array([self.vertices[e[1]] - self.vertices[e[0]] for e in self.edges])
        e /= np.linalg.norm(e, axis=1)[:, None]
        e *= np.where(e[np.arange(len(e)), np.abs(e).argmax(axis=1)] < 0, -1, 1)[:, None]
        self.ways = e[np.unique(np.round(e, 12), axis=0, return_index=True)[1]]


BOXES, POLYHEDRA, SIDES = "boxes", "polyhedra", "sides"


def uneven(rng, stretch):
    """A body whose sides are several faces that are nearly parallel: single precision, or noise."""
    kind = rng.integers(4)
    if kind == 0:
        grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, rng.integers(2, 4))] * 3), -1)
        points = grid.reshape(-1, 3)
    elif kind < 3:
        angle = 2 * np.pi * np.arange(k := rng.integers(3, 17)) / k
        points = 0.5 * np.array([[np.cos(a), np.sin(a), z] for a in angle for z in (-1, 1)])
    else:  # an octahedron whose triangles are divided, their middles a little outside
        points = 0.5 * np.vstack((np.eye(3), -np.eye(3)))
        middle = np.array([p + q for p in points for q in points if p @ q == 0]) / 2
        points = np.vstack((points, np.unique(middle, axis=0) * (1 + 10 ** rng.uniform(-9, -2))))
    points = points * stretch
    if rng.random() < 0.5:
        turn = _turn(rng.normal(size=3))
        points = (points @ turn.T + rng.choice([0.0, 3.0]) * stretch.max()).astype(np.float32)
        points = points.astype(float)
    else:
        noise = 10 ** rng.uniform(-9, -2) * rng.choice([stretch.min(), stretch.max()])
        points = points + noise * rng.uniform(-1, 1, size=points.shape)
    return Stored(ds.ConvexPolyhedron.hull(points))


def pool(rng, count, family=BOXES):
    """Shapes of sizes 1e-3 to 1e3 and aspects 1 to 1000."""
    out = []
    for _ in range(count):
        size = 10 ** rng.uniform(-3, 3)
        aspect = 10 ** rng.choice([0, rng.uniform(0, 1), rng.uniform(0, 3)], size=2)
        stretch = size / np.array([1, *aspect])[rng.permutation(3)]
        if family == BOXES:
            out.append(Stored(ds.Box(*stretch)))
            continue
        if family == SIDES:
            out.append(uneven(rng, stretch))
            continue
        kind = rng.integers(4)
        if kind == 0:
            points = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1.0]]) / 2
        elif kind == 1:
            angle = 2 * np.pi * np.arange(k := rng.integers(3, 7)) / k
            points = 0.5 * np.array([[np.cos(a), np.sin(a), z] for a in angle for z in (-1, 1)])
        elif kind == 2:
            points = 0.5 * np.vstack((np.eye(3), -np.eye(3)))
        else:
            points = rng.normal(size=(8, 3))
            points *= 0.5 / np.linalg.norm(points, axis=1)[:, None]
        out.append(Stored(ds.ConvexPolyhedron.hull(points * stretch)))
    return out


def _feature(rng, body, kind):
    """A point of a face, an edge or a vertex, an outer normal there, and an edge's direction."""
    if kind == 0:
        f = rng.integers(len(body.loops))
        loop = body.loops[f]
        weight = rng.dirichlet(np.full(len(loop), rng.choice([0.2, 1.0])))
        if rng.random() < 0.3:  # a corner of the face: so that faces are flush
            weight = np.eye(len(loop))[rng.integers(len(loop))]
        i = rng.integers(len(loop))
        way = body.vertices[loop[i]] - body.vertices[loop[i - 1]]
        return weight @ body.vertices[loop], body.planes[f, :3], way
    if kind == 1:
        v, w, f, g = body.edges[rng.integers(len(body.edges))]
        t, u = rng.random(), rng.choice([rng.random(), rng.random() ** 8])
        m = u * body.planes[f, :3] + (1 - u) * body.planes[g, :3]
        p, q = body.vertices[v], body.vertices[w]
        return p + t * (q - p), m, q - p
    v = rng.integers(len(body.vertices))
    around = [f for f, loop in enumerate(body.loops) if v in loop]
    e = next(e for e in body.edges if v in e[:2])
    weight = rng.dirichlet(np.full(len(around), rng.choice([0.3, 1.0])))
    way = body.vertices[e[1]] - body.vertices[e[0]]
    return body.vertices[v], weight @ body.planes[around, :3], way


def _frame(m, way):
    """Orthonormal columns: the direction of m, `way` made normal to it, their product."""
    m = m / np.linalg.norm(m)
    t = way - (way @ m) * m
    if not np.linalg.norm(t) > 1e-9 * np.linalg.norm(way):
        t = np.cross(m, np.eye(3)[np.abs(m).argmin()])
    for _ in range(2):
        t -= (t @ m) * m
        t /= np.linalg.norm(t)
    return np.column_stack((m, t, np.cross(m, t)))


def _turn(vector):
    """Rotation matrix of a rotation vector, to rounding also if it is tiny."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    k = vector / angle
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + 2 * np.sin(angle / 2) ** 2 * (K @ K)


def pose(rng, bodies):
    """A feature of A against one of B at a gap: -> x (2, 3), R (2, 3, 3)."""
    small = min(b.size for b in bodies)
    (p, m, e), (q, k, f) = (_feature(rng, b, rng.choice(3, p=[0.5, 0.25, 0.25])) for b in bodies)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    world = _frame(n, rng.normal(size=3))
    if rng.random() < 0.1:
        world = np.eye(3)[:, rng.permutation(3)]
        world[:, 2] *= np.linalg.det(world)
        n = world[:, 0]
    spin = rng.choice([0.0, np.pi / 2, rng.uniform(0, 6), 10 ** rng.uniform(-13, -3)])
    R_b = world @ _frame(k, f).T
    R_a = world @ _turn(np.array([spin, 0, 0])) @ np.diag([-1, 1, -1.0]) @ _frame(m, e).T
    if rng.random() < 0.6:  # all but parallel
        R_a = _turn(10 ** rng.uniform(-16, -4) * rng.normal(size=3)) @ R_a
    way = rng.random()
    gap = 0.0 if way < 0.1 else 10 ** rng.uniform(-16, -3) * rng.choice([1.0, 1.0, -1.0])
    gap = -rng.uniform(0.001, 0.4) if way > 0.85 else gap
    x_b = np.zeros(3)
    if rng.random() < 0.5:
        x_b = rng.normal(size=3) * small * 10 ** rng.uniform(0, 6)
    x_a = x_b + R_b @ q + gap * small * n - R_a @ p
    return np.array([x_a, x_b]), np.array([R_a, R_b])


# ---- many -----------------------------------------------------------------------------------


def call(kernel, width, bodies, x, R, margin, cache=None):
    """Contacts of many pairs at once; bodies [(A, B), ...], x (n, 2, 3), R (n, 2, 3, 3)."""
    flat = [b for pair in bodies for b in pair]
    first = np.cumsum([0] + [b.numbers.size for b in flat])
    first_int = np.cumsum([0] + [b.ints.size for b in flat])
    pairs = np.arange(2 * len(bodies)).reshape(-1, 2)
    cache = np.zeros((len(bodies), width)) if cache is None else cache
    room = pair_calls.room_for(64 * len(bodies) + 500, 3)
    geoms = pair_calls.posed(
        np.ascontiguousarray(x.reshape(-1, 3)), np.ascontiguousarray(R.reshape(-1, 3, 3)),
        POLYHEDRON, first, np.concatenate([b.numbers for b in flat]), first_int,
        np.concatenate([b.ints for b in flat]),
    )  # fmt: skip
    count = pair_calls.run(kernel, pairs, margin, geoms, cache, room)
    assert count >= 0
    return pair_calls.found(room, count)


@dataclass
class Padded:
    """Bodies of many pairs side by side; rows that a body lacks repeat its last one."""

    V: np.ndarray  # (n, nv, 3)
    planes: np.ndarray  # (n, nf, 4)
    ways: np.ndarray  # (n, nw, 3)
    edges: np.ndarray  # (n, ne, 2)
    loops: np.ndarray  # (n, nf, nl)

    @staticmethod
    def of(bodies):
        def pad(lists):
            most = max(map(len, lists))
            return np.array([[*row, *[row[-1]] * (most - len(row))] for row in lists])

        kept = {}
        unique = [kept.setdefault(id(b), b) for b in bodies]
        order = {key: i for i, key in enumerate(kept)}
        index = np.array([order[id(b)] for b in unique])
        them = list(kept.values())
        longest = max(len(loop) for b in them for loop in b.loops)
        loops = [[[*s, *[s[-1]] * (longest - len(s))] for s in b.loops] for b in them]
        return Padded(
            pad([b.vertices for b in them])[index],
            pad([b.planes for b in them])[index],
            pad([b.ways for b in them])[index],
            pad([[e[:2] for e in b.edges] for b in them])[index],
            pad(loops)[index],
        )


def verdicts(bodies, x, R, answer, margin):
    """What is wrong with the answers: {name of a fault: numbers of pairs}; margin (n,) [m].

    Lengths are allowed 1e-9 of the smaller body, or 1e-14 of the larger where that is more; and
    what merged faces are off their planes.
    """
    which, point, normal, gap, _ = answer
    count = len(bodies)
    small = np.array([min(a.size, b.size) for a, b in bodies])
    large = np.array([max(a.size, b.size) for a, b in bodies])
    tol = 1e-9 * small + 1e-14 * large + np.array([a.thick + b.thick for a, b in bodies])
    A, B = Padded.of([a for a, _ in bodies]), Padded.of([b for _, b in bodies])
    X, Q = x.astype(LONG), R.astype(LONG)
    shift = X[:, 0] - X[:, 1]
    VA = np.einsum("nij,nvj->nvi", Q[:, 0], A.V.astype(LONG)) + shift[:, None]
    VB = np.einsum("nij,nvj->nvi", Q[:, 1], B.V.astype(LONG))
    best = np.full(count, -np.inf, LONG)

    def ask(axes, both):
        for k in range(axes.shape[1]):
            c = axes[:, k]
            length = np.sqrt((c * c).sum(1))
            good = length > 1e-17
            c = c / np.where(good, length, 1)[:, None]
            a, b = np.einsum("nvi,ni->nv", VA, c), np.einsum("nvi,ni->nv", VB, c)
            s = a.min(1) - b.max(1)
            if both:
                s = np.maximum(s, b.min(1) - a.max(1))
            np.maximum(best, np.where(good, s, -np.inf), out=best)

    ask(-np.einsum("nij,nfj->nfi", Q[:, 0], A.planes[..., :3].astype(LONG)), False)
    ask(np.einsum("nij,nfj->nfi", Q[:, 1], B.planes[..., :3].astype(LONG)), False)
    EA = np.einsum("nij,nwj->nwi", Q[:, 0], A.ways.astype(LONG))
    EB = np.einsum("nij,nwj->nwi", Q[:, 1], B.ways.astype(LONG))
    for k in range(EA.shape[1]):
        ask(np.cross(EA[:, k][:, None], EB), True)

    faults = {}
    some = np.bincount(which, minlength=count)
    missing = np.flatnonzero(some == 0)
    # where axes alone do not tell the distance, the exact judge does
    limit = margin - tol
    gone = [
        i
        for i in missing
        if best[i] <= limit[i]
        and (best[i] <= 0 or signed_distance(bodies[i], x[i], R[i]) <= limit[i])
    ]
    faults["missing"] = np.array(gone, int)
    has = np.flatnonzero(some)
    lead = np.searchsorted(which, has)
    n = np.zeros((count, 3), LONG)
    n[has] = normal[lead]
    n[has] /= np.sqrt((n[has] ** 2).sum(1))[:, None]
    unlike = np.abs(normal - n[which].astype(float)).max(1) > 1e-14
    faults["several normals"] = np.unique(which[unlike])
    least = np.full(count, np.inf)
    np.minimum.at(least, which, gap)
    s = np.einsum("nvi,ni->nv", VA, n).min(1) - np.einsum("nvi,ni->nv", VB, n).max(1)
    tell = np.flatnonzero((np.abs(s - least) > tol) & (some > 0))
    faults["gap is not that of the normal"] = tell
    faults["another axis is better"] = np.flatnonzero((best > s + tol) & (some > 0))
    # apart: the points on both bodies
    deepest = np.full(count, -1)
    deepest[which[::-1]] = np.arange(len(which))[::-1]
    order = np.lexsort((gap, which))
    firsts = order[np.searchsorted(which[order], has)]
    deepest[has] = firsts
    apart = has[(least[has] > tol[has])]
    c = deepest[apart]
    middle = point[c].astype(LONG) - X[apart, 1]
    outside = np.zeros(len(apart))
    far = 1e-15 * np.abs(x[apart]).max(axis=(1, 2))  # points are rounded to the world's numbers
    for body, k, sign in ((A, 0, 0.5), (B, 1, -0.5)):
        on = middle + sign * gap[c, None] * n[apart] - (shift[apart] if k == 0 else 0)
        local = np.einsum("nij,ni->nj", Q[apart, k], on)
        over = (
            np.einsum("nfj,nj->nf", body.planes[apart][..., :3], local) - body.planes[apart][..., 3]
        )
        outside = np.maximum(outside, over.max(1).astype(float))
    # where a point is a little beside its body and so proves nothing, the exact judge is asked
    faults["not points of the bodies"] = apart[outside > 1e-7 * small[apart] + far]
    doubt = apart[outside > tol[apart] + far]
    faults["distance"] = np.array(
        [i for i in doubt if abs(signed_distance(bodies[i], x[i], R[i]) - least[i]) > tol[i]], int
    )
    faults["region"] = region_faults(bodies, x, R, n.astype(float), answer, has, margin)
    return {name: rows for name, rows in faults.items() if len(rows)}


def side(body, V, R, n, small):
    """What carries of a body with vertices V along n, towards which it lies.

    -> faces that lean less than LEAN from the plane (with some room); vertices that must be
    contacts where they are over the other body's faces, and pairs of vertices whose lines must be
    where they cross; whether contacts around them are not enough, as they are for what lies
    inside the outline of a flat side or on its rim.
    """
    plain = not body.sided
    h, m = V @ n, body.planes[:, :3] @ R.T
    faces = np.flatnonzero(np.linalg.norm(m - n, axis=1) < 0.95 * LEAN)
    corners = set(np.flatnonzero(h > h.max() - 1e-11 * small).tolist())
    edges = {e[:2] for e in body.edges if corners.issuperset(e[:2])}
    if len(faces) == 0:
        return faces, corners, edges, plain
    on = sorted({v for f in faces for v in body.loops[f]})
    area = sum(
        np.cross(V[loop[i]] - V[loop[0]], V[loop[i + 1]] - V[loop[0]])
        for loop in (body.loops[f] for f in faces)
        for i in range(1, len(loop) - 1)
    )
    thick = np.ptp(V[on] @ area) / np.linalg.norm(area)
    if len(faces) > 1 and thick < 1.1 * FLAT * small:  # an outline; what is inside need not be
        frame = _frame(n, R[:, 0])[:, 1:]
        rim = ConvexHull(V[on] @ frame).vertices
        rim = [on[i] for i in rim]
        edges = (
            set(zip(rim, rim[1:] + rim[:1], strict=True)) if thick < 0.9 * FLAT * small else set()
        )
        return faces, set(rim), edges, False
    some = set(faces.tolist())
    edges |= {e[:2] for e in body.edges if e[2] in some or e[3] in some}
    return faces, corners | set(on), edges, plain or thick > FLAT * small


def region_faults(bodies, x, R, n, answer, has, margin):
    """Pairs of which a point of the contact region is not among the contacts.

    Corners of either body's side that lie over a face of the other's, well inside it, and
    crossings of their edges.
    """
    which, point = answer[0], answer[1]
    out = []
    for i in has:
        small = min(b.size for b in bodies[i])
        contacts = point[np.searchsorted(which, i) : np.searchsorted(which, i, "right")] - x[i, 1]
        ok = 2e-7 * small + 1e-15 * np.abs(x[i, 1]).max()
        frame = _frame(n[i], R[i, 0, :, 0])
        flat = contacts @ frame[:, 1:]
        near = 0.999 * margin[i] - 1e-9 * small
        V = [
            b.vertices @ R[i, k].T + (x[i, 0] - x[i, 1] if k == 0 else 0.0)
            for k, b in enumerate(bodies[i])
        ]
        sides = [side(b, V[k], R[i, k], n[i] * (2 * k - 1), small) for k, b in enumerate(bodies[i])]
        if max(len(s[0]) for s in sides) > 1:
            # outlines may be off the body by as much, and slivers beside the rim belong to them
            near -= 2 * FLAT * small
            ok += 5 * FLAT * small
        wanted = []
        for k in range(2):
            other = bodies[i][1 - k]
            corners = V[k][sorted(sides[k][1])]
            P = corners @ frame[:, 1:]
            for f in sides[1 - k][0]:
                face = V[1 - k][other.loops[f]]
                m = R[i, 1 - k] @ other.planes[f, :3]
                over = (corners - face[0]) @ m / abs(m @ n[i])
                loop = face @ frame[:, 1:]
                e = np.roll(loop, -1, axis=0) - loop
                e = e / np.hypot(*e.T)[:, None]
                d = P[:, None] - loop[None]
                turn = e[None, :, 0] * d[..., 1] - e[None, :, 1] * d[..., 0]
                inside = np.maximum(turn.min(1), -turn.max(1))
                wanted += [(p, sides[k][3]) for p in P[(inside > 1e-8 * small) & (over < near)]]
        lines = [
            np.array([(V[k][v] @ frame, V[k][u] @ frame) for v, u in sorted(sides[k][2])])
            for k in range(2)
        ]
        if len(lines[0]) and len(lines[1]):
            strict = sides[0][3] and sides[1][3]
            wanted += [(p, strict) for p in crossings(*lines, near, 1e-5 * small)]
        for p, strict in wanted:
            away = np.hypot(*(flat - p).T).min()
            if away > ok and (strict or off_hull(p, flat) > ok):
                out.append(i)
                break
    return np.array(out, int)


def off_hull(p, points):
    """Distance of p (2,) from the convex hull of points (k, 2)."""
    d = points - p
    angle = np.sort(np.arctan2(d[:, 1], d[:, 0]))
    if np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() < np.pi:
        return 0.0
    e = d[None] - d[:, None]
    square = np.maximum((e * e).sum(-1), np.finfo(float).tiny)
    t = np.clip(-(e * d[:, None]).sum(-1) / square, 0, 1)
    return np.linalg.norm(d[:, None] + t[..., None] * e, axis=-1).min()


def crossings(A, B, near, room):
    """Where segments (na, 2, 3), heights first, pass over others (nb, 2, 3), nearer than `near`
    and `room` away from all ends."""
    a, b = A[:, None, 0], B[None, :, 0]
    e, f = A[:, None, 1] - a, B[None, :, 1] - b
    d, det = b - a, e[..., 1] * f[..., 2] - e[..., 2] * f[..., 1]
    le, lf = np.hypot(e[..., 1], e[..., 2]), np.hypot(f[..., 1], f[..., 2])
    good = np.abs(det) >= 1e-3 * le * lf
    det = np.where(good, det, 1.0)
    s = (d[..., 1] * f[..., 2] - d[..., 2] * f[..., 1]) / det
    t = (d[..., 1] * e[..., 2] - d[..., 2] * e[..., 1]) / det
    over = a[..., 0] + s * e[..., 0] - b[..., 0] - t * f[..., 0]
    free = np.minimum(np.minimum(s, 1 - s) * le, np.minimum(t, 1 - t) * lf)
    i, j = np.nonzero(good & (free > room) & (over < near))
    return list(A[i, 0, 1:] + s[i, j, None] * e[i, 0, 1:])


def batch(rng, count, family):
    """Pairs and poses: bodies of like size, some of very unlike ones."""
    shapes = pool(rng, 60, family)
    shapes.sort(key=lambda b: b.size)
    pairs, xs, Rs = [], np.zeros((count, 2, 3)), np.zeros((count, 2, 3, 3))
    for i in range(count):
        k = rng.integers(len(shapes))
        other = rng.integers(max(k - 4, 0), min(k + 5, len(shapes)))
        if rng.random() < 0.1:
            other = rng.integers(max(k - 30, 0), min(k + 31, len(shapes)))
        pairs.append((shapes[k], shapes[other]))
        xs[i], Rs[i] = pose(rng, pairs[-1])
    return pairs, xs, Rs


def before(rng, bodies, x, R):
    """Poses of which the present ones may be a step's outcome: 1e-16 to 0.3 sizes away."""
    step = 10 ** rng.uniform(-16, -0.5, size=len(bodies))
    x, R = x.copy(), R.copy()
    for i, pair in enumerate(bodies):
        x[i, 0] += step[i] * min(b.size for b in pair) * rng.normal(size=3)
        R[i, 0] = _turn(step[i] * rng.normal(size=3)) @ R[i, 0]
    return x, R
