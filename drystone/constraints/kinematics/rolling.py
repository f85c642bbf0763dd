"""How fast contact points run over the surfaces they roll on, against how fast the bodies turn.

Turning at w against a plane moves the point by K^-1 w, K the curvature, and adds w.K^-1.w to C''.
Where the curvature along w vanishes the point races, and contact forces grow with its speed:
R = O(|p'| + 1) (6-35).
"""

from __future__ import annotations

import numpy as np

from drystone.constraints.kinematics.contact import ContactKinematics
from drystone.kernels.kinematics.rolling import rolling_rates
from drystone.types import Floats

STILL = 1e-6  # [rad/s]: turning that counts


def rolling(kin: ContactKinematics, velocity: Floats) -> tuple[Floats, Floats]:
    """(nc,) how fast the normal turns in the bodies [rad/s], at least STILL, and how fast that
    moves the contact point over them, along the same way [m/s]: their ratio is a mean of the
    bodies' radii of curvature. velocity (nb, dof) of the bodies."""
    turning, power = np.empty(len(kin)), np.empty(len(kin))
    normal = np.ascontiguousarray(kin.frame[:, 0])
    rolling_rates(kin.body, velocity, normal, kin.normal_rate, kin.slide, turning, power)
    turning = np.maximum(turning, STILL)
    return turning, power / turning
