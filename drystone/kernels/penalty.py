"""Springs, dampers and regularised friction in place of contact constraints (Baraff 1992, 2.4)."""

from typing import NamedTuple

import numpy as np

from drystone.kernels._jit import kernel

SPRING, DAMPER, RUBBING, DRIVEN = range(4)  # what `power` is made of


class SpringContacts(NamedTuple):
    """body (nc, 2); point, normal (nc, dim), gap [m], mu (nc,)."""

    body: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    mu: np.ndarray


class SpringLaw(NamedTuple):
    """f_n = max(0, -k gap - c u_n) where gap < 0, f_t = -mu f_n u_t / max(|u_t|, slip); k [N/m],
    c [N s/m], slip [m/s]."""

    k: float
    c: float
    slip: float


@kernel
def contact_springs(contacts, law, moves, position, velocity, force, f, power):
    """Forces f (nc, dim) on bodies A, added with their moments to force (nb, dof).

    moves (nb,) bool; position (nb, dim), velocity (nb, dof).
    power (4,) [W], added to: of the springs, the dampers and friction on all bodies, and what the
    bodies that do not move freely give to the others.
    """
    body, point, normal, gap, mu = contacts
    k, c, slip = law
    dim = point.shape[1]
    u, arm = np.empty(3), np.empty((2, 3))
    for i in range(gap.size):
        for e in range(dim):
            f[i, e] = 0.0
        if gap[i] >= 0.0:
            continue
        for e in range(3):
            u[e] = 0.0
        _relative_velocity(body[i], point[i], position, velocity, arm, u)
        un = 0.0
        for e in range(dim):
            un += normal[i, e] * u[e]
        elastic = -k * gap[i]
        fn = max(0.0, elastic - c * un)
        ut2 = 0.0
        for e in range(dim):
            ut2 += (u[e] - un * normal[i, e]) ** 2
        rub = mu[i] * fn / max(np.sqrt(ut2), slip)
        for e in range(dim):
            f[i, e] = fn * normal[i, e] - rub * (u[e] - un * normal[i, e])
        power[SPRING] += elastic * un
        power[DAMPER] += (fn - elastic) * un
        power[RUBBING] -= rub * ut2
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            work = _push(body[i, side], sign, f[i], arm[side], velocity, force)
            if not moves[body[i, side]]:
                power[DRIVEN] -= work


@kernel
def _relative_velocity(pair, point, position, velocity, arm, u):
    """u (3,) += velocity of A's point minus B's; arm (2, 3): from the centres to the point."""
    dim = point.size
    for side in range(2):
        b, sign = pair[side], 1.0 if side == 0 else -1.0
        for e in range(dim):
            arm[side, e] = point[e] - position[b, e]
        r, v = arm[side], velocity[b]
        if dim == 2:
            u[0] += sign * (v[0] - v[2] * r[1])
            u[1] += sign * (v[1] + v[2] * r[0])
        else:
            u[0] += sign * (v[0] + v[4] * r[2] - v[5] * r[1])
            u[1] += sign * (v[1] + v[5] * r[0] - v[3] * r[2])
            u[2] += sign * (v[2] + v[3] * r[1] - v[4] * r[0])


@kernel
def _push(b, sign, f, r, velocity, force):
    """Add sign f at the arm r to the wrench of body b; its power [W]."""
    dim = f.size
    work = 0.0
    for e in range(dim):
        force[b, e] += sign * f[e]
        work += sign * f[e] * velocity[b, e]
    if dim == 2:
        turn = sign * (r[0] * f[1] - r[1] * f[0])
        force[b, 2] += turn
        return work + turn * velocity[b, 2]
    for e in range(3):
        a, d = (e + 1) % 3, (e + 2) % 3
        turn = sign * (r[a] * f[d] - r[d] * f[a])
        force[b, 3 + e] += turn
        work += turn * velocity[b, 3 + e]
    return work
