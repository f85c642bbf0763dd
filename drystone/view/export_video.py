"""A replay as a video (MP4, by ffmpeg) or as a picture that moves (GIF, WebP, by Pillow)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drystone.arguments import answering
from drystone.draw import meshes as drawing
from drystone.draw.camera import Camera, fitted
from drystone.draw.meshes import Scenery
from drystone.draw.raster import Raster, draw_lines, draw_solids, sunlight
from drystone.errors import MissingExtraError, OptionError
from drystone.geometry.shapes import KINDS
from drystone.model import Model, State
from drystone.plots.forces import MOBILISATION
from drystone.recording.base import checked_replay
from drystone.types import Floats
from drystone.values import writing
from drystone.view import palette
from drystone.view.player.contacts import contacts_of, force_lines
from drystone.view.player.replays import bounds_of, colours_of
from drystone.view.sources import between

MAX_FRAMES = 20_000  # frames of one file
ANIMATED = (".gif", ".webp")
PAPER, INK = np.array(palette.PAPER) / 255, np.array(palette.INK) / 255
RAMP = np.array([palette.rgb(colour) for colour in MOBILISATION]) / 255
PALE = 0.62  # how far bodies fade behind forces


@answering
def write_video(
    replay: Any,
    path: str | Path,
    *,
    size: tuple[int, int] = (960, 600),
    fps: float = 30.0,
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    forces: bool = False,
    view: Mapping[str, Any] | None = None,
    colours: Mapping[str, str] | None = None,
    quality: int = 20,
) -> Path:
    """Write an MP4 file (H.264).

    size: columns and rows of pixels; fps: frames a second; speed: simulated seconds in one second
    of the video; start, end: of what is shown [s]; forces: with contact forces as lines; quality:
    x264's constant rate factor, smaller is finer.
    """
    program = ffmpeg()
    film = Film(replay, _even(size), view=view, colours=colours, forces=forces)
    times = shown_times(film.time, fps, speed, start, end)
    with writing(Path(path)) as place:
        pass  # the folder is made: ffmpeg writes the file
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{film.pixels[0]}x{film.pixels[1]}", "-r", f"{fps:g}", "-i", "-", "-an",
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", str(quality), "-preset", "medium",
        "-movflags", "+faststart", "-f", "mp4", str(place.absolute()),
    ]  # fmt: skip
    # the program was found by us, and every argument is a number or a path of its own
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        message = _feed(process, film.pictures(times))
    if process.returncode != 0:
        raise OptionError(f"{place}: ffmpeg failed: {message or process.returncode}")
    return place


def _feed(process: Any, pictures: Iterator[Picture]) -> str:
    """Hand all pictures over; returns what the program had to say."""
    try:
        for picture in pictures:
            process.stdin.write(picture.tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended before: its message says why
    except BaseException:
        process.kill()
        raise
    text: str = process.stderr.read().decode(errors="replace").strip()
    return text.splitlines()[-1] if text else ""


@answering
def write_animation(
    replay: Any,
    path: str | Path,
    *,
    size: tuple[int, int] = (640, 400),
    fps: float = 20.0,
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    hold: float = 0.8,
    forces: bool = False,
    view: Mapping[str, Any] | None = None,
    colours: Mapping[str, str] | None = None,
    quality: int = 72,
) -> Path:
    """Write a GIF or WebP that plays for ever, for README files and slides.

    As ``write_video``; hold: how long the last picture stands [s]; quality: of WebP, 0 to 100.
    """
    place = Path(path)
    if place.suffix.lower() not in ANIMATED:
        raise OptionError(f"{place}: expected a file name that ends in .gif or .webp")
    image = _pillow()
    film = Film(replay, size, view=view, colours=colours, forces=forces)
    times = shown_times(film.time, fps, speed, start, end)
    pictures = [image.fromarray(picture) for picture in film.pictures(times)]
    each = round(1000 / fps)
    options: dict[str, Any] = {
        "duration": [each] * (len(pictures) - 1) + [each + round(1e3 * hold)]
    }
    if place.suffix.lower() == ".gif":
        pictures = _of_one_palette(image, pictures)
        options |= {"optimize": False, "disposal": 1}
    else:
        options |= {"quality": quality, "method": 4, "minimize_size": False}
    with writing(place):
        pictures[0].save(place, save_all=True, append_images=pictures[1:], loop=0, **options)
    return place


def _of_one_palette(image: Any, pictures: list[Any]) -> list[Any]:
    """The same colours in every frame: what stands still costs nothing, and nothing flickers."""
    few = [pictures[k] for k in np.unique(np.linspace(0, len(pictures) - 1, 6).astype(int))]
    width, height = few[0].size
    sheet = image.new("RGB", (width, height * len(few)))
    for k, picture in enumerate(few):
        sheet.paste(picture, (0, k * height))
    palette = sheet.quantize(colors=255, method=image.Quantize.MEDIANCUT)
    return [picture.quantize(palette=palette, dither=image.Dither.NONE) for picture in pictures]


def shown_times(
    time: Floats, fps: float, speed: float, start: float | None, end: float | None
) -> Floats:
    """Simulated times of the frames of a film."""
    for name, value in (("fps", fps), ("speed", speed)):
        if not (np.isfinite(value) and value > 0):
            raise OptionError(f"{name} = {value!r}: expected a positive number")
    first = float(time[0]) if start is None else max(float(start), float(time[0]))
    last = float(time[-1]) if end is None else min(float(end), float(time[-1]))
    if not last >= first:
        raise OptionError(
            f"nothing to show from {first:g} s to {last:g} s: "
            f"the replay goes from {time[0]:g} s to {time[-1]:g} s"
        )
    count = int((last - first) * fps / speed + 1e-6) + 1
    if count > MAX_FRAMES:
        raise OptionError(f"{count} frames: more than {MAX_FRAMES}; choose a smaller fps")
    return np.minimum(first + np.arange(count) * speed / fps, last)


def ffmpeg() -> str:
    """Path of ffmpeg: the system's, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        message = (
            "videos need ffmpeg: install it with the system's packages, or by "
            "python -m pip install imageio-ffmpeg"
        )
        raise MissingExtraError(message) from None


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        message = "animated pictures need Pillow: python -m pip install 'drystone[plot]'"
        raise MissingExtraError(message) from None
    return Image


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """H.264 wants even numbers of columns and rows."""
    return size[0] + size[0] % 2, size[1] + size[1] % 2


