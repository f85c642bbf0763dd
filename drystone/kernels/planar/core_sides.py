"""Sides of several edges that are nearly parallel carry as one edge would.

A side of a body is the most level edge at its nearest vertex with all edges that follow it, either
way, and lean less than LEAN from that edge or from the line of contact. If either body has a side
of several, the ends of what the two sides have in common are contacts too.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.planar.core import TwoCores
from drystone.kernels.planar.core_region import BASE, POINT, SAME_END
from drystone.kernels.planar.cycle import wrap

LEAN = 0.015  # [rad] between edges that may carry together
MERGE = 1e-8  # of the region: an end this close to another contact is that contact
POINTS = 4  # contacts a pair can have: two of the nearest edges, two ends of the sides


@kernel
def spread(cores: TwoCores, j, i, nx, ny, limit, count, ends, names):
    """Add the ends of whole sides to the `count` contacts of two edges.

    j, i: vertices of A and of B on their sides; n: from B to A; ends (POINTS, 3), names (POINTS,).
    -> number of contacts, ordered along the side of A.
    """
    V, na, nb, ra, rb = cores
    slope_a, slope_b = _slope(V, 0, na, j, -1, nx, ny), _slope(V, na, nb, i, 1, nx, ny)
    a0, na0 = _walk(V, 0, na, j, -1, -1, slope_a, nx, ny)
    a1, na1 = _walk(V, 0, na, j, -1, 1, slope_a, nx, ny)
    b0, nb0 = _walk(V, na, nb, i, 1, -1, slope_b, nx, ny)
    b1, nb1 = _walk(V, na, nb, i, 1, 1, slope_b, nx, ny)
    if max(na0 + na1, nb0 + nb1) < 2:
        return count
    low_a, high_a, low_b, high_b = (
        _along(V, a0, nx, ny), _along(V, a1, nx, ny),
        _along(V, na + b0, nx, ny), _along(V, na + b1, nx, ny),
    )  # fmt: skip
    low, high = max(low_a, low_b), min(high_a, high_b)
    width = high - low
    # the nearest edges may not be those that the nearest points lie on, if others are parallel to
    # them but for rounding: then these are over the next edges of the side
    for c in range(count):
        s = nx * ends[c, 1] - ny * ends[c, 0]
        if low <= high and not low <= s <= high:
            s = min(max(s, low), high)
            ha, _ = _height(V, 0, na, j, -1, s, nx, ny)
            hb, _ = _height(V, na, nb, i, 1, s, nx, ny)
            mid = 0.5 * (ha + hb + rb - ra)
            ends[c, 0], ends[c, 1] = mid * nx - s * ny, mid * ny + s * nx
            ends[c, 2] = ha - hb - ra - rb
    if not width > POINT * max(high_a - low_a, high_b - low_b):
        return count
    least, kept = np.inf, count
    for c in range(count):
        least = min(least, ends[c, 2])
    for way in (-1, 1):
        va, vb = (a0, b0) if way < 0 else (a1, b1)
        sa, sb = (low_a, low_b) if way < 0 else (high_a, high_b)
        s = low if way < 0 else high
        mine = abs(sa - sb) <= SAME_END * width or way * (sb - sa) > 0.0
        ha, edge_a = _height(V, 0, na, j, -1, s, nx, ny)
        hb, edge_b = _height(V, na, nb, i, 1, s, nx, ny)
        while ha - hb - ra - rb > limit:  # back to the last vertex that is within it
            va = _before(V, 0, na, a1 if way < 0 else a0, -1, way, s, nx, ny)
            vb = _before(V, na, nb, b1 if way < 0 else b0, 1, way, s, nx, ny)
            sa, sb = _along(V, va, nx, ny), _along(V, na + vb, nx, ny)
            mine = way * (sa - sb) >= 0.0
            if not way * (s - (sa if mine else sb)) > 0.0:
                break
            s = sa if mine else sb
            ha, edge_a = _height(V, 0, na, j, -1, s, nx, ny)
            hb, edge_b = _height(V, na, nb, i, 1, s, nx, ny)
        gap = max(ha - hb - ra - rb, least)
        new = gap <= limit and low <= s <= high
        for c in range(kept):
            new = new and abs(s - nx * ends[c, 1] + ny * ends[c, 0]) > MERGE * width
        if not new:
            continue
        place = kept
        if way > 0:  # A's side runs against u
            place = 0
            for c in range(kept, 0, -1):
                for q in range(3):
                    ends[c, q] = ends[c - 1, q]
                names[c] = names[c - 1]
        mid = 0.5 * (ha + hb + rb - ra)
        ends[place, 0], ends[place, 1] = mid * nx - s * ny, mid * ny + s * nx
        ends[place, 2] = gap
        names[place] = va * BASE + edge_b if mine else (BASE + vb) * BASE + edge_a
        kept += 1
    return kept


@kernel
def _along(V, k, nx, ny):
    """Place of vertex k along u = (-n_y, n_x), in which B's edges run and A's run against it."""
    return nx * V[k, 1] - ny * V[k, 0]


@kernel
def _slope(V, row, n, k, turn, nx, ny):
    """Slope along u of the most level edge at vertex k; turn = 1 if edges run along u, or -1."""
    best = np.inf
    for way in (-1, 1):
        q = row + wrap(k + (1 if turn * way > 0 else n - 1), n)
        ex, ey = V[q, 0] - V[row + k, 0], V[q, 1] - V[row + k, 1]
        run = nx * ey - ny * ex
        if way * run > 0.0:
            slope = (nx * ex + ny * ey) / run
            if abs(slope) < abs(best):
                best = slope
    return best


@kernel
def _walk(V, row, n, k, turn, way, slope, nx, ny):
    """The vertex at which the side of vertex k ends, `way` along u, and how many edges lie before
    it."""
    for steps in range(n - 1):
        q = wrap(k + (1 if turn * way > 0 else n - 1), n)
        ex, ey = V[row + q, 0] - V[row + k, 0], V[row + q, 1] - V[row + k, 1]
        run, rise = nx * ey - ny * ex, nx * ex + ny * ey
        if not way * run > 0.0:
            return k, steps
        if min(abs(rise), abs(rise - slope * run)) > LEAN * abs(run):
            return k, steps
        k = q
    return k, n - 1


@kernel
def _before(V, row, n, k, turn, way, s, nx, ny):
    """The last vertex after k that lies before s, `way` along u; k if none does."""
    for _ in range(n):
        q = wrap(k + (1 if turn * way > 0 else n - 1), n)
        if not way * (s - _along(V, row + q, nx, ny)) > 0.0:
            break
        if not way * (_along(V, row + q, nx, ny) - _along(V, row + k, nx, ny)) > 0.0:
            break
        k = q
    return k


@kernel
def _height(V, row, n, k, turn, s, nx, ny):
    """Height along n of the side through vertex k at the place s along u, and the edge there."""
    at = _along(V, row + k, nx, ny)
    way = 1 if s >= at else -1
    step = 1 if turn * way > 0 else n - 1
    for _ in range(n):
        q = wrap(k + step, n)
        end = _along(V, row + q, nx, ny)
        if way * (end - s) >= 0.0 or not way * (end - at) > 0.0:
            break
        k, at = q, end
    q = wrap(k + step, n)
    end = _along(V, row + q, nx, ny)
    h = nx * V[row + k, 0] + ny * V[row + k, 1]
    if way * (end - at) > 0.0:
        rise = nx * V[row + q, 0] + ny * V[row + q, 1] - h
        h += rise * min((s - at) / (end - at), 1.0)
    return h, k if step == 1 else q
