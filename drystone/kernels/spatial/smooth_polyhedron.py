"""Ellipsoids and superquadrics with convex polyhedra: a walk over features to the extremal one.

The walk begins at the last step's feature, else at the face that stands farthest off A, and goes
where the separation grows (see ``smooth_features``); apart, the first feature that holds is the
answer, as the separation is concave. Should it not arrive, faces, edges and vertices are visited
one by one. A direction that separates by more than the margin ends it at once.

Cache: 0 feature, 1-3 A's point and 4-6 its change in the last step, in world axes.
Counters: 0 Newton iterations at vertices, 1 predicted, 2 fallbacks (slow Newton or full search),
3 vertex solves, 4 culled, 5 features visited, 6 pairs whose feature was kept.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts, Pairs, PosedGeoms
from drystone.kernels.spatial.smooth_features import SmoothPair, face_height, visit_edge, visit_face
from drystone.kernels.spatial.smooth_point import nearest_point
from drystone.kernels.spatial.smooth_surface import derivatives, read_surface
from drystone.kernels.spatial.smooth_write import local, put, turned

WALK = 40  # visits; a walk on a box takes one to four
LEAN = 1e-12  # a vertex normal may lean over an edge by this much


@kernel
def _visit_vertex(pair: SmoothPair, v, n, p, work, H, stats):
    """Vertex v, p in: a guess; next the edge that the normal leans over most."""
    s, Q, t, numbers, o, ints, q = pair
    nf, ne = ints[q + 1], ints[q + 2]
    i, c, a, m = o + 3 * v, work[5], work[6], work[7]
    for k in range(3):
        c[k], a[k] = 0.0, 0.0
        for j in range(3):
            c[k] += Q[j, k] * (numbers[i + j] - t[j])
            a[k] += Q[j, k] * (p[j] - t[j])
    d = nearest_point(s, c, a, m, work, H, stats)
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
def _first_face(pair: SmoothPair, far, n, p):
    """The face of greatest separation, plus one. Faces that point away are not looked at."""
    s, _, t, numbers, o, ints, q = pair
    nv, thin, best, found = ints[q], min(s[0], s[1], s[2]), -np.inf, 0
    for f in range(ints[q + 1]):
        j = o + 3 * nv + 4 * f
        centre = numbers[j] * t[0] + numbers[j + 1] * t[1] + numbers[j + 2] * t[2] - numbers[j + 3]
        if centre - thin <= best:
            continue
        height = face_height(pair, j, n, p)
        if height > best:
            best, found = height, 1 + f
        if height > far:
            break
    return found


@kernel
def _walk(pair: SmoothPair, code, far, n, p, work, H, stats):
    """From feature `code` to the one that holds; -> it and its separation."""
    ints, q = pair.ints, pair.q
    nf, ne = ints[q + 1], ints[q + 2]
    last = WALK + nf + ne + ints[q]
    best, found, top, face = -np.inf, 0, -np.inf, 0
    d = 0.0
    for step in range(last + 1):
        if step == last:  # deep inside, nothing holds: out by the nearest face
            code = found if found > 0 else face
        elif step >= WALK:
            code = step - WALK + 1
        if code <= nf:
            d, follow = visit_face(pair, code - 1, n, p)
        elif code <= nf + ne:
            d, follow = visit_edge(pair, code - nf - 1, n, p, work)
        else:
            v = code - nf - ne - 1
            d, follow = _visit_vertex(pair, v, n, p, work, H, stats)
        stats[5] += 1
        if step < WALK:
            # a vertex's own direction separates only if it holds
            if follow == code or (d > far and code <= nf + ne):
                return code, d
            code = follow
            stats[2] += 1 if step == WALK - 1 else 0
        elif follow == code and d > best:
            best, found = d, code
        if step >= WALK and code <= nf and d > top:
            top, face = d, code
    return code, d


@kernel
def _guess(row, s, Q, t, xb, Rb, n, p, work, H):
    """Predicted point p of A and direction n in B's frame, from the cached world point."""
    for k in range(3):
        work[0, k] = row[1 + k] + row[4 + k]
    p[0], p[1], p[2] = local(xb, Rb, work[0])
    d0, d1, d2 = p[0] - t[0], p[1] - t[1], p[2] - t[2]
    derivatives(
        s,
        Q[0, 0] * d0 + Q[1, 0] * d1 + Q[2, 0] * d2,
        Q[0, 1] * d0 + Q[1, 1] * d1 + Q[2, 1] * d2,
        Q[0, 2] * d0 + Q[1, 2] * d1 + Q[2, 2] * d2,
        work[1],
        H[0],
    )
    n[0], n[1], n[2] = turned(Q, -work[1, 0], -work[1, 1], -work[1, 2])


@kernel
def contact_smooth_polyhedron(pairs: Pairs, geoms: PosedGeoms, contacts: FoundContacts):
    """One contact per pair."""
    geom, margin, cache, stats = pairs.geom, pairs.margin, pairs.cache, pairs.stats
    x, R, first, numbers, first_int, ints = (
        geoms.x,
        geoms.R,
        geoms.first,
        geoms.numbers,
        geoms.first_int,
        geoms.ints,
    )
    s, Q, t, n, p = np.empty(5), np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    work, H, k = np.empty((8, 3)), np.empty((2, 3, 3)), np.int64(0)
    for i in range(margin.size):
        a, b = geom[i, 0], geom[i, 1]
        far = margin[i]
        read_surface(first, numbers, a, s)
        t[0], t[1], t[2] = local(x[b], R[b], x[a])
        for j in range(3):
            Q[0, j], Q[1, j], Q[2, j] = 0.0, 0.0, 0.0
            for m in range(3):
                for r in range(3):
                    Q[r, j] += R[b, m, r] * R[a, m, j]
        pair = SmoothPair(s, Q, t, numbers, first[b], ints, first_int[b])
        row, known = cache[i], int(cache[i, 0])
        if known > 0:
            _guess(row, s, Q, t, x[b], R[b], n, p, work, H)
            code = known
        else:
            code = _first_face(pair, far, n, p)
        code, g = _walk(pair, code, far, n, p, work, H, stats)
        stats[6] += 1 if code == known else 0
        _remember(row, code, x[b], R[b], p, known > 0)
        if g > far:
            stats[4] += 1
            continue
        if k == contacts.gap.size:
            return -1
        stats[1] += 1 if known > 0 else 0
        out = turned(R[b], n[0], n[1], n[2])
        k = put(contacts, k, i, (row[1], row[2], row[3]), out, g, 0)
    return k


@kernel
def _remember(row, found, xb, Rb, p, known):
    """Keep the feature, A's point in world axes and its change."""
    w0, w1, w2 = turned(Rb, p[0], p[1], p[2])
    w0, w1, w2 = w0 + xb[0], w1 + xb[1], w2 + xb[2]
    row[4] = w0 - row[1] if known else 0.0
    row[5] = w1 - row[2] if known else 0.0
    row[6] = w2 - row[3] if known else 0.0
    row[0], row[1], row[2], row[3] = found, w0, w1, w2
