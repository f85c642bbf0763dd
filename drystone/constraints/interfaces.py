"""Resultants of contact forces, one for each pair of bodies: what statics speaks of.

The forces f_i at the points p_i of an interface are those on its first body. With their sum F, the
centre c of the points that touch and the mean normal n of the forces (of the points where there
are none): N = F.n, T = |F - N n|, M = sum (p_i - c) x f_i. The point of application is where the
line of action meets the plane through c at right angles to n, c + n x M / N; its distance from c is
the eccentricity. Mobilisation is T over the friction that the contacts can bear, sum mu_i f_i.n_i.
"""

from __future__ import annotations

import numpy as np

from drystone.constraints.canonical import kick_of
from drystone.types import Floats, Table

TOUCHING = 1e-6  # of the extent of an interface: gaps up to which its points touch


def interfaces(contacts: Table) -> Table:
    """A structured array: bodies, contacts (their number), centre, point, normal, force, N, T, M,
    eccentricity, mobilisation; pairs of bodies without a force are left out. Mobilisation is nan
    where the contacts have no friction."""
    dim = contacts["point"].shape[1]
    turns = 1 if dim == 2 else 3
    kind = [
        ("bodies", contacts.dtype["bodies"].base, (2,)), ("contacts", np.int64),
        *((name, float, (dim,)) for name in ("centre", "point", "normal", "force")),
        ("N", float), ("T", float), ("M", float, (turns,)),
        ("eccentricity", float), ("mobilisation", float),
    ]  # fmt: skip
    kick = kick_of(contacts)
    pushes = np.asarray(contacts["force"].any(axis=1))
    named = contacts["bodies"]
    swapped = np.array([a > b for a, b in named.tolist()], bool)
    pairs = np.where(swapped[:, None], named[:, ::-1], named)
    _, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    which = which.ravel()
    pushed = np.unique(which[pushes])
    order = pushed[np.argsort(first[pushed])]
    table = np.zeros(len(order), kind)
    for row, k in zip(table, order, strict=True):
        own = contacts[which == k]
        sign = np.where(swapped[which == k] == swapped[first[k]], 1.0, -1.0)[:, None]
        row["bodies"] = named[first[k]]
        twist = sign * own["spin"][:, None] * own["normal"] / (kick or 1.0)
        _fill(row, own, sign * own["force"], sign * own["normal"], twist.sum(axis=0))
    return table


def _fill(row: np.void, own: Table, force: Floats, normal: Floats, twist: Floats) -> None:
    """The resultant of these contacts, whose forces and normals are those of the first body; twist:
    the moment of soft fingers."""
    point, gap, dim = own["point"], own["gap"], force.shape[1]
    pressed = np.einsum("ik,ik->i", force, normal)
    extent = float(np.ptp(point, axis=0).max())
    farthest = max(0.0, float(gap[force.any(axis=1)].max()))
    touches = gap <= farthest + TOUCHING * extent
    centre = point[touches].mean(axis=0)
    total = force.sum(axis=0)
    mean = pressed @ normal
    mean = mean if mean.any() else normal.sum(axis=0)
    length = float(np.sqrt(mean @ mean))
    n = mean / length if length > 0.0 else normal[0]
    arm = point - centre
    row["contacts"], row["centre"], row["normal"], row["force"] = touches.sum(), centre, n, total
    row["N"] = N = float(total @ n)
    along = total - N * n
    row["T"] = T = float(np.sqrt(along @ along))
    if dim == 2:
        moment = float((arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]).sum())
        row["M"] = moment
        offset = moment * np.array([n[1], -n[0]])
    else:
        turn = np.cross(arm, force).sum(axis=0) + twist
        row["M"] = turn
        offset = np.cross(n, turn)
    offset = offset / N if N > 0.0 else np.full(dim, np.nan)
    row["point"], row["eccentricity"] = centre + offset, float(np.sqrt(offset @ offset))
    bears = float(own["friction"] @ np.maximum(pressed, 0.0))
    row["mobilisation"] = T / bears if bears > 0.0 else np.nan
