"""The linear step about an arrival: rows of the end of the step, their answers, bias and free
velocities; see ``steppers.time_stepping.closing``."""

from drystone.kernels import joint_stiffness as kernels
from drystone.kernels._jit import kernel, stage
from drystone.kernels.rows import add_impulses
from drystone.kernels.step import codes
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.joint_soft import scale_of
from drystone.kernels.step.joint_spare import quiet, restore, silence


@kernel
def rows(s, scan, j):
    """Rows of the start of the step or of its end, and how v' answers to their impulses."""
    n, dim, stiff = s.rows, s.position.shape[1], j.is_stiff != 0
    ahead = j.goal == codes.END and j.large_excess == 0 and j.takes_end
    restore(j)
    if ahead and s.drifts:
        _turn(s.h, j.row_body, j.at_v, j.at_J)
    for _ in range(2):
        copy_all(j.J0[:n], s.J[:n])
        copy_all(j.P0[:n], s.P[:n])
        copy_all(j.D0[:n], s.D[:n])
        copy_all(j.J0[:n], j.right[:n])
        if ahead:
            _scatter(j.place, j.block_flip, j.block_row, j.at_J, s.J)
            if stiff:
                _subtract(j.at_v, s.v0, j.change)
                levers = kernels.Levers(j.body, j.arms, j.gap, j.first_row, j.row_code, j.tie)
                softened = kernels.Softened(j.axes, j.values, j.bend, j.stiff)
                kernels.mean_rows(levers, j.impulse, scale_of(s), softened, j.change, j.mean)
                _scatter(j.place, j.block_flip, j.block_row, j.mean, j.right)
        if ahead or stiff:
            kernels.soft_responses(
                dim, s.body[:n], s.J[:n], j.soft[:n], j.inverse, j.stiff, j.right[:n], s.P[:n],
                s.D[:n],
            )  # fmt: skip
        if j.goal != codes.SETTLE_JOINTS:
            silence(s, j)
        if not ahead or _positive(s.D[:n]):
            break
        ahead = False  # a joint turned so far that its impulses would open it
    return codes.GO_ON


@kernel
def aim(s, scan, j):
    """Bias and free velocities of the next solve, or as they are left when joints are closed."""
    n, what = s.rows, j.goal
    if what != codes.SETTLE_JOINTS:  # whether it can be solved does not depend on the round before
        s.failed, s.status = -1, 0
    if what == codes.END:
        _expand(s, j, n)
        return codes.GO_ON
    copy_all(j.free, s.v_free)
    if j.is_stiff:
        _subtract(s.v0, s.v0, j.push)
        kernels.soft_kick(
            s.position.shape[1], s.mass, j.inertia, j.inverse, j.stiff, s.v0, j.free, j.push,
            s.v_free,
        )  # fmt: skip
    if what == codes.START:
        return codes.GO_ON
    copy_all(j.at_v, s.v)
    j.softening = 0.0
    if j.is_stiff:
        work = kernels.softening_work(s.position.shape[1], j.S, j.stiff, s.v0, s.v)
        j.softening = work
    _settle(s, j, n)
    s.next_stage = j.least_stage
    return codes.AGAIN


@stage
def _subtract(a, b, out):
    """out = a - b (nb, dof)."""
    for i in range(out.shape[0]):
        for e in range(out.shape[1]):
            out[i, e] = a[i, e] - b[i, e]


@stage
def _turn(h, body, v, J):
    """J as rows of changes of the velocity during the step: in space exp(h (w + dw)) is not
    exp(h dw) exp(h w), dw counts by 1 + [h w]/2 + [h w]^2/6 + ..."""
    if J.shape[2] == 3:
        return
    for r in range(body.shape[0]):
        for side in range(2):
            b = body[r, side]
            if b < 0:
                continue
            x, y, z = h * v[b, 3], h * v[b, 4], h * v[b, 5]
            t0, t1, t2 = J[r, side, 3], J[r, side, 4], J[r, side, 5]
            a0, a1, a2 = t1 * z - t2 * y, t2 * x - t0 * z, t0 * y - t1 * x
            J[r, side, 3] = t0 + 0.5 * a0 + (a1 * z - a2 * y) / 6.0
            J[r, side, 4] = t1 + 0.5 * a1 + (a2 * x - a0 * z) / 6.0
            J[r, side, 5] = t2 + 0.5 * a2 + (a0 * y - a1 * x) / 6.0


@stage
def _scatter(place, flips, rows, values, into):
    """Rows of joints (nr, 2, dof) to their places in blocks."""
    for b in range(rows.shape[0]):
        i, flip = place[b], flips[b]
        for a in range(rows.shape[1] if i >= 0 else 0):
            r = rows[b, a]
            if r >= 0:
                for side in range(2):
                    for e in range(values.shape[2]):
                        into[i, a, side, e] = values[r, side ^ flip, e]


@stage
def _positive(D):
    for i in range(D.shape[0]):
        for a in range(D.shape[1]):
            if not D[i, a, a] > 0.0:
                return False
    return True


@stage
def _expand(s, j, n):
    """Bias and free velocities of the step that is linear about an arrival."""
    h, bias, error = s.h, s.bias, j.at_error
    for b in range(j.block_row.shape[0]):
        i = j.place[b]
        for a in range(bias.shape[1] if i >= 0 else 0):
            r = j.block_row[b, a]
            if r >= 0:
                bias[i, a] = error[r] / h - speed(i, a, s.body, s.J, j.at_v)
    quiet(s, j)
    copy_all(j.at_v, s.v_free)
    for i in range(n):
        for a in range(bias.shape[1]):
            s.w[i, a] = -s.r[i, a]
    add_impulses(s.body[:n], s.P[:n], s.w[:n], s.v_free)


@stage
def speed(i, a, body, J, v):
    """J v of row a of block i."""
    total = 0.0
    for side in range(2):
        b = body[i, side]
        for e in range(v.shape[1]):
            total += J[i, a, side, e] * v[b, e]
    return total


@stage
def _settle(s, j, n):
    """The problem that r solves with the rows of the start and the loaded S."""
    body, J, bias = s.body, s.J, s.bias
    for i in range(n):
        block = j.joint[i]
        for a in range(bias.shape[1]):
            now = speed(i, a, body, J, s.v)
            if block >= 0 and j.block_row[block, a] >= 0:
                bias[i, a] = -now
            s.q[i, a] = speed(i, a, body, J, s.v_free) + bias[i, a]
            s.u[i, a] = now + bias[i, a] + j.soft[i, a] * s.r[i, a]
