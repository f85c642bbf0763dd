"""A guess of all contacts at once, before Dantzig's method drives them one by one.

Nearly all contacts of a stack press and stick: V = {} of 1989. So all are taken to, and those
left out that would pull. Bodies on more points than they need have many such forces: those with
the least sum of squares are taken, so that no contact bears alone what several can; friction counts
by what a contact can bear of it. What is found obeys the law to rounding.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.linalg.envelope import extent, factorise, substitute

GUESS_ROUNDS = 16  # of guesses
GUESS_PATIENCE = 2  # rounds that leave no fewer wrong contacts than the best before
GUESS_ZERO = 1e-11  # of the largest force or acceleration, units scaled out
SHARING_SHIFT = 1e-10  # of the diagonal is added, so that dependent rows share
REFINEMENT_TOL = 1e-15  # of the largest force: accelerations of rows that should have none
OFTEN = 8  # refinements
MUCH = 0.7  # of what friction can bear: contacts with more get a smaller share
LITTLE = 1e-2  # of the mean normal force: bears friction as if it had this much


class Contacts(NamedTuple):
    """a = W f + q, d rows a contact, W in compressed rows: start, index, value. mu (nc,);
    unit (nc,): sqrt of the mean diagonal; order (nc,): contacts, such that those of one body are
    near each other."""

    start: Any
    index: Any
    value: Any
    q: Any
    mu: Any
    unit: Any
    d: Any
    order: Any


class Guess(NamedTuple):
    """closed (nc,): contacts that press, and stick where mu > 0; their forces f and accelerations
    a (n,). Work: ints (4, n + 1), floats (3, n), L: room for the factor of all rows."""

    closed: Any
    f: Any
    a: Any
    ints: Any
    floats: Any
    L: Any


@kernel
def guess(p, g):
    """Find the Guess g of the Contacts p; returns (rounds, contacts that are wrong still): it is an
    answer if there are none."""
    mu, unit, d, closed, f = p.mu, p.unit, p.d, g.closed, g.f
    nc = p.order.size
    more, part = g.floats[0], g.floats[2]
    best, patience, wrong = nc + 1, GUESS_PATIENCE, nc
    for i in range(nc):
        closed[i], part[i] = True, 1.0
        for t in range(i * d, i * d + d):
            more[t] = SHARING_SHIFT * unit[i] * unit[i]
    for count in range(1, GUESS_ROUNDS + 1):
        if _forces(p, g) == 0:
            return count, nc
        wrong = _correct(p.q, mu, unit, d, closed, f, g.a)
        if wrong == 0:
            return count, 0
        _share(mu, unit, d, closed, f, part, more)
        if wrong >= best:
            patience -= 1
            if patience < 0:
                return count, wrong
        best = min(best, wrong)
    return GUESS_ROUNDS, wrong


@kernel
def _forces(p, g):
    """Forces that keep a = 0 on the rows of what presses, refined; all accelerations."""
    start, index, value, q, unit, d = p.start, p.index, p.value, p.q, p.unit, p.d
    f, a, x, L = g.f, g.a, g.floats[1], g.L
    n, m = q.size, 0
    rows, place, first, begin = g.ints[0], g.ints[1, :n], g.ints[2], g.ints[3]
    for k in range(p.order.size):
        i = p.order[k]
        width = 0 if not g.closed[i] else (d if p.mu[i] > 0.0 else 1)
        for t in range(width):
            rows[m] = i * d + t
            m += 1
    extent(start, index, rows, m, place, first, begin)
    if factorise(start, index, value, g.floats[0], rows, m, place, first, begin, L) == 0:
        return 0
    for i in range(n):
        f[i], a[i] = 0.0, q[i]
    for _ in range(OFTEN):
        for b in range(m):
            x[b] = -a[rows[b]]
        substitute(m, first, begin, L, x)
        for b in range(m):
            f[rows[b]] += x[b]
        top, worst = 0.0, 0.0
        for i in range(n):
            total = q[i]
            for k in range(start[i], start[i + 1]):
                total += value[k] * f[index[k]]
            a[i] = total
            top = max(top, abs(f[i]) * unit[i // d])
        for b in range(m):
            worst = max(worst, abs(a[rows[b]]) / unit[rows[b] // d])
        if worst <= REFINEMENT_TOL * top:
            break
    return 1


@kernel
def _friction(d, f, i):
    """Length of the friction of contact i."""
    size = 0.0
    for t in range(i * d + 1, i * d + d):
        size = np.hypot(size, f[t])
    return size


@kernel
def _correct(q, mu, unit, d, closed, f, a):
    """Open contacts that pull, close those that approach; returns how many are wrong."""
    size = 0.0
    for i in range(unit.size):
        for t in range(i * d, i * d + d):
            size = max(size, abs(f[t]) * unit[i], abs(q[t]) / unit[i])
    wrong = 0
    for i in range(unit.size):
        h = i * d
        least = GUESS_ZERO * size / unit[i]
        if not closed[i]:
            if a[h] < -GUESS_ZERO * size * unit[i]:
                closed[i] = True
                wrong += 1
        elif f[h] < -least:
            closed[i] = False
            wrong += 1
        elif mu[i] > 0.0 and _friction(d, f, i) > mu[i] * f[h] + least:
            wrong += 1
    return wrong


@kernel
def _share(mu, unit, d, closed, f, part, more):
    """What is added to the diagonal of tangents: more where a contact can bear little friction."""
    mean, count = 0.0, 0
    for i in range(unit.size):
        if closed[i]:
            mean += f[i * d] * unit[i]
            count += 1
    mean /= max(count, 1)
    if d == 1 or not mean > 0.0:
        return
    for i in range(unit.size):
        can = max(f[i * d] * unit[i] / mean, LITTLE)
        if mu[i] > 0.0:
            used = _friction(d, f, i) * unit[i] / (mu[i] * can * mean)
            if closed[i] and used > MUCH:
                part[i] *= (used / MUCH) ** 2
            for t in range(i * d + 1, i * d + d):
                more[t] = SHARING_SHIFT * unit[i] * unit[i] * part[i] / (can * can)
