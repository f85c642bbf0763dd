"""The ellipse as a support function, and extremal points of two ellipses.

A strictly convex body touches its tangent with the outer normal n in one point. So the extremal
points of A and B are known once the normal n (from B to A) is: p_a is where A's outer normal is
-n, p_b where B's is n, and E1 to E3 of (5-2) hold by construction. What remains of E4 is one
equation in the angle of n: with t = (-n_y, n_x) and the separation g = n.(p_a - p_b),
    g' = t.(p_a - p_b) = 0,    g'' = -(g + rho_a + rho_b),
rho the radii of curvature. The signed extreme distance is the greatest g of all directions: the
spurious roots (the global maximum of the distance among them) have g'' > 0 or a lesser g.
An ellipse is a smaller convex body fattened by its least radius of curvature; so while
g > -(least rho_a + least rho_b) the smaller bodies are apart and a local maximum is the only one.
"""

import numpy as np

from drystone.kernels._jit import kernel

NEWTON_STEPS = 12  # of Newton, which takes 1 to 5; the bracket takes over after them
LAST_STEP = 1e-8  # [rad]: Newton's error after such a step is its square
LONGEST_STEP = 0.5  # [rad]: longer steps leave the basin of the root
BRACKET_STEPS = 80  # halvings that leave nothing but rounding


@kernel
def support(a, b, u, v):
    """Of an ellipse and the direction (u, v) in its axes: h = greatest n.p, h' and rho.

    A point is an ellipse of no size.
    """
    h = np.sqrt(a * a * u * u + b * b * v * v)
    if h == 0.0:
        return 0.0, 0.0, 0.0
    return h, (b * b - a * a) * u * v / h, (a * b / h) * (a * b / h) / h


@kernel
def least_radius(a, b):
    """Of curvature."""
    return b * b / a if a > b else (a * a / b if b > 0.0 else 0.0)


@kernel
def turned(nx, ny, angle):
    """Unit vector turned by a small angle (by 2 atan(angle / 2), which is as good for Newton)."""
    q = 0.25 * angle * angle
    c, s = (1.0 - q) / (1.0 + q), angle / (1.0 + q)
    x, y = c * nx - s * ny, s * nx + c * ny
    f = 1.5 - 0.5 * (x * x + y * y)  # one step to norm 1, which is only rounding away
    return f * x, f * y


@kernel
def separation(pair, nx, ny):
    """(g, g', rho_a + rho_b) in the direction n. pair (10,): distance of centres A - B (2), then
    a, b and the first axis (2) of each."""
    ha, da, ra = support(pair[2], pair[3], nx * pair[4] + ny * pair[5], ny * pair[4] - nx * pair[5])
    hb, db, rb = support(pair[6], pair[7], nx * pair[8] + ny * pair[9], ny * pair[8] - nx * pair[9])
    g = nx * pair[0] + ny * pair[1] - ha - hb
    return g, nx * pair[1] - ny * pair[0] - da - db, ra + rb


@kernel
def newton(pair, nx, ny):
    """Newton from n: (whether it arrived at a local maximum of g, n, evaluations)."""
    for k in range(NEWTON_STEPS):
        g, slope, rho = separation(pair, nx, ny)
        if not g + rho > 0.0:
            return False, nx, ny, k + 1
        step = slope / (g + rho)
        if abs(step) > LONGEST_STEP:
            step = LONGEST_STEP if step > 0.0 else -LONGEST_STEP
        nx, ny = turned(nx, ny, step)
        if abs(step) < LAST_STEP:
            return True, nx, ny, k + 1
    return False, nx, ny, NEWTON_STEPS


@kernel
def line_of_centres(pair):
    """First guess: mean of the two normals where the line of centres leaves the ellipses."""
    nx, ny = 0.0, 0.0
    for at in (2, 6):
        a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
        if a == 0.0:
            continue
        u, v = (c * pair[0] + s * pair[1]) / (a * a), (c * pair[1] - s * pair[0]) / (b * b)
        d = np.sqrt(u * u + v * v)
        if d > 0.0:
            nx += (c * u - s * v) / d
            ny += (s * u + c * v) / d
    d = np.sqrt(nx * nx + ny * ny)
    if d > 0.0:
        return nx / d, ny / d
    return 0.0, 1.0


@kernel
def in_cone(lx, ly, nx, ny, rx, ry):
    """Whether n lies between l and r, which is at most half a turn counter-clockwise of l.

    With l = r = 0: always.
    """
    return lx * ny - ly * nx >= 0.0 and nx * ry - ny * rx >= 0.0


@kernel
def everywhere(pair, lx, ly, rx, ry):
    """The greatest maximum of g in the cone from l to r (all directions, if both are zero).

    The normals at 16 points of each ellipse divide the directions as finely as they need; where
    g' changes sign from one to the next there is a maximum. -> (whether there is one, n)
    """
    best, nx, ny = -np.inf, 0.0, 1.0
    for at in (2, 6):
        a, b, c, s = pair[at], pair[at + 1], pair[at + 2], pair[at + 3]
        px, py = c, s
        for k in range(1, 17 if a > 0.0 else 1):
            u, v = np.cos(0.125 * np.pi * k) / a, np.sin(0.125 * np.pi * k) / b
            d = np.sqrt(u * u + v * v)
            qx, qy = (c * u - s * v) / d, (s * u + c * v) / d
            found, x, y = _maximum(pair, lx, ly, rx, ry, px, py, qx, qy)
            if found:
                g, _, _ = separation(pair, x, y)
                if g > best:
                    best, nx, ny = g, x, y
            px, py = qx, qy
    return best > -np.inf, nx, ny


@kernel
def _maximum(pair, lx, ly, rx, ry, px, py, qx, qy):
    """A maximum of g between the directions p and q and inside the cone from l to r."""
    if not in_cone(lx, ly, px, py, rx, ry):
        if not in_cone(px, py, lx, ly, qx, qy):
            return False, px, py
        px, py = lx, ly
    if not in_cone(lx, ly, qx, qy, rx, ry):
        if not in_cone(px, py, rx, ry, qx, qy):
            return False, px, py
        qx, qy = rx, ry
    _, slope, _ = separation(pair, px, py)
    _, after, _ = separation(pair, qx, qy)
    if not slope > 0.0 or after > 0.0:
        return False, px, py
    x, y = between(pair, px, py, qx, qy)
    return True, x, y


@kernel
def between(pair, lx, ly, rx, ry):
    """A maximum of g between the directions l and r: g' > 0 at l, <= 0 at r."""
    nx, ny = _middle(lx, ly, rx, ry)
    for _ in range(BRACKET_STEPS):
        g, slope, rho = separation(pair, nx, ny)
        if slope > 0.0:
            lx, ly = nx, ny
        else:
            rx, ry = nx, ny
        if g + rho > 0.0 and abs(slope) < LONGEST_STEP * (g + rho):
            step = slope / (g + rho)
            x, y = turned(nx, ny, step)
            if in_cone(lx, ly, x, y, rx, ry):
                nx, ny = x, y
                if abs(step) < LAST_STEP:
                    break
                continue
        nx, ny = _middle(lx, ly, rx, ry)
        if abs(lx * ry - ly * rx) < 1e-16 and lx * rx + ly * ry > 0.0:
            break
    return nx, ny


@kernel
def _middle(lx, ly, rx, ry):
    """Direction halfway from l to r, which is at most half a turn counter-clockwise of l."""
    x, y = lx + rx, ly + ry
    d = np.sqrt(x * x + y * y)
    if d > 1e-6:
        return x / d, y / d
    return -ly, lx
