"""The records that the stages of a step share, declared once: kind, shape, unit, meaning.

Kernels get a record as one pointer (``packed``) and read its fields by name: ``s.v_free`` is an
array, ``s.newton_wait`` a number, which kernels may assign to. ``steppers`` make the records from
these declarations. Shapes are written in counts: nb bodies, ng geoms, nj joints, nr rows C = 0 of
joints, nq their coordinates, ne what acts on them, n blocks of rows (of contacts and of joints), m
recorded steps; dim 2 or 3, dof 3 or 6, d rows in a block; "angle" is no axis in the plane and one
of 4 (a quaternion) in space.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

Sizes = dict[str, int | tuple[int, ...]]


class Field(NamedTuple):
    """An array of a record, or a number if it has no shape. kept: a number that one step leaves
    for the next, and that a snapshot holds."""

    kind: type
    shape: str | None
    unit: str
    meaning: str
    kept: bool = False


Record = dict[str, Field]


def whole(meaning: str, *, kept: bool = False) -> Field:
    """A whole number of a record."""
    return Field(int, None, "", meaning, kept)


def real(unit: str, meaning: str, *, kept: bool = False) -> Field:
    """A number of a record."""
    return Field(float, None, unit, meaning, kept)


def array(shape: str, unit: str, meaning: str, kind: type = float) -> Field:
    """An array of a record; shape: counts and numbers, with blanks between them."""
    return Field(kind, shape, unit, meaning)


def make(record: Record, sizes: Sizes | None = None) -> dict[str, Any]:
    """Zeros for every field, to be packed."""
    return {name: _zero(field, sizes or {}) for name, field in record.items()}


def _zero(field: Field, sizes: Sizes) -> Any:
    if field.shape is None:
        return field.kind(0)
    shape: list[int] = []
    for part in field.shape.split():
        size = int(part) if part.isdigit() else sizes[part]
        shape += [size] if isinstance(size, int) else size
    return np.zeros(shape, np.int64 if field.kind is int else field.kind)


def places(record: Record) -> Any:
    """The place of every number in a row of a record of numbers, by name."""
    return namedtuple("Places", record)(*range(len(record)))


def kept(record: Record) -> tuple[str, ...]:
    """Names of the numbers that go from one step to the next."""
    return tuple(name for name, field in record.items() if field.kept)


def offsets(**widths: int) -> Any:
    """Where the parts of a packed line begin, in their order, and its WIDTH."""
    ends = np.cumsum([0, *widths.values()]).tolist()
    return namedtuple("Offsets", [*widths, "WIDTH"])(*ends)  # type: ignore[misc]


# One line of packed contacts and of packed bodies, in space and in the plane: what a sweep reads.
# D with its normal eliminated: C = D_nn, F = D_tn / C, T = D_tt - C F F' (T_11, T_12, T_22).
CONTACT_3 = offsets(
    FRAME=9, ARM_A=3, ARM_B=3, BIAS=3, C=1, INV_C=1, F=2, T=3, INV_DET=1, MU=1, UNIT2=1, LAM=1,
    R=3, R_OLD=3,
)  # fmt: skip
# INV_I: xx, yy, zz, xy, xz, yz in world axes; MOVES: 1 or 0; _OLD: after the sweep before
BODY_3 = offsets(V=6, INV_M=1, INV_I=6, MOVES=1, V_OLD=6)
# LEVER_A, LEVER_B: of normal and tangent; INV_SLIP: 1 / (1 + mu f), 1 / (1 - mu f)
CONTACT_2 = offsets(
    NORMAL=2, LEVER_A=2, LEVER_B=2, BIAS=2, C=1, INV_C=1, F=1, INV_T=1, MU=1, UNIT2=1, R=2,
    R_OLD=2, INV_SLIP=2,
)  # fmt: skip
BODY_2 = offsets(V=3, INV_M=1, INV_I=1, MOVES=1, V_OLD=3)

STEP: Record = {
    # settings
    "law": whole("of friction, see ``problems.friction.LAWS``"),
    "torque_free": whole("whether bodies turn by the torque-free rotation"),
    "gyroscopic": whole("whether the gyroscopic torque is a force"),
    "stabilize": whole("whether gaps are in the rows of contacts"),
    "warm_start": whole("whether a step starts from the last one's impulses"),
    "bounces": whole("whether collisions may have restitution"),
    "only_sweeps": whole("whether Gauss-Seidel alone solves, without acceleration"),
    "max_sweeps": whole("of it"),
    "search": whole("how contacts are chosen: by BY_TRAVEL, PREDICTED or GIVEN"),
    "parallel_island": whole("contacts of an island that is worth several threads"),
    "parallel_total": whole("contacts of several islands together that are"),
    "tol": real("", "residual of every island"),
    "sweep_tol": real("", "residual of large islands that move"),
    "slop": real("", "part of a body's size within which gaps count as none"),
    "active_gap": real("m", "of contacts that take part, where it is given"),
    "sleep_speed": real("m/s", "below which a body is slow, 0: none sleeps"),
    "sleep_duration": real("s", "that a body is slow before it sleeps"),
    "rows_stage": whole("number of the stage that begins to make rows"),
    "solve_stage": whole("number of the stage that begins the solve"),
    "finger_radius": real("m", "of soft fingers"),
    # the step
    "h": real("s", "length of the step"),
    "kick": real("s", "how long forces act before a solve: h, or half of it in order 2"),
    "drifts": whole("whether bodies move after this solve: not after the second kick of order 2"),
    "impact_share": real("", "part of the kick that the law of impact sees"),
    "forced_by_python": whole("whether Python is asked for forces at every kick"),
    "first_rows": whole("`rows` of the first of two kicks"),
    "first_islands": whole("`islands` of the first of two kicks"),
    "first_failed": whole("`failed` of the first of two kicks"),
    "time": real("s", "at the start of the step"),
    "cursor": whole("number of this step among those that were prepared"),
    "rest_speed": real("m/s", "that gravity gives in a step"),
    "impact_speed": real("m/s", "below which an approach is no collision"),
    "impact_gap": real("m", "within which bodies collide"),
    "longest_path": real("m", "of any body in this step"),
    "spring_energy": real("J", "at the start of the step"),
    "rows": whole("blocks of rows in this step: contacts, and those of joints"),
    "islands": whole("in this step"),
    "candidates": whole("contacts within reach"),
    "collisions": whole("solved in this step"),
    "iterations": whole("of all methods in this step"),
    "methods": whole("that were used in this step, by bits"),
    "solves": whole("begun in this step, or in this kick of order 2"),
    "slip_rounds": whole("solves of this step in which contacts broke loose"),
    "missed_rounds": whole("of this step in which contacts were added or dropped after a solve"),
    "carries": whole("whether impulses of a solve before in this step are known"),
    "failed": whole("an island that was not solved, or -1"),
    "n_chosen": whole("islands to be swept"),
    "leave": whole("whether sweeps end early where they promise no end"),
    "needed": whole("rows for which there is no room"),
    "next_stage": whole("that AGAIN goes back to"),
    "outer": whole("solves of this step with M at its end"),
    "status": whole("of an island that was not solved, see ``types.Status``"),
    "unsettled": real("", "what velocities still change with M at the end, of the greatest"),
    "tight": whole("whether islands at rest are solved as well as it goes in this step"),
    "careful": whole("whether large islands that are slow are swept longer in this step"),
    # from step to step
    "old_rows": whole("rows of the last step", kept=True),
    "old_h": real("s", "length of the last step", kept=True),
    "newton_wait": whole("steps until Newton is tried on large islands again", kept=True),
    "newton_interval": whole("steps between two such tries", kept=True),
    "newton_tried": whole("the solve of the last step that tried it, or 0", kept=True),
    "newton_refused": whole("contacts of the smallest island without room for it", kept=True),
    "tight_steps": whole("steps to come that solve islands at rest as well as it goes", kept=True),
    "restless_steps": whole("in which large islands were slow and did not rest", kept=True),
    # recording
    "frames": whole("that are recorded"),
    "frame_interval": whole("steps from one frame to the next, 0: none is recorded"),
    "since_frame": whole("steps since the last frame"),
    "logged": whole("islands in the log of frames"),
    "records_contacts": whole("whether frames keep their contacts"),
    "contact_interval": whole("frames from one that keeps its contacts to the next"),
    "since_contacts": whole("frames since the last that was due to keep its contacts"),
}

SETTINGS: Record = {
    "origin": array("2", "s", "start of the run, and steps that were made since"),
    "noted_ends": array("3", "", "rows that recorded contacts, laws and features take", int),
    "sums": array("4", "J", "work of contacts, see ``ledger.contact_work``"),
    "turn": array("3 3", "", "work"),
    "turn_work": array("5 3", "", "work of ``rigid.drift``"),
    "cone_axis": array("3", "", "direction of elliptic cones"),
    "cone_ratios": array("2", "", "of elliptic cones"),
    "corners": array("corners 2", "", "directions of a polyhedral cone, in order"),
    "anisotropic": array("1", "", "whether friction depends on the direction", bool),
}

BODIES: Record = {
    "position": array("nb dim", "m", "of the state"),
    "orientation": array("nb angle", "rad or 1", "of the state"),
    "velocity": array("nb dof", "m/s, rad/s", "of the state"),
    "was": array("nb dim", "m", "positions at the start of the step"),
    "was_turned": array("nb angle", "rad or 1", "orientations at the start of the step"),
    "was_moving": array("nb dof", "m/s, rad/s", "velocities at the start of the step"),
    "v0": array("nb dof", "m/s, rad/s", "before the forces, after collisions"),
    "v_free": array("nb dof", "m/s, rad/s", "after the forces, without contacts"),
    "v": array("nb dof", "m/s, rad/s", "after contacts and joints"),
    "v_before": array("nb dof", "m/s, rad/s", "of the solve before, where M is that of the end"),
    "end_position": array("nb dim", "m", "where the step leads to, where M is that of its end"),
    "end_orientation": array("nb angle", "rad or 1", "the same"),
    "force": array("nb dof", "N, N m", "of springs and callbacks"),
    "load": array("nb dof", "N, N m", "the same with gyroscopic torques"),
    "reach": array("nb", "m", "how far a body can travel in this step"),
    "moves": array("nb", "", "whether an impulse can move a body", bool),
    "root": array("nb", "", "work of union-find", int),
    "fast": array("nb", "m", "work of ``active.activate``"),
    "seen": array("nb", "", "work of sweeps", int),
    "mine": array("nb", "", "work of sweeps", int),
    "motion": array("nb packed_body", "", "packed bodies of sweeps"),
    "wrench": array("nj dof", "N, N m", "of joints on their first bodies"),
}

# of worlds whose bodies may sleep: ns is nb there, and 0 elsewhere
SLEEP: Record = {
    "asleep": array("ns", "", "bodies that sleep", bool),
    "slow_time": array("ns", "s", "how long a body has been slow"),
    "keeps_awake": array("ns", "", "work: bodies that keep others awake", bool),
    "island_awake": array("ns", "", "work: islands with such bodies, by their roots", bool),
    "joined": array("joined 2", "", "bodies that a joint holds together", int),
}

MODEL: Record = {
    "mass": array("nb", "kg", ""),
    "own_inverse_mass": array("nb", "1/kg", "0: the body does not move"),
    "inverse_mass": array("nb", "1/kg", "the same, 0 also of bodies that sleep"),
    "own_inertia": array("nb tensor", "kg m^2", "in body axes"),
    "own_inverse": array("nb tensor", "1/(kg m^2)", "in body axes"),
    "inertia": array("nb tensor", "kg m^2", "in world axes, at the start of the step"),
    "inverse": array("nb tensor", "1/(kg m^2)", "in world axes, at the start of the step"),
    "end_inertia": array("nb tensor", "kg m^2", "in world axes, at the end of the step"),
    "gravity": array("dim", "m/s^2", ""),
    "size": array("nb", "m", "radius about the centre of mass, inf: unbounded"),
    "slack": array("nb", "m", "added to what a body can travel: resting contacts stay"),
    "friction": array("nb 2", "", "static and dynamic"),
    "restitution": array("nb 2", "", "normal and tangential"),
    "axis": array("nb 3", "", "direction of anisotropic friction, 0: there is none"),
    "ratios": array("nb 2", "", "of anisotropic friction"),
    "rule_key": array("rules", "", "pairs of bodies with rules of their own", int),
    "rule_friction": array("rules 2", "", "of a pair"),
    "rule_restitution": array("rules 2", "", "of a pair"),
    "geom_body": array("ng", "", "body of a geom", int),
    "geom_offset": array("ng dim", "m", "place of a geom in its body"),
    "geom_turn": array("ng dim dim", "", "axes of a geom in its body"),
    "geom_uid": array("ng", "", "lasting name of a geom", int),
    "geom_size": array("ng", "m", "radius of a geom, inf: unbounded"),
}

# two geoms along the motion of a step, see ``step.meet``: where they are, and what is found there
NEAR: Record = {
    "kinds": whole("of geoms in this model"),
    "code": array("ng", "", "place of a geom's kind among them", int),
    "lever": array("ng", "m", "how far from its body's centre of mass turning moves a geom"),
    "ball": array("ng", "m", "radius of a sphere about that centre that holds the geom"),
    "v": array("nb dof", "m/s, rad/s", "velocities of the motion that is judged"),
    "velocity": array("nb dof", "m/s, rad/s", "at a time of it"),
    "position": array("nb dim", "m", "at a time of it"),
    "orientation": array("nb angle", "rad or 1", "at a time of it"),
    "x": array("ng dim", "m", "of geoms"),
    "R": array("ng dim dim", "", "of geoms"),
    "pair": array("1 2", "", "the geoms", int),
    "margin": array("1", "m", "within which contacts are looked for"),
    "cache": array("width", "", "of the pair's kernel"),
    "stats": array("8", "", "of the pair's kernel, not read", int),
    "which": array("found", "", "not read", int),
    "point": array("found dim", "m", "of contacts"),
    "normal": array("found dim", "", "of contacts"),
    "gap": array("found", "m", "of contacts"),
    "feature": array("found", "", "not read", int),
}

DRIVEN: Record = {
    "driven": array("driven", "", "bodies with a prescribed motion", int),
    "is_driven": array("nb", "", "whether a body is one of them", bool),
    "driven_velocity": array("prepared driven dof", "m/s, rad/s", "over each of the next steps"),
    "driven_late": array("prepared driven dof", "m/s, rad/s", "at the end of each, in order 2"),
    "driven_position": array("prepared driven dim", "m", "at the end of each"),
    "driven_orientation": array("prepared driven angle", "rad or 1", "at the end of each"),
}

FRAMES: Record = {
    "frame_time": array("m", "s", "of recorded steps"),
    "frame_kick": array("m", "s", "how long their forces acted"),
    "frame_position": array("m nb dim", "m", ""),
    "frame_orientation": array("m nb angle", "rad or 1", ""),
    "frame_velocity": array("m nb dof", "m/s, rad/s", ""),
    "frame_report": array("m report", "", "fields of REPORT"),
    "frame_wrench": array("m nj dof", "N, N m", "of joints"),
    "frame_log": array("m", "", "end of a step's islands in the log", int),
    "frame_noted": array("m 3", "", "ends of a step's contacts, laws and features", int),
    "log": array("logged 2", "", "residual and size of islands"),
}

NOTED: Record = {
    "numbers": array("contacts numbers", "", "of recorded contacts, see ``step.contacts``"),
    "bodies": array("contacts bytes", "", "bodies, island and state of each", np.uint8),
    "laws": array("contacts 2", "", "friction and spin"),
    "features": array("contacts", "", "", int),
}

# canonical forces of up to n contacts; bodies: nb and, as the last, one for all that is unknown
CANONICAL: Record = {
    "dim": whole("2 or 3"),
    "width": whole("words of a row of the table"),
    "sides": whole("of the cone's polygon, 0: it is round"),
    "round": whole("whether the law gives the direction of what begins to slide"),
    "stretched": whole("whether the cone is elliptic"),
    "convex": whole("whether what slides opens"),
    "stabilize": whole("whether gaps count"),
    "slop": real("m", "gap that counts for nothing between bodies without a size"),
    "most": real("", "operations that the factor of a block may take"),
    "beyond": whole("contacts that were left because their island or block is too large"),
    "radius": real("m", "of the soft finger, else 1"),
    "kick": real("s", "how long impulses acted"),
    "slots": array("slots", "", "bodies by the hash of their names, -1: none", int),
    "node": array("bodies", "", "of the graph: the body, or the last of all if it is fixed", int),
    "inverse_mass": array("bodies", "1/kg", ""),
    "slack": array("bodies", "m", "gap that counts for nothing, inf: of a body without a size"),
    "push": array("bodies dim", "N s", "impulse on a body"),
    "count": array("bodies", "", "contacts of an island", int),
    "speed": array("bodies", "m/s", "of an island"),
    "greatest": array("bodies", "N^2 s^2", "square of an island's greatest impulse"),
    "body": array("n 2", "", "", int),
    "island": array("n", "", "", int),
    "state": array("n", "", "", int),
    "point": array("n dim", "m", ""),
    "normal": array("n dim", "", ""),
    "force": array("n dim", "N", ""),
    "impulse": array("n dim", "N s", ""),
    "velocity": array("n dim", "m/s", ""),
    "gap": array("n", "m", ""),
    "spin": array("n", "N m s", ""),
    "mu": array("n", "", ""),
    "axis": array("n 3", "", "that the first tangent lies along"),
    "ratios": array("n 2", "", "of friction along the tangents"),
    "frame": array("n d dim", "", "normal and tangents, see ``kernels.rows``"),
    "r": array("n d", "N s", "impulses in these frames"),
    "u": array("n dim", "m/s", "velocities"),
    "ray": array("n d", "", "unit vector of a force that slides"),
    "slides": array("n", "", "whether it does", int),
    "changes": array("n", "", "whether the law leaves the force open", int),
    "start": array("bodies+1", "", "first contact of a node", int),
    "near": array("2n", "", "contacts of the nodes", int),
    "cursor": array("bodies", "", "next contact of a node", int),
    "depth": array("bodies", "", "of a node in the tree, -1: not met", int),
    "low": array("bodies", "", "least depth that is reached from below a node", int),
    "path": array("bodies", "", "nodes from the root to here", int),
    "came": array("bodies", "", "by which contact", int),
    "cut": array("bodies", "", "how many edges were held before", int),
    "edges": array("n", "", "contacts that no block has yet", int),
    "label": array("n", "", "block of a contact, -1: none", int),
    "own": array("n", "", "contacts by blocks", int),
    "end": array("n+1", "", "where the contacts of a block begin", int),
    "place": array("bodies", "", "of a node in the block, -1: not in it", int),
    "order": array("bodies", "", "nodes of the block", int),
    "middle": array("bodies dim", "m", "of the contacts of a body of the block"),
    "met": array("bodies", "", "their number", int),
    "size": array("n", "", "coordinates of a contact of the block", int),
    "cone": array("n", "", "its coefficient of friction"),
    "at": array("n 2", "", "first row of each of its bodies, -1: fixed", int),
    "G": array("n 2 dof d", "", "force and moment on each body by coordinates"),
    "z": array("n d", "N s", ""),
    "x": array("n d", "N s", ""),
    "best": array("n d", "N s", "of least norm"),
    "D": array("n d d", "", "derivative of the projection on the cones"),
    "b": array("rows", "N s", "sums that the forces have"),
    "y": array("rows", "", "multipliers"),
    "new": array("rows", "", ""),
    "left": array("rows", "N s", ""),
    "step": array("rows", "", ""),
    "first": array("rows", "", "column of a row of the factor", int),
    "begin": array("rows+1", "", "where it begins", int),
    "L": array("entries", "", "the factor"),
}

# contacts and joints as J and P = M^-1 J', where something asks for them
STORED: Record = {
    "J": array("n d 2 dof", "", "rows of both bodies"),
    "P": array("n d 2 dof", "1/kg", "M^-1 J'"),
}

# Islands, of which there are no more than rows: when each is solved, and what its sweeps gave
ISLANDS: Record = {
    "jointed": array("n", "", "whether an island has joints", bool),
    "plan": array("n", "", "what an island still needs: DONE, SMALL_NEWTON, ...", int),
    "chosen": array("n", "", "numbers of islands to be swept", int),
    "island_tol": array("n", "", "residual at which an island is solved"),
    "loose_tol": array("n", "", "residual at which it is left after `min_sweeps`"),
    "fallback_tol": array("n", "", "residual that it must reach where that is out of reach"),
    "min_sweeps": array("n", "", "sweeps before `loose_tol` will do", int),
    "sweep_limit": array("n", "", "sweeps at most", int),
    "ended": array("n", "", "status code of its sweeps", int),
    "sweeps": array("n", "", "that were made", int),
    "residual": array("n 2", "", "as measured, and unit-free"),
    "energy_gap": array("n", "", "see ``contact.energy_gap``"),
    "awake": array("n", "", "work of sweeps", int),
    "start": array("n+1", "", "first row of an island", int),
}

ROWS: Record = {
    "geom_a": array("n", "", "first geom of a contact, -1: a joint's block", int),
    "geom_b": array("n", "", "second geom", int),
    "feature": array("n", "", "of a contact, to find it again in the next step", int),
    "tag_a": array("n", "", "lasting name of the first geom", int),
    "tag_b": array("n", "", "lasting name of the second geom or of the joint", int),
    "body": array("n 2", "", "both bodies", int),
    "gap": array("n", "m", "signed distance"),
    "point": array("n dim", "m", "of contact"),
    "normal": array("n dim", "", "from body b to body a"),
    "frame": array("n d dim", "", "normal and tangents"),
    "both": array("n 2", "", "static and dynamic friction"),
    "eps": array("n 2", "", "restitution, normal and tangential"),
    "row_axis": array("n 3", "", "direction of an elliptic cone"),
    "row_ratios": array("n 2", "", "of an elliptic cone"),
    "mu": array("n", "", "friction in this solve"),
    "loose": array("n", "", "contacts with their dynamic friction", bool),
    "slid": array("n", "", "contacts that carry and slip", bool),
    "bias": array("n d", "m/s", "added to J v: gaps over h"),
    "zero": array("n d", "m/s", "no bias"),
    "q": array("n d", "m/s", "J v_free + bias"),
    "u": array("n d", "m/s", "J v + bias"),
    "r": array("n d", "N s", "impulses in the contact frame"),
    "w": array("n d", "", "work"),
    "unit": array("n", "1/kg^0.5", "sqrt of the mean diagonal of D, where rows are stored"),
    "lam": array("n", "", "first guess of slip, where rows are stored"),
    "D": array("n d d", "1/kg", "diagonal blocks of W = J M^-1 J'"),
    "contact": array("n packed_contact", "", "packed contacts of sweeps"),
    "impulse": array("n dim", "N s", "first guess in world axes"),
    "spin": array("n", "N m s", "first guess about the normal"),
    "source": array("n", "", "row of the last step that is the same, or -1", int),
    # what is left for the next step
    "old_a": array("n", "", "tag_a", int),
    "old_b": array("n", "", "tag_b", int),
    "old_feature": array("n", "", "feature", int),
    "old_impulse": array("n dim", "N s", "in world axes"),
    "old_spin": array("n", "N m s", "about the normal"),
    "old_slid": array("n", "", "slid", bool),
    # contacts as they were found
    "pair": array("n 2", "", "bodies", int),
    "keep": array("n", "", "whether a contact takes part", bool),
    "forced": array("n", "", "contacts that a solve missed", bool),
    "verdict": array("n", "", "whether their bodies meet: NOT_ASKED, MEETS, PASSES, PRESSED", int),
    "carried": array("n dim", "N s", "impulses of the solve before in this step"),
    "carried_spin": array("n", "N m s", "the same about the normal"),
    "left_out": array("n", "", "contacts that cannot take part", bool),
    "found": array("n", "", "numbers of those that take part", int),
    "pick": array("n", "", "the same by islands", int),
    "label": array("n", "", "island of each", int),
    "place": array("n", "", "work", int),
    # work of matching contacts with those of the last step
    "head": array("hash", "", "first entry of each place of a hash table", int),
    "tail": array("3 n", "", "entries behind it", int),
}

# What a solve of rows alone has of a step: collisions, and rounds that close joints
SOLVE: Record = {
    name: field
    for record in (STEP, BODIES, MODEL, STORED, ROWS, ISLANDS)
    for name, field in record.items()
    if record is ISLANDS
    or name in (
        "law", "warm_start", "only_sweeps", "max_sweeps", "tol", "sweep_tol", "rest_speed", "rows",
        "islands", "iterations", "methods", "solves", "failed", "n_chosen", "leave", "tight",
        "careful", "newton_wait", "newton_interval", "newton_tried", "newton_refused",
        "tight_steps", "restless_steps", "h", "size", "v_free", "v", "moves", "seen", "mine", "J",
        "P", "D", "body", "bias", "mu", "q", "u", "r", "lam",
    )
}  # fmt: skip

# What is read of the first of two kicks, as the fields without `first_` have it: nf is n in steps
# of order 2, nk is nb, and both are 0 elsewhere
FIRST_ROWS: Record = {
    f"first_{name}": field._replace(shape=(field.shape or "").replace("n", "nf", 1))
    for name, field in (ROWS | ISLANDS).items()
    if name in (
        "geom_a", "geom_b", "feature", "body", "start", "gap", "point", "normal", "frame", "both",
        "eps", "mu", "slid", "bias", "q", "u", "r", "contact", "impulse", "spin", "residual",
        "unit",
    )
}  # fmt: skip
FIRST_BODIES: Record = {
    f"first_{name}": BODIES[name]._replace(shape="nk dof") for name in ("v0", "v_free", "v")
}

# One large island that is swept in parts, see ``contact.parallel_sweeps``
PARTS: Record = {
    "law": whole(""),
    "only_sweeps": whole(""),
    "island_tol": real("", "as of the island in ROWS, also those that follow"),
    "loose_tol": real("", ""),
    "fallback_tol": real("", ""),
    "min_sweeps": whole(""),
    "sweep_limit": whole(""),
    "leave": whole(""),
    "plain_q": real("", "sums of |q|^2, as they are and unit-free"),
    "free_q": real("", ""),
    "ended": whole("out: status"),
    "sweeps": whole("out"),
    "plain": real("", "out: residual as measured"),
    "free": real("", "out: residual, unit-free"),
    "gate": array("gate", "", "of ``_barrier.meet``", int),
    "order": array("contacts", "", "contacts by part", int),
    "number": array("nb", "", "new numbers of bodies", int),
    "members": array("bodies", "", "bodies in their new order", int),
    "first": array("parts+2", "", "first contact of each part", int),
    "first_body": array("parts+1", "", "first body of each part", int),
    "near": array("contacts 2", "", "bodies by their new numbers", int),
    "line": array("contacts packed_contact", "", "packed contacts"),
    "state": array("bodies packed_body", "", "packed bodies"),
    "u": array("contacts d", "m/s", "velocities of contacts"),
    "awake": array("contacts", "", "work", int),
    "up": array("parts+1", "", "contacts of each part that are awake", int),
    "sums": array("2 parts+1 6", "", "work"),
}

REPORT: Record = {
    "kinetic": real("J", "energy at the end"),
    "potential": real("J", "energy at the end, springs included"),
    "change": real("J", "of the energy in the step"),
    "loads": real("J", "work of forces"),
    "driving": real("J", "work of prescribed motions"),
    "friction": real("J", "work of friction"),
    "impact": real("J", "lost in collisions"),
    "constraint": real("J", "work of normal impulses and joints"),
    "integration": real("J", "error of the scheme"),
    "infeasibility": real("m", "greatest penetration at the start"),
    "residual": real("", "worst of all islands, as measured"),
    "residual_unit": real("", "worst of all islands, unit-free"),
    "least_impulse": real("N s", "least normal impulse"),
    "least_velocity": real("m/s", "least normal velocity with its bias"),
    "complementarity": real("J", "sum of normal impulses times velocities"),
    "cone": real("N s", "by how much an impulse lies outside of its cone"),
    "power": real("J", "sum of tangential impulses times velocities"),
    "dissipation": real("J", "by how much friction dissipates less than it can"),
    "contacts": real("", "that take part"),
    "islands": real("", ""),
    "iterations": real("", ""),
    "methods": real("", "that were used, by bits"),
    "time": real("s", "at the end"),
    "failed": real("", "an island that was not solved, or -1"),
    "gravity_energy": real("J", "potential energy without springs of the model's forces"),
    "collisions": real("", ""),
    "impact_energy": real("J", "lost in collisions with restitution"),
    "joint_error": real("m or rad", "of the joint that is open most"),
    "redundant": real("", "rows of joints beyond their rank"),
    "retries": real("", "halvings"),
    "depth": real("", "penetration as part of the smaller body's size"),
    "deep_a": real("", "bodies that penetrate most, -1: none"),
    "deep_b": real("", ""),
    "unsolved_body": real("", "of an island that was not solved, -1: none"),
    "asleep": real("", "bodies that sleep"),
    "outer": real("", "solves with M at the end of the step"),
    "status": real("", "of an island that was not solved, by its number"),
}

TOTALS: Record = {
    "steps": real("", "since these totals were cleared"),
    "unsolved": real("", "steps that were not solved"),
    "halved": real("", "steps that were halved"),
    "deep": real("", "steps with a penetration of more than `max_depth`"),
    "first": real("s", "end of the first step that was not solved or too deep"),
    "residual": real("", "worst"),
    "body": real("", "of the first island that was not solved, -1: none"),
    "penetration": real("m", "worst"),
    "depth": real("", "worst, as part of the smaller body's size"),
    "deep_a": real("", "its bodies, -1: none"),
    "deep_b": real("", ""),
    "max_depth": real("", "from which on a step is too deep"),
}


def cleared_totals(max_depth: float) -> dict[str, float]:
    """Totals of no step."""
    none = {
        "first": np.inf,
        "body": -1.0,
        "deep_a": -1.0,
        "deep_b": -1.0,
        "max_depth": float(max_depth),
    }
    return make(TOTALS) | none


JOINTS: Record = {
    "aim_stage": whole("number of the stage that begins a round: rows of the start or the end"),
    "refine_stage": whole("of the one that judges impulses which the factors gave"),
    "laws_stage": whole("of the first that solves blocks with laws"),
    "load_stage": whole("of the first after a solve"),
    "least_stage": whole("of the first after the last round"),
    "factored": whole("whether blocks without laws are solved by factors of W: no solver is named"),
    "takes_end": whole("whether a round may have rows of the step's end: W is not symmetric then"),
    "round": whole("solves of this step"),
    "misses": whole("of them in a row that did not close joints much better"),
    "is_tree": whole("whether joints close no loops"),
    "later": whole("whether coordinates are needed at the end of the step, too"),
    "scheme": whole("EXACT, STABILIZE, PROJECT or VELOCITY"),
    "excess": whole("rows of joints beyond their rank"),
    "kicks": whole("a step, 2 of those of second order"),
    "most": whole("times that a step may be halved"),
    "gaining": whole("times that it may be halved for the energy that joints make"),
    "level": whole("times that the part which is being made was halved"),
    "parts": whole("that were made of this step"),
    "done": whole("of this step, 2^52: all of it"),
    "start": whole("times that a step is halved before it is tried"),
    "wanted": whole("the same for the next step"),
    "looks": whole("times that contacts of this part were searched for again"),
    "earlier": whole("iterations before that"),
    "by_host": whole("whether joints were closed by Python"),
    "lawful": whole("whether any block has a law: contacts, limits, motors of limited force"),
    "goal": whole("what the next solve is for: START, END or SETTLE"),
    "is_stiff": whole("whether any body is stiff"),
    "pattern": whole("blocks of which the pattern of W is known"),
    "large_excess": whole("rows too many in groups so large that none are left out"),
    "breaks": whole("whether any joint can break"),
    "refined": whole("refinements of this solve"),
    "extra": whole("refinements beyond the tolerance"),
    "slides": whole("solves of this round in which contacts broke loose"),
    "loads": whole("whether any block is friction under a given load"),
    "lifts": whole("solves of this round in which the convex law lifted given loads"),
    "best_opening": real("m or rad", "least opening of a round"),
    "opening": real("m or rad", "of joints at the end of the step"),
    "torn": real("m or rad", "opening from which joints are torn, not inaccurate"),
    "softening": real("J", "that M + S in the place of M added"),
    "error": real("m or rad", "of the last round"),
    "moved": real("m/s or rad/s", "by this round"),
    "before": real("", "residual before the last refinement"),
    "whole": real("s", "length of the step"),
    "whole_rest": real("m/s", "rest_speed of the whole step"),
    "whole_impact": real("m/s", "impact_speed of the whole step"),
    "least_impact": real("m/s", "impact_speed of the shortest step"),
    "open_before": real("m or rad", "opening in a part that was halved"),
    "behind": real("s", "how far velocities are behind the positions: half of the last part"),
    "lead": real("s", "by how much less than half a whole step that is, after a step"),
}

JOINT_WORK: Record = {
    # velocities and poses to which a solve leads, and joints there
    "at_v": array("nb dof", "m/s, rad/s", "velocities of the impulses"),
    "at_velocity": array("nb dof", "m/s, rad/s", "the same after the drift"),
    "at_position": array("nb dim", "m", ""),
    "at_orientation": array("nb angle", "rad or 1", ""),
    "at_error": array("nr", "m or rad", "of rows C = 0"),
    "at_J": array("nr 2 dof", "", "rows C = 0"),
    "at_value": array("nq", "m or rad", "coordinates"),
    "at_G": array("nq 2 dof", "", "rows of coordinates"),
    "closes": array("nr", "", "rows that are to be closed", bool),
    # of the start of the step
    "tie": array("nr 2 dof", "", "rows C = 0"),
    "value": array("nq", "m or rad", "coordinates"),
    "last": array("nq", "m or rad", "coordinates from which turns are counted"),
    "arms": array("nj 2 3", "m", "from centres of mass to anchors"),
    "gap": array("nj 3", "m", "from the anchor on b to the one on a"),
    "free": array("nb dof", "m/s, rad/s", "free velocities"),
    "impulse": array("nr", "N s", "of rows C = 0"),
    # what acts on coordinates: motors, limits, springs
    "act_J": array("ne 2 dof", "", "rows"),
    "act_bias": array("ne", "m/s", ""),
    "act_soft": array("ne", "1/kg", "compliances"),
    "act_lower": array("ne", "N s", "least impulse"),
    "act_upper": array("ne", "N s", "greatest impulse"),
    "acting": array("ne", "N s", "impulses"),
    # S: joints under load turn with their bodies
    "S": array("nb 2 3 3", "kg", "stiffness of a step"),
    "axes": array("nb 2 3 3", "", "of M + S"),
    "inverse": array("nb 2 3 3", "1/kg", "of M + S"),
    "values": array("nb 2 3", "", "of M + S along its axes"),
    "bend": array("nb 2 3", "", ""),
    "stiff": array("nb", "", "bodies with an S", bool),
    "inertia": array("nb 3 3", "kg m^2", "in world axes"),
    "change": array("nb dof", "", "work"),
    "push": array("nb dof", "", "work"),
    "mean": array("nr 2 dof", "", "rows of the mean of the step"),
    "travel": array("nb", "m", "how far bodies went when this part was tried before"),
    "began_position": array("nb dim", "m", "where a divided step began"),
    "began_orientation": array("nb angle", "rad or 1", ""),
    "began_velocity": array("nb dof", "m/s, rad/s", ""),
}

JOINT_ROWS: Record = {
    "J0": array("n d 2 dof", "", "rows of the start of the step"),
    "P0": array("n d 2 dof", "1/kg", "M^-1 J'"),
    "D0": array("n d d", "1/kg", "diagonal blocks of W"),
    "r0": array("n d", "N s", "first guess"),
    "bias0": array("n d", "m/s", "bias of the first solve"),
    "right": array("n d 2 dof", "", "rows on which M + S acts"),
    "soft": array("n d", "1/kg", "compliances"),
    "unit": array("n", "1/kg^0.5", "root of the mean diagonal of D"),
    "joint": array("n", "", "block of a joint, -1: a contact", int),
    "patterned": array("n", "", "`joint` of the blocks of which the pattern of W is known", int),
    "x": array("n d", "N s", "work: a change of impulses"),
    "best": array("n d", "N s", "work of Newton"),
    "load": array("n", "m/s", "bias of a given load"),
    "lift": array("n 2", "m/s", "what it is changed by, in the last two solves"),
    "slip": array("n 2", "m/s", "what the convex law adds to it, in the last two solves"),
}

# What is read of the first of two kicks: nf is n in steps of order 2, and 0 elsewhere
FIRST_JOINT_ROWS: Record = {
    f"first_{name}": field._replace(shape=(field.shape or "").replace("n", "nf", 1))
    for name, field in (ROWS | STORED | JOINT_ROWS).items()
    if name in ("J", "P", "D", "soft", "unit", "joint")
}

# Projection of joints after a step: nt blocks of rows C = 0
PROJECTION: Record = {
    "block": array("nt", "", "among those of all joints", int),
    "body": array("nt 2", "", "", int),
    "J": array("nt d 2 dof", "", "rows"),
    "P": array("nt d 2 dof", "1/kg", "M^-1 J'"),
    "D": array("nt d d", "1/kg", "diagonal blocks of W"),
    "error": array("nt d", "m or rad", ""),
    "left": array("nt d", "m or rad", "work: of it after a move; impulses"),
    "soft": array("nt d", "1/kg", "compliances of padding"),
    "unit": array("nt", "1/kg^0.5", "root of the mean diagonal of D"),
    "x": array("nt d", "", "work"),
    "inverse": array("nb 3 3", "1/(kg m^2)", "inertia in world axes"),
}

# Candidates of the broad phase that outlive a step: boxes made larger, on grids of nl levels
KEEP: Record = {
    "age": whole("steps since candidates were found"),
    "spent": whole("boxes that left since"),
    "span": whole("most steps"),
    "few": whole("most boxes that may leave"),
    "left": whole("boxes that left in this step"),
    "n_candidates": whole(""),
    "wanted": whole("candidates for which there is no room"),
    "rebuilds": whole("times that candidates were found"),
    "typical": real("m", "typical width"),
    "reach_steps": real("", "steps that boxes are enlarged for"),
    "motion": real("", "mean of what boxes move in a step over the typical width"),
    # addresses of kernels
    "at_enlarge": whole("``broad.enlarge``"),
    "at_meet": whole("``broad.meet``"),
    "at_replace": whole("``broad.replace``"),
    "at_sort": whole("``broad.sort_pairs``"),
    "at_place": whole("``broad.place_boxes``"),
    "at_by_cell": whole("``broad.sort_boxes``"),
    "at_copy": whole("``broad.sort_boxes_by``"),
    "at_level": whole("``broad.pairs_of_level``"),
    "at_larger": whole("``broad.pairs_with_larger``"),
    "at_rebuild": whole("``broad.rebuild``"),
    "at_update": whole("``broad.update``"),
    "fat_lower": array("n dim", "m", "the larger boxes"),
    "fat_upper": array("n dim", "m", ""),
    "was_lower": array("n dim", "m", "boxes when motion was last measured"),
    "sorted_lower": array("n dim", "m", "the larger boxes sorted by cell"),
    "sorted_upper": array("n dim", "m", ""),
    "speed": array("n", "m", "in a step"),
    "marked": array("n", "", "work", bool),
    "left_ones": array("n+1", "", "boxes that left", int),
    "everyone": array("n+1", "", "all boxes", int),
    "levels": array("n+1", "", "of boxes", int),
    "cell_keys": array("n+1", "", "", int),
    "order": array("n+1", "", "by cell", int),
    "spare_keys": array("n+1", "", "work", int),
    "spare_order": array("n+1", "", "work", int),
    "pair_count": array("n+1", "", "work", int),
    "candidates": array("room", "", "ascending keys", int),
    "spare": array("room", "", "work", int),
    "cell": array("n 3", "", "", int),
    "start": array("nl+1", "", "first box of each level", int),
    "reach": array("2 nl 3", "", "cells of each level", int),
    "digits": array("places", "", "work of a radix sort", int),
    "numbers": array("numbers", "", "work"),
}

# Collision detection: what it reads, remembers and writes. ``Detector`` makes room. nk kinds of
# shapes, np pairs, nc contacts at most; other names as in ``Ranking`` and ``Geoms``.
SCAN: Record = {
    "n_contacts": whole("found"),
    "stage": whole("where to go on: BOXES, RENEW, ..."),
    "n_pairs": whole("after the rules"),
    "n_overlaps": whole("keys of boxes that overlap"),
    "n_found": whole("the same with those near half-spaces"),
    "now": whole("the cache in use, 0 or 1"),
    "batch": whole("pair of kinds that is due"),
    "before": whole("contacts of batches before it"),
    "wanted": whole("for which there is no room"),
    "bad": whole("a geom that is not finite"),
    "calls": whole("so far"),
    "method": whole("how pairs of boxes are found: EACH, KEPT, ASK"),
    "n_bodies": whole(""),
    # addresses of the parts of the stage
    "at_bound": whole("bounds of geoms"),
    "at_hold": whole("``broad.still_good``"),
    "at_anew": whole("``broad.renew``"),
    "at_meet": whole("``detect.meet_boxes``"),
    "at_reach": whole("``detect.reach_below``"),
    "at_split": whole("``detect.sort_pairs``"),
    "at_carry": whole("``detect.carry``"),
    "at_run_all": whole("``detect.run_batches``"),
    "at_mesh": whole("``mesh_filter.filter_mesh_contacts``"),
    "kind": array("ng", "", "of shape", int),
    "first": array("ng", "", "place of its numbers", int),
    "numbers": array("numbers", "", "of all shapes"),
    "first_int": array("ng", "", "place of its whole numbers", int),
    "ints": array("ints", "", "whole numbers of all shapes", int),
    "radius": array("ng", "m", "inf: unbounded"),
    "tile": array("tiles 4", "", "of meshes", int),
    "bend": array("tiles 3", "", "of meshes"),
    "order": array("ng", "", "geoms by rank", int),
    "geom": array("ng columns", "", "of geoms by rank, see ``Ranking``", int),
    "ignored": array("ignored", "", "keys of bodies that never collide", int),
    "lower": array("bounded dim", "m", "corner of a box"),
    "upper": array("bounded dim", "m", "corner of a box"),
    "keep": array("", "", "KEEP"),
    "found": array("np", "", "keys of boxes that overlap", int),
    "work": array("np", "", "", int),
    "pairs": array("np 2", "", "geoms", int),
    "pair_margin": array("np", "m", "gap within which a pair has contacts"),
    "pair_kernel": array("nk^2", "", "address of the kernel of a pair of kinds, -1: none yet", int),
    "points": array("nk^2", "", "contacts for which a pair needs room at first", int),
    "kernel_calls": array("nk^2 3", "", "addresses of what these kernels call", int),
    "width": array("nk^2", "", "columns of each cache", int),
    "start": array("2 nk^2+1", "", "first pair of each batch, of both caches", int),
    "offset": array("2 nk^2+1", "", "place of each batch in its cache", int),
    "keys": array("2 np", "", "of pairs", int),
    "cache": array("2 room", "", "what kernels remember of pairs"),
    "tally": array("nk^2 10", "", "counters of the last call", int),
    "total": array("nk^2 10", "", "counters of all calls", int),
    "which": array("nc", "", "pair of a contact in its batch", int),
    "geom_a": array("nc", "", "", int),
    "geom_b": array("nc", "", "", int),
    "point": array("nc dim", "m", ""),
    "normal": array("nc dim", "", "from b to a"),
    "gap": array("nc", "m", "signed distance"),
    "feature": array("nc", "", "", int),
    "x": array("ng dim", "m", "place of geoms, for who wants one"),
    "R": array("ng dim dim", "", "axes of geoms"),
    "margin": array("ng", "m", "within which contacts are looked for"),
}
