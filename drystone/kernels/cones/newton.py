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

import numpy as np

from drystone.kernels import status
from drystone.kernels._jit import kernel
from drystone.kernels.blocks import CONVEX, block_product
from drystone.kernels.contact.residual import floored_residuals
from drystone.kernels.linalg import dense_lu
from drystone.kernels.linalg.block_lu import factorise, slot, substitute, supernodes
from drystone.kernels.linalg.ordering import minimum_degree

OPEN, STICK, SLIP, BILATERAL = 0, 1, 2, 3

# regularisation of bilateral blocks, of that of contacts: equations need it only where they are
# redundant, and a chain of n joints, whose least eigenvalue falls like 1 / n^2, must not feel it
TIES = 1e-3
ALPHA = 1e-6  # regularisation of the matrix of plain steps
PLAIN = 40  # steps without regularisation, as long as they make progress
STUCK = 5  # steps without a new least residual after which an attempt gives up
GOING = -1  # no status yet


@kernel
def newton_steps(
    shape, indptr, indices, W, q, mu, unit, law, floor, unit_floor, tol, closer, extra, alpha,
    plain, most, room, r, best, history,
):  # fmt: skip
    """Newton steps on the problem regularised around r: velocities u + alpha (r' - r).

    unit (nb,): sqrt of the mean diagonal; floor, unit_floor: least scales of the two residuals;
    closer: what `extra` steps may try to reach beyond tol; alpha: relative to unit^2; plain:
    regularise the matrix only; most: steps until tol; room: most blocks in the factors. r becomes
    the last iterate, best (nb, d) that of least residual; history (most + extra,): residuals.
    Returns (status, steps, true residual, least). Status SOLVED: the true residual is within tol;
    RUNNING: the regularised problem is solved; STALLED: it is not; SINGULAR: too much fill.
    """
    nb, d = mu.size, len(shape)
    shift = alpha * unit * unit * np.where(mu < 0.0, TIES, 1.0)
    state, keep = np.empty(nb, np.int64), np.zeros(nb, np.bool_)
    phi, dr, x = np.empty((nb, d)), np.empty((nb, d)), np.empty((nb, d))
    A, B = np.empty((nb, d, d)), np.empty((nb, d, d))
    order = np.zeros((7, nb + 1), np.int64)  # back, place, node, first, below, lower, upper
    rows, buffer = np.empty(0, np.int32), np.empty(0)
    u, near, centre = np.empty((nb, d)), np.empty((nb, d)), r.copy()
    best[:] = r
    block_product(shape, indptr, indices, W, r, q, near)
    true, _ = _judge(shape, r, near, near, q, mu, unit, law, floor, unit_floor, True)
    initial, least, ease = true, true, np.inf
    if initial <= (tol if extra == 0 else closer):
        return status.SOLVED, 0, initial, initial
    n, count, idle, last = 0, 0, 0, np.full(nb, -1)
    own, places = np.empty((nb, d), np.bool_), np.zeros((nb + 1, d + 1), np.int64)
    size = coupled_size(shape, indptr, indices, W, mu, own, places)
    M, pivots = np.empty((max(size, 0), max(size, 0))), np.empty(max(size, 0), np.int64)
    for step in range(most + extra):
        linearise(shape, r, near, mu, 1.0 / (unit * unit), law, state, phi, A, B)
        fresh = not _same(state, mu, last, least <= tol)
        if size >= 0:
            good = direction_dense(
                shape, indptr, indices, W, shift, phi, A, B, fresh, own, places, M, pivots, dr
            )
        else:
            good, n, count, rows, buffer = _sparse(
                shape, indptr, indices, W, shift, state, phi, A, B, fresh, keep, room, n, count,
                order, rows, buffer, x, dr,
            )  # fmt: skip
        if not good:
            return _end(n, least, tol), step, true, least
        _advance(r, dr)
        block_product(shape, indptr, indices, W, r, q, u)
        _near(shape, u, shift, r, r if plain else centre, near)
        true, regular = _judge(shape, r, u, near, q, mu, unit, law, floor, unit_floor, plain)
        history[step], before = true, least
        if true < least:
            least = true
            best[:] = r
        idle, ease = 0 if regular < ease else idle + 1, min(ease, regular)
        tries = extra if least <= tol else most - step - 1
        code = _verdict(plain, true, regular, before, least, initial, tol, closer, tries, idle)
        if code != GOING:
            return code, step + 1, true, least
        extra -= 1 if least <= tol else 0
    return _end(n, least, tol), most, true, least


