"""Instants of small systems, built by hand: what the tests of forces and impulses share."""

import numpy as np

from drystone.steppers.event_driven.forces import ContactState


def planar_rows(arm, normal):
    """(2, 3) rows (normal, tangent) of a point at `arm` of a planar body."""
    (x, y), (nx, ny) = arm, normal
    tx, ty = ny, -nx
    return np.array([[nx, ny, x * ny - y * nx], [tx, ty, x * ty - y * tx]])


def spatial_rows(arm, normal):
    """(3, 6) rows (normal, two tangents) of a point at `arm` of a spatial body."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    helper = np.eye(3)[int(np.argmin(np.abs(n)))]
    t = np.cross(n, helper)
    t /= np.linalg.norm(t)
    axes = np.array([n, t, np.cross(n, t)])
    return np.hstack([axes, np.cross(arm, axes)])


def particle_on_incline(angle, mu, *, speed=0.0, g=9.81, mass=1.0):
    """A particle on a plane inclined by `angle`; axes along the plane; positive t is downhill."""
    J = np.zeros((1, 2, 2, 3))
    J[0, :, 0] = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    return ContactState(
        body=[[0, -1]], J=J, u=[[0.0, speed]], mu=np.atleast_2d(mu) if np.ndim(mu) else mu,
        inverse_mass=[1 / mass], inverse_inertia=[0.0],
        acceleration=[[g * np.sin(angle), -g * np.cos(angle), 0.0]],
    )  # fmt: skip


def rod(mu, *, angle, inertia, spin=0.0, slip=-1.0, g=9.81, mass=1.0, restitution=0.0):
    """A rod of length two whose lower tip touches the ground; Baraff 1992, figures 10.1 and 10.3.

    slip: velocity of the tip along +x; spin: of the rod, which gives the tip the centripetal
    acceleration spin^2 (cos, sin) towards the centre.
    """
    c, s = np.cos(angle), np.sin(angle)
    J = np.zeros((1, 2, 2, 3))
    J[0, :, 0] = planar_rows((-c, -s), (0.0, 1.0))
    return ContactState(
        body=[[0, -1]], J=J, u=[[0.0, slip]], mu=mu, restitution=restitution,
        inverse_mass=[1 / mass], inverse_inertia=[1 / inertia], acceleration=[[0.0, -g, 0.0]],
        bias=[[spin**2 * s, spin**2 * c]],
    )  # fmt: skip


def row_of_balls(masses, velocities, restitution):
    """Balls on a line, each touching the next, ball i on the left of ball i + 1."""
    n = len(masses)
    J = np.zeros((n - 1, 2, 2, 3))
    J[:, 0, 0, 0], J[:, 0, 1, 0] = -1.0, 1.0
    J[:, 1, 0, 1], J[:, 1, 1, 1] = 1.0, -1.0
    v = np.asarray(velocities, float)
    u = np.zeros((n - 1, 2))
    u[:, 0] = v[1:] - v[:-1]
    return ContactState(
        body=[[i, i + 1] for i in range(n - 1)], J=J, u=u, mu=0.0, restitution=restitution,
        inverse_mass=1 / np.asarray(masses, float), inverse_inertia=np.ones(n),
    )  # fmt: skip


def random_state(seed, *, dim=2, bodies=2, contacts=4, joints=0, mu=0.0, slides=0.0, lean=0.3):
    """Bodies touching each other and the ground at random places, loads in the range of J."""
    rng = np.random.default_rng(seed)
    dof = 3 if dim == 2 else 6
    rows = planar_rows if dim == 2 else spatial_rows
    up = np.eye(dim)[-1]
    body, J = np.zeros((contacts, 2), np.int64), np.zeros((contacts, dim, 2, dof))
    for i in range(contacts):
        a = int(rng.integers(bodies))
        b = int(rng.integers(-1, bodies))
        body[i] = a, -1 if b == a else b
        normal = up + lean * rng.normal(size=dim)
        normal /= np.linalg.norm(normal)
        J[i, :, 0] = rows(0.5 * rng.normal(size=dim), normal)
        if body[i, 1] >= 0:
            J[i, :, 1] = -rows(0.5 * rng.normal(size=dim), normal)
    u = np.zeros((contacts, dim))
    moving = rng.uniform(size=contacts) < slides
    u[moving, 1:] = rng.normal(size=(int(moving.sum()), dim - 1))
    inertia = 0.3 + rng.uniform(size=bodies)
    if dim == 3:
        turn = np.linalg.qr(rng.normal(size=(bodies, 3, 3)))[0]
        inertia = turn @ (np.eye(3) * (0.3 + rng.uniform(size=(bodies, 3, 1)))) @ turn.mT
    joint_body = np.column_stack([rng.integers(bodies, size=joints), np.full(joints, -1)])
    joint_J = np.zeros((joints, 2, dof))
    joint_J[:, 0] = rng.normal(size=(joints, dof))
    gravity = np.zeros((bodies, dof))
    gravity[:, dim - 1] = -9.81
    return ContactState(
        body=body, J=J, u=u, mu=mu, inverse_mass=0.5 + rng.uniform(size=bodies),
        inverse_inertia=inertia, acceleration=gravity + rng.normal(size=(bodies, dof)),
        joint_body=joint_body, joint_J=joint_J,
    )  # fmt: skip


def dense_rows(state):
    """(contacts' rows, joints' rows, M^-1) over all bodies, by plain loops."""
    dof, n = state.dof, state.nb * state.dof
    rows = np.zeros((state.nc * state.d, n))
    for i in range(state.nc):
        for side in (0, 1):
            b = state.body[i, side]
            if b >= 0:
                span = slice(i * state.d, (i + 1) * state.d)
                rows[span, b * dof : (b + 1) * dof] += state.J[i, :, side]
    joints = np.zeros((state.nj, n))
    for j in range(state.nj):
        for side in (0, 1):
            b = state.joint_body[j, side]
            if b >= 0:
                joints[j, b * dof : (b + 1) * dof] += state.joint_J[j, side]
    inverse = np.zeros((n, n))
    for b in range(state.nb):
        at = b * dof
        for k in range(state.d):
            inverse[at + k, at + k] = state.inverse_mass[b]
        if state.d == 2:
            inverse[at + 2, at + 2] = state.inverse_inertia[b]
        else:
            inverse[at + 3 : at + 6, at + 3 : at + 6] = state.inverse_inertia[b]
    return rows, joints, inverse
