"""Entries that stand for many: grids, ranges, turns, materials."""

import math

import numpy as np
import pytest

import drystone as ds
from drystone import scene_files


def load(*bodies, planar=False, **more):
    return scene_files.load({"bodies": list(bodies), "planar": planar} | more).world


def entry(**more):
    return {"name": "b", "shape": {"kind": "sphere", "radius": 0.1}} | more


def positions(world):
    return world.build()[1].position


def test_a_grid_counts_along_the_axes():
    world = load(entry(position=[1, 0, 0], grid={"count": [2, 1, 3], "step": [0.5, 9, 0.25]}))
    assert world.bodies == ("b0-0-0", "b0-0-1", "b0-0-2", "b1-0-0", "b1-0-1", "b1-0-2")
    expected = [(1 + 0.5 * i, 0, 0.25 * k) for i in range(2) for k in range(3)]
    assert positions(world).tolist() == [list(p) for p in expected]


def test_names_may_say_where_the_numbers_go():
    world = load(entry(name="x{j}y{i}", grid={"count": [2, 2], "step": [1, 1, 0]}))
    assert world.bodies == ("x0y0", "x1y0", "x0y1", "x1y1")
    world = load(entry(name="n{i+1}-{i-1}-{q}", range={"count": 2, "add": {"position": [1, 0, 0]}}))
    assert world.bodies == ("n1--1-{q}", "n2-0-{q}")


def test_the_tower_of_masses_as_one_entry():
    size = 1.0
    ground = {"name": "ground", "shape": {"kind": "ground"}}
    cube = {
        "name": "cube", "shape": {"kind": "box", "lx": size, "ly": size, "lz": size}, "mass": 1,
        "position": [0, 0, 0.5],
        "range": {"count": 5, "add": {"position": [0, 0, size]}, "times": {"mass": 10}},
    }  # fmt: skip
    world, scene = load(ground, cube), ds.scene("mass-ratio")
    ours, theirs = world.build(), scene.world.build()
    assert world.bodies == scene.world.bodies
    assert ours[1].position.tobytes() == theirs[1].position.tobytes()
    assert ours[0].mass.tolist() == theirs[0].mass.tolist()


def test_a_range_adds_and_turns():
    turn = {"degrees": 90, "axis": [0, 0, 2], "about": [1, 0, 0]}
    world = load(
        entry(
            position=[2, 0, 0], velocity=[1, 0, 0], mass=2,
            range={"count": 4, "turn": turn, "add": {"mass": 0.5, "friction": 0.1}}, friction=0.2,
        )
    )  # fmt: skip
    model, state = world.build()
    around = [(2, 0, 0), (1, 1, 0), (0, 0, 0), (1, -1, 0)]
    assert state.position == pytest.approx(np.array(around, float), abs=1e-15)
    ways = [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]
    assert state.velocity[:, :3] == pytest.approx(np.array(ways, float), abs=1e-15)
    s = math.sqrt(0.5)
    assert np.abs(state.orientation[1]) == pytest.approx([s, 0, 0, s])
    assert model.mass.tolist() == [2, 2.5, 3, 3.5]
    assert model.friction[:, 0] == pytest.approx([0.2, 0.3, 0.4, 0.5])


def test_turns_in_the_plane_and_orientations_in_degrees():
    disk = {"shape": {"kind": "disk", "radius": 0.1}, "position": [1, 0], "name": "d"}
    world = load(
        disk | {"range": {"count": 3, "turn": {"angle": math.pi / 2}}},
        disk | {"name": "e", "orientation": {"degrees": 180}, "position": [5, 5]},
        planar=True,
    )
    _, state = world.build()
    assert state.position[:3] == pytest.approx(np.array([[1, 0], [0, 1], [-1, 0]]), abs=1e-15)
    assert state.orientation == pytest.approx([0, math.pi / 2, math.pi, math.pi])


def test_a_chain_in_four_entries():
    world = load(
        entry(name="link{i}", range={"count": 10, "add": {"position": [0.25, 0, 0]}}),
        joints=[
            {"kind": "ball", "a": "link0", "anchor": [0, 0, 0]},
            {
                "kind": "ball", "name": "j{i}", "a": "link{i}", "b": "link{i+1}",
                "anchor": [0.125, 0, 0],
                "range": {"count": 9, "add": {"anchor": [0.25, 0, 0]}},
            },
        ],
        forces=[
            {"kind": "spring", "a": "link{i}", "b": "link{i+2}", "stiffness": 3,
             "rest_length": 0.5, "range": {"count": 8, "first": 0}}
        ],
    )  # fmt: skip
    assert world.joints == ("joint0", *(f"j{k}" for k in range(9)))
    assert len(world.forces) == 8
    joints = world.build()[0].joints
    assert joints.anchor_a[1:, 0] == pytest.approx([0.125] * 9)
    assert joints.anchor_b[1:, 0] == pytest.approx([-0.125] * 9)
    assert joints.body[1:].tolist() == [[k, k + 1] for k in range(9)]


def test_materials_give_way_to_what_a_body_says():
    materials = {"ice": {"friction": 0.02, "density": 900, "restitution": 0.1}}
    world = load(
        entry(name="a", material="ice"),
        entry(name="b", material="ice", friction=0.5, mass=3, position=[1, 0, 0]),
        materials=materials,
    )
    model, _ = world.build()
    assert model.friction[:, 0].tolist() == [0.02, 0.5]
    assert model.restitution[:, 0].tolist() == [0.1, 0.1]
    assert model.mass == pytest.approx([900 * 4 / 3 * math.pi * 1e-3, 3])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"grid": {"count": [2], "step": [1, 0, 0]}, "range": {"count": 2}}, "give one"),
        ({"grid": {"count": [2], "step": [1, 0]}}, "step = .1.0, 0.0.: expected 3"),
        ({"grid": {"count": [0], "step": [1, 0, 0]}}, "at least 1"),
        ({"grid": {"count": [1, 1, 1], "step": [1, 0]}}, "a step for each count"),
        ({"grid": {"count": [2.5], "step": [1, 0, 0]}}, "whole number"),
        ({"range": {"count": 2, "add": {"position": [1, 0]}}}, "add.position"),
        ({"range": {"count": 2, "add": {"mass": 1}}}, "add.mass"),
        ({"range": {"count": 2, "add": {"name": 1}}}, "add.name"),
        ({"range": {"count": 2, "times": {"mass": 1}}}, "times.mass"),
        ({"mass": 1, "range": {"count": 999, "times": {"mass": 1e9}}}, "mass = 1e\\+108"),
        ({"mass": 1, "range": {"count": 2, "times": {"mass": 1e200}}}, "mass = 1e\\+200"),
        ({"range": {"count": 2, "turn": {"degrees": 3}}}, "expected 3 numbers to turn about"),
        ({"range": {"count": 2, "turn": {"axis": [0, 0, 1]}}}, "angle or degrees"),
        ({"range": {"count": 2, "turn": {"angle": 1, "axis": [0, 0, 0]}}}, "a direction"),
        ({"name": "same{z}", "range": {"count": 2}, "x": 1}, "unknown key"),
    ],
)
def test_what_makes_no_sense(more, words):
    with pytest.raises(ds.SceneFileError, match=words):
        load(entry(**more))
