"""Which contacts a step must know, and what friction and restitution they have."""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.radix import lower_bound
from drystone.kernels.union_find import root_of


@stage
def body_reach(velocity, radius, h, reach):
    """reach (nb,): how far a body's surface can move in h by itself; returns the greatest.

    velocity (nb, dof) after forces; radius (nb,) about the centre of mass [m], inf for unbounded
    bodies, which only translate.
    """
    dim = 2 if velocity.shape[1] == 3 else 3
    most = 0.0
    for i in range(reach.size):
        v, w = 0.0, 0.0
        for a in range(dim):
            v += velocity[i, a] ** 2
        for a in range(dim, velocity.shape[1]):
            w += velocity[i, a] ** 2
        reach[i] = h * np.sqrt(v)
        if w > 0.0 and radius[i] < np.inf:
            reach[i] += h * np.sqrt(w) * radius[i]
        most = max(most, reach[i])
    return most


@stage
def activate(body, gap, reach, moves, root, fast, keep):
    """keep (nc,): contacts that could close within the step; returns how many.

    A contact is kept if its gap is within what its own two bodies can travel. A blow travels
    further: bodies of one island (joined by kept contacts) may all end as fast as its fastest, so
    gaps within that reach are kept too, until nothing changes; a prescribed body lends its speed
    to what it strikes. This is the guideline
    eps ~ v_max h of Hart and Anitescu, taken by island. root, fast (nb,): work.
    """
    nc = gap.size
    for b in range(reach.size):
        root[b] = b
        fast[b] = reach[b]
    for i in range(nc):
        a, b = body[i, 0], body[i, 1]
        keep[i] = gap[i] <= reach[a] + reach[b]
        if keep[i]:
            _join(a, b, moves, root, fast)
    for _ in range(3):
        changed = False
        for i in range(nc):
            if not keep[i]:
                a, b = root_of(body[i, 0], root), root_of(body[i, 1], root)
                if gap[i] <= max(fast[a], fast[b]):
                    keep[i] = True
                    changed = True
                    _join(a, b, moves, root, fast)
        if not changed:
            break
    count = 0
    for i in range(nc):
        if keep[i]:
            count += 1
    return count


@stage
def _join(a, b, moves, root, fast):
    a, b = root_of(a, root), root_of(b, root)
    if not (moves[a] and moves[b]):
        struck = a if moves[a] else b
        fast[struck] = max(fast[a], fast[b])
        return
    low, high = min(a, b), max(a, b)
    root[high] = low
    fast[low] = max(fast[a], fast[b])


STICKING = 1e4  # coefficients of friction beyond count as this one: what is in contact sticks
# unless it is pulled along with 10^4 times the force that presses, and sums of both keep 12 digits


@stage
def pair_materials(body, friction, restitution, key, rule_friction, rule_restitution, mu, eps):
    """mu, eps (nc, 2) of contacts: the rule of the pair of bodies where it has one, else
    sqrt(mu_a mu_b) and max(eps_a, eps_b); mu at most STICKING."""
    nb = friction.shape[0]
    for i in range(body.shape[0]):
        a, b = body[i, 0], body[i, 1]
        for k in range(2):
            fa, fb = friction[a, k], friction[b, k]
            mu[i, k] = min(fa if fa == fb else np.sqrt(fa * fb), STICKING)
            eps[i, k] = max(restitution[a, k], restitution[b, k])
        if key.size == 0:
            continue
        wanted = min(a, b) * nb + max(a, b)
        low = lower_bound(key, 0, key.size, wanted)
        if low < key.size and key[low] == wanted:
            for k in range(2):
                if not np.isnan(rule_friction[low, k]):
                    mu[i, k] = min(rule_friction[low, k], STICKING)
                if not np.isnan(rule_restitution[low, k]):
                    eps[i, k] = rule_restitution[low, k]
