"""One semismooth Newton step on a friction problem in block form.

Alart-Curnier's function of contact i, with s = r_n - rho u_n, t = r_t - rho u_t, k = mu max(0, s):
    Phi_n = r_n - max(0, s),   Phi_t = r_t - k t / max(k, |t|)         (Coulomb)
A piece of its generalised Jacobian is A_i + B_i W_i with (d, d) matrices A_i, B_i:
    open  (s <= 0):  A = I,  B = 0           stick (|t| <= k):  A = 0,  B = rho I
    slip:  Phi_n = rho u_n;  Phi_t linearised with e = t / |t| and P = (I - e e') k / |t|:
           dPhi_t = dr_t - mu (dr_n - rho du_n) e - P (dr_t - rho du_t)
The convex law uses the natural map r - P_K(r - rho u) and the derivative of its projection.
Open contacts leave the linear system; the rest is solved by the block LU. Blocks of size 1 with
mu = 0 are the rows of an LCP.

Globalisation: the proximal point method. Newton alone cycles on hard problems, and line searches
on |Phi| crawl there; the regularised problem with u + alpha (r - c), c the last accepted point,
is solved in a few full steps when alpha is large enough. alpha falls after each success and rises
after each failure. Before that, plain steps (alpha in the matrix only) are tried for as long as
they make progress: easy problems never see more.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel, stage
from drystone.kernels.blocks import CONVEX, block_product
from drystone.kernels.contact.residual import floored_residuals
from drystone.kernels.linalg import dense_lu
from drystone.kernels.linalg.block_lu import factorise, slot, substitute, supernodes
from drystone.kernels.linalg.ordering import minimum_degree

OPEN, STICK, SLIP, BILATERAL = 0, 1, 2, 3  # states of a contact

# regularisation of bilateral blocks, of that of contacts: equations need it only where they are
# redundant, and a chain of n joints, whose least eigenvalue falls like 1 / n^2, must not feel it
TIES = 1e-3
REGULARISATION = 1e-6  # regularisation of the matrix of plain steps
PLAIN = 40  # steps without regularisation, as long as they make progress
STALLED_STEPS = 5  # steps without a new least residual after which an attempt gives up
GOING = -1  # no status yet
DIRECTION_FOUND, NO_DIRECTION, NO_ROOM = (
    1,
    0,
    -1,
)  # a direction: there is one, the matrix is singular, too much fill
TOO_LARGE = -2  # status of ``newton_dense`` on a system that is none of its


class Goal(NamedTuple):
    """When steps end, and what they are regularised by.

    tol: residual to reach; closer: what `extra` steps may try to reach beyond it; most: steps until
    tol; floor, unit_floor: least scales of the two residuals; alpha: regularisation, relative to
    unit^2; plain: of the matrix only; room: most blocks in sparse factors.
    """

    tol: float
    closer: float
    extra: int
    most: int
    floor: float
    unit_floor: float
    alpha: float
    plain: bool
    room: int


class Linear(NamedTuple):
    """The problem linearised at r: state (nb,) of contacts; phi, dr (nb, d); A, B (nb, d, d); shift
    (nb,): what regularises the diagonal of W."""

    state: Any
    phi: Any
    dr: Any
    A: Any
    B: Any
    shift: Any


class Dense(NamedTuple):
    """Factors of a small system. M (m, m) and its pivots; own (nb, d), places (nb + 1, d + 1): see
    ``coupled_size``; y, x (m,): work."""

    M: Any
    pivots: Any
    own: Any
    places: Any
    y: Any
    x: Any


class Sparse(NamedTuple):
    """Factors in panels (``linalg.block_lu``) of the n contacts that are not open.

    count: panels; order (7, nb + 1): back, place, node, first, below, lower, upper; rows: below the
    panels; buffer: their entries; keep (nb,): contacts that are not open; x (nb, d): work.
    """

    n: int
    count: int
    order: Any
    rows: Any
    buffer: Any
    keep: Any
    x: Any


@kernel
def newton_steps(shape, p, goal, r, best, history):
    """Newton steps on the problem p regularised around r: velocities u + alpha (r' - r).

    p: FrictionBlocks; goal: Goal; r becomes the last iterate, best (nb, d) that of least residual;
    history (most + extra,): residuals. Returns (status, steps, true residual, least). Status
    SOLVED: the true residual is within tol; RUNNING: the regularised problem is solved; STALLED: it
    is not; SINGULAR: too much fill.
    """
    found = newton_dense(shape, p, goal, r, best, history)
    if found[0] != TOO_LARGE:
        return found
    return newton_sparse(shape, p, goal, r, best, history)


@kernel
def newton_dense(shape, p, goal, r, best, history):
    """The same where the coupled rows are few; status TOO_LARGE, and nothing done, where not."""
    nb, d = p.mu.size, len(shape)
    own, places = np.empty((nb, d), np.bool_), np.empty((nb + 1, d + 1), np.int64)
    size = coupled_size(shape, p, own, places)
    if size < 0:
        return TOO_LARGE, 0, np.inf, np.inf
    yx = np.empty((2, size))
    dense = Dense(np.empty((size, size)), np.empty(size, np.int64), own, places, yx[0], yx[1])
    return _steps_dense(shape, p, goal, dense, None, _room(shape, nb), r, best, history)


@kernel
def newton_sparse(shape, p, goal, r, best, history):
    """The same by sparse factors, in an order that is found anew when contacts open or close."""
    nb, d = p.mu.size, len(shape)
    keep = np.empty(nb, np.bool_)
    for i in range(nb):
        keep[i] = False
    order, x = np.empty((7, nb + 1), np.int64), np.empty((nb, d))
    zero = np.int64(0)
    sparse = Sparse(zero, zero, order, np.empty(0, np.int32), np.empty(0), keep, x)
    return _steps_sparse(shape, p, goal, None, sparse, _room(shape, nb), r, best, history)


@kernel
def _room(shape, nb):
    """Work of the steps."""
    d = len(shape)
    return np.empty((5, nb, d)), np.empty((2, nb, d, d)), np.empty((2, nb), np.int64), np.empty(nb)


def _steps(shape, p, goal, dense, sparse, work, r, best, history):
    """The steps, with dense or with sparse factors; the others are None, and not compiled."""
    nb, d = p.mu.size, len(shape)
    vectors, blocks, states, shift = work
    u, near, centre = vectors[0], vectors[1], vectors[2]
    lin = Linear(states[0], vectors[3], vectors[4], blocks[0], blocks[1], shift)
    last, factors = states[1], sparse
    for i in range(nb):
        last[i] = -1
        unit = p.unit[i]
        shift[i] = goal.alpha * unit * unit * (TIES if p.mu[i] < 0.0 else 1.0)
    _copy(r, centre)
    _copy(r, best)
    block_product(shape, p.indptr, p.indices, p.blocks, r, p.q, near)
    true = _residual(shape, p, goal, r, near)
    tol, initial, least, ease, extra, idle = goal.tol, true, true, np.inf, goal.extra, 0
    if initial <= (tol if extra == 0 else goal.closer):
        return status.SOLVED, 0, initial, initial
    for step in range(goal.most + goal.extra):
        linearise(shape, p, r, near, lin)
        fresh = not _same(lin.state, p.mu, last, least <= tol)
        good = NO_DIRECTION
        if sparse is not None:
            good, factors = direction_sparse(shape, p, lin, fresh, goal.room, factors)
        if dense is not None:
            good = direction_dense(shape, p, lin, fresh, dense)
        if good != DIRECTION_FOUND:
            return _end(good, least, tol), step, true, least
        for i in range(nb):
            for a in range(d):
                r[i, a] += lin.dr[i, a]
        block_product(shape, p.indptr, p.indices, p.blocks, r, p.q, u)
        _regularise(shape, u, shift, r, r if goal.plain else centre, near)
        true = _residual(shape, p, goal, r, u)
        regular = true if goal.plain else _residual(shape, p, goal, r, near)
        history[step], before = true, least
        if true < least:
            least = true
            _copy(r, best)
        idle, ease = 0 if regular < ease else idle + 1, min(ease, regular)
        tries = extra if least <= tol else goal.most - step - 1
        code = _verdict(goal, true, regular, before, least, initial, tries, idle)
        if code != GOING:
            return code, step + 1, true, least
        extra -= 1 if least <= tol else 0
    return _end(NO_DIRECTION, least, tol), goal.most, true, least


_steps_dense = stage(_steps)  # counts no references: a step of a small system takes a microsecond
_steps_sparse = kernel(_steps)


@stage
def _copy(x, y):
    for i in range(x.shape[0]):
        for a in range(x.shape[1]):
            y[i, a] = x[i, a]


@kernel
def _residual(shape, p, goal, r, u):
    """The worse of the two residuals."""
    one, other = floored_residuals(
        shape, r, u, p.q, p.mu, p.unit, p.law, goal.floor, goal.unit_floor
    )
    return max(one, other)


@stage
def _verdict(goal, true, regular, before, least, initial, tries, idle):
    """Status after a step, GOING if another may follow; tries: how many may."""
    if least <= goal.tol:
        # what a step leaves more than half of, rounding does not let fall
        if least <= goal.closer or tries == 0 or (before <= goal.tol and not true <= 0.5 * before):
            return status.SOLVED
    elif not goal.plain and regular <= min(1e-2 * initial, 0.1 * true):
        return status.RUNNING
    elif idle > STALLED_STEPS or not np.isfinite(true) or tries == 0:
        return status.STALLED
    return GOING


@stage
def _end(good, least, tol):
    """Status where no step is left: all the same, if a point within tol was met."""
    if least <= tol:
        return status.SOLVED
    return status.SINGULAR if good == NO_ROOM else status.STALLED


@stage
def _same(state, mu, last, near):
    """Whether the matrix is that of the step before: no state changed and none that slips, whose
    linearisation turns with the slip; near the solution it hardly does. Brings `last` up to
    date."""
    same = True
    for i in range(state.size):
        turns = state[i] == SLIP and mu[i] != 0.0 and not near
        same = same and state[i] == last[i] and not turns
        last[i] = state[i]
    return same


@stage
def _regularise(shape, u, shift, r, centre, near):
    """Velocities of the regularised problem: u + alpha (r - c)."""
    for i in range(shift.size):
        for a in range(len(shape)):
            near[i, a] = u[i, a] + shift[i] * (r[i, a] - centre[i, a])


@stage
def linearise(shape, p, r, u, lin):
    """Phi, A, B and the state of each contact at impulses r and velocities u."""
    d = len(shape)
    state, phi, A, B = lin.state, lin.phi, lin.A, lin.B
    for i in range(p.mu.size):
        rho, mu = 1.0 / (p.unit[i] * p.unit[i]), p.mu[i]
        for a in range(d):
            for b in range(d):
                A[i, a, b] = 0.0
                B[i, a, b] = 0.0
        if mu < 0.0:
            state[i] = BILATERAL
            for a in range(d):
                phi[i, a] = rho * u[i, a]
                B[i, a, a] = rho
        elif p.law == CONVEX:
            state[i] = _natural(shape, r[i], u[i], mu, rho, phi[i], A[i], B[i])
        else:
            state[i] = _alart_curnier(shape, r[i], u[i], mu, rho, phi[i], A[i], B[i])


@stage
def _alart_curnier(shape, r, u, mu, rho, phi, A, B):
    d = len(shape)
    s = r[0] - rho * u[0]
    if s <= 0.0:
        for a in range(d):
            phi[a] = r[a]
            A[a, a] = 1.0
        return OPEN
    phi[0] = rho * u[0]
    B[0, 0] = rho
    k = mu * s
    length = 0.0
    for a in range(1, d):
        length += (r[a] - rho * u[a]) ** 2
    length = np.sqrt(length)
    if mu == 0.0:  # no friction: also where the slip vanishes, r_t = 0 is the law
        for a in range(1, d):
            phi[a] = r[a]
            A[a, a] = 1.0
        return SLIP
    if length <= k:
        for a in range(1, d):
            phi[a] = rho * u[a]
            B[a, a] = rho
        return STICK
    f = k / length
    for a in range(1, d):
        ea = (r[a] - rho * u[a]) / length
        phi[a] = r[a] - k * ea
        A[a, 0] = -mu * ea
        B[a, 0] = mu * rho * ea
        for b in range(1, d):
            eb = (r[b] - rho * u[b]) / length
            p = f * ((1.0 if a == b else 0.0) - ea * eb)
            A[a, b] = (1.0 if a == b else 0.0) - p
            B[a, b] = rho * p
    return SLIP


@stage
def _natural(shape, r, u, mu, rho, phi, A, B):
    """r - P_K(r - rho u); with dP = derivative of the projection: A = I - dP, B = rho dP."""
    d = len(shape)
    n = r[0] - rho * u[0]
    t = 0.0
    for a in range(1, d):
        t += (r[a] - rho * u[a]) ** 2
    t = np.sqrt(t)
    if t <= mu * n:
        for a in range(d):
            phi[a] = rho * u[a]
            B[a, a] = rho
        return STICK
    if mu * t <= -n:
        for a in range(d):
            phi[a] = r[a]
            A[a, a] = 1.0
        return OPEN
    c = 1.0 / (1.0 + mu * mu)
    top = c * (n + mu * t)
    f = mu * top / t
    phi[0] = r[0] - top
    A[0, 0] = 1.0 - c
    B[0, 0] = rho * c
    for a in range(1, d):
        ea = (r[a] - rho * u[a]) / t
        phi[a] = r[a] - mu * top * ea
        A[0, a] = A[a, 0] = -c * mu * ea
        B[0, a] = B[a, 0] = rho * c * mu * ea
        for b in range(1, d):
            eb = (r[b] - rho * u[b]) / t
            p = c * mu * mu * ea * eb + f * ((1.0 if a == b else 0.0) - ea * eb)
            A[a, b] = (1.0 if a == b else 0.0) - p
            B[a, b] = rho * p
    return SLIP


# Sparse factors.


@kernel
def direction_sparse(shape, p, lin, fresh, room, s):
    """lin.dr with (A + B (W + shift)) dr = -phi, and the factors; fresh: factorise, else by s."""
    if _changed(lin.state, s.keep):
        order, start = s.order, np.empty(s.keep.size + 1, np.int64)
        n, rows = minimum_degree(p.indptr, p.indices, s.keep, order[0], start, room)
        if n < 0:
            return NO_ROOM, s
        count, rows, size = supernodes(
            len(shape), n, start, rows, order[2], order[3], order[4], order[5], order[6]
        )
        s = Sparse(n, count, order, rows, np.empty(size), s.keep, s.x)
    node, first, below = s.order[2], s.order[3], s.order[4]
    lower, upper = s.order[5], s.order[6]
    if fresh:
        _fill_sparse(shape, p, lin, s)
        if not factorise(shape, s.count, node, first, below, s.rows, lower, upper, s.buffer):
            return NO_DIRECTION, s
    _right_side(shape, p, lin, s)
    substitute(shape, s.count, first, below, s.rows, lower, upper, s.buffer, s.x[: s.n])
    return (DIRECTION_FOUND if _take(lin.dr, s) else NO_DIRECTION), s


@stage
def _changed(state, keep):
    """Bring `keep` (not open) up to date; True if it was not."""
    changed = False
    for i in range(state.size):
        closed = state[i] != OPEN
        changed = changed or closed != keep[i]
        keep[i] = closed
    return changed


@stage
def _add_product(shape, B, i, W, k, buffer, at, stride):
    """Add the block B_i W_k to the buffer."""
    d = len(shape)
    for a in range(d):
        for b in range(d):
            total = 0.0
            for e in range(d):
                total += B[i, a, e] * W[k, e, b]
            buffer[at + a * stride + b] += total


@stage
def _fill_sparse(shape, p, lin, s):
    """A + B (W + shift) of the contacts that are not open, into the panels."""
    back, place, node, first = s.order[0], s.order[1], s.order[2], s.order[3]
    below, lower, upper = s.order[4], s.order[5], s.order[6]
    d, buffer, rows = len(shape), s.buffer, s.rows
    for i in range(lin.shift.size):
        place[i] = -1
    for j in range(s.n):
        place[back[j]] = j
    for k in range(buffer.size):
        buffer[k] = 0.0
    for j in range(s.n):
        i = back[j]
        at, stride = slot(d, j, j, node, first, below, rows, lower, upper)
        for a in range(d):
            for b in range(d):
                buffer[at + a * stride + b] += lin.A[i, a, b] + lin.shift[i] * lin.B[i, a, b]
        for k in range(p.indptr[i], p.indptr[i + 1]):
            m = place[p.indices[k]]
            if m >= 0:
                at, stride = slot(d, j, m, node, first, below, rows, lower, upper)
                _add_product(shape, lin.B, i, p.blocks, k, buffer, at, stride)


@stage
def _right_side(shape, p, lin, s):
    """x = -phi of the contacts that are not open, less what the changes of open ones, which are
    known, add to it."""
    back, place, d, dr, x = s.order[0], s.order[1], len(shape), lin.dr, s.x
    for i in range(lin.state.size):
        for a in range(d):
            dr[i, a] = -lin.phi[i, a] if lin.state[i] == OPEN else 0.0
    for j in range(s.n):
        i = back[j]
        for a in range(d):
            x[j, a] = -lin.phi[i, a]
        for k in range(p.indptr[i], p.indptr[i + 1]):
            m = p.indices[k]
            if place[m] < 0:
                for a in range(d):
                    for b in range(d):
                        for e in range(d):
                            x[j, a] -= lin.B[i, a, e] * p.blocks[k, e, b] * dr[m, b]


@stage
def _take(dr, s):
    """dr of the contacts that are not open from x; False if it is not finite."""
    for j in range(s.n):
        for a in range(dr.shape[1]):
            if not np.isfinite(s.x[j, a]):
                return False
            dr[s.order[0, j], a] = s.x[j, a]
    return True


# Newton's linear system of a small island as one full matrix of the rows that need it.
#
# A row is alone where its equation names no other unknown: impulses of open contacts, tangential
# ones without friction, and rows that no other row of W meets: the padding of joints' blocks,
# given loads. Alone rows are solved first. In a mechanism they are more than half, and
# elimination of the others as one matrix, with full rows to pivot on, is done before an order for
# a sparse one would be found.
#
# places (nb + 1, d + 1) holds what belongs to the factors: number of each row, -1 if it is alone;
# in the last column the number of each block's diagonal block; in the last row how many rows
# there are.

FEW_COUPLED_ROWS = 64  # rows up to which this is cheaper than ``block_lu``


@stage
def coupled_size(shape, p, own, places):
    """How many rows may not be alone, which is the size of M; -1 if they are too many. Finds own
    (nb, d): rows of W that are zero but for their diagonal, and the diagonal blocks. Friction
    couples the rows of a block."""
    d, count, nb = len(shape), 0, own.shape[0]
    if nb > FEW_COUPLED_ROWS:
        return -1
    for i in range(nb):
        places[i, d] = 0
        for a in range(d):
            own[i, a] = True
        for k in range(p.indptr[i], p.indptr[i + 1]):
            same = p.indices[k] == i
            if same:
                places[i, d] = k
            for a in range(d):
                for b in range(d):
                    if p.blocks[k, a, b] != 0.0 and not (same and a == b):
                        own[i, a] = False
        for a in range(d):
            count += 0 if own[i, a] and p.mu[i] <= 0.0 else 1
    return count if count <= FEW_COUPLED_ROWS else -1


@stage
def direction_dense(shape, p, lin, fresh, f):
    """lin.dr with (A + B (W + shift)) dr = -phi; fresh: factorise, else by the factors f."""
    d, nb, total = len(shape), lin.shift.size, 0.0
    A, B, phi, dr, places = lin.A, lin.B, lin.phi, lin.dr, f.places
    if fresh:
        _number(shape, A, B, f.own, places)
        for i in range(nb):
            for a in range(d):
                if places[i, a] >= 0:
                    _fill(shape, p, lin, i, a, places, f.M)
        if dense_lu.factorise(f.M, places[nb, d], f.pivots) != status.SOLVED:
            return NO_DIRECTION
    m = places[nb, d]
    y, x = f.y, f.x
    for i in range(nb):
        for a in range(d):
            dr[i, a] = 0.0
            if places[i, a] < 0:
                w = p.blocks[places[i, d], a, a] + lin.shift[i]
                dr[i, a] = -phi[i, a] / (A[i, a, a] + B[i, a, a] * w)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                y[places[i, a]] = -phi[i, a] - _known(shape, p, lin, i, a, places)
    dense_lu.back_substitute(f.M, m, f.pivots, y, x)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                dr[i, a] = x[places[i, a]]
            total += abs(dr[i, a])
    return DIRECTION_FOUND if total < np.inf else NO_DIRECTION


@stage
def _number(shape, A, B, own, places):
    """Which rows are alone, and numbers for the others."""
    d, m = len(shape), 0
    for i in range(own.shape[0]):
        for a in range(d):
            alone = own[i, a] or B[i, a, a] == 0.0
            for b in range(d):
                if b != a and (A[i, a, b] != 0.0 or B[i, a, b] != 0.0):
                    alone = False
            places[i, a] = -1 if alone else m
            m += 0 if alone else 1
    places[own.shape[0], d] = m


@stage
def _fill(shape, p, lin, i, a, places, M):
    """Row a of block i of A + B (W + shift)."""
    d, row = len(shape), places[i, a]
    for j in range(places[places.shape[0] - 1, d]):
        M[row, j] = 0.0
    for e in range(d):
        f = lin.B[i, a, e]
        if f != 0.0:
            for k in range(p.indptr[i], p.indptr[i + 1]):
                j = p.indices[k]
                for b in range(d):
                    if places[j, b] >= 0:
                        M[row, places[j, b]] += f * p.blocks[k, e, b]
    for b in range(d):
        if places[i, b] >= 0:
            M[row, places[i, b]] += lin.A[i, a, b] + lin.shift[i] * lin.B[i, a, b]


@stage
def _known(shape, p, lin, i, a, places):
    """What the changes of alone rows add to row a of block i."""
    total, A, B, dr = 0.0, lin.A, lin.B, lin.dr
    for k in range(p.indptr[i], p.indptr[i + 1]):
        j = p.indices[k]
        for b in range(len(shape)):
            if places[j, b] < 0 and dr[j, b] != 0.0:
                for e in range(len(shape)):
                    total += B[i, a, e] * p.blocks[k, e, b] * dr[j, b]
                if j == i:
                    total += (A[i, a, b] + lin.shift[i] * B[i, a, b]) * dr[j, b]
    return total
