"""The direction between two convex bodies along which they are separated most, by their supports.

A first direction is that of the last step, or is searched: by GJK where they are clearly apart, by
cutting planes (``cutting_planes``) where they are not. Newton's method finds its last digits and
says whether it is certain; what it cannot do, cutting planes do.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import GAP_TOL, Pairs, PosedGeoms
from drystone.kernels.profiles import is_revolved, profile_of
from drystone.kernels.spatial.cutting_planes import (
    BUNDLE,
    SAME_DEPTH,
    facing_points,
    greatest_separation,
)
from drystone.kernels.spatial.frames import tangents
from drystone.kernels.spatial.support import (
    ORIGIN,
    Cores,
    both,
    cores_of,
    is_curved,
    set_pair,
    support,
)

# states of a pair's direction; CAP: certain if the faces of the two bodies overlap along it
UNKNOWN, GUESS, PROVEN, UNSURE, PAIR_APART, CAP = 0, 1, 2, 3, 4, 5


class Directions(NamedTuple):
    """What is known about pairs: state (np,), see above; normal (np, 3); the atoms that make it,
    their count (np,) and labels (np, 4, 2); gap (np,) and the point halfway, mid (np, 3)."""

    state: Any
    normal: Any
    atoms: Any
    labels: Any
    gap: Any
    mid: Any


# ---- Distance of two convex bodies by their supports: Gilbert, Johnson and Keerthi 1988.
#
# The nearest point to the origin of C = A - B is sought through a simplex of up to four of its
# points ("atoms"). The lower bound n . w of every step is an answer too: beyond the margin the
# search stops at once.

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
            _, _, spent = greatest_separation(cores, SAME_DEPTH * scale, n, bundle)
            stats[3] += spent
        state[i] = PAIR_APART if found == BEYOND_REACH else GUESS
        if found == BEYOND_REACH:
            atoms[i] = 0
    return 0


# ---- The last digits of the direction: Newton's method on the sphere of directions.
#
# The signed distance is the maximum over unit n of g(n) = min over pairs of pieces of g_i(n) = n .
# (a_i(n) - b_i(n)), apart (a concave problem) as in penetration (a local maximum). With n + delta,
# delta in the tangent plane, and c_i = a_i - b_i,
#
#     g_i(n + delta) = g_i + c_i . delta - 1/2 delta . (S_i + g I) delta,
#
# S_i the sum of the radii of curvature. The few active pairs are atoms; each step solves the
# quadratic problem max over delta of min over i of the models by looking at all sets of up to
# three atoms. Faces and edges, where several atoms are equal, pin the direction; smooth surfaces
# and rims converge quadratically; a mixture does both.


# of the smaller body: how far points that face each other may be apart sideways
FACING_OFFSET = 1e-8
GAP_ROUNDING = 1e-15  # of both bodies


@kernel
def model(m, g, q, H, d0, d1):
    """Value of the model at delta."""
    low = np.inf
    for i in range(m):
        low = min(low, g[i] + q[i, 0] * d0 + q[i, 1] * d1)
    return low - 0.5 * (H[0] * d0 * d0 + 2.0 * H[1] * d0 * d1 + H[2] * d1 * d1)


@kernel
def candidate(k, i, j, o, g, q, H, out):
    """Step where the last k of atoms i, j, o are equal and the rest is stationary.

    out (5,): step (2), weights of i, j, o; whether there is one. Steps that equal atoms determine
    never go through the inverse of H, which may be near singular across them.
    """
    out[2] = out[3] = 0.0
    out[4] = 1.0
    if k == 1:
        det = H[0] * H[2] - H[1] * H[1]
        out[0] = (H[2] * q[o, 0] - H[1] * q[o, 1]) / det
        out[1] = (H[0] * q[o, 1] - H[1] * q[o, 0]) / det
        return True
    f0, f1 = q[o, 0] - q[j, 0], q[o, 1] - q[j, 1]
    rise = g[j] - g[o]
    if k == 2:  # along f by the rise, across it to where H delta - q_j has no part across
        square = f0 * f0 + f1 * f1
        if square == 0.0:
            return False
        a = rise / square
        bend = H[0] * f1 * f1 - 2.0 * H[1] * f0 * f1 + H[2] * f0 * f0
        skew = (H[2] - H[0]) * f0 * f1 + H[1] * (f0 * f0 - f1 * f1)
        b = (f0 * q[j, 1] - f1 * q[j, 0] - a * skew) / bend
        out[0], out[1] = a * f0 - b * f1, a * f1 + b * f0
    else:
        e0, e1 = q[i, 0] - q[j, 0], q[i, 1] - q[j, 1]
        drop = g[j] - g[i]
        area = e0 * f1 - e1 * f0
        if area == 0.0:
            return False
        out[0] = (drop * f1 - rise * e1) / area
        out[1] = (e0 * rise - f0 * drop) / area
    x0 = H[0] * out[0] + H[1] * out[1] - q[j, 0]
    x1 = H[1] * out[0] + H[2] * out[1] - q[j, 1]
    if k == 2:
        out[4] = (f0 * x0 + f1 * x1) / square
    else:
        out[2], out[4] = (x0 * f1 - x1 * f0) / area, (e0 * x1 - e1 * x0) / area
    out[3] = 1.0 - out[2] - out[4]
    return True


@kernel
def best_step(m, g, q, H, lam, step):
    """Maximiser `step` (2,) of min_i (g_i + q_i . delta) - 1/2 delta . H delta and weights lam.

    H (3,) holds the positive definite matrix (H00, H01, H11). Whether all weights are >= 0: of
    sets that are as good to rounding, as where four atoms are equal, one whose weights are.
    """
    best, good, out, same = -np.inf, False, np.empty(5), 0.0
    for a in range(m):
        same = max(same, GAP_ROUNDING * (abs(q[a, 0]) + abs(q[a, 1])))
    for code in range(1, 1 << m):
        k, i, j, o = 0, 0, 0, 0
        for a in range(m):
            if code >> a & 1:
                k += 1
                i, j, o = j, o, a
        if k > 3 or not candidate(k, i, j, o, g, q, H, out):
            continue
        value = model(m, g, q, H, out[0], out[1])
        fits = min(out[2], min(out[3], out[4])) >= -1e-9
        margin = same if fits and not good else (-same if good and not fits else 0.0)
        if value > best - margin:
            best, good = value, fits
            step[0], step[1] = out[0], out[1]
            for a in range(m):
                lam[a] = 0.0
            lam[i] += out[2]
            lam[j] += out[3]
            lam[o] += out[4]
    return good


@kernel
def expand(cores: Cores, m, n, T, labels, lam, g, q, H, mid):
    """Atoms at n: values g (4,), tangential gradients q (4, 2), and H (3,) = sum of lam_i S_i,
    how the furthest points move when n turns, by differences. mid (3,): sum of lam_i (a_i + b_i)/2.
    """
    spec, ab, eps = cores.spec, cores.ab, 1e-6
    H[0] = H[1] = H[2] = mid[0] = mid[1] = mid[2] = 0.0
    for i in range(m):
        g[i] = q[i, 0] = q[i, 1] = 0.0
        for s in range(2):
            label, sign = labels[i, s], (1.0 if s == 0 else -1.0)
            curved = is_curved(spec[s, 0], label, cores.numbers, spec[s, 1])
            for k in range(5 if curved and lam[i] > 0.0 else 1):
                j = (k - 1) // 2  # along tangent j, there and back
                e = 0.0 if k == 0 else (eps if k % 2 == 1 else -eps)
                n0, n1, n2 = n[0] + e * T[j, 0], n[1] + e * T[j, 1], n[2] + e * T[j, 2]
                support(cores, s, label, n0, n1, n2)
                p0, p1, p2 = ab[s, 0], ab[s, 1], ab[s, 2]
                u = T[0, 0] * p0 + T[0, 1] * p1 + T[0, 2] * p2
                v = T[1, 0] * p0 + T[1, 1] * p1 + T[1, 2] * p2
                if k == 0:
                    g[i] += sign * (n[0] * p0 + n[1] * p1 + n[2] * p2)
                    q[i, 0] += sign * u
                    q[i, 1] += sign * v
                    mid[0] += 0.5 * lam[i] * p0
                    mid[1] += 0.5 * lam[i] * p1
                    mid[2] += 0.5 * lam[i] * p2
                    continue
                w = -0.5 * sign * lam[i] / e
                if j == 0:
                    H[0] += w * u
                    H[1] += w * v
                else:
                    H[2] += w * v


@kernel
def make_convex(H, g, size):
    """Add what the sphere bends, g I, and enough to be positive definite where that is not."""
    H[0] += g
    H[2] += g
    half = 0.5 * (H[0] - H[2])
    least = 0.5 * (H[0] + H[2]) - np.sqrt(half * half + H[1] * H[1])
    if not least > 1e-10 * size:
        more = max(abs(g), 1e-6 * size) - least
        H[0] += more
        H[2] += more


@kernel
def add_atom(m, label, labels, lam, g):
    """Put a new pair of pieces among the atoms; a fifth replaces the slackest idle one."""
    for i in range(m):
        if labels[i, 0] == label[0] and labels[i, 1] == label[1]:
            return m
    k = m
    if m == 4:
        k, most = 0, -np.inf
        for i in range(4):
            if not lam[i] > 0.0 and g[i] > most:
                k, most = i, g[i]
    labels[k, 0], labels[k, 1] = label[0], label[1]
    lam[k] = 0.0
    return min(m + 1, 4)


@kernel
def without_twins(m, labels):
    """Drop atoms that are there twice (points of one smooth piece); the number left."""
    k = 0
    for i in range(m):
        new = True
        for j in range(k):
            if labels[j, 0] == labels[i, 0] and labels[j, 1] == labels[i, 1]:
                new = False
        if new:
            labels[k, 0], labels[k, 1] = labels[i, 0], labels[i, 1]
            k += 1
    return k


@kernel
def move(n, T, step, cut, trial):
    """trial (3,) = n + cut step, back on the sphere."""
    square = 0.0
    for c in range(3):
        trial[c] = n[c] + cut * (step[0] * T[0, c] + step[1] * T[1, c])
        square += trial[c] * trial[c]
    for c in range(3):
        trial[c] /= np.sqrt(square)


@kernel
def polish(cores: Cores, m, n, labels, mid, stats):
    """Local maximum of g from n (3,) and the atoms labels (4, 2), both improved.

    mid (3,): halfway between the points of the two cores. -> whether the conditions of the maximum
    hold to rounding, atoms, g(n)
    """
    T, g, q, H, lam = np.empty((2, 3)), np.zeros(4), np.zeros((4, 2)), np.empty(3), np.zeros(4)
    step, trial, size = np.empty(2), n.copy(), cores.size[0] + cores.size[1]
    m = without_twins(m, labels)
    low, high, reach, last, length, cut = -np.inf, 0.0, 0.5, np.inf, np.inf, 1.0
    good = done = False
    for k in range(41):
        stats[4] += 1
        known = m
        high = both(cores, trial[0], trial[1], trial[2])
        m = add_atom(m, cores.label, labels, lam, g)
        # a new atom this close to the end is a tie within rounding, or the end is not near
        good = good and cut == 1.0 and (m == known or high >= low - 1e-13 * size)
        # along a curved ridge a good step leaves it by a little of second order, and comes back
        slack = length * length if length <= min(1e-2, 0.5 * last) else 1e-14
        if high > low or (length <= 1e-2 and high >= low - max(slack, 1e-14) * size):
            for c in range(3):
                n[c] = trial[c]
            low, reach, last = high, max(reach, 2.0 * length if k > 0 else 0.0), length
        else:
            reach = 0.25 * length
        if k == 0:
            for i in range(m):
                lam[i] = 1.0 / m
        tangents(n, T)
        expand(cores, m, n, T, labels, lam, g, q, H, mid)
        if done and (good or m == known):  # an atom met in the last step has no weight as yet
            break
        make_convex(H, low, size)
        good = best_step(m, g, q, H, lam, step)
        length = np.sqrt(step[0] ** 2 + step[1] ** 2)
        if not length < np.inf:
            return False, m, low
        cut = 1.0 if length <= reach else reach / length
        length *= cut
        done = length <= 1e-11 or (length <= 1e-6 and length > 0.3 * last)
        move(n, T, step, cut, trial)
    # the points must face each other: on nearly flat surfaces a small step does not say so
    x = y = lost = 0.0
    for i in range(m):
        x, y, lost = x + lam[i] * q[i, 0], y + lam[i] * q[i, 1], lost + lam[i] * (g[i] - low)
    slip, small = np.sqrt(x * x + y * y), min(cores.size[0], cores.size[1])
    # apart, their distance is never less than the signed one, and g never more
    error = lost + (slip * slip / (slip + max(low, 0.0)) if slip > 0.0 else 0.0)
    fine = slip <= FACING_OFFSET * small and error <= GAP_TOL * small + GAP_ROUNDING * size
    return good and done and fine, m, low


# ---- Flat caps of cylinders and cones are tried before: next to the axis their rim is a piece of
# unbounded curvature, on which Newton's method would stall.


@kernel
def cap_normal(cores: Cores, s, n, out):
    """Whether body s turns a flat end roughly to the other; the direction n it would give."""
    spec, F = cores.spec, cores.frame[s]
    if not is_revolved(spec[s, 0]):
        return False
    along = F[2] * n[0] + F[5] * n[1] + F[8] * n[2]
    p = profile_of(spec[s, 0], cores.numbers, spec[s, 1])
    upper = (along > 0.0) == (s == 1)
    if abs(along) < 0.9 or (p.wide_high if upper else p.wide_low) == 0.0:
        return False
    for c in range(3):
        out[c] = np.copysign(1.0, along) * F[3 * c + 2]
    return True


@kernel
def try_caps(cores: Cores, n, cap, mid):
    """The better cap direction -> state, g; cap (3,), mid (3,) halfway between the surfaces.

    PROVEN if the other body's furthest point is over the disc, CAP if it is not (a face may be),
    UNKNOWN if there is no cap.
    """
    best, state = -np.inf, UNKNOWN
    frame, size, ab, trial = cores.frame, cores.size, cores.ab, np.empty(3)
    for s in range(2):
        if not cap_normal(cores, s, n, trial):
            continue
        g = both(cores, trial[0], trial[1], trial[2])
        if g <= best:
            continue
        best, o = g, 1 - s
        # from the axis of s to the other's point, across the axis
        along = square = 0.0
        for c in range(3):
            along += (ab[o, c] - frame[s, ORIGIN + c]) * trial[c]
        half = 0.5 * (g - size[2] - size[3]) + size[2 + o]
        for c in range(3):
            square += (ab[o, c] - frame[s, ORIGIN + c] - along * trial[c]) ** 2
            cap[c] = trial[c]
            mid[c] = ab[o, c] + (half if s == 0 else -half) * trial[c]
        state = PROVEN if square <= cores.numbers[cores.spec[s, 1] + 1] ** 2 else CAP
    return state, best


@kernel
def settle(cores: Cores, trust, m, n, low, labels, mid, stats):
    """-> state, atoms, g(n) of the cores; n (3,), with g(n) = low, and mid (3,), halfway between
    the surfaces, become the answer's."""
    other, point, size = np.empty(3), np.empty(3), cores.size
    state, best = try_caps(cores, n, other, point)
    total, shift = size[0] + size[1], 0.5 * (size[3] - size[2])
    # a cap that is worse than n is not where the least depth is
    if best >= low - 1e-12 * total and (state == PROVEN or (state == CAP and trust)):
        for c in range(3):
            n[c], mid[c] = other[c], point[c]
        return state, 0, best
    good, m, g = polish(cores, m, n, labels, mid, stats)
    for c in range(3):
        mid[c] += shift * n[c]
    if good and g >= best:
        return PROVEN, m, g
    if best > g:
        g, m = best, 0
        for c in range(3):
            n[c], mid[c] = other[c], point[c]
    if not trust:
        stats[6] += 1
        for c in range(3):
            other[c] = n[c]
        tol, bundle = SAME_DEPTH * min(size[0], size[1]), np.empty((BUNDLE, 6))
        _, kept, _ = greatest_separation(cores, tol, other, bundle)
        best, _ = facing_points(cores, bundle, kept, tol, other, point)
        if best >= g - 1e-13 * total:
            for c in range(3):
                n[c], mid[c] = other[c], point[c] + shift * other[c]
            return PROVEN, 0, best
    return UNSURE, m, g


