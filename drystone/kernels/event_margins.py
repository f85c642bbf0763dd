"""By how much the conditions of a smooth phase's index sets hold."""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel


class Conditions(NamedTuple):
    """What index sets ask of contacts, (nc,) each: island, -1: none; closed and sticking ones; mu:
    the coefficient that acts."""

    island: np.ndarray
    closed: np.ndarray
    stick: np.ndarray
    mu: np.ndarray


class ContactRows(NamedTuple):
    """The N rows of contacts: body (N, 2), -1: the world; J (N, 2, dof); bias (N,): accelerations
    by velocities alone; soft (N,): what a row yields to a force on it."""

    body: np.ndarray
    J: np.ndarray
    bias: np.ndarray
    soft: np.ndarray


@kernel
def margins(conditions, rows, inverse_mass, inverse_inertia, a, free, f, out):
    """out (3, nc): of contacts that press their force, of others their acceleration, of sticking
    ones what is left of friction; relative to the largest force or free acceleration of their
    island, inf where there is no condition.

    a, free (nb, dof): accelerations of bodies with forces f (nc, d) and without.
    inverse_inertia (nb, k, k), in world axes, k = 1 in the plane.
    """
    nc, d = f.shape
    own, row_a, row_free = np.empty(nc * d), np.empty(nc * d), np.empty(nc * d)
    row_accelerations(
        rows, inverse_mass, inverse_inertia, a, free, f.reshape(nc * d), own, row_a, row_free
    )
    shape = (nc, d)
    relative_margins(
        conditions, own.reshape(shape), f, row_a.reshape(shape), row_free.reshape(shape), out
    )


@kernel
def relative_margins(conditions, own, f, a, free, out):
    """The same by responses of rows to forces on them, own (nc, d), and by their accelerations with
    forces f and without."""
    island, closed, stick, mu = conditions
    (nc, d), (pull, press, cone) = f.shape, (out[0], out[1], out[2])
    most = 0
    for i in range(nc):
        most = max(most, island[i] + 1)
    size = np.full(most, 1e-300)
    unit = np.ones(nc)
    for i in range(nc):
        if island[i] < 0:
            continue
        mean = 0.0
        for e in range(d):
            mean += own[i, e] / d
        if mean > 0.0:
            unit[i] = np.sqrt(mean)
        for e in range(d):
            here = max(abs(f[i, e]) * unit[i], abs(free[i, e]) / unit[i])
            size[island[i]] = max(size[island[i]], here)
    for i in range(nc):
        pull[i] = press[i] = cone[i] = np.inf
        if island[i] < 0:
            continue
        whole = size[island[i]]
        if closed[i]:
            pull[i] = f[i, 0] * unit[i] / whole
        else:
            press[i] = a[i, 0] / unit[i] / whole
        if stick[i]:
            friction = 0.0
            for e in range(1, d):
                friction += f[i, e] ** 2
            cone[i] = (mu[i] * f[i, 0] - np.sqrt(friction)) * unit[i] / whole


@kernel
def row_accelerations(rows, inverse_mass, inverse_inertia, a, free, r, own, out, out_free):
    """out, out_free (N,): accelerations of rows by those of bodies, with and without forces r (N,)
    on the rows; own (N,): response of each row to a force on it."""
    body, J, bias, soft = rows
    dof, k = a.shape[1], inverse_inertia.shape[1]
    dim = dof - k
    for n in range(bias.size):
        total, rest, response = bias[n] + soft[n] * r[n], bias[n], soft[n]
        for s in range(2):
            b = body[n, s]
            if b < 0:
                continue
            for e in range(dof):
                total += J[n, s, e] * a[b, e]
                rest += J[n, s, e] * free[b, e]
            for e in range(dim):
                response += inverse_mass[b] * J[n, s, e] ** 2
            for e in range(k):
                for f in range(k):
                    turn = J[n, s, dim + e] * J[n, s, dim + f]
                    response += inverse_inertia[b, e, f] * turn
        out[n], out_free[n], own[n] = total, rest, abs(response)


@kernel
def violation(d, diagonal, r, a, q, mu, closed, stick, direction):
    """How far forces r and accelerations a (m,) of an island miss the conditions of an index set,
    relative to the largest force and acceleration, units scaled out by the diagonal of W (m,).

    q (m,): accelerations without forces; d rows a contact, then those of joints; mu, closed, stick
    (nc,); direction (nc, d - 1): of contacts that give way.
    """
    nc, m = closed.size, r.size
    top, size, worst = 0.0, 0.0, 0.0
    for i in range(nc):
        mean = 0.0
        for e in range(d):
            mean += abs(diagonal[d * i + e]) / d
        unit = np.sqrt(mean) if mean > 0.0 else 1.0
        friction, along, slides = 0.0, 0.0, 0.0
        for e in range(d):
            force, motion = r[d * i + e] * unit, a[d * i + e] / unit
            top, size = max(top, abs(force)), max(size, abs(q[d * i + e]) / unit)
            if e > 0:
                friction += force * force
                along += direction[i, e - 1] * motion
                slides = max(slides, abs(motion))
        normal, opening = r[d * i] * unit, a[d * i] / unit
        worst = max(worst, abs(opening) if closed[i] else -opening, -normal, along)
        if stick[i]:
            worst = max(worst, np.sqrt(friction) - mu[i] * normal, slides)
    for k in range(d * nc, m):
        unit = np.sqrt(abs(diagonal[k])) if diagonal[k] != 0.0 else 1.0
        top, size = max(top, abs(r[k]) * unit), max(size, abs(q[k]) / unit)
        worst = max(worst, abs(a[k]) / unit)
    size = max(size, top)
    return worst / size if size > 0.0 else 0.0
