"""The scheme of 2003 written down plainly, with dense matrices: what compiled steps are to give.

Contacts are those of the stepper's own detection; all else is worked out here. Impulses are those
of ``ds.solve``, to rounding. For worlds whose impulses are unique.
"""

from dataclasses import dataclass

import numpy as np

import drystone as ds
from drystone.dynamics.frames import rotations
from drystone.model import State


@dataclass
class PlainStep:
    """friction [J]: work of the tangential impulses; r (nc, dim): impulses."""

    state: State
    friction: float
    r: np.ndarray


def world_inertia(model, state):
    """M as (nb, dof, dof), its inverse with none of what does not move."""
    dim, dof = model.dim, model.dof
    M = np.zeros((model.nb, dof, dof))
    R = rotations(state.orientation)
    for b in np.flatnonzero(model.inverse_mass > 0):
        M[b, :dim, :dim] = np.eye(dim) * model.mass[b]
        M[b, dim:, dim:] = model.inertia[b] if dim == 2 else R[b] @ model.inertia[b] @ R[b].T
    inverse = np.zeros_like(M)
    for b in np.flatnonzero(model.inverse_mass > 0):
        inverse[b] = np.linalg.solve(M[b], np.eye(dof))
    return M, inverse


def contact_rows(model, state, contacts):
    """J (nc, dim, nb, dof): velocities along the normal and two tangents, a against b."""
    dim, body = model.dim, model.geoms.body
    J = np.zeros((len(contacts), dim, model.nb, model.dof))
    for i, n in enumerate(contacts.normal):
        if dim == 2:
            frame = [n, np.array([-n[1], n[0]])]
        else:
            first = np.cross(n, np.eye(3)[np.abs(n).argmin()])
            first /= np.linalg.norm(first)
            frame = [n, first, np.cross(n, first)]
        for sign, geom in ((1.0, contacts.geom_a[i]), (-1.0, contacts.geom_b[i])):
            b = body[geom]
            arm = contacts.point[i] - state.position[b]
            for a, t in enumerate(frame):
                J[i, a, b, :dim] += sign * t
                turning = arm[0] * t[1] - arm[1] * t[0] if dim == 2 else np.cross(arm, t)
                J[i, a, b, dim:] += sign * turning
    return J


def impulses(model, state, method, contacts, v_free, h, inverse):
    """Those of the step's friction problem (nc dim,), and velocities after them."""
    dim, nc = model.dim, len(contacts)
    if nc == 0:
        return np.zeros(0), v_free.copy(), np.zeros((0, dim, model.nb, model.dof))
    J = contact_rows(model, state, contacts)
    flat = J.reshape(nc * dim, -1)
    P = np.einsum("bij,rbj->rbi", inverse, J.reshape(nc * dim, model.nb, model.dof))
    q = flat @ v_free.ravel()
    q[::dim] += contacts.gap / h if method.stabilize else 0.0
    body = model.geoms.body
    pair = body[contacts.geom_a], body[contacts.geom_b]
    mu = np.sqrt(model.friction[pair[0], 0] * model.friction[pair[1], 0])
    W = flat @ P.reshape(nc * dim, -1).T
    cone = method.cone if dim == 3 else None
    problem = ds.FrictionProblem(W, q, mu, dim=dim, law=method.formulation, cone=cone)
    answer = ds.solve(problem, tol=1e-11)
    assert answer.ok, answer
    r = answer.value
    return r, v_free + np.einsum("r,rbi->bi", r, P), J


def plain_step(sim, state, h, contacts):
    """One step of order 1 with rotation="explicit"."""
    model, method = sim.model, sim.method
    dim = model.dim
    M, inverse = world_inertia(model, state)
    load = np.zeros_like(state.velocity)
    load[:, :dim] = model.mass[:, None] * model.gravity
    for item in model.forces:
        item.add(model, state, load)
    if dim == 3:
        for b in range(model.nb):
            w = state.velocity[b, 3:]
            load[b, 3:] -= np.cross(w, M[b, 3:, 3:] @ w)
    v_free = state.velocity + h * np.einsum("bij,bj->bi", inverse, load)
    r, v, J = impulses(model, state, method, contacts, v_free, h, inverse)
    after = state.copy()
    after.velocity, after.time = v, state.time + h
    after.position = state.position + h * v[:, :dim]
    after.orientation = turned(state.orientation, h * v[:, dim:])
    power = r.reshape(-1, dim) * np.einsum("iabe,be->ia", J, v)
    return PlainStep(after, float(power[:, 1:].sum()), r.reshape(-1, dim))


def turned(orientation, angle):
    """Orientations after turns by these vectors."""
    if orientation.ndim == 1:
        return orientation + angle[:, 0]
    out = orientation.copy()
    for b, w in enumerate(angle):
        size = np.linalg.norm(w)
        u = 0.5 * np.sinc(0.5 * size / np.pi) * w
        s, x = np.cos(0.5 * size), orientation[b]
        out[b] = np.concatenate([[s * x[0] - u @ x[1:]], s * x[1:] + x[0] * u + np.cross(u, x[1:])])
    return out
