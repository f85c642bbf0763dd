"""Bodies on a half-space: points of the body, each with its own gap.

Every point is a true point of the body's surface, so none can hold it up where it does not touch.
"""

import numpy as np

from drystone.kernels._calls import call
from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.profiles import profile_of
from drystone.kernels.spatial.frames import put, tangents, turned
from drystone.kernels.spatial.polyhedra_shape import HITS
from drystone.kernels.spatial.smooth_surface import read_surface, support
from drystone.kernels.surfaces.layout import ADDRESS, FORM, RADIUS, SUPPORT

# ---- Curved bodies.
#
# The deepest point is always among the contacts: a tilted cylinder or cone rolls on its exact rim,
# without the bumps of a polygon. On top of that, a cap that faces the plane has a ring of eight
# points fixed in the body, so that an upright body stands on features that persist.

CAP_POINTS = 8  # of a ring
Q = 0.7071067811865476  # sqrt(1/2)
COS = (1.0, Q, 0.0, -Q, -1.0, -Q, 0.0, Q)  # of the ring's angles; the sine is two places before
STEEP_CAP = 0.5  # cosine between cap and plane below which the ring is of no use
LEVEL_CAP = 1e-14  # sine of the tilt below which no point of the rim is deepest


@kernel
def _touch(contacts, k, i, geoms, a, b, q, r, f, far):
    """Contact at local point q (3 numbers) of A, moved by r against the normal, if within `far`."""
    if k < 0:
        return k
    x, R = geoms.x, geoms.R
    u, v, w = q
    nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
    px = x[a, 0] + R[a, 0, 0] * u + R[a, 0, 1] * v + R[a, 0, 2] * w - r * nx
    py = x[a, 1] + R[a, 1, 0] * u + R[a, 1, 1] * v + R[a, 1, 2] * w - r * ny
    pz = x[a, 2] + R[a, 2, 0] * u + R[a, 2, 1] * v + R[a, 2, 2] * w - r * nz
    g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
    if g > far:
        return k
    if k == contacts.gap.size:
        return -1
    return put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, f)


@kernel
def _rim(contacts, k, i, geoms, a, b, r, z, facing, f, far):
    """The deepest point of a rim at height z (feature f + 8) and its ring (f ... f + 7).

    facing: cosine between the cap's outer normal and the direction into the half-space.
    """
    R = geoms.R
    tx = R[a, 0, 0] * R[b, 0, 2] + R[a, 1, 0] * R[b, 1, 2] + R[a, 2, 0] * R[b, 2, 2]
    ty = R[a, 0, 1] * R[b, 0, 2] + R[a, 1, 1] * R[b, 1, 2] + R[a, 2, 1] * R[b, 2, 2]
    t = np.sqrt(tx * tx + ty * ty)
    if facing > STEEP_CAP:
        for j in range(CAP_POINTS):
            q = (r * COS[j], r * COS[(j + 6) % 8], z)
            k = _touch(contacts, k, i, geoms, a, b, q, 0.0, f + j, far)
    if t > LEVEL_CAP:
        q = (-r * tx / t, -r * ty / t, z)
        k = _touch(contacts, k, i, geoms, a, b, q, 0.0, f + CAP_POINTS, far)
    return k


