"""The rows of an island on its own bodies, dense: J and J M^-1."""

from drystone.kernels._jit import kernel


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
