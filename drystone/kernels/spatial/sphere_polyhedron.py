"""Spheres with convex polyhedra (boxes too): nearest face, edge or vertex of a point, exactly.

Inside, the nearest face plane is the answer. Outside, it is the face of greatest height if the
foot of the perpendicular lies in it; else the nearest point of the edges of faces that look at
the point. The last step's feature is tried first: a point in its Voronoi region needs no search.
Features are numbered 1 + face, then edges, then vertices; 0 means none.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_write import local, put_ball, turned


@kernel
def _foot_in_face(numbers, o, ints, q, nv, nf, f, u, v, w):
    """Whether the point's projection to the plane of face f lies in the face."""
    p = o + 3 * nv + 4 * f
    nx, ny, nz = numbers[p], numbers[p + 1], numbers[p + 2]
    start, end = ints[q + 3 + f], ints[q + 4 + f]
    loop = q + 4 + nf
    i = o + 3 * ints[loop + end - 1]
    for m in range(start, end):
        j = o + 3 * ints[loop + m]
        rx = numbers[j] - numbers[i]
        ry = numbers[j + 1] - numbers[i + 1]
        rz = numbers[j + 2] - numbers[i + 2]
        side = (
            (ry * nz - rz * ny) * (u - numbers[i])
            + (rz * nx - rx * nz) * (v - numbers[i + 1])
            + (rx * ny - ry * nx) * (w - numbers[i + 2])
        )
        if side > 0.0:
            return False
        i = j
    return True


@kernel
def _on_edge(numbers, i, j, u, v, w):
    """Nearest point of the edge between vertices at offsets i, j: vector to (u, v, w), place."""
    rx = numbers[j] - numbers[i]
    ry = numbers[j + 1] - numbers[i + 1]
    rz = numbers[j + 2] - numbers[i + 2]
    dx, dy, dz = u - numbers[i], v - numbers[i + 1], w - numbers[i + 2]
    c = (dx * rx + dy * ry + dz * rz) / (rx * rx + ry * ry + rz * rz)
    t = min(max(c, 0.0), 1.0)
    dx, dy, dz = dx - t * rx, dy - t * ry, dz - t * rz
    if t == c:  # once more: rounding of a place on a long edge tilts a short vector
        t = (dx * rx + dy * ry + dz * rz) / (rx * rx + ry * ry + rz * rz)
        dx, dy, dz = dx - t * rx, dy - t * ry, dz - t * rz
    return dx, dy, dz, c


@kernel
def _in_region(numbers, o, ints, q, nv, nf, ne, known, u, v, w):
    """Whether edge or vertex `known` is the nearest feature; the vector to the point."""
    edges = q + 4 + nf + 2 * ne
    if known <= nf + ne:
        e = edges + 4 * (known - nf - 1)
        dx, dy, dz, c = _on_edge(numbers, o + 3 * ints[e], o + 3 * ints[e + 1], u, v, w)
        if c < 0.0 or c > 1.0:
            return False, dx, dy, dz
        for side in range(2):  # beyond the edge as seen from both faces
            p = o + 3 * nv + 4 * ints[e + 2 + side]
            nx, ny, nz = numbers[p], numbers[p + 1], numbers[p + 2]
            i, j = o + 3 * ints[e + side], o + 3 * ints[e + 1 - side]
            rx = numbers[j] - numbers[i]
            ry = numbers[j + 1] - numbers[i + 1]
            rz = numbers[j + 2] - numbers[i + 2]
            out = (ry * nz - rz * ny) * dx + (rz * nx - rx * nz) * dy + (rx * ny - ry * nx) * dz
            if out < 0.0:
                return False, dx, dy, dz
        return True, dx, dy, dz
    k = known - nf - ne - 1
    i = o + 3 * k
    dx, dy, dz = u - numbers[i], v - numbers[i + 1], w - numbers[i + 2]
    stars = edges + 4 * ne
    for m in range(ints[stars + k], ints[stars + k + 1]):
        j = o + 3 * ints[stars + nv + 1 + m]
        rx, ry = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        if rx * dx + ry * dy + (numbers[j + 2] - numbers[i + 2]) * dz > 0.0:
            return False, dx, dy, dz
    return True, dx, dy, dz


