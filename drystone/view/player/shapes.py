"""Shapes and their instances packed for the page: each mesh once, however many bodies wear it."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone.draw.meshes import groups, instances, outline, solids
from drystone.geometry.shapes import BALLS, KINDS
from drystone.model import Model
from drystone.types import Floats
from drystone.view.player.blob import Blob


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
