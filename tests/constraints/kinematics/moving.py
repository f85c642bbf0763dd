"""Two moving bodies, and their distance solved anew at each instant with many digits.

Nothing here shares code with the package: a side of a contact is a map from parameters (none for a
vertex, one for an edge, two for a surface) to points, and the unknowns are the parameters, the
unit normal n and the distance C of
    p_a - p_b = C n,   n . (tangents of both sides) = 0,   |n| = 1.
It works apart, touching and penetrating. Time derivatives are central differences with 30 digits.
"""

import mpmath as mp
import numpy as np

from drystone.kernels import kinds
from drystone.model import Geoms

mp.mp.dps = 34
H = mp.mpf("1e-8")


def geoms_of(shapes, rng, eccentric=True):
    """One body for each shape, whose frame is off the centre of mass."""
    pieces = [shape.pieces()[0] for shape in shapes]
    n, dim = len(pieces), shapes[0].dim
    turn = np.array([random_turn(rng, dim) for _ in range(n)])
    return Geoms(
        dim=dim,
        kind=np.array([p.kind for p in pieces]),
        body=np.arange(n),
        uid=np.arange(n),
        offset=rng.normal(size=(n, dim)) * (0.3 if eccentric else 0.0),
        turn=turn,
        first=np.cumsum([0, *(p.floats.size for p in pieces)]),
        numbers=np.concatenate([p.floats for p in pieces]),
        first_int=np.cumsum([0, *(p.ints.size for p in pieces)]),
        ints=np.concatenate([p.ints for p in pieces]).astype(np.int64),
        radius=np.array([p.radius for p in pieces]),
    )


def random_turn(rng, dim):
    Q = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    Q[:, 0] *= np.linalg.det(Q)
    return Q


def skew(w):
    return mp.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


class Motion:
    """A body: pose at time 0, velocity and acceleration (dof,); exact to second order in t."""

    def __init__(self, position, turn, velocity, accel):
        self.dim = len(position)
        self.x, self.Q = mp.matrix(list(position)), mp.matrix(turn.tolist())
        d = self.dim
        self.v, self.a = mp.matrix(list(velocity[:d])), mp.matrix(list(accel[:d]))
        self.w, self.alpha = mp.matrix(list(velocity[d:])), mp.matrix(list(accel[d:]))

    def at(self, t):
        x = self.x + t * self.v + t * t / 2 * self.a
        phi = t * self.w + t * t / 2 * self.alpha
        if self.dim == 2:
            c, s = mp.cos(phi[0]), mp.sin(phi[0])
            return x, mp.matrix([[c, -s], [s, c]]) * self.Q
        S = skew(phi)
        return x, (mp.eye(3) + S + S * S / 2 + S * S * S / 6) * self.Q

    def material(self, point, t):
        """Velocity at time t of the body's material at a point."""
        x, _ = self.at(t)
        w, r = self.w + t * self.alpha, point - x
        v = self.v + t * self.a
        if self.dim == 2:
            return v + w[0] * mp.matrix([-r[1], r[0]])
        return v + skew(w) * r


class Side:
    """A feature of a geom: chart(params) -> point and tangents in the geom's frame."""

    def __init__(self, motion, offset, turn, chart, start):
        self.motion, self.chart, self.start = motion, chart, start
        self.offset, self.turn = mp.matrix(list(offset)), mp.matrix(turn.tolist())

    def at(self, params, t):
        x, Q = self.motion.at(t)
        p, tangents = self.chart(*params)
        p = x + Q * (self.offset + self.turn * mp.matrix(p))
        return p, [Q * (self.turn * mp.matrix(s)) for s in tangents]


def dot(a, b):
    return sum(a[i] * b[i] for i in range(len(a)))


