"""Energy of bodies, the work of a step's impulses, and the law's conditions as sums."""

from drystone.kernels._jit import stage


@stage
def kinetic(mass, inertia, velocity):
    """Kinetic energy [J] in the plane, or in space with inertia (nb, 3, 3) in world axes."""
    if inertia.ndim == 1:  # a constant for the compiler: only one of them is compiled
        return kinetic_planar(mass, inertia, velocity)
    return kinetic_spatial(mass, inertia, velocity)


@stage
def kinetic_planar(mass, inertia, velocity):
    """Kinetic energy [J]; mass 0: not a body that carries energy."""
    total = 0.0
    for i in range(mass.size):
        v = velocity[i, 0] ** 2 + velocity[i, 1] ** 2
        total += 0.5 * (mass[i] * v + inertia[i] * velocity[i, 2] ** 2)
    return total


@stage
def kinetic_spatial(mass, inertia, velocity):
    """The same; inertia (nb, 3, 3) in world axes."""
    total = 0.0
    for i in range(mass.size):
        if mass[i] > 0.0:
            w = velocity[i, 3:]
            v = velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + velocity[i, 2] ** 2
            for a in range(3):
                for b in range(3):
                    total += 0.5 * w[a] * inertia[i, a, b] * w[b]
            total += 0.5 * mass[i] * v
    return total


@stage
def contact_work(body, moves, J, r, before, after, out):
    """Work of impulses r (nc, d) while body velocities went from `before` to `after` (nb, dof).

    Adds to out: [0] friction r_t.u_t', [1] impact r.(u - u') / 2, [2] constraint r_n u_n',
    [3] driving: work of bodies that move as prescribed. Their sum is the kinetic energy that the
    moving bodies gained from r.
    """
    for i in range(body.shape[0]):
        for c in range(r.shape[1]):
            old, new, driven = 0.0, 0.0, 0.0
            for s in range(2):
                b = body[i, s]
                for e in range(J.shape[3]):
                    old += J[i, c, s, e] * before[b, e]
                    new += J[i, c, s, e] * after[b, e]
                    if not moves[b]:
                        driven += J[i, c, s, e] * 0.5 * (before[b, e] + after[b, e])
            out[1] += 0.5 * r[i, c] * (old - new)
            out[2 if c == 0 else 0] += r[i, c] * new
            out[3] -= r[i, c] * driven