Picture = NDArray[np.uint8]


class Film:
    """Pictures (rows, columns, 3) of a replay at chosen times, from one place.

    pixels: columns, rows; view: hints of a scene ("limits", "camera", "target"); colours:
    "#rrggbb" of bodies by name; forces: draw the contact forces, where the replay has contacts.
    """

    def __init__(
        self,
        replay: Any,
        pixels: tuple[int, int] = (960, 600),
        *,
        view: Mapping[str, Any] | None = None,
        colours: Mapping[str, str] | None = None,
        forces: bool = False,
    ) -> None:
        if not (min(pixels) >= 16 and max(pixels) <= 8192):
            raise OptionError(f"size = {pixels!r}: expected 16 to 8192 columns and rows of pixels")
        self.model: Model = checked_replay(replay).model
        self.replay, self.pixels, self.forces = replay, pixels, forces
        self.time = np.asarray(replay.time, dtype=float)
        self.position = np.nan_to_num(np.asarray(replay.position))
        self.orientation = np.nan_to_num(np.asarray(replay.orientation))
        self.view = view if view is not None else getattr(replay, "view", None) or {}
        self.palette = colours_of(self.model, colours or {}) / 255.0
        self.low, self.high = bounds_of(self.model, self.position, self.orientation, self.view)
        self.free = drawing.moving(self.model)
        self.names = np.array(self.model.names, dtype=np.str_)

    def pictures(self, times: Floats) -> Iterator[Picture]:
        """Pictures at these times [s] one after the other, drawn by all cores."""
        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            yield from pool.map(self.picture, times.tolist())

    def picture(self, time: float) -> Picture:
        """The picture at a time [s], between two frames where it is."""
        state, k = self.state(time)
        image = (self._flat if self.model.dim == 2 else self._solid)(state)
        if self.forces:
            self._draw_forces(image, state, k)
        return np.rint(255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)

    def state(self, time: float) -> tuple[State, int]:
        """The state at a time, and the last frame not after it."""
        k = int(np.clip(np.searchsorted(self.time, time, "right") - 1, 0, len(self.time) - 1))
        after = min(k + 1, len(self.time) - 1)
        span = self.time[after] - self.time[k]
        share = float(np.clip((time - self.time[k]) / span, 0.0, 1.0)) if span > 0 else 0.0
        return between(self._frame(k), self._frame(after), share), k

    def _frame(self, k: int) -> State:
        none = np.zeros((self.model.nb, self.model.dof))  # velocities are not drawn
        return State(float(self.time[k]), self.position[k], self.orientation[k], none)

    @cached_property
    def _scenery(self) -> Scenery:
        return Scenery(self.model)

    @cached_property
    def camera(self) -> Camera:
        """As far away as it takes to see the bounds; a sheet face on for planar worlds."""
        if self.model.dim == 2:
            middle = np.array([*(0.5 * (self.low + self.high)), 0.0])
            size, (columns, rows) = self.high - self.low, self.pixels
            wide = float(max(size[0], size[1] * columns / rows, 1e-9)) / 0.98
            eye = middle + np.array([0.0, 0.0, 1.0])
            return Camera(eye, middle, (3 * columns, 3 * rows), width=wide)
        return fitted(self.view, self.low, self.high, (2 * self.pixels[0], 2 * self.pixels[1]))

    @cached_property
    def sun(self) -> Camera:
        """The light, over all that happens."""
        return sunlight(self.camera, self.low, self.high)

    def _solid(self, state: State) -> Floats:
        """A spatial state, shaded, (rows, columns, 3) from 0 to 1."""
        palette = self.palette
        if self.forces:
            palette = palette + PALE * (0.95 - palette)
        box = self.low, self.high
        return draw_solids(self._scenery, state, self.camera, self.sun, palette, self.pixels, box)

    def _flat(self, state: State) -> Floats:
        """A planar state: outlines in ink on paper."""
        model, geoms, camera = self.model, self.model.geoms, self.camera
        at = drawing.frames(model, state)
        corners, bodies, marks = [np.empty((0, 3, 3))], [np.empty(0, np.int64)], []
        for (kind, *_), members in drawing.groups(geoms).items():
            for g in members:
                line = at.world(g, drawing.outline(geoms, g, 64))
                points, faces, _ = drawing.flat_mesh(line)
                corners.append(points[faces])
                bodies.append(np.full(len(faces), geoms.body[g]))
                if KINDS[kind].ball:
                    radius = float(drawing.numbers(geoms, g)[0])
                    way = at.axes[g][:, 0]
                    marks.append(at.origin[g] + np.outer([0.55 * radius, 0.9 * radius], way))
        for point, normal in zip(*drawing.half_spaces(model, state), strict=True):
            corners.append(self._ground(point, normal))
            bodies.append(np.full(2, model.nb))
        whole = np.concatenate(corners)
        seen = Raster(camera)
        normal = np.tile([0.0, 0.0, 1.0], (len(whole), 3, 1))
        seen.add_triangles(drawing.Mesh(whole, normal, np.concatenate(bodies)))
        table = np.vstack([self.palette, np.array(palette.GROUND) / 255, PAPER])  # last: nothing
        image = seen.developed(table[seen.sheets.owner].astype(np.float32), self.pixels)
        if marks:
            ends = np.stack(marks)
            pixels = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) * camera.scale / 3
            half = np.clip(0.1 * pixels, 0.3, 0.9)
            self._lines(image, ends, half, np.full((len(ends), 3), 0.62))
        return image

    def _ground(self, point: Floats, normal: Floats) -> Floats:
        """A half-plane as two triangles, before everything."""
        reach = 4.0 * float(np.linalg.norm(self.high - self.low))
        along = np.array([normal[1], -normal[0]])
        foot = point + ((0.5 * (self.low + self.high) - point) @ along) * along
        a, b = foot - reach * along, foot + reach * along
        ends = [a, a - reach * normal, b - reach * normal, b]
        corners = np.column_stack([ends, np.full(4, 0.01)])
        return corners[[[0, 1, 2], [0, 2, 3]]]

    def _draw_forces(self, image: Floats, state: State, k: int) -> None:
        table = contacts_of(self.replay, k)
        if table is None or not len(table):
            return
        ends, size, share = force_lines(table, self.names, self.free, state.position)
        if not size.size:
            return
        x = 4 * np.clip(share, 0.0, 1.0)
        low = np.minimum(x.astype(int), 3)
        tint = RAMP[low] + (x - low)[:, None] * (RAMP[low + 1] - RAMP[low])
        half = 0.5 * np.clip(6.0 * size / self._strongest, 0.6, 9.0) * self.pixels[0] / 960
        self._lines(image, ends, half, tint)

    @cached_property
    def _strongest(self) -> float:
        """A force few exceed, whatever single blows the run has."""
        kept = np.unique(np.linspace(0, len(self.time) - 1, 24).astype(int))
        tables = [contacts_of(self.replay, int(k)) for k in kept]
        sizes = [np.linalg.norm(t["force"], axis=1) for t in tables if t is not None]
        return float(np.percentile(np.concatenate([*sizes, [0.0]]), 97)) or 1.0

    def _lines(self, image: Floats, ends: Floats, half: Floats, tint: Floats) -> None:
        draw_lines(image, self.camera, ends, half, tint, INK)
