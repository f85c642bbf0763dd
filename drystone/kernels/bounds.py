"""Axis-aligned boxes of geoms, exact for every kind.

The box's upper end along world axis i is x_i + h(d), where h is the geom's support function and
d = R' e_i, row i of R; its lower end is x_i - h(-d).
"""

import math

from drystone.kernels._jit import kernel
from drystone.kernels.kinds import (
    BOWL,
    CAPSULE_2D,
    DISK,
    ELLIPSE,
    ELLIPSOID,
    POLYGON,
    POLYHEDRON,
    SPHERE,
    SUPERQUADRIC,
    SURFACE,
)
from drystone.kernels.pairs import PosedGeoms
from drystone.kernels.profiles import is_revolved, profile_of


@kernel
def bounds_planar(order, geoms: PosedGeoms, margin, lower, upper):
    """Fill lower, upper (m, 2) with the boxes of the geoms `order` (m,), in that order, each
    inflated by margin (ng,) [m]; half-planes get -inf and inf.

    -> the last of the geoms whose box is not finite, or -1.
    """
    x, R, kind, first, numbers, _, _ = geoms
    bad = -1
    for r in range(order.size):
        g = order[r]
        k, f = kind[g], first[g]
        for i in range(2):
            d0, d1 = R[g, i, 0], R[g, i, 1]
            if k == DISK:
                up = numbers[f]
                down = up
            elif k == ELLIPSE:
                up = math.hypot(numbers[f] * d0, numbers[f + 1] * d1)
                down = up
            elif k == CAPSULE_2D:
                up = numbers[f] * abs(d0) + numbers[f + 1]
                down = up
            elif k == POLYGON:
                up, down = -math.inf, -math.inf
                for v in range(f, first[g + 1], 2):
                    s = numbers[v] * d0 + numbers[v + 1] * d1
                    up = max(up, s)
                    down = max(down, -s)
            else:
                up, down = math.inf, math.inf
            lower[r, i] = x[g, i] - down - margin[g]
            upper[r, i] = x[g, i] + up + margin[g]
            if not (math.isfinite(lower[r, i]) and math.isfinite(upper[r, i])):
                bad = g
    return bad


@kernel
def bounds_spatial(order, geoms: PosedGeoms, margin, lower, upper):
    """``bounds_planar`` in space: lower, upper (m, 3); half-spaces get -inf and inf.

    -> the last of the geoms whose box is not finite, or -1.
    """
    x, R, kind, first, numbers, first_int, ints = geoms
    bad = -1
    for r in range(order.size):
        g = order[r]
        k, f = kind[g], first[g]
        for i in range(3):
            d0, d1, d2 = R[g, i, 0], R[g, i, 1], R[g, i, 2]
            if k == SPHERE:
                up = numbers[f]
                down = up
            elif k == POLYHEDRON:
                up, down = -math.inf, -math.inf
                for v in range(f, f + 3 * ints[first_int[g]], 3):
                    s = numbers[v] * d0 + numbers[v + 1] * d1 + numbers[v + 2] * d2
                    up = max(up, s)
                    down = max(down, -s)
            elif k in (ELLIPSOID, BOWL):  # the bowl as the ellipsoid that it is the outside of
                s0, s1, s2 = numbers[f] * d0, numbers[f + 1] * d1, numbers[f + 2] * d2
                up = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
                down = up
            elif is_revolved(k):
                p = profile_of(k, numbers, f)
                flat = math.sqrt(d0 * d0 + d1 * d1)
                low, high = p.wide_low * flat, p.wide_high * flat
                up = max(high + p.high * d2, low + p.low * d2) + p.around
                down = max(high - p.high * d2, low - p.low * d2) + p.around
            elif k == SUPERQUADRIC:
                # dual norms: 1/p + 1/q = 1 with p = 2/e, within the xy plane and then with z
                q1, q2 = 2.0 / (2.0 - numbers[f + 3]), 2.0 / (2.0 - numbers[f + 4])
                s0, s1 = abs(numbers[f] * d0), abs(numbers[f + 1] * d1)
                s = (s0**q2 + s1**q2) ** (1.0 / q2)
                up = (s**q1 + abs(numbers[f + 2] * d2) ** q1) ** (1.0 / q1)
                down = up
            elif k == SURFACE:  # known by the radius of a ball about it
                up = numbers[f + 1]
                down = up
            else:
                up, down = math.inf, math.inf
            lower[r, i] = x[g, i] - down - margin[g]
            upper[r, i] = x[g, i] + up + margin[g]
            if not (math.isfinite(lower[r, i]) and math.isfinite(upper[r, i])):
                bad = g
    return bad
