"""A judge of contacts of polygons and capsules in extended precision.

In the plane the signed distance is the greatest separation over finitely many directions: normals
of edges and lines between vertices. Each is asked by its supports, in long double.
"""

import numpy as np

from drystone.kernels.kinds import POLYGON
from tests.geometry import pair_calls

LONG = np.longdouble
LEAN = 0.015  # the rule of the docs: edges of one side


def polygon(rng, sided=False):
    """Local vertices (k, 2), counter-clockwise, about the centroid: size 1e-3 to 1e3, aspect to
    1000; two of them and a radius: a capsule; if `sided`, edges of several parts that are nearly
    parallel. -> floats as the kernels have them, vertices, radius.
    """
    size, aspect = 10 ** rng.uniform(-3, 3), 10 ** rng.choice([0, rng.uniform(0, 3)])
    kind = rng.integers(6)
    if kind == 0:
        half, radius = 0.5 * size, 0.5 * size / aspect
        return np.array([half, radius]), np.array([[-half, 0.0], [half, 0.0]]), radius
    if kind < 4:
        corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
    else:
        k = rng.integers(3, 9)
        angle = 2 * np.pi * (np.arange(k) + rng.uniform(0, 0.7, k)) / k
        corner = np.stack((np.cos(angle), np.sin(angle)), 1)
    V = 0.5 * size * corner * [1.0, 1.0 / aspect]
    if sided:
        V = _divided(rng, V)
    return V.ravel(), V, 0.0


def _divided(rng, V):
    """The polygon with points added on its edges, a little outside; strictly convex."""
    out, bulge = [], 10 ** rng.uniform(-9, -2.5)
    for p, q in zip(V, np.roll(V, -1, axis=0), strict=True):
        e = q - p
        out.append(p)
        parts = np.sort(rng.uniform(0.05, 0.95, rng.integers(0, 4)))
        for u in parts[np.diff(parts, prepend=0.0) > 0.02]:
            out.append(p + u * e + 4 * u * (1 - u) * bulge * np.array([e[1], -e[0]]))
    e = np.diff(np.array([*out, *out[:2]]), axis=0)
    turn = e[:-1, 0] * e[1:, 1] - e[:-1, 1] * e[1:, 0]
    return np.array(out) if turn.min() > 0 else V


def _feature(rng, V):
    """A point of an edge or a vertex, and an outer normal there."""
    k = len(V)
    j = rng.integers(k)
    e = V[(j + 1) % k] - V[j]
    m = np.array([e[1], -e[0]]) / np.hypot(*e)
    if rng.random() < 0.6:
        t = rng.choice([0.0, 1.0, rng.random(), rng.random()])
        return V[j] + t * e, m
    e = V[j] - V[j - 1]
    u = rng.choice([rng.random(), rng.random() ** 8])
    m = u * m + (1 - u) * np.array([e[1], -e[0]]) / np.hypot(*e)
    if not np.hypot(*m) > 1e-3:
        m = V[j] - V.mean(axis=0)
    return V[j], m / np.hypot(*m)


def pose(rng, bodies):
    """x (2, 2), R (2, 2, 2) of two bodies (floats, vertices, radius) with features at a gap."""
    small = min(np.ptp(V, axis=0).max() for _, V, _ in bodies)
    (p, m), (q, k) = (_feature(rng, V) for _, V, _ in bodies)
    angle = rng.uniform(0, 7) if rng.random() < 0.9 else 0.0
    n = np.array([np.cos(angle), np.sin(angle)])

    def turn(m, way):
        c, s = m @ way, m[0] * way[1] - m[1] * way[0]
        return np.array([[c, -s], [s, c]]) / np.hypot(c, s)

    R_b, R_a = turn(k, n), turn(m, -n)
    if rng.random() < 0.6:
        tilt = 10 ** rng.uniform(-16, -4) * rng.normal()
        R_a = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]]) @ R_a
    way = rng.random()
    gap = 0.0 if way < 0.1 else 10 ** rng.uniform(-16, -3) * rng.choice([1.0, 1.0, -1.0])
    gap = -rng.uniform(0.001, 0.4) if way > 0.85 else gap
    x_b = np.zeros(2)
    if rng.random() < 0.5:
        x_b = rng.normal(size=2) * small * 10 ** rng.uniform(0, 6)
    out = gap * small + bodies[0][2] + bodies[1][2]
    return np.array([x_b + R_b @ q + out * n - R_a @ p, x_b]), np.array([R_a, R_b])


