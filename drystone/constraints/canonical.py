"""Canonical contact forces: of all that satisfy the law and give the same motion, the least ones.

Bodies with more contacts than they need leave forces open: a box on a floor may push its corners
apart with any friction that cancels. The motion is that of the step; impulses r' are chosen by

    min  sum_i |r'_i|^2
    with the same force and moment on every body that moves,
         r'_i = 0 where contact i opens,
         r'_i along the force that friction prescribes where it slides,
         r'_i in its cone where it sticks.

|r'_i| is the Euclidean length, the same in every frame and, but for a factor, in every system of
units. For a soft finger the moment is divided by its radius, for an elliptic cone friction by the
ratios: as in the coordinates in which the cone is circular. The problem is strictly convex: its
solution is unique, symmetric where the contacts and the loads are, and does not depend on the
solver that found the motion. Forces of joints stay as they are.

The graph of bodies and interfaces, with all that is fixed as one node, is divided at its cut
bodies: forces within one of its blocks balance at every body by themselves, so that each block is
a problem of its own (a tower has one for each interface, an arch only one).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from drystone.dynamics.bodies import radii
from drystone.errors import OptionError
from drystone.kernels import rows as kernels
from drystone.kernels.cones.least_norm import Blocks, project
from drystone.model import Model
from drystone.problems.cones import Cone, EllipticCone, PolyhedralCone, SoftFingerCone
from drystone.solvers.least_norm import least_norm
from drystone.types import Bools, Floats, Ints, Table
from drystone.values import text

NUMBERS = ("point", "normal", "gap", "force", "impulse", "spin", "velocity", "friction")
SLOW = 1e-6  # of the speeds in an island: contacts that are slower neither open nor slide
LARGEST = 400  # contacts of an island up to which "auto" makes its forces canonical
CHOICES = ("auto", "canonical", "raw")  # of the forces that are read
ROWS = 60  # equations of blocks that are solved at once: several small ones cost as much as one
NOTHING = 1e-9  # of the greatest force: what solvers leave where there is none
OUTSIDE = 1e-6  # of its own size: how far a force may lie outside its cone, as solvers leave it


@dataclass(frozen=True, slots=True)
class ContactLaw:
    """What a method's contacts obey, as far as forces are open under it.

    convex: the relaxed law, under which what slides also opens; stabilize, slop: of the gap terms
    (``ds.TimeStepping``).
    """

    cone: Cone
    convex: bool
    stabilize: bool
    slop: float


class Share(NamedTuple):
    """Contacts as columns of the balance of bodies.

    body (n, 2): numbers among the bodies that move, -1 for others; frame (n, d, dim), r (n, d):
    coordinates of the forces; mu (n,); closed, sliding, changes (n,): which carry, which of them
    slide, and which the balance may change; ray (n, d): unit vectors of forces that slide.
    """

    table: Table
    body: Ints
    frame: Floats
    r: Floats
    mu: Floats
    closed: Bools
    sliding: Bools
    changes: Bools
    ray: Floats
    radius: float
    corners: Floats | None


def checked_choice(owner: str, forces: Any) -> str:
    """One of CHOICES; an OptionError names who asked."""
    if not (isinstance(forces, str) and forces in CHOICES):
        expected = ", ".join(repr(choice) for choice in CHOICES)
        raise OptionError(f"{owner}: forces = {text(forces)}: expected one of {expected}")
    return forces


def canonical(
    table: Table, model: Model, law: ContactLaw | None, forces: str = "auto"
) -> tuple[Table, Bools]:
    """The table with the canonical forces, and which contacts have them (n,).

    table: of the step's own forces, as ``stepper.contact_table()`` has them; law: None of methods
    whose forces are read as they are. forces: "auto": islands of more than LARGEST contacts are
    left as they are; "canonical": none is; "raw": all are. Left are also contacts of friction that
    depends on a direction of a body.
    """
    done = np.zeros(len(table), bool)
    kick = kick_of(table)
    if law is None or forces == "raw" or model.axis.any():
        return table, done
    if not kick > 0.0:
        return table, ~done & (not table["impulse"].any())
    share = shares(table, model, law, kick)
    if forces == "auto":
        _, which, count = np.unique(table["island"], return_inverse=True, return_counts=True)
        small = (count <= LARGEST)[which]
        share = share._replace(changes=share.changes & small, closed=share.closed | ~small)
    r = share.r.copy()
    done[~share.closed] = True
    blocks = components(share)
    for own in blocks:
        done[own] = len(own) == 1  # forces that are determined stay as they are, to the bit
    for group in _groups(share, [own for own in blocks if len(own) > 1]):
        x, good = _least(share, np.concatenate(group))
        if good or len(group) == 1:
            parts = [(np.concatenate(group), x, good)]
        else:
            parts = [(own, *_least(share, own)) for own in group]
        for own, x, good in parts:
            if good:
                r[own], done[own] = x, True
    return _written(share._replace(changes=share.changes & done), r, kick), done


def kick_of(table: Table) -> float:
    """For how long the impulses acted [s]; 0 where there are none, or no numbers."""
    if not len(table):
        return 0.0
    numbers = [table[name].reshape(len(table), -1) for name in NUMBERS]
    flat = table["impulse"].ravel()
    most = int(np.abs(flat).argmax())
    force = float(table["force"].ravel()[most])
    if force == 0.0 or not np.isfinite(np.concatenate(numbers, axis=1)).all():
        return 0.0
    return float(flat[most]) / force


def shares(table: Table, model: Model, law: ContactLaw, kick: float) -> Share:
    """The contacts of a table by what the law leaves open."""
    n, dim = len(table), model.dim
    place = {name: i for i, name in enumerate(model.names)}
    body = np.array([place[name] for name in table["bodies"].ravel().tolist()]).reshape(n, 2)
    soft = isinstance(law.cone, SoftFingerCone)
    frame = np.empty((n, 4 if soft else dim, dim))
    normal = np.ascontiguousarray(table["normal"])
    radius = law.cone.radius if isinstance(law.cone, SoftFingerCone) else 1.0
    if dim == 2:
        kernels.frames_planar(normal, frame)
    else:
        axis, ratios = np.zeros((n, 3)), np.ones((n, 2))
        if isinstance(law.cone, EllipticCone):
            axis[:, :2] = np.cos(law.cone.angle), np.sin(law.cone.angle)
            ratios[:] = law.cone.ratios
        kernels.frames_spatial(normal, axis, ratios, radius, frame)
    impulse, spin = (np.ascontiguousarray(table[name]) for name in ("impulse", "spin"))
    r = np.empty(frame.shape[:2])
    kernels.project_impulses(frame, impulse, spin, r)
    mu = np.ascontiguousarray(table["friction"])
    corners = None
    if dim == 3 and isinstance(law.cone, PolyhedralCone):
        corners = law.cone.directions().T
    closed, sliding, ray = _open(table, model, law, kick, body, frame, r)
    size = np.sqrt((ray * ray).sum(axis=1))
    sliding = sliding & (mu > 0.0)
    ray = ray / np.where(size > 0.0, size, 1.0)[:, None]
    moves = model.inverse_mass > 0
    changes = closed & moves[body].any(axis=1) & (~sliding | (size > 0.0))
    share = Share(
        table, np.where(moves[body], body, -1), frame, r, mu, closed, sliding, changes, ray,
        radius, corners,
    )  # fmt: skip
    return share._replace(changes=changes & _inside(share))


def _open(
    table: Table, model: Model, law: ContactLaw, kick: float, body: Ints, frame: Floats, r: Floats
) -> tuple[Bools, Bools, Floats]:
    """Which contacts are closed at the end of the step, which slide, and the direction of the force
    where they do.

    A contact is closed if its impulse is more than what its opening stands for, or if it opens
    slower than SLOW of the speeds in its island: those of its contacts, and those that impulses
    gave its bodies. A contact with an impulse slides where the step says so; its force keeps its
    direction, which the law prescribes. One without slides if it is not slow.
    """
    u = np.einsum("iak,ik->ia", frame[:, : model.dim], table["velocity"])
    slip = np.sqrt((u[:, 1:] ** 2).sum(axis=1))
    opening = u[:, 0].copy()
    if law.stabilize:
        size = radii(model)[body].min(axis=1)
        slack = law.slop * np.where(np.isfinite(size), size, 1.0)
        opening += (table["gap"] - np.clip(table["gap"], -slack, slack)) / kick
    mu = table["friction"]
    if law.convex:
        opening -= mu * slip
    inverse = model.inverse_mass
    push = np.zeros((model.nb, model.dim))
    np.add.at(push, body[:, 0], table["impulse"])
    np.add.at(push, body[:, 1], -table["impulse"])
    given = (np.sqrt((push * push).sum(axis=1)) * inverse)[body].max(axis=1)
    islands, which = np.unique(table["island"], return_inverse=True)
    speed = np.zeros(len(islands))
    np.maximum.at(speed, which, np.maximum(given, np.sqrt((u * u).sum(axis=1))))
    slow = SLOW * speed[which]
    held = r[:, 0] * inverse[body].sum(axis=1)
    active = (held > opening) & (held > slow)
    closed = active | (opening <= slow)
    sliding = np.where(active, table["state"] == "slip", slip > slow) & closed
    ray = np.where(active[:, None], r, 0.0)
    found = sliding & ~active
    if not isinstance(law.cone, SoftFingerCone | PolyhedralCone) or model.dim == 2:
        ray[found, 0] = 1.0
        ray[found, 1:] = -(mu / np.where(slip > 0.0, slip, 1.0))[found, None] * u[found, 1:]
    return closed, sliding, ray


def _inside(share: Share) -> Bools:
    """Contacts whose force lies in its cone: others obey another law than that of the table (an
    impact's), or are not solved."""
    n, d = share.r.shape
    sides = 0 if share.corners is None else len(share.corners)
    plain = np.where(share.mu > 0.0, d, 1)
    blocks = Blocks(plain, share.mu, np.zeros((0, 2), np.int64), np.zeros((0, 2, 0, 0)), sides)
    there = np.empty((n, d))
    project(blocks, share.r, there, np.empty((n, d, d)))
    beyond = share.r - there
    size = (share.r * share.r).sum(axis=1)
    allowed = np.maximum(OUTSIDE**2 * size, NOTHING**2 * size.max())
    return np.asarray(share.sliding | ((beyond * beyond).sum(axis=1) <= allowed))


def components(share: Share) -> list[Ints]:
    """Contacts of each block of the graph of bodies, in ascending order; only those that carry."""
    found = np.flatnonzero(share.changes)
    ends = np.sort(share.body[found], axis=1)
    pairs, which = np.unique(ends, axis=0, return_inverse=True)
    blocks = _biconnected(pairs.tolist())
    label = np.empty(len(pairs), np.int64)
    for k, block in enumerate(blocks):
        label[block] = k
    own = label[which.ravel()]
    order = np.argsort(own, kind="stable")
    cuts = np.searchsorted(own[order], np.arange(1, len(blocks)))
    return [found[part] for part in np.split(order, cuts) if part.size]


def _biconnected(pairs: list[list[int]]) -> list[list[int]]:
    """Edges of each biconnected component of a graph without double edges (Hopcroft and Tarjan
    1973), by a stack of its own: chains may be long."""
    near: dict[int, list[tuple[int, int]]] = {}
    for k, (a, b) in enumerate(pairs):
        near.setdefault(a, []).append((b, k))
        near.setdefault(b, []).append((a, k))
    depth: dict[int, int] = {}
    low: dict[int, int] = {}
    out: list[list[int]] = []
    for root in near:
        if root in depth:
            continue
        depth[root] = low[root] = 0
        edges: list[int] = []
        path = [(root, -1, 0, iter(near[root]))]
        while path:
            here, came, cut, rest = path[-1]
            step = next(rest, None)
            if step is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[here])
                    if low[here] >= depth[above]:
                        out.append(edges[cut:])
                        del edges[cut:]
                continue
            there, edge = step
            if edge == came:
                continue
            if there not in depth:
                depth[there] = low[there] = len(path)
                path.append((there, edge, len(edges), iter(near[there])))
                edges.append(edge)
            elif depth[there] < depth[here]:
                edges.append(edge)
                low[here] = min(low[here], depth[there])
    return out


