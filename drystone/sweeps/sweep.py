"""``ds.sweep``: a scene at every point of a grid of settings, in processes side by side.

The table does not depend on how many processes there are. An interrupted sweep resumes from its
journal, a file beside the table with one line for each point that is done.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drystone.arguments import answering, warn_user
from drystone.errors import DrystoneError, OptionError, StepWarning
from drystone.escaping import for_cell
from drystone.plain_files import open_plain
from drystone.sweeps.measures import DEFAULT, read_measure
from drystone.types import Floats
from drystone.values import as_path, function, real, whole
from drystone.values import text as text_of

OWN = "own"
Point = tuple[str, dict[str, str], str, float | None, tuple[str, ...]]
Result = tuple[list[float | None], str, str]  # measures, why it failed, what its summary says
MAX_POINTS = 100_000  # points of a grid; more is a slip of the keyboard


@answering
@dataclass(frozen=True)
class Sweep:
    """columns: settings, method, measures, failed; rows: one for each point, in the grid's order;
    texts as they were given, measures as numbers (None where the run has none); trouble: of each
    row, what its summary says of steps that failed, empty if none did."""

    scene: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    trouble: tuple[str, ...] = ()

    @property
    def table(self) -> Any:
        """A pandas DataFrame, or a list of dictionaries where pandas is missing."""
        plain = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        try:
            from pandas import DataFrame
        except ImportError:
            return plain
        return DataFrame(plain)

    def write(self, path: str | Path) -> Path:
        """As CSV; numbers as Python writes them, exact."""
        import csv
        import io

        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow([for_cell(name) for name in self.columns])
        out.writerows([["" if v is None else for_cell(v) for v in row] for row in self.rows])
        place = as_path("Sweep.write", path, OptionError)
        partial = place.with_name(f"{place.name}.new")
        try:
            partial.write_text(text.getvalue(), encoding="utf-8")
            os.replace(partial, place)
        except OSError as error:
            raise OptionError(f"{place}: {error.strerror or error}") from None
        return place


def run_point(point: Point) -> Result:
    """The measures of one run, and why it failed, if so. Called in other processes."""
    from drystone.comparison.method_texts import read_method
    from drystone.comparison.runs import simulate
    from drystone.scenes.registry import scene as build
    from drystone.simulation import Simulation

    name, settings, method, duration, measures = point
    try:
        scene = build(name, **settings)
        simulation = Simulation(scene.world, read_method(method, scene.method))
        seconds = scene.duration if duration is None else duration
        run = simulate(simulation, seconds, contacts=False)
        if not run.reports:
            return [None] * len(measures), run.stopped, ""
        values = [float(read_measure(text).read(run)) for text in measures]
        kept = [v if abs(v) < float("inf") else None for v in values]
        return kept, run.stopped, "" if run.summary.ok else str(run.summary)
    except DrystoneError as error:
        return [None] * len(measures), str(error), ""


def sweep(
    scene: str,
    grid: Mapping[str, str | Sequence[object] | Floats],
    *,
    methods: Sequence[str] = (OWN,),
    measures: Sequence[str] = DEFAULT,
    duration: float | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    path: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run a scene of the gallery at every point of a grid.

    grid: settings by name: a sequence of values, or a text, "0.1:0.9:9" or "10,20,50".
    methods: texts as of ``ds.compare``. measures: "max:penetration", "end:BODY.x", ...
    duration [s]: the scene's by default. jobs: processes, one for each core by default;
    scheduler: address of a Dask cluster to use instead. path: CSV to write; with it, a sweep that
    was interrupted is resumed. progress: called with points done and all of them.
    A run that fails is a row that says why. Failed steps are reported by one ds.StepWarning
    for the whole sweep, and point by point in ``trouble``.
    """
    function("sweep", "progress", progress, "done", "all")
    if jobs is not None and (whole(jobs) or 0) < 1:
        raise OptionError(f"sweep: jobs = {text_of(jobs)}: expected a count of processes > 0")
    if scheduler is not None and not isinstance(scheduler, str):
        raise OptionError(f"sweep: scheduler = {text_of(scheduler)}: expected an address")
    asked = _asked(scene, grid, methods, measures, duration)
    todo = list(asked)
    journal = None if path is None else Journal(as_path("sweep", path), asked)
    done: dict[int, Result] = {} if journal is None else journal.done
    left = [k for k in range(len(todo)) if k not in done]
    if progress is not None:
        progress(len(done), len(todo))
    for k, result in _results([todo[k] for k in left], left, jobs, scheduler):
        done[k] = result
        if journal is not None:
            journal.add(k, result)
        if progress is not None:
            progress(len(done), len(todo))
    names = list(read_grid(grid))
    columns = (*names, "method", *(m.strip() for m in measures), "failed")
    rows = tuple(
        (*(todo[k][1][n] for n in names), todo[k][2], *done[k][0], done[k][1])
        for k in range(len(todo))
    )
    out = Sweep(scene, columns, rows, tuple(done[k][2] for k in range(len(todo))))
    _warn_of_failures(out)
    if journal is not None:
        out.write(journal.path)
        journal.end()
    return out


