"""How every kernel of this family writes a contact: one place for the sign conventions.

Counts of contacts begin as ``np.int64(0)``: a literal 0 would compile all they are passed to
once more, for that literal.
"""

from drystone.kernels._jit import kernel


@kernel
def put(k, i, px, py, pz, nx, ny, nz, g, f, which, point, normal, gap, feature):
    """Contact k of row i: (px, py, pz) on the surface of A, normal from B to A, gap g. -> k + 1.

    The point that is kept lies halfway between the surfaces, half a gap from A against n.
    """
    which[k] = i
    point[k, 0] = px - 0.5 * g * nx
    point[k, 1] = py - 0.5 * g * ny
    point[k, 2] = pz - 0.5 * g * nz
    normal[k, 0] = nx
    normal[k, 1] = ny
    normal[k, 2] = nz
    gap[k] = g
    feature[k] = f
    return k + 1


@kernel
def put_ball(k, i, c, r, nx, ny, nz, g, f, which, point, normal, gap, feature):
    """The same for A a ball of radius r about c (3,)."""
    s = r + 0.5 * g
    which[k] = i
    point[k, 0] = c[0] - s * nx
    point[k, 1] = c[1] - s * ny
    point[k, 2] = c[2] - s * nz
    normal[k, 0] = nx
    normal[k, 1] = ny
    normal[k, 2] = nz
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
