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
from drystone.constraints.canonical import CanonicalForces
from drystone.errors import OptionError, SimulationError
from drystone.kernels.canonical_forces import ENOUGH, assemble, divide, solve, unpack
from drystone.kernels.cones.least_norm import Blocks
from drystone.problems.convert import ConicProgram
from drystone.solvers._convex import minimise
from drystone.solvers.base import Limits
from drystone.types import Floats, Ints, Status, Table
from drystone.values import text, whole

BLOCK_CONTACTS = 1000  # contacts of a block: the basis Z is dense
RANK_ROUNDING = 1e-10  # of the greatest singular value: smaller ones are rounding
CONE_PROGRAM_TOL = 1e-10  # of the cone programs, of the greatest force
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


def force_range(canonical: CanonicalForces, table: Table, contact: Any) -> ForceRange:
    """The range of the force of one contact; table: of the step's own forces."""
    number = whole(contact)
    if number is None or not -len(table) <= number < len(table):
        there = f"there are {len(table)}" if len(table) else "there are none"
        raise OptionError(
            f"force_range: contact = {text(contact)}: expected the row of one of sim.contacts: "
            f"{there}"
        )
    i = int(number) % len(table)
    names = tuple(str(name) for name in table["bodies"][i])
    c, done = canonical.prepare(table), np.empty(len(table), np.bool_)
    if not unpack(c, table.view(np.float64), done):  # no contact has a force
        c.kick = 1.0
    divide(c, done, len(table))
    dim, block = canonical.model.dim, int(c.label[i])
    size = np.sqrt((c.frame[i, :dim] ** 2).sum(axis=1))
    if block < 0:
        ends = np.stack([c.r[i, :dim]] * 2, axis=1)
    else:
        begin, end = c.end[block : block + 2].tolist()
        if end - begin > BLOCK_CONTACTS:
            raise OptionError(
                f"force_range: contact {i} between {names[0]!r} and {names[1]!r} is one of "
                f"{end - begin} that depend on each other: at most {BLOCK_CONTACTS} are taken"
            )
        ends = _ends(c, begin, end - begin, i)
    ends = ends * (size / c.kick)[:, None]
    ends[0] = np.maximum(ends[0], 0.0)  # the program's tolerance
    values = [(float(low), float(high)) for low, high in ends]
    unit = c.frame[i, 1:dim] / size[1:, None]
    return ForceRange(
        i, (names[0], names[1]), values[0], tuple(tuple(t) for t in unit.tolist()),
        tuple(values[1:]),
    )  # fmt: skip


def _ends(c: Any, begin: int, m: int, i: int) -> Floats:
    """(dim, 2) least and greatest coordinates of the force of contact i, one of the m of a block.

    x (m, d): what is open of each force, see ``kernels.canonical_forces``."""
    groups, entries = assemble(c, begin, m)
    if entries > c.L.size:
        c.put(L=np.empty(int(entries)))
    own = c.own[begin : begin + m]
    r, ray, slides = c.r[own], c.ray[own], c.slides[own] > 0
    blocks = Blocks(c.size[:m], c.cone[:m], c.at[:m], c.G[:m], c.sides)
    open_ = np.arange(r.shape[1]) < blocks.size[:, None]
    along = np.zeros_like(r)
    along[:, 0] = (r * ray).sum(axis=1)
    x0 = np.where(open_, np.where(slides[:, None], along, r), 0.0)
    if entries >= 0 and solve(c, m, groups) <= ENOUGH:
        x0 = c.best[:m].copy()
    start = np.concatenate([[0], np.cumsum(blocks.size)])
    Z = _free(blocks, start)
    scale = float(np.abs(x0).max()) or 1.0
    flat = x0[open_] / scale
    G, h, cones = _cones(blocks, start)
    place, dim = int(np.flatnonzero(own == i)[0]), c.dim
    out = np.empty((dim, 2))
    here = x0[place]
    if slides[place]:
        here = r[place] + (here[0] - along[place, 0]) * ray[place]
    for a in range(dim):
        row = np.zeros(int(start[-1]))
        if slides[place]:
            row[start[place]] = ray[place, a]
        elif a < blocks.size[place]:
            row[start[place] + a] = 1.0
        objective = Z.T @ row
        if not np.abs(objective).max(initial=0.0) > RANK_ROUNDING:
            out[a] = here[a]
            continue
        for end, sign in ((0, 1.0), (1, -1.0)):
            program = ConicProgram(
                sp.csc_array((Z.shape[1], Z.shape[1])), sign * objective, sp.csc_array(G @ Z),
                h - G @ flat, cones,
            )  # fmt: skip
            minimum = minimise(program, CONE_PROGRAM_TOL, Limits(CONE_PROGRAM_TOL, SECONDS))
            if minimum.status is Status.SOLVED:
                out[a, end] = here[a] + scale * float(objective @ minimum.x)
            elif minimum.proves == "dual":
                out[a, end] = -sign * np.inf
            else:
                raise SimulationError(
                    f"force_range: contact {i}: the cone program of its range was not "
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
    rank = int((s > RANK_ROUNDING * s.max(initial=0.0)).sum())
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
