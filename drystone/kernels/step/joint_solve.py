"""Blocks without a law: W r = -q, by sparse factors of W in an order that was found once.

Where joints close loops W may be singular: the factors are those of W with a little added to its
diagonal, and what that adds is taken back by refinement, as in ``kernels.newton``.
"""

import numpy as np

from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import ratio
from drystone.kernels.linalg.block_lu import factorise, substitute
from drystone.kernels.rows import add_impulses, row_velocities
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all

SHIFT = 1e-9  # of a block's own response
MOST = 12  # refinements
SLOW = 1e-3  # of a residual, that a refinement may leave: else loops are at a dead point, or taut
ROUNDING = 1e-15  # of the greatest term of rows, that their sums may be off
LIMIT = 1e12  # impulses that are so many times the velocities prove nothing


@stage
def assemble(s, scan, j):
    """q; W with a little on its diagonal into the panels, or AGAIN with laws if there are any."""
    n = s.rows
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v_free, s.q[:n])
    if n == 0:  # all that joints hold sleeps
        copy_all(s.v_free, s.v)
        s.next_stage = j.load_stage
        return codes.AGAIN
    if j.lawful or not j.factored:
        s.next_stage = j.laws_stage
        return codes.AGAIN
    if not _known(j, n):
        return codes.PATTERN
    for k in range(j.buffer.size):
        j.buffer[k] = 0.0
    fill(n, s.moves, s, j)
    return codes.GO_ON


@stage
def _known(j, n):
    """Whether the pattern of W is that of these blocks."""
    same = j.pattern == n
    for i in range(n if same else 0):
        same = same and j.patterned[i] == j.joint[i]
    return same


@stage
def fill(n, moves, rows, panels):
    """J P + soft and a little on its diagonal into the panels; rows: n blocks with body, J, P;
    panels: their compliances and scales, and where blocks of W lie in the buffer."""
    body, J, P, soft, unit = rows.body, rows.J, rows.P, panels.soft, panels.unit
    indptr, indices, buffer = panels.indptr, panels.indices, panels.buffer
    offset, stride = panels.offset, panels.stride
    d, dof = J.shape[1], J.shape[3]
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            m, at, step = indices[k], offset[k], stride[k]
            for x in range(2):
                b = body[i, x]
                for y in range(2):
                    if body[m, y] != b or not moves[b]:
                        continue
                    for a in range(d):
                        for c in range(d):
                            total = 0.0
                            for e in range(dof):
                                total += J[i, a, x, e] * P[m, c, y, e]
                            buffer[at + a * step + c] += total
            if m == i:
                for a in range(d):
                    buffer[at + a * step + a] += soft[i, a] + SHIFT * unit[i] ** 2


@kernel
def factor_planar(s, scan, j):
    """The factors; PYTHON if there are none."""
    return _factor((0, 0), j)


@kernel
def factor_spatial(s, scan, j):
    """The same in space."""
    return _factor((0, 0, 0), j)


@kernel
def factor_finger(s, scan, j):
    """The same beside soft fingers."""
    return _factor((0, 0, 0, 0), j)


@kernel
def _factor(shape, j):
    fine = factorise(
        shape, j.panels[0], j.node, j.first, j.below, j.rows, j.lower, j.upper, j.buffer
    )
    return codes.GO_ON if fine else codes.CLOSE_JOINTS


@kernel
def back_planar(s, scan, j):
    """x = W^-1 x by the factors."""
    return _back((0, 0), s, j)


@kernel
def back_spatial(s, scan, j):
    """The same in space."""
    return _back((0, 0, 0), s, j)


@kernel
def back_finger(s, scan, j):
    """The same beside soft fingers."""
    return _back((0, 0, 0, 0), s, j)


@kernel
def _back(shape, s, j):
    n = s.rows
    substitute(shape, j.panels[0], j.first, j.below, j.rows, j.lower, j.upper, j.buffer, j.x[:n])
    s.next_stage = j.refine_stage
    return codes.AGAIN


@stage
def refine(s, scan, j):
    """Residuals of r; AGAIN by way of the factors, until they are small; CLOSE if they are not."""
    n, d, k = s.rows, s.r.shape[1], j.refined
    if k > 0:
        for i in range(n):
            for a in range(d):
                s.r[i, a] += j.x[j.order[i], a]
    tol, before = s.policy.closer * s.tol, j.before
    worst = _judge(s, j, n)
    s.iterations += 1
    done = worst <= tol and (j.extra == s.policy.polish_steps or worst > 0.5 * before)
    if worst > tol and k > 0 and worst > 0.5 * before and _rounded(s):
        done = True
    if done or worst <= s.policy.polish * tol:
        s.methods |= 2
        j.refined = j.extra = 0
        j.before = np.inf
        s.next_stage = j.load_stage
        return codes.AGAIN
    slow = k > 1 and worst > max(SLOW * before, tol) and not j.is_tree
    if slow or not worst < np.inf or k == MOST:
        j.refined = j.extra = 0
        j.before = np.inf
        return codes.CLOSE_JOINTS
    j.extra += worst <= tol
    j.refined += 1
    j.before = worst
    for i in range(n):
        for a in range(d):
            j.x[j.order[i], a] = -s.u[i, a]
    return codes.GO_ON


@stage
def _rounded(s):
    """Whether u of each island is zero up to rounding of what is added in its rows, as where bodies
    fall and joints have nothing to bear; it then counts as zero."""
    for k in range(s.islands):
        size, worst = 0.0, 0.0
        for i in range(s.start[k], s.start[k + 1]):
            for a in range(s.u.shape[1]):
                worst = max(worst, abs(s.u[i, a]))
                for side in range(2):
                    b = s.body[i, side]
                    for e in range(s.v.shape[1]):
                        size = max(size, abs(s.J[i, a, side, e] * s.v[b, e]))
        if not worst <= ROUNDING * size:
            return False
    for k in range(s.islands):
        s.residual[k, 0] = s.residual[k, 1] = 0.0
    return True


@stage
def _judge(s, j, n):
    """v and u of the impulses; residuals of islands, and the worst of them."""
    copy_all(s.v_free, s.v)
    add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v, s.u[:n])
    worst = 0.0
    for k in range(s.islands):
        one, other = _residuals(
            s.start[k], s.start[k + 1], s.u, s.q, s.r, j.soft, j.unit, s.residual[k]
        )
        worst = max(worst, one, other)
    return worst


@stage
def _residuals(lo, hi, u, q, r, soft, unit, out):
    """As measured, and unit-free; inf where impulses prove nothing. Completes u by soft r."""
    uu, qq, rr, vv, pp, ss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(lo, hi):
        t = unit[i] ** 2
        for a in range(u.shape[1]):
            u[i, a] += soft[i, a] * r[i, a]
            x, y, z = u[i, a] ** 2, q[i, a] ** 2, r[i, a] ** 2
            uu, qq, rr = uu + x, qq + y, rr + z
            vv, pp, ss = vv + x / t, pp + y / t, ss + z * t
    out[0], out[1] = ratio(uu, max(uu, qq, rr)), ratio(vv, max(vv, pp, ss))
    if not np.isfinite(vv + ss) or (pp > 0.0 and ss > LIMIT**2 * pp):
        return np.inf, np.inf
    return out[0], out[1]
