"""Shapes and their instances for the page: each mesh once, however many bodies wear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from drystone import drawing
from drystone.geometry import kinds
from drystone.model import Geoms, Model
from drystone.types import Floats, Ints
from drystone.view.player.blob import Blob

Key = tuple[int, bytes, bytes]


@dataclass
class Solid:
    """vertices (nv, 3), faces (nt, 3), normals (nv, 3); instances: geoms that wear it, or a body
    whose own single pieces it is made of. ball: of radius one, instances have their own."""

    vertices: Floats
    faces: Ints
    normals: Floats
    geoms: list[int]
    body: int = -1
    ball: bool = False


def key_of(geoms: Geoms, g: int | np.integer) -> Key:
    """The same for geoms of one shape; balls differ in size only, which instances have."""
    kind = int(geoms.kind[g])
    if kind in (kinds.SPHERE, kinds.DISK):
        return kind, b"", b""
    ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
    return kind, drawing.numbers(geoms, g).tobytes(), ints.tobytes()


def groups(geoms: Geoms) -> dict[Key, list[int]]:
    """Bounded geoms by their shapes."""
    out: dict[Key, list[int]] = {}
    for g in np.flatnonzero(np.isfinite(geoms.radius)):
        out.setdefault(key_of(geoms, g), []).append(int(g))
    return out


def instances(geoms: Geoms, solid: Solid) -> list[tuple[int, Floats, Floats, float]]:
    """Body, offset (3,), quaternion (x, y, z, w) and size of each wearer of a mesh, in its body's
    frame; of planar geoms in the plane z = 0."""
    if not solid.geoms:
        return [(solid.body, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), 1.0)]
    g = np.array(solid.geoms)
    offset, axes = np.zeros((g.size, 3)), np.tile(np.eye(3), (g.size, 1, 1))
    offset[:, : geoms.dim], axes[:, : geoms.dim, : geoms.dim] = geoms.offset[g], geoms.turn[g]
    turn = Rotation.from_matrix(axes).as_quat()
    size = geoms.numbers[geoms.first[g]] if solid.ball else np.ones(g.size)
    body = geoms.body[g].tolist()
    return list(zip(body, offset, turn, size.tolist(), strict=True))


def solids(geoms: Geoms) -> list[Solid]:
    """Meshes of a spatial model's geoms. Shapes that occur once are joined body by body: a ground
    of ten thousand triangles is one mesh."""
    found = groups(geoms)
    n = 48 if len(found) < 20 else 24
    out: list[Solid] = []
    single: dict[int, list[tuple[Floats, Ints, Floats]]] = {}
    for (kind, *_), members in found.items():
        vertices, faces, normals = drawing.geom_mesh(geoms, members[0], n)
        if kind == kinds.SPHERE:
            out.append(Solid(normals, faces, normals, members, ball=True))
        elif len(members) > 1:
            out.append(Solid(vertices, faces, normals, members))
        else:
            g = members[0]
            turn, offset = geoms.turn[g], geoms.offset[g]
            part = vertices @ turn.T + offset, faces, normals @ turn.T
            single.setdefault(int(geoms.body[g]), []).append(part)
    for body, parts in single.items():
        first = np.cumsum([0] + [len(p[0]) for p in parts])
        faces = np.concatenate([p[1] + start for p, start in zip(parts, first, strict=False)])
        vertices, normals = (np.concatenate([p[i] for p in parts]) for i in (0, 2))
        out.append(Solid(vertices, faces, normals, [], body))
    return out


def add_solids(blob: Blob, model: Model) -> dict[str, Any]:
    """Pack meshes and instances of a spatial model; returns what the page must know of them."""
    geoms, meshes = model.geoms, []
    vertices, faces = [np.empty((0, 6))], [np.empty((0, 3), np.int64)]
    worn: list[tuple[int, Floats, Floats, float]] = []
    corner = face = 0
    for solid in solids(geoms):
        wearers = instances(geoms, solid)
        meshes.append(
            {
                "vertex": corner, "face": face, "faces": len(solid.faces), "instance": len(worn),
                "count": len(wearers), "banded": solid.ball,
            }
        )  # fmt: skip
        vertices.append(np.column_stack([solid.vertices, solid.normals]))
        faces.append(solid.faces)
        corner, face = corner + len(solid.vertices), face + len(solid.faces)
        worn += wearers
    blob.add("vertices", np.concatenate(vertices), "f4")
    blob.add("faces", np.concatenate(faces), "u4")
    blob.add("instance_body", [body for body, *_ in worn], "u2")
    blob.add("instance_offset", [offset for _, offset, _, _ in worn], "f4")
    blob.add("instance_turn", [turn for _, _, turn, _ in worn], "f4")
    blob.add("instance_size", [(size, size, size) for *_, size in worn], "f4")
    return {"meshes": meshes, "instances": len(worn)}


def add_outlines(blob: Blob, model: Model) -> dict[str, Any]:
    """Pack outlines and instances of a planar model."""
    geoms, shapes = model.geoms, []
    corners, first = [np.empty((0, 2))], 0
    order: list[int] = []
    which: list[int] = []
    for (kind, *_), members in groups(geoms).items():
        round_ = kind == kinds.DISK
        line = np.empty((0, 2)) if round_ else drawing.outline(geoms, members[0])
        shapes.append({"round": round_, "first": first, "count": len(line)})
        corners.append(line)
        first += len(line)
        order += members
        which += [len(shapes) - 1] * len(members)
    sequence = np.argsort(order, kind="stable")  # drawn in the order of the world
    g = np.array(order, np.int64)[sequence]
    disk = geoms.kind[g] == kinds.DISK
    size = np.ones(g.size)
    size[disk] = geoms.numbers[geoms.first[g[disk]]]
    blob.add("vertices", np.concatenate(corners), "f4")
    blob.add("instance_body", geoms.body[g], "u2")
    blob.add("instance_shape", np.array(which, np.int64)[sequence], "u2")
    blob.add("instance_offset", geoms.offset[g], "f4")
    blob.add("instance_turn", np.arctan2(geoms.turn[g][:, 1, 0], geoms.turn[g][:, 0, 0]), "f4")
    blob.add("instance_size", size, "f4")
    return {"shapes": shapes, "instances": int(g.size)}