@kernel
def _judge(shape, r, u, near, q, mu, unit, law, floor, unit_floor, plain):
    """The worse residual with velocities u, and with those of the regularised problem."""
    true = _worst(floored_residuals(shape, r, u, q, mu, unit, law, floor, unit_floor))
    if plain:
        return true, true
    return true, _worst(floored_residuals(shape, r, near, q, mu, unit, law, floor, unit_floor))


@kernel
def _verdict(plain, true, regular, before, least, initial, tol, closer, tries, idle):
    """Status after a step, GOING if another may follow; tries: how many may."""
    if least <= tol:
        # what a step leaves more than half of, rounding does not let fall
        if least <= closer or tries == 0 or (before <= tol and not true <= 0.5 * before):
            return status.SOLVED
    elif not plain and regular <= min(1e-2 * initial, 0.1 * true):
        return status.RUNNING
    elif idle > STUCK or not np.isfinite(true) or tries == 0:
        return status.STALLED
    return GOING


@kernel
def _end(n, least, tol):
    """Status where no step is left: all the same, if a point within tol was met."""
    if least <= tol:
        return status.SOLVED
    return status.SINGULAR if n < 0 else status.STALLED


@kernel
def _sparse(
    shape, indptr, indices, W, shift, state, phi, A, B, fresh, keep, room, n, count, order, rows,
    buffer, x, dr,
):  # fmt: skip
    """dr by sparse factors, in an order that is found anew when contacts open or close; returns
    whether there is one, and the factors; n < 0 if there is no room for them."""
    if _changed(state, keep):
        n, count, rows, size = _structure(len(shape), indptr, indices, keep, order, room)
        if n < 0:
            return False, n, count, rows, buffer
        buffer = np.empty(size)
    good = not fresh or factor(
        shape, indptr, indices, W, shift, A, B, n, count, order, rows, buffer
    )
    good = good and direction(
        shape, indptr, indices, W, state, phi, B, n, count, order, rows, buffer, x, dr
    )
    return good, n, count, rows, buffer


@kernel
def _changed(state, keep):
    """Bring `keep` (not open) up to date; True if it was not."""
    changed = False
    for i in range(state.size):
        closed = state[i] != OPEN
        changed = changed or closed != keep[i]
        keep[i] = closed
    return changed


@kernel
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


@kernel
def _structure(d, indptr, indices, keep, order, room):
    """Elimination order and supernodes of the kept contacts: (n, count, rows, buffer size)."""
    start = np.zeros(keep.size + 1, np.int64)
    n, rows = minimum_degree(indptr, indices, keep, order[0], start, room)
    if n < 0:
        return n, 0, rows, 0
    count, rows, size = supernodes(
        d, n, start, rows, order[2], order[3], order[4], order[5], order[6]
    )
    return n, count, rows, size


@kernel
def _worst(pair):
    return max(pair[0], pair[1])


@kernel
def _advance(r, dr):
    for i in range(r.shape[0]):
        for a in range(r.shape[1]):
            r[i, a] += dr[i, a]


@kernel
def _near(shape, u, shift, r, centre, near):
    """Velocities of the regularised problem: u + alpha (r - c)."""
    for i in range(shift.size):
        for a in range(len(shape)):
            near[i, a] = u[i, a] + shift[i] * (r[i, a] - centre[i, a])


@kernel
def linearise(shape, r, u, mu, rho, law, state, phi, A, B):
    """Phi (nb, d), A, B (nb, d, d) and the state of each contact; returns |Phi sqrt(1/rho)|^2."""
    d = len(shape)
    total = 0.0
    for i in range(mu.size):
        for a in range(d):
            for b in range(d):
                A[i, a, b] = 0.0
                B[i, a, b] = 0.0
        if mu[i] < 0.0:
            state[i] = BILATERAL
            for a in range(d):
                phi[i, a] = rho[i] * u[i, a]
                B[i, a, a] = rho[i]
        elif law == CONVEX:
            _natural(shape, r, u, mu[i], rho[i], i, state, phi, A, B)
        else:
            _alart_curnier(shape, r, u, mu[i], rho[i], i, state, phi, A, B)
        for a in range(d):
            total += phi[i, a] ** 2 / rho[i]
    return total


