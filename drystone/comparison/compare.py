"""``ds.compare``: runs a scene by several methods and compares the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drystone.arguments import answering, warn_user
from drystone.comparison.measures import Row, finest, measure
from drystone.comparison.method_texts import OWN, default_methods, read_method
from drystone.comparison.runs import ComparedRun, simulate
from drystone.errors import DrystoneError, OptionError, StepWarning
from drystone.scene_files import SceneFile
from drystone.scenes.base import Scene
from drystone.scenes.registry import scene as build
from drystone.simulation import Simulation
from drystone.steppers.base import Method
from drystone.values import among, function, real, switch, text
from drystone.world import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WARM = 2  # steps before a run is timed


@answering
@dataclass
class Comparison:
    """One scene by several methods.

    title; duration [s]; rows: of the table, in the order asked for; runs: by label, those that
    made one step or more; reference: label of the run that errors are measured against.
    """

    title: str
    duration: float
    rows: list[Row]
    runs: dict[str, ComparedRun] = field(repr=False)
    reference: str | None

    @property
    def table(self) -> Any:
        """The rows as a pandas DataFrame, or as a list of dictionaries where pandas is missing."""
        plain = [asdict(row) for row in self.rows]
        try:
            from pandas import DataFrame
        except ImportError:
            return plain
        return DataFrame(plain).set_index("method")

    def plot(self, path: str | Path | None = None, width: float | None = None) -> Figure:
        """Errors, energy, depths and residuals over time, one line a method; also to a file."""
        from drystone.comparison.figures import draw_comparison

        return draw_comparison(self, path, width)

    def plot_states(
        self, path: str | Path | None = None, time: float | None = None, width: float | None = None
    ) -> Figure:
        """The bodies and forces of every method at a time [s], side by side."""
        from drystone.comparison.figures import draw_states

        return draw_states(self, path, time, width)

    def as_json(self) -> dict[str, Any]:
        """Plain types: title, duration, reference, rows."""
        return {
            "scene": self.title,
            "duration": self.duration,
            "reference": self.reference,
            "rows": [asdict(row) for row in self.rows],
        }


def compare(
    scene: str | Scene | SceneFile | World,
    methods: Sequence[str | Method] | None = None,
    *,
    duration: float | None = None,
    reference: str | None = None,
    limit: float = math.inf,
    contacts: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Run one scene by several methods from the same start.

    scene: a name of the gallery, a ds.Scene, what a scene file holds, or a ds.World (then duration
        is needed).
    methods: texts such as "time-stepping:convex,dt=1/480", "event-driven:lemke" or "own", and
        method objects; a few that apply by default.
    duration [s]: the scene's by default; reference: the method (one of `methods`) to measure errors
        against, the finest by default; limit: wall time for each run [s]; contacts: keep them, for
        pictures; progress: called with each method's label before it runs.
    A method that cannot run the scene, or fails on the way, is a row that says why. Rows count
    steps that failed; one ds.StepWarning says so for all of them.
    """
    world, own, seconds, view, title = _subject(scene, duration)
    function("compare", "progress", progress, "label")
    switch("compare", "contacts", contacts)
    if (most := real(limit)) is None or not most > 0:
        raise OptionError(f"compare: limit = {text(limit)}: expected seconds")
    if methods is None:
        methods = default_methods(own, len(world.build()[0].names))
    chosen = _chosen(methods, own)
    if reference is not None and not among(reference, chosen):
        raise OptionError(f"reference = {text(reference)}: expected one of {', '.join(chosen)}")
    beat = max(float(method.dt) for method in chosen.values())
    runs: dict[str, ComparedRun] = {}
    refused: dict[str, str] = {}
    for label, method in chosen.items():
        if progress is not None:
            progress(label)
        try:
            simulation = Simulation(world, method)
            _warm(world, method)
        except DrystoneError as error:
            refused[label] = str(error)
            continue
        run = simulate(
            simulation, seconds, title=label, view=view, contacts=contacts, limit=most, beat=beat
        )
        if run.reports:
            runs[label] = run
        else:
            refused[label] = run.stopped
    base = finest(runs) if reference is None else reference if reference in runs else None
    held = None if base is None else runs[base]
    rows = [
        measure(label, runs[label], held)
        if label in runs
        else Row(label, dt=float(chosen[label].dt), failed=refused[label])
        for label in chosen
    ]
    failed = [f"{label}: {run.summary}" for label, run in runs.items() if not run.summary.ok]
    if failed:
        warn_user(f"steps of {title or 'this scene'} failed by {'; by '.join(failed)}", StepWarning)
    return Comparison(title, seconds, rows, runs, base)


def _warm(world: World, method: Any) -> None:
    """Untimed steps: the first method must not be charged for loading the kernels."""
    simulation = Simulation(world, method)
    for _ in range(WARM):
        simulation.step()


def _subject(scene: Any, duration: float | None) -> tuple[World, Any, float, Any, str]:
    """World, its own method or None, seconds, view and title of what is to be compared."""
    if isinstance(scene, str):
        scene = build(scene)
    world = scene if isinstance(scene, World) else getattr(scene, "world", None)
    if not isinstance(world, World):
        raise OptionError(
            f"compare needs a scene's name, a ds.Scene or a ds.World, not {text(scene)}"
        )
    bare = scene is world
    seconds = getattr(scene, "duration", None) if duration is None else duration
    if seconds is None:
        raise OptionError("compare: a world has no duration: give duration=...")
    if (time := real(seconds)) is None or not 0 < time < math.inf:
        raise OptionError(
            f"compare: duration = {text(seconds)}: expected a positive number of seconds"
        )
    title = "world" if bare else getattr(scene, "name", None) or getattr(scene, "title", "scene")
    own = None if bare else getattr(scene, "method", None)
    return world, own, time, getattr(scene, "view", None) or {}, str(title)


def _chosen(methods: Sequence[Any], own: Any) -> dict[str, Any]:
    """Methods by label; objects are labelled by their names, and numbered if need be."""
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        methods = [methods]
    out: dict[str, Any] = {}
    for one in methods:
        method = read_method(one, own) if isinstance(one, str) else one
        if isinstance(method, type) or not callable(getattr(method, "stepper", None)):
            raise OptionError(
                f"methods: {one!r}: expected a string or a method such as ds.TimeStepping()"
            )
        label = one.strip() if isinstance(one, str) else str(method.name)
        first, k = label, 2
        while label in out:
            if isinstance(one, str):
                raise OptionError(f"methods: {label!r} is given twice")
            label, k = f"{first} ({k})", k + 1
        out[label] = method
    if not out:
        raise OptionError(f"methods: give at least one, such as {OWN!r}")
    return out