def batch(rng, count, sided=False):
    shapes = sorted(
        (polygon(rng, sided) for _ in range(80)), key=lambda s: np.ptp(s[1], axis=0).max()
    )
    pairs, x, R = [], np.zeros((count, 2, 2)), np.zeros((count, 2, 2, 2))
    for i in range(count):
        k = rng.integers(len(shapes))
        spread = 5 if rng.random() < 0.9 else 40
        j = rng.integers(max(k - spread, 0), min(k + spread + 1, len(shapes)))
        a, b = shapes[k], shapes[j]
        pairs.append((a, b) if len(a[1]) == 2 or len(b[1]) > 2 else (b, a))  # capsules first
        x[i], R[i] = pose(rng, pairs[-1])
    return pairs, x, R


def before(rng, pairs, x, R):
    """Poses of which the present ones may be a step's outcome: 1e-16 to 0.3 sizes away."""
    step = 10 ** rng.uniform(-16, -0.5, size=len(pairs))
    x, R = x.copy(), R.copy()
    for i, pair in enumerate(pairs):
        x[i, 0] += step[i] * min(np.ptp(V, axis=0).max() for _, V, _ in pair) * rng.normal(size=2)
        c, s = np.cos(step[i]), np.sin(step[i])
        R[i, 0] = np.array([[c, -s], [s, c]]) @ R[i, 0]
    return x, R


def call(kernel, width, pairs, x, R, margin, cache=None):
    flat = [body[0] for pair in pairs for body in pair]
    first = np.cumsum([0] + [len(f) for f in flat])
    cache = np.zeros((len(pairs), width)) if cache is None else cache
    room = pair_calls.room_for(4 * len(pairs), 2)
    geoms = pair_calls.posed(
        np.ascontiguousarray(x.reshape(-1, 2)), np.ascontiguousarray(R.reshape(-1, 2, 2)), POLYGON,
        first, np.concatenate(flat),
    )  # fmt: skip
    rows = np.arange(2 * len(pairs)).reshape(-1, 2)
    count = pair_calls.run(kernel, rows, margin, geoms, cache, room)
    assert count >= 0
    return pair_calls.found(room, count)[:4]


def _padded(sets):
    most = max(map(len, sets))
    return np.array([np.vstack([V, np.repeat(V[-1:], most - len(V), 0)]) for V in sets])