@kernel
def _alart_curnier(shape, r, u, mu, rho, i, state, phi, A, B):
    d = len(shape)
    s = r[i, 0] - rho * u[i, 0]
    if s <= 0.0:
        state[i] = OPEN
        for a in range(d):
            phi[i, a] = r[i, a]
            A[i, a, a] = 1.0
        return
    phi[i, 0] = rho * u[i, 0]
    B[i, 0, 0] = rho
    k = mu * s
    length = 0.0
    for a in range(1, d):
        length += (r[i, a] - rho * u[i, a]) ** 2
    length = np.sqrt(length)
    if mu == 0.0:  # no friction: also where the slip vanishes, r_t = 0 is the law
        state[i] = SLIP
        for a in range(1, d):
            phi[i, a] = r[i, a]
            A[i, a, a] = 1.0
        return
    if length <= k:
        state[i] = STICK
        for a in range(1, d):
            phi[i, a] = rho * u[i, a]
            B[i, a, a] = rho
        return
    state[i] = SLIP
    f = k / length
    for a in range(1, d):
        ea = (r[i, a] - rho * u[i, a]) / length
        phi[i, a] = r[i, a] - k * ea
        A[i, a, 0] = -mu * ea
        B[i, a, 0] = mu * rho * ea
        for b in range(1, d):
            eb = (r[i, b] - rho * u[i, b]) / length
            p = f * ((1.0 if a == b else 0.0) - ea * eb)
            A[i, a, b] = (1.0 if a == b else 0.0) - p
            B[i, a, b] = rho * p


@kernel
def _natural(shape, r, u, mu, rho, i, state, phi, A, B):
    """r - P_K(r - rho u); with dP = derivative of the projection: A = I - dP, B = rho dP."""
    d = len(shape)
    n = r[i, 0] - rho * u[i, 0]
    t = 0.0
    for a in range(1, d):
        t += (r[i, a] - rho * u[i, a]) ** 2
    t = np.sqrt(t)
    if t <= mu * n:
        state[i] = STICK
        for a in range(d):
            phi[i, a] = rho * u[i, a]
            B[i, a, a] = rho
        return
    if mu * t <= -n:
        state[i] = OPEN
        for a in range(d):
            phi[i, a] = r[i, a]
            A[i, a, a] = 1.0
        return
    state[i] = SLIP
    c = 1.0 / (1.0 + mu * mu)
    top = c * (n + mu * t)
    f = mu * top / t
    phi[i, 0] = r[i, 0] - top
    A[i, 0, 0] = 1.0 - c
    B[i, 0, 0] = rho * c
    for a in range(1, d):
        ea = (r[i, a] - rho * u[i, a]) / t
        phi[i, a] = r[i, a] - mu * top * ea
        A[i, 0, a] = A[i, a, 0] = -c * mu * ea
        B[i, 0, a] = B[i, a, 0] = rho * c * mu * ea
        for b in range(1, d):
            eb = (r[i, b] - rho * u[i, b]) / t
            p = c * mu * mu * ea * eb + f * ((1.0 if a == b else 0.0) - ea * eb)
            A[i, a, b] = (1.0 if a == b else 0.0) - p
            B[i, a, b] = rho * p


@kernel
def _add_product(shape, B, i, W, k, buffer, at, stride):
    """Add the block B_i W_k to the buffer."""
    d = len(shape)
    for a in range(d):
        for b in range(d):
            total = 0.0
            for e in range(d):
                total += B[i, a, e] * W[k, e, b]
            buffer[at + a * stride + b] += total


@kernel
def factor(shape, indptr, indices, W, alpha, A, B, n, count, order, rows, buffer):
    """Factors of A + B (W + alpha) into the buffer; alpha (nb,) regularises. False if singular.

    n, count, order, rows: from ``_structure``, of the contacts that are not open.
    """
    back, place, node, first = order[0], order[1], order[2], order[3]
    below, lower, upper = order[4], order[5], order[6]
    d = len(shape)
    for i in range(alpha.size):
        place[i] = -1
    for j in range(n):
        place[back[j]] = j
    buffer[:] = 0.0
    for j in range(n):
        i = back[j]
        at, stride = slot(d, j, j, node, first, below, rows, lower, upper)
        for a in range(d):
            for b in range(d):
                buffer[at + a * stride + b] += A[i, a, b] + alpha[i] * B[i, a, b]
        for k in range(indptr[i], indptr[i + 1]):
            m = place[indices[k]]
            if m >= 0:
                at, stride = slot(d, j, m, node, first, below, rows, lower, upper)
                _add_product(shape, B, i, W, k, buffer, at, stride)
    return factorise(shape, count, node, first, below, rows, lower, upper, buffer)


