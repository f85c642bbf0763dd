"""Stages of contacts whose rows J and P are stored: soft fingers, the convex law in space, and
problems that a solver of the library is asked for.

All other contacts are packed (``packed``), which computes the same in a third of the time.
"""

import numpy as np

from drystone.kernels import rows as kernels
from drystone.kernels._jit import kernel, stage
from drystone.kernels.contact.sweeps import solve_block_islands
from drystone.kernels.ledger import contact_work
from drystone.kernels.rows import add_impulses, row_velocities
from drystone.kernels.step import codes
from drystone.kernels.step.choose import choose
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import break_loose
from drystone.kernels.step.policy import count_sweeps, reset_sweeps, share
from drystone.kernels.step.rows import complete, make_frames


@stage
def rows(s, scan):
    """Frames, J, P and D, materials, bias, first guess."""
    choose(s, scan)
    make_frames(s, scan, s.rows)
    respond(s)
    return complete(s, s.rows)


@stage
def respond(s):
    """J, P and D with the inertia as it is now."""
    n = s.rows
    kernels.contact_rows(
        s.inverse_mass, s.inverse, s.position, s.body[:n], s.point[:n], s.frame[:n], s.J[:n],
        s.P[:n], s.D[:n],
    )  # fmt: skip
    _units(s, n)


@stage
def _units(s, n):
    d = s.D.shape[1]
    for i in range(n):
        mean = 0.0
        for a in range(d):
            mean += s.D[i, a, a]
        s.unit[i] = np.sqrt(mean / d) if mean > 0.0 else 1.0


@stage
def prepare(s, scan):
    """q = J v_free + bias, v with the first guess, and what islands may cost."""
    n = s.rows
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v_free, s.q[:n])
    push(s, scan)
    return share(s)


@stage
def push(s, scan):
    """v = v_free + M^-1 J' r."""
    n = s.rows
    copy_all(s.v_free, s.v)
    add_impulses(s.body[:n], s.P[:n], s.r[:n], s.v)
    return codes.GO_ON


@kernel
def sweep_3(s, scan):
    """Accelerated Gauss-Seidel on the chosen islands, blocks of three rows."""
    return _sweep((0, 0, 0), s, None)


@kernel
def sweep_polyhedral(s, scan):
    """The same with polyhedral cones."""
    return _sweep((0, 0, 0), s, s.corners)


@kernel
def sweep_4(s, scan):
    """The same with the spin of soft fingers."""
    return _sweep((0, 0, 0, 0), s, None)


@kernel
def _sweep(shape, s, corners):
    if s.n_chosen == 0:
        return codes.GO_ON
    reset_sweeps(s)
    solve_block_islands(shape, s, s.zero, s.unit, corners)
    return count_sweeps(s)


@stage
def ask(s, scan):
    """SOLVE: the islands are left to a solver of the library."""
    return codes.SOLVE if s.rows > 0 else codes.GO_ON


@stage
def slip(s, scan):
    """Velocities u, the impulses' work, who slides; AGAIN if a contact breaks loose."""
    n = s.rows
    row_velocities(s.body[:n], s.J[:n], s.bias[:n], s.v, s.u[:n])
    for k in range(4):
        s.sums[k] = 0.0
    contact_work(s.body[:n], s.moves, s.J[:n], s.r[:n], s.v0, s.v, s.sums)
    return break_loose(s, n)
