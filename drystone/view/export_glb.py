"""A replay as a glTF 2.0 animation in one file (.glb), for Blender, slides and web pages.

Every body is a node whose place and turn are keyframes; its pieces are child nodes that share
meshes. glTF has y up: a spatial world hangs in a root node that turns it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.draw import meshes as drawing
from drystone.draw.meshes import Solid, groups, instances, solids, typical_radius
from drystone.errors import OptionError
from drystone.escaping import for_line
from drystone.geometry.shapes import KINDS
from drystone.geometry.shapes.base import circle
from drystone.model import Geoms, Model
from drystone.recording.base import checked_replay
from drystone.types import Floats, Ints
from drystone.values import writing
from drystone.view.player import states
from drystone.view.player.replays import as_json, colours_of

FLOAT, UINT = 5126, 5125  # types of numbers in glTF
VERTEX_BUFFER, INDEX_BUFFER = 34962, 34963  # what a view of the buffer is for
UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # z up to y up
PLANAR_HEIGHT = 0.8  # of planar bodies, in their typical radius
# "glTF", "JSON", "BIN" (glTF 2.0, 4.4)
MAGIC, JSON_CHUNK, BIN_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942


@answering
def write_glb(
    replay: Any,
    path: str | Path,
    *,
    fps: float = 30.0,
    title: str | None = None,
    colours: Mapping[str, str] | None = None,
) -> Path:
    """Write a Trajectory or a recording as an animation of `fps` keyframes a second."""
    if not fps > 0:
        raise OptionError(f"write_glb: fps = {fps!r}: expected a positive number")
    model: Model = checked_replay(replay).model
    time = np.asarray(replay.time, dtype=float)
    frames = states.chosen_frames(time, fps, 7 * model.nb)
    place, turn = _poses(replay.position[frames], replay.orientation[frames])
    low, high = states.bounds(model, replay.position[frames], replay.orientation[frames])
    file = _File(for_line(title or str(getattr(replay, "title", None) or "Drystone")))
    tints = colours_of(model, colours or {})
    file.add_bodies(model, place, turn, tints, float((high - low).max()), replay)
    file.animate(model, time[frames] - time[frames[0]], place, turn)
    with writing(Path(path)) as where:
        where.write_bytes(file.data())
    return where


def _poses(position: Floats, orientation: Floats) -> tuple[Floats, Floats]:
    """Places (n, nb, 3) and quaternions (n, nb, 4) as x, y, z, w, without jumps of sign."""
    if position.shape[2] == 3:
        turn = states.continuous(orientation)[:, :, [1, 2, 3, 0]]
        return np.nan_to_num(position), turn
    flat = np.zeros((*position.shape[:2], 3))
    flat[:, :, :2] = np.nan_to_num(position)
    turn = np.zeros((*position.shape[:2], 4))
    half = 0.5 * np.nan_to_num(orientation)
    turn[:, :, 2], turn[:, :, 3] = np.sin(half), np.cos(half)
    return flat, turn


def _prisms(geoms: Geoms, thick: float) -> list[Solid]:
    """Planar geoms as plates about z = 0, each shape once."""
    out = []
    for (kind, *_), members in groups(geoms).items():
        ball = KINDS[kind].ball
        line = circle(64) if ball else drawing.outline(geoms, members[0], 64)
        k = len(line)
        ring = np.arange(k)
        after = (ring + 1) % k
        edge = line[after] - line
        side = np.column_stack([edge[:, 1], -edge[:, 0], np.zeros(k)])
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        front = np.column_stack([line, np.full(k, thick)])
        back = front * [1, 1, -1]
        fan = np.column_stack([np.zeros(k - 2, np.int64), ring[1:-1], ring[2:]])
        vertices = [front, back, front, front[after], back[after], back]
        flat = np.array([[0.0, 0.0, 1.0]])
        normals = [np.repeat(flat, k, 0), np.repeat(-flat, k, 0), side, side, side, side]
        a, b, c, d = (ring + i * k for i in (2, 3, 4, 5))
        faces = [fan, fan[:, ::-1] + k, np.column_stack([a, d, c]), np.column_stack([a, c, b])]
        points, triangles, ways = map(np.concatenate, (vertices, faces, normals))
        out.append(Solid(points, triangles, ways, members, ball=ball))
    return out


@dataclass
class _File:
    """The parts of a glTF document as they grow."""

    title: str
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    materials: dict[bytes, int] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    animation: dict[str, Any] | None = None

    def accessor(self, values: Any, kind: str, *, target: int | None = None) -> int:
        """Append an array; floats, or unsigned integers for indices. Returns its number."""
        whole = target == INDEX_BUFFER
        array = np.ascontiguousarray(values, dtype="<u4" if whole else "<f4")
        data = array.tobytes()
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self.views.append(view)
        self.parts.append(data)
        self.size += len(data)
        flat = array.reshape(-1, 1) if kind == "SCALAR" else array
        self.accessors.append(
            {
                "bufferView": len(self.views) - 1, "componentType": UINT if whole else FLOAT,
                "count": len(flat), "type": kind,
                "min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist(),
            }
        )  # fmt: skip
        return len(self.accessors) - 1

    def material(self, colour: Any) -> int:
        """Number of the material of this colour (3,) [bytes]; glTF wants linear light."""
        share = np.asarray(colour, dtype=float) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        key = np.round(linear, 5).tobytes()
        return self.materials.setdefault(key, len(self.materials))

    def add_bodies(
        self, model: Model, place: Floats, turn: Floats, tints: Ints, reach: float, replay: Any
    ) -> None:
        """Node 0 is the root; node 1 + b is body b; pieces and floors follow."""
        geoms = model.geoms
        upright = {"rotation": UPRIGHT} if model.dim == 3 else {}
        bodies = list(range(1, model.nb + 1))
        self.nodes.append(
            {"name": self.title, **upright, **({"children": bodies} if bodies else {})}
        )
        for b, name in enumerate(model.names):
            pose = {"translation": place[0, b].tolist(), "rotation": turn[0, b].tolist()}
            self.nodes.append({"name": for_line(name), **pose})
        shapes = (
            solids(geoms)
            if model.dim == 3
            else _prisms(geoms, PLANAR_HEIGHT * typical_radius(geoms))
        )
        for solid in shapes:
            self._add_solid(geoms, solid, tints)
        for floor in states.floors(model, replay.orientation[0]):
            self._add_floor(geoms, floor, reach, tints)

    def _add_solid(self, geoms: Geoms, solid: Solid, tints: Ints) -> None:
        attributes = {
            "POSITION": self.accessor(solid.vertices, "VEC3", target=VERTEX_BUFFER),
            "NORMAL": self.accessor(_unit(solid.normals), "VEC3", target=VERTEX_BUFFER),
        }
        index = self.accessor(solid.faces.ravel(), "SCALAR", target=INDEX_BUFFER)
        meshes: dict[int, int] = {}  # material: mesh
        for body, offset, turn, size in instances(geoms, solid):
            material = self.material(tints[body])
            if material not in meshes:
                meshes[material] = len(self.meshes)
                primitive = {"attributes": attributes, "indices": index, "material": material}
                self.meshes.append({"primitives": [primitive]})
            node: dict[str, Any] = {"mesh": meshes[material]}
            if offset.any():
                node["translation"] = offset.tolist()
            if turn[3] != 1.0:
                node["rotation"] = turn.tolist()
            if size != 1.0:
                node["scale"] = [size, size, size if geoms.dim == 3 else 1.0]
            self._child(body, node)

    def _add_floor(self, geoms: Geoms, floor: Mapping[str, Any], reach: float, tints: Ints) -> None:
        """A square in place of a plane without end (a strip, in the plane)."""
        point, normal = (np.array([*floor[name], 0.0][:3]) for name in ("point", "normal"))
        x = np.array([0.0, 0.0, 1.0]) if geoms.dim == 2 else np.cross([0.0, 1.0, 0.0], normal)
        x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-6 else np.array([1.0, 0.0, 0.0])
        y = np.cross(normal, x)
        wide = (0.5 if geoms.dim == 2 else 3.0) * reach * x
        ends = [
            point + s * wide + t * 3.0 * reach * y for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        flat = Solid(
            np.array(ends), np.array([[0, 1, 2], [0, 2, 3]]), np.array([normal] * 4), [],
            floor["body"],
        )  # fmt: skip
        self._add_solid(geoms, flat, tints)

    def _child(self, body: int, node: dict[str, Any]) -> None:
        self.nodes[body + 1].setdefault("children", []).append(len(self.nodes))
        self.nodes.append(node)

    def animate(self, model: Model, time: Floats, place: Floats, turn: Floats) -> None:
        """Keyframes of the bodies that move at all."""
        if len(time) < 2:
            return
        clock = None
        samplers, channels = [], []
        for b in range(model.nb):
            for path, values, kind in (
                ("translation", place[:, b], "VEC3"),
                ("rotation", turn[:, b], "VEC4"),
            ):
                if np.ptp(values, axis=0).max() == 0.0:
                    continue
                clock = self.accessor(time, "SCALAR") if clock is None else clock
                samplers.append(
                    {
                        "input": clock,
                        "output": self.accessor(values, kind),
                        "interpolation": "LINEAR",
                    }
                )
                target = {"node": b + 1, "path": path}
                channels.append({"sampler": len(samplers) - 1, "target": target})
        if channels:
            self.animation = {"name": self.title, "samplers": samplers, "channels": channels}

    def data(self) -> bytes:
        """The whole file: header, JSON, buffer."""
        version = import_module("drystone").__version__
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"Drystone {version}"},
            "scene": 0, "scenes": [{"name": self.title, "nodes": [0]}], "nodes": self.nodes,
        }  # fmt: skip
        if self.meshes:
            document["meshes"] = self.meshes
            document["materials"] = [_material(key) for key in self.materials]
        if self.animation is not None:
            document["animations"] = [self.animation]
        if self.accessors:
            document |= {"accessors": self.accessors, "bufferViews": self.views}
            document["buffers"] = [{"byteLength": self.size}]
        chunks = _chunk(JSON_CHUNK, as_json(document).encode("utf-8"), b" ")
        if self.size:
            chunks += _chunk(BIN_CHUNK, b"".join(self.parts), b"\0")
        return struct.pack("<III", MAGIC, 2, 12 + len(chunks)) + chunks


def _unit(normals: Floats) -> Floats:
    out: Floats = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return out


def _material(key: bytes) -> dict[str, Any]:
    colour = [*np.frombuffer(key).tolist(), 1.0]
    surface = {"baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.85}
    return {"pbrMetallicRoughness": surface, "doubleSided": True}


def _chunk(kind: int, data: bytes, filler: bytes) -> bytes:
    padded = data + filler * (-len(data) % 4)
    return struct.pack("<II", len(padded), kind) + padded