@kernel
def contact_revolved_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Both ends: of a rim the features 0-8 at the lower end, 16-24 at the upper one; of an apex 16;
    of the end balls of a capsule 0 and 1. On its side, a body has one point of each end."""
    geom, margin, R = pairs.geom, pairs.margin, geoms.R
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        p = profile_of(geoms.kind[a], geoms.numbers, geoms.first[a])
        up = R[a, 0, 2] * R[b, 0, 2] + R[a, 1, 2] * R[b, 1, 2] + R[a, 2, 2] * R[b, 2, 2]
        for end in range(2):
            z, wide = (p.low, p.wide_low) if end == 0 else (p.high, p.wide_high)
            f = 16 * end if p.around == 0.0 else end
            if wide > 0.0:
                facing = up if end == 0 else -up
                k = _rim(contacts, k, i, geoms, a, b, wide, z, facing, f, margin[i])
            else:
                k = _touch(contacts, k, i, geoms, a, b, (0.0, 0.0, z), p.around, f, margin[i])
        if k < 0:
            return -1
    return k


@kernel
def contact_smooth_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact: the support point of A, in closed form."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    s = np.empty(5)
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        read_surface(first, numbers, a, s)
        u = R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz
        v = R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz
        w = R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz
        u, v, w = support(s, -u, -v, -w)
        px, py, pz = turned(R[a], u, v, w)
        px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
        g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
        if g > margin[i]:
            continue
        if k == contacts.gap.size:
            return -1
        k = put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, 0)
    return k


# ---- Polyhedra: all vertices within the margin.

FEW_VERTICES = 32  # vertices up to which all of them are looked at
CLIMBS = 1  # stats, after HITS


@kernel
def contact_polyhedron_half_space(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """Vertices of polyhedra near half-spaces.

    The vertices of a large body are found from the lowest one: those below a plane are connected
    by edges. cache[0] is the number + 1 of the lowest vertex of the last step.
    """
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    which, point, normal, gap, feature = contacts
    nv = 0
    for p in range(margin.size):
        nv = max(nv, ints[first_int[geom[p, 0]]])
    seen, found, d = np.full(nv, -1), np.zeros(nv, np.int64), np.zeros(3)
    made = 0
    for p in range(margin.size):
        a, b = geom[p, 0], geom[p, 1]
        V, o = first[a], 0.0
        for i in range(3):  # the normal in the body's frame, and the height of its origin
            o += R[b, i, 2] * (x[a, i] - x[b, i])
            d[i] = R[a, 0, i] * R[b, 0, 2] + R[a, 1, i] * R[b, 1, 2] + R[a, 2, i] * R[b, 2, 2]
        count = ints[first_int[a]]
        if count > FEW_VERTICES:
            count = below(
                numbers, ints, V, first_int[a], d, margin[p] - o, p, cache, seen, found, stats
            )
        else:
            for c in range(count):
                found[c] = c
        for c in range(count):
            i = V + 3 * found[c]
            h = o + d[0] * numbers[i] + d[1] * numbers[i + 1] + d[2] * numbers[i + 2]
            if h > margin[p]:
                continue
            if made == gap.size:
                return -1
            which[made], gap[made], feature[made] = p, h, found[c]
            for k in range(3):
                v = R[a, k, 0] * numbers[i] + R[a, k, 1] * numbers[i + 1]
                v += R[a, k, 2] * numbers[i + 2]
                normal[made, k] = R[b, k, 2]
                point[made, k] = x[a, k] + v - 0.5 * h * R[b, k, 2]
            made += 1
    return made


@kernel
def below(numbers, ints, V, i, d, level, p, cache, seen, found, stats):
    """Vertices v with d.v <= level (or a rounding above it), ascending, in found; how many."""
    nv, nf, ne = ints[i], ints[i + 1], ints[i + 2]
    start = i + 4 + nf + ints[i + 3 + nf] + 4 * ne
    star = start + nv + 1
    v = max(int(cache[p, 0]) - 1, 0)
    moves, here = -1, -1
    least = level
    while here != v:  # down to the lowest vertex
        here = v
        moves += 1
        j = V + 3 * v
        least = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
        for e in range(star + ints[start + here], star + ints[start + here + 1]):
            j = V + 3 * ints[e]
            h = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
            if h < least:
                least, v = h, ints[e]
    stats[HITS if moves == 0 and cache[p, 0] > 0.0 else CLIMBS] += 1
    cache[p, 0] = v + 1
    if least > level:
        return 0
    found[0], seen[v] = v, p
    count, done = 1, 0
    while done < count:
        here = found[done]
        done += 1
        for e in range(star + ints[start + here], star + ints[start + here + 1]):
            u = ints[e]
            j = V + 3 * u
            h = d[0] * numbers[j] + d[1] * numbers[j + 1] + d[2] * numbers[j + 2]
            if seen[u] != p and h <= level:
                seen[u] = p
                found[count] = u
                count += 1
    for c in range(1, count):
        u, k = found[c], c
        while k > 0 and found[k - 1] > u:
            found[k] = found[k - 1]
            k -= 1
        found[k] = u
    return count


# ---- Surfaces given by formulas: the lowest point, and what is flat around it.
#
# Solids of support functions may have faces and edges. Around the direction into the half-space
# lies a ring of directions. Where the support point jumps along it, instead of moving evenly as on
# a smooth surface, it is a corner of a face or an edge, and bears too.

TILTED_DIRECTIONS = 8  # directions
BEARING_TILT = 0.1  # [rad] of a face that bears
EVEN = 0.25  # of a move: what is left of it when half the turn has made half the move
ONE_POINT = 1e-6  # of the radius: points that are one


@kernel
def _ring(numbers, f0, d, q, found):
    """found (TILTED_DIRECTIONS, 3): corners of the face or edge that q (3,), farthest along the
    unit vector d (3,), belongs to; whether each is one: found[k, 0] is finite."""
    far, half, T = np.empty(3), np.empty(3), np.empty((2, 3))
    tangents(d, T)
    at, radius = np.int64(numbers[f0 + ADDRESS]), numbers[f0 + RADIUS]
    for k in range(TILTED_DIRECTIONS):
        angle = 2.0 * np.pi * k / TILTED_DIRECTIONS
        x, y = BEARING_TILT * np.cos(angle), BEARING_TILT * np.sin(angle)
        e0, e1, e2 = (
            x * T[0, 0] + y * T[1, 0], x * T[0, 1] + y * T[1, 1], x * T[0, 2] + y * T[1, 2]
        )  # fmt: skip
        call(at, (numbers, f0, d[0] + e0, d[1] + e1, d[2] + e2, far))
        call(at, (numbers, f0, d[0] + 0.5 * e0, d[1] + 0.5 * e1, d[2] + 0.5 * e2, half))
        moved = left = 0.0
        for c in range(3):
            moved += (far[c] - q[c]) ** 2
            left += (far[c] - 2.0 * half[c] + q[c]) ** 2
        new = moved > (ONE_POINT * radius) ** 2 and left > EVEN * EVEN * moved
        for j in range(k):
            off = 0.0
            for c in range(3):
                off += (far[c] - found[j, c]) ** 2
            new = new and not off <= (ONE_POINT * radius) ** 2  # also if that one is none
        for c in range(3):
            found[k, c] = far[c] if new else np.nan


@kernel
def contact_surface_halfspace(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """The lowest point of A over the plane, feature 0, and the corners of a face or an edge that
    it belongs to, 1 to TILTED_DIRECTIONS; n the z axis of B."""
    geom, margin = pairs.geom, pairs.margin
    x, R, first, numbers = geoms.x, geoms.R, geoms.first, geoms.numbers
    k, q, d, found = np.int64(0), np.empty(3), np.empty(3), np.empty((TILTED_DIRECTIONS, 3))
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        nx, ny, nz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        up = nx * (x[a, 0] - x[b, 0]) + ny * (x[a, 1] - x[b, 1]) + nz * (x[a, 2] - x[b, 2])
        f0 = first[a]
        if up - numbers[f0 + 1] > margin[i]:
            continue
        u = -(R[a, 0, 0] * nx + R[a, 1, 0] * ny + R[a, 2, 0] * nz)
        v = -(R[a, 0, 1] * nx + R[a, 1, 1] * ny + R[a, 2, 1] * nz)
        w = -(R[a, 0, 2] * nx + R[a, 1, 2] * ny + R[a, 2, 2] * nz)
        call(np.int64(numbers[f0]), (numbers, f0, u, v, w, q))
        rest = 0
        if numbers[f0 + FORM] == SUPPORT:
            rest, d[0], d[1], d[2] = TILTED_DIRECTIONS, u, v, w
            _ring(numbers, f0, d, q, found)
        for j in range(1 + rest):
            if j > 0:
                q[0], q[1], q[2] = found[j - 1, 0], found[j - 1, 1], found[j - 1, 2]
            px, py, pz = turned(R[a], q[0], q[1], q[2])
            px, py, pz = x[a, 0] + px, x[a, 1] + py, x[a, 2] + pz
            g = nx * (px - x[b, 0]) + ny * (py - x[b, 1]) + nz * (pz - x[b, 2])
            if not g <= margin[i]:
                continue
            if k == contacts.gap.size:
                return -1
            k = put(contacts, k, i, (px, py, pz), (nx, ny, nz), g, j)
    return k