def solve(a, b, n, C, t):
    """p_a, p_b, n, C at time t, from a guess n, C."""
    dim, i, j = a.motion.dim, len(a.start), len(b.start)

    def equations(*z):
        pa, ta = a.at(z[:i], t)
        pb, tb = b.at(z[i : i + j], t)
        m, c = mp.matrix(z[i + j : i + j + dim]), z[-1]
        gap = pa - pb - c * m
        return [*gap, *(dot(m, s) for s in (*ta, *tb)), dot(m, m) - 1]

    guess = [*a.start, *b.start, *n, C]
    z = mp.findroot(equations, guess, tol=mp.mpf("1e-58"), maxsteps=40)
    pa, _ = a.at(z[:i], t)
    pb, _ = b.at(z[i : i + j], t)
    return pa, pb, mp.matrix(z[i + j : i + j + dim]), z[len(z) - 1]


def derivatives(a, b, n, C):
    """C, C', C'', n', slip and its rate, velocity of the point halfway: by differences."""
    low, mid, high = (solve(a, b, n, C, t) for t in (-H, mp.mpf(0), H))

    def slip(s, t):
        c = (s[0] + s[1]) / 2
        return a.motion.material(c, t) - b.motion.material(c, t)

    rate = [(p - q) / (2 * H) for p, q in zip(high, low, strict=True)]
    return {
        "gap": mid[3],
        "rate": rate[3],
        "accel": (high[3] - 2 * mid[3] + low[3]) / H**2,
        "normal_rate": rate[2],
        "point_rate": (rate[0] + rate[1]) / 2,
        "slip": slip(mid, 0),
        "slip_rate": (slip(high, H) - slip(low, -H)) / (2 * H),
    }


def power(c, e):
    return mp.sign(c) * abs(c) ** e


def superquadric(a, b, c, e1, e2):
    """Barr's chart: latitude v, longitude u."""

    def chart(u, v):
        cu, su, cv, sv = mp.cos(u), mp.sin(u), mp.cos(v), mp.sin(v)
        x, y, r, z = power(cu, e2), power(su, e2), power(cv, e1), power(sv, e1)
        dr, dz = -e1 * r * sv / cv, e1 * z * cv / sv
        dx, dy = -e2 * x * su / cu, e2 * y * cu / su
        along = [a * r * dx, b * r * dy, 0]
        return [a * r * x, b * r * y, c * z], [along, [a * dr * x, b * dr * y, c * dz]]

    return chart


def angles(q, a, b, c, e1, e2):
    """Barr's parameters of a point of the surface."""
    x, y, z = q[0] / a, q[1] / b, q[2] / c
    u = np.arctan2(np.sign(y) * abs(y) ** (1 / e2), np.sign(x) * abs(x) ** (1 / e2))
    r = np.hypot(abs(x) ** (1 / e2), abs(y) ** (1 / e2)) ** (e2 / e1)
    return [u, np.arctan2(np.sign(z) * abs(z) ** (1 / e1), r)]


def line(p, e):
    return lambda s: ([p[k] + s * e[k] for k in range(len(p))], [list(e)])


def plane(p, e, f):
    return lambda s, r: ([p[k] + s * e[k] + r * f[k] for k in range(3)], [list(e), list(f)])


def revolved(r0, z0, slope):
    """Sides of cylinders and cones: radius r0 + slope s at height z0 + s."""

    def chart(u, s):
        c, d, r = mp.cos(u), mp.sin(u), r0 + slope * s
        return [r * c, r * d, z0 + s], [[-r * d, r * c, 0], [slope * c, slope * d, 1]]

    return chart


def circle(r, z=None):
    def chart(u):
        c, s = mp.cos(u), mp.sin(u)
        end = [] if z is None else [z]
        return [r * c, r * s, *end], [[-r * s, r * c, *(0 for _ in end)]]

    return chart


def ellipse(a, b):
    def chart(u):
        c, s = mp.cos(u), mp.sin(u)
        return [a * c, b * s], [[-a * s, b * c]]

    return chart


def moved(chart, shift):
    def other(*params):
        p, tangents = chart(*params)
        return [p[k] + shift[k] for k in range(len(p))], tangents

    return other


