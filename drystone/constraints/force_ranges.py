"""What each contact force can be: the least and greatest values that the law allows for the same
motion. A structure with more contacts than it needs has no one answer; this says how far it is
open.

Forces of a block of the contact graph (``canonical``) are x = x0 + Z t, with any t: Z spans what
balances at every body. The ends of the range of a coordinate of x, with all contacts in their
cones, are two cone programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.arguments import answering
from drystone.constraints.canonical import (
    ContactLaw,
    Share,
    balance,
    components,
    forces_of,
    kick_of,
    shares,
)  # fmt: skip
from drystone.errors import OptionError, SimulationError
from drystone.kernels.cones.least_norm import Blocks
from drystone.model import Model
from drystone.problems.convert import ConicProgram
from drystone.solvers._convex import minimise
from drystone.solvers.base import Limits
from drystone.solvers.least_norm import least_norm
from drystone.types import Floats, Ints, Status, Table
from drystone.values import text, whole

LARGEST = 1000  # contacts of a block: the basis Z is dense
RANK = 1e-10  # of the greatest singular value: smaller ones are rounding
TOL = 1e-10  # of the cone programs, of the greatest force
SECONDS = 60.0  # for each of them


@answering
@dataclass(frozen=True, slots=True)
class ForceRange:
    """Least and greatest values of a contact's force on its first body [N]; inf where nothing
    bounds it.

    contact: its row in ``Simulation.contacts``; bodies: their names; normal: along the contact's
    normal; tangents (dim - 1, dim): unit vectors; tangential: along each of them.
    """

    contact: int
    bodies: tuple[str, str]
    normal: tuple[float, float]
    tangents: tuple[tuple[float, ...], ...]
    tangential: tuple[tuple[float, float], ...]


def force_range(table: Table, model: Model, law: ContactLaw | None, contact: Any) -> ForceRange:
    """The range of the force of one contact; table: of the step's own forces."""
    number = whole(contact)
    if number is None or not -len(table) <= number < len(table):
        there = f"there are {len(table)}" if len(table) else "there are none"
        raise OptionError(
            f"force_range: contact = {text(contact)}: expected the row of one of sim.contacts: "
            f"{there}"
        )
    if law is None:
        raise OptionError("force_range: a question for ds.TimeStepping(...)")
    if model.axis.any():
        raise OptionError(
            "force_range: friction that depends on a direction of a body has no range"
        )
    i = int(number) % len(table)
    names = tuple(str(name) for name in table["bodies"][i])
    kick = kick_of(table)
    if not kick > 0.0:  # no contact has a force
        kick = 1.0
    share = shares(table, model, law, kick)
    dim = model.dim
    own = next((own for own in components(share) if i in own), None)
    size = np.sqrt((share.frame[i, :dim] ** 2).sum(axis=1))
    if own is None:
        ends = np.stack([share.r[i, :dim]] * 2, axis=1)
    else:
        if len(own) > LARGEST:
            raise OptionError(
                f"force_range: contact {i} between {names[0]!r} and {names[1]!r} is one of "
                f"{len(own)} that depend on each other: at most {LARGEST} are taken"
            )
        ends = _ends(share, own, int(np.flatnonzero(own == i)[0]), dim)
    ends = ends * (size / kick)[:, None]
    ends[0] = np.maximum(ends[0], 0.0)  # the program's tolerance
    values = [(float(low), float(high)) for low, high in ends]
    unit = share.frame[i, 1:dim] / size[1:, None]
    return ForceRange(
        i, (names[0], names[1]), values[0], tuple(tuple(t) for t in unit.tolist()),
        tuple(values[1:]),
    )  # fmt: skip


def _ends(share: Share, own: Ints, place: int, dim: int) -> Floats:
    """(dim, 2) least and greatest coordinates of the force of contact own[place]."""
    blocks, x0 = balance(share, own)
    found, good = least_norm(blocks, x0)
    x0 = found if good else x0
    start = np.concatenate([[0], np.cumsum(blocks.size)])
    Z = _free(blocks, start)
    scale = float(np.abs(x0).max()) or 1.0
    flat = x0[np.arange(x0.shape[1]) < blocks.size[:, None]] / scale
    G, h, cones = _cones(blocks, start)
    out = np.empty((dim, 2))
    here = forces_of(share, own, x0)[place]
    for a in range(dim):
        row = np.zeros(int(start[-1]))
        if share.sliding[own[place]]:
            row[start[place]] = share.ray[own[place], a]
        elif a < blocks.size[place]:
            row[start[place] + a] = 1.0
        c = Z.T @ row
        if not np.abs(c).max(initial=0.0) > RANK:
            out[a] = here[a]
            continue
        for end, sign in ((0, 1.0), (1, -1.0)):
            program = ConicProgram(
                sp.csc_array((Z.shape[1], Z.shape[1])), sign * c, sp.csc_array(G @ Z),
                h - G @ flat, cones,
            )  # fmt: skip
            minimum = minimise(program, TOL, Limits(TOL, SECONDS))
            if minimum.status is Status.SOLVED:
                out[a, end] = here[a] + scale * float(c @ minimum.x)
            elif minimum.proves == "dual":
                out[a, end] = -sign * np.inf
            else:
                raise SimulationError(
                    f"force_range: contact {own[place]}: the cone program of its range was not "
                    f"solved: {minimum.status.value}"
                )
    return out


def _free(blocks: Blocks, start: Ints) -> Floats:
    """(n, m) orthonormal basis of what gives no body a force or moment."""
    width = blocks.G.shape[2]
    A = np.zeros((int(blocks.at.max(initial=-width)) + width, int(start[-1])))
    for k, size in enumerate(blocks.size.tolist()):
        for side in (0, 1):
            at = int(blocks.at[k, side])
            if at >= 0:
                A[at : at + width, start[k] : start[k + 1]] = blocks.G[k, side, :, :size]
    _, s, V = np.linalg.svd(A)
    rank = int((s > RANK * s.max(initial=0.0)).sum())
    return np.asarray(V[rank:].T)


def _cones(blocks: Blocks, start: Ints) -> tuple[Any, Floats, tuple[tuple[str, int], ...]]:
    """G, h and cones with h - G x in them exactly if x is in those of the blocks."""
    rows, columns, values = [], [], []
    cones: list[tuple[str, int]] = []
    at = 0
    for k, size in enumerate(blocks.size.tolist()):
        first, mu = int(start[k]), float(blocks.mu[k])
        if size == 1:
            part, kind = np.array([[1.0]]), "nonnegative"
        elif blocks.sides:
            angle = 2.0 * np.pi * (np.arange(blocks.sides) + 0.5) / blocks.sides
            slope = np.full(blocks.sides, mu * np.cos(np.pi / blocks.sides))
            part, kind = np.stack([slope, -np.cos(angle), -np.sin(angle)], axis=1), "nonnegative"
        else:
            part, kind = np.diag([mu] + [1.0] * (size - 1)), "second-order"
        cones.append((kind, len(part)))
        i, j = np.nonzero(part)
        rows.append(at + i)
        columns.append(first + j)
        values.append(-part[i, j])
        at += len(part)
    places = np.concatenate(rows), np.concatenate(columns)
    G = sp.csr_array((np.concatenate(values), places), shape=(at, int(start[-1])))
    return G, np.zeros(at), tuple(cones)
