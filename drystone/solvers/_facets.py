"""The convex law with polyhedral cones as a program in the forces themselves.

min 1/2 f'A f + b'f with each contact's force inside the facets of its cone: k rows for a contact
and no further unknowns, where form 1 of its LCP has k + 2 of each. The directions' shares beta and
the slip lambda of the LCP follow from f and a, and the LCP is what the answer is polished on.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drystone.problems.convert import ConicProgram, PyramidLCP
from drystone.types import Floats


def facet_program(pyramid: PyramidLCP, unit: Floats) -> tuple[ConicProgram, Floats]:
    """The program in unit-free forces, and their scale; unit (nc,) of each contact."""
    folded, places = pyramid.folded, pyramid.directions
    n, k, d = folded.b.size, places.D.shape[1], folded.d
    s = 1.0 / np.sqrt(np.maximum(np.abs(folded.A.diagonal()), np.finfo(float).tiny))
    s[folded.normal] = 1.0 / unit
    s[places.tangents] = 1.0 / unit[places.sticky, None]  # one scale a contact: its cone stays
    b = s * folded.b
    size = max(float(np.abs(b).max(initial=0.0)), 1e-300)
    smooth = np.flatnonzero(folded.tangent < 0)
    push = sp.csr_array(
        (-np.ones(smooth.size), (np.arange(smooth.size), folded.normal[smooth])),
        shape=(smooth.size, n),
    )
    outward = _outward(k, d)  # (d - 1, k) unit normals of the facets' traces
    slope = folded.mu[places.sticky] * (np.cos(np.pi / k) if k > 2 else 1.0)
    rows = np.arange(places.sticky.size * k).reshape(-1, k)
    entries = [np.broadcast_to(-slope[:, None], rows.shape)]
    columns = [np.broadcast_to(folded.normal[places.sticky, None], rows.shape)]
    for axis in range(d - 1):
        entries.append(np.broadcast_to(outward[axis], rows.shape))
        columns.append(np.broadcast_to(places.tangents[:, axis, None], rows.shape))
    where = (np.tile(rows.ravel(), d), np.concatenate([c.ravel() for c in columns]))
    inside = sp.csr_array(
        (np.concatenate([e.ravel() for e in entries]), where), shape=(rows.size, n)
    )
    A = 0.5 * (folded.A + folded.A.T)
    P = sp.csc_array(s[:, None] * A * s)
    G = sp.csc_array(sp.vstack([push, inside]))
    cones = (("nonnegative", smooth.size + rows.size),)
    return ConicProgram(P, b / size, G, np.zeros(smooth.size + rows.size), cones), s * size


def _outward(k: int, d: int) -> Floats:
    if d == 2:
        return np.array([[1.0, -1.0]])
    angles = 2.0 * np.pi * (np.arange(k) + 0.5) / k
    return np.array([np.cos(angles), np.sin(angles)])


def lcp_value(pyramid: PyramidLCP, f: Floats) -> Floats:
    """z = (c_n, beta, lambda, joints) of forces f: r_t shared by the two directions next to it."""
    folded, places = pyramid.folded, pyramid.directions
    k = places.D.shape[1]
    a = folded.A @ f + folded.b
    z = np.zeros(places.n)
    z[places.first] = np.maximum(f[folded.normal], 0.0)
    z[places.contacts :] = f[folded.bilateral]
    t = f[places.tangents]
    if k == 2:
        z[places.beta] = np.maximum(t * places.D[0], 0.0)
    else:
        wedge = 2.0 * np.pi / k
        angle, size = np.arctan2(t[:, 1], t[:, 0]), np.hypot(t[:, 0], t[:, 1])
        j = np.floor(angle / wedge)
        past = angle - j * wedge
        share = size / np.sin(wedge)
        each, left = np.arange(len(t)), j.astype(np.int64) % k
        z[places.beta[each, left]] = share * np.sin(wedge - past)
        z[places.beta[each, (left + 1) % k]] = share * np.sin(past)
    z[places.last] = np.maximum((-a[places.tangents] @ places.D).max(axis=1, initial=0.0), 0.0)
    return z
