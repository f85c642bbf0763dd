"""Newton's steps on the islands that sweeps left, contacts and joints together."""

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import block_product
from drystone.kernels.cones.newton import PLAIN, REGULARISATION, Goal, newton_steps
from drystone.kernels.cones.problem import FrictionBlocks
from drystone.kernels.contact.energy_gap import gap_of_blocks
from drystone.kernels.contact.residual import contact_residuals
from drystone.kernels.delassus import delassus
from drystone.kernels.step import codes
from drystone.kernels.step.joint_laws import push
from drystone.kernels.step.policy import gap_holds


@kernel
def newton_planar(s, scan, j):
    """Islands that are planned for it; NEWTON if one of them asks for more."""
    return _planned((0, 0), s, j)


@kernel
def newton_spatial(s, scan, j):
    """The same in space."""
    return _planned((0, 0, 0), s, j)


@kernel
def newton_finger(s, scan, j):
    """The same with the spin of soft fingers."""
    return _planned((0, 0, 0, 0), s, j)


@kernel
def _planned(shape, s, j):
    code, tried = codes.GO_ON, False
    for k in range(s.islands):
        if s.plan[k] == codes.LARGE_NEWTON:
            code = codes.NEWTON
        if s.plan[k] != codes.SMALL_NEWTON:
            continue
        tried = True
        if not _island(shape, s, j, k):
            code = codes.NEWTON
            continue
        s.plan[k] = codes.SWEEP  # if it is not within its tolerance
        if not (s.tight or s.jointed[k]):
            s.tight_steps = 2
    if tried:
        s.methods |= 2
        push(s)
    return code


@kernel
def _island(shape, s, j, k):
    """Newton on island k, its answer adopted if it is better; False if it does not arrive."""
    lo, hi = s.start[k], s.start[k + 1]
    q, mu, unit, law = s.q[lo:hi], s.mu[lo:hi], j.unit[lo:hi], s.law
    indptr, indices, W = delassus(shape, lo, hi, s.body, s.moves, s.J, s.P, s.root)
    _soften(indptr, indices, j.soft[lo:hi], W)
    r, best, u = j.x[lo:hi], j.best[lo:hi], s.u[lo:hi]
    for i in range(lo, hi):
        for a in range(len(shape)):
            j.x[i, a] = s.r[i, a]
    tol, extra = s.policy.closer * s.tol, s.policy.polish_steps
    problem = FrictionBlocks(indptr, indices, W, q, mu, unit, law)
    goal = Goal(
        tol,
        s.policy.polish * tol,
        extra,
        PLAIN,
        0.0,
        0.0,
        REGULARISATION,
        True,
        s.policy.newton_room,
    )
    ended, steps, _, _ = newton_steps(shape, problem, goal, r, best, np.empty(PLAIN + extra))
    if ended != status.SOLVED:
        return False
    s.iterations += steps
    block_product(shape, indptr, indices, W, best, q, u)
    plain, free = contact_residuals(shape, best, u, q, mu, unit, law)
    gap = gap_of_blocks(best, u, q, mu, unit, law, None)
    if max(plain, free) < max(s.residual[k, 0], s.residual[k, 1]) or gap < s.energy_gap[k]:
        s.residual[k, 0], s.residual[k, 1], s.energy_gap[k] = plain, free, gap
        for i in range(lo, hi):
            for a in range(len(shape)):
                s.r[i, a] = j.best[i, a]
    return gap_holds(s, k)


@stage
def _soften(indptr, indices, soft, W):
    """Compliances of joints onto the diagonal."""
    for i in range(soft.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] == i:
                for a in range(soft.shape[1]):
                    W[e, a, a] += soft[i, a]
