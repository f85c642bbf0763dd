"""Support maps of all bounded kinds in space, written as the greatest of a few smooth pieces.

The support function of a kind is h(d) = max over pieces of d . p_k(d): a piece is a vertex, the
end of a core segment, the rim of a cylinder or cone, or a whole smooth surface, and its number is
the *label*. Spheres and capsules are their cores (a point, a segment) with a radius around them,
so that only the core is searched.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.kinds import ELLIPSOID, POLYHEDRON, SPHERE, SUPERQUADRIC, SURFACE
from drystone.kernels.profiles import is_revolved, profile_of

SCAN = 24  # vertices up to which looking at all of them beats climbing
ORIGIN = 9  # where the origin of a frame begins, after its turn


class Cores(NamedTuple):
    """Two bodies, and the furthest points of their cores as they were found last.

    spec (2, 4) int64: of A and B: kind, first number, first int, last vertex found (a hint)
    frame (2, 12): of A and B: turn (row by row), origin; the direction of A is -n, of B +n
    size (4,) [m]: extents of A and B, radii around their cores
    ab (2, 3), label (2,) int64: points and labels; numbers, ints: of all geoms
    """

    spec: Any
    frame: Any
    size: Any
    ab: Any
    label: Any
    numbers: Any
    ints: Any


@kernel
def cores_of(geoms):
    """Room for the cores of two of these geoms, see ``set_pair``."""
    spec, label = np.zeros((2, 4), np.int64), np.zeros(2, np.int64)
    frame, size, ab = np.zeros((2, 12)), np.zeros(4), np.zeros((2, 3))
    return Cores(spec, frame, size, ab, label, geoms.numbers, geoms.ints)


@kernel
def best_vertex(numbers, f0, ints, i0, dx, dy, dz, hint):
    """Vertex of a polyhedron furthest along d; the lowest number of a tie when all are looked at.

    Climbing from `hint` along edges ends at a global maximum, because the body is convex.
    """
    nv = ints[i0]
    if nv <= SCAN:
        best, most = 0, -np.inf
        for v in range(nv):
            k = f0 + 3 * v
            value = dx * numbers[k] + dy * numbers[k + 1] + dz * numbers[k + 2]
            if value > most:
                best, most = v, value
        return best
    nf, ne = ints[i0 + 1], ints[i0 + 2]
    starts = i0 + 3 + nf + 1 + ints[i0 + 3 + nf] + 4 * ne
    stars = starts + nv + 1
    best = min(max(hint, 0), nv - 1)
    k = f0 + 3 * best
    most = dx * numbers[k] + dy * numbers[k + 1] + dz * numbers[k + 2]
    for _ in range(nv):
        here = best
        for j in range(ints[starts + here], ints[starts + here + 1]):
            v = ints[stars + j]
            k = f0 + 3 * v
            value = dx * numbers[k] + dy * numbers[k + 1] + dz * numbers[k + 2]
            if value > most:
                best, most = v, value
        if best == here:
            break
    return best


@kernel
def pick(kind, numbers, f0, ints, i0, dx, dy, dz, hint):
    """Label of the piece that is furthest along d (local axes)."""
    if kind == POLYHEDRON:
        return best_vertex(numbers, f0, ints, i0, dx, dy, dz, hint)
    if is_revolved(kind):
        p = profile_of(kind, numbers, f0)
        taper = p.wide_low - p.wide_high
        return 1 if p.height * dz >= taper * np.sqrt(dx * dx + dy * dy) else 0
    return 0


@kernel
def superquadric_point(numbers, f0, dx, dy, dz, out):
    """The gradient of the dual norm: nested norms of exponents q = 2/(2 - e), q - 1 = e/(2 - e)."""
    a, b, c = numbers[f0], numbers[f0 + 1], numbers[f0 + 2]
    q1, q2 = 2.0 / (2.0 - numbers[f0 + 3]), 2.0 / (2.0 - numbers[f0 + 4])
    u, v, w = a * abs(dx), b * abs(dy), c * abs(dz)
    s = max(u, v)
    if s > 0.0:
        s *= ((u / s) ** q2 + (v / s) ** q2) ** (1.0 / q2)
    h = max(s, w)
    h *= ((s / h) ** q1 + (w / h) ** q1) ** (1.0 / q1)
    t = (s / h) ** (q1 - 1.0)
    out[0] = out[1] = 0.0
    if s > 0.0:
        out[0] = np.copysign(a * t * (u / s) ** (q2 - 1.0), dx)
        out[1] = np.copysign(b * t * (v / s) ** (q2 - 1.0), dy)
    out[2] = np.copysign(c * (w / h) ** (q1 - 1.0), dz)


@kernel
def piece_point(kind, numbers, f0, label, dx, dy, dz, out):
    """Point of piece `label` furthest along d, in local axes; cores of round kinds."""
    if kind == POLYHEDRON:
        k = f0 + 3 * label
        out[0], out[1], out[2] = numbers[k], numbers[k + 1], numbers[k + 2]
    elif kind == ELLIPSOID:
        a, b, c = numbers[f0], numbers[f0 + 1], numbers[f0 + 2]
        h = np.sqrt((a * dx) ** 2 + (b * dy) ** 2 + (c * dz) ** 2)
        out[0], out[1], out[2] = a * (a * dx / h), b * (b * dy / h), c * (c * dz / h)
    elif kind == SUPERQUADRIC:
        superquadric_point(numbers, f0, dx, dy, dz, out)
    elif kind == SURFACE:
        call(np.int64(numbers[f0]), (numbers, f0, dx, dy, dz, out))
    elif is_revolved(kind):
        p = profile_of(kind, numbers, f0)
        r, out[2] = (p.wide_high, p.high) if label == 1 else (p.wide_low, p.low)
        across = np.sqrt(dx * dx + dy * dy) if r > 0.0 else 0.0
        if across > 0.0:
            out[0], out[1] = r * (dx / across), r * (dy / across)
        else:
            out[0], out[1] = r, 0.0
    else:
        out[0] = out[1] = out[2] = 0.0


@kernel
def support(cores: Cores, s, label, n0, n1, n2):
    """Furthest point of body s (0: A along -n, 1: B along n) into ab[s]; its label comes back.

    label >= 0 asks for the furthest point of that piece alone. (Whole numbers written at the
    place of the call would make the compiler build a copy of this for each: pass variables.)
    """
    spec, numbers = cores.spec, cores.numbers
    sign = -1.0 if s == 0 else 1.0
    F, out = cores.frame[s], cores.ab[s]
    dx = sign * (F[0] * n0 + F[3] * n1 + F[6] * n2)
    dy = sign * (F[1] * n0 + F[4] * n1 + F[7] * n2)
    dz = sign * (F[2] * n0 + F[5] * n1 + F[8] * n2)
    kind, f0 = spec[s, 0], spec[s, 1]
    if label < 0:
        label = pick(kind, numbers, f0, cores.ints, spec[s, 2], dx, dy, dz, spec[s, 3])
        spec[s, 3] = label
    piece_point(kind, numbers, f0, label, dx, dy, dz, out)
    p0, p1, p2 = out[0], out[1], out[2]
    out[0] = F[ORIGIN] + F[0] * p0 + F[1] * p1 + F[2] * p2
    out[1] = F[ORIGIN + 1] + F[3] * p0 + F[4] * p1 + F[5] * p2
    out[2] = F[ORIGIN + 2] + F[6] * p0 + F[7] * p1 + F[8] * p2
    return label


@kernel
def both(cores: Cores, n0, n1, n2):
    """Supports of A along -n and of B along n into ab, labels too; n . (a - b) comes back."""
    ab, label = cores.ab, cores.label
    for s in range(2):
        label[s] = -1
        label[s] = support(cores, s, label[s], n0, n1, n2)
    return n0 * (ab[0, 0] - ab[1, 0]) + n1 * (ab[0, 1] - ab[1, 1]) + n2 * (ab[0, 2] - ab[1, 2])


@kernel
def round_radius(kind, numbers, f0):
    """Radius around the core: what a sphere and a capsule have and the others do not."""
    if kind == SPHERE:
        return numbers[f0]
    return profile_of(kind, numbers, f0).around if is_revolved(kind) else 0.0


@kernel
def is_curved(kind, label, numbers, f0):
    """Whether a piece bends: a smooth surface or a rim."""
    if is_revolved(kind):
        p = profile_of(kind, numbers, f0)
        return (p.wide_high if label == 1 else p.wide_low) > 0.0
    return kind in (ELLIPSOID, SUPERQUADRIC, SURFACE)


@kernel
def extent(kind, numbers, f0, ints, i0):
    """A length of the order of the body's size, for tolerances [m]."""
    if kind == SPHERE:
        return numbers[f0]
    if kind == POLYHEDRON:
        most = 0.0
        for v in range(ints[i0]):
            k = f0 + 3 * v
            square = numbers[k] ** 2 + numbers[k + 1] ** 2 + numbers[k + 2] ** 2
            most = max(most, square)
        return np.sqrt(most)
    if kind == SURFACE:
        return numbers[f0 + 1]
    if kind in (ELLIPSOID, SUPERQUADRIC):
        return max(numbers[f0], max(numbers[f0 + 1], numbers[f0 + 2]))
    return numbers[f0] + numbers[f0 + 1]


@kernel
def set_pair(cores: Cores, geoms, a, b):
    """Geoms a and b into the record, the origin of A as origin: digits are kept far from the
    world's."""
    x, R, first, first_int = geoms.x, geoms.R, geoms.first, geoms.first_int
    spec, frame, size = cores.spec, cores.frame, cores.size
    for s in range(2):
        g = a if s == 0 else b
        kind, f0, i0 = geoms.kind[g], first[g], first_int[g]
        spec[s, 0], spec[s, 1], spec[s, 2], spec[s, 3] = kind, f0, i0, -1
        for c in range(3):
            frame[s, ORIGIN + c] = x[g, c] - x[a, c]
            for k in range(3):
                frame[s, 3 * c + k] = R[g, c, k]
        size[s] = extent(kind, cores.numbers, f0, cores.ints, i0)
        size[2 + s] = round_radius(kind, cores.numbers, f0)
