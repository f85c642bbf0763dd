"""Rows of islands on their own bodies; forces of a smooth phase by its index sets: equations of all
islands, and what follows.

N rows: d of every contact, normal first, then those of joints. J (N, 2, dof); P = M^-1 J'. Friction
that is tied to the normal force acts with it: S is P with the normal rows of such contacts turned.
"""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def slip_friction(frame, u, slides, frozen, way, direction, tied, mu, friction):
    """friction (nc, d - 1): f_t over f_n of contacts whose friction is tied, else zeros.

    way (nc, dim): direction of frozen slip, in the world; direction (nc, d - 1): of friction that
    gives way, in the contact's frame; mu (nc, 2): static, dynamic.
    """
    for i in range(u.shape[0]):
        length = 0.0
        for t in range(friction.shape[1]):
            s = 0.0
            if slides[i] and not frozen[i]:
                s = u[i, 1 + t]
            elif slides[i]:
                for e in range(way.shape[1]):
                    s += frame[i, 1 + t, e] * way[i, e]
            friction[i, t] = s
            length += s * s
        length = np.sqrt(length)
        for t in range(friction.shape[1]):
            s = friction[i, t] / length if length > 0.0 else 0.0
            size = mu[i, 1] if length > 0.0 else mu[i, 0]
            friction[i, t] = size * (direction[i, t] - s) if tied[i] else 0.0


@kernel
def responses(body, J, inverse_mass, inverse_inertia, P):
    """P (N, 2, dof) = M^-1 J'; inverse_inertia (nb,) or (nb, 3, 3) as (nb, k, k)."""
    k = inverse_inertia.shape[1]
    dim = J.shape[2] - k
    for r in range(J.shape[0]):
        for s in range(2):
            b = body[r, s]
            for e in range(J.shape[2]):
                P[r, s, e] = 0.0
            if b < 0:
                continue
            for e in range(dim):
                P[r, s, e] = inverse_mass[b] * J[r, s, e]
            for e in range(k):
                total = 0.0
                for f in range(k):
                    total += inverse_inertia[b, e, f] * J[r, s, dim + f]
                P[r, s, dim + e] = total


@kernel
def tie(friction, tied, P):
    """Turn the normal rows of tied contacts in P: S."""
    d = friction.shape[1] + 1
    for i in range(tied.size):
        if not tied[i]:
            continue
        for t in range(1, d):
            for s in range(2):
                for e in range(P.shape[2]):
                    P[d * i, s, e] += friction[i, t - 1] * P[d * i + t, s, e]


@kernel
def add_rows(rows, r, body, S, a):
    """a (nb, dof) += S r of some rows."""
    for k in range(rows.size):
        for s in range(2):
            b = body[rows[k], s]
            if b < 0 or r[k] == 0.0:
                continue
            for e in range(a.shape[1]):
                a[b, e] += r[k] * S[rows[k], s, e]


@kernel
def equations(rows, bears, body, moves, J, S, bias, soft, a, B, load):
    """B (n, m) transposed, for LAPACK, and load (m,) of one island's rows (m,): forces on the rows
    `bears` (n,) that leave them without acceleration; a (nb, dof): accelerations without."""
    m = rows.size
    for k in range(m):
        r = rows[k]
        total = bias[r]
        for s in range(2):
            b = body[r, s]
            if b >= 0:
                for e in range(a.shape[1]):
                    total += J[r, s, e] * a[b, e]
        load[k] = -total
        for n in range(bears.size):
            q, total = bears[n], 0.0
            for s in range(2):
                b = body[r, s]
                if b < 0 or not moves[b]:
                    continue
                for o in range(2):
                    if body[q, o] == b:
                        for e in range(a.shape[1]):
                            total += J[r, s, e] * S[q, o, e]
            B[n, k] = total + (soft[r] if q == r else 0.0)


@kernel
def powers(nc, d, body, driven, J, r, u, velocity, out):
    """Rates of work into out (4,): of friction (2) and constraints (3); of driven bodies (1).

    r, u (N,): forces and velocities of the rows, nc contacts of d first; driven (nb,).
    """
    for k in range(r.size):
        if r[k] == 0.0:
            continue
        friction = k < nc * d and k % d != 0
        out[2 if friction else 3] += r[k] * u[k]
        for s in range(2):
            b = body[k, s]
            if b >= 0 and driven[b]:
                for e in range(velocity.shape[1]):
                    out[1] -= r[k] * J[k, s, e] * velocity[b, e]


@kernel
def island_bodies(body, contacts, joint_body, joints, place, out):
    """Bodies of some contacts and joints, ascending, into out; place (nb + 1,) gets the number of
    each among them, work of -1s before. -> how many."""
    for k in range(contacts.size + joints.size):
        for s in range(2):
            b = (
                body[contacts[k], s]
                if k < contacts.size
                else joint_body[joints[k - contacts.size], s]
            )
            if b >= 0:
                place[b] = 0
    n = 0
    for b in range(place.size):
        if place[b] == 0:
            place[b], out[n] = n, b
            n += 1
    return n


@kernel
def island_rows(
    body, J, contacts, joint_body, joint_J, joints, place, inverse_mass, inverse_inertia, rows, P
):
    """rows, P (m, n dof), zeros before: J and J M^-1 of d rows a contact, then of joints.

    inverse_inertia (nb, k, k), in world axes, k = 1 in the plane.
    """
    d, dof, k = J.shape[1], J.shape[3], inverse_inertia.shape[1]
    dim, nd = dof - k, contacts.size * d
    for r in range(rows.shape[0]):
        for s in range(2):
            b = body[contacts[r // d], s] if r < nd else joint_body[joints[r - nd], s]
            if b < 0:
                continue
            row = J[contacts[r // d], r % d, s] if r < nd else joint_J[joints[r - nd], s]
            at = place[b] * dof
            for e in range(dof):
                rows[r, at + e] += row[e]
            for e in range(dim):
                P[r, at + e] += inverse_mass[b] * row[e]
            for e in range(k):
                total = 0.0
                for f in range(k):
                    total += row[dim + f] * inverse_inertia[b, f, e]
                P[r, at + dim + e] += total
