"""What ``drystone bench scenes`` runs, and the figure by which each scene is judged.

Sizes, durations and figures follow those in use for comparing engines: creep on a slope, stopping
distance, depth under mass ratios, displacement of pyramids, speed of dominoes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.dynamics.frames import rotations
from drystone.model import Model, State
from drystone.types import Floats

G = 9.81


@dataclass
class Seen:
    """A run as the judges see it, ours or a peer's.

    settings: of the scene; track: what the case's `watch` noted, with its time; depth: greatest
    at the end, by our own collision detection [m]; deepest: at any time, where it is known.
    """

    model: Model
    start: State
    end: State
    settings: Mapping[str, Any]
    duration: float
    track: list[tuple[float, Any]] = field(default_factory=list)
    depth: float = 0.0
    deepest: float = math.nan


@dataclass(frozen=True)
class Case:
    """One line of the benchmark.

    settle [s]: simulated before the clock starts; figure: value of `label` in `unit`; options: of
    the method; peers: whether other engines can run it, of which those in the plane need the
    setting ``planar``.
    """

    name: str
    scene: str
    label: str
    unit: str
    figure: Callable[[Seen], float]
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    duration: float | None = None
    settle: float = 0.0
    watch: Callable[[Model, State], Any] | None = None
    peers: bool = False
    planar: bool = False


def _place(model: Model, name: str) -> int:
    return model.names.index(name)


def creep(seen: Seen) -> float:
    """How far the block of the slope has moved [mm]."""
    i = _place(seen.model, "block")
    return 1e3 * float(np.linalg.norm(seen.end.position[i] - seen.start.position[i]))


def slide(seen: Seen) -> float:
    """Error of the distance slid [%]."""
    mu, ratio = seen.settings["mu"], seen.settings["ratio"]
    angle = math.atan(ratio * mu)
    exact = 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * seen.duration**2
    return 100.0 * (1e-3 * creep(seen) / exact - 1.0)


def stop(seen: Seen) -> float:
    """Error of the stopping distance [%]."""
    exact = seen.settings["speed"] ** 2 / (2.0 * seen.settings["mu"] * G)
    return 100.0 * (1e-3 * creep(seen) / exact - 1.0)


def direction(seen: Seen) -> float:
    """By how much the block left the straight line [degrees]."""
    i = _place(seen.model, "block")
    way = seen.end.position[i, :2] - seen.start.position[i, :2]
    angle = math.degrees(math.atan2(way[1], way[0])) - seen.settings["direction"]
    return abs((angle + 180.0) % 360.0 - 180.0)


def rolling(seen: Seen) -> float:
    """Final over initial speed, less 5/7."""
    i = _place(seen.model, "ball")
    return float(seen.end.velocity[i, 0]) / float(seen.settings["speed"]) - 5.0 / 7.0


def moved(seen: Seen) -> float:
    """Greatest displacement of any body [mm]."""
    return 1e3 * float(np.linalg.norm(seen.end.position - seen.start.position, axis=1).max())


def depth(seen: Seen) -> float:
    """Greatest penetration at the end [mm]; infinite if the pile fell."""
    size = float(seen.settings.get("size", math.inf))
    return math.inf if moved(seen) > 500.0 * size else 1e3 * seen.depth


def kinetic(seen: Seen) -> float:
    """Change of kinetic energy [%]."""
    before, after = (_kinetic(seen.model, state) for state in (seen.start, seen.end))
    return 100.0 * (after / before - 1.0)


def _kinetic(model: Model, state: State) -> float:
    v, w = state.velocity[:, : model.dim], state.velocity[:, model.dim :]
    linear = 0.5 * float((model.mass * (v * v).sum(axis=1)).sum())
    if model.dim == 2:
        return linear + 0.5 * float((model.inertia * w[:, 0] ** 2).sum())
    local = np.einsum("bji,bj->bi", rotations(state.orientation), w)
    return linear + 0.5 * float(np.einsum("bi,bij,bj->", local, model.inertia, local))


def risen(seen: Seen) -> float:
    """How far the large grain rose above the floor of the box, in small radii."""
    box, nut = _place(seen.model, "box"), _place(seen.model, "nut")
    up = [float(s.position[nut, 1] - s.position[box, 1]) for s in (seen.start, seen.end)]
    return (up[1] - up[0]) / float(seen.settings["radius"])


def uprightness(model: Model, state: State) -> Floats:
    """Cosine of every body's tilt (nb,)."""
    out: Floats = rotations(state.orientation)[:, 2, 2]
    return out


