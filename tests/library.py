"""Problems that many tests share: friction problems of random rigid bodies, and where files lie."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import drystone as ds


def third_party_folder() -> Path | None:
    """shared/problems beside the project or above it, or None."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared" / "problems").is_dir():
            return folder / "shared" / "problems"
    return None


def body_rows(rng, bodies, contacts, dim=3, spin=False):
    """Contact Jacobian (d nc, ndof) of random bodies with random frames and arms; some on ground.

    Rows of a contact: normal, tangents and, if `spin`, the relative spin about the normal.
    """
    ndof = 6 if dim == 3 else 3
    d = dim + 1 if spin else dim
    rows = np.zeros((d * contacts, ndof * bodies))
    for c in range(contacts):
        a = int(rng.integers(bodies))
        b = int(rng.integers(-1, bodies))
        frame = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
        for sign, body in ((1.0, a), (-1.0, b)):
            if body < 0 or (body == a and sign < 0):
                continue
            arm = 0.7 * rng.normal(size=dim)
            for k in range(dim):
                turn = (
                    np.cross(arm, frame[k])
                    if dim == 3
                    else [arm[0] * frame[k, 1] - arm[1] * frame[k, 0]]
                )
                rows[d * c + k, ndof * body : ndof * (body + 1)] += sign * np.concatenate(
                    [frame[k], turn]
                )
            if spin:
                rows[d * c + dim, ndof * body + 3 : ndof * body + 6] += sign * frame[0]
    return rows


def random_bodies(rng, bodies, contacts, *, dim=3, mass_ratio=1.0, bilateral=0, spin=False, **rest):
    """A friction problem of random rigid bodies; q is in the range of J, so a solution exists."""
    ndof = 6 if dim == 3 else 3
    J = body_rows(rng, bodies, contacts, dim, spin)
    if bilateral:
        J = np.vstack([J, rng.normal(size=(bilateral, J.shape[1]))])
    mass = mass_ratio ** rng.uniform(size=bodies)
    inverse = sp.diags_array(np.repeat(1.0 / mass, ndof) * rng.uniform(1, 4, ndof * bodies))
    q = J @ rng.normal(size=J.shape[1])
    mu = rest.pop("mu", None)
    mu = rng.choice([0.0, 0.1, 0.5, 1.0], size=contacts) if mu is None else mu
    operator = ds.DelassusOperator(sp.csr_array(J), inverse)
    W = operator if rest.pop("operator", False) else operator.formed()
    return ds.FrictionProblem(W, q, mu, dim=dim, bilateral=bilateral, **rest)


def coulomb_by_hand(problem, r):
    """Largest violation of Coulomb's law, by its cases and not by a projection; all contacts."""
    u = problem.dual(r)
    scale = max(np.abs(r).max(), 1e-300), max(np.abs(u).max(), np.abs(problem.q).max(), 1e-300)
    worst = 0.0
    d = problem.d
    for i in range(problem.nc):
        rn, rt = r[d * i] / scale[0], r[d * i + 1 : d * (i + 1)] / scale[0]
        un, ut = u[d * i] / scale[1], u[d * i + 1 : d * (i + 1)] / scale[1]
        force, speed, mu = np.linalg.norm(rt), np.linalg.norm(ut), problem.mu[i]
        worst = max(worst, -rn, -un, min(abs(rn), abs(un)), force - mu * rn)
        # slip only at the limit of friction, and straight against it
        worst = max(worst, min(speed, mu * rn - force), abs(force * speed + rt @ ut))
    bilateral = u[d * problem.nc :]
    return max(worst, np.abs(bilateral).max(initial=0.0) / scale[1])
