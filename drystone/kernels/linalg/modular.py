"""Exact tests for zero: arithmetic modulo two primes, beside floating point.

A floating-point number is an integer times a power of two, so it has a residue modulo every odd
prime, and sums, products and quotients of residues are exact. A quantity that is zero has residue
zero; one that is not has residue zero modulo both primes once in 2^56 times. Signs and sizes stay
with floating point, which knows them for whatever is not zero.
"""

import math
from functools import cache

import numpy as np

from drystone.kernels._jit import kernel

PRIMES = (268435399, 268435367)  # below 2^28: sums of 64 products fit in an int64


@kernel
def power(base, exponent, p):
    """base^exponent modulo p."""
    out, base = 1, base % p
    while exponent > 0:
        if exponent & 1:
            out = out * base % p
        base = base * base % p
        exponent >>= 1
    return out


@kernel
def reciprocal(a, p):
    """1 / a modulo p; 0 for a = 0."""
    return power(a, p - 2, p)


@kernel
def dot(a, b, k, p):
    """Sum of k products of residues, modulo p."""
    total = 0
    for start in range(0, k, 64):
        for j in range(start, min(start + 64, k)):
            total += a[j] * b[j]
        total %= p
    return total


@kernel
def inverse(A, k, p, X):
    """X[:k, :k] = A[:k, :k]^-1 modulo p; False if A is singular modulo p. A is destroyed."""
    for i in range(k):
        for j in range(k):
            X[i, j] = 1 if i == j else 0
    for c in range(k):
        row = c
        while row < k and A[row, c] == 0:
            row += 1
        if row == k:
            return False
        for j in range(k):
            A[row, j], A[c, j] = A[c, j], A[row, j]
            X[row, j], X[c, j] = X[c, j], X[row, j]
        f = reciprocal(A[c, c], p)
        for j in range(k):
            A[c, j] = A[c, j] * f % p
            X[c, j] = X[c, j] * f % p
        for i in range(k):
            f = p - A[i, c]
            if i == c or f == p:
                continue
            for j in range(k):
                A[i, j] = (A[i, j] + f * A[c, j]) % p
                X[i, j] = (X[i, j] + f * X[c, j]) % p
    return True


@kernel
def border(X, k, dx, g, pivot, p):
    """K gains a column (K^-1 of it is -dx) and a row (g = it times K^-1); Schur part `pivot`.

    This and the next three update X = K^-1 modulo p as their namesakes in ``lemke`` do; where the
    pivot is zero X is lost.
    """
    f = reciprocal(pivot, p)
    for b in range(k):
        X[k, b] = (p - g[b]) * f % p
    for a in range(k):
        if dx[a] != 0:
            for b in range(k):
                X[a, b] = (X[a, b] + dx[a] * X[k, b]) % p
        X[a, k] = dx[a] * f % p
    X[k, k] = f


@kernel
def replace_column(X, k, a, dx, p):
    f = reciprocal(p - dx[a], p)
    for b in range(k):
        X[a, b] = X[a, b] * f % p
    for i in range(k):
        if i != a and dx[i] != 0:
            for b in range(k):
                X[i, b] = (X[i, b] + dx[i] * X[a, b]) % p


@kernel
def replace_row(X, k, b, g, p):
    f = reciprocal(g[b], p)
    for a in range(k):
        c = X[a, b] * f % p
        if c != 0:
            for j in range(k):
                X[a, j] = (X[a, j] + (p - c) * g[j]) % p
        X[a, b] = c


@kernel
def remove(X, k, a, b, p):
    f = reciprocal(X[a, b], p)
    for i in range(k):
        c = X[i, b] * f % p
        if i != a and c != 0:
            for j in range(k):
                X[i, j] = (X[i, j] + (p - c) * X[a, j]) % p
    last = k - 1
    for j in range(k):
        X[a, j] = X[last, j]
    for i in range(last):
        X[i, b] = X[i, last]


@kernel
def residues(values, p, powers, out):
    """Residues modulo p of the floats of an array (n, m); powers: ``powers_of_two(p)``."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = 0
            if values[i, j] != 0.0:
                mantissa, exponent = math.frexp(values[i, j])
                out[i, j] = int(mantissa * 2.0**53) % p * powers[exponent + 1100] % p


@cache
def powers_of_two(p):
    """2^(e - 53) modulo p for the exponents e = -1100 ... 1099 of floats."""
    return np.array([pow(2, e - 53, p) for e in range(-1100, 1100)], np.int64)
