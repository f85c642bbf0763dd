"""How fast contact points run over the surfaces they roll on, against how fast the bodies turn.

The point of contact runs at (turning) / (relative curvature). Where that curvature vanishes it
races, and contact forces grow with its speed: R = O(|p'| + 1) (6-35), K10.
"""

from __future__ import annotations

import numpy as np

from drystone.constraints.kinematics.contact import ContactKinematics
from drystone.types import Floats


def rolling_speed(kin: ContactKinematics) -> Floats:
    """(nc,) speed of the contact point over that surface on which it is slower [m/s]: neither slip
    nor a vertex that is dragged over a face counts."""
    speed: Floats = np.sqrt((kin.slide**2).sum(axis=2)).min(axis=1)
    return speed


def turning_speed(kin: ContactKinematics, velocity: Floats) -> Floats:
    """(nc,) how fast one body turns against the other about axes in the contact plane [rad/s];
    velocity (nb, dof) of the bodies."""
    dim = kin.frame.shape[1]
    turn = velocity[kin.body[:, 0], dim:] - velocity[kin.body[:, 1], dim:]
    if dim == 2:
        speed: Floats = np.abs(turn[:, 0])
        return speed
    speed = np.sqrt((np.einsum("iak,ik->ia", kin.frame[:, 1:], turn) ** 2).sum(axis=1))
    return speed
