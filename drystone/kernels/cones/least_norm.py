"""The point of least norm of a product of cones on a linear manifold: min |x|, A x = b, x in K.

It is unique, and x = P_K(A'y) of any y that maximises the dual, b.y - |P_K(A'y)|^2 / 2: a concave
function with the gradient b - A P_K(A'y). Newton's method on it, with the derivative of the
projection and a line search, begins with the plain solution of least norm and ends there if that
lies in K. Whatever y it stops at, x is the point of least norm for its own A x: all that is left
to judge is A x = b. There must be points of K with A x = b.

Block i of x meets at most two groups of w rows of A, which begin at rows at[i, 0] and at[i, 1], -1
for none, with the matrices G[i, 0] and G[i, 1]. A D A' + shift is factorised within its envelope:
row p begins at column first[p], and its entries in L at begin[p].
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.contact.polyhedral import project as project_polyhedral
from drystone.kernels.linalg.envelope import eliminate, substitute

DUAL_STEPS = 200  # Newton steps; most problems take fewer than ten
RESIDUAL_SHARE = 1e-12  # of |b|: what may be left of A x - b; less is soon rounding
DIAGONAL_SHIFT = 1e-13  # of the mean of diag A A': keeps factors of dependent rows regular
DUAL_DAMPING = 1e-2  # of the same and of the error: where the derivative itself is singular
SHIFT_GROWTH = 10.0  # of the shift, where rounding makes a pivot negative
SLOPE = 1e-4  # of the increase that the gradient promises: what a step must bring (Armijo)
ERROR_DECREASE = 0.5  # of the error: the same, where the dual's own rounding hides its increase
SHORTEST_DUAL_STEP = 2.0**-40  # part of a Newton step


class Blocks(NamedTuple):
    """k blocks of up to d numbers: size (k,), mu (k,), at (k, 2), G (k, 2, w, d).

    A block of one number is not negative, others lie in |x_t| <= mu x_n; sides: 0, or the number of
    sides of the polygon that takes the place of the circle.
    """

    size: Any
    mu: Any
    at: Any
    G: Any
    sides: int


class Work(NamedTuple):
    """z, x, best (k, d); D (k, d, d); y, new, left, step (n,); first (n,), begin (n + 1,), L."""

    z: Any
    x: Any
    best: Any
    D: Any
    y: Any
    new: Any
    left: Any
    step: Any
    first: Any
    begin: Any
    L: Any


@stage
def minimise(blocks, b, work):
    """Leaves x in work.best; returns |A x - b| / |b|."""
    w, n = work, b.size
    scale = np.sqrt(_dot(b, b))
    mean = _mean_square(blocks, n)
    least = np.inf
    for i in range(w.x.shape[0]):
        for a in range(w.x.shape[1]):
            w.x[i, a] = w.best[i, a] = 0.0
            for c in range(w.x.shape[1]):
                w.D[i, a, c] = 1.0 if a == c and a < blocks.size[i] else 0.0
    for p in range(n):
        w.y[p] = 0.0
    plain, factored = True, False
    for k in range(DUAL_STEPS):
        error = _imbalance(blocks, b, w.x, w.left) / scale
        if error < least:
            least = error
            for i in range(w.x.shape[0]):
                for a in range(w.x.shape[1]):
                    w.best[i, a] = w.x[i, a]
        if error <= RESIDUAL_SHARE:
            break
        if not (plain and factored):  # else the factor stands, and this step refines the last
            shift = mean * (DIAGONAL_SHIFT if plain else max(DIAGONAL_SHIFT, DUAL_DAMPING * error))
            while not _factorise(blocks, w.D, shift, plain, w.z, w.first, w.begin, w.L):
                shift *= SHIFT_GROWTH
            factored = plain
        for p in range(n):
            w.step[p] = w.left[p]
        substitute(n, w.first, w.begin, w.L, w.step)
        promised, value = _dot(w.left, w.step), _dual(b, w.y, w.x)
        length = 1.0
        while length >= SHORTEST_DUAL_STEP:
            for p in range(n):
                w.new[p] = w.y[p] + length * w.step[p]
            _transposed(blocks, w.new, w.z)
            plain = project(blocks, w.z, w.x, w.D)
            gain = _dual(b, w.new, w.x) - value
            # the first step leads to the plain solution of least norm
            if k == 0 or gain >= SLOPE * length * promised:
                break
            if _imbalance(blocks, b, w.x, w.left) <= ERROR_DECREASE * error * scale:
                break
            length *= 0.5
        if length < SHORTEST_DUAL_STEP:
            break
        for p in range(n):
            w.y[p] = w.new[p]
    return least


@stage
def _dot(a, b):
    total = 0.0
    for p in range(a.size):
        total += a[p] * b[p]
    return total


@stage
def _dual(b, y, x):
    """b.y - |x|^2 / 2."""
    square = 0.0
    for i in range(x.shape[0]):
        for a in range(x.shape[1]):
            square += x[i, a] * x[i, a]
    return _dot(b, y) - 0.5 * square


@stage
def _mean_square(blocks, n):
    """Mean of the diagonal of A A'."""
    total = 0.0
    for i in range(blocks.size.size):
        for s in range(2):
            if blocks.at[i, s] >= 0:
                for p in range(blocks.G.shape[2]):
                    for a in range(blocks.size[i]):
                        total += blocks.G[i, s, p, a] ** 2
    return total / n