# ---- In penetration: whether no other maximum is greater.
#
# With the depth d = -g(n) and c a support point next to n, c . n = h - d and q its part across,
# F(n + t e) <= h - d + t q . e for every e across n. If for every e there is such a point that
# brings this below -d - t K, K >= d, at t = r, then F, which is concave, falls at least as fast
# farther out, and g = F / |n + t e| < -d in the whole half about n from r on; within r, g gains at
# most d r^2 / 2. In the other half the support point along -n, W high and Q aside, rules out all
# up to the angle a from -n, and the falling F the rest, if tan(a/2) >= d / K.

REACH = 1.0  # r, at most
AROUND = 12  # support points around n, at most; four to six will do where there is a proof


@kernel
def is_greatest(cores: Cores, n, g):
    """Whether no direction separates the cores by more than g < 0, the separation along n, and
    SAME_DEPTH: False if support points next to n do not prove it."""
    ab, size, T, depth = cores.ab, cores.size, np.empty((2, 3)), -g
    tol = SAME_DEPTH * min(size[0], size[1])
    if depth <= tol:
        return True
    tangents(n, T)
    both(cores, -n[0], -n[1], -n[2])
    along = aside = 0.0
    for k in range(3):
        along += n[k] * (ab[0, k] - ab[1, k])
    for k in range(3):
        aside += (ab[0, k] - ab[1, k] - along * n[k]) ** 2
    if not along > depth:
        return False
    half = (np.sqrt(aside + along * along - depth * depth) - np.sqrt(aside)) / (along + depth)
    reach = min(REACH, np.sqrt(2.0 * tol / depth))
    begin, angle = 0.0, 0.0  # of the arc of all e that are known to fall
    for i in range(AROUND):
        x, y = reach * np.cos(angle), reach * np.sin(angle)
        both(
            cores,
            n[0] + x * T[0, 0] + y * T[1, 0],
            n[1] + x * T[0, 1] + y * T[1, 1],
            n[2] + x * T[0, 2] + y * T[1, 2],
        )
        u, v, h = 0.0, 0.0, depth
        for k in range(3):
            c = ab[0, k] - ab[1, k]
            u, v, h = u - T[0, k] * c, v - T[1, k] * c, h + n[k] * c
        fall, away = depth * max(1.0, 1.0 / half) + max(h, 0.0) / reach, np.sqrt(u * u + v * v)
        if not fall < away:
            return False
        width, turn = np.arccos(fall / away), np.arctan2(v, u) - angle
        turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        if not abs(turn) < width:
            return False
        if i == 0:
            begin = turn - width
        angle += turn + width
        if angle > 2.0 * np.pi + begin:
            return True
    return False


