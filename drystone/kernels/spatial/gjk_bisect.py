"""The direction of two convex bodies by bisection: slow and hard to defeat.

On a tangent plane of the sphere of directions -f(v) = min v . (a - b) is concave, whatever kinks
it has. So its maximum over a line is found by bisecting the sign of a slope, and the maximum of
those maxima over the other axis by bisecting again; at a kink the slopes of the two ends mix.
Newton's method leaves to this what it cannot finish: superquadrics near their flat points, where
a point moves by a finite way while the normal hardly turns, and kinks that meet.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.spatial.gjk_polish import tangents
from drystone.kernels.spatial.support import Cores, both

STEPS = 54  # halvings of the window: to rounding
OUTER = 0.02  # half width of the window along the first tangent [rad]
INNER = 0.5  # and along the second: a slanting ridge leaves the window sideways


@kernel
def slope(t, v, c):
    """Sign of the change of v . c / |v| when v (3,) moves along t."""
    vc = v[0] * c[0] + v[1] * c[1] + v[2] * c[2]
    tc = t[0] * c[0] + t[1] * c[1] + t[2] * c[2]
    tv = t[0] * v[0] + t[1] * v[1] + t[2] * v[2]
    return tc * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) - vc * tv


@kernel
def narrow(k, s, w, c, window, ends):
    """One halving: the end of slope s at w takes the new point's c (6,). Whether to go on.

    window (4,): lower and upper end, their slopes; ends (2, 6). The first two calls are the ends.
    """
    side = 0 if s > 0.0 else 1
    if k < 2 and side != k:
        return False
    window[side], window[2 + side] = w, s
    for i in range(6):
        ends[side, i] = c[i]
    if k == STEPS - 1:  # at a kink, what lies between the two ends has slope 0
        t = window[2] / (window[2] - window[3])
        for i in range(6):
            c[i] = (1.0 - t) * ends[0, i] + t * ends[1, i]
    return True


@kernel
def along(cores: Cores, u, n, T, v, window, ends, c):
    """Maximum over the second tangent, u given along the first: v (3,), and c (6,) = a - b, a + b
    mixed so that the slope along the second is nil. Whether it is in the window."""
    ab = cores.ab
    window[0], window[1] = -INNER, INNER
    for k in range(STEPS):
        w = window[k] if k < 2 else 0.5 * (window[0] + window[1])
        for i in range(3):
            v[i] = n[i] + u * T[0, i] + w * T[1, i]
        both(cores, v[0], v[1], v[2])
        for i in range(3):
            c[i], c[3 + i] = ab[0, i] - ab[1, i], ab[0, i] + ab[1, i]
        if not narrow(k, slope(T[1], v, c), w, c, window, ends):
            return False
    return True


@kernel
def bisect(cores: Cores, n, mid):
    """Maximum of g near n (3,), which it improves; mid (3,) halfway between the cores' points.

    -> whether it lies in the window, g(n)
    """
    T, v, c = np.empty((2, 3)), np.empty(3), np.empty(6)
    window, ends, inner, pair = np.zeros(4), np.empty((2, 6)), np.zeros(4), np.empty((2, 6))
    tangents(n, T)
    window[0], window[1] = -OUTER, OUTER
    for k in range(STEPS):
        u = window[k] if k < 2 else 0.5 * (window[0] + window[1])
        if not along(cores, u, n, T, v, inner, pair, c):
            return False, 0.0
        if not narrow(k, slope(T[0], v, c), u, c, window, ends):
            return False, 0.0
    length = np.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
    for i in range(3):
        n[i], mid[i] = v[i] / length, 0.5 * c[3 + i]
    return True, both(cores, n[0], n[1], n[2])