def _groups(share: Share, blocks: list[Ints]) -> Iterator[list[Ints]]:
    """Blocks to be solved together."""
    width = 3 * (share.frame.shape[2] - 1)
    group: list[Ints] = []
    rows = 0
    for own in blocks:
        bodies = share.body[own]
        more = width * len(np.unique(bodies[bodies >= 0]))
        if group and rows + more > ROWS:
            yield group
            group, rows = [], 0
        group.append(own)
        rows += more
    if group:
        yield group


def balance(share: Share, own: Ints) -> tuple[Blocks, Floats]:
    """The force and moment that these contacts give to each body, as a problem of
    ``solvers.least_norm``: its blocks, and the coordinates x (k, d) of the forces as they are.
    Moments are about the middle of each body's contacts, and divided by their greatest distance
    from it."""
    dim, d = share.frame.shape[2], share.frame.shape[1]
    frame, r, rays = share.frame[own], share.r[own], share.sliding[own]
    size = np.where(rays | (share.mu[own] <= 0.0), 1, d)
    weights = np.tile(np.eye(d), (len(own), 1, 1))  # (k, of x, of r)
    weights[rays, 0] = share.ray[own[rays]]
    x = np.einsum("iac,ic->ia", weights, r) * (np.arange(d) < size[:, None])
    sides, point = share.body[own], share.table["point"][own]
    bodies, place = np.unique(sides[sides >= 0], return_inverse=True)
    at = np.full(sides.shape, -1)
    at[sides >= 0] = place
    middle = np.zeros((len(bodies), dim))
    np.add.at(middle, place, np.repeat(point[:, None], 2, axis=1)[sides >= 0])
    middle /= np.bincount(place, minlength=len(bodies))[:, None]
    arm = np.where((at >= 0)[:, :, None], point[:, None] - middle[at], 0.0)
    far = float(np.sqrt((arm * arm).sum(axis=2)).max()) or 1.0
    way = np.einsum("iac,ick->iak", weights[:, :, :dim], frame[:, :dim])[:, None]
    lever = arm[:, :, None]
    if dim == 2:
        moment = (lever[..., 0] * way[..., 1] - lever[..., 1] * way[..., 0])[..., None]
    else:
        moment = np.cross(lever, way)
    if d > dim:
        moment = moment + (weights[:, :, dim:] * frame[:, None, dim])[:, None]
    both = np.broadcast_to(way, (*moment.shape[:3], dim))
    wrench = np.concatenate([both, moment / far], axis=3).transpose(0, 1, 3, 2)
    G = np.ascontiguousarray(wrench * np.array([1.0, -1.0])[:, None, None])
    width = G.shape[2]
    sides_of_cone = 0 if share.corners is None else len(share.corners)
    blocks = Blocks(size, _cone_of(share, own), np.where(at >= 0, width * at, -1), G, sides_of_cone)
    return blocks, x


