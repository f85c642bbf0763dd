"""Proofs that pivoting leaves behind: an unbounded ray, and a proof of infeasibility."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from drystone.problems import BoxedLCP
from drystone.problems.convert import BoxReduction, scaled
from drystone.types import Bools, Floats

# |z| |M| / |q|: a certificate whose error may admit a larger z is not valid (a groove that jams)
ESCAPE = 1e9


def ray_certificate(M: Any, z: Any, tol: float = 1e-9, free: Bools | None = None) -> bool:
    """Whether z is a ray (Baraff 1992, (13-1)): z >= 0, z != 0, and z_i > 0 implies (M z)_i <= 0.

    Rows marked `free` are equalities: (M z)_i = 0 and z_i of any sign. `tol` is relative to the
    size of the products M_ij z_j.
    """
    z = np.asarray(z, dtype=np.float64)
    top = float(np.abs(z).max(initial=0.0))
    if not (np.isfinite(z).all() and top > 0.0):
        return False
    bounded = np.ones(z.size, bool) if free is None else ~free
    if not (z[bounded] > 0.0).any() or (z[bounded] < 0.0).any():
        return False
    growth = np.asarray(M @ z)
    slack = tol * np.asarray(abs(M) @ np.abs(z))
    positive = bounded & (z > tol * top)
    balanced = bool((np.abs(growth) <= slack)[~bounded].all())
    return balanced and bool((growth <= slack)[positive].all())


def moves(M: Any, z: Any, tol: float = 1e-9) -> bool:
    """Whether a ray z has (M z)_i < 0 for some z_i > 0: else z'M z = 0, as for forces that hold
    each other or the multiplier of friction that is zero, and it may be one of rounding."""
    z = np.asarray(z, dtype=np.float64)
    growth, size = np.asarray(M @ z), np.asarray(abs(M) @ np.abs(z))
    positive = z > tol * float(np.abs(z).max(initial=0.0))
    return bool((growth < -tol * size)[positive].any())


def infeasibility_certificate(
    M: Any, q: Floats, y: Any, tol: float = 1e-9, free: Bools | None = None
) -> bool:
    """Whether y proves that no z >= 0 has M z + q >= 0: y >= 0, M'y <= 0 and q'y < 0.

    For such z, 0 <= y'(M z + q) = (M'y)'z + q'y < 0 would follow. On free rows y_i may have any
    sign and (M'y)_i must vanish. Where M'y <= 0 fails by e, it follows for e'z < |q'y| only: a
    certificate whose error admits z below ESCAPE times |q| / |M| is not valid (a groove that just
    jams).
    """
    y = np.asarray(y, dtype=np.float64)
    top = float(np.abs(y).max(initial=0.0))
    if not (np.isfinite(y).all() and top > 0.0):
        return False
    bounded = np.ones(y.size, bool) if free is None else ~free
    if (y[bounded] < 0.0).any():
        return False
    product = np.asarray(M.T @ y)
    slack = tol * np.asarray(abs(M.T) @ np.abs(y))
    gain = -float(q @ y)
    off = np.where(bounded, np.maximum(product, 0.0), np.abs(product))
    most = ESCAPE * float(np.abs(q).max(initial=0.0)) * float(off.sum())
    return bool(
        (off <= slack).all()
        and gain > 1e-9 * float(np.abs(q) @ np.abs(y))
        and gain * float(abs(M).max()) >= most  # equal where M is zero
    )


def prove_infeasible(M: Floats, q: Floats, free: Bools) -> Floats | None:
    """A certificate y of infeasibility by linear programming, or None: y with M'y <= 0 (= 0 on
    free columns), y >= 0 (any on free rows) and q'y = -1."""
    bounds = [(None, None) if row else (0.0, None) for row in free]
    found = linprog(
        np.zeros(q.size),
        A_ub=M.T[~free] if not free.all() else None,
        b_ub=np.zeros(int((~free).sum())) if not free.all() else None,
        A_eq=np.vstack([M.T[free], q]),
        b_eq=np.append(np.zeros(int(free.sum())), -1.0),
        bounds=bounds,
    )
    if found.x is None:
        return None
    y = np.where(free, found.x, np.maximum(found.x, 0.0))
    return y if infeasibility_certificate(M, q, y, 1e-9, free) else None


def boxes_infeasible(problem: BoxedLCP) -> bool:
    """Whether linear programming proves that no z within its bounds has the w that they ask for.

    A library's own verdict is not reliable where bounds differ by many orders of magnitude.
    """
    lcp = scaled(BoxReduction(problem).lcp).problem
    assert isinstance(lcp, BoxedLCP)
    size = float(np.abs(lcp.q).max(initial=0.0)) or 1.0
    return prove_infeasible(lcp.dense, lcp.q / size, lcp.free) is not None
