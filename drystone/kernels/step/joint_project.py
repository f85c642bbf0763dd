"""Joints brought back to C = 0 after a step: the smallest move in the metric of the mass.

J dq = -C with dq = M^-1 J' x, as in Anitescu et al. 1998, 2.5. A step leaves errors of order h^2;
one or two rounds take them to rounding. Where rows depend on each other W = J M^-1 J' is singular:
its factors are those of W with a little on its diagonal, which leaves dq the smallest move that
fulfils what can be fulfilled, whatever rows contradict each other.
"""

import numpy as np

from drystone.kernels import rigid
from drystone.kernels._jit import kernel, stage
from drystone.kernels.linalg.block_lu import factorise, substitute
from drystone.kernels.rows import add_impulses, responses, row_velocities
from drystone.kernels.step import codes
from drystone.kernels.step.joint_close import CLOSED_JOINT
from drystone.kernels.step.joint_places import places
from drystone.kernels.step.joint_solve import fill

MOVES = 4  # moves of a step
REFINED = 2  # corrections of what the factors are off


@kernel
def project_planar(s, scan, j):
    """Move bodies until all joints are closed or no round helps."""
    best = np.inf
    for _ in range(MOVES if s.drifts else 0):
        if not _open(j, best):
            break
        best = j.opening
        if not _moves((0, 0), s, j, s.inverse):
            break
        rigid.drift_planar(j.change, 1.0, j.at_position, j.at_orientation)
        places(s, scan, j)
    _open(j, np.inf)
    return codes.GO_ON


@kernel
def project_spatial(s, scan, j):
    """The same in space."""
    return _project((0, 0, 0), s, scan, j)


@kernel
def project_finger(s, scan, j):
    """The same beside soft fingers."""
    return _project((0, 0, 0, 0), s, scan, j)


@kernel
def _project(shape, s, scan, j):
    best = np.inf
    for _ in range(MOVES if s.drifts else 0):
        if not _open(j, best):
            break
        best = j.opening
        rigid.to_world(s.own_inverse, j.at_orientation, j.projection.inverse)
        for b in range(s.asleep.size):
            if s.asleep[b]:
                j.projection.inverse[b] = 0.0
        if not _moves(shape, s, j, j.projection.inverse):
            break
        rigid.drift_spatial(
            s.own_inertia, s.own_inverse, False, j.change, 1.0, j.at_position, j.at_orientation
        )
        places(s, scan, j)
    _open(j, np.inf)
    return codes.GO_ON


@stage
def _open(j, best):
    """The greatest opening, and whether a move is worth it."""
    worst = 0.0
    for r in range(j.at_error.size):
        if not abs(j.at_error[r]) <= worst:
            worst = abs(j.at_error[r])
    j.opening = worst
    return worst > CLOSED_JOINT and worst <= 0.5 * best


@kernel
def _moves(shape, s, j, inverse):
    """j.change: the move; False if there are no factors."""
    p, dq, d = j.projection, j.change, len(shape)
    _ties(s, j, inverse)
    for k in range(p.buffer.size):
        p.buffer[k] = 0.0
    fill(p.body.shape[0], s.moves, p, p)
    if not factorise(
        shape, p.panels[0], p.node, p.first, p.below, p.rows, p.lower, p.upper, p.buffer
    ):
        return False
    for b in range(dq.shape[0]):
        for e in range(dq.shape[1]):
            dq[b, e] = 0.0
    for _ in range(1 + REFINED):
        row_velocities(p.body, p.J, p.error, dq, p.left)
        for i in range(p.left.shape[0]):
            for a in range(d):
                p.x[p.order[i], a] = -p.left[i, a]
        substitute(shape, p.panels[0], p.first, p.below, p.rows, p.lower, p.upper, p.buffer, p.x)
        for i in range(p.left.shape[0]):
            for a in range(d):
                p.left[i, a] = p.x[p.order[i], a]
        add_impulses(p.body, p.P, p.left, dq)
    return True


@stage
def _ties(s, j, inverse):
    """Rows C = 0 where bodies are now, what they move, and how open they are."""
    p = j.projection
    for i in range(p.block.size):
        b = p.block[i]
        for a in range(p.error.shape[1]):
            row = j.block_row[b, a]
            p.error[i, a] = j.at_error[row] if row >= 0 else 0.0
            p.soft[i, a] = 0.0
            for side in range(2):
                for e in range(p.J.shape[3]):
                    p.J[i, a, side, e] = j.at_J[row, side ^ j.block_flip[b], e] if row >= 0 else 0.0
    responses(s.inverse_mass, inverse, p.body, p.J, p.soft, p.P, p.D)
    for i in range(p.block.size):
        size = 0.0
        for a in range(p.error.shape[1]):
            size += p.D[i, a, a]
        size = size / p.error.shape[1] if size > 0.0 else 1.0
        p.unit[i] = np.sqrt(size)
        for a in range(p.error.shape[1]):
            if j.block_row[p.block[i], a] < 0:
                p.soft[i, a] = size
