"""Exact tests for zero: arithmetic modulo two primes, beside floating point.

A floating-point number is an integer times a power of two, so it has a residue modulo every odd
prime, and sums, products and quotients of residues are exact. A quantity that is zero has residue
zero; one that is not has residue zero modulo both primes once in 2^50 times. Signs and sizes stay
with floating point, which knows them for whatever is not zero.

Residues are whole numbers kept as floats: below 2^53 their sums and products are exact, and unlike
the remainder of integers, that of floats is computed for several numbers at once.
"""

import math
from functools import cache

import numpy as np

from drystone.kernels._jit import stage

PRIMES = (33554393, 33554383)  # below 2^25: so many products add exactly
EXACT_PRODUCTS = 8  # products of two residues whose sum is below 2^53


@stage
def remainder(v, p, inverse):
    """v modulo p, for a whole number 0 <= v < 2^53; inverse = 1 / p."""
    r = v - np.floor(v * inverse) * p
    r = r + p if r < 0.0 else r  # the product with the inverse is rounded
    return r - p if r >= p else r


@stage
def power(base, exponent, p):
    """base^exponent modulo p."""
    out, inverse = 1.0, 1.0 / p
    base = remainder(base, p, inverse)
    while exponent > 0:
        if exponent & 1:
            out = remainder(out * base, p, inverse)
        base = remainder(base * base, p, inverse)
        exponent >>= 1
    return out


@stage
def reciprocal(a, p):
    """1 / a modulo p; 0 for a = 0."""
    return power(a, int(p) - 2, p)


@stage
def dot(a, b, k, p):
    """Sum of k products of residues, modulo p."""
    total, inverse = 0.0, 1.0 / p
    for start in range(
        0, k, 3 * EXACT_PRODUCTS
    ):  # in four strands, none of more than EXACT_PRODUCTS products
        end = min(start + 3 * EXACT_PRODUCTS, k)
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(start, end - 3, 4):
            s0 += a[j] * b[j]
            s1 += a[j + 1] * b[j + 1]
            s2 += a[j + 2] * b[j + 2]
            s3 += a[j + 3] * b[j + 3]
        for j in range(end - (end - start) % 4, end):
            s0 += a[j] * b[j]
        total += remainder(s0, p, inverse) + remainder(s1, p, inverse)
        total += remainder(s2, p, inverse) + remainder(s3, p, inverse)
    return remainder(total, p, inverse)


@stage
def add(y, f, x, k, p):
    """y = y + f x modulo p, the first k numbers of each."""
    inverse = 1.0 / p
    for j in range(k):
        y[j] = remainder(y[j] + f * x[j], p, inverse)


@stage
def scale(y, f, k, p):
    """y = f y modulo p, the first k numbers."""
    inverse = 1.0 / p
    for j in range(k):
        y[j] = remainder(f * y[j], p, inverse)


@stage
def invert(A, k, p, X):
    """X[:k, :k] = A[:k, :k]^-1 modulo p; False if A is singular modulo p. A is destroyed."""
    for i in range(k):
        for j in range(k):
            X[i, j] = 1.0 if i == j else 0.0
    for c in range(k):
        row = c
        while row < k and A[row, c] == 0.0:
            row += 1
        if row == k:
            return False
        for j in range(k):
            A[row, j], A[c, j] = A[c, j], A[row, j]
            X[row, j], X[c, j] = X[c, j], X[row, j]
        f = reciprocal(A[c, c], p)
        scale(A[c], f, k, p)
        scale(X[c], f, k, p)
        for i in range(k):
            f = p - A[i, c]
            if i != c and f != p:
                add(A[i], f, A[c], k, p)
                add(X[i], f, X[c], k, p)
    return True


@stage
def border(X, k, dx, g, pivot, p):
    """K gains a column (K^-1 of it is -dx) and a row (g = it times K^-1); Schur part `pivot`.

    This and the next three update X = K^-1 modulo p as their namesakes in ``lemke`` do; where the
    pivot is zero X is lost.
    """
    f, inverse = reciprocal(pivot, p), 1.0 / p
    for b in range(k):
        X[k, b] = remainder((p - g[b]) * f, p, inverse)
    for a in range(k):
        if dx[a] != 0.0:
            add(X[a], dx[a], X[k], k, p)
        X[a, k] = remainder(dx[a] * f, p, inverse)
    X[k, k] = f


@stage
def replace_column(X, k, a, dx, p):
    scale(X[a], reciprocal(p - dx[a], p), k, p)
    for i in range(k):
        if i != a and dx[i] != 0.0:
            add(X[i], dx[i], X[a], k, p)


@stage
def replace_row(X, k, b, g, p):
    f, inverse = reciprocal(g[b], p), 1.0 / p
    for a in range(k):
        c = remainder(X[a, b] * f, p, inverse)
        if c != 0.0:
            add(X[a], p - c, g, k, p)
        X[a, b] = c


@stage
def remove(X, k, a, b, p):
    f, inverse = reciprocal(X[a, b], p), 1.0 / p
    for i in range(k):
        c = remainder(X[i, b] * f, p, inverse)
        if i != a and c != 0.0:
            add(X[i], p - c, X[a], k, p)
    last = k - 1
    for j in range(k):
        X[a, j] = X[last, j]
    for i in range(last):
        X[i, b] = X[i, last]


@stage
def residues(values, p, powers, out):
    """Residues modulo p of the floats of an array (n, m); powers: ``powers_of_two(p)``."""
    inverse = 1.0 / p
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = 0.0
            if values[i, j] != 0.0:
                mantissa, exponent = math.frexp(values[i, j])
                size = remainder(abs(mantissa) * 2.0**53, p, inverse)
                size = remainder(size * powers[exponent + 1100], p, inverse)
                out[i, j] = size if mantissa > 0.0 or size == 0.0 else p - size


@cache
def powers_of_two(p):
    """2^(e - 53) modulo p for the exponents e = -1100 ... 1099 of floats."""
    return np.array([pow(2, e - 53, p) for e in range(-1100, 1100)], float)
