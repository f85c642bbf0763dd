"""What a page holds, read back by an independent reader of its format."""

from __future__ import annotations

import base64
import json
import re
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.errors import OptionError
from drystone.view.export_html import page, write_html
from drystone.view.player import states
from drystone.view.player.blob import Blob
from tests.view.replays import moved, pile, world_of_shapes

KINDS = {"f8": "<f8", "f4": "<f4", "u4": "<u4", "u2": "<u2", "u1": "u1"}


def read(text):
    """The page's description and the sections of each replay."""
    told = json.loads(re.search(r'id="replays">(.*?)</script>', text, re.S)[1])
    out = []
    for k, meta in enumerate(told["replays"]):
        block = re.search(rf'id="data-{k}">([A-Za-z0-9+/=]*)</script>', text)[1]
        data = zlib.decompress(base64.b64decode(block))
        sections = {
            name: np.frombuffer(data, KINDS[kind], count, offset)
            for name, (kind, offset, count) in meta["sections"].items()
        }
        out.append((meta, sections))
    return told, out


def words(planes):
    low, high = planes.reshape(2, -1).astype(np.uint16)
    return low | high << 8


def poses(meta, sections):
    nb, n, dim = len(meta["names"]), meta["frames"], meta["dim"]
    change = words(sections["state"]).reshape(nb, -1, n).astype(np.int64)
    state = np.cumsum(change, axis=2) % 65536
    low, step = (sections[name].reshape(nb, dim, 1) for name in ("low", "step"))
    return (low + state[:, :dim] * step).transpose(2, 0, 1), state[:, dim:].transpose(2, 0, 1)


def test_places_and_turns_come_back_as_exact_as_the_page_says():
    replay = moved(world_of_shapes())
    _, [(meta, sections)] = read(page(replay))
    place, turn = poses(meta, sections)
    assert np.abs(place - replay.position).max() <= meta["exact"] * (1 + 1e-9)
    assert meta["exact"] < 1e-4
    q = turn / 32767.5 - 1
    q /= np.linalg.norm(q, axis=2, keepdims=True)
    same = np.abs(np.einsum("kbi,kbi->kb", q, replay.orientation))
    assert np.degrees(2 * np.arccos(np.clip(same, 0, 1))).max() < 0.01
    assert sections["time"] == pytest.approx(replay.time, abs=0)


def test_planar_angles_wrap():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.5), name="a", position=(0, 1))
    replay = moved(world, n=200, seconds=5.0)
    _, [(meta, sections)] = read(page(replay))
    angle = poses(meta, sections)[1][:, :, 0] / 65536 * 2 * np.pi
    off = np.angle(np.exp(1j * (angle - replay.orientation)))
    assert np.abs(off).max() < 6e-5


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(1, 40), st.integers(1, 4), st.sampled_from([2, 3]), st.integers(0, 2**31))
def test_any_motion_is_kept_within_half_a_step(n, nb, dim, seed):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(n, nb, dim)) * 10.0 ** rng.integers(-3, 5, (1, nb, 1))
    q = rng.normal(size=(n, nb, 4))
    turn = rng.normal(size=(n, nb)) * 50 if dim == 2 else q / np.linalg.norm(q, axis=2)[:, :, None]
    blob = Blob()
    states.add_states(blob, np.arange(n, dtype=float), place, turn)
    data = zlib.decompress(base64.b64decode(blob.text()))
    sections = {
        name: np.frombuffer(data, KINDS[kind], count, offset)
        for name, (kind, offset, count) in blob.sections.items()
    }
    meta = {"names": [""] * nb, "frames": n, "dim": dim}
    back, _ = poses(meta, sections)
    step = sections["step"].reshape(nb, dim)
    assert (np.abs(back - place) <= 0.51 * step + 1e-12 * np.abs(place)).all()


