"""Descriptions into arrays: everything that grows with the number of bodies is done by NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from drystone.builder.bodies import Body, Template
from drystone.builder.joints import JointEntry, build_joints
from drystone.dynamics.forces import BoundForce, Force
from drystone.dynamics.frames import rotations, spin_velocity, turned
from drystone.model import Geoms, Model, PairRules, State
from drystone.types import Floats, Ints

Uids = tuple[int, int]


class Parts(NamedTuple):
    """The complete description of a world, in order, validated.

    pairs and ignored: by the uids of two bodies; pairs: (static, dynamic, normal, tangential), nan
    where they say nothing.
    """

    bodies: tuple[Body, ...]
    joints: tuple[JointEntry, ...]
    forces: tuple[Force, ...]
    pairs: dict[Uids, tuple[float, float, float, float]]
    ignored: frozenset[Uids]
    uids: tuple[int, int, int]


def build(
    dim: int,
    gravity: Sequence[float],
    bodies: Sequence[Body],
    forces: Iterable[Force],
    pairs: Mapping[Uids, tuple[float, float, float, float]],
    ignored: Iterable[Uids],
    time: float,
    joints: Sequence[JointEntry] = (),
) -> tuple[Model, State]:
    """Model, and the state at a time [s], of checked bodies.

    pairs: by the uids of two bodies (static, dynamic, normal, tangential), nan where the pair
    says nothing. ignored: pairs that never collide. Pairs of bodies that are gone do not count.
    joints: checked; their pairs do not collide unless they say so.
    """
    mass, inertia, centre = _matter(dim, bodies)
    inverse_mass, inverse_inertia = _inverses(mass, inertia)
    surfaces = [body.surface for body in bodies]
    index = {body.uid: i for i, body in enumerate(bodies)}
    model = Model(
        dim=dim,
        gravity=np.array(gravity, float),
        names=tuple(body.name for body in bodies),
        uid=np.array([body.uid for body in bodies], np.int64),
        mass=mass,
        inverse_mass=inverse_mass,
        inertia=inertia,
        inverse_inertia=inverse_inertia,
        centre=centre,
        friction=_rows([s.friction for s in surfaces], 2),
        restitution=_rows([s.restitution for s in surfaces], 2),
        ratios=_rows([s.ratios for s in surfaces], 2),
        axis=_rows([s.axis for s in surfaces], dim),
        layer=np.array([s.layer for s in surfaces], np.int64),
        geoms=_geoms(dim, bodies, centre),
        rules=_rules(index, pairs, {*ignored, *(j.pair for j in joints if j.pair is not None)}),
        motions=tuple((i, b.motion) for i, b in enumerate(bodies) if b.motion is not None),
        joints=build_joints(joints, index, centre),
    )
    model.forces = _bound({name: i for i, name in enumerate(model.names)}, forces, dim)
    return model, _state(model, bodies, time)


def carry_over(model: Model, state: State, new: Model, fresh: State) -> State:
    """State of an edited world: bodies that were there go on as they were, others start afresh.

    model, state: before the edit; new, fresh: what the edited world builds.
    """
    out = fresh.copy()
    out.time = state.time
    _, here, there = np.intersect1d(new.uid, model.uid, assume_unique=True, return_indices=True)
    out.position[here] = state.position[there]
    out.orientation[here] = state.orientation[there]
    out.velocity[here] = state.velocity[there]
    return out


def _state(model: Model, bodies: Sequence[Body], time: float) -> State:
    dim = model.dim
    position = _rows([body.position for body in bodies], dim)
    turns = [body.orientation for body in bodies]
    orientation = np.array(turns, float) if dim == 2 else _rows(turns, 4)
    velocity = _rows([body.velocity for body in bodies], model.dof)
    # from the frames that users speak of to the centres of mass
    away = np.flatnonzero(model.centre.any(axis=1))
    arm = turned(rotations(orientation[away]), model.centre[away])
    position[away] += arm
    velocity[away, :dim] += spin_velocity(velocity[away, dim:], arm)
    for i, motion in model.motions:
        position[i], orientation[i] = motion.pose(time)
        velocity[i] = motion.velocity(time, 0.0)
    return State(time, position, orientation, velocity)


def _matter(dim: int, bodies: Sequence[Body]) -> tuple[Floats, Floats, Floats]:
    """mass (nb,), inertia (nb,) or (nb, 3, 3), centre (nb, dim): zero unless dynamic."""
    order: dict[int, int] = {}
    table: list[Any] = []
    which = np.empty(len(bodies), np.int64)
    for i, body in enumerate(bodies):
        matter = body.matter
        at = order.setdefault(id(matter), len(table))
        if at == len(table):
            table.append(matter)
        which[i] = at
    blank = 0.0 if dim == 2 else np.zeros((3, 3))
    masses = np.array([0.0 if m is None else m.mass for m in table])
    inertias = np.array([blank if m is None else m.inertia for m in table], float)
    centres = _rows([np.zeros(dim) if m is None else m.centre for m in table], dim)
    if not table:
        inertias = np.zeros((0,) if dim == 2 else (0, 3, 3))
    return masses[which], inertias[which], centres[which]


def _inverses(mass: Floats, inertia: Floats) -> tuple[Floats, Floats]:
    inverse_mass = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    if inertia.ndim == 1:
        return inverse_mass, np.divide(1.0, inertia, out=np.zeros_like(inertia), where=mass > 0)
    inverse = np.zeros_like(inertia)
    some = mass > 0
    inverse[some] = np.linalg.solve(inertia[some], np.broadcast_to(np.eye(3), (some.sum(), 3, 3)))
    return inverse_mass, 0.5 * (inverse + inverse.transpose(0, 2, 1))


def _geoms(dim: int, bodies: Sequence[Body], centre: Floats) -> Geoms:
    """Pieces of each distinct shape once, then gathered for all bodies."""
    order: dict[int, int] = {}
    templates: list[Template] = []
    which = np.full(len(bodies), -1, np.int64)
    for i, described in enumerate(bodies):
        template = described.template
        if template is not None:
            at = order.setdefault(id(template), len(templates))
            if at == len(templates):
                templates.append(template)
            which[i] = at
    pieces = [piece for template in templates for piece in template.pieces]
    sizes = np.array([len(template.pieces) for template in templates], np.int64)
    counts = np.zeros(len(bodies), np.int64)
    shaped = which >= 0
    counts[shaped] = sizes[which[shaped]]
    body = np.repeat(np.arange(len(bodies)), counts)
    starts = np.zeros(len(bodies), np.int64)
    starts[shaped] = (np.cumsum(sizes) - sizes)[which[shaped]]
    nth = np.arange(body.size) - np.repeat(np.cumsum(counts) - counts, counts)
    piece = np.repeat(starts, counts) + nth
    uids = np.array([b.geom_uid for b in bodies], np.int64)
    first, numbers = _gather([p.floats for p in pieces], piece, np.float64)
    first_int, ints = _gather([p.ints for p in pieces], piece, np.int64)
    turns = np.array([p.turn for p in pieces], float).reshape(-1, dim, dim)
    tile, bend = _tiles(pieces, piece)
    return Geoms(
        dim=dim,
        kind=np.array([p.kind for p in pieces], np.int64)[piece],
        body=body,
        uid=uids[body] + nth,
        offset=_rows([p.offset for p in pieces], dim)[piece] - centre[body],
        turn=turns[piece],
        first=first,
        numbers=numbers,
        first_int=first_int,
        ints=ints,
        radius=np.array([p.radius for p in pieces], float)[piece],
        tile=tile,
        bend=bend,
    )


def _tiles(pieces: list[Any], which: Ints) -> tuple[Ints, Floats]:
    """Which geoms are triangles of a mesh, and how the surface turns at their edges."""
    bends = [p.bend for p in pieces if p.bend is not None]
    if not bends:
        return np.empty(0, np.int64), np.empty((0, 3))
    row = np.full(len(pieces), -1, np.int64)
    row[[i for i, p in enumerate(pieces) if p.bend is not None]] = np.arange(len(bends))
    return row[which], np.array(bends)


def _gather(parts: list[Any], which: Ints, dtype: Any) -> tuple[Ints, Any]:
    """first (n + 1,) and the entries of parts[which[0]], parts[which[1]], ... in one array."""
    sizes = np.array([len(part) for part in parts], np.int64)
    starts, wanted = (np.cumsum(sizes) - sizes)[which], sizes[which]
    first = np.zeros(which.size + 1, np.int64)
    np.cumsum(wanted, out=first[1:])
    entries = np.concatenate([np.asarray(part, dtype) for part in parts] or [np.empty(0, dtype)])
    return first, entries[np.arange(first[-1]) + np.repeat(starts - first[:-1], wanted)]


def _rules(
    index: Mapping[int, int],
    pairs: Mapping[Uids, tuple[float, float, float, float]],
    ignored: Iterable[Uids],
) -> PairRules:
    nb = len(index)

    def key(uids: Uids) -> int | None:
        a, b = index.get(uids[0]), index.get(uids[1])
        return None if a is None or b is None else min(a, b) * nb + max(a, b)

    said = sorted((k, values) for uids, values in pairs.items() if (k := key(uids)) is not None)
    never = sorted(k for uids in ignored if (k := key(uids)) is not None)
    values = _rows([values for _, values in said], 4)
    return PairRules(
        key=np.array([k for k, _ in said], np.int64),
        friction=values[:, :2].copy(),
        restitution=values[:, 2:].copy(),
        ignored=np.array(never, np.int64),
    )


def _bound(names: Mapping[str, int], forces: Iterable[Force], dim: int) -> tuple[BoundForce, ...]:
    """Forces of one class act together: a net of springs costs one call."""
    kinds: dict[type[Force], list[Force]] = {}
    for force in forces:
        kinds.setdefault(type(force), []).append(force)
    return tuple(kind.bind(members, names, dim) for kind, members in kinds.items())


def _rows(rows: Sequence[Any], width: int) -> Floats:
    """(n, width), for n = 0 too."""
    return np.array(rows, np.float64).reshape(-1, width)
