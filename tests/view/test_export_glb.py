"""glTF files against the rules of the format, by a reader written here, and against trimesh."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import drystone as ds
from drystone.errors import OptionError
from drystone.view.export_glb import write_glb
from tests.view.replays import moved, pile, world_of_shapes

WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def read(path):
    """The document, and a function that reads an accessor."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<III", data)
    assert (magic, version, length) == (0x46546C67, 2, len(data))
    size, kind = struct.unpack_from("<II", data, 12)
    assert kind == 0x4E4F534A
    assert size % 4 == 0
    document = json.loads(data[20 : 20 + size])
    start = 20 + size
    size, kind = struct.unpack_from("<II", data, start)
    assert kind == 0x004E4942
    assert size % 4 == 0
    assert start + 8 + size == len(data)
    held = data[start + 8 :]
    assert 0 <= len(held) - document["buffers"][0]["byteLength"] < 4

    def array(number):
        item = document["accessors"][number]
        view = document["bufferViews"][item["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        kind = {5126: "<f4", 5125: "<u4"}[item["componentType"]]
        width = WIDTHS[item["type"]]
        assert view["byteLength"] == item["count"] * width * 4
        out = np.frombuffer(held, kind, item["count"] * width, view["byteOffset"]).reshape(
            -1, width
        )
        assert np.array_equal(out.min(axis=0), np.array(item["min"], kind))
        assert np.array_equal(out.max(axis=0), np.array(item["max"], kind))
        return out

    return document, array


def test_the_rules_of_the_format(tmp_path):
    replay = moved(world_of_shapes(), title="shapes")
    document, array = read(write_glb(replay, tmp_path / "a.glb"))
    assert document["asset"]["version"] == "2.0"
    nodes = document["nodes"]
    children = [c for node in nodes for c in node.get("children", [])]
    assert sorted(children) == list(range(1, len(nodes)))  # a tree: one parent each, root 0
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            corners = array(primitive["attributes"]["POSITION"])
            normals = array(primitive["attributes"]["NORMAL"])
            index = array(primitive["indices"])
            assert len(normals) == len(corners) > index.max()
            assert len(index) % 3 == 0
            assert np.linalg.norm(normals, axis=1) == pytest.approx(1, abs=1e-5)
            assert primitive["material"] < len(document["materials"])
    for material in document["materials"]:
        colour = material["pbrMetallicRoughness"]["baseColorFactor"]
        assert len(colour) == 4
        assert all(0 <= x <= 1 for x in colour)
    [animation] = document["animations"]
    targets = set()
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times, values = array(sampler["input"]), array(sampler["output"])
        assert times[0] == 0
        assert (np.diff(times[:, 0]) > 0).all()
        assert len(values) == len(times)
        targets.add((channel["target"]["node"], channel["target"]["path"]))
        if channel["target"]["path"] == "rotation":
            assert np.linalg.norm(values, axis=1) == pytest.approx(1, abs=1e-5)
            assert (np.einsum("ki,ki->k", values[1:], values[:-1]) > 0).all()  # the short way
    assert len(targets) == len(animation["channels"]) == 2 * 9  # the ground stands still


def test_keyframes_are_the_states_of_the_replay(tmp_path):
    replay = moved(world_of_shapes(), n=31, seconds=1.0)
    document, array = read(write_glb(replay, tmp_path / "a.glb", fps=1000))
    [animation] = document["animations"]
    names = replay.model.names
    for channel in animation["channels"]:
        b = names.index(document["nodes"][channel["target"]["node"]]["name"])
        sampler = animation["samplers"][channel["sampler"]]
        times, values = array(sampler["input"])[:, 0], array(sampler["output"])
        assert times == pytest.approx(replay.time, abs=1e-6)
        if channel["target"]["path"] == "translation":
            assert values == pytest.approx(replay.position[:, b], abs=1e-6)
        else:
            asked = Rotation.from_quat(replay.orientation[:, b], scalar_first=True)
            got = Slerp(times, Rotation.from_quat(values))(times)
            assert (asked.inv() * got).magnitude().max() < 1e-5


def test_trimesh_finds_every_body_where_it_stands(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    replay = moved(world_of_shapes())
    scene = trimesh.load(write_glb(replay, tmp_path / "a.glb"))
    volumes = {"ball": 4 / 3 * np.pi * 0.3**3, "box": 0.06, "cone": np.pi * 0.25**2 * 0.5 / 3}
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], dtype=float)  # z up to y up
    for name, volume in volumes.items():
        frame, _ = scene.graph[name]
        b = replay.model.names.index(name)
        assert frame[:3, 3] == pytest.approx(turn @ replay.position[0, b], abs=1e-6)
        child = scene.graph.transforms.children[name][0]
        pose, geometry = scene.graph[child]
        solid = scene.geometry[geometry].copy()
        solid.apply_transform(pose)
        solid.merge_vertices(merge_norm=True, merge_tex=True)
        assert solid.volume == pytest.approx(volume, rel=0.02)
        assert solid.center_mass == pytest.approx(turn @ replay.position[0, b], abs=2e-3)


def test_planar_worlds_are_plates(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    replay = pile(True)
    path = write_glb(replay, tmp_path / "a.glb")
    scene = trimesh.load(path)
    pose, geometry = scene.graph[scene.graph.transforms.children["slab"][0]]
    solid = scene.geometry[geometry].copy()
    solid.apply_transform(pose)
    solid.merge_vertices(merge_norm=True, merge_tex=True)
    assert solid.is_watertight
    thick = np.ptp(solid.vertices[:, 2])
    assert solid.volume == pytest.approx(0.5 * 0.3 * thick, rel=1e-4)
    document, _ = read(path)
    scales = [node["scale"] for node in document["nodes"] if "scale" in node]
    assert scales == [pytest.approx([0.2, 0.2, 1.0])] * 3  # three disks wear one mesh


def test_shapes_are_shared(tmp_path):
    world = ds.World()
    for k in range(50):
        world.add_body(ds.Box(0.1, 0.1, 0.1 + 0.1 * (k % 2)), position=(k, 0, 0))
    document, _ = read(write_glb(moved(world, n=4), tmp_path / "a.glb"))
    positions = {m["primitives"][0]["attributes"]["POSITION"] for m in document["meshes"]}
    assert len(positions) == 2


def test_a_still_replay_and_wrong_options(tmp_path):
    still = moved(world_of_shapes(), n=1)
    document, _ = read(write_glb(still, tmp_path / "a.glb"))
    assert "animations" not in document
    with pytest.raises(OptionError, match="fps = -1"):
        write_glb(still, tmp_path / "a.glb", fps=-1)