@kernel
def _nearest_edge(numbers, o, ints, q, nv, nf, ne, u, v, w):
    """Nearest point of the edges next to a face below the point: vector to it, feature.

    Next to a vertex distances differ by less than rounding: the vertex is the answer only if no
    edge leads from it towards the point.
    """
    edges, planes = q + 4 + nf + 2 * ne, o + 3 * nv
    best, bx, by, bz, known, vertex = np.inf, 0.0, 0.0, 1.0, 0, np.int64(-1)
    for again in range(2):
        if again == 1 and vertex < 0:
            break
        for m in range(ne):
            e = edges + 4 * m
            if again == 1 and ints[e] != vertex and ints[e + 1] != vertex:
                continue
            p, r = planes + 4 * ints[e + 2], planes + 4 * ints[e + 3]
            left = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
            right = numbers[r] * u + numbers[r + 1] * v + numbers[r + 2] * w - numbers[r + 3]
            if left <= 0.0 and right <= 0.0:
                continue
            dx, dy, dz, c = _on_edge(numbers, o + 3 * ints[e], o + 3 * ints[e + 1], u, v, w)
            square, within = dx * dx + dy * dy + dz * dz, 0.0 < c < 1.0
            if within if again == 1 else square < best:
                best, bx, by, bz = square, dx, dy, dz
                known, vertex = 1 + nf + m, -1
                if not within:
                    vertex = ints[e + (1 if c >= 1.0 else 0)]
                    known = 1 + nf + ne + vertex
    return bx, by, bz, known


@kernel
def nearest_feature(numbers, o, ints, q, u, v, w, far, known):
    """Signed distance of a point in the polyhedron's frame, its gradient, and the feature.

    Distances above `far` come back as inf; `known` is a feature to try first, or 0. o, q: where
    the polyhedron's numbers and ints begin.
    """
    nv, nf, ne = ints[q], ints[q + 1], ints[q + 2]
    planes = o + 3 * nv
    if known > nf:
        holds, dx, dy, dz = _in_region(numbers, o, ints, q, nv, nf, ne, known, u, v, w)
        d = np.sqrt(dx * dx + dy * dy + dz * dz)
        if holds and d > 0.0:
            return d, dx / d, dy / d, dz / d, known
    elif known > 0:
        p = planes + 4 * (known - 1)
        s = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
        if s > far:
            return np.inf, 0.0, 0.0, 0.0, known
        if s >= 0.0 and _foot_in_face(numbers, o, ints, q, nv, nf, known - 1, u, v, w):
            return s, numbers[p], numbers[p + 1], numbers[p + 2], known
    best, f = -np.inf, np.int64(0)
    for m in range(nf):
        p = planes + 4 * m
        s = numbers[p] * u + numbers[p + 1] * v + numbers[p + 2] * w - numbers[p + 3]
        if s > far:
            return np.inf, 0.0, 0.0, 0.0, known
        if s > best:
            best, f = s, m
    p = planes + 4 * f
    if best <= 0.0 or _foot_in_face(numbers, o, ints, q, nv, nf, f, u, v, w):
        return best, numbers[p], numbers[p + 1], numbers[p + 2], 1 + f
    dx, dy, dz, known = _nearest_edge(numbers, o, ints, q, nv, nf, ne, u, v, w)
    d = np.sqrt(dx * dx + dy * dy + dz * dz)
    return d, dx / d, dy / d, dz / d, known


@kernel
def contact_sphere_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact. Cache: 0 the nearest feature. Counters: 0 features kept, 1 pairs."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, _kind, first, numbers, first_int, ints = geoms
    k = np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        r, known = numbers[first[a]], int(cache[i, 0])
        u, v, w = local(x[b], R[b], x[a])
        far = r + margin[i]
        d, gx, gy, gz, found = nearest_feature(
            numbers, first[b], ints, first_int[b], u, v, w, far, known
        )
        stats[0] += 1 if found == known else 0
        stats[1] += 1
        cache[i, 0] = found
        if d > far:
            continue
        if k == contacts.gap.size:
            return -1
        k = put_ball(contacts, k, i, x[a], r, turned(R[b], gx, gy, gz), d - r, 0)
    return k
