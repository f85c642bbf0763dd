"""Contact accelerations as a linear function of contact forces."""

from __future__ import annotations

import numpy as np

from drystone.constraints.kinematics.contact import ContactKinematics
from drystone.types import Floats


def contact_system(
    contacts: ContactKinematics,
    inverse_mass: Floats,
    inverse_inertia: Floats,
    acceleration: Floats,
) -> tuple[Floats, Floats]:
    """A (nc d, nc d), b (nc d,) of the contact accelerations A f + b at contact forces f (nc d,).

    inverse_mass (nb,), inverse_inertia (nb,) or (nb, 3, 3) in world axes, zero for bodies that
    forces do not move; acceleration (nb, dof): without contact forces, omega x I omega included.
    f: normal force on A along n, then along the tangents. A = J M^-1 J' is symmetric and positive
    semidefinite, because the normals are unit vectors. (Baraff's thesis writes A f - b.)
    """
    nc, d, _, dof = contacts.J.shape
    nb, dim = acceleration.shape[0], contacts.frame.shape[2]
    J = np.zeros((nc, d, nb, dof))
    row = np.arange(nc)
    for side in range(2):
        J[row, :, contacts.body[:, side]] += contacts.J[:, :, side]
    P = np.empty_like(J)
    P[..., :dim] = J[..., :dim] * inverse_mass[:, None]
    if dim == 2:
        P[..., 2] = J[..., 2] * inverse_inertia
    else:
        P[..., 3:] = np.einsum("bij,rabj->rabi", inverse_inertia, J[..., 3:])
    wide = J.reshape(nc * d, nb * dof)
    A = wide @ P.reshape(nc * d, nb * dof).T
    return 0.5 * (A + A.T), contacts.accel(acceleration).ravel()
