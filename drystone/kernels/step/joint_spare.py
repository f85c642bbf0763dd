"""Rows of redundant joints: which of them a step is solved without; see ``kernels.redundant`` and
``constraints.joints.minimum_norm``."""

from drystone.kernels import redundant as kernels
from drystone.kernels._jit import kernel, stage
from drystone.kernels.step import codes


@kernel
def split(s, scan, j):
    """Find the rows too many of each group; the guess becomes one of the rows that are left. CLOSE
    where what is left is weak and joints are to be closed by it."""
    excess, weak = j.large_excess, 0
    for row in range(j.closes.size):
        j.closes[row] = j.place[j.row_block[row, 0]] >= 0
    for g in range(j.spare_count.size):
        lo, hi, m, square = _span(j, g)
        j.spare_count[g] = 0
        if not _here(j, lo, hi):
            continue
        for k in range(lo, hi):
            row = j.spare_row[k]
            j.spare_at[k, 0] = j.place[j.row_block[row, 0]]
            j.spare_at[k, 1] = j.row_block[row, 1]
            j.spare_root[k] = j.at_error[row]  # until roots are found
        open_by = kernels.opening(j.spare_at[lo:hi], s.body, s.J, j.spare_root[lo:hi])
        turn = s.h * kernels.turning(j.spare_at[lo:hi], s.body, s.moves, s.v0)
        division = kernels.Division(
            j.spare_root[lo:hi], j.spare_extra[lo:hi],
            j.spare_null[square : square + m * m].reshape(m, m),
            j.spare_idle[square : square + m * m].reshape(m, m),
            j.spare_S[: m * m].reshape(m, m), j.spare_L[: m * m].reshape(m, m),
            j.spare_order[:m],
        )  # fmt: skip
        # velocities need not fit rows that are about to be too many: the next step's do
        strict = kernels.LOOSE if s.drifts else kernels.WEAKER
        j.spare_count[g], found = kernels.separate(
            j.spare_at[lo:hi], s.body, s.J, s.P, open_by, turn, strict, j.spare_firm[:m], division,
        )  # fmt: skip
        excess, weak = excess + j.spare_count[g], weak + found
        for c in range(j.spare_count[g]):
            j.closes[j.spare_row[lo + j.spare_extra[lo + c]]] = False
        kernels.gather(
            j.spare_at[lo:hi], j.spare_root[lo:hi], j.spare_extra[lo:hi],
            j.spare_null[square : square + m * m].reshape(m, m), j.spare_count[g], s.r,
        )  # fmt: skip
    j.excess = excess
    quiet(s, j)
    return codes.GO_ON if weak == 0 or j.scheme != codes.EXACT_JOINTS else codes.CLOSE_JOINTS


@stage
def _span(j, g):
    """Rows lo:hi of group g, how many, and where its matrices begin."""
    lo, hi = j.spare_first[g], j.spare_first[g + 1]
    return lo, hi, hi - lo, j.spare_square[g]


@stage
def _here(j, lo, hi):
    """Whether all rows of a group take part: sleepers have none."""
    here = True
    for k in range(lo, hi):
        here = here and j.place[j.row_block[j.spare_row[k], 0]] >= 0
    return here


@stage
def quiet(s, j):
    """No bias in rows that are too many."""
    for g in range(j.spare_count.size):
        lo = j.spare_first[g]
        for c in range(j.spare_count[g]):
            k = lo + j.spare_extra[lo + c]
            s.bias[j.spare_at[k, 0], j.spare_at[k, 1]] = 0.0


@stage
def silence(s, j):
    """Rows that are too many become padding."""
    for g in range(j.spare_count.size):
        lo, hi = j.spare_first[g], j.spare_first[g + 1]
        kernels.silence(
            j.spare_at[lo:hi], j.spare_extra[lo:hi], j.spare_count[g], j.spare_root[lo:hi], s.J,
            s.P, s.D, j.soft,
        )  # fmt: skip


@stage
def restore(j):
    """Rows that are too many are rows again: without a compliance."""
    for g in range(j.spare_count.size):
        lo = j.spare_first[g]
        for c in range(j.spare_count[g]):
            k = lo + j.spare_extra[lo + c]
            j.soft[j.spare_at[k, 0], j.spare_at[k, 1]] = 0.0


@stage
def spread(j, r):
    """Of all impulses (nc, d) that do what r does, the least, in place."""
    for g in range(j.spare_count.size):
        lo, hi, m, square = _span(j, g)
        kernels.spread(
            j.spare_at[lo:hi], j.spare_root[lo:hi],
            j.spare_idle[square : square + m * m].reshape(m, m), j.spare_count[g], r,
        )  # fmt: skip
