"""One replay, packed: what its panel of the page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from drystone.draw import meshes as drawing
from drystone.draw.camera import viewpoint
from drystone.draw.meshes import groups, instances, outline, solids
from drystone.errors import OptionError
from drystone.geometry.shapes import BALLS, KINDS
from drystone.model import Model
from drystone.recording.base import checked_replay
from drystone.types import Floats, Ints
from drystone.view.palette import GROUND, body_colours, rgb
from drystone.view.player import states
from drystone.view.player.blob import Blob
from drystone.view.player.contacts import WORLD, add_contacts

# plot, its lines (series, label, whether it stands for the replay among others), unit, and for
# logarithmic ones the least value worth a difference
PLOTS = (
    ("energy", (("kinetic", "kinetic", False), ("potential", "potential", False),
                ("total", "total", True)), "J", 0.0),
    ("penetration", (("penetration", "greatest", True),), "m", 1e-9),
    ("residual of the solver", (("residual", "greatest", True),), "", 1e-12),
    ("contacts", (("contacts", "points", True),), "", 0.0),
)  # fmt: skip
PEAKS = ("penetration", "residual")  # between frames the greatest counts


def pack(
    replay: Any,
    *,
    label: str = "",
    fps: float = 60.0,
    forces: bool = True,
    view: Mapping[str, Any] | None = None,
    colours: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], str]:
    """What a page must know of a replay, and its arrays as compressed text."""
    model: Model = checked_replay(replay).model
    if model.nb >= WORLD:
        raise OptionError(f"a page holds fewer than {WORLD} bodies; this replay has {model.nb}")
    time = np.asarray(replay.time, dtype=float)
    planar = model.dim == 2
    frames = states.chosen_frames(time, fps, model.nb * (3 if planar else 7))
    position, orientation = replay.position[frames], replay.orientation[frames]
    hints = view if view is not None else getattr(replay, "view", None) or {}
    blob = Blob()
    exact = states.add_states(blob, time[frames], position, orientation)
    shapes = add_outlines(blob, model) if planar else add_solids(blob, model)
    blob.add("colours", colours_of(model, colours or {}), "u1")
    low, high = bounds_of(model, position, orientation, hints)
    meta: dict[str, Any] = {
        "label": label, "dim": model.dim, "names": list(model.names), "frames": len(frames),
        "mass": [float(f"{m:.4g}") for m in model.mass], "exact": exact,
        "free": [int(x) for x in drawing.moving(model)],
        "bounds": [low.tolist(), high.tolist()], "grain": drawing.typical_radius(model.geoms),
        "camera": None if planar else _camera(hints, low, high),
        "floors": states.floors(model, orientation[0]), "joints": _joints(model) if planar else [],
        **shapes,
    }  # fmt: skip
    meta["contacts"] = add_contacts(blob, replay, frames, time[frames]) if forces else None
    meta["series"] = _series(blob, replay, frames, len(time))
    meta["sections"] = blob.sections
    return meta, blob.text()


def _camera(view: Mapping[str, Any], low: Floats, high: Floats) -> dict[str, list[float]]:
    """Eye and target of a spatial view."""
    eye, target = viewpoint(view, low, high)
    return {"eye": eye.tolist(), "target": target.tolist()}


def as_json(document: Mapping[str, Any]) -> str:
    """What a page or a model says beside its arrays, compact."""
    try:
        return json.dumps(document, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise OptionError("this replay has places or sizes that are not finite") from None


def bounds_of(
    model: Model, position: Floats, orientation: Floats, view: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """Corners (dim,) of what is to be seen: "limits" of a planar view, "bounds" of a spatial one,
    two points; otherwise what the bodies need."""
    if model.dim == 2 and view.get("limits"):
        (x0, x1), (y0, y1) = view["limits"]
        return np.array([x0, y0], dtype=float), np.array([x1, y1], dtype=float)
    if model.dim == 3 and view.get("bounds"):
        given = np.array(view["bounds"], dtype=float)
        return given[0], given[1]
    low, high = states.bounds(model, position, orientation)
    if model.dim == 2:
        pad = 0.06 * float((high - low).max())
        return low - pad, high + pad
    return low, high


def colours_of(model: Model, given: Mapping[str, str]) -> Any:
    """(nb, 3) bytes: the viewer's stones, or what is given for a body by its name."""
    out = body_colours(model)
    still = ~drawing.moving(model)
    still[[body for body, _ in model.motions]] = False
    out[still] = GROUND
    for name, colour in given.items():
        if name not in model.names:
            raise OptionError(f"colours: no body {name!r} in this replay")
        try:
            out[model.names.index(name)] = rgb(colour)
        except (ValueError, TypeError):
            raise OptionError(f"colours: {name} = {colour!r}: expected '#rrggbb'") from None
    return out


