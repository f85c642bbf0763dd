"""The contacts of a step as people read them: in world axes, what holds and what slides."""

from drystone.kernels._jit import stage
from drystone.kernels.step import names as the


@stage
def note_contacts(s, at, whole, real):
    """The contacts of the last step into rows at:at + n of whole (m, 5) and real (m, 4 dim + 3);
    returns n. Blocks of joints, which have no geoms, are left out.

    Velocities are those of the step's end with the points of its start; columns are in ``names``.
    """
    dim, k, stretched, n = s.point.shape[1], 0, s.anisotropic[0], 0
    for i in range(s.count[the.ROWS]):
        while i >= s.start[k + 1]:
            k += 1
        if s.geom_a[i] < 0:
            continue
        row, out = whole[at + n], real[at + n]
        n += 1
        row[the.BODY_A], row[the.BODY_B] = s.body[i, 0], s.body[i, 1]
        row[the.ISLAND], row[the.FEATURE], row[the.STATE] = k, s.feature[i], the.OPEN
        if s.r[i, 0] > 0.0:
            row[the.STATE] = the.SLIPS if s.slid[i] else the.STICKS
        for c in range(dim):
            out[c], out[dim + c] = s.point[i, c], s.normal[i, c]
            out[2 * dim + 1 + c] = s.old_impulse[i, c]
            out[3 * dim + 1 + c] = 0.0
        out[2 * dim], out[4 * dim + 1], out[4 * dim + 2] = s.gap[i], s.mu[i], s.old_spin[i]
        for a in range(dim):
            speed = s.u[i, a] - s.bias[i, a]
            if stretched:  # rows of elliptic cones are
                square = 0.0
                for c in range(dim):
                    square += s.frame[i, a, c] ** 2
                speed /= square
            for c in range(dim):
                out[3 * dim + 1 + c] += speed * s.frame[i, a, c]
    return n