@kernel
def refine(pairs: Pairs, geoms: PosedGeoms, known: Directions, trust):
    """Pairs in state GUESS become PROVEN, UNSURE, CAP or PAIR_APART (over the margin).

    trust: guesses are of the last step: take a cap without trying the rest; cores that are in each
    other are UNSURE if the least depth is elsewhere now.
    """
    geom, margin, x, cores = pairs.geom, pairs.margin, geoms.x, cores_of(geoms)
    state, normal, atoms, labels, gap, mid = known
    size, other, bundle = cores.size, np.empty(3), np.empty((BUNDLE, 6))
    for i in range(margin.size):
        if state[i] != GUESS:
            continue
        a, n = geom[i, 0], normal[i]
        set_pair(cores, geoms, a, geom[i, 1])
        around = size[2] + size[3]
        low = both(cores, n[0], n[1], n[2])
        if low - around > margin[i]:
            state[i], atoms[i] = PAIR_APART, 0
            continue
        state[i], atoms[i], g = settle(
            cores, trust, atoms[i], n, low, labels[i], mid[i], pairs.stats
        )
        gap[i] = g - around
        if trust and g < 0.0 and state[i] != UNSURE and not is_greatest(cores, n, g):
            for c in range(3):
                other[c] = n[c]
            tol = SAME_DEPTH * min(size[0], size[1])
            best, _, _ = greatest_separation(cores, tol, other, bundle)
            if best > g + tol:
                state[i] = UNSURE
        for c in range(3):
            mid[i, c] += x[a, c]
    return 0
