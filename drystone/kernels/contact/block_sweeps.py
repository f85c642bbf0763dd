"""Sweeps over blocks of rows J and P, contacts and joints, of any law: Gauss-Seidel on body
velocities. ``packed_spatial`` and ``packed_planar`` do the same for contacts alone in a third of
the time."""

from drystone.kernels._jit import kernel
from drystone.kernels.contact.extrapolation import step_beyond
from drystone.kernels.contact.one_contact import solve_contact
from drystone.kernels.contact.residual import contact_residuals


@kernel
def sweep_blocks(blocks, corners, done, beta):
    """One pass over an island of blocks, each solved exactly with the others fixed, after `done`
    passes; returns the sum of |change|^2 unit^2. corners (k, 2): of polyhedral cones, or None."""
    s, k, r_old, v_old = blocks.s, blocks.k, blocks.r_old, blocks.v_old
    shape, soft, unit, work = blocks.shape, blocks.soft, blocks.unit, blocks.work
    body, J, P, D, bias, v, r, lam = s.body, s.J, s.P, s.D, s.bias, s.v, s.r, s.lam
    d, dof = len(shape), 3 if len(shape) == 2 else 6  # constants for the compiler
    lo, hi, local, old = s.start[k], s.start[k + 1], work[d + 2], work[d + 3]
    for i in range(lo, hi):
        step_beyond(r[i], r_old[i], beta, done)
    for b in blocks.mine:
        step_beyond(v[b], v_old[b], beta, done)
    size = 0.0
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(d):
            total = bias[i, c] + soft[i, c] * r[i, c]
            for e in range(dof):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            for f in range(d):
                total -= D[i, c, f] * r[i, f]
            local[c] = total
            old[c] = r[i, c]
        lam[i] = solve_contact(shape, D, i, local, s.mu[i], s.law, lam[i], work, r, i, corners)
        for c in range(d):
            step = r[i, c] - old[c]
            size += (step * unit[i]) ** 2
            if step != 0.0:
                for e in range(dof):
                    v[a, e] += P[i, c, 0, e] * step
                    v[b, e] += P[i, c, 1, e] * step
    return size


@kernel
def judge_blocks(blocks, corners):
    """Both residuals of an island of blocks; s.u gets their velocities J v + bias + soft r."""
    s, k, shape, soft = blocks.s, blocks.k, blocks.shape, blocks.soft
    body, J, bias, v, r, u = s.body, s.J, s.bias, s.v, s.r, s.u
    lo, hi, dof = s.start[k], s.start[k + 1], 3 if len(shape) == 2 else 6
    for i in range(lo, hi):
        a, b = body[i, 0], body[i, 1]
        for c in range(len(shape)):
            total = bias[i, c] + soft[i, c] * r[i, c]
            for e in range(dof):
                total += J[i, c, 0, e] * v[a, e] + J[i, c, 1, e] * v[b, e]
            u[i, c] = total
    q, mu, unit = s.q[lo:hi], s.mu[lo:hi], blocks.unit[lo:hi]
    return contact_residuals(shape, r[lo:hi], u[lo:hi], q, mu, unit, s.law, corners)