def _warn_of_failures(found: Sweep) -> None:
    """One warning of all points with steps that failed."""
    odd = [k for k, text in enumerate(found.trouble) if text]
    if odd:
        warn_user(
            f"{len(odd)} of {len(found.rows)} points of this sweep have steps that failed; the "
            f"first is row {odd[0]}: {found.trouble[odd[0]]} (Sweep.trouble has them all)",
            StepWarning,
        )


def _asked(
    scene: str,
    grid: Mapping[str, str | Sequence[object] | Floats],
    methods: Sequence[str],
    measures: Sequence[str],
    duration: float | None,
) -> list[Point]:
    """The runs to do; mistakes in what they share are raised before any of them."""
    from drystone.comparison.method_texts import read_method
    from drystone.running import check_count
    from drystone.scenes.registry import scene as build

    for field, texts_given in (("methods", methods), ("measures", measures)):
        some = isinstance(texts_given, list | tuple)
        if not some or not all(isinstance(one, str) for one in texts_given):
            raise OptionError(
                f"sweep: {field} = {text_of(texts_given)}: expected a list of strings"
            )
    if not methods or not measures:
        raise OptionError("sweep: give at least one method and one measure")
    time = None if duration is None else real(duration)
    if duration is not None and (time is None or not 0 < time < float("inf")):
        raise OptionError(
            f"sweep: duration = {text_of(duration)}: expected a positive number of seconds"
        )
    values = read_grid(grid)
    first = build(scene, **{name: texts[0] for name, texts in values.items()})
    for text in methods:
        method = read_method(text, first.method)
        if time is not None:
            check_count(f"sweep: duration = {time:g}", time / method.dt, method.dt)
    for text in measures:
        read_measure(text).check(first.world.bodies, _bodies(scene, values))
    texts = tuple(measures)
    return [
        (scene, point, method.strip(), time, texts)
        for point in points(values)
        for method in methods
    ]


