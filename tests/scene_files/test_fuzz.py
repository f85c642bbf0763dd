"""Spoilt files, thousands of them: an error that says so, or a scene; never a traceback, a hang,
or a file where there was none."""

import json
import os
import time
from pathlib import Path

import pytest

import drystone as ds
from drystone import scene_files
from drystone.problems.files import read_problem, write_problem
from drystone.scene_files.files import json_text, yaml_text

from .mutants import spoilt_text, spoilt_tree

SCENES = {
    "vehicle": {}, "ragdoll": {}, "geneva": {}, "gripper": {}, "double-action-jack": {"teeth": 3},
    "subset-sum": {}, "wall": {"courses": 2, "columns": 2}, "hopper": {"n": 5}, "arch": {"n": 4},
    "dice-lattice": {}, "rattleback": {}, "newton-cradle": {}, "four-bar": {}, "jack-stairs": {},
}  # fmt: skip
BY_HAND = """\
title: by hand
planar: true
method: {name: event-driven, contact_forces: {method: lemke, tol: 1e-9}}
materials: {stone: {density: 1800, friction: [0.6, 0.5], restitution: 0.1}}
bodies:
  - &first {name: ground, shape: {kind: ground, normal: [0, 1]}, material: stone}
  - name: brick
    shape: {kind: rectangle, width: 0.2, height: 0.1}
    material: stone
    position: [0, 0.05]
    orientation: {degrees: 0}
    grid: {count: [3, 2], step: [0.3, 0.1]}
  - name: link
    shape: {kind: capsule-2d, length: 0.2, radius: 0.02}
    position: [2, 1]
    layer: []
    range: {count: 4, add: {position: [0.25, 0]}, times: {density: 2}, turn: {angle: 0.01}}
    density: 10
joints:
  - {kind: pin, a: "link{i}", b: "link{i+1}", anchor: [2.125, 1], range: {count: 3, add: {anchor: [0.25, 0]}}}
forces:
  - {kind: spring, a: "link{i}", b: world, stiffness: 10, range: {count: 2}}
uids: {bodies: [0, 1, 9], geoms: [0, 1, 9], joints: [0], next: [20, 20, 20]}
"""  # noqa: E501
SLOW = 20.0  # [s] of this process: no file may take longer


def documents():
    out = []
    for name, settings in SCENES.items():
        scene = ds.scene(name, **settings)
        out.append(scene_files.document(scene.world, scene.method, scene.duration, scene.view))
    return out


def check(path: Path, names: set[str]) -> bool:
    """Read a file; whether it was a scene."""
    begin = time.process_time()
    try:
        found = scene_files.read(path)
        again = scene_files.document(found.world, found.method)  # what was read can be written
        assert isinstance(again, dict)
        ok = True
    except ds.DrystoneError as error:
        text = str(error)
        assert text
        assert "\n" not in text
        assert len(text) < 2000
        ok = False
    assert time.process_time() - begin < SLOW
    assert set(os.listdir(path.parent)) == names
    return ok


def fuzz(folder: Path, seeds: range) -> int:
    """How many of the spoilt files were still scenes."""
    trees = documents()
    texts = [*(yaml_text(tree) for tree in trees), BY_HAND, BY_HAND, BY_HAND]
    names, good = {"a.yaml", "a.json"}, 0
    for name in names:
        (folder / name).write_text("")
    for seed in seeds:
        kind, which = seed % 3, seed % len(trees)
        if kind == 0:
            path = folder / "a.yaml"
            path.write_bytes(spoilt_text(texts[seed % len(texts)], seed))
        elif kind == 1:
            path = folder / "a.json"
            path.write_text(json.dumps(spoilt_tree(trees[which], seed)))
        else:
            path = folder / "a.json"
            path.write_bytes(spoilt_text(json_text(trees[which]), seed))
        good += check(path, names)
    return good


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "only"
    folder.mkdir()
    yield folder
    assert os.listdir(tmp_path) == ["only"]


def test_three_hundred_spoilt_scenes(place):
    assert 10 < fuzz(place, range(300)) < 250  # both kinds of outcome are met


@pytest.mark.fuzz
def test_ten_thousand_spoilt_scenes(place):
    assert fuzz(place, range(10_000, 20_000)) > 300


def problems(folder: Path) -> list[bytes]:
    sim = ds.scene("disks-21").simulation()
    sim.run(0.5)
    problem = sim.problem()
    out = []
    for name in ("p.hdf5", "p.dat", "p.npz"):
        write_problem(problem, folder / name)
        out.append((name, (folder / name).read_bytes()))
        (folder / name).unlink()
    write_problem(ds.to_lcp(problem).lcp, folder / "l.npz")
    out.append(("l.npz", (folder / "l.npz").read_bytes()))
    (folder / "l.npz").unlink()
    return out


def spoilt_bytes(raw: bytes, seed: int) -> bytes:
    import random

    rng = random.Random(seed)
    data = bytearray(raw)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(data) + 1)
        kind = rng.random()
        if kind < 0.15:
            del data[at:]
        elif kind < 0.3:
            del data[at : at + rng.randint(1, 64)]
        elif kind < 0.45:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 16)))
        else:
            for k in range(at, min(at + rng.randint(1, 8), len(data))):
                data[k] = rng.choice(
                    (0, 255, rng.randrange(256), data[k] ^ (1 << rng.randrange(8)))
                )
        if not data:
            break
    return bytes(data)


def fuzz_problems(folder: Path, seeds: range) -> int:
    files, good = problems(folder), 0
    for seed in seeds:
        name, raw = files[seed % len(files)]
        path = folder / name
        path.write_bytes(spoilt_bytes(raw, seed))
        begin = time.process_time()
        try:
            read_problem(path)
            good += 1
        except ds.DrystoneError:
            pass
        assert time.process_time() - begin < SLOW
        assert os.listdir(folder) == [name]
        path.unlink()
    return good


def test_two_hundred_spoilt_problems(place):
    assert fuzz_problems(place, range(200)) < 200


@pytest.mark.fuzz
def test_two_thousand_spoilt_problems(place):
    assert fuzz_problems(place, range(1000, 3000)) < 2000
