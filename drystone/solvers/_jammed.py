"""Jams: impulses that bring every loaded contact to rest, of least normal sum.

Where the sum of the friction cones is nearly not closed (a groove that just jams: Anitescu, Potra
and Stewart 1998, figure 1), resting takes impulses thousands of times the momentum that is to be
stopped. Methods that minimise over the impulses then stop at smaller ones with a small residual:
a long way in r changes u by little. Asked the other way, u = 0 is a linear equation, and whether
cones meet it is a well-posed second-order cone program.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from drystone.problems import FrictionProblem
from drystone.problems.convert import ConicProgram
from drystone.solvers._convex import minimise
from drystone.solvers.base import Limits
from drystone.types import Floats

LARGE_IMPULSE = 20.0  # |r| / |q|, unit-free: from there on they may hide errors of velocities
# |u| / |q| of contacts: at rest, and too fast for a jam that was not found
AT_REST, FASTEST_JAM = 1e-7, 0.05
LOADED = 1e-6  # of the largest impulse: contacts with less are open
MARGINS = (0.0, 1e-10, 1e-8)  # of the friction coefficient: room for the last correction
GROWTHS = (1.0, 100.0, 1e4, 0.01)  # guesses of |r| / |q|: units of the program
RANK_CUT = 1e-12  # singular values below, relative to the largest, count as zero
JAM_ROWS = 300  # rows


def creeps(r: Floats, u: Floats, q: Floats, unit: Floats) -> bool:
    """Whether impulses are large beside q, and every contact that they load creeps: neither slides
    nor is at rest. r, u, q: (nb, d); unit: (nb,)."""
    root = unit[:, None]
    size, speed = np.sqrt(((r * root) ** 2).sum(axis=1)), np.sqrt(((u / root) ** 2).sum(axis=1))
    scale = float(np.linalg.norm(q / root))
    if not float(np.linalg.norm(size)) > LARGE_IMPULSE * scale > 0.0:
        return False
    fastest = float(speed[size > LOADED * size.max()].max()) / scale
    return AT_REST < fastest < FASTEST_JAM


def at_rest(problem: FrictionProblem, value: Floats, limits: Limits) -> Floats | None:
    """A solution with u = 0 at every contact that `value` loads, or None."""
    form, d = problem.form, problem.d
    if problem.k not in (0, 2) or problem.sliding.any() or problem.size > JAM_ROWS:
        return None
    unit = form.unit[:, None]
    r = form.impulses(value) * unit
    size = np.linalg.norm(r, axis=1)
    loaded = np.flatnonzero((size > LOADED * size.max(initial=0.0)) | (form.mu < 0))
    rows = (d * loaded[:, None] + np.arange(d)).ravel()
    scale = 1.0 / np.repeat(form.unit, d)
    W = (scale[:, None] * form.W.scipy.toarray() * scale)[np.ix_(rows, rows)]
    q = (form.q / unit).ravel()[rows]
    if not q.any():
        return np.zeros(problem.size)
    U, s, _ = scipy.linalg.svd(W)
    U, s = U[:, s > RANK_CUT * s[0]], s[s > RANK_CUT * s[0]]
    if np.linalg.norm(q - U @ (U.T @ q)) > 1e-9 * np.linalg.norm(q):
        return None  # these contacts cannot all be at rest
    for margin, growth in product(MARGINS, GROWTHS):
        top = growth * float(np.linalg.norm(q))
        program = _least_impulses(U, -(U.T @ q) / s / top, form.mu[loaded] * (1.0 - margin), d)
        found = minimise(program, 1e-11, limits)
        if not np.isfinite(found.x).all():
            continue
        x = found.x * top
        for _ in range(2):
            x -= U @ ((U.T @ (W @ x + q)) / s)
        out = np.zeros_like(r)
        out[loaded] = x.reshape(-1, d)
        held = form.value(out / unit)
        if max(*problem.residuals(held), *problem.optimality(held)) <= limits.tol:
            return held
    return None


def _least_impulses(U: Floats, target: Floats, mu: Floats, d: int) -> ConicProgram:
    """min sum of r_n with U'r = target, r in the cones; mu < 0: r of any sign."""
    n = U.shape[0]
    cost, parts, cones = np.zeros(n), [sp.csr_array(U.T)], [("zero", U.shape[1])]
    eye = sp.eye_array(n, format="csr")
    for i, m in enumerate(mu):
        if m < 0:
            continue
        block = eye[d * i : d * i + d]
        cost[d * i] = 1.0
        if m == 0.0:
            parts += [-block[:1], block[1:]]
            cones += [("nonnegative", 1), ("zero", d - 1)]
        else:
            parts.append(-sp.diags_array([m] + [1.0] * (d - 1)) @ block)
            cones.append(("second-order", d))
    G = sp.csc_array(sp.vstack(parts))
    h = np.concatenate([target, np.zeros(G.shape[0] - target.size)])
    return ConicProgram(sp.csc_array((n, n)), cost, G, h, tuple(cones))