def _bodies(scene: str, values: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Names of the bodies at each point of the grid that can be built."""
    from drystone.scenes.registry import scene as build

    for point in points(values):
        try:
            yield build(scene, **point).world.bodies
        except DrystoneError:
            continue


def _results(
    todo: list[Point], numbers: list[int], jobs: int | None, scheduler: str | None
) -> Iterator[tuple[int, Result]]:
    """Results as they come, with their numbers; in order where there is one process."""
    if scheduler is not None:
        yield from _on_cluster(todo, numbers, scheduler)
        return
    count = min(jobs or os.cpu_count() or 1, len(todo))
    if count <= 1:
        for k, point in zip(numbers, todo, strict=True):
            yield k, run_point(point)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    # fresh processes: threads of the compiled kernels do not survive a fork
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(run_point, p): k for k, p in zip(numbers, todo, strict=True)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _on_cluster(
    todo: list[Point], numbers: list[int], scheduler: str
) -> Iterator[tuple[int, Result]]:
    from drystone.errors import MissingExtraError

    try:
        from distributed import Client, as_completed
    except ImportError:
        message = "sweeps on a cluster need Dask: python -m pip install 'drystone[sweep]'"
        raise MissingExtraError(message) from None
    try:
        client = Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise OptionError(f"scheduler {scheduler}: {error}") from None
    with client:
        futures = {client.submit(run_point, p, pure=False): k
                   for k, p in zip(numbers, todo, strict=True)}  # fmt: skip
        for future in as_completed(list(futures)):
            values, *texts = future.result()
            yield futures[future], (list(values), str(texts[0]), str(texts[1]))


class Journal:
    """Points that are done, one line each; the first line says of which sweep."""

    def __init__(self, path: Path, asked: list[Point]) -> None:
        from drystone import __version__

        self.path, self.file = path, path.with_name(path.name + ".part")
        self.head = json.dumps({"drystone": __version__, "points": asked})
        self.done: dict[int, Result] = {}
        lines = [self.head]
        try:
            if self.file.exists():
                lines += self._known(len(asked), len(asked[0][4]))
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise OptionError(f"{path}: {error.strerror or error}") from None

    def _known(self, points: int, count: int) -> list[str]:
        """Lines of the points that are done, of `count` values each; others are left out."""
        with open_plain(self.file) as file:
            lines = file.read().decode(errors="replace").split("\n")
        if lines[0] != self.head:
            raise OptionError(
                f"{self.file} is of another sweep that was stopped: remove it, or name another file"
            )
        whole = []
        for line in lines[1:-1]:  # a line without its end was cut off
            with suppress(ValueError, TypeError, RecursionError):
                k, values, why, note = json.loads(line)
                if k in range(points) and len(values) == count:
                    read = [None if value is None else float(value) for value in values]
                    self.done[int(k)] = (read, str(why), str(note))
                    whole.append(line)
        return whole

    def add(self, k: int, result: Result) -> None:
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps([k, *result]) + "\n")

    def end(self) -> None:
        self.file.unlink()


def read_values(name: str, text: str) -> list[str]:
    """The values that a text stands for, as texts that a scene reads.

    FIRST:LAST:COUNT, both ends included, or values with commas between them.
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        values = [value.strip() for value in text.split(",")]
        if not all(values):
            raise OptionError(f"{name} = {text!r}: an empty value")
        return values
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        if len(parts) != 3 or not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError
    except (ValueError, IndexError):
        raise OptionError(f"{name} = {text!r}: expected FIRST:LAST:COUNT, as 0.1:0.9:9") from None
    if not 1 <= count <= MAX_POINTS:
        raise OptionError(f"{name} = {text!r}: expected a count from 1 to {MAX_POINTS}")
    if count == 1:
        return [f"{first:.12g}"]
    step = (last - first) / (count - 1)
    # twelve digits: 0.1:0.9:9 holds 0.3, and not 0.30000000000000004
    return [f"{first + k * step:.12g}" for k in range(count)]


def read_grid(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Values by setting, from texts as above, single values, or sequences of them."""
    out: dict[str, list[str]] = {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise OptionError(f"grid = {text_of(given)}: expected values by the names of settings")
    for name, value in given.items():
        if isinstance(value, str):
            out[name] = read_values(name, value)
        elif isinstance(value, Sequence) or hasattr(value, "tolist"):
            some = value.tolist() if hasattr(value, "tolist") else list(value)
            out[name] = [_text(one) for one in (some if isinstance(some, list) else [some])]
        else:
            out[name] = [_text(value)]
        if not out[name]:
            raise OptionError(f"{name}: no values")
        if len(set(out[name])) < len(out[name]):
            raise OptionError(f"{name}: the same value twice")
    size = math.prod(len(values) for values in out.values())
    if size > MAX_POINTS:
        raise OptionError(f"the grid has {size} points: {MAX_POINTS} at most")
    return out


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def points(grid: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """All combinations, the last setting fastest."""
    names = list(grid)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values())]
