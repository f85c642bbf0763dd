"""Films: every pixel row in order, the right length, bodies where they are, clear errors."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.errors import MissingExtraError, OptionError
from drystone.view import export_video
from drystone.view.export_video import Film, shown_times, write_animation, write_video
from drystone.view.formats import export
from tests.view.replays import moved, pile, world_of_shapes

SMALL = (160, 100)


def test_each_body_is_drawn_where_it_is():
    """Every body in a colour of its own: the pixel at its projected centre has that hue."""
    world = world_of_shapes()
    names = world.build()[0].names[1:]
    tints = ("#ff0000", "#00ff00", "#0000ff")
    for k, tint in enumerate(tints):
        colours = {name: tints[(k + i) % 3] for i, name in enumerate(names)}
        film = Film(moved(world, n=2), (480, 300), colours=colours)
        picture = film.picture(0.0).astype(int)
        for i, name in enumerate(names):
            b = film.model.names.index(name)
            spot, _ = film.camera.project(film.position[0, b])
            x, y = (spot / 2).astype(int)
            assert picture[y, x].argmax() == tints.index(tints[(k + i) % 3]), name
        assert tint


def test_a_planar_picture_is_to_scale():
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(1.0, 0.5), name="slab", position=(0.0, 0.0))
    world.add_body(ds.Disk(0.25), name="disk", position=(1.5, 0.0))
    replay = moved(world, n=1)
    view = {"limits": ((-1.0, 2.0), (-1.0, 1.0))}
    colours = {"slab": "#ff0000", "disk": "#0000ff"}
    film = Film(replay, (600, 400), view=view, colours=colours)
    picture = film.picture(0.0).astype(int)
    metre = film.camera.scale / 3
    red = (picture[:, :, 0] > 120) & (picture[:, :, 2] < 60)
    blue = (picture[:, :, 2] > 120) & (picture[:, :, 0] < 60)
    assert red.sum() / metre**2 == pytest.approx(0.5, rel=0.03)
    assert blue.sum() / metre**2 == pytest.approx(np.pi / 16, rel=0.08)  # less its edge and mark
    assert np.argwhere(red)[:, 1].mean() < np.argwhere(blue)[:, 1].mean()


def test_ground_is_below_and_light_from_above():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.5), position=(0, 0.5))
    film = Film(moved(world, n=1), SMALL, view={"limits": ((-1, 1), (-0.5, 1.5))})
    picture = film.picture(0.0).astype(int)
    assert picture[-2, 5].sum() < picture[2, 5].sum() - 60
    solid = ds.World()
    solid.add_ground()
    solid.add_body(ds.Box(1, 1, 1), name="box", position=(0, 0, 0.5))
    film = Film(moved(solid, n=1), SMALL, colours={"box": "#808080"})
    picture = film.picture(0.0).astype(int)
    top, _ = film.camera.project(np.array([0.0, 0.0, 1.0]))
    front, _ = film.camera.project(np.array([0.0, -0.5, 0.4]))
    (x, y), (u, v) = (top / 2).astype(int), (front / 2).astype(int)
    assert picture[y, x].sum() > picture[v, u].sum()
    # shadow on the floor: some pixels that are neither body nor lit paper
    grey = np.abs(picture - picture.mean(axis=2, keepdims=True)).max(axis=2) < 8
    assert (grey & (picture[:, :, 0] > 160) & (picture[:, :, 0] < 200)).sum() > 20


def test_forces_are_drawn_over_paler_bodies():
    replay = pile(False)
    plain, shown = (Film(replay, SMALL, forces=f).picture(0.5).astype(int) for f in (False, True))
    assert (np.abs(plain - shown).max(axis=2) > 40).mean() > 0.01


def test_between_frames_bodies_are_between():
    replay = moved(world_of_shapes(), n=5)
    film = Film(replay, SMALL)
    middle = 0.5 * (replay.time[1] + replay.time[2])
    state, k = film.state(middle)
    assert k == 1
    assert state.position == pytest.approx(0.5 * (replay.position[1] + replay.position[2]))
    turns = Rotation.from_quat(replay.orientation[[1, 2]].reshape(-1, 4), scalar_first=True)
    first, last = (turns[k * film.model.nb : (k + 1) * film.model.nb] for k in (0, 1))
    half = first * Rotation.from_rotvec(0.5 * (first.inv() * last).as_rotvec())
    got = Rotation.from_quat(state.orientation, scalar_first=True)
    assert (got.inv() * half).magnitude() == pytest.approx(0, abs=1e-7)


def test_times_of_a_film():
    time = np.linspace(0.0, 2.0, 100)
    assert shown_times(time, 10.0, 1.0, None, None) == pytest.approx(np.arange(21) / 10)
    assert len(shown_times(time, 10.0, 0.5, 0.5, 1.5)) == 21
    assert shown_times(time, 10.0, 4.0, None, None).max() <= 2.0
    with pytest.raises(OptionError, match="fps = 0"):
        shown_times(time, 0.0, 1.0, None, None)
    with pytest.raises(OptionError, match="nothing to show from 3 s"):
        shown_times(time, 10.0, 1.0, 3.0, None)
    with pytest.raises(OptionError, match="20001 frames"):
        shown_times(time, 10_000.0, 1.0, None, None)


@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_animated_pictures(tmp_path, ending):
    image = pytest.importorskip("PIL.Image")
    replay = moved(world_of_shapes(), seconds=0.5)
    path = export(replay, tmp_path / f"a.{ending}", size=SMALL, fps=10)
    with image.open(path) as shown:
        assert shown.n_frames == 6
        assert shown.size == SMALL
        first = np.asarray(shown.convert("RGB")).astype(int)
        shown.seek(5)
        last = np.asarray(shown.convert("RGB")).astype(int)
    asked = Film(replay, SMALL).picture(0.0).astype(int)
    assert np.abs(first - asked).mean() < 4
    assert (np.abs(first - last).max(axis=2) > 40).mean() > 0.01


def test_a_video_has_the_frames_asked_for(tmp_path):
    try:
        program = export_video.ffmpeg()
    except MissingExtraError:
        pytest.skip("ffmpeg is not installed")
    replay = pile(False)
    path = write_video(replay, tmp_path / "a.mp4", size=(161, 100), fps=20, end=0.4)
    command = [program, "-loglevel", "error", "-i", str(path)]
    raw = subprocess.run(
        [*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    ).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, 100, 162, 3).astype(int)
    assert len(frames) == 9
    asked = Film(replay, (162, 100)).picture(0.0).astype(int)
    assert np.abs(frames[0] - asked).mean() < 6


def test_without_ffmpeg_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match="pip install imageio-ffmpeg"):
        write_video(pile(True), tmp_path / "a.mp4")


def test_what_is_given_is_checked(tmp_path):
    replay = pile(True)
    with pytest.raises(OptionError, match=r"ends in \.gif or \.webp"):
        write_animation(replay, tmp_path / "a.png")
    with pytest.raises(OptionError, match=r"cannot write 'a\.obj': expected .* \.html, \.glb"):
        export(replay, tmp_path / "a.obj")
    with pytest.raises(OptionError, match="size = "):
        write_animation(replay, tmp_path / "a.gif", size=(4, 4))
