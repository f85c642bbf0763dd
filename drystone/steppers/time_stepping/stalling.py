"""Motors of unlimited force that jam: no impulses give them the speed they are asked for.

A ram that presses a block against a wall contradicts the contacts, whatever its force: there are
impulses d of contacts and joints, growing with those of the motor, that move nothing (W d = 0) and
oppose its speed (q.d < 0), Farkas' certificate that the step has no answer. Contacts and joints
stay as they are; what gives way is the motor's speed, in least squares: the motor stalls.

1. The motors' rows become u + e r = 0 with a compliance e that is small beside the row's own
   response: impulses are bounded, and the problem always has an answer.
2. The same again around the impulses c that were found, u + e (r - c) = 0, as the proximal point
   method does: they grow in each round. If the speed can be reached, what is lacking shrinks by the
   factor e / (e + response of all that the motor moves). If it cannot, nothing moves differently:
   what is lacking stays. Once impulses are vast beside all that weight and friction ask for, their
   direction is the certificate: W r = u - q is nothing beside r.
   Without friction the answer is unique, and this proves that there is none with friction either.
   With it a motor may be held by friction alone while other answers exist: such a lock is taken
   where nothing else is found.
   Rubbing bodies under so vast a force are not always solved: then motors have a compliance like
   that of their own bodies, and give way at once.
3. Motors that lack speed are asked for the speed that they had in 2. This step has an answer, with
   bounded impulses, and its energy ledger closes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from drystone.constraints.rows import Rows
from drystone.model import Model
from drystone.problems.delassus import BlockMatrix
from drystone.types import Bools, Floats, Ints

YIELD = 1e-4  # compliance of a motor that may stall, of its row's own response
WEAKER = (1e-2, 1.0, 100.0)  # the same where rubbing bodies under so vast a force are not solved
WEAK = (0.1, 1.0, 10.0, 100.0)  # the same of motions that would throw what they push
EXACTLY = 1e-2  # of the tolerance, of motors that give way at once
STALL_ROUNDS = 6  # of growing impulses
VAST = 1e3  # impulses beside those that the free velocities ask for, times 1 + mu: a certificate
STAYS = 1e-3  # change of what motors lack, of that, from round to round: more force is in vain
LACKS = 1e-6  # of the greatest free velocity that impulses are to change, unit-free
NAMED_BODIES = 4  # bodies that are named
BEARS = 1e-3  # of the greatest growing impulse: a contact that is part of a jam

Names = tuple[str, ...]
# impulses (n, d) that solve a problem W, q, mu from a guess, to a part of the tolerance; or None
Attempt = Callable[[BlockMatrix, Floats, Floats, Floats, float], Floats | None]


@dataclass(slots=True)
class Stall:
    """Motors of an island that stall. r (n, d): impulses of the step in which they do; short (n,):
    which motors; pressed (n,): blocks that grow with their force; locks: friction holds them, where
    contacts alone would not; throws: force that moves them would throw what they push.
    """

    r: Floats
    short: Bools
    pressed: Bools
    locks: bool
    throws: bool = False


@dataclass(slots=True)
class _Island:
    """W, q (n, d), mu, unit (n,) of its blocks; drives: those whose first row has a velocity that
    is prescribed; soft: their compliances, loose: W with them."""

    W: BlockMatrix
    q: Floats
    mu: Floats
    unit: Floats
    drives: Ints
    soft: Floats
    loose: BlockMatrix


def stall(
    W: BlockMatrix,
    q: Floats,
    mu: Floats,
    unit: Floats,
    drives: Ints,
    touching: Bools,
    locks: bool,
    attempt: Attempt,
) -> Stall | None:
    """The step of an island in which its motors give way, or none of them if force helps after all;
    None if it is not solved.

    q (n, d), mu, unit (n,): of its blocks; drives: those whose first row has a velocity that is
    prescribed; touching (n,): contacts. locks: also where only friction holds the motors, which may
    have other answers; else None if they could move without it.
    """
    island = _soften(W, q, mu, unit, drives, YIELD)
    rubs = touching & (mu > 0.0)
    if not locks and rubs.any():
        bare = replace(island, mu=np.where(rubs, 0.0, mu))
        grown = _grow(bare, attempt)
        if grown is None or not grown[1].any():
            return None
    grown = _grow(island, attempt)
    for part in WEAKER if rubs.any() else ():
        grown = grown or _give_way(_soften(W, q, mu, unit, drives, part), attempt)
    if grown is None:
        return None
    r, short, growth = grown
    lacks = short != 0.0
    less = q.copy()
    less[drives, 0] -= short
    held = attempt(W, less, mu, r if not lacks.any() else np.zeros_like(r), 1.0)
    if held is None and not lacks.any():
        return None
    size = np.sqrt((growth**2).sum(axis=1)) * unit
    mine = np.zeros(len(q), bool)
    mine[drives[lacks]] = True
    return Stall(r if held is None else held, mine, size > BEARS * size.max(), locks)


def give_way(
    W: BlockMatrix,
    q: Floats,
    mu: Floats,
    unit: Floats,
    drives: Ints,
    holds: Callable[[Floats], bool],
    attempt: Attempt,
) -> Stall | None:
    """The step of an island that is pushed no harder than `holds` allows of its impulses: by
    motions with the least compliance that it takes; None if none is found."""
    for part in WEAK:
        found = _give_way(_soften(W, q, mu, unit, drives, part), attempt)
        if found is not None and holds(found[0]):
            size = np.sqrt((found[0] ** 2).sum(axis=1)) * unit
            short = np.zeros(len(q), bool)
            short[drives[found[1] != 0.0]] = True
            return Stall(found[0], short, size > BEARS * size.max(), False, True)
    return None


def _soften(
    W: BlockMatrix, q: Floats, mu: Floats, unit: Floats, drives: Ints, part: float
) -> _Island:
    """Motors with a compliance that is a part of their rows' own response."""
    at = W.diagonal[drives], 0, 0
    soft = part * W.blocks[at]
    loose = W.with_blocks(W.blocks.copy())
    loose.blocks[at] += soft
    return _Island(W, q, mu, unit, drives, soft, loose)


