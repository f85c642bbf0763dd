"""A world as the document that a scene file holds, in JSON's types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from drystone.builder.arrays import Parts
from drystone.builder.bodies import Body
from drystone.builder.joints import JointEntry
from drystone.constraints.joints import Motor
from drystone.constraints.joints.registry import JOINTS
from drystone.dynamics import check
from drystone.errors import DescriptionError
from drystone.geometry.shapes import SHAPES, Compound, HalfPlane, HalfSpace, Shape
from drystone.scene_files.json_values import non_defaults, plain
from drystone.scene_files.kinds import CONES, FORCES, MOTIONS, SCENE_VERSION, kind_of
from drystone.scene_files.methods import method_document
from drystone.world import World

Document = dict[str, Any]


def document(
    world: World,
    method: Any = None,
    duration: float | None = None,
    view: Mapping[str, Any] | None = None,
    *,
    title: str | None = None,
    about: str | None = None,
    source: str | None = None,
) -> Document:
    """A world, and how to run and draw it, in JSON's types: ``load`` builds from it a model that
    is equal to the bit.

    method: ds.TimeStepping(...) or another; duration [s]; view: as of ``Scene.view``; title: one
    line; about: more; source: the paper. DescriptionError names what cannot be described: Python
    functions.
    """
    parts = world.parts()
    heads = {"title": title, "about": about, "source": source, "duration": duration}
    out: Document = {"drystone": SCENE_VERSION}
    out |= {key: plain(key, value) for key, value in heads.items() if value is not None}
    if world.planar:
        out["planar"] = True
    out["gravity"] = list(world.gravity)
    if method is not None:
        out["method"] = method_document(method)
    if view:
        out["view"] = plain("view", dict(view))
    out["bodies"] = [_body(body) for body in parts.bodies]
    joints = {entry.uid: entry.name for entry in parts.joints}
    lists = {
        "joints": [_joint(entry, joints) for entry in parts.joints],
        "forces": [_force(k, force) for k, force in enumerate(parts.forces)],
        "pairs": _pairs(parts),
        "ignore": _ignored(parts),
    }
    out |= {key: value for key, value in lists.items() if value}
    return out | _uids(parts)


def _body(body: Body) -> Document:
    owner = f"body {body.name!r}"
    out: Document = {"name": body.name}
    given = {key: value for key, value in body.given.items() if key != "name"}
    shape = None if body.template is None else body.template.shape
    if isinstance(shape, HalfPlane | HalfSpace) and given.pop("fixed", False):
        out["shape"] = _ground(shape)
    elif shape is not None:
        out["shape"] = shape_document(owner, shape)
    motion, cone = given.pop("motion", None), given.pop("cone", None)
    out |= {key: plain(f"{owner}: {key}", value) for key, value in given.items()}
    if cone is not None:
        out["cone"] = {"kind": kind_of(cone, CONES)} | non_defaults(owner, cone)
    if motion is not None:
        kind = kind_of(motion, MOTIONS)
        if kind is None:
            name = type(motion).__name__
            raise DescriptionError(
                f"{owner}: its motion, {name}, is a Python function, which no file can describe"
            )
        out["motion"] = {"kind": kind} | non_defaults(owner, motion)
    return out


def _ground(shape: HalfPlane | HalfSpace) -> Document:
    out: Document = {"kind": "ground"}
    normal = list(vars(shape)["said"])
    if normal != [0.0] * (shape.dim - 1) + [1.0]:
        out["normal"] = normal
    return out | ({"height": shape.offset} if str(shape.offset) != "0.0" else {})


def shape_document(owner: str, shape: Shape) -> Document:
    """A shape: its kind and its numbers."""
    if isinstance(shape, Compound):
        return {"kind": "compound", "parts": [_part(owner, part) for part in shape.parts]}
    kind = shape.kind
    if not kind:
        raise DescriptionError(
            f"{owner}: its shape, {type(shape).__name__}, is a Python function, which no file can "
            "describe"
        )
    if kind not in SHAPES or SHAPES[kind].shape is not type(shape):
        raise DescriptionError(
            f"{owner}: its shape, {type(shape).__name__}, is not registered: files would not know "
            "it; see ds.register_shape"
        )
    if isinstance(shape, HalfPlane | HalfSpace):
        normal = list(vars(shape)["said"])
        return {"kind": kind, "normal": normal, "offset": shape.offset}
    return {"kind": kind} | non_defaults(owner, shape)


def _part(owner: str, part: Any) -> Document:
    out = {"shape": shape_document(owner, part.shape)}
    if any(part.position):
        out["position"] = plain(owner, part.position)
    none: Any = 0.0 if part.shape.dim == 2 else (1.0, 0.0, 0.0, 0.0)
    if part.orientation != none:
        out["orientation"] = plain(owner, part.orientation)
    return out


def _joint(entry: JointEntry, names: Mapping[int, str]) -> Document:
    joint, owner = entry.joint, f"joint {entry.name!r}"
    known = JOINTS.get(joint.kind)
    if known is None or known.joint is not type(joint):
        own = type(joint).__name__
        raise DescriptionError(
            f"{owner}: {own} has no name in files: ds.register_joint({own}) gives it one"
        )
    out: Document = {"kind": joint.kind, "name": entry.name}
    if joint.couples:
        out |= {"a": _geared(entry, 0, names), "b": _geared(entry, 1, names)}
    else:
        a, b = (check.WORLD if body is None else body.name for body in entry.ends)
        out |= {"a": a, "b": b}
    motor = joint.motor
    out |= non_defaults(owner, joint, ("a", "b", "name", "motor"))
    if isinstance(motor, Motor):
        out["motor"] = non_defaults(owner, motor)
    elif motor is not None:
        out["motor"] = {
            name: non_defaults(owner, one) for name, one in motor.items() if one is not None
        }
    return out


def _geared(entry: JointEntry, side: int, names: Mapping[int, str]) -> Document:
    """What one side of a gear couples: a joint's coordinate, or a body."""
    part = entry.parts[side]
    if part.placed is not None:
        body = part.ends[0]
        assert body is not None
        return {"body": body.name}
    target = entry.joint.a if side == 0 else entry.joint.b
    out = {"joint": names[part.uid]}
    if isinstance(target, tuple):
        out["coordinate"] = target[1]
    return out