def test_frames_are_no_denser_than_asked_and_keep_the_ends():
    time = np.arange(1001) / 240
    kept = states.chosen_frames(time, 30.0, 10)
    assert kept[0] == 0
    assert kept[-1] == 1000
    assert np.diff(time[kept]).min() > 0.9 / 31
    assert len(states.chosen_frames(time, 1000.0, 10)) == 1001
    assert len(states.chosen_frames(time, 1000.0, states.MAX_NUMBERS // 100)) <= 100


def test_instances_put_every_shape_where_the_body_is():
    """Meshes and instances, transformed here, reach as far as the shapes' own support does."""
    world = world_of_shapes()
    replay = moved(world, n=2)
    _, [(meta, sections)] = read(page(replay))
    vertices = sections["vertices"].reshape(-1, 6).astype(float)
    faces = sections["faces"].reshape(-1, 3)
    size = sections["instance_size"].reshape(-1, 3)
    turn = sections["instance_turn"].reshape(-1, 4)
    assert meta["instances"] == 9
    assert len(meta["meshes"]) == 7  # two boxes share one, two balls another
    reach = {"ball": 0.3, "small ball": 0.2, "cylinder": np.hypot(0.2, 0.2), "capsule": 0.35}
    for mesh in meta["meshes"]:
        used = faces[mesh["face"] : mesh["face"] + mesh["faces"]] + mesh["vertex"]
        corner = vertices[used]
        # outer normals: they agree with the way the triangles turn
        own = np.cross(corner[:, 1, :3] - corner[:, 0, :3], corner[:, 2, :3] - corner[:, 0, :3])
        assert (np.einsum("ti,ti->t", own, corner[:, :, 3:].mean(axis=1)) >= -1e-9).all()
        for i in range(mesh["instance"], mesh["instance"] + mesh["count"]):
            name = meta["names"][sections["instance_body"][i]]
            far = np.linalg.norm(corner[..., :3] * size[i], axis=-1).max()
            if name in reach:
                assert far == pytest.approx(reach[name], rel=2e-3)
            assert np.linalg.norm(turn[i]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("planar", [True, False])
def test_contact_forces_come_back(planar):
    replay = pile(planar)
    _, [(meta, sections)] = read(page(replay, fps=1000))
    held = meta["contacts"]
    dim, count = meta["dim"], held["count"]
    force = words(sections["contact_force"]).reshape(dim, count).T / 32767 - 1
    force = held["most"] * force * np.abs(force)
    point = words(sections["contact_point"]).reshape(dim, count).T
    point = np.array(held["low"]) + point * np.array(held["step"])
    pair = words(sections["contact_pair"]).reshape(count, 2)
    first = sections["contact_first"]
    m = len(sections["contact_frame"]) - 1  # the last one: at rest, with contacts
    rows = slice(first[m], first[m + 1])
    table = replay.contacts(int(sections["contact_frame"][m]))
    table = table[np.linalg.norm(table["force"], axis=1) > 0]
    assert len(table) == first[m + 1] - first[m] > 2
    largest = np.abs(table["force"]).max()
    assert np.abs(force[rows] - table["force"]).max() < 1e-3 * max(held["most"], largest)
    assert np.abs(point[rows] - table["point"]).max() < 1e-4
    names = np.array(meta["names"])
    assert (names[pair[rows]] == table["bodies"]).all()


def test_series_are_those_of_the_reports():
    replay = pile(True)
    _, [(meta, sections)] = read(page(replay, fps=1000))
    by = {(s["plot"], s["label"]): sections[s["section"]] for s in meta["series"]}
    kinetic = [report.energy.kinetic for report in replay.reports]
    assert by["energy", "kinetic"][1:] == pytest.approx(kinetic, rel=1e-6, abs=1e-30)
    assert {"energy", "penetration", "contacts"} <= {s["plot"] for s in meta["series"]}
    thin = read(page(replay, fps=15))[1][0]
    peak = next(s for s in thin[0]["series"] if s["plot"] == "penetration")
    deepest = max(report.penetration for report in replay.reports)
    assert thin[1][peak["section"]].max() == pytest.approx(deepest, rel=1e-6)  # peaks are kept


def test_names_cannot_leave_their_place():
    nasty = "</script><script>window.hit=1</script>"
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.5), name=nasty, position=(0, 1))
    text = page(moved(world), title="<img src=x onerror=alert(1)>", about="a & b </style>")
    assert nasty not in text
    assert "<img" not in text
    assert "<script>window" not in text
    told, _ = read(text)
    assert told["replays"][0]["names"] == [nasty]
    assert text.count("</script>") == 3  # description, data, player


def test_the_policy_lets_only_our_script_run_and_nothing_load():
    text = page(moved(world_of_shapes()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.findall(r"""(?:src|href)=["'](?!data:,)""", text)
    assert "://" not in re.sub(r"<script type=.*?</script>", "", text, flags=re.S)
    assert not re.search(r"\beval\(|innerHTML|fetch\(|XMLHttpRequest|import\(", text)


def test_what_is_given_is_checked(tmp_path):
    replay = moved(world_of_shapes())
    with pytest.raises(OptionError, match="fps = 0"):
        page(replay, fps=0)
    with pytest.raises(OptionError, match="2 labels for 1"):
        page(replay, labels=["a", "b"])
    with pytest.raises(OptionError, match="no body 'x'"):
        page(replay, colours={"x": "#ffffff"})
    with pytest.raises(OptionError, match="ball = 'red'"):
        page(replay, colours={"ball": "red"})
    with pytest.raises(OptionError, match="no replays"):
        page([])
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OptionError, match="file"):
        write_html(replay, blocked / "x.html")
    empty = SimpleNamespace(model=replay.model, time=[])
    with pytest.raises(OptionError, match="no frames"):
        page(empty)


def test_states_that_are_not_numbers_do_not_break_a_page():
    replay = moved(world_of_shapes())
    replay.position[3, 2] = np.nan
    replay.orientation[3, 2] = np.nan
    _, [(meta, sections)] = read(page(replay))
    assert sections["time"].size == len(replay.time)
    for name, (kind, _, _) in meta["sections"].items():
        assert kind[0] != "f" or np.isfinite(sections[name]).all(), name


def test_a_long_replay_of_two_hundred_bodies_is_small(tmp_path):
    """Ten seconds of 200 bodies under 3 MB: here with incompressible random flights."""
    world = ds.World()
    for k in range(200):
        world.add_body(ds.Sphere(0.1), position=(k % 20, k // 20, 0))
    replay = moved(world, n=601, seconds=10.0)
    rng = np.random.default_rng(0)
    replay.position += np.cumsum(rng.normal(size=replay.position.shape), axis=0) * 1e-3
    assert write_html(replay, tmp_path / "a.html").stat().st_size < 3e6
