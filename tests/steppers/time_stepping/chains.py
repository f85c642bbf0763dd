"""Chains for tests, and their motion by minimal coordinates: the angles of the links."""

import numpy as np
from scipy.integrate import solve_ivp

import drystone as ds

G, LENGTH, MASS = 9.81, 0.1, 0.1


def chain(links, bob, angle, planar=True):
    """Rods of LENGTH and MASS, the first one pinned at the origin; `bob` link masses are a point
    at the end of the last one. angle [rad] from the vertical."""
    world = ds.World(planar=planar)
    way = np.array([np.sin(angle), -np.cos(angle)])
    mass, centre, inertia = numbers(links, bob)
    before, place = "world", lambda x: tuple(x) if planar else (x[0], 0.0, x[1])
    for k in range(links):
        along = k * LENGTH + centre[k]
        spin = inertia[k] if planar else (inertia[k], inertia[k], 0.1 * inertia[k])
        turn = angle if planar else (np.cos(0.5 * angle), 0.0, -np.sin(0.5 * angle), 0.0)
        shape = ds.Disk(0.01) if planar else ds.Sphere(0.01)
        world.add_body(
            shape, name=f"link{k}", mass=mass[k], inertia=spin, position=place(along * way),
            orientation=turn, layer=(),
        )  # fmt: skip
        joint = ds.Pin if planar else ds.Ball
        anchor = place(k * LENGTH * way)
        world.add_joint(joint(f"link{k}", before, anchor=anchor, name=f"joint{k}"))
        before = f"link{k}"
    return world


def numbers(links, bob):
    """Mass, distance of the centre of mass from the upper joint, inertia about it, of each link."""
    mass, centre = np.full(links, MASS), np.full(links, 0.5 * LENGTH)
    inertia = np.full(links, MASS * LENGTH**2 / 12.0)
    own, extra = MASS, bob * MASS
    mass[-1] = own + extra
    centre[-1] = (0.5 * own + extra) * LENGTH / mass[-1]
    inertia[-1] += own * (centre[-1] - 0.5 * LENGTH) ** 2 + extra * (LENGTH - centre[-1]) ** 2
    return mass, centre, inertia


def reference(links, bob, angle, times):
    """Centre of mass of the last link (n, 2) and its velocity at `times`, from rest.

    Lagrange's equations with the angles as coordinates: x_k = sum_j A_kj e(theta_j).
    """
    mass, centre, inertia = numbers(links, bob)
    A = np.tril(np.full((links, links), LENGTH), -1) + np.diag(centre)
    B, weight = A.T @ (mass[:, None] * A), A.T @ mass

    def rate(_, y):
        theta, omega = y[:links], y[links:]
        apart = theta[:, None] - theta
        M = B * np.cos(apart) + np.diag(inertia)
        load = -(B * np.sin(apart)) @ omega**2 - G * weight * np.sin(theta)
        return np.concatenate([omega, np.linalg.solve(M, load)])

    start = np.concatenate([np.full(links, angle), np.zeros(links)])
    ends = (0.0, times[-1])
    y = solve_ivp(rate, ends, start, method="DOP853", rtol=1e-9, atol=1e-9, t_eval=times).y
    theta, omega = y[:links], y[links:]
    place = np.stack([A[-1] @ np.sin(theta), -A[-1] @ np.cos(theta)], axis=1)
    speed = np.stack([A[-1] @ (omega * np.cos(theta)), A[-1] @ (omega * np.sin(theta))], axis=1)
    return place, speed