def _give_way(island: _Island, attempt: Attempt) -> tuple[Floats, Floats, Floats] | None:
    """What ``_grow`` returns, for motors that give way at once by their compliance."""
    r = attempt(island.loose, island.q, island.mu, np.zeros_like(island.q), EXACTLY)
    if r is None:
        return None
    return r, -island.soft * r[island.drives, 0], r


def _grow(island: _Island, attempt: Attempt) -> tuple[Floats, Floats, Floats] | None:
    """Rounds of growing impulses: the last r (n, d), what motors lack of their speed (zero where
    they arrive), and by how much r grew at last; None if nothing is decided."""
    q, mu, unit, drives, soft = island.q, island.mu, island.unit, island.drives, island.soft
    asks = np.abs(q) / unit[:, None]
    law = mu >= 0.0  # gaps ask for nothing
    asks[law, 0] = np.maximum(-q[law, 0], 0.0) / unit[law]
    scale = float(asks.max())
    vast = VAST * (1.0 + float(mu.max())) * scale
    short, r = np.zeros(drives.size), np.zeros_like(q)
    centre = r
    for k in range(STALL_ROUNDS):
        pulled, before, last = q.copy(), r, short
        pulled[drives, 0] -= soft * centre[drives, 0]
        found = attempt(island.loose, pulled, mu, before, YIELD)
        if found is None:
            return None
        r, short = found, soft * (centre - found)[drives, 0] / unit[drives]
        lacks = np.abs(short) > LACKS * scale
        if not lacks.any():
            return r, np.zeros_like(short), r - before
        size = float((np.abs(r[drives, 0]) * unit[drives]).max())
        if k and size >= vast and np.abs(short - last).max() <= STAYS * np.abs(short).max():
            return r, np.where(lacks, short * unit[drives], 0.0), r - before
        centre = r * max(1.0, vast / size) if k == 0 else r
    return None


def jammed_names(model: Model, rows: Rows, stalls: dict[int, Stall]) -> tuple[Names, Names]:
    """Names of the joints whose motors stall, and of the bodies whose motions meet what does not
    give way; and a sentence on each."""
    names, sentences = [], []
    for k, jam in sorted(stalls.items()):
        first = int(rows.start[k])
        blocks = first + np.flatnonzero(jam.pressed)
        pressed = rows.body[blocks[rows.joint[blocks] < 0]]
        for i in first + np.flatnonzero(jam.short):
            name, what = _driver(model, rows, int(i))
            if name in names:
                continue
            bodies = [model.names[b] for b in np.unique(pressed) if model.names[b] != name]
            between = f" between {_list(bodies)}" if bodies else ""
            names.append(name)
            why = "more force does not move it" if jam.locks else "no force gives it its speed"
            if jam.throws:
                why = "the force that gives it its speed would throw what it meets"
            sentences.append(f"{what} is jammed{between}: {why}")
    return tuple(names), tuple(sentences)


def _driver(model: Model, rows: Rows, i: int) -> tuple[str, str]:
    """What drives block i: its name, and in words."""
    if rows.joint[i] >= 0 and rows.blocks is not None and model.joints is not None:
        uid = rows.blocks.uid[rows.joint[i]]
        name = model.joints.names[int(np.flatnonzero(model.joints.uid == uid)[0])]
        return name, f"the motor of joint {name!r}"
    a, b = rows.body[i]
    name = model.names[b if rows.moves[a] else a]
    return name, f"the motion of body {name!r}"


def _list(names: list[str]) -> str:
    said = [repr(name) for name in names[:NAMED_BODIES]]
    if len(names) > NAMED_BODIES:
        said.append(f"{len(names) - NAMED_BODIES} more")
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