@kernel
def direction(shape, indptr, indices, W, state, phi, B, n, count, order, rows, buffer, x, dr):
    """dr with (A + B (W + alpha)) dr = -phi, by the factors in the buffer. False if not finite."""
    back, place, first = order[0], order[1], order[3]
    below, lower, upper = order[4], order[5], order[6]
    d = len(shape)
    for i in range(state.size):
        for a in range(d):
            dr[i, a] = -phi[i, a] if state[i] == OPEN else 0.0
    for j in range(n):
        i = back[j]
        for a in range(d):
            x[j, a] = -phi[i, a]
        for k in range(indptr[i], indptr[i + 1]):
            m = indices[k]
            if place[m] < 0:  # an open contact: its change is known
                for a in range(d):
                    for b in range(d):
                        for e in range(d):
                            x[j, a] -= B[i, a, e] * W[k, e, b] * dr[m, b]
    substitute(shape, count, first, below, rows, lower, upper, buffer, x[:n])
    for j in range(n):
        for a in range(d):
            if not np.isfinite(x[j, a]):
                return False
            dr[back[j], a] = x[j, a]
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

LARGEST = 64  # rows up to which this is cheaper than ``block_lu``


@kernel
def coupled_size(shape, indptr, indices, W, mu, own, places):
    """How many rows may not be alone, which is the size of M; -1 if they are too many. Finds own
    (nb, d): rows of W that are zero but for their diagonal, and the diagonal blocks. Friction
    couples the rows of a block."""
    d, count, nb = len(shape), 0, own.shape[0]
    if nb > LARGEST:
        return -1
    for i in range(nb):
        for a in range(d):
            own[i, a] = True
        for k in range(indptr[i], indptr[i + 1]):
            same = indices[k] == i
            if same:
                places[i, d] = k
            for a in range(d):
                for b in range(d):
                    if W[k, a, b] != 0.0 and not (same and a == b):
                        own[i, a] = False
        for a in range(d):
            count += 0 if own[i, a] and mu[i] <= 0.0 else 1
    return count if count <= LARGEST else -1


@kernel
def direction_dense(shape, indptr, indices, W, shift, phi, A, B, fresh, own, places, M, pivots, dr):
    """dr with (A + B (W + shift)) dr = -phi; fresh: factorise, else by the factors in M. False if
    there is none."""
    d, nb, total = len(shape), shift.size, 0.0
    if fresh:
        _number(shape, A, B, own, places)
        m = places[nb, d]
        for i in range(nb):
            for a in range(d):
                if places[i, a] >= 0:
                    _fill(shape, i, a, indptr, indices, W, shift, A, B, places, M, m)
        if dense_lu.factorise(M, m, pivots) != status.SOLVED:
            return False
    m = places[nb, d]
    y, x = np.empty(m), np.empty(m)
    for i in range(nb):
        for a in range(d):
            dr[i, a] = 0.0
            if places[i, a] < 0:
                w = W[places[i, d], a, a] + shift[i]
                dr[i, a] = -phi[i, a] / (A[i, a, a] + B[i, a, a] * w)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                y[places[i, a]] = -phi[i, a] - _known(
                    shape, i, a, indptr, indices, W, shift, A, B, places, dr
                )
    dense_lu.back_substitute(M, m, pivots, y, x)
    for i in range(nb):
        for a in range(d):
            if places[i, a] >= 0:
                dr[i, a] = x[places[i, a]]
            total += abs(dr[i, a])
    return total < np.inf


@kernel
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


@kernel
def _fill(shape, i, a, indptr, indices, W, shift, A, B, places, M, m):
    """Row a of block i of A + B (W + shift)."""
    d, row = len(shape), places[i, a]
    for j in range(m):
        M[row, j] = 0.0
    for e in range(d):
        f = B[i, a, e]
        if f != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                for b in range(d):
                    if places[j, b] >= 0:
                        M[row, places[j, b]] += f * W[k, e, b]
    for b in range(d):
        if places[i, b] >= 0:
            M[row, places[i, b]] += A[i, a, b] + shift[i] * B[i, a, b]


@kernel
def _known(shape, i, a, indptr, indices, W, shift, A, B, places, dr):
    """What the changes of alone rows add to row a of block i."""
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        for b in range(len(shape)):
            if places[j, b] < 0 and dr[j, b] != 0.0:
                for e in range(len(shape)):
                    total += B[i, a, e] * W[k, e, b] * dr[j, b]
                if j == i:
                    total += (A[i, a, b] + shift[i] * B[i, a, b]) * dr[j, b]
    return total