def _joints(model: Model) -> list[dict[str, Any]]:
    """Anchors on the first body of each joint; -1 is the world."""
    joints = model.joints
    if joints is None:
        return []
    return [
        {"body": int(joints.body[j, 0]), "anchor": joints.anchor_a[j].tolist()}
        for j in range(len(joints))
    ]


def _series(blob: Blob, replay: Any, frames: Ints, n: int) -> list[dict[str, Any]]:
    """Pack what the reports say at the frames; nothing where a replay has no reports."""
    out: list[dict[str, Any]] = []
    if len(frames) < 2:
        return out
    for plot, lines, unit, least in PLOTS:
        for name, label, main in lines:
            values = _values(replay, name)
            if values is None or len(values) != n - 1 or not np.isfinite(values).any():
                continue
            if name in PEAKS:
                picked = np.maximum.reduceat(values, frames[:-1])
            else:
                picked = values[frames[1:] - 1]
            section = f"series{len(out)}"
            blob.add(section, np.concatenate([picked[:1], picked]), "f4")
            out.append(
                {
                    "plot": plot, "label": label, "main": main, "unit": unit, "least": least,
                    "section": section,
                }
            )  # fmt: skip
    return out


def _values(replay: Any, name: str) -> Floats | None:
    try:
        return np.asarray(replay.series(name), dtype=float)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def add_solids(blob: Blob, model: Model) -> dict[str, Any]:
    """Pack meshes and instances of a spatial model; returns what the page must know of them."""
    geoms, meshes = model.geoms, []
    vertices, faces = [np.empty((0, 6))], [np.empty((0, 3), np.int64)]
    placed: list[tuple[int, Floats, Floats, float]] = []
    corner = face = 0
    for solid in solids(geoms):
        found = instances(geoms, solid)
        meshes.append(
            {
                "vertex": corner, "face": face, "faces": len(solid.faces), "instance": len(placed),
                "count": len(found), "banded": solid.ball,
            }
        )  # fmt: skip
        vertices.append(np.column_stack([solid.vertices, solid.normals]))
        faces.append(solid.faces)
        corner, face = corner + len(solid.vertices), face + len(solid.faces)
        placed += found
    blob.add("vertices", np.concatenate(vertices), "f4")
    blob.add("faces", np.concatenate(faces), "u4")
    blob.add("instance_body", [body for body, *_ in placed], "u2")
    blob.add("instance_offset", [offset for _, offset, _, _ in placed], "f4")
    blob.add("instance_turn", [turn for _, _, turn, _ in placed], "f4")
    blob.add("instance_size", [(size, size, size) for *_, size in placed], "f4")
    return {"meshes": meshes, "instances": len(placed)}


def add_outlines(blob: Blob, model: Model) -> dict[str, Any]:
    """Pack outlines and instances of a planar model."""
    geoms, shapes = model.geoms, []
    corners, first = [np.empty((0, 2))], 0
    order: list[int] = []
    which: list[int] = []
    for (kind, *_), members in groups(geoms).items():
        round_ = KINDS[kind].ball
        line = np.empty((0, 2)) if round_ else outline(geoms, members[0])
        shapes.append({"round": round_, "first": first, "count": len(line)})
        corners.append(line)
        first += len(line)
        order += members
        which += [len(shapes) - 1] * len(members)
    sequence = np.argsort(order, kind="stable")  # drawn in the order of the world
    g = np.array(order, np.int64)[sequence]
    disk = np.isin(geoms.kind[g], BALLS)
    size = np.ones(g.size)
    size[disk] = geoms.numbers[geoms.first[g[disk]]]
    blob.add("vertices", np.concatenate(corners), "f4")
    blob.add("instance_body", geoms.body[g], "u2")
    blob.add("instance_shape", np.array(which, np.int64)[sequence], "u2")
    blob.add("instance_offset", geoms.offset[g], "f4")
    blob.add("instance_turn", np.arctan2(geoms.turn[g][:, 1, 0], geoms.turn[g][:, 0, 0]), "f4")
    blob.add("instance_size", size, "f4")
    return {"shapes": shapes, "instances": int(g.size)}
