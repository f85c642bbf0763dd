"""A replay as a video (MP4, by ffmpeg) or as a picture that moves (GIF, WebP, by Pillow)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drystone.arguments import answering
from drystone.errors import MissingExtraError, OptionError
from drystone.types import Floats
from drystone.view.film import Film, Picture

LONGEST = 20_000  # frames of one file
ANIMATED = (".gif", ".webp")


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
    place = _folder(path)
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
    place = _folder(path)
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
    try:
        pictures[0].save(place, save_all=True, append_images=pictures[1:], loop=0, **options)
    except OSError as error:
        raise OptionError(f"{place}: {error.strerror or error}") from None
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
    if count > LONGEST:
        raise OptionError(f"{count} frames: more than {LONGEST}; choose a smaller fps")
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


def _folder(path: str | Path) -> Path:
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{place}: {error.strerror or error}") from None
    return place
