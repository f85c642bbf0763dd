"""Stages of packed contacts: rows J and P are not stored (``blocks`` has those that store them)."""

from drystone.kernels import contact_frames as frames
from drystone.kernels._jit import stage
from drystone.kernels.contact.packed_planar import pack_planar
from drystone.kernels.contact.packed_spatial import pack_spatial
from drystone.kernels.contact.sweeps import solve_packed_islands
from drystone.kernels.step import codes
from drystone.kernels.step.choose import choose
from drystone.kernels.step.copies import copy_all
from drystone.kernels.step.finish import break_loose
from drystone.kernels.step.policy import count_sweeps, reset_sweeps, share
from drystone.kernels.step.rows import complete, make_frames


@stage
def rows(s, scan):
    """Frames, materials, bias, first guess, and the packed form."""
    choose(s, scan)
    make_frames(s, scan, s.rows)
    pack(s)
    return complete(s, s.rows)


@stage
def pack(s):
    """Packed contacts and bodies, with the inertia as it is now."""
    n = s.rows
    _pack(
        s.body[:n], s.frame[:n], s.point[:n], s.position, s.inverse_mass, s.inverse,
        s.contact[:n], s.motion, s.D[:n],
    )  # fmt: skip


@stage
def _pack(body, frame, point, position, inverse_mass, inverse, contact, motion, D):
    if inverse.ndim == 1:  # a constant for the compiler: only one of them is compiled
        pack_planar(body, frame, point, position, inverse_mass, inverse, contact, motion, D)
    else:
        pack_spatial(body, frame, point, position, inverse_mass, inverse, contact, motion, D)


@stage
def prepare(s, scan):
    """q = J v_free + bias, v with the first guess, and what islands may cost."""
    given = s.rows, s.body, s.frame, s.point, s.position
    frames.velocities(s.orientation, *given, s.bias, s.v_free, s.q)
    push(s, scan)
    return share(s)


@stage
def push(s, scan):
    """v = v_free + M^-1 J' r."""
    copy_all(s.v_free, s.v)
    given = s.rows, s.body, s.frame, s.point, s.position
    frames.push(s.orientation, *given, s.inverse_mass, s.inverse, s.r, s.v)
    return codes.GO_ON


@stage
def sweep(s, scan):
    """Accelerated Gauss-Seidel on the chosen islands; THREADS if they are worth several."""
    if s.n_chosen == 0:
        return codes.GO_ON
    reset_sweeps(s)
    if _worth_threads(s):
        return codes.THREADS
    solve_packed_islands(s, s.chosen[: s.n_chosen], s.seen, s.mine, s.awake)
    return count_sweeps(s)


@stage
def _worth_threads(s):
    """Whether an island is to be cut, or islands are to be shared out."""
    total, most = 0, 0
    for j in range(s.n_chosen):
        size = s.start[s.chosen[j] + 1] - s.start[s.chosen[j]]
        total += size
        most = max(most, size)
    return most >= s.parallel_island or (s.n_chosen > 1 and total >= s.parallel_total)


@stage
def slip(s, scan):
    """Velocities u, the impulses' work, who slides; AGAIN if a contact breaks loose."""
    given = s.rows, s.body, s.frame, s.point, s.position
    frames.velocities(s.orientation, *given, s.zero, s.v0, s.w)
    frames.velocities(s.orientation, *given, s.bias, s.v, s.u)
    s.sums[3] = frames.driven_work(
        s.orientation, s.rows, s.body, s.moves, s.frame, s.point, s.position, s.r, s.v0, s.v
    )
    _work(s.rows, s.r, s.u, s.bias, s.w, s.sums)
    return break_loose(s, s.rows)


@stage
def _work(n, r, u, bias, before, sums):
    """sums of ``ledger.contact_work``, but for the last: before (n, d) = J v0, u = J v + bias."""
    sums[0] = sums[1] = sums[2] = 0.0
    for i in range(n):
        for c in range(r.shape[1]):
            new = u[i, c] - bias[i, c]
            sums[1] += 0.5 * r[i, c] * (before[i, c] - new)
            sums[2 if c == 0 else 0] += r[i, c] * new
