"""Ellipsoids and superquadrics with convex polyhedra: a walk over features to the extremal one.

The walk begins at the last step's feature, else at the face that stands farthest off A, and goes
where the separation grows (see ``smooth_features``); apart, the first feature that holds is the
answer, as the separation is concave. Should it not arrive, all features are visited. A direction
that separates by more than the margin ends it at once.

Cache: 0 feature, 1-3 A's point and 4-6 its change in the last step, in world axes.
Counters: 0 Newton iterations at vertices, 1 predicted, 2 fallbacks (cutting planes or full
searches), 3 vertex solves, 4 culled, 5 features visited, 6 pairs whose feature was kept.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.smooth_features import face_height, visit_edge, visit_face
from drystone.kernels.spatial.smooth_point import nearest_point
from drystone.kernels.spatial.smooth_surface import derivatives, read_surface
from drystone.kernels.spatial.smooth_widest import CUTS
from drystone.kernels.spatial.smooth_write import local, put, turned

WALK = 40  # visits; a walk on a box takes one to four
LEAN = 1e-12  # a vertex normal may lean over an edge by this much


@kernel
def _visit_vertex(
    s, Q, t, numbers, o, ints, q, v, n, p, dot, identity, e, H, polygons, stats
):  # fmt: skip
    """Vertex v, p in: a guess; next the edge that the normal leans over most."""
    nf, ne = ints[q + 1], ints[q + 2]
    i, c, a, m = o + 3 * v, e[5], e[6], e[7]
    for k in range(3):
        c[k], a[k] = 0.0, 0.0
        for j in range(3):
            c[k] += Q[j, k] * (numbers[i + j] - t[j])
            a[k] += Q[j, k] * (p[j] - t[j])
    d = nearest_point(s, c, a, m, dot, identity, e, H, polygons, stats)
    for k in range(3):
        n[k] = -(Q[k, 0] * m[0] + Q[k, 1] * m[1] + Q[k, 2] * m[2])
        p[k] = t[k] + Q[k, 0] * a[0] + Q[k, 1] * a[1] + Q[k, 2] * a[2]
    worst, follow = LEAN, 1 + nf + ne + v
    for f in range(ne):
        k = q + 4 + nf + 2 * ne + 4 * f
        if ints[k] != v and ints[k + 1] != v:
            continue
        j = o + 3 * (ints[k] + ints[k + 1] - v)
        r0, r1 = numbers[j] - numbers[i], numbers[j + 1] - numbers[i + 1]
        r2 = numbers[j + 2] - numbers[i + 2]
        lean = (r0 * n[0] + r1 * n[1] + r2 * n[2]) / np.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        if lean > worst:
            worst, follow = lean, 1 + nf + f
    return d, follow


@kernel
def _visit(
    s, Q, t, numbers, o, ints, q, code, n, p, dot, identity, e, H, polygons, stats
):  # fmt: skip
    """One feature: its separation, the next feature, and whether the direction is a true one."""
    nf, ne = ints[q + 1], ints[q + 2]
    stats[5] += 1
    if code <= nf:
        d, follow = visit_face(s, Q, t, numbers, o, ints, q, code - 1, n, p)
        return d, follow, True
    if code <= nf + ne:
        d, follow = visit_edge(s, Q, t, numbers, o, ints, q, code - nf - 1, n, p, e)
        return d, follow, True
    d, follow = _visit_vertex(
        s, Q, t, numbers, o, ints, q, code - nf - ne - 1, n, p, dot, identity, e, H, polygons, stats
    )
    return d, follow, follow == code


@kernel
def _first_face(s, Q, t, numbers, o, ints, q, far, n, p):
    """The face of greatest separation, and that. Faces that point away are not looked at."""
    nv, nf = ints[q], ints[q + 1]
    thin, best, found = min(s[0], s[1], s[2]), -np.inf, 0
    for f in range(nf):
        j = o + 3 * nv + 4 * f
        centre = numbers[j] * t[0] + numbers[j + 1] * t[1] + numbers[j + 2] * t[2] - numbers[j + 3]
        if centre - thin <= best:
            continue
        height = face_height(s, Q, t, numbers, j, n, p)
        if height > best:
            best, found = height, f
            if height > far:
                break
    return found, best


@kernel
def _search(
    s, Q, t, numbers, o, ints, q, n, p, dot, identity, e, H, polygons, stats
):  # fmt: skip
    """Faces, then edges, then vertices: the feature that holds with the greatest separation."""
    nf, ne = ints[q + 1], ints[q + 2]
    found, best = 0, -np.inf
    for code in range(1, 1 + nf + ne + ints[q]):
        d, follow, _ = _visit(
            s, Q, t, numbers, o, ints, q, code, n, p, dot, identity, e, H, polygons, stats
        )
        if follow == code and d > best:
            found, best = code, d
    if found == 0:  # deep inside: out by the nearest face
        found, best = _first_face(s, Q, t, numbers, o, ints, q, np.inf, n, p)
        return 1 + found, face_height(s, Q, t, numbers, o + 3 * ints[q] + 4 * found, n, p)
    d, _, _ = _visit(
        s, Q, t, numbers, o, ints, q, found, n, p, dot, identity, e, H, polygons, stats
    )
    return found, d


@kernel
def _walk(
    s, Q, t, numbers, o, ints, q, code, far, n, p, dot, identity, e, H, polygons, stats
):  # fmt: skip
    """From feature `code` (0: none) to the one that holds; -> it and its separation."""
    if code == 0:
        face, d = _first_face(s, Q, t, numbers, o, ints, q, far, n, p)
        code = 1 + face
        if d > far:
            return code, d
    for _ in range(WALK):
        d, follow, true = _visit(
            s, Q, t, numbers, o, ints, q, code, n, p, dot, identity, e, H, polygons, stats
        )
        if follow == code or (true and d > far):
            return code, d
        code = follow
    stats[2] += 1
    return _search(s, Q, t, numbers, o, ints, q, n, p, dot, identity, e, H, polygons, stats)


@kernel
def _guess(row, s, Q, t, xb, Rb, n, p, e, H):
    """Predicted point p of A and direction n in B's frame, from the cached world point."""
    for k in range(3):
        e[0, k] = row[1 + k] + row[4 + k]
    p[0], p[1], p[2] = local(xb, Rb, e[0])
    d0, d1, d2 = p[0] - t[0], p[1] - t[1], p[2] - t[2]
    derivatives(
        s,
        Q[0, 0] * d0 + Q[1, 0] * d1 + Q[2, 0] * d2,
        Q[0, 1] * d0 + Q[1, 1] * d1 + Q[2, 1] * d2,
        Q[0, 2] * d0 + Q[1, 2] * d1 + Q[2, 2] * d2,
        e[1],
        H[0],
    )
    n[0], n[1], n[2] = turned(Q, -e[1, 0], -e[1, 1], -e[1, 2])