@stage
def _imbalance(blocks, b, x, left):
    """left = b - A x; returns its length."""
    for p in range(b.size):
        left[p] = b[p]
    for i in range(blocks.size.size):
        for s in range(2):
            at = blocks.at[i, s]
            if at >= 0:
                for p in range(blocks.G.shape[2]):
                    for a in range(blocks.size[i]):
                        left[at + p] -= blocks.G[i, s, p, a] * x[i, a]
    return np.sqrt(_dot(left, left))


@stage
def _transposed(blocks, y, z):
    """z = A'y."""
    for i in range(z.shape[0]):
        for a in range(z.shape[1]):
            z[i, a] = 0.0
        for s in range(2):
            at = blocks.at[i, s]
            if at >= 0:
                for p in range(blocks.G.shape[2]):
                    for a in range(blocks.size[i]):
                        z[i, a] += blocks.G[i, s, p, a] * y[at + p]


@stage
def _factorise(blocks, D, shift, plain, z, first, begin, L):
    """L L' = A D A' + shift; False where a pivot is not positive. plain: D is the identity; z: is
    written to."""
    n, w, GD = first.size, blocks.G.shape[2], z[0]
    for k in range(begin[n]):
        L[k] = 0.0
    for i in range(blocks.size.size):
        d = blocks.size[i]
        for s in range(2):
            row = blocks.at[i, s]
            if row < 0:
                continue
            for p in range(w):
                G0 = blocks.G[i, s, p]
                for a in range(d):
                    GD[a] = G0[a] if plain else 0.0
                    if not plain:
                        for c in range(d):
                            GD[a] += G0[c] * D[i, c, a]
                for t in range(2):
                    column = blocks.at[i, t]
                    if column < 0 or column > row:
                        continue
                    at = begin[row + p] - first[row + p] + column
                    for q in range(p + 1 if column == row else w):
                        G1, total = blocks.G[i, t, q], 0.0
                        for a in range(d):
                            total += GD[a] * G1[a]
                        L[at + q] += total
    for p in range(n):
        L[begin[p + 1] - 1] += shift
    return eliminate(n, first, begin, L)


@stage
def project(blocks, z, x, D):
    """x (k, d): the nearest points of the cones, D (k, d, d): the derivative there; returns whether
    all of z lies in them."""
    plain = True
    for i in range(z.shape[0]):
        inside = project_one(z[i], blocks.size[i], blocks.mu[i], blocks.sides, x[i], D[i])
        plain = plain and inside
    return plain


@stage
def project_one(z, size, mu, sides, x, D):
    """The same for one block; returns whether z (d,) lies in its cone."""
    for a in range(z.size):
        x[a] = 0.0
        for c in range(z.size):
            D[a, c] = 0.0
    if size == 1:
        if not z[0] > 0.0:
            return False
        x[0], D[0, 0] = z[0], 1.0
        return True
    return _polyhedral(z, mu, sides, x, D) if sides > 0 else _circular(z, mu, x, D)


@stage
def _circular(z, mu, x, D):
    """|x_t| <= mu x_n."""
    d, n, square = z.size, z[0], 0.0
    for a in range(1, d):
        square += z[a] * z[a]
    size = np.sqrt(square)
    if size <= mu * n:
        for a in range(d):
            x[a], D[a, a] = z[a], 1.0
        return True
    if mu * size <= -n:
        return False
    along = (n + mu * size) / (1.0 + mu * mu)
    x[0] = along
    for a in range(1, d):
        x[a] = along * mu * z[a] / size
    for a in range(d):
        for c in range(d):
            D[a, c] = x[a] * x[c] / (along * along * (1.0 + mu * mu))
            if a > 0 and c > 0:
                across = (1.0 if a == c else 0.0) - z[a] * z[c] / square
                D[a, c] += mu * along / size * across
    return False


@stage
def _polyhedral(z, mu, sides, x, D):
    """The cone over a polygon with the corners mu d_j: the nearest point lies inside, on a facet,
    on a ray or at the tip, and the derivative projects on it."""
    x[0], x[1], x[2] = project_polyhedral(z[0], z[1], z[2], mu, sides)
    if x[0] == z[0] and x[1] == z[1] and x[2] == z[2]:
        for a in range(3):
            D[a, a] = 1.0
        return True
    if x[0] <= 0.0:
        return False
    half = np.pi / sides
    reach = np.hypot(x[1], x[2])
    if reach >= mu * x[0] * (1.0 - 1e-12):  # on a ray, which is farther out than a facet
        for a in range(3):
            for c in range(3):
                D[a, c] = x[a] * x[c] / (x[0] * x[0] * (1.0 + mu * mu))
        return False
    middle = (np.floor(np.arctan2(x[2], x[1]) / (2.0 * half)) + 0.5) * 2.0 * half
    slope = mu * np.cos(half)
    out = -slope, np.cos(middle), np.sin(middle)
    for a in range(3):
        for c in range(3):
            D[a, c] = (1.0 if a == c else 0.0) - out[a] * out[c] / (1.0 + slope * slope)
    return False
