"""Distance of two convex bodies by their supports: Gilbert, Johnson and Keerthi 1988.

The nearest point to the origin of C = A - B is sought through a simplex of up to four of its
points ("atoms"). The lower bound n . w of every step is an answer too: beyond the margin the
search stops at once.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import Pairs, PosedGeoms
from drystone.kernels.spatial.gjk_refine import GUESS, PAIR_APART, UNKNOWN, UNSURE, Directions
from drystone.kernels.spatial.support import ORIGIN, Cores, both, cores_of, set_pair
from drystone.kernels.spatial.widest import BUNDLE, SAME_DEPTH, widest

BEYOND_REACH, DISTANCE_FOUND, TOO_CLOSE = (
    0,
    1,
    2,
)  # further than the margin; distance found; closer than `least`


@kernel
def on_segment(P, i, j, lam):
    """Weights of the point of segment ij nearest to the origin; its square norm comes back."""
    e0, e1, e2 = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
    square = e0 * e0 + e1 * e1 + e2 * e2
    t = 0.0
    if square > 0.0:
        t = -(P[i, 0] * e0 + P[i, 1] * e1 + P[i, 2] * e2) / square
        t = min(max(t, 0.0), 1.0)
    lam[i], lam[j] = 1.0 - t, t
    x, y, z = P[i, 0] + t * e0, P[i, 1] + t * e1, P[i, 2] + t * e2
    return x * x + y * y + z * z


@kernel
def on_triangle(P, i, j, k, lam, trial):
    """The same for triangle ijk: inside if the foot of the origin is, else on its best edge."""
    u0, u1, u2 = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
    v0, v1, v2 = P[k, 0] - P[i, 0], P[k, 1] - P[i, 1], P[k, 2] - P[i, 2]
    N0, N1, N2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    area = N0 * N0 + N1 * N1 + N2 * N2
    if area > 0.0:
        # foot = P_i + s u + t v by components along N of cross products
        w0, w1, w2 = -P[i, 0], -P[i, 1], -P[i, 2]
        s = N0 * (w1 * v2 - w2 * v1) + N1 * (w2 * v0 - w0 * v2) + N2 * (w0 * v1 - w1 * v0)
        t = N0 * (u1 * w2 - u2 * w1) + N1 * (u2 * w0 - u0 * w2) + N2 * (u0 * w1 - u1 * w0)
        s, t = s / area, t / area
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            lam[i], lam[j], lam[k] = 1.0 - s - t, s, t
            height = N0 * w0 + N1 * w1 + N2 * w2
            return height * height / area
    best = np.inf
    for side in range(3):
        p, q, r = i, j, k
        if side == 1:
            p, q, r = j, k, i
        elif side == 2:
            p, q, r = k, i, j
        square = on_segment(P, p, q, trial)
        if square < best:
            best = square
            lam[p], lam[q], lam[r] = trial[p], trial[q], 0.0
    return best


@kernel
def inside(P):
    """Whether the origin is in the tetrahedron of the four points."""
    sign = 0.0
    for f in range(4):
        i, j, k = (f + 1) % 4, (f + 2) % 4, (f + 3) % 4
        u0, u1, u2 = P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2]
        v0, v1, v2 = P[k, 0] - P[i, 0], P[k, 1] - P[i, 1], P[k, 2] - P[i, 2]
        N0, N1, N2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        origin = -(N0 * P[i, 0] + N1 * P[i, 1] + N2 * P[i, 2])
        corner = origin + N0 * P[f, 0] + N1 * P[f, 1] + N2 * P[f, 2]
        sign = origin * corner
        if not sign > 0.0:
            return False
    return True


@kernel
def nearest(P, m, lam, work):
    """Weights (4,) of the point of the simplex P[:m] nearest to the origin; its square norm.

    work (2, 4).
    """
    for i in range(4):
        lam[i] = 0.0
    if m == 1:
        lam[0] = 1.0
        return P[0, 0] ** 2 + P[0, 1] ** 2 + P[0, 2] ** 2
    if m == 2:
        return on_segment(P, m - 2, m - 1, lam)
    if m == 4 and inside(P):
        return 0.0
    best, trial = np.inf, work[1]
    for f in range(4 if m == 4 else 1):
        i, j, k = f, (f + 1) % m, (f + 2) % m
        square = on_triangle(P, i, j, k, trial, work[0])
        if square < best:
            best = square
            lam[(f + 3) % 4], lam[i], lam[j], lam[k] = 0.0, trial[i], trial[j], trial[k]
    return best


@kernel
def keep_active(m, P, labels, lam):
    """Drop the atoms of weight 0; the number left comes back."""
    k = 0
    for i in range(m):
        if lam[i] > 0.0:
            for c in range(3):
                P[k, c] = P[i, c]
            labels[k, 0], labels[k, 1] = labels[i, 0], labels[i, 1]
            lam[k] = lam[i]
            k += 1
    for i in range(k, 4):
        lam[i] = 0.0
    return k


@kernel
def distance(cores: Cores, far, least, tol, n, P, labels, lam, work, stats):
    """Direction of least distance of the cores, from a guess n (3,) that it improves.

    far: lower bound beyond which nobody cares; least: distance below which the direction of the
    nearest point is not to be trusted; tol: relative gap between the bounds to stop at.
    P (4, 3), labels (4, 2), lam (4,): the final simplex; work (2, 4).
    -> state, atoms (state TOO_CLOSE: n and atoms mean nothing).
    """
    m, square = np.int64(0), np.inf
    ab, label = cores.ab, cores.label
    for _ in range(100):
        stats[2] += 1
        low = both(cores, n[0], n[1], n[2])
        if low > far:
            return BEYOND_REACH, m
        if m > 0 and np.sqrt(square) - low <= tol * np.sqrt(square):
            return DISTANCE_FOUND, m
        for c in range(3):
            P[m, c] = ab[0, c] - ab[1, c]
        labels[m, 0], labels[m, 1] = label[0], label[1]
        before = square
        square = nearest(P, m + 1, lam, work)
        m = keep_active(m + 1, P, labels, lam)
        if square <= least * least or m == 0:
            return TOO_CLOSE, 0
        length = np.sqrt(square)
        for c in range(3):
            n[c] = 0.0
            for i in range(m):
                n[c] += lam[i] * P[i, c] / length
        length = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
        for c in range(3):
            n[c] /= length
        if square >= before * (1.0 - 1e-15):  # rounding: no nearer point is to be had
            return DISTANCE_FOUND, m
    return DISTANCE_FOUND, m


# ---- A first direction for pairs of convex bodies: GJK where they are clearly apart, cutting
# planes where they are not.

THICKNESS = 1e-2  # thickness given to A - B, in sizes of the smaller body
DISTANCE_TOL = 1e-6  # relative gap between the bounds on the distance that ends the search


@kernel
def search(pairs: Pairs, geoms: PosedGeoms, known: Directions):
    """Directions and atoms of the pairs that are UNKNOWN or UNSURE: they become GUESS or FAR."""
    geom, margin, stats, cores = pairs.geom, pairs.margin, pairs.stats, cores_of(geoms)
    state, normal, atoms, labels = known.state, known.normal, known.atoms, known.labels
    P, lam, work = np.zeros((4, 3)), np.zeros(4), np.zeros((2, 4))
    frame, size, bundle = cores.frame, cores.size, np.empty((BUNDLE, 6))
    for i in range(margin.size):
        if state[i] != UNKNOWN and state[i] != UNSURE:
            continue
        stats[1] += 1
        set_pair(cores, geoms, geom[i, 0], geom[i, 1])
        n, scale = normal[i], min(size[0], size[1])
        if state[i] == UNKNOWN:  # the line of centres
            o0, o1, o2 = frame[1, ORIGIN], frame[1, ORIGIN + 1], frame[1, ORIGIN + 2]
            length = np.sqrt(o0**2 + o1**2 + o2**2)
            n[0] = n[1] = 0.0
            n[2] = 1.0
            if length > 0.0:
                n[0], n[1], n[2] = -o0 / length, -o1 / length, -o2 / length
        far = margin[i] + size[2] + size[3]
        found, atoms[i] = distance(
            cores, far, 0.5 * THICKNESS * scale, DISTANCE_TOL, n, P, labels[i], lam, work, stats
        )
        if found == TOO_CLOSE:
            _, _, spent = widest(cores, SAME_DEPTH * scale, n, bundle)
            stats[3] += spent
        state[i] = PAIR_APART if found == BEYOND_REACH else GUESS
        if found == BEYOND_REACH:
            atoms[i] = 0
    return 0