@kernel
def contact_smooth_polyhedron(
    pairs, margin, x, R, first, numbers, first_int, ints, cache,
    which, point, normal, gap, feature, stats,
):  # fmt: skip
    """One contact per pair."""
    s, Q, t, n, p = np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    dot, e, H = np.zeros(5), np.empty((8, 3)), np.empty((2, 3, 3))
    identity, polygons = np.eye(3), np.empty((2, CUTS + 8, 2))
    dot[3], dot[4] = 1.0, 1.0
    k = 0
    for i in range(pairs.shape[0]):
        a, b = pairs[i, 0], pairs[i, 1]
        read_surface(first, numbers, a, s)
        t[0], t[1], t[2] = local(x[b], R[b], x[a])
        for j in range(3):
            for m in range(3):
                Q[j, m] = (
                    R[b, 0, j] * R[a, 0, m] + R[b, 1, j] * R[a, 1, m] + R[b, 2, j] * R[a, 2, m]
                )
        code, row = int(cache[i, 0]), cache[i]
        if code > 0:
            _guess(row, s, Q, t, x[b], R[b], n, p, e, H)
        found, g = _walk(
            s, Q, t, numbers, first[b], ints, first_int[b], code, margin[i], n, p,
            dot, identity, e, H, polygons, stats,
        )  # fmt: skip
        stats[6] += 1 if found == code else 0
        _remember(row, found, x[b], R[b], p, code > 0)
        if g > margin[i]:
            stats[4] += 1
            continue
        if k == which.size:
            return -1
        stats[1] += 1 if code > 0 else 0
        nx, ny, nz = turned(R[b], n[0], n[1], n[2])
        k = put(k, i, row[1], row[2], row[3], nx, ny, nz, g, 0, which, point, normal, gap, feature)
    return k


@kernel
def _remember(row, found, xb, Rb, p, known):
    """Keep the feature, A's point in world axes and its change."""
    w0, w1, w2 = turned(Rb, p[0], p[1], p[2])
    w0, w1, w2 = w0 + xb[0], w1 + xb[1], w2 + xb[2]
    row[0] = found
    row[4] = w0 - row[1] if known else 0.0
    row[5] = w1 - row[2] if known else 0.0
    row[6] = w2 - row[3] if known else 0.0
    row[1], row[2], row[3] = w0, w1, w2
