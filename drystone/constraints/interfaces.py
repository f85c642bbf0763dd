"""Resultants of contact forces, one for each pair of bodies: the quantities of statics.

The forces f_i at the points p_i of an interface are those on its first body. With their sum F, the
centre c of the points that touch and the mean normal n of the forces (of the points if there are no
forces): N = F.n, T = |F - N n|, M = sum (p_i - c) x f_i. The point of application is where the line
of action meets the plane through c at right angles to n, c + n x M / N; its distance from c is the
eccentricity. Mobilisation is T over the friction that the contacts can bear, sum mu_i f_i.n_i.
"""

from __future__ import annotations

import numpy as np

from drystone.types import Floats, Ints, Table

TOUCHING_GAP = 1e-6  # of the extent of an interface: gaps up to which its points touch


def interfaces(contacts: Table) -> Table:
    """A structured array: bodies, contacts (their number), centre, point, normal, force, N, T, M,
    eccentricity, mobilisation; pairs of bodies without a force are left out. Mobilisation is nan
    where the contacts have no friction."""
    dim = contacts["point"].shape[1]
    kind = [
        ("bodies", contacts.dtype["bodies"].base, (2,)), ("contacts", np.int64),
        *((name, float, (dim,)) for name in ("centre", "point", "normal", "force")),
        ("N", float), ("T", float), ("M", float, (1 if dim == 2 else 3,)),
        ("eccentricity", float), ("mobilisation", float),
    ]  # fmt: skip
    which, sign, bodies = _pairs(contacts)
    pushed = np.zeros(len(bodies), bool)
    pushed[which[contacts["force"].any(axis=1)]] = True
    kept = pushed[which]
    own, sign = contacts[kept], sign[kept]
    which, count = (np.cumsum(pushed) - 1)[which[kept]], int(pushed.sum())
    table = np.zeros(count, kind)
    if not count:
        return table

    def sums(values: Floats) -> Floats:
        """(count, ...) over the contacts of each interface."""
        out = np.zeros((count, *values.shape[1:]))
        np.add.at(out, which, values)
        return out

    point, gap = own["point"], own["gap"]
    force, normal = sign * own["force"], sign * own["normal"]
    pressed = (force * normal).sum(axis=1)
    low, high = np.full((count, dim), np.inf), np.full((count, dim), -np.inf)
    farthest = np.zeros(count)
    np.minimum.at(low, which, point)
    np.maximum.at(high, which, point)
    pushes = np.asarray(force.any(axis=1))
    np.maximum.at(farthest, which[pushes], gap[pushes])
    touches = gap <= (farthest + TOUCHING_GAP * (high - low).max(axis=1))[which]
    number = sums(1.0 * touches)
    centre = sums(point * touches[:, None]) / number[:, None]
    mean = sums(pressed[:, None] * normal)
    mean = np.where((mean != 0.0).any(axis=1)[:, None], mean, sums(normal))
    length = np.sqrt((mean * mean).sum(axis=1))[:, None]
    first = np.searchsorted(np.sort(which), np.arange(count))
    n = np.where(length > 0.0, mean, normal[np.argsort(which, kind="stable")[first]])
    n = n / np.where(length > 0.0, length, 1.0)
    total, arm = sums(force), point - centre[which]
    N = (total * n).sum(axis=1)
    along = total - N[:, None] * n
    if dim == 2:
        turn = sums(arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])[:, None]
        offset = turn * np.stack([n[:, 1], -n[:, 0]], axis=1)
    else:
        twist = sign * (own["spin"] / _kick(own))[:, None] * own["normal"]
        turn = sums(np.cross(arm, force) + twist)
        offset = np.cross(n, turn)
    offset = np.where((N > 0.0)[:, None], offset / np.where(N > 0.0, N, 1.0)[:, None], np.nan)
    table["bodies"], table["contacts"] = bodies[pushed], number
    table["centre"], table["point"], table["normal"] = centre, centre + offset, n
    table["force"], table["N"], table["M"] = total, N, turn
    table["T"] = T = np.sqrt((along * along).sum(axis=1))
    table["eccentricity"] = np.sqrt((offset * offset).sum(axis=1))
    bears = sums(own["friction"] * np.maximum(pressed, 0.0))
    table["mobilisation"] = np.where(bears > 0.0, T / np.where(bears > 0.0, bears, 1.0), np.nan)
    return table


def _pairs(contacts: Table) -> tuple[Ints, Floats, np.ndarray]:
    """(n,) interface of each contact, (n, 1) -1 where its bodies are in the other order than there,
    and (m, 2) names of the bodies, in the order in which they come."""
    named, found = contacts["bodies"].tolist(), dict[tuple[str, str], int]()
    which, sign, first = np.empty(len(named), np.int64), np.ones((len(named), 1)), list[int]()
    for i, (a, b) in enumerate(named):
        if (b, a) in found:
            which[i], sign[i] = found[b, a], -1.0
            continue
        if (a, b) not in found:
            found[a, b] = len(first)
            first.append(i)
        which[i] = found[a, b]
    return which, sign, contacts["bodies"][first]


def _kick(contacts: Table) -> float:
    """For how long the impulses acted [s], 1 if there are none."""
    impulse, force = contacts["impulse"].ravel(), contacts["force"].ravel()
    most = int(np.abs(impulse).argmax())
    return float(impulse[most] / force[most]) if impulse[most] and force[most] else 1.0
