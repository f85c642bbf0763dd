"""Changes of frame, and how every kernel writes a contact: one place for the sign conventions.

Counts of contacts begin as ``np.int64(0)``: a literal 0 would compile all they are passed to
once more, for that literal.
"""

from drystone.kernels._jit import kernel
from drystone.kernels.pairs import FoundContacts


@kernel
def put(contacts: FoundContacts, k, i, p, n, g, f):
    """Contact k of row i: p (3 numbers) on the surface of A, normal n (3 numbers) from B to A,
    gap g, feature f. -> k + 1.

    The point that is kept lies halfway between the surfaces, half a gap from A against n.
    """
    which, point, normal, gap, feature = contacts
    which[k] = i
    point[k, 0] = p[0] - 0.5 * g * n[0]
    point[k, 1] = p[1] - 0.5 * g * n[1]
    point[k, 2] = p[2] - 0.5 * g * n[2]
    normal[k, 0] = n[0]
    normal[k, 1] = n[1]
    normal[k, 2] = n[2]
    gap[k] = g
    feature[k] = f
    return k + 1


@kernel
def put_ball(contacts: FoundContacts, k, i, c, r, n, g, f):
    """The same for A a ball of radius r about c (3,)."""
    which, point, normal, gap, feature = contacts
    s = r + 0.5 * g
    which[k] = i
    point[k, 0] = c[0] - s * n[0]
    point[k, 1] = c[1] - s * n[1]
    point[k, 2] = c[2] - s * n[2]
    normal[k, 0] = n[0]
    normal[k, 1] = n[1]
    normal[k, 2] = n[2]
    gap[k] = g
    feature[k] = f
    return k + 1


@kernel
def local(x, R, c):
    """Coordinates of world point c (3,) in the frame x (3,), R (3, 3)."""
    dx, dy, dz = c[0] - x[0], c[1] - x[1], c[2] - x[2]
    return (
        R[0, 0] * dx + R[1, 0] * dy + R[2, 0] * dz,
        R[0, 1] * dx + R[1, 1] * dy + R[2, 1] * dz,
        R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz,
    )


@kernel
def turned(R, u, v, w):
    """World components of a vector with components (u, v, w) in the frame R (3, 3)."""
    return (
        R[0, 0] * u + R[0, 1] * v + R[0, 2] * w,
        R[1, 0] * u + R[1, 1] * v + R[1, 2] * w,
        R[2, 0] * u + R[2, 1] * v + R[2, 2] * w,
    )


@kernel
def tangents(n, T):
    """Two unit vectors T (2, 3) across n, right-handed with it."""
    s = 1.0 if n[2] >= 0.0 else -1.0
    a = -1.0 / (s + n[2])
    b = n[0] * n[1] * a
    T[0, 0], T[0, 1], T[0, 2] = 1.0 + s * n[0] * n[0] * a, s * b, -s * n[0]
    T[1, 0], T[1, 1], T[1, 2] = b, s + n[1] * n[1] * a, -n[1]
