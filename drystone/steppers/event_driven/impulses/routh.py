"""Exact impact of one contact in the plane: slip, stick and reversed slip (Routh 1860).

Wang and Mason (1992) give the outcome case by case; here the path in impulse space is followed,
which is straight between at most three corners: slip stops, compression ends, the impact ends.
"""

from __future__ import annotations

import numpy as np

from drystone.steppers.event_driven.impulses.progress import Progress, Restitution
from drystone.types import Floats


def routh(
    K: Floats, u: Floats, mu: float, eps: float, restitution: Restitution = "poisson"
) -> tuple[Floats, tuple[str, ...]]:
    """(impulse (2,), phases) of a contact with velocity u (2,) and u+ = u + K r.

    K (2, 2): symmetric positive definite, normal first. Contacts that do not approach (u_n > 0,
    or u_n = 0 and no jam) take no impulse; u_n = 0 with friction that pulls the sliding contact
    together is the impact without collision of Baraff 1992, 13.1.
    """
    state = Progress(restitution, eps, min(float(u[0]), 0.0), float(u[0]))
    ut, pt = float(u[1]), 0.0
    phases: list[str] = []
    f, word = friction_ratio(K, ut, mu)
    if u[0] > 0.0 or (u[0] == 0.0 and K[0, 0] + K[0, 1] * f > 0.0):
        return np.zeros(2), ()
    while True:
        f, word = friction_ratio(K, ut, mu)
        if not phases or phases[-1] != word:
            phases.append(word)
        slope_n, slope_t = K[0, 0] + K[0, 1] * f, K[1, 0] + K[1, 1] * f
        if word == "stick":
            slope_t = 0.0  # to the bit: rounding must not make it slip
        stop = -ut / slope_t if ut * slope_t < 0.0 else np.inf
        left = state.left(slope_n)
        length = min(stop, left)
        if not np.isfinite(length):  # K is not positive definite: nothing opposes the approach
            return np.full(2, np.nan), tuple(phases)
        state.move(length, slope_n)
        ut, pt = ut + slope_t * length, pt + f * length
        if stop <= left:
            ut = 0.0
        elif state.compressing:
            state.turn()
        else:
            return np.array([state.p, pt]), tuple(phases)


def friction_ratio(K: Floats, ut: float, mu: float) -> tuple[float, str]:
    """(r_t' per unit of normal impulse, word): against the slip; without slip what keeps it so."""
    if ut != 0.0:
        return -mu * float(np.sign(ut)), "slip+" if ut > 0.0 else "slip-"
    if abs(K[1, 0]) <= mu * K[1, 1]:
        # without tangential freedom (joints) there is nothing to hold
        return (-float(K[1, 0] / K[1, 1]) if K[1, 1] > 0.0 else 0.0), "stick"
    side = float(np.sign(K[1, 0]))  # the way it is pushed when friction cannot hold it
    return -mu * side, "slip+" if side > 0 else "slip-"