def forces_of(share: Share, own: Ints, x: Floats) -> Floats:
    """(k, d) coordinates of forces from those of ``balance``."""
    rays = share.sliding[own]
    along, r = share.ray[own[rays]], share.r[own[rays]]
    out = x.copy()
    out[rays] = r + (x[rays, 0] - (r * along).sum(axis=1))[:, None] * along
    return out


def _cone_of(share: Share, own: Ints) -> Floats:
    """Coefficients of friction, never less than what the solver's own forces ask for: they lie in
    their cones up to its tolerance, and must stay possible."""
    mu, r = share.mu[own], share.r[own]
    if share.corners is None:
        used = np.sqrt((r[:, 1:] ** 2).sum(axis=1))
    else:
        middle = share.corners + np.roll(share.corners, 1, axis=0)  # of the polygon's sides
        used = (r[:, 1:] @ (2.0 * middle / (middle**2).sum(axis=1)[:, None]).T).max(axis=1)
    needed = np.divide(used, r[:, 0], out=np.zeros_like(mu), where=r[:, 0] > 0.0)
    return np.clip(needed, mu, (1.0 + 2.0 * OUTSIDE) * mu)


def _least(share: Share, own: Ints) -> tuple[Floats, bool]:
    """(k, d) forces of least norm of these contacts, and whether they were found."""
    blocks, x = balance(share, own)
    x, good = least_norm(blocks, x)
    return forces_of(share, own, x), good


def _written(share: Share, r: Floats, kick: float) -> Table:
    """A copy of the table with other forces, and the states that they mean."""
    out, changed = share.table.copy(), share.changes
    vector, spin = np.empty((len(r), share.frame.shape[2])), np.empty(len(r))
    kernels.impulse_vectors(share.frame, r, vector, spin)
    out["impulse"][changed], out["spin"][changed] = vector[changed], spin[changed]
    out["force"][changed] = vector[changed] / kick
    word = np.where(share.sliding, "slip", "stick")
    out["state"][changed] = np.where(r[:, 0] > 0.0, word, "open")[changed]
    return out