def _force(k: int, force: Any) -> Document:
    kind = kind_of(force, FORCES)
    if kind is None:
        called = getattr(force, "name", None) or getattr(
            getattr(force, "function", None), "__name__", f"number {k}"
        )
        raise DescriptionError(
            f"force {called!r}, {type(force).__name__}, is a Python function, which no file can "
            "describe"
        )
    owner = f"force {k}, {kind}"
    out: Document = {"kind": kind}
    for field in type(force).fields:
        body = getattr(force, field)
        if body is not None:
            out[field] = check.body_name(owner, body, world=True)
    return out | non_defaults(owner, force, type(force).fields)


def _pairs(parts: Parts) -> list[Document]:
    """Rules of pairs, in the order of the bodies; those of bodies that are gone do not count."""
    names = {body.uid: body.name for body in parts.bodies}
    out = []
    for (a, b), values in sorted(parts.pairs.items()):
        if a not in names or b not in names:
            continue
        rule: Document = {"between": [names[a], names[b]]}
        if not math.isnan(values[0]):
            rule["friction"] = values[0] if values[0] == values[1] else list(values[:2])
        if not math.isnan(values[2]):
            rule["restitution"] = values[2] if values[3] == 0 else list(values[2:])
        out.append(rule)
    return out


def _ignored(parts: Parts) -> list[list[str]]:
    names = {body.uid: body.name for body in parts.bodies}
    return [[names[a], names[b]] for a, b in sorted(parts.ignored) if a in names and b in names]


def _uids(parts: Parts) -> Document:
    """Numbers of bodies, geoms and joints, where others were removed; they decide the order of
    contacts, and so the bits of a run."""
    bodies, geoms, next_geom = [], [], 0
    for body in parts.bodies:
        bodies.append(body.uid)
        geoms.append(body.geom_uid)
        next_geom += 0 if body.template is None else len(body.template.pieces)
    joints = [entry.uid for entry in parts.joints]
    usual = parts.uids == (len(bodies), next_geom, len(joints))
    if usual:
        return {}
    return {"uids": {"bodies": bodies, "geoms": geoms, "joints": joints, "next": list(parts.uids)}}