def verdicts(pairs, x, R, answer, margin):
    """{name of a fault: numbers of pairs}."""
    which, point, normal, gap = answer
    count = len(pairs)
    sizes = np.array([[np.ptp(V, axis=0).max() for _, V, _ in pair] for pair in pairs])
    small, tol = sizes.min(1), 1e-9 * sizes.min(1) + 1e-14 * sizes.max(1)
    radius = np.array([a[2] + b[2] for a, b in pairs])
    Q, shift = R.astype(LONG), (x[:, 0].astype(LONG) - x[:, 1])
    VA = np.einsum("nij,nvj->nvi", Q[:, 0], _padded([a[1] for a, _ in pairs])) + shift[:, None]
    VB = np.einsum("nij,nvj->nvi", Q[:, 1], _padded([b[1] for _, b in pairs]))

    def separation(n):
        return (VA @ n[..., None])[..., 0].min(1) - (VB @ n[..., None])[..., 0].max(1) - radius

    best = np.full(count, -np.inf, LONG)
    ways = []
    for V, sign in ((VA, -1), (VB, 1)):
        e = np.roll(V, -1, axis=1) - V
        ways += list(np.moveaxis(np.stack((e[..., 1], -e[..., 0]), -1) * sign, 1, 0))
    d = VA[:, :, None] - VB[:, None]
    ways += list(np.moveaxis(d.reshape(count, -1, 2), 1, 0))
    for w in ways:
        length = np.sqrt((w * w).sum(1))
        good = length > 0
        n = w / np.where(good, length, 1)[:, None]
        s = np.where(good, separation(n), -np.inf)
        np.maximum(best, s, out=best)
    faults = {}
    some = np.bincount(which, minlength=count)
    faults["missing"] = np.flatnonzero((some == 0) & (best <= margin - tol))
    faults["too far"] = np.flatnonzero((some > 0) & (best > margin + tol))
    has = np.flatnonzero(some)
    n = np.zeros((count, 2), LONG)
    n[has] = normal[np.searchsorted(which, has)]
    n[has] /= np.sqrt((n[has] ** 2).sum(1))[:, None]
    least = np.full(count, np.inf)
    np.minimum.at(least, which, gap)
    faults["gap"] = has[np.abs(best[has] - least[has]) > tol[has]]
    faults["normal"] = has[np.abs(best[has] - separation(n)[has]) > tol[has]]
    lost, off = [], []
    VA, VB, n = VA.astype(float), VB.astype(float), n.astype(float)
    for i in has:
        t = np.array([-n[i, 1], n[i, 0]])
        at = slice(np.searchsorted(which, i), np.searchsorted(which, i, "right"))
        far = 1e-15 * np.abs(x[i]).max()
        spans, several = [], False
        for k, (V, sign) in enumerate(((VA[i], -1), (VB[i], 1))):
            V = V[: len(pairs[i][k][1])]
            e = np.roll(V, -1, axis=0) - V
            normals = np.stack((e[:, 1], -e[:, 0]), 1) / np.hypot(*e.T)[:, None]
            on = point[at] - x[i, 1] - 0.5 * sign * gap[at, None] * n[i]
            out = ((on[:, None] - V[None]) * normals[None]).sum(-1).max() - pairs[i][k][2]
            if out > 1e-7 * small[i] + far:
                off.append(i)
            m = sign * normals @ n[i]
            j = m.argmax()
            if m[j] > 1 - 5e-7:
                edges = _side(m, j)
                several = several or len(edges) > 1
                chain = V[[edges[0], *((e + 1) % len(V) for e in edges)]]
                spans.append((chain @ t, chain @ n[i]))
        if len(spans) < 2:
            continue
        (a, ha), (b, hb) = spans
        low, high = max(a.min(), b.min()), min(a.max(), b.max())
        if high - low < 1e-6 * small[i] + 2e-3 * (least[i] + radius[i]):
            continue
        mine = (point[at] - x[i, 1]) @ t
        ok = 2e-8 * small[i] + far
        for p in (low, high):
            over = np.interp(p, *_rising(a, ha)) - np.interp(p, *_rising(b, hb)) - radius[i]
            away = np.abs(mine - p).min()
            if several and mine.min() < p < mine.max():  # of a side that may be longer than that
                away = 0.0
            if over < 0.999 * margin[i] - 1e-9 * small[i] and away > ok:
                lost.append(i)
                break
    faults["not points of the bodies"] = np.array(off, int)
    faults["region"] = np.array(lost, int)
    return {name: rows for name, rows in faults.items() if len(rows)}


def _rising(places, heights):
    order = np.argsort(places)
    return places[order], heights[order]


def _side(m, j):
    """Numbers of the edges that follow edge j either way and lean less than LEAN from the line of
    contact (with some room), in order; m: cosines."""
    edges, count = [j], len(m)
    for step in (1, -1):
        k = (j + step) % count
        while k not in edges and m[k] > np.cos(0.95 * LEAN):
            edges = [*edges, k] if step > 0 else [k, *edges]
            k = (k + step) % count
    return edges
