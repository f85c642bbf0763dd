"""The LCP of planar friction without detours: microseconds for a few contacts.

The same statement as ``problems.convert.to_lcp``, contact by contact: (c_n, beta+, beta-, lambda)
where friction is unknown, c_n alone where the contact slides or has no friction, then the
bilateral rows.
"""

from drystone.kernels._jit import kernel


@kernel
def planar_size(mu, slip, bilateral):
    """Rows of the LCP; slip (nc,): sign of the known slip, or 0."""
    n = bilateral
    for i in range(mu.size):
        n += 4 if mu[i] > 0.0 and slip[i] == 0.0 else 1
    return n


@kernel
def planar_pyramid(W, q, mu, slip, convex, row, side, along, M, p):
    """Fill M (n, n) and p (n,). Scratch that describes z, r = R z, kept for ``planar_value``:

    row (n,) int64: row of W, -1 for lambda; side (n,): its sign; along (n,): factor of the next
    row's column (friction of a sliding contact).
    """
    n = p.size
    nc = mu.size
    at = 0
    for i in range(nc):
        row[at], side[at], along[at] = 2 * i, 1.0, -mu[i] * slip[i]
        at += 1
        if mu[i] > 0.0 and slip[i] == 0.0:
            row[at], side[at], along[at] = 2 * i + 1, 1.0, 0.0
            row[at + 1], side[at + 1], along[at + 1] = 2 * i + 1, -1.0, 0.0
            row[at + 2], side[at + 2], along[at + 2] = -1, 0.0, 0.0
            at += 3
    for i in range(2 * nc, q.size):
        row[at], side[at], along[at] = i, 1.0, 0.0
        at += 1
    for a in range(n):
        i = row[a]
        p[a] = side[a] * q[i] if i >= 0 else 0.0
        for b in range(n):
            j = row[b]
            M[a, b] = 0.0
            if i >= 0 and j >= 0:
                M[a, b] = side[a] * side[b] * W[i, j]
                if along[b] != 0.0:
                    M[a, b] += side[a] * along[b] * W[i, j + 1]
    for a in range(n):
        if row[a] < 0:
            M[a - 2, a] = M[a - 1, a] = 1.0
            M[a, a - 2] = M[a, a - 1] = -1.0
            contact = row[a - 1] // 2
            M[a, a - 3] = mu[contact]
            if convex:
                M[a - 3, a] = -mu[contact]


@kernel
def planar_value(z, row, side, along, r):
    """r = R z."""
    for i in range(r.size):
        r[i] = 0.0
    for a in range(z.size):
        if row[a] >= 0:
            r[row[a]] += side[a] * z[a]
            if along[a] != 0.0:
                r[row[a] + 1] += along[a] * z[a]