def chart_of(shape, q, m, feature):
    """The chart of the feature of a shape that point q lies on, and q's parameters in it.

    m: outer normal. All in the geom's frame (which is the shape's, except for half-spaces).
    """
    piece = shape.pieces()[0]
    kind, numbers = piece.kind, piece.floats.tolist()
    name = feature.name
    if kind == kinds.SURFACE:
        return shape.chart(q)
    if kind in (kinds.SPHERE, kinds.ELLIPSOID, kinds.SUPERQUADRIC, kinds.BOWL):
        a, b, c, e1, e2 = (
            (*numbers * 3, 1.0, 1.0) if len(numbers) == 1 else (*numbers, 1.0, 1.0)[:5]
        )
        return superquadric(a, b, c, e1, e2), angles(q, a, b, c, e1, e2)
    if kind in (kinds.HALF_SPACE, kinds.HALF_PLANE):
        return (
            (plane([0, 0, 0], [1, 0, 0], [0, 1, 0]), [q[0], q[1]])
            if shape.dim == 3
            else (line([0, 0], [1, 0]), [q[0]])
        )
    if kind == kinds.ELLIPSE:
        a, b = numbers
        return ellipse(a, b), [np.arctan2(q[1] / b, q[0] / a)]
    if kind == kinds.DISK:
        return circle(numbers[0]), [np.arctan2(q[1], q[0])]
    if kind == kinds.CAPSULE_2D:
        h, r = numbers
        if name == "FACE":
            return line([0, r if q[1] > 0 else -r], [1, 0]), [q[0]]
        end = [h if q[0] > 0 else -h, 0]
        return moved(circle(r), end), [np.arctan2(q[1], q[0] - end[0])]
    if kind in (kinds.CAPSULE, kinds.CYLINDER, kinds.CONE):
        return _round_chart(kind, numbers, q, name)
    return _flat_chart(shape, q, m, name)


def _round_chart(kind, numbers, q, name):
    h, r = numbers
    u, rho = np.arctan2(q[1], q[0]), np.hypot(q[0], q[1])
    if kind == kinds.CAPSULE and abs(q[2]) >= h:
        end = [0, 0, h if q[2] > 0 else -h]
        ball = (r, r, r, 1.0, 1.0)
        return moved(superquadric(*ball), end), angles(np.subtract(q, end), *ball)
    if name == "VERTEX":
        return (lambda: ([0, 0, 0.75 * h], [])), []
    if name == "RIM":
        return circle(r, mp.mpf(q[2])), [u]
    if name == "FACE":
        return plane([0, 0, q[2]], [1, 0, 0], [0, 1, 0]), [q[0], q[1]]
    slope = -mp.mpf(r) / h if kind == kinds.CONE else 0
    base = mp.mpf(r) * 3 / 4 if kind == kinds.CONE else r
    assert abs(float(base + slope * q[2]) - rho) < 1e-9
    return revolved(base, 0, slope), [u, q[2]]


def _flat_chart(shape, q, m, name):
    """Polyhedra and polygons, by looking at all vertices, edges and faces."""
    piece = shape.pieces()[0]
    count = piece.ints[0] if shape.dim == 3 else piece.floats.size // 2
    V = piece.floats[: count * shape.dim].reshape(count, shape.dim)
    pairs = [(i, j) for i in range(count) for j in range(i)]
    if name == "VERTEX":
        at = V[np.argmin(np.linalg.norm(V - q, axis=1))]
        assert np.linalg.norm(at - q) < 1e-6
        return (lambda: (at.tolist(), [])), []
    if shape.dim == 3 and name == "FACE":
        e = np.cross(m, [1.0, 0.2, 0.3])
        at = V[np.argmax(V @ m)]
        f = np.cross(m, e)
        return plane(at.tolist(), e.tolist(), f.tolist()), [
            (q - at) @ e / (e @ e),
            (q - at) @ f / (f @ f),
        ]
    best = min(pairs, key=lambda ij: _off(V, ij, q))
    assert _off(V, best, q) < 1e-6
    p, e = V[best[0]], V[best[1]] - V[best[0]]
    return line(p.tolist(), e.tolist()), [(q - p) @ e / (e @ e)]


def _off(V, ij, q):
    p, e = V[ij[0]], V[ij[1]] - V[ij[0]]
    s = (q - p) @ e / (e @ e)
    outside = max(0.0, -s, s - 1.0)
    return np.linalg.norm(q - p - s * e) + outside
