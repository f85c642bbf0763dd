"""The inverse of a growing and shrinking matrix, one row and column at a time (Baraff 1994, 4).

A pivoting method solves with G = A_CC after every change of C by one index; bordering keeps the
inverse current in O(k^2). It is stored transposed, S = G^-T, with S[:k, :k] in use: then a solve
is a sum of rows of S, and so are both updates, which is what processors do fastest.

The inverse is never trusted: who solves with it also forms the product with A, sees the residual
for free, and calls `invert` when it has grown.
"""

from drystone.kernels._jit import kernel


@kernel
def solve(S, k, g, x):
    """x = G^-1 g; g, x (k,)."""
    for i in range(k):
        x[i] = 0.0
    for j in range(k):
        c = g[j]
        if c != 0.0:
            for i in range(k):
                x[i] += c * S[j, i]


@kernel
def solve_left(S, k, h, y):
    """y = h' G^-1; h, y (k,). Four sums at once: strict addition order, yet not one chain."""
    for i in range(k):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        j = 0
        while j + 3 < k:
            s0 += S[i, j] * h[j]
            s1 += S[i, j + 1] * h[j + 1]
            s2 += S[i, j + 2] * h[j + 2]
            s3 += S[i, j + 3] * h[j + 3]
            j += 4
        while j < k:
            s0 += S[i, j] * h[j]
            j += 1
        y[i] = (s0 + s1) + (s2 + s3)


@kernel
def border(S, k, u, v, sigma):
    """Add a last row h' and column g: u = G^-1 g, v' = h' G^-1, sigma = corner - h' u != 0."""
    t = 1.0 / sigma
    for j in range(k):
        c = v[j] * t
        if c != 0.0:
            for i in range(k):
                S[j, i] += c * u[i]
        S[j, k] = -c
    for i in range(k):
        S[k, i] = -t * u[i]
    S[k, k] = t


@kernel
def shrink(S, k, p):
    """Take out row and column p (S[p, p] != 0); the last ones move to their place."""
    t = 1.0 / S[p, p]
    for j in range(k):
        if j != p:
            c = S[j, p] * t
            if c != 0.0:
                for i in range(k):
                    S[j, i] -= c * S[p, i]
    last = k - 1
    if p != last:
        for i in range(k):
            S[p, i] = S[last, i]
        for j in range(last):
            S[j, p] = S[j, last]


@kernel
def invert(S, k, swaps, rtol):
    """Invert S[:k, :k] in place by Gauss-Jordan with row exchanges; swaps (k,) int64 is work.

    Returns 1, or 0 when a pivot falls below rtol times the largest entry.
    """
    largest = 0.0
    for i in range(k):
        for j in range(k):
            largest = max(largest, abs(S[i, j]))
    for c in range(k):
        p = c
        for i in range(c + 1, k):
            if abs(S[i, c]) > abs(S[p, c]):
                p = i
        swaps[c] = p
        if not abs(S[p, c]) > rtol * largest:
            return 0
        if p != c:
            for j in range(k):
                S[c, j], S[p, j] = S[p, j], S[c, j]
        t = 1.0 / S[c, c]
        S[c, c] = 1.0
        for j in range(k):
            S[c, j] *= t
        for i in range(k):
            m = S[i, c]
            if i != c and m != 0.0:
                S[i, c] = 0.0
                for j in range(k):
                    S[i, j] -= m * S[c, j]
    for c in range(k - 1, -1, -1):
        p = swaps[c]
        if p != c:
            for i in range(k):
                S[i, c], S[i, p] = S[i, p], S[i, c]
    return 1
