"""By how much the conditions of a smooth phase's index sets hold."""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def margins(d, island, closed, stick, mu, own, f, a, free, pull, press, cone):
    """pull, press, cone (nc,): of contacts that press their force, of others their acceleration, of
    sticking ones what is left of friction; relative to the largest force or free acceleration of
    their island.

    island (nc,), -1: none; mu (nc,): the coefficient that acts; own (nc, d): response of each row
    to a force on it; f, a, free (nc, d): forces, accelerations with them and without.
    """
    nc = island.size
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
def row_accelerations(
    body, inverse_mass, inverse_inertia, J, bias, soft, a, free, r, own, out, out_free
):
    """out, out_free (N,): accelerations of rows by those of bodies, a and free (nb, dof), with and
    without forces r (N,) on the rows; own (N,): response of each row to a force on it.

    inverse_inertia (nb, k, k), in world axes, k = 1 in the plane.
    """
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
