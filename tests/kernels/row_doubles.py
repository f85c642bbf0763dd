"""Random bodies and contacts as arrays, and their rows by plain linear algebra."""

import numpy as np

from drystone.kernels import rows as kernels
from drystone.kernels.packed import Packed


def random_rows(rng, dim, nb, nc, fixed=1, soft=False):
    """Arrays of nc contacts between nb bodies, the first `fixed` of which do not move."""
    dof, d = 3 * (dim - 1), 4 if soft else dim
    moves = np.arange(nb) >= fixed
    mass = np.where(moves, rng.uniform(0.5, 3, nb), np.inf)
    inverse_mass = 1 / mass
    body = np.array([rng.choice(nb, 2, replace=False) for _ in range(nc)])
    still = ~moves[body].any(axis=1)
    body[still, 1] = nb - 1
    position, point = rng.normal(size=(nb, dim)), rng.normal(size=(nc, dim))
    normal = rng.normal(size=(nc, dim))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    frame = np.empty((nc, d, dim))
    J, P = np.empty((nc, d, 2, dof)), np.empty((nc, d, 2, dof))
    D = np.empty((nc, d, d))
    if dim == 2:
        inverse_inertia = np.where(moves, rng.uniform(0.5, 2, nb), 0.0)
        kernels.frames_planar(normal, frame)
        fill = kernels.rows_planar
    else:
        root = rng.normal(size=(nb, 3, 3))
        inverse_inertia = np.einsum("iab,icb->iac", root, root) + 0.3 * np.eye(3)
        inverse_inertia[~moves] = 0.0
        kernels.frames_spatial(normal, np.zeros((nc, 3)), np.ones((nc, 2)), 0.3, frame)
        fill = kernels.rows_spatial
    fill(inverse_mass, inverse_inertia, position, body, point, frame, J, P, D)
    return {
        "moves": moves, "inverse_mass": inverse_mass, "inverse_inertia": inverse_inertia,
        "body": body, "position": position, "point": point, "normal": normal, "frame": frame,
        "J": J, "P": P, "D": D, "dim": dim, "dof": dof, "d": d, "nb": nb, "nc": nc,
    }  # fmt: skip


def inverse_mass_matrix(a):
    """M^-1 of all bodies, dense."""
    dim, dof = a["dim"], a["dof"]
    out = np.zeros((a["nb"] * dof, a["nb"] * dof))
    for b in range(a["nb"]):
        at = b * dof
        out[at : at + dim, at : at + dim] = a["inverse_mass"][b] * np.eye(dim)
        out[at + dim : at + dof, at + dim : at + dof] = a["inverse_inertia"][b]
    return out


def dense_J(a):
    """J of all contacts over all bodies, dense."""
    d, dof = a["d"], a["dof"]
    out = np.zeros((a["nc"] * d, a["nb"] * dof))
    for i in range(a["nc"]):
        for s in range(2):
            b = a["body"][i, s]
            out[i * d : (i + 1) * d, b * dof : (b + 1) * dof] += a["J"][i, :, s]
    return out


def solve_record(a, start, bias, mu, law, tol, most, v, r, q, chosen=None, **more):
    """What ``contact.sweeps`` reads of a step, and what it gives, for rows of ``random_rows``."""
    ni, whole = len(start) - 1, np.int64
    limit, sweeps = np.full(ni, float(tol)), np.full(ni, int(most))
    chosen = np.arange(ni) if chosen is None else np.array(chosen)
    given = {
        "start": np.array(start), "body": a["body"], "bias": bias, "mu": mu, "law": law, "v": v,
        "r": r, "q": q, "u": np.full_like(r, np.nan), "island_tol": limit, "loose_tol": limit,
        "fallback_tol": limit, "min_sweeps": sweeps, "sweep_limit": sweeps, "leave": 0,
        "only_sweeps": 0,
        "chosen": chosen, "n_chosen": len(chosen), "ended": np.zeros(ni, whole),
        "sweeps": np.zeros(ni, whole), "residual": np.zeros((ni, 2)), "lam": np.zeros(len(r)),
        "tol": 0.0, "energy_gap": np.zeros(ni),
        "seen": np.empty(len(v), whole), "mine": np.empty(len(v), whole),
        **{name: a[name] for name in ("J", "P", "D") if name in a},
    }  # fmt: skip
    return Packed(**given | more)