def front(seen: Seen) -> float:
    """Speed of the wave of dominoes, between a fifth and four fifths of the row [m/s]."""
    n, spacing = int(seen.settings["n"]), float(seen.settings["spacing"])
    first, last = int(0.2 * n), int(0.8 * n) - 1
    when: list[float] = []
    for k in (first, last):
        i = _place(seen.model, f"domino{k}")
        hit = next((t for t, up in seen.track if up[i] < math.cos(math.radians(10.0))), None)
        if hit is None:
            return math.nan
        when.append(hit)
    return (last - first) * spacing / (when[1] - when[0])


def deepest(seen: Seen) -> float:
    """Greatest penetration at any time [mm]."""
    return 1e3 * seen.deepest


def nut_depth(seen: Seen) -> float:
    """Greatest penetration at any time, in radii of the small grains."""
    return seen.deepest / float(seen.settings["radius"])


# 4 Hz and 6.4 g, as engines of the plane were measured; what that leaves open is the radius
SHAKEN = {
    "ratio": 3.0,
    "radius": 0.1,
    "width": 2.6,
    "frequency": 4.0,
    "amplitude": 6.4 * G / (2.0 * math.pi * 4.0) ** 2,
}
FINE: dict[str, Any] = {"dt": 1.0 / 240.0, "formulation": "coulomb"}

CASES: tuple[Case, ...] = (
    Case("slope-hold", "incline", "creep", "mm", creep, duration=10.0, peers=True, planar=True),
    Case(
        "slope-slide", "incline", "distance", "%", slide, {"ratio": 1.05}, duration=2.0,
        peers=True, planar=True,
    ),
    Case("stop", "sliding-block", "distance", "%", stop, peers=True),
    Case("stop-45", "sliding-block", "distance", "%", stop, {"direction": 45.0}, peers=True),
    Case(
        "stop-30", "sliding-block", "direction", "deg", direction, {"direction": 30.0}, peers=True
    ),
    Case("roll", "rolling-ball", "v/v0 - 5/7", "", rolling, peers=True),
    Case("mass-ratio", "mass-ratio", "depth", "mm", depth, duration=5.0, peers=True, planar=True),
    Case("pyramid-55", "pyramid", "moved", "mm", moved, {"rows": 10}, peers=True, planar=True),
    Case("pyramid-210", "pyramid", "moved", "mm", moved, {"rows": 20}, peers=True, planar=True),
    Case(
        "spheres", "spheres", "depth", "mm", depth, {"n": 1000}, duration=1.0, settle=2.0,
        peers=True,
    ),
    Case(
        "dominoes", "dominoes", "front", "m/s", front, {"n": 100}, watch=uprightness, peers=True
    ),
    Case("three-balls", "billiard-three", "energy", "%", kinetic, {"targets": 3}),
    Case("spinner", "gyroscope", "energy", "%", kinetic, {"kind": "spinner"}, duration=20.0),
    Case("arch", "arch", "moved", "mm", moved),
    Case("card-house", "card-house", "moved", "mm", moved),
    Case("wall", "wall", "moved", "mm", moved),
    Case("brazil-nut", "brazil-nut", "risen", "radii", risen),
    Case("brazil-nut-4hz", "brazil-nut", "depth", "radii", nut_depth, SHAKEN, FINE, duration=20.0),
    Case("ellipse-drop", "ellipse-drop", "depth", "mm", deepest),
    Case("disks-21", "disks-21", "depth", "mm", deepest),
    Case("hopper", "hopper", "depth", "mm", deepest),
)  # fmt: skip


def by_name(names: list[str] | None) -> list[Case]:
    """The named cases, in the order of the table; all if none is named."""
    from drystone.errors import OptionError
    from drystone.scenes.base import unknown

    known = {case.name: case for case in CASES}
    for name in names or ():
        if name not in known:
            raise OptionError(f"--only: {unknown('case', name, known)}")
    return [case for case in CASES if not names or case.name in names]
